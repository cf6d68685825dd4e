package browser_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"kir/internal/report"
	"kir/internal/report/figure"
	"kir/internal/testonly/testmode"
)

// barProblem copies the cocktails with kinds, to be drawn in a moment.
func barProblem(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"bar.yaml", "kinds.csv", "recipes.csv"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "examples", "cocktails", name))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(data), "warmup: 10000, draws: 100000", "warmup: 500, draws: 4000", 1)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "bar.yaml")
}

// A walk is a browser that goes through the page.
type walk struct {
	t   *testing.T
	ctx context.Context
}

// is waits until an expression is true.
func (w *walk) is(what, expression string) {
	w.t.Helper()
	for range 1200 {
		ok, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && ok {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	text, _ := chromedp.Run(w.ctx, chromedp.Evaluate[string](`[document.getElementById('phase').textContent, document.getElementById('said').textContent, document.getElementById('fault').innerText].join(' | ')`))
	w.t.Fatalf("%s: %s is never so; the page says %s", what, expression, text)
}

// does evaluates a script.
func (w *walk) does(script string) {
	w.t.Helper()
	if _, err := chromedp.Run(w.ctx, chromedp.Evaluate[any]("(() => {"+script+"; return 1})()")); err != nil {
		w.t.Fatalf("%s: %v", script, err)
	}
}

func (w *walk) click(selector string) {
	w.t.Helper()
	w.is("to be clicked", fmt.Sprintf("document.querySelector(%q) && !document.querySelector(%[1]q).disabled", selector))
	w.does(fmt.Sprintf("document.querySelector(%q).click()", selector))
}

// settled waits until the current step, of that number, is settled.
func (w *walk) settled(step int) {
	w.t.Helper()
	w.is("settled", fmt.Sprintf("document.getElementById('phase').className === 'settled' && document.querySelector('#steps [aria-current]').textContent.startsWith('%d.')", step))
}

// opens opens a tab of the page.
func (w *walk) opens(tab string) {
	w.t.Helper()
	w.is("the tab", fmt.Sprintf("document.getElementById('tab-%s')?.checkVisibility()", tab))
	w.click("#tab-" + tab)
}

// text returns the text of an element.
func (w *walk) text(selector string) string {
	w.t.Helper()
	text, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q).innerText", selector)))
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// drag moves the mouse from the middle of an element to the right, once the element has stood in one
// place for a tenth of a second: the page may still put something above it.
func (w *walk) drag(selector string, by float64) {
	w.t.Helper()
	at, err := chromedp.Run(w.ctx, chromedp.Evaluate[[]float64](fmt.Sprintf(`(async () => {
		for (let last = ''; ;) {
			const e = document.querySelector(%q);
			e.scrollIntoView({block: 'center'});
			const b = e.getBoundingClientRect(), at = [b.left + b.width / 2, b.top + b.height / 2];
			if (String(at) === last) return at;
			last = String(at);
			await new Promise(done => setTimeout(done, 100));
		}
	})()`, selector), chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range []input.DispatchMouseEventParams{
		{Type: "mouseMoved", X: at[0], Y: at[1]},
		{Type: "mousePressed", X: at[0], Y: at[1], Button: "left", Buttons: 1, ClickCount: 1},
		{Type: "mouseMoved", X: at[0] + by/2, Y: at[1], Button: "left", Buttons: 1},
		{Type: "mouseMoved", X: at[0] + by, Y: at[1], Button: "left", Buttons: 1},
		{Type: "mouseReleased", X: at[0] + by, Y: at[1], Button: "left", ClickCount: 1},
	} {
		if _, err := chromedp.Call(w.ctx, input.DispatchMouseEvent, e); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestServeInBrowser goes through the page as a person does: a table is opened, draws
// are seen, an ingredient pinned, one banned, a dose dragged, a conflict resolved by
// its button, twenty pairs compared, two steps taken back, the problem saved and run
// by the command line to the same shortlist.
func TestServeInBrowser(t *testing.T) {
	if !testmode.Enabled() {
		t.Skip("a walk of a minute: set KIR_LONG=1")
	}
	path := chromium(t)
	file := barProblem(t)
	w := &walk{t, browser(t, path, onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	seen := new(witness)
	if err := chromedp.Listen(w.ctx, seen.see); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(w.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	address := serveProblem(t, file)
	if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(1400, 1000), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	w.is("draws", "document.querySelectorAll('#ingredients tbody tr').length > 10 && document.querySelectorAll('#list .card').length > 5")
	w.settled(1)
	w.accessible("the shortlist")

	w.does("document.getElementById('shape').value = 'table'; document.getElementById('shape').dispatchEvent(new Event('change'))")
	w.is("the table", "document.querySelectorAll('#list thead th').length === 21")
	w.accessible("the table")
	w.does("document.getElementById('shape').value = 'cards'; document.getElementById('shape').dispatchEvent(new Event('change'))")
	w.does("document.getElementById('find').value = 'gin'; document.getElementById('find').dispatchEvent(new Event('input'))")
	w.is("found", "[...document.querySelectorAll('#list .card')].every(c => /gin/i.test(c.querySelector('.parts').textContent))")
	w.does("document.getElementById('find').value = ''; document.getElementById('find').dispatchEvent(new Event('input'))")

	w.does("const s = document.getElementById('colour-by'); s.value = 'kind'; s.dispatchEvent(new Event('change'))")
	colours := make(map[string]string)
	w.coloured(colours)
	w.click("#list .card [data-key^='pin ']")
	w.settled(2)
	w.coloured(colours)
	pinned := strings.TrimSpace(strings.TrimPrefix(w.text("#constraints li span"), "require"))
	w.is("the pinned one is everywhere", "[...document.querySelectorAll('#list .card')].every(c => [...c.querySelectorAll('.parts .name')].some(e => e.textContent === "+quoted(pinned)+"))")
	if rules := w.text("#constraints"); strings.Contains(rules, "amount") {
		t.Errorf("what was pinned may have an amount: the rules are %q", rules)
	}
	w.does("[...document.querySelectorAll(\"#list .card [data-key^='keep ']\")].find(b => b.dataset.key.endsWith(" + quoted(pinned) + ")).click()")
	w.settled(3)
	if told := w.text("#steps [aria-current] strong"); !kept.MatchString(told) {
		t.Errorf("the kept amount reads %q", told)
	}
	w.does("[...document.querySelectorAll(\"#list .card [data-key^='ban ']\")].find(b => !b.dataset.key.endsWith(" + quoted(pinned) + ")).click()")
	w.settled(4)
	w.coloured(colours)

	w.does("[...document.querySelectorAll('#ingredients tbody button')].find(b => b.textContent !== " + quoted(pinned) + ").click()")
	w.is("the distribution", "document.querySelector('#dose [role=slider]')")
	w.accessible("a dose")
	w.drag("#dose [role=slider]", 60)
	w.settled(5)
	if rule := w.text("#constraints"); !strings.Contains(rule, "min ") {
		t.Errorf("after the dose was dragged the rules are %q", rule)
	}

	// What is pinned at a dose cannot be more than that.
	w.does("document.getElementById('rule-kind').value = 'other'; document.getElementById('rule-kind').dispatchEvent(new Event('change'))")
	w.does("const i = document.querySelector('#rule-fields input'); i.value = 'amount: {of: " + strings.ReplaceAll(pinned, "'", `\'`) + ", min: 99%}'; i.dispatchEvent(new Event('input'))")
	w.is("what it leaves", "document.getElementById('rule-leaves').textContent.includes('cannot')")
	w.click("#rule-form button[type=submit]")
	w.is("the conflict", "!document.getElementById('fault').hidden && document.querySelector('#fault-ways button.main')")
	w.accessible("a conflict")
	w.click("#fault-ways button.main")
	w.settled(7)
	w.coloured(colours)

	w.click("#taste-begin")
	for k := range 20 {
		w.is("a pair", "document.querySelectorAll('#taste button:not(:disabled)').length === 2")
		w.click("#taste .card:nth-child(" + fmt.Sprint(1+k%2) + ") button")
		w.is("the answer counts", fmt.Sprintf("document.querySelector('#steps [aria-current]').textContent.includes('compared %d pair')", k+1))
	}
	w.is("how well the taste is known", "/tells [0-9]+ ± [0-9]+ %/.test(document.getElementById('objectives').textContent)")
	w.accessible("a comparison")
	w.settled(8)

	w.click("#map-draw")
	w.is("the map", "!document.getElementById('map-box').hidden")
	w.does("document.getElementById('map').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}))")
	w.is("what is looked at", "/[0-9.]+ % /.test(document.getElementById('map-says').textContent)")

	w.click("#back")
	w.settled(7)
	w.click("#back")
	w.is("the conflict again", "!document.getElementById('fault').hidden")
	w.click("[data-key='to 7']")
	w.settled(7)
	w.click("#show-difference")
	w.is("the difference", "document.getElementById('difference').textContent.includes('+')")
	w.accessible("the difference")
	w.does("document.getElementById('save-name').value = 'evening.yaml'; document.getElementById('save').requestSubmit()")
	w.is("saved", "document.getElementById('saved').textContent.includes('evening.yaml')")

	w.fits("saved", windows(360, 800, 1400, 2560), nil)

	frames, err := chromedp.Run(w.ctx, chromedp.Evaluate[[]float64](`[...Array(9)].map(() => {
		const begun = performance.now();
		document.getElementById('shape').dispatchEvent(new Event('change'));
		document.body.offsetHeight;
		return performance.now() - begun;
	}).sort((a, b) => a - b)`))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the shortlist is made and laid out anew in %.0f ms (the middle one of 9; %.0f to %.0f)", frames[4], frames[0], frames[8])
	if os.Getenv("KIR_SPEED") != "" && frames[4] > 60 {
		t.Errorf("a frame takes %.0f ms", frames[4])
	}
	shown, err := chromedp.Run(w.ctx, chromedp.Evaluate[string]("import('/js/server.js').then(m => m.ask('/list')).then(r => r.text())", chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Entries []report.Best }
	if err := json.Unmarshal([]byte(shown), &list); err != nil {
		t.Fatal(err)
	}
	var drawn struct{ Best []report.Best }
	dir := filepath.Join(t.TempDir(), "run")
	if err := json.Unmarshal([]byte(kirDoes(t, "sample", filepath.Join(filepath.Dir(file), "evening.yaml"), "-o", dir, "--json", "--quiet")), &drawn); err != nil {
		t.Fatal(err)
	}
	if len(list.Entries) == 0 || len(list.Entries) > len(drawn.Best) {
		t.Fatalf("%d entries are shown, and the command line has %d", len(list.Entries), len(drawn.Best))
	}
	for k, b := range list.Entries {
		if !reflect.DeepEqual(b.Recipe, drawn.Best[k].Recipe) || b.Score != drawn.Best[k].Score {
			t.Errorf("entry %d is %v on the page and %v from the command line", k+1, b.Recipe, drawn.Best[k].Recipe)
		}
	}
	messages, requests := seen.take()
	for _, m := range messages {
		if !strings.Contains(m, "400 (Bad Request)") {
			t.Errorf("the page says %q", m)
		}
	}
	for _, r := range requests {
		if origin, _, _ := strings.Cut(address, "#"); !strings.HasPrefix(r, origin) {
			t.Errorf("the page asks for %q", r)
		}
	}
}

// kept is how the history tells of an amount that is kept, of recipes in centilitres.
var kept = regexp.MustCompile(`^3\. .+ kept at [0-9.]+ % \([0-9.]+ of [0-9.]+ cl\)$`)

// coloured holds that what has had a colour has it still, and that a colour, but for
// greys, stands for one group: the book's ingredients have kinds.
func (w *walk) coloured(before map[string]string) {
	w.t.Helper()
	shown, err := chromedp.Run(w.ctx, chromedp.Evaluate[map[string]string](`Object.fromEntries([...document.querySelectorAll('#list .parts summary, #key li')]
		.map(e => e.closest('#key') ? ['group ' + e.textContent, e.querySelector('.swatch').className] : [e.querySelector('.name').textContent, e.querySelector('.swatch').className]))`))
	if err != nil {
		w.t.Fatal(err)
	}
	groups := make(map[string]string)
	for name, colour := range shown {
		if was, ok := before[name]; ok && was != colour {
			w.t.Errorf("%s was %s and is %s", name, was, colour)
		}
		before[name] = colour
		if group, is := strings.CutPrefix(name, "group "); is && !greys[colour] {
			if other, taken := groups[colour]; taken {
				w.t.Errorf("%s and %s are %s", group, other, colour)
			}
			groups[colour] = group
		}
	}
	if len(shown) < 10 {
		w.t.Errorf("%d colours are shown", len(shown))
	}
}

// greys are the colours that stand for nothing alone.
var greys = map[string]bool{fmt.Sprint("swatch c", figure.Grey): true, fmt.Sprint("swatch c", figure.Grey+1): true}

// quoted is a text as a script has it.
func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// A window is what the page is seen in.
type window struct {
	width, height int64
	scheme        string
}

// windows are of some widths, light and dark.
func windows(widths ...int64) (all []window) {
	for _, width := range widths {
		all = append(all, window{width, 900, "light"}, window{width, 900, "dark"})
	}
	return all
}

// fits looks at a state of the page in each window: nothing is too wide or too faint, and
// axe-core finds nothing. then, if there is one, is called in each.
func (w *walk) fits(state string, all []window, then func(v window)) {
	w.t.Helper()
	for _, v := range all {
		if _, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}}}); err != nil {
			w.t.Fatal(err)
		}
		if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(v.width, v.height)); err != nil {
			w.t.Fatal(err)
		}
		s, err := chromedp.Run(w.ctx, chromedp.Evaluate[struct {
			Overflow float64  `json:"overflow"`
			Wide     []string `json:"wide"`
			Faint    []string `json:"faint"`
		}](strings.Replace(look, "tables: [", "tables: [] && [", 1))) // which are those of reports
		if err != nil {
			w.t.Fatal(err)
		}
		at := fmt.Sprintf("%s, %d %s", state, v.width, v.scheme)
		if s.Overflow > 0 || len(s.Wide) > 0 || len(s.Faint) > 0 {
			w.t.Errorf("%s: %v too wide, %q; too faint: %q", at, s.Overflow, s.Wide, s.Faint)
		}
		w.accessible(at)
		if then != nil {
			then(v)
		}
	}
}

// accessible runs axe-core, if KIR_AXE says where it is, and fails at what it finds.
func (w *walk) accessible(state string) {
	w.t.Helper()
	file := os.Getenv("KIR_AXE")
	if file == "" {
		w.t.Logf("%s: KIR_AXE names no axe-core: accessibility is not looked at", state)
		return
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := chromedp.Run(w.ctx, chromedp.Evaluate[any](string(axe)+"\n;1")); err != nil {
		w.t.Fatal(err)
	}
	found, err := chromedp.Run(w.ctx, chromedp.Evaluate[[]string](`axe.run().then(r => r.violations
		.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + n.any.map(a => a.message).join(' ')).join(' | ')))`, chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range found {
		w.t.Errorf("%s: axe-core finds %s", state, f)
	}
}

// TestServeHostileNames shows 200 recipes and ingredients whose names try to be more
// than names, and steers by them: they stay text, in the page and in the file.
func TestServeHostileNames(t *testing.T) {
	path := chromium(t)
	dir := t.TempDir()
	var book strings.Builder
	out := csv.NewWriter(&book)
	rows := [][]string{{"recipe", "ingredient", "amount"}}
	more := []string{"${alert(8)}", "`+alert(9)+`", "\\u003cscript>alert(10)</script>", "a\tb", "# no comment", "'quoted'", "key: value", "- item", "{a: b}", "&anchor", "*star", "!!js", "%2e%2e/%2fetc", "../../etc/passwd", "=HYPERLINK(\"http://example.org\")", "\u2028line", "\u202eright", "0x1F", "null", "~"}
	names := append(append([]string{}, hostile...), more...)
	for r := range 200 {
		for k := range 2 + r%3 {
			rows = append(rows, []string{fmt.Sprintf("%s (%d)", names[r%len(names)], r), fmt.Sprintf("%s %d", names[(r+11*k)%len(names)], (r+k)%200), fmt.Sprint(1 + (r+k)%4)})
		}
	}
	if err := out.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "problem.yaml")
	for name, text := range map[string]string{"book.csv": book.String(), "problem.yaml": "name: \"</title><script>alert('name')</script>\"\nrecipes: book.csv\ntotal: 100\nproperties:\n  \"<b onclick=alert(7)>x\": {likeness: {floor: 0.1}}\nsampler: {chains: 2, warmup: 200, draws: 500}\nsearch: {effort: 0.2}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	w := &walk{t, browser(t, path, onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	seen := new(witness)
	if err := chromedp.Listen(w.ctx, seen.see); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(w.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	address := serveProblem(t, file)
	if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(360, 900), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	w.settled(1)
	for step, button := range []string{"[data-key^='pin ']", "[data-key^='ban ']:not([data-key^='ban 0'])"} {
		w.click("#list .card " + button)
		w.settled(step + 2)
	}
	w.does("document.querySelector('#ingredients tbody button').click()")
	w.is("the dose", "document.getElementById('dose').open")
	w.does("document.getElementById('dose').close()")
	w.click("#taste-begin")
	w.is("a pair", "document.querySelectorAll('#taste button').length === 2")
	w.click("#taste button")
	w.is("the answer counts", "document.querySelector('#steps [aria-current]').textContent.includes('compared 1 pair')")
	w.click("#map-draw")
	w.click("#show-text")
	w.is("text alone", "document.querySelectorAll('b:not(.bar b), i, img, iframe, style, script:not([src])').length === 0 && document.querySelectorAll('script').length === 1")
	s, err := chromedp.Run(w.ctx, chromedp.Evaluate[seenNames](look))
	if err != nil {
		t.Fatal(err)
	}
	if s.Overflow > 0 || len(s.Wide) > 0 {
		t.Errorf("the page is %v pixels too wide: %q", s.Overflow, s.Wide)
	}
	if !strings.Contains(s.Text, "</title><script>alert('name')</script>") || !strings.Contains(s.Text, "<b onclick=alert(7)>x") {
		t.Error("the names cannot be read")
	}
	messages, requests := seen.take()
	if len(messages) > 0 {
		t.Errorf("the page says %q", messages)
	}
	for _, r := range requests {
		if origin, _, _ := strings.Cut(address, "#"); !strings.HasPrefix(r, origin) {
			t.Errorf("the page asks for %q", r)
		}
	}
}

// seenNames is what is looked at where names are hostile.
type seenNames struct {
	Overflow float64  `json:"overflow"`
	Wide     []string `json:"wide"`
	Text     string   `json:"text"`
}

// TestServePictures makes the pictures of docs/serve.md in the directory that
// KIR_PICTURES names: states of the page, on a phone, a tablet and a desk.
func TestServePictures(t *testing.T) {
	dir := os.Getenv("KIR_PICTURES")
	if dir == "" {
		t.Skip("KIR_PICTURES names no directory")
	}
	w := &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	address := serveProblem(t, barProblem(t))
	quality := int64(45)
	picture := func(name, scheme string, width, height int64, at string) {
		t.Helper()
		if _, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(width, height)); err != nil {
			t.Fatal(err)
		}
		w.does("document.getElementById(" + quoted(at) + ").scrollIntoView({block: 'start', behavior: 'instant'})")
		time.Sleep(300 * time.Millisecond)
		shot, err := chromedp.Call(w.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: "webp", Quality: &quality})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".webp"), shot.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(1400, 1000), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	w.settled(1)
	picture("serve-list-desk", "light", 1400, 900, "title")
	picture("serve-list-phone", "light", 360, 780, "title")
	w.does("[...document.querySelectorAll('#ingredients tbody button')][0].click()")
	w.is("the distribution", "document.querySelector('#dose [role=slider]')")
	picture("serve-steer-tablet", "dark", 800, 900, "amounts-section")
	w.does("document.getElementById('dose').close()")
	w.does("document.getElementById('rule-kind').value = 'other'; document.getElementById('rule-kind').dispatchEvent(new Event('change'))")
	w.does("const i = document.querySelector('#rule-fields input'); i.value = 'require: [Gin, Vodka, Campari, Milk, Egg, Cognac]'; i.dispatchEvent(new Event('input'))")
	w.is("what it leaves", "document.getElementById('rule-leaves').textContent.includes('cannot')")
	w.click("#rule-form button[type=submit]")
	w.is("the conflict", "!document.getElementById('fault').hidden")
	picture("serve-conflict-phone", "dark", 360, 780, "title")
	w.click("[data-key='to 1']")
	w.settled(1)
	w.click("#taste-begin")
	w.is("a pair", "document.querySelectorAll('#taste button').length === 2")
	w.click("#map-draw")
	w.is("the map", "!document.getElementById('map-box').hidden")
	picture("serve-taste-desk", "light", 1400, 900, "taste-section")
	picture("serve-taste-phone", "dark", 360, 780, "taste-section")
	picture("serve-history-tablet", "light", 800, 700, "history-section")

	// A campaign of another problem.
	if err := chromedp.Do(w.ctx, chromedp.Navigate(serveProblem(t, drinkProblem(t)))); err != nil {
		t.Fatal(err)
	}
	w.opens("campaign")
	for round, liking := range [][]string{{"61", "70", "66"}, {"72", "64", "58"}} {
		w.is("the campaign", "document.getElementById('next-size').value === '3' && !document.getElementById('next').disabled")
		w.click("#next")
		w.is("a batch", fmt.Sprintf("document.querySelector('[data-key=\"result B%d-3 haze\"]')", round+1))
		w.stands("where it stands")
		for k, v := range liking[:3-round] {
			w.does(field(fmt.Sprintf("B%d-%d", round+1, k+1), "liking") + ".focus()")
			w.types(v)
			w.does(field(fmt.Sprintf("B%d-%d", round+1, k+1), "haze") + ".focus()")
			w.types(fmt.Sprint(9 - 2*k))
			w.is("kept", fmt.Sprintf("/haze/.test(document.getElementById('status-B%d-%d').textContent)", round+1, k+1))
		}
		w.is("learnt", "document.getElementById('campaign-doing').textContent !== ''")
		w.stands("where it stands then")
	}
	picture("serve-campaign-tablet", "light", 800, 1000, "campaign-section")
	picture("serve-campaign-desk", "light", 1400, 900, "campaign-figures")
}
