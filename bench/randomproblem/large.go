package randomproblem

import (
	"context"
	"fmt"

	"kir/internal/compile"
	"kir/internal/testonly/stattest"
	"kir/mcmc"
)

// A Large is a problem whose compositions are too many to look at each, so that
// kir measures |X_n| where rules cannot be counted. It has no wishes.
type Large struct {
	*Problem
	machines []machine // of the rules
}

// NewLarge draws a problem of some ten ingredients with a limit and, in part,
// amounts, needs and groups that cross. Some composition keeps its rules.
func NewLarge(seed uint64) *Large {
	for try := uint64(0); ; try++ {
		d := newDice(seed, 1<<42+try)
		p := drawLarge(d, d.between(10, 13), d.between(20, 26))
		p.Seed = seed
		if e := p.sizes(p.machines); e.possible() {
			return p
		}
	}
}

func drawLarge(d dice, n, total int) *Large {
	p := &Large{Problem: &Problem{}}
	p.Total = total
	per := make([]int, n) // cost of a unit
	cost := Column{Name: "cost"}
	for i := range n {
		p.Names = append(p.Names, fmt.Sprintf("%c %s", 'a'+i, one(d, "bitters", "gin", "syrup")))
		per[i] = d.between(0, 6)
		cost.Hundredths = append(cost.Hundredths, 100*per[i])
	}
	per[0], cost.Hundredths[0] = 6, 600
	p.Columns = []Column{cost}
	lo, hi := d.between(1, 3), d.between(n-3, n)
	p.Law = Law{map[string]any{"uniform": []int{lo, hi}}, func(most int) []float64 {
		q := make([]float64, most)
		for k := range q {
			q[k] = oneIf(lo <= k+1 && k+1 <= hi)
		}
		return normalise(q)
	}}
	p.limit(d, per)
	switch d.IntN(3) {
	case 0:
		first := d.between(1, n-1)
		p.need(first, d.some(d.between(1, 2), first))
	case 1: // groups that share an ingredient, and each has one of its own
		of := d.some(6, n)
		for _, of := range [][]int{of[:4], of[2:]} {
			least := d.between(0, 2)
			p.group(of, least, d.between(least, 3))
		}
	}
	if d.chance(0.5) {
		p.amount(d.some(d.between(1, n), n), d.between(1, 2), total/d.between(1, 3))
	}
	return p
}

func (p *Large) add(m machine, yaml map[string]any, keeps func(x []int) bool) {
	p.Rules = append(p.Rules, Rule{yaml: yaml, keeps: keeps})
	p.machines = append(p.machines, m)
}

// limit bounds the sum of the costs. The narrower it is, and the farther from the
// middle, the fewer keep it.
func (p *Large) limit(d dice, per []int) {
	low := d.between(0, 6*p.Total-2)
	high := min(low+one(d, 0, 1, 2, 10), 6*p.Total)
	// Halves keep apart from what a mean can be.
	f := map[string]any{"attribute": "cost", "min": (float64(low) - 0.5) / float64(p.Total), "max": (float64(high) + 0.5) / float64(p.Total)}
	p.add(limitMachine(per, p.Total, low, high), map[string]any{"limit": f}, func(x []int) bool {
		sum := 0
		for i, a := range x {
			sum += per[i] * a
		}
		return low <= sum && sum <= high
	})
}

func (p *Large) need(first int, then []int) {
	f := map[string]any{"if": p.Names[first], "then": p.list(then).yaml}
	p.add(needsMachine(first, then), map[string]any{"needs": f}, func(x []int) bool {
		_, c := sum(x, then)
		return x[first] == 0 || c > 0
	})
}

func (p *Large) group(of []int, least, most int) {
	f := map[string]any{"of": p.list(of).yaml, "used": []int{least, most}}
	p.add(usedMachine(of, least, most), map[string]any{"group": f}, func(x []int) bool {
		_, c := sum(x, of)
		return least <= c && c <= most
	})
}

