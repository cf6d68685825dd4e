package property

import (
	"math"

	"github.com/expr-lang/expr/ast"

	"kir/internal/portable"
)

// An enclosure is a subexpression of a formula, prepared for interval arithmetic. [boxEvaluation] computes an
// interval that contains all values of the subexpression over a box, which is the set of compositions with each
// amount between two limits. A subexpression that is an affine function (a linear function plus a constant) of
// the formula's inputs is bounded as one affine function, so that equal terms cancel. A ratio of two affine
// subexpressions is bounded as a whole; see [boxEvaluation.ratioInterval].
type enclosure struct {
	index            int // index among all enclosures of the formula
	kind             string
	operands         []*enclosure
	affine           *affineFunction // the subexpression as an affine function; nil if it is not affine
	intervalFunction func(interval, interval) interval
	truthFunction    func(a, b possibleTruth) possibleTruth // for "and", "or", "not": combines the possible truths of the operands; nil for a comparison
}

// An affineFunction is a linear function plus a constant, Σ coefficient·answer + constant. The answers are the
// quantities of the composition on which a formula depends; see [question].
type affineFunction struct {
	coefficients map[int]float64 // maps the index of a question to the coefficient of its answer
	constant     float64
	magnitude    float64 // greatest magnitude of intermediate results; rounding errors are bounded by a multiple of it
	termCount    int     // number of terms that were added; rounding errors grow with it
}

// combine returns the affine function a·f + b·g, where f is the receiver. It returns nil if a coefficient
// overflows.
func (f *affineFunction) combine(a float64, g *affineFunction, b float64) *affineFunction {
	sum := &affineFunction{make(map[int]float64), float64(a*f.constant) + float64(b*g.constant), float64(math.Abs(a)*f.magnitude) + float64(math.Abs(b)*g.magnitude), f.termCount + g.termCount + 1}
	for q, v := range f.coefficients {
		sum.coefficients[q] += float64(a * v)
	}
	for q, v := range g.coefficients {
		sum.coefficients[q] += float64(b * v)
	}
	if math.IsNaN(sum.magnitude) || math.IsInf(sum.magnitude, 0) || math.IsNaN(sum.constant) {
		return nil
	}
	return sum
}

// isConstant reports whether the affine function is not nil and has no coefficients.
func (f *affineFunction) isConstant() bool { return f != nil && len(f.coefficients) == 0 }

// An enclosureBuilder builds an [enclosure] for each subexpression of a compiled formula.
type enclosureBuilder struct {
	compiler           *formulaCompiler
	variableEnclosures map[string]*enclosure // maps the name of a let variable to the enclosure of its value
	enclosureCount     int
}

func (c *enclosureBuilder) newEnclosure(e enclosure) *enclosure {
	e.index = c.enclosureCount
	c.enclosureCount++
	return &e
}

// newOperation returns the enclosure of a function of one or two numbers. intervalFunction is the function on
// intervals, and operands holds the enclosures of the arguments.
func (c *enclosureBuilder) newOperation(intervalFunction func(interval, interval) interval, operands ...*enclosure) *enclosure {
	return c.newEnclosure(enclosure{kind: "of", operands: operands, intervalFunction: intervalFunction})
}

