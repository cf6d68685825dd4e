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
	"kir/internal/measure"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/rounding"
	"kir/rule"
)

// A Scale holds the settings for weighing a recipe on a scale.
type Scale struct {
	Batch   string // size of the batch, such as "750ml" or "1.5 kg"
	Step    string // smallest difference that the scale shows, such as "0.1" in the unit of the amounts, or "1 g"
	Unit    string // unit of the amounts; if empty, the unit of the step, or else of the batch
	Density string // name of the attribute of the ingredients that holds densities, in grams per millilitre
}

// A measureUnit is a unit of volume or mass.
type measureUnit struct {
	name            string       // name of the unit
	kind            measure.Kind // volume or mass
	sizeInBaseUnits *big.Rat     // size of the unit in millilitres or grams
}

// parseMeasureUnit returns the unit of volume or mass with the given name. It is one of the usual
// units, or one that the problem defines. If the problem gives the mass of a unit of volume, to add
// volumes and masses, parseMeasureUnit does not use it as a density.
func parseMeasureUnit(units *measure.Units, name string) (m measureUnit, err error) {
	m.name = strings.TrimSpace(name)
	unit, ok := measure.DefaultUnits().Lookup(m.name)
	if !ok && units != nil {
		unit, ok = units.Lookup(m.name)
	}
	if !ok || unit.Kind != measure.Volume && unit.Kind != measure.Mass {
		if units == nil {
			units = measure.DefaultUnits()
		}
		names := units.Names(measure.Volume, measure.Mass)
		hint := "take one of " + strings.Join(names, ", ")
		if near := inputerr.DidYouMean(m.name, names); near != "" && len(m.name) > 2 {
			hint = near
		}
		return m, &inputerr.Error{Message: inputerr.Quote(m.name) + " is no unit of a volume or a mass", Hint: hint}
	}
	m.kind, m.sizeInBaseUnits = unit.Kind, unit.Size.Rat()
	if m.kind == measure.Volume {
		m.sizeInBaseUnits.Mul(m.sizeInBaseUnits, big.NewRat(10, 1)) // from centilitres
	}
	return m, nil
}

// parsePositiveDecimal parses a number above 0, with a decimal point or a comma. The parameter
// quantityName names the number in errors.
func parsePositiveDecimal(quantityName, text string) (*big.Rat, error) {
	a, err := measure.ParseAmount(strings.Replace(strings.TrimSpace(text), ",", ".", 1))
	if err != nil || a.IsZero() {
		return nil, &inputerr.Error{Message: quantityName + " is " + inputerr.Quote(text), Hint: "write a number above 0"}
	}
	return a.Rat(), nil
}

// parseSizeAndUnit parses a number and the unit that follows it. The parameter quantityName names
// the number in errors.
func parseSizeAndUnit(quantityName, text string) (size *big.Rat, unit string, err error) {
	at := strings.LastIndexAny(text, "0123456789.,") + 1
	size, err = parsePositiveDecimal(quantityName, text[:at])
	return size, strings.TrimSpace(text[at:]), err
}

// parseBatchSize parses the size of a batch, such as "750ml". It returns the number and the unit.
func parseBatchSize(units *measure.Units, text string) (size *big.Rat, of measureUnit, err error) {
	size, unit, err := parseSizeAndUnit("the batch", text)
	if err == nil && unit == "" {
		err = &inputerr.Error{Message: "the batch is " + inputerr.Quote(text) + " of no unit", Hint: "write, for example, 750ml"}
	} else if err == nil {
		of, err = parseMeasureUnit(units, unit)
	}
	return size, of, err
}

