package change

import (
	"slices"
	"strconv"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// A Pin makes all recipes use an ingredient, with a fixed amount if Amount is not empty: units, or a
// percentage such as "20%". A rule that excludes only this ingredient is removed.
type Pin struct{ Ingredient, Amount string }

func (c Pin) apply(e *yaml.Editor) error {
	if err := replaceOpposite(e, "exclude", "require", c.Ingredient); err != nil || c.Amount == "" {
		return err
	}
	return Bound{c.Ingredient, c.Amount, c.Amount}.apply(e)
}

// An Exclude bans an ingredient. It removes rules that require only this ingredient or fix its amount. A
// rule for a range of its amounts stays: it is often about safe doses, and applies again once the ban is
// removed.
type Exclude struct{ Ingredient string }

func (c Exclude) apply(e *yaml.Editor) error {
	if err := replaceOpposite(e, "require", "exclude", c.Ingredient); err != nil {
		return err
	}
	pins := rulesOfKind(e, "amount")
	for _, r := range slices.Backward(pins) { // from the end, so that earlier places stay valid
		least, most := r.value.Get("min"), r.value.Get("max")
		if len(r.value.Entries) == 3 && namesOnly(r.value.Get("of"), c.Ingredient) && least != nil && most != nil && least.Text == most.Text {
			if err := e.Remove("constraints", r.place); err != nil {
				return err
			}
		}
	}
	return nil
}

// A Bound sets the least and the greatest amount of an ingredient where it is used: units or a percentage.
// An empty bound stays unchanged. It changes an existing rule for the amount of only this ingredient.
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
			err = e.Set(least, "constraints", r.place, "amount", "min")
		}
		if most != nil && err == nil {
			err = e.Set(most, "constraints", r.place, "amount", "max")
		}
		return err
	}
	return e.Append(yamlMapping("amount", yamlMapping("of", c.Ingredient, "min", least, "max", most)), "constraints")
}

// A Group sets the least and the greatest total of the ingredients with a value of an attribute. An empty
// bound means none. It changes an existing rule for the total of exactly these ingredients.
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
			return e.Set(total, "constraints", r.place, "group", "total")
		}
	}
	return e.Append(yamlMapping("group", yamlMapping("of", yamlMapping(c.Attribute, c.Value), "total", total)), "constraints")
}

// A Near keeps all recipes near one recipe: at most Changes ingredients are added or removed. The recipe is
// the name of a known recipe, or else ingredients and their units. It replaces an existing rule about
// another recipe.
type Near struct {
	Recipe  string
	Parts   []Part
	Changes int
}

// A Part is an ingredient of a recipe and its units.
type Part struct {
	Ingredient string
	Amount     int
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
		return e.Set(near, "constraints", r.place, "near")
	}
	return e.Append(yamlMapping("near", near), "constraints")
}

// A DropRule removes the rule at a place in the file.
type DropRule struct{ Rule int }

func (c DropRule) apply(e *yaml.Editor) error { return e.Remove("constraints", c.Rule) }

// A placedRule is the value under the kind of a rule, with the place of the rule in the file.
type placedRule struct {
	place int
	value *yaml.Node
}

// rulesOfKind returns all rules of a kind.
func rulesOfKind(e *yaml.Editor, kind string) (found []placedRule) {
	if all := e.Root().Get("constraints"); all != nil {
		for k, item := range all.Items {
			if n := item.Get(kind); n != nil {
				found = append(found, placedRule{k, n})
			}
		}
	}
	return found
}

// namesOnly reports whether a node is a name, or a list with only that name.
func namesOnly(n *yaml.Node, name string) bool {
	if n == nil {
		return false
	}
	items := n.ItemsOrSelf()
	return len(items) == 1 && len(items[0].Entries) == 0 && dataset.NormalizeName(items[0].Text) == dataset.NormalizeName(name)
}

// replaceOpposite adds a rule of kind in for an ingredient, unless there is one, and removes the ingredient
// from rules of kind out.
func replaceOpposite(e *yaml.Editor, out, in, name string) error {
	for {
		k, item, ok := ruleNaming(e, out, name)
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
	if _, _, ok := ruleNaming(e, in, name); ok {
		return nil
	}
	return e.Append(yamlMapping(in, name), "constraints")
}

// ruleNaming returns a rule of a kind that names an ingredient. item is the ingredient's index in the
// rule's list, or negative if the rule names no other ingredient.
func ruleNaming(e *yaml.Editor, kind, name string) (rule, item int, ok bool) {
	for _, r := range rulesOfKind(e, kind) {
		if namesOnly(r.value, name) {
			return r.place, -1, true
		}
		for item, n := range r.value.Items {
			if namesOnly(n, name) {
				return r.place, item, true
			}
		}
	}
	return 0, 0, false
}

// parseAmount reads units or a percentage in the form of a problem file. It returns nil for an empty text.
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
