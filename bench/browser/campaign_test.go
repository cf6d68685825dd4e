package browser_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"kir/internal/campaign"
)

// drinkProblem writes a problem with a book of 24 trials of six ingredients, whose liking
// and haze follow from what is in them.
func drinkProblem(t *testing.T) string {
	t.Helper()
	names := []string{"Tonic water", "Gin", "Lime juice", "Elderflower liqueur", "Dry vermouth", "Simple syrup"}
	var book strings.Builder
	book.WriteString("recipe,ingredient,amount,unit,liking,haze\n")
	for k := range 24 {
		gin, lime := 4+k%5, 2+(k*7)%4
		other := 3 + k%3
		rest := 36 - gin - lime
		for _, part := range []struct {
			name     string
			quarters int
		}{{names[0], rest - rest/3}, {names[1], gin}, {names[2], lime}, {names[other], rest / 3}} {
			fmt.Fprintf(&book, "trial %d,%s,%g,cl,%d,%d\n", k+1, part.name, float64(part.quarters)/4, 40+3*gin-2*lime+4*(k%3), 3+2*lime+k%2)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"trials.csv": book.String(), "bar.yaml": `name: A long drink
recipes: trials.csv
total: 36
sparsity: recipes
properties:
  liking: {learn: {label: liking, maximize: true}}
  haze: {learn: {label: haze, minimize: true}}
constraints: [{amount: {of: Gin, max: 14}}]
campaign: {batch: 3}
sampler: {warmup: 300, draws: 1000}
search: {effort: 0.2}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "bar.yaml")
}

// types writes into what has the focus, as a keyboard does, and presses Enter.
func (w *walk) types(text string) {
	w.t.Helper()
	if _, err := chromedp.Call(w.ctx, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		w.t.Fatal(err)
	}
	w.press("Enter", 13)
}

// press presses a key.
func (w *walk) press(key string, code int64) {
	w.t.Helper()
	down := input.DispatchKeyEventParams{Type: "keyDown", Key: key, Code: key, WindowsVirtualKeyCode: code}
	if key == "Enter" {
		down.Text = "\r"
	}
	for _, e := range []input.DispatchKeyEventParams{down, {Type: "keyUp", Key: key, Code: key, WindowsVirtualKeyCode: code}} {
		if _, err := chromedp.Call(w.ctx, input.DispatchKeyEvent, e); err != nil {
			w.t.Fatal(err)
		}
	}
}

// stands waits until nothing is computed for the campaign any more.
func (w *walk) stands(what string) {
	w.t.Helper()
	w.is(what, "document.getElementById('campaign-doing').textContent === '' && document.querySelectorAll('#campaign-figures figure').length > 0")
}

// field is the script of the field of a recipe's label.
func field(id, label string) string {
	return fmt.Sprintf(`document.querySelector('[data-key="result %s %s"]')`, id, label)
}

// TestServeCampaign goes through two rounds as a person does: a batch with its reasons,
// sheets, results typed, pasted and failed, what was learnt, another tab, another batch,
// which is the one that the command line goes on with.
func TestServeCampaign(t *testing.T) {
	file := drinkProblem(t)
	w := &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	seen := new(witness)
	if err := chromedp.Listen(w.ctx, seen.see); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(w.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	address := serveProblem(t, file)
	origin, _, _ := strings.Cut(address, "#")
	if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	w.is("labels", "!document.getElementById('next').disabled && document.getElementById('next').textContent === 'Choose batch' && document.getElementById('next-size').value === '3'")
	w.opens("campaign")
	w.click("#next")
	w.is("a batch", "document.querySelectorAll('#batches .card').length === 3")
	w.is("reasons and predictions", "[...document.querySelectorAll('#batches .card')].every(c => /chance of a new best|explores|tests/.test(c.querySelector('.reason').textContent) && /liking [0-9.]+ \\([0-9.]+ to [0-9.]+\\)/.test(c.textContent))")
	w.stands("where it stands")
	w.accessible("a batch")

	w.click("[data-key='make 1']")
	w.is("what is made of each", "document.querySelector('dialog[open] input').value === '9 cl'")
	w.accessible("sheets")
	sheets, err := chromedp.Run(w.ctx, chromedp.Evaluate[string]("import('/js/server.js').then(m => m.ask('/sheets?round=1&batch=9cl&step=0.25')).then(r => r.text())", chromedp.EvalAwaitPromise))
	if err != nil || strings.Count(sheets, "<section") != 3 || !strings.Contains(sheets, "<span>haze</span>") {
		t.Errorf("the sheets are %.400s, %v", sheets, err)
	}
	w.does("document.querySelector('dialog[open]').close()")

	// By keyboard: Enter goes to the field below, and what stands there is kept.
	w.does(field("B1-1", "liking") + ".focus()")
	w.types("61")
	w.is("the next recipe", field("B1-2", "liking")+" === document.activeElement")
	w.types("nice")
	w.is("what is wrong", field("B1-2", "liking")+`.getAttribute('aria-invalid') === 'true' && document.getElementById('status-B1-2').textContent.includes('no number')`)
	w.accessible("a result that is none")
	w.does(field("B1-2", "liking") + ".focus(); " + field("B1-2", "liking") + ".select()")
	w.types("58,5")
	w.is("recorded", `/liking 58.5/.test(document.getElementById('status-B1-2').textContent) && /liking 61/.test(document.getElementById('status-B1-1').textContent)`)
	// From the last field Enter goes to the next batch, and begins none.
	w.does(field("B1-3", "liking") + ".focus()")
	w.press("Enter", 13)
	w.is("the button of the next batch", "document.activeElement === document.getElementById('next') && !document.getElementById('next').disabled")
	// A column that is pasted fills the fields below.
	w.does("const i = " + field("B1-1", "haze") + ", data = new DataTransfer(); data.setData('text', '8\\n11\\n'); i.focus(); i.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}))")
	w.is("pasted", `/haze 8/.test(document.getElementById('status-B1-1').textContent) && /haze 11/.test(document.getElementById('status-B1-2').textContent)`)
	w.click("[data-key='failed B1-3']")
	w.is("failed", `document.getElementById('status-B1-3').textContent === 'Failed'`)
	w.is("what was learnt", "document.querySelectorAll('#campaign-tables table').length === 2 && document.querySelectorAll('#campaign-tables table')[1].tBodies[0].rows.length === 4")
	w.stands("where it stands then")
	if advice := w.text("#campaign-advice"); !strings.HasPrefix(advice, "Make another batch.") && !strings.HasPrefix(advice, "Stop, or ") {
		t.Errorf("the advice is %q", advice)
	}
	w.accessible("results")

	// Another tab shows the same, and what is typed in one is shown in the other.
	second, cancel := chromedp.NewContext(w.ctx)
	defer cancel()
	other := &walk{t, second}
	// It is a copy of the first, which a browser gives what the first one has stored.
	storage, err := chromedp.Run(w.ctx, chromedp.Evaluate[string]("JSON.stringify({...sessionStorage})"))
	if err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(second, chromedp.Navigate(origin)); err != nil {
		t.Fatal(err)
	}
	other.does(fmt.Sprintf("Object.assign(sessionStorage, JSON.parse(%q)); location.reload()", storage))
	other.is("the same", `document.getElementById('status-B1-1')?.textContent.includes('haze 8')`)
	other.is("two tabs", "!document.getElementById('pages').hidden")
	other.does("const i = " + field("B1-1", "haze") + "; i.value = '7'; i.dispatchEvent(new Event('input')); i.dispatchEvent(new Event('change'))")
	w.is("what the other typed", `/haze 7/.test(document.getElementById('status-B1-1').textContent) && `+field("B1-1", "haze")+`.value === '7'`)
	cancel()

	w.stands("before the second round")
	w.does("const i = document.getElementById('next-size'); i.value = '2'; i.dispatchEvent(new Event('input'))")
	w.click("#next")
	w.is("the second batch", "document.querySelectorAll('#batches .batch').length === 2 && document.querySelectorAll('#batches .batch:first-child .card').length === 2")
	w.stands("after it")
	w.is("earlier rounds fold away", "!document.querySelectorAll('#batches .batch')[1].open && document.querySelector('#batches .batch').open")

	w.fits("two rounds", windows(360, 640, 768, 1280, 2560), func(v window) { // 640 is 1,280 at 200 %
		w.screenshot(fmt.Sprintf("campaign-%d-%s", v.width, v.scheme), "campaign-section")
	})
	// The page is closed, and the command line goes on.
	if err := chromedp.Do(w.ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	if printed := kirDoes(t, "next", file, "-n", "2"); !strings.Contains(printed, "this is the last batch again") || !strings.Contains(printed, "Batch 2") {
		t.Errorf("kir next prints %s", printed)
	}
	var stand campaign.Standing
	if err := json.Unmarshal([]byte(kirDoes(t, "campaign", file, "--json")), &stand); err != nil {
		t.Fatal(err)
	}
	if stand.Round != 2 || stand.FailedTrials != 1 || len(stand.Pending) != 2 || len(stand.Checks) != 4 {
		t.Errorf("kir campaign has %+v", stand)
	}
	if err := chromedp.Do(w.ctx, chromedp.Navigate(origin)); err != nil {
		t.Fatal(err)
	}
	w.is("all is there", `document.getElementById('status-B1-1')?.textContent.includes('liking 61, haze 7') && document.querySelectorAll('#batches .batch').length === 2 && document.querySelector('#batches .batch').open`)

	// A trade-off is there to click where the answer has one.
	w.opens("recipes")
	w.is("no trade-off", "document.getElementById('front').hidden")
	w.is("settled", "document.getElementById('phase').className === 'settled'")
	if _, err := chromedp.Run(w.ctx, chromedp.Evaluate[any](`(async () => {
		const { page } = await import('/js/state.js'), { showList } = await import('/js/recipes.js');
		page.list.tradeoff = {objectives: [{name: 'liking', goal: 'maximize', unit: ''}, {name: 'cost', goal: 'minimize', unit: '€'}, {name: 'haze', goal: 'minimize', unit: ''}],
			front: page.list.entries.slice(0, 4).map((b, k) => ({recipe: b.recipe, knee: k === 2, best: k ? [] : ['liking'], values: {liking: {value: 80 - k * k}, cost: {value: 9 - k}, haze: {value: 3 + k % 3}}}))};
		showList();
		return 1;
	})()`, chromedp.EvalAwaitPromise)); err != nil {
		t.Fatal(err)
	}
	w.is("points", "document.querySelectorAll('#front .at').length === 4")
	w.does("document.querySelectorAll('#front .at')[2].dispatchEvent(new MouseEvent('click'))")
	w.is("the knee", "/liking 76.0, cost 7.00.*a knee/.test(document.querySelector('#front .box').textContent)")
	w.press("ArrowRight", 39)
	w.is("the next point", "/liking 71.0, cost 6.00/.test(document.querySelector('#front .box').textContent) && document.activeElement.getAttribute('aria-checked') === 'true'")
	w.accessible("a trade-off")
	w.screenshot("front", "list-section")

	// One that is asked for is that of the run, and a point of it can be gone on from. Lime spoils
	// both here, so that one recipe is the best in both, or few are.
	w.click("[data-key='trade go']")
	w.is("settled with a trade-off", "document.getElementById('phase').className === 'settled' && /Trade-off of liking and haze/.test(document.querySelector('#trade summary').textContent) && (/No trade-off: one recipe is the best in liking and haze/.test(document.getElementById('front').textContent) || document.querySelectorAll('#front .at').length > 1) && !/First results/.test(document.getElementById('front').textContent)")
	w.does("document.querySelector('#front .at')?.dispatchEvent(new MouseEvent('click'))")
	w.accessible("a trade-off that was asked for")
	w.click("[data-key='front on']")
	w.is("near the point", "document.getElementById('phase').className === 'settled' && document.querySelectorAll('#constraints li').length === 2")

	messages, requests := seen.take()
	for _, m := range messages {
		if !strings.Contains(m, "400 (Bad Request)") {
			t.Errorf("the page says %q", m)
		}
	}
	for _, r := range requests {
		if !strings.HasPrefix(r, origin) && r != "about:blank" {
			t.Errorf("the page asks for %q", r)
		}
	}
	w.opens("campaign")
	paper := w.printed("campaign")
	for _, text := range []string{"A long drink", "Batch 2", "B2-2", "Expected:", "Batch 1", "liking of the best so far", "haze: predicted and measured"} {
		if !strings.Contains(paper, plainly(text)) {
			t.Errorf("on paper is no %q", text)
		}
	}
	for _, control := range []string{"Next batch", "Print sheets", "Not made", "Paste a table"} {
		if strings.Contains(paper, plainly(control)) {
			t.Errorf("on paper is the control %q", control)
		}
	}
}

// screenshot writes what is seen, from an element on, into the directory that
// KIR_SCREENSHOTS names, if it does.
func (w *walk) screenshot(name, at string) {
	w.t.Helper()
	dir := os.Getenv("KIR_SCREENSHOTS")
	if dir == "" {
		return
	}
	w.does("document.getElementById(" + quoted(at) + ").scrollIntoView({block: 'start', behavior: 'instant'})")
	time.Sleep(200 * time.Millisecond)
	shot, err := chromedp.Call(w.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: "png"})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o666); err != nil {
		w.t.Fatal(err)
	}
}
