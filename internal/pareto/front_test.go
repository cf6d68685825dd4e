package pareto_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/pareto"
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
		kept := pareto.NonDominated(all)
		var want []int
		for k, p := range all {
			beaten := false
			for other, q := range all {
				beaten = beaten || pareto.Dominates(q, p) || other < k && slices.Equal(q, p)
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
		if got := pareto.Hypervolume(all, reference); got != cells {
			t.Fatalf("%v within %v have %v, not %v", all, reference, cells, got)
		}
		if added := pareto.VolumeGain(all[0], all[1:], reference); math.Abs(added-(cells-pareto.Hypervolume(all[1:], reference))) > 1e-9 {
			t.Fatalf("%v adds %v to %v", all[0], added, all[1:])
		}
	}
}

// TestMergedTies: of points whose losses tie in real numbers and differ in the last bits, the
// front is that of the real numbers, whatever the order of the points, and none of it is at
// least as good as another to within rounding.
func TestMergedTies(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	split := 0 // fronts that are larger without merging
	for range 500 {
		count, losses := 1+r.IntN(60), 1+r.IntN(4)
		real := points(r, count, losses, 2+r.IntN(8))
		sizes := make([]float64, losses)
		scale := make([]float64, losses)
		for d := range scale {
			scale[d] = []float64{160. / 14, 1e-9 / 3, -7e8 / 11, 0.1}[r.IntN(4)]
			if r.IntN(3) == 0 { // a distance from a bound, which may be met
				sizes[d] = math.Abs(scale[d]) * 8
			}
		}
		computed := make([][]float64, count)
		for k, p := range real {
			for d, v := range p {
				off := 1 + float64(r.IntN(9)-4)*0x1p-52
				switch {
				case sizes[d] > 0:
					v = (v+8)*scale[d]*off - 8*scale[d] // what is left of figures that are rounded
				default:
					v = (v + 1) * scale[d] * off
				}
				computed[k] = append(computed[k], v)
			}
		}
		for k := range real {
			for d := range real[k] {
				if scale[d] < 0 {
					real[k][d] *= -1
				}
			}
		}
		merged := pareto.MergeTies(computed, sizes)
		set := func(kept []int) (out [][]float64) {
			for _, k := range kept {
				out = append(out, real[k])
			}
			slices.SortFunc(out, slices.Compare)
			return out
		}
		kept, want := pareto.NonDominated(merged), pareto.NonDominated(real)
		if !slices.EqualFunc(set(kept), set(want), slices.Equal) {
			t.Fatalf("of %v the front is %v, not %v", computed, set(kept), set(want))
		}
		if len(pareto.NonDominated(computed)) > len(want) {
			split++
		}
		for _, a := range kept {
			for _, b := range kept {
				covers := a != b
				for d, v := range computed[a] {
					w := computed[b][d]
					covers = covers && v <= w+pareto.TieTolerance*max(math.Abs(v), math.Abs(w), sizes[d])
				}
				if covers {
					t.Fatalf("%v is at least as good as %v", computed[a], computed[b])
				}
			}
		}
		for k, p := range merged {
			for d, v := range p {
				if most := float64(count) * pareto.TieTolerance * max(math.Abs(v), math.Abs(computed[k][d]), sizes[d]); !(v <= computed[k][d] && computed[k][d]-v <= most) {
					t.Fatalf("%v is merged into %v", computed[k][d], v)
				}
			}
		}
	}
	if split < 100 {
		t.Errorf("only %d fronts have ties that rounding splits: the test shows nothing", split)
	}
	if got := pareto.MergeTies([][]float64{{1, math.Inf(1)}, {1 + 1e-9, 2}, {1 - 1e-13, math.NaN()}}, nil); got[0][0] != 1-1e-13 || got[1][0] != 1+1e-9 || !math.IsInf(got[0][1], 1) || got[1][1] != 2 {
		t.Errorf("merged: %v", got)
	}
}

func TestSpreadKeepsEndsAndGaps(t *testing.T) {
	var all [][]float64
	for k := range 101 { // dense at one end
		x := float64(k*k) / 10000
		all = append(all, []float64{x, 1 - x})
	}
	chosen := pareto.SelectSpread(all, 11)
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
	if knees := pareto.Knees(line); knees != nil {
		t.Errorf("a straight front has knees %v", knees)
	}
	knees := pareto.Knees(corner)
	if len(knees) != 1 || math.Abs(corner[knees[0]][0]-0.217) > 0.03 {
		t.Errorf("the corner is at 0.217, the knees %v", knees)
	}
}

func TestScaledAndReference(t *testing.T) {
	all := [][]float64{{1, 7}, {3, 7}}
	ideal, nadir := pareto.Bounds(all)
	if got := pareto.ScaleLosses(all, ideal, nadir); got[1][0] != 1 || got[0][0] != 0 || got[1][1] != 0 {
		t.Errorf("scaled: %v", got)
	}
	if got := pareto.HypervolumeReference(ideal, nadir); math.Abs(got[0]-3.2) > 1e-12 || math.Abs(got[1]-7.7) > 1e-12 {
		t.Errorf("reference: %v", got)
	}
}

func TestLayersAreWholeButTheLast(t *testing.T) {
	var all [][]float64
	for layer := range 3 {
		for k := range 5 {
			all = append(all, []float64{float64(k + layer), float64(4 - k + layer)})
		}
	}
	chosen := pareto.SelectLayers(all, 12)
	if len(chosen) != 12 || !slices.Contains(chosen, 10) || !slices.Contains(chosen, 14) {
		t.Errorf("chosen: %v, without the ends of the third front", chosen)
	}
	for k := range 10 {
		if !slices.Contains(chosen, k) {
			t.Errorf("chosen: %v, without %d of the first two fronts", chosen, k)
		}
	}
	if chosen := pareto.SelectLayers(all, 20); len(chosen) != 15 {
		t.Errorf("of 15 points, these are chosen: %v", chosen)
	}
}
