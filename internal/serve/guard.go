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

	"kir/internal/report/view"
	"kir/internal/terminal"
)

// policy returns the content security policy of every answer: nothing but what the
// server itself has, and no inline script or style but that of a page to print, which the
// page writes into a tab with its own policy.
func policy() string {
	return "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-" + view.WeighingStyleHash() + "'; connect-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
}

// A guard lets in only who was given the address by kir, and only what a browser sends
// that shows this server's own page.
//
// Every user of the machine, and every program, can connect to a loopback address, and a
// page has the rights of who serves it. So all but the empty page and its scripts, which
// hold nothing of anybody, is answered only to a request that carries the key of the session:
//
//   - kir prints an address with a token behind "#", which a browser sends to no server and in
//     no referrer. The page's script takes the token out of the address and exchanges it, once,
//     for the key (server.js).
//   - The script keeps the key in the tab's sessionStorage, which belongs to the scheme, the host
//     and the port, and sends it in the Authorization header. No browser adds this by itself.
//   - There is no cookie. Cookies do not know ports: a browser would send one to whatever listens
//     at another port of the same host, also where another user of the machine listens.
//
// The key ends with the process. A tab that is still open when kir has ended keeps asking for it,
// and whoever listens at the port by then receives a key that opens nothing. Each answer to the key
// has the proof, another secret, which came with the key and which no page sends. A tab takes nothing
// from who lacks it and, once its stream has ended, sends nothing but the key until a new stream shows it.
//
// A page of another site can make a browser send requests here, and by a name
// that it points at this machine (DNS rebinding) read the answers. So the name in
// the Host header must be one of a few, and whatever changes something must come
// from the same origin ([http.CrossOriginProtection]).
type guard struct {
	address netip.AddrPort // that the server listens at
	scheme  string         // http or https
	names   []string       // names of hosts that are allowed, in lower case
	key     string         // that each request carries
	proof   string         // that each answer to it carries

	mu     sync.Mutex
	tokens map[string]func() // of addresses that were not opened yet, and what to do then
}

// proofHeader is the header of the proof.
const proofHeader = "Kir-Proof"

// openPath is where the page exchanges the token of its address for the key.
const openPath = "/open"

// newGuard returns the guard of a server at an address.
func newGuard(address netip.AddrPort, scheme string, names []string) *guard {
	address = netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
	g := &guard{address: address, scheme: scheme, names: []string{"localhost"}, key: rand.Text(), proof: rand.Text(), tokens: make(map[string]func())}
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
	policy := policy()
	checked, opening := protection.Handler(next), protection.Handler(http.HandlerFunc(g.exchange))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			h.Set(name, value)
		}
		known := g.hasKey(r)
		if known {
			markKnown(r.Context())
			h.Set(proofHeader, g.proof)
		}
		opens := r.Method == http.MethodPost && r.URL.Path == openPath
		switch {
		case !known && !isPublic(r) && !opens:
			refuse(w, http.StatusForbidden, noKey)
		case !g.allows(r.Host):
			refuse(w, http.StatusMisdirectedRequest, refusal(r.Host))
		case r.ContentLength != 0 && (!known || r.Method != http.MethodPost || r.URL.Path != requestPath && !strings.HasPrefix(r.URL.Path, setupPath)):
			refuse(w, http.StatusBadRequest, "A request of this kind has no body.")
		case opens:
			opening.ServeHTTP(w, r)
		default:
			checked.ServeHTTP(w, r)
		}
	})
}

// exchange answers the token of an address with the key.
func (g *guard) exchange(w http.ResponseWriter, r *http.Request) {
	if !g.useToken(bearer(r)) {
		refuse(w, http.StatusForbidden, usedToken)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"key":%q,"proof":%q}`, g.key, g.proof) // letters and digits
}

// isPublic says whether a request is for the page without anything in it, its styles or its scripts.
// They are the same wherever kir serves a page.
func isPublic(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	switch r.URL.Path {
	case "/", "/page.css", "/begin.css", "/favicon.ico":
		return true
	}
	return strings.HasPrefix(r.URL.Path, "/js/")
}

const (
	// noKey is the answer to who does not have the key.
	noKey = "This request lacks the key of the page. Open the last address that kir serve printed."
	// usedToken is the answer to a token that is of no address, or of one that was opened.
	usedToken = "This address was opened before, or is not of this kir serve. Open the last address that it printed: each opens one tab."
)

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

// bearer returns the secret in the Authorization header of a request.
func bearer(r *http.Request) string {
	secret, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return secret
}

// hasKey says whether a request carries the key.
func (g *guard) hasKey(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(bearer(r)), []byte(g.key)) == 1
}

// offerAddress returns an address that opens the page in one tab. used is called when it
// did, and may be nil.
func (g *guard) offerAddress(used func()) (address string) {
	token := rand.Text()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens[token] = used
	return g.url() + "#token=" + token
}

// useToken uses up the token of an address; of several who have it, one does.
func (g *guard) useToken(token string) bool {
	g.mu.Lock()
	var used func()
	found := false
	for offered := range g.tokens { // each is compared, so that the time tells nothing of them
		if subtle.ConstantTimeCompare([]byte(token), []byte(offered)) == 1 {
			used, found = g.tokens[offered], true
		}
	}
	if found {
		delete(g.tokens, token)
	}
	g.mu.Unlock()
	if used != nil {
		used()
	}
	return found
}

// url returns the address of the page, without what opens it.
func (g *guard) url() string { return g.scheme + "://" + g.address.String() + "/" }
