// Calibration says whether the standard errors that kir states can be believed,
// and whether its draws of a posterior are draws of it.
//
//	go run -C bench ./calibration
//
// prints tables of bench/RESULTS.md. Four problems that can be enumerated
// are run with every kernel, 200 short runs each. The tables have the share of figures
// whose truth lies within two stated errors. Then come simulation-based
// calibration and Geweke's joint test on the likelihood of a document.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"kir/mcmc"
)

func main() {
	p := standard
	flag.IntVar(&p.runs, "runs", p.runs, "runs of each problem with each kernel")
	flag.Uint64Var(&p.seed, "seed", p.seed, "seed of the first run")
	flag.IntVar(&p.workers, "workers", p.workers, "runs at once; it changes nothing but the time")
	double := flag.Bool("double", false, "take draws to be worth twice what they are, to see that it shows")
	auto := flag.Bool("auto", false, "let runs stop by themselves, and print the first table alone, of the kernels that kir chooses")
	measured := flag.Bool("shares", false, "hold measured shares of rules against exact ones instead")
	s := standardShares
	flag.IntVar(&s.problems, "problems", s.problems, "with -shares: problems")
	flag.Float64Var(&s.effort, "effort", s.effort, "with -shares: millions of moves of each measurement")
	flag.Parse()
	if *measured {
		s.seed, s.workers = p.seed, p.workers
		if err := shares(context.Background(), os.Stdout, s); err != nil {
			fmt.Fprintln(os.Stderr, "calibration:", err)
			os.Exit(1)
		}
		return
	}
	if *auto {
		p.draws = mcmc.AutoDraws
	}
	factor := 1.0
	if *double {
		factor = broken
	}
	if err := tables(context.Background(), os.Stdout, p, factor); err != nil {
		fmt.Fprintln(os.Stderr, "calibration:", err)
		os.Exit(1)
	}
}

// tables prints all tables.
func tables(ctx context.Context, w io.Writer, p plan, factor float64) error {
	kernels, draws := mcmc.KernelNames(), fmt.Sprintf("%d draws", p.draws)
	if p.draws == mcmc.AutoDraws {
		kernels, draws = []string{"balanced", "exact", "tempered"}, "draws: auto"
	}
	fmt.Fprintf(w, "Truths within ±2 stated errors, %%, and in brackets the share of figures that have one, %%.\n%d runs of %d chains, %d iterations of warm-up and %s, seeds from %d on.\n\n",
		p.runs, p.chains, p.warmup, draws, p.seed)
	fmt.Fprintln(w, "| problem | kernel | means | presence | law of n | quantiles |\n| --- | --- | --- | --- | --- | --- |")
	for _, s := range subjects() {
		t, err := s.enumerate()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, kernel := range kernels {
			results, err := sample(ctx, s, kernel, p)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, kernel, err)
			}
			if results == nil {
				continue
			}
			found := cover(results, t, factor)
			fmt.Fprintf(w, "| %s | %s |", s.name, kernel)
			for _, kind := range kinds {
				fmt.Fprintf(w, " %s |", found[kind].cell())
			}
			fmt.Fprintln(w)
		}
	}
	if p.draws == mcmc.AutoDraws {
		return nil
	}
	fmt.Fprintf(w, "\nThe posterior of a document: p-value of uniform ranks (%d documents of %d words,\n%d draws each), and the largest of 22 deviations in Geweke's joint test, in\nstandard errors (4 × %d turns).\n\n| kernel | ranks, p | joint, z | of |\n| --- | --- | --- | --- |\n", 2*p.runs, rankedWords, ranked, jointTurns)
	for _, kernel := range mcmc.KernelNames() {
		if kernel == "exact" {
			continue // it takes no properties
		}
		counts, err := ranks(ctx, kernel, 2*p.runs, p.workers, p.seed, 1)
		if err != nil {
			return fmt.Errorf("ranks, %s: %w", kernel, err)
		}
		fmt.Fprintf(w, "| %s | %.2g |", kernel, uniformRanks(counts))
		if kernel == "tempered" {
			fmt.Fprintln(w, " – | a ladder cannot start at a given state |")
			continue
		}
		z, at, err := joint(kernel, jointTurns, p.seed, 1)
		if err != nil {
			return fmt.Errorf("joint, %s: %w", kernel, err)
		}
		fmt.Fprintf(w, " %.1f | %s |\n", z, at)
	}
	return nil
}

// jointTurns is how many turns each chain of the joint test takes.
const jointTurns = 10_000

// fewStated is below which share of the figures the rest is too few to tell
// anything: those runs that by chance look better than they are.
const fewStated = 0.1

// cell is a cell of the table.
func (c *coverage) cell() string {
	stated, within, unknown := c.total()
	share := float64(stated) / float64(stated+unknown)
	if share < fewStated {
		return fmt.Sprintf("unknown (%.1f, wrong %.1f)", 100*share, 100*float64(stated-within)/float64(stated+unknown))
	}
	part, _ := c.share()
	return fmt.Sprintf("%.1f (%.0f)", 100*part, 100*share)
}
