package front_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/front"
)

func points(r *rand.Rand, count, losses, levels int) [][]float64 {
	out := make([][]float64, count)
	for k := range out {
		out[k] = make([]float64, losses)
		for d := range out[k] {
			out[k][d] = float64(r.IntN(levels))
		}
	}
	return out
}

func TestMinimalIsByComparingAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		all := points(r, 1+r.IntN(30), 1+r.IntN(4), 2+r.IntN(8))
		kept := front.Minimal(all)
		var want []int
		for k, p := range all {
			beaten := false
			for other, q := range all {
				beaten = beaten || front.Dominates(q, p) || other < k && slices.Equal(q, p)
			}
			if !beaten {
				want = append(want, k)
			}
		}
		slices.SortFunc(want, func(a, b int) int { return slices.Compare(all[a], all[b]) })
		if !slices.Equal(kept, want) {
			t.Fatalf("of %v the front is %v, not %v", all, want, kept)
		}
	}
}

// TestHypervolumeCountsCells compares with the number of unit cells that whole numbers
// dominate, which is the volume.
func TestHypervolumeCountsCells(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 300 {
		losses, levels := 1+r.IntN(4), 2+r.IntN(6)
		all := points(r, 1+r.IntN(12), losses, levels)
		reference := make([]float64, losses)
		for d := range reference {
			reference[d] = float64(levels - r.IntN(2))
		}
		cells := 0.0
		cell := make([]int, losses)
		for done := false; !done; {
			inside := slices.ContainsFunc(all, func(p []float64) bool {
				for d, v := range p {
					if v > float64(cell[d]) {
						return false
					}
				}
				return true
			})
			for d, c := range cell {
				inside = inside && float64(c) < reference[d]
			}
			if inside {
				cells++
			}
			done = true
			for d := range cell {
				if cell[d]++; cell[d] < levels {
					done = false
					break
				}
				cell[d] = 0
			}
		}
		if got := front.Hypervolume(all, reference); got != cells {
			t.Fatalf("%v within %v have %v, not %v", all, reference, cells, got)
		}
		if added := front.Added(all[0], all[1:], reference); math.Abs(added-(cells-front.Hypervolume(all[1:], reference))) > 1e-9 {
			t.Fatalf("%v adds %v to %v", all[0], added, all[1:])
		}
	}
}

func TestSpreadKeepsEndsAndGaps(t *testing.T) {
	var all [][]float64
	for k := range 101 { // dense at one end
		x := float64(k*k) / 10000
		all = append(all, []float64{x, 1 - x})
	}
	chosen := front.Spread(all, 11)
	if len(chosen) != 11 || chosen[0] != 0 || chosen[10] != 100 {
		t.Fatalf("chosen: %v", chosen)
	}
	for k := 1; k < len(chosen); k++ {
		if gap := all[chosen[k]][0] - all[chosen[k-1]][0]; gap > 0.2 || gap < 0.04 {
			t.Errorf("from %v to %v", all[chosen[k-1]], all[chosen[k]])
		}
	}
}

func TestKnees(t *testing.T) {
	var line, corner [][]float64
	for k := range 51 {
		x := float64(k) / 50
		line = append(line, []float64{x, 1 - x})
		corner = append(corner, []float64{x, math.Max(1-4*x, (1-x)/6)})
	}
	if knees := front.Knees(line); knees != nil {
		t.Errorf("a straight front has knees %v", knees)
	}
	knees := front.Knees(corner)
	if len(knees) != 1 || math.Abs(corner[knees[0]][0]-0.217) > 0.03 {
		t.Errorf("the corner is at 0.217, the knees %v", knees)
	}
}

func TestScaledAndReference(t *testing.T) {
	all := [][]float64{{1, 7}, {3, 7}}
	ideal, nadir := front.Bounds(all)
	if got := front.Scaled(all, ideal, nadir); got[1][0] != 1 || got[0][0] != 0 || got[1][1] != 0 {
		t.Errorf("scaled: %v", got)
	}
	if got := front.Reference(ideal, nadir); math.Abs(got[0]-3.2) > 1e-12 || math.Abs(got[1]-7.7) > 1e-12 {
		t.Errorf("reference: %v", got)
	}
}
