package forests

import (
	"math"
	"os"
	"strconv"
	"testing"

	"kir/internal/compile"
	"kir/internal/testonly/testmode"
	"kir/model"
)

// TestUnseenIngredients leaves out one ingredient after another: the recipes that have
// it are predicted by a forest of the others, which knows nothing of it but what
// descriptors say. It prints the log loss by what splits test, and how far it is below
// that of amounts alone, each recipe with the mean over its ingredients. A few
// ingredients are left out, or with KIR_UNSEEN=N one in N.
//
// For the fragrances it prints a bound as well: what somebody would lose who knew the
// very part of the truth that families and notes tell, and how likely a good rating is
// for each value of it, from the same recipes.
func TestUnseenIngredients(t *testing.T) {
	cases := []struct {
		book        *known
		descriptors compile.Descriptors
		few         int     // of how many ingredients one is left out
		least       float64 // the share of the loss that descriptors beside amounts must save
	}{
		{cocktails(t, "taste"), compile.Descriptors{Totals: []string{"kind"}}, 4, 0.2},
		{cocktails(t, "timing"), compile.Descriptors{Totals: []string{"kind"}}, 0, 0},
		{fragrances(t), compile.Descriptors{Totals: []string{"family", "note"}}, 30, 0.02},
		{fragrances(t), compile.Descriptors{Totals: []string{"family", "note"}, Means: []string{"cost", "max_dose"}}, 0, 0},
		{fragrances(t), compile.Descriptors{Totals: []string{"family", "note"}, Ratios: []string{"family", "note"}}, 0, 0},
	}
	if os.Getenv("KIR_UNSEEN") == "" {
		cases = cases[:testmode.Pick(len(cases), 1)]
	}
	for _, c := range cases {
		every := c.few
		if n, err := strconv.Atoi(os.Getenv("KIR_UNSEEN")); err == nil {
			every = n
		}
		if every < 1 {
			continue
		}
		b, alone := c.book, c.descriptors
		alone.WithoutAmounts = true
		sets := [][]model.Feature{nil, b.features(t, c.descriptors), b.features(t, alone)}
		amounts, times, left := b.unseen(t, sets[0], every)
		prior, se := mean(amounts)
		t.Logf("%s, %d ingredients left out, %d recipes; %+v", b.name, left, len(amounts), c.descriptors)
		t.Logf("  amounts alone            %.4f ± %.4f", prior, se)
		for k, name := range []string{"amounts and descriptors", "descriptors alone"} {
			of, _, _ := b.unseen(t, sets[k+1], every)
			loss, _ := mean(of)
			gain, se := mean(less(amounts, of))
			t.Logf("  %-24s %.4f, %.1f ± %.1f %% below", name, loss, 100*gain/prior, 100*se/prior)
			if k == 0 && gain < c.least*prior {
				t.Errorf("%s with %s: the log loss is %.4f ± %.4f below that of amounts alone", b.name, name, gain, se)
			}
		}
		if b.accord != nil {
			loss := b.bound(times)
			t.Logf("  %-24s %.4f, %.1f %% below", "the accord itself", loss, 100*(1-loss/prior))
		}
	}
}

// unseen returns the mean log loss of each recipe that has an ingredient that is left
// out, and by row how many such it has.
func (b *known) unseen(t *testing.T, features []model.Feature, every int) (losses []float64, times []int, left int) {
	t.Helper()
	sums, times := make([]float64, len(b.x)), make([]int, len(b.x))
	seen := 0
	for i := range b.data.Ingredients {
		var out []int
		for r, x := range b.x {
			if x[i] > 0 {
				out = append(out, r)
			}
		}
		if len(out) == 0 {
			continue
		}
		if seen++; seen%every != 0 {
			continue
		}
		left++
		f, err := model.Grow(t.Context(), b.only(func(r int) bool { return b.x[r][i] == 0 }, features), model.Options{Trees: 100, Splits: model.BestSplits, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for k, loss := range b.losses(t, f, out) {
			sums[out[k]] += loss
			times[out[k]]++
		}
	}
	for r, n := range times {
		if n > 0 {
			losses = append(losses, sums[r]/float64(n))
		}
	}
	return losses, times, left
}

// bound returns the least mean log loss of 1/(1 + e^(−a − b·accord)) at the recipes that
// have been left out some times, by Newton's method.
func (b *known) bound(times []int) float64 {
	n, intercept, slope := 0.0, 0.0, 0.0
	probability := func(r int) float64 { return 1 / (1 + math.Exp(-intercept-slope*b.accord[r])) }
	for range 50 {
		var g0, g1, h00, h01, h11 float64
		for r, times := range times {
			if times == 0 {
				continue
			}
			p, y := probability(r), 0.0
			if b.good(r) {
				y = 1
			}
			w, z := p*(1-p), b.accord[r]
			g0, g1 = g0+y-p, g1+(y-p)*z
			h00, h01, h11 = h00+w, h01+w*z, h11+w*z*z
		}
		det := h00*h11 - h01*h01
		intercept += (g0*h11 - g1*h01) / det
		slope += (g1*h00 - g0*h01) / det
	}
	loss := 0.0
	for r, times := range times {
		if times == 0 {
			continue
		}
		n++
		if p := probability(r); b.good(r) {
			loss -= math.Log(p)
		} else {
			loss -= math.Log(1 - p)
		}
	}
	return loss / n
}
