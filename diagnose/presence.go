package diagnose

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

const (
	// maxRuns is how many runs a Presence keeps: 8 MB.
	maxRuns = 700_000
	// runChunk is how many runs are allocated at once, at most.
	runChunk = 1 << 13
	// batchMemory bounds the batch sums of a Presence, in bytes, as long as
	// there are enough batches.
	batchMemory = 2 << 20
	// leastBatches is the smallest number of batches that a Presence starts
	// with, whatever the number of ingredients.
	leastBatches = 2
	// leastMeans is how many batch means of all chains together a standard
	// error is computed from.
	leastMeans = 4
)

// MaxDraws is the largest number of draws that a [Presence] and a [Histogram]
// can take.
const MaxDraws = math.MaxUint32

// A Presence follows which of many ingredients one chain uses, and how much of
// each. It is told of runs of draws that use an ingredient in the same way, so
// that a draw costs time proportional to what changed, not to the number of
// ingredients. [Inclusions] computes probabilities and their errors from the
// Presences of all chains.
//
// Counts and amounts are exact integers. For the standard error a Presence keeps
// every run while there are at most limit draws and 700,000 runs; the errors are
// then those of [MCSEMean] on the 0/1 series, up to rounding. Beyond, it keeps for
// each ingredient the number of draws that had it in each of B to 2B batches of
// consecutive draws, whose length doubles as needed: 2B is the largest power of
// two within 2 and 8,192 for which all batches fit in 2 MB (256 for 2,000
// ingredients). The error is then that of the mean of the batch means, with
// Geyer's sequence applied to them where there are enough: no draw is left out.
// Its own relative error is about 1/√(2BC) at worst for C chains, as long as a
// batch is longer than the autocorrelation time.
//
// Besides the batches it takes 4 bytes an ingredient. What it keeps depends on the
// calls alone. A Presence must not be used by two goroutines at once.
type Presence struct {
	limit int
	draws int
	// By ingredient: the sum of its amounts, of which the upper half is there for
	// the few where it is not 0.
	sums  []uint32
	upper map[int32]uint32

	// While every run is kept. Those of one ingredient are in ascending order.
	exact   bool
	runs    [][]run
	count   int // of the runs
	maxRuns int

	// Once batches are kept: in how many draws of batch b ingredient i was
	// present is present[b·N+i], so that the open batch is together.
	batches int
	batch   int // length of a batch
	present []uint32
	first   int      // draw of the last batch begun
	open    []uint32 // the counts of that batch
}

// A run is draws from, …, to−1 that use an ingredient.
type run struct{ from, to, ingredient uint32 }

// NewPresence returns a Presence of ingredients that are all absent. It keeps
// all runs for up to limit draws: [DefaultLimit] if limit is 0 or less, and
// otherwise at least 64.
func NewPresence(ingredients, limit int) *Presence {
	return &Presence{
		limit:   streamLimit(limit),
		sums:    make([]uint32, ingredients),
		upper:   make(map[int32]uint32),
		exact:   true,
		batches: batchesFor(ingredients, batchMemory),
		maxRuns: maxRuns,
	}
}

// Among makes p keep less if it is one of very many, so that the memory of all of
// them is bounded. It is called before the first draw.
func (p *Presence) Among(chains int) *Presence {
	if chains > manyChains {
		p.maxRuns = maxRuns * manyChains / 4 / chains
		p.batches = batchesFor(len(p.sums), batchMemory*manyChains/4/chains)
	}
	return p
}

// batchesFor returns how many batches a Presence of so many ingredients may
// have.
func batchesFor(ingredients, memory int) int {
	batches := leastBatches
	for batches < maxBatches && 2*batches*ingredients*4 <= memory {
		batches *= 2
	}
	return batches
}

// clone returns a copy.
func (p *Presence) clone() *Presence {
	q := *p
	q.sums, q.upper, q.present = slices.Clone(p.sums), maps.Clone(p.upper), slices.Clone(p.present)
	q.runs = make([][]run, len(p.runs))
	for k, chunk := range p.runs {
		q.runs[k] = slices.Clone(chunk)
	}
	if !q.exact {
		q.openBatch()
	}
	return &q
}

// Ingredients returns the number of ingredients.
func (p *Presence) Ingredients() int { return len(p.sums) }

// Draws returns the number of draws so far.
func (p *Presence) Draws() int { return p.draws }

