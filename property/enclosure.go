package property

import (
	"math"

	"github.com/expr-lang/expr/ast"

	"kir/internal/portable"
)

// An enclosure is a node of a formula that can be bounded by interval arithmetic. Over a box of compositions,
// [boxEvaluation] computes an interval that contains the node's value. A node that is affine in the formula's answers
// is bounded as one linear form, so that its terms cancel first. A ratio of two affine nodes is bounded as a whole;
// see [boxEvaluation.ratioInterval].
type enclosure struct {
	number    int // index among all enclosures of the formula
	kind      string
	operands  []*enclosure
	affine    *affine // the node as an affine function; nil if it is not affine
	operation func(interval, interval) interval
	truth     func(a, b verdict) verdict // for "and", "or", "not": combines the verdicts of the operands; nil for a comparison
}

// An affine is the function Σ coefficient·answer + constant of the answers to a formula's questions.
type affine struct {
	coefficients map[int]float64
	constant     float64
	size         float64 // greatest magnitude of intermediate results, from which rounding errors are bounded
	parts        int     // number of terms added so far, from which rounding errors are bounded
}

// combine returns a·f + b·g, or nil if that overflows.
func (f *affine) combine(a float64, g *affine, b float64) *affine {
	sum := &affine{make(map[int]float64), float64(a*f.constant) + float64(b*g.constant), float64(math.Abs(a)*f.size) + float64(math.Abs(b)*g.size), f.parts + g.parts + 1}
	for q, v := range f.coefficients {
		sum.coefficients[q] += float64(a * v)
	}
	for q, v := range g.coefficients {
		sum.coefficients[q] += float64(b * v)
	}
	if math.IsNaN(sum.size) || math.IsInf(sum.size, 0) || math.IsNaN(sum.constant) {
		return nil
	}
	return sum
}

// isConstant reports whether f depends on no answer. It is false if f is nil.
func (f *affine) isConstant() bool { return f != nil && len(f.coefficients) == 0 }

// An encloser builds the enclosures of a compiled formula.
type encloser struct {
	compiler  *formulaCompiler
	variables map[string]*enclosure
	count     int
}

func (c *encloser) newEnclosure(e enclosure) *enclosure {
	e.number = c.count
	c.count++
	return &e
}

// newOperation returns the enclosure of a function of one or two numbers. The function on intervals is by; of holds
// the enclosures of the arguments.
func (c *encloser) newOperation(by func(interval, interval) interval, of ...*enclosure) *enclosure {
	return c.newEnclosure(enclosure{kind: "of", operands: of, operation: by})
}

// enclose returns the enclosure of a node of the formula's syntax tree.
func (c *encloser) enclose(n ast.Node) *enclosure {
	constant := func(v float64) *enclosure {
		return c.newEnclosure(enclosure{kind: "form", affine: &affine{constant: v, size: math.Abs(v), parts: 1}})
	}
	switch n := n.(type) {
	case *ast.IntegerNode:
		return constant(float64(n.Value))
	case *ast.FloatNode:
		return constant(n.Value)
	case *ast.BoolNode:
		v := verdict{n.Value, !n.Value}
		return c.newEnclosure(enclosure{kind: "truth", truth: func(verdict, verdict) verdict { return v }})
	case *ast.IdentifierNode:
		switch e := c.variables[n.Value]; {
		case e != nil:
			return e
		case n.Value == "total":
			return constant(float64(c.compiler.expression.total))
		}
		return c.newAnswer(c.compiler.questionNodes[n], 1)
	case *ast.UnaryNode:
		a := c.enclose(n.Node)
		switch n.Operator {
		case "+":
			return a
		case "-":
			return c.newSum(constant(0), a, -1)
		}
		return c.newEnclosure(enclosure{kind: "truth", operands: []*enclosure{a}, truth: func(a, _ verdict) verdict { return verdict{a.mayFail, a.mayHold} }})
	case *ast.BinaryNode:
		return c.encloseBinary(n.Operator, c.enclose(n.Left), c.enclose(n.Right))
	case *ast.ConditionalNode:
		return c.newEnclosure(enclosure{kind: "if", operands: []*enclosure{c.enclose(n.Cond), c.enclose(n.Exp1), c.enclose(n.Exp2)}})
	case *ast.VariableDeclaratorNode:
		value := c.enclose(n.Value)
		before := c.variables[n.Name]
		c.variables[n.Name] = value
		e := c.enclose(n.Expr)
		c.variables[n.Name] = before
		return e
	case *ast.CallNode:
		return c.encloseCall(n)
	}
	return c.newOperation(func(interval, interval) interval { return anyNumber }) // unreachable: no compiled formula has another kind of node
}

