package count

import (
	"context"
	"kir/internal/browsersched"
	"math/big"
)

// completions returns the grid of a whole space from that of the ingredients without sums. It goes
// from the last stage to the first, and makes for each state the grid of the ways to use the later
// ingredients. It passes the grids of the states before each stage to keep, which may be nil.
func completions[R, C any](ctx context.Context, arith arithmetic[R, C], p *plan, rest *grid[R, C], keep func(c int, before []*grid[R, C])) (*grid[R, C], error) {
	after := []*grid[R, C]{rest}
	for c := len(p.frontier.stages) - 1; c >= 0; c-- {
		st := &p.frontier.stages[c]
		s := completion[R, C]{arith, st, p.total, arith.coefficient(big.NewInt(1))}
		before, err := s.before(ctx, after)
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

// A completion computes the grids of one stage.
type completion[R, C any] struct {
	arith arithmetic[R, C]
	*stage
	total int
	one   C
}

func (s *completion[R, C]) grid(units int) *grid[R, C] {
	return emptyGrid(s.arith, s.maxUsed, s.total-units)
}

// before makes the grids of the states before the stage. j of its m ingredients are used in C(m, j)
// ways, times the ways to choose their amounts: j successive sums over amounts, each of which moves
// between nodes.
func (s *completion[R, C]) before(ctx context.Context, after []*grid[R, C]) ([]*grid[R, C], error) {
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
		for x, next := range f.next {
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
			if j+1 == s.most && len(s.members) == 1 { // without a copy
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

// addLast adds to the grids of the states the ways with one more ingredient.
func (s *completion[R, C]) addLast(f *family, now, out []*grid[R, C]) {
	from, k, step := s.shiftSource(f, now)
	for _, start := range f.starts {
		s.shift(out[start[0]], from, f.at(f.keys[start[1]]+step), k)
	}
}

// addOne returns the grids with one more ingredient of the stage, for the nodes whose level is at
// most a given one.
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

// shiftSource returns the grids to shift, the distance in nodes, and the amounts.
func (s *completion[R, C]) shiftSource(f *family, now []*grid[R, C]) (from []*grid[R, C], k amountSet, step int64) {
	if f.perUnit == 0 {
		return now, s.kind, f.whole
	}
	return s.sumAlongLines(f, now), amountSet{s.kind.lo, 1, 1}, f.whole + int64(s.kind.lo)*f.perUnit
}

func (s *completion[R, C]) shift(dst *grid[R, C], from []*grid[R, C], y int32, k amountSet) {
	if y < 0 || from[y] == nil {
		return
	}
	for i := range min(len(from[y].rows), len(dst.rows)-1) {
		dst.shift(&dst.rows[i+1], &from[y].rows[i], k)
	}
}

// sumAlongLines sums along lines of nodes: at each node the grids of all amounts from the least on,
// each moved up by its amount. Without a greatest amount, a node's sum is that of the next node and
// its own grid. Otherwise there are n amounts. Sums of 2h grids are one addition of sums of h, and
// n is composed from its bits.
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

// addShifted adds a grid, moved up by some units, to the sum at node x, which it makes if it is
// nil.
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

// add adds c times a grid to another one, moved up by some units, within the other's limits.
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
