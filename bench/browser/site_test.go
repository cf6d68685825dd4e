package browser_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"kir/internal/testonly/testmode"
)

// TestSite goes through the page without a server: the site is opened once, and then its host
// is gone. A table is dropped, the shortlist is the command line's, an ingredient is pinned, a
// batch is made, two results are typed, the tab is killed while it works and opened, and the
// next batch is chosen. What is saved as a file the command line goes on with.
func TestSite(t *testing.T) {
	w, host, address := openSite(t)
	dir := t.TempDir()
	const most = 12_980_000 // bytes as gzip makes them, of which brotli makes 9 MB
	switch program, err := os.Stat(filepath.Join(builtSite(t), "kir.wasm.gz")); {
	case err != nil:
		t.Fatal(err)
	case program.Size() > most:
		t.Errorf("the program has %d bytes to load, of at most %d", program.Size(), most)
	}
	seen := new(witness)
	if err := chromedp.Listen(w.ctx, seen.see); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(w.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	w.goes(address)
	w.begins()
	t.Logf("the page is there after %.1f s", time.Since(begun).Seconds())
	w.accessible("the beginning")
	if _, err := chromedp.Run(w.ctx, chromedp.Evaluate[any]("navigator.serviceWorker.ready.then(() => 1)", chromedp.EvalAwaitPromise)); err != nil {
		t.Fatal(err)
	}
	host.Close()

	// The documents are there, and the examples.
	w.goes(address + "docs/")
	w.is("the README", "document.querySelector('h1').textContent === 'kir'")
	w.is("its picture", "document.querySelector('main img').naturalWidth > 0")
	w.accessible("the README")
	w.does("[...document.querySelectorAll('main a')].find(a => a.textContent === 'Start here').click()")
	w.is("a document", "/start.html$/.test(location.pathname) && document.querySelector('h1')")
	w.accessible("a document")
	w.does("document.querySelector('header a').click()")
	w.begins()
	for k := range 3 {
		w.is("the example", fmt.Sprintf("document.querySelectorAll('#examples button').length === 3 && document.querySelectorAll('#examples button')[%d].offsetParent", k))
		w.does(fmt.Sprintf("document.querySelectorAll('#examples button')[%d].click()", k))
		w.is("its table", "document.querySelector('#tables table')?.offsetParent && !document.getElementById('go').disabled")
		w.click("#anew")
	}

	trials, err := os.ReadFile(filepath.Join("..", "..", "examples", "spritz", "trials.csv"))
	if err != nil {
		t.Fatal(err)
	}
	begun = time.Now()
	w.drops("trials.csv", trials)
	w.is("the table", "!document.getElementById('go').disabled && document.getElementById('go').offsetParent")
	w.namesNoPlace("the page of a table")
	w.does("window.stays = true")
	w.click("#go")
	w.is("a first shortlist", "document.querySelectorAll('#list .card').length > 0")
	w.is("the program that learnt from the table", "window.stays") // and not another that begins anew
	t.Logf("the first shortlist is there after %.1f s, with the table read and its model grown", time.Since(begun).Seconds())
	w.settled(1)
	t.Logf("it has settled after %.1f s", time.Since(begun).Seconds())
	w.is("the work in the bar", "document.querySelector('#kir-site option:checked').value === 'trials/problem.yaml'")
	w.namesNoPlace("the page of a problem")
	shortlist := w.answer("/csv")
	problem := filepath.Join(dir, "problem.yaml")
	for name, text := range map[string]string{problem: w.answer("/text?step=1", ".then(t => JSON.parse(t).text)"), filepath.Join(dir, "trials.csv"): string(trials)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := filepath.Join(dir, "run")
	kirDoes(t, "sample", problem, "-o", run, "--quiet")
	if want := kirDoes(t, "show", run, "--best", "20", "--csv"); shortlist != want {
		t.Errorf("the shortlist is\n%s\nand the command line's\n%s", shortlist, want)
	}

	w.does("[...document.querySelectorAll('#list .card button')].find(b => /pin/i.test(b.textContent)).click()")
	w.settled(2)
	w.is("labels", "!document.getElementById('next').disabled")
	w.does("const i = document.getElementById('next-size'); i.value = '2'; i.dispatchEvent(new Event('input'))")
	w.click("#next")
	w.is("a batch", "document.querySelectorAll('#batches .card').length === 2")
	for k, value := range []string{"61", "58.5"} {
		i := field(fmt.Sprintf("B1-%d", k+1), "liking")
		w.does("const i = " + i + "; i.value = '" + value + "'; i.dispatchEvent(new Event('input')); i.dispatchEvent(new Event('change'))")
		w.is("recorded", fmt.Sprintf("/liking %s/.test(document.getElementById('status-B1-%d').textContent)", value, k+1))
	}

	// Another tab says that this one is open; then this one is killed in the middle of a run.
	second, cancel := chromedp.NewContext(w.ctx)
	defer cancel()
	other := &walk{t, second}
	other.goes(address)
	other.is("another tab", "/open in another tab/.test(document.getElementById('boot-status').textContent)")
	w.does("[...document.querySelectorAll('#list .card button')].findLast(b => b.textContent === 'Keep amount').click()")
	w.is("a run", "document.getElementById('phase').className !== 'settled' && document.querySelectorAll('#steps li').length === 3")
	w.crashes()
	if err := chromedp.Do(second, chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	other.is("what was kept", `document.getElementById('status-B1-2')?.textContent.includes('liking 58.5') && document.querySelectorAll('#steps li').length === 3`)
	other.is("the button of the next batch", "!document.getElementById('next').disabled")
	other.click("#next")
	other.is("the next batch", "document.querySelectorAll('#batches .batch').length === 2")
	other.accessible("the next batch")

	if err := os.CopyFS(filepath.Join(dir, "saved"), other.archive("/site/kir.zip")); err != nil {
		t.Fatal(err)
	}
	if printed := kirDoes(t, "campaign", filepath.Join(dir, "saved", "trials", "problem.yaml")); !strings.Contains(printed, "61") {
		t.Errorf("the command line says of the saved campaign\n%s", printed)
	}

	_, requests := seen.take()
	for _, r := range requests {
		if !strings.HasPrefix(r, address) && !strings.HasPrefix(r, "blob:"+host.URL) && r != "about:blank" {
			t.Errorf("the page asks for %q", r)
		}
	}
}

// namesNoPlace fails where the page names a directory, a file's path or a server, which a site does not have.
func (w *walk) namesNoPlace(which string) {
	w.t.Helper()
	text, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](`(() => {
		const folded = [...document.querySelectorAll('details:not([open])')];
		for (const d of folded) d.open = true;
		const text = document.body.innerText;
		for (const d of folded) d.open = false;
		return text;
	})()`))
	if err != nil {
		w.t.Fatal(err)
	}
	if found := regexp.MustCompile(`.*(director|/kir\b|kir serve|Ctrl-C|beside the problem).*`).FindString(text); found != "" {
		w.t.Errorf("%s says %q", which, found)
	}
}

// answer returns what the program answers on the site, or what comes of that.
func (w *walk) answer(path string, then ...string) string {
	w.t.Helper()
	text, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](fmt.Sprintf("kir.fetch(%q).then(r => r.text())", path)+strings.Join(then, ""), chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// archive returns what the program answers on the site as a ZIP archive.
func (w *walk) archive(path string) *zip.Reader {
	w.t.Helper()
	text, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](fmt.Sprintf("kir.fetch(%q).then(r => r.blob()).then(b => new Promise(done => { const r = new FileReader(); r.onload = () => done(r.result.split(',')[1]); r.readAsDataURL(b) }))", path), chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		w.t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		w.t.Fatalf("%s: %v", path, err)
	}
	return z
}

// goes shows an address.
func (w *walk) goes(address string) {
	w.t.Helper()
	if err := chromedp.Do(w.ctx, chromedp.Navigate(address)); err != nil {
		w.t.Fatal(err)
	}
}

// begins waits for the page that begins with a table.
func (w *walk) begins() {
	w.t.Helper()
	w.is("the page for a table", "document.getElementById('drop')?.offsetParent && document.getElementById('kir-site')")
}

// drops lets a file fall on the page.
func (w *walk) drops(name string, data []byte) {
	w.t.Helper()
	w.does(fmt.Sprintf("const d = new DataTransfer(); d.items.add(new File([Uint8Array.from(atob(%q), c => c.charCodeAt(0))], %q)); document.dispatchEvent(new DragEvent('drop', {dataTransfer: d, bubbles: true, cancelable: true}))",
		base64.StdEncoding.EncodeToString(data), name))
}

// crashes kills the process of the tab.
func (w *walk) crashes() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 2*time.Second)
	defer cancel()
	if _, err := chromedp.Call(ctx, page.Crash, cdp.Empty{}); err == nil {
		w.t.Fatal("the tab did not crash")
	}
}

// openSite returns a browser, and a site that it may go to at some address.
func openSite(t *testing.T, more ...chromedp.ExecAllocatorOption) (w *walk, host *httptest.Server, address string) {
	t.Helper()
	if !testmode.Enabled() {
		t.Skip("a site is built and walked through in minutes: set KIR_LONG=1")
	}
	path := chromium(t)
	dir := builtSite(t)
	host = httptest.NewServer(http.StripPrefix("/a/b", http.FileServer(http.Dir(dir))))
	t.Cleanup(host.Close)
	w = &walk{t, browser(t, path, onlyFonts(t, "Liberation Sans", "fonts-liberation"), more...)}
	if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(1280, 900)); err != nil {
		t.Fatal(err)
	}
	return w, host, host.URL + "/a/b/"
}

// builtSite returns the directory of the site, which the first test that asks makes, beside
// the program.
func builtSite(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(program), "site")
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	next := filepath.Join(t.TempDir(), "site")
	if out, err := exec.CommandContext(t.Context(), filepath.Join("..", "..", "scripts", "site"), next).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Rename(next, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}
