package config

import (
	"math"
	"slices"
	"strconv"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/number"
)

// Limits of the number of conditions of a problem, and of the number of values of one condition.
const (
	maxConditions      = 32
	maxConditionValues = 1000
)

// A Condition is a quantity that a trial sets in addition to the recipe, such as a temperature:
//
//	temperature: {from: 150, to: 190, step: 5, unit: °C}
//	catalyst: {values: [A, B, C], weights: [2, 1, 1]}
//	humidity: {from: 20, to: 80, step: 1, given: 45}
//
// The values of a condition are numbers or categories. kir chooses a value together with each recipe. The key
// "given" fixes the value instead: kir then suggests recipes for that value alone.
type Condition struct {
	Name           string
	KeyNode        *yaml.Node // key of the condition in the file, as a YAML node
	Unit           string     // unit of the numbers
	Numbers        []float64  // values in ascending order; nil if the values are categories
	Categories     []string   // values in the order of the file; nil if the values are numbers
	Weights        []float64  // item v is the relative probability of the value with index v before objectives count; nil if all are equal
	IsConstantList bool       // whether the values come from a [ConstantList]; recipes then need no column with the values

	Given         bool    // whether the file fixes the value by the key "given"
	GivenNumber   float64 // the fixed value, if it is a number
	GivenCategory string  // the fixed value, if it is a category
}

// A conditionFields has the values under the keys of one condition in the file.
type conditionFields struct {
	from, to, step Written[float64]
	values         *yaml.Node
	weights        *yaml.Node
	unit           Written[string]
	given          *yaml.Node
}

// describeKeys returns the description of the keys of a condition. The Read functions of the keys set the fields.
func (c *conditionFields) describeKeys() *schema.Section {
	s := *schema.Condition
	s.Keys = slices.Clone(s.Keys)
	for k := range s.Keys {
		s.Keys[k].Read = map[string]valueReader{
			"from": numberReader(&c.from, "from"), "to": numberReader(&c.to, "to"), "step": numberReader(&c.step, "the step"),
			"values": nodeReader(&c.values), "weights": nodeReader(&c.weights), "unit": textReader(&c.unit, "the unit"), "given": nodeReader(&c.given),
		}[s.Keys[k].Name]
	}
	return &s
}

// decodeConditions decodes the conditions of a file, in the order of the file.
func decodeConditions(n *yaml.Node) (all []Condition, err error) {
	if n == nil || n.Kind == yaml.Null {
		return nil, nil
	}
	if n.Kind != yaml.Mapping {
		return nil, yaml.Hint(n.Errorf("conditions are %s", n.Describe()), "write a name and the values of each, such as {temperature: {from: 150, to: 190, step: 5, unit: °C}}")
	}
	if len(n.Entries) > maxConditions {
		return nil, yaml.Hint(n.Entries[maxConditions].Key.Errorf("there are %d conditions", len(n.Entries)), "at most %d are possible", maxConditions)
	}
	for _, e := range n.Entries {
		c, err := decodeCondition(e.Value)
		if err != nil {
			return nil, err
		}
		c.Name, c.KeyNode = dataset.NormalizeName(e.Key.Text), e.Key
		if err := checkConditionName(e.Key, c.Name); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other Condition) bool { return other.Name == c.Name }) {
			return nil, yaml.Hint(e.Key.Errorf("two conditions are named %s", inputerr.Quote(c.Name)), "list all its values in one")
		}
		all = append(all, c)
	}
	return all, nil
}

// checkConditionName returns an error if the name is not allowed for a condition.
func checkConditionName(key *yaml.Node, name string) error {
	if name == "" {
		return yaml.Hint(key.Errorf("a condition has no name"), "write the name of the column that has its values")
	}
	if slices.Contains(schema.Reserved(), name) {
		return yaml.Hint(key.Errorf("a condition cannot be named %s", inputerr.Quote(name)), "draws have a column of that name; give the column of the recipes another name")
	}
	return nil
}

