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

// Options bound the work of counting. The zero value counts every number of used ingredients,
// within 1 GiB and some minutes.
type Options struct {
	// MaxUsed is the largest n to count X_n for; 0 means all. Time and memory grow with it.
	MaxUsed int

	// Memory is the greatest size in bytes of the tables for counting, and separately of those of a [Sampler]. 0
	// means 1 GiB.
	Memory int64

	// Steps is the greatest number of elementary steps, of which a core does about 10^9 a second. 0 means 2·10^11.
	Steps float64

	// Workers is the greatest number of goroutines; 0 means one for each core. It does not affect the result.
	Workers int

	// Known is the result of [Table.All] for the same space and MaxUsed, if an earlier run has it. It is used instead
	// of counting again. It may be nil.
	Known []*big.Int
}

func (o Options) withDefaults() Options {
	if o.Memory <= 0 {
		o.Memory = 1 << 30
	}
	if o.Steps <= 0 {
		o.Steps = 2e11
	}
	if cores := runtime.GOMAXPROCS(0); o.Workers <= 0 || o.Workers > cores {
		o.Workers = cores
	}
	return o
}

// A Table holds the number of compositions |X_n| of a space for each number n
// of used ingredients. It does not change and is safe for concurrent use.
type Table struct {
	plan    *plan
	options Options
	closed  *closedFormula // closed formula that counts the space, or nil
	counts  []*big.Int     // counts[n] is |X_n| for n = 0..plan.maxUsed; nil with a closed formula
}

