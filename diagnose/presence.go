package diagnose

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

const (
	// maxChanges is how many changes of presence a Presence keeps: 8 MB.
	maxChanges = 1 << 20
	// changeChunk is how many changes are allocated at once.
	changeChunk = 1 << 14
	// batchMemory bounds the batch sums of a Presence, in bytes, as long as
	// there are enough batches.
	batchMemory = 4 << 20
	// leastBatches is the smallest number of batches that a Presence starts
	// with, whatever the number of ingredients.
	leastBatches = 64
)

// A Presence follows which of many ingredients one chain uses, and how much of
// each. It is told of changes only, so that a draw costs time proportional to
// what changed, not to the number of ingredients. [Inclusions] computes
// probabilities and their errors from the Presences of all chains.
//
// Counts and amounts are exact integers at any length. For the standard error a
// Presence keeps every change while there are at most limit draws and about a
// million changes; the errors are then those of [MCSEMean] on the 0/1 series, up
// to rounding. Beyond, it keeps for each ingredient the
// number of draws that had it in each of B to 2B batches of consecutive draws,
// whose length doubles as needed: 2B is the largest power of two within 64 and
// 8,192 for which all batches fit in 4 MB (256 for 2,000 ingredients). The error
// is then that of the mean of the batch means, with Geyer's sequence applied to
// them: no draw is left out. Its own relative error is about 1/√(2BC) at worst
// for C chains, as long as a batch is longer than the autocorrelation time.
//
// The state depends on the calls of Set and on the number of draws alone. A
// Presence must not be used by two goroutines at once.
type Presence struct {
	limit int
	draws int
	items []item

	// While every change is kept. The changes of one ingredient are in
	// ascending order, and alternate between coming and going.
	exact   bool
	changes [][]change
	count   int // of the changes

	// Once batches are kept: the sums of ingredient i are
	// sums[i·batches:(i+1)·batches].
	batches int
	batch   int // length of a batch
	sums    []uint64
}

// item is one ingredient. Its last segment, from since on, is not accounted for
// yet.
type item struct {
	since   int
	amount  int
	logged  bool   // presence at the draw before since, as the changes say
	present uint64 // draws before since that had it
	sum     uint128
}

// change says that an ingredient came or went at a draw.
type change struct {
	draw, ingredient uint32
}

// NewPresence returns a Presence of ingredients that are all absent. It keeps
// all changes for up to limit draws: [DefaultLimit] if limit is 0 or less, and
// otherwise at least 64.
func NewPresence(ingredients, limit int) *Presence {
	return &Presence{
		limit:   streamLimit(limit),
		items:   make([]item, ingredients),
		exact:   true,
		batches: batchesFor(ingredients),
	}
}

// batchesFor returns how many batches a Presence of so many ingredients may
// have.
func batchesFor(ingredients int) int {
	batches := leastBatches
	for batches < maxBatches && 2*batches*ingredients*8 <= batchMemory {
		batches *= 2
	}
	return batches
}

// Ingredients returns the number of ingredients.
func (p *Presence) Ingredients() int { return len(p.items) }

// Draws returns the number of draws so far.
func (p *Presence) Draws() int { return p.draws }

// Set says that from a draw on (counted from 0) an ingredient has an amount, 0
// when it is absent. Of several calls for the same draw and ingredient the last
// one counts. It panics when the ingredient is out of range, when the amount is
// negative, or when a later draw of this ingredient has been set already.
func (p *Presence) Set(ingredient, draw, amount int) {
	if draw >= p.draws {
		p.Advance(draw + 1)
	}
	it := &p.items[ingredient]
	if draw < it.since || amount < 0 {
		panic(fmt.Sprintf("diagnose: ingredient %d set to %d at draw %d, after draw %d", ingredient, amount, draw, it.since))
	}
	if draw > it.since {
		if amount == it.amount {
			return
		}
		p.account(ingredient, draw)
	}
	it.amount = amount
}

// Advance says that there are n draws: what is present stays so up to draw n−1.
// It does nothing if there are already as many.
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
	}
	for n > p.batches*p.batch {
		p.joinBatches()
	}
}

// account closes the last segment of an ingredient at a draw.
func (p *Presence) account(ingredient, draw int) {
	it := &p.items[ingredient]
	present := it.amount > 0
	if p.exact && present != it.logged {
		it.logged = present
		p.log(change{uint32(it.since), uint32(ingredient)})
	}
	// The change may have been one too many to keep.
	if !p.exact && present {
		addRun(p.row(ingredient), p.batch, it.since, draw)
	}
	it.present, it.sum = it.totals(draw)
	it.since = draw
}

