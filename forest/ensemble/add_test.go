package ensemble

import (
	"math/rand/v2"
	"testing"
)

// TestAdd holds the machine's way to work on rows to the plain one, bit for bit.
func TestAdd(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 60 {
		testAdder(t, r, adder32(), n)
		testAdder(t, r, adder64(), n)
	}
}

func testAdder[T float32 | float64](t *testing.T, r *rand.Rand, a adder[T], n int) {
	terms := make([]T, n)
	var places []place
	var rows []row[T]
	for k := range terms {
		terms[k] = T(r.NormFloat64())
		if r.IntN(4) == 0 {
			places = append(places, place{int32(k), int32(len(rows))})
			rows = append(rows, row[T]{})
		}
	}
	for k := range places {
		places[k].row = int32(len(rows) - 1 - k)
		for q := range lanes {
			rows[k][q] = T(r.NormFloat64())
		}
	}
	var got, want row[T]
	for q := range lanes + 1 {
		a.spread(&got, q, T(q)+0.1)
		spreadPlain(&want, q, T(q)+0.1)
	}
	a.add(&got, terms, places, rows)
	addPlain(&want, terms, places, rows)
	if got != want {
		t.Fatalf("%d terms and %d rows sum to %v, and should to %v", n, len(rows), got, want)
	}
}
