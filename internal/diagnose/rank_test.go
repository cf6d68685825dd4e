package diagnose

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// slowScores are the normal scores of x by their definition: the rank of a value
// is one more than the number of smaller ones, plus half the number of other equal
// ones.
func slowScores(x []float64) []float64 {
	z := make([]float64, len(x))
	for i, v := range x {
		rank := 0.5
		for _, w := range x {
			if w < v {
				rank++
			} else if w == v {
				rank += 0.5
			}
		}
		z[i] = mathext.NormalQuantile((rank - 0.375) / (float64(len(x)) + 0.25))
	}
	return z
}

// TestScores compares the scores of the draws and of the folded draws with their
// definitions, with ties and without, in chains of even and odd lengths.
func TestScores(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var s sample
	for _, n := range []int{4, 5, 12, 13, 100, 101} {
		for _, values := range []int{1 << 40, 50, 3, 2} {
			chains := make([][]float64, 3)
			for c := range chains {
				for range n {
					chains[c] = append(chains[c], float64(r.IntN(values)-values/3)/8)
				}
			}
			if err := s.loadChains(chains); err != nil {
				t.Fatal(err)
			}
			all := slices.Concat(chains...)
			slices.Sort(all)
			median := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
			var split, folded []float64
			for _, half := range s.splitHalves(s.allDraws) {
				for _, v := range half {
					split = append(split, v)
					folded = append(folded, math.Abs(v-median))
				}
			}
			check := func(name string, got []float64, want []float64) {
				t.Helper()
				got = slices.Concat(s.splitHalves(got)...)
				for i, w := range want {
					if math.Abs(got[i]-w) > 1e-13 {
						t.Fatalf("%s, %d draws of %d values: score %d is %v, want %v", name, n, values, i, got[i], w)
					}
				}
			}
			check("draws", s.normalScores(), slowScores(split))
			check("folded draws", s.foldedScores(), slowScores(folded))
			if got := s.ranking.median(); got != median {
				t.Errorf("median %v, want %v", got, median)
			}
		}
	}
}

func TestSort(t *testing.T) {
	x := []float64{3, -1, math.MaxFloat64, 0, -2.5, 1e-310, -1e-310, -math.MaxFloat64, 3, math.Copysign(0, -1), 1e9, -1e9}
	var r ranking
	r.sort(x)
	for k, want := range []uint32{7, 11, 4, 1, 6, 3, 9, 5, 0, 8, 10, 2} {
		if got := r.draws[k].drawIndex; got != want {
			t.Errorf("place %d holds draw %d, want %d", k, got, want)
		}
	}
	random := rand.New(rand.NewPCG(6, 6))
	for range 50 {
		x := make([]float64, 1+random.IntN(3000))
		for i := range x {
			x[i] = math.Ldexp(random.NormFloat64(), random.IntN(100)-50)
		}
		r.sort(x)
		slices.Sort(x)
		for i, v := range x {
			if r.at(i) != v {
				t.Fatalf("place %d: %v, want %v", i, r.at(i), v)
			}
		}
	}
}
