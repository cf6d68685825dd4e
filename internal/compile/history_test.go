package compile

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"kir/internal/assetstats"
	"kir/mcmc"
)

// assets are the bar's ingredients; walk are their prices over 40 working days. Cassis and
// Gin move together, and Champagne never does.
var assets = []string{"Gin", "Cassis", "Vermouth", "Campari", "Champagne"}

func walk() (dates []string, prices [][]float64) {
	price := []float64{100, 50, 20, 0.5, 7}
	for t := range 40 {
		if t > 0 {
			for i := range 4 {
				gain := 0.02 * math.Sin(float64((t+i/2*7)*(i/2+3)*(i/2+3)))
				price[i] *= 1 + gain + 0.005*math.Cos(float64(t*t*(i+2)))
			}
		}
		day := time.Date(2024, 1, 1+t/5*7+t%5, 0, 0, 0, 0, time.UTC) // a Monday, and on
		dates, prices = append(dates, day.Format(time.DateOnly)), append(prices, slices.Clone(price))
	}
	return dates, prices
}

// tableOf writes a history, a cell as it is told.
func tableOf(dates []string, values [][]float64, comma bool, cell func(v float64) string) string {
	mark := ","
	if comma {
		mark = ";"
	}
	var b strings.Builder
	b.WriteString("Date" + mark + strings.Join(assets, mark) + "\n")
	for t, row := range values {
		b.WriteString(dates[t])
		for _, v := range row {
			text := cell(v)
			if comma {
				text = strings.Replace(text, ".", ",", 1)
			}
			b.WriteString(mark + text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestHistory reads one history in the forms that people keep it in: each gives the figures
// of the returns themselves, and what it was taken for is told.
func TestHistory(t *testing.T) {
	dates, prices := walk()
	gains := assetstats.ToReturns(prices, assetstats.Prices)
	back, older := slices.Clone(dates), slices.Clone(prices)
	slices.Reverse(back)
	slices.Reverse(older)
	plain := func(v float64) string { return fmt.Sprintf("%.15g", v) }
	percent := func(v float64) string { return fmt.Sprintf("%.15g%%", 100*v) }
	accounts := func(v float64) string {
		if v < 0 {
			return fmt.Sprintf("(%.15g %%)", -100*v)
		}
		return fmt.Sprintf("%.15g %%", 100*v)
	}
	minus := func(v float64) string { return strings.Replace(plain(v), "-", "−", 1) }
	numbers := make([]string, len(dates))
	for k := range numbers {
		numbers[k] = fmt.Sprint(k + 1)
	}
	for _, c := range []struct{ name, file, keys, says string }{
		{"prices", tableOf(dates, prices, false, plain), "", "taken for prices"},
		{"prices, newest first", tableOf(back, older, false, plain), "", "taken for prices"},
		{"decimal commas", tableOf(dates, prices, true, plain), "", "taken for prices"},
		{"in euros", tableOf(dates, prices, true, func(v float64) string { return plain(v) + " €" }), "", "taken for prices"},
		{"returns", tableOf(dates[1:], gains, false, plain), "", "taken for returns ("},
		{"minus signs", tableOf(dates[1:], gains, false, minus), "", "taken for returns ("},
		{"percent signs", tableOf(dates[1:], gains, false, percent), "", "taken for returns ("},
		{"accounts", tableOf(dates[1:], gains, false, accounts), "", "taken for returns ("},
		{"percent", tableOf(dates[1:], gains, false, func(v float64) string { return plain(100 * v) }), "", "taken for returns in percent"},
		{"as", tableOf(dates, prices, false, plain), ", as: prices", "prices.csv has prices"},
		{"no dates", tableOf(numbers, prices, false, plain), ", periods: 252", "252 periods a year."},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := loadFiles(t, map[string]string{"prices.csv": c.file}, "markowitz: {returns: prices.csv, risk_aversion: 2"+c.keys+"}")
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, c.says) && strings.Contains(w, "252") }) {
				t.Errorf("it does not say %q but %q", c.says, p.Warnings)
			}
			holdings := []float64{0.1, 0.3, 0.2, 0.25, 0.15}
			var parts []mcmc.Part
			for i, name := range assets {
				parts = append(parts, mcmc.Part{Ingredient: slices.Index(p.Ingredients, name), Amount: int(20*holdings[i] + 0.5)})
			}
			slices.SortFunc(parts, func(a, b mcmc.Part) int { return a.Ingredient - b.Ingredient })
			x, err := mcmc.NewComposition(5, parts...)
			if err != nil {
				t.Fatal(err)
			}
			// The mean of what each day brings to these holdings, and a variance that takes
			// the shrunk correlations from the estimate alone, as its own test has them.
			mean := 0.0
			for _, row := range gains {
				for i, v := range row {
					mean += holdings[i] * v * 252 / float64(len(gains))
				}
			}
			m, err := assetstats.Estimate(gains, 252)
			if err != nil {
				t.Fatal(err)
			}
			risk := 0.0
			for i := range assets {
				for j := range assets {
					risk += holdings[i] * holdings[j] * m.Covariance[i][j]
				}
			}
			w := p.Properties[0]
			for k, want := range []float64{mean, math.Sqrt(risk), mean / math.Sqrt(risk)} {
				if got := w.Figures[k].ValueOf(x); !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
					t.Errorf("%s is %v, want %v", w.Figures[k].Name, got, want)
				}
			}
			if got, want := w.mcmcProperty.LogScore(x), mean-2*risk; !(math.Abs(got-want) <= 1e-9) {
				t.Errorf("log y is %v, want %v", got, want)
			}
		})
	}
}

