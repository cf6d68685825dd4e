package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A ruleset is what a sparse recipe must keep. Its shares add up to 1.
type ruleset struct {
	Least    int       `json:"least,omitempty"` // ingredients that are used
	Most     int       `json:"most,omitempty"`
	Price    []float64 `json:"price,omitempty"` // of each ingredient
	Budget   float64   `json:"budget,omitempty"`
	Groups   []group   `json:"groups,omitempty"`
	Smallest float64   `json:"smallest,omitempty"` // share of an ingredient that is used
}

// A group bounds the share of some ingredients together.
type group struct {
	Members []int   `json:"members"`
	Most    float64 `json:"most"`
}

// tolerance is how far a share may be from what it must be.
const tolerance = 1e-6

// firstBroken names the first rule that a recipe breaks; empty: none.
func (r *ruleset) firstBroken(x []float64) string {
	used, sum, price := 0, 0.0, 0.0
	for i, share := range x {
		sum += share
		if share < -tolerance {
			return "a negative share"
		}
		if share > tolerance {
			used++
		}
		if r.Price != nil {
			price += share * r.Price[i]
		}
	}
	if math.Abs(sum-1) > 10*tolerance {
		return "the total"
	}
	if r.Most > 0 && (used < r.Least || used > r.Most) {
		return "the count"
	}
	if r.Price != nil && price > r.Budget+10*tolerance {
		return "the budget"
	}
	for _, g := range r.Groups {
		total := 0.0
		for _, i := range g.Members {
			total += x[i]
		}
		if total > g.Most+10*tolerance {
			return "a group"
		}
	}
	for _, share := range x {
		if share > tolerance && share < r.Smallest-tolerance {
			return "the smallest amount"
		}
	}
	return ""
}

// A setting is a set of rules that is measured, by its name.
type setting struct {
	name  string
	rules *ruleset
}

// settings returns the sets of rules for so many ingredients, each with one more kind of rule.
func settings(ingredients int) []setting {
	price := make([]float64, ingredients)
	var even, odd []int
	for i := range price {
		price[i] = []float64{4, 20, 9, 4, 6}[i%5]
		if i < 6 && i%2 == 0 {
			even = append(even, i)
		}
		if i < 6 && i%2 == 1 {
			odd = append(odd, i)
		}
	}
	groups := []group{{even, 0.4}, {odd, 0.5}}
	return []setting{
		{"count", &ruleset{Least: 3, Most: 6}},
		{"count, budget", &ruleset{Least: 3, Most: 6, Price: price, Budget: 8}},
		{"count, budget, groups", &ruleset{Least: 3, Most: 6, Price: price, Budget: 8, Groups: groups}},
		{"count, budget, groups, smallest", &ruleset{Least: 3, Most: 6, Price: price, Budget: 8, Groups: groups, Smallest: 0.02}},
	}
}

// A truth is what a recipe is worth: a part of each ingredient and of each pair.
type truth struct{ one, two []float64 }

func newTruth(ingredients int, r *rand.Rand) *truth {
	t := &truth{make([]float64, ingredients), make([]float64, ingredients*ingredients)}
	for i := range t.one {
		t.one[i] = 10 * r.NormFloat64()
	}
	for k := range t.two {
		t.two[k] = 10 * r.NormFloat64()
	}
	return t
}

// worthOf returns what the recipe with the shares x is worth.
func (t *truth) worthOf(x []float64) float64 {
	sum := 0.0
	for i, a := range x {
		sum += t.one[i] * a
		for j := range i {
			sum += t.two[i*len(x)+j] * math.Sqrt(math.Max(0, a)*math.Max(0, x[j]))
		}
	}
	return sum
}

