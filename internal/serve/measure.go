package serve

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"kir/internal/compile"
	"kir/internal/config/change"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/number"
	"kir/rule"
)

// An amountConverter converts amounts between the problem file, the page and a reader. In the
// problem file and on the page, amounts are units of the total or percentages. For a reader,
// amounts are percentages, and amounts in the unit of the known recipes if these have one. The zero
// value leaves amounts unchanged.
type amountConverter struct {
	total      int          // number of units that the amounts of a recipe sum to
	unitName   string       // name of the most frequent unit in the known recipes; empty if they have none
	recipeSize float64      // median size of the known recipes, in unit
	unitSize   float64      // size of one unit, in millilitres or grams
	unitKind   dataset.Kind // volume or mass

	conditionUnits map[string]string // by condition: the name of the unit
}

// conditionText formats a value of a condition with the unit. The value is a float64 or a text.
func (m amountConverter) conditionText(condition string, value any) string {
	if v, is := value.(float64); is {
		return number.WithUnit(v, m.conditionUnits[condition])
	}
	return fmt.Sprint(value)
}

// A Unit is a unit in which the page can show amounts.
type Unit struct {
	Name  string    `json:"name"`
	Whole float64   `json:"whole"` // size of a whole recipe in this unit
	Steps []float64 `json:"steps"` // steps of a scale or jigger, the usual step first
}

// standardUnits lists the units of volume and of mass that the page offers beside the unit of the
// known recipes. The sizes are in millilitres and grams.
var standardUnits = map[dataset.Kind][]struct {
	name string
	size float64
}{
	dataset.Volume: {{"cl", 10}, {"ml", 1}, {"oz", 29.5735295625}},
	dataset.Mass:   {{"g", 1}, {"kg", 1000}},
}

// scaleSteps returns the usual steps of a scale or jigger that measures in the named unit.
func scaleSteps(unit string) []float64 {
	switch unit {
	case "oz", "cl", "cup", "part", "tsp", "tbsp":
		return []float64{0.25, 0.5, 0.1, 0.01}
	case "ml":
		return []float64{1, 2.5, 5, 0.1}
	case "kg", "l":
		return []float64{0.001, 0.01, 0.1}
	}
	return []float64{0.1, 1, 0.01, 0.001}
}

// displayUnits returns the units in which the page can show amounts. They are the unit of the known
// recipes, percent, and the standard units of the same kind. If the known recipes have no unit,
// they are percent, 100 g and 100 ml.
func (m amountConverter) displayUnits() []Unit {
	percent := Unit{Name: "%", Whole: 100, Steps: []float64{0.1}}
	if m.unitName == "" {
		return []Unit{percent, {"g", 100, scaleSteps("g")}, {"ml", 100, scaleSteps("ml")}}
	}
	all := []Unit{{m.unitName, roundToThreeDigits(m.recipeSize), scaleSteps(m.unitName)}, percent}
	for _, u := range standardUnits[m.unitKind] {
		if u.name != m.unitName {
			all = append(all, Unit{u.name, roundToThreeDigits(float64(m.recipeSize * m.unitSize / u.size)), scaleSteps(u.name)})
		}
	}
	return all
}

// roundToThreeDigits rounds a number to three significant digits.
func roundToThreeDigits(v float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return out
}

// newAmountConverter returns the converter for the amounts of a problem.
func newAmountConverter(p *compile.Problem) amountConverter {
	m := amountConverter{total: p.Total, conditionUnits: make(map[string]string)}
	for _, c := range p.Conditions {
		m.conditionUnits[c.Name] = c.Unit
	}
	if p.Book == nil {
		return m
	}
	uses := make(map[*dataset.Unit]int)
	for _, r := range p.Book.Recipes {
		for _, part := range r.Parts {
			if u := part.Unit; u != nil && (u.Kind == dataset.Volume || u.Kind == dataset.Mass) {
				uses[u]++
			}
		}
	}
	var unit *dataset.Unit
	for u, n := range uses {
		if unit == nil || n > uses[unit] || n == uses[unit] && u.Name < unit.Name {
			unit = u
		}
	}
	if unit == nil {
		return m
	}
	size, _ := unit.Size.Rat().Float64()
	var wholes []float64
	for _, r := range p.Book.Recipes {
		sum := 0.0
		for _, part := range r.Parts {
			if part.Unit == nil || part.Unit.Kind != unit.Kind {
				sum = math.NaN()
				break
			}
			base, _ := part.Base().Float64()
			sum += base / size
		}
		if !math.IsNaN(sum) {
			wholes = append(wholes, sum)
		}
	}
	if len(wholes) == 0 {
		return m
	}
	slices.Sort(wholes)
	m.unitName, m.recipeSize, m.unitKind, m.unitSize = unit.Name, wholes[len(wholes)/2], unit.Kind, size
	if unit.Kind == dataset.Volume {
		m.unitSize = float64(10 * size) // centilitres to millilitres
	}
	return m
}

