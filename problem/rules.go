package problem

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"path"
	"slices"
	"strings"

	"kir"
	"kir/count"
	"kir/fault"
	"kir/recipe"
)

// ruleKinds are the keys that name a kind of rule.
var ruleKinds = []string{"require", "exclude", "amount", "group", "never", "needs", "limit"}

// A rule is one entry of the problem's constraints.
type rule struct {
	at   *node
	text string // as messages call it

	counted *count.Rule // require, exclude, amount, group and never
	need    *kir.Need
	limit   *kir.Limit

	attribute string // whose mean is limited
}

// keeps says whether a composition keeps the rule. sum and used are over the
// rule's ingredients.
func (r *rule) keeps(parts []kir.Part, total int) bool {
	amount := func(i int) int { return amountOf(parts, i) }
	switch {
	case r.need != nil:
		return amount(r.need.If) == 0 || slices.ContainsFunc(r.need.Then, func(i int) bool { return amount(i) > 0 })
	case r.limit != nil:
		mean := limitMean(r.limit, parts, total)
		const rounding = 1e-9
		return mean >= r.limit.Min-rounding && mean <= r.limit.Max+rounding
	}
	c := r.counted
	used, sum := 0, 0
	one := count.Ingredient{Min: c.Min, Max: c.Max, Step: c.Step, Required: c.Require, Excluded: c.Exclude}
	for _, i := range c.Of {
		a := amount(i)
		if !one.Allows(a, total) {
			return false
		}
		if a > 0 {
			used++
			sum += a
		}
	}
	within := func(n int, r *count.Range) bool { return r == nil || r.Min <= n && n <= r.Max }
	return within(used, c.Used) && within(sum, c.Total)
}

// readConstraints reads the rules.
func (l *loader) readConstraints() error {
	n := l.fields["constraints"]
	if n == nil || n.kind == null {
		return nil
	}
	items, err := n.list("constraints")
	if err != nil {
		return err
	}
	for _, item := range items {
		f, err := item.fields("a rule", ruleKinds...)
		if err != nil {
			return err
		}
		if len(f) != 1 {
			return hint(item.errorf("a rule names %s", fault.Count(len(f), "kind")), "write one of %s, and another rule in a line of its own", strings.Join(ruleKinds, ", "))
		}
		for kind, v := range f {
			r, err := l.rule(kind, v)
			if err != nil {
				return err
			}
			r.at = item
			l.rules = append(l.rules, *r)
		}
	}
	for k := range l.rules {
		r := &l.rules[k]
		l.problem.Rules = append(l.problem.Rules, Rule{Text: r.text, rule: r, total: l.problem.Total})
	}
	l.warnRules()
	return nil
}

func (l *loader) rule(kind string, n *node) (*rule, error) {
	switch kind {
	case "require", "exclude":
		of, text, err := l.ingredientsOf(n)
		if err != nil {
			return nil, err
		}
		return &rule{text: kind + " " + text, counted: &count.Rule{Of: of, Require: kind == "require", Exclude: kind == "exclude"}}, nil
	case "never":
		of, text, err := l.ingredientsOf(n)
		if err != nil {
			return nil, err
		}
		if len(of) < 2 {
			return nil, hint(n.errorf("never names %s", fault.Count(len(of), "ingredient")), "name two or more, of which at most one may be used; to use none, write exclude")
		}
		return &rule{text: "never " + text, counted: &count.Rule{Of: of, Used: &count.Range{Min: 0, Max: 1}}}, nil
	case "amount":
		return l.amountRule(n)
	case "group":
		return l.groupRule(n)
	case "needs":
		return l.needsRule(n)
	}
	return l.limitRule(n)
}

func (l *loader) amountRule(n *node) (*rule, error) {
	f, err := n.fields("amount", "of", "min", "max", "step")
	if err != nil {
		return nil, err
	}
	of, text, err := l.of(n, f, "amount")
	if err != nil {
		return nil, err
	}
	c := &count.Rule{Of: of}
	words := ""
	for _, b := range []struct {
		key   string
		value *int
	}{{"min", &c.Min}, {"max", &c.Max}, {"step", &c.Step}} {
		if v := f[b.key]; v != nil {
			if *b.value, err = l.amount(v, b.key, 1); err != nil {
				return nil, err
			}
			words += fmt.Sprintf(" %s %d", b.key, *b.value)
		}
	}
	if words == "" {
		return nil, hint(n.errorf("the rule bounds nothing"), "add min, max or step")
	}
	if c.Step > 1 && l.problem.Total > mostSplits {
		return nil, hint(f["step"].errorf("steps in a total of %d units leave too many ways to share them to keep", l.problem.Total), "take a total of at most %d, in units of the step", mostSplits)
	}
	if c.Max > 0 && c.Min > c.Max {
		return nil, hint(n.errorf("the rule contradicts itself: min is %d units and max %d", c.Min, c.Max), "raise max, or lower min to %d", c.Max)
	}
	if c.Max > 0 && c.Min == 0 && c.Step > c.Max {
		return nil, hint(n.errorf("the rule contradicts itself: the step is %d units and max %d", c.Step, c.Max), "lower the step to %d or raise max to %d", c.Max, c.Step)
	}
	return &rule{text: "amount of " + text + words, counted: c}, nil
}

