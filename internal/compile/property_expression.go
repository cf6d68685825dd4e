package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/property"
)

// expressionKind is the kind of property whose value is computed by a formula.
var expressionKind = propertyKind{
	PropertyKind:     config.ExpressionKind,
	compile:          withValueType(compileExpression),
	scoresEverySplit: alwaysScoresEverySplit,
}

// compileExpression makes a property from a formula. If the file does not say whether to maximise or to
// minimise the value of the formula, the value is the score.
func compileExpression(ctx context.Context, s *readContext, e *config.Expression, n *yaml.Node) (Property, error) {
	p, err := parseFormula(s, e.Formula)
	if err != nil {
		return Property{}, err
	}
	if !e.IsExtreme() {
		return Property{About: shownFormula(n.Text), mcmcProperty: p, resolvedValue: n.Text}, nil
	}
	unit := e.Unit.Value
	l := &valueScale{valueName: formulaValueName, shownUnit: unit, shownFactor: 1, scoredValue: p.Value, asProperty: func(d *property.Desirability) (mcmc.Property, error) { return p.WithDesirability(d), nil }}
	d, words, err := l.extremeDesirability(ctx, s, n, unit, &e.Objective)
	if err != nil {
		return Property{}, err
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "formula", "maximize", "minimize", "unit", "shape")
	resolved.Set("floor", e.Floor.Or(objectiveFloor))
	return Property{
		About: shownFormula(e.Formula.Text) + ": " + words, Value: p.Value, Unit: unit, mcmcProperty: p.WithDesirability(d), resolvedValue: resolved,
		newValueScale: l.setRoundingError(),
	}, nil
}

// parseFormula parses the formula that stands at a node.
func parseFormula(s *readContext, n *yaml.Node) (*property.Expression, error) {
	if n.Kind != yaml.Text {
		// A formula may also be a bare number.
		if _, err := n.Str("the expression"); err != nil {
			return nil, yaml.Hint(n.Errorf("the expression is %s", n.Describe()), `write a formula in quotes, such as 'share("Gin") > 0.2 ? 1 : 0.1'`)
		}
	}
	p, err := property.NewExpression(n.Text, &formulaNames{s, n}, s.Total)
	if bad := (*property.ExpressionError)(nil); errors.As(err, &bad) {
		return nil, placeFormulaError(n, bad)
	} else if err != nil {
		return nil, n.PlaceError(err)
	}
	return p, nil
}

// shownFormula returns a formula in one line, or if it is longer than a line, where it stands.
func shownFormula(text string) string {
	const maxLength = 60
	line := strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(line) > maxLength {
		return "a formula, which stands in the problem file"
	}
	return line
}

// formulaNames looks up the names that a formula uses. Errors are placed at node, the node of the formula.
type formulaNames struct {
	context *readContext
	node    *yaml.Node
}

// Ingredient returns the index of the ingredient with a name. The name must not be a pattern with a star,
// because a pattern can stand for several ingredients.
func (x *formulaNames) Ingredient(name string) (int, error) {
	// A star pattern stands for several ingredients, so it is not allowed.
	name = dataset.NormalizeName(name)
	if i := slices.Index(x.context.IngredientNames, name); i >= 0 {
		return i, nil
	}
	return 0, yaml.SuggestName(x.node.Errorf("there is no ingredient %s", inputerr.Quote(name)), name, "there are", x.context.IngredientNames, 8)
}

// Group returns the indices of the ingredients whose attribute has a value.
func (x *formulaNames) Group(attribute, value string) ([]int, error) {
	of, _, err := x.context.IngredientsByValue(x.node.Scalar(attribute), x.node.Scalar(value))
	return of, err
}

// Numbers returns the number that each ingredient has for an attribute.
func (x *formulaNames) Numbers(attribute string) ([]float64, error) {
	return x.context.AttributeNumbers(x.node, attribute)
}

// Condition returns the index c of the condition with a name, and its values that may be offered: numbers or
// categories. The result known lists all categories of the condition in the file.
func (x *formulaNames) Condition(name string) (c int, numbers []float64, categories, known []string, err error) {
	if c, err = x.context.FindCondition(x.node.Scalar(name)); err != nil {
		return 0, nil, nil, nil, err
	}
	of := &x.context.offeredConditions[c]
	return c, of.Numbers, of.Categories, of.fileCondition.Categories, nil
}

// placeFormulaError converts an error in a formula to an error with a position in the problem file.
func placeFormulaError(n *yaml.Node, bad *property.ExpressionError) error {
	message, way := bad.Message, bad.Hint
	if cause := (*inputerr.Error)(nil); errors.As(bad.Err, &cause) {
		if cause.File != n.File {
			return cause // the error is in the ingredients file
		}
		message, way = cause.Message, cause.Hint
	}
	e := n.Errorf("%s", message)
	e.Hint, e.Err = way, bad
	if line, column, ok := n.CharacterPlace(bad.At); ok {
		e.Line, e.Column = line, column
	} else {
		e.Message += fmt.Sprintf(" (at character %d of the expression)", bad.At+1)
	}
	return e
}
