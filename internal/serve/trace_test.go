package serve

import (
	"testing"

	"kir/mcmc"
)

// Of however many draws a trace keeps some that are evenly spaced from the first on.
func TestTrace(t *testing.T) {
	space, err := mcmc.NewSpace(2, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 2))
	if err != nil {
		t.Fatal(err)
	}
	tr := &drawTrace{keepInterval: 1}
	for draw := range 10 * minKeptDraws {
		c, err := mcmc.NewComposition(2, mcmc.Part{Ingredient: 0, Amount: draw + 1}, mcmc.Part{Ingredient: 1, Amount: 1<<20 - draw - 1})
		if err != nil {
			t.Fatal(err)
		}
		x, err := mcmc.NewState(target, c)
		if err != nil {
			t.Fatal(err)
		}
		tr.add(x)
		if len(tr.draws) > 2*minKeptDraws {
			t.Fatalf("after %d draws %d are kept", draw+1, len(tr.draws))
		}
	}
	every := tr.draws[1].parts[0].Amount - tr.draws[0].parts[0].Amount
	if len(tr.draws) < minKeptDraws {
		t.Errorf("%d are kept", len(tr.draws))
	}
	for k, d := range tr.draws {
		if d.parts[0].Amount != 1+k*every {
			t.Fatalf("kept draw %d is number %d, and every %d are kept", k, d.parts[0].Amount, every)
		}
	}
}
