package change

import (
	"slices"
	"strconv"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// A Pin is an edit that makes every recipe use an ingredient. If Amount is not empty, the edit also fixes the
// amount: a number of units, or a percentage such as "20%". The edit removes the ingredient from rules of the
// kind exclude.
type Pin struct{ Ingredient, Amount string }

func (c Pin) apply(e *yaml.Editor) error {
	if err := replaceOppositeRule(e, "exclude", "require", c.Ingredient); err != nil || c.Amount == "" {
		return err
	}
	return Bound{c.Ingredient, c.Amount, c.Amount}.apply(e)
}

// An Exclude is an edit that bans an ingredient. It removes the ingredient from rules of the kind require, and
// it removes rules that fix the amount of the ingredient. A rule for a range of amounts stays: such a rule
// often states safe doses, and applies again when the ban is removed.
type Exclude struct{ Ingredient string }

func (c Exclude) apply(e *yaml.Editor) error {
	if err := replaceOppositeRule(e, "require", "exclude", c.Ingredient); err != nil {
		return err
	}
	pins := rulesOfKind(e, "amount")
	for _, r := range slices.Backward(pins) { // from the end, so that earlier places stay valid
		least, most := r.kindNode.Get("min"), r.kindNode.Get("max")
		if len(r.kindNode.Entries) == 3 && isOnlyName(r.kindNode.Get("of"), c.Ingredient) && least != nil && most != nil && least.Text == most.Text {
			if err := e.Remove("constraints", r.index); err != nil {
				return err
			}
		}
	}
	return nil
}

// A Bound is an edit that sets the minimum and the maximum amount that an ingredient has if it is used, in
// units or percent. An empty bound stays unchanged. If a rule already bounds the amount of this ingredient
// alone, the edit changes that rule.
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
		if r.kindNode.Get("within") != nil || !isOnlyName(r.kindNode.Get("of"), c.Ingredient) {
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

// A Group is an edit that sets the minimum and the maximum total of the ingredients whose attribute has a
// certain value. An empty bound means no bound. If a rule already bounds the total of exactly these
// ingredients, the edit changes that rule.
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
		if of := r.kindNode.Get("of"); of != nil && len(of.Entries) == 1 && isOnlyName(of.Get(c.Attribute), c.Value) {
			return e.Set(total, "constraints", r.index, "group", "total")
		}
	}
	return e.Append(yamlMapping("group", yamlMapping("of", yamlMapping(c.Attribute, c.Value), "total", total)), "constraints")
}

// A Near is an edit that keeps recipes near to one recipe: at most Changes ingredients may be added or removed.
// The recipe is the known recipe named Recipe, or has the ingredients in Parts. The edit replaces an old rule
// of the kind near.
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

// A DropRule is an edit that removes one rule. Rule is the index of the rule under the key "constraints".
type DropRule struct{ Rule int }

func (c DropRule) apply(e *yaml.Editor) error { return e.Remove("constraints", c.Rule) }

// An indexedRule is a rule with its index in the constraints of the file.
type indexedRule struct {
	index    int
	kindNode *yaml.Node // YAML node under the key of the kind of rule
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

// isOnlyName reports whether a YAML node is the given name, or a list of that name alone.
func isOnlyName(n *yaml.Node, name string) bool {
	if n == nil {
		return false
	}
	items := n.ItemsOrSelf()
	return len(items) == 1 && len(items[0].Entries) == 0 && dataset.NormalizeName(items[0].Text) == dataset.NormalizeName(name)
}

// replaceOppositeRule removes an ingredient from all rules of the kind oldKind, such as exclude. It then adds a
// rule of the kind newKind, such as require, for the ingredient, unless the file has such a rule.
func replaceOppositeRule(e *yaml.Editor, oldKind, newKind, name string) error {
	for {
		k, item, ok := findRuleNaming(e, oldKind, name)
		if !ok {
			break
		}
		var err error
		if item < 0 {
			err = e.Remove("constraints", k)
		} else {
			err = e.Remove("constraints", k, oldKind, item)
		}
		if err != nil {
			return err
		}
	}
	if _, _, ok := findRuleNaming(e, newKind, name); ok {
		return nil
	}
	return e.Append(yamlMapping(newKind, name), "constraints")
}

// findRuleNaming returns the index of the first rule of a kind that names an ingredient. The result item is the
// index of the ingredient in the list of the rule, or −1 if the rule names no other ingredient. The result ok
// is false if there is no such rule.
func findRuleNaming(e *yaml.Editor, kind, name string) (rule, item int, ok bool) {
	for _, r := range rulesOfKind(e, kind) {
		if isOnlyName(r.kindNode, name) {
			return r.index, -1, true
		}
		for item, n := range r.kindNode.Items {
			if isOnlyName(n, name) {
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
