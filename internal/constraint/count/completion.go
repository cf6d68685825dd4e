package count

import (
	"context"
	"kir/internal/browsersched"
	"math/big"
)

// countByFrontier returns the grid of all ingredients, given rest, the grid of the ingredients without sums. The
// stages of the frontier are taken from last to first. For each state before stage c, countByFrontier computes
// the grid of the ways to use the ingredients of stage c and of all later stages. countByFrontier passes these
// grids to keep, which may be nil.
func countByFrontier[R, C any](ctx context.Context, arith arithmetic[R, C], p *plan, rest *grid[R, C], keep func(c int, before []*grid[R, C])) (*grid[R, C], error) {
	after := []*grid[R, C]{rest}
	for c := len(p.frontier.stages) - 1; c >= 0; c-- {
		st := &p.frontier.stages[c]
		s := completion[R, C]{arith, st, p.total, arith.coefficient(big.NewInt(1))}
		before, err := s.gridsBefore(ctx, after)
		if err != nil {
			return nil, err
		}
		if keep != nil {
			keep(c, before)
		}
		after = before
	}
	return after[0], nil
}

// A completion computes the grids of the states before a stage from the grids of the states after the stage.
type completion[R, C any] struct {
	arith arithmetic[R, C]
	*stage
	total     int // total units of a composition
	oneFactor C   // the factor 1
}

// gridFor returns an empty grid for a state or node before which the ingredients take the given units.
func (s *completion[R, C]) gridFor(units int) *grid[R, C] {
	return emptyGrid(s.arith, s.maxUsed, s.total-units)
}

// gridsBefore returns the grids of the states before the stage, given the grids of the states after the stage.
// If j of the m ingredients of the stage are used, there are C(m, j) choices of ingredients, times the choices
// of j amounts. The amounts are added one ingredient at a time, and each addition moves from node to node.
func (s *completion[R, C]) gridsBefore(ctx context.Context, after []*grid[R, C]) ([]*grid[R, C], error) {
	out := make([]*grid[R, C], len(s.states))
	for x, state := range s.states {
		out[x] = s.gridFor(state.minUnits)
	}
	choose := out[0].coefficients(len(s.members), s.maxMembers)
	if s.required {
		choose[s.maxMembers] = s.oneFactor
	}
	for n := range s.families {
		f := &s.families[n]
		now := make([]*grid[R, C], len(f.keys))
		for x, next := range f.successor {
			if next >= 0 {
				now[x] = after[next]
			}
		}
		for j := 0; ; j++ {
			if err := browsersched.Err(ctx); err != nil {
				return nil, err
			}
			if !s.required || j == s.maxMembers {
				for _, start := range f.startNodes {
					s.addScaled(out[start[0]], now[start[1]], 0, choose[j])
				}
			}
			if j == s.maxMembers {
				break
			}
			if j+1 == s.maxMembers && len(s.members) == 1 { // adds the only ingredient straight to out, without a copy of the grids
				s.addLast(f, now, out)
				break
			}
			now = s.addOne(f, now, int32(s.maxMembers-j-1))
		}
	}
	for _, g := range out {
		g.freeScratch()
	}
	return out, nil
}

// addLast adds one ingredient of the stage to the grids now of the nodes, and adds the resulting grids to the
// grids out of the states.
func (s *completion[R, C]) addLast(f *family, now, out []*grid[R, C]) {
	from, k, step := s.shiftSource(f, now)
	for _, start := range f.startNodes {
		s.shiftRows(out[start[0]], from, f.nodeOf(f.keys[start[1]]+step), k)
	}
}

// addOne returns the grids of the nodes after one more ingredient of the stage is used. A node gets no grid if
// its minMembers exceeds maxLevel, because no later step reads the grid.
func (s *completion[R, C]) addOne(f *family, now []*grid[R, C], maxLevel int32) []*grid[R, C] {
	from, k, step := s.shiftSource(f, now)
	out := make([]*grid[R, C], len(f.keys))
	for x, key := range f.keys {
		if y := f.nodeOf(key + step); f.minMembers[x] <= maxLevel && y >= 0 && from[y] != nil {
			out[x] = s.gridFor(int(f.minUnits[x]))
			s.shiftRows(out[x], from, y, k)
		}
	}
	return out
}