// decodeCondition decodes a condition.
func decodeCondition(n *yaml.Node) (c Condition, err error) {
	const form = "write {from: 150, to: 190, step: 5} or {values: [A, B]}"
	if n.Kind != yaml.Mapping {
		return c, yaml.Hint(n.Errorf("a condition is %s", n.Describe()), form)
	}
	var s conditionFields
	if err := s.describeKeys().Decode(n); err != nil {
		return c, err
	}
	c.Unit = s.unit.Value
	switch {
	case s.values != nil && (s.from.Node != nil || s.to.Node != nil || s.step.Node != nil):
		return c, yaml.Hint(s.values.Errorf("the condition has values, and from, to or step"), form)
	case s.values != nil:
		err = c.decodeValues(s.values)
	case s.from.Node == nil || s.to.Node == nil || s.step.Node == nil:
		return c, yaml.Hint(n.Errorf("the condition has no values"), "%s", form)
	default:
		err = c.setNumbersFromRange(&s)
	}
	if err != nil {
		return c, err
	}
	if s.unit.Node != nil && c.Numbers == nil {
		return c, yaml.Hint(s.unit.Node.Errorf("categories have no unit"), "remove it, or write the values as numbers")
	}
	if err := c.decodeWeights(s.weights); err != nil {
		return c, err
	}
	c.sortNumbers()
	return c, c.decodeGiven(s.given)
}

// setNumbersFromRange sets the numbers to from, from + step and so on, up to the number under the key "to".
func (c *Condition) setNumbersFromRange(s *conditionFields) error {
	from, to, step := s.from.Value, s.to.Value, s.step.Value
	if !(step > 0) {
		return yaml.Hint(s.step.Node.Errorf("the step is %s", s.step.Node.Describe()), "it must be above 0")
	}
	if to < from {
		return yaml.Hint(s.to.Node.Errorf("to is %v, below from, %v", to, from), "write the smaller number as from")
	}
	steps := math.Floor((to-from)/step + 1e-9)
	if !(steps < maxConditionValues) {
		return yaml.Hint(s.step.Node.Errorf("from %v to %v in steps of %v are more than %d values", from, to, step, maxConditionValues), "write a larger step")
	}
	places := max(decimalPlaces(from), decimalPlaces(step))
	for k := range int(steps) + 1 {
		// Rounded to the digits that the file has, so that 0.1 + 2·0.1 is 0.3.
		v, err := strconv.ParseFloat(strconv.FormatFloat(from+float64(step*float64(k)), 'f', places, 64), 64)
		if err != nil {
			return err
		}
		c.Numbers = append(c.Numbers, v)
	}
	return nil
}

// decimalPlaces returns the number of decimal places in the shortest text of v.
func decimalPlaces(v float64) int {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	for k := range text {
		if text[k] == '.' {
			return len(text) - k - 1
		}
	}
	return 0
}

// decodeValues decodes the list under the key "values", which has either numbers or categories.
func (c *Condition) decodeValues(n *yaml.Node) error {
	items, err := n.List("values")
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return yaml.Hint(n.Errorf("the condition has no values"), "list at least one")
	}
	if len(items) > maxConditionValues {
		return yaml.Hint(n.Errorf("the condition has %d values", len(items)), "at most %d are possible", maxConditionValues)
	}
	numbers := !slices.ContainsFunc(items, func(item *yaml.Node) bool { return item.Kind != yaml.Number })
	for _, item := range items {
		if numbers {
			v, err := item.Float("a value")
			if err != nil {
				return err
			}
			if slices.Contains(c.Numbers, v) {
				return yaml.Hint(item.Errorf("the value %v stands there twice", v), "list each once; weights say how often it is wanted")
			}
			c.Numbers = append(c.Numbers, v)
			continue
		}
		text, err := item.Str("a value")
		if err != nil {
			return err
		}
		text = dataset.NormalizeName(text)
		if slices.Contains(c.Categories, text) {
			return yaml.Hint(item.Errorf("the value %s stands there twice", inputerr.Quote(text)), "list each once; weights say how often it is wanted")
		}
		c.Categories = append(c.Categories, text)
	}
	return nil
}

