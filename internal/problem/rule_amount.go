package problem

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/rule"
)

var amountKind = ruleKind{
	Key: newKey("amount", schema.Link("amount"), "", "how much, where it is used", "{amount: {of: Gin, min: 20, max: \"40%\"}}"),
	Sections: schema.Sections{{
		Name: "amount", ID: "amount",
		About: "Bounds hold where an ingredient is used; to have it always used, add `require`.",
		Keys: []schema.Key{
			newKey("of", schema.Ingredients(), "", "each of them", "{of: \"*\", min: 5}"),
			newKey("min", boundType(1), "none", "the least", "{of: \"*\", min: min_dose}"),
			newKey("max", boundType(1), "none", "the greatest", "{of: Gin, max: \"60%\"}"),
			newKey("step", schema.Units(1), "1", "min, min + step and so on; without min its multiples", "{of: Gin, step: 50}"),
			newKey("stock", schema.Type{Words: "number and unit, or an attribute that has it", Schema: schema.Object{"anyOf": []schema.Object{{"type": "number", "minimum": 0}, {"type": "string", "pattern": `\S`}}}}, "none", "how much there is; without a batch in units of the total", "{of: Gin, stock: 350 ml, batch: 750 ml}"),
			newKey("batch", schema.Type{Words: "number and unit", Schema: schema.Object{"anyOf": []schema.Object{{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": `^\s*[0-9.][^%]*$`}}}}, "the total", "how much is made, in the unit of the stock", "{of: Gin, stock: 35, batch: 50}"),
			newKey("within", schema.Choice("book"), "none", "the doses that the known recipes have", "{of: \"*\", within: book}"),
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
	}},
	read: readAmount,
	ruleFields: typedFields(func(a rule.Amount, _ func(int) string) []RuleField {
		return []RuleField{{"min", nilIf(a.Min, 0), true}, {"max", nilIf(a.Max, 0), true}, {"step", nilIf(a.Step, 0), true}}
	}),
}

// boundType is the type of a bound on amounts, of at least least units. It may be a column.
func boundType(least int) schema.Type {
	return schema.Type{Words: "units, percentage, or an attribute that has either", Schema: schema.Object{"anyOf": []schema.Object{
		{"type": "integer", "minimum": least},
		{"type": "string", "pattern": `\S`},
	}}}
}

// readAmount reads bounds on the amount of each ingredient where it is used:
//
//	amount: {of: Gin, min: 20, max: "40%", step: 5}
//	amount: {of: "*", within: book}
//	amount: {of: "*", min: min_dose, max: max_dose}
//	amount: {of: Gin, stock: 350 ml, batch: 750 ml}
//
// A bound is a number of units, a percentage of the total, or a column of the ingredients file that has
// either for each ingredient. An empty cell sets no bound. stock is the available quantity and batch the
// quantity to make, in any unit. Without a batch, stock is in units of the total.
func readAmount(_ context.Context, s *readContext, n *yaml.Node, f fields) ([]Rule, error) {
	if f["within"] != nil {
		return withinBookRule(s, n, f)
	}
	of, text, err := ingredientsUnder(s, n, f, "amount")
	if err != nil {
		return nil, err
	}
	var rules []Rule
	if f["min"] != nil || f["max"] != nil || f["step"] != nil {
		if rules, err = boundsRule(s, n, f, of, text); err != nil {
			return nil, err
		}
	}
	if f["stock"] != nil {
		stock, err := stockRule(s, f, of, text)
		if err != nil {
			return nil, err
		}
		return append(rules, stock...), nil
	}
	switch {
	case f["batch"] != nil:
		return nil, yaml.Hint(f["batch"].Errorf("a batch says how much is made of what there is, and there is no stock"), "add stock: how much there is, in the unit of the batch")
	case len(rules) == 0:
		return nil, yaml.Hint(n.Errorf("the rule bounds nothing"), "add min, max, step or stock")
	}
	return rules, nil
}

// everyIngredient is the description of "*".
const everyIngredient = "every ingredient"

// withinBook is the end of the text of a rule that keeps amounts within those of the known recipes.
const withinBook = " within the doses of the known recipes"

// amountText describes an amount of ingredients, and subjectText only the ingredients.
func amountText(of string) string {
	return "amount of " + subjectText(of)
}

func subjectText(of string) string {
	if of == "*" {
		return everyIngredient
	}
	return of
}

// boundsRule reads min, max and step, and returns their rules.
func boundsRule(s *readContext, n *yaml.Node, f fields, of []int, text string) ([]Rule, error) {
	c, words, columns := rule.Amount{Of: of}, "", false
	for _, b := range []struct {
		key   string
		value *int
	}{{"min", &c.Min}, {"max", &c.Max}, {"step", &c.Step}} {
		v := f[b.key]
		if v == nil {
			continue
		}
		if isColumn(s, v) {
			columns = true
			words += fmt.Sprintf(" %s its %s", map[string]string{"min": "at least", "max": "at most"}[b.key], inputerr.Quote(v.Text))
			continue
		}
		var err error
		if *b.value, err = readUnits(s.total, v, b.key, 1); err != nil {
			return nil, addColumnHint(s, err, v)
		}
		words += fmt.Sprintf(" %s %d", b.key, *b.value)
	}
	if v := f["step"]; v != nil && isColumn(s, v) {
		return nil, yaml.Hint(v.Errorf("a step is not read from a column"), "write a number of units; a rule for each that differs")
	}
	if c.Step > 1 && s.total > maxSplits {
		return nil, yaml.Hint(f["step"].Errorf("steps in a total of %d units leave too many ways to share them to keep", s.total), "take a total of at most %d, in units of the step", maxSplits)
	}
	if columns {
		return columnBounds(s, f, c, subjectText(text)+words)
	}
	if c.Max > 0 && c.Min > c.Max {
		return nil, yaml.Hint(n.Errorf("the rule contradicts itself: min is %s and max %d", inputerr.Count(c.Min, "unit"), c.Max), "raise max, or lower min to %d", c.Max)
	}
	if c.Max > 0 && c.Min == 0 && c.Step > c.Max {
		return nil, yaml.Hint(n.Errorf("the rule contradicts itself: the step is %s and max %d", inputerr.Count(c.Step, "unit"), c.Max), "lower the step to %d or raise max to %d", c.Max, c.Step)
	}
	return singleRule(amountText(text)+words, c), nil
}

// columnBounds returns a rule for each ingredient. Bounds that are columns come from its cells, and the
// others from all.
func columnBounds(s *readContext, f fields, all rule.Amount, text string) ([]Rule, error) {
	r := Rule{Text: text}
	var none []int
	for _, i := range all.Of {
		a := all
		a.Of = []int{i}
		for key, to := range map[string]*int{"min": &a.Min, "max": &a.Max} {
			v := f[key]
			if v == nil || !isColumn(s, v) {
				continue
			}
			amount, cell, err := readColumnCell(s, v, i)
			if err != nil {
				return nil, err
			}
			if amount == nil {
				continue
			}
			if *to = roundDown(amount); key == "min" {
				*to = roundUp(amount)
			}
			if *to > s.total {
				*to = s.total
				if key == "min" {
					return nil, cell(fmt.Sprintf("the least amount of %s is above the total of %d units", inputerr.Quote(s.names[i]), s.total), "write units of the total, or a percentage")
				}
			}
			if key == "max" && *to == 0 {
				none = append(none, i)
			}
			if a.Max > 0 && a.Min > a.Max {
				return nil, cell(fmt.Sprintf("%s has at least %s and at most %d", inputerr.Quote(s.names[i]), inputerr.Count(a.Min, "unit"), a.Max), "mend one of the two")
			}
		}
		if len(none) > 0 && none[len(none)-1] == i || a.Min == 0 && a.Max == 0 && a.Step == 0 {
			continue
		}
		words := ""
		for _, b := range []struct {
			key   string
			value int
		}{{"min", a.Min}, {"max", a.Max}, {"step", a.Step}} {
			if b.value > 0 {
				words += fmt.Sprintf(" %s %d", b.key, b.value)
			}
		}
		r.add(a, "amount of "+s.names[i]+words)
	}
	excludeUnusable(s, &r, none, "as less than a unit is allowed")
	if len(r.Rules) == 0 {
		return nil, yaml.Hint(f["of"].Errorf("the columns have no bound for any of them"), "fill in the cells, or write numbers")
	}
	return []Rule{r}, nil
}

// excludeUnusable excludes ingredients that cannot be used, and warns about it.
func excludeUnusable(s *readContext, r *Rule, none []int, why string) {
	if len(none) == 0 {
		return
	}
	var names []string
	for _, i := range none {
		names = append(names, s.names[i])
	}
	r.add(rule.Exclude{Of: none}, "exclude "+inputerr.List(names, 4)+", "+why)
	s.warn(fmt.Sprintf("The rule %q leaves out %s, %s.", r.Text, inputerr.List(names, 8), why))
}

// stockRule reads the stock and the batch, and returns a rule for the greatest amounts.
func stockRule(s *readContext, f fields, of []int, text string) ([]Rule, error) {
	batch, unit := new(big.Rat).SetInt64(int64(s.whole)), ""
	if v := f["batch"]; v != nil {
		var err error
		if batch, unit, err = readQuantity(v, v.Text, "the batch"); err != nil {
			return nil, err
		}
		if batch.Sign() == 0 {
			return nil, yaml.Hint(v.Errorf("the batch is nothing"), "write how much is made")
		}
	}
	v := f["stock"]
	most := func(stock *big.Rat) int { // returns ⌊M·stock/batch⌋
		share := new(big.Rat).Quo(stock, batch)
		return roundDown(share.Mul(share, new(big.Rat).SetInt64(int64(s.whole))))
	}
	r := Rule{Text: "stock of " + text + " " + v.Text, Stock: make(map[int]int)}
	if isColumn(s, v) {
		r.Text = "stock of " + text + " as in " + v.Text
	}
	if f["batch"] != nil {
		r.Text += " in a batch of " + f["batch"].Text
	}
	var none []int
	bounded := false
	for _, i := range of {
		var stock *big.Rat
		if isColumn(s, v) {
			amount, _, err := readColumnCell(s, v, i)
			if err != nil {
				return nil, err
			}
			if amount == nil {
				continue
			}
			stock = amount
		} else {
			var have string
			var err error
			if stock, have, err = readQuantity(v, v.Text, "the stock"); err != nil {
				return nil, addColumnHint(s, err, v)
			}
			if f["batch"] == nil && have != "" {
				return nil, yaml.Hint(v.Errorf("the stock is in %s, and there is no batch to compare it with", have), "add batch: how much is made, such as 750 %s; without a batch the stock is in units of the total", have)
			}
			if have != unit {
				ratio := unitRatio(s, have, unit)
				if ratio == nil {
					return nil, yaml.Hint(v.Errorf("the stock is in %s and the batch in %s", unitName(have), unitName(unit)), "write both in one unit, such as stock: 350 ml, batch: 750 ml, or in two of a volume, or of a mass")
				}
				stock.Mul(stock, ratio)
			}
		}
		bounded = true
		limit := most(stock)
		r.Stock[i] = limit
		switch {
		case limit == 0:
			none = append(none, i)
		case limit < s.whole:
			r.add(rule.Amount{Of: []int{i}, Max: limit}, fmt.Sprintf("stock of %s for at most %d", s.names[i], limit))
		}
	}
	if !bounded {
		return nil, yaml.Hint(v.Errorf("the column has no stock of any of them"), "fill in the cells; 0 is none")
	}
	excludeUnusable(s, &r, none, "as there is none, or less than a unit")
	if len(r.Rules) == 1 {
		r.texts = nil
	}
	return []Rule{r}, nil
}

// unitRatio returns the size of unit have in units of, or nil if they do not convert.
func unitRatio(s *readContext, have, of string) *big.Rat {
	units := s.units
	if units == nil {
		units = dataset.DefaultUnits()
	}
	a, ok := units.Lookup(have)
	b, known := units.Lookup(of)
	if !ok || !known || a.Kind != b.Kind {
		return nil
	}
	return new(big.Rat).Quo(a.Size.Rat(), b.Size.Rat())
}

func unitName(unit string) string {
	if unit == "" {
		return "units of the total"
	}
	return unit
}

// readQuantity reads a number of at least 0 with an optional unit.
func readQuantity(at *yaml.Node, text, what string) (v *big.Rat, unit string, err error) {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.", r) })
	if end < 0 {
		end = len(text)
	}
	v, ok := parseDecimal(text[:end])
	unit = strings.TrimSpace(text[end:])
	if !ok || strings.ContainsAny(unit, "0123456789%/-") {
		return nil, "", yaml.Hint(at.Errorf("%s is %s", what, at.Describe()), "write how much there is, such as 350 or 350 ml")
	}
	return v, unit, nil
}

// parseDecimal reads a decimal number without another base, an exponent or a fraction.
func parseDecimal(text string) (*big.Rat, bool) {
	text = strings.TrimSpace(text)
	if len(text) > 30 || strings.Trim(strings.TrimPrefix(text, "-"), "0123456789.") != "" {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// isColumn reports whether a bound names a column of the ingredients file.
func isColumn(s *readContext, n *yaml.Node) bool {
	if n.Kind != yaml.Text || s.attributes == nil {
		return false
	}
	_, ok := s.attributes.Attribute(n.Text)
	return ok
}

// addColumnHint adds the columns that a bound could name to the hint of an error.
func addColumnHint(s *readContext, err error, n *yaml.Node) error {
	bad, ok := err.(*inputerr.Error)
	if !ok || n.Kind != yaml.Text || strings.HasSuffix(strings.TrimSpace(n.Text), "%") || s.attributes == nil || len(s.attributes.Attributes) == 0 {
		return err
	}
	var names []string
	for k := range s.attributes.Attributes {
		names = append(names, s.attributes.Attributes[k].Name)
	}
	if near := inputerr.DidYouMean(n.Text, names); near != "" {
		bad.Hint += "; " + near
	} else {
		bad.Hint += ", or a column of the ingredients file: " + inputerr.List(names, 8)
	}
	return bad
}

// readColumnCell returns the units that a column has for an ingredient, or nil if its cell is empty. fail
// returns an error about the cell.
func readColumnCell(s *readContext, n *yaml.Node, ingredient int) (amount *big.Rat, fail func(message, hint string) error, err error) {
	a, err := s.attribute(n, n.Text)
	if err != nil {
		return nil, nil, err
	}
	fail = func(message, hint string) error {
		line, column := a.Place(ingredient)
		return &inputerr.Error{File: s.attributes.File, Line: line, Column: column, Cell: a.Cell(ingredient), Message: message, Hint: hint}
	}
	text := a.Values[ingredient]
	if text == "" {
		return nil, fail, nil
	}
	digits, percent := strings.CutSuffix(text, "%")
	v, ok := parseDecimal(digits)
	if !ok || v.Sign() < 0 || a.Affix != "" && a.Affix != "%" {
		return nil, nil, fail(fmt.Sprintf("the %s of %s is %s, which the problem uses on line %d as an amount", a.Name, inputerr.Quote(s.names[ingredient]), inputerr.Quote(text), n.Line), "write a number of units or a percentage, 0 for none of it, or leave the cell empty for any")
	}
	if percent || a.Affix == "%" || strings.Contains(a.Name, "%") {
		v.Mul(v, big.NewRat(int64(s.total), 100))
	}
	return v, fail, nil
}

// roundDown and roundUp round numbers of at least 0 to whole numbers. They limit the result to 2⁴⁰, far
// above any total.
func roundDown(v *big.Rat) int {
	q := new(big.Int).Quo(v.Num(), v.Denom())
	if !q.IsInt64() || q.Int64() > 1<<40 {
		return 1 << 40
	}
	return int(q.Int64())
}

func roundUp(v *big.Rat) int {
	down := roundDown(v)
	if v.IsInt() {
		return down
	}
	return down + 1
}

// readUnits reads a number of units, or a percentage of the total that is a whole number of units.
func readUnits(total int, n *yaml.Node, what string, least int) (int, error) {
	if n.Kind != yaml.Text {
		v, err := n.Whole(what, least, total)
		if share, float := n.Float(what); err != nil && float == nil && share > 0 && share < float64(total) && share != math.Trunc(share) {
			way := fmt.Sprintf(`write a whole number of the %d units of the total, or a percentage such as "20%%"`, total)
			if share < 1 {
				way = fmt.Sprintf(`write a whole number of the %d units of the total, or a percentage: "%s%%"`, total, strconv.FormatFloat(float64(100*share), 'g', 6, 64))
			}
			return 0, yaml.Hint(n.Errorf("%s is %s", what, n.Describe()), "%s", way)
		}
		return v, err
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(n.Text), "%")
	share, ok := parseDecimal(digits)
	if !percent || !ok {
		return 0, yaml.Hint(n.Errorf("%s is %s", what, n.Describe()), `write a number of units or a percentage such as "20%%"`)
	}
	amount := new(big.Rat).Mul(share, big.NewRat(int64(total), 100))
	if amount.Cmp(new(big.Rat).SetInt64(int64(least))) < 0 || amount.Cmp(new(big.Rat).SetInt64(int64(total))) > 0 {
		return 0, yaml.Hint(n.Errorf("%s is %s of %d units", what, n.Describe(), total), "it must be from %d units to 100 %%", least)
	}
	if !amount.IsInt() {
		down := new(big.Int).Quo(amount.Num(), amount.Denom()).Int64()
		near := func(u int64) string { // a percentage, or units if its decimals do not end
			share := new(big.Rat).SetFrac64(100*u, int64(total))
			text := share.FloatString(6)
			if same, _ := new(big.Rat).SetString(text); same.Cmp(share) != 0 {
				return strconv.FormatInt(u, 10)
			}
			return number.Trim(text) + "%"
		}
		return 0, yaml.Hint(n.Errorf("%s is %s, which is %s of %d units and not a whole number", what, n.Describe(), strings.TrimRight(amount.FloatString(4), "0"), total),
			"write %s or %s, or take a finer total", near(down), near(down+1))
	}
	return int(amount.Num().Int64()), nil
}

// withinBookRule reads the rule that keeps amounts within those of the known recipes:
//
//	amount: {of: "*", within: book}
//
// Each ingredient that is used has at least the least and at most the greatest amount that a recipe has of
// it. Ingredients that no recipe uses are excluded.
func withinBookRule(s *readContext, n *yaml.Node, f fields) ([]Rule, error) {
	if err := s.refuseInBlock(n, "the doses of the known recipes are"); err != nil {
		return nil, err
	}
	for _, key := range []string{"min", "max", "step", "stock", "batch"} {
		if f[key] != nil {
			return nil, yaml.Hint(f[key].Errorf("%s stands beside within", key), "write it in an amount of its own: both hold")
		}
	}
	if v := f["within"]; v.Kind != yaml.Text || v.Text != "book" {
		return nil, yaml.Hint(v.Errorf("within is %s", v.Describe()), "write book, for the amounts that the known recipes have")
	}
	if s.book == nil {
		return nil, yaml.Hint(f["within"].Errorf("the book is of recipes, and the problem has none"), "add recipes: a CSV file, or write min and max")
	}
	of, text, err := ingredientsUnder(s, n, f, "amount")
	if err != nil {
		return nil, err
	}
	least, most := make([]int, len(s.names)), make([]int, len(s.names))
	for _, parts := range s.recipes[:s.ruleRecipes] {
		for _, p := range parts {
			i := p.Ingredient
			if least[i] == 0 || p.Amount < least[i] {
				least[i] = p.Amount
			}
			most[i] = max(most[i], p.Amount)
		}
	}
	r := Rule{Text: subjectText(text) + withinBook}
	var unused []int
	for _, i := range of {
		if most[i] == 0 {
			unused = append(unused, i)
			continue
		}
		name := s.names[i]
		r.add(rule.Amount{Of: []int{i}, Min: least[i], Max: most[i]}, fmt.Sprintf("amount of %s min %d max %d as in the known recipes", name, least[i], most[i]))
	}
	if len(unused) == len(of) {
		return nil, yaml.Hint(f["of"].Errorf("no recipe uses %s", text), "write min and max, or exclude")
	}
	if len(unused) > 0 {
		var names []string
		for _, i := range unused {
			names = append(names, s.names[i])
		}
		r.add(rule.Exclude{Of: unused}, "exclude "+inputerr.List(names, 4)+", which no recipe in the book uses")
		s.warn(fmt.Sprintf("No recipe uses %s: within the book there is no amount of them, and they are left out.", inputerr.List(names, 8)))
	}
	return []Rule{r}, nil
}

// withinBookNode returns the node of this rule for all ingredients, as if the file had it.
func withinBookNode(at *yaml.Node) *yaml.Node {
	block := func(entries ...yaml.Entry) *yaml.Node {
		n := at.Scalar("")
		n.Kind, n.Entries = yaml.Mapping, entries
		return n
	}
	all := block(yaml.Entry{Key: at.Scalar("of"), Value: at.Scalar("*")}, yaml.Entry{Key: at.Scalar("within"), Value: at.Scalar("book")})
	return block(yaml.Entry{Key: at.Scalar("amount"), Value: all})
}
