package browser_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/xuri/excelize/v2"

	"kir/internal/testonly/testmode"
)

// serveIn runs kir serve in a directory until the test ends and returns its address.
func serveIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return served(t, dir, args...)
}

// ounces writes an amount in centilitres as a bar does: in quarters of an ounce.
func ounces(cl float64) string {
	quarters := max(1, int(cl/2.957*4+0.5))
	whole, part := quarters/4, []string{"", "¼", "½", "¾"}[quarters%4]
	return strings.TrimSpace(strings.TrimPrefix(fmt.Sprintf("%d %s", whole, part), "0 "))
}

// barWorkbook writes a workbook as a bar keeps it: a title over several columns, names of
// drinks in merged cells, ounces and dashes, a rating for a third of the drinks, names in
// another case, a remark below, and a sheet of what is there.
func barWorkbook(t *testing.T, path string) {
	t.Helper()
	in, err := os.Open(filepath.Join("..", "..", "examples", "cocktails", "recipes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rows, err := csv.NewReader(in).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	f := excelize.NewFile()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(f.SetSheetName("Sheet1", "Drinks"))
	check(f.SetCellStr("Drinks", "A1", "The bar, winter list"))
	check(f.MergeCell("Drinks", "A1", "F1"))
	for i, name := range []string{"Cocktail", "Ingredient", "Amount", "Unit", "Rating (1-10)", "Comment"} {
		check(f.SetCellStr("Drinks", string(rune('A'+i))+"3", name))
	}
	line, begun, drinks := 4, 4, 0
	stock := make(map[string]bool)
	for k, row := range rows[1:] {
		isNew := k == 0 || rows[k][0] != row[0]
		if isNew {
			if k > 0 && line-begun > 1 {
				for _, column := range []string{"A", "E", "F"} {
					check(f.MergeCell("Drinks", fmt.Sprint(column, begun), fmt.Sprint(column, line-1)))
				}
			}
			begun = line
			check(f.SetCellStr("Drinks", fmt.Sprint("A", line), row[0]))
			if drinks++; drinks%3 == 1 {
				sour := 5
				for _, other := range rows[1:] {
					if other[0] == row[0] && strings.Contains(other[1], "juice") {
						sour += 2
					}
				}
				check(f.SetCellInt("Drinks", fmt.Sprint("E", line), int64(min(sour, 10))))
				check(f.SetCellStr("Drinks", fmt.Sprint("F", line), fmt.Sprintf("tasted on evening %d", drinks)))
			}
		}
		cl, err := strconv.ParseFloat(row[2], 64)
		check(err)
		amount, unit := row[2], row[3]
		if unit == "cl" {
			amount, unit = ounces(cl), "oz"
		}
		name := row[1]
		if k%37 == 5 {
			name = strings.ToLower(name)
		}
		stock[row[1]] = true
		check(f.SetCellStr("Drinks", fmt.Sprint("B", line), name))
		check(f.SetCellStr("Drinks", fmt.Sprint("C", line), amount))
		check(f.SetCellStr("Drinks", fmt.Sprint("D", line), unit))
		line++
	}
	check(f.SetCellStr("Drinks", fmt.Sprint("A", line+1), "* house recipes; do not share"))
	_, err = f.NewSheet("Stock")
	check(err)
	for i, name := range []string{"Ingredient", "Price (€/l)", "Stock (ml)"} {
		check(f.SetCellStr("Stock", string(rune('A'+i))+"1", name))
	}
	names := make([]string, 0, len(stock))
	for name := range stock {
		names = append(names, name)
	}
	slices.Sort(names)
	for k, name := range names {
		check(f.SetCellStr("Stock", fmt.Sprint("A", k+2), name))
		check(f.SetCellFloat("Stock", fmt.Sprint("B", k+2), float64(2+k*7%30), 1, 64))
		check(f.SetCellInt("Stock", fmt.Sprint("C", k+2), int64(k%5*350)))
	}
	check(f.SaveAs(path))
}

// A begun walks through the page that makes a problem of a table, and counts the clicks.
type begun struct {
	*walk
	seen   *witness
	clicks int
}

// begin opens the page.
func begin(t *testing.T, address string) *begun {
	t.Helper()
	b := &begun{walk: &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}, seen: new(witness)}
	if err := chromedp.Listen(b.ctx, b.seen.see); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(1440, 1000), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	return b
}

// is waits until an expression is true.
func (b *begun) is(what, expression string) {
	b.t.Helper()
	for range 2400 { // a run may take a minute where others run, too
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && ok {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatalf("%s: %s is never so; the page has\n%s", what, expression, b.text("body"))
}

// press clicks, and counts it.
func (b *begun) press(selector string) {
	b.t.Helper()
	b.is("to be clicked", fmt.Sprintf("(e => e && !e.disabled)(document.querySelector(%q))", selector))
	b.does(fmt.Sprintf("document.querySelector(%q).click()", selector))
	b.clicks++
	b.is("answered", "!document.body.classList.contains('busy')")
}

// give gives a file to an input as the dialog for files does, which is two clicks: one on the
// button and one on the file.
func (b *begun) give(selector, path string) {
	b.t.Helper()
	root, err := chromedp.Call(b.ctx, dom.GetDocument, dom.GetDocumentParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	node, err := chromedp.Call(b.ctx, dom.QuerySelector, dom.QuerySelectorParams{NodeID: root.Root.NodeID, Selector: selector})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{path}, NodeID: node.NodeID}); err != nil {
		b.t.Fatal(err)
	}
	b.clicks += 2
}

// looks looks at a state of the page in all widths, light and dark, and twice as large.
// KIR_PICTURES names a directory for pictures of the whole page.
func (b *begun) looks(state string) {
	b.t.Helper()
	b.fits(state, []window{{360, 780, "light"}, {480, 900, "dark"}, {720, 500, "dark"}, {820, 1100, "light"}, {820, 1100, "dark"}, {1440, 1000, "dark"}, {2560, 1300, "light"}, {1440, 1000, "light"}}, func(v window) {
		dir := os.Getenv("KIR_PICTURES")
		if dir == "" {
			return
		}
		whole := true
		shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: "png", CaptureBeyondViewport: &whole})
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(fmt.Sprintf("%s-%d-%s.png", state, v.width, v.scheme), " ", "-")), shot.Data, 0o666); err != nil {
			b.t.Fatal(err)
		}
	})
}