// TestHistoryLeft has gaps, and a column that is no ingredient.
func TestHistoryLeft(t *testing.T) {
	dates, prices := walk()
	file := tableOf(dates, prices, false, func(v float64) string { return fmt.Sprintf("%.15g", v) })
	lines := strings.Split(strings.TrimSpace(file), "\n")
	for k := range lines {
		lines[k] += []string{",Index", ",100"}[min(k, 1)]
	}
	lines[3] = dates[2] + ",,50,20,0.5,7,100"
	p, err := loadFiles(t, map[string]string{"prices.csv": strings.Join(lines, "\n")}, "markowitz: {returns: prices.csv}")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 row with gaps", `columns "Index"`} {
		if !strings.Contains(strings.Join(p.Warnings, "\n"), want) {
			t.Errorf("%q is not told: %q", want, p.Warnings)
		}
	}
	if want := "over 38 periods"; !strings.Contains(p.Properties[0].About, want) || !strings.Contains(p.Properties[0].About, "1.5 ×") {
		t.Errorf("it is about %q", p.Properties[0].About)
	}
	again, err := loadFiles(t, map[string]string{"prices.csv": strings.Join(lines, "\n"), "problem.yaml": string(p.Resolved)}, "")
	if err != nil || string(again.Resolved) != string(p.Resolved) {
		t.Errorf("resolved again it is %v\n%s\nnot\n%s", err, again.Resolved, p.Resolved)
	}
}

// TestHistoryGaps: where the gaps of one ingredient cost many rows, it is named, with what is left
// without it.
func TestHistoryGaps(t *testing.T) {
	dates, prices := walk()
	lines := strings.Split(strings.TrimSpace(tableOf(dates, prices, false, func(v float64) string { return fmt.Sprintf("%.15g", v) })), "\n")
	names := strings.Split(lines[0], ",")
	for k := 1; k <= 12; k++ { // it began later than the others
		cells := strings.Split(lines[k], ",")
		cells[2] = ""
		lines[k] = strings.Join(cells, ",")
	}
	cells := strings.Split(lines[20], ",")
	cells[1] = ""
	lines[20] = strings.Join(cells, ",")
	p, err := loadFiles(t, map[string]string{"prices.csv": strings.Join(lines, "\n")}, "markowitz: {returns: prices.csv}")
	if err != nil {
		t.Fatal(err)
	}
	rows := len(lines) - 1
	want := fmt.Sprintf("Left out: 13 rows of %d with gaps, 12 of them for gaps of %q alone, whose first value is that of %q: without this ingredient there are %d rows instead of %d.", rows, names[2], dates[12], rows-1, rows-13)
	if got := strings.Join(p.Warnings, "\n"); !strings.Contains(got, want) {
		t.Errorf("no %q in %q", want, got)
	}
}
