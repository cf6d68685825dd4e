package count

import (
	"context"
	"kir/internal/browsersched"
	"math/big"
)

// completions returns the grid of a whole space from that of what no sum holds:
// going from the last stage to the first it makes for each state the grid of the
// ways in which what comes after it can be used. keep is given those of the
// states before each stage, and may be nil.
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

// A completion computes one stage.
type completion[R, C any] struct {
	arith arithmetic[R, C]
	*stage
	total int
	one   C
}

func (s *completion[R, C]) grid(units int) *grid[R, C] {
	return emptyGrid(s.arith, s.maxUsed, s.total-units)
}

// before makes the grids of the states before the stage. Those who use j of its m
// ingredients do so in C(m, j) ways, times the amounts of j: a chain of sums over
// amounts, each of which moves on among the nodes.
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

// addLast adds to the grids of the states what one more ingredient makes.
func (s *completion[R, C]) addLast(f *family, now, out []*grid[R, C]) {
	from, k, step := s.shiftSource(f, now)
	for _, start := range f.starts {
		s.shift(out[start[0]], from, f.at(f.keys[start[1]]+step), k)
	}
}

// addOne returns the grids with one more ingredient of the stage, of the nodes
// from which at least so few levels are left.
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

// shiftSource returns which grids are to be shifted, how many nodes further on they are,
// and by which amounts.
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

// sumAlongLines adds up along lines: at each node the grids of the amounts from the least
// on, each as many units up as it is more. Without a greatest amount each node has
// that of the next one and its own. Else there are n amounts, and with the sums
// of h at hand those of 2h are one addition away: n is put together from its bits.
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

// addShifted adds a grid, some units up, to the sum at node x, which is made if it is
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

// add adds c times a grid to another one, some units up, as far as that goes.
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
