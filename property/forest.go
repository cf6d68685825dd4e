package property

import (
	"math"

	"kir/internal/portable"
	"kir/mcmc"
	"kir/model"
)

// Forest scores a composition by the probability of a wanted outcome according to a random forest:
//
//	y(x) = max(floor, P(want | x)),
//
// P is the mean over the trees. In each tree, P is the share of wanted outcomes among the training recipes in
// the leaf of x (Breiman 2001; Meinshausen 2006 for numbers). A probability of 0 forbids x unless there is a
// floor. One pass through the trees scores all divisions of the joint amount of two ingredients; see package
// model.
type Forest struct {
	score *model.Score
	floor float64
}

var _ mcmc.LineProperty = (*Forest)(nil)

// NewForest returns a [Forest]. floor is the least score that it gives, in [0, 1].
func NewForest(score *model.Score, floor float64) *Forest { return &Forest{score, floor} }

// LogScore returns log y(x), the natural logarithm of the score y of the composition x.
func (f *Forest) LogScore(x *mcmc.Composition) float64 {
	return f.logScoreFrom(f.score.Sum(x.Amounts(), x.Ingredients()))
}

// logScoreFrom returns the log score of a composition. treeSum is the sum over the trees that package model
// computes for the composition.
func (f *Forest) logScoreFrom(treeSum int64) float64 {
	return portable.Log(max(f.floor, f.score.Probability(treeSum)))
}

// UpperBound returns an upper bound of the log score over all compositions with lo[i] to hi[i] units of each
// ingredient i.
func (f *Forest) UpperBound(lo, hi []int32, _ int) float64 {
	return f.logScoreFrom(f.score.UpperBoundInBox(lo, hi))
}

// UpperBoundCost returns the approximate time that [Forest.UpperBound] takes, in nanoseconds.
func (f *Forest) UpperBoundCost() int64 { return f.score.UpperBoundCost() }

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
func (f *Forest) Scorer(x *mcmc.Composition) mcmc.Scorer {
	s := &forestScorer{property: f, x: x, modelScorer: f.score.NewScorer(), joinsPieces: f.score.HasDescriptors()}
	for k := range s.logCache {
		s.logCache[k].treeSum = -1 // No sum over the trees is −1, so −1 marks an empty cache entry.
	}
	return s
}

type forestScorer struct {
	property    *Forest
	x           *mcmc.Composition
	modelScorer *model.Scorer
	joinsPieces bool           // whether neighbouring ranges of splits with equal scores are joined; true for a forest on descriptors, which has many of them
	logCache    [512]cachedLog // cache of logs, indexed by a hash of the sum over the trees
}

// A cachedLog is a cache entry: a sum over the trees and the log score for this sum. A chain meets most sums
// repeatedly, and a look-up is much faster than a logarithm.
type cachedLog struct {
	treeSum  int64
	logScore float64
}

// logScoreFrom returns what [Forest.logScoreFrom] returns, from a cache if possible.
func (s *forestScorer) logScoreFrom(sum int64) float64 {
	// Multiplying by 2⁶⁴ over the golden ratio makes each bit of the sum affect the cache index.
	k := &s.logCache[uint64(sum)*0x9e3779b97f4a7c15>>(64-9)]
	if k.treeSum != sum {
		*k = cachedLog{sum, s.property.logScoreFrom(sum)}
	}
	return k.logScore
}

func (s *forestScorer) Reset()            { s.modelScorer.Reset(s.x.Amounts(), s.x.Ingredients()) }
func (s *forestScorer) LogScore() float64 { return s.logScoreFrom(s.modelScorer.Value()) }

func (s *forestScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	starts, sums := s.modelScorer.Line(i, j)
	last := math.NaN()
	for k, start := range starts {
		log := s.logScoreFrom(sums[k])
		if s.joinsPieces && log == last {
			continue
		}
		p.Add(int(start), log)
		last = log
	}
}

func (s *forestScorer) Moved(i, j int) {
	s.modelScorer.Set(i, int32(s.x.Amount(i)), j, int32(s.x.Amount(j)))
}
