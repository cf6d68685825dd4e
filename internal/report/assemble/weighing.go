package assemble

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/rounding"
	"kir/rule"
)

// A Scale holds the settings for weighing a recipe.
type Scale struct {
	Batch   string // size of the batch, such as "750ml" or "1.5 kg"
	Step    string // step of the scale, such as "0.1" in the unit of the amounts, or "1 g"
	Unit    string // unit of the amounts; empty: the unit of the step, or else of the batch
	Density string // name of the attribute of the ingredients that holds densities, in grams per millilitre
}

// A measureUnit is a unit of volume or mass.
type measureUnit struct {
	name string
	kind dataset.Kind
	size *big.Rat // size of the unit in millilitres or grams
}

// readMeasure parses the name of a unit of volume or mass. The unit is a usual unit or one that the
// problem defines. A problem may give the grams of a unit so that it can be added to volumes; these
// are not used as a density.
func readMeasure(units *dataset.Units, name string) (m measureUnit, err error) {
	m.name = strings.TrimSpace(name)
	unit, ok := dataset.DefaultUnits().Lookup(m.name)
	if !ok && units != nil {
		unit, ok = units.Lookup(m.name)
	}
	if !ok || unit.Kind != dataset.Volume && unit.Kind != dataset.Mass {
		if units == nil {
			units = dataset.DefaultUnits()
		}
		names := units.Names(dataset.Volume, dataset.Mass)
		hint := "take one of " + strings.Join(names, ", ")
		if near := inputerr.DidYouMean(m.name, names); near != "" && len(m.name) > 2 {
			hint = near
		}
		return m, &inputerr.Error{Message: inputerr.Quote(m.name) + " is no unit of a volume or a mass", Hint: hint}
	}
	m.kind, m.size = unit.Kind, unit.Size.Rat()
	if m.kind == dataset.Volume {
		m.size.Mul(m.size, big.NewRat(10, 1)) // from centilitres
	}
	return m, nil
}

// readDecimal reads a number above 0, with a decimal point or a comma. The parameter what names the
// number in errors.
func readDecimal(what, text string) (*big.Rat, error) {
	a, err := dataset.ParseAmount(strings.Replace(strings.TrimSpace(text), ",", ".", 1))
	if err != nil || a.IsZero() {
		return nil, &inputerr.Error{Message: what + " is " + inputerr.Quote(text), Hint: "write a number above 0"}
	}
	return a.Rat(), nil
}

// readSize reads a number and the unit that follows it. The parameter what names the number in
// errors.
func readSize(what, text string) (size *big.Rat, unit string, err error) {
	at := strings.LastIndexAny(text, "0123456789.,") + 1
	size, err = readDecimal(what, text[:at])
	return size, strings.TrimSpace(text[at:]), err
}

// readBatch parses the size of a batch and its unit, such as 750ml.
func readBatch(units *dataset.Units, text string) (size *big.Rat, of measureUnit, err error) {
	size, unit, err := readSize("the batch", text)
	if err == nil && unit == "" {
		err = &inputerr.Error{Message: "the batch is " + inputerr.Quote(text) + " of no unit", Hint: "write, for example, 750ml"}
	} else if err == nil {
		of, err = readMeasure(units, unit)
	}
	return size, of, err
}

// readStep parses the step of the scale. It returns the step in the unit of the amounts, and that
// unit. The parameter made is the unit of the batch.
func (s *Scale) readStep(units *dataset.Units, made measureUnit) (step *big.Rat, weighed measureUnit, err error) {
	step, unit, err := readSize("the step of the scale", s.Step)
	if err != nil {
		return nil, made, err
	}
	weighed = made
	if name := cmp.Or(s.Unit, unit); name != "" {
		if weighed, err = readMeasure(units, name); err != nil || s.Unit == "" || unit == "" {
			return step, weighed, err
		}
		of, err := readMeasure(units, unit)
		if err == nil && of.kind != weighed.kind {
			err = &inputerr.Error{Message: fmt.Sprintf("the step of the scale is in %s where %s are weighed", of.name, weighed.name), Hint: "give both in units of a volume, or both of a mass"}
		}
		if err != nil {
			return nil, made, err
		}
		step.Mul(step, of.size).Quo(step, weighed.size)
	}
	return step, weighed, nil
}

