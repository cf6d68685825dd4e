package serve

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"kir/internal/terminal"
)

// policy is the content security policy of every answer: nothing but what the
// server itself has, and no inline script or style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// tokenCookie keeps the token of an address that was opened once.
const tokenCookie = "kir-token"

// A guard lets in only what a browser sends that shows this server's own page.
//
// A page of another site can make a browser send requests here, and by a name
// that it points at this machine (DNS rebinding) read the answers. So the name in
// the Host header must be one of a few, and whatever changes something must come
// from the same origin ([http.CrossOriginProtection]). Beyond loopback other
// machines can connect, and have to know the token of the address.
type guard struct {
	address netip.Addr // that the server listens at
	names   []string   // names of hosts that are allowed, in lower case
	token   string     // empty on loopback
}

// newGuard returns the guard of a server at an address.
func newGuard(address netip.Addr, names []string) *guard {
	g := &guard{address: address.Unmap(), names: []string{"localhost"}}
	for _, name := range names {
		g.names = append(g.names, hostName(name))
	}
	if !g.address.IsLoopback() {
		g.token = rand.Text()
	}
	return g
}

// hostName returns the name in a Host header: without a port, the brackets of an
// IPv6 address and the dot at the end of a full name, in lower case.
func hostName(header string) string {
	name := header
	if host, port, err := net.SplitHostPort(header); err == nil && strings.Trim(port, "0123456789") == "" {
		name = host
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// allows says whether a Host header names this server. Ports are left out, as a
// tunnel may change them. An address in figures cannot be pointed elsewhere, but
// one of another machine is none of this one's.
func (g *guard) allows(header string) bool {
	name := hostName(header)
	if slices.Contains(g.names, name) {
		return true
	}
	a, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	a = a.Unmap()
	return a == g.address || g.address.IsLoopback() && a.IsLoopback() || g.address.IsUnspecified()
}

// wrap guards a handler.
func (g *guard) wrap(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "This request comes from another site, and is refused.", http.StatusForbidden)
	}))
	checked := protection.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			h.Set(name, value)
		}
		if !g.allows(r.Host) {
			http.Error(w, refusal(r.Host), http.StatusMisdirectedRequest)
			return
		}
		if g.token != "" && !g.known(w, r) {
			return
		}
		checked.ServeHTTP(w, r)
	})
}

// refusal names the host that was refused and the flag that would allow it.
func refusal(host string) string {
	name := terminal.Plain(hostName(host))
	return fmt.Sprintf("This page is not served as %q. If it is meant to be, start it with --allow-host %s.", name, name)
}

// known says whether a request has the token, in its cookie or in the address. An
// address with the token is answered with the cookie and the way to the page.
func (g *guard) known(w http.ResponseWriter, r *http.Request) bool {
	if c, err := r.Cookie(tokenCookie); err == nil && g.matches(c.Value) {
		return true
	}
	if r.Method == http.MethodGet && r.URL.Path == "/" && g.matches(r.URL.Query().Get("token")) {
		http.SetCookie(w, &http.Cookie{Name: tokenCookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		// A page of our own, so that the cookie, which is for requests from here
		// alone, is sent with the next one wherever the address was clicked.
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>kir</title><meta http-equiv="refresh" content="0; url=/"><p><a href="/">Go on</a>`)
		return false
	}
	http.Error(w, "This address lacks its token: take the one that kir serve has printed.", http.StatusForbidden)
	return false
}

func (g *guard) matches(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) == 1
}

// url returns the address of the page.
func (g *guard) url(listener net.Addr) string {
	u := "http://" + listener.String() + "/"
	if g.token != "" {
		u += "?token=" + template.URLQueryEscaper(g.token)
	}
	return u
}