// New counts the compositions of a space.
//
// It returns an [ErrInvalid] or a [SizeError], or the context's error when that ends.
func New(ctx context.Context, s Space, options Options) (*Table, error) {
	if options.MaxUsed < 0 {
		return nil, fmt.Errorf("%w: compositions of up to %d used ingredients are asked for", ErrInvalid, options.MaxUsed)
	}
	most := min(len(s.Ingredients), s.Total)
	if options.MaxUsed > 0 {
		most = min(most, options.MaxUsed)
	}
	options = options.withDefaults()
	plan, err := newPlan(ctx, s, most, float64(float64(options.Memory)/bytesPerCell))
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

// Unconstrained returns the table of all compositions of total units over a number of ingredients:
// C(N, n)·C(M−1, n−1) use n.
func Unconstrained(ingredients, total int) (*Table, error) {
	if ingredients < 1 || ingredients > maxSize || total < 1 || total > maxSize {
		return nil, fmt.Errorf("%w: %d ingredients and a total of %d; both must be from 1 to %d", ErrInvalid, ingredients, total, maxSize)
	}
	return &Table{
		plan:    &plan{ingredients: ingredients, unit: 1, total: total, maxUsed: min(ingredients, total)},
		options: Options{}.withDefaults(),
		closed:  &closedFormula{total: total, lo: 1, step: 1, optional: ingredients},
	}, nil
}

// exactCounts returns |X_n| for n = 0..maxUsed. It counts modulo enough primes for the bound on the counts and
// combines the results.
func (t *Table) exactCounts(ctx context.Context) ([]*big.Int, error) {
	counts := make([]*big.Int, t.plan.maxUsed+1)
	if t.plan.impossible {
		for n := range counts {
			counts[n] = new(big.Int)
		}
		return counts, nil
	}
	ps := primes(t.plan.primes())
	need := t.plan.cost()
	if steps := t.Steps(); steps > t.options.Steps {
		return nil, &SizeError{steps, t.options.Steps, "steps"}
	}
	if t.plan.frontier != nil { // Counts are of little use without memory for draws, so both must fit.
		need.bytes = max(need.bytes, t.plan.samplerBytes())
	}
	if need.bytes > float64(t.options.Memory) {
		return nil, &SizeError{need.bytes, float64(t.options.Memory), "bytes of memory"}
	}
	if known := t.options.Known; len(known) == len(counts) && !slices.Contains(known, nil) {
		return known, nil
	}
	workers := min(t.options.Workers, len(ps), max(1, int(float64(t.options.Memory)/need.bytes)))

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
	return reconstruct(ps, residues), nil
}

// primes returns how many primes counting needs, so that their product exceeds all counts.
func (p *plan) primes() int {
	bits := slices.Max(p.logBounds(p.maxUsed, true))
	// The addend covers the error of the floating-point bound, below a relative 1e-12.
	return 1 + int((bits+2)/(primeBits-0.001))
}

// Steps returns the approximate time to count, in steps of 10⁻⁹ s. It is 0 for a closed formula.
func (t *Table) Steps() float64 {
	if t.closed != nil || t.plan.impossible {
		return 0
	}
	return float64(t.plan.cost().steps * float64(t.plan.primes()))
}

// A cost estimates the work and memory of computing grids modulo one prime.
type cost struct {
	steps float64
	bytes float64 // greatest number of bytes in use at one time
	kept  float64 // bytes of the result
}

// bytesPerCell is the size in bytes of one count in a frontier's tables.
const bytesPerCell = 8

// cost returns the cost of counting the whole plan modulo one prime.
func (p *plan) cost() cost {
	c := p.root.cost()
	if f := p.frontier; f != nil {
		c.steps += f.steps
		c.bytes += c.kept + float64(f.peakCells()*bytesPerCell)
	}
	return c
}

// cost returns the cost of [evaluate] for the group q. It follows the steps of evaluate one by one.
func (q *groupNode) cost() cost {
	rows, cells := float64(q.maxUsed+1), float64(q.maxUnits+1)
	c := cost{kept: float64(8 * rows * cells)}
	held := c.kept + float64(16*cells) // bytes of q's own grid and of the spare rows
	pass := float64(rows * cells)
	for _, class := range q.classes {
		c.steps += float64(pass * float64(min(len(class.members), q.maxUsed)))
	}
	c.bytes = held
	factors := 0.0
	for _, g := range q.groups {
		if g.isThin(q.maxUnits) {
			c.bytes = max(c.bytes, held+float64(float64(g.used.Max)*c.kept))
			for _, class := range g.classes {
				c.steps += float64(pass * float64(g.used.Max*min(len(class.members), g.used.Max)))
			}
			continue
		}
		sub := g.cost()
		c.steps += sub.steps
		c.bytes = max(c.bytes, held+sub.bytes)
		held += sub.kept
		factors++

		length := portable.Exp2(math.Ceil(portable.Log2(float64(2 * cells))))
		subRows := float64(g.maxUsed + 1)
		c.steps += min(rows*cells*subRows*float64(g.maxUnits+1),
			length*(float64(rows*subRows)+float64(2*(rows+subRows)*portable.Log2(length))))
		c.bytes = max(c.bytes, held+c.kept+float64(8*length*(rows+subRows+2)))
	}
	return c
}

// N returns the number of ingredients.
func (t *Table) N() int { return t.plan.ingredients }

// Total returns M, the units that a composition divides.
func (t *Table) Total() int { return t.plan.total * t.plan.unit }

// MaxUsed returns the largest n that was counted for.
func (t *Table) MaxUsed() int { return t.plan.maxUsed }

// Count returns |X_n|, the number of compositions that use exactly n ingredients. It panics if n
// was not counted: from MaxUsed+1 to min(N, M).
func (t *Table) Count(n int) *big.Int {
	switch {
	case !t.counted(n):
		return new(big.Int)
	case t.closed != nil:
		return t.closed.count(n)
	}
	return new(big.Int).Set(t.counts[n])
}

// All returns |X_n| for n = 0, 1, ..., or nil if a closed formula counts. Callers must not modify the slice.
func (t *Table) All() []*big.Int { return t.counts }

// Counts iterates over n and |X_n| for n from lo to hi. Without rules it computes each count from the previous one by
// two short multiplications, while [Table.Count] starts afresh. It panics like [Table.Count].
func (t *Table) Counts(lo, hi int) iter.Seq2[int, *big.Int] {
	return func(yield func(int, *big.Int) bool) {
		var x *big.Int
		for n := lo; n <= hi; n++ {
			if x != nil && t.counted(n) && t.closed != nil && t.closed.plain() {
				x = t.closed.next(n-1, x)
			} else {
				x = t.Count(n)
			}
			if !yield(n, x) {
				return
			}
		}
	}
}

// counted reports whether n lies in the range of a composition's size that the table covers, so that |X_n| may be
// above 0.
func (t *Table) counted(n int) bool {
	if n > t.plan.maxUsed && n <= min(t.plan.ingredients, t.Total()) {
		panic(fmt.Sprintf("count: compositions that use %d ingredients were not counted, only those of up to %d", n, t.plan.maxUsed))
	}
	return n >= 1 && n <= t.plan.maxUsed
}

// Empty reports whether X_n is empty. It panics like [Table.Count].
func (t *Table) Empty(n int) bool {
	switch {
	case !t.counted(n):
		return true
	case t.closed != nil:
		_, _, ok := t.closed.shape(n)
		return !ok
	}
	return t.counts[n].Sign() == 0
}

// Sum returns Σ |X_n| over n = 1..MaxUsed.
func (t *Table) Sum() *big.Int {
	sum := new(big.Int)
	for _, x := range t.Counts(1, t.plan.maxUsed) {
		sum.Add(sum, x)
	}
	return sum
}

// LogCount returns log |X_n|, −Inf if X_n is empty, with a relative error of about 1e-14. It panics
// like [Table.Count].
func (t *Table) LogCount(n int) float64 {
	switch {
	case !t.counted(n):
		return math.Inf(-1)
	case t.closed != nil:
		return t.closed.logCount(n)
	}
	return logBig(t.counts[n])
}

// logBig returns the natural log of x.
func logBig(x *big.Int) float64 {
	if x.Sign() == 0 {
		return math.Inf(-1)
	}
	mantissa := new(big.Float)
	exponent := new(big.Float).SetInt(x).MantExp(mantissa)
	m, _ := mantissa.Float64()
	return portable.Log(m) + float64(float64(exponent)*math.Ln2)
}
