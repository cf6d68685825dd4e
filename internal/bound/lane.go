package bound

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
)

// Rounds. A [Bounder] divides boxes one after another until it has worked for a while and many boxes are open, and from
// then on in rounds. In a round, the open boxes are dealt out to lanes, each lane divides its own boxes with a share of
// the work, and what the lanes have found is put together. The lanes of a round know nothing of each other, so that they
// can run on several processors or machines. How many these are does not change the result.
//
// A lane may divide boxes that the best composition found by another lane makes superfluous. So a proof that needs
// little work is made without lanes.
const (
	laneCount       = 16          // number of lanes of a round
	minBoxesPerLane = 4           // least number of open boxes per lane with which the rounds begin
	usualSoloWork   = 250_000_000 // work before the first round, in nanoseconds
	usualRoundCount = 16          // number of rounds into which the work is divided
	maxRoundCount   = 24          // maximum number of rounds; beyond usualRoundCount there are some if lanes run out of boxes
	minRoundShare   = 0.02        // share of the work below which there is no further round
	maxLaneValues   = 1 << 20     // limit on the numbers in the boxes of a lane; it bounds the size of a [LaneResult]
)

// A LaneResult is what one lane has found in one round. It can be encoded by encoding/gob.
type LaneResult struct {
	Boxes       []*box      // boxes that are still open
	Incumbent   float64     // best known log score
	PrunedBound float64     // highest upper bound of the boxes that were pruned
	Candidates  []Candidate // best compositions that the lane has scored
	Work        int64       // time spent, in nanoseconds
	PieceWork   []int64     // item p is the time spent on piece p, in nanoseconds
	PieceGain   []float64   // item p is the discounted gain of piece p
}

// A Spread returns the results of the lanes 0 to count−1 of a round. The function compute computes the result of a
// lane. Several lanes may be computed at the same time. Rounds have the numbers 0, 1, ...
type Spread func(ctx context.Context, round, count int, compute func(ctx context.Context, lane int) (*LaneResult, error)) ([]*LaneResult, error)

// runRounds works in rounds until the best known score is proved to be optimal, or until the given amount of work
// is done, in nanoseconds.
func (b *Bounder) runRounds(ctx context.Context, work int64, spread Spread) error {
	end := b.Work() + work
	for round := range maxRoundCount {
		left := end - b.Work()
		if len(b.openBoxHeap) == 0 || float64(left) <= minRoundShare*float64(work) {
			return nil
		}
		hands := b.dealBoxes()
		laneWork := left / int64(len(hands)) / int64(max(1, usualRoundCount-round))
		results, err := spread(ctx, b.roundCount, len(hands), func(ctx context.Context, lane int) (*LaneResult, error) {
			return b.runLane(ctx, hands[lane], laneWork)
		})
		if err != nil {
			return err
		}
		b.roundCount++
		b.openBoxHeap = nil
		for _, r := range results {
			b.adopt(r)
		}
		heap.Init(&b.openBoxHeap)
	}
	return nil
}

// dealBoxes deals out the open boxes to the lanes, one after another. The heap has boxes with high bounds near its
// beginning, so each lane gets some.
func (b *Bounder) dealBoxes() [][]*box {
	hands := make([][]*box, min(laneCount, len(b.openBoxHeap)))
	for k, n := range b.openBoxHeap {
		hands[k%len(hands)] = append(hands[k%len(hands)], n)
	}
	return hands
}

