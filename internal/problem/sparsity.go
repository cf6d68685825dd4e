package problem

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
)

// A lawReader reads laws of the number of ingredients.
type lawReader struct {
	book *dataset.Book // the known recipes, or nil
	laws int           // number of laws read, including components of mixtures
}

// readSparsity reads the law of the number of ingredients and checks that it has mass on the space. It
// returns the node for later errors about the law.
func readSparsity(book *dataset.Book, space *mcmc.Space, root *yaml.Node) (mcmc.Sparsity, *yaml.Node, error) {
	n := root.Get("sparsity")
	if n == nil {
		if book == nil {
			return mcmc.Sparsity{}, nil, yaml.Hint(root.Errorf("the problem has no sparsity, the law for the number of ingredients"), "add one, such as sparsity: {uniform: [2, 5]}")
		}
		n = root.Scalar("recipes")
	}
	r := &lawReader{book: book}
	law, err := r.readLaw(n, true)
	if err != nil {
		return law, n, err
	}
	if r.laws > maxLawValues/space.MaxUsed() {
		return law, n, yaml.Hint(n.Errorf("%d laws of up to %d ingredients are too many to mix", r.laws, space.MaxUsed()), "write the mixture as a table")
	}
	if _, err := law.On(space); err != nil {
		e := n.Errorf("%v", err)
		if errors.Is(err, mcmc.ErrNoMass) {
			e = yaml.Hint(n.Errorf("the sparsity law has no mass on any possible number of ingredients"), "with %s and a total of %d these are 1 to %d", inputerr.Count(space.N(), "ingredient"), space.Total(), space.MaxUsed())
		}
		return law, n, e
	}
	return law, n, nil
}

// maxLawValues bounds the work for a mixture: the number of its laws times the numbers of ingredients for
// which each is computed.
const maxLawValues = 1 << 28

// rangePattern matches a range of numbers as people write it.
var rangePattern = regexp.MustCompile(`^\s*(\d{1,6})\s*(?:-|–|\.\.+|to|bis)\s*(\d{1,6})\s*$`)

// readLaw reads one law. whole is false for a component of a mixture, which cannot be the law of the
// recipes and has no power.
func (r *lawReader) readLaw(n *yaml.Node, whole bool) (mcmc.Sparsity, error) {
	r.laws++
	if n.Kind == yaml.Text && whole {
		if m := rangePattern.FindStringSubmatch(n.Text); m != nil {
			return mcmc.Sparsity{}, yaml.Hint(n.Errorf("a sparsity law is %s", n.Describe()), "write {uniform: [%s, %s]}", m[1], m[2])
		}
		if n.Text != "recipes" {
			return mcmc.Sparsity{}, yaml.Hint(n.Errorf("there is no sparsity law %s", n.Describe()), "write recipes, or a mapping with one of %s", strings.Join(schema.Law.ExactlyOneOf, ", "))
		}
		return r.readRecipesLaw(n)
	}
	if n.Kind == yaml.Number && whole {
		if size, err := n.Whole("the number of ingredients", 1, math.MaxInt32); err == nil {
			return mcmc.Sparsity{}, yaml.Hint(n.Errorf("a sparsity law is %s", n.Describe()), "for %s in every recipe write {uniform: [%d, %d]}", inputerr.Count(size, "ingredient"), size, size)
		}
	}
	if items := n.Items; n.Kind == yaml.Sequence && whole && len(items) == 2 {
		least, err := items[0].Whole("the least number", 1, math.MaxInt32)
		most, err2 := items[1].Whole("the greatest number", 1, math.MaxInt32)
		if errors.Join(err, err2) == nil {
			return mcmc.Sparsity{}, yaml.Hint(n.Errorf("a sparsity law is a list"), "for %d to %d ingredients write {uniform: [%d, %d]}", least, most, least, most)
		}
	}
	section := schema.MixedLaw
	if whole {
		section = schema.Law
	}
	if v := n.Get("uniform"); v != nil && v.Kind == yaml.Number {
		for _, e := range n.Entries {
			if last, err := strconv.Atoi(e.Key.Text); err == nil && e.Value.Kind == yaml.Null {
				return mcmc.Sparsity{}, yaml.Hint(v.Errorf("the numbers of uniform stand in brackets"), "write {uniform: [%s, %d]}", v.Text, last)
			}
		}
	}
	f, err := section.Fields(n)
	if err != nil {
		return mcmc.Sparsity{}, err
	}
	power := 1.0
	if v := f["power"]; v != nil {
		if power, err = v.Weight("the power"); err != nil {
			return mcmc.Sparsity{}, err
		}
		delete(f, "power")
	}
	delete(f, "weight")
	if len(f) != 1 {
		return mcmc.Sparsity{}, yaml.Hint(n.Errorf("a sparsity law names %s", inputerr.Count(len(f), "law")), "name one of %s", strings.Join(schema.Law.ExactlyOneOf, ", "))
	}
	var law mcmc.Sparsity
	for name, v := range f {
		switch name {
		case "recipes":
			if v.Kind != yaml.Boolean || v.Plain() != true {
				return law, yaml.Hint(v.Errorf("recipes is %s", v.Describe()), "write recipes: true, for the law of the recipes that the problem names")
			}
			law, err = r.readRecipesLaw(v)
		case "table":
			law, err = readTableLaw(v)
		case "uniform":
			law, err = readUniformLaw(v)
		case "normal":
			law, err = readNormalLaw(v)
		case "exponential":
			law, err = readExponentialLaw(v)
		case "mixture":
			law, err = r.readMixture(v)
		}
	}
	if err == nil && power != 1 {
		law = mcmc.Power(law, power)
	}
	return law, err
}

