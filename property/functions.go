package property

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"kir/internal/inputerr"
	"kir/internal/portable"
)

// A formulaFunction is a function that formulas may call. There are two kinds: functions that ask a [question]
// about the composition, with names as arguments, and functions of numbers.
type formulaFunction struct {
	usage         string
	makeQuestion  func(c *formulaCompiler, names []string) (question, error)
	divisor       func(total int) float64 // returns the number by which the answer to the question is divided; nil for 1
	apply         func(a float64) float64
	applyInterval func(a interval) interval // returns an interval that contains the results of apply for all numbers of the interval a
	combine       func(a, b float64) float64
}

// formulaFunctions maps names to the functions that a formula may call. It is read-only.
var formulaFunctions = map[string]formulaFunction{
	"units":     {usage: `units("ingredient") or units("attribute", "value")`, makeQuestion: sumQuestion(askUnits)},
	"share":     {usage: `share("ingredient") or share("attribute", "value")`, makeQuestion: sumQuestion(askUnits), divisor: func(total int) float64 { return float64(total) }},
	"count":     {usage: `count("ingredient") or count("attribute", "value")`, makeQuestion: sumQuestion(askCount)},
	"mean":      {usage: `mean("attribute")`, makeQuestion: meanQuestion},
	"condition": {usage: `condition("temperature"), or condition("catalyst", "B"), which is 1 or 0`, makeQuestion: conditionQuestion},
	"abs":       {usage: "abs(a)", apply: math.Abs, applyInterval: interval.abs},
	"exp":       {usage: "exp(a)", apply: portable.Exp, applyInterval: func(s interval) interval { return s.applyRising(portable.Exp).widen() }},
	"log":       {usage: "log(a)", apply: portable.Log, applyInterval: func(s interval) interval { return s.nonNegative().applyRising(portable.Log).widen() }},
	"sqrt":      {usage: "sqrt(a)", apply: math.Sqrt, applyInterval: func(s interval) interval { return s.nonNegative().applyRising(math.Sqrt) }},
	"floor":     {usage: "floor(a)", apply: math.Floor, applyInterval: risingIntervalFunction(math.Floor)},
	"ceil":      {usage: "ceil(a)", apply: math.Ceil, applyInterval: risingIntervalFunction(math.Ceil)},
	"round":     {usage: "round(a)", apply: math.Round, applyInterval: risingIntervalFunction(math.Round)},
	"min":       {usage: "min(a, b)", combine: func(a, b float64) float64 { return min(a, b) }},
	"max":       {usage: "max(a, b)", combine: func(a, b float64) float64 { return max(a, b) }},
}

// risingIntervalFunction turns a nondecreasing function on numbers into the function on intervals. Its result
// contains f of all numbers of the interval.
func risingIntervalFunction(f func(float64) float64) func(interval) interval {
	return func(s interval) interval { return s.applyRising(f) }
}

func unknownFunction(n ast.Node, name string) *ExpressionError {
	known := slices.Sorted(maps.Keys(formulaFunctions))
	bad := errorAt(n, "there is no function %s", inputerr.Quote(name))
	if bad.Hint = inputerr.DidYouMean(name, known); bad.Hint == "" {
		bad.Hint = "there are " + strings.Join(known, ", ")
	}
	return bad
}

func (c *formulaCompiler) compileCall(n *ast.CallNode) (numberFunc, error) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil, errorAt(n, "only functions are called")
	}
	f, ok := formulaFunctions[callee.Value]
	if !ok {
		return nil, unknownFunction(callee, callee.Value)
	}
	usage := func(at ast.Node) error { return errorAt(at, "write %s", f.usage) }
	if f.makeQuestion != nil {
		names := make([]string, len(n.Arguments))
		key := []string{callee.Value}
		if f.divisor != nil {
			key[0] = "units"
		}
		for k, a := range n.Arguments {
			name, ok := a.(*ast.StringNode)
			if !ok {
				return nil, usage(a)
			}
			names[k] = name.Value
			key = append(key, strconv.Quote(name.Value))
		}
		if len(names) < 1 || len(names) > 2 || callee.Value == "mean" && len(names) > 1 {
			return nil, usage(n)
		}
		answer, err := c.compileQuestion(n.Arguments[len(names)-1], strings.Join(key, " "), func() (question, error) { return f.makeQuestion(c, names) })
		if err != nil || f.divisor == nil {
			return answer, err
		}
		by := f.divisor(c.expression.total)
		return func(v []float64) float64 { return answer(v) / by }, nil
	}
	arguments := make([]numberFunc, len(n.Arguments))
	for k, a := range n.Arguments {
		var err error
		if arguments[k], err = c.compileNumber(a); err != nil {
			return nil, err
		}
	}
	if f.apply != nil {
		if len(arguments) != 1 {
			return nil, usage(n)
		}
		of, a := f.apply, arguments[0]
		return func(v []float64) float64 { return of(a(v)) }, nil
	}
	if len(arguments) < 2 {
		return nil, usage(n)
	}
	all := arguments[0]
	for _, b := range arguments[1:] {
		a, fold := all, f.combine
		all = func(v []float64) float64 { return fold(a(v), b(v)) }
	}
	return all, nil
}

