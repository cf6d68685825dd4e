package rule

import (
	"context"
	"math"
	"slices"

	"kir/count"
)

// A verdict is an answer to whether some composition keeps rules.
type verdict int8

const (
	unknown verdict = iota
	never           // it is proven that none does
	some            // one that does is known, or that there is one
)

// maxCandidates is how many compositions are looked at one by one.
const maxCandidates = 1 << 20

// An asker answers whether rules can hold. After an error all its answers are
// unknown.
type asker struct {
	ctx  context.Context
	most float64 // how many compositions are looked at one by one
	err  error

	asked, work float64 // questions, and about how many steps of 10⁻⁹ s they took
}

// ask answers whether some composition keeps a set and uses a number of
// ingredients that it asks for. hard is to look for one where none is at hand
// and it is not proven that there is none.
func (a *asker) ask(s Set, hard bool) verdict {
	if a.err == nil {
		a.err = a.ctx.Err()
	}
	if a.err != nil {
		return unknown
	}
	a.asked++
	sizes := s.sizes()
	if len(sizes) == 0 {
		return never
	}
	c, err := s.Conditions()
	if err != nil {
		a.err = err
		return unknown
	}
	space, all := c.Countable()
	can := a.reach(space, sizes[len(sizes)-1])
	sizes = slices.DeleteFunc(sizes, func(n int) bool { return a.err != nil || !can[n] })
	switch {
	case a.err != nil:
		return unknown
	case len(sizes) == 0:
		return never
	case all:
		return some
	}
	p := newProver(c, sizes)
	impossible := p.impossible()
	a.work += float64(proofSteps - max(p.steps, 0))
	if impossible {
		return never
	}
	if e := newEnumeration(c, sizes); e.candidates() <= a.most {
		if v := a.enumerate(e); v != unknown {
			return v
		}
	}
	if hard && newWalk(c, sizes).arrives(a.ctx) {
		return some
	}
	return unknown
}

// enumerate looks at every composition until one keeps the conditions.
func (a *asker) enumerate(e *enumeration) verdict {
	found := false
	done := e.each(func(parts []Part) bool {
		found = e.c.Keeps(parts)
		return !found
	})
	a.work += 50 * float64(e.looked)
	switch {
	case found:
		return some
	case done:
		return never
	}
	return unknown
}

// reach returns for each n up to most, 0 for all, whether a space has
// compositions that use n ingredients.
func (a *asker) reach(s count.Space, most int) []bool {
	can, steps, err := count.Reachable(a.ctx, s, most)
	a.work += steps
	a.err = err
	return can
}

// An enumeration goes through the compositions of conditions that keep those on
// single amounts.
type enumeration struct {
	c        *Conditions
	wanted   []bool // by n
	least, n int    // the least and the greatest of them

	room  []int // of the ingredients from i on: the most that they can take
	must  []int // and the least that those which are required take
	parts []Part

	looked int // how many amounts were tried
	left   int // how many more may be
	visit  func([]Part) bool
}

// newEnumeration is of compositions that use one of the sizes, which rise.
func newEnumeration(c *Conditions, sizes []int) *enumeration {
	e := &enumeration{c: c, room: make([]int, len(c.Amounts)+1), must: make([]int, len(c.Amounts)+1)}
	e.least, e.n = sizes[0], sizes[len(sizes)-1]
	e.wanted = make([]bool, e.n+1)
	for _, n := range sizes {
		e.wanted[n] = true
	}
	for i := len(c.Amounts) - 1; i >= 0; i-- {
		d := c.doses[i]
		e.room[i], e.must[i] = e.room[i+1], e.must[i+1]
		if d.n > 0 {
			e.room[i] += d.hi()
		}
		if c.Amounts[i].Required {
			e.must[i] += max(d.lo, 1)
		}
	}
	return e
}

// candidates bounds how many compositions there are: Σ C(N, n)·C(M−1, n−1) of
// those that can be used, in the units that all amounts are multiples of.
func (e *enumeration) candidates() float64 {
	usable, unit := 0, 0
	for _, d := range e.c.doses {
		if d.n > 0 {
			usable++
			unit = gcd(unit, d.lo)
		}
		if d.n > 1 {
			unit = gcd(unit, d.step)
		}
	}
	if unit == 0 {
		return 0
	}
	total := e.c.Total / unit
	sum := 0.0
	for n, wanted := range e.wanted {
		if wanted && n > 0 && n <= usable && n <= total {
			sum += math.Exp(logChoose(usable, n) + logChoose(total-1, n-1))
		}
	}
	return sum
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// each calls visit with every composition until it returns false. The parts
// hold during the call. It returns whether all were visited.
func (e *enumeration) each(visit func([]Part) bool) (done bool) {
	e.looked, e.left, e.parts, e.visit = 0, 8*maxCandidates, e.parts[:0], visit
	return e.from(0, e.c.Total)
}

// from goes through what ingredients from i on can make of the units left.
func (e *enumeration) from(i, left int) bool {
	have := len(e.parts)
	if left == 0 {
		if e.must[i] > 0 || have > e.n || !e.wanted[have] {
			return true
		}
		return e.visit(e.parts)
	}
	if have == e.n {
		return true
	}
	more := max(e.least-have-1, 0) // parts to come after the next
	for j := i; j+more < len(e.c.doses) && e.room[j] >= left; j++ {
		d := e.c.doses[j]
		lo, hi := d.lo, min(d.hi(), left-max(e.must[j+1], more))
		if least := left - e.room[j+1]; d.n > 0 && lo < least {
			lo += (least - lo + d.step - 1) / d.step * d.step
		}
		if have+1 == e.n && d.n > 0 { // the last takes all
			if left < lo || left > hi || (left-d.lo)%d.step != 0 {
				lo = hi + 1
			} else {
				lo = left
			}
		}
		for a := lo; d.n > 0 && a <= hi; a += d.step {
			if e.looked++; e.looked > e.left {
				return false
			}
			e.parts = append(e.parts, Part{j, a})
			on := e.from(j+1, left-a)
			e.parts = e.parts[:have]
			if !on {
				return false
			}
		}
		if e.c.Amounts[j].Required {
			break
		}
	}
	return true
}
