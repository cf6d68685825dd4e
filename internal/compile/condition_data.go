package compile

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// A conditionTable is the values that the conditions had in the known recipes, and how models see them: as amounts of
// further ingredients; see [model.Data.Beside].
type conditionTable struct {
	names       []string       // of the further ingredients
	rows        [][]model.Part // by recipe of the book: their amounts
	codes       *property.Conditions
	nearest     [][]int32 // by recipe: the offered value of each condition that is nearest to the one it had
	knownValues [][]any   // by recipe: the value of each condition, a float64 or a string; nil if unknown
	scales      []conditionScale
}

// takeConditionColumns takes the columns of the conditions out of the labels of a book.
func (s *loader) takeConditionColumns(b *dataset.Book) error {
	if len(s.Conditions) == 0 {
		return nil
	}
	s.conditionColumns = make([]*dataset.Label, len(s.Conditions))
	for k := range s.Conditions {
		c := &s.Conditions[k]
		label, ok := b.Label(c.Name)
		if !ok {
			continue // the table may be of results that have none
		}
		column := *label
		s.conditionColumns[k] = &column
	}
	b.Labels = slices.DeleteFunc(slices.Clone(b.Labels), func(l dataset.Label) bool {
		return slices.ContainsFunc(s.conditionColumns, func(c *dataset.Label) bool { return c != nil && c.Name == l.Name })
	})
	return nil
}

// readColumn returns the values of a condition by recipe of a book, each a float64 or a category that the file lists; nil
// where unknown. column is nil if the book does not have it.
func (c *Condition) readColumn(b *dataset.Book, column *dataset.Label) ([]any, error) {
	if b == nil {
		return nil, nil
	}
	had := make([]any, len(b.Recipes))
	if column == nil || len(column.Classes) == 0 {
		return had, nil
	}
	if c.Numbers != nil {
		numbers, err := column.Numbers()
		if err != nil {
			return nil, err
		}
		for r, v := range numbers {
			if !math.IsNaN(v) {
				had[r] = v
			}
		}
		return had, nil
	}
	for r := range had {
		if column.ClassOf[r] < 0 {
			continue
		}
		text := dataset.NormalizeName(column.Value(r))
		at := slices.IndexFunc(c.file.Categories, func(category string) bool { return strings.EqualFold(category, text) })
		if at < 0 {
			e := b.ErrorAtRecipe(r)
			e.Message = inputerr.Quote(b.Recipes[r].Name) + " has the " + c.Name + " " + inputerr.Quote(text) + ", which the condition does not list"
			e.Hint = "add it to the values of the condition; a rule or given keeps it from being offered"
			if near := inputerr.DidYouMean(text, c.file.Categories); near != "" {
				e.Hint = near + " Else " + e.Hint
			}
			return nil, e
		}
		had[r] = c.file.Categories[at]
	}
	return had, nil
}

// Nearest returns the index of the offered value that is nearest to a value, a float64, a string or nil for unknown: of a
// number, the lower of two; of an unknown value and of a category that is not offered, the usual value.
func (c *Condition) Nearest(v any) int32 {
	switch v := v.(type) {
	case float64:
		best := 0
		for k, number := range c.Numbers {
			if math.Abs(number-v) < math.Abs(c.Numbers[best]-v) {
				best = k
			}
		}
		return int32(best)
	case string:
		if at := slices.Index(c.Categories, v); at >= 0 {
			return int32(at)
		}
	}
	return c.usual
}

// setUsual makes the offered value that is nearest to most values of the known recipes the usual one. Without any it is
// the one with the greatest weight. Of equal ones it is the first.
func (c *Condition) setUsual(had []any) {
	counts := make([]float64, c.Len())
	known := false
	for _, v := range had {
		if text, is := v.(string); v != nil && (!is || slices.Contains(c.Categories, text)) {
			counts[c.Nearest(v)]++
			known = true
		}
	}
	if !known {
		counts = c.weights
	}
	c.usual = int32(slices.Index(counts, slices.Max(counts)))
}