// compileQuestion returns a function that reads the answer to a question. Questions with the same key share one
// answer. makeQuestion creates the question if its key is new. Errors point to the syntax node.
func (c *formulaCompiler) compileQuestion(node ast.Node, key string, makeQuestion func() (question, error)) (numberFunc, error) {
	slot, ok := c.questionByKey[key]
	if !ok {
		q, err := makeQuestion()
		if err != nil {
			return nil, &ExpressionError{At: node.Location().From, Message: err.Error(), Err: err}
		}
		if slot = len(c.expression.questions); slot == maxQuestions {
			return nil, errorAt(node, "the expression asks more than %d things of a composition", maxQuestions)
		}
		c.expression.questions = append(c.expression.questions, q)
		c.questionByKey[key] = slot
	}
	c.questionByNode[node] = slot
	return func(v []float64) float64 { return v[slot] }, nil
}

// sumQuestion returns a function that makes a question about one ingredient or a group of ingredients, given
// names. The question asks for units if kind is askUnits, and for the number of used ingredients if kind is
// askCount.
func sumQuestion(kind askKind) func(c *formulaCompiler, names []string) (question, error) {
	return func(c *formulaCompiler, names []string) (question, error) {
		if len(names) == 1 {
			i, err := c.nameResolver.Ingredient(names[0])
			return question{kind: kind, ingredient: i}, err
		}
		group, err := c.nameResolver.Group(names[0], names[1])
		if err != nil {
			return question{}, err
		}
		of := make([]bool, slices.Max(group)+1)
		for _, i := range group {
			of[i] = true
		}
		return question{kind: kind, ingredient: -1, groupMembers: of}, nil
	}
}

// conditionQuestion returns the question for the number of a numeric condition, or the question whether a condition
// has a given category.
func conditionQuestion(c *formulaCompiler, names []string) (question, error) {
	of, ok := c.nameResolver.(ConditionResolver)
	if !ok {
		return question{}, errors.New("there are no conditions")
	}
	k, numbers, categories, known, err := of.Condition(names[0])
	if err != nil {
		return question{}, err
	}
	q := question{kind: askCondition, conditionIndex: k, valueAnswers: numbers}
	switch {
	case len(names) == 1 && numbers == nil:
		return q, fmt.Errorf("%s has no numbers: compare it with a text, such as condition(%s) == %s", inputerr.Quote(names[0]), inputerr.Quote(names[0]), inputerr.Quote(categories[0]))
	case len(names) == 2 && numbers != nil:
		return q, fmt.Errorf("%s has numbers: write condition(%s) and compare it with a number", inputerr.Quote(names[0]), inputerr.Quote(names[0]))
	case len(names) == 2:
		if !slices.Contains(known, names[1]) {
			return q, fmt.Errorf("%s has no value %s: its values are %s", inputerr.Quote(names[0]), inputerr.Quote(names[1]), inputerr.List(known, 8))
		}
		q.valueAnswers = make([]float64, len(categories))
		if at := slices.Index(categories, names[1]); at >= 0 {
			q.valueAnswers[at] = 1
		}
	}
	return q, nil
}

// meanQuestion returns the question for the mean of an attribute.
func meanQuestion(c *formulaCompiler, names []string) (question, error) {
	numbers, err := c.nameResolver.Numbers(names[0])
	if err == nil {
		err = checkFinite("the attribute of ingredient", numbers)
	}
	if err != nil {
		return question{}, err
	}
	f := newLinearForm(numbers, c.expression.total)
	return question{kind: askMean, form: f, formPerMean: float64(f.scale * float64(c.expression.total))}, nil
}
