package config

import (
	"context"
	"fmt"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/rule"
)

// AmountKind is the kind of constraint that bounds the amount of an ingredient in compositions that use it.
var AmountKind = ConstraintKind{
	Key: schema.NewKey("amount", schema.Link("amount"), "", "bounds the amount of an ingredient in recipes that use it", "{amount: {of: Gin, min: 20, max: \"40%\"}}"),
	New: func(*Kinds) Constraint { return new(amountRule) },
	Fields: fieldsForRuleType(func(a rule.Amount, _ func(int) string) []RuleField {
		return []RuleField{{"min", valueOrNil(a.Min, 0), true}, {"max", valueOrNil(a.Max, 0), true}, {"step", valueOrNil(a.Step, 0), true}}
	}),
}

// An amountRule is the value of a constraint that bounds amounts. It has one of these forms:
//
//	amount: {of: Gin, min: 20, max: "40%", step: 5}
//	amount: {of: "*", within: book}
//	amount: {of: "*", min: min_dose, max: max_dose}
//	amount: {of: Gin, stock: 350 ml, batch: 750 ml}
//
// A bound is a number of units, a percentage of the total, or the name of an attribute. The attribute has a
// number of units or a percentage for each ingredient, or an empty cell, which sets no bound. The stock is the
// available quantity, and the batch is the quantity to make, both in any unit. Without a batch, the stock is in
// units of the total.
type amountRule struct {
	Of             Ingredients
	Min, Max, Step *yaml.Node // YAML nodes with an amount in units, a percentage of the total, or the name of an attribute
	Stock          *yaml.Node // available quantity with a unit, or name of an attribute
	Batch          *yaml.Node // quantity to make, with a unit
	Within         *yaml.Node // YAML node with the word "book"; nil if the known recipes do not bound the amounts

	node *yaml.Node
}

