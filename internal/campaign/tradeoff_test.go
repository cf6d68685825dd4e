package campaign

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kir/internal/front"
)

// TestBatchMovesTheFront: of a problem with a trade-off between what is learnt and a price,
// and between two learnt labels, whose front bends inwards, a batch is new and within the
// rules, and adds more to the true hypervolume than a batch for the product of the two. The
// same choice is made with any number of workers.
func TestBatchMovesTheFront(t *testing.T) {
	// The share of a is good for y and bad for z, both the more the nearer it is to all.
	y := func(x map[string]int) float64 { return math.Exp(float64(x["a"])/10) - float64(x["c"])/4 }
	z := func(x map[string]int) float64 { return math.Exp(float64(x["b"])/10) - float64(x["d"])/4 }
	price := func(x map[string]int) (sum float64) {
		for name, cost := range map[string]float64{"a": 1, "b": 2, "c": 3, "d": 4, "e": 50, "f": 1, "g": 1, "h": 1} {
			sum += cost * float64(x[name]) / 20
		}
		return sum
	}
	for _, c := range []struct {
		name, properties, trade string
		of                      [2]func(x map[string]int) float64
	}{
		{"learnt and known", "  price: {blend: {attribute: price, minimize: true}}\n", "[y, price]", [2]func(x map[string]int) float64{y, func(x map[string]int) float64 { return -price(x) }}},
		{"both learnt", "  z: {learn: {label: z, maximize: true}}\n", "[y, z]", [2]func(x map[string]int) float64{y, z}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := trialsTable(25, func(x []int, _ int) string {
				recipe := map[string]int{"a": x[0], "b": x[1], "c": x[2], "d": x[3], "e": x[4]}
				return fmt.Sprintf("%.5f,%.5f", y(recipe), z(recipe))
			})
			table = strings.Replace(table, "amount,y\n", "amount,y,z\n", 1)
			problem := "labels: [y, z]\nproperties:\n  y: {learn: {label: y, maximize: true}}\n" + c.properties
			added := func(trade string) float64 {
				path := fiveBench(t, problem+trade, table)
				k := open(t, path)
				losses := func(recipe map[string]int) []float64 { return []float64{-c.of[0](recipe), -c.of[1](recipe)} }
				var tried [][]float64
				for _, trial := range k.trials {
					tried = append(tried, losses(k.named(trial.parts)))
				}
				ideal, nadir := front.Bounds(tried)
				reference := front.Reference(ideal, nadir)
				b := choose(t, path, Settings{Size: 6, Seed: 3, MaxNew: -1, Workers: 2})
				if trade != "" {
					again := choose(t, path, Settings{Size: 6, Seed: 3, MaxNew: -1, Workers: 1})
					if b.Left.Probability == nil || *b.Left.Probability < 0.5 || b.Left.Advice != GoOn {
						t.Errorf("what is left: %+v", b.Left)
					}
					for n := range b.Entries {
						e := &b.Entries[n]
						if e.Reason.Kind != Likely || !strings.Contains(e.Reason.Text, "moves the trade-off") || *e.BeatsBest <= 0 {
							t.Errorf("%s: %+v", e.ID, e.Reason)
						}
						if !slices.Equal(e.parts, again.Entries[n].parts) {
							t.Errorf("%s is another with one worker", e.ID)
						}
						if slices.ContainsFunc(k.trials, func(trial trial) bool { return trial.key == e.key }) {
							t.Errorf("%s was tried", e.ID)
						}
					}
				}
				before := front.Hypervolume(tried, reference)
				for n := range b.Entries {
					tried = append(tried, losses(b.Entries[n].Recipe))
				}
				return front.Hypervolume(tried, reference)/before - 1
			}
			moved, product := added("trade: "+c.trade+"\n"), added("")
			t.Logf("the batch adds %.3f of the hypervolume, that for the product %.3f", moved, product)
			if moved <= product || moved < 0.05 {
				t.Errorf("the batch adds %.3f of the hypervolume, that for the product %.3f", moved, product)
			}
		})
	}
}