// tabulateConditions reads the values that the conditions had in the known recipes.
func (s *loader) tabulateConditions(all []Condition) error {
	if len(all) == 0 {
		return nil
	}
	recipes := 0
	if s.Book != nil {
		recipes = len(s.Book.Recipes)
	}
	t := &conditionTable{rows: make([][]model.Part, recipes), nearest: make([][]int32, recipes), knownValues: make([][]any, recipes)}
	var amounts [][][]int32
	for k := range all {
		c := &all[k]
		var column *dataset.Label
		if s.conditionColumns != nil {
			column = s.conditionColumns[k]
		}
		had, err := c.readColumn(s.Book, column)
		if err != nil {
			return err
		}
		c.setUsual(had)
		for r, v := range had {
			t.knownValues[r], t.nearest[r] = append(t.knownValues[r], v), append(t.nearest[r], c.Nearest(v))
		}
		scale := c.newScale(len(s.Names)+len(t.names), had)
		t.scales, t.names = append(t.scales, scale), append(t.names, scale.names...)
		for r, v := range had {
			if v != nil {
				t.rows[r] = append(t.rows[r], scale.part(v))
			}
		}
		var codes [][]int32
		for v := range c.Len() {
			code := make([]int32, len(scale.names))
			part := scale.part(c.Value(v))
			code[int(part.Ingredient)-scale.first] = part.Amount
			codes = append(codes, code)
		}
		amounts = append(amounts, codes)
		if text := c.extrapolation(had); text != "" {
			s.Warn(text)
		}
	}
	var err error
	if t.codes, err = property.NewConditions(len(s.Names), amounts); err != nil {
		return err
	}
	s.conditionTable = t
	return nil
}

// LeastCoordinate is the coordinate of the least number of a condition, of 0 to 1. Nothing is below it but a missing value.
const LeastCoordinate = 0.25

// A conditionScale is how models see the values of one condition: a number as the amount of one further ingredient, a
// category as all of an ingredient of its own.
type conditionScale struct {
	first           int      // index of the first further ingredient
	names           []string // of the further ingredients
	categories      []string // nil for numbers
	least, greatest float64  // the numbers at the ends of the coordinate
}

// newScale returns the scale of a condition, whose first further ingredient has the given index. had has the values of
// the known recipes.
func (c *Condition) newScale(first int, had []any) conditionScale {
	s := conditionScale{first: first}
	if c.Numbers == nil {
		s.categories = c.file.Categories
		for _, category := range s.categories {
			s.names = append(s.names, c.Name+": "+category)
		}
		return s
	}
	s.names = []string{c.Name}
	numbers := numbersOf(had)
	s.least, s.greatest = finiteRange(append(numbers, c.Numbers...))
	if from, to := finiteRange(numbers); from < to {
		// Models know as little of what lies further away, and numbers closer together must stay apart.
		s.least, s.greatest = max(s.least, from-(to-from)), min(s.greatest, to+(to-from))
	}
	return s
}

// part returns the further ingredient that stands for a value, with its amount. Numbers beyond the ends are taken to be
// there.
func (s *conditionScale) part(v any) model.Part {
	if category, is := v.(string); is {
		return model.Part{Ingredient: int32(s.first + slices.Index(s.categories, category)), Amount: model.BesideTotal}
	}
	u := 1.0
	if s.greatest > s.least {
		number := min(max(v.(float64), s.least), s.greatest)
		u = LeastCoordinate + float64((1-LeastCoordinate)*((number-s.least)/(s.greatest-s.least)))
	}
	return model.Part{Ingredient: int32(s.first), Amount: int32(math.Round(float64(u * u * model.BesideTotal)))}
}

// numbersOf returns the numbers among values.
func numbersOf(values []any) (numbers []float64) {
	for _, v := range values {
		if f, is := v.(float64); is {
			numbers = append(numbers, f)
		}
	}
	return numbers
}

// extrapolation says that numbers of a condition lie beyond all those that the recipes had; "" if none does.
func (c *Condition) extrapolation(had []any) string {
	if c.Numbers == nil {
		return ""
	}
	from, to := finiteRange(numbersOf(had))
	least, greatest := c.Numbers[0], c.Numbers[len(c.Numbers)-1]
	if from > to || from <= least && greatest <= to {
		return ""
	}
	may := "may be " + c.file.NumberText(least) + " to " + c.file.NumberText(greatest)
	if least == greatest {
		may = "is " + c.file.NumberText(least)
	}
	return fmt.Sprintf("The %s %s, and the recipes had %s to %s: beyond these the models extrapolate.", c.Name, may, c.file.NumberText(from), c.file.NumberText(to))
}

