package mcmc_test

import (
	"testing"

	"kir/mcmc"
)

// TestFindsAreWhatTheySay looks at all finds of a short run: each is in the
// space, has the size of a law with gaps, keeps the rules, and has the score
// that it is said to have, above the bar. To search changes no draw.
func TestFindsAreWhatTheySay(t *testing.T) {
	space, err := mcmc.NewSpace(8, 12)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Table(map[int]float64{2: 1, 3: 1, 5: 1}),
		mcmc.Objective{Name: "even", Weight: 2, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
			return 1 + float64(x.Amount(0)*x.Amount(1)+x.Amount(2)%3)
		})},
		mcmc.Objective{Name: "not both", Weight: 1, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
			if x.Amount(3) > 0 && x.Amount(4) > 0 {
				return 0
			}
			return 1
		})})
	if err != nil {
		t.Fatal(err)
	}
	k, err := mcmc.NewTempered(target)
	if err != nil {
		t.Fatal(err)
	}
	var chains [2]*mcmc.Chain
	for index := range chains {
		if chains[index], err = k.NewChain(1, 0); err != nil {
			t.Fatal(err)
		}
		if err := chains[index].Warm(100); err != nil {
			t.Fatal(err)
		}
		chains[index].EndWarmup()
	}
	found, sizes := 0, map[int]int{}
	for scan := range 300 {
		bar := float64(scan%7) - 1
		chains[1].RecordVisited(bar)
		for _, c := range chains {
			if err := c.Advance(1); err != nil {
				t.Fatal(err)
			}
		}
		if !chains[0].State.Composition.Equal(chains[1].State.Composition) {
			t.Fatalf("draw %d is %v, and %v with a search", scan, chains[0].State.Composition, chains[1].State.Composition)
		}
		err := chains[1].DrainVisited(func(f mcmc.VisitedState) error {
			found++
			sizes[len(f.Parts)]++
			x, err := mcmc.NewComposition(space.N(), f.Parts...)
			if err != nil {
				return err
			}
			if err := space.Contains(x); err != nil {
				return err
			}
			if target.Law().P(x.UsedCount()) == 0 {
				t.Fatalf("the law has no mass on the size of %v", x)
			}
			if want, err := target.LogScore(x); err != nil || want != f.LogScore || !(want > bar) {
				t.Fatalf("%v is said to score %v, above %v: it scores %v, %v", x, f.LogScore, bar, want, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 1000 || len(sizes) != 3 {
		t.Errorf("%d were found, of sizes %v", found, sizes)
	}
	if err := chains[0].DrainVisited(func(mcmc.VisitedState) error { t.Error("found without a search"); return nil }); err != nil {
		t.Fatal(err)
	}
}
