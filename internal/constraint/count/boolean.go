package count

import (
	"context"
	"math/big"
)

// booleanArithmetic is an [arithmetic] that computes only whether counts are zero, not how large the counts are.
// A row is a bit set: bit u is set if some choice of amounts takes exactly u units. The field scratchRow is a row
// for temporary use.
type booleanArithmetic struct{ scratchRow []uint64 }

func (b *booleanArithmetic) row(n int) []uint64 {
	words := (n + 63) / 64
	if len(b.scratchRow) < words {
		b.scratchRow = make([]uint64, words)
	}
	return make([]uint64, words)
}

func (*booleanArithmetic) setOne(r []uint64, u int) { r[u/64] |= 1 << (u % 64) }

func (*booleanArithmetic) clear(r []uint64, lo, hi int) {
	for w := lo / 64; w <= hi/64; w++ {
		keep := uint64(0)
		if w == lo/64 {
			keep |= 1<<(lo%64) - 1
		}
		if w == hi/64 {
			keep |= ^(^uint64(0) >> (63 - hi%64))
		}
		r[w] &= keep
	}
}

// window sets in dst, for each amount a of k, the bits of src moved up by a places. Bits above maxUnits are
// dropped.
func (b *booleanArithmetic) window(dst, src []uint64, lo, hi int, k amountSet, maxUnits int) {
	spread := b.scratchRow[:len(src)]
	copy(spread, src)
	unionShifts(spread, k.n, k.step, maxUnits)
	joinShifted(dst, spread, k.lo)
	clearBitsAbove(dst, maxUnits)
}

// unionShifts replaces the row r by the union of n copies of r, moved up by 0, step, 2·step and so on. Each pass
// joins the row with a moved copy of the row, so that a pass up to doubles the number of copies.
func unionShifts(r []uint64, n, step, maxUnits int) {
	for have := 1; have < n && have*step <= maxUnits; {
		more := min(have, n-have)
		joinShifted(r, r, more*step)
		have += more
	}
}

// joinShifted sets in dst the bits of src moved up by n places. Bits beyond the end of dst are dropped. The
// slices dst and src may be the same row, because words are written from last to first.
func joinShifted(dst, src []uint64, n int) {
	words, shift := n/64, n%64
	for w := min(len(dst)-1, len(src)+words); w >= words; w-- {
		v := uint64(0)
		if w-words < len(src) {
			v = src[w-words] << shift
		}
		if shift > 0 && w > words {
			v |= src[w-words-1] >> (64 - shift)
		}
		dst[w] |= v
	}
}

// clearBitsAbove clears the bits above highest in the word that contains bit highest.
func clearBitsAbove(r []uint64, highest int) {
	r[highest/64] &= ^uint64(0) >> (63 - highest%64)
}

func (*booleanArithmetic) coefficient(*big.Int) struct{} { return struct{}{} }

func (b *booleanArithmetic) add(dst, src []uint64, _, hi, up int, _ struct{}) {
	part := b.scratchRow[:hi/64+1]
	copy(part, src)
	clearBitsAbove(part, hi)
	joinShifted(dst, part, up)
}

// multiply returns the product of two grids of bits: a bit for k used ingredients and u units is set if the bit
// for (i, s) in x and the bit for (k−i, u−s) in y are set. For each run of set bits in a row of x, multiply takes
// one unionShifts and one joinShifted of a row of y; rows have few runs.
func (b *booleanArithmetic) multiply(x, y *grid[[]uint64, struct{}], maxUsed, maxUnits int) *grid[[]uint64, struct{}] {
	out := emptyGrid(x.arith, maxUsed, maxUnits)
	spread := b.row(maxUnits + 1)
	for i := range x.rows {
		for j := 0; j < len(y.rows) && i+j <= maxUsed; j++ {
			p, q := &x.rows[i], &y.rows[j]
			if p.isEmpty() || q.isEmpty() || p.lo+q.lo > maxUnits {
				continue
			}
			r := &out.rows[i+j]
			out.ensureCells(r)
			top := min(p.hi, maxUnits-q.lo)
			for u := p.lo; u <= top; u++ {
				run := 0
				for u+run <= top && p.cells[(u+run)/64]>>((u+run)%64)&1 == 1 {
					run++
				}
				if run > 0 {
					clear(spread[copy(spread, q.cells):])
					unionShifts(spread, run, 1, maxUnits)
					joinShifted(r.cells, spread, u)
					u += run
				}
			}
			r.widenRange(p.lo+q.lo, min(p.hi+q.hi, maxUnits))
		}
	}
	for k := range out.rows {
		if r := &out.rows[k]; !r.isEmpty() {
			clearBitsAbove(r.cells, maxUnits)
		}
	}
	return out
}

// stepsPerBit is the time to compute one bit, as a fraction of the time of one elementary step of exact counting.
// A word holds 64 bits, and a window takes about a dozen shifts of words.
const stepsPerBit = 12.0 / 64

// ReachableUsedCounts returns a slice whose item n, for n = 0..maxUsedOnward, tells whether there is a composition of n
// used ingredients. A maxUsedOnward of 0 means all n. The result steps is the approximate time taken, in nanoseconds.
// ReachableUsedCounts does the computation of [New] with one bit in place of each count, and returns the same
// errors.
func ReachableUsedCounts(ctx context.Context, s Space, maxUsed int) (can []bool, steps float64, err error) {
	if all := min(len(s.Ingredients), s.Total); maxUsed < 1 || maxUsed > all {
		maxUsed = all
	}
	plan, err := newPlan(ctx, s, maxUsed, float64(Options{}.withDefaults().MaxMemory))
	if err != nil {
		return nil, 0, err
	}
	steps = float64(100 * len(s.Ingredients))
	if closed := closedForm(plan); closed != nil {
		can = make([]bool, maxUsed+1)
		for n := range can {
			_, _, can[n] = closed.optionalAndSteps(n)
		}
		return can, steps, nil
	}
	can, err = reachableByTables(ctx, plan)
	return can, steps + float64(plan.cost().steps*stepsPerBit), err
}

// reachableByTables returns a slice whose item n, for n = 0..plan.maxUsedOnward, tells whether there is a composition
// of n used ingredients. Unlike [ReachableUsedCounts], reachableByTables never uses a closed formula.
func reachableByTables(ctx context.Context, plan *plan) ([]bool, error) {
	out := make([]bool, plan.maxUsed+1)
	if plan.impossible {
		return out, nil
	}
	need, limit := plan.cost(), Options{}.withDefaults()
	if bytes := float64(need.bytes / 64); bytes > float64(limit.MaxMemory) {
		return nil, &SizeError{bytes, float64(limit.MaxMemory), "bytes of memory"}
	}
	if steps := float64(need.steps * stepsPerBit); steps > limit.MaxSteps {
		return nil, &SizeError{steps, limit.MaxSteps, "steps"}
	}
	b := new(booleanArithmetic)
	factors, err := factorGrids[[]uint64, struct{}](ctx, b, plan.root)
	if err != nil {
		return nil, err
	}
	whole, err := multiplyAll(ctx, b, factors, plan.root.maxUsed, plan.total)
	if err == nil && plan.frontier != nil {
		whole, err = countByFrontier(ctx, b, plan, whole, nil)
	}
	if err != nil {
		return nil, err
	}
	for k := range whole.rows {
		if r := &whole.rows[k]; r.lo <= plan.total && plan.total <= r.hi {
			out[k] = r.cells[plan.total/64]>>(plan.total%64)&1 == 1
		}
	}
	return out, nil
}
