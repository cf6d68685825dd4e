package browser_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/xuri/excelize/v2"
)

// oddTables are tables that people paste by mistake, or with names that few tables have, and what
// the page says of each: that it is read, or what is wrong.
func oddTables() []struct{ name, text, says string } {
	rows := func(header, mark string, row func(k int) []any) string {
		text := header + "\n"
		for k := range 12 {
			for i, v := range row(k) {
				if i > 0 {
					text += mark
				}
				text += fmt.Sprint(v)
			}
			text += "\n"
		}
		return text
	}
	plain := func() func(k int) []any {
		return func(k int) []any { return []any{fmt.Sprintf("R%d", k), 1 + k%4, 2 + k%3, 1 + k%2, k % 7} }
	}
	return []struct{ name, text, says string }{
		{"a header of 300 characters", rows("recipe,"+strings.Repeat("G", 300)+",Rum,"+strings.Repeat("long name ", 30)+",liking", ",", plain()), "12 recipes, 3 ingredients"},
		{"emoji", rows("recipe,🍸 Gin,🍋,🧊🧊,😀 liking", ",", func(k int) []any { return []any{fmt.Sprintf("🍹 %d", k), 1 + k%4, 2 + k%3, 1 + k%2, k % 7} }), "12 recipes, 3 ingredients"},
		{"right to left", rows("الوصفة,جن,عصير الليمون,صودا,liking", ",", func(k int) []any { return []any{fmt.Sprintf("وصفة %d", k), 1 + k%4, 2 + k%3, 1 + k%2, k % 7} }), "12 recipes, 3 ingredients"},
		{"comma decimals", rows("Rezept;Gin;Rum;Limette;Note", ";", func(k int) []any {
			return []any{fmt.Sprintf("R%d", k), fmt.Sprintf("%d,5", 1+k%4), fmt.Sprintf("%d,25", 2+k%3), fmt.Sprintf("%d,75", k%5), fmt.Sprintf("%d,5", k%6)}
		}), "12 recipes, 3 ingredients"},
		{"one row", "recipe,Gin,Rum,liking\nA,1,2,5\n", "1 recipe, 2 ingredients"},
		{"two columns of one name", rows("recipe,Gin,Rum,Gin,liking", ",", plain()), `Two columns are called "Gin": numbers 2 and 4.`},
		{"a header alone", "recipe,Gin,Rum,liking\n", "There is no recipe in the file."},
		{"negative amounts", strings.Replace(rows("recipe,Gin,Rum,Lime,liking", ",", plain()), "R3,4,", "R3,-4,", 1), `Negative amount "-4" of "Gin".`},
		{"nothing but negative numbers", rows("recipe,Gin,Rum,Lime,liking", ",", func(k int) []any { return []any{fmt.Sprintf("R%d", k), -1 - k%4, -2 - k%3, -1 - k%2, -k} }), "The table has numbers below 0, and no column of amounts."},
		{"no amounts at all", rows("recipe,Gin,Rum,liking", ",", func(k int) []any { return []any{fmt.Sprintf("R%d", k), 0, 0, k} }), `The amounts of "R0" add up to 0.`},
		{"a letter", "hello world\nthis is a letter\nnot a table\n", `No column is called "recipe".`},
		{"a quote without end", "recipe,Gin,Rum\nA,\"1,2\nB,3,4\n", "A quote is opened here and never closed."},
	}
}

// paste pastes a text where the page takes cells.
func (b *begun) paste(text string) {
	b.t.Helper()
	b.does("const i = document.getElementById('paste'), data = new DataTransfer(); data.setData('text/plain', " + quoted(text) + "); i.focus(); i.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}))")
	b.is("an answer", "!document.body.classList.contains('busy') && (!document.getElementById('work').hidden || !document.getElementById('said').hidden)")
}

