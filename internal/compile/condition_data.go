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

// A conditionTable has the values of the conditions in the known recipes, and their encoding for models. A
// model takes only amounts of ingredients. Therefore the value of a condition is encoded as amounts of code
// ingredients, which follow the ingredients of the recipe; see [model.Data.Beside].
type conditionTable struct {
	codeNames             []string                   // names of the code ingredients, which encode the conditions for models
	codesByRecipe         [][]model.Part             // item r has the amounts of code ingredients for the known recipe with index r
	offeredEncoder        *property.ConditionEncoder // encodes the offered values of conditions for models
	nearestOfferedIndices [][]int32                  // item [r][k] is the index of the offered value of condition k that is nearest to the value in known recipe r
	knownValues           [][]any                    // item [r][k] is the value of condition k in known recipe r: a float64, a string, or nil if unknown
	encoders              []conditionEncoder         // item k encodes any value of condition k for models
}

// extractConditionColumns removes the columns with values of conditions from the labels of b, and stores them
// in conditionColumns.
func (s *loader) extractConditionColumns(b *dataset.Book) error {
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

// readConditionColumn returns the value of the condition in each recipe of b: a float64, or a category that
// the file lists. A value is nil if it is unknown. The parameter column is nil if the table has no column for
// the condition.
func (c *Condition) readConditionColumn(b *dataset.Book, column *dataset.Label) ([]any, error) {
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
		at := slices.IndexFunc(c.fileCondition.Categories, func(category string) bool { return strings.EqualFold(category, text) })
		if at < 0 {
			e := b.ErrorAtRecipe(r)
			e.Message = inputerr.Quote(b.Recipes[r].Name) + " has the " + c.Name + " " + inputerr.Quote(text) + ", which the condition does not list"
			e.Hint = "add it to the values of the condition; a rule or given keeps it from being offered"
			if near := inputerr.DidYouMean(text, c.fileCondition.Categories); near != "" {
				e.Hint = near + " Else " + e.Hint
			}
			return nil, e
		}
		had[r] = c.fileCondition.Categories[at]
	}
	return had, nil
}

// Nearest returns the index of the offered value nearest to the number v. Of two equally near numbers it takes
// the lower. If v is a category, it returns the index of the category. If v is nil (unknown), or a category
// that is not offered, it returns the index of the usual value; see [Condition.chooseUsualValue].
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
	return c.usualValueIndex
}

// chooseUsualValue chooses the usual value, which is the offered value that replaces an unknown value. The
// parameter recipeValues has the value in each known recipe, or nil. The usual value is the offered value to
// which most of these values are nearest. If no recipe has a value, it is the value with the greatest weight.
// If several qualify, it is the first.
func (c *Condition) chooseUsualValue(recipeValues []any) {
	counts := make([]float64, c.Len())
	known := false
	for _, v := range recipeValues {
		if text, is := v.(string); v != nil && (!is || slices.Contains(c.Categories, text)) {
			counts[c.Nearest(v)]++
			known = true
		}
	}
	if !known {
		counts = c.weights
	}
	c.usualValueIndex = int32(slices.Index(counts, slices.Max(counts)))
}

// tabulateConditions makes the [conditionTable] of the known recipes.
func (s *loader) tabulateConditions(all []Condition) error {
	if len(all) == 0 {
		return nil
	}
	recipes := 0
	if s.Book != nil {
		recipes = len(s.Book.Recipes)
	}
	t := &conditionTable{codesByRecipe: make([][]model.Part, recipes), nearestOfferedIndices: make([][]int32, recipes), knownValues: make([][]any, recipes)}
	var amounts [][][]int32
	for k := range all {
		c := &all[k]
		var column *dataset.Label
		if s.conditionColumns != nil {
			column = s.conditionColumns[k]
		}
		had, err := c.readConditionColumn(s.Book, column)
		if err != nil {
			return err
		}
		c.chooseUsualValue(had)
		for r, v := range had {
			t.knownValues[r], t.nearestOfferedIndices[r] = append(t.knownValues[r], v), append(t.nearestOfferedIndices[r], c.Nearest(v))
		}
		scale := c.newEncoder(len(s.IngredientNames)+len(t.codeNames), had)
		t.encoders, t.codeNames = append(t.encoders, scale), append(t.codeNames, scale.codeNames...)
		for r, v := range had {
			if v != nil {
				t.codesByRecipe[r] = append(t.codesByRecipe[r], scale.encode(v))
			}
		}
		var codes [][]int32
		for v := range c.Len() {
			code := make([]int32, len(scale.codeNames))
			part := scale.encode(c.Value(v))
			code[int(part.Ingredient)-scale.firstCodeIndex] = part.Amount
			codes = append(codes, code)
		}
		amounts = append(amounts, codes)
		if text := c.extrapolationWarning(had); text != "" {
			s.Warn(text)
		}
	}
	var err error
	if t.offeredEncoder, err = property.NewConditions(len(s.IngredientNames), amounts); err != nil {
		return err
	}
	s.conditionTable = t
	return nil
}

