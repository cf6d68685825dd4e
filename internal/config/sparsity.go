package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// A Law is a sparsity law, that is, a distribution of the number of ingredients. It has one of these forms:
//
//	sparsity: recipes
//	sparsity: {table: {2: 13, 3: 29}}
//	sparsity: {uniform: [3, 5], power: 2}
//	sparsity: {normal: {mean: 4, sd: 1.5}}
//	sparsity: {exponential: {rate: 0.5}}
//	sparsity: {mixture: [{weight: 1, uniform: [2, 3]}, {weight: 2, normal: {mean: 4, sd: 1}}]}
type Law struct {
	Kind LawKind
	Node *yaml.Node // YAML node at which errors of the law are placed

	Table       map[int]float64 // for a TableLaw: maps a number of ingredients to its weight
	First, Last int             // for a UniformLaw: least and greatest number of ingredients
	Mean, SD    float64         // for a NormalLaw: mean and standard deviation of the number of ingredients
	Rate        float64         // for an ExponentialLaw: decrease of the logarithm of the probability for each further ingredient
	Mixture     []Law           // for a MixtureLaw: the laws in the mixture

	Power  float64 // exponent to which every probability of the law is raised
	Weight float64 // weight of the law in a mixture
}

// A LawKind is a kind of sparsity law. Its value is the key of the kind in the file.
type LawKind string

// Kinds of sparsity laws.
const (
	RecipesLaw     LawKind = "recipes" // probabilities proportional to the number of known recipes with that number of ingredients
	TableLaw       LawKind = "table"
	UniformLaw     LawKind = "uniform"
	NormalLaw      LawKind = "normal"
	ExponentialLaw LawKind = "exponential"
	MixtureLaw     LawKind = "mixture"
)

// rangePattern matches a range of numbers as people write it, such as 3-5 or 3 to 5.
var rangePattern = regexp.MustCompile(`^\s*(\d{1,6})\s*(?:-|–|\.\.+|to|bis)\s*(\d{1,6})\s*$`)

// decodeLaw decodes a sparsity law. The parameter whole is false for a law within a mixture. Such a law has a
// weight but no power.
func decodeLaw(n *yaml.Node, whole bool) (*Law, error) {
	law := &Law{Node: n, Power: 1, Weight: 1}
	if n.Kind == yaml.Text && whole {
		if m := rangePattern.FindStringSubmatch(n.Text); m != nil {
			return nil, yaml.Hint(n.Errorf("a sparsity law is %s", n.Describe()), "write {uniform: [%s, %s]}", m[1], m[2])
		}
		if n.Text != "recipes" {
			return nil, yaml.Hint(n.Errorf("there is no sparsity law %s", n.Describe()), "write recipes, or a mapping with one of %s", strings.Join(schema.Law.ExactlyOneOf, ", "))
		}
		law.Kind = RecipesLaw
		return law, nil
	}
	if err := refuseNumbersAsLaw(n, whole); err != nil {
		return nil, err
	}
	section := schema.MixedLaw
	if whole {
		section = schema.Law
	}
	f, err := section.Fields(n)
	if err != nil {
		return nil, err
	}
	if v := f["power"]; v != nil {
		if law.Power, err = v.Weight("the power"); err != nil {
			return nil, err
		}
		delete(f, "power")
	}
	if v := f["weight"]; v != nil {
		if law.Weight, err = v.Weight("the weight"); err != nil {
			return nil, err
		}
		delete(f, "weight")
	}
	if len(f) != 1 {
		return nil, yaml.Hint(n.Errorf("a sparsity law names %s", inputerr.Count(len(f), "law")), "name one of %s", strings.Join(schema.Law.ExactlyOneOf, ", "))
	}
	for name, v := range f {
		law.Kind, law.Node = LawKind(name), v
		err = law.decode(v)
	}
	return law, err
}

// refuseNumbersAsLaw returns an error if the node n has numbers where a sparsity law is expected. The error shows
// the right form. The parameter whole is false for a law within a mixture.
func refuseNumbersAsLaw(n *yaml.Node, whole bool) error {
	if n.Kind == yaml.Number && whole {
		if size, err := n.Whole("the number of ingredients", 1, math.MaxInt32); err == nil {
			return yaml.Hint(n.Errorf("a sparsity law is %s", n.Describe()), "for %s in every recipe write {uniform: [%d, %d]}", inputerr.Count(size, "ingredient"), size, size)
		}
	}
	if items := n.Items; n.Kind == yaml.Sequence && whole && len(items) == 2 {
		least, err := items[0].Whole("the least number", 1, math.MaxInt32)
		most, err2 := items[1].Whole("the greatest number", 1, math.MaxInt32)
		if errors.Join(err, err2) == nil {
			return yaml.Hint(n.Errorf("a sparsity law is a list"), "for %d to %d ingredients write {uniform: [%d, %d]}", least, most, least, most)
		}
	}
	if v := n.Get("uniform"); v != nil && v.Kind == yaml.Number {
		for _, e := range n.Entries {
			if last, err := strconv.Atoi(e.Key.Text); err == nil && e.Value.Kind == yaml.Null {
				return yaml.Hint(v.Errorf("the numbers of uniform stand in brackets"), "write {uniform: [%s, %d]}", v.Text, last)
			}
		}
	}
	return nil
}

