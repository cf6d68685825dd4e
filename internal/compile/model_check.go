package compile

import (
	"context"
	"math"
	"slices"

	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/ensemble"
	"kir/internal/inputerr"
)

// predictionTolerance is how far a prediction in a table may be from the model's, unless the file says
// otherwise.
const predictionTolerance = 1e-5

// A predictionTable is a table of a model's own predictions. Each row is a composition. The columns are
// amounts of ingredients, constants, and one called prediction.
type predictionTable struct {
	*dataset.Sheet
	prediction int
	ingredient []int // by column; −1 if it has no ingredient
	constant   []int // by column: index of the constant; −1 if it has none
	condition  []int // by column: index of the input that a condition gives; −1 if it has none
}

// checkPredictions compares the model with a table of its own predictions.
func (b *inputMapping) checkPredictions(ctx context.Context, n *yaml.Node, tolerance float64, output modelOutput, combinations []*ensemble.Score) error {
	t, err := b.readPredictions(ctx, n)
	if err != nil {
		return err
	}
	for r, row := range t.Values {
		x, err := b.rowComposition(t, r)
		if err != nil {
			return err
		}
		if err := b.checkConstants(t, r); err != nil {
			return err
		}
		combination, err := b.rowCombination(t, r, len(combinations))
		if err != nil {
			return err
		}
		got, want := output.valueOf(combinations[combination].Sums(x)), row[t.prediction]
		if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
			return yaml.Hint(t.ErrorIn(r, t.prediction, "the model says %.9g here, and as its inputs are mapped it is %.9g", want, got),
				"see that features, amounts and constants are what it was trained on: its inputs are %s", inputerr.List(b.model.Inputs, 8))
		}
	}
	return nil
}

// readPredictions reads a table of predictions.
func (b *inputMapping) readPredictions(ctx context.Context, n *yaml.Node) (*predictionTable, error) {
	sheet, err := b.ReadSheet(ctx, n, "the table of predictions")
	if err != nil {
		return nil, err
	}
	t := &predictionTable{Sheet: sheet, ingredient: make([]int, len(sheet.Columns)), constant: make([]int, len(sheet.Columns)), condition: make([]int, len(sheet.Columns))}
	if t.prediction, err = t.Column("prediction"); err != nil {
		return nil, err
	}
	for c, name := range t.Columns {
		t.ingredient[c] = findName(b.Names, name)
		t.constant[c] = slices.IndexFunc(b.constants, func(in constantInput) bool { return in.name == name })
		t.condition[c] = slices.IndexFunc(b.conditionInputs, func(in conditionInput) bool { return in.name == name })
		if c != t.prediction && t.ingredient[c] < 0 && t.constant[c] < 0 && t.condition[c] < 0 {
			return nil, yaml.SuggestName(t.ErrorIn(-1, -1, "%s is neither an ingredient nor a constant", inputerr.Quote(name)), name, "there are", b.Names, 8)
		}
	}
	return t, nil
}

// rowComposition returns the composition of a row, whose amounts may be in any unit.
func (b *inputMapping) rowComposition(t *predictionTable, r int) ([]int32, error) {
	sum := 0.0
	for c, v := range t.Values[r] {
		if t.ingredient[c] >= 0 {
			sum += v
		}
	}
	x, units := make([]int32, len(b.Names)), 0
	for c, v := range t.Values[r] {
		if t.ingredient[c] < 0 {
			continue
		}
		exact := float64(v / sum * float64(b.Total))
		whole := math.Round(exact)
		if !(math.Abs(exact-whole) <= 1e-4) || whole < 0 {
			return nil, yaml.Hint(t.ErrorIn(r, c, "%v of %v is %.6g of %d units, which is not whole", v, sum, exact, b.Total), "predict compositions of whole units")
		}
		x[t.ingredient[c]] = int32(whole)
		units += int(whole)
	}
	if units != b.Total {
		return nil, t.ErrorIn(r, t.prediction, "the amounts of the row come to %d units of %d", units, b.Total)
	}
	return x, nil
}

// rowCombination returns the combination of conditions of a row.
func (b *inputMapping) rowCombination(t *predictionTable, r, combinations int) (int, error) {
	for _, in := range b.conditionInputs {
		if !slices.ContainsFunc(t.condition, func(k int) bool { return k >= 0 && b.conditionInputs[k].name == in.name }) {
			return 0, yaml.Hint(t.ErrorIn(-1, -1, "there is no column %s, which a condition gives", inputerr.Quote(in.name)), "add the column, as the model takes it")
		}
	}
	for at := range combinations {
		fits := true
		for c, v := range t.Values[r] {
			fits = fits && (t.condition[c] < 0 || b.inputValue(b.conditionInputs[t.condition[c]], at) == v)
		}
		if fits {
			return at, nil
		}
	}
	return 0, yaml.Hint(t.ErrorIn(r, t.prediction, "the conditions of the row are none that may be offered"), "predict at values that the conditions list")
}

// checkConstants returns an error if a row has another value of a constant.
func (b *inputMapping) checkConstants(t *predictionTable, r int) error {
	for c, k := range t.constant {
		if k >= 0 && t.Values[r][c] != b.constants[k].value {
			return yaml.Hint(t.ErrorIn(r, c, "the constant %s is %v", inputerr.Quote(b.constants[k].name), b.constants[k].value), "predict at that value, or list the values under constants")
		}
	}
	return nil
}
