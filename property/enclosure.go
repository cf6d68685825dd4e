package property

import (
	"math"

	"github.com/expr-lang/expr/ast"

	"kir/internal/portable"
)

// An enclosure is a part of a formula as it is bounded: given what linear forms are at most
// in a box of compositions, it says between which numbers it is there, by the arithmetic of
// spans. What is affine in what the formula asks is one form, so that what is counted twice
// cancels out, and a ratio of two is bounded as a whole, see [enclosing.ratio].
type enclosure struct {
	number int // of all enclosures
	kind   string
	of     []*enclosure
	affine *affine // nil if it is none
	by     func(span, span) span
	truth  func(a, b verdict) verdict // of what is a truth; nil: a comparison
}

// affine is Σ by·answer + constant, over the questions.
type affine struct {
	by       map[int]float64
	constant float64
	size     float64 // what intermediate results are at most, which is what rounding is of
	parts    int     // how many were added
}

// plus returns a·f + b·g.
func (f *affine) plus(a float64, g *affine, b float64) *affine {
	sum := &affine{make(map[int]float64), float64(a*f.constant) + float64(b*g.constant), float64(math.Abs(a)*f.size) + float64(math.Abs(b)*g.size), f.parts + g.parts + 1}
	for q, v := range f.by {
		sum.by[q] += float64(a * v)
	}
	for q, v := range g.by {
		sum.by[q] += float64(b * v)
	}
	if math.IsNaN(sum.size) || math.IsInf(sum.size, 0) || math.IsNaN(sum.constant) {
		return nil
	}
	return sum
}

// fixed says whether a form is a constant.
func (f *affine) fixed() bool { return f != nil && len(f.by) == 0 }

// encloser makes enclosures of a formula that was compiled.
type encloser struct {
	of        *formula
	variables map[string]*enclosure
	made      int
}

func (c *encloser) make(e enclosure) *enclosure {
	e.number = c.made
	c.made++
	return &e
}

// two makes an operation on one or two numbers.
func (c *encloser) two(by func(span, span) span, of ...*enclosure) *enclosure {
	return c.make(enclosure{kind: "of", of: of, by: by})
}

// enclose returns the enclosure of a node.
func (c *encloser) enclose(n ast.Node) *enclosure {
	constant := func(v float64) *enclosure {
		return c.make(enclosure{kind: "form", affine: &affine{constant: v, size: math.Abs(v), parts: 1}})
	}
	switch n := n.(type) {
	case *ast.IntegerNode:
		return constant(float64(n.Value))
	case *ast.FloatNode:
		return constant(n.Value)
	case *ast.BoolNode:
		v := verdict{n.Value, !n.Value}
		return c.make(enclosure{kind: "truth", truth: func(verdict, verdict) verdict { return v }})
	case *ast.IdentifierNode:
		switch e := c.variables[n.Value]; {
		case e != nil:
			return e
		case n.Value == "total":
			return constant(float64(c.of.expression.total))
		}
		return c.asked(c.of.asks[n], 1)
	case *ast.UnaryNode:
		a := c.enclose(n.Node)
		switch n.Operator {
		case "+":
			return a
		case "-":
			return c.sum(constant(0), a, -1)
		}
		return c.make(enclosure{kind: "truth", of: []*enclosure{a}, truth: func(a, _ verdict) verdict { return verdict{a.no, a.yes} }})
	case *ast.BinaryNode:
		return c.binary(n.Operator, c.enclose(n.Left), c.enclose(n.Right))
	case *ast.ConditionalNode:
		return c.make(enclosure{kind: "if", of: []*enclosure{c.enclose(n.Cond), c.enclose(n.Exp1), c.enclose(n.Exp2)}})
	case *ast.VariableDeclaratorNode:
		value := c.enclose(n.Value)
		before := c.variables[n.Name]
		c.variables[n.Name] = value
		e := c.enclose(n.Expr)
		c.variables[n.Name] = before
		return e
	case *ast.CallNode:
		return c.call(n)
	}
	return c.two(func(span, span) span { return anything }) // no such formula is compiled
}

// asked returns what is answered to a question, divided by a number.
func (c *encloser) asked(slot int, by float64) *enclosure {
	q := &c.of.expression.questions[slot]
	size := float64(c.of.expression.total)
	if q.kind == askMean {
		most := 0.0
		for _, a := range q.form.a {
			most = max(most, math.Abs(float64(a)))
		}
		size = float64(most*size) / q.mean
	}
	return c.make(enclosure{kind: "form", affine: &affine{by: map[int]float64{slot: 1 / by}, size: size / by, parts: 1}})
}

