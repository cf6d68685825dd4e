package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The mixture is the table of its kernel, but for what it says, wherever d² is, and its
// derivatives at the knots are those between them, but for what they say.
func TestMixture(t *testing.T) {
	for _, k := range []Kernel{Matern52, Matern32, SquaredExponential} {
		table := newKernelTable(k)
		squares, shares := k.mixture()
		knots, off := table.mixtureKnots(squares, shares)
		if off > 2e-4 {
			t.Errorf("%v: the mixture is off by %v", k, off)
		}
		r := rand.New(rand.NewPCG(1, uint64(k)))
		for range 20000 {
			// Of all sizes, and some beyond the table.
			at := int64(math.Ldexp(math.Exp(r.Float64()*13-8), distanceBits))
			square := math.Ldexp(float64(at), -distanceBits)
			value, slope, curve := 0.0, 0.0, 0.0
			for j, u := range squares {
				e := shares[j] * math.Exp(-square/(2*u))
				value, slope, curve = value+e, slope-e/(2*u), curve+e/(4*u*u)
			}
			if gap := math.Abs(table.correlationAt(at) - value); gap > off {
				t.Fatalf("%v at %v: the table has %v, and the mixture %v, off by more than %v", k, square, table.correlationAt(at), value, off)
			}
			n := min(int(at>>(distanceBits-tableBits)), len(knots)-1)
			e := knots[n]
			part := 0.0
			if n < len(knots)-1 {
				part = square*(1<<tableBits) - float64(n)
			}
			if gap := math.Abs(e.value + part*e.valueChange - value); gap > e.valueError {
				t.Fatalf("%v at %v: the value is off by %v, more than %v", k, square, gap, e.valueError)
			}
			if gap := math.Abs(e.slope+part*e.slopeChange-slope) * math.Sqrt(square); gap > e.slopeError {
				t.Fatalf("%v at %v: the slope is off by %v, more than %v", k, square, gap, e.slopeError)
			}
			if gap := math.Abs(e.curve+part*e.curveChange-curve) * square; gap > e.curveError {
				t.Fatalf("%v at %v: the second derivative is off by %v, more than %v", k, square, gap, e.curveError)
			}
		}
	}
}

// A functional is Σ weight·f(place), of functions of one number.
type functional struct{ places, weights []float64 }

// norm is that in the space of the kernel exp(−d²/2u), by its values.
func (f functional) norm(u float64) float64 {
	sum := 0.0
	for a, x := range f.places {
		for b, y := range f.places {
			sum += f.weights[a] * f.weights[b] * math.Exp(-(x-y)*(x-y)/(2*u))
		}
	}
	return math.Sqrt(max(sum, 0))
}

// A mean of one squared length and norm 1 may exceed its expansions by the norm of
// the functional that says it, with differences for derivatives.
func TestRoughnessIsTheNorm(t *testing.T) {
	for _, u := range []float64{0.3, 1, 4} {
		r := &roughness{squaredLengths: []float64{u}, norms: []float64{1}}
		for _, far := range []float64{0.1, 0.3, 0.7, 1.2, 2.5, 6} {
			step := min(far/30, 0.03*math.Sqrt(u))
			tangent := functional{[]float64{far, 0, step, -step}, []float64{1, -1, -far / (2 * step), far / (2 * step)}}
			above, _ := r.tangentExcess(far * far)
			if want := tangent.norm(u); math.Abs(above/want-1) > 2e-3 {
				t.Errorf("u = %v, at %v: %v above the tangent, and the norm is %v", u, far, above, want)
			}
			bend := far * far / (2 * step * step)
			second := functional{tangent.places, []float64{1, -1 + 2*bend, -far/(2*step) - bend, far/(2*step) - bend}}
			curved := r.secondOrderFactor(far*far) * far * far
			if want := second.norm(u); far*far/(2*u) < secondOrderPeak && math.Abs(curved/want-1) > 5e-3 || curved < want*(1-5e-3) {
				t.Errorf("u = %v, at %v: %v above the second order, and the norm is %v", u, far, curved, want)
			}
		}
	}
}