func (l *loader) groupRule(n *node) (*rule, error) {
	f, err := n.fields("group", "of", "used", "total")
	if err != nil {
		return nil, err
	}
	of, text, err := l.of(n, f, "group")
	if err != nil {
		return nil, err
	}
	c := &count.Rule{Of: of}
	words := ""
	if v := f["used"]; v != nil {
		items, err := pair(v, "used", "[1, 2]")
		if err != nil {
			return nil, err
		}
		r := &count.Range{}
		if r.Min, err = items[0].whole("the least number used", 0, math.MaxInt32); err != nil {
			return nil, err
		}
		if r.Max, err = items[1].whole("the greatest number used", 0, math.MaxInt32); err != nil {
			return nil, err
		}
		if r.Min > r.Max {
			return nil, hint(v.errorf("the rule contradicts itself: used from %d to %d", r.Min, r.Max), "write the smaller number first")
		}
		if r.Min > len(of) {
			return nil, hint(v.errorf("the rule contradicts itself: at least %d used of %s", r.Min, fault.Count(len(of), "ingredient")), "lower it to %d", len(of))
		}
		c.Used = r
		words += fmt.Sprintf(" used %d to %d", r.Min, r.Max)
	}
	if v := f["total"]; v != nil {
		items, err := pair(v, "total", `["30%", "70%"]`)
		if err != nil {
			return nil, err
		}
		r := &count.Range{}
		if r.Min, err = l.amount(items[0], "the least total", 0); err != nil {
			return nil, err
		}
		if r.Max, err = l.amount(items[1], "the greatest total", 0); err != nil {
			return nil, err
		}
		if r.Min > r.Max {
			return nil, hint(v.errorf("the rule contradicts itself: a total from %d to %d units", r.Min, r.Max), "write the smaller number first")
		}
		c.Total = r
		words += fmt.Sprintf(" total %d to %d", r.Min, r.Max)
	}
	if words == "" {
		return nil, hint(n.errorf("the rule bounds nothing"), "add used or total")
	}
	return &rule{text: "group " + text + words, counted: c}, nil
}

func (l *loader) needsRule(n *node) (*rule, error) {
	f, err := n.fields("needs", "if", "then")
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"if", "then"} {
		if f[key] == nil {
			return nil, hint(n.errorf("needs has no %s", key), "write {if: Egg white, then: [Lemon juice, Lime juice]}")
		}
	}
	first, name, err := l.ingredientsOf(f["if"])
	if err != nil {
		return nil, err
	}
	if len(first) != 1 {
		return nil, hint(f["if"].errorf("the rule begins with %s", fault.Count(len(first), "ingredient")), "write a rule for each")
	}
	then, text, err := l.ingredientsOf(f["then"])
	if err != nil {
		return nil, err
	}
	return &rule{text: name + " needs " + text, need: &kir.Need{If: first[0], Then: then}}, nil
}

func (l *loader) limitRule(n *node) (*rule, error) {
	f, err := n.fields("limit", "attribute", "min", "max")
	if err != nil {
		return nil, err
	}
	if f["attribute"] == nil {
		return nil, hint(n.errorf("the limit names no attribute"), "write {attribute: abv, min: 10, max: 25}")
	}
	name, err := f["attribute"].str("the attribute")
	if err != nil {
		return nil, err
	}
	values, err := l.attributeNumbers(f["attribute"], name)
	if err != nil {
		return nil, err
	}
	limit := &kir.Limit{Factors: values, Min: math.Inf(-1), Max: math.Inf(1)}
	words := ""
	for _, b := range []struct {
		key   string
		value *float64
	}{{"min", &limit.Min}, {"max", &limit.Max}} {
		if v := f[b.key]; v != nil {
			if *b.value, err = v.float(b.key); err != nil {
				return nil, err
			}
			words += fmt.Sprintf(" %s %v", b.key, *b.value)
		}
	}
	if words == "" {
		return nil, hint(n.errorf("the limit bounds nothing"), "add min or max")
	}
	if limit.Min > limit.Max {
		return nil, hint(n.errorf("the rule contradicts itself: min is %v and max %v", limit.Min, limit.Max), "swap them")
	}
	return &rule{text: "limit of " + name + words, limit: limit, attribute: name}, nil
}

