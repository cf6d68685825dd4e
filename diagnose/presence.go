package diagnose

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

const (
	// maxChanges is how many changes of presence a Presence keeps: 8 MB.
	maxChanges = 1 << 20
	// changeChunk is how many changes are allocated at once.
	changeChunk = 1 << 14
	// batchMemory bounds the batch sums of a Presence, in bytes, as long as
	// there are enough batches.
	batchMemory = 2 << 20
	// leastBatches is the smallest number of batches that a Presence starts
	// with, whatever the number of ingredients.
	leastBatches = 2
	// leastMeans is how many batch means of all chains together a standard
	// error is computed from.
	leastMeans = 4
	// mostAmount is the largest amount that Set takes.
	mostAmount = math.MaxInt32
	// longestBatch is how long batches become, so that a cell can hold one.
	longestBatch = 1 << 29
)

// MaxDraws is the largest number of draws that a [Presence] and a [Histogram]
// can take.
const MaxDraws = leastBatches * longestBatch

// A Presence follows which of many ingredients one chain uses, and how much of
// each. It is told of changes only, so that a draw costs time proportional to
// what changed, not to the number of ingredients. [Inclusions] computes
// probabilities and their errors from the Presences of all chains.
//
// Counts and amounts are exact integers. For the standard error a
// Presence keeps every change while there are at most limit draws and about a
// million changes; the errors are then those of [MCSEMean] on the 0/1 series, up
// to rounding. Beyond, it keeps for each ingredient the
// number of draws that had it in each of B to 2B batches of consecutive draws,
// whose length doubles as needed: 2B is the largest power of two within 2 and
// 8,192 for which all batches fit in 2 MB (256 for 2,000 ingredients). The error
// is then that of the mean of the batch means, with Geyer's sequence applied to
// them where there are enough: no draw is left out. Its own relative error is
// about 1/√(2BC) at worst for C chains, as long as a batch is longer than the
// autocorrelation time.
//
// Besides the batches it takes 12 bytes an ingredient. The state depends on the
// calls of Set and on the number of draws alone. A Presence must not be used by
// two goroutines at once.
type Presence struct {
	limit int
	draws int

	amounts []int32 // by ingredient: its amount at the last draw
	// By ingredient: what has to be added to amount·draws for the sum of its
	// amounts over all draws, modulo 2⁶⁴. Set to b instead of a at draw d, it
	// grows by (a−b)·d.
	sums []uint64

	// While every change is kept. The changes of one ingredient are in
	// ascending order, and alternate between coming and going.
	exact   bool
	changes [][]change
	count   int // of the changes

	// Once batches are kept: what is known of ingredient i in batch b is
	// cells[b·N+i], so that the cells of the open batch are neighbours.
	batches int
	batch   int // length of a batch
	cells   []cell
	first   int    // draw of the last batch begun
	open    []cell // the cells of that batch
}

// change says that an ingredient came or went at a draw.
type change struct{ draw, ingredient uint32 }

// A cell is 2v + p for one ingredient in one batch. Each coming of the ingredient
// adds to v the draws from there to the end of the batch, each going takes them
// away, and p is whether there was an odd number of either. So a change touches
// one cell, however long the ingredient had been there.
type cell int32

// change counts a change with so many draws of the batch left, a coming or a
// going.
func (c *cell) change(left int, came bool) {
	if !came {
		left = -left
	}
	*c = (*c + cell(2*left)) ^ 1
}

// present returns in how many draws of the batch, which has the given length,
// the ingredient was present, and whether it was when the batch ended, if before
// is whether it was when it began.
func (c cell) present(length int, before bool) (draws int, after bool) {
	draws = int(c >> 1)
	if before {
		draws += length
	}
	return draws, before != (c&1 == 1)
}

// join returns the cell of a batch of twice the length, made of c and the next.
func (c cell) join(next cell, length int, before bool) cell {
	v := c>>1 + next>>1
	if c&1 == 1 {
		if before {
			v -= cell(length)
		} else {
			v += cell(length)
		}
	}
	return v<<1 | (c^next)&1
}

// NewPresence returns a Presence of ingredients that are all absent. It keeps
// all changes for up to limit draws: [DefaultLimit] if limit is 0 or less, and
// otherwise at least 64.
func NewPresence(ingredients, limit int) *Presence {
	return &Presence{
		limit:   streamLimit(limit),
		amounts: make([]int32, ingredients),
		sums:    make([]uint64, ingredients),
		exact:   true,
		batches: batchesFor(ingredients),
	}
}

