package main

import (
	"os"
	"runtime"
	"testing"

	"kir"
	"kir/internal/worth"
	"kir/problem"
	"kir/property"
	"time"
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

// BenchmarkProgram tells how many independent draws, of the statistic that is worst,
// four chains of a kernel make for 1,000 calls of a program and for 1,000 recipes.
func BenchmarkProgram(b *testing.B) {
	for _, c := range []struct {
		name   string
		kernel string
		weight float64
		draws  int
		thin   int
	}{
		{"balanced/weight=1", "balanced", 1, 2000, 1},
		{"balanced/weight=10", "balanced", 10, 2000, 2},
		{"balanced/weight=30", "balanced", 30, 2000, 3},
		{"tempered/weight=30", "tempered", 30, 400, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := problem.Load(b.Context(), "../../examples/cocktails/problem.yaml", problem.Options{})
			if err != nil {
				b.Fatal(err)
			}
			space, err := kir.NewSpace(p.Target.Space().N(), scorerTotal)
			if err != nil {
				b.Fatal(err)
			}
			scorer, err := property.NewProgram(property.ProgramOptions{
				Command: []string{must(os.Executable()), scorerMode}, Dir: "../..", Ingredients: p.Ingredients, Total: scorerTotal, Timeout: time.Minute, Processes: 1, Batch: 16,
			})
			if err != nil {
				b.Fatal(err)
			}
			defer scorer.Close()
			target, err := kir.NewTarget(space, kir.Uniform(2, 5), kir.Wish{Name: "taste", Property: scorer, Weight: c.weight})
			if err != nil {
				b.Fatal(err)
			}
			statistics := worth.Statistics(target, []int{20, 24, 27, 37})
			for range b.N {
				all := make([][][]float64, 4)
				for k := range all {
					all[k] = make([][]float64, len(statistics))
				}
				o := kir.Settings{Kernel: c.kernel, Chains: len(all), Warmup: 400, Draws: c.draws, Thin: c.thin, Seed: 1}
				sampler, err := o.Sampler(target)
				if err != nil {
					b.Fatal(err)
				}
				var calls, recipes int64
				start := time.Now()
				of := make([][]worth.Statistic, len(all))
				for k := range of {
					of[k] = worth.Statistics(target, []int{20, 24, 27, 37})
				}
				if _, err := kir.Stream(b.Context(), sampler, o, max(runtime.GOMAXPROCS(0), len(all)), func(chain, draw int, x *kir.State) error {
					if draw == 0 && chain == 0 {
						calls, recipes = scorer.Asked()
					}
					for k, s := range of[chain] {
						all[chain][k] = append(all[chain][k], s.Of(x))
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
				c2, r2 := scorer.Asked()
				tau, what, err := worth.Worst(statistics, all...)
				if err != nil {
					b.Fatal(err)
				}
				ess := float64(len(all)*c.draws) / tau
				b.Logf("%s: %.0f draws, worst %s; %d calls, %d recipes, %v", c.name, ess, what, c2-calls, r2-recipes, time.Since(start))
				b.ReportMetric(1000*ess/float64(c2-calls), "draws/kcall")
				b.ReportMetric(1000*ess/float64(r2-recipes), "draws/krecipe")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

func must(path string, err error) string {
	if err != nil {
		panic(err)
	}
	return path
}