// By how much a mean may be above its tangent is concave in the squared distance, its slope is
// the slope, and what it may be above the second order by the squared distance never falls.
func TestRoughnessIsConcave(t *testing.T) {
	r := &roughness{squaredLengths: []float64{1}, norms: []float64{1}}
	before, slope := r.tangentExcess(0)
	last := r.secondOrderFactor(0)
	for k := range 4000 {
		from, to := math.Exp(float64(k)/200-10), math.Exp(float64(k+1)/200-10)
		now, next := r.tangentExcess(to)
		if k == 0 {
			before, slope = r.tangentExcess(from)
		}
		chord := (now - before) / (to - from)
		if chord > slope*(1+1e-5) || chord < next*(1-1e-5) {
			t.Fatalf("between %v and %v the chord is %v, and the slopes are %v and %v", from, to, chord, slope, next)
		}
		curved := r.secondOrderFactor(to)
		if curved < last*(1-1e-12) {
			t.Fatalf("at %v it falls from %v to %v", to, last, curved)
		}
		before, slope, last = now, next, curved
	}
}

// boxBelow looks, in small boxes, for compositions whose mean exceeds a bound: it begins at one
// in the box and goes where the mean is greater. It returns how many boxes were exceeded.
func boxBelow(t *testing.T, p *Process, b *meanBound, sign float64) (exceeded int) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	source := book{rows: 1, ingredients: len(p.ingredients), total: p.totalAmount, sizes: []int{2, 3, 4}}
	for range 150 {
		x := source.composition(r, nil)
		far := 1 + r.Int32N(int32(p.totalAmount/3))
		lo, hi := slices.Clone(x), slices.Clone(x)
		for i, v := range x {
			if v > 0 {
				lo[i], hi[i] = max(1, v-far), v+far
			} else if r.IntN(6) == 0 {
				hi[i] = far
			}
		}
		b.setBox(lo, hi, len(x))
		above := b.boundMean(sign)
		best := sign * p.Mean(x)
		for range 400 {
			i, j, by := r.IntN(len(x)), r.IntN(len(x)), 1+r.Int32N(far)
			if i == j || x[i]-by < lo[i] || x[j]+by > hi[j] {
				continue
			}
			x[i], x[j] = x[i]-by, x[j]+by
			if v := sign * p.Mean(x); v >= best {
				best = v
			} else {
				x[i], x[j] = x[i]+by, x[j]-by
			}
		}
		if best > above+1e-9*p.labelSD {
			exceeded++
		}
	}
	return exceeded
}

// No mean exceeds the bound of a box, either way, with any kernel; some would if it had nothing
// for roughness.
func TestProcessWithin(t *testing.T) {
	for _, k := range []Kernel{Matern52, Matern32, SquaredExponential} {
		p, err := FitProcess(t.Context(), smooth(60, 2, 6), ProcessOptions{Kernel: k})
		if err != nil {
			t.Fatal(err)
		}
		b := p.newMeanBound()
		for _, sign := range []float64{1, -1} {
			if n := boxBelow(t, p, b, sign); n > 0 {
				t.Errorf("%v: %d of 150 boxes have a mean beyond the bound", k, n)
			}
		}
		low := *b.roughness
		low.norms = make([]float64, len(low.norms))
		b.roughness = &low
		if n := boxBelow(t, p, b, 1) + boxBelow(t, p, b, -1); n < 5 {
			t.Errorf("%v: without roughness %d of 300 boxes have a mean beyond the bound, and it should show", k, n)
		}
	}
}

// The bound of a process by its norm is reached where the process is one bump, at its top. So
// it shows there if the norm, or what the bound makes of it, is too small.
func TestProcessNorm(t *testing.T) {
	s := learnedCases(t)["process"].process
	p := s.Process
	for r := range p.alpha {
		p.alpha[r] = 0
	}
	p.alpha[0] = 3
	x := make([]int32, len(p.ingredients))
	for _, q := range p.compositions[0] {
		x[q.Ingredient] = int32(q.Amount)
	}
	top := (p.Mean(x) - p.labelMean) / p.labelSD
	b := p.newMeanBound()
	r := rand.New(rand.NewPCG(6, 6))
	near := 0
	for range 300 {
		lo, hi := boxAbout(r, x, p.totalAmount)
		b.setBox(lo, hi, len(x))
		above := b.normBound(b.middleValue)
		if above < top {
			t.Fatalf("the mean is %v above its centre, and the bound of a box is %v", top, above)
		}
		if above < top+0.01 {
			near++
		}
	}
	if near < 100 {
		t.Errorf("%d bounds are near to what is reached", near)
	}
}
