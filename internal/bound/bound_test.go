package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/constraint"
	"kir/rule"
)

// made is a problem whose rules and parts are random.
type made struct {
	Problem
	text string
}

// newMade draws a problem of ingredients and a total, with coupled rules of every kind, and
// parts. Each part of boxes is a table of steps, as trees are, and each of forms is how near
// a ratio of two forms comes to a number, or, every other one, amounts to some others.
func newMade(t *testing.T, r *rand.Rand, ingredients, total, used int, linear, boxes, forms int) *made {
	t.Helper()
	some := func(k int) []int {
		of := r.Perm(ingredients)[:k]
		slices.Sort(of)
		return of
	}
	set := rule.Set{Ingredients: ingredients, Total: total}
	for range r.IntN(3) {
		g := rule.Group{Of: some(2 + r.IntN(ingredients-2))}
		if r.IntN(2) == 0 {
			g.Used = &rule.Range{Min: r.IntN(2), Max: 1 + r.IntN(3)}
		} else {
			g.Total = &rule.Range{Min: r.IntN(total / 3), Max: total/3 + r.IntN(total/2)}
		}
		set.Rules = append(set.Rules, g)
	}
	if r.IntN(2) == 0 {
		of := some(3)
		set.Rules = append(set.Rules, rule.Need{If: of[0], Then: of[1:]})
	}
	if r.IntN(2) == 0 {
		of := some(2)
		set.Rules = append(set.Rules, rule.Group{Of: of, Used: &rule.Range{Min: 0, Max: 1}})
	}
	if r.IntN(2) == 0 {
		low := 0.2 + r.Float64()
		set.Rules = append(set.Rules, rule.Ratio{Of: some(2), To: some(3), Min: low, Max: low * (1.2 + r.Float64())})
	}
	if r.IntN(2) == 0 {
		a := make([]float64, ingredients)
		for i := range a {
			a[i] = math.Round(r.Float64()*1000) / 100
		}
		set.Rules = append(set.Rules, rule.Limit{Attribute: "a", Factors: a, Min: 2 + 2*r.Float64(), Max: 5 + 4*r.Float64()})
	}
	if r.IntN(2) == 0 {
		set.Rules = append(set.Rules, rule.Amount{Of: some(ingredients / 2), Min: 1 + r.IntN(total/5), Max: total/5 + r.IntN(total/2), Step: 1 + r.IntN(3)})
	}
	c, err := constraint.FromRules(set)
	if err != nil {
		t.Fatal(err)
	}
	m := &made{Problem: Problem{Conditions: c, AllowedUsedCounts: make([]bool, ingredients+1)}, text: fmt.Sprintf("%+v", set)}
	for n := max(1, used-2); n <= used; n++ {
		m.AllowedUsedCounts[n] = true
	}
	var scores []func(x []int32) float64
	for range linear {
		l := &Linear{PerUnit: make([]float64, ingredients), DomainLow: math.Inf(-1), DomainHigh: math.Inf(1), Floor: math.Inf(-1)}
		for i := range l.PerUnit {
			l.PerUnit[i] = math.Round(r.Float64()*100) / float64(total)
		}
		if r.IntN(4) == 0 {
			l.PerUse = make([]float64, ingredients)
			for i := range l.PerUse {
				l.PerUse[i] = math.Round(r.Float64() * 20)
			}
		}
		at, width := 100*r.Float64(), 5+20*r.Float64()
		switch r.IntN(3) {
		case 0: // a bell
			l.LogMaximizer = at
			l.Log = func(v float64) float64 { return -(v - at) * (v - at) / (2 * width * width) }
			l.Slope = func(v float64) float64 { return -(v - at) / (width * width) }
		case 1: // the more the better, with a floor
			l.LogMaximizer, l.Floor = 150, math.Log(0.001)
			l.Log = func(v float64) float64 { return max(l.Floor, math.Log(max(v-at/2, 0)/(150-at/2))) }
			l.Slope = func(v float64) float64 { return 1 / (v - at/2) }
		default:
			l.LogMaximizer, l.DomainLow = math.Inf(1), -1
			l.Log = func(v float64) float64 { return math.Log((v + 1) / 101) }
			l.Slope = func(v float64) float64 { return 1 / (v + 1) }
		}
		m.Factors = append(m.Factors, Factor{UpperBound: math.Inf(1), Linear: l})
		scores = append(scores, func(x []int32) float64 {
			v := l.Constant
			for i, a := range x {
				v += l.PerUnit[i] * float64(a)
				if a > 0 && l.PerUse != nil {
					v += l.PerUse[i]
				}
			}
			if v < l.DomainLow {
				return math.Inf(-1)
			}
			return l.Log(v)
		})
	}
	for range boxes {
		// Stumps: each adds one of two numbers as an ingredient passes a threshold.
		type stump struct {
			i      int
			at     int32
			lo, hi float64
		}
		var stumps []stump
		for range 8 {
			stumps = append(stumps, stump{r.IntN(ingredients), int32(r.IntN(total / 2)), -r.Float64(), -r.Float64()})
		}
		m.Factors = append(m.Factors, Factor{UpperBound: math.Inf(1), BoxWork: 10, Box: func(lo, hi []int32, _ int) (sum float64) {
			for _, s := range stumps {
				switch {
				case hi[s.i] <= s.at:
					sum += s.lo
				case lo[s.i] > s.at:
					sum += s.hi
				default:
					sum += max(s.lo, s.hi)
				}
			}
			return sum
		}})
		scores = append(scores, func(x []int32) (sum float64) {
			for _, s := range stumps {
				if x[s.i] <= s.at {
					sum += s.lo
				} else {
					sum += s.hi
				}
			}
			return sum
		})
	}
	for k := range forms {
		if k%2 == 1 { // how near amounts are to some others, which is concave
			near, by := make([]float64, ingredients), make([]float64, ingredients)
			for i := range near {
				near[i], by[i] = float64(total)*r.Float64(), (0.1+r.Float64())/float64(total)
			}
			floor := -4 * r.Float64()
			value := func(x []float64) (sum float64) {
				for i, v := range x {
					sum -= by[i] * (v - near[i]) * (v - near[i])
				}
				return sum
			}
			m.Factors = append(m.Factors, Factor{UpperBound: math.Inf(1), MinLog: floor, Tangent: func(x []float64) (float64, []float64, bool) {
				slope := make([]float64, ingredients)
				for i, v := range x {
					slope[i] = -2 * by[i] * (v - near[i])
				}
				return value(x), slope, true
			}})
			scores = append(scores, func(x []int32) float64 {
				of := make([]float64, len(x))
				for i, v := range x {
					of[i] = float64(v)
				}
				return max(value(of), floor)
			})
			continue
		}
		var above, below [2][]float64 // by unit and by use
		for k := range 2 {
			for range ingredients {
				above[k], below[k] = append(above[k], 4*r.Float64()), append(below[k], 0.5+r.Float64())
			}
		}
		at := 3 * r.Float64()
		m.Factors = append(m.Factors, Factor{UpperBound: math.Inf(1), MaxOverForms: func(most func(perUnit, perUse []float64) float64) float64 {
			least := func(of [2][]float64) float64 {
				less := [2][]float64{slices.Clone(of[0]), slices.Clone(of[1])}
				for i := range less[0] {
					less[0][i], less[1][i] = -less[0][i], -less[1][i]
				}
				return -most(less[0], less[1])
			}
			low, high := least(above)/most(below[0], below[1]), most(above[0], above[1])/least(below)
			return -math.Abs(min(max(at, low), high) - at)
		}})
		scores = append(scores, func(x []int32) float64 {
			a, b := 0.0, 0.0
			for i, v := range x {
				if v > 0 {
					a += above[0][i]*float64(v) + above[1][i]
					b += below[0][i]*float64(v) + below[1][i]
				}
			}
			return -math.Abs(a/b - at)
		})
	}
	m.Score = func(parts []rule.Part) (float64, error) {
		x := make([]int32, ingredients)
		for _, p := range parts {
			x[p.Ingredient] = int32(p.Amount)
		}
		sum := 0.0
		for _, s := range scores {
			sum += s(x)
		}
		return sum, nil
	}
	return m
}

