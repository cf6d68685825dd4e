package main

import (
	"cmp"
	"math"
	"slices"
)

// A truth is what enumeration says of a problem.
type truth struct {
	sizes     []float64 // the law of n, as drawn: with the wishes
	inclusion []float64 // by ingredient
	values    map[string]*distribution
}

// A distribution is the law of a statistic.
type distribution struct {
	values []float64 // ascending
	below  []float64 // the probability of at most each
	mean   float64
}

// quantile returns the smallest and the largest number that is a quantile at p.
func (d *distribution) quantile(p float64) (low, high float64) {
	at, found := slices.BinarySearchFunc(d.below, p, func(share, p float64) int {
		if math.Abs(share-p) < 1e-12 {
			return 0
		}
		return cmp.Compare(share, p)
	})
	if found && at+1 < len(d.values) {
		return d.values[at], d.values[at+1]
	}
	return d.values[at], d.values[at]
}

// enumerate works out the truth.
func (s *subject) enumerate() (*truth, error) {
	e, err := s.law.Enumerate()
	if err != nil {
		return nil, err
	}
	t := &truth{sizes: e.Used(), inclusion: make([]float64, s.law.Ingredients), values: make(map[string]*distribution)}
	counts := make([]float64, s.law.Ingredients+1)
	for _, x := range e.States {
		counts[used(x)]++
	}
	mass := 0.0
	for n, count := range counts {
		if count > 0 {
			mass += s.law.Size(n)
		}
	}
	samples := make(map[string][]atom)
	for k, x := range e.States {
		p := e.Pi[k]
		if p == 0 {
			continue
		}
		for i, amount := range x {
			if amount > 0 {
				t.inclusion[i] += p
			}
		}
		add := func(name string, v float64) { samples[name] = append(samples[name], atom{v, p}) }
		n := used(x)
		density, score := math.Log(s.law.Size(n)/mass/counts[n]), 1.0
		for w, wish := range s.law.Objectives {
			y := wish.Score(x)
			add(s.names[w], y)
			score *= math.Pow(y, wish.Weight)
		}
		add("used", float64(n))
		add("log_density", density+math.Log(score))
		if len(s.law.Objectives) > 0 {
			add("score", score)
		}
	}
	for name, atoms := range samples {
		t.values[name] = distributionOf(atoms)
	}
	return t, nil
}

// An atom is a value and its probability.
type atom struct{ value, p float64 }

// distributionOf joins values that are the same but for rounding.
func distributionOf(atoms []atom) *distribution {
	slices.SortFunc(atoms, func(a, b atom) int { return cmp.Compare(a.value, b.value) })
	d := &distribution{}
	sum := 0.0
	for _, a := range atoms {
		sum += a.p
		d.mean += a.p * a.value
		last := len(d.values) - 1
		if last >= 0 && a.value-d.values[last] <= 1e-9*math.Max(1, math.Abs(a.value)) {
			d.below[last] = sum
			continue
		}
		d.values, d.below = append(d.values, a.value), append(d.below, sum)
	}
	d.below[len(d.below)-1] = 1
	return d
}

// used counts the ingredients of a composition.
func used(x []int) int {
	n := 0
	for _, amount := range x {
		if amount > 0 {
			n++
		}
	}
	return n
}
