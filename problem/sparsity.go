package problem

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"kir"
	"kir/fault"
)

func itoa(n int) string { return strconv.Itoa(n) }

// laws are the keys that name a law of the number of ingredients.
var laws = []string{"table", "uniform", "normal", "exponential", "mixture"}

// sparsity reads the law of the number of ingredients and checks that it has
// mass on the space. It returns the node to blame for what is found later.
func (l *loader) sparsity(space *kir.Space) (kir.Sparsity, *node, error) {
	n := l.fields["sparsity"]
	if n == nil {
		if l.problem.Book == nil {
			return kir.Sparsity{}, nil, hint(l.root.errorf("the problem has no sparsity, the law for the number of ingredients"), "add one, such as sparsity: {uniform: [2, 5]}")
		}
		n = &node{file: l.root.file, line: l.root.line, column: l.root.column, kind: text, text: "recipes"}
	}
	law, err := l.law(n, true)
	if err != nil {
		return law, n, err
	}
	if l.laws > mostLawValues/space.MaxUsed() {
		return law, n, hint(n.errorf("%d laws of up to %d ingredients are too many to mix", l.laws, space.MaxUsed()), "write the mixture as a table")
	}
	if _, err := law.On(space); err != nil {
		e := n.errorf("%v", err)
		if errors.Is(err, kir.ErrNoMass) {
			e = hint(n.errorf("the sparsity law has no mass on any possible number of ingredients"), "with %s and a total of %d these are 1 to %d", fault.Count(space.N(), "ingredient"), space.Total(), space.MaxUsed())
		}
		return law, n, e
	}
	return law, n, nil
}

// mostLawValues bounds the work that a mixture asks for: the laws in it times
// the numbers of ingredients that each is worked out for.
const mostLawValues = 1 << 28

// law reads one law. The whole sparsity, unlike a component of a mixture, may
// be that of the recipes and may have a power.
func (l *loader) law(n *node, whole bool) (kir.Sparsity, error) {
	l.laws++
	if n.kind == text && whole {
		if n.text != "recipes" {
			return kir.Sparsity{}, hint(n.errorf("there is no sparsity law %s", n.shown()), "write recipes, or a mapping with one of %s", strings.Join(laws, ", "))
		}
		return l.recipesLaw(n)
	}
	known := append([]string{}, laws...)
	if whole {
		known = append(known, "recipes", "power")
	} else {
		known = append(known, "recipes", "weight")
	}
	f, err := n.fields("a sparsity law", known...)
	if err != nil {
		return kir.Sparsity{}, err
	}
	power := 1.0
	if v := f["power"]; v != nil {
		if power, err = v.weight("the power"); err != nil {
			return kir.Sparsity{}, err
		}
		delete(f, "power")
	}
	delete(f, "weight")
	if len(f) != 1 {
		return kir.Sparsity{}, hint(n.errorf("a sparsity law names %s", fault.Count(len(f), "law")), "name one of %s", strings.Join(laws, ", "))
	}
	var law kir.Sparsity
	for name, v := range f {
		switch name {
		case "recipes":
			law, err = l.recipesLaw(v)
		case "table":
			law, err = table(v)
		case "uniform":
			law, err = uniform(v)
		case "normal":
			law, err = normal(v)
		case "exponential":
			law, err = exponential(v)
		case "mixture":
			law, err = l.mixture(v)
		}
	}
	if err == nil && power != 1 {
		law = kir.Power(law, power)
	}
	return law, err
}

func (l *loader) recipesLaw(n *node) (kir.Sparsity, error) {
	if l.problem.Book == nil {
		return kir.Sparsity{}, hint(n.errorf("the sparsity law is that of the recipes, and the problem has none"), "add recipes: a CSV file, or write a law such as {uniform: [2, 5]}")
	}
	weights := make(map[int]float64)
	for size, count := range l.problem.Book.UsedCounts() {
		if count > 0 {
			weights[size] = float64(count)
		}
	}
	return kir.Table(weights), nil
}

