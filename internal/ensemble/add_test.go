package ensemble

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAdd holds the machine's way to add to the plain one, bit for bit.
func TestAdd(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 60 {
		testAdder(t, r, newFloat32Adder(), n)
		testAdder(t, r, newFloat64Adder(), n)
	}
}

func testAdder[T float32 | float64](t *testing.T, r *rand.Rand, add termAdder[T], n int) {
	terms := make([]T, n)
	var places []laneChange[T]
	for k := range terms {
		terms[k] = T(r.NormFloat64())
		if r.IntN(3) == 0 {
			continue
		}
		var of []int32
		for range 1 + r.IntN(4) {
			of = append(of, r.Int32N(laneCount+1))
		}
		slices.Sort(of)
		before := T(r.NormFloat64())
		for _, lane := range of {
			places = append(places, laneChange[T]{int32(k), lane, before, T(r.NormFloat64())})
		}
	}
	for _, count := range []int{shortLaneCount, laneCount} {
		got, want := make([]T, count), make([]T, count)
		for q := range got {
			got[q] = T(q) + 0.1
			want[q] = got[q]
		}
		add(got, terms, places)
		addPortable(want, terms, places)
		if !slices.Equal(got, want) {
			t.Fatalf("%d terms and %d places sum to %v, and should to %v", n, len(places), got, want)
		}
	}
}