// LeastCoordinate is the coordinate of the least number of a condition. Models use coordinates from
// LeastCoordinate to 1 instead of the numbers of a condition. The coordinate 0 stands for a missing value.
const LeastCoordinate = 0.25

// A conditionEncoder encodes the values of one condition for models, as amounts of code ingredients. A number
// becomes the amount of one code ingredient. Each category has its own code ingredient, whose amount is the
// maximum for that category and 0 for others.
type conditionEncoder struct {
	firstCodeIndex              int      // index of the first code ingredient of the condition
	codeNames                   []string // names of the code ingredients of the condition
	categories                  []string // all categories, in the order of their code ingredients; nil for numbers
	leastNumber, greatestNumber float64  // numbers whose coordinates are LeastCoordinate and 1; see [LeastCoordinate]
}

// newEncoder returns the encoder of the condition. The parameter firstCodeIndex is the index of the first code
// ingredient of the condition, and recipeValues has the values in the known recipes.
func (c *Condition) newEncoder(firstCodeIndex int, recipeValues []any) conditionEncoder {
	s := conditionEncoder{firstCodeIndex: firstCodeIndex}
	if c.Numbers == nil {
		s.categories = c.fileCondition.Categories
		for _, category := range s.categories {
			s.codeNames = append(s.codeNames, c.Name+": "+category)
		}
		return s
	}
	s.codeNames = []string{c.Name}
	numbers := onlyNumbers(recipeValues)
	s.leastNumber, s.greatestNumber = finiteRange(append(numbers, c.Numbers...))
	if from, to := finiteRange(numbers); from < to {
		// Models know as little of what lies further away, and numbers closer together must stay apart.
		s.leastNumber, s.greatestNumber = max(s.leastNumber, from-(to-from)), min(s.greatestNumber, to+(to-from))
	}
	return s
}

// encode returns the code ingredient that stands for the value v, with its amount. A number outside the range
// from leastNumber to greatestNumber is first moved to the nearer end.
func (s *conditionEncoder) encode(v any) model.Part {
	if category, is := v.(string); is {
		return model.Part{Ingredient: int32(s.firstCodeIndex + slices.Index(s.categories, category)), Amount: model.MaxBesideAmount}
	}
	u := 1.0
	if s.greatestNumber > s.leastNumber {
		number := min(max(v.(float64), s.leastNumber), s.greatestNumber)
		u = LeastCoordinate + float64((1-LeastCoordinate)*((number-s.leastNumber)/(s.greatestNumber-s.leastNumber)))
	}
	return model.Part{Ingredient: int32(s.firstCodeIndex), Amount: int32(math.Round(float64(u * u * model.MaxBesideAmount)))}
}

// onlyNumbers returns the items of values that are numbers.
func onlyNumbers(values []any) (numbers []float64) {
	for _, v := range values {
		if f, is := v.(float64); is {
			numbers = append(numbers, f)
		}
	}
	return numbers
}

// extrapolationWarning returns a sentence if some offered number lies outside the range of the numbers in
// recipeValues, which has the values in the known recipes. Otherwise it returns "".
func (c *Condition) extrapolationWarning(recipeValues []any) string {
	if c.Numbers == nil {
		return ""
	}
	from, to := finiteRange(onlyNumbers(recipeValues))
	least, greatest := c.Numbers[0], c.Numbers[len(c.Numbers)-1]
	if from > to || from <= least && greatest <= to {
		return ""
	}
	may := "may be " + c.fileCondition.NumberText(least) + " to " + c.fileCondition.NumberText(greatest)
	if least == greatest {
		may = "is " + c.fileCondition.NumberText(least)
	}
	return fmt.Sprintf("The %s %s, and the recipes had %s to %s: beyond these the models extrapolate.", c.Name, may, c.fileCondition.NumberText(from), c.fileCondition.NumberText(to))
}

