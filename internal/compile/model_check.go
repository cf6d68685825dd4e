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

// predictionTolerance is the default of the largest allowed difference between a prediction in a table and the
// prediction of the model. For predictions of magnitude above 1 it is a relative difference.
const predictionTolerance = 1e-5

// A predictionTable is a table of predictions for comparison with those of an imported model. The program that
// trained the model has made them. Each row is a composition. The columns are amounts of ingredients,
// constants, conditions, and the prediction.
type predictionTable struct {
	*dataset.Sheet
	predictionColumn       int   // index of the column with the predictions
	ingredientByColumn     []int // item c is the index of the ingredient whose amounts column c has; −1 if there is none
	constantByColumn       []int // item c is the index of the constant in column c; −1 if there is none
	conditionInputByColumn []int // item c is the index in conditionInputs of the model input in column c; −1 if there is none
}

// checkPredictions compares the predictions of the imported model with those in the table that the node n
// names. It returns an error if one of them differs by more than the tolerance.
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
		got, want := output.valueOf(combinations[combination].Sums(x)), row[t.predictionColumn]
		if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
			return yaml.Hint(t.ErrorAt(r, t.predictionColumn, "the model says %.9g here, and as its inputs are mapped it is %.9g", want, got),
				"see that features, amounts and constants are what it was trained on: its inputs are %s", inputerr.List(b.model.Inputs, 8))
		}
	}
	return nil
}

// readPredictions reads the table of predictions that the node n names.
func (b *inputMapping) readPredictions(ctx context.Context, n *yaml.Node) (*predictionTable, error) {
	sheet, err := b.ReadSheet(ctx, n, "the table of predictions")
	if err != nil {
		return nil, err
	}
	t := &predictionTable{Sheet: sheet, ingredientByColumn: make([]int, len(sheet.Columns)), constantByColumn: make([]int, len(sheet.Columns)), conditionInputByColumn: make([]int, len(sheet.Columns))}
	if t.predictionColumn, err = t.Column("prediction"); err != nil {
		return nil, err
	}
	for c, name := range t.Columns {
		t.ingredientByColumn[c] = findName(b.IngredientNames, name)
		t.constantByColumn[c] = slices.IndexFunc(b.constants, func(in constantInput) bool { return in.name == name })
		t.conditionInputByColumn[c] = slices.IndexFunc(b.conditionInputs, func(in conditionInput) bool { return in.name == name })
		if c != t.predictionColumn && t.ingredientByColumn[c] < 0 && t.constantByColumn[c] < 0 && t.conditionInputByColumn[c] < 0 {
			return nil, yaml.SuggestName(t.ErrorAt(-1, -1, "%s is neither an ingredient nor a constant", inputerr.Quote(name)), name, "there are", b.IngredientNames, 8)
		}
	}
	return t, nil
}

// rowComposition returns the composition of row r in units of the total. In the row the amounts may be in any
// unit, because only their ratios count.
func (b *inputMapping) rowComposition(t *predictionTable, r int) ([]int32, error) {
	sum := 0.0
	for c, v := range t.Values[r] {
		if t.ingredientByColumn[c] >= 0 {
			sum += v
		}
	}
	x, units := make([]int32, len(b.IngredientNames)), 0
	for c, v := range t.Values[r] {
		if t.ingredientByColumn[c] < 0 {
			continue
		}
		exact := float64(v / sum * float64(b.Total))
		whole := math.Round(exact)
		if !(math.Abs(exact-whole) <= 1e-4) || whole < 0 {
			return nil, yaml.Hint(t.ErrorAt(r, c, "%v of %v is %.6g of %d units, which is not whole", v, sum, exact, b.Total), "predict compositions of whole units")
		}
		x[t.ingredientByColumn[c]] = int32(whole)
		units += int(whole)
	}
	if units != b.Total {
		return nil, t.ErrorAt(r, t.predictionColumn, "the amounts of the row come to %d units of %d", units, b.Total)
	}
	return x, nil
}

// rowCombination returns the index of the combination of values of conditions in row r. The parameter
// combinationCount is the number of combinations.
func (b *inputMapping) rowCombination(t *predictionTable, r, combinationCount int) (int, error) {
	for _, in := range b.conditionInputs {
		if !slices.ContainsFunc(t.conditionInputByColumn, func(k int) bool { return k >= 0 && b.conditionInputs[k].name == in.name }) {
			return 0, yaml.Hint(t.ErrorAt(-1, -1, "there is no column %s, which a condition gives", inputerr.Quote(in.name)), "add the column, as the model takes it")
		}
	}
	for at := range combinationCount {
		fits := true
		for c, v := range t.Values[r] {
			fits = fits && (t.conditionInputByColumn[c] < 0 || b.conditionInputValue(b.conditionInputs[t.conditionInputByColumn[c]], at) == v)
		}
		if fits {
			return at, nil
		}
	}
	return 0, yaml.Hint(t.ErrorAt(r, t.predictionColumn, "the conditions of the row are none that may be offered"), "predict at values that the conditions list")
}

// checkConstants returns an error if a constant in row r differs from the constant in the problem file.
func (b *inputMapping) checkConstants(t *predictionTable, r int) error {
	for c, k := range t.constantByColumn {
		if k >= 0 && t.Values[r][c] != b.constants[k].value {
			return yaml.Hint(t.ErrorAt(r, c, "the constant %s is %v", inputerr.Quote(b.constants[k].name), b.constants[k].value), "predict at that value, or list the values under constants")
		}
	}
	return nil
}
