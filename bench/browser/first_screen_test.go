package browser_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"kir/internal/report"
	"kir/internal/report/view"
	"kir/internal/run"
	"kir/internal/testonly/testmode"
)

// A firstScreen is what a report shows before anybody scrolls or clicks.
type firstScreen struct {
	Words   int      // in front of the first recipe
	Whole   []string // entries whose last ingredient is on the screen
	Amounts []string // amounts of the first suggestion
}

// firstScreenScript returns the [firstScreen] of the report that is open.
const firstScreenScript = `(() => {
  const cards = [...document.querySelectorAll('.cards > li[data-entry]')];
  const range = document.createRange();
  range.setStart(document.body, 0);
  range.setEndBefore(cards[0]);
  const bottom = e => e.getBoundingClientRect().bottom;
  return {
    Words: range.toString().split(/\s+/).filter(w => /[\p{L}\p{N}]/u.test(w)).length,
    Whole: cards.filter(c => c.checkVisibility() && bottom(c.querySelector('.parts')) <= innerHeight).map(c => c.dataset.entry),
    Amounts: [...cards.find(c => c.dataset.entry === '1').querySelectorAll('.share data')].map(e => e.textContent),
  };
})()`

// TestFirstScreen: on a laptop, on a telephone and on the first page of paper a report shows
// the best known recipe, if there is one, and two suggestions whole, with at most 60 words in
// front of them; and axe-core finds nothing in it.
func TestFirstScreen(t *testing.T) {
	ctx := browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))
	for _, c := range []struct {
		name  string
		known bool
		unit  string
	}{
		{"cocktails", true, " cl"}, {"spritz", true, " ml"}, {"lotion", false, " %"}, {"portfolio", false, " %"}, {"fragrance", false, " %"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &walk{t, ctx}
			dir := filepath.Join(t.TempDir(), "run")
			kirDoes(t, "sample", example(c.name), "-o", dir, "--quiet", "--draws", "200", "--warmup", "500", "--effort", testmode.Pick("1", "0.1"))
			m, err := report.Read(context.Background(), run.NewDirectoryStore(dir))
			if err != nil {
				t.Fatal(err)
			}
			want := "1 2"
			if c.known {
				want = "known 1 2"
			}
			for _, size := range [][2]int64{{1440, 900}, {768, 1024}, {360, 800}} {
				if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate("file://"+filepath.Join(dir, view.PageName))); err != nil {
					t.Fatal(err)
				}
				s, err := chromedp.Run(w.ctx, chromedp.Evaluate[firstScreen](firstScreenScript))
				if err != nil {
					t.Fatal(err)
				}
				if whole := strings.Join(s.Whole, " "); s.Words > 60 || !strings.HasPrefix(whole+" ", want+" ") {
					t.Errorf("%d × %d: %d words stand before the recipes, and whole are %q", size[0], size[1], s.Words, whole)
				}
				if len(s.Amounts) != len(m.Best[0].Recipe) || !strings.HasSuffix(s.Amounts[0], c.unit) {
					t.Errorf("the amounts of the first suggestion are %q", s.Amounts)
				}
				w.accessible(fmt.Sprintf("%s at %d", c.name, size[0]))
			}
			first := w.printed(c.name, "-l", "1")
			for _, b := range m.Best[:2] {
				for name := range b.Recipe {
					if !strings.Contains(first, plainly(name)) {
						t.Errorf("the first page has no %s", name)
					}
				}
			}
			if c.known && !strings.Contains(first, plainly(m.BestKnown.Name)) {
				t.Error("the first page lacks the best known recipe")
			}
		})
	}
}
