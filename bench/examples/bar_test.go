package examples_test

import (
	"strconv"
	"sync"
	"testing"

	"kir/internal/compile"
	"kir/internal/report/assemble"
	"kir/mcmc"
)

// A bottle is a row of the shelf.
type bottle struct {
	name, kind string
	stock      int // ml
}

func barShelf(t *testing.T) []bottle {
	t.Helper()
	_, rows := readCSV(t, "bar/shelf.csv")
	var all []bottle
	for _, r := range rows {
		stock, err := strconv.Atoi(r[2])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bottle{r[0], r[1], stock})
	}
	return all
}

// TestBar checks the problem, draws drinks, and holds each against every rule, read
// anew.
func TestBar(t *testing.T) {
	bottles := barShelf(t)
	p, err := compile.Load(t.Context(), "bar/problem.yaml", compile.Options{OverrideSampler: func(s *mcmc.Settings) {
		s.Kernel, s.Chains, s.Warmup, s.Draws, s.Thin = "balanced", 2, 500, 4000, 1
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	check, err := assemble.Check(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(check.Sizes) != 2 {
		t.Errorf("%d sizes", len(check.Sizes))
	}
	least, most := map[int]int{}, map[int]int{}
	known, err := p.KnownRecipes()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range known {
		for _, part := range x.Parts() {
			if i := part.Ingredient; least[i] == 0 || part.Amount < least[i] {
				least[i] = part.Amount
			}
			most[part.Ingredient] = max(most[part.Ingredient], part.Amount)
		}
	}
	lady := map[string]bool{"Gin": true, "Triple Sec": true, "Lemon juice": true}
	sampler, err := p.Sampler.Sampler(p.Target)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	instead := map[string]int{} // what takes the place of Triple Sec
	_, err = mcmc.Stream(t.Context(), sampler, p.Sampler, 0, func(_, _ int, x *mcmc.State) error {
		mu.Lock()
		defer mu.Unlock()
		used, kinds, changes := map[string]int{}, map[string]int{}, len(lady)
		for _, part := range x.Composition.Parts() {
			i, b := part.Ingredient, bottles[part.Ingredient]
			if b.name != p.Ingredients[i] {
				t.Fatalf("the shelf has %s where the problem has %s", b.name, p.Ingredients[i])
			}
			used[b.name] = part.Amount
			kinds[b.kind] += part.Amount
			if lady[b.name] {
				changes--
			} else {
				changes++
			}
			if part.Amount*1500 > b.stock*1000 {
				t.Errorf("%d of %s, of which there are %d ml", part.Amount, b.name, b.stock)
			}
			if part.Amount < least[i] || part.Amount > most[i] {
				t.Errorf("%d of %s, of which the book has %d to %d", part.Amount, b.name, least[i], most[i])
			}
			if b.kind == "bubbles" && part.Amount > 300 {
				t.Errorf("%d of %s", part.Amount, b.name)
			}
		}
		switch n := len(used); {
		case x.Composition.Total() != 1000 || n < 3 || n > 4:
			t.Errorf("%d ingredients, %d units", n, x.Composition.Total())
		case changes > 3:
			t.Errorf("%v: %d changes", used, changes)
		case used["Gin"] == 0 || used["Lemon juice"] == 0 || used["Triple Sec"] > 0:
			t.Errorf("%v is no White Lady of this shelf", used)
		case 10*kinds["juice"] < 3*kinds["spirit"] || kinds["juice"] > kinds["spirit"]:
			t.Errorf("%v: %d of juice for %d of spirits", used, kinds["juice"], kinds["spirit"])
		case used["Egg white"] > 0 && used["Lemon juice"] < 100:
			t.Errorf("%v: egg white and little lemon juice", used)
		}
		for name := range used {
			if !lady[name] {
				instead[name]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(instead) < 15 {
		t.Errorf("only %v come in the place of Triple Sec", instead)
	}
}
