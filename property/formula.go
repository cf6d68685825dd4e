package property

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"kir/internal/inputerr"
	"kir/internal/portable"
)

// These limits bound the time and memory that a formula takes.
const (
	maxFormulaLength = 10_000 // greatest length of a formula, in characters
	maxFormulaNodes  = 2_000
	// greatest number of quantities of the composition that a formula may ask for
	maxQuestions = 200
)

// NewExpression compiles a formula in the language of github.com/expr-lang/expr. It accepts these forms:
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
//	conditions condition("temperature")  condition("catalyst") == "B"
//	truths     a < b  a <= b  a > b  a >= b  a == b  a != b
//	           t and u  t or u  not t  true  false
//
// units returns the units of an ingredient, or the units of all ingredients whose attribute has the given
// value. share is units/M. count is the number of these ingredients that are used. mean is the mean of an
// attribute, weighted by amounts. used is n, the number of used ingredients, and total is M. If the value of
// the whole formula is true or false, the score is 1 for true and 0 for false. All numbers are floating-point
// numbers.
//
// The error is an [*ExpressionError].
func NewExpression(text string, nameResolver NameResolver, total int) (*Expression, error) {
	if n := utf8.RuneCountInString(text); n > maxFormulaLength {
		return nil, &ExpressionError{At: maxFormulaLength, Message: fmt.Sprintf("the expression has %d characters", n), Hint: fmt.Sprintf("at most %d are read", maxFormulaLength)}
	}
	if strings.TrimSpace(text) == "" {
		return nil, &ExpressionError{Message: "the expression is empty"}
	}
	config := conf.CreateNew()
	config.MaxNodes = maxFormulaNodes
	for name := range formulaFunctions {
		config.Functions[name] = &builtin.Function{Name: name} // The parser rejects functions that it does not know, so kir's own are registered.
	}
	tree, err := parser.ParseWithConfig(text, config)
	if bad := (*file.Error)(nil); errors.As(err, &bad) {
		return nil, syntaxError(bad)
	} else if err != nil {
		return nil, &ExpressionError{Message: err.Error()}
	}
	c := &formulaCompiler{expression: &Expression{total: total}, nameResolver: nameResolver, questionByKey: make(map[string]int), variableIndices: make(map[string]int), questionByNode: make(map[ast.Node]int)}
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
	// Variables follow the questions in the vector that the formula reads, and the number of questions is known only
	// after compilation.
	e := c.expression
	first := len(e.questions)
	e.inputCount = first + c.variableCount
	e.evaluate = n
	c.firstVariableInput = first
	bounded := &enclosureBuilder{compiler: c, variableEnclosures: make(map[string]*enclosure)}
	e.rootEnclosure = bounded.enclose(tree.Node)
	e.enclosureCount = bounded.enclosureCount
	return e, nil
}

// syntaxError returns an error for a construct that the parser rejects, with a suggestion what to write instead.
func syntaxError(bad *file.Error) *ExpressionError {
	e := &ExpressionError{At: bad.From, Message: bad.Message}
	token, ok := strings.CutPrefix(bad.Message, "unexpected token ")
	if !ok {
		return e
	}
	if token == "EOF" {
		e.Message, e.Hint = "the expression ends where more is expected", "complete it, or close what is open"
		return e
	}
	if _, quoted, ok := strings.Cut(strings.TrimSuffix(token, ")"), "("); ok {
		token = quoted
	}
	e.Message = token + " is not expected here"
	switch token {
	case `"="`:
		e.Hint = "to compare write =="
	case `"then"`, `"else"`, `"elif"`:
		e.Hint = "write t ? a : b, or if t {a} else {b}"
	case `"&"`, `"|"`:
		e.Hint = "write and, or"
	}
	return e
}

// A formulaCompiler compiles one formula.
type formulaCompiler struct {
	expression         *Expression
	nameResolver       NameResolver
	questionByKey      map[string]int   // maps the text of a question to its index in the questions of the expression
	questionByNode     map[ast.Node]int // maps a syntax node to the index of the question that the node asks
	variableIndices    map[string]int   // maps the name of a let variable in scope to the index of the variable, counted from firstVariableSlot
	variableCount      int
	firstVariableInput int // index of the first let variable among the inputs of the compiled formula
}

