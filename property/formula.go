package property

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"kir/fault"
)

// Limits of a formula.
const (
	longestFormula = 10_000 // characters
	mostNodes      = 2_000
	mostQuestions  = 200
)

// number and truth are what formulas are compiled to: they read what the formula
// asked, and its variables.
type (
	number func(v []float64) float64
	truth  func(v []float64) bool
)

// NewExpression reads a formula in the language of github.com/expr-lang/expr, of
// which this is used:
//
//	numbers    1.5  used  total
//	           units("Gin")  units("family", "citrus")
//	           share("Gin")  share("family", "citrus")
//	           count("Gin")  count("family", "citrus")
//	           mean("cost")
//	           a + b  a - b  a * b  a / b  a % b  a ^ b  -a
//	           abs(a)  exp(a)  log(a)  sqrt(a)  floor(a)  ceil(a)  round(a)
//	           min(a, b, ...)  max(a, b, ...)
//	           t ? a : b   if t {a} else {b}
//	           let m = mean("cost"); a
//	truths     a < b  a <= b  a > b  a >= b  a == b  a != b
//	           t and u  t or u  not t  true  false
//
// units are those of an ingredient, or of all whose attribute has a value; share
// is units/M; count is how many of them are used; mean is the mean of an
// attribute, weighted by amounts; used is n and total M. A formula that is a
// truth scores 1 or 0. All numbers are floating-point ones.
//
// What is wrong is an [*ExpressionError].
func NewExpression(text string, lexicon Lexicon, total int) (*Expression, error) {
	if n := utf8.RuneCountInString(text); n > longestFormula {
		return nil, &ExpressionError{At: longestFormula, Message: fmt.Sprintf("the expression has %d characters", n), Hint: fmt.Sprintf("at most %d are read", longestFormula)}
	}
	config := conf.CreateNew()
	config.MaxNodes = mostNodes
	for name := range functions {
		config.Functions[name] = &builtin.Function{Name: name} // not one of the language's own
	}
	tree, err := parser.ParseWithConfig(text, config)
	if bad := (*file.Error)(nil); errors.As(err, &bad) {
		return nil, &ExpressionError{At: bad.From, Message: bad.Message}
	} else if err != nil {
		return nil, &ExpressionError{Message: err.Error()}
	}
	c := &formula{expression: &Expression{text: text, total: total}, lexicon: lexicon, asked: make(map[string]int), variables: make(map[string]int)}
	n, t, err := c.compile(tree.Node)
	if err != nil {
		return nil, err
	}
	if t != nil {
		n = func(v []float64) float64 {
			if t(v) {
				return 1
			}
			return 0
		}
	}
	// Variables come after what is asked, whose number is known now.
	e := c.expression
	first := len(e.questions)
	e.slots = first + c.declared
	e.value = n
	c.first = first
	return e, nil
}

// formula compiles one.
type formula struct {
	expression *Expression
	lexicon    Lexicon
	asked      map[string]int // questions by what they ask
	variables  map[string]int // slots of those in sight, from first on
	declared   int
	first      int
}

func badAt(n ast.Node, format string, args ...any) *ExpressionError {
	return &ExpressionError{At: n.Location().From, Message: fmt.Sprintf(format, args...)}
}

// compile returns a number or a truth, the other one being nil.
func (c *formula) compile(n ast.Node) (number, truth, error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return constant(float64(n.Value)), nil, nil
	case *ast.FloatNode:
		return constant(n.Value), nil, nil
	case *ast.BoolNode:
		value := n.Value
		return nil, func([]float64) bool { return value }, nil
	case *ast.IdentifierNode:
		number, err := c.identifier(n)
		return number, nil, err
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.VariableDeclaratorNode:
		return c.declaration(n)
	case *ast.CallNode:
		number, err := c.call(n)
		return number, nil, err
	case *ast.BuiltinNode:
		return nil, nil, noFunction(n, n.Name)
	case *ast.StringNode:
		bad := badAt(n, "text stands where a number is needed")
		bad.Hint = fmt.Sprintf("for the share of an ingredient write share(%s)", fault.Quote(n.Value))
		return nil, nil, bad
	case nil:
		return nil, nil, &ExpressionError{Message: "the expression is empty"}
	}
	bad := badAt(n, "this is not read")
	bad.Hint = "an expression is made of numbers, comparisons, conditions and functions"
	return nil, nil, bad
}

