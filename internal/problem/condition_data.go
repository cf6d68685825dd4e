package problem

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
	names   []string       // of the further ingredients
	rows    [][]model.Part // by recipe of the book: their amounts
	codes   *property.Conditions
	nearest [][]int32 // by recipe: the offered value of each condition that is nearest to the one it had
	had     [][]any   // by recipe: the value of each condition, a float64 or a string; nil if unknown
	scales  []conditionScale
}

// A conditionScale is how models see the values of one condition.
type conditionScale struct {
	first           int     // index of its first further ingredient
	least, greatest float64 // the numbers at the ends of the coordinate; of categories not used
}

// code returns the amount that stands for a number. Numbers beyond the ends are taken to be there.
func (s *conditionScale) code(v float64) int32 {
	u := 1.0
	if s.greatest > s.least {
		v = min(max(v, s.least), s.greatest)
		u = LeastCoordinate + float64((1-LeastCoordinate)*((v-s.least)/(s.greatest-s.least)))
	}
	return int32(math.Round(float64(u * u * model.BesideTotal)))
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

// tabulateConditions reads the values that the conditions had in the known recipes.
func (s *loader) tabulateConditions(all []Condition) error {
	if len(all) == 0 {
		return nil
	}
	recipes := 0
	if s.Book != nil {
		recipes = len(s.Book.Recipes)
	}
	t := &conditionTable{rows: make([][]model.Part, recipes), nearest: make([][]int32, recipes), had: make([][]any, recipes)}
	for r := range t.nearest {
		t.nearest[r], t.had[r] = make([]int32, len(all)), make([]any, len(all))
	}
	first := len(s.Names)
	var amounts [][][]int32
	for k := range all {
		var column *dataset.Label
		if s.conditionColumns != nil {
			column = s.conditionColumns[k]
		}
		var codes [][]int32
		var err error
		if all[k].Numbers != nil {
			codes, err = t.addNumbers(&all[k], k, column, first+len(t.names))
			s.warnBeyond(&all[k], column)
		} else {
			codes, err = t.addCategories(s.Book, &all[k], k, column, first+len(t.names))
		}
		if err != nil {
			return err
		}
		amounts = append(amounts, codes)
	}
	var err error
	if t.codes, err = property.NewConditions(first, amounts); err != nil {
		return err
	}
	s.conditionTable = t
	return nil
}

// LeastCoordinate is the coordinate of the least number of a condition, of 0 to 1. Nothing is below it but a missing value.
const LeastCoordinate = 0.25

// addNumbers adds a condition of numbers, whose ingredient has the given index. It returns the amounts of the offered
// values.
func (t *conditionTable) addNumbers(c *Condition, k int, column *dataset.Label, ingredient int) (codes [][]int32, err error) {
	had := make([]float64, len(t.rows))
	for r := range had {
		had[r] = math.NaN()
	}
	if column != nil && len(column.Classes) > 0 {
		if had, err = column.Numbers(); err != nil {
			return nil, err
		}
	}
	least, greatest := finiteRange(append(slices.Clone(had), c.Numbers...))
	if from, to := finiteRange(had); from < to {
		// Models know as little of what lies further away, and numbers closer together must stay apart.
		least, greatest = max(least, from-(to-from)), min(greatest, to+(to-from))
	}
	scale := conditionScale{ingredient, least, greatest}
	t.scales = append(t.scales, scale)
	t.names = append(t.names, c.Name)
	for r, v := range had {
		if !math.IsNaN(v) {
			t.rows[r] = append(t.rows[r], model.Part{Ingredient: int32(ingredient), Amount: scale.code(v)})
			t.nearest[r][k], t.had[r][k] = nearestNumber(c.Numbers, v), v
		}
	}
	for _, v := range c.Numbers {
		codes = append(codes, []int32{scale.code(v)})
	}
	return codes, nil
}

// warnBeyond warns of numbers of a condition that lie beyond all those that the recipes had.
func (s *loader) warnBeyond(c *Condition, column *dataset.Label) {
	if column == nil {
		return
	}
	had, err := column.Numbers()
	if err != nil {
		return // which addNumbers returns
	}
	from, to := finiteRange(had)
	least, greatest := c.Numbers[0], c.Numbers[len(c.Numbers)-1]
	if from > to || from <= least && greatest <= to {
		return
	}
	may := "may be " + c.file.NumberText(least) + " to " + c.file.NumberText(greatest)
	if least == greatest {
		may = "is " + c.file.NumberText(least)
	}
	s.Warn(fmt.Sprintf("The %s %s, and the recipes had %s to %s: beyond these the models extrapolate.", c.Name, may, c.file.NumberText(from), c.file.NumberText(to)))
}

// nearestNumber returns the index of the number nearest to v, the lower of two.
func nearestNumber(numbers []float64, v float64) int32 {
	best := 0
	for k, number := range numbers {
		if math.Abs(number-v) < math.Abs(numbers[best]-v) {
			best = k
		}
	}
	return int32(best)
}

// addCategories adds a condition of categories, of which each that the file lists is an ingredient. It returns the
// amounts of the offered values.
func (t *conditionTable) addCategories(b *dataset.Book, c *Condition, k int, column *dataset.Label, first int) (codes [][]int32, err error) {
	all := c.file.Categories
	t.scales = append(t.scales, conditionScale{first: first})
	for _, category := range all {
		t.names = append(t.names, c.Name+": "+category)
	}
	for r := range t.rows {
		if column == nil || column.ClassOf[r] < 0 {
			continue
		}
		had := dataset.NormalizeName(column.Value(r))
		at := slices.IndexFunc(all, func(category string) bool { return strings.EqualFold(category, had) })
		if at < 0 {
			e := b.ErrorAtRecipe(r)
			e.Message = inputerr.Quote(b.Recipes[r].Name) + " has the " + c.Name + " " + inputerr.Quote(had) + ", which the condition does not list"
			e.Hint = "add it to the values of the condition; a rule or given keeps it from being offered"
			if near := inputerr.DidYouMean(had, all); near != "" {
				e.Hint = near + " Else " + e.Hint
			}
			return nil, e
		}
		t.rows[r] = append(t.rows[r], model.Part{Ingredient: int32(first + at), Amount: model.BesideTotal})
		t.had[r][k] = all[at]
		if offered := slices.Index(c.Categories, all[at]); offered >= 0 {
			t.nearest[r][k] = int32(offered)
		}
	}
	for _, category := range c.Categories {
		code := make([]int32, len(all))
		code[slices.Index(all, category)] = model.BesideTotal
		codes = append(codes, code)
	}
	return codes, nil
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

// conditionsOf returns, by recipe of a book, the index of the offered value of each condition that is nearest to the
// one that the book has, or is given. It is nil without conditions. A condition that the book does not have is at its
// likeliest value.
func (p *Problem) conditionsOf(b *dataset.Book) ([][]int32, error) {
	all := make([][]int32, len(b.Recipes))
	if len(p.Conditions) == 0 {
		return all, nil
	}
	for r := range all {
		x, err := p.Target.Space().Composition([]mcmc.Part{{Ingredient: 0, Amount: p.Total}}, nil)
		if err != nil {
			return nil, err
		}
		all[r] = x.AppendConditions(nil)
	}
	for k := range p.Conditions {
		c := &p.Conditions[k]
		column, ok := b.Label(c.Name)
		if !ok || len(column.Classes) == 0 {
			continue
		}
		if c.Numbers == nil {
			for r := range all {
				if at := slices.IndexFunc(c.Categories, func(v string) bool { return strings.EqualFold(v, dataset.NormalizeName(column.Value(r))) }); at >= 0 {
					all[r][k] = int32(at)
				}
			}
			continue
		}
		numbers, err := column.Numbers()
		if err != nil {
			return nil, err
		}
		for r, v := range numbers {
			if !math.IsNaN(v) {
				all[r][k] = nearestNumber(c.Numbers, v)
			}
		}
	}
	return all, nil
}
