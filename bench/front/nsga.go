// Package front compares the fronts that kir finds with those of NSGA-II (Deb, Pratap,
// Agarwal and Meyarivan 2002) at ten times the evaluations, by their hypervolumes.
package front

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"kir/internal/pareto"
	"kir/mcmc"
)

// population is how many members a generation of NSGA-II has.
const population = 100

// A member is a composition of a generation.
type member struct {
	x        *mcmc.Composition
	losses   []float64
	rank     int
	crowding float64
}

type evolution struct {
	*Case
	r           *rand.Rand
	evaluations int
}

// Evolve returns the losses of what NSGA-II finds with so many evaluations of all losses.
// What breaks a rule, a dose or a size costs it nothing: it tries again.
func (c *Case) Evolve(ctx context.Context, evaluations int, seed uint64) ([][]float64, error) {
	e := &evolution{Case: c, r: rand.New(rand.NewPCG(seed, 1))}
	prior, r := mcmc.NewPrior(c.Target), mcmc.NewRand(seed, "evolution", 0)
	var list []member
	for _, x := range c.Known {
		if len(list) < population && e.Feasible(x) {
			list = append(list, e.born(x))
		}
	}
	for tries := 0; len(list) < population && tries < 200*population; tries++ {
		x, err := prior.Draw(r)
		if err != nil {
			return nil, err
		}
		if x = e.Repair(e.r, amountsOf(x)); x != nil && e.Feasible(x) {
			list = append(list, e.born(x))
		}
	}
	var found [][]float64 // of all generations, so that none is lost
	for e.evaluations < evaluations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rank(list)
		var children []member
		for range len(list) {
			if x := e.child(list); x != nil {
				children = append(children, e.born(x))
			}
		}
		list = append(list, children...)
		rank(list)
		slices.SortStableFunc(list, better)
		list = slices.Clone(list[:min(population, len(list))])
		for _, m := range list {
			if m.rank == 0 {
				found = append(found, m.losses)
			}
		}
		if len(found) > 20*population {
			found = minimal(found)
		}
		if len(children) == 0 {
			break
		}
	}
	return minimal(found), nil
}

func minimal(points [][]float64) (kept [][]float64) {
	for _, k := range pareto.NonDominated(points) {
		kept = append(kept, points[k])
	}
	return kept
}

// born evaluates a composition.
func (e *evolution) born(x *mcmc.Composition) member {
	m := member{x: x}
	for k := range e.Objectives {
		m.losses = append(m.losses, e.Objectives[k].Loss(x))
	}
	e.evaluations++
	return m
}

// Feasible reports whether a composition keeps the rules, the doses and the sizes.
func (c *Case) Feasible(x *mcmc.Composition) bool {
	for _, p := range x.Parts() {
		if c.Least != nil && p.Amount < c.Least[p.Ingredient] || c.Most != nil && p.Amount > c.Most[p.Ingredient] {
			return false
		}
	}
	if math.IsInf(c.Target.LogLaw(x.UsedCount()), -1) {
		return false
	}
	score, err := c.Target.LogScore(x)
	return err == nil && !math.IsInf(score, -1)
}

func amountsOf(x *mcmc.Composition) []float64 {
	out := make([]float64, x.N())
	for i, a := range x.Amounts() {
		out[i] = float64(a)
	}
	return out
}

// Repair makes a composition of amounts that need not add up, within the doses; nil if it fails.
func (c *Case) Repair(r *rand.Rand, amounts []float64) *mcmc.Composition {
	total := c.Target.Space().Total()
	bounds := func(i int) (low, high int) {
		low, high = 1, total
		if c.Least != nil {
			low = max(c.Least[i], 1)
		}
		if c.Most != nil {
			high = c.Most[i]
		}
		return low, high
	}
	sum := 0.0
	for _, a := range amounts {
		sum += a
	}
	whole, left := make([]int, len(amounts)), total
	for i, a := range amounts {
		if low, high := bounds(i); a > 0 && high >= low {
			whole[i] = min(max(int(math.Round(a/sum*float64(total))), low), high)
			left -= whole[i]
		}
	}
	for tries := 0; left != 0 && tries < 10*len(amounts); tries++ {
		i := r.IntN(len(amounts))
		if whole[i] == 0 {
			continue
		}
		low, high := bounds(i)
		to := min(max(whole[i]+left, low), high)
		left -= to - whole[i]
		whole[i] = to
	}
	if left != 0 {
		return nil
	}
	var parts []mcmc.Part
	for i, a := range whole {
		if a > 0 {
			parts = append(parts, mcmc.Part{Ingredient: i, Amount: a})
		}
	}
	x, err := mcmc.NewComposition(len(amounts), parts...)
	if err != nil {
		return nil
	}
	return x
}