// shiftSource returns what one more used ingredient adds. The grids in from are to be moved up by the amounts k.
// The result step is the difference of the keys between a node and the node to read.
func (s *completion[R, C]) shiftSource(f *family, now []*grid[R, C]) (from []*grid[R, C], k amountSet, step int64) {
	if f.perUnit == 0 {
		return now, s.amounts, f.perUse
	}
	return s.sumAlongLines(f, now), amountSet{s.amounts.lo, 1, 1}, f.perUse + int64(s.amounts.lo)*f.perUnit
}

func (s *completion[R, C]) shiftRows(dst *grid[R, C], from []*grid[R, C], y int32, k amountSet) {
	if y < 0 || from[y] == nil {
		return
	}
	for i := range min(len(from[y].rows), len(dst.rows)-1) {
		dst.addShiftedRow(&dst.rows[i+1], &from[y].rows[i], k)
	}
}

// sumAlongLines returns, for each node, the sum of the grids of the nodes that the allowed amounts lead to. Each
// grid is moved up by the amount less the least amount. If the amounts have no upper limit, the sum of a node is
// the grid of the node plus the sum of the next node. With n amounts, sums over 1, 2, 4, ... amounts are made by
// doubling, and the sums for the set bits of n are added.
func (s *completion[R, C]) sumAlongLines(f *family, now []*grid[R, C]) []*grid[R, C] {
	sums := make([]*grid[R, C], len(f.keys))
	ahead := func(x, steps int) int32 {
		return f.nodeOf(f.keys[x] + int64(steps*s.amounts.step)*f.perUnit)
	}
	if s.amounts.unbounded(s.total) {
		for t := range f.keys {
			x := t
			if f.perUnit > 0 {
				x = len(f.keys) - 1 - t
			}
			sums[x] = s.addShifted(f, x, nil, now[x], 0)
			if y := ahead(x, 1); y >= 0 {
				sums[x] = s.addShifted(f, x, sums[x], sums[y], s.amounts.step)
			}
		}
		return sums
	}
	have := 0
	for n, h := min(s.amounts.n, s.total/s.amounts.step+1), 1; ; h *= 2 {
		if n&1 == 1 {
			for x := range f.keys {
				if y := ahead(x, have); y >= 0 {
					sums[x] = s.addShifted(f, x, sums[x], now[y], have*s.amounts.step)
				}
			}
			have += h
		}
		if n >>= 1; n == 0 {
			return sums
		}
		next := make([]*grid[R, C], len(f.keys))
		for x := range f.keys {
			next[x] = s.addShifted(f, x, nil, now[x], 0)
			if y := ahead(x, h); y >= 0 {
				next[x] = s.addShifted(f, x, next[x], now[y], h*s.amounts.step)
			}
		}
		now = next
	}
}

// addShifted adds the grid g, moved up by the given units, to sum, the grid at node x, and returns sum. If sum
// is nil, addShifted makes a new grid. If g is nil, sum is returned unchanged.
func (s *completion[R, C]) addShifted(f *family, x int, sum, g *grid[R, C], up int) *grid[R, C] {
	if g == nil {
		return sum
	}
	if sum == nil {
		sum = s.gridFor(int(f.minUnits[x]))
	}
	s.addScaled(sum, g, up, s.oneFactor)
	return sum
}

// addScaled adds c·src to dst. Rows of src move up by the given units, and cells beyond the limits of dst are
// dropped.
func (s *completion[R, C]) addScaled(dst, src *grid[R, C], up int, c C) {
	if src == nil {
		return
	}
	for i := range min(len(src.rows), len(dst.rows)) {
		r := &src.rows[i]
		hi := min(r.hi, dst.maxUnits-up)
		if r.isEmpty() || r.lo > hi {
			continue
		}
		d := &dst.rows[i]
		dst.ensureCells(d)
		s.arith.add(d.cells, r.cells, r.lo, hi, up, c)
		d.widenRange(r.lo+up, hi+up)
	}
}
