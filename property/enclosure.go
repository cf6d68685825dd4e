package property

import (
	"math"

	"github.com/expr-lang/expr/ast"

	"kir/internal/portable"
)

// An enclosure is a node of a formula that can be bounded by interval arithmetic. [boxEvaluation] computes an
// interval that contains all values of the node over a box of compositions. A node that is an affine function of
// the formula's inputs is bounded as one affine function, so that equal terms cancel. A ratio of two affine nodes
// is bounded as a whole; see [boxEvaluation.ratioInterval].
type enclosure struct {
	index            int // index among all enclosures of the formula
	kind             string
	operands         []*enclosure
	affine           *affine // the node as an affine function; nil if the node is not affine
	intervalFunction func(interval, interval) interval
	verdictFunction  func(a, b verdict) verdict // for "and", "or", "not": combines the verdicts of the operands; nil for a comparison
}

// An affine is an affine function Σ coefficient·answer + constant of the answers to the questions of a formula; see
// [question].
type affine struct {
	coefficients map[int]float64
	constant     float64
	magnitude    float64 // greatest magnitude of intermediate results, from which rounding errors are bounded
	termCount    int     // number of terms added so far, from which rounding errors are bounded
}

// combine returns the affine function a·f + b·g, or nil if a coefficient overflows.
func (f *affine) combine(a float64, g *affine, b float64) *affine {
	sum := &affine{make(map[int]float64), float64(a*f.constant) + float64(b*g.constant), float64(math.Abs(a)*f.magnitude) + float64(math.Abs(b)*g.magnitude), f.termCount + g.termCount + 1}
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

// isConstant reports whether f is not nil and depends on no answer.
func (f *affine) isConstant() bool { return f != nil && len(f.coefficients) == 0 }

// An encloser builds the enclosures of all nodes of a compiled formula; see [enclosure].
type encloser struct {
	compiler           *formulaCompiler
	variableEnclosures map[string]*enclosure
	enclosureCount     int
}

func (c *encloser) newEnclosure(e enclosure) *enclosure {
	e.index = c.enclosureCount
	c.enclosureCount++
	return &e
}

// newOperation returns the enclosure of a function of one or two numbers. by is the function on intervals, and of
// holds the enclosures of the arguments.
func (c *encloser) newOperation(by func(interval, interval) interval, of ...*enclosure) *enclosure {
	return c.newEnclosure(enclosure{kind: "of", operands: of, intervalFunction: by})
}

// enclose returns the enclosure of the node n of the formula's syntax tree.
func (c *encloser) enclose(n ast.Node) *enclosure {
	constant := func(v float64) *enclosure {
		return c.newEnclosure(enclosure{kind: "form", affine: &affine{constant: v, magnitude: math.Abs(v), termCount: 1}})
	}
	switch n := n.(type) {
	case *ast.IntegerNode:
		return constant(float64(n.Value))
	case *ast.FloatNode:
		return constant(n.Value)
	case *ast.BoolNode:
		v := verdict{n.Value, !n.Value}
		return c.newEnclosure(enclosure{kind: "truth", verdictFunction: func(verdict, verdict) verdict { return v }})
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
		return c.newEnclosure(enclosure{kind: "truth", operands: []*enclosure{a}, verdictFunction: func(a, _ verdict) verdict { return verdict{a.mayFail, a.mayHold} }})
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

// encloseAnswer returns the enclosure of the answer to a question, divided by the number by. slot is the index of
// the question.
func (c *encloser) encloseAnswer(slot int, by float64) *enclosure {
	q := &c.compiler.expression.questions[slot]
	size := float64(c.compiler.expression.total)
	if q.kind == askMean {
		most := 0.0
		for _, a := range q.form.coefficients {
			most = max(most, math.Abs(float64(a)))
		}
		size = float64(most*size) / q.formPerMean
	}
	return c.newEnclosure(enclosure{kind: "form", affine: &affine{coefficients: map[int]float64{slot: 1 / by}, magnitude: size / by, termCount: 1}})
}

// encloseSum returns the enclosure of a + sign·b.
func (c *encloser) encloseSum(a, b *enclosure, sign float64) *enclosure {
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

func (c *encloser) encloseBinary(operator string, a, b *enclosure) *enclosure {
	switch operator {
	case "and", "&&":
		return c.newEnclosure(enclosure{kind: "truth", operands: []*enclosure{a, b}, verdictFunction: func(a, b verdict) verdict { return verdict{a.mayHold && b.mayHold, a.mayFail || b.mayFail} }})
	case "or", "||":
		return c.newEnclosure(enclosure{kind: "truth", operands: []*enclosure{a, b}, verdictFunction: func(a, b verdict) verdict { return verdict{a.mayHold || b.mayHold, a.mayFail && b.mayFail} }})
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
			e.affine = b.affine.combine(a.affine.constant, &affine{}, 0)
		}
		return e
	case "/":
		e := c.newEnclosure(enclosure{kind: "ratio", operands: []*enclosure{a, b}})
		if a.affine != nil && b.affine.isConstant() && b.affine.constant != 0 {
			e.affine = a.affine.combine(1/b.affine.constant, &affine{}, 0)
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

func (c *encloser) encloseCall(n *ast.CallNode) *enclosure {
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

// A boxEvaluation computes the intervals of a formula's enclosures over one box, which is the set of compositions
// with each amount between a lower and an upper limit.
type boxEvaluation struct {
	expression       *Expression
	ingredientCount  int // number of ingredients
	linearUpperBound func(perUnit, perUse []float64) float64
	isEvaluated      []bool
	intervals        []interval
	perUnit          []float64 // scratch of setCoefficients, by ingredient: the coefficient of each unit of the ingredient
	perUse           []float64 // scratch of setCoefficients, by ingredient: the coefficient of the use of the ingredient
}

// Above returns an upper bound of the log score over a set of compositions of n ingredients. The function most, which the
// caller passes, returns an upper bound of Σ perUnit_i·x_i + Σ perUse_i over the same set; perUse_i counts for each
// used ingredient i.
func (e *Expression) Above(n int, most func(perUnit, perUse []float64) float64) float64 {
	w := &boxEvaluation{expression: e, ingredientCount: n, linearUpperBound: most, isEvaluated: make([]bool, e.enclosureCount), intervals: make([]interval, e.enclosureCount), perUnit: make([]float64, n), perUse: make([]float64, n)}
	s := w.evaluateInterval(e.rootEnclosure)
	switch {
	case e.desirability != nil:
		return e.desirability.upperBound(s.lo, s.hi)
	case s.hi <= 0:
		return math.Inf(-1)
	}
	return interval{s.hi, s.hi, false}.applyRising(portable.Log).widen().hi
}

// Linear returns the value of the formula as Σ perUnit_i·x_i + Σ perUse_i + constant, where perUse_i counts for
// each used ingredient i. It also returns the desirability of the value. All results are nil or 0 if the value is
// not affine, or if cancellation could cost more than the last few digits.
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

// setCoefficients sets w.perUnit and w.perUse to the coefficients of f for each unit and for each use of an
// ingredient. The constant of f is left out.
func (w *boxEvaluation) setCoefficients(f *affine) {
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

// roundingError returns an upper bound of the rounding error in computed values of f.
func (f *affine) roundingError() float64 {
	return float64(f.magnitude * float64(f.termCount+8) * 0x1p-50)
}

// affineUpperBound returns an upper bound of the affine function f over the box.
func (w *boxEvaluation) affineUpperBound(f *affine) float64 {
	w.setCoefficients(f)
	return w.linearUpperBound(w.perUnit, w.perUse) + f.constant + f.roundingError()
}

// affineInterval returns an interval that contains all values of the affine function f over the box.
func (w *boxEvaluation) affineInterval(f *affine) interval {
	switch {
	case f.isConstant() && f.termCount == 1: // a single constant of the formula is exact
		return interval{f.constant, f.constant, false}
	case f.isConstant():
		return interval{f.constant - f.roundingError(), f.constant + f.roundingError(), false}
	}
	return intervalOf(false, -w.affineUpperBound(f.combine(-1, &affine{}, 0)), w.affineUpperBound(f))
}

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

func (w *boxEvaluation) evaluateTruth(e *enclosure) verdict {
	switch e.kind {
	case "truth":
		var a, b verdict
		if len(e.operands) > 0 {
			a = w.evaluateTruth(e.operands[0])
		}
		if len(e.operands) > 1 {
			b = w.evaluateTruth(e.operands[1])
		}
		return e.verdictFunction(a, b)
	case "if":
		v := w.evaluateTruth(e.operands[0])
		a, b := w.evaluateTruth(e.operands[1]), w.evaluateTruth(e.operands[2])
		return verdict{v.mayHold && a.mayHold || v.mayFail && b.mayHold, v.mayHold && a.mayFail || v.mayFail && b.mayFail}
	}
	return compareIntervals(e.kind, w.evaluateInterval(e.operands[0]), w.evaluateInterval(e.operands[1]))
}

// maxRatioSteps is the greatest number of trial values in the search for one bound of a ratio.
const maxRatioSteps = 6

// ratioInterval returns an interval that contains a/b over the box. If a and b are affine and b is above 0, then
// a/b ≤ t wherever a − t·b ≤ 0 (Dinkelbach, "On Nonlinear Fractional Programming", Management Science 13 (1967)).
// The maximum of a − t·b over the box decreases with t and is convex in t. Hence the zero of a chord through two
// points of this function is an upper bound of a/b, too.
func (w *boxEvaluation) ratioInterval(a, b *enclosure) interval {
	s := w.evaluateInterval(a).dividedBy(w.evaluateInterval(b))
	if a.affine == nil || b.affine == nil {
		return s
	}
	above, below := a.affine, b.affine
	d := w.evaluateInterval(b)
	if d.hi < 0 {
		above, below, d = above.combine(-1, &affine{}, 0), below.combine(-1, &affine{}, 0), interval{-d.hi, -d.lo, false}
	}
	if !(d.lo > 0) || math.IsInf(s.lo, 0) || math.IsInf(s.hi, 0) || above == nil || below == nil {
		return s
	}
	hi := w.ratioUpperBound(above, below, d, s.lo, s.hi)
	lo := -w.ratioUpperBound(above.combine(-1, &affine{}, 0), below, d, -s.hi, -s.lo)
	room := float64(max(math.Abs(s.lo), math.Abs(s.hi)) * 0x1p-48)
	return s.intersect(lo-room, hi+room)
}

// ratioUpperBound returns an upper bound of the ratio above/below over the box. The caller knows that the ratio
// lies between lo and hi, and below within the interval d.
func (w *boxEvaluation) ratioUpperBound(above, below *affine, d interval, lo, hi float64) float64 {
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
		best = min(best, high, high+float64(atHigh/d.hi))
	}
	if atLow > 0 {
		best = min(best, low+float64(atLow/d.lo))
	}
	if atLow > 0 && atHigh < 0 {
		t := low + float64((high-low)*float64(atLow/(atLow-atHigh)))
		best = min(best, t+float64((high-low)*0x1p-40))
	}
	return best
}
