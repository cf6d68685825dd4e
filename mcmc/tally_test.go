package mcmc_test

import (
	"reflect"
	"testing"

	"kir/mcmc"
)

// Moves are told by their names, whatever the order in which tallies met them.
func TestTallyAdds(t *testing.T) {
	a := mcmc.Tally{Iterations: 5, Accepted: 4, Updated: 3}
	a.MovesNamed("line", "resize")[1] = mcmc.MoveTally{Name: "resize", Tried: 5, Accepted: 4, Updated: 3}
	b := mcmc.Tally{Iterations: 50, Accepted: 40, Updated: 30}
	copy(b.MovesNamed("resize", "swap"), []mcmc.MoveTally{{Name: "resize", Tried: 10, Accepted: 9, Updated: 8}, {Name: "swap", Tried: 1}})
	a.Add(b)
	want := mcmc.Tally{Iterations: 55, Accepted: 44, Updated: 33, Moves: []mcmc.MoveTally{
		{Name: "line"}, {Name: "resize", Tried: 15, Accepted: 13, Updated: 11}, {Name: "swap", Tried: 1},
	}}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("%+v, want %+v", a, want)
	}
	if again := a.MovesNamed("resize", "swap"); len(a.Moves) != 3 || again[0].Tried != 15 {
		t.Errorf("%+v of %+v", again, a)
	}
}