// of reads the ingredients that an amount or a group is about.
func (l *loader) of(n *node, f map[string]*node, what string) ([]int, string, error) {
	if f["of"] == nil {
		return nil, "", hint(n.errorf("%s does not say of what", what), `add of: a name, a list of names, "*", or {group: citrus}`)
	}
	return l.ingredientsOf(f["of"])
}

func pair(n *node, what, example string) ([]*node, error) {
	items, err := n.list(what)
	if err != nil {
		return nil, err
	}
	if len(items) != 2 {
		return nil, hint(n.errorf("%s has %s", what, fault.Count(len(items), "number")), "write the least and the greatest, such as %s", example)
	}
	return items, nil
}

// amount reads a number of units, or a percentage of the total that is one.
func (l *loader) amount(n *node, what string, least int) (int, error) {
	total := l.problem.Total
	if n.kind != text {
		return n.whole(what, least, total)
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(n.text), "%")
	share, ok := new(big.Rat).SetString(strings.TrimSpace(digits))
	if !percent || !ok || len(digits) > 30 || strings.ContainsAny(digits, "/eExX_") {
		return 0, hint(n.errorf("%s is %s", what, n.shown()), `write a number of units or a percentage such as "20%%"`)
	}
	units := new(big.Rat).Mul(share, big.NewRat(int64(total), 100))
	if units.Cmp(new(big.Rat).SetInt64(int64(least))) < 0 || units.Cmp(new(big.Rat).SetInt64(int64(total))) > 0 {
		return 0, hint(n.errorf("%s is %s of %d units", what, n.shown(), total), "it must be from %d units to 100 %%", least)
	}
	if !units.IsInt() {
		down := new(big.Int).Quo(units.Num(), units.Denom()).Int64()
		near := func(u int64) string {
			return strings.TrimSuffix(strings.TrimRight(new(big.Rat).SetFrac64(100*u, int64(total)).FloatString(6), "0"), ".") + "%"
		}
		return 0, hint(n.errorf("%s is %s, which is %s of %d units and not a whole number", what, n.shown(), strings.TrimRight(units.FloatString(4), "0"), total),
			"write %s or %s, or take a finer total", near(down), near(down+1))
	}
	return int(units.Num().Int64()), nil
}

