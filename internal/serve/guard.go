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

// contentSecurityPolicy returns the content security policy of every response. The policy allows
// only content from this server, and no inline scripts. It allows one inline style, which belongs
// to a printable page that opens in its own tab.
func contentSecurityPolicy() string {
	return "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-" + view.WeighingStyleHash() + "'; connect-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
}

// A guard admits only requests that carry a secret, the key. Only a browser tab that shows this
// server's own page knows the key.
//
// Every user and program of the machine can connect to a loopback address, and the page has the
// rights of the person who serves it. The guard therefore answers all other requests with nothing
// but the empty page, its styles and its scripts, which contain no data:
//
//   - kir prints an address with a token behind "#". A browser sends the part behind "#" to no
//     server and in no referrer. The page's script (server.js) removes the token from the address
//     and exchanges the token, once, for the key.
//   - The script keeps the key in the tab's sessionStorage, which belongs to the scheme, the host
//     and the port. The script sends the key in the Authorization header, which no browser adds by
//     itself.
//   - There is no cookie. Cookies ignore ports: a browser would also send a cookie to a server at
//     another port of the same host, even to a server of another user.
//
// The key is valid until the process ends. A tab that is still open after kir has ended keeps
// sending the key. Another program that listens at the port by then receives a key that opens
// nothing. Each response to a request with the key carries a second secret, the proof. The page
// receives the proof together with the key and never sends the proof. A tab rejects responses
// without the proof. Once the tab's stream has ended, the tab sends nothing but the key until a
// new stream shows the proof.
//
// A page of another site can make a browser send requests to this server. If the other site points
// a host name at this machine (DNS rebinding), its page could also read the responses. The Host
// header must therefore have one of a few names. Requests that change something must come from the
// same origin ([http.CrossOriginProtection]).
type guard struct {
	serverAddress netip.AddrPort // address at which the server listens
	scheme        string         // scheme of the page's URL, http or https
	hostNames     []string       // allowed host names, in lower case
	key           string         // secret that a browser must send with each request
	proof         string         // secret that the server sends with each response to a request with the key

	mu            sync.Mutex
	openCallbacks map[string]func() // maps each token that was not used yet to the function to call when the token is used; the function may be nil
}

// proofHeader is the name of the response header that carries the proof; see [guard].
const proofHeader = "Kir-Proof"

// tokenExchangePath is the path at which the page exchanges the token in its address for the key.
const tokenExchangePath = "/open"

// newGuard returns a guard with new secrets for a server at the given address. The list extraHosts
// has allowed host names besides the names of this machine.
func newGuard(address netip.AddrPort, scheme string, extraHosts []string) *guard {
	address = netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
	g := &guard{serverAddress: address, scheme: scheme, hostNames: []string{"localhost"}, key: rand.Text(), proof: rand.Text(), openCallbacks: make(map[string]func())}
	for _, name := range extraHosts {
		g.hostNames = append(g.hostNames, normalizeHost(name))
	}
	return g
}

