package diagnose

import (
	"fmt"
	"math"
)

const (
	// maxPresenceMemory is the maximum size, in bytes, of the batch counts of all Presences of a run together.
	maxPresenceMemory    = 128 << 20
	maxMemoryPerPresence = 4 << 20 // maxMemoryPerPresence is the maximum size, in bytes, of the batch counts of one Presence. The minimum number of batches takes precedence.
	// minBatches is the minimum number of batches in a Presence, whatever the number of ingredients.
	minBatches = 2
	// minBatchMeans is the minimum number of batch means, over all chains, from which a standard error is
	// computed.
	minBatchMeans = 4
)

// MaxDraws is the maximum number of draws that a [Presence] or a [Histogram] can record.
const MaxDraws = math.MaxUint32

// A Presence records which ingredients the draws of one chain use, and the total amount of each ingredient. From
// the Presences of all chains, [Inclusions] computes the probability that an ingredient is used, with a standard
// error.
//
// Counts and amounts are exact integers. For the standard error, the draws are divided into B to 2B batches of
// consecutive draws, and a Presence counts the draws in each batch that use an ingredient. The length of a batch
// begins at 1 and doubles as needed. 2B is the largest power of two from 2 to 8,192 for which all batches fit in
// 4 MB (512 for 2,000 ingredients). Up to 2B draws, the standard error equals that of [MCSEMean] on the 0/1
// series. Beyond 2B draws, it is the standard error of the mean of the batch means, by Geyer's sequence if there
// are enough batches. No draw is left out. The standard error itself has a relative error of at most about
// 1/√(2BC) for C chains, as long as a batch is longer than the autocorrelation time.
//
// Besides the batches a Presence takes 8 bytes for each ingredient. A Presence is not safe for concurrent use.
type Presence struct {
	drawCount       int      // number of draws so far
	amountSums      []uint64 // item i is the sum of the amounts of ingredient i over all draws
	maxBatches      int      // maximum number of batches
	batchLength     int      // length of a batch, in draws
	batchCounts     []uint32 // batchCounts[b·N+i] is the number of draws in batch b that use ingredient i, of N ingredients
	openBatchCounts []uint32 // counts of the batch that is not yet complete: the last part of batchCounts
}

// NewPresence returns an empty Presence for one chain. The parameter chains is the number of chains of the run:
// if there are more than 32, each Presence keeps fewer batches.
func NewPresence(ingredients, chains int) *Presence {
	memory := min(maxMemoryPerPresence, maxPresenceMemory/max(1, chains))
	most := minBatches
	for most < maxBatches && 2*most*ingredients*4 <= memory {
		most *= 2
	}
	return &Presence{amountSums: make([]uint64, ingredients), maxBatches: most, batchLength: 1}
}

// Ingredients returns the number of ingredients.
func (p *Presence) Ingredients() int { return len(p.amountSums) }

// Draws returns the number of draws so far.
func (p *Presence) Draws() int { return p.drawCount }

// Next begins a new draw. Calls of [Presence.Add] then record the ingredients of the draw. Next panics after
// [MaxDraws] draws.
func (p *Presence) Next() {
	if p.drawCount == MaxDraws {
		panic(fmt.Sprintf("diagnose: more than %d draws", MaxDraws))
	}
	if p.drawCount == p.maxBatches*p.batchLength {
		p.mergeBatches()
	}
	if p.drawCount%p.batchLength == 0 {
		p.batchCounts = append(p.batchCounts, make([]uint32, len(p.amountSums))...)
		p.openBatchCounts = p.batchRow(p.batchCount() - 1)
	}
	p.drawCount++
}

// Add records that the current draw uses an ingredient with the given amount. Callers must call Add at most once
// for each ingredient of a draw. Add panics if the ingredient is out of range.
func (p *Presence) Add(ingredient, amount int) {
	p.amountSums[ingredient] += uint64(amount)
	p.openBatchCounts[ingredient]++
}

// batchCount returns the number of batches that have draws, including an incomplete batch.
func (p *Presence) batchCount() int { return len(p.batchCounts) / len(p.amountSums) }

// batchRow returns the counts of a batch: item i is the number of draws in the batch that use ingredient i.
func (p *Presence) batchRow(batch int) []uint32 {
	n := len(p.amountSums)
	return p.batchCounts[batch*n : (batch+1)*n]
}

// mergeBatches merges every pair of neighbouring batches into one batch, which halves the number of batches. The
// number must be even.
func (p *Presence) mergeBatches() {
	half := p.batchCount() / 2
	for b := range half {
		to, first, second := p.batchRow(b), p.batchRow(2*b), p.batchRow(2*b+1)
		for i := range to {
			to[i] = first[i] + second[i]
		}
	}
	p.batchCounts = p.batchCounts[:half*len(p.amountSums)]
	p.batchLength *= 2
}

// AddCounts adds to counts[i] the number of draws that use ingredient i, for every i.
func (p *Presence) AddCounts(counts []uint64) {
	for b := range p.batchCount() {
		for i, n := range p.batchRow(b) {
			counts[i] += uint64(n)
		}
	}
}

// visitCountsOf returns the number of draws that use an ingredient, and the numbers of separate periods, that is, of
// runs of consecutive draws, in which the ingredient was used or was not used. The numbers of periods are exact
// as long as batches have one draw each. For longer batches the numbers are lower estimates.
func (p *Presence) visitCountsOf(ingredient int) (draws uint64, v visitCounts) {
	there, gone := false, false // state at the end of the previous batch, if known
	for b := range p.batchCount() {
		n := int(p.batchRow(b)[ingredient])
		draws += uint64(n)
		some, all := n > 0, n == min(p.batchLength, p.drawCount-b*p.batchLength)
		if some && !there {
			v.presentPeriods++
		}
		if !all && !gone {
			v.absentPeriods++
		}
		there, gone = all, !some
	}
	return draws, v
}

// visitCounts counts the separate periods, that is, runs of consecutive draws, in which an ingredient was
// present, and the separate periods in which the ingredient was absent.
type visitCounts struct{ presentPeriods, absentPeriods int }

// rarer returns the smaller of the two counts.
func (v visitCounts) rarer() int { return min(v.presentPeriods, v.absentPeriods) }
