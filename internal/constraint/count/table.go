package count

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/big"
	"runtime"
	"slices"
	"sync"

	"kir/internal/portable"
)

// Options bound the work of counting. The zero value counts every number of used ingredients, within 1 GiB and
// some minutes.
type Options struct {
	// MaxUsed is the largest number n of used ingredients for which compositions are counted; 0 means all n. Time
	// and memory grow with MaxUsed.
	MaxUsed int

	// MaxMemory is the maximum size in bytes of the tables for counting. The tables of a [Sampler] have the same
	// limit, separately. 0 means 1 GiB.
	MaxMemory int64

	// MaxSteps is the maximum number of elementary steps, of which a core does about 10^9 a second. 0 means
	// 2·10^11.
	MaxSteps float64

	// Workers is the maximum number of goroutines; 0 means one for each core. The number does not affect the
	// result.
	Workers int

	// KnownCounts is the result of [Table.TabulatedCounts] of an earlier run for the same space and MaxUsed. If
	// KnownCounts is not nil, [New] takes these counts instead of counting again.
	KnownCounts []*big.Int
}

// withDefaults returns the options with each zero replaced by the default value.
func (o Options) withDefaults() Options {
	if o.MaxMemory <= 0 {
		o.MaxMemory = 1 << 30
	}
	if o.MaxSteps <= 0 {
		o.MaxSteps = 2e11
	}
	if cores := runtime.GOMAXPROCS(0); o.Workers <= 0 || o.Workers > cores {
		o.Workers = cores
	}
	return o
}

// A Table holds, for each number n of used ingredients, the number |X_n| of compositions of a space. A Table does
// not change and is safe for concurrent use.
type Table struct {
	plan    *plan
	options Options
	closed  *closedFormula // closed formula that counts the space, or nil if no formula does
	counts  []*big.Int     // counts[n] is |X_n| for n = 0..plan.maxUsedOnward; nil if a closed formula counts
}