// normalizeHost returns the host name in a Host header, in lower case. It removes the port, the
// brackets of an IPv6 address and a final dot.
func normalizeHost(header string) string {
	name := header
	if host, port, err := net.SplitHostPort(header); err == nil && strings.Trim(port, "0123456789") == "" {
		name = host
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// allowsHost reports whether a Host header names this server. The port does not matter, because a
// tunnel may change the port. A numeric address must be an address of this machine; DNS rebinding
// cannot use it.
func (g *guard) allowsHost(header string) bool {
	name := normalizeHost(header)
	if slices.Contains(g.hostNames, name) {
		return true
	}
	a, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	own := g.serverAddress.Addr()
	a = a.Unmap()
	return a == own || own.IsLoopback() && a.IsLoopback() || own.IsUnspecified()
}

// requireAdmission returns a handler that passes only admitted requests to next.
func (g *guard) requireAdmission(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "This request comes from another site, and is refused.", http.StatusForbidden)
	}))
	policy := contentSecurityPolicy()
	checked, opening := protection.Handler(next), protection.Handler(http.HandlerFunc(g.exchangeToken))
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
			markAuthenticated(r.Context())
			h.Set(proofHeader, g.proof)
		}
		opens := r.Method == http.MethodPost && r.URL.Path == tokenExchangePath
		switch {
		case !known && !isPublicRequest(r) && !opens:
			respondNotAdmitted(w, http.StatusForbidden, noKeyMessage)
		case !g.allowsHost(r.Host):
			respondNotAdmitted(w, http.StatusMisdirectedRequest, refusedHostMessage(r.Host))
		case r.ContentLength != 0 && (!known || r.Method != http.MethodPost || r.URL.Path != requestPath && !strings.HasPrefix(r.URL.Path, setupPathPrefix)):
			respondNotAdmitted(w, http.StatusBadRequest, "A request of this kind has no body.")
		case opens:
			opening.ServeHTTP(w, r)
		default:
			checked.ServeHTTP(w, r)
		}
	})
}

// exchangeToken responds to a request that has a valid token with the key and the proof; see
// [guard].
func (g *guard) exchangeToken(w http.ResponseWriter, r *http.Request) {
	if !g.consumeToken(bearerSecret(r)) {
		respondNotAdmitted(w, http.StatusForbidden, usedTokenMessage)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"key":%q,"proof":%q}`, g.key, g.proof) // both have only letters and digits, so %q writes JSON
}

// isPublicRequest reports whether a request asks for the empty page, a style sheet or a script.
// None of these files contains data of a problem.
func isPublicRequest(r *http.Request) bool {
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
	// noKeyMessage is the text of the response to a request that lacks the key.
	noKeyMessage = "This request lacks the key of the page. Open the last address that kir serve printed."
	// usedTokenMessage is the text of the response to a token that is unknown or was used before.
	usedTokenMessage = "This address was opened before, or is not of this kir serve. Open the last address that it printed: each opens one tab."
)

// respondNotAdmitted responds to a request that is not admitted, without waiting for the body of
// the request.
func respondNotAdmitted(w http.ResponseWriter, status int, reason string) {
	// Connections without deadlines, as in tests, have no bodies to wait for.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second))
	w.Header().Set("Connection", "close")
	http.Error(w, reason, status)
}

// refusedHostMessage returns a message that names the refused host and the command-line flag that
// would allow it.
func refusedHostMessage(host string) string {
	name := terminal.EscapeControls(normalizeHost(host))
	return fmt.Sprintf("This page is not served as %q. If it is meant to be, start it with --allow-host %s.", name, name)
}

// bearerSecret returns the secret in a request's Authorization header.
func bearerSecret(r *http.Request) string {
	secret, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return secret
}

// hasKey reports whether a request carries the key in the Authorization header.
func (g *guard) hasKey(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(bearerSecret(r)), []byte(g.key)) == 1
}

// newOneTimeAddress returns an address that opens the page in one browser tab. If onUse is not nil,
// it is called when the address is used.
func (g *guard) newOneTimeAddress(onUse func()) (address string) {
	token := rand.Text()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.openCallbacks[token] = onUse
	return g.pageURL() + "#token=" + token
}

// consumeToken removes a token from the valid tokens and reports whether the token was valid. If
// two requests use a token at the same time, only one of them succeeds.
func (g *guard) consumeToken(token string) bool {
	g.mu.Lock()
	var used func()
	found := false
	for offered := range g.openCallbacks { // compare with all, so that the time reveals nothing
		if subtle.ConstantTimeCompare([]byte(token), []byte(offered)) == 1 {
			used, found = g.openCallbacks[offered], true
		}
	}
	if found {
		delete(g.openCallbacks, token)
	}
	g.mu.Unlock()
	if used != nil {
		used()
	}
	return found
}

// pageURL returns the address of the page without a token.
func (g *guard) pageURL() string { return g.scheme + "://" + g.serverAddress.String() + "/" }