func (r *amountRule) Sections() schema.Sections {
	return schema.Sections{{
		Name: "amount", ID: "amount",
		About: "The bounds of `amount` apply to recipes that use the ingredient. The rule `require` makes every recipe use an ingredient.",
		Keys: []schema.Key{
			newKey("of", schema.Ingredients(), "", "the ingredients, to each of which the bounds apply", "{of: \"*\", min: 5}", nodeReader(&r.Of)),
			newKey("min", amountBoundType(1), "none", "least amount", "{of: \"*\", min: min_dose}", nodeReader(&r.Min)),
			newKey("max", amountBoundType(1), "none", "greatest amount", "{of: Gin, max: \"60%\"}", nodeReader(&r.Max)),
			newKey("step", schema.Units(1), "1", "allows the amounts min, min + step and so on; without `min`, multiples of `step`", "{of: Gin, step: 50}", nodeReader(&r.Step)),
			newKey("stock", schema.Type{Words: "number and unit, or an attribute that has it", Schema: schema.Object{"anyOf": []schema.Object{{"type": "number", "minimum": 0}, {"type": "string", "pattern": `\S`}}}}, "none", "amount of the ingredient in stock; without `batch`, in units of the total", "{of: Gin, stock: 350 ml, batch: 750 ml}", nodeReader(&r.Stock)),
			newKey("batch", schema.Type{Words: "number and unit", Schema: schema.Object{"anyOf": []schema.Object{{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": `^\s*[0-9.][^%]*$`}}}}, "the total", "size of the batch to make, in the unit of the stock", "{of: Gin, stock: 35, batch: 50}", nodeReader(&r.Batch)),
			newKey("within", schema.Choice("book"), "none", "allows only amounts between the least and the greatest of the known recipes", "{of: \"*\", within: book}", nodeReader(&r.Within)),
		},
		Required:     []string{"of"},
		AtLeastOneOf: []string{"min", "max", "step", "stock", "within"},
		Requires:     map[string]string{"batch": "stock"},
		Excludes:     map[string]string{"within": "min max step stock batch"},
		Mistakes: map[string]string{
			"exactly":   "write min and max alike: amount: {of: Gin, min: 30, max: 30}",
			"equals":    "write min and max alike: amount: {of: Gin, min: 30, max: 30}",
			"ratio":     "a ratio is a rule of its own: ratio: {of: Gin, to: Vermouth, min: 2, max: 3}",
			"to":        "a ratio is a rule of its own: ratio: {of: Gin, to: Vermouth, min: 2, max: 3}",
			"total":     `what several take together is a group: group: {of: [Gin, Vodka], total: ["30%", "70%"]}`,
			"used":      "how many are used is a group: group: {of: [Gin, Vodka], used: [1, 1]}",
			"attribute": "a mean is a limit: limit: {attribute: abv, max: 25}",
		},
	}}
}

// amountBoundType returns the schema type of a bound on amounts: a number of units that is not below minUnits,
// a percentage, or the name of an attribute.
func amountBoundType(minUnits int) schema.Type {
	return schema.Type{Words: "units, percentage, or an attribute that has either", Schema: schema.Object{"anyOf": []schema.Object{
		{"type": "integer", "minimum": minUnits},
		{"type": "string", "pattern": `\S`},
	}}}
}

func (r *amountRule) Decode(n *yaml.Node) error {
	r.node = n
	if n.Get("within") == nil {
		if err := requireOfKey(n, "amount"); err != nil {
			return err
		}
	}
	if err := r.Sections()[0].Decode(n); err != nil {
		return err
	}
	if r.Within != nil {
		return r.checkWithinBook(n)
	}
	return nil
}

// checkWithinBook checks a rule with the key "within": amounts must be in the range that they have in the known
// recipes. Such a rule must not have other bounds.
func (r *amountRule) checkWithinBook(n *yaml.Node) error {
	for _, key := range []string{"min", "max", "step", "stock", "batch"} {
		if v := n.Get(key); v != nil {
			return yaml.Hint(v.Errorf("%s stands beside within", key), "write it in an amount of its own: both hold")
		}
	}
	if r.Within.Kind != yaml.Text || r.Within.Text != "book" {
		return yaml.Hint(r.Within.Errorf("within is %s", r.Within.Describe()), "write book, for the amounts that the known recipes have")
	}
	return requireOfKey(n, "amount")
}

func (r *amountRule) Compile(_ context.Context, d *Data) ([]Demand, error) {
	if r.Within != nil {
		return r.compileWithinBook(d)
	}
	of, text, err := d.WhichIngredients(r.Of)
	if err != nil {
		return nil, err
	}
	var demands []Demand
	if r.Min != nil || r.Max != nil || r.Step != nil {
		if demands, err = r.compileBounds(d, of, text); err != nil {
			return nil, err
		}
	}
	if r.Stock != nil {
		stock, err := r.compileStock(d, of, text)
		if err != nil {
			return nil, err
		}
		return append(demands, stock...), nil
	}
	switch {
	case r.Batch != nil:
		return nil, yaml.Hint(r.Batch.Errorf("a batch says how much is made of what there is, and there is no stock"), "add stock: how much there is, in the unit of the batch")
	case len(demands) == 0:
		return nil, yaml.Hint(r.node.Errorf("the rule bounds nothing"), "add min, max, step or stock")
	}
	return demands, nil
}

// everyIngredientText is the description of the ingredients that "*" matches.
const everyIngredientText = "every ingredient"

// WithinBookText is the text of the rule that keeps the amount of every ingredient within the range of its
// amounts in the known recipes.
const WithinBookText = everyIngredientText + withinBookSuffix

// withinBookSuffix is the end of the text of a rule that keeps amounts in the range that they have in the known
// recipes.
const withinBookSuffix = " within the amounts of the known recipes"

// amountRuleText returns the text of a rule about amounts. The parameter of is the text that names the
// ingredients in the file.
func (d *Data) amountRuleText(of string, a rule.Amount) string {
	var words []string
	if a.Min > 0 || a.Max > 0 {
		bounds := d.amountsText(a.Min, a.Max)
		if len(a.Of) > 1 && of != "*" {
			bounds = "each " + bounds
		}
		words = append(words, bounds)
	}
	if a.Step > 0 {
		words = append(words, "in steps of "+d.amountText(a.Step))
	}
	if a.Min > 0 {
		words = append(words, "if used")
	}
	return ingredientsText(of) + ": " + strings.Join(words, ", ")
}

// ingredientsText returns a description of ingredients. The parameter of is the text that names them in the
// file.
func ingredientsText(of string) string {
	if of == "*" {
		return everyIngredientText
	}
	return of
}

// compileBounds returns the rules for the keys "min", "max" and "step".
func (r *amountRule) compileBounds(d *Data, of []int, text string) ([]Demand, error) {
	c, columns := rule.Amount{Of: of}, false
	var words []string
	boundWords := map[string]string{"min": "at least", "max": "at most", "step": "in steps of"}
	for _, b := range []struct {
		key   string
		at    *yaml.Node
		value *int
	}{{"min", r.Min, &c.Min}, {"max", r.Max, &c.Max}, {"step", r.Step, &c.Step}} {
		v := b.at
		if v == nil {
			continue
		}
		if d.namesAttribute(v) {
			columns = true
			words = append(words, boundWords[b.key]+" its "+inputerr.Quote(v.Text))
			continue
		}
		var err error
		if *b.value, err = d.ReadUnits(v, b.key, 1); err != nil {
			return nil, d.addAttributeHint(err, v)
		}
		words = append(words, boundWords[b.key]+" "+d.amountText(*b.value))
	}
	if v := r.Step; v != nil && d.namesAttribute(v) {
		return nil, yaml.Hint(v.Errorf("a step is not read from a column"), "write a number of units; a rule for each that differs")
	}
	if c.Step > 1 && d.Total > schema.MaxSplits {
		return nil, yaml.Hint(r.Step.Errorf("steps in a total of %d units leave too many ways to share them to keep", d.Total), "take a total of at most %d, in units of the step", schema.MaxSplits)
	}
	if columns {
		if r.Min != nil {
			words = append(words, "if used")
		}
		return r.compileAttributeBounds(d, c, ingredientsText(text)+": "+strings.Join(words, ", "))
	}
	if c.Max > 0 && c.Min > c.Max {
		return nil, yaml.Hint(r.node.Errorf("the rule contradicts itself: min is %s and max %d", inputerr.Count(c.Min, "unit"), c.Max), "raise max, or lower min to %d", c.Max)
	}
	if c.Max > 0 && c.Min == 0 && c.Step > c.Max {
		return nil, yaml.Hint(r.node.Errorf("the rule contradicts itself: the step is %s and max %d", inputerr.Count(c.Step, "unit"), c.Max), "lower the step to %d or raise max to %d", c.Max, c.Step)
	}
	return singleRuleDemand(d.amountRuleText(text, c), c), nil
}

// compileAttributeBounds returns one rule for each ingredient in all. If a bound is the name of an attribute, the
// rule has the ingredient's value of that attribute. The other bounds are those in all.
func (r *amountRule) compileAttributeBounds(d *Data, all rule.Amount, text string) ([]Demand, error) {
	out := Demand{Text: text}
	var none []int
	for _, i := range all.Of {
		a := all
		a.Of = []int{i}
		for key, to := range map[string]*int{"min": &a.Min, "max": &a.Max} {
			v := map[string]*yaml.Node{"min": r.Min, "max": r.Max}[key]
			if v == nil || !d.namesAttribute(v) {
				continue
			}
			amount, cell, err := d.readAmountCell(v, i)
			if err != nil {
				return nil, err
			}
			if amount == nil {
				continue
			}
			if *to = roundDown(amount); key == "min" {
				*to = roundUp(amount)
			}
			if *to > d.Total {
				*to = d.Total
				if key == "min" {
					return nil, cell(fmt.Sprintf("the least amount of %s is above the total of %d units", inputerr.Quote(d.IngredientNames[i]), d.Total), "write units of the total, or a percentage")
				}
			}
			if key == "max" && *to == 0 {
				none = append(none, i)
			}
			if a.Max > 0 && a.Min > a.Max {
				return nil, cell(fmt.Sprintf("%s has at least %s and at most %d", inputerr.Quote(d.IngredientNames[i]), inputerr.Count(a.Min, "unit"), a.Max), "mend one of the two")
			}
		}
		if len(none) > 0 && none[len(none)-1] == i || a.Min == 0 && a.Max == 0 && a.Step == 0 {
			continue
		}
		out.addRule(a, d.amountRuleText(d.IngredientNames[i], a))
	}
	d.excludeUnusable(&out, none, "as less than a unit is allowed")
	if len(out.Rules) == 0 {
		return nil, yaml.Hint(r.Of.Errorf("the columns have no bound for any of them"), "fill in the cells, or write numbers")
	}
	return []Demand{out}, nil
}

// excludeUnusable adds a rule to the demand r that excludes the given ingredients, because no amount of them is
// allowed. It also adds a warning. The parameter why is the reason, in words.
func (d *Data) excludeUnusable(r *Demand, ingredients []int, why string) {
	if len(ingredients) == 0 {
		return
	}
	var names []string
	for _, i := range ingredients {
		names = append(names, d.IngredientNames[i])
	}
	r.addRule(rule.Exclude{Of: ingredients}, "never use "+inputerr.List(names, 4)+", "+why)
	d.Warn(fmt.Sprintf("The rule %q leaves out %s, %s.", r.Text, inputerr.List(names, 8), why))
}

// compileWithinBook returns the rules that keep amounts in the range that they have in the known recipes:
//
//	amount: {of: "*", within: book}
//
// If an ingredient is used, its amount must lie between the least and the greatest amount that recipes have of
// it. Ingredients that no recipe uses are excluded.
func (r *amountRule) compileWithinBook(d *Data) ([]Demand, error) {
	if err := d.RefuseInBlock(r.node, "the doses of the known recipes are"); err != nil {
		return nil, err
	}
	if d.Book == nil {
		return nil, yaml.Hint(r.Within.Errorf("the book is of recipes, and the problem has none"), "add recipes: a CSV file, or write min and max")
	}
	of, text, err := d.WhichIngredients(r.Of)
	if err != nil {
		return nil, err
	}
	least, most := make([]int, len(d.IngredientNames)), make([]int, len(d.IngredientNames))
	for _, parts := range d.Recipes[:d.RuleRecipes] {
		for _, p := range parts {
			i := p.Ingredient
			if least[i] == 0 || p.Amount < least[i] {
				least[i] = p.Amount
			}
			most[i] = max(most[i], p.Amount)
		}
	}
	out := Demand{Text: ingredientsText(text) + withinBookSuffix}
	var unused []int
	for _, i := range of {
		if most[i] == 0 {
			unused = append(unused, i)
			continue
		}
		name := d.IngredientNames[i]
		out.addRule(rule.Amount{Of: []int{i}, Min: least[i], Max: most[i]}, name+": "+d.amountsText(least[i], most[i])+", as in the known recipes")
	}
	if len(unused) == len(of) {
		return nil, yaml.Hint(r.Of.Errorf("no recipe uses %s", text), "write min and max, or exclude")
	}
	if len(unused) > 0 {
		var names []string
		for _, i := range unused {
			names = append(names, d.IngredientNames[i])
		}
		out.addRule(rule.Exclude{Of: unused}, "never use "+inputerr.List(names, 4)+", which no known recipe uses")
		d.Warn(fmt.Sprintf("No recipe uses %s: so there is no known amount of them, and they are left out.", inputerr.List(names, 8)))
	}
	return []Demand{out}, nil
}

// withinBookNode returns a YAML node for a constraint that is not in the file. The constraint keeps the amounts
// of all ingredients in the range that they have in the known recipes. The node has the position of the node
// at.
func withinBookNode(at *yaml.Node) *yaml.Node {
	block := func(entries ...yaml.Entry) *yaml.Node {
		n := at.Scalar("")
		n.Kind, n.Entries = yaml.Mapping, entries
		return n
	}
	all := block(yaml.Entry{Key: at.Scalar("of"), Value: at.Scalar("*")}, yaml.Entry{Key: at.Scalar("within"), Value: at.Scalar("book")})
	return block(yaml.Entry{Key: at.Scalar("amount"), Value: all})
}