// trialsUnder draws recipes that keep the rules, in thousandths, and their worth.
func trialsUnder(rules *ruleset, ingredients, rows int, seed int) (question, *truth) {
	r := rand.New(rand.NewPCG(uint64(seed), 13))
	t := newTruth(ingredients, r)
	q := question{Seed: seed, Rules: rules, Total: 1000, Most: rules.Most}
	for i := range ingredients {
		q.Names = append(q.Names, fmt.Sprint("ingredient ", i))
	}
	for len(q.X) < rows {
		x := make([]float64, ingredients)
		used := min(ingredients, rules.Least+r.IntN(rules.Most-rules.Least+1))
		left := 1000
		for k, i := range r.Perm(ingredients)[:used] {
			units := left
			if k < used-1 {
				units = int(float64(left) * (1 - math.Pow(r.Float64(), 1/float64(used-1-k))))
			}
			x[i], left = float64(units)/1000, left-units
		}
		if rules.firstBroken(x) == "" {
			q.X, q.Y = append(q.X, x), append(q.Y, t.worthOf(x))
		}
	}
	return q, t
}

// underRules asks every arm for recipes under each set of rules.
func (b *bench) underRules(ctx context.Context) error {
	const ingredients, rows, n = 12, 40, 3
	for _, s := range settings(ingredients) {
		for seed := range b.seeds {
			for _, name := range b.arms {
				q, t := trialsUnder(s.rules, ingredients, rows, seed)
				q.N = n
				r := record{Task: "rules", On: s.name, Arm: name, Seed: seed, Batch: n}
				if err := b.askOnce(ctx, r, q, t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// bySize asks every arm for recipes of a count and a budget, by how many rows and ingredients there are.
func (b *bench) bySize(ctx context.Context, rows, ingredients string) error {
	for _, rows := range strings.Split(rows, ",") {
		for _, m := range strings.Split(ingredients, ",") {
			have, err := strconv.Atoi(rows)
			if err != nil {
				return fmt.Errorf("-rows: %w", err)
			}
			wide, err := strconv.Atoi(m)
			if err != nil {
				return fmt.Errorf("-ingredients: %w", err)
			}
			for seed := range b.seeds {
				for _, name := range b.arms {
					q, t := trialsUnder(settings(wide)[1].rules, wide, have, seed)
					q.N = 4
					r := record{Task: "speed", On: rows + " rows, " + m + " ingredients", Arm: name, Seed: seed, Batch: q.N}
					if err := b.askOnce(ctx, r, q, t); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// askOnce asks an arm one question under rules, in a process of its own, and keeps what came.
func (b *bench) askOnce(ctx context.Context, r record, q question, t *truth) error {
	if r.Arm == "random" || r.Arm == "botorch" || strings.HasPrefix(r.Arm, "sklearn") || b.isMeasured(r) {
		return ctx.Err() // they have no rules
	}
	r.Recorded = time.Now().Format(time.DateOnly)
	var a arm = &command{ctx: ctx, program: b.kir, limit: b.limit}
	if r.Arm != "kir" {
		var err error
		if a, err = b.startArm(ctx, r.Arm); err != nil {
			return err
		}
	}
	r.Versions, r.Start = a.greeting().Versions, a.greeting().Processor
	got, err := a.ask(q)
	if closed := a.close(); err == nil || errors.Is(err, errSlow) {
		if p, ok := a.(*process); ok && err != nil {
			state := p.command.ProcessState
			got.Processor, got.Seconds = (state.UserTime()+state.SystemTime()).Seconds()-r.Start, b.limit.Seconds()
			got.Refused = errSlow.Error()
		}
		err = closed
	}
	if err != nil {
		return fmt.Errorf("%s on %s: %w", r.Arm, r.On, err)
	}
	r.Seconds, r.Processor, r.Peak, r.Refused = []float64{got.Seconds}, []float64{got.Processor}, got.Peak, got.Refused
	r.Offers = len(got.Recipes)
	for _, x := range got.Recipes {
		if rule := q.Rules.firstBroken(x); rule != "" {
			r.Broken = append(r.Broken, rule)
			continue
		}
		r.Worth = append(r.Worth, t.worthOf(x)-slices.Max(q.Y))
	}
	fmt.Fprintf(os.Stderr, "%s %s seed %d: %d offers, broken %v, %.1f s of processor %s\n", r.On, r.Arm, r.Seed, r.Offers, r.Broken, got.Processor, r.Refused)
	return b.add(r)
}
