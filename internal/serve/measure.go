package serve

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"kir/internal/compile"
	"kir/internal/config/change"
	"kir/internal/config/yaml"
	"kir/internal/measure"
	"kir/internal/number"
)

// An amountConverter converts amounts between the problem file, the page and texts for the user. In
// the problem file and on the page, an amount is a number of units or a percentage. In a text for
// the user, an amount is a percentage and, if the known recipes have a unit, also an amount in that
// unit. The zero value leaves amounts unchanged.
type amountConverter struct {
	totalUnits int          // sum of the amounts of a recipe in units
	unitName   string       // name of the most frequent unit of the known recipes, such as ml; empty if they have none
	recipeSize float64      // median size of the known recipes, in the unit unitName
	unitSize   float64      // size of the unit unitName, in millilitres or grams
	unitKind   measure.Kind // kind of the unit unitName: volume or mass

	conditionUnits map[string]string // maps the name of a condition to the name of its unit
}

// conditionText formats a value of the named condition with the unit. The value is a float64 or a
// string.
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
	Steps []float64 `json:"steps"` // smallest amounts that a scale or jigger can measure; the usual one comes first
	// IsVolume says whether the unit is one of volume, so that amounts are measured instead of weighed.
	IsVolume bool `json:"volume"`
}

// standardUnits lists the units of volume and of mass that the page offers in addition to the unit
// of the known recipes. The sizes of the units are in millilitres or grams.
var standardUnits = map[measure.Kind][]struct {
	name string
	size float64
}{
	measure.Volume: {{"cl", 10}, {"ml", 1}, {"oz", 29.5735295625}},
	measure.Mass:   {{"g", 1}, {"kg", 1000}},
}

// scaleSteps returns the usual smallest steps of a scale or jigger that measures in the named unit.
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

// displayUnits returns the units in which the page can show amounts. If the known recipes have a
// unit, the result has this unit, percent, and the standard units of the same kind. Otherwise it
// has percent and recipes of 100 g and 100 ml.
func (m amountConverter) displayUnits() []Unit {
	percent := Unit{Name: "%", Whole: 100, Steps: []float64{0.1}}
	if m.unitName == "" {
		return []Unit{percent, {"g", 100, scaleSteps("g"), false}, {"ml", 100, scaleSteps("ml"), true}}
	}
	volume := m.unitKind == measure.Volume
	all := []Unit{{m.unitName, number.Rounded(m.recipeSize, 3), scaleSteps(m.unitName), volume}, percent}
	for _, u := range standardUnits[m.unitKind] {
		if u.name != m.unitName {
			all = append(all, Unit{u.name, number.Rounded(float64(m.recipeSize*m.unitSize/u.size), 3), scaleSteps(u.name), volume})
		}
	}
	return all
}

// newAmountConverter returns the converter for the amounts of a problem.
func newAmountConverter(p *compile.Problem) amountConverter {
	m := amountConverter{totalUnits: p.Total, conditionUnits: make(map[string]string)}
	for _, c := range p.Conditions {
		m.conditionUnits[c.Name] = c.Unit
	}
	if p.Book == nil {
		return m
	}
	typical, ok := p.Book.RecipeSize()
	if !ok {
		return m
	}
	unit := typical.Unit
	size, _ := unit.Size.Rat().Float64()
	m.unitName, m.recipeSize, m.unitKind, m.unitSize = unit.Name, typical.Median, unit.Kind, size
	if unit.Kind == measure.Volume {
		m.unitSize = float64(10 * size) // centilitres to millilitres
	}
	return m
}

// parseUnits parses an amount and rounds it to whole units. A positive amount becomes at least 1
// unit. The result ok is false if the text is not an amount.
func (m amountConverter) parseUnits(text string) (units int, ok bool) {
	text = strings.TrimSpace(text)
	if units, err := strconv.Atoi(text); err == nil {
		return units, 0 <= units && units <= m.totalUnits && m.totalUnits > 0
	}
	digits, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !percent || err != nil || !(share >= 0 && share <= 100) || m.totalUnits == 0 {
		return 0, false
	}
	units = int(math.Round(share / 100 * float64(m.totalUnits)))
	if share > 0 {
		units = max(units, 1)
	}
	return units, true
}

// toProblemAmount converts an amount that the page sent to the text for the problem file, rounded
// to whole units. The text is a percentage if four decimals are enough for the exact amount. A text
// that is not an amount stays unchanged and leads to an error when the problem file is read.
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
	share := big.NewRat(100*int64(units), int64(m.totalUnits))
	text = share.FloatString(4)
	if same, _ := new(big.Rat).SetString(text); same.Cmp(share) != 0 {
		return "", false
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "%", true
}

// keepPercentNotation changes an amount in ruleChange to a percentage if the problem file has a
// percentage in the same place. The parameter root is the parsed problem file.
func (m amountConverter) keepPercentNotation(ruleChange change.SetRuleField, root *yaml.Node) change.SetRuleField {
	rules := root.Get("constraints")
	if rules == nil || ruleChange.Place >= len(rules.Items) || rules.Items[ruleChange.Place].Get(ruleChange.Kind) == nil || m.totalUnits == 0 {
		return ruleChange
	}
	here := rules.Items[ruleChange.Place].Get(ruleChange.Kind).Get(ruleChange.Key)
	percent := func(v any, here *yaml.Node) any {
		units, whole := v.(int)
		if whole && here != nil && strings.HasSuffix(strings.TrimSpace(here.Text), "%") {
			if text, ok := m.exactPercent(units); ok {
				return text
			}
		}
		return v
	}
	switch v := ruleChange.Value.(type) {
	case int:
		ruleChange.Value = percent(v, here)
	case []any:
		if ruleChange.Key == "total" && here != nil && len(here.Items) == len(v) {
			for k := range v {
				v[k] = percent(v[k], here.Items[k])
			}
		}
	}
	return ruleChange
}

// percentText formats units as a percentage of the total, rounded for the user.
func (m amountConverter) percentText(units int) string { return number.Share(units, m.totalUnits) }

// amountText formats an amount for the user.
func (m amountConverter) amountText(text string) string { return m.formatAmounts(text, "", "") }

// rangeText formats the range from min to max for the user. If min or max is empty, the range has
// no such bound.
func (m amountConverter) rangeText(min, max string) string {
	switch {
	case min == "":
		return "at most " + m.amountText(max)
	case max == "":
		return "at least " + m.amountText(min)
	}
	return m.formatAmounts(min, " to ", max)
}

// formatAmounts formats one or two amounts for the user. If upperAmount is not empty, it follows
// amount after the separator.
func (m amountConverter) formatAmounts(amount, separator, upperAmount string) string {
	least, ok := m.parseUnits(amount)
	if !ok {
		return amount + separator + upperAmount
	}
	whole := threeDigitText(m.recipeSize)
	of := number.Amounts{Total: m.totalUnits}
	of.Whole, _ = new(big.Rat).SetString(whole)
	measured := func(units int) string { // to three digits, and more if needed to be exact
		_, decimals, _ := strings.Cut(threeDigitText(float64(float64(units)/float64(m.totalUnits)*m.recipeSize)), ".")
		of.MinDigits = len(decimals)
		return number.Trim(of.Write([]int{units})[0])
	}
	said, also := m.percentText(least), measured(least)
	if upperAmount != "" {
		most, ok := m.parseUnits(upperAmount)
		if !ok {
			return amount + separator + upperAmount
		}
		said += separator + m.percentText(most)
		also += separator + measured(most)
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