// number compiles what must be a number.
func (c *formula) number(n ast.Node) (number, error) {
	v, t, err := c.compile(n)
	if err == nil && t != nil {
		err = badAt(n, "a truth stands where a number is needed")
	}
	return v, err
}

// truth compiles what must be a truth.
func (c *formula) truth(n ast.Node) (truth, error) {
	v, t, err := c.compile(n)
	if err == nil && v != nil {
		err = badAt(n, "a number stands where a comparison is needed")
	}
	return t, err
}

func constant(value float64) number { return func([]float64) float64 { return value } }

func (c *formula) identifier(n *ast.IdentifierNode) (number, error) {
	if slot, ok := c.variables[n.Value]; ok {
		return func(v []float64) float64 { return v[c.first+slot] }, nil
	}
	switch n.Value {
	case "used":
		return c.ask(n, "used", func() (question, error) { return question{kind: askUsed}, nil })
	case "total":
		return constant(float64(c.expression.total)), nil
	}
	known := append(slices.Sorted(maps.Keys(c.variables)), "used", "total")
	bad := badAt(n, "there is no %s", fault.Quote(n.Value))
	bad.Hint = fault.DidYouMean(n.Value, append(known, slices.Sorted(maps.Keys(functions))...))
	if _, err := c.lexicon.Ingredient(n.Value); err == nil || bad.Hint == "" {
		bad.Hint = fmt.Sprintf("for the share of an ingredient write share(%s)", fault.Quote(n.Value))
	}
	return nil, bad
}

func (c *formula) unary(n *ast.UnaryNode) (number, truth, error) {
	if n.Operator == "-" || n.Operator == "+" {
		a, err := c.number(n.Node)
		if err != nil || n.Operator == "+" {
			return a, nil, err
		}
		return func(v []float64) float64 { return -a(v) }, nil, nil
	}
	a, err := c.truth(n.Node)
	if err != nil {
		return nil, nil, err
	}
	return nil, func(v []float64) bool { return !a(v) }, nil
}

func (c *formula) binary(n *ast.BinaryNode) (number, truth, error) {
	switch n.Operator {
	case "and", "&&", "or", "||":
		a, err := c.truth(n.Left)
		if err != nil {
			return nil, nil, err
		}
		b, err := c.truth(n.Right)
		if err != nil {
			return nil, nil, err
		}
		if n.Operator == "and" || n.Operator == "&&" {
			return nil, func(v []float64) bool { return a(v) && b(v) }, nil
		}
		return nil, func(v []float64) bool { return a(v) || b(v) }, nil
	case "+", "-", "*", "/", "%", "^", "**", "<", "<=", ">", ">=", "==", "!=":
	default:
		bad := badAt(n, "%s is not read", fault.Quote(n.Operator))
		bad.Hint = "there are + - * / % ^, < <= > >= == !=, and, or, not"
		return nil, nil, bad
	}
	a, err := c.number(n.Left)
	if err != nil {
		return nil, nil, err
	}
	b, err := c.number(n.Right)
	if err != nil {
		return nil, nil, err
	}
	// Conversions keep what the processor may not join into one rounding.
	switch n.Operator {
	case "+":
		return func(v []float64) float64 { return a(v) + b(v) }, nil, nil
	case "-":
		return func(v []float64) float64 { return a(v) - b(v) }, nil, nil
	case "*":
		return func(v []float64) float64 { return float64(a(v) * b(v)) }, nil, nil
	case "/":
		return func(v []float64) float64 { return a(v) / b(v) }, nil, nil
	case "%":
		return func(v []float64) float64 { return math.Mod(a(v), b(v)) }, nil, nil
	case "^", "**":
		return func(v []float64) float64 { return math.Pow(a(v), b(v)) }, nil, nil
	case "<":
		return nil, func(v []float64) bool { return a(v) < b(v) }, nil
	case "<=":
		return nil, func(v []float64) bool { return a(v) <= b(v) }, nil
	case ">":
		return nil, func(v []float64) bool { return a(v) > b(v) }, nil
	case ">=":
		return nil, func(v []float64) bool { return a(v) >= b(v) }, nil
	case "==":
		return nil, func(v []float64) bool { return a(v) == b(v) }, nil
	default:
		return nil, func(v []float64) bool { return a(v) != b(v) }, nil
	}
}

