package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"

	"kir/internal/inputerr"
)

// ServePrograms serves a handler for programs of this machine until ctx ends. The address must be a
// loopback address; port 0 is any free port. The function onReady is called with the URL and the key.
//
// The protection is that of the page: a program must send the key in the Authorization header; see
// guard. A program has no browser tab that could exchange a token, so it is given the key itself.
func ServePrograms(ctx context.Context, address, path string, handler http.Handler, onReady func(url, key string)) error {
	if err := checkLoopback(address); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return listenError(address, err)
	}
	at, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if !at.Addr().Unmap().IsLoopback() { // a name can mean any address
		return errors.Join(checkLoopback(at.String()), listener.Close())
	}
	g := newGuard(at, "http", nil)
	mux := http.NewServeMux()
	mux.Handle(path, handler)
	return serveUntilDone(ctx, listener, nil, g.requireKey(mux), func() { onReady(g.pageURL()+path[1:], g.key) }, func() {})
}

// checkLoopback returns an error unless an address is one of this machine alone.
func checkLoopback(address string) error {
	wrong := func(err error) error {
		return &inputerr.Error{Message: inputerr.Quote(address) + " is no address that only this machine reaches", Hint: "write, for example, 127.0.0.1:8091", Err: err}
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return wrong(err)
	}
	if a, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !a.Unmap().IsLoopback()) {
		return wrong(err)
	}
	return nil
}

// requireKey returns a handler that passes only requests with the key to next. It reads no body of
// other requests.
func (g *guard) requireKey(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		respondNotAdmitted(w, http.StatusForbidden, "This request comes from another site, and is refused.")
	}))
	checked := protection.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !g.allowsHost(r.Host):
			respondNotAdmitted(w, http.StatusMisdirectedRequest, "This server has another name.")
		case !g.hasKey(r):
			h.Set("WWW-Authenticate", "Bearer")
			respondNotAdmitted(w, http.StatusUnauthorized, "This request lacks the token that kir printed.")
		default:
			markAuthenticated(r.Context())
			checked.ServeHTTP(w, r)
		}
	})
}