// Weighing rounds an entry of the shortlist to the step of a scale. The shares of a recipe are
// shares of volume or of mass, as in the problem's known recipes. If the known recipes use neither,
// the unit of the batch decides.
func Weighing(o *compile.Outline, b report.Best, title string, rack report.IngredientOrder, s Scale) (*report.Weighing, error) {
	size, made, err := readBatch(o.Units, s.Batch)
	if err != nil {
		return nil, err
	}
	step, weighed, err := s.readStep(o.Units, made)
	if err != nil {
		return nil, err
	}
	s.Step = rounding.Decimal(step)
	parts := b.Parts()
	rack.Order(parts)
	batch := rounding.Batch{Rules: o.Rules, Step: new(big.Rat).Mul(step, weighed.size)}
	for _, p := range parts {
		i := slices.Index(o.Ingredients, p.Ingredient)
		if i < 0 {
			return nil, &inputerr.Error{Message: "the problem has no " + inputerr.Quote(p.Ingredient) + " any more", Hint: "sample it anew"}
		}
		batch.Parts = append(batch.Parts, rule.Part{Ingredient: i, Amount: p.Amount})
	}
	basis := shareUnitKind(o.Book, made.kind)
	batch.Size = new(big.Rat).Mul(size, made.size)
	if made.kind != basis || weighed.kind != basis {
		density, err := partDensities(o, s.Density, parts)
		if err != nil {
			return nil, err
		}
		if basis == dataset.Mass { // what is weighed of a gram is 1/density
			for _, d := range density {
				d.Inv(d)
			}
		}
		if made.kind != basis {
			mean := new(big.Rat)
			for k, d := range density {
				mean.Add(mean, new(big.Rat).Mul(d, big.NewRat(int64(parts[k].Amount), int64(o.Total))))
			}
			batch.Size.Quo(batch.Size, mean)
		}
		if weighed.kind != basis {
			batch.Density = density
		}
	}
	if made.kind == weighed.kind && batch.Density != nil {
		// The requested quantity is the one that is weighed, whatever the densities.
		if steps := new(big.Rat).Quo(new(big.Rat).Mul(size, made.size), batch.Step); !steps.IsInt() {
			return nil, &inputerr.Error{Message: fmt.Sprintf("%s is no whole number of steps of %s %s", s.Batch, s.Step, weighed.name), Hint: "change --batch or --round"}
		}
	}
	if made.kind != weighed.kind && batch.Density == nil {
		batch.Density = make([]*big.Rat, len(parts))
		for k := range parts {
			batch.Density[k] = big.NewRat(1, 1)
		}
	}
	w, err := rounding.Weigh(batch)
	if impossible := (*rounding.ImpossibleError)(nil); errors.As(err, &impossible) {
		return nil, &inputerr.Error{Message: fmt.Sprintf("%s cannot be weighed to %s %s: %s", s.Batch, s.Step, weighed.name, impossible.Reason), Hint: fixesText(impossible.Alternatives, weighed), Err: &StepError{finerStep(impossible.Alternatives, weighed), err}}
	} else if err != nil {
		return nil, err
	}
	sheet := newWeighing(w, parts, o.Total, report.Weighing{Title: title, Batch: s.Batch, Unit: weighed.name, Step: s.Step, Conditions: setValues(o, b.Conditions), Notes: []string{}}, step, weighed, rack, batch.Density == nil)
	if batch.Density != nil && len(o.Rules.Rules) > 0 {
		sheet.Notes = append(sheet.Notes, "Shares of a volume are weighed as a mass, or the other way: rules are kept to half a step of the scale.")
	}
	return sheet, nil
}

// setValues returns the values of the conditions in the order of the problem.
func setValues(o *compile.Outline, values map[string]any) (all []report.SetValue) {
	for k := range o.Conditions {
		of := &o.Conditions[k]
		switch v := values[of.Name].(type) {
		case float64:
			all = append(all, report.SetValue{Condition: of.Name, Value: of.NumberText(v)})
		case string:
			all = append(all, report.SetValue{Condition: of.Name, Value: v})
		}
	}
	return all
}

// fixesText writes changes of the batch or of the scale's step as command-line options, in the unit
// m.
func fixesText(ways []rounding.Alternative, m measureUnit) string {
	var texts []string
	for _, w := range ways {
		size := rounding.Decimal(new(big.Rat).Quo(w.Value, m.size))
		if w.IsScaleStep {
			texts = append(texts, "--round "+size+m.name)
		} else {
			texts = append(texts, "--batch "+size+m.name)
		}
	}
	return strings.Join(texts, ", or ")
}

// A StepError is wrapped by the error of a batch that cannot be weighed with a scale's step. Its
// field Finer is a finer step that works, or empty if none was found.
type StepError struct {
	Finer string
	err   error
}

func (e *StepError) Error() string { return e.err.Error() }
func (e *StepError) Unwrap() error { return e.err }

// finerStep returns the finer step of the scale among the alternatives, in the unit m; empty if
// there is none.
func finerStep(ways []rounding.Alternative, m measureUnit) string {
	for _, w := range ways {
		if w.IsScaleStep {
			return rounding.Decimal(new(big.Rat).Quo(w.Value, m.size))
		}
	}
	return ""
}

