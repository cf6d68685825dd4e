package diagnose

import (
	"fmt"
	"math"
)

const (
	// presenceMemory is the greatest size of the batch counts of all Presences of a run together, in bytes, and
	// presenceOfOne that of one. The minimum number of batches takes precedence.
	presenceMemory = 128 << 20
	presenceOfOne  = 4 << 20
	// minBatches is the least number of batches in a Presence, whatever the number of ingredients.
	minBatches = 2
	// leastMeans is the least number of batch means, over all chains, from which a standard error is computed.
	leastMeans = 4
)

// MaxDraws is the largest number of draws that a [Presence] and a [Histogram]
// can take.
const MaxDraws = math.MaxUint32

// A Presence records which of many ingredients the draws of one chain use, and how much of each. [Inclusions]
// computes probabilities and their errors from the Presences of all chains.
//
// Counts and amounts are exact integers. For the standard error a Presence counts the draws that use an ingredient in
// each of B to 2B batches of consecutive draws. The length of a batch begins at 1 and doubles as needed. 2B is the
// largest power of two from 2 to 8,192 for which all batches fit in 4 MB (512 for 2,000 ingredients). Up to 2B draws,
// the errors equal those of [MCSEMean] on the 0/1 series. Beyond, they are those of the mean of the batch means, by
// Geyer's sequence if there are enough batches. No draw is left out. The relative error of the error is at most about
// 1/√(2BC) for C chains, as long as a batch is longer than the autocorrelation time.
//
// Besides the batches a Presence takes 8 bytes an ingredient. Only one goroutine may use it at a time.
type Presence struct {
	draws   int
	sums    []uint64 // for each ingredient: the sum of its amounts over all draws
	most    int      // greatest number of batches
	batch   int      // length of a batch, in draws
	present []uint32 // present[b·N+i] is the number of draws in batch b that use ingredient i
	open    []uint32 // counts of the last batch, a part of present
}

// NewPresence returns an empty Presence for one of the given number of chains. With more than 32 chains each keeps
// fewer batches.
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

// Next begins a new draw; calls of [Presence.Add] then describe it. Next panics after [MaxDraws] draws.
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

// Add records that the current draw uses an ingredient with the given amount. Call it at most once for each
// ingredient of a draw. It panics if the ingredient is out of range.
func (p *Presence) Add(ingredient, amount int) {
	p.sums[ingredient] += uint64(amount)
	p.open[ingredient]++
}

// batches returns the number of batches that have draws.
func (p *Presence) batches() int { return len(p.present) / len(p.sums) }

// row returns the counts of a batch, by ingredient.
func (p *Presence) row(batch int) []uint32 {
	n := len(p.sums)
	return p.present[batch*n : (batch+1)*n]
}

// mergeBatches merges each two neighbouring batches into one, which halves their number. The number must be even.
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

// AddCounts adds to counts[i] the number of draws that use ingredient i.
func (p *Presence) AddCounts(counts []uint64) {
	for b := range p.batches() {
		for i, n := range p.row(b) {
			counts[i] += uint64(n)
		}
	}
}

// visitsOf returns the number of draws that use an ingredient, and how often its presence began and ended. The visits
// are exact while batches have one draw each; for longer batches they are a lower estimate.
func (p *Presence) visitsOf(ingredient int) (draws uint64, v visits) {
	there, gone := false, false // state at the end of the previous batch, if it is known
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

// visits counts the separate periods in which an ingredient was present, and those in which it was absent.
type visits struct{ present, absent int }

// rarer returns the smaller of the two counts.
func (v visits) rarer() int { return min(v.present, v.absent) }
