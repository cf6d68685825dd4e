package kir_test

import (
	"reflect"
	"testing"

	"kir"
)

// A chain that tells its exchanges is the chain that does not, iteration by
// iteration, and what it tells is what happens.
func TestExchanges(t *testing.T) {
	for _, c := range []struct {
		name               string
		ingredients, total int
		law                kir.Sparsity
	}{
		{"large", 2000, 100, kir.Uniform(17, 24)},
		{"small", 10, 5, kir.Uniform(2, 5)},
		{"crowded", 300, 400, kir.Uniform(60, 70)}, // around the length from which places are kept
		{"pair", 2, 9, kir.Uniform(1, 2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			space, err := kir.NewSpace(c.ingredients, c.total)
			if err != nil {
				t.Fatal(err)
			}
			target, err := kir.NewTarget(space, c.law)
			if err != nil {
				t.Fatal(err)
			}
			kernel, err := kir.NewKernel("accelerated", target)
			if err != nil {
				t.Fatal(err)
			}
			var chains [2]*kir.Chain
			for k := range chains {
				if chains[k], err = kir.NewChain(target, kernel, 3, 1); err != nil {
					t.Fatal(err)
				}
			}
			told, plain := chains[0], chains[1]
			step := func() {
				if err := plain.Advance(1); err != nil {
					t.Fatal(err)
				}
			}
			var dst [100]kir.Exchange
			exchanged, other := 0, 0
			for total := 0; total < 50_000; {
				made, n, err := told.Exchanges(dst[:1+total%100])
				if err != nil || made < 1 || made > 1+total%100 {
					t.Fatal(made, err)
				}
				total += made
				exchanged += n
				at := 0
				for _, e := range dst[:n] {
					for ; at < int(e.Iteration); at++ {
						before := plain.Tally().Updated
						step()
						if (plain.Tally().Updated > before) != (at == int(e.Iteration)-1) {
							t.Fatalf("iteration %d: an exchange is told of iteration %d", at, e.Iteration)
						}
					}
					x := plain.State.Composition
					if x.Ingredients()[e.Place] != e.In || x.Amount(int(e.In)) == 0 || x.Amount(int(e.Out)) != 0 {
						t.Fatalf("%+v led to %v", e, x)
					}
				}
				for updated := plain.Tally().Updated; at < made; at++ {
					if plain.Tally().Updated != updated {
						t.Fatal("it goes on after a change that is no exchange")
					}
					step()
				}
				if plain.Tally() != told.Tally() || !reflect.DeepEqual(plain.State.Composition, told.State.Composition) {
					t.Fatalf("after %d iterations: %+v with %v, want %+v with %v", total, told.Tally(), told.State.Composition, plain.Tally(), plain.State.Composition)
				}
			}
			other = int(told.Tally().Updated) - exchanged
			if exchanged == 0 && c.ingredients > 2 || other == 0 {
				t.Errorf("%d exchanges and %d other changes: the test needs both", exchanged, other)
			}
		})
	}
}