// batchesFor returns how many batches a Presence of so many ingredients may
// have.
func batchesFor(ingredients int) int {
	batches := leastBatches
	for batches < maxBatches && 2*batches*ingredients*4 <= batchMemory {
		batches *= 2
	}
	return batches
}

// Ingredients returns the number of ingredients.
func (p *Presence) Ingredients() int { return len(p.amounts) }

// Draws returns the number of draws so far.
func (p *Presence) Draws() int { return p.draws }

// Set says that from a draw on (counted from 0) an ingredient has an amount, 0
// when it is absent. Of several calls for the same draw and ingredient the last
// one counts. For each ingredient draws must be in ascending order. It panics
// when the ingredient is out of range, when the draw is or its batch has ended,
// or when the amount is negative or above 2³¹−1.
func (p *Presence) Set(ingredient, draw, amount int) {
	if draw >= p.draws {
		p.Advance(draw + 1)
	}
	if uint(amount) > mostAmount || draw < p.first {
		panic(fmt.Sprintf("diagnose: ingredient %d set to %d at draw %d of %d", ingredient, amount, draw, p.draws))
	}
	was := int(p.amounts[ingredient])
	if was == amount {
		return
	}
	p.amounts[ingredient] = int32(amount)
	p.sums[ingredient] += uint64(was-amount) * uint64(draw)
	switch {
	case (was > 0) == (amount > 0):
	case p.exact:
		p.log(change{uint32(draw), uint32(ingredient)})
	default:
		p.open[ingredient].change(p.first+p.batch-draw, amount > 0)
	}
}

// Replace says that from a draw on an ingredient that was present is absent and
// that another, which was absent, has its amount. It is two calls of Set, for the
// change that is the most frequent by far in chains without properties.
func (p *Presence) Replace(out, in, draw int) {
	if draw >= p.draws {
		p.Advance(draw + 1)
	}
	amount := p.amounts[out]
	if p.exact || draw < p.first || amount == 0 || p.amounts[in] != 0 {
		p.Set(out, draw, 0)
		p.Set(in, draw, int(amount))
		return
	}
	p.amounts[out], p.amounts[in] = 0, amount
	units := uint64(amount) * uint64(draw)
	p.sums[out] += units
	p.sums[in] -= units
	left := p.first + p.batch - draw
	p.open[out].change(left, false)
	p.open[in].change(left, true)
}

// Advance says that there are n draws: what is present stays so up to draw n−1.
// It does nothing if there are already as many. It panics at more than
// [MaxDraws].
func (p *Presence) Advance(n int) {
	if n <= p.draws {
		return
	}
	p.draws = n
	if p.exact {
		if n <= p.limit {
			return
		}
		p.toBatches()
	} else if n > p.first+p.batch {
		p.openBatch()
	}
}

// openBatch makes the batch of the last draw the open one.
func (p *Presence) openBatch() {
	if p.draws > MaxDraws {
		panic(fmt.Sprintf("diagnose: %d draws are more than %d", p.draws, MaxDraws))
	}
	for p.draws > p.batches*p.batch {
		p.joinBatches()
	}
	b := max(0, p.draws-1) / p.batch
	p.first, p.open = b*p.batch, p.row(b)
}

// row returns the cells of a batch.
func (p *Presence) row(batch int) []cell {
	n := len(p.amounts)
	return p.cells[batch*n : (batch+1)*n]
}

// log keeps a change.
func (p *Presence) log(c change) {
	if last := len(p.changes) - 1; last < 0 || len(p.changes[last]) == changeChunk {
		p.changes = append(p.changes, make([]change, 0, changeChunk))
	}
	last := len(p.changes) - 1
	p.changes[last] = append(p.changes[last], c)
	if p.count++; p.count > maxChanges {
		p.toBatches()
	}
}

// toBatches turns the changes into batches.
func (p *Presence) toBatches() {
	p.batch = 1
	for p.draws > p.batches*p.batch {
		p.batch *= 2
	}
	p.cells = make([]cell, len(p.amounts)*p.batches)
	p.exact = false
	present := make([]bool, len(p.amounts))
	for k, chunk := range p.changes {
		for _, c := range chunk {
			b, i := int(c.draw)/p.batch, c.ingredient
			present[i] = !present[i]
			p.row(b)[i].change((b+1)*p.batch-int(c.draw), present[i])
		}
		p.changes[k] = nil
	}
	p.changes, p.count = nil, 0
	p.openBatch()
}

