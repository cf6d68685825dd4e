package campaign

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/dataset"
	"kir/internal/dataset/sheet"
)

// amountsText joins the amounts of a recipe, the largest first.
func amountsText(t *testing.T, m *Measure, recipe map[string]int, total int) string {
	t.Helper()
	shares, err := m.SharesWithOwnDecimals(recipe, total)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range shares {
		all = append(all, s.Ingredient+" "+s.Amount)
	}
	return strings.Join(all, ", ")
}

// TestStandingAmounts: the best so far has the amounts that it was made of, whatever the
// decimals of a batch: tenths of a percent, and quarters of a centilitre.
func TestStandingAmounts(t *testing.T) {
	for _, c := range []struct{ total, recipes, want string }{
		{"1000", "recipe,ingredient,amount,unit,y\na,Water,99,%,5\na,Phenoxyethanol,0.9,%,5\na,Carbomer,0.1,%,5\nb,Water,60,%,1\nb,Carbomer,40,%,1\nc,Water,50,%,2\nc,Phenoxyethanol,50,%,2\nd,Water,90,%,3\nd,Carbomer,10,%,3\n",
			"Water 99, Phenoxyethanol 0.9, Carbomer 0.1"},
		{"1000", "recipe,ingredient,amount,unit,y\na,Gin,5 1/2,cl,5\na,Tonic,3 1/2,cl,5\na,Lime,2 1/2,cl,5\na,Cassis,1 3/4,cl,5\nb,Gin,10,cl,1\nb,Lime,3.25,cl,1\nc,Gin,4,cl,2\nc,Tonic,9 1/4,cl,2\nd,Gin,9 1/4,cl,3\nd,Cassis,4,cl,3\n",
			"Gin 5.5, Tonic 3.5, Lime 2.5, Cassis 1.75"},
	} {
		path := bench(t, map[string]string{"trials.csv": c.recipes,
			"bar.yaml": "total: " + c.total + "\nrecipes: trials.csv\nsparsity: {uniform: [1, 4]}\nproperties: {y: {forest: {label: y, maximize: true}}}\n" + shortSearch()})
		campaign := open(t, path)
		s := Settings{BatchSize: 2, Seed: 1}
		st, err := campaign.ComputeStanding(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got := amountsText(t, &st.Measure, st.Best.Recipe, st.Total); got != c.want {
			t.Errorf("the best is %q, not %q", got, c.want)
		}
		shares, err := st.Measure.Shares(st.Best.Recipe, st.Total)
		if err != nil || len(shares) != strings.Count(c.want, ",")+1 || !strings.HasSuffix(c.want, shares[len(shares)-1].Amount) {
			t.Errorf("with the decimals that are stated the best is %v (%v)", shares, err)
		}
		// A batch may take fewer decimals than the best of what was tried.
		b := choose(t, path, s)
		if got := amountsText(t, &b.Measure, b.Best.Recipe, b.Total); got != c.want {
			t.Errorf("beside a batch of %d decimals the best is %q, not %q", b.Measure.Decimals, got, c.want)
		}
	}
}

// TestTablesAreReadBack: the amounts of each row of a batch's table add up to the size that the
// batch states, and the table is read as the batch.
func TestTablesAreReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	for _, total := range []int{7, 64, 100, 960, 1000, 12_345} {
		for _, unit := range []string{"%", "cl", "ml", "g", "oz", "part", ""} {
			var trials strings.Builder
			trials.WriteString("recipe,ingredient,amount,unit\n")
			for k := range 5 {
				for _, name := range []string{"a", "b", "c", "d"} {
					fmt.Fprintf(&trials, "t%d,%s,%d.%d,%s\n", k, name, 1+r.IntN(9), 25*r.IntN(4), unit)
				}
			}
			path := bench(t, map[string]string{"trials.csv": trials.String(), "bar.yaml": fmt.Sprintf("total: %d\nrecipes: trials.csv\nsparsity: {uniform: [2, 4]}\n", total)})
			c := open(t, path)
			b, err := c.Choose(t.Context(), Settings{BatchSize: 3, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			of, err := b.Sheet(c.Problem.Ingredients)
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := sheet.WriteCSV(&text, of); err != nil {
				t.Fatal(err)
			}
			layout := dataset.Layout{}
			results, _, err := c.ParseTable(text.Bytes(), "batch.csv", layout)
			if err != nil {
				t.Fatal(err)
			}
			for k, e := range b.Entries {
				parts, err := c.scaleToTotal(results[k].Parts)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(parts, e.parts) {
					t.Errorf("total %d, %q: %v is read as %v from\n%s", total, unit, e.parts, parts, text.String())
				}
				sum, size := new(big.Rat), new(big.Rat)
				for _, p := range results[k].Parts {
					sum.Add(sum, p.Amount.Rat())
				}
				if _, ok := size.SetString(b.Measure.WholeAmount); !ok || sum.Cmp(size) != 0 {
					t.Errorf("total %d: %s adds up to %s, and the batch is of %s %s:\n%s", total, e.ID, sum.FloatString(6), b.Measure.WholeAmount, unit, text.String())
				}
			}
			// One that an earlier version has kept may state fewer decimals than amounts take.
			b.Measure.Decimals = 0
			for _, e := range b.Entries {
				e.measure, e.round = b.Measure, b.Round
				offered, err := c.offeredAmounts(&e)
				if err != nil {
					t.Fatal(err)
				}
				if parts, err := c.scaleToTotal(offered); err != nil || !slices.Equal(parts, e.parts) {
					t.Errorf("total %d, %q: %v is offered as %v (%v)", total, unit, e.parts, parts, err)
				}
			}
		}
	}
}
