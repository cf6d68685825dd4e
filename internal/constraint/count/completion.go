package count

import (
	"context"
	"kir/internal/browsersched"
	"math/big"
)

// countByFrontier returns the grid of all ingredients. The parameter rest is the grid of the ingredients without
// sums. countByFrontier goes through the stages of the plan's [frontier] from last to first. For each state
// before stage c, countByFrontier computes the grid of the ways to use the ingredients of stage c and of all
// later stages. countByFrontier calls keep with c and these grids; keep may be nil.
func countByFrontier[R, C any](ctx context.Context, arith arithmetic[R, C], p *plan, rest *grid[R, C], keep func(c int, before []*grid[R, C])) (*grid[R, C], error) {
	after := []*grid[R, C]{rest}
	for c := len(p.frontier.stages) - 1; c >= 0; c-- {
		st := &p.frontier.stages[c]
		s := stageCompletion[R, C]{arith, st, p.total, arith.coefficient(big.NewInt(1))}
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

// A stageCompletion computes, for one stage of a [frontier], the grids of the states before the stage from the
// grids of the states after the stage.
type stageCompletion[R, C any] struct {
	arith arithmetic[R, C]
	*stage
	total     int // total units of a composition
	oneFactor C   // the factor 1
}

// gridFor returns an empty grid for the units that remain if earlier ingredients take the given units.
func (s *stageCompletion[R, C]) gridFor(units int) *grid[R, C] {
	return emptyGrid(s.arith, s.maxUsedOnward, s.total-units)
}

// gridsBefore returns the grids of the states before the stage. The parameter after holds the grids of the states
// after the stage. If j of the m ingredients of the stage are used, there are C(m, j) choices of ingredients,
// times the choices of j amounts. The ingredients are added one at a time. Each addition computes the grids of
// all nodes from the grids of the nodes that one more ingredient leads to.
func (s *stageCompletion[R, C]) gridsBefore(ctx context.Context, after []*grid[R, C]) ([]*grid[R, C], error) {
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
				s.addLastIngredient(f, now, out)
				break
			}
			now = s.addIngredient(f, now, int32(s.maxMembers-j-1))
		}
	}
	for _, g := range out {
		g.freeScratch()
	}
	return out, nil
}

// addLastIngredient adds the last ingredient of the stage. The parameter now holds a grid for each node. addLastIngredient adds the
// resulting grids to out, which holds a grid for each state.
func (s *stageCompletion[R, C]) addLastIngredient(f *family, now, out []*grid[R, C]) {
	from, k, step := s.shiftSource(f, now)
	for _, start := range f.startNodes {
		s.shiftRows(out[start[0]], from, f.nodeOf(f.keys[start[1]]+step), k)
	}
}

// addIngredient returns the grids of the nodes after one more ingredient of the stage is used. The parameter now holds
// the grids before. A node with minMembers above maxLevel gets no grid, because no later step reads that grid.
func (s *stageCompletion[R, C]) addIngredient(f *family, now []*grid[R, C], maxLevel int32) []*grid[R, C] {
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

// shiftSource returns how to compute the grids after one more used ingredient. The grid of a node with key x is
// the grid in from of the node with key x + step, moved up by the amounts k.
func (s *stageCompletion[R, C]) shiftSource(f *family, now []*grid[R, C]) (from []*grid[R, C], k amountSet, step int64) {
	if f.perUnit == 0 {
		return now, s.amounts, f.perUse
	}
	return s.sumOverAmounts(f, now), amountSet{s.amounts.lo, 1, 1}, f.perUse + int64(s.amounts.lo)*f.perUnit
}

// shiftRows adds to dst the grid of node y in from, moved up by the amounts k, with one more used ingredient.
// Nothing is added if the node or the grid does not exist.
func (s *stageCompletion[R, C]) shiftRows(dst *grid[R, C], from []*grid[R, C], y int32, k amountSet) {
	if y < 0 || from[y] == nil {
		return
	}
	for i := range min(len(from[y].rows), len(dst.rows)-1) {
		dst.addShiftedRow(&dst.rows[i+1], &from[y].rows[i], k)
	}
}

// sumOverAmounts returns, for each node, a sum of grids: for each allowed amount the grid of the node that the
// amount leads to, moved up by the amount less the least amount. If the amounts have no upper limit, the sum at a
// node is the grid of the node plus the sum at the node one step further. If there are n amounts, sums over 1, 2,
// 4, ... amounts are made by doubling, and the sums for the set bits of n are added.
func (s *stageCompletion[R, C]) sumOverAmounts(f *family, now []*grid[R, C]) []*grid[R, C] {
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

// addShifted adds the grid g, moved up by up units, to the grid sum at the node with index x, and returns sum. If
// sum is nil, addShifted makes a new grid. If g is nil, sum is returned unchanged.
func (s *stageCompletion[R, C]) addShifted(f *family, x int, sum, g *grid[R, C], up int) *grid[R, C] {
	if g == nil {
		return sum
	}
	if sum == nil {
		sum = s.gridFor(int(f.minUnits[x]))
	}
	s.addScaled(sum, g, up, s.oneFactor)
	return sum
}

// addScaled adds c·src to dst. Rows of src move up by up units, and cells beyond the limits of dst are dropped.
func (s *stageCompletion[R, C]) addScaled(dst, src *grid[R, C], up int, c C) {
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
