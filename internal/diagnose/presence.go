package diagnose

import (
	"fmt"
	"math"
)

const (
	// presenceMemory bounds the counts of all Presences of a run together, in
	// bytes, and presenceOfOne those of one, as long as there are enough batches.
	presenceMemory = 128 << 20
	presenceOfOne  = 4 << 20
	// minBatches is the smallest number of batches that a Presence has room for,
	// whatever the number of ingredients.
	minBatches = 2
	// leastMeans is how many batch means of all chains together a standard
	// error is computed from.
	leastMeans = 4
)

// MaxDraws is the largest number of draws that a [Presence] and a [Histogram]
// can take.
const MaxDraws = math.MaxUint32

// A Presence follows which of many ingredients one chain uses, and how much of
// each. [Inclusions] computes probabilities and their errors from the Presences of
// all chains.
//
// Counts and amounts are exact integers. For the standard error a Presence keeps
// the number of draws that had an ingredient in each of B to 2B batches of
// consecutive draws, whose length doubles as needed from 1: 2B is the largest power
// of two within 2 and 8,192 for which all batches fit in 4 MB (512 for 2,000
// ingredients). While there are at most 2B draws the errors are those of [MCSEMean]
// on the 0/1 series. Beyond, they are that of the mean of the batch means, with
// Geyer's sequence applied to them where there are enough: no draw is left out, and
// the error's own relative error is about 1/√(2BC) at worst for C chains, as long
// as a batch is longer than the autocorrelation time.
//
// Besides the batches it takes 8 bytes an ingredient. A Presence must not be used
// by two goroutines at once.
type Presence struct {
	draws   int
	sums    []uint64 // by ingredient: the sum of its amounts
	most    int      // of the batches
	batch   int      // length of a batch
	present []uint32 // in how many draws of batch b ingredient i was is present[b·N+i]
	open    []uint32 // the counts of the last batch
}

// NewPresence returns a Presence without draws of one of so many chains: one of
// more than 32 keeps less.
func NewPresence(ingredients, chains int) *Presence {
	memory := min(presenceOfOne, presenceMemory/max(1, chains))
	most := minBatches
	for most < maxBatches && 2*most*ingredients*4 <= memory {
		most *= 2
	}
	return &Presence{sums: make([]uint64, ingredients), most: most, batch: 1}
}

// Ingredients returns the number of ingredients.
func (p *Presence) Ingredients() int { return len(p.sums) }

// Draws returns the number of draws so far.
func (p *Presence) Draws() int { return p.draws }

// Next begins a draw, which uses what [Presence.Add] says until the next begins. It
// panics at more than [MaxDraws].
func (p *Presence) Next() {
	if p.draws == MaxDraws {
		panic(fmt.Sprintf("diagnose: more than %d draws", MaxDraws))
	}
	if p.draws == p.most*p.batch {
		p.mergeBatches()
	}
	if p.draws%p.batch == 0 {
		p.present = append(p.present, make([]uint32, len(p.sums))...)
		p.open = p.row(p.batches() - 1)
	}
	p.draws++
}

// Add says that the draw uses an ingredient with an amount; it takes each ingredient
// at most once. It panics when the ingredient is out of range.
func (p *Presence) Add(ingredient, amount int) {
	p.sums[ingredient] += uint64(amount)
	p.open[ingredient]++
}

// batches returns the number of batches that have draws.
func (p *Presence) batches() int { return len(p.present) / len(p.sums) }

// row returns the counts of a batch.
func (p *Presence) row(batch int) []uint32 {
	n := len(p.sums)
	return p.present[batch*n : (batch+1)*n]
}

// mergeBatches joins the batches two by two, of which there is an even number.
func (p *Presence) mergeBatches() {
	half := p.batches() / 2
	for b := range half {
		to, first, second := p.row(b), p.row(2*b), p.row(2*b+1)
		for i := range to {
			to[i] = first[i] + second[i]
		}
	}
	p.present = p.present[:half*len(p.sums)]
	p.batch *= 2
}

// AddCounts adds to counts, by ingredient, the number of draws that had it.
func (p *Presence) AddCounts(counts []uint64) {
	for b := range p.batches() {
		for i, n := range p.row(b) {
			counts[i] += uint64(n)
		}
	}
}

// visitsOf returns in how many draws an ingredient was present, and how often it came and
// went, as far as the batches tell: exactly while they are of one draw.
func (p *Presence) visitsOf(ingredient int) (draws uint64, v visits) {
	there, gone := false, false // at the end of the batch before, as far as is known
	for b := range p.batches() {
		n := int(p.row(b)[ingredient])
		draws += uint64(n)
		some, all := n > 0, n == min(p.batch, p.draws-b*p.batch)
		if some && !there {
			v.present++
		}
		if !all && !gone {
			v.absent++
		}
		there, gone = all, !some
	}
	return draws, v
}

// visits are how many times an ingredient came and went.
type visits struct{ present, absent int }

// rarer returns how often the rarer of the two came about.
func (v visits) rarer() int { return min(v.present, v.absent) }
