package serve

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"kir/internal/terminal"
)

// policy is the content security policy of every answer: nothing but what the
// server itself has, and no inline script or style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// A guard lets in only who was given the address by kir, and only what a browser sends
// that shows this server's own page.
//
// Every user of the machine, and every program, can connect to a loopback address, and a
// page has the rights of who serves it. So an address has a secret that is good for one
// browser: it is exchanged for a cookie, without which there is nothing but a refusal.
//
// A page of another site can make a browser send requests here, and by a name
// that it points at this machine (DNS rebinding) read the answers. So the name in
// the Host header must be one of a few, and whatever changes something must come
// from the same origin ([http.CrossOriginProtection]).
type guard struct {
	address netip.AddrPort // that the server listens at
	names   []string       // names of hosts that are allowed, in lower case
	cookie  string         // the name of the cookie, another one for each port of a host
	session string         // its value

	mu     sync.Mutex
	tokens map[string]func() // of addresses that were not opened yet, and what to do then
}

// newGuard returns the guard of a server at an address.
func newGuard(address netip.AddrPort, names []string) *guard {
	address = netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
	g := &guard{
		address: address, names: []string{"localhost"},
		cookie: fmt.Sprintf("kir-%d", address.Port()), session: rand.Text(), tokens: make(map[string]func()),
	}
	for _, name := range names {
		g.names = append(g.names, hostName(name))
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
	own := g.address.Addr()
	a = a.Unmap()
	return a == own || own.IsLoopback() && a.IsLoopback() || own.IsUnspecified()
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
		known, token := g.knows(r), ""
		if !known && r.Method == http.MethodGet && r.URL.Path == "/" {
			token = r.URL.Query().Get("token")
		}
		switch {
		case !known && !g.offers(token):
			refuse(w, http.StatusForbidden, noSecret)
		case !g.allows(r.Host):
			refuse(w, http.StatusMisdirectedRequest, refusal(r.Host))
		case r.ContentLength != 0 && (r.Method != http.MethodPost || r.URL.Path != requestPath && !strings.HasPrefix(r.URL.Path, beginPath)):
			refuse(w, http.StatusBadRequest, "A request of this kind has no body.")
		case known:
			checked.ServeHTTP(w, r)
		case g.take(token):
			http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			// A page of our own, so that the cookie, which is for requests from here
			// alone, is sent with the next one wherever the address was clicked.
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, `<!doctype html><title>kir</title><meta http-equiv="refresh" content="0; url=/"><p><a href="/">Go on</a>`)
		default: // another request was quicker with the same secret
			refuse(w, http.StatusForbidden, noSecret)
		}
	})
}

// noSecret is the answer to who has neither the cookie nor the secret of an address.
const noSecret = "This address lacks its secret, or another browser has used it: take the last address that kir serve printed. Each opens one browser."

// refuse answers a request that is not let in, and waits for no more of it.
func refuse(w http.ResponseWriter, status int, why string) {
	// What has no deadlines to set, as in tests, sends no bodies either.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second))
	w.Header().Set("Connection", "close")
	http.Error(w, why, status)
}

// refusal names the host that was refused and the flag that would allow it.
func refusal(host string) string {
	name := terminal.Plain(hostName(host))
	return fmt.Sprintf("This page is not served as %q. If it is meant to be, start it with --allow-host %s.", name, name)
}

// knows says whether a request has the cookie.
func (g *guard) knows(r *http.Request) bool {
	for _, c := range r.CookiesNamed(g.cookie) {
		if same(c.Value, g.session) {
			return true
		}
	}
	return false
}

// offer returns an address that opens the page in one browser. used is called when it
// did, and may be nil.
func (g *guard) offer(used func()) (address string) {
	token := rand.Text()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens[token] = used
	return g.url() + "?token=" + token
}

// offers says whether a secret is that of an address that was not opened yet.
func (g *guard) offers(token string) (found bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for offered := range g.tokens {
		found = same(token, offered) || found
	}
	return found
}

// take uses up the secret of an address; of several who have it, one does.
func (g *guard) take(token string) bool {
	g.mu.Lock()
	used, ok := g.tokens[token]
	delete(g.tokens, token)
	g.mu.Unlock()
	if ok && used != nil {
		used()
	}
	return ok
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// url returns the address of the page for a browser that it was opened in.
func (g *guard) url() string { return "http://" + g.address.String() + "/" }