// enclose returns the enclosure of the node n of the formula's syntax tree.
func (c *enclosureBuilder) enclose(n ast.Node) *enclosure {
	constant := func(v float64) *enclosure {
		return c.newEnclosure(enclosure{kind: "form", affine: &affineFunction{constant: v, magnitude: math.Abs(v), termCount: 1}})
	}
	switch n := n.(type) {
	case *ast.IntegerNode:
		return constant(float64(n.Value))
	case *ast.FloatNode:
		return constant(n.Value)
	case *ast.BoolNode:
		v := possibleTruth{n.Value, !n.Value}
		return c.newEnclosure(enclosure{kind: "truth", truthFunction: func(possibleTruth, possibleTruth) possibleTruth { return v }})
	case *ast.IdentifierNode:
		switch e := c.variableEnclosures[n.Value]; {
		case e != nil:
			return e
		case n.Value == "total":
			return constant(float64(c.compiler.expression.total))
		}
		return c.encloseAnswer(c.compiler.questionByNode[n], 1)
	case *ast.UnaryNode:
		a := c.enclose(n.Node)
		switch n.Operator {
		case "+":
			return a
		case "-":
			return c.encloseSum(constant(0), a, -1)
		}
		return c.newEnclosure(enclosure{kind: "truth", operands: []*enclosure{a}, truthFunction: func(a, _ possibleTruth) possibleTruth { return possibleTruth{a.mayFail, a.mayHold} }})
	case *ast.BinaryNode:
		return c.encloseBinary(n.Operator, c.enclose(n.Left), c.enclose(n.Right))
	case *ast.ConditionalNode:
		return c.newEnclosure(enclosure{kind: "if", operands: []*enclosure{c.enclose(n.Cond), c.enclose(n.Exp1), c.enclose(n.Exp2)}})
	case *ast.VariableDeclaratorNode:
		value := c.enclose(n.Value)
		before := c.variableEnclosures[n.Name]
		c.variableEnclosures[n.Name] = value
		e := c.enclose(n.Expr)
		c.variableEnclosures[n.Name] = before
		return e
	case *ast.CallNode:
		return c.encloseCall(n)
	}
	return c.newOperation(func(interval, interval) interval { return anyNumber }) // unreachable: no compiled formula has another kind of node
}

// encloseAnswer returns the enclosure of the answer to a question of the formula, divided by a number. The
// question is given by its index.
func (c *enclosureBuilder) encloseAnswer(questionIndex int, divisor float64) *enclosure {
	q := &c.compiler.expression.questions[questionIndex]
	size := float64(c.compiler.expression.total)
	if q.kind == askMean {
		most := 0.0
		for _, a := range q.form.coefficients {
			most = max(most, math.Abs(float64(a)))
		}
		size = float64(most*size) / q.formPerMean
	}
	return c.newEnclosure(enclosure{kind: "form", affine: &affineFunction{coefficients: map[int]float64{questionIndex: 1 / divisor}, magnitude: size / divisor, termCount: 1}})
}

// encloseSum returns the enclosure of a + b if sign is 1, and of a − b if sign is −1.
func (c *enclosureBuilder) encloseSum(a, b *enclosure, sign float64) *enclosure {
	by := interval.plus
	if sign < 0 {
		by = interval.minus
	}
	e := c.newOperation(by, a, b)
	if a.affine != nil && b.affine != nil {
		e.affine = a.affine.combine(1, b.affine, sign)
	}
	return e
}

func (c *enclosureBuilder) encloseBinary(operator string, a, b *enclosure) *enclosure {
	switch operator {
	case "and", "&&":
		return c.newEnclosure(enclosure{kind: "truth", operands: []*enclosure{a, b}, truthFunction: func(a, b possibleTruth) possibleTruth {
			return possibleTruth{a.mayHold && b.mayHold, a.mayFail || b.mayFail}
		}})
	case "or", "||":
		return c.newEnclosure(enclosure{kind: "truth", operands: []*enclosure{a, b}, truthFunction: func(a, b possibleTruth) possibleTruth {
			return possibleTruth{a.mayHold || b.mayHold, a.mayFail && b.mayFail}
		}})
	case "+":
		return c.encloseSum(a, b, 1)
	case "-":
		return c.encloseSum(a, b, -1)
	case "*":
		e := c.newOperation(interval.times, a, b)
		if a == b { // a·a is a square, hence at least 0
			e.intervalFunction = func(s, _ interval) interval { return s.abs().times(s.abs()) }
		}
		if b.affine.isConstant() {
			a, b = b, a
		}
		if a.affine.isConstant() && b.affine != nil {
			e.affine = b.affine.combine(a.affine.constant, &affineFunction{}, 0)
		}
		return e
	case "/":
		e := c.newEnclosure(enclosure{kind: "ratio", operands: []*enclosure{a, b}})
		if a.affine != nil && b.affine.isConstant() && b.affine.constant != 0 {
			e.affine = a.affine.combine(1/b.affine.constant, &affineFunction{}, 0)
		}
		return e
	case "%":
		return c.newOperation(interval.modulo, a, b)
	case "^", "**":
		return c.newOperation(interval.power, a, b)
	}
	e := c.newEnclosure(enclosure{kind: operator, operands: []*enclosure{a, b}})
	if a.affine != nil && b.affine != nil {
		// In floating point, too, a < b exactly if a − b < 0. The difference is affine, so common terms cancel.
		if d := c.encloseSum(a, b, -1); d.affine != nil {
			e.operands = []*enclosure{d, c.enclose(&ast.IntegerNode{})}
		}
	}
	return e
}