// child is one of two parents that won tournaments, mutated; nil if none is feasible.
func (e *evolution) child(list []member) *mcmc.Composition {
	parent := func() member {
		a, b := list[e.r.IntN(len(list))], list[e.r.IntN(len(list))]
		if better(a, b) <= 0 {
			return a
		}
		return b
	}
	for range 50 {
		a, b := amountsOf(parent().x), amountsOf(parent().x)
		if e.r.Float64() < 0.9 { // a blend of both, of as many ingredients as one of them
			mix := e.r.Float64()*1.4 - 0.2
			n := used(a)
			if e.r.IntN(2) == 0 {
				n = used(b)
			}
			for i := range a {
				a[i] = max(mix*a[i]+(1-mix)*b[i], 0)
			}
			for used(a) > n {
				if i := e.r.IntN(len(a)); a[i] > 0 {
					a[i] = 0
				}
			}
		}
		for e.r.Float64() < 0.6 {
			e.mutate(a)
		}
		if x := e.Repair(e.r, a); x != nil && e.Feasible(x) {
			return x
		}
	}
	return nil
}

func used(amounts []float64) (n int) {
	for _, a := range amounts {
		if a > 0 {
			n++
		}
	}
	return n
}

// mutate moves amounts between two ingredients, swaps them, or brings one in.
func (e *evolution) mutate(a []float64) {
	i, j := e.r.IntN(len(a)), e.r.IntN(len(a))
	for tries := 0; a[i] == 0 && tries < 100; tries++ {
		i = e.r.IntN(len(a))
	}
	switch e.r.IntN(4) {
	case 0:
		a[i], a[j] = a[j], a[i]
	case 1:
		move := a[i] * e.r.Float64()
		a[i], a[j] = a[i]-move, a[j]+move
	case 2:
		a[i] *= math.Exp(0.3 * e.r.NormFloat64())
	case 3: // a unit
		if a[j] > 0 && a[i] > 1 {
			a[i], a[j] = a[i]-1, a[j]+1
		}
	}
}

// better orders members by rank and then by crowding.
func better(a, b member) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.crowding, a.crowding))
}

// rank sorts members into fronts, and works out how crowded each is on its own.
func rank(list []member) {
	left := make([]int, len(list))
	for k := range left {
		left[k] = k
	}
	for r := 0; len(left) > 0; r++ {
		points := make([][]float64, len(left))
		for k, at := range left {
			points[k] = list[at].losses
		}
		var on []int
		for _, k := range pareto.NonDominated(points) {
			on = append(on, left[k])
		}
		for _, at := range on {
			list[at].rank, list[at].crowding = r, 0
		}
		for d := range list[on[0]].losses {
			slices.SortFunc(on, func(a, b int) int { return cmp.Compare(list[a].losses[d], list[b].losses[d]) })
			first, last := list[on[0]].losses[d], list[on[len(on)-1]].losses[d]
			list[on[0]].crowding, list[on[len(on)-1]].crowding = math.Inf(1), math.Inf(1)
			for k := 1; k+1 < len(on) && last > first; k++ {
				list[on[k]].crowding += (list[on[k+1]].losses[d] - list[on[k-1]].losses[d]) / (last - first)
			}
		}
		left = slices.DeleteFunc(left, func(at int) bool { return slices.Contains(on, at) })
	}
}
