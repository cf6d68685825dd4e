package serve

import (
	"crypto/tls"
	"fmt"
	"net"

	"kir/internal/inputerr"
)

// scheme returns the scheme of the page's address.
func (o *Options) scheme() string {
	if o.TLSCert != "" {
		return "https"
	}
	return "http"
}

// certificate reads the certificate for TLS. It returns nil if the options have none.
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

// IsUnencrypted reports whether others could read the page on the network: the address is not
// limited to this machine, and there is no TLS.
func (o *Options) IsUnencrypted() bool {
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil || o.TLSCert != "" || host == "localhost" {
		return false
	}
	ip := net.ParseIP(host)
	return ip == nil || !ip.IsLoopback()
}