func (c *enclosureBuilder) encloseCall(n *ast.CallNode) *enclosure {
	name := n.Callee.(*ast.IdentifierNode).Value
	f := formulaFunctions[name]
	if f.makeQuestion != nil {
		by := 1.0
		if f.divisor != nil {
			by = f.divisor(c.compiler.expression.total)
		}
		return c.encloseAnswer(c.compiler.questionByNode[n.Arguments[len(n.Arguments)-1]], by)
	}
	e := c.enclose(n.Arguments[0])
	if f.apply != nil {
		return c.newOperation(func(s, _ interval) interval { return f.applyInterval(s) }, e)
	}
	for _, a := range n.Arguments[1:] {
		e = c.newOperation(func(s, t interval) interval {
			return intervalOf(s.mayBeNaN || t.mayBeNaN, f.combine(s.lo, t.lo), f.combine(s.hi, t.hi)) // min and max are nondecreasing in both arguments
		}, e, c.enclose(a))
	}
	return e
}

// A boxEvaluation computes intervals for the subexpressions of a formula over one box. A box is the set of
// compositions with each amount between a lower and an upper limit.
type boxEvaluation struct {
	expression      *Expression
	ingredientCount int // number of ingredients
	// returns an upper bound of Σ perUnit_i·x_i + Σ perUse_i over the box; the second sum is over the used
	// ingredients
	linearUpperBound func(perUnit, perUse []float64) float64
	isEvaluated      []bool     // item k tells whether intervals[k] has been computed
	intervals        []interval // item k is the interval of the enclosure with index k
	perUnit          []float64  // scratch of setCoefficients: item i is the coefficient of each unit of ingredient i
	perUse           []float64  // scratch of setCoefficients: item i is the coefficient of the use of ingredient i
}

// UpperBound returns an upper bound of the log score over a set of compositions of n ingredients. The caller defines
// the set by the function linearUpperBound. This function returns an upper bound of Σ perUnit_i·x_i + Σ
// perUse_i over the set. The second sum is over the used ingredients.
func (e *Expression) UpperBound(n int, linearUpperBound func(perUnit, perUse []float64) float64) float64 {
	w := &boxEvaluation{expression: e, ingredientCount: n, linearUpperBound: linearUpperBound, isEvaluated: make([]bool, e.enclosureCount), intervals: make([]interval, e.enclosureCount), perUnit: make([]float64, n), perUse: make([]float64, n)}
	s := w.evaluateInterval(e.rootEnclosure)
	switch {
	case e.desirability != nil:
		return e.desirability.upperBound(s.lo, s.hi)
	case s.hi <= 0:
		return math.Inf(-1)
	}
	return interval{s.hi, s.hi, false}.applyRising(portable.Log).widen().hi
}

// Linear returns the value of the formula as Σ perUnit_i·x_i + Σ perUse_i + constant, where x_i is the units of
// ingredient i and the second sum is over the used ingredients. It also returns the desirability of the value.
// All results are nil or 0 in two cases:
//   - The value is not such a linear function.
//   - Cancellation of terms could cost more than the last few digits.
func (e *Expression) Linear(n int) (perUnit, perUse []float64, constant float64, d *Desirability) {
	f := e.rootEnclosure.affine
	if f == nil {
		return nil, nil, 0, nil
	}
	w := &boxEvaluation{expression: e, ingredientCount: n, perUnit: make([]float64, n), perUse: make([]float64, n)}
	w.setCoefficients(f)
	top := math.Abs(f.constant)
	for _, v := range w.perUnit {
		top = max(top, float64(math.Abs(v)*float64(e.total)))
	}
	for _, v := range w.perUse {
		top = max(top, math.Abs(v))
	}
	if !(float64(f.magnitude*float64(f.termCount+8)) <= 64*top) {
		return nil, nil, 0, nil
	}
	if d = e.desirability; d == nil {
		d, _ = UncappedRamp(0, 1, 1) // Without a desirability the value itself is the score.
	}
	return w.perUnit, w.perUse, f.constant, d
}