// sum returns a + sign·b.
func (c *encloser) sum(a, b *enclosure, sign float64) *enclosure {
	by := span.plus
	if sign < 0 {
		by = span.minus
	}
	e := c.two(by, a, b)
	if a.affine != nil && b.affine != nil {
		e.affine = a.affine.plus(1, b.affine, sign)
	}
	return e
}

func (c *encloser) binary(operator string, a, b *enclosure) *enclosure {
	switch operator {
	case "and", "&&":
		return c.make(enclosure{kind: "truth", of: []*enclosure{a, b}, truth: func(a, b verdict) verdict { return verdict{a.yes && b.yes, a.no || b.no} }})
	case "or", "||":
		return c.make(enclosure{kind: "truth", of: []*enclosure{a, b}, truth: func(a, b verdict) verdict { return verdict{a.yes || b.yes, a.no && b.no} }})
	case "+":
		return c.sum(a, b, 1)
	case "-":
		return c.sum(a, b, -1)
	case "*":
		e := c.two(span.times, a, b)
		if a == b { // a square
			e.by = func(s, _ span) span { return s.size().times(s.size()) }
		}
		if b.affine.fixed() {
			a, b = b, a
		}
		if a.affine.fixed() && b.affine != nil {
			e.affine = b.affine.plus(a.affine.constant, &affine{}, 0)
		}
		return e
	case "/":
		e := c.make(enclosure{kind: "ratio", of: []*enclosure{a, b}})
		if a.affine != nil && b.affine.fixed() && b.affine.constant != 0 {
			e.affine = a.affine.plus(1/b.affine.constant, &affine{}, 0)
		}
		return e
	case "%":
		return c.two(span.modulo, a, b)
	case "^", "**":
		return c.two(span.power, a, b)
	}
	e := c.make(enclosure{kind: operator, of: []*enclosure{a, b}})
	if a.affine != nil && b.affine != nil {
		// The lesser is that whose difference is below 0, in floating point, too.
		if d := c.sum(a, b, -1); d.affine != nil {
			e.of = []*enclosure{d, c.enclose(&ast.IntegerNode{})}
		}
	}
	return e
}

func (c *encloser) call(n *ast.CallNode) *enclosure {
	name := n.Callee.(*ast.IdentifierNode).Value
	f := functions[name]
	if f.ask != nil {
		by := 1.0
		if f.by != nil {
			by = f.by(c.of.expression.total)
		}
		return c.asked(c.of.asks[n.Arguments[len(n.Arguments)-1]], by)
	}
	e := c.enclose(n.Arguments[0])
	if f.of != nil {
		return c.two(func(s, _ span) span { return f.over(s) }, e)
	}
	for _, a := range n.Arguments[1:] {
		e = c.two(func(s, t span) span {
			return over(s.none || t.none, f.fold(s.lo, t.lo), f.fold(s.hi, t.hi)) // which rises in both
		}, e, c.enclose(a))
	}
	return e
}

// enclosing is an enclosure worked out in one box.
type enclosing struct {
	e     *Expression
	n     int // ingredients
	most  func(perUnit, perUse []float64) float64
	known []bool
	spans []span
	unit  []float64 // scratch
	use   []float64
}

// Above returns what log y is at most where most says what forms Σ perUnit·amount +
// Σ perUse, over those of n ingredients that are used, are at most.
func (e *Expression) Above(n int, most func(perUnit, perUse []float64) float64) float64 {
	w := &enclosing{e: e, n: n, most: most, known: make([]bool, e.enclosures), spans: make([]span, e.enclosures), unit: make([]float64, n), use: make([]float64, n)}
	s := w.span(e.enclosed)
	switch {
	case e.d != nil:
		return e.d.above(s.lo, s.hi)
	case s.hi <= 0:
		return math.Inf(-1)
	}
	return span{s.hi, s.hi, false}.under(portable.Log).wider().hi
}

// Linear returns what the value is a sum of, by units and uses of each of n ingredients, and
// how desirable it is; nothing where it is not affine, or where more than the last digits of
// the value may be rounded, as of what all but cancels out.
func (e *Expression) Linear(n int) (perUnit, perUse []float64, constant float64, d *Desirability) {
	f := e.enclosed.affine
	if f == nil {
		return nil, nil, 0, nil
	}
	w := &enclosing{e: e, n: n, unit: make([]float64, n), use: make([]float64, n)}
	w.write(f)
	top := math.Abs(f.constant)
	for _, v := range w.unit {
		top = max(top, float64(math.Abs(v)*float64(e.total)))
	}
	for _, v := range w.use {
		top = max(top, math.Abs(v))
	}
	if !(float64(f.size*float64(f.parts+8)) <= 64*top) {
		return nil, nil, 0, nil
	}
	if d = e.d; d == nil {
		d, _ = Toward(0, 1, 1) // a score is its own desirability
	}
	return w.unit, w.use, f.constant, d
}

