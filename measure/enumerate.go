package measure

import (
	"context"
	"fmt"
	"math"
)

// An enumeration is what walking through all countable compositions of a size
// found.
type enumeration struct {
	all, kept int64
	starts    []Composition
}

const (
	// mostEnumerated is how many countable compositions are enumerated at most.
	mostEnumerated = 1e6
	// visits bounds the choices made on the way, dead ends included.
	visits = 2e7
	// keptStarts is how many of the compositions that keep all rules are kept.
	keptStarts = 256
)

// enumerate walks through all countable compositions of the sizes if they are
// few.
func (m *measurement) enumerate(ctx context.Context) error {
	sum, most := 0.0, 0
	found := make(map[int]*enumeration)
	for _, w := range m.sizes {
		sum += math.Exp(w.logCount)
		most = max(most, w.n)
		found[w.n] = &enumeration{}
	}
	if sum > m.enumerable {
		return nil
	}
	e := &enumerator{
		ctx: ctx, walker: newWalker(m.rules), found: found, most: most, rand: m.options.Stream(0),
		left: make([]int64, len(m.rules.amounts)+1),
	}
	for i := len(m.rules.amounts) - 1; i >= 0; i-- {
		e.left[i] = e.left[i+1] + int64(max(m.rules.amounts[i].hi, 0))
		if m.rules.amounts[i].required {
			e.required++
		}
	}
	e.choose(0, int32(m.rules.total), 0, 0)
	if e.ctx.Err() != nil {
		return e.ctx.Err()
	}
	if e.visits > visits {
		return nil
	}
	for _, w := range m.sizes {
		w.exact = found[w.n]
		if counted := m.problem.Table.Count(w.n); !counted.IsInt64() || counted.Int64() != w.exact.all {
			return fmt.Errorf("measure: %d compositions of %d ingredients were found, and %v counted", w.exact.all, w.n, counted)
		}
	}
	return nil
}

// An enumerator walks through compositions, ingredient by ingredient.
type enumerator struct {
	ctx      context.Context
	walker   *walker
	rand     Rand
	found    map[int]*enumeration
	most     int     // ingredients used
	left     []int64 // by ingredient: the most units that it and later ones take
	required int
	visits   int
}

// choose goes on with ingredients from i on, among which units are still to be
// divided; so many are used so far, and so many required ones of them.
func (e *enumerator) choose(i int, units int32, used, required int) {
	if e.visits++; e.visits > visits || e.visits%4096 == 0 && e.ctx.Err() != nil {
		return
	}
	if units == 0 {
		if required == e.required {
			e.see(used)
		}
		return
	}
	if used == e.most {
		return
	}
	for ; i < len(e.walker.amounts) && e.left[i] >= int64(units); i++ {
		a := &e.walker.rules.amounts[i]
		has := required
		if a.required {
			has++
		}
		first := a.lo
		if used+1 == e.most { // it must take all
			if !a.has(units) {
				first = units + 1
			} else {
				first = units
			}
		}
		for x := first; x <= min(a.hi, units); x += a.step {
			if e.left[i+1] < int64(units-x) {
				continue
			}
			e.walker.set(int32(i), x)
			e.choose(i+1, units-x, used+1, has)
			e.walker.set(int32(i), 0)
		}
		if a.required {
			return
		}
	}
}

// see takes a composition into account that keeps the amounts' rules.
func (e *enumerator) see(used int) {
	f := e.found[used]
	if f == nil || e.walker.hard > 0 {
		return
	}
	f.all++
	if e.walker.v > 0 {
		return
	}
	f.kept++
	// A uniform sample of those kept (Waterman's algorithm R, in Knuth 1981).
	at := len(f.starts)
	if at == keptStarts {
		if at = e.rand.Intn(int(f.kept)); at >= keptStarts {
			return
		}
	} else {
		f.starts = append(f.starts, Composition{})
	}
	e.walker.store(&f.starts[at])
}
