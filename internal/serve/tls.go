package serve

import (
	"crypto/tls"
	"fmt"
	"net"

	"kir/internal/inputerr"
)

// scheme returns the URL scheme of the page, http or https.
func (o *Options) scheme() string {
	if o.TLSCert != "" {
		return "https"
	}
	return "http"
}

// certificate reads the TLS certificate that the options name. It returns nil if the options name
// no certificate.
func (o *Options) certificate() (*tls.Certificate, error) {
	switch {
	case o.TLSCert == "" && o.TLSKey == "":
		return nil, nil
	case o.TLSKey == "":
		return nil, &inputerr.Error{Message: "--tls-cert gives a certificate, but its key is missing", Hint: "give the file of the key with --tls-key"}
	case o.TLSCert == "":
		return nil, &inputerr.Error{Message: "--tls-key gives a key, but its certificate is missing", Hint: "give the file of the certificate with --tls-cert"}
	}
	pair, err := tls.LoadX509KeyPair(o.TLSCert, o.TLSKey)
	if err != nil {
		return nil, &inputerr.Error{
			Message: fmt.Sprintf("the certificate %s and the key %s cannot be used: %v", inputerr.Quote(o.TLSCert), inputerr.Quote(o.TLSKey), err),
			Hint:    "both are PEM files, the certificate with its intermediates behind it, and the key is that of the certificate", Err: err,
		}
	}
	return &pair, nil
}

// IsUnencrypted reports whether other machines on the network could read the contents of the page.
// It returns true if there is no TLS and the address can be reached from other machines.
func (o *Options) IsUnencrypted() bool {
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil || o.TLSCert != "" || host == "localhost" {
		return false
	}
	ip := net.ParseIP(host)
	return ip == nil || !ip.IsLoopback()
}
