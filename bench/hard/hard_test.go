package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/testonly/kernelbench"
	"kir/mcmc"
)

// TestMain makes the test binary the scorer that the target of programs runs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == scorerMode {
		if err := scoreRecipes(os.Stdin, os.Stdout); err != nil {
			fail(err)
		}
		return
	}
	os.Exit(m.Run())
}

// A target is measured, its row written, and written again over the first; rows of
// others and what is around the table stay.
func TestHard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document.md")
	const before, after = "before\n\n", "\nafter\n"
	other := "| " + subjects[len(subjects)-1].name + " | 1/s |\n"
	if err := os.WriteFile(path, []byte(before+from+other+to+after), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := measureAll(t.Context(), "../..", path, "regions", 0, 0.002); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rest, found := strings.CutPrefix(string(text), before+from+head)
		rest, ends := strings.CutSuffix(rest, other+to+after)
		if !found || !ends || strings.Count(rest, "\n") != 1 || !strings.HasPrefix(rest, "| two regions | ") || strings.Count(rest, "|") != strings.Count(head, "|")/2 {
			t.Fatalf("the document is %s", text)
		}
	}
	if err := measureAll(t.Context(), "../..", path, "regoins", 0, 1); err == nil || !strings.Contains(err.Error(), "cocktails30") {
		t.Errorf("of a target that is not there it says %v", err)
	}
}

func TestCells(t *testing.T) {
	a, b, bound := speed{ess: 100}, speed{ess: 1234}, speed{ess: 50, below: true}
	for _, c := range []struct{ got, want string }{
		{b.String(), "1234/s"}, {b.over(a), "12 ×"}, {bound.over(a), "< 0.50 ×"}, {a.over(bound), "> 2.0 ×"}, {bound.over(bound), "< 50/s"},
		{bound.String(), "< 50/s"}, {speed{none: true}.over(a), "–"}, {digits(0.00123), "0.0012"}, {digits(0), "0"},
		{found{seconds: 2.5, late: true}.String(), "> 2.5 s"},
	} {
		if c.got != c.want {
			t.Errorf("%q instead of %q", c.got, c.want)
		}
	}
}

// BenchmarkProgram tells how many independent draws, of the statistic that is worst,
// four chains make for 1,000 calls of a program and for 1,000 recipes that it scores.
func BenchmarkProgram(b *testing.B) {
	const chains, workers = 4, 64
	for _, c := range []struct {
		kernel      string
		weight      float64
		draws, thin int
	}{
		{"balanced", 1, 2000, 1}, {"balanced", 10, 2000, 2}, {"balanced", 30, 2000, 3}, {"tempered", 30, 400, 1},
	} {
		b.Run(fmt.Sprintf("%s/weight=%g", c.kernel, c.weight), func(b *testing.B) {
			draws, calls, recipes := 0.0, int64(0), int64(0)
			for seed := range b.N {
				target, scorer, err := tasted(b.Context(), "../..", c.weight) // anew, so that it remembers nothing
				if err != nil {
					b.Fatal(err)
				}
				o := mcmc.Settings{Kernel: c.kernel, Chains: chains, Warmup: 400, Draws: c.draws, Thin: c.thin, Seed: uint64(1 + seed)}
				sampler, err := o.Sampler(target)
				if err != nil {
					b.Fatal(err)
				}
				var of [chains][]kernelbench.Statistic
				var seen [chains][][]float64
				for k := range of {
					of[k] = kernelbench.Statistics(target, []int{20, 24, 27, 37}) // that are used much
					seen[k] = make([][]float64, len(of[k]))
				}
				begun, scored := int64(0), int64(0)
				if _, err := mcmc.Stream(b.Context(), sampler, o, workers, func(chain, draw int, x *mcmc.State) error {
					if chain == 0 && draw == 0 {
						begun, scored = scorer.CallCounts()
					}
					for k, s := range of[chain] {
						seen[chain][k] = append(seen[chain][k], s.Value(x))
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
				tau, _, err := kernelbench.SlowestStatistic(of[0], seen[:]...)
				if err != nil {
					b.Fatal(err)
				}
				draws += float64(chains*c.draws) / tau
				ended, all := scorer.CallCounts()
				calls, recipes = calls+ended-begun, recipes+all-scored
				if err := scorer.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(1000*draws/float64(calls), "draws/kcall")
			b.ReportMetric(1000*draws/float64(recipes), "draws/krecipe")
			b.ReportMetric(0, "ns/op")
		})
	}
}