// best returns the best score of all compositions, −Inf if there are none.
func (m *made) best(t *testing.T) (best float64) {
	t.Helper()
	best = math.Inf(-1)
	var sizes []int
	for n, ok := range m.AllowedUsedCounts {
		if ok {
			sizes = append(sizes, n)
		}
	}
	e := constraint.NewEnumeration(m.Conditions, sizes)
	if !e.VisitAll(t.Context(), func() bool {
		s, _ := m.Score(e.Parts())
		best = max(best, s)
		return true
	}) {
		t.Fatal("too many to look at")
	}
	return best
}

// cut makes three pieces of what a part has in a box, of which one tells where to divide, and
// not always well.
func (m *made) cut() {
	for k := range m.Factors {
		p := &m.Factors[k]
		box := p.Box
		if box == nil {
			continue
		}
		var pieces []Piece
		for _, share := range []float64{0.5, 0.3, 0.2} {
			pieces = append(pieces, func(lo, hi []int32, used int) (float64, int64, int, float64) {
				along := -1
				for i := range lo {
					if share == 0.3 && lo[i] < hi[i] && (along < 0 || hi[i] > hi[along]) {
						along = i
					}
				}
				return share * box(lo, hi, used), 1 + p.BoxWork, along, 0.1
			})
		}
		p.Pieces = func() []Piece { return pieces }
		p.CombinePieceBounds = func(above []float64) (sum float64) {
			for _, v := range above {
				sum += v
			}
			return sum + 1e-13*math.Abs(sum)
		}
		p.Box = nil
	}
}