// comesFirst holds that of two elements one is the first in the document, and so for the
// keyboard and a screen reader, in a window of that width, or the other one.
func (b *begun) comesFirst(one, other string, width int64, want bool) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900)); err != nil {
		b.t.Fatal(err)
	}
	b.is(fmt.Sprintf("at %d px %s before %s is %v", width, one, other, want),
		fmt.Sprintf("(document.querySelector(%q).compareDocumentPosition(document.querySelector(%q)) === Node.DOCUMENT_POSITION_FOLLOWING) === %v", one, other, want))
}

// picture makes a picture of docs/serve.md, if KIR_PICTURES names a directory.
func (b *begun) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("KIR_PICTURES")
	if dir == "" {
		return
	}
	quality := int64(45)
	shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: "webp", Quality: &quality})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".webp"), shot.Data, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// answer presses an answer of the question whose text begins so, which may be folded.
func (b *begun) answer(question, text string) {
	b.t.Helper()
	is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
		const asked = [...document.querySelectorAll('#asks li, #asks-more li')].find(e => e.textContent.startsWith(%s));
		const button = asked && [...asked.querySelectorAll('button')].find(e => e.textContent === %s);
		button?.click();
		return !!button;
	})()`, quoted(question), quoted(text))))
	if err != nil || !is {
		b.t.Fatalf("nothing answers %q with %q: %v", question, text, err)
	}
}

// quiet holds that the page said nothing wrong and asked nothing of others.
func (b *begun) quiet(address string) {
	b.t.Helper()
	messages, requests := b.seen.take()
	if len(messages) > 0 {
		b.t.Errorf("the page says %q", messages)
	}
	for _, r := range requests {
		if origin, _, _ := strings.Cut(address, "#"); !strings.HasPrefix(r, origin) {
			b.t.Errorf("the page asks for %q", r)
		}
	}
}

// TestBeginWithBar goes from kir serve alone and a bar's workbook to the weighing sheets of
// three drinks, without typing.
func TestBeginWithBar(t *testing.T) {
	dir := t.TempDir()
	workbook := filepath.Join(t.TempDir(), "Winter list (final).xlsx")
	barWorkbook(t, workbook)
	address := serveIn(t, dir)
	b := begin(t, address)
	b.is("the page", "!document.getElementById('open').hidden && document.querySelectorAll('#examples button').length === 3")
	b.looks("open")
	b.give("#file", workbook)
	b.is("the table", "document.querySelectorAll('#tables .sheet').length === 1 && !document.getElementById('go').disabled")
	// The sheet of what is there is offered by name, and used after a click; another takes it back.
	for k, answer := range []string{"Use it", "Leave it out", "Use it"} {
		b.answer(`Sheet "Stock" lists all 63 ingredients, with "Price (€/l)", "Stock (ml)"`, answer)
		b.is("the sheet", fmt.Sprintf("document.querySelectorAll('#tables .sheet').length === %d && !document.getElementById('go').disabled", 2-k%2))
	}
	b.answer("How much is 1 dash?", "1.8 ml")
	b.is("the dash", "/dash: \"1.8 ml\"/.test(document.getElementById('text').textContent) && /\\ningredients: /.test(document.getElementById('text').textContent)")
	b.answer("How much is 1 dash?", "0.9 ml")
	b.is("the usual dash", "/dash: \"0.9 ml\"/.test(document.getElementById('text').textContent) && /\\ningredients: /.test(document.getElementById('text').textContent)")
	if says := b.text("#words"); !strings.Contains(says, "69 recipes, 63 ingredients") {
		t.Errorf("the page says %q", says)
	}
	colours := make(map[string]string)
	for cell, kind := range map[string]string{"The bar, winter list": "k-left", "Amount": "k-amount", "Rating (1-10)": "k-result", "Campari": "k-ingredient", "dash": "k-amount", "Price (€/l)": "k-price", "Stock (ml)": "k-stock", "Americano": "k-name"} {
		is, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](fmt.Sprintf("[...document.querySelectorAll('#tables td')].find(e => e.textContent === %s)?.className ?? 'nowhere'", quoted(cell))))
		if err != nil {
			t.Fatal(err)
		}
		if colours[cell] = is; is != kind {
			t.Errorf("%q is taken for %q, want %q", cell, is, kind)
		}
	}
	b.looks("bar")
	b.picture("serve-begin-desk")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("before Go there are %v, %v", entries, err)
	}
	b.press("#go")
	b.is("the session", "document.getElementById('phase')?.className === 'settled'")
	if _, err := os.Stat(filepath.Join(dir, "Winter-list-final", "problem.yaml")); err != nil {
		t.Error(err)
	}
	b.looks("bar result")
	b.comesFirst("#list .card", "#objectives", 360, true)
	b.comesFirst("#list-headline", "#list .card", 360, true)
	b.comesFirst("#list .card", "#find", 1440, false)
	b.is("a scale is no unit", "!/1-10/.test(document.getElementById('list').textContent)")
	b.press("#tab-campaign")
	b.press("#next")
	b.is("three drinks", "document.querySelectorAll('#batches .card').length === 3")
	b.looks("bar campaign")
	b.press("[data-key='make 1']")
	b.is("what is printed", "document.querySelector('dialog[open] button.main')")
	sheets, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`(() => { const [of, step] = document.querySelectorAll('dialog[open] input');
		return import('/js/server.js').then(m => m.ask('/sheets?round=1&batch=' + encodeURIComponent(of.value) + '&step=' + encodeURIComponent(step.value))).then(r => r.text()); })()`, chromedp.EvalAwaitPromise))
	if err != nil || strings.Count(sheets, "<section") != 3 {
		t.Errorf("the sheets are %.400s, %v", sheets, err)
	}
	b.press("dialog[open] button.main")
	if b.clicks > 12 {
		t.Errorf("it takes %d clicks", b.clicks)
	}
	t.Logf("%d clicks", b.clicks)
	b.quiet(address)
}

// TestBeginWithLotion goes from a cosmetic formulation's example, with prices, functions,
// maxima and stock, to a front of cost against viscosity with stability of at least 90 %. A first
// front is there within seconds, and the one that settles it is the command line's.
func TestBeginWithLotion(t *testing.T) {
	dir := t.TempDir()
	address := serveIn(t, dir)
	b := begin(t, address)
	b.press("[data-key='example lotion']")
	b.is("the tables", "document.querySelectorAll('#tables .sheet').length === 2 && !document.getElementById('go').disabled")
	b.press("[data-key='goal ingredients: price (€/kg) minimize']")
	b.press("[data-key='goal stable sure']")
	b.is("stability", "document.querySelector(\"[data-key='goal stable sure'][aria-pressed=true]\")")
	b.looks("lotion")
	b.press("#go")
	b.is("a first look", "document.querySelectorAll('#list .card').length >= 3")
	b.looks("lotion result")
	text, err := os.ReadFile(filepath.Join(dir, "lotion", "problem.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n  viscosity: {learn: {label: \"viscosity (mPa·s)\", maximize: true}}", "\n  stable: {learn: {label: stable, want: \"yes\"}, weight: 0}", "\n  price: {blend: {attribute: \"price (€/kg)\", minimize: true}}",
		"\n  - amount: {of: \"*\", within: book}", "\n  - amount: {of: \"*\", max: \"max %\"}", "\n  - amount: {of: \"*\", stock: \"stock (kg)\", batch: 1 kg}", "\n  - limit: {property: stable, min: \"90%\"}", "\n  - require: [Water",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the problem has no %q:\n%s", want, text)
		}
	}
	b.press("#trade summary")
	b.press("[data-key='trade go']")
	if b.clicks > 12 {
		t.Errorf("it takes %d clicks", b.clicks)
	}
	asked := time.Now()
	b.is("a first front", "document.querySelectorAll('#front .at').length > 2 && /Trade-off of .*(viscosity and price|price and viscosity)/.test(document.querySelector('#trade summary').textContent)")
	t.Logf("a first front is there after %.1f s", time.Since(asked).Seconds())
	b.is("that it is a first look", "document.getElementById('phase').className === 'settled' || /First results/.test(document.getElementById('front').textContent)")
	b.looks("front")
	if !testmode.Enabled() {
		b.quiet(address)
		return
	}
	const settled = "document.getElementById('phase').className === 'settled' && !/First results/.test(document.getElementById('front').textContent)"
	for range 4 { // each waits for two minutes
		if ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](settled)); err == nil && ok {
			break
		}
		time.Sleep(time.Minute)
	}
	b.is("the front", settled+" && document.querySelectorAll('#front .at').length > 2")
	t.Logf("it is settled after %.1f s", time.Since(asked).Seconds())
	shown, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("import('/js/state.js').then(m => JSON.stringify(m.page.list.tradeoff))", chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	var page, line struct {
		Front []struct{ Recipe map[string]int }
	}
	printed := kirDoes(t, "tradeoff", filepath.Join(dir, "lotion", "problem.yaml"), "--between", "viscosity,price", "--json")
	if err := errors.Join(json.Unmarshal([]byte(shown), &page), json.Unmarshal([]byte(printed), &line)); err != nil {
		t.Fatal(err)
	}
	if len(line.Front) < 3 || !reflect.DeepEqual(page, line) {
		t.Errorf("the front is\n%v\nand the command line's\n%v", page, line)
	}
	b.quiet(address)
}

// TestBeginWithFunds goes from an investor's prices, a file that is named, to a frontier. The
// answers are given from the keyboard.
func TestBeginWithFunds(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(filepath.Join("..", "..", "internal", "serve", "assets", "examples", "funds.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "funds.csv"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "funds.yaml"), []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	address := serveIn(t, dir, "funds.csv")
	b := begin(t, address)
	b.is("the table", "document.querySelectorAll('#tables .sheet').length === 1 && !document.getElementById('go').disabled")
	b.looks("funds")
	b.keys("[data-key='goal portfolio frontier']", kb.Enter)
	b.is("a frontier", "document.activeElement.matches(\"[data-key='goal portfolio frontier'][aria-pressed=true]\")")
	b.keys("#bounds input", " ")
	b.is("no bound", "document.activeElement.matches('#bounds input') && !document.querySelector('#bounds input').checked")
	b.keys("#go", kb.Enter)
	b.is("the session", "document.getElementById('phase')?.className === 'settled'")
	b.is("a frontier to click", "document.querySelectorAll('#front .at').length > 2 && !document.getElementById('tabs').checkVisibility() && !/^return return/.test(document.getElementById('objectives').textContent)")
	b.looks("funds front")
	text, err := os.ReadFile(filepath.Join(dir, "funds-2.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n  return: {markowitz: {returns: funds.csv, maximize: return}}", "\n  volatility: {markowitz: {returns: funds.csv, minimize: volatility}}", "\n#   - amount: {of: \"*\", max: \"30%\"}"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the problem has no %q:\n%s", want, text)
		}
	}
	if kept, err := os.ReadFile(filepath.Join(dir, "funds.yaml")); err != nil || string(kept) != "kept" {
		t.Errorf("funds.yaml is %q, %v", kept, err)
	}
	b.quiet(address)
}

// keys moves the focus to an element by Tab alone, and types there.
func (b *begun) keys(selector, typed string) {
	b.t.Helper()
	for range 200 {
		if at, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](fmt.Sprintf("document.activeElement.matches(%q)", selector))); err != nil {
			b.t.Fatal(err)
		} else if at {
			if err := chromedp.Do(b.ctx, chromedp.KeyEvent(typed)); err != nil {
				b.t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
			b.is("answered", "!document.body.classList.contains('busy')")
			return
		}
		if err := chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Tab)); err != nil {
			b.t.Fatal(err)
		}
	}
	b.t.Fatalf("no Tab leads to %s", selector)
}

// TestBeginWithFaults shows a table that cannot be read as it is, is mended by clicks, and
// whose names try to be more than names.
func TestBeginWithFaults(t *testing.T) {
	dir := t.TempDir()
	table := "drink,ingredient,amount,unit,taste\nA,Campari,3,cl,fine\nA,Soda,a squeeze,,fine\nB,Campri,2,cl,fine\nB,<script>alert(1)</script>,1,cl,fine\nC,gin,2,cl,poor\nC,Gin & tonic,1,cl,poor\nD,Gin,4,cl,poor\nTotal,Gin,9,cl,fine\n"
	if err := os.WriteFile(filepath.Join(dir, "bar.csv"), []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	address := serveIn(t, dir, "bar.csv")
	b := begin(t, address)
	b.is("the fault", "document.querySelector('#faults button')")
	b.looks("fault")
	b.press("#faults button")
	b.is("read", "!document.getElementById('go').disabled")
	for _, answer := range []string{"The same", "Two ingredients", "Leave it out"} {
		b.does("[...document.querySelectorAll('#asks button[aria-pressed=false]')].find(e => e.textContent === " + quoted(answer) + ").dataset.asked = 'now'")
		b.press("#asks [data-asked]")
	}
	b.is("the answers", "/names: .*without: .Total/.test(document.getElementById('text').textContent)")
	b.press("[data-key='row recipes 9']")
	b.is("why the row is left out", "/Row 9 is left out. You left out .Total/.test(document.getElementById('why-recipes').textContent)")
	b.looks("answered")
	b.press("[data-key='take in']")
	b.is("the row is in", "!/without: /.test(document.getElementById('text').textContent) && !document.querySelector(\"[data-key='row recipes 9']\")")
	b.is("text alone", "document.querySelectorAll('script').length === 1 && /<script>alert/.test(document.querySelector('#tables').textContent)")
	b.press("#go")
	b.is("the session", "document.getElementById('phase')?.className === 'settled'")
	b.quiet(address)
}