// setCoefficients sets the fields perUnit and perUse to the coefficients of the affine function f, for each
// unit and for each use of an ingredient. The constant of f is left out.
func (w *boxEvaluation) setCoefficients(f *affineFunction) {
	clear(w.perUnit)
	clear(w.perUse)
	for slot := range w.expression.questions {
		by, ok := f.coefficients[slot]
		if !ok {
			continue
		}
		q := &w.expression.questions[slot]
		scale := 1.0
		if q.kind == askMean {
			scale = q.formPerMean
		}
		for i := range w.ingredientCount {
			w.perUnit[i] += float64(by * (float64(q.perUnit(i)) / scale))
			w.perUse[i] += float64(by * float64(q.perUse(i)))
		}
	}
}

// roundingError returns an upper bound of the rounding error in computed values of the affine function.
func (f *affineFunction) roundingError() float64 {
	return float64(f.magnitude * float64(f.termCount+8) * 0x1p-50)
}

// affineUpperBound returns an upper bound of the affine function f over the compositions of the box, which have
// amounts between two limits.
func (w *boxEvaluation) affineUpperBound(f *affineFunction) float64 {
	w.setCoefficients(f)
	return w.linearUpperBound(w.perUnit, w.perUse) + f.constant + f.roundingError()
}

// affineInterval returns an interval that contains the values of the affine function f for all compositions of
// the box, which have amounts between two limits.
func (w *boxEvaluation) affineInterval(f *affineFunction) interval {
	switch {
	case f.isConstant() && f.termCount == 1: // a single constant of the formula is exact
		return interval{f.constant, f.constant, false}
	case f.isConstant():
		return interval{f.constant - f.roundingError(), f.constant + f.roundingError(), false}
	}
	return intervalOf(false, -w.affineUpperBound(f.combine(-1, &affineFunction{}, 0)), w.affineUpperBound(f))
}

// evaluateInterval returns an interval that contains the values of a numeric subexpression for all compositions
// of the box, which have amounts between two limits.
func (w *boxEvaluation) evaluateInterval(e *enclosure) interval {
	if w.isEvaluated[e.index] {
		return w.intervals[e.index]
	}
	var s interval
	switch {
	case e.affine != nil:
		s = w.affineInterval(e.affine)
	case e.kind == "of":
		var a, b interval
		if len(e.operands) > 0 {
			a = w.evaluateInterval(e.operands[0])
		}
		if len(e.operands) > 1 {
			b = w.evaluateInterval(e.operands[1])
		}
		s = e.intervalFunction(a, b)
	case e.kind == "ratio":
		s = w.ratioInterval(e.operands[0], e.operands[1])
	case e.kind == "if":
		v := w.evaluateTruth(e.operands[0])
		switch {
		case !v.mayFail:
			s = w.evaluateInterval(e.operands[1])
		case !v.mayHold:
			s = w.evaluateInterval(e.operands[2])
		default:
			s = w.evaluateInterval(e.operands[1]).hull(w.evaluateInterval(e.operands[2]))
		}
	default:
		s = w.evaluateTruth(e).interval()
	}
	w.isEvaluated[e.index], w.intervals[e.index] = true, s
	return s
}

