package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/property"
)

var expressionKind = propertyKind{
	PropertyKind:     config.ExpressionKind,
	compile:          compileAs(compileExpression),
	scoresEverySplit: scoresAnySplit,
}

// compileExpression makes a property of a formula, with or without a direction.
func compileExpression(ctx context.Context, s *readContext, e *config.Expression, n *yaml.Node) (Property, error) {
	p, err := formulaAt(s, e.Formula)
	if err != nil {
		return Property{}, err
	}
	if !e.IsExtreme() {
		return Property{About: aboutFormula(n.Text), property: p, resolved: n.Text}, nil
	}
	unit := e.Unit.Value
	l := &valueScale{valueName: formulaWords, unit: unit, scale: 1, value: p.Value, asProperty: func(d *property.Desirability) (mcmc.Property, error) { return p.As(d), nil }}
	d, words, err := l.extremeDesirability(ctx, s, n, unit, &e.Objective)
	if err != nil {
		return Property{}, err
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "formula", "maximize", "minimize", "unit", "shape")
	resolved.Set("floor", e.Floor.Or(objectiveFloor))
	return Property{
		About: aboutFormula(e.Formula.Text) + ": " + words, Value: p.Value, Unit: unit, property: p.As(d), resolved: resolved,
		valueScale: l.withSlack(),
	}, nil
}

// formulaAt reads the formula at a node.
func formulaAt(s *readContext, n *yaml.Node) (*property.Expression, error) {
	if n.Kind != yaml.Text {
		// A formula may also be a bare number.
		if _, err := n.Str("the expression"); err != nil {
			return nil, yaml.Hint(n.Errorf("the expression is %s", n.Describe()), `write a formula in quotes, such as 'share("Gin") > 0.2 ? 1 : 0.1'`)
		}
	}
	p, err := property.NewExpression(n.Text, &lexicon{s, n}, s.Total)
	if bad := (*property.ExpressionError)(nil); errors.As(err, &bad) {
		return nil, blameFormula(n, bad)
	} else if err != nil {
		return nil, n.PlaceError(err)
	}
	return p, nil
}

// aboutFormula returns the first 120 characters of a formula.
func aboutFormula(text string) string {
	about := []rune(strings.Join(strings.Fields(text), " "))
	const maxLength = 120
	if len(about) > maxLength {
		about = append(about[:maxLength], []rune("...")...)
	}
	return string(about)
}

// lexicon resolves the names in the formula at a node.
type lexicon struct {
	scope *readContext
	at    *yaml.Node
}

func (x *lexicon) Ingredient(name string) (int, error) {
	// A star pattern stands for several ingredients, so it is not allowed.
	name = dataset.NormalizeName(name)
	if i := slices.Index(x.scope.Names, name); i >= 0 {
		return i, nil
	}
	return 0, yaml.SuggestName(x.at.Errorf("there is no ingredient %s", inputerr.Quote(name)), name, "there are", x.scope.Names, 8)
}

func (x *lexicon) Group(attribute, value string) ([]int, error) {
	of, _, err := x.scope.IngredientsByValue(x.at.Scalar(attribute), x.at.Scalar(value))
	return of, err
}

func (x *lexicon) Numbers(attribute string) ([]float64, error) {
	return x.scope.AttributeNumbers(x.at, attribute)
}

// Condition returns a condition, by the values that may be offered.
func (x *lexicon) Condition(name string) (c int, numbers []float64, categories, known []string, err error) {
	if c, err = x.scope.FindCondition(x.at.Scalar(name)); err != nil {
		return 0, nil, nil, nil, err
	}
	of := &x.scope.offered[c]
	return c, of.Numbers, of.Categories, of.file.Categories, nil
}

// blameFormula converts an error in a formula to one with a place in the problem file.
func blameFormula(n *yaml.Node, bad *property.ExpressionError) error {
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
