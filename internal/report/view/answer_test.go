package view

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/terminal"
)

// trials is a book of recipes with a number, which tells how much lemon there is, and
// if it is shuffled nothing; and a problem that asks for the largest.
func trials(shuffled bool) map[string]string {
	r := rand.New(rand.NewPCG(16, 1))
	const recipes, ingredients = 150, 8
	labels := make([]float64, recipes)
	rows := make([][ingredients]int, recipes)
	for k := range rows {
		for range 3 + r.IntN(3) {
			rows[k][r.IntN(ingredients)] += 1 + r.IntN(9)
		}
		sum := 0
		for _, a := range rows[k] {
			sum += a
		}
		labels[k] = 40 + 60*float64(rows[k][0]+rows[k][1])/float64(sum) + r.NormFloat64()
	}
	if shuffled {
		r.Shuffle(recipes, func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	}
	var book strings.Builder
	book.WriteString("recipe,ingredient,amount,liking\n")
	for k, row := range rows {
		for i, a := range row {
			if a > 0 {
				fmt.Fprintf(&book, "trial %d,ingredient %d,%d,%.2f\n", k, i, a, labels[k])
			}
		}
	}
	return map[string]string{
		"r.csv":        book.String(),
		"problem.yaml": "name: Trials\ntotal: 100\nrecipes: r.csv\nsampler: {draws: 4000, warmup: 500}\nproperties:\n  liking: {forest: {label: liking, maximize: true, trees: 100}}\n",
	}
}

// orderedTrials is the run of the trials in order, once for all tests.
var orderedTrials = sync.OnceValues(func() (made, error) {
	dir, err := os.MkdirTemp("", "trials")
	if err != nil {
		return made{}, err
	}
	defer os.RemoveAll(dir)
	if err := writeFiles(dir, trials(false)); err != nil {
		return made{}, err
	}
	return runFile(filepath.Join(dir, "problem.yaml"), nil)
})

// sampledTrials returns the model of the trials, to be read only.
func sampledTrials(t *testing.T, shuffled bool) *report.Model {
	t.Helper()
	if shuffled {
		return sample(t, trials(true)).model
	}
	m, err := orderedTrials()
	if err != nil {
		t.Fatal(err)
	}
	return m.model
}

// Where the labels are shuffled nothing can be learnt: the first line says so, and no
// green sign stands over it. The same book in order has one. That a book of 150
// shuffled labels has an R² of 1/4 by chance does not happen: its standard deviation
// is 1/√150 at most.
func TestWeakModelIsToldFirst(t *testing.T) {
	first := make(map[bool][2]string)
	for _, shuffled := range []bool{false, true} {
		m := sampledTrials(t, shuffled)
		var text, page bytes.Buffer
		if err := Text(&text, m, "runs/it", terminal.Style{}); err != nil {
			t.Fatal(err)
		}
		if err := Page(&page, m); err != nil {
			t.Fatal(err)
		}
		checkPage(t, page.String())
		body := page.String()[strings.Index(page.String(), "<body>"):]
		headline := regexp.MustCompile(`(?s)<p class="headline ([a-z]*)"><strong>(.*?)</strong>`).FindStringSubmatch(body)
		if headline == nil {
			t.Fatal("the page has no headline")
		}
		_, line, _ := strings.Cut(text.String(), "--best 20\n\n")
		line, _, _ = strings.Cut(line, "\n\n")
		line = strings.ReplaceAll(line, "\n", " ")
		first[shuffled] = [2]string{line, strings.TrimPrefix(headline[2], `<svg class="sign" viewBox="0 0 10 10" aria-hidden="true"><path d="M1 5.5L4 8.5L9 1.5"/></svg> `)}
		for _, view := range first[shuffled] {
			if !strings.Contains(view, m.Answer.Headline) {
				t.Errorf("what is first is %q, and the headline %q", view, m.Answer.Headline)
			}
		}
		green := headline[1] == "sound"
		if sign := strings.Contains(body, `M1 5.5L4 8.5L9 1.5`); sign == shuffled || green == shuffled {
			t.Errorf("shuffled is %v, and a green sign is on the page: %v, %v", shuffled, sign, green)
		}
		want := report.Good
		if shuffled {
			want = report.Weak
		}
		if m.Answer.Grade != want || m.Grade != report.Sound {
			t.Errorf("the answer is %s, want %s; the draws are %s", m.Answer.Grade, want, m.Grade)
		}
		if !strings.HasPrefix(m.Verdict, m.Answer.Headline) {
			t.Errorf("the verdict of the summary begins %q", m.Verdict)
		}
	}
	if a, b := first[false], first[true]; a[0] == b[0] || a[1] == b[1] || !strings.HasPrefix(b[0], "Weak: ") || !strings.HasPrefix(a[0], "Good: ") {
		t.Errorf("what is first reads %q and %q", a, b)
	}
}

// An entry of the shortlist has in all views what the model has of it: predicted
// values with intervals, ranges, variants and the nearest known recipes; no part of
// it is left out.
func TestEntriesAreWhole(t *testing.T) {
	m := sampledTrials(t, false)
	text := checkText(t, m)
	var page bytes.Buffer
	if err := Page(&page, m); err != nil {
		t.Fatal(err)
	}
	ranges, predicted := 0, 0
	for k, b := range m.Best {
		q, ok := b.Predicted["liking"]
		if !ok || q.Low > q.Shown() || q.Shown() > q.High || !q.Shown().IsKnown() {
			t.Fatalf("entry %d predicts %+v", k+1, b.Predicted)
		}
		predicted++
		if want := "liking " + number.Value(q.Shown()) + " (" + number.Value(q.Low) + " to " + number.Value(q.High) + ")"; !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
		if want := fmt.Sprintf(`data-of="/best/%d/predicted/liking/low"`, k); !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %s", want)
		}
		for name, r := range b.Ranges {
			ranges++
			if r.Low > b.Recipe[name] || b.Recipe[name] > r.High {
				t.Errorf("entry %d has %d units of %s, and a range of %+v", k+1, b.Recipe[name], name, r)
			}
			if want := rangeText(r, m.Problem.Total); !strings.Contains(text, want) || !strings.Contains(page.String(), name+" "+strings.Trim(want, "()")+" %") {
				t.Errorf("%s is missing", want)
			}
		}
		if len(b.Nearest) == 0 || !strings.Contains(strings.Join(strings.Fields(text), " "), b.Nearest[0].Recipe) {
			t.Errorf("the nearest of entry %d are %+v", k+1, b.Nearest)
		}
		if k > 0 && b.Score > m.Best[k-1].Score {
			t.Errorf("entry %d scores more than the one before", k+1)
		}
		for name, n := range b.Recipe {
			if n < 1 || !strings.Contains(text, name) {
				t.Errorf("%s of entry %d is missing", name, k+1)
			}
		}
	}
	if ranges == 0 || predicted < 5 {
		t.Errorf("%d ranges, %d predictions: there is nothing to compare", ranges, predicted)
	}
	w := m.Answer.Objectives[0]
	if w.Unit != "value" || !(w.Shortlist > w.Random) || !(w.Shortlist > w.Known) {
		t.Errorf("the promise is %+v", w)
	}
}

// A variant says what is gone and what has come.
func TestVariantText(t *testing.T) {
	for _, c := range []struct {
		v    report.Variant
		want string
	}{
		{report.Variant{Score: 0.9, Without: []string{"Gin"}}, "or without Gin: 0.900"},
		{report.Variant{Score: 0.9, With: map[string]int{"Rum": 2, "Ice": 30}}, "or with Ice (30 %), Rum (2 %): 0.900"},
		{report.Variant{Score: 0.9, Without: []string{"Gin"}, With: map[string]int{"Rum": 2}}, "or with Rum (2 %) instead of Gin: 0.900"},
	} {
		if got := variantText(c.v, 100); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