// parseStep parses the step of the scale. It returns the step in the unit of the amounts, and also
// this unit. The parameter batchUnit is the unit of the batch.
func (s *Scale) parseStep(units *measure.Units, batchUnit measureUnit) (step *big.Rat, amountUnit measureUnit, err error) {
	step, unit, err := parseSizeAndUnit("the step of the scale", s.Step)
	if err != nil {
		return nil, batchUnit, err
	}
	amountUnit = batchUnit
	if name := cmp.Or(s.Unit, unit); name != "" {
		if amountUnit, err = parseMeasureUnit(units, name); err != nil || s.Unit == "" || unit == "" {
			return step, amountUnit, err
		}
		of, err := parseMeasureUnit(units, unit)
		if err == nil && of.kind != amountUnit.kind {
			err = &inputerr.Error{Message: fmt.Sprintf("the step of the scale is in %s where %s are weighed", of.name, amountUnit.name), Hint: "give both in units of a volume, or both of a mass"}
		}
		if err != nil {
			return nil, batchUnit, err
		}
		step.Mul(step, of.sizeInBaseUnits).Quo(step, amountUnit.sizeInBaseUnits)
	}
	return step, amountUnit, nil
}

// Weighing returns a recipe of the shortlist with the amounts to weigh, rounded to the step of a
// scale. If the known recipes of the problem have units of volume, the shares of the recipe are
// shares of volume; if they have units of mass, shares of mass. If they have neither, the unit of
// the batch decides.
func Weighing(o *compile.Outline, b report.Best, title string, rack report.IngredientOrder, s Scale) (*report.Weighing, error) {
	size, made, err := parseBatchSize(o.Units, s.Batch)
	if err != nil {
		return nil, err
	}
	step, weighed, err := s.parseStep(o.Units, made)
	if err != nil {
		return nil, err
	}
	s.Step = rounding.Decimal(step)
	parts := b.Parts()
	rack.Order(parts)
	batch := rounding.Batch{Rules: o.Rules, Step: new(big.Rat).Mul(step, weighed.sizeInBaseUnits)}
	for _, p := range parts {
		i := slices.Index(o.Ingredients, p.Ingredient)
		if i < 0 {
			return nil, &inputerr.Error{Message: "the problem has no " + inputerr.Quote(p.Ingredient) + " any more", Hint: "sample it anew"}
		}
		batch.Parts = append(batch.Parts, rule.Part{Ingredient: i, Amount: p.Amount})
	}
	basis := shareUnitKind(o.Book, made.kind)
	batch.Size = new(big.Rat).Mul(size, made.sizeInBaseUnits)
	if made.kind != basis || weighed.kind != basis {
		density, err := partDensities(o, s.Density, parts)
		if err != nil {
			return nil, err
		}
		if basis == measure.Mass { // what is weighed of a gram is 1/density
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
		if steps := new(big.Rat).Quo(new(big.Rat).Mul(size, made.sizeInBaseUnits), batch.Step); !steps.IsInt() {
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
		return nil, &inputerr.Error{Message: fmt.Sprintf("%s cannot be weighed to %s %s: %s", s.Batch, s.Step, weighed.name, impossible.Reason), Hint: alternativesText(impossible.Alternatives, weighed), Err: &StepError{finerStep(impossible.Alternatives, weighed), err}}
	} else if err != nil {
		return nil, err
	}
	sheet := fillWeighing(w, parts, o.Total, report.Weighing{Title: title, Batch: s.Batch, Unit: weighed.name, Step: s.Step, Conditions: conditionSetValues(o, b.Conditions), Notes: []string{}}, step, weighed, rack, batch.Density == nil)
	if batch.Density != nil && len(o.Rules.Rules) > 0 {
		sheet.Notes = append(sheet.Notes, "Shares of a volume are weighed as a mass, or the other way: rules are kept to half a step of the scale.")
	}
	return sheet, nil
}

// conditionSetValues returns the conditions of a recipe with their values as text, in the order of
// the problem. The parameter values maps the name of a condition to its value.
func conditionSetValues(o *compile.Outline, values map[string]any) (all []report.SetValue) {
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

// alternativesText writes other sizes of the batch or other steps of the scale as command-line
// options. Sizes and steps are written in the unit m.
func alternativesText(ways []rounding.Alternative, m measureUnit) string {
	var texts []string
	for _, w := range ways {
		size := rounding.Decimal(new(big.Rat).Quo(w.Value, m.sizeInBaseUnits))
		if w.IsScaleStep {
			texts = append(texts, "--round "+size+m.name)
		} else {
			texts = append(texts, "--batch "+size+m.name)
		}
	}
	return strings.Join(texts, ", or ")
}

// A StepError is wrapped by the error of a batch that cannot be weighed with the scale's step.
type StepError struct {
	Finer string // a finer step that works; empty if none was found
	err   error
}

func (e *StepError) Error() string { return e.err.Error() }
func (e *StepError) Unwrap() error { return e.err }

// finerStep returns the finer step of the scale among the alternatives, as a number in the unit m.
// It returns "" if there is none.
func finerStep(ways []rounding.Alternative, m measureUnit) string {
	for _, w := range ways {
		if w.IsScaleStep {
			return rounding.Decimal(new(big.Rat).Quo(w.Value, m.sizeInBaseUnits))
		}
	}
	return ""
}

// fillWeighing returns the weighing sheet out with its rows and sums filled in from a rounded
// batch. The parameter step is the step of the scale in the unit m. The parameter sameKind reports
// whether the batch, the amounts and the recipe's shares are all volumes or all masses. If so, the
// amounts before rounding are exact shares of the weighed total.
func fillWeighing(w *rounding.RoundedBatch, parts []report.Part, total int, out report.Weighing, step *big.Rat, m measureUnit, rack report.IngredientOrder, sameKind bool) *report.Weighing {
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
	exact := exactAmountTexts(w, stepSize, digits+1)
	if sameKind {
		for k, text := range (number.Amounts{Total: total, Whole: whole, MinDigits: digits + 1}).Write(units) {
			exact[k] = number.Trim(text)
		}
	}
	base, _ := m.sizeInBaseUnits.Float64()
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
		of := map[measure.Kind]string{measure.Volume: "litre", measure.Mass: "kilogram"}[m.kind]
		out.Notes = append(out.Notes, fmt.Sprintf("Costs are the column %s, taken for one %s.", rack.Cost.Name, of))
		if !out.Cost.IsKnown() {
			out.Notes = append(out.Notes, "Some ingredient has no cost.")
		}
	}
	return &out
}

// exactAmountTexts writes the amounts before rounding to the scale. Each has four significant
// figures, or more if they are needed for the given number of digits after the decimal point.
func exactAmountTexts(w *rounding.RoundedBatch, step float64, digits int) []string {
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

// shareUnitKind returns the kind of unit, volume or mass, that most amounts in the known recipes
// have. If none has such a unit, it returns defaultKind.
func shareUnitKind(known *dataset.Book, defaultKind measure.Kind) measure.Kind {
	if known == nil {
		return defaultKind
	}
	kinds := make(map[measure.Kind]int)
	for _, r := range known.Recipes {
		for _, p := range r.Parts {
			if p.Unit != nil {
				kinds[p.Unit.Kind]++
			}
		}
	}
	switch volume, mass := kinds[measure.Volume], kinds[measure.Mass]; {
	case volume > mass:
		return measure.Volume
	case mass > 0:
		return measure.Mass
	}
	return defaultKind
}

// partDensities returns the densities of ingredients in grams per millilitre. Item k is that of
// parts[k]. The densities are in the attribute of the ingredients that is named column.
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
		d, err := measure.ParseAmount(strings.TrimSpace(a.Values[i]))
		if err != nil || d.IsZero() {
			line, at := a.CellPosition(i)
			return nil, &inputerr.Error{File: o.Attributes.File, Line: line, Column: at, Cell: a.CellAddress(i), Message: fmt.Sprintf("the %s of %s is %s", column, inputerr.Quote(p.Ingredient), inputerr.Quote(a.Values[i])), Hint: "write grams a millilitre, such as 0.95"}
		}
		all = append(all, d.Rat())
	}
	return all, nil
}
