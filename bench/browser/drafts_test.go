package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestServeKilled types while the server is killed: results, a table of results, a constraint
// and the problem's text. With the server back, at the address that it had, they are there and
// the results are recorded: in the tab that stayed open, and in one that was closed and opened.
func TestServeKilled(t *testing.T) {
	file := drinkProblem(t)
	w := &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	address, kill := servedUntil(t, "", file)
	origin, _, _ := strings.Cut(address, "#")
	navigate := func(to string) {
		t.Helper()
		if err := chromedp.Do(w.ctx, chromedp.Navigate(to)); err != nil {
			t.Fatal(err)
		}
	}
	again := func() {
		t.Helper()
		if address, kill = servedUntil(t, "", file); !strings.HasPrefix(address, origin) {
			t.Fatalf("the page was at %s, and is at %s", origin, address)
		}
	}
	ended := func() {
		t.Helper()
		kill()
		w.is("that kir has ended", "document.getElementById('phase').className === 'gone'")
	}
	navigate(address)
	w.is("labels", "!document.getElementById('next').disabled && document.getElementById('next').textContent === 'Choose batch'")
	w.opens("campaign")
	w.click("#next")
	w.is("a batch", "document.querySelectorAll('#batches .card').length === 3")
	w.does(field("B1-1", "liking") + ".focus()")
	w.types("61")
	w.is("recorded", `/liking 61/.test(document.getElementById('status-B1-1').textContent)`)

	ended()
	w.does(field("B1-2", "liking") + ".focus()")
	w.types("58,5")
	w.is("not recorded", `/^Not recorded yet: kir does not answer/.test(document.getElementById('status-B1-2').textContent) && !`+field("B1-2", "liking")+`.hasAttribute('aria-invalid')`)
	w.does("const i = " + field("B1-1", "haze") + ", data = new DataTransfer(); data.setData('text', '8\\n11\\n'); i.focus(); i.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}))")
	w.is("pasted", field("B1-2", "haze")+`.value === '11' && `+field("B1-1", "haze")+`.value === '8'`)
	w.does("document.getElementById('paste').open = true; document.getElementById('paste-text').focus()")
	if err := chromedp.Do(w.ctx, chromedp.KeyEvent("B1-3,liking 40")); err != nil {
		t.Fatal(err)
	}
	w.opens("recipes")
	w.does("document.getElementById('constraint-add').open = true; document.querySelector('#rule-fields input').focus()")
	if err := chromedp.Do(w.ctx, chromedp.KeyEvent("Gin")); err != nil {
		t.Fatal(err)
	}
	w.accessible("without a server")

	// The tab that stayed open has no key of the new server. A tab that is opened by the new address
	// records what was typed in the other one.
	again()
	w.is("that kir was started again", "document.getElementById('phase').className === 'refused'")
	second, cancel := chromedp.NewContext(w.ctx)
	if err := chromedp.Do(second, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	(&walk{t, second}).is("recorded when it is back", `/liking 58.5, haze 11/.test(document.getElementById('status-B1-2').textContent) && /liking 61, haze 8/.test(document.getElementById('status-B1-1').textContent) && document.getElementById('phase').className !== 'gone'`)
	cancel()

	// A tab that is closed while nobody answers loses nothing either.
	ended()
	w.opens("campaign")
	w.does(field("B1-3", "haze") + ".focus()")
	w.types("9")
	w.is("not recorded, either", `/^Not recorded yet/.test(document.getElementById('status-B1-3').textContent)`)
	w.does(field("B1-3", "liking") + ".focus()")
	if err := chromedp.Do(w.ctx, chromedp.KeyEvent("47")); err != nil {
		t.Fatal(err)
	}
	navigate("about:blank")
	again()
	navigate(address)
	w.is("recorded when it is opened", `/liking 47, haze 9/.test(document.getElementById('status-B1-3')?.textContent)`)
	w.is("the table", "document.getElementById('paste-text').value === 'B1-3,liking 40' && document.getElementById('paste').open")
	w.is("the constraint", "document.querySelector('#rule-fields input').value === 'Gin' && document.getElementById('constraint-add').open")
	w.is("nothing of it in the storage", "Object.keys(localStorage).every(k => !/ result /.test(k))")

	// What was recorded elsewhere since is not overwritten without a word.
	ended()
	w.does(field("B1-1", "haze") + ".focus(); " + field("B1-1", "haze") + ".select()")
	w.types("5")
	w.is("not recorded, again", `/^Not recorded yet/.test(document.getElementById('status-B1-1').textContent)`)
	navigate("about:blank")
	kirDoes(t, "record", file, "B1-1", "haze=7", "--correct")
	again()
	navigate(address)
	w.is("what was recorded since", `/haze 5 was typed here, and 7 was recorded since/.test(document.getElementById('status-B1-1')?.textContent) && `+field("B1-1", "haze")+`.value === '5'`)
	w.does(field("B1-1", "haze") + ".focus()")
	w.press("Enter", 13)
	w.is("the typed one", `/haze 5/.test(document.getElementById('status-B1-1').textContent) && !/typed here/.test(document.getElementById('status-B1-1').textContent)`)

	// The problem's text.
	w.opens("recipes")
	w.does("document.getElementById('show-text').click()")
	w.is("the text", "document.getElementById('text').value.includes('A long drink')")
	w.does("const i = document.getElementById('text'); i.value = i.value.replace('A long drink', 'A longer drink'); i.dispatchEvent(new Event('input'))")
	ended()
	navigate("about:blank")
	again()
	navigate(address)
	w.is("the text that was being changed", "document.getElementById('text').value.includes('A longer drink') && document.getElementById('text').offsetParent")
}

// TestBeginKilled: cells that were pasted stand there again when the server is.
func TestBeginKilled(t *testing.T) {
	dir := t.TempDir()
	w := &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	address, kill := servedUntil(t, dir, "--address", "127.0.0.1:0")
	origin, _, _ := strings.Cut(address, "#")
	if err := chromedp.Do(w.ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	w.is("the page", "!document.getElementById('open').hidden")
	kill()
	w.does("const i = document.getElementById('paste'), data = new DataTransfer(); data.setData('text/plain', 'drink\\tGin\\tLime\\tliking\\nA\\t2\\t1\\t5\\nB\\t1\\t1\\t4'); i.focus(); i.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}))")
	w.is("that nobody answers", "/does not answer/.test(document.getElementById('said').textContent)")
	at := strings.TrimSuffix(strings.TrimPrefix(origin, "http://"), "/")
	address, _ = servedUntil(t, dir, "--address", at)
	// Or the address would change its fragment alone, and what is clicked before the page is loaded again is lost.
	if err := chromedp.Do(w.ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	w.is("the cells", "/^drink\\tGin/.test(document.getElementById('paste').value) && !document.getElementById('paste-open').hidden")
	w.click("#paste-open")
	w.is("read", "document.querySelectorAll('#tables .sheet').length === 1")
}
