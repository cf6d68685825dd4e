package count

import (
	"context"
	"kir/internal/browsersched"
	"math/big"
)

// completions returns the grid of all ingredients, given rest, the grid of those without sums. It goes through the
// stages of the frontier from last to first. For each state before a stage it computes the grid of the ways to use
// the ingredients of that stage and all later ones. It passes these grids to keep, which may be nil.
func completions[R, C any](ctx context.Context, arith arithmetic[R, C], p *plan, rest *grid[R, C], keep func(c int, before []*grid[R, C])) (*grid[R, C], error) {
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

// A completion computes the grids of the states before one stage from those after it.
type completion[R, C any] struct {
	arith arithmetic[R, C]
	*stage
	total int
	one   C
}

func (s *completion[R, C]) grid(units int) *grid[R, C] {
	return emptyGrid(s.arith, s.maxUsed, s.total-units)
}

// gridsBefore returns the grids of the states gridsBefore the stage, given those after it. If j of the stage's m
// ingredients are used, there are C(m, j) choices of ingredients, times the choices of j amounts. The amounts are
// added one ingredient at a time, and each addition moves from node to node.
func (s *completion[R, C]) gridsBefore(ctx context.Context, after []*grid[R, C]) ([]*grid[R, C], error) {
	out := make([]*grid[R, C], len(s.states))
	for x, state := range s.states {
		out[x] = s.grid(state.units)
	}
	choose := out[0].coefficients(len(s.members), s.most)
	if s.required {
		choose[s.most] = s.one
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
			if !s.required || j == s.most {
				for _, start := range f.starts {
					s.add(out[start[0]], now[start[1]], 0, choose[j])
				}
			}
			if j == s.most {
				break
			}
			if j+1 == s.most && len(s.members) == 1 { // adds the only ingredient straight to out, without a copy of the grids
				s.addLast(f, now, out)
				break
			}
			now = s.addOne(f, now, int32(s.most-j-1))
		}
	}
	for _, g := range out {
		g.freeScratch()
	}
	return out, nil
}

// addLast adds one ingredient of the stage to the grids now of the nodes, and adds the results to the grids out of
// the states.
func (s *completion[R, C]) addLast(f *family, now, out []*grid[R, C]) {
	from, k, step := s.shiftSource(f, now)
	for _, start := range f.starts {
		s.shift(out[start[0]], from, f.at(f.keys[start[1]]+step), k)
	}
}

// addOne returns the grids of the nodes after one more ingredient of the stage is used. It leaves out nodes whose
// level exceeds levels, which no later step reads.
func (s *completion[R, C]) addOne(f *family, now []*grid[R, C], levels int32) []*grid[R, C] {
	from, k, step := s.shiftSource(f, now)
	out := make([]*grid[R, C], len(f.keys))
	for x, key := range f.keys {
		if y := f.at(key + step); f.level[x] <= levels && y >= 0 && from[y] != nil {
			out[x] = s.grid(int(f.units[x]))
			s.shift(out[x], from, y, k)
		}
	}
	return out
}

// shiftSource returns what one more ingredient adds: the grids to read, the step in keys between nodes, and the
// amounts to move the grids up by.
func (s *completion[R, C]) shiftSource(f *family, now []*grid[R, C]) (from []*grid[R, C], k amountSet, step int64) {
	if f.perUnit == 0 {
		return now, s.kind, f.perUse
	}
	return s.sumAlongLines(f, now), amountSet{s.kind.lo, 1, 1}, f.perUse + int64(s.kind.lo)*f.perUnit
}

func (s *completion[R, C]) shift(dst *grid[R, C], from []*grid[R, C], y int32, k amountSet) {
	if y < 0 || from[y] == nil {
		return
	}
	for i := range min(len(from[y].rows), len(dst.rows)-1) {
		dst.shift(&dst.rows[i+1], &from[y].rows[i], k)
	}
}

// sumAlongLines returns, for each node, the sum of the grids of the nodes that the allowed amounts lead to. Each grid
// is moved up by its amount. Without a greatest amount, a node's sum is its own grid plus the next node's sum. With n
// amounts, sums over 1, 2, 4, ... amounts are made by doubling, and those for the set bits of n are added.
func (s *completion[R, C]) sumAlongLines(f *family, now []*grid[R, C]) []*grid[R, C] {
	sums := make([]*grid[R, C], len(f.keys))
	ahead := func(x, steps int) int32 {
		return f.at(f.keys[x] + int64(steps*s.kind.step)*f.perUnit)
	}
	if s.kind.unbounded(s.total) {
		for t := range f.keys {
			x := t
			if f.perUnit > 0 {
				x = len(f.keys) - 1 - t
			}
			sums[x] = s.addShifted(f, x, nil, now[x], 0)
			if y := ahead(x, 1); y >= 0 {
				sums[x] = s.addShifted(f, x, sums[x], sums[y], s.kind.step)
			}
		}
		return sums
	}
	have := 0
	for n, h := min(s.kind.n, s.total/s.kind.step+1), 1; ; h *= 2 {
		if n&1 == 1 {
			for x := range f.keys {
				if y := ahead(x, have); y >= 0 {
					sums[x] = s.addShifted(f, x, sums[x], now[y], have*s.kind.step)
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
				next[x] = s.addShifted(f, x, next[x], now[y], h*s.kind.step)
			}
		}
		now = next
	}
}

// addShifted adds the grid g, moved up by the given units, to the sum at node x. It makes the sum if it is nil, and
// returns it.
func (s *completion[R, C]) addShifted(f *family, x int, sum, g *grid[R, C], up int) *grid[R, C] {
	if g == nil {
		return sum
	}
	if sum == nil {
		sum = s.grid(int(f.units[x]))
	}
	s.add(sum, g, up, s.one)
	return sum
}

// add adds c·src to dst. Rows of src move up by the given units, and cells beyond dst's limits are dropped.
func (s *completion[R, C]) add(dst, src *grid[R, C], up int, c C) {
	if src == nil {
		return
	}
	for i := range min(len(src.rows), len(dst.rows)) {
		r := &src.rows[i]
		hi := min(r.hi, dst.maxUnits-up)
		if r.empty() || r.lo > hi {
			continue
		}
		d := &dst.rows[i]
		dst.ensureCells(d)
		s.arith.add(d.cells, r.cells, r.lo, hi, up, c)
		d.grow(r.lo+up, hi+up)
	}
}