// write writes the sums of a form, but for its constant.
func (w *enclosing) write(f *affine) {
	clear(w.unit)
	clear(w.use)
	for slot := range w.e.questions {
		by, ok := f.by[slot]
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
			w.use[i] += float64(by * float64(q.perUse(i)))
		}
	}
}

// room is what rounding may make of a form.
func (f *affine) room() float64 { return float64(f.size * float64(f.parts+8) * 0x1p-50) }

// top returns what a form is at most.
func (w *enclosing) top(f *affine) float64 {
	w.write(f)
	return w.most(w.unit, w.use) + f.constant + f.room()
}

// form returns between which numbers a form is.
func (w *enclosing) form(f *affine) span {
	switch {
	case f.fixed() && f.parts == 1: // as it was written
		return span{f.constant, f.constant, false}
	case f.fixed():
		return span{f.constant - f.room(), f.constant + f.room(), false}
	}
	return over(false, -w.top(f.plus(-1, &affine{}, 0)), w.top(f))
}

func (w *enclosing) span(e *enclosure) span {
	if w.known[e.number] {
		return w.spans[e.number]
	}
	var s span
	switch {
	case e.affine != nil:
		s = w.form(e.affine)
	case e.kind == "of":
		var a, b span
		if len(e.of) > 0 {
			a = w.span(e.of[0])
		}
		if len(e.of) > 1 {
			b = w.span(e.of[1])
		}
		s = e.by(a, b)
	case e.kind == "ratio":
		s = w.ratio(e.of[0], e.of[1])
	case e.kind == "if":
		v := w.verdict(e.of[0])
		switch {
		case !v.no:
			s = w.span(e.of[1])
		case !v.yes:
			s = w.span(e.of[2])
		default:
			s = w.span(e.of[1]).both(w.span(e.of[2]))
		}
	default:
		s = w.verdict(e).number()
	}
	w.known[e.number], w.spans[e.number] = true, s
	return s
}

func (w *enclosing) verdict(e *enclosure) verdict {
	switch e.kind {
	case "truth":
		var a, b verdict
		if len(e.of) > 0 {
			a = w.verdict(e.of[0])
		}
		if len(e.of) > 1 {
			b = w.verdict(e.of[1])
		}
		return e.truth(a, b)
	case "if":
		v := w.verdict(e.of[0])
		a, b := w.verdict(e.of[1]), w.verdict(e.of[2])
		return verdict{v.yes && a.yes || v.no && b.yes, v.yes && a.no || v.no && b.no}
	}
	return compare(e.kind, w.span(e.of[0]), w.span(e.of[1]))
}

// ratioSteps is how many values of a ratio are tried for either end.
const ratioSteps = 6

// ratio returns between which numbers a/b is. Where both are forms and b is above 0, a/b is
// at most t if a − t·b is at most 0 (Dinkelbach, "On Nonlinear Fractional Programming",
// Management Science 13 (1967)), and what a − t·b is at most falls with t and is convex in
// it, so that the chord of two values has its zero above that.
func (w *enclosing) ratio(a, b *enclosure) span {
	s := w.span(a).by(w.span(b))
	if a.affine == nil || b.affine == nil {
		return s
	}
	above, below := a.affine, b.affine
	d := w.span(b)
	if d.hi < 0 {
		above, below, d = above.plus(-1, &affine{}, 0), below.plus(-1, &affine{}, 0), span{-d.hi, -d.lo, false}
	}
	if !(d.lo > 0) || math.IsInf(s.lo, 0) || math.IsInf(s.hi, 0) || above == nil || below == nil {
		return s
	}
	hi := w.greatest(above, below, d, s.lo, s.hi)
	lo := -w.greatest(above.plus(-1, &affine{}, 0), below, d, -s.hi, -s.lo)
	room := float64(max(math.Abs(s.lo), math.Abs(s.hi)) * 0x1p-48)
	return s.within(lo-room, hi+room)
}

// greatest returns what above/below is at most, which lies between two numbers.
func (w *enclosing) greatest(above, below *affine, d span, lo, hi float64) float64 {
	at := func(t float64) float64 {
		f := above.plus(1, below, -t)
		if f == nil {
			return math.Inf(1)
		}
		return w.top(f)
	}
	low, atLow := lo, at(lo)
	high, atHigh := hi, at(hi)
	for k := range ratioSteps {
		if atHigh > 0 || atLow <= 0 || !(high-low > 1e-10*max(math.Abs(high), math.Abs(low))) {
			break
		}
		t := low + float64((high-low)*float64(atLow/(atLow-atHigh)))
		if k%2 == 0 { // nearer to the end that the chord does not move
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
