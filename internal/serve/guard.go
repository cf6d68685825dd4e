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

// policy returns the content security policy of every response. It only allows content of this
// server, and no inline scripts. The only inline style allowed is that of the page to print,
// which the page writes into a tab of its own.
func policy() string {
	return "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-" + view.WeighingStyleHash() + "'; connect-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
}

// A guard admits only requests with the key, from a browser that shows this server's own page.
//
// Every user and program of the machine can connect to a loopback address, and a page has the
// rights of the person who serves it. So the guard answers all other requests with nothing but
// the empty page and its scripts, which contain no data:
//
//   - kir prints an address with a token behind "#". Browsers send that part to no server and
//     in no referrer. The page's script removes the token from the address and exchanges it,
//     once, for the key (server.js).
//   - The script keeps the key in the tab's sessionStorage, which belongs to the scheme, host
//     and port. It sends the key in the Authorization header, which no browser adds by itself.
//   - There is no cookie. Cookies ignore ports: a browser would send one to any server at
//     another port of the same host, even to one of another user.
//
// The key ends with the process. A tab that is still open after kir has ended keeps sending
// the key. Whoever listens at the port by then receives a key that opens nothing. Each
// response to the key carries the proof, a second secret, which came with the key and which no
// page sends. A tab rejects responses without the proof. Once its stream has ended, it sends
// nothing but the key until a new stream shows the proof.
//
// A page of another site can make a browser send requests here. With a host name that it
// points at this machine (DNS rebinding), it could also read the responses. So the Host header
// must have one of a few names. Requests that change something must come from the same origin
// ([http.CrossOriginProtection]).
type guard struct {
	address netip.AddrPort // address of the server
	scheme  string         // http or https
	names   []string       // allowed host names, in lower case
	key     string         // secret that each request must carry
	proof   string         // secret that each response to the key carries

	mu     sync.Mutex
	tokens map[string]func() // tokens of unopened addresses, each with a function to call on use; it may be nil
}

// proofHeader is the header that carries the proof.
const proofHeader = "Kir-Proof"

// openPath is the path at which the page exchanges its token for the key.
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

// hostName returns the host name in a Host header, in lower case. It drops the port, the
// brackets of an IPv6 address and a final dot.
func hostName(header string) string {
	name := header
	if host, port, err := net.SplitHostPort(header); err == nil && strings.Trim(port, "0123456789") == "" {
		name = host
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// allows reports whether a Host header names this server. It ignores ports, because a tunnel
// may change them. Numeric addresses are safe from rebinding, but must be addresses of this
// machine.
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

// wrap returns a handler that passes only admitted requests to next.
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

// exchange responds to a token with the key.
func (g *guard) exchange(w http.ResponseWriter, r *http.Request) {
	if !g.useToken(bearer(r)) {
		refuse(w, http.StatusForbidden, usedToken)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"key":%q,"proof":%q}`, g.key, g.proof) // both have only letters and digits, so %q writes JSON
}

// isPublic reports whether a request is for the empty page, its styles or its scripts. These
// contain no data of a problem.
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
	// noKey is the response to a request without the key.
	noKey = "This request lacks the key of the page. Open the last address that kir serve printed."
	// usedToken is the response to an unknown or used token.
	usedToken = "This address was opened before, or is not of this kir serve. Open the last address that it printed: each opens one tab."
)

// refuse responds to a request that is not admitted, without waiting for its body.
func refuse(w http.ResponseWriter, status int, why string) {
	// Connections without deadlines, as in tests, have no bodies to wait for.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second))
	w.Header().Set("Connection", "close")
	http.Error(w, why, status)
}

// refusal returns a message that names the refused host and the flag that would allow it.
func refusal(host string) string {
	name := terminal.Plain(hostName(host))
	return fmt.Sprintf("This page is not served as %q. If it is meant to be, start it with --allow-host %s.", name, name)
}

// bearer returns the secret in a request's Authorization header.
func bearer(r *http.Request) string {
	secret, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return secret
}

// hasKey reports whether a request carries the key.
func (g *guard) hasKey(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(bearer(r)), []byte(g.key)) == 1
}

// offerAddress returns an address that opens the page in one tab. It calls used, unless nil,
// when the address is opened.
func (g *guard) offerAddress(used func()) (address string) {
	token := rand.Text()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens[token] = used
	return g.url() + "#token=" + token
}

// useToken consumes the token of an address and reports whether it was valid. Concurrent uses
// of a token succeed only once.
func (g *guard) useToken(token string) bool {
	g.mu.Lock()
	var used func()
	found := false
	for offered := range g.tokens { // compare with all, so that the time reveals nothing
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

// url returns the address of the page without a token.
func (g *guard) url() string { return g.scheme + "://" + g.address.String() + "/" }
