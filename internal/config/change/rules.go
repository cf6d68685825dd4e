package change

import (
	"slices"
	"strconv"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// A Pin makes every recipe use an ingredient. If Amount is not empty, it fixes the amount: units, or a
// percentage such as "20%". Rules of kind exclude no longer name the ingredient.
type Pin struct{ Ingredient, Amount string }

func (c Pin) apply(e *yaml.Editor) error {
	if err := replaceOppositeRule(e, "exclude", "require", c.Ingredient); err != nil || c.Amount == "" {
		return err
	}
	return Bound{c.Ingredient, c.Amount, c.Amount}.apply(e)
}

// An Exclude bans an ingredient. Rules of kind require no longer name the ingredient, and rules that fix its
// amount are removed. A rule for a range of its amounts stays: such a rule often states safe doses, and
// applies again when the ban is removed.
type Exclude struct{ Ingredient string }

func (c Exclude) apply(e *yaml.Editor) error {
	if err := replaceOppositeRule(e, "require", "exclude", c.Ingredient); err != nil {
		return err
	}
	pins := rulesOfKind(e, "amount")
	for _, r := range slices.Backward(pins) { // from the end, so that earlier places stay valid
		least, most := r.value.Get("min"), r.value.Get("max")
		if len(r.value.Entries) == 3 && namesOnly(r.value.Get("of"), c.Ingredient) && least != nil && most != nil && least.Text == most.Text {
			if err := e.Remove("constraints", r.index); err != nil {
				return err
			}
		}
	}
	return nil
}

// A Bound sets the minimum and the maximum amount that an ingredient has if it is used, in units or percent.
// An empty bound stays unchanged. An existing rule for the amount of the ingredient alone is changed.
type Bound struct{ Ingredient, Min, Max string }

func (c Bound) apply(e *yaml.Editor) error {
	least, err := parseAmount("the least amount of "+inputerr.Quote(c.Ingredient), c.Min)
	if err != nil {
		return err
	}
	most, err := parseAmount("the greatest amount of "+inputerr.Quote(c.Ingredient), c.Max)
	if err != nil {
		return err
	}
	for _, r := range rulesOfKind(e, "amount") {
		if r.value.Get("within") != nil || !namesOnly(r.value.Get("of"), c.Ingredient) {
			continue
		}
		if least != nil {
			err = e.Set(least, "constraints", r.index, "amount", "min")
		}
		if most != nil && err == nil {
			err = e.Set(most, "constraints", r.index, "amount", "max")
		}
		return err
	}
	return e.Append(yamlMapping("amount", yamlMapping("of", c.Ingredient, "min", least, "max", most)), "constraints")
}

// A Group sets the minimum and the maximum total of the ingredients whose attribute has a value. An empty
// bound means no bound. An existing rule for the total of exactly the same ingredients is changed.
type Group struct{ Attribute, Value, Min, Max string }

func (c Group) apply(e *yaml.Editor) error {
	least, err := parseAmount("the least total", c.Min)
	if err != nil {
		return err
	}
	most, err := parseAmount("the greatest total", c.Max)
	if err != nil {
		return err
	}
	if least == nil {
		least = 0
	}
	if most == nil {
		most = "100%"
	}
	total := []any{least, most}
	for _, r := range rulesOfKind(e, "group") {
		if of := r.value.Get("of"); of != nil && len(of.Entries) == 1 && namesOnly(of.Get(c.Attribute), c.Value) {
			return e.Set(total, "constraints", r.index, "group", "total")
		}
	}
	return e.Append(yamlMapping("group", yamlMapping("of", yamlMapping(c.Attribute, c.Value), "total", total)), "constraints")
}

// A Near keeps recipes near to one recipe: at most Changes ingredients may be added or removed. The recipe is
// given by the name of a known recipe or by its ingredients. If there is a rule of kind near, the new rule
// replaces it.
type Near struct {
	Recipe  string // name of a known recipe, if there are no Parts
	Parts   []Part // ingredients of the recipe
	Changes int
}

// A Part is an ingredient of a recipe with its amount.
type Part struct {
	Ingredient string // name of the ingredient
	Amount     int    // in units of the total
}

func (c Near) apply(e *yaml.Editor) error {
	recipe := any(c.Recipe)
	if len(c.Parts) > 0 {
		var amounts yaml.Map
		for _, p := range c.Parts {
			amounts.Set(p.Ingredient, p.Amount)
		}
		recipe = amounts
	}
	near := yamlMapping("recipe", recipe, "changes", c.Changes)
	for _, r := range rulesOfKind(e, "near") {
		return e.Set(near, "constraints", r.index, "near")
	}
	return e.Append(yamlMapping("near", near), "constraints")
}

// A DropRule removes the rule with an index in the constraints of the file.
type DropRule struct{ Rule int }

func (c DropRule) apply(e *yaml.Editor) error { return e.Remove("constraints", c.Rule) }

// An indexedRule is a rule with its index in the constraints of the file.
type indexedRule struct {
	index int
	value *yaml.Node // node under the key of the kind
}

// rulesOfKind returns the rules of a kind, in the order of the file.
func rulesOfKind(e *yaml.Editor, kind string) (found []indexedRule) {
	if all := e.Root().Get("constraints"); all != nil {
		for k, item := range all.Items {
			if n := item.Get(kind); n != nil {
				found = append(found, indexedRule{k, n})
			}
		}
	}
	return found
}

// namesOnly reports whether a node is the given name, or a list of that name alone.
func namesOnly(n *yaml.Node, name string) bool {
	if n == nil {
		return false
	}
	items := n.ItemsOrSelf()
	return len(items) == 1 && len(items[0].Entries) == 0 && dataset.NormalizeName(items[0].Text) == dataset.NormalizeName(name)
}

// replaceOppositeRule removes the ingredient name from all rules of the kind out. It then adds a rule of the
// kind in for the ingredient, unless there is such a rule.
func replaceOppositeRule(e *yaml.Editor, out, in, name string) error {
	for {
		k, item, ok := findRuleNaming(e, out, name)
		if !ok {
			break
		}
		var err error
		if item < 0 {
			err = e.Remove("constraints", k)
		} else {
			err = e.Remove("constraints", k, out, item)
		}
		if err != nil {
			return err
		}
	}
	if _, _, ok := findRuleNaming(e, in, name); ok {
		return nil
	}
	return e.Append(yamlMapping(in, name), "constraints")
}

// findRuleNaming returns the index of a rule of a kind that names an ingredient. item is the index of the
// ingredient in the list of the rule, or −1 if the rule names no other ingredient.
func findRuleNaming(e *yaml.Editor, kind, name string) (rule, item int, ok bool) {
	for _, r := range rulesOfKind(e, kind) {
		if namesOnly(r.value, name) {
			return r.index, -1, true
		}
		for item, n := range r.value.Items {
			if namesOnly(n, name) {
				return r.index, item, true
			}
		}
	}
	return 0, 0, false
}

// parseAmount parses a number of units or a percentage, and returns the value for a problem file. It returns
// nil for an empty text. The parameter what names the amount in errors.
func parseAmount(what, text string) (any, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	if units, err := strconv.Atoi(text); err == nil && units >= 0 {
		return units, nil
	}
	digits, percent := strings.CutSuffix(text, "%")
	if digits = strings.TrimSpace(digits); percent && digits != "" && strings.Trim(digits, "0123456789.") == "" {
		return digits + "%", nil
	}
	return nil, &inputerr.Error{Message: what + " is " + inputerr.Quote(text), Hint: `write a number of units or a percentage such as "20%"`}
}
