package problem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/problem/yaml"
	"kir/property"
)

// readExpression reads a property that is a formula.
func readExpression(_ context.Context, s *shelf, n *yaml.Node) (Property, error) {
	if n.Kind != yaml.Text {
		// A formula may be a number, too, if a poor one.
		if _, err := n.Str("the expression"); err != nil {
			return Property{}, yaml.Hint(n.Errorf("the expression is %s", n.Shown()), `write a formula in quotes, such as 'share("Gin") > 0.2 ? 1 : 0.1'`)
		}
	}
	p, err := property.NewExpression(n.Text, &lexicon{s, n}, s.total)
	if bad := (*property.ExpressionError)(nil); errors.As(err, &bad) {
		return Property{}, blameFormula(n, bad)
	} else if err != nil {
		return Property{}, n.Blame(err)
	}
	about := []rune(strings.Join(strings.Fields(n.Text), " "))
	const maxLength = 120
	if len(about) > maxLength {
		about = append(about[:maxLength], []rune("...")...)
	}
	return Property{About: string(about), property: p, resolved: n.Text}, nil
}

// lexicon is what the formula at a node may name.
type lexicon struct {
	shelf *shelf
	at    *yaml.Node
}

func (x *lexicon) Ingredient(name string) (int, error) {
	// A star, which stands for several, is no name here.
	name = book.Name(name)
	if i := slices.Index(x.shelf.names, name); i >= 0 {
		return i, nil
	}
	return 0, yaml.Offer(x.at.Errorf("there is no ingredient %s", fault.Quote(name)), name, "there are", x.shelf.names, 8)
}

func (x *lexicon) Group(attribute, value string) ([]int, error) {
	of, _, err := x.shelf.withValue(x.at.Scalar(attribute), x.at.Scalar(value))
	return of, err
}

func (x *lexicon) Numbers(attribute string) ([]float64, error) {
	return x.shelf.attributeNumbers(x.at, attribute)
}

// blameFormula gives an error in a formula its place in the problem file.
func blameFormula(n *yaml.Node, bad *property.ExpressionError) error {
	message, way := bad.Message, bad.Hint
	if cause := (*fault.Error)(nil); errors.As(bad.Err, &cause) {
		if cause.File != n.File {
			return cause // in the file of the ingredients
		}
		message, way = cause.Message, cause.Hint
	}
	e := n.Errorf("%s", message)
	e.Hint, e.Err = way, bad
	if line, column, ok := n.Within(bad.At); ok {
		e.Line, e.Column = line, column
	} else {
		e.Message += fmt.Sprintf(" (at character %d of the expression)", bad.At+1)
	}
	return e
}