// ingredientsOf reads which ingredients a rule is about: a name, a list of
// names, in which a star matches any text, or a value of an attribute. text is
// how messages call them.
func (l *loader) ingredientsOf(n *node) (of []int, text string, err error) {
	switch n.kind {
	case mapping:
		return l.withAttribute(n)
	case sequence:
		if len(n.items) == 0 {
			return nil, "", hint(n.errorf("the rule names no ingredient"), "name at least one")
		}
		var names []string
		for _, item := range n.items {
			some, name, err := l.ingredientsOf(item)
			if err != nil {
				return nil, "", err
			}
			of = append(of, some...)
			names = append(names, name)
		}
		const most = 4
		text = strings.Join(names[:min(len(names), most)], ", ")
		if len(names) > most {
			text += fmt.Sprintf(" and %d more", len(names)-most)
		}
		slices.Sort(of)
		return slices.Compact(of), text, nil
	}
	name, err := n.str("an ingredient")
	if err != nil {
		return nil, "", err
	}
	name = recipe.Name(name)
	names := l.problem.Ingredients
	if i := slices.Index(names, name); i >= 0 {
		return []int{i}, name, nil
	}
	if strings.Contains(name, "*") {
		pattern := starPattern(name)
		for i, other := range names {
			if ok, _ := path.Match(pattern, strings.ReplaceAll(strings.ToLower(other), "/", "\x00")); ok {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			return nil, "", hint(n.errorf("no ingredient matches %s", n.shown()), "a star matches any text; case does not matter")
		}
		return of, name, nil
	}
	e := n.errorf("there is no ingredient %s", n.shown())
	if near := fault.DidYouMean(name, names); near != "" {
		return nil, "", hint(e, "%s", near)
	}
	return nil, "", hint(e, "there are %s", fault.List(names, 8))
}

// starPattern turns a name with stars into a pattern of package path, which
// takes other characters for more than themselves.
func starPattern(name string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(strings.ToLower(name), "/", "\x00") {
		if strings.ContainsRune(`\?[]`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// withAttribute reads {group: citrus}: the ingredients with that value.
func (l *loader) withAttribute(n *node) (of []int, text string, err error) {
	if len(n.entries) != 1 {
		return nil, "", hint(n.errorf("ingredients are chosen by %s", fault.Count(len(n.entries), "attribute")), "choose them by one, such as {group: citrus}")
	}
	e := n.entries[0]
	attribute, err := l.attribute(e.key, e.key.text)
	if err != nil {
		return nil, "", err
	}
	value, err := e.value.str("the value of " + fault.Quote(e.key.text))
	if err != nil {
		return nil, "", err
	}
	value = recipe.Name(value)
	var values []string
	for i, v := range attribute.Values {
		if v == value {
			of = append(of, i)
		}
		if v != "" && !slices.Contains(values, v) && len(values) < 1000 {
			values = append(values, v)
		}
	}
	if len(of) == 0 {
		err := e.value.errorf("no ingredient has %s %s", e.key.text, e.value.shown())
		if near := fault.DidYouMean(value, values); near != "" {
			return nil, "", hint(err, "%s", near)
		}
		return nil, "", hint(err, "there are %s", fault.List(values, 12))
	}
	return of, e.key.text + " " + value, nil
}

// attribute returns a column of the ingredients file.
func (l *loader) attribute(at *node, name string) (*recipe.Attribute, error) {
	if l.ingredients == nil || len(l.ingredients.Attributes) == 0 {
		return nil, hint(at.errorf("the ingredients have no attribute %s", fault.Quote(name)), "give them attributes in a CSV file: ingredients: ingredients.csv")
	}
	if a, ok := l.ingredients.Attribute(name); ok {
		return a, nil
	}
	var names []string
	for k := range l.ingredients.Attributes {
		names = append(names, l.ingredients.Attributes[k].Name)
	}
	e := at.errorf("the ingredients have no attribute %s", fault.Quote(name))
	if near := fault.DidYouMean(name, names); near != "" {
		return nil, hint(e, "%s", near)
	}
	return nil, hint(e, "they have %s", fault.List(names, 12))
}

// attributeNumbers returns an attribute as numbers, none of them missing.
func (l *loader) attributeNumbers(at *node, name string) ([]float64, error) {
	a, err := l.attribute(at, name)
	if err != nil {
		return nil, err
	}
	values, err := a.Numbers()
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if math.IsNaN(v) {
			line, column := a.Place(i)
			return nil, &fault.Error{File: l.ingredients.File, Line: line, Column: column,
				Message: fmt.Sprintf("%s has no %s, which the problem uses on line %d", fault.Quote(l.problem.Ingredients[i]), name, at.line), Hint: "write a number"}
		}
	}
	return values, nil
}

// warnRules warns of rules that no known recipe keeps.
func (l *loader) warnRules() {
	if len(l.rows) == 0 {
		return
	}
	for k := range l.rules {
		r := &l.rules[k]
		kept := slices.ContainsFunc(l.rows, func(parts []kir.Part) bool { return r.keeps(parts, l.problem.Total) })
		if !kept {
			l.problem.Warnings = append(l.problem.Warnings, fmt.Sprintf("No recipe in the book keeps the rule %q (%s:%d:%d). Is it meant so?", r.text, r.at.file, r.at.line, r.at.column))
		}
	}
}

// space returns the space of the problem with its rules, counted for the sizes
// to which the law gives mass.
func (l *loader) space(plain *kir.Space, law kir.Sparsity, at *node) (*kir.Space, error) {
	if len(l.rules) == 0 {
		return plain, nil
	}
	sizes, err := law.On(plain)
	if err != nil {
		return nil, at.errorf("%v", err)
	}
	set := count.Ruleset{Ingredients: plain.N(), Total: plain.Total(), Name: func(i int) string { return l.problem.Ingredients[i] }}
	lo, hi := sizes.Support()
	for n := lo; n <= hi; n++ {
		if sizes.P(n) > 0 {
			set.Used = append(set.Used, n)
		}
	}
	var rules kir.Rules
	var counted []*rule   // of the set
	var measured []string // rules that cannot be counted
	for q := range l.rules {
		r := &l.rules[q]
		switch {
		case r.counted != nil:
			c := *r.counted
			c.Name = r.text
			set.Rules = append(set.Rules, c)
			counted = append(counted, r)
		case r.need != nil:
			rules.Needs = append(rules.Needs, *r.need)
			measured = append(measured, fault.Quote(r.text))
		case r.limit != nil:
			rules.Limits = append(rules.Limits, *r.limit)
			measured = append(measured, fault.Quote(r.text))
		}
	}
	countable, err := set.Space()
	if err != nil {
		return nil, l.blameRules(err)
	}
	kept, rest, err := set.Disjoint()
	if err != nil {
		return nil, l.blameRules(err)
	}
	explained := set
	explained.Rules = nil
	var places []*node // of the explained rules
	for _, k := range kept {
		explained.Rules = append(explained.Rules, set.Rules[k])
		places = append(places, counted[k].at)
	}
	for _, k := range rest {
		measured = append(measured, fault.Quote(counted[k].text))
	}
	conflict, err := explained.Explain(l.ctx)
	if err != nil {
		return nil, l.blameRules(err)
	}
	if conflict != nil {
		place := at
		if len(conflict.Rules) > 0 {
			place = places[conflict.Rules[0]]
		}
		e := place.errorf("the rules cannot all hold: %s", conflict.Error())
		if len(conflict.Rules) > 1 || len(conflict.Rules) == 1 && conflict.Law {
			var lines []string
			for _, k := range conflict.Rules {
				lines = append(lines, fmt.Sprintf("line %d", places[k].line))
			}
			if conflict.Law {
				lines = append(lines, fmt.Sprintf("the sparsity on line %d", at.line))
			}
			e.Message += " (" + strings.Join(lines, ", ") + ")"
		}
		e.Err = conflict
		return nil, e
	}
	if len(measured) > 0 {
		prover := prover{ingredients: plain.N(), total: plain.Total(), sizes: set.Used}
		every := make([]*rule, len(l.rules))
		for k := range l.rules {
			every[k] = &l.rules[k]
		}
		if core, ofLaw := prover.contradiction(every); core != nil {
			return nil, prover.explain(core, ofLaw, at)
		}
	}
	rules.Amounts, rules.Groups, rules.Seed = countable.Ingredients, countable.Groups, l.problem.Sampler.Seed
	space, err := kir.NewRuledSpace(l.ctx, plain.N(), plain.Total(), rules, hi)
	if err != nil {
		return nil, l.blameRules(err)
	}
	if !l.warnShares(space, sizes) {
		return nil, hint(l.rules[0].at.errorf("no composition was found that keeps every rule, among 1,000,000 drawn for each number of ingredients that keep those which can be counted"), "loosen %s, or the sparsity on line %d", strings.Join(measured, ", "), at.line)
	}
	return space, nil
}

// blameRules gives an error about all rules the place of the first.
func (l *loader) blameRules(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return l.rules[0].at.blame(fmt.Errorf("the rules cannot be counted: %w", err))
}

// warnShares warns of sizes that the law wants and the rules do not allow, and
// of shares that could not be measured well. It returns whether any size is
// left.
func (l *loader) warnShares(space *kir.Space, law *kir.Law) (some bool) {
	var none, rough []string
	lo, hi := law.Support()
	logs := space.LogCounts(hi)
	shares := space.Shares()
	for n := lo; n <= hi; n++ {
		if law.P(n) == 0 {
			continue
		}
		if math.IsInf(logs[n], -1) {
			none = append(none, itoa(n))
			continue
		}
		some = true
		if shares != nil && shares[n-1].SE > 0.02*shares[n-1].Estimate {
			rough = append(rough, fmt.Sprintf("n = %d: %.2g ± %.1g", n, shares[n-1].Estimate, shares[n-1].SE))
		}
	}
	if len(none) > 0 && some {
		l.problem.Warnings = append(l.problem.Warnings, fmt.Sprintf("No composition was found that keeps the rules with n = %s ingredients, which the sparsity law wants: they are left out of the law.", strings.Join(none, ", ")))
	}
	if len(rough) > 0 {
		l.problem.Warnings = append(l.problem.Warnings, fmt.Sprintf("The share of compositions that keep the rules which cannot be counted is known roughly only, and the law of n is as far off (%s). Loosen the rules, or leave fewer of them to be measured.", strings.Join(rough, "; ")))
	}
	return some
}