// TestBoundIsNeverBelow compares with enumeration: at each stage, and at the end.
func TestBoundIsNeverBelow(t *testing.T) {
	closed, all := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		linear := r.IntN(3)
		m := newMade(t, r, 4+r.IntN(3), 10+r.IntN(14), 2+r.IntN(2), linear, max(1-linear, r.IntN(3)), r.IntN(5)/2)
		if seed%2 == 1 {
			m.cut()
		}
		best := m.best(t)
		b := New(&m.Problem)
		for range 200 {
			if err := b.Run(t.Context(), 200_000, onProcessors(1)); err != nil {
				t.Fatal(err)
			}
			if b.UpperBound() < best {
				t.Fatalf("seed %d: bounded by %v, and the best is %v\n%s", seed, b.UpperBound(), best, m.text)
			}
			if b.IsOptimal() {
				break
			}
		}
		if math.IsInf(best, -1) {
			continue
		}
		all++
		if b.IsOptimal() {
			closed++
			if len(b.Candidates()) == 0 || math.Abs(b.Candidates()[0].LogScore-best) > 2*scoreTolerance {
				t.Errorf("seed %d: it ends with %v, and the best is %v", seed, b.Candidates(), best)
			}
		} else {
			t.Errorf("seed %d: not closed: %v, the best is %v, after %d boxes", seed, b.UpperBound(), best, b.boxCount)
		}
	}
	t.Logf("%d of %d closed", closed, all)
}

// Problems as large as those of a book close, too, and the composition found has the bound.
func TestLargeProblemsClose(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		m := newMade(t, r, 20+r.IntN(11), 1000, 3+r.IntN(3), 1+r.IntN(2), 0, 0)
		b := New(&m.Problem)
		if err := b.Run(t.Context(), 1e9, onProcessors(1)); err != nil {
			t.Fatal(err)
		}
		if !b.IsOptimal() {
			t.Errorf("seed %d: bounded by %v, and %v is found after %d boxes\n%s", seed, b.UpperBound(), b.incumbent, b.boxCount, m.text)
		}
	}
}

// A bound that leaves out what a part can have is noticed by comparing with enumeration.
func TestABrokenBoundIsNoticed(t *testing.T) {
	below, pieces := 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		m := newMade(t, r, 5, 12, 3, 0, 1, 0)
		best := m.best(t)
		box := m.Factors[0].Box
		m.Factors[0].Box = func(lo, hi []int32, used int) float64 {
			if slices.Equal(lo, hi) {
				return box(lo, hi, used)
			}
			return box(lo, hi, used) - 0.3 // as if a leaf were missing
		}
		b := New(&m.Problem)
		if err := b.Run(t.Context(), 1e8, onProcessors(1)); err != nil {
			t.Fatal(err)
		}
		if b.UpperBound() < best-scoreTolerance {
			below++
		}
		m.cut()
		b = New(&m.Problem)
		if err := b.Run(t.Context(), 1e8, onProcessors(1)); err != nil {
			t.Fatal(err)
		}
		if b.UpperBound() < best-scoreTolerance {
			pieces++
		}
	}
	if below == 0 || pieces == 0 {
		t.Errorf("%d bounds are below the best, and %d by pieces", below, pieces)
	}
}