func (c *formula) conditional(n *ast.ConditionalNode) (number, truth, error) {
	cond, err := c.truth(n.Cond)
	if err != nil {
		return nil, nil, err
	}
	a, t, err := c.compile(n.Exp1)
	if err != nil {
		return nil, nil, err
	}
	if t != nil {
		u, err := c.truth(n.Exp2)
		return nil, func(v []float64) bool {
			if cond(v) {
				return t(v)
			}
			return u(v)
		}, err
	}
	b, err := c.number(n.Exp2)
	return func(v []float64) float64 {
		if cond(v) {
			return a(v)
		}
		return b(v)
	}, nil, err
}

func (c *formula) declaration(n *ast.VariableDeclaratorNode) (number, truth, error) {
	if _, known := functions[n.Name]; known || n.Name == "used" || n.Name == "total" {
		return nil, nil, badAt(n, "%s is taken: give the variable another name", fault.Quote(n.Name))
	}
	value, err := c.number(n.Value)
	if err != nil {
		return nil, nil, err
	}
	slot := c.declared
	c.declared++
	before, shadows := c.variables[n.Name]
	c.variables[n.Name] = slot
	a, t, err := c.compile(n.Expr)
	if delete(c.variables, n.Name); shadows {
		c.variables[n.Name] = before
	}
	switch {
	case err != nil:
		return nil, nil, err
	case t != nil:
		return nil, func(v []float64) bool { v[c.first+slot] = value(v); return t(v) }, nil
	}
	return func(v []float64) float64 { v[c.first+slot] = value(v); return a(v) }, nil, nil
}

// A function is what a formula may call: one that asks something of the
// composition by names, or one of numbers.
type function struct {
	usage string
	ask   func(c *formula, names []string) (question, error)
	by    func(total int) float64 // what the answer is divided by, if not nil
	of    func(a float64) float64
	fold  func(a, b float64) float64
}

// functions are all that a formula may call. It is not changed.
var functions = map[string]function{
	"units": {usage: `units("ingredient") or units("attribute", "value")`, ask: askSum(askUnits)},
	"share": {usage: `share("ingredient") or share("attribute", "value")`, ask: askSum(askUnits), by: func(total int) float64 { return float64(total) }},
	"count": {usage: `count("ingredient") or count("attribute", "value")`, ask: askSum(askCount)},
	"mean":  {usage: `mean("attribute")`, ask: askMeanOf},
	"abs":   {usage: "abs(a)", of: math.Abs},
	"exp":   {usage: "exp(a)", of: math.Exp},
	"log":   {usage: "log(a)", of: math.Log},
	"sqrt":  {usage: "sqrt(a)", of: math.Sqrt},
	"floor": {usage: "floor(a)", of: math.Floor},
	"ceil":  {usage: "ceil(a)", of: math.Ceil},
	"round": {usage: "round(a)", of: math.Round},
	"min":   {usage: "min(a, b)", fold: func(a, b float64) float64 { return min(a, b) }},
	"max":   {usage: "max(a, b)", fold: func(a, b float64) float64 { return max(a, b) }},
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
		if slot = len(c.expression.questions); slot == mostQuestions {
			return nil, badAt(at, "the expression asks more than %d things of a composition", mostQuestions)
		}
		c.expression.questions = append(c.expression.questions, q)
		c.asked[key] = slot
	}
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
	return question{kind: askMean, form: f, mean: f.scale * float64(c.expression.total)}, nil
}