// New counts the compositions of a space.
//
// New returns an [ErrInvalid] for an invalid space or a [SizeError] for a space that exceeds the options. If the
// context ends, New returns the error of the context.
func New(ctx context.Context, s Space, options Options) (*Table, error) {
	if options.MaxUsed < 0 {
		return nil, fmt.Errorf("%w: compositions of up to %d used ingredients are asked for", ErrInvalid, options.MaxUsed)
	}
	most := min(len(s.Ingredients), s.Total)
	if options.MaxUsed > 0 {
		most = min(most, options.MaxUsed)
	}
	options = options.withDefaults()
	plan, err := newPlan(ctx, s, most, float64(float64(options.MaxMemory)/bytesPerCell))
	if err != nil {
		return nil, err
	}
	t := &Table{plan: plan, options: options}
	if t.closed = closedForm(plan); t.closed != nil {
		return t, nil
	}
	if t.counts, err = t.exactCounts(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// NewUnconstrainedTable returns the table of all compositions of total units over a number of ingredients. C(N,
// n)·C(M−1, n−1) compositions use n ingredients.
func NewUnconstrainedTable(ingredients, total int) (*Table, error) {
	if ingredients < 1 || ingredients > maxSize || total < 1 || total > maxSize {
		return nil, fmt.Errorf("%w: %d ingredients and a total of %d; both must be from 1 to %d", ErrInvalid, ingredients, total, maxSize)
	}
	return &Table{
		plan:    &plan{ingredientCount: ingredients, unit: 1, total: total, maxUsed: min(ingredients, total)},
		options: Options{}.withDefaults(),
		closed:  &closedFormula{total: total, lo: 1, step: 1, optionalCount: ingredients},
	}, nil
}

// exactCounts returns the number of compositions of n ingredients, for n = 0..maxUsedOnward. The numbers are counted
// modulo enough primes for the bound on the counts, and the results are combined.
func (t *Table) exactCounts(ctx context.Context) ([]*big.Int, error) {
	counts := make([]*big.Int, t.plan.maxUsed+1)
	if t.plan.impossible {
		for n := range counts {
			counts[n] = new(big.Int)
		}
		return counts, nil
	}
	ps := largestPrimes(t.plan.primeCount())
	need := t.plan.cost()
	if steps := t.Steps(); steps > t.options.MaxSteps {
		return nil, &SizeError{steps, t.options.MaxSteps, "steps"}
	}
	if t.plan.frontier != nil { // Counts are of little use without memory for draws, so both must fit.
		need.bytes = max(need.bytes, t.plan.samplerBytes())
	}
	if need.bytes > float64(t.options.MaxMemory) {
		return nil, &SizeError{need.bytes, float64(t.options.MaxMemory), "bytes of memory"}
	}
	if known := t.options.KnownCounts; len(known) == len(counts) && !slices.Contains(known, nil) {
		return known, nil
	}
	workers := min(t.options.Workers, len(ps), max(1, int(float64(t.options.MaxMemory)/need.bytes)))

	residues := make([][]uint64, len(ps))
	errs := make([]error, len(ps))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(ps); i += workers {
				if residues[i], errs[i] = modularCounts(ctx, t.plan, ps[i]); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return reconstructCounts(ps, residues), nil
}

// primeCount returns how many primes counting needs, so that the product of the primes exceeds all counts.
func (p *plan) primeCount() int {
	bits := slices.Max(p.logBounds(p.maxUsed, true))
	// The addend covers the error of the floating-point bound, below a relative 1e-12.
	return 1 + int((bits+2)/(primeBits-0.001))
}

// Steps returns the approximate time to count, in nanoseconds. Steps is 0 for a closed formula.
func (t *Table) Steps() float64 {
	if t.closed != nil || t.plan.impossible {
		return 0
	}
	return float64(t.plan.cost().steps * float64(t.plan.primeCount()))
}

// A countingCost is an estimate of the work and the memory of computing grids modulo one prime.
type countingCost struct {
	steps       float64 // number of elementary steps
	bytes       float64 // maximum number of bytes in use at any one time
	resultBytes float64 // number of bytes of the resulting grids
}

// bytesPerCell is the size in bytes of one count in the tables of a frontier.
const bytesPerCell = 8

// cost returns the cost of counting the whole plan modulo one prime.
func (p *plan) cost() countingCost {
	c := p.root.cost()
	if f := p.frontier; f != nil {
		c.steps += f.steps
		c.bytes += c.resultBytes + float64(f.peakCells()*bytesPerCell)
	}
	return c
}

// cost returns the cost of [factorGrids] for the group q, estimated step by step like the computation itself.
func (q *groupNode) cost() countingCost {
	rows, cells := float64(q.maxUsed+1), float64(q.maxUnits+1)
	c := countingCost{resultBytes: float64(8 * rows * cells)}
	held := c.resultBytes + float64(16*cells) // bytes of the grid of q and of the spare rows
	pass := float64(rows * cells)
	for _, class := range q.classes {
		c.steps += float64(pass * float64(min(len(class.members), q.maxUsed)))
	}
	c.bytes = held
	factors := 0.0
	for _, g := range q.groups {
		if g.isThin(q.maxUnits) {
			c.bytes = max(c.bytes, held+float64(float64(g.used.Max)*c.resultBytes))
			for _, class := range g.classes {
				c.steps += float64(pass * float64(g.used.Max*min(len(class.members), g.used.Max)))
			}
			continue
		}
		sub := g.cost()
		c.steps += sub.steps
		c.bytes = max(c.bytes, held+sub.bytes)
		held += sub.resultBytes
		factors++

		length := portable.Exp2(math.Ceil(portable.Log2(float64(2 * cells))))
		subRows := float64(g.maxUsed + 1)
		c.steps += min(rows*cells*subRows*float64(g.maxUnits+1),
			length*(float64(rows*subRows)+float64(2*(rows+subRows)*portable.Log2(length))))
		c.bytes = max(c.bytes, held+c.resultBytes+float64(8*length*(rows+subRows+2)))
	}
	return c
}

// IngredientCount returns the number of ingredients.
func (t *Table) IngredientCount() int { return t.plan.ingredientCount }

// Total returns M, the number of units that a composition divides.
func (t *Table) Total() int { return t.plan.total * t.plan.unit }

// MaxUsed returns the largest n for which the compositions were counted.
func (t *Table) MaxUsed() int { return t.plan.maxUsed }

// Count returns |X_n|, the number of compositions that use exactly n ingredients. Count panics if n was not
// counted, that is, if n is from MaxUsed+1 to min(N, M).
func (t *Table) Count(n int) *big.Int {
	switch {
	case !t.isCounted(n):
		return new(big.Int)
	case t.closed != nil:
		return t.closed.count(n)
	}
	return new(big.Int).Set(t.counts[n])
}

// TabulatedCounts returns the number of compositions of n ingredients for n = 0, 1, ..., or nil if a closed formula counts.
// Callers must not modify the slice.
func (t *Table) TabulatedCounts() []*big.Int { return t.counts }

// Counts iterates over n from lo to hi, with the number of compositions of n ingredients. Without rules each
// count follows from the previous count by two short multiplications, while [Table.Count] starts afresh. Counts
// panics in the cases in which [Table.Count] panics.
func (t *Table) Counts(lo, hi int) iter.Seq2[int, *big.Int] {
	return func(yield func(int, *big.Int) bool) {
		var x *big.Int
		for n := lo; n <= hi; n++ {
			if x != nil && t.isCounted(n) && t.closed != nil && t.closed.isPlain() {
				x = t.closed.nextCount(n-1, x)
			} else {
				x = t.Count(n)
			}
			if !yield(n, x) {
				return
			}
		}
	}
}

// isCounted reports whether n is from 1 to MaxUsed, so that compositions of n ingredients may exist. isCounted
// panics if compositions of n ingredients may exist but were not counted.
func (t *Table) isCounted(n int) bool {
	if n > t.plan.maxUsed && n <= min(t.plan.ingredientCount, t.Total()) {
		panic(fmt.Sprintf("count: compositions that use %d ingredients were not counted, only those of up to %d", n, t.plan.maxUsed))
	}
	return n >= 1 && n <= t.plan.maxUsed
}

// IsEmpty reports whether no composition uses exactly n ingredients. IsEmpty panics in the cases in which
// [Table.Count] panics.
func (t *Table) IsEmpty(n int) bool {
	switch {
	case !t.isCounted(n):
		return true
	case t.closed != nil:
		_, _, ok := t.closed.optionalAndSteps(n)
		return !ok
	}
	return t.counts[n].Sign() == 0
}

// TotalCount returns the number of compositions of 1 to MaxUsed ingredients.
func (t *Table) TotalCount() *big.Int {
	sum := new(big.Int)
	for _, x := range t.Counts(1, t.plan.maxUsed) {
		sum.Add(sum, x)
	}
	return sum
}

// LogCount returns the natural logarithm of the number of compositions of n ingredients, or −Inf if there is no
// such composition. The relative error is about 1e-14. LogCount panics in the cases in which [Table.Count]
// panics.
func (t *Table) LogCount(n int) float64 {
	switch {
	case !t.isCounted(n):
		return math.Inf(-1)
	case t.closed != nil:
		return t.closed.logCount(n)
	}
	return logOfBigInt(t.counts[n])
}

// logOfBigInt returns the natural logarithm of x.
func logOfBigInt(x *big.Int) float64 {
	if x.Sign() == 0 {
		return math.Inf(-1)
	}
	mantissa := new(big.Float)
	exponent := new(big.Float).SetInt(x).MantExp(mantissa)
	m, _ := mantissa.Float64()
	return portable.Log(m) + float64(float64(exponent)*math.Ln2)
}