// decodeWeights decodes the weight of each value.
func (c *Condition) decodeWeights(n *yaml.Node) error {
	if n == nil {
		return nil
	}
	items, err := n.List("weights")
	if err != nil {
		return err
	}
	if len(items) != c.Len() {
		return yaml.Hint(n.Errorf("there are %d weights for %d values", len(items), c.Len()), "write one for each value")
	}
	for _, item := range items {
		w, err := item.Weight("a weight")
		if err != nil {
			return err
		}
		if w == 0 {
			return yaml.Hint(item.Errorf("a weight is 0"), "leave out the value, or write a rule: condition: {of: ..., in: [...]}")
		}
		c.Weights = append(c.Weights, w)
	}
	return nil
}

// sortNumbers sorts the numbers in ascending order, and moves each weight along with its number.
func (c *Condition) sortNumbers() {
	order := make([]int, len(c.Numbers))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int {
		if c.Numbers[a] < c.Numbers[b] {
			return -1
		}
		return 1
	})
	numbers, weights := slices.Clone(c.Numbers), slices.Clone(c.Weights)
	for k, from := range order {
		c.Numbers[k] = numbers[from]
		if weights != nil {
			c.Weights[k] = weights[from]
		}
	}
}

// decodeGiven decodes the value under the key "given", which fixes the value of the condition. A number that
// the file does not list is added to the values.
func (c *Condition) decodeGiven(n *yaml.Node) (err error) {
	if n == nil {
		return nil
	}
	c.Given = true
	if c.Numbers != nil {
		if c.GivenNumber, err = n.Float("the given value"); err == nil && !slices.Contains(c.Numbers, c.GivenNumber) {
			c.Numbers = append(c.Numbers, c.GivenNumber)
			if c.Weights != nil {
				c.Weights = append(c.Weights, 1) // a given value has no law
			}
			c.sortNumbers()
		}
		return err
	}
	text, err := n.Str("the given value")
	if err != nil {
		return err
	}
	if c.GivenCategory = dataset.NormalizeName(text); !slices.Contains(c.Categories, c.GivenCategory) {
		return yaml.Hint(n.Errorf("the given value %s is none of the values", inputerr.Quote(text)), "write one of %s", inputerr.List(c.Categories, 8))
	}
	return nil
}

// Len returns the number of values of the condition.
func (c *Condition) Len() int { return len(c.Numbers) + len(c.Categories) }

// IsNumeric reports whether the values are numbers rather than categories.
func (c *Condition) IsNumeric() bool { return c.Numbers != nil }

// ValueText returns the text of the value with index v, with its unit.
func (c *Condition) ValueText(v int) string {
	if c.Numbers == nil {
		return c.Categories[v]
	}
	return c.NumberText(c.Numbers[v])
}

// NumberText returns the text of the number v, with the unit of the condition.
func (c *Condition) NumberText(v float64) string {
	return number.WithUnit(v, c.Unit)
}

// FindCondition returns the index of the condition whose name is the text of the node n.
func (d *Data) FindCondition(n *yaml.Node) (int, error) {
	name, err := n.Str("the condition")
	if err != nil {
		return 0, err
	}
	name = dataset.NormalizeName(name)
	var names []string
	for k := range d.Conditions {
		if names = append(names, d.Conditions[k].Name); d.Conditions[k].Name == name {
			return k, nil
		}
	}
	e := n.Errorf("there is no condition %s", inputerr.Quote(name))
	if len(names) == 0 {
		return 0, yaml.Hint(e, "list it under conditions, such as conditions: {%s: {values: [1, 2]}}", name)
	}
	if near := inputerr.DidYouMean(name, names); near != "" {
		return 0, yaml.Hint(e, "%s", near)
	}
	return 0, yaml.Hint(e, "the conditions are %s", inputerr.List(names, 8))
}