// totals returns the number of draws before end that had the ingredient and the
// sum of its amounts.
func (it *item) totals(end int) (present uint64, sum uint128) {
	present, sum = it.present, it.sum
	if it.amount > 0 {
		length := uint64(end - it.since)
		present += length
		sum = sum.add(product(uint64(it.amount), length))
	}
	return present, sum
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

// row returns the batch sums of an ingredient.
func (p *Presence) row(ingredient int) []uint64 {
	return p.sums[ingredient*p.batches : (ingredient+1)*p.batches]
}

// toBatches turns the changes into batch sums. Segments that are not accounted
// for stay so.
func (p *Presence) toBatches() {
	p.batch = 1
	for p.draws > p.batches*p.batch {
		p.batch *= 2
	}
	p.sums = make([]uint64, len(p.items)*p.batches)
	p.exact = false
	came := make([]int, len(p.items))
	for i := range came {
		came[i] = -1
	}
	for _, chunk := range p.changes {
		for _, c := range chunk {
			i, draw := int(c.ingredient), int(c.draw)
			if came[i] < 0 {
				came[i] = draw
				continue
			}
			addRun(p.row(i), p.batch, came[i], draw)
			came[i] = -1
		}
	}
	for i, from := range came {
		if from >= 0 {
			addRun(p.row(i), p.batch, from, p.items[i].since)
		}
		p.items[i].logged = false
	}
	p.changes, p.count = nil, 0
}

// joinBatches joins the batches two by two.
func (p *Presence) joinBatches() {
	p.batch *= 2
	for i := range p.items {
		row := p.row(i)
		for j := range p.batches / 2 {
			row[j] = row[2*j] + row[2*j+1]
		}
		clear(row[p.batches/2:])
	}
}

// addRun adds the draws from..to−1 to the sums of the batches they are in.
func addRun(row []uint64, batch, from, to int) {
	for from < to {
		i := from / batch
		end := min(to, (i+1)*batch)
		row[i] += uint64(end - from)
		from = end
	}
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
	if len(chains) == 0 || chains[0].draws == 0 {
		return nil, ErrNoDraws
	}
	first := chains[0]
	exact := true
	for c, p := range chains {
		if p.draws != first.draws {
			return nil, fmt.Errorf("%w: %d draws in chain 0, %d in chain %d", ErrRagged, first.draws, p.draws, c)
		}
		if len(p.items) != len(first.items) {
			return nil, fmt.Errorf("%w: %d ingredients in chain 0, %d in chain %d", ErrRagged, len(first.items), len(p.items), c)
		}
		exact = exact && p.exact
	}
	w := inclusionWork{chains: chains, draws: first.draws}
	if exact {
		w.indexChanges()
	} else {
		w.prepareBatches()
	}
	result := make([]Inclusion, len(first.items))
	for i := range result {
		var present uint64
		var sum uint128
		for _, p := range chains {
			n, s := p.items[i].totals(p.draws)
			present += n
			sum = sum.add(s)
		}
		share := float64(present) / (float64(len(chains)) * float64(first.draws))
		x := Inclusion{MeanAmount: sum.float() / float64(present)}
		x.Probability, x.Batch = share, w.batch
		switch {
		case present == 0 || present == uint64(len(chains))*uint64(first.draws):
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
			total := float64(len(chains)) * float64(first.draws)
			x.MCSE = math.Sqrt(share * (1 - share) * (total / (total - 1)) / x.ESS)
		}
		result[i] = x
	}
	return result, nil
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
		start := make([]int, len(p.items)+1)
		for _, chunk := range p.changes {
			for _, c := range chunk {
				start[c.ingredient+1]++
			}
		}
		for i := range p.items {
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

// essOfChanges returns the effective sample size of the 0/1 series of an
// ingredient, from its changes.
func (w *inclusionWork) essOfChanges(ingredient int) (float64, error) {
	if w.draws < minDrawsESS {
		return math.NaN(), fewDraws(w.draws, minDrawsESS)
	}
	half := w.draws / 2
	b := &w.sample.binary
	b.reset(2*len(w.chains), half)
	for c, p := range w.chains {
		run := func(from, to int) {
			b.setRun(2*c, from, min(to, half))
			b.setRun(2*c+1, max(0, from-(w.draws-half)), to-(w.draws-half))
		}
		from := -1
		for _, draw := range w.sorted[c][w.start[c][ingredient]:w.start[c][ingredient+1]] {
			if from < 0 {
				from = int(draw)
			} else {
				run(from, int(draw))
				from = -1
			}
		}
		it := &p.items[ingredient]
		if from >= 0 {
			run(from, it.since)
		}
		if it.amount > 0 {
			run(it.since, w.draws)
		}
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
			q.items = slices.Clone(p.items)
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
	if count < minDrawsESS {
		return math.NaN(), fewDraws(count, minDrawsESS)
	}
	for c, p := range w.chains {
		w.rows = grow(w.rows, p.draws/w.batch+1)
		clear(w.rows)
		step := w.batch / p.batch
		for i, n := range p.row(ingredient)[:(p.draws+p.batch-1)/p.batch] {
			w.rows[i/step] += n
		}
		if it := &p.items[ingredient]; it.amount > 0 {
			addRun(w.rows, w.batch, it.since, p.draws)
		}
		w.means[c] = grow(w.means[c], count)
		for i := range count {
			w.means[c][i] = float64(w.rows[i]) / float64(w.batch)
		}
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
	draws := float64(len(w.chains)) * float64(w.draws)
	ratio := math.Sqrt(share*(1-share)*(draws/(draws-1))) / sd
	return math.Min(ess*ratio*ratio, draws*math.Log10(draws)), nil
}

// uint128 is an unsigned integer of 128 bits, so that no sum of amounts
// overflows.
type uint128 struct {
	high, low uint64
}

// product returns a·b.
func product(a, b uint64) uint128 {
	high, low := bits.Mul64(a, b)
	return uint128{high, low}
}

// add returns u + v.
func (u uint128) add(v uint128) uint128 {
	low, carry := bits.Add64(u.low, v.low, 0)
	return uint128{u.high + v.high + carry, low}
}

// float returns u rounded to a float64.
func (u uint128) float() float64 {
	return math.Ldexp(float64(u.high), 64) + float64(u.low)
}