func errorAt(n ast.Node, format string, args ...any) *ExpressionError {
	return &ExpressionError{At: n.Location().From, Message: fmt.Sprintf(format, args...)}
}

// compile compiles a subexpression. It returns a function that computes a number, or a function that computes a
// truth value; the other result is nil.
func (c *formulaCompiler) compile(n ast.Node) (numberFunc, truthFunc, error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return newConstant(float64(n.Value)), nil, nil
	case *ast.FloatNode:
		return newConstant(n.Value), nil, nil
	case *ast.BoolNode:
		value := n.Value
		return nil, func([]float64) bool { return value }, nil
	case *ast.IdentifierNode:
		number, err := c.compileIdentifier(n)
		return number, nil, err
	case *ast.UnaryNode:
		return c.compileUnary(n)
	case *ast.BinaryNode:
		return c.compileBinary(n)
	case *ast.ConditionalNode:
		return c.compileConditional(n)
	case *ast.VariableDeclaratorNode:
		return c.compileDeclaration(n)
	case *ast.CallNode:
		number, err := c.compileCall(n)
		return number, nil, err
	case *ast.BuiltinNode:
		return nil, nil, unknownFunction(n, n.Name)
	case *ast.StringNode:
		bad := errorAt(n, "text stands where a number is needed")
		bad.Hint = fmt.Sprintf("for the share of an ingredient write share(%s)", inputerr.Quote(n.Value))
		return nil, nil, bad
	case nil:
		return nil, nil, &ExpressionError{Message: "the expression is empty"}
	}
	bad := errorAt(n, "this is not read")
	bad.Hint = "an expression is made of numbers, comparisons, conditions and functions"
	return nil, nil, bad
}

// compileNumber compiles the syntax node n to a function that computes a number. It returns an error if the
// value of n is true or false.
func (c *formulaCompiler) compileNumber(n ast.Node) (numberFunc, error) {
	v, t, err := c.compile(n)
	if err == nil && t != nil {
		err = errorAt(n, "a truth stands where a number is needed")
	}
	return v, err
}

// compileTruth compiles the syntax node n to a function that computes true or false. It returns an error if the
// value of n is a number.
func (c *formulaCompiler) compileTruth(n ast.Node) (truthFunc, error) {
	v, t, err := c.compile(n)
	if err == nil && v != nil {
		err = errorAt(n, "a number stands where a comparison is needed")
	}
	return t, err
}

func newConstant(value float64) numberFunc { return func([]float64) float64 { return value } }

func (c *formulaCompiler) compileIdentifier(n *ast.IdentifierNode) (numberFunc, error) {
	if slot, ok := c.variableIndices[n.Value]; ok {
		return func(v []float64) float64 { return v[c.firstVariableInput+slot] }, nil
	}
	switch n.Value {
	case "used":
		return c.compileQuestion(n, "used", func() (question, error) { return question{kind: askUsed}, nil })
	case "total":
		return newConstant(float64(c.expression.total)), nil
	}
	known := append(slices.Sorted(maps.Keys(c.variableIndices)), "used", "total")
	bad := errorAt(n, "there is no %s", inputerr.Quote(n.Value))
	bad.Hint = inputerr.DidYouMean(n.Value, append(known, slices.Sorted(maps.Keys(formulaFunctions))...))
	if _, err := c.nameResolver.Ingredient(n.Value); err == nil || bad.Hint == "" {
		bad.Hint = fmt.Sprintf("for the share of an ingredient write share(%s)", inputerr.Quote(n.Value))
	}
	return nil, bad
}

func (c *formulaCompiler) compileUnary(n *ast.UnaryNode) (numberFunc, truthFunc, error) {
	if n.Operator == "-" || n.Operator == "+" {
		a, err := c.compileNumber(n.Node)
		if err != nil || n.Operator == "+" {
			return a, nil, err
		}
		return func(v []float64) float64 { return -a(v) }, nil, nil
	}
	a, err := c.compileTruth(n.Node)
	if err != nil {
		return nil, nil, err
	}
	return nil, func(v []float64) bool { return !a(v) }, nil
}