// Extrapolations says of which conditions the values that may be offered lie beyond all those that the recipes had.
func (p *Problem) Extrapolations() (all []string) {
	for k := range p.Conditions {
		var had []any
		for _, values := range p.conditionTable.knownValues {
			had = append(had, values[k])
		}
		if text := p.Conditions[k].extrapolation(had); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// addConditions adds the values of conditions to training data, whose rows are the given recipes of the book. failed
// are rows of other recipes.
func (t *conditionTable) addConditions(data *model.Data, recipes []int, failed [][]model.Part, failedRecipes []int) {
	if t == nil {
		return
	}
	inside := len(data.Ingredients)
	data.Ingredients = append(slices.Clip(data.Ingredients), t.names...)
	data.Beside = len(t.names)
	for k, r := range recipes {
		data.Rows[k] = append(slices.Clip(data.Rows[k]), t.rows[r]...)
	}
	for k, r := range failedRecipes {
		failed[k] = append(slices.Clip(failed[k]), t.rows[r]...)
	}
	data.Features = t.withFeatures(data.Features, inside)
}

// withFeatures returns features that are not those of the amounts alone, with one for each further ingredient.
func (t *conditionTable) withFeatures(features []model.Feature, inside int) []model.Feature {
	if t == nil || features == nil {
		return features
	}
	features = slices.Clip(features)
	for k, name := range t.names {
		features = append(features, model.Feature{Name: name, Ingredients: []int32{int32(inside + k)}})
	}
	return features
}

// conditions returns how models see the conditions; nil without conditions.
func (s *readContext) conditions() *property.Conditions {
	if s.conditionTable == nil {
		return nil
	}
	return s.conditionTable.codes
}

// joinConditions makes a model of recipes and conditions score compositions with conditions.
func (w *learntModel) joinConditions(c *property.Conditions) *learntModel {
	w.conditions = c
	if relearn := w.relearn; c != nil {
		w.relearn = func(ctx context.Context, part *model.Data) (mcmc.Property, error) {
			p, err := relearn(ctx, part)
			if err != nil {
				return nil, err
			}
			return c.Wrap(p.(mcmc.LineProperty)), nil
		}
	}
	return w
}

// wrap returns a property of a model as one of compositions with conditions.
func (w *learntModel) wrap(p mcmc.LineProperty) mcmc.LineProperty {
	if w == nil || w.conditions == nil {
		return p
	}
	return w.conditions.Wrap(p)
}

// amounts returns what a model predicts from: the amounts of x, and those that stand for its conditions.
func (w *learntModel) amounts(x *mcmc.Composition) []int32 {
	if w == nil || w.conditions == nil {
		return x.Amounts()
	}
	return w.conditions.Amounts(x)
}

// ModelAmounts returns the amounts from which the property's model predicts: those of x, and behind them those that
// stand for its conditions.
func (w *Property) ModelAmounts(x *mcmc.Composition) []int32 { return w.learnt.amounts(x) }

// joinConditions returns the value scale of a model of recipes and conditions.
func (l *valueScale) joinConditions(c *property.Conditions) *valueScale {
	if l == nil || c == nil {
		return l
	}
	own := *l
	if asProperty := l.asProperty; asProperty != nil {
		own.asProperty = func(d *property.Desirability) (mcmc.Property, error) {
			p, err := asProperty(d)
			if err != nil {
				return nil, err
			}
			return c.Wrap(p.(mcmc.LineProperty)), nil
		}
	}
	if value := l.value; value != nil {
		own.value = func(x *mcmc.Composition) float64 { return value(c.Extend(x)) }
	}
	if probability := l.boundProbability; probability != nil {
		own.boundProbability = func(least, most float64) (mcmc.LineProperty, error) {
			p, err := probability(least, most)
			if err != nil {
				return nil, err
			}
			return c.Wrap(p), nil
		}
	}
	return &own
}

// conditionsOf returns, by recipe of a book, the index of the offered value of each condition that is nearest to the one
// that the book has, or is given. It is nil without conditions. A condition that the book does not have is at its usual
// value.
func (p *Problem) conditionsOf(b *dataset.Book) ([][]int32, error) {
	all := make([][]int32, len(b.Recipes))
	for k := range p.Conditions {
		c := &p.Conditions[k]
		had, err := c.valuesIn(b)
		if err != nil {
			return nil, err
		}
		for r, v := range had {
			all[r] = append(all[r], c.Nearest(v))
		}
	}
	return all, nil
}

// valuesIn returns the values of the condition by recipe of a book; see [Condition.readColumn].
func (c *Condition) valuesIn(b *dataset.Book) ([]any, error) {
	column, ok := b.Label(c.Name)
	if !ok {
		column = nil
	}
	return c.readColumn(b, column)
}

// ConditionWarnings says of how many recipes of a book a condition is unknown or not offered, and what [Problem.Score]
// takes instead.
func (p *Problem) ConditionWarnings(b *dataset.Book) ([]string, error) {
	all := []string{}
	for k := range p.Conditions {
		c := &p.Conditions[k]
		had, err := c.valuesIn(b)
		if err != nil {
			return nil, err
		}
		unknown, moved := 0, 0
		for _, v := range had {
			switch {
			case v == nil:
				unknown++
			case c.Index(v) < 0:
				moved++
			}
		}
		if unknown > 0 {
			all = append(all, fmt.Sprintf("The %s of %s is unknown: kir scores at %s.", c.Name, inputerr.Count(unknown, "recipe"), c.Text(int(c.usual))))
		}
		if moved > 0 {
			all = append(all, fmt.Sprintf("The %s of %s is not one that may be offered, %s: kir scores at the nearest.", c.Name, inputerr.Count(moved, "recipe"), c.OfferedText()))
		}
	}
	return all, nil
}