// parseUnits parses an amount and rounds it to whole units. A positive amount becomes at least 1
// unit. The result ok is false if the text is not an amount.
func (m amountConverter) parseUnits(text string) (units int, ok bool) {
	text = strings.TrimSpace(text)
	if units, err := strconv.Atoi(text); err == nil {
		return units, 0 <= units && units <= m.total && m.total > 0
	}
	digits, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !percent || err != nil || !(share >= 0 && share <= 100) || m.total == 0 {
		return 0, false
	}
	units = int(math.Round(share / 100 * float64(m.total)))
	if share > 0 {
		units = max(units, 1)
	}
	return units, true
}

// toProblemAmount converts an amount that the page sent to the text for the problem file, rounded
// to whole units. The text is a percentage if four decimals suffice. A text that is not an amount
// stays unchanged, and reading the problem file then rejects it.
func (m amountConverter) toProblemAmount(text string) string {
	units, ok := m.parseUnits(text)
	if !ok {
		return text
	}
	if percent, ok := m.exactPercent(units); ok {
		return percent
	}
	return strconv.Itoa(units)
}

// exactPercent formats units as an exact percentage with at most four decimals. The result ok is
// false if more decimals are necessary.
func (m amountConverter) exactPercent(units int) (text string, ok bool) {
	share := big.NewRat(100*int64(units), int64(m.total))
	text = share.FloatString(4)
	if same, _ := new(big.Rat).SetString(text); same.Cmp(share) != 0 {
		return "", false
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "%", true
}

// keepPercentNotation changes the amounts in a to percentages where the problem file has a
// percentage. The parameter root is the parsed problem file.
func (m amountConverter) keepPercentNotation(a change.SetRuleField, root *yaml.Node) change.SetRuleField {
	rules := root.Get("constraints")
	if rules == nil || a.Place >= len(rules.Items) || rules.Items[a.Place].Get(a.Kind) == nil || m.total == 0 {
		return a
	}
	here := rules.Items[a.Place].Get(a.Kind).Get(a.Key)
	percent := func(v any, here *yaml.Node) any {
		units, whole := v.(int)
		if whole && here != nil && strings.HasSuffix(strings.TrimSpace(here.Text), "%") {
			if text, ok := m.exactPercent(units); ok {
				return text
			}
		}
		return v
	}
	switch v := a.Value.(type) {
	case int:
		a.Value = percent(v, here)
	case []any:
		if a.Key == "total" && here != nil && len(here.Items) == len(v) {
			for k := range v {
				v[k] = percent(v[k], here.Items[k])
			}
		}
	}
	return a
}

// ruleText replaces the units in the text of a rule by percentages for a reader. The text may be in
// quotation marks.
func (m amountConverter) ruleText(text string, r rule.Rule) string {
	units, shares := "", ""
	_, says := compile.RuleFields(r, noName)
	for _, s := range says {
		if !s.Amount {
			continue
		}
		switch v := s.Value.(type) {
		case int:
			units += fmt.Sprintf(" %s %d", s.Key, v)
			shares += " " + s.Key + " " + m.percentText(v)
		case []any:
			units += fmt.Sprintf(" %s %d to %d", s.Key, v[0], v[1])
			shares += " " + s.Key + " " + m.percentText(v[0].(int)) + " to " + m.percentText(v[1].(int))
		}
	}
	if at := strings.LastIndex(text+`"`, units+`"`); at >= 0 && units != "" {
		return text[:at] + shares + text[at+len(units):]
	}
	return text
}

// percentText formats units as a percentage of the total, rounded for a reader.
func (m amountConverter) percentText(units int) string { return number.Share(units, m.total) }

// amountText formats an amount for a reader.
func (m amountConverter) amountText(text string) string { return m.formatAmounts(text, "", "") }

// rangeText formats the range from least to most for a reader. One of the two texts may be empty,
// which means no bound.
func (m amountConverter) rangeText(least, most string) string {
	switch {
	case least == "":
		return "at most " + m.amountText(most)
	case most == "":
		return "at least " + m.amountText(least)
	}
	return m.formatAmounts(least, " to ", most)
}

// formatAmounts formats the amount a for a reader. If b is not empty, the text also has the amount
// b, with the word to in between.
func (m amountConverter) formatAmounts(a, to, b string) string {
	least, ok := m.parseUnits(a)
	if !ok {
		return a + to + b
	}
	whole := threeDigitText(m.recipeSize)
	of := number.Amounts{Total: m.total}
	of.Whole, _ = new(big.Rat).SetString(whole)
	measured := func(units int) string { // to three digits, and more if needed to be exact
		_, decimals, _ := strings.Cut(threeDigitText(float64(float64(units)/float64(m.total)*m.recipeSize)), ".")
		of.MinDigits = len(decimals)
		return number.Trim(of.Write([]int{units})[0])
	}
	said, also := m.percentText(least), measured(least)
	if b != "" {
		most, ok := m.parseUnits(b)
		if !ok {
			return a + to + b
		}
		said += to + m.percentText(most)
		also += to + measured(most)
	}
	if m.unitName == "" {
		return said
	}
	return said + " (" + also + " of " + whole + " " + m.unitName + ")"
}

// threeDigitText formats a number with three significant digits and without trailing zeros. Numbers
// from 100 on have no decimals.
func threeDigitText(v float64) string {
	if v >= 100 {
		return number.Fixed(v, 0)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