func (c *formulaCompiler) compileBinary(n *ast.BinaryNode) (numberFunc, truthFunc, error) {
	switch n.Operator {
	case "and", "&&", "or", "||":
		a, err := c.compileTruth(n.Left)
		if err != nil {
			return nil, nil, err
		}
		b, err := c.compileTruth(n.Right)
		if err != nil {
			return nil, nil, err
		}
		if n.Operator == "and" || n.Operator == "&&" {
			return nil, func(v []float64) bool { return a(v) && b(v) }, nil
		}
		return nil, func(v []float64) bool { return a(v) || b(v) }, nil
	case "+", "-", "*", "/", "%", "^", "**", "<", "<=", ">", ">=", "==", "!=":
	default:
		bad := errorAt(n, "%s is not read", inputerr.Quote(n.Operator))
		bad.Hint = "there are + - * / % ^, < <= > >= == !=, and, or, not"
		return nil, nil, bad
	}
	if is, err := c.compileCategory(n); is != nil || err != nil {
		return nil, is, err
	}
	a, err := c.compileNumber(n.Left)
	if err != nil {
		return nil, nil, err
	}
	b, err := c.compileNumber(n.Right)
	if err != nil {
		return nil, nil, err
	}
	// The float64 conversion of a product keeps the compiler from fusing it with a sum into one rounding.
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
		return func(v []float64) float64 { return portable.Pow(a(v), b(v)) }, nil, nil
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

// compileCategory compiles the comparison of a condition with a text, such as condition("catalyst") == "B". It
// returns nil for every other comparison.
func (c *formulaCompiler) compileCategory(n *ast.BinaryNode) (truthFunc, error) {
	call, ok := n.Left.(*ast.CallNode)
	text, isText := n.Right.(*ast.StringNode)
	if !ok || !isText {
		call, ok = n.Right.(*ast.CallNode)
		text, isText = n.Left.(*ast.StringNode)
	}
	if !ok || !isText || n.Operator != "==" && n.Operator != "!=" {
		return nil, nil
	}
	if callee, ok := call.Callee.(*ast.IdentifierNode); !ok || callee.Value != "condition" || len(call.Arguments) != 1 {
		return nil, nil
	}
	both := *call
	both.Arguments = []ast.Node{call.Arguments[0], text}
	has, err := c.compileCall(&both)
	if err != nil {
		return nil, err
	}
	wanted := 1.0
	if n.Operator == "!=" {
		wanted = 0
	}
	return func(v []float64) bool { return has(v) == wanted }, nil
}

func (c *formulaCompiler) compileConditional(n *ast.ConditionalNode) (numberFunc, truthFunc, error) {
	cond, err := c.compileTruth(n.Cond)
	if err != nil {
		return nil, nil, err
	}
	a, t, err := c.compile(n.Exp1)
	if err != nil {
		return nil, nil, err
	}
	if t != nil {
		u, err := c.compileTruth(n.Exp2)
		return nil, func(v []float64) bool {
			if cond(v) {
				return t(v)
			}
			return u(v)
		}, err
	}
	b, err := c.compileNumber(n.Exp2)
	return func(v []float64) float64 {
		if cond(v) {
			return a(v)
		}
		return b(v)
	}, nil, err
}

func (c *formulaCompiler) compileDeclaration(n *ast.VariableDeclaratorNode) (numberFunc, truthFunc, error) {
	if _, known := formulaFunctions[n.Name]; known || n.Name == "used" || n.Name == "total" {
		return nil, nil, errorAt(n, "%s is taken: give the variable another name", inputerr.Quote(n.Name))
	}
	value, err := c.compileNumber(n.Value)
	if err != nil {
		return nil, nil, err
	}
	slot := c.variableCount
	c.variableCount++
	before, shadows := c.variableIndices[n.Name]
	c.variableIndices[n.Name] = slot
	a, t, err := c.compile(n.Expr)
	if delete(c.variableIndices, n.Name); shadows {
		c.variableIndices[n.Name] = before
	}
	switch {
	case err != nil:
		return nil, nil, err
	case t != nil:
		return nil, func(v []float64) bool { v[c.firstVariableInput+slot] = value(v); return t(v) }, nil
	}
	return func(v []float64) float64 { v[c.firstVariableInput+slot] = value(v); return a(v) }, nil, nil
}
