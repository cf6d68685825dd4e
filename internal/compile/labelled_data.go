package compile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/model"
)

// labelNamed returns the label of the known recipes with the given name. If the file gives no name, the error
// is placed at the node n.
func labelNamed(s *readContext, n *yaml.Node, name config.Written[string]) (*dataset.Label, error) {
	if s.Book == nil {
		return nil, yaml.Hint(n.Errorf("a model is learnt from recipes, and the problem has none"), "add recipes: a CSV file")
	}
	if name.Node == nil {
		return nil, yaml.Hint(n.Errorf("there is no label to learn"), "%s", labelNamesHint(s.Book))
	}
	label, ok := s.Book.Label(name.Value)
	if !ok {
		return nil, yaml.Hint(name.Node.Errorf("the recipes have no label %s", name.Node.Describe()), "%s", labelNamesHint(s.Book))
	}
	return label, nil
}

// labelNamesHint returns a hint that lists the labels of the recipes.
func labelNamesHint(book *dataset.Book) string {
	if len(book.Labels) == 0 {
		return "they have none: add a column, and in the wide form name it under labels"
	}
	names := make([]string, len(book.Labels))
	for k := range book.Labels {
		names[k] = book.Labels[k].Name
	}
	return "they have " + inputerr.List(names, 12)
}

// labelledData returns the training data for a label. Row k of the data is the known recipe with index
// recipes[k]. The result failed has the amounts of the recipes that failed. The parameter failureWords lists
// values of the label that mean failure. If s is not nil, the data include the conditions of the recipes.
func labelledData(s *readContext, b *dataset.Book, label *dataset.Label, total int, numeric bool, failureWords []string) (data *model.Data, recipes []int, failed [][]model.Part, err error) {
	if !numeric {
		data, err = forestData(s, b, label, total, false, nil)
		return data, recipesWithLabel(label), nil, err
	}
	numbers, failures, err := label.Measurements(failureWords...)
	if err != nil && s != nil {
		err = s.tryNumberFixes(err, label.Name, failureWords)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	var failedRecipes []int
	data = &model.Data{Label: label.Name, Ingredients: b.Ingredients.Names, Total: total}
	for r := range b.Recipes {
		if math.IsNaN(numbers[r]) && !failures[r] {
			continue
		}
		row, err := recipeRow(b, r, total)
		if err != nil {
			return nil, nil, nil, err
		}
		if failures[r] {
			failed, failedRecipes = append(failed, row), append(failedRecipes, r)
			continue
		}
		data.Rows, data.Numbers = append(data.Rows, row), append(data.Numbers, numbers[r])
		recipes = append(recipes, r)
	}
	if len(data.Rows) == 0 {
		return nil, nil, nil, &inputerr.Error{File: b.File, Message: "no recipe has a number for the label " + inputerr.Quote(label.Name), Hint: "fill in the column"}
	}
	if s != nil {
		s.conditionTable.addConditions(data, recipes, failed, failedRecipes)
	}
	return data, recipes, failed, nil
}

// recipesWithLabel returns the indices of the recipes that have a value of the label.
func recipesWithLabel(label *dataset.Label) (recipes []int) {
	for r, class := range label.ClassOf {
		if class >= 0 {
			recipes = append(recipes, r)
		}
	}
	return recipes
}

// recipeRow returns the amounts of the recipe with index r, scaled to total units.
func recipeRow(b *dataset.Book, r, total int) ([]model.Part, error) {
	amounts, err := b.Closure(r, total)
	if err != nil {
		return nil, err
	}
	row := make([]model.Part, len(amounts))
	for k, p := range b.Recipes[r].Parts {
		row[k] = model.Part{Ingredient: p.Ingredient, Amount: int32(amounts[k])}
	}
	return row, nil
}

// readStandardDeviations returns the standard deviations of the recipes with the given indices. They are the
// values in the given column. A missing standard deviation is NaN. If the file names no column, the result is
// nil.
func (s *readContext) readStandardDeviations(column config.Written[string], recipes []int) ([]float64, error) {
	if column.Node == nil {
		return nil, nil
	}
	label, err := labelNamed(s, column.Node, column)
	if err != nil {
		return nil, err
	}
	sd, err := labelStandardDeviations(label, recipes)
	if err != nil {
		return nil, column.Node.PlaceError(err)
	}
	return sd, nil
}

// labelStandardDeviations returns the numbers of a label, which are standard deviations, for the recipes with
// the given indices. A missing number is NaN. A negative number is an error.
func labelStandardDeviations(label *dataset.Label, recipes []int) ([]float64, error) {
	numbers, _, err := label.Measurements()
	if err != nil {
		return nil, err
	}
	sd, known := make([]float64, len(recipes)), false
	for k, r := range recipes {
		if sd[k] = numbers[r]; sd[k] < 0 {
			return nil, negativeSDError(sd[k], label)
		}
		known = known || !math.IsNaN(sd[k])
	}
	if !known {
		return nil, &inputerr.Error{Message: "no recipe that is learnt from has a standard deviation in " + inputerr.Quote(label.Name), Hint: "fill in the column, or leave it out"}
	}
	return sd, nil
}

// negativeSDError returns the error for a negative standard deviation v.
func negativeSDError(v float64, label *dataset.Label) error {
	return &inputerr.Error{Message: fmt.Sprintf("a recipe has the standard deviation %v in %s", v, inputerr.Quote(label.Name)), Hint: "it is 0 or more: correct the number, or name another column"}
}

// warnFailures adds a warning if some recipes count as failed. The parameter failureWords lists values of the
// label that mean failure.
func warnFailures(s *readContext, label *dataset.Label, failureWords []string, data *model.Data, failed [][]model.Part) {
	if len(failed) == 0 {
		return
	}
	var said []string
	for _, value := range label.Classes {
		if dataset.IsFailureMark(value) || slices.Contains(failureWords, value) {
			said = append(said, inputerr.Quote(value))
		}
	}
	s.Warn(fmt.Sprintf("%d of %s failed, as their %s says (%s): kir learns from them, and multiplies scores by the chance of success. If a recipe was only not measured, leave its cell empty.",
		len(failed), inputerr.Count(len(failed)+len(data.Rows), "recipe"), label.Name, strings.Join(said, ", ")))
}
