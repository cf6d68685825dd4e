package diagnose

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kir/internal/number"
	"kir/internal/testonly/golden"
)

// wordsOf writes each figure of a summary to nine digits, and why those that are not
// known are not.
func wordsOf(s Summary) string {
	var b strings.Builder
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		switch f := v.Field(i).Interface().(type) {
		case number.Number:
			fmt.Fprintf(&b, " %s %.9g", v.Type().Field(i).Name, f)
		case int:
			fmt.Fprintf(&b, " %s %d", v.Type().Field(i).Name, f)
		}
	}
	for _, u := range s.Undefined {
		fmt.Fprintf(&b, "; %s: %v", u.Figure, u.Err)
	}
	return b.String()
}

// TestMadeAsBefore: what is told of draws from seeds, of few and many, of those that mix
// and those that do not, kept whole and in part, is what it was.
func TestMadeAsBefore(t *testing.T) {
	var b strings.Builder
	var z Summarizer
	steps := func(x [][]float64, of float64) [][]float64 {
		for _, chain := range x {
			for k := range chain {
				chain[k] = math.Round(chain[k] * of)
			}
		}
		return x
	}
	apart := autoregressions(5, 4, 300, 0.5)
	for k := range apart[2] {
		apart[2][k] += 3
	}
	wide := autoregressions(6, 3, 300, 0.2)
	for k := range wide[0] {
		wide[0][k] *= 5
	}
	ragged := autoregressions(7, 2, 50, 0)
	ragged[1] = ragged[1][:49]
	all := map[string][][]float64{
		"few": autoregressions(1, 1, 11, 0), "twelve": autoregressions(1, 2, 12, 0), "odd": autoregressions(1, 3, 101, 0.3), "one": autoregressions(2, 1, 500, 0.9), "many": autoregressions(3, 8, 2000, 0.7), "anti": autoregressions(3, 2, 400, -0.6),
		"steps": steps(autoregressions(4, 4, 500, 0.8), 1), "two values": steps(autoregressions(4, 4, 500, 0.8), 0.4), "one value": steps(autoregressions(4, 2, 50, 0), 0), "apart": apart, "wide": wide, "ragged": ragged, "chains": autoregressions(8, 70, 40, 0.4),
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		x := all[name]
		fmt.Fprintf(&b, "%s\n all%s\n", name, wordsOf(z.Draws(x)))
		for _, limit := range []int{16, 100} {
			of := seriesOf(limit, x)
			live := z.Live(of)
			fmt.Fprintf(&b, " by %d%s\n live %+v nested %.9g\n", limit, wordsOf(z.Series(of)), live, NestedRHat(of))
		}
		se, err := MCSEMean(x)
		fmt.Fprintf(&b, " %.9g %v\n", se, err)
		for _, slowest := range []float64{3, 20, 99, 101, 401, 1e9} {
			fmt.Fprint(&b, " ", CheckESS(slowest, len(x)))
		}
		b.WriteByte('\n')
	}
	r := rand.New(rand.NewPCG(9, 9))
	for _, draws := range []int{3, 40, 700} {
		var of []*Presence
		var sizes []*Histogram
		for range 3 {
			p, h := NewPresence(7, 3), NewHistogram(9, 3)
			history := randomHistory(r, draws, 7, 2)
			history.follow(p)
			for _, now := range history {
				n := 0
				for _, a := range now {
					if a > 0 {
						n++
					}
				}
				h.Add(n)
			}
			of, sizes = append(of, p), append(sizes, h)
		}
		all, err := Inclusions(of)
		fmt.Fprintf(&b, "%d draws, %v\n", draws, err)
		for _, i := range all {
			stated, why := i.StatedError(50)
			fmt.Fprintf(&b, " %.9g %.9g %.9g, stated %.9g %v\n", i.Probability, i.ESS, i.MeanAmount, stated, why)
		}
		shares, err := Shares(sizes)
		fmt.Fprintf(&b, "shares, %v\n", err)
		law := make([]float64, len(shares))
		for k, s := range shares {
			stated, why := s.StatedError(500)
			fmt.Fprintf(&b, " %.9g ± %.9g, stated %.9g %v\n", s.Probability, s.MCSE, stated, why)
			law[k] = 1 / float64(len(shares))
		}
		fmt.Fprintf(&b, "expected %.9g\n", ExpectedTotalVariation(law, shares))
		counts := make([]uint64, 7)
		of[0].AddCounts(counts)
		of[1].AddCounts(counts)
		fmt.Fprintln(&b, counts, of[0].Draws(), of[0].Ingredients())
	}
	golden.Compare(t, "testdata/made.txt", []byte(b.String()))
}