// newWeighing fills in the rows and sums of a rounded batch. The parameter divides reports whether
// all ingredients are weighed in the same unit, so that the recipe divides the weighed total.
func newWeighing(w *rounding.RoundedBatch, parts []report.Part, total int, out report.Weighing, step *big.Rat, m measureUnit, rack report.IngredientOrder, divides bool) *report.Weighing {
	stepSize, _ := step.Float64()
	_, decimals, _ := strings.Cut(rounding.Decimal(step), ".")
	digits := len(decimals)
	steps, units := make([]int, len(parts)), make([]int, len(parts))
	for k, p := range parts {
		steps[k], units[k] = int(w.Steps[k]), p.Amount
	}
	whole := new(big.Rat).Mul(step, new(big.Rat).SetInt64(w.Sum))
	amounts := number.Amounts{Total: int(w.Sum), Whole: whole}.WriteTo(digits, steps)
	percent := number.Percentages(total)
	percent.MinDigits += 2
	percents := percent.Write(units)
	exact := exactTexts(w, stepSize, digits+1)
	if divides {
		for k, text := range (number.Amounts{Total: total, Whole: whole, MinDigits: digits + 1}).Write(units) {
			exact[k] = number.Trim(text)
		}
	}
	base, _ := m.size.Float64()
	running, cost := new(big.Rat), 0.0
	for k, p := range parts {
		amount, _ := new(big.Rat).SetString(amounts[k])
		running.Add(running, amount)
		price := rack.CostOf(p.Ingredient) * float64(w.Steps[k]) * stepSize * base / 1000
		cost += price
		out.Rows = append(out.Rows, report.WeighedRow{
			Group: rack.GroupOf(p.Ingredient), Ingredient: p.Ingredient, Amount: amounts[k], RunningSum: running.FloatString(digits), Cost: report.Number(price),
			Exact: report.Number(w.UnroundedSteps[k] * stepSize), ExactText: exact[k],
			Percent: report.Number(100 * float64(p.Amount) / float64(total)), PercentText: number.Trim(percents[k]),
		})
		if off := math.Abs(float64(w.Steps[k])-w.UnroundedSteps[k]) / w.UnroundedSteps[k]; off > 0.1 {
			out.Notes = append(out.Notes, fmt.Sprintf("%s is rounded by %.0f %%: take a finer scale, or make more.", p.Ingredient, 100*off))
		}
	}
	out.Sum, out.Cost = whole.FloatString(digits), report.Number(cost)
	if rack.Cost != nil {
		of := map[dataset.Kind]string{dataset.Volume: "litre", dataset.Mass: "kilogram"}[m.kind]
		out.Notes = append(out.Notes, fmt.Sprintf("Costs are the column %s, taken for one %s.", rack.Cost.Name, of))
		if !out.Cost.IsKnown() {
			out.Notes = append(out.Notes, "Some ingredient has no cost.")
		}
	}
	return &out
}

// exactTexts writes the amounts before rounding to the scale, to four significant figures and with
// at least the given number of digits after the decimal point.
func exactTexts(w *rounding.RoundedBatch, step float64, digits int) []string {
	texts := make([]string, len(w.UnroundedSteps))
	for k, steps := range w.UnroundedSteps {
		v := float64(steps * step)
		texts[k] = number.FourFigures(v)
		if fine := number.Trim(number.Fixed(v, digits)); len(fine) > len(texts[k]) {
			texts[k] = fine
		}
	}
	return texts
}

// shareUnitKind returns the kind of unit, volume or mass, that the shares of the known recipes refer
// to. Without known recipes with such units it returns the kind otherwise.
func shareUnitKind(known *dataset.Book, otherwise dataset.Kind) dataset.Kind {
	if known == nil {
		return otherwise
	}
	kinds := make(map[dataset.Kind]int)
	for _, r := range known.Recipes {
		for _, p := range r.Parts {
			if p.Unit != nil {
				kinds[p.Unit.Kind]++
			}
		}
	}
	switch volume, mass := kinds[dataset.Volume], kinds[dataset.Mass]; {
	case volume > mass:
		return dataset.Volume
	case mass > 0:
		return dataset.Mass
	}
	return otherwise
}

// partDensities returns the density of each part's ingredient, in grams per millilitre, from the
// attribute column.
func partDensities(o *compile.Outline, column string, parts []report.Part) ([]*big.Rat, error) {
	if o.Attributes == nil {
		return nil, &inputerr.Error{Message: "a volume is weighed as a mass by densities, and nothing is known of the ingredients", Hint: "give them a column " + column + " in the table of the ingredients"}
	}
	a, ok := o.Attributes.Attribute(column)
	if !ok {
		return nil, &inputerr.Error{Message: "a volume is weighed as a mass by densities, and the ingredients have no column " + inputerr.Quote(column), Hint: "add it, in grams a millilitre, or name another one with --density"}
	}
	var all []*big.Rat
	for _, p := range parts {
		i, _ := o.Attributes.Index(p.Ingredient)
		d, err := dataset.ParseAmount(strings.TrimSpace(a.Values[i]))
		if err != nil || d.IsZero() {
			line, at := a.CellPosition(i)
			return nil, &inputerr.Error{File: o.Attributes.File, Line: line, Column: at, Cell: a.CellAddress(i), Message: fmt.Sprintf("the %s of %s is %s", column, inputerr.Quote(p.Ingredient), inputerr.Quote(a.Values[i])), Hint: "write grams a millilitre, such as 0.95"}
		}
		all = append(all, d.Rat())
	}
	return all, nil
}
