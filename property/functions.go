package property

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"kir/internal/fault"
	"kir/internal/portable"
)

// A function is what a formula may call: one that asks something of the
// composition by names, or one of numbers.
type function struct {
	usage string
	ask   func(c *formula, names []string) (question, error)
	by    func(total int) float64 // what the answer is divided by, if not nil
	of    func(a float64) float64
	over  func(a span) span // what of makes of what is in a span
	fold  func(a, b float64) float64
}

// functions are all that a formula may call. It is not changed.
var functions = map[string]function{
	"units": {usage: `units("ingredient") or units("attribute", "value")`, ask: askSum(askUnits)},
	"share": {usage: `share("ingredient") or share("attribute", "value")`, ask: askSum(askUnits), by: func(total int) float64 { return float64(total) }},
	"count": {usage: `count("ingredient") or count("attribute", "value")`, ask: askSum(askCount)},
	"mean":  {usage: `mean("attribute")`, ask: askMeanOf},
	"abs":   {usage: "abs(a)", of: math.Abs, over: span.size},
	"exp":   {usage: "exp(a)", of: portable.Exp, over: func(s span) span { return s.under(portable.Exp).wider() }},
	"log":   {usage: "log(a)", of: portable.Log, over: func(s span) span { return s.positive().under(portable.Log).wider() }},
	"sqrt":  {usage: "sqrt(a)", of: math.Sqrt, over: func(s span) span { return s.positive().under(math.Sqrt) }},
	"floor": {usage: "floor(a)", of: math.Floor, over: rising(math.Floor)},
	"ceil":  {usage: "ceil(a)", of: math.Ceil, over: rising(math.Ceil)},
	"round": {usage: "round(a)", of: math.Round, over: rising(math.Round)},
	"min":   {usage: "min(a, b)", fold: func(a, b float64) float64 { return min(a, b) }},
	"max":   {usage: "max(a, b)", fold: func(a, b float64) float64 { return max(a, b) }},
}

// rising returns what a function that does not fall makes of spans.
func rising(f func(float64) float64) func(span) span {
	return func(s span) span { return s.under(f) }
}

func noFunction(n ast.Node, name string) *ExpressionError {
	known := slices.Sorted(maps.Keys(functions))
	bad := badAt(n, "there is no function %s", fault.Quote(name))
	if bad.Hint = fault.DidYouMean(name, known); bad.Hint == "" {
		bad.Hint = "there are " + strings.Join(known, ", ")
	}
	return bad
}

func (c *formula) call(n *ast.CallNode) (number, error) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil, badAt(n, "only functions are called")
	}
	f, ok := functions[callee.Value]
	if !ok {
		return nil, noFunction(callee, callee.Value)
	}
	usage := func(at ast.Node) error { return badAt(at, "write %s", f.usage) }
	if f.ask != nil {
		names := make([]string, len(n.Arguments))
		key := []string{callee.Value}
		if f.by != nil {
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
		answer, err := c.ask(n.Arguments[len(names)-1], strings.Join(key, " "), func() (question, error) { return f.ask(c, names) })
		if err != nil || f.by == nil {
			return answer, err
		}
		by := f.by(c.expression.total)
		return func(v []float64) float64 { return answer(v) / by }, nil
	}
	arguments := make([]number, len(n.Arguments))
	for k, a := range n.Arguments {
		var err error
		if arguments[k], err = c.number(a); err != nil {
			return nil, err
		}
	}
	if f.of != nil {
		if len(arguments) != 1 {
			return nil, usage(n)
		}
		of, a := f.of, arguments[0]
		return func(v []float64) float64 { return of(a(v)) }, nil
	}
	if len(arguments) < 2 {
		return nil, usage(n)
	}
	all := arguments[0]
	for _, b := range arguments[1:] {
		a, fold := all, f.fold
		all = func(v []float64) float64 { return fold(a(v), b(v)) }
	}
	return all, nil
}

// ask returns the answer to a question, which is asked once however often the
// formula does. at is what to blame.
func (c *formula) ask(at ast.Node, key string, make func() (question, error)) (number, error) {
	slot, ok := c.asked[key]
	if !ok {
		q, err := make()
		if err != nil {
			return nil, &ExpressionError{At: at.Location().From, Message: err.Error(), Err: err}
		}
		if slot = len(c.expression.questions); slot == maxQuestions {
			return nil, badAt(at, "the expression asks more than %d things of a composition", maxQuestions)
		}
		c.expression.questions = append(c.expression.questions, q)
		c.asked[key] = slot
	}
	c.asks[at] = slot
	return func(v []float64) float64 { return v[slot] }, nil
}

// askSum asks for the units, or the number used, of an ingredient or a group.
func askSum(kind askKind) func(c *formula, names []string) (question, error) {
	return func(c *formula, names []string) (question, error) {
		if len(names) == 1 {
			i, err := c.lexicon.Ingredient(names[0])
			return question{kind: kind, only: i}, err
		}
		group, err := c.lexicon.Group(names[0], names[1])
		if err != nil {
			return question{}, err
		}
		of := make([]bool, slices.Max(group)+1)
		for _, i := range group {
			of[i] = true
		}
		return question{kind: kind, only: -1, of: of}, nil
	}
}

func askMeanOf(c *formula, names []string) (question, error) {
	numbers, err := c.lexicon.Numbers(names[0])
	if err == nil {
		err = checkFinite("the attribute of ingredient", numbers)
	}
	if err != nil {
		return question{}, err
	}
	f := newForm(numbers, c.expression.total)
	return question{kind: askMean, form: f, mean: float64(f.scale * float64(c.expression.total))}, nil
}