// AddRun says that draws from, …, to−1 (counted from 0) use an ingredient with an
// amount. The runs of one ingredient must not overlap and must come in ascending
// order. AddRun panics when the ingredient is out of range, when from is negative
// or to is more than [MaxDraws]; a run without draws is none.
func (p *Presence) AddRun(ingredient, amount, from, to int) {
	if from < 0 {
		panic(fmt.Sprintf("diagnose: a run of ingredient %d from draw %d on", ingredient, from))
	}
	if from >= to {
		return
	}
	if to > p.draws {
		p.Advance(to)
	}
	p.addUnits(int32(ingredient), uint64(amount)*uint64(to-from))
	switch {
	case p.exact:
		p.keep(run{uint32(from), uint32(to), uint32(ingredient)})
	case from >= p.first:
		p.open[ingredient] += uint32(to - from)
	default:
		p.addToBatches(run{uint32(from), uint32(to), uint32(ingredient)})
	}
}

// addUnits adds to the sum of an ingredient.
func (p *Presence) addUnits(ingredient int32, units uint64) {
	units += uint64(p.sums[ingredient])
	p.sums[ingredient] = uint32(units)
	if units > math.MaxUint32 {
		p.upper[ingredient] += uint32(units >> 32)
	}
}

// sum returns the sum of the amounts of an ingredient.
func (p *Presence) sum(ingredient int) uint64 {
	return uint64(p.upper[int32(ingredient)])<<32 | uint64(p.sums[ingredient])
}

// Advance says that there are n draws. It does nothing if there are already as
// many. It panics at more than [MaxDraws].
func (p *Presence) Advance(n int) {
	if n <= p.draws {
		return
	}
	if n > MaxDraws {
		panic(fmt.Sprintf("diagnose: %d draws are more than %d", n, MaxDraws))
	}
	p.draws = n
	if p.exact {
		if n > p.limit {
			p.toBatches()
		}
	} else if n > p.first+p.batch {
		p.openBatch()
	}
}

// openBatch makes the batch of the last draw the open one.
func (p *Presence) openBatch() {
	for p.draws > p.batches*p.batch {
		p.joinBatches()
	}
	b := max(0, p.draws-1) / p.batch
	p.first, p.open = b*p.batch, p.row(b)
}

// row returns the counts of a batch.
func (p *Presence) row(batch int) []uint32 {
	n := len(p.sums)
	return p.present[batch*n : (batch+1)*n]
}

// keep keeps a run. It continues the last one if it can, so that a value that is
// looked at in between leaves no trace.
func (p *Presence) keep(r run) {
	last := len(p.runs) - 1
	if last >= 0 {
		chunk := p.runs[last]
		if before := &chunk[len(chunk)-1]; before.ingredient == r.ingredient && before.to == r.from {
			before.to = r.to
			return
		}
	}
	if last < 0 || len(p.runs[last]) == cap(p.runs[last]) {
		p.runs = append(p.runs, make([]run, 0, min(runChunk, max(64, p.count))))
		last++
	}
	p.runs[last] = append(p.runs[last], r)
	if p.count++; p.count > p.maxRuns {
		p.toBatches()
	}
}

// toBatches turns the runs into batches.
func (p *Presence) toBatches() {
	p.batch = 1
	for p.draws > p.batches*p.batch {
		p.batch *= 2
	}
	p.present = make([]uint32, len(p.sums)*p.batches)
	p.exact = false
	p.openBatch()
	for _, chunk := range p.runs {
		for _, r := range chunk {
			p.addToBatches(r)
		}
	}
	p.runs, p.count = nil, 0
}

// addToBatches counts the draws of a run in the batches that they are in.
func (p *Presence) addToBatches(r run) {
	for from, to := int(r.from), int(r.to); from < to; {
		b := from / p.batch
		end := min(to, (b+1)*p.batch)
		p.row(b)[r.ingredient] += uint32(end - from)
		from = end
	}
}

// batchesBegun returns the number of batches that have draws.
func (p *Presence) batchesBegun() int { return (p.draws + p.batch - 1) / p.batch }

// AddCounts adds to counts, by ingredient, the number of draws that had it.
func (p *Presence) AddCounts(counts []uint64) {
	for _, chunk := range p.runs {
		for _, r := range chunk {
			counts[r.ingredient] += uint64(r.to - r.from)
		}
	}
	for at, n := range p.present {
		counts[at%len(p.sums)] += uint64(n)
	}
}

// joinBatches joins the batches two by two.
func (p *Presence) joinBatches() {
	for b := range p.batches / 2 {
		to, first, second := p.row(b), p.row(2*b), p.row(2*b+1)
		for i := range to {
			to[i] = first[i] + second[i]
		}
	}
	clear(p.present[p.batches/2*len(p.sums):])
	p.batch *= 2
}
