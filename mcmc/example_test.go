package mcmc_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"kir/mcmc"
)

// Three of twelve ingredients share ten units, and more than half of them may
// not go to one.
func Example() {
	space, err := mcmc.NewSpace(12, 10)
	if err != nil {
		log.Fatal(err)
	}
	even := mcmc.Objective{Name: "even", Weight: 1, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		for _, i := range x.Ingredients() {
			if x.Amount(int(i)) > 5 {
				return 0
			}
		}
		return 1
	})}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(3, 3), even)
	if err != nil {
		log.Fatal(err)
	}
	options := mcmc.Settings{Chains: 1, Warmup: 1000, Draws: 3, Thin: 100, Seed: 1}
	sampler, err := options.Sampler(target)
	if err != nil {
		log.Fatal(err)
	}
	_, err = mcmc.Stream(context.Background(), sampler, options, 0, func(chain, draw int, x *mcmc.State) error {
		fmt.Println(x.Composition)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// {7: 5, 9: 1, 10: 4}
	// {5: 5, 6: 2, 8: 3}
	// {3: 4, 4: 5, 10: 1}
}

// price is a property of one's own: how well a composition keeps to a budget.
type price struct {
	perUnit []float64 // by ingredient
	budget  float64
}

// LogScore is −(excess / 10 % of the budget)², so y = 1 within the budget.
func (p price) LogScore(x *mcmc.Composition) float64 {
	cost := 0.0
	for _, i := range x.Ingredients() {
		cost += p.perUnit[i] * float64(x.Amount(int(i)))
	}
	excess := max(0, cost-p.budget)
	return -math.Pow(excess/(p.budget/10), 2)
}

// A property of one's own is a method that returns log y(x). The mean cost of
// a draw then falls below the budget, where that of random compositions is not.
func Example_property() {
	space, err := mcmc.NewSpace(5, 100)
	if err != nil {
		log.Fatal(err)
	}
	budget := price{perUnit: []float64{1, 2, 4, 8, 16}, budget: 300}
	for _, weight := range []float64{0, 1} {
		target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 4), mcmc.Objective{Name: "price", Property: budget, Weight: weight})
		if err != nil {
			log.Fatal(err)
		}
		mean := 0.0
		options := mcmc.Settings{Kernel: "balanced", Chains: 1, Warmup: 1000, Draws: 20_000, Thin: 1, Seed: 1}
		sampler, err := options.Sampler(target)
		if err != nil {
			log.Fatal(err)
		}
		_, err = mcmc.Stream(context.Background(), sampler, options, 0, func(chain, draw int, x *mcmc.State) error {
			for _, i := range x.Composition.Ingredients() {
				mean += budget.perUnit[i] * float64(x.Composition.Amount(int(i))) / float64(options.Draws)
			}
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("weight %v: a mean cost of about %.0f\n", weight, math.Round(mean/10)*10)
	}
	// Output:
	// weight 0: a mean cost of about 620
	// weight 1: a mean cost of about 230
}

// nudge is a proposal of one's own: one unit goes from a used ingredient to
// another one, whichever.
type nudge struct{}

// Propose returns log q(x|y) − log q(y|x). There are n(x)·(N−1) ways to nudge
// x, and each has one way back, out of n(y)·(N−1).
func (nudge) Propose(r *mcmc.Rand, x, y *mcmc.Composition) (logRatio float64, err error) {
	from := int(x.Ingredients()[r.Intn(x.UsedCount())])
	to := r.Intn(x.N() - 1)
	if to >= from {
		to++
	}
	if err := y.Move(from, to, x.Amount(from)-1); err != nil {
		return 0, err
	}
	return math.Log(float64(x.UsedCount()) / float64(y.UsedCount())), nil
}

// A proposal of one's own makes a kernel of the general Metropolis–Hastings
// algorithm. Here n is uniform on 1..4, so that its mean is 2.5.
func ExampleNewMetropolis() {
	space, err := mcmc.NewSpace(6, 8)
	if err != nil {
		log.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 4))
	if err != nil {
		log.Fatal(err)
	}
	kernel := mcmc.NewMetropolis("nudge", target, nudge{})
	chain, err := mcmc.NewChain(target, kernel, 1, 0)
	if err != nil {
		log.Fatal(err)
	}
	const draws = 200_000
	mean := 0.0
	for range draws {
		if err := chain.Advance(1); err != nil {
			log.Fatal(err)
		}
		mean += float64(chain.State.Composition.UsedCount()) / draws
	}
	fmt.Printf("mean n %.1f, %d %% accepted\n", mean, 100*chain.Tally().Accepted/chain.Tally().Iterations)
	// Output:
	// mean n 2.5, 50 % accepted
}