func (r *lawReader) readRecipesLaw(n *yaml.Node) (mcmc.Sparsity, error) {
	if r.book == nil {
		return mcmc.Sparsity{}, yaml.Hint(n.Errorf("the sparsity law is that of the recipes, and the problem has none"), "add recipes: a CSV file, or write a law such as {uniform: [2, 5]}")
	}
	weights := make(map[int]float64)
	for size, count := range r.book.UsedCounts() {
		if count > 0 {
			weights[size] = float64(count)
		}
	}
	return mcmc.Table(weights), nil
}

func readTableLaw(n *yaml.Node) (mcmc.Sparsity, error) {
	if n.Kind != yaml.Mapping {
		return mcmc.Sparsity{}, yaml.Hint(n.Errorf("a table is %s", n.Describe()), "write the weight of each number of ingredients, such as {2: 13, 3: 29}")
	}
	weights := make(map[int]float64, len(n.Entries))
	for _, e := range n.Entries {
		size, err := strconv.Atoi(e.Key.Text)
		if err != nil || size < 1 || size > math.MaxInt32 {
			return mcmc.Sparsity{}, yaml.Hint(e.Key.Errorf("%s is not a number of ingredients", inputerr.Quote(e.Key.Text)), "write a whole number from 1 up")
		}
		if _, ok := weights[size]; ok {
			return mcmc.Sparsity{}, e.Key.Errorf("the weight of %d stands here twice", size)
		}
		w, err := e.Value.Weight(fmt.Sprintf("the weight of %d", size))
		if err != nil {
			return mcmc.Sparsity{}, err
		}
		weights[size] = w
	}
	return mcmc.Table(weights), nil
}

func readUniformLaw(n *yaml.Node) (mcmc.Sparsity, error) {
	if size, err := n.Whole("uniform", 1, math.MaxInt32); err == nil {
		return mcmc.Sparsity{}, yaml.Hint(n.Errorf("uniform is %s", n.Describe()), "write the first and the last number: uniform: [%d, %d]", size, size)
	}
	items, err := n.List("uniform")
	if err != nil {
		return mcmc.Sparsity{}, err
	}
	if len(items) != 2 {
		return mcmc.Sparsity{}, yaml.Hint(n.Errorf("uniform has %s", inputerr.Count(len(items), "number")), "write the first and the last, such as [17, 24]")
	}
	lo, err := items[0].Whole("the first number of ingredients", 1, math.MaxInt32)
	if err != nil {
		return mcmc.Sparsity{}, err
	}
	hi, err := items[1].Whole("the last number of ingredients", 1, math.MaxInt32)
	if err != nil {
		return mcmc.Sparsity{}, err
	}
	if lo > hi {
		return mcmc.Sparsity{}, yaml.Hint(n.Errorf("uniform from %d to %d is empty", lo, hi), "write the smaller number first")
	}
	return mcmc.Uniform(lo, hi), nil
}

func readNormalLaw(n *yaml.Node) (mcmc.Sparsity, error) {
	f, err := schema.NormalLaw.Fields(n)
	if err != nil {
		return mcmc.Sparsity{}, err
	}
	if err := n.Require("normal", "write {mean: 20, sd: 1.5}", "mean", "sd"); err != nil {
		return mcmc.Sparsity{}, err
	}
	mean, err := f["mean"].Float("the mean")
	if err != nil {
		return mcmc.Sparsity{}, err
	}
	sd, err := f["sd"].Float("the sd")
	if err != nil {
		return mcmc.Sparsity{}, err
	}
	if sd <= 0 {
		return mcmc.Sparsity{}, yaml.Hint(f["sd"].Errorf("the sd is %v", sd), "it must be above 0")
	}
	return mcmc.Normal(mean, sd), nil
}

func readExponentialLaw(n *yaml.Node) (mcmc.Sparsity, error) {
	f, err := schema.ExponentialLaw.Fields(n)
	if err != nil {
		return mcmc.Sparsity{}, err
	}
	if err := n.Require("exponential", "write {rate: 0.5}", "rate"); err != nil {
		return mcmc.Sparsity{}, err
	}
	rate, err := f["rate"].Float("the rate")
	if err != nil {
		return mcmc.Sparsity{}, err
	}
	return mcmc.Exponential(rate), nil
}

func (r *lawReader) readMixture(n *yaml.Node) (mcmc.Sparsity, error) {
	items, err := n.List("a mixture")
	if err != nil {
		return mcmc.Sparsity{}, err
	}
	if len(items) == 0 {
		return mcmc.Sparsity{}, yaml.Hint(n.Errorf("the mixture is empty"), "write its laws, such as [{weight: 1, uniform: [2, 5]}]")
	}
	components := make([]mcmc.Component, len(items))
	for k, item := range items {
		components[k].Weight = 1
		if w := item.Get("weight"); w != nil {
			if components[k].Weight, err = w.Weight("the weight"); err != nil {
				return mcmc.Sparsity{}, err
			}
		}
		if components[k].Law, err = r.readLaw(item, false); err != nil {
			return mcmc.Sparsity{}, err
		}
	}
	return mcmc.Mixture(components...), nil
}
