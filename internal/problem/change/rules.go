package change

import (
	"slices"
	"strconv"
	"strings"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/problem/yaml"
)

// A Pin makes all recipes use an ingredient, at an amount if there is one: units,
// or a percentage such as "20%". A rule that excludes just this ingredient goes.
type Pin struct{ Ingredient, Amount string }

func (c Pin) apply(e *yaml.Editor) error {
	if err := replaceOpposite(e, "exclude", "require", c.Ingredient); err != nil || c.Amount == "" {
		return err
	}
	return Bound{c.Ingredient, c.Amount, c.Amount}.apply(e)
}

// An Exclude bans an ingredient. Rules that pin just this one go: that requires it, and
// that keeps it at one amount. A rule for a range of its amounts stays: it is about safe
// doses as often as not, and holds again when the ban is lifted.
type Exclude struct{ Ingredient string }

func (c Exclude) apply(e *yaml.Editor) error {
	if err := replaceOpposite(e, "require", "exclude", c.Ingredient); err != nil {
		return err
	}
	pins := rulesOfKind(e, "amount")
	for _, r := range slices.Backward(pins) { // so that the places of the others hold
		least, most := r.value.Get("min"), r.value.Get("max")
		if len(r.value.Entries) == 3 && namesOnly(r.value.Get("of"), c.Ingredient) && least != nil && most != nil && least.Text == most.Text {
			if err := e.Remove("constraints", r.place); err != nil {
				return err
			}
		}
	}
	return nil
}

// A Bound is the least and the greatest amount of an ingredient where it is used:
// units, or a percentage; empty where it stays as it is. A rule for the amount of
// just this ingredient is changed.
type Bound struct{ Ingredient, Min, Max string }

func (c Bound) apply(e *yaml.Editor) error {
	least, err := parseAmount("the least amount of "+fault.Quote(c.Ingredient), c.Min)
	if err != nil {
		return err
	}
	most, err := parseAmount("the greatest amount of "+fault.Quote(c.Ingredient), c.Max)
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

// A Group is the least and the greatest total of the ingredients with a value of an
// attribute; empty: none. A rule for the total of just these is changed.
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

// A Near keeps all recipes near one: at most Changes ingredients come or go. The
// recipe is one of the book by name, or else ingredients and their units. A rule
// that says so of another recipe is changed.
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

// A DropRule takes a rule out, by its place in the file.
type DropRule struct{ Rule int }

func (c DropRule) apply(e *yaml.Editor) error { return e.Remove("constraints", c.Rule) }

// A placedRule rule is what stands under the kind of a rule, and the rule's place.
type placedRule struct {
	place int
	value *yaml.Node
}

// rulesOfKind returns the problem's rules of a kind.
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

// namesOnly says whether a node is a name, or a list of nothing but it.
func namesOnly(n *yaml.Node, name string) bool {
	if n == nil {
		return false
	}
	items := n.ItemsOrSelf()
	return len(items) == 1 && len(items[0].Entries) == 0 && book.NormalizeName(items[0].Text) == book.NormalizeName(name)
}

// replaceOpposite adds a rule of one kind for an ingredient, if there is none, and takes out
// what one of another kind says of it by name.
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

// ruleNaming returns a rule of a kind that names an ingredient, and where in its list
// of several, negative if it names no other.
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

// parseAmount reads units or a percentage as a problem file has them; nil for nothing.
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
	return nil, &fault.Error{Message: what + " is " + fault.Quote(text), Hint: `write a number of units or a percentage such as "20%"`}
}
