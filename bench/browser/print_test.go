package browser_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/view"
	"kir/internal/run"
)

// printed prints the page that is shown to PDF and returns the text on it, plainly. It
// skips the test where there is no pdftotext, to which it passes the flags. KIR_PICTURES names a
// directory for the PDF, to be looked at.
func (w *walk) printed(name string, flags ...string) string {
	w.t.Helper()
	reader, err := exec.LookPath("pdftotext")
	if err != nil {
		w.t.Skip("there is no pdftotext to read what is printed: apt-get install poppler-utils")
	}
	made, err := chromedp.Call(w.ctx, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: new(true), PrintBackground: new(true)})
	if err != nil {
		w.t.Fatal(err)
	}
	dir := os.Getenv("KIR_PICTURES")
	if dir == "" {
		dir = w.t.TempDir()
	}
	file := filepath.Join(dir, name+".pdf")
	if err := os.WriteFile(file, made.Data, 0o666); err != nil {
		w.t.Fatal(err)
	}
	text, err := exec.Command(reader, append(flags, "-raw", file, "-")...).Output()
	if err != nil {
		w.t.Fatalf("%s: %v", reader, err)
	}
	return plainly(string(text))
}

// plainly is text as it is looked for on paper: without white space, which lines and
// columns decide, and without raised digits, which not every font has.
func plainly(text string) string {
	return squeezed(strings.Map(func(r rune) rune {
		if strings.ContainsRune("⁰¹²³⁴⁵⁶⁷⁸⁹", r) {
			return -1
		}
		return r
	}, text))
}

// TestServePrinted: on paper the page of kir serve has what it has on the screen, and no
// controls.
func TestServePrinted(t *testing.T) {
	w := &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	address := serveProblem(t, barProblem(t))
	if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(1400, 1000), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	w.settled(1)
	w.click("#list .card [data-key^='pin ']")
	w.settled(2)
	w.does("[...document.querySelectorAll('#ingredients tbody button')][2].click()")
	w.is("the distribution", "document.querySelector('#dose [role=slider]')")
	w.click("#taste-begin")
	w.is("a pair", "document.querySelectorAll('#taste button').length === 2")
	w.click("#map-draw")
	w.is("the map", "!document.getElementById('map-box').hidden")
	w.click("#show-text")
	w.is("the text", "document.getElementById('text').value.includes('constraints')")
	w.does("document.getElementById('verdict').open = true")
	// What is written on the screen but for controls, a line an element; names that can be
	// chosen are controls that are text, too.
	written, err := chromedp.Run(w.ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll('main *, header *')]
		.filter(e => e.checkVisibility() && !e.closest('form, nav, svg, .bar, datalist, select') && (!e.closest('button') || e.closest('button.link')) && !e.closest('.control, .acts, .skip'))
		.flatMap(e => [...e.childNodes].filter(n => n.nodeType === 3 && n.data.trim()).map(n => n.data.trim()))`))
	if err != nil {
		t.Fatal(err)
	}
	paper := w.printed("serve")
	missing := 0
	for _, text := range written {
		if !strings.Contains(paper, plainly(text)) {
			if missing++; missing <= 12 {
				t.Errorf("on paper is no %q", text)
			}
		}
	}
	if len(written) < 200 || missing > 12 {
		t.Errorf("%d of %d texts are missing on paper", missing, len(written))
	}
	for _, control := range []string{"More like this", "Keep amount", "Add a constraint", "Another pair", "Refresh map", "Save as", "Go there", "Choose batch", "I like this one better", "Show changes", "Sort by", "Drag a part", "Show all"} {
		if strings.Contains(paper, plainly(control)) {
			t.Errorf("on paper is the control %q", control)
		}
	}
	// A map that was drawn light on dark is dark on paper.
	for _, media := range []string{"", "print"} {
		if _, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}); err != nil {
			t.Fatal(err)
		}
		w.is("the map in its ink", fmt.Sprintf(`(() => {
			const c = document.getElementById('map'), pixels = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
			let dark = 0, light = 0;
			for (let k = 0; k < pixels.length; k += 4) if (pixels[k + 3] > 200) {
				const all = pixels[k] + pixels[k + 1] + pixels[k + 2];
				if (all < 150) dark++;
				if (all > 600) light++;
			}
			return %v ? dark > 100 && !light : light > 100 && !dark;
		})()`, media == "print"))
	}
	if !strings.Contains(paper, plainly("sampler: {chains: 4")) {
		t.Error("on paper is no end of the problem's text")
	}
}

// TestReportPrinted: on paper the report has what it has on the screen, also where its
// table was sorted or searched, and no controls.
func TestReportPrinted(t *testing.T) {
	w := &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	dir := filepath.Join(t.TempDir(), "run")
	kirDoes(t, "sample", example("cocktails"), "-o", dir, "--quiet", "--draws", "500", "--warmup", "500")
	m, err := report.Read(context.Background(), run.NewDirectoryStore(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(1400, 1000), chromedp.Navigate("file://"+filepath.Join(dir, view.PageName))); err != nil {
		t.Fatal(err)
	}
	w.does("for (const d of document.querySelectorAll('details.fold, details.fold > details')) d.open = true")
	written, err := chromedp.Run(w.ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll('main *, header *')]
		.filter(e => e.checkVisibility() && !e.closest('svg, .filter, .tall, .cards details'))
		.flatMap(e => [...e.childNodes].filter(n => n.nodeType === 3 && n.data.trim()).map(n => n.data.trim()))`))
	if err != nil {
		t.Fatal(err)
	}
	w.does("for (const d of document.querySelectorAll('details')) d.open = false")
	paper := w.printed("report")
	for _, text := range written {
		if !strings.Contains(paper, plainly(text)) {
			t.Errorf("on paper is no %q", text)
		}
	}
	if strings.Contains(paper, plainly("Find in this table")) || len(written) < 200 {
		t.Errorf("of %d texts one is a control", len(written))
	}
	for _, b := range m.Best {
		for _, part := range b.Parts() {
			if !strings.Contains(paper, plainly(part.Ingredient)) || !strings.Contains(paper, plainly(number.Share(part.Amount, m.Problem.Total))) {
				t.Errorf("on paper is no %s, %d", part.Ingredient, part.Amount)
			}
		}
	}
	// The rarest, which are shown because somebody looked for them.
	rare := m.Inclusion[m.IndicesByFrequency()[len(m.Inclusion)-1]].Ingredient
	find := func(name string) {
		w.does("const i = document.querySelector('.filter input'); i.value = " + quoted(name) + "; i.dispatchEvent(new Event('input'))")
	}
	rows := func() int {
		w.t.Helper()
		if _, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
			t.Fatal(err)
		}
		n, err := chromedp.Run(w.ctx, chromedp.Evaluate[int]("[...document.querySelectorAll('#table-ingredients tbody tr')].filter(r => r.checkVisibility()).length"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := rows(); n != 30 {
		t.Errorf("on paper %d rows are shown", n)
	}
	find(rare)
	if n := rows(); n != 1 {
		t.Errorf("of %q on paper %d rows are shown", rare, n)
	}
}