// joinBatches joins the batches two by two.
func (p *Presence) joinBatches() {
	present := make([]bool, len(p.amounts))
	for b := range p.batches / 2 {
		to, first, second := p.row(b), p.row(2*b), p.row(2*b+1)
		for i := range to {
			c := first[i].join(second[i], p.batch, present[i])
			present[i] = present[i] != (c&1 == 1)
			to[i] = c
		}
	}
	clear(p.cells[p.batches/2*len(p.amounts):])
	p.batch *= 2
}

// total returns the sum of the amounts of an ingredient over all draws.
func (p *Presence) total(ingredient int) uint64 {
	return p.sums[ingredient] + uint64(p.amounts[ingredient])*uint64(p.draws)
}

// inBatches adds to sums, for each batch with draws, the number of draws that had
// an ingredient: that of batch b to sums[b/step]. It returns the number of draws
// in all.
func (p *Presence) inBatches(ingredient, step int, sums []uint64) (present uint64) {
	before := false
	for b := range (p.draws + p.batch - 1) / p.batch {
		var n int
		was := before
		n, before = p.row(b)[ingredient].present(p.batch, was)
		if end := (b + 1) * p.batch; end > p.draws && before {
			n -= end - p.draws
		}
		if sums != nil {
			sums[b/step] += uint64(n)
		}
		present += uint64(n)
	}
	return present
}

// Proportion is an estimated probability.
type Proportion struct {
	// Probability is the share of the draws.
	Probability float64
	// MCSE is its standard error, and ESS the number of independent draws that
	// would have the same. Both are NaN when Err is not nil.
	MCSE, ESS float64
	// Batch is 1 when the error was computed from every draw; otherwise the
	// length of the batches it was computed from.
	Batch int
	// Err says why there is no error. It is ErrConstant when the event happened
	// in all draws or in none: a probability of 0 or 1 that was estimated has
	// no standard error that draws could tell.
	Err error
}

// Inclusion is what can be said about the use of one ingredient.
type Inclusion struct {
	Proportion
	// MeanAmount is the mean amount over the draws that use the ingredient, NaN
	// if none does.
	MeanAmount float64
}

// Inclusions computes, for every ingredient, the probability that it is present
// from the Presences of all chains. It fails with ErrNoDraws, or with ErrRagged
// when the chains differ in draws or in ingredients.
//
// The standard error is sd/√ESS with the standard deviation sd of the 0/1 series
// (divisor S−1) and its [ESSMean].
func Inclusions(chains []*Presence) ([]Inclusion, error) {
	all, err := AllInclusions(chains)
	if err != nil {
		return nil, err
	}
	result := make([]Inclusion, 0, len(chains[0].amounts))
	for _, x := range all {
		result = append(result, x)
	}
	return result, nil
}

// AllInclusions returns what [Inclusions] does, by ingredient, one after the
// other.
func AllInclusions(chains []*Presence) (iter.Seq2[int, Inclusion], error) {
	if len(chains) == 0 || chains[0].draws == 0 {
		return nil, ErrNoDraws
	}
	first := chains[0]
	exact := true
	for c, p := range chains {
		if p.draws != first.draws {
			return nil, fmt.Errorf("%w: %d draws in chain 0, %d in chain %d", ErrRagged, first.draws, p.draws, c)
		}
		if len(p.amounts) != len(first.amounts) {
			return nil, fmt.Errorf("%w: %d ingredients in chain 0, %d in chain %d", ErrRagged, len(first.amounts), len(p.amounts), c)
		}
		exact = exact && p.exact
	}
	return func(yield func(int, Inclusion) bool) {
		w := inclusionWork{chains: chains, draws: first.draws}
		if exact {
			w.indexChanges()
		} else {
			w.prepareBatches()
		}
		for i := range first.amounts {
			if !yield(i, w.inclusion(i, exact)) {
				return
			}
		}
	}, nil
}

// inclusion returns what can be said about an ingredient.
func (w *inclusionWork) inclusion(i int, exact bool) Inclusion {
	var present uint64
	var sum float64
	for c, p := range w.chains {
		sum += float64(p.total(i))
		if exact {
			w.runs(c, i, func(from, to int) { present += uint64(to - from) })
		} else {
			present += p.inBatches(i, 1, nil)
		}
	}
	total := float64(len(w.chains)) * float64(w.draws)
	share := float64(present) / total
	x := Inclusion{MeanAmount: sum / float64(present)}
	x.Probability, x.Batch = share, w.batch
	switch {
	case present == 0 || share == 1:
		x.Err = ErrConstant
	case exact:
		x.ESS, x.Err = w.essOfChanges(i)
	default:
		x.ESS, x.Err = w.essOfBatches(i, share)
	}
	x.MCSE = math.NaN()
	if x.Err != nil {
		x.ESS = math.NaN()
	} else {
		x.MCSE = math.Sqrt(share * (1 - share) * (total / (total - 1)) / x.ESS)
	}
	return x
}

