package browser_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"kir/internal/long"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// TestSite goes through the page without a server: the site is opened once, and then its host
// is gone. A table is dropped, the shortlist is the command line's, an ingredient is pinned, a
// batch is made, two results are typed, the tab is closed and opened, and the next batch is
// chosen. What is saved as a file the command line goes on with.
func TestSite(t *testing.T) {
	if !long.Enabled() {
		t.Skip("a site is built and walked through in minutes: set KIR_LONG=1")
	}
	path := chromium(t)
	dir := t.TempDir()
	site := filepath.Join(dir, "site")
	if out, err := exec.Command(filepath.Join("..", "..", "scripts", "site"), site).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	host := httptest.NewServer(http.StripPrefix("/a/b", http.FileServer(http.Dir(site))))
	defer host.Close()
	address := host.URL + "/a/b/"

	w := &walk{t, browser(t, path, onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	seen := new(witness)
	if err := chromedp.Listen(w.ctx, seen.see); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(w.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	w.is("the page for a table", "document.getElementById('drop') && document.getElementById('kir-site')")
	t.Logf("the page is there after %.1f s", time.Since(begun).Seconds())
	w.accessible("the beginning")
	if _, err := chromedp.Run(w.ctx, chromedp.Evaluate[any]("navigator.serviceWorker.ready.then(() => 1)", chromedp.EvalAwaitPromise)); err != nil {
		t.Fatal(err)
	}
	host.Close()

	trials, err := os.ReadFile(filepath.Join("..", "..", "examples", "spritz", "trials.csv"))
	if err != nil {
		t.Fatal(err)
	}
	begun = time.Now()
	w.does(fmt.Sprintf("const d = new DataTransfer(); d.items.add(new File([%q], 'trials.csv')); document.dispatchEvent(new DragEvent('drop', {dataTransfer: d, bubbles: true, cancelable: true}))", trials))
	w.is("the table", "!document.getElementById('go').disabled && document.getElementById('go').offsetParent")
	w.click("#go")
	w.is("a first shortlist", "document.querySelectorAll('#list .card').length > 0")
	t.Logf("the first shortlist is there after %.1f s, with the table read and its model grown", time.Since(begun).Seconds())
	w.settled(1)
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
		i := field(fmt.Sprintf("1-%d", k+1), "liking")
		w.does("const i = " + i + "; i.value = '" + value + "'; i.dispatchEvent(new Event('input')); i.dispatchEvent(new Event('change'))")
		w.is("recorded", fmt.Sprintf("/liking %s/.test(document.getElementById('status-1-%d').textContent)", value, k+1))
	}
	w.answer("/site/kir.zip") // what was asked last is in the storage when this is answered
	time.Sleep(time.Second)

	// Another tab says that this one is open; then this one is closed.
	second, cancel := chromedp.NewContext(w.ctx)
	defer cancel()
	other := &walk{t, second}
	if err := chromedp.Do(second, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	other.is("another tab", "/open in another tab/.test(document.getElementById('boot-status').textContent)")
	if err := chromedp.Do(w.ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(second, chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	other.is("what was kept", `document.getElementById('status-1-2')?.textContent.includes('liking 58.5') && document.querySelectorAll('#steps li').length === 2`)
	other.is("the button of the next batch", "!document.getElementById('next').disabled")
	other.click("#next")
	other.is("the next batch", "document.querySelectorAll('#batches .batch').length === 2")
	other.accessible("the next batch")

	text, err := chromedp.Run(other.ctx, chromedp.Evaluate[string]("kir.fetch('/site/kir.zip').then(r => r.arrayBuffer()).then(b => btoa(Array.from(new Uint8Array(b), c => String.fromCharCode(c)).join('')))", chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "saved"), saved); err != nil {
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

// answer returns what the program answers on the site, or what comes of that.
func (w *walk) answer(path string, then ...string) string {
	w.t.Helper()
	text, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](fmt.Sprintf("kir.fetch(%q).then(r => r.text())", path)+strings.Join(then, ""), chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}