func (p *Large) amount(of []int, least, most int) {
	member := make([]bool, len(p.Names))
	for _, i := range of {
		member[i] = true
	}
	allowed := func(i, amount int) bool {
		return !member[i] || amount == 0 || least <= amount && amount <= most
	}
	f := map[string]any{"of": p.list(of).yaml, "min": least, "max": most}
	p.add(amountMachine(allowed), map[string]any{"amount": f}, func(x []int) bool {
		for i, a := range x {
			if !allowed(i, a) {
				return false
			}
		}
		return true
	})
}

// sizes returns |X_n| under some rules and the law of n, without listing anything.
func (p *Large) sizes(machines []machine) *Enumeration {
	e := &Enumeration{Sizes: count(len(p.Names), p.Total, machines)}
	e.Law = make([]float64, len(e.Sizes))
	for k, v := range p.Law.on(len(e.Sizes) - 1) {
		if e.Sizes[k+1] > 0 {
			e.Law[k+1] = v
		}
	}
	e.Law = normalise(e.Law)
	return e
}

// possible says whether anything keeps the rules at a size that the law allows.
func (e *Enumeration) possible() bool {
	for _, v := range e.Law {
		if v > 0 {
			return true
		}
	}
	return false
}

// CheckLarge reads a large problem and holds what kir says of its sizes against the
// count, and draws of each kernel against the law of n and the use of the first
// ingredient: chains sample p_n times the true |X_n| over the measured one.
func CheckLarge(ctx context.Context, p *Large, o Options) (*Outcome, error) {
	c := &checker{Problem: p.Problem, Options: o, out: &Outcome{}}
	path, err := p.Write(o.Dir, o.Scorer)
	if err != nil {
		return nil, err
	}
	if c.read, err = compile.Load(compile.AllowPrograms(ctx), path, compile.Options{Workers: 1}); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.fault("refused: %v", err)
		return c.out, nil
	}
	defer c.read.Close()
	e := p.sizes(p.machines)
	if o.alter != nil {
		o.alter(e)
	}
	sizes, err := c.counts(e)
	if err != nil {
		c.fault("kir check: %v", err)
	}
	if len(c.out.Faults) > 0 {
		return c.out, nil
	}
	without := p.sizes(append(p.machines[:len(p.machines):len(p.machines)], amountMachine(func(i, amount int) bool { return i > 0 || amount == 0 })))
	law, use := make([]float64, len(e.Law)), []float64{0, 0}
	for n := range law {
		if law[n] = e.Law[n]; sizes != nil && law[n] > 0 {
			law[n] *= float64(e.Sizes[n]) / sizes[n]
		}
	}
	for n, v := range normalise(law) {
		if v > 0 {
			free := float64(without.Sizes[n]) / float64(e.Sizes[n])
			use[0] += v * free
			use[1] += v * (1 - free)
		}
	}
	for _, name := range []string{"naive", "gibbs", "accelerated", "balanced"} {
		if err := c.large(name, law, use); err != nil {
			return nil, err
		}
	}
	return c.out, nil
}

// large compares the last states of chains of a kernel with the law of n and of
// the use of the first ingredient.
func (c *checker) large(name string, law, use []float64) error {
	k, err := mcmc.NewKernel(name, c.read.Target)
	if err != nil {
		return err
	}
	sizes, used := make([]int, len(law)), make([]int, 2)
	for index := range c.Starts {
		chain, err := mcmc.NewChain(c.read.Target, k, c.Seed, index)
		if err != nil {
			return err
		}
		if err := chain.Advance(c.Iterations); err != nil {
			return err
		}
		x := chain.State.Composition
		amounts := make([]int, x.N())
		for i, a := range x.Amounts() {
			amounts[i] = int(a)
		}
		if !c.keeps(amounts) {
			c.fault("%s: the draw %v breaks a rule", name, x)
			return nil
		}
		sizes[x.UsedCount()]++
		used[min(amounts[0], 1)]++
	}
	row := Row{Kernel: name, Way: fromLaw, P: 1}
	for _, what := range []struct {
		at     string
		counts []int
		law    []float64
	}{{"n", sizes, law}, {"use of " + c.Names[0], used, use}} {
		if p, at := stattest.TestLaw(what.counts, what.law); 2*p < row.P {
			row.P, row.At = 2*p, what.at+" "+at
		}
	}
	c.out.Rows = append(c.out.Rows, row)
	return nil
}