func table(n *node) (kir.Sparsity, error) {
	if n.kind != mapping {
		return kir.Sparsity{}, hint(n.errorf("a table is %s", n.shown()), "write the weight of each number of ingredients, such as {2: 13, 3: 29}")
	}
	weights := make(map[int]float64, len(n.entries))
	for _, e := range n.entries {
		size, err := strconv.Atoi(e.key.text)
		if err != nil || size < 1 || size > math.MaxInt32 {
			return kir.Sparsity{}, hint(e.key.errorf("%s is not a number of ingredients", fault.Quote(e.key.text)), "write a whole number from 1 up")
		}
		if _, ok := weights[size]; ok {
			return kir.Sparsity{}, e.key.errorf("the weight of %d stands here twice", size)
		}
		w, err := e.value.weight(fmt.Sprintf("the weight of %d", size))
		if err != nil {
			return kir.Sparsity{}, err
		}
		weights[size] = w
	}
	return kir.Table(weights), nil
}

func uniform(n *node) (kir.Sparsity, error) {
	items, err := n.list("uniform")
	if err != nil {
		return kir.Sparsity{}, err
	}
	if len(items) != 2 {
		return kir.Sparsity{}, hint(n.errorf("uniform has %s", fault.Count(len(items), "number")), "write the first and the last, such as [17, 24]")
	}
	lo, err := items[0].whole("the first number of ingredients", 1, math.MaxInt32)
	if err != nil {
		return kir.Sparsity{}, err
	}
	hi, err := items[1].whole("the last number of ingredients", 1, math.MaxInt32)
	if err != nil {
		return kir.Sparsity{}, err
	}
	if lo > hi {
		return kir.Sparsity{}, hint(n.errorf("uniform from %d to %d is empty", lo, hi), "write the smaller number first")
	}
	return kir.Uniform(lo, hi), nil
}

func normal(n *node) (kir.Sparsity, error) {
	f, err := n.fields("normal", "mean", "sd")
	if err != nil {
		return kir.Sparsity{}, err
	}
	for _, key := range []string{"mean", "sd"} {
		if f[key] == nil {
			return kir.Sparsity{}, hint(n.errorf("normal has no %s", key), "write {mean: 20, sd: 1.5}")
		}
	}
	mean, err := f["mean"].float("the mean")
	if err != nil {
		return kir.Sparsity{}, err
	}
	sd, err := f["sd"].float("the sd")
	if err != nil {
		return kir.Sparsity{}, err
	}
	if sd <= 0 {
		return kir.Sparsity{}, hint(f["sd"].errorf("the sd is %v", sd), "it must be above 0")
	}
	return kir.Normal(mean, sd), nil
}

func exponential(n *node) (kir.Sparsity, error) {
	f, err := n.fields("exponential", "rate")
	if err != nil {
		return kir.Sparsity{}, err
	}
	if f["rate"] == nil {
		return kir.Sparsity{}, hint(n.errorf("exponential has no rate"), "write {rate: 0.5}")
	}
	rate, err := f["rate"].float("the rate")
	if err != nil {
		return kir.Sparsity{}, err
	}
	return kir.Exponential(rate), nil
}

func (l *loader) mixture(n *node) (kir.Sparsity, error) {
	items, err := n.list("a mixture")
	if err != nil {
		return kir.Sparsity{}, err
	}
	if len(items) == 0 {
		return kir.Sparsity{}, hint(n.errorf("the mixture is empty"), "write its laws, such as [{weight: 1, uniform: [2, 5]}]")
	}
	components := make([]kir.Component, len(items))
	for k, item := range items {
		components[k].Weight = 1
		if item.kind == mapping {
			for _, e := range item.entries {
				if e.key.text != "weight" {
					continue
				}
				if components[k].Weight, err = e.value.weight("the weight"); err != nil {
					return kir.Sparsity{}, err
				}
			}
		}
		if components[k].Law, err = l.law(item, false); err != nil {
			return kir.Sparsity{}, err
		}
	}
	return kir.Mixture(components...), nil
}