// A tempered chain tells how well random compositions meet an objective, and finds those that meet
// it best.
func ExampleNewTempered() {
	space, err := mcmc.NewSpace(12, 10)
	if err != nil {
		log.Fatal(err)
	}
	most := mcmc.Objective{Name: "much of the first", Weight: 5, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		return float64(1+x.Amount(0)) / 11
	})}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 4), most)
	if err != nil {
		log.Fatal(err)
	}
	sampler, err := mcmc.NewTempered(target)
	if err != nil {
		log.Fatal(err)
	}
	chain, err := sampler.NewChain(1, 0)
	if err != nil {
		log.Fatal(err)
	}
	if err := chain.Warm(1000); err != nil {
		log.Fatal(err)
	}
	chain.EndWarmup()
	best := math.Inf(-1)
	for range 5000 {
		chain.RecordVisited(best)
		if err := chain.Advance(1); err != nil {
			log.Fatal(err)
		}
		if err := chain.DrainVisited(func(f mcmc.VisitedState) error {
			best = max(best, f.LogScore)
			return nil
		}); err != nil {
			log.Fatal(err)
		}
	}
	ladder := chain.Ladder()
	fmt.Printf("a random composition scores %.4f ± %.4f on average\n", math.Exp(ladder.LogZ), math.Exp(ladder.LogZ)*ladder.LogZError)
	fmt.Printf("the best scores %.4f\n", math.Exp(best))
	// Output:
	// a random composition scores 0.0137 ± 0.0003 on average
	// the best scores 0.6209
}

func ExampleNewExact() {
	space, err := mcmc.NewSpace(50, 5)
	if err != nil {
		log.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Table(map[int]float64{1: 1, 2: 1, 5: 2}))
	if err != nil {
		log.Fatal(err)
	}
	exact, err := mcmc.NewExact(target)
	if err != nil {
		log.Fatal(err)
	}
	chain, err := mcmc.NewChain(target, exact, 1, 0)
	if err != nil {
		log.Fatal(err)
	}
	counts := make([]int, 6)
	for range 40_000 {
		if err := chain.Advance(1); err != nil {
			log.Fatal(err)
		}
		counts[chain.State.Composition.UsedCount()]++
	}
	for n, c := range counts {
		if c > 0 {
			fmt.Printf("n = %d: about %d,000 of 40,000\n", n, (c+500)/1000)
		}
	}
	// Output:
	// n = 1: about 10,000 of 40,000
	// n = 2: about 10,000 of 40,000
	// n = 5: about 20,000 of 40,000
}

// Power is the paper's weight of the sparsity law.
func ExamplePower() {
	space, err := mcmc.NewSpace(50, 5)
	if err != nil {
		log.Fatal(err)
	}
	book := mcmc.Table(map[int]float64{2: 1, 3: 2})
	for _, c := range []float64{0, 1, 2} {
		law, err := mcmc.Power(book, c).On(space)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("c = %v: %.2f %.2f\n", c, law.P(2), law.P(3))
	}
	// Output:
	// c = 0: 0.50 0.50
	// c = 1: 0.33 0.67
	// c = 2: 0.20 0.80
}

// A composition is looked up by ingredient, and its used ingredients walked
// over.
func ExampleComposition() {
	x, err := mcmc.NewComposition(2000, mcmc.Part{Ingredient: 7, Amount: 90}, mcmc.Part{Ingredient: 1500, Amount: 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x, x.UsedCount(), x.Total(), x.Amount(7), x.Amount(8))
	if err := x.Move(7, 8, 60); err != nil { // 7 keeps 60 of the 90, 8 gets the rest
		log.Fatal(err)
	}
	fmt.Println(x.Parts())
	// Output:
	// {7: 90, 1500: 10} 2 100 90 0
	// [{7 60} {8 30} {1500 10}]
}