// TestBeginOdd: whatever is pasted, the page says in a word what it is, and fits its window; and
// another table can be opened after it.
func TestBeginOdd(t *testing.T) {
	b := begin(t, serveIn(t, t.TempDir()))
	for _, odd := range oddTables() {
		b.is("the page", "!document.getElementById('open').hidden")
		b.paste(odd.text)
		if says := b.text("#words") + b.text("#faults") + b.text("#said"); !strings.Contains(says, odd.says) {
			t.Errorf("of %s the page says %q, want %q", odd.name, says, odd.says)
		}
		b.fits(odd.name, []window{{360, 780, "light"}, {1440, 1000, "dark"}}, nil)
		b.press("#anew")
	}
	// A session of odd names fits its window, too.
	for _, odd := range oddTables()[:3] {
		b := begin(t, serveIn(t, t.TempDir()))
		b.is("the page", "!document.getElementById('open').hidden")
		b.paste(odd.text)
		b.press("#go")
		b.is("recipes", "document.querySelectorAll('#list .card').length > 0")
		b.is("what predictions do", "document.querySelectorAll('#responses svg text').length > 0")
		b.is("texts within the figure, apart from each other", `[...document.querySelectorAll('#responses svg')].every(f => {
			const all = [...f.querySelectorAll('text')].map(t => t.getBoundingClientRect()), right = f.getBoundingClientRect().right + 1;
			return all.every((a, k) => a.right <= right && all.slice(k + 1).every(b => Math.min(a.right, b.right) - Math.max(a.left, b.left) < 2 || Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) < 0.4 * a.height));
		})`)
		b.is("names of a few lines", "[...document.querySelectorAll('#list .name')].every(e => e.getBoundingClientRect().height < 80)")
		b.looks("odd " + strings.ReplaceAll(odd.name, " ", "-"))
	}
}

// TestBeginLarge: ten thousand rows that are pasted, and a workbook of twenty sheets, are there
// within seconds.
func TestBeginLarge(t *testing.T) {
	b := begin(t, serveIn(t, t.TempDir()))
	b.is("the page", "!document.getElementById('open').hidden")
	var rows strings.Builder
	rows.WriteString("recipe\tGin\tRum\tLime\tliking\n")
	for k := range 10_000 {
		fmt.Fprintf(&rows, "R%d\t%d.%d\t%d\t%d\t%d\n", k, 1+k%4, k%10, 2+k*7%5, 1+k%3, k*13%100)
	}
	begun := time.Now()
	b.paste(rows.String())
	b.is("the rows", "/10000 recipes, 3 ingredients/.test(document.getElementById('words').textContent)")
	t.Logf("10,000 rows of %d kB are there after %.1f s", rows.Len()>>10, time.Since(begun).Seconds())
	if elements, err := chromedp.Run(b.ctx, chromedp.Evaluate[int]("document.querySelectorAll('*').length")); err != nil || elements > 2000 {
		t.Errorf("the page has %d elements, %v", elements, err)
	}
	begun = time.Now()
	b.press("[data-key='goal liking minimize']")
	t.Logf("an answer takes %.1f s", time.Since(begun).Seconds())
	b.press("#anew")

	path := filepath.Join(t.TempDir(), "lists.xlsx")
	f := excelize.NewFile()
	for s := range 20 {
		name := fmt.Sprintf("List %d, a name of a sheet", s)
		if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		for k := range 12 {
			if err := f.SetSheetRow(name, fmt.Sprint("A", k+2), &[]any{fmt.Sprintf("S%d R%d", s, k), 1 + k%4, 2 + k%3, k % 7}); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.SetSheetRow(name, "A1", &[]any{"recipe", "Gin", "Rum", "liking"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	b.is("the page", "!document.getElementById('open').hidden")
	b.give("#file", path)
	b.is("the sheets", "document.querySelector('.sheet select')?.options.length === 21 && /12 recipes/.test(document.getElementById('words').textContent)")
	b.fits("twenty sheets", []window{{360, 780, "light"}, {1440, 1000, "dark"}}, nil)
	b.does("const s = document.querySelector('.sheet select'); s.value = 'List 7, a name of a sheet'; s.dispatchEvent(new Event('change'))")
	b.is("another sheet", "document.querySelector('.sheet select').value === 'List 7, a name of a sheet' && [...document.querySelectorAll('#tables td')].some(e => e.textContent === 'S7 R0') && /List 7/.test(document.getElementById('text').textContent)")
}