// evaluateTruth returns two facts about a condition in the formula: whether it is true for some composition of
// the box, and whether it is false for some composition. The facts may be overestimated. A box is a set of
// compositions with amounts between two limits.
func (w *boxEvaluation) evaluateTruth(e *enclosure) possibleTruth {
	switch e.kind {
	case "truth":
		var a, b possibleTruth
		if len(e.operands) > 0 {
			a = w.evaluateTruth(e.operands[0])
		}
		if len(e.operands) > 1 {
			b = w.evaluateTruth(e.operands[1])
		}
		return e.truthFunction(a, b)
	case "if":
		v := w.evaluateTruth(e.operands[0])
		a, b := w.evaluateTruth(e.operands[1]), w.evaluateTruth(e.operands[2])
		return possibleTruth{v.mayHold && a.mayHold || v.mayFail && b.mayHold, v.mayHold && a.mayFail || v.mayFail && b.mayFail}
	}
	return compareIntervals(e.kind, w.evaluateInterval(e.operands[0]), w.evaluateInterval(e.operands[1]))
}

// maxRatioSteps is the greatest number of trial values in the search for the upper or lower bound of a ratio;
// see [boxEvaluation.ratioInterval].
const maxRatioSteps = 6

// ratioInterval returns an interval that contains a/b for all compositions of the box, which have amounts
// between two limits. If a and b are affine and b is above 0, then a/b ≤ t wherever a − t·b ≤ 0 (Dinkelbach,
// "On Nonlinear Fractional Programming", Management Science 13 (1967)). The maximum of a − t·b over the box
// decreases with t and is convex in t. Hence the zero of a chord through two points of this function is an
// upper bound of a/b, too.
func (w *boxEvaluation) ratioInterval(a, b *enclosure) interval {
	s := w.evaluateInterval(a).dividedBy(w.evaluateInterval(b))
	if a.affine == nil || b.affine == nil {
		return s
	}
	above, below := a.affine, b.affine
	d := w.evaluateInterval(b)
	if d.hi < 0 {
		above, below, d = above.combine(-1, &affineFunction{}, 0), below.combine(-1, &affineFunction{}, 0), interval{-d.hi, -d.lo, false}
	}
	if !(d.lo > 0) || math.IsInf(s.lo, 0) || math.IsInf(s.hi, 0) || above == nil || below == nil {
		return s
	}
	hi := w.ratioUpperBound(above, below, d, s.lo, s.hi)
	lo := -w.ratioUpperBound(above.combine(-1, &affineFunction{}, 0), below, d, -s.hi, -s.lo)
	room := float64(max(math.Abs(s.lo), math.Abs(s.hi)) * 0x1p-48)
	return s.intersect(lo-room, hi+room)
}

// ratioUpperBound returns an upper bound of the ratio of the subexpressions above and below over all
// compositions of the box. lo and hi are known bounds of the ratio, and denominatorInterval is a known interval
// of the values of below.
func (w *boxEvaluation) ratioUpperBound(above, below *affineFunction, denominatorInterval interval, lo, hi float64) float64 {
	at := func(t float64) float64 {
		f := above.combine(1, below, -t)
		if f == nil {
			return math.Inf(1)
		}
		return w.affineUpperBound(f)
	}
	low, atLow := lo, at(lo)
	high, atHigh := hi, at(hi)
	for k := range maxRatioSteps {
		if atHigh > 0 || atLow <= 0 || !(high-low > 1e-10*max(math.Abs(high), math.Abs(low))) {
			break
		}
		t := low + float64((high-low)*float64(atLow/(atLow-atHigh)))
		if k%2 == 0 { // nearer to low, the end that the zero of a chord never replaces
			t = low + float64((t-low)/2)
		}
		if !(low < t && t < high) {
			break
		}
		if v := at(t); v > 0 {
			low, atLow = t, v
		} else {
			high, atHigh = t, v
		}
	}
	best := hi
	if atLow <= 0 {
		best = min(best, low)
	}
	if atHigh <= 0 {
		best = min(best, high, high+float64(atHigh/denominatorInterval.hi))
	}
	if atLow > 0 {
		best = min(best, low+float64(atLow/denominatorInterval.lo))
	}
	if atLow > 0 && atHigh < 0 {
		t := low + float64((high-low)*float64(atLow/(atLow-atHigh)))
		best = min(best, t+float64((high-low)*0x1p-40))
	}
	return best
}