// Extrapolations returns a sentence for each condition that has an offered number outside the range of the
// known recipes.
func (p *Problem) Extrapolations() (all []string) {
	for k := range p.Conditions {
		var had []any
		for _, values := range p.conditionTable.knownValues {
			had = append(had, values[k])
		}
		if text := p.Conditions[k].extrapolationWarning(had); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// addConditions appends the code ingredients, which encode conditions, to the rows of training data. Row k of
// the data is the known recipe with index recipes[k]. Row k of failed is the known recipe with index
// failedRecipes[k].
func (t *conditionTable) addConditions(data *model.Data, recipes []int, failed [][]model.Part, failedRecipes []int) {
	if t == nil {
		return
	}
	inside := len(data.Ingredients)
	data.Ingredients = append(slices.Clip(data.Ingredients), t.codeNames...)
	data.Beside = len(t.codeNames)
	for k, r := range recipes {
		data.Rows[k] = append(slices.Clip(data.Rows[k]), t.codesByRecipe[r]...)
	}
	for k, r := range failedRecipes {
		failed[k] = append(slices.Clip(failed[k]), t.codesByRecipe[r]...)
	}
	data.Features = t.withCodeFeatures(data.Features, inside)
}

// withCodeFeatures appends one feature for each code ingredient. It returns nil if features is nil, which
// stands for all amounts. The parameter ingredientCount is the number of ingredients of recipes.
func (t *conditionTable) withCodeFeatures(features []model.Feature, ingredientCount int) []model.Feature {
	if t == nil || features == nil {
		return features
	}
	features = slices.Clip(features)
	for k, name := range t.codeNames {
		features = append(features, model.Feature{Name: name, Ingredients: []int32{int32(ingredientCount + k)}})
	}
	return features
}

// offeredConditionEncoder returns the encoder of the offered values of conditions for models. It returns nil if the
// problem has no conditions.
func (s *readContext) offeredConditionEncoder() *property.ConditionEncoder {
	if s.conditionTable == nil {
		return nil
	}
	return s.conditionTable.offeredEncoder
}

// withConditions makes the properties that the function relearn returns accept compositions with conditions.
// The parameter c encodes the conditions; withConditions stores c in w.
func (w *learntModel) withConditions(c *property.ConditionEncoder) *learntModel {
	w.conditionEncoder = c
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

// wrapProperty returns the property p, changed so that it encodes the conditions of a composition before it
// computes the score.
func (w *learntModel) wrapProperty(p mcmc.LineProperty) mcmc.LineProperty {
	if w == nil || w.conditionEncoder == nil {
		return p
	}
	return w.conditionEncoder.Wrap(p)
}

// modelAmounts returns the inputs of the model for the composition x: the amounts of the ingredients of x, then
// the amounts that encode the conditions of x.
func (w *learntModel) modelAmounts(x *mcmc.Composition) []int32 {
	if w == nil || w.conditionEncoder == nil {
		return x.Amounts()
	}
	return w.conditionEncoder.Amounts(x)
}

// ModelAmounts returns the inputs of the model of the property for the composition x: the amounts of the
// ingredients of x, then the amounts that encode the conditions of x; see [Setting.Codes].
func (w *Property) ModelAmounts(x *mcmc.Composition) []int32 { return w.learntModel.modelAmounts(x) }

// withConditions returns a copy of the value scale whose functions accept compositions with conditions. The
// parameter c encodes the conditions.
func (l *valueScale) withConditions(c *property.ConditionEncoder) *valueScale {
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
	if value := l.scoredValue; value != nil {
		own.scoredValue = func(x *mcmc.Composition) float64 { return value(c.Extend(x)) }
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

// nearestOfferedByRecipe returns indices of offered values of the conditions. Item [r][k] is for the value of
// condition k in recipe r of b: the index of the nearest offered value. If b has no column for the condition,
// it is the index of the usual value. Item r is nil if the problem has no conditions.
func (p *Problem) nearestOfferedByRecipe(b *dataset.Book) ([][]int32, error) {
	all := make([][]int32, len(b.Recipes))
	for k := range p.Conditions {
		c := &p.Conditions[k]
		had, err := c.valuesByRecipe(b)
		if err != nil {
			return nil, err
		}
		for r, v := range had {
			all[r] = append(all[r], c.Nearest(v))
		}
	}
	return all, nil
}

// valuesByRecipe returns the value of the condition in each recipe of b; see [Condition.readConditionColumn].
func (c *Condition) valuesByRecipe(b *dataset.Book) ([]any, error) {
	column, ok := b.Label(c.Name)
	if !ok {
		column = nil
	}
	return c.readConditionColumn(b, column)
}

// ConditionWarnings returns a sentence for each condition whose value is unknown, or is not offered, in some
// recipes of b. The sentence tells how many recipes there are and which value [Problem.Score] uses instead.
func (p *Problem) ConditionWarnings(b *dataset.Book) ([]string, error) {
	all := []string{}
	for k := range p.Conditions {
		c := &p.Conditions[k]
		had, err := c.valuesByRecipe(b)
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
			all = append(all, fmt.Sprintf("The %s of %s is unknown: kir scores at %s.", c.Name, inputerr.Count(unknown, "recipe"), c.Text(int(c.usualValueIndex))))
		}
		if moved > 0 {
			all = append(all, fmt.Sprintf("The %s of %s is not one that may be offered, %s: kir scores at the nearest.", c.Name, inputerr.Count(moved, "recipe"), c.OfferedText()))
		}
	}
	return all, nil
}
