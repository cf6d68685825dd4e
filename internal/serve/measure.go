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

// A measure converts amounts between the problem file, the page and a reader. Problem file and
// page have units of the total or percentages. Readers get percentages and, if the recipes
// have a unit, amounts in that unit. The zero measure, of a problem that was never read,
// leaves amounts unchanged.
type measure struct {
	total      int
	unit       string  // unit of most amounts of the recipes; empty if they have none
	recipeSize float64 // median size of the recipes, in unit
	size       float64 // size of the unit, in millilitres or grams
	kind       dataset.Kind

	conditionUnits map[string]string // by condition of numbers
}

// conditionText writes a value of a condition, a float64 or a text, with its unit.
func (m measure) conditionText(condition string, value any) string {
	if v, is := value.(float64); is {
		return number.WithUnit(v, m.conditionUnits[condition])
	}
	return fmt.Sprint(value)
}

// A Unit is a unit in which the page shows amounts. It has the size of a whole recipe and the
// steps of a scale or jigger, the usual step first.
type Unit struct {
	Name  string    `json:"name"`
	Whole float64   `json:"whole"`
	Steps []float64 `json:"steps"`
}

// usualUnits are the units of volume and mass that the page offers beside the table's own, in
// millilitres and grams.
var usualUnits = map[dataset.Kind][]struct {
	name string
	size float64
}{
	dataset.Volume: {{"cl", 10}, {"ml", 1}, {"oz", 29.5735295625}},
	dataset.Mass:   {{"g", 1}, {"kg", 1000}},
}

// scaleSteps returns the usual steps of a scale or jigger in a unit.
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

// displayUnits returns the units to show amounts in: the table's own, percent, and the usual
// ones of the same kind. For recipes in shares they are percent, and 100 g or 100 ml.
func (m measure) displayUnits() []Unit {
	percent := Unit{Name: "%", Whole: 100, Steps: []float64{0.1}}
	if m.unit == "" {
		return []Unit{percent, {"g", 100, scaleSteps("g")}, {"ml", 100, scaleSteps("ml")}}
	}
	all := []Unit{{m.unit, threeDigits(m.recipeSize), scaleSteps(m.unit)}, percent}
	for _, u := range usualUnits[m.kind] {
		if u.name != m.unit {
			all = append(all, Unit{u.name, threeDigits(float64(m.recipeSize * m.size / u.size)), scaleSteps(u.name)})
		}
	}
	return all
}

// threeDigits rounds a number to three significant digits.
func threeDigits(v float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return out
}

// newMeasure returns the measure of a problem.
func newMeasure(p *compile.Problem) measure {
	m := measure{total: p.Total, conditionUnits: make(map[string]string)}
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
	m.unit, m.recipeSize, m.kind, m.size = unit.Name, wholes[len(wholes)/2], unit.Kind, size
	if unit.Kind == dataset.Volume {
		m.size = float64(10 * size) // centilitres to millilitres
	}
	return m
}

// units parses an amount and rounds it to whole units, a positive one to at least 1.
func (m measure) units(text string) (units int, ok bool) {
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

// problemAmount returns an amount as written into the problem, rounded to a unit. It is a
// percentage if that is short. A text that is no amount stays unchanged, so that the reader of
// the problem rejects it.
func (m measure) problemAmount(text string) string {
	units, ok := m.units(text)
	if !ok {
		return text
	}
	if percent, ok := m.percent(units); ok {
		return percent
	}
	return strconv.Itoa(units)
}

// percent writes units as an exact percentage with up to four decimals; ok is false if it
// needs more.
func (m measure) percent(units int) (text string, ok bool) {
	share := big.NewRat(100*int64(units), int64(m.total))
	text = share.FloatString(4)
	if same, _ := new(big.Rat).SetString(text); same.Cmp(share) != 0 {
		return "", false
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "%", true
}

// matchNotation writes an amount of a rule as a percentage if the amount that it replaces is
// one.
func (m measure) matchNotation(a change.SetRuleField, root *yaml.Node) change.SetRuleField {
	rules := root.Get("constraints")
	if rules == nil || a.Place >= len(rules.Items) || rules.Items[a.Place].Get(a.Kind) == nil || m.total == 0 {
		return a
	}
	here := rules.Items[a.Place].Get(a.Kind).Get(a.Key)
	percent := func(v any, here *yaml.Node) any {
		units, whole := v.(int)
		if whole && here != nil && strings.HasSuffix(strings.TrimSpace(here.Text), "%") {
			if text, ok := m.percent(units); ok {
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

// rule rewrites the text of a rule, which may be quoted, for a reader: amounts in units become
// amounts of the measure.
func (m measure) rule(text string, r rule.Rule) string {
	units, shares := "", ""
	_, says := compile.RuleFields(r, anyName)
	for _, s := range says {
		if !s.Amount {
			continue
		}
		switch v := s.Value.(type) {
		case int:
			units += fmt.Sprintf(" %s %d", s.Key, v)
			shares += " " + s.Key + " " + m.share(v)
		case []any:
			units += fmt.Sprintf(" %s %d to %d", s.Key, v[0], v[1])
			shares += " " + s.Key + " " + m.share(v[0].(int)) + " to " + m.share(v[1].(int))
		}
	}
	if at := strings.LastIndex(text+`"`, units+`"`); at >= 0 && units != "" {
		return text[:at] + shares + text[at+len(units):]
	}
	return text
}

// share writes units as a percentage.
func (m measure) share(units int) string { return number.Share(units, m.total) }

// amountText writes an amount for a reader.
func (m measure) amountText(text string) string { return m.formatAmounts(text, "", "") }

// rangeText writes a range for a reader. Either end may be open.
func (m measure) rangeText(least, most string) string {
	switch {
	case least == "":
		return "at most " + m.amountText(most)
	case most == "":
		return "at least " + m.amountText(least)
	}
	return m.formatAmounts(least, " to ", most)
}

// formatAmounts writes an amount, or two amounts with a word between them.
func (m measure) formatAmounts(a, to, b string) string {
	least, ok := m.units(a)
	if !ok {
		return a + to + b
	}
	whole := short(m.recipeSize)
	of := number.Amounts{Total: m.total}
	of.Whole, _ = new(big.Rat).SetString(whole)
	measured := func(units int) string { // to three digits, and more if needed to be exact
		_, decimals, _ := strings.Cut(short(float64(float64(units)/float64(m.total)*m.recipeSize)), ".")
		of.MinDigits = len(decimals)
		return number.Trim(of.Write([]int{units})[0])
	}
	said, also := m.share(least), measured(least)
	if b != "" {
		most, ok := m.units(b)
		if !ok {
			return a + to + b
		}
		said += to + m.share(most)
		also += to + measured(most)
	}
	if m.unit == "" {
		return said
	}
	return said + " (" + also + " of " + whole + " " + m.unit + ")"
}

// short writes a number to three digits, without trailing zeros.
func short(v float64) string {
	if v >= 100 {
		return number.Fixed(v, 0)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