// runLane divides the given boxes until the given amount of work is done.
func (b *Bounder) runLane(ctx context.Context, boxes []*box, work int64) (*LaneResult, error) {
	lane := b.newLane()
	lane.openBoxHeap = boxes
	heap.Init(&lane.openBoxHeap)
	before := lane.Work()
	maxOpen := max(len(boxes)+1, maxLaneValues/(len(b.root.Lo)+len(b.root.Hi)+2*len(b.pieces)+10))
	if err := lane.divideBoxes(ctx, before+work, maxOpen); err != nil {
		return nil, err
	}
	r := &LaneResult{Boxes: lane.openBoxHeap, Incumbent: lane.incumbent, PrunedBound: lane.prunedBound, Candidates: lane.candidates, Work: lane.Work() - before}
	for k, p := range lane.pieces {
		r.PieceWork = append(r.PieceWork, p.work-b.pieces[k].work)
		r.PieceGain = append(r.PieceGain, p.discountedGain-b.pieces[k].discountedGain)
	}
	return r, nil
}

// newLane returns a Bounder that knows what b knows, and has no boxes and no candidates. It shares no memory with b
// that changes.
func (b *Bounder) newLane() *Bounder {
	lane := *b
	lane.openBoxHeap, lane.candidates = nil, nil
	lane.minAmounts, lane.maxAmounts = make([]int32, len(b.minAmounts)), make([]int32, len(b.maxAmounts))
	lane.columnLo, lane.columnHi = make([]float64, len(b.columnLo)), make([]float64, len(b.columnHi))
	lane.pieces, _ = newPieces(b.problem.Factors)
	for k := range lane.pieces {
		lane.pieces[k].work, lane.pieces[k].discountedGain = b.pieces[k].work, b.pieces[k].discountedGain
	}
	if b.relaxation != nil {
		lane.relaxation = b.relaxation.clone()
	}
	if b.tableau != nil {
		lane.tableau = b.tableau.CloneFor(&lane.relaxation.Program)
	}
	if b.formProgram != nil {
		lane.formProgram = b.formProgram.clone()
	}
	return &lane
}

// adopt adds what a lane has found to what b knows. It adds the boxes at the end of the heap, out of order.
func (b *Bounder) adopt(r *LaneResult) {
	b.openBoxHeap = append(b.openBoxHeap, r.Boxes...)
	b.incumbent, b.prunedBound, b.work = max(b.incumbent, r.Incumbent), max(b.prunedBound, r.PrunedBound), b.work+r.Work
	for k := range b.pieces {
		b.pieces[k].work += r.PieceWork[k]
		b.pieces[k].discountedGain += r.PieceGain[k]
	}
	for _, c := range r.Candidates {
		b.keepCandidate(c)
	}
}

// Check returns an error if r cannot be the result of a lane: what is stored may come from someone else. The
// Bounder must have run.
func (b *Bounder) Check(r *LaneResult) error {
	if b.root == nil || len(r.PieceWork) != len(b.pieces) || len(r.PieceGain) != len(b.pieces) {
		return errors.New("it is of another problem")
	}
	for _, n := range r.Boxes {
		if len(n.Lo) != len(b.root.Lo) || len(n.Hi) != len(b.root.Hi) || len(n.PieceBounds) != len(b.pieces) || len(n.PieceAges) != len(b.pieces) || n.BranchIngredient < -1 || n.BranchIngredient >= len(b.amountSets) {
			return errors.New("a box is of another problem")
		}
		for j := range n.Lo {
			if n.Lo[j] < b.root.Lo[j] || n.Hi[j] > b.root.Hi[j] || n.Lo[j] > n.Hi[j] {
				return fmt.Errorf("a box has the bounds %d and %d", n.Lo[j], n.Hi[j])
			}
		}
		if n.ProgramsSolved && (n.CutColumn < 0 || n.CutColumn >= len(n.Lo) || n.CutValue < n.Lo[n.CutColumn] || n.CutValue >= n.Hi[n.CutColumn]) {
			return errors.New("a box has a cut outside it")
		}
	}
	for _, c := range r.Candidates {
		for _, p := range c.Parts {
			if p.Ingredient < 0 || p.Ingredient >= len(b.amountSets) || p.Amount < 1 {
				return fmt.Errorf("%d units of ingredient %d of %d", p.Amount, p.Ingredient, len(b.amountSets))
			}
		}
	}
	return nil
}
