package problem

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"kir/fault"
	"kir/property"
	"kir/recipe"
)

// expression reads a property that is a formula.
func (l *loader) expression(n *node) (Property, error) {
	if n.kind != text {
		// A formula may be a number, too, if a poor one.
		if _, err := n.str("the expression"); err != nil {
			return Property{}, hint(n.errorf("the expression is %s", n.shown()), `write a formula in quotes, such as 'share("Gin") > 0.2 ? 1 : 0.1'`)
		}
	}
	p, err := property.NewExpression(n.text, &lexicon{l, n}, l.problem.Total)
	if bad := (*property.ExpressionError)(nil); errors.As(err, &bad) {
		return Property{}, l.blameFormula(n, bad)
	} else if err != nil {
		return Property{}, n.blame(err)
	}
	about := []rune(strings.Join(strings.Fields(n.text), " "))
	const longest = 120
	if len(about) > longest {
		about = append(about[:longest], []rune("...")...)
	}
	return Property{About: string(about), property: p, settings: n.text}, nil
}

// lexicon is what the formula at a node may name.
type lexicon struct {
	*loader
	at *node
}

// scalar is text at the place of the formula.
func (x *lexicon) scalar(value string) *node {
	return &node{file: x.at.file, line: x.at.line, column: x.at.column, kind: text, text: value}
}

func (x *lexicon) Ingredient(name string) (int, error) {
	// A star, which stands for several, is no name here.
	name = recipe.Name(name)
	for i, other := range x.problem.Ingredients {
		if other == name {
			return i, nil
		}
	}
	e := x.at.errorf("there is no ingredient %s", fault.Quote(name))
	if near := fault.DidYouMean(name, x.problem.Ingredients); near != "" {
		return 0, hint(e, "%s", near)
	}
	return 0, hint(e, "there are %s", fault.List(x.problem.Ingredients, 8))
}

func (x *lexicon) Group(attribute, value string) ([]int, error) {
	group := x.scalar("")
	group.kind, group.entries = mapping, []entry{{x.scalar(attribute), x.scalar(value)}}
	of, _, err := x.withAttribute(group)
	return of, err
}

func (x *lexicon) Numbers(attribute string) ([]float64, error) {
	return x.attributeNumbers(x.at, attribute)
}

// blameFormula gives an error in a formula its place in the problem file.
func (l *loader) blameFormula(n *node, bad *property.ExpressionError) error {
	message, way := bad.Message, bad.Hint
	if cause := (*fault.Error)(nil); errors.As(bad.Err, &cause) {
		if cause.File != n.file {
			return cause // in the file of the ingredients
		}
		message, way = cause.Message, cause.Hint
	}
	e := n.errorf("%s", message)
	e.Hint, e.Err = way, bad
	if line, column, ok := l.within(n, bad.At); ok {
		e.Line, e.Column = line, column
	} else {
		e.Message += " (at character " + itoa(bad.At+1) + " of the expression)"
	}
	return e
}

// within returns the place in the problem file of a character of a scalar, and
// whether it can be told: where the file has the text as it stands, and not
// folded or with escapes.
func (l *loader) within(n *node, character int) (line, column int, ok bool) {
	lines := bytes.Split(l.data, []byte{'\n'})
	if n.line < 1 || n.line > len(lines) {
		return 0, 0, false
	}
	first := []rune(string(lines[n.line-1]))
	if n.column < 1 || n.column > len(first) {
		return 0, 0, false
	}
	at := string(first[n.column-1:])
	if strings.HasPrefix(at, "|") {
		// A block: its lines follow, indented alike.
		place := 0
		for k, part := range strings.Split(n.text, "\n") {
			length := utf8.RuneCountInString(part)
			if character > place+length {
				place += length + 1
				continue
			}
			if n.line+k >= len(lines) {
				return 0, 0, false
			}
			raw := strings.TrimRight(string(lines[n.line+k]), "\r")
			indent := len(raw) - len(part)
			if !strings.HasSuffix(raw, part) || strings.TrimSpace(raw[:indent]) != "" {
				return 0, 0, false
			}
			return n.line + 1 + k, indent + character - place + 1, true
		}
		return 0, 0, false
	}
	quote := 0
	if strings.HasPrefix(at, "'") || strings.HasPrefix(at, `"`) {
		quote = 1
	}
	if !strings.HasPrefix(at[quote:], n.text) {
		return 0, 0, false
	}
	return n.line, n.column + quote + character, true
}
