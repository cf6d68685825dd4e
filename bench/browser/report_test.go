package browser_test

import (
	"context"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"kir/internal/report"
	"kir/internal/report/view"
	"kir/internal/run"
	"kir/internal/testonly/testmode"
)

// chromium returns the program that reports are looked at with, or skips the test
// where there is none.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium to look at reports with: apt-get install chromium")
	return ""
}

// fontSets are the fonts that reports are looked at with, one set at a time: their
// letters differ in width, and in which there are.
var fontSets = []struct{ name, family, debian string }{
	{"DejaVu", "DejaVu Sans", "fonts-dejavu"},
	{"Liberation", "Liberation Sans", "fonts-liberation"},
	{"Noto CJK", "Noto Sans CJK JP", "fonts-noto-cjk"},
}

// onlyFonts writes a configuration of fontconfig that knows the fonts beside one
// of a family and no others, and returns its file. It skips the test where the
// family is not installed.
func onlyFonts(t *testing.T, family, debian string) string {
	t.Helper()
	list, err := exec.Command("fc-list", ":family="+family, "file").Output()
	if err != nil {
		t.Skipf("fc-list cannot be asked for fonts (%v): apt-get install fontconfig", err)
	}
	file, _, found := strings.Cut(string(list), ":")
	if !found {
		t.Skipf("the fonts %s are not installed: apt-get install %s", family, debian)
	}
	dir := t.TempDir()
	config := struct {
		XMLName xml.Name `xml:"fontconfig"`
		Dir     string   `xml:"dir"`
		Cache   string   `xml:"cachedir"`
		Generic string   `xml:"alias>family"`
		Prefer  string   `xml:"alias>prefer>family"`
	}{Dir: filepath.Dir(file), Cache: filepath.Join(dir, "cache"), Generic: "sans-serif", Prefer: family}
	text, err := xml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "fonts.conf")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// browser starts a headless Chromium that knows the fonts of a configuration.
func browser(t *testing.T, path, fonts string, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Env("FONTCONFIG_FILE="+fonts),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which root cannot have
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	return ctx
}

// hostile are names that try to be more than names.
var hostile = []string{
	"<script>alert(1)</script>", `"><img src=x onerror=alert(2)>`, "</title><script>alert(3)</script>", "</style><style>*{display:none}</style>",
	"</svg><svg onload=alert(4)>", "javascript:alert(5)", `';alert(6)//`, "{{.Version}}", "-->", "]]>", "&lt;b&gt;", "https://example.org/x.png",
	strings.Repeat("long", 75), "عصير الليمون الطازج", "מיץ תפוזים", "\u202egnp.exe", "レモンジュース", "Gin",
}

