package mcmc_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"slices"

	"kir/internal/constraint/conflict"
	"kir/internal/diagnose"
	"kir/internal/search"
	"kir/mcmc"
	"kir/rule"
)

// sharp is a property of the user's own: a drink is good if it has half as much
// lime as syrup and vermouth.
type sharp struct{ lime, sweet []int }

func (p sharp) LogScore(x *mcmc.Composition) float64 {
	sum := func(of []int) (units float64) {
		for _, i := range of {
			units += float64(x.Amount(i))
		}
		return units
	}
	return -math.Abs(2*sum(p.lime)-sum(p.sweet)) / 4
}

// pour is a proposal of the user's own: a used ingredient gives a unit to any
// other one, or they change places. The way back is as probable but for how many
// ingredients there are to begin from.
type pour struct{}

func (pour) Propose(r *mcmc.Rand, x, y *mcmc.Composition) (logRatio float64, err error) {
	from := int(x.Ingredients()[r.Intn(x.UsedCount())])
	to := r.Intn(x.N() - 1)
	if to >= from {
		to++
	}
	left := x.Amount(from) - 1
	if r.Bernoulli(0.5) {
		left = x.Amount(to)
	}
	if err := y.Move(from, to, left); err != nil {
		return 0, err
	}
	return math.Log(float64(x.UsedCount()) / float64(y.UsedCount())), nil
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// A whole program: rules by name and why they conflict, a property, a sampler
// with a proposal of one's own and a ladder, how far their draws can be trusted,
// what they use, and the best. Gin and rum are alike, so that half of the drinks
// are of rum.
func Example_library() {
	ctx := context.Background()
	names := []string{"gin", "rum", "vermouth", "lime", "syrup", "egg white"}
	of := func(some ...string) (indexes []int) {
		for _, name := range some {
			indexes = append(indexes, slices.Index(names, name))
		}
		return indexes
	}
	set := rule.Set{Ingredients: len(names), Total: 20, Used: []int{3, 4}, Name: func(i int) string { return names[i] }}
	set.Rules = []rule.Rule{
		rule.Require{Of: of("lime")},
		rule.Amount{Of: of("gin", "rum"), Min: 8},
		rule.Group{Of: of("gin", "rum"), Used: &rule.Range{Min: 1, Max: 1}},
		rule.Need{If: of("egg white")[0], Then: of("syrup")},
		rule.Limit{Attribute: "abv", Factors: []float64{40, 40, 16, 0, 0, 0}, Min: math.Inf(-1), Max: 15},
	}
	why := must(conflict.Explain(ctx, set))
	for _, k := range why.Rules {
		fmt.Println("conflict:", set.Describe(k))
	}
	fmt.Println("instead:", why.Changes[0].Text)
	space := must(mcmc.NewRuledSpace(ctx, why.Changes[0].Apply(set), mcmc.CountingOptions{}))
	target := must(mcmc.NewTarget(space, mcmc.Uniform(3, 4), mcmc.Objective{Name: "sharp", Weight: 1, Property: sharp{of("lime"), of("syrup", "vermouth")}}))

	mine := must(mcmc.NewKernelSampler(target, mcmc.NewMetropolis("pour", target, pour{})))
	ladder := must(mcmc.NewTempered(target))
	settings := mcmc.Settings{Chains: 4, Warmup: 1000, Draws: 5000, Thin: 5, Seed: 1}
	for _, sampler := range []mcmc.Sampler{mine, ladder} {
		limes, uses := make([][]float64, settings.Chains), make([]*diagnose.Presence, settings.Chains)
		for chain := range uses {
			uses[chain] = diagnose.NewPresence(len(names), settings.Chains)
		}
		must(mcmc.Stream(ctx, sampler, settings, 0, func(chain, _ int, x *mcmc.State) error {
			limes[chain] = append(limes[chain], float64(x.Composition.Amount(3)))
			uses[chain].Next()
			for _, p := range x.Composition.Parts() {
				uses[chain].Add(p.Ingredient, p.Amount)
			}
			return nil
		}))
		rum := must(diagnose.Inclusions(uses))[1]
		fmt.Printf("R-hat %.2f, rum in %.3f ± %.3f\n", diagnose.Summarize(limes).RHat, rum.Probability, rum.MCSE)
	}

	found := must(search.Best(ctx, target, search.Options{Evaluations: 2000, Seed: 1}))
	list := must(search.Shortlist(ctx, target, found.Archive.Best(), search.ListOptions{MaxEntries: 2, Distance: search.NewDistance(len(names), nil), MinDistance: 0.3}))
	for _, entry := range list.Entries {
		for _, p := range entry.Parts {
			fmt.Printf("%d %s ", p.Amount, names[p.Ingredient])
		}
		fmt.Printf("scores %.2f\n", math.Exp(entry.LogScore))
	}
	// Output:
	// conflict: amount of gin, rum min 8
	// conflict: group gin, rum used 1 to 1
	// conflict: limit of abv max 15
	// instead: lower the min of "amount of gin, rum min 8" from 8 to 7
	// R-hat 1.00, rum in 0.512 ± 0.010
	// R-hat 1.00, rum in 0.494 ± 0.004
	// 7 gin 3 lime 6 syrup 4 egg white scores 1.00
	// 7 rum 1 lime 2 syrup 10 egg white scores 1.00
}
