package run

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"kir/mcmc"
)

func TestCountedNames(t *testing.T) {
	names := make([]string, minNumberedNames+3)
	for i := range names {
		names[i] = fmt.Sprintf("no. %d", i+1)
	}
	c := detectNumberedNames(names)
	if c == nil || c.Count != len(names) {
		t.Fatalf("the names are not seen to count: %v", c)
	}
	m := &Manifest{Counted: c}
	if !slices.Equal(m.IngredientNames(), names) || m.IngredientCount() != len(names) || m.Ingredient(41) != "no. 42" {
		t.Error("the rule gives other names")
	}
	for i, name := range names {
		if c.indexOf(name) != int32(i) {
			t.Fatalf("%q is found at %d", name, c.indexOf(name))
		}
	}
	for _, name := range []string{"", "no. ", "no. 0", "no. 01", "no. 1 ", "no. -1", fmt.Sprint("no. ", len(names)+1), "no. 99999999999999999999", "No. 1"} {
		if i := c.indexOf(name); i != -1 {
			t.Errorf("%q is found at %d", name, i)
		}
	}
	for at, name := range map[int]string{0: "no. 2", 7: "x", len(names) - 1: "no. 1"} {
		other := slices.Clone(names)
		other[at] = name
		if detectNumberedNames(other) != nil {
			t.Errorf("%q for ingredient %d still counts", name, at)
		}
	}
	if detectNumberedNames(names[:minNumberedNames-1]) != nil {
		t.Error("few names are not stored")
	}
}

// A run of many ingredients without names of their own stores none, is read as
// any other, and lists those used most.
func TestManyIngredients(t *testing.T) {
	const n = 3 * MaxListedIngredients
	s := newSpec(t, n, 1000, mcmc.Uniform(45, 55), mcmc.Settings{Kernel: "balanced", Chains: 2, Draws: 3000, Thin: 1, Seed: 8})
	for i := range s.Ingredients {
		s.Ingredients[i] = fmt.Sprintf("ingredient %d", i+1)
	}
	dir, r := start(t, s, Options{})
	run, err := Open(context.Background(), NewDirectoryStore(dir))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(run.Manifest); err != nil || len(b) > 5000 || len(run.Manifest.Ingredients) > 0 {
		t.Errorf("the manifest has %d bytes, %v", len(b), err)
	}
	counts, amounts := make([]int, n), make([]int, n)
	for _, draws := range collect(t, dir) {
		for _, d := range draws {
			for _, p := range d.Parts {
				counts[p.Ingredient]++
				amounts[p.Ingredient] += p.Amount
			}
		}
	}
	byUse := make([]int, n)
	for i := range byUse {
		byUse[i] = i
	}
	slices.SortStableFunc(byUse, func(a, b int) int { return counts[b] - counts[a] })
	want := byUse[:MaxListedIngredients]
	slices.Sort(want)
	var got []int
	for _, x := range r.Inclusion {
		got = append(got, x.Index)
		if float64(x.Probability) != float64(counts[x.Index])/6000 || float64(x.MeanAmount) != float64(amounts[x.Index])/float64(counts[x.Index]) {
			t.Fatalf("%+v, want %d draws and %d units", x, counts[x.Index], amounts[x.Index])
		}
	}
	if !slices.Equal(got, want) {
		t.Error("the ingredients listed are not those used most")
	}
	var rest UnlistedIngredients
	listed := make(map[int]bool)
	for _, i := range got {
		listed[i] = true
	}
	for i, count := range counts {
		if p := float64(count) / 6000; count > 0 && !listed[i] {
			rest.Count++
			rest.Variance += p * (1 - p)
			rest.SquaredVariance += p * (1 - p) * p * (1 - p)
		}
	}
	if u := r.Unlisted; u.Count != rest.Count || u.Count == 0 || !near(u.Variance, rest.Variance) || !near(u.SquaredVariance, rest.SquaredVariance) || len(r.Notes) != 1 {
		t.Errorf("%+v is not listed, want %+v; notes %q", u, rest, r.Notes)
	}
	stored, err := Merge(context.Background(), s, NewDirectoryStore(dir), Options{})
	if err != nil || !reflect.DeepEqual(stored.Unlisted, r.Unlisted) {
		t.Errorf("stored is %+v: %v", stored.Unlisted, err)
	}
}

func near(a, b float64) bool { return a-b < 1e-9*b && b-a < 1e-9*b }

func TestMostDraws(t *testing.T) {
	s := newSpec(t, 5, 5, mcmc.Uniform(1, 2), mcmc.Settings{Kernel: "naive", Chains: 1, Draws: mcmc.MaxDraws + 1, Thin: 1})
	if err := s.check(); err == nil {
		t.Error("more draws than can be counted are accepted")
	}
}