// hostileProblem writes a problem whose every name is hostile.
func hostileProblem(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var book strings.Builder
	w := csv.NewWriter(&book)
	rows := [][]string{{"recipe", "ingredient", "amount", "<i>taste"}}
	for r := range 24 {
		name := fmt.Sprintf("%s %d", hostile[r%len(hostile)], r)
		switch r {
		case 0:
			name = hostile[0]
		case 1:
			name = strings.Repeat("R", 300)
		}
		for k := range 2 + r%3 {
			rows = append(rows, []string{name, hostile[(r*5+k*7)%len(hostile)], fmt.Sprint(1 + (r+k)%4), hostile[r%2]})
		}
	}
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"book.csv": book.String(), "problem.yaml": `
name: "</title><script>alert('name')</script> عنوان"
recipes: book.csv
total: 100
properties:
  "<b onclick=alert(7)>x": {forest: {label: "<i>taste", want: "<script>alert(1)</script>"}}
constraints:
  - group: {of: ["<script>alert(1)</script>", Gin], used: [0, 1]}
  - amount: {of: "*", min: 2}
sampler: {kernel: tempered, chains: 3, warmup: 500, draws: 1000}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "problem.yaml")
}

// plainProblem writes a problem without properties and without a book.
func plainProblem(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "problem.yaml")
	text := "name: plain\ningredients: {count: 2000}\ntotal: 100\nsparsity: {uniform: [38, 40]}\nsampler: {kernel: exact, chains: 1, warmup: 0, draws: 500}\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// seen is what a page looks like, as the browser tells.
type seen struct {
	Overflow float64  `json:"overflow"` // by how much the page is wider than the window
	Wide     []string `json:"wide"`     // elements that reach out of it, outside of what can be scrolled
	Figures  []struct {
		Name   string   `json:"name"`
		Title  string   `json:"title"`
		Text   string   `json:"text"`
		Width  float64  `json:"width"`
		Height float64  `json:"height"`
		Out    int      `json:"out"`    // texts that reach out of the figure
		Across []string `json:"across"` // texts that lie across each other
	} `json:"figures"`
	Headings []string `json:"headings"`
	Tables   []string `json:"tables"` // what each lacks
	Text     string   `json:"text"`
	Faint    []string `json:"faint"` // text of too little contrast
	Elements int      `json:"elements"`
}

// look is the script that fills seen.
const look = `(() => {
  const width = document.documentElement.clientWidth;
  const scrolled = e => e.closest('.scroll, pre');
  const rgb = c => c.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const faint = new Set();
  for (const e of document.body.querySelectorAll('*')) {
    if (e.closest('svg, script') || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const [a, b] = [luminance(rgb(getComputedStyle(e).color)), luminance(ground(e))];
    if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) faint.add(e.tagName + '.' + e.className);
  }
  const across = f => {
    const texts = [...f.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    const overlap = (a, b, lo, hi) => Math.min(a[hi], b[hi]) - Math.max(a[lo], b[lo]);
    return texts.flatMap(([s, a], k) => texts.slice(k + 1).filter(([, b]) => overlap(a, b, 'left', 'right') > 2 && overlap(a, b, 'top', 'bottom') > 0.4 * a.height)
      .map(([z]) => s + ' × ' + z)).slice(0, 3);
  };
  return {
    overflow: document.documentElement.scrollWidth - width,
    wide: [...document.body.querySelectorAll('*')].filter(e => e.checkVisibility() && !scrolled(e) && !e.closest('svg') && e.getBoundingClientRect().right > width + 1)
      .slice(0, 5).map(e => e.tagName + '.' + e.className + ': ' + e.textContent.slice(0, 40)),
    figures: [...document.querySelectorAll('svg[role=img]')].map(f => {
      const box = f.getBoundingClientRect();
      const of = id => { const e = document.getElementById(id); return e && f.contains(e) ? e.textContent : ''; };
      const [title, text] = (f.getAttribute('aria-labelledby') || '').split(' ');
      return {
        name: (title || '').replace(/-title$/, ''), title: of(title), text: of(text), width: box.width, height: box.height,
        out: [...f.querySelectorAll('text')].filter(t => { const b = t.getBoundingClientRect(); return b.left < box.left - 2 || b.right > box.right + 2; }).length,
        across: across(f),
      };
    }),
    headings: [...document.querySelectorAll('h1, h2, h3, h4')].map(h => h.tagName),
    tables: [...document.querySelectorAll('table')].map(t =>
      [!t.caption && 'caption', !(t.tHead && [...t.tHead.rows[0].cells].every(c => c.scope === 'col' && c.textContent.trim())) && 'heads',
       ![...t.tBodies[0].rows].every(r => r.cells[0].scope === 'row') && 'rows'].filter(Boolean).join(' ')),
    text: document.body.innerText,
    faint: [...faint],
    elements: document.querySelectorAll('*').length,
  };
})()`

// A witness sees what a page does beside being shown.
type witness struct {
	mu       sync.Mutex
	messages []string
	requests []string
}

func (w *witness) see(ev any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		w.messages = append(w.messages, fmt.Sprint("console: ", ev.Type))
	case *runtime.EventExceptionThrown:
		said := "exception: " + ev.ExceptionDetails.Text
		if of := ev.ExceptionDetails.Exception; of != nil {
			said += " " + of.Description
		}
		w.messages = append(w.messages, said)
	case *log.EventEntryAdded:
		w.messages = append(w.messages, "log: "+ev.Entry.Text+" "+ev.Entry.URL)
	case *page.EventJavascriptDialogOpening:
		w.messages = append(w.messages, "dialog: "+ev.Message)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(ev.Request.URL, "data:") {
			w.requests = append(w.requests, ev.Request.URL)
		}
	}
}

// take returns what was seen since the last time.
func (w *witness) take() (messages, requests []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	messages, requests = w.messages, w.requests
	w.messages, w.requests = nil, nil
	return messages, requests
}

// A shownReport is a report that is looked at.
type shownReport struct {
	name    string
	url     string
	model   *report.Model
	figures []string // their names, in order
}

// TestReportInBrowser opens reports in a browser: with each set of fonts, on a
// phone, a tablet and a desk, in light and dark, with and without scripts.
func TestReportInBrowser(t *testing.T) {
	path := chromium(t)
	files := http.NewServeMux()
	server := httptest.NewServer(files)
	defer server.Close()

	var reports []shownReport
	cases := []struct {
		name, problem string
		args          []string
	}{
		{"cocktails", example("cocktails"), []string{"--draws", "3000", "--warmup", "1000"}},
		{"hostile", hostileProblem(t), nil},
		{"fragrance", example("fragrance"), []string{"--draws", "60", "--warmup", "2000", "--thin", "10"}},
		{"plain", plainProblem(t), nil},
	}
	for _, c := range cases[:testmode.Pick(4, 2)] {
		dir := filepath.Join(t.TempDir(), "run")
		kirDoes(t, append([]string{"sample", c.problem, "-o", dir, "--quiet"}, c.args...)...)
		m, err := report.Read(context.Background(), run.NewDirectoryStore(dir))
		if err != nil {
			t.Fatal(err)
		}
		r := shownReport{name: c.name, url: server.URL + "/" + c.name, model: m}
		if m.BestKnown != nil {
			r.figures = append(r.figures, "best-known")
		}
		for _, f := range view.Figures(m) {
			r.figures = append(r.figures, f.Name)
		}
		slices.Sort(r.figures)
		reports = append(reports, r)
		files.HandleFunc("/"+c.name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFile(w, r, filepath.Join(dir, view.PageName))
		})
	}
	for _, fonts := range fontSets[:testmode.Pick(3, 1)] {
		t.Run(fonts.name, func(t *testing.T) {
			lookAt(t, browser(t, path, onlyFonts(t, fonts.family, fonts.debian)), reports)
		})
	}
}

// lookAt opens reports in a browser.
func lookAt(t *testing.T, ctx context.Context, reports []shownReport) {
	w := new(witness)
	if err := chromedp.Listen(ctx, w.see); err != nil {
		t.Fatal(err)
	}
	do := func(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if err := chromedp.Do(limited, steps...); err != nil {
			t.Fatal(err)
		}
	}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(chromedp.Call(ctx, network.Enable, network.EnableParams{}))

	for _, r := range reports {
		t.Run(r.name, func(t *testing.T) {
			m, url, want := r.model, r.url, r.figures
			for _, width := range []int64{360, 800, 1400} {
				for _, scheme := range []string{"light", "dark"} {
					if scheme == "dark" && width != 800 {
						continue // nothing but colours is different
					}
					t.Run(fmt.Sprint(width, " ", scheme), func(t *testing.T) {
						must(chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))
						w.take()
						do(t, chromedp.EmulateViewport(width, 900), chromedp.Navigate(url))
						s, err := chromedp.Run(ctx, chromedp.Evaluate[seen](unfold+look))
						if err != nil {
							t.Fatal(err)
						}
						messages, requests := w.take()
						if len(messages) > 0 {
							t.Errorf("the page says %q", messages)
						}
						if !slices.Equal(requests, []string{url}) {
							t.Errorf("the page asks for %q", requests)
						}
						s.check(t, want)
						for name := range m.Best[0].Recipe {
							if !strings.Contains(squeezed(s.Text), squeezed(escaped(name))) {
								t.Errorf("%q cannot be read", name)
							}
						}
					})
				}
			}
			t.Run("without scripts", func(t *testing.T) {
				must(chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
				do(t, chromedp.EmulateViewport(800, 900), chromedp.Navigate(url))
				s, err := chromedp.Run(ctx, chromedp.Evaluate[seen](unfold+look))
				must(chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{}))
				if err != nil {
					t.Fatal(err)
				}
				s.check(t, want)
				if strings.Contains(s.Text, "Find in this table") {
					t.Error("a control is there that does nothing")
				}
			})
			t.Run("highlighting", func(t *testing.T) {
				if !slices.Contains(want, "map") || len(m.Best) < 2 {
					t.Skip("there is no map of two suggestions")
				}
				do(t, chromedp.Navigate(url))
				lit, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](highlightScript))
				if err != nil {
					t.Fatal(err)
				}
				for _, figure := range []string{"heatmap 2", "map 2", "card 2"} {
					if !slices.Contains(lit, figure) {
						t.Errorf("with the pointer on suggestion 2, %q are lit", lit)
					}
				}
				if slices.ContainsFunc(lit, func(mark string) bool { return !strings.HasSuffix(mark, " 2") }) {
					t.Errorf("other recipes than suggestion 2 are lit: %q", lit)
				}
			})
			t.Run("sorting", func(t *testing.T) {
				do(t, chromedp.Navigate(url))
				sorted, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](sortScript))
				if err != nil {
					t.Fatal(err)
				}
				if len(sorted) != min(len(m.Inclusion), 2500) || !slices.IsSorted(sorted) {
					t.Errorf("%d numbers are sorted as %.10v", len(sorted), sorted)
				}
				shown, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](findScript))
				if err != nil {
					t.Fatal(err)
				}
				if len(m.Inclusion) > 20 && (len(shown) == 0 || len(shown) == len(m.Inclusion)) {
					t.Errorf("%d of %d are found", len(shown), len(m.Inclusion))
				}
				for _, name := range shown {
					if !strings.Contains(strings.ToLower(name), "9") && !strings.Contains(strings.ToLower(name), "gin") {
						t.Errorf("%q is found", name)
					}
				}
				if messages, _ := w.take(); len(messages) > 0 {
					t.Errorf("the page says %q", messages)
				}
			})
		})
	}
}

// highlightScript points at the second suggestion in the heat map, and returns which marks are lit
// then: the figure and the entry of each. It fails if a mark stays lit when the pointer leaves it.
const highlightScript = `(() => {
  const lit = () => [...document.querySelectorAll('.lit')];
  const over = e => e.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
  over(document.querySelector('svg[aria-labelledby^="heatmap"] [data-entry="2"] rect'));
  const marks = lit();
  over(document.querySelector('h1'));
  if (lit().length) throw new Error('marks stay lit');
  return marks.map(e => (e.closest('svg[aria-labelledby]')?.getAttribute('aria-labelledby').split('-title')[0] ?? 'card') + ' ' + e.dataset.entry);
})()`

// unfold opens everything that is folded.
const unfold = "for (const d of document.querySelectorAll('details')) d.open = true;"

// sortScript sorts the ingredients by their standard error, upwards, and returns
// what stands there then.
const sortScript = `(() => {
  const table = document.getElementById('table-ingredients');
  const head = table.tHead.rows[0].cells[2];
  head.querySelector('button').click();
  if (head.getAttribute('aria-sort') !== 'descending') throw new Error('not descending');
  head.querySelector('button').click();
  if (head.getAttribute('aria-sort') !== 'ascending') throw new Error('not ascending');
  return [...table.tBodies[0].rows].map(r => { const v = r.cells[2].querySelector('data').value; return v === '' ? -1 : Number(v); });
})()`

// findScript looks for ingredients with a 9 or a gin in their names and returns
// those that are left.
const findScript = `(() => {
  const table = document.getElementById('table-ingredients');
  const input = document.querySelector('.filter input');
  if (!input) return [];
  input.value = table.textContent.includes('Gin') ? 'GIN' : '9';
  input.dispatchEvent(new Event('input'));
  return [...table.tBodies[0].rows].filter(r => !r.hidden).map(r => r.cells[0].textContent);
})()`

// check verifies what holds for every page at every width.
func (s *seen) check(t *testing.T, figures []string) {
	t.Helper()
	if s.Overflow > 0 || len(s.Wide) > 0 {
		t.Errorf("the page is %v pixels too wide: %q", s.Overflow, s.Wide)
	}
	var names []string
	for _, f := range s.Figures {
		names = append(names, f.Name)
		if f.Title == "" || f.Text == "" {
			t.Errorf("the figure %s has the title %q and the text %q", f.Name, f.Title, f.Text)
		}
		if f.Width < 200 || f.Height < 10 || f.Out > 0 || len(f.Across) > 0 {
			t.Errorf("the figure %s is %.0f × %.0f, %d texts reach out of it, and across each other lie %q", f.Name, f.Width, f.Height, f.Out, f.Across)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, figures) {
		t.Errorf("the figures are %q, want %q", names, figures)
	}
	level := 0
	for k, h := range s.Headings {
		next := int(h[1] - '0')
		if next > level+1 || k > 0 && next == 1 {
			t.Errorf("heading %d is %s after h%d", k, h, level)
		}
		level = next
	}
	for k, lacks := range s.Tables {
		if lacks != "" {
			t.Errorf("table %d lacks %s", k, lacks)
		}
	}
	if len(s.Faint) > 0 {
		t.Errorf("text has too little contrast: %q", s.Faint)
	}
	for _, heading := range []string{"Suggestions", "Ingredients", "How far to trust the shortlist", "Statistics of the draws", "How to repeat it"} {
		if !strings.Contains(s.Text, heading) {
			t.Errorf("%s is missing", heading)
		}
	}
}

// squeezed leaves out white space, which lines break at.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

// escaped is a name as the page shows it.
func escaped(name string) string { return strings.ReplaceAll(name, "\u202e", `\u202e`) }