// inclusionWork holds what the ingredients share while Inclusions computes their
// errors one by one.
type inclusionWork struct {
	chains []*Presence
	draws  int
	batch  int
	sample sample

	// The changes of each chain by ingredient: those of ingredient i are
	// sorted[start[i]:start[i+1]].
	sorted [][]uint32
	start  [][]int

	rows  []uint64
	means [][]float64
}

// indexChanges sorts the changes of each chain by ingredient.
func (w *inclusionWork) indexChanges() {
	w.batch = 1
	for _, p := range w.chains {
		start := make([]int, len(p.amounts)+1)
		for _, chunk := range p.changes {
			for _, c := range chunk {
				start[c.ingredient+1]++
			}
		}
		for i := range p.amounts {
			start[i+1] += start[i]
		}
		sorted := make([]uint32, p.count)
		next := append([]int(nil), start...)
		for _, chunk := range p.changes {
			for _, c := range chunk {
				sorted[next[c.ingredient]] = c.draw
				next[c.ingredient]++
			}
		}
		w.sorted = append(w.sorted, sorted)
		w.start = append(w.start, start)
	}
}

// runs tells of the runs of draws from, ..., to−1 of a chain that have an
// ingredient.
func (w *inclusionWork) runs(c, ingredient int, run func(from, to int)) {
	from := -1
	for _, draw := range w.sorted[c][w.start[c][ingredient]:w.start[c][ingredient+1]] {
		if from < 0 {
			from = int(draw)
		} else {
			run(from, int(draw))
			from = -1
		}
	}
	if from >= 0 {
		run(from, w.draws)
	}
}

// essOfChanges returns the effective sample size of the 0/1 series of an
// ingredient, from its changes.
func (w *inclusionWork) essOfChanges(ingredient int) (float64, error) {
	if w.draws < minDrawsESS {
		return math.NaN(), fewDraws(w.draws, minDrawsESS)
	}
	half := w.draws / 2
	b := &w.sample.binary
	b.reset(2*len(w.chains), half)
	for c := range w.chains {
		w.runs(c, ingredient, func(from, to int) {
			b.setRun(2*c, from, min(to, half))
			b.setRun(2*c+1, max(0, from-(w.draws-half)), to-(w.draws-half))
		})
	}
	return w.sample.essBinary()
}

// prepareBatches gives batches to the chains that still keep all changes, and
// finds the longest: the others are joined to that length.
func (w *inclusionWork) prepareBatches() {
	w.chains = slices.Clone(w.chains)
	for c, p := range w.chains {
		if p.exact {
			q := *p
			q.changes = slices.Clone(p.changes)
			q.toBatches()
			w.chains[c] = &q
		}
		w.batch = max(w.batch, w.chains[c].batch)
	}
	w.means = make([][]float64, len(w.chains))
}

// essOfBatches returns the effective sample size that the batch means of an
// ingredient with this share imply.
func (w *inclusionWork) essOfBatches(ingredient int, share float64) (float64, error) {
	count := w.draws / w.batch
	if count*len(w.chains) < leastMeans {
		return math.NaN(), fewDraws(w.draws, (leastMeans+len(w.chains)-1)/len(w.chains)*w.batch)
	}
	for c, p := range w.chains {
		w.rows = grow(w.rows, p.draws/w.batch+1)
		clear(w.rows)
		p.inBatches(ingredient, w.batch/p.batch, w.rows)
		w.means[c] = grow(w.means[c], count)
		for i := range count {
			w.means[c][i] = float64(w.rows[i]) / float64(w.batch)
		}
	}
	draws := float64(len(w.chains)) * float64(w.draws)
	variance := share * (1 - share) * (draws / (draws - 1))
	most := draws * math.Log10(draws)
	if count < minDrawsESS {
		// Too few for an autocorrelation: they are taken to be independent.
		var m moments
		for _, means := range w.means {
			for _, x := range means {
				m = m.merge(moments{n: 1, mean: x})
			}
		}
		return math.Min(variance/(m.squares/float64(m.n-1)/float64(m.n)), most), nil
	}
	s := &w.sample
	if err := s.load(w.means); err != nil {
		return math.NaN(), err
	}
	ess, err := s.essMean()
	if err != nil {
		return math.NaN(), err
	}
	sd, err := s.sd()
	if err != nil {
		return math.NaN(), err
	}
	return math.Min(ess*variance/(sd*sd), most), nil
}