// newAnswer returns the enclosure of a question's answer divided by the number by. slot is the question's index.
func (c *encloser) newAnswer(slot int, by float64) *enclosure {
	q := &c.compiler.expression.questions[slot]
	size := float64(c.compiler.expression.total)
	if q.kind == askMean {
		most := 0.0
		for _, a := range q.form.a {
			most = max(most, math.Abs(float64(a)))
		}
		size = float64(most*size) / q.mean
	}
	return c.newEnclosure(enclosure{kind: "form", affine: &affine{coefficients: map[int]float64{slot: 1 / by}, size: size / by, parts: 1}})
}

// newSum returns the enclosure of a + sign·b.
func (c *encloser) newSum(a, b *enclosure, sign float64) *enclosure {
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
		return c.newEnclosure(enclosure{kind: "truth", operands: []*enclosure{a, b}, truth: func(a, b verdict) verdict { return verdict{a.mayHold && b.mayHold, a.mayFail || b.mayFail} }})
	case "or", "||":
		return c.newEnclosure(enclosure{kind: "truth", operands: []*enclosure{a, b}, truth: func(a, b verdict) verdict { return verdict{a.mayHold || b.mayHold, a.mayFail && b.mayFail} }})
	case "+":
		return c.newSum(a, b, 1)
	case "-":
		return c.newSum(a, b, -1)
	case "*":
		e := c.newOperation(interval.times, a, b)
		if a == b { // a·a is a square, hence at least 0
			e.operation = func(s, _ interval) interval { return s.abs().times(s.abs()) }
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
		if d := c.newSum(a, b, -1); d.affine != nil {
			e.operands = []*enclosure{d, c.enclose(&ast.IntegerNode{})}
		}
	}
	return e
}

func (c *encloser) encloseCall(n *ast.CallNode) *enclosure {
	name := n.Callee.(*ast.IdentifierNode).Value
	f := functions[name]
	if f.ask != nil {
		by := 1.0
		if f.divisor != nil {
			by = f.divisor(c.compiler.expression.total)
		}
		return c.newAnswer(c.compiler.questionNodes[n.Arguments[len(n.Arguments)-1]], by)
	}
	e := c.enclose(n.Arguments[0])
	if f.apply != nil {
		return c.newOperation(func(s, _ interval) interval { return f.applyInterval(s) }, e)
	}
	for _, a := range n.Arguments[1:] {
		e = c.newOperation(func(s, t interval) interval {
			return intervalOf(s.mayBeNaN || t.mayBeNaN, f.fold(s.lo, t.lo), f.fold(s.hi, t.hi)) // min and max are nondecreasing in both arguments
		}, e, c.enclose(a))
	}
	return e
}

// A boxEvaluation computes the intervals of a formula's enclosures over one box: lower and upper limits of each
// ingredient's amount.
type boxEvaluation struct {
	e          *Expression
	n          int // number of ingredients
	upperBound func(perUnit, perUse []float64) float64
	known      []bool
	intervals  []interval
	unit       []float64 // scratch of writeForm
	uses       []float64
}

// Above returns an upper bound of log y over a set of compositions of n ingredients. The caller passes most, which
// returns an upper bound over that set of Σ perUnit·amount + Σ perUse; perUse counts for each ingredient that is
// used.
func (e *Expression) Above(n int, most func(perUnit, perUse []float64) float64) float64 {
	w := &boxEvaluation{e: e, n: n, upperBound: most, known: make([]bool, e.enclosures), intervals: make([]interval, e.enclosures), unit: make([]float64, n), uses: make([]float64, n)}
	s := w.evaluate(e.enclosed)
	switch {
	case e.d != nil:
		return e.d.upperBound(s.lo, s.hi)
	case s.hi <= 0:
		return math.Inf(-1)
	}
	return interval{s.hi, s.hi, false}.applyRising(portable.Log).widen().hi
}

// Linear returns the formula's value as Σ perUnit_i·x_i + Σ perUse_i over the used ingredients + constant, and the
// desirability of the value. All results are nil or 0 if the value is not affine, or if cancellation could lose more
// than its last digits.
func (e *Expression) Linear(n int) (perUnit, perUse []float64, constant float64, d *Desirability) {
	f := e.enclosed.affine
	if f == nil {
		return nil, nil, 0, nil
	}
	w := &boxEvaluation{e: e, n: n, unit: make([]float64, n), uses: make([]float64, n)}
	w.writeForm(f)
	top := math.Abs(f.constant)
	for _, v := range w.unit {
		top = max(top, float64(math.Abs(v)*float64(e.total)))
	}
	for _, v := range w.uses {
		top = max(top, math.Abs(v))
	}
	if !(float64(f.size*float64(f.parts+8)) <= 64*top) {
		return nil, nil, 0, nil
	}
	if d = e.d; d == nil {
		d, _ = UncappedRamp(0, 1, 1) // Without a desirability the value itself is the score.
	}
	return w.unit, w.uses, f.constant, d
}