// decode decodes the value under the key of the kind.
func (l *Law) decode(n *yaml.Node) error {
	switch l.Kind {
	case RecipesLaw:
		if n.Kind != yaml.Boolean || n.Plain() != true {
			return yaml.Hint(n.Errorf("recipes is %s", n.Describe()), "write recipes: true, for the law of the recipes that the problem names")
		}
		return nil
	case TableLaw:
		return l.decodeTable(n)
	case UniformLaw:
		return l.decodeUniform(n)
	case NormalLaw:
		return l.decodeNormal(n)
	case ExponentialLaw:
		return l.decodeExponential(n)
	}
	return l.decodeMixture(n)
}

func (l *Law) decodeTable(n *yaml.Node) error {
	if n.Kind != yaml.Mapping {
		return yaml.Hint(n.Errorf("a table is %s", n.Describe()), "write the weight of each number of ingredients, such as {2: 13, 3: 29}")
	}
	l.Table = make(map[int]float64, len(n.Entries))
	for _, e := range n.Entries {
		size, err := strconv.Atoi(e.Key.Text)
		if err != nil || size < 1 || size > math.MaxInt32 {
			return yaml.Hint(e.Key.Errorf("%s is not a number of ingredients", inputerr.Quote(e.Key.Text)), "write a whole number from 1 up")
		}
		if _, ok := l.Table[size]; ok {
			return e.Key.Errorf("the weight of %d stands here twice", size)
		}
		if l.Table[size], err = e.Value.Weight(fmt.Sprintf("the weight of %d", size)); err != nil {
			return err
		}
	}
	return nil
}

func (l *Law) decodeUniform(n *yaml.Node) error {
	if size, err := n.Whole("uniform", 1, math.MaxInt32); err == nil {
		return yaml.Hint(n.Errorf("uniform is %s", n.Describe()), "write the first and the last number: uniform: [%d, %d]", size, size)
	}
	items, err := n.List("uniform")
	if err != nil {
		return err
	}
	if len(items) != 2 {
		return yaml.Hint(n.Errorf("uniform has %s", inputerr.Count(len(items), "number")), "write the first and the last, such as [17, 24]")
	}
	if l.First, err = items[0].Whole("the first number of ingredients", 1, math.MaxInt32); err != nil {
		return err
	}
	if l.Last, err = items[1].Whole("the last number of ingredients", 1, math.MaxInt32); err != nil {
		return err
	}
	if l.First > l.Last {
		return yaml.Hint(n.Errorf("uniform from %d to %d is empty", l.First, l.Last), "write the smaller number first")
	}
	return nil
}

func (l *Law) decodeNormal(n *yaml.Node) error {
	f, err := schema.NormalLaw.Fields(n)
	if err != nil {
		return err
	}
	if err := n.Require("normal", "write {mean: 20, sd: 1.5}", "mean", "sd"); err != nil {
		return err
	}
	if l.Mean, err = f["mean"].Float("the mean"); err != nil {
		return err
	}
	if l.SD, err = f["sd"].Float("the sd"); err != nil {
		return err
	}
	if l.SD <= 0 {
		return yaml.Hint(f["sd"].Errorf("the sd is %v", l.SD), "it must be above 0")
	}
	return nil
}

func (l *Law) decodeExponential(n *yaml.Node) error {
	f, err := schema.ExponentialLaw.Fields(n)
	if err != nil {
		return err
	}
	if err := n.Require("exponential", "write {rate: 0.5}", "rate"); err != nil {
		return err
	}
	l.Rate, err = f["rate"].Float("the rate")
	return err
}

func (l *Law) decodeMixture(n *yaml.Node) error {
	items, err := n.List("a mixture")
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return yaml.Hint(n.Errorf("the mixture is empty"), "write its laws, such as [{weight: 1, uniform: [2, 5]}]")
	}
	for _, item := range items {
		one, err := decodeLaw(item, false)
		if err != nil {
			return err
		}
		l.Mixture = append(l.Mixture, *one)
	}
	return nil
}