// writeForm sets w.unit and w.use to the coefficients of f for each unit and each use of an ingredient. It leaves out
// f's constant.
func (w *boxEvaluation) writeForm(f *affine) {
	clear(w.unit)
	clear(w.uses)
	for slot := range w.e.questions {
		by, ok := f.coefficients[slot]
		if !ok {
			continue
		}
		q := &w.e.questions[slot]
		scale := 1.0
		if q.kind == askMean {
			scale = q.mean
		}
		for i := range w.n {
			w.unit[i] += float64(by * (float64(q.perUnit(i)) / scale))
			w.uses[i] += float64(by * float64(q.perUse(i)))
		}
	}
}

// roundingError returns an upper bound of the rounding error of f's computed value.
func (f *affine) roundingError() float64 { return float64(f.size * float64(f.parts+8) * 0x1p-50) }

// formUpperBound returns an upper bound of f over the box.
func (w *boxEvaluation) formUpperBound(f *affine) float64 {
	w.writeForm(f)
	return w.upperBound(w.unit, w.uses) + f.constant + f.roundingError()
}

// formInterval returns an interval that contains all values of f over the box.
func (w *boxEvaluation) formInterval(f *affine) interval {
	switch {
	case f.isConstant() && f.parts == 1: // a single constant of the formula is exact
		return interval{f.constant, f.constant, false}
	case f.isConstant():
		return interval{f.constant - f.roundingError(), f.constant + f.roundingError(), false}
	}
	return intervalOf(false, -w.formUpperBound(f.combine(-1, &affine{}, 0)), w.formUpperBound(f))
}

func (w *boxEvaluation) evaluate(e *enclosure) interval {
	if w.known[e.number] {
		return w.intervals[e.number]
	}
	var s interval
	switch {
	case e.affine != nil:
		s = w.formInterval(e.affine)
	case e.kind == "of":
		var a, b interval
		if len(e.operands) > 0 {
			a = w.evaluate(e.operands[0])
		}
		if len(e.operands) > 1 {
			b = w.evaluate(e.operands[1])
		}
		s = e.operation(a, b)
	case e.kind == "ratio":
		s = w.ratioInterval(e.operands[0], e.operands[1])
	case e.kind == "if":
		v := w.evaluateTruth(e.operands[0])
		switch {
		case !v.mayFail:
			s = w.evaluate(e.operands[1])
		case !v.mayHold:
			s = w.evaluate(e.operands[2])
		default:
			s = w.evaluate(e.operands[1]).hull(w.evaluate(e.operands[2]))
		}
	default:
		s = w.evaluateTruth(e).interval()
	}
	w.known[e.number], w.intervals[e.number] = true, s
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
		return e.truth(a, b)
	case "if":
		v := w.evaluateTruth(e.operands[0])
		a, b := w.evaluateTruth(e.operands[1]), w.evaluateTruth(e.operands[2])
		return verdict{v.mayHold && a.mayHold || v.mayFail && b.mayHold, v.mayHold && a.mayFail || v.mayFail && b.mayFail}
	}
	return compare(e.kind, w.evaluate(e.operands[0]), w.evaluate(e.operands[1]))
}

// ratioSteps is the number of trial values t in the search for each bound of a ratio.
const ratioSteps = 6

// ratioInterval returns an interval that contains a/b over the box. If a and b are affine and b is above 0, then a/b
// ≤ t wherever a − t·b ≤ 0 (Dinkelbach, "On Nonlinear Fractional Programming", Management Science 13 (1967)).
// The maximum of a − t·b over the box falls with t and is convex in t. Hence the zero of a chord through two of
// its points is an upper bound of a/b, too.
func (w *boxEvaluation) ratioInterval(a, b *enclosure) interval {
	s := w.evaluate(a).dividedBy(w.evaluate(b))
	if a.affine == nil || b.affine == nil {
		return s
	}
	above, below := a.affine, b.affine
	d := w.evaluate(b)
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

// ratioUpperBound returns an upper bound of above/below over the box. The ratio is known to lie between lo and hi,
// and below within the interval d.
func (w *boxEvaluation) ratioUpperBound(above, below *affine, d interval, lo, hi float64) float64 {
	at := func(t float64) float64 {
		f := above.combine(1, below, -t)
		if f == nil {
			return math.Inf(1)
		}
		return w.formUpperBound(f)
	}
	low, atLow := lo, at(lo)
	high, atHigh := hi, at(hi)
	for k := range ratioSteps {
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
