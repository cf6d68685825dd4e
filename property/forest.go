package property

import (
	"math"

	"kir/internal/portable"
	"kir/mcmc"
	"kir/model"
)

// Forest scores a composition by a random forest's probability of a wanted outcome:
//
//	y(x) = max(floor, P(want | x)),
//
// P is the mean over the trees of the leaf's share (Breiman 2001; Meinshausen 2006 for numbers). A
// probability of 0 forbids x unless there is a floor. One walk through the trees scores a whole
// line; see package model.
type Forest struct {
	score *model.Score
	floor float64
}

var _ mcmc.LineProperty = (*Forest)(nil)

// NewForest returns a [Forest]. floor is the least probability, in [0, 1].
func NewForest(score *model.Score, floor float64) *Forest { return &Forest{score, floor} }

// LogScore returns log y(x).
func (f *Forest) LogScore(x *mcmc.Composition) float64 {
	return f.log(f.score.Sum(x.Amounts(), x.Ingredients()))
}

// log returns log y, given the sum over the trees that package model computes.
func (f *Forest) log(sum int64) float64 {
	return portable.Log(max(f.floor, f.score.Probability(sum)))
}

// Above returns an upper bound of log y over the box of compositions with lo[i] to hi[i] units of each ingredient i.
func (f *Forest) Above(lo, hi []int32, _ int) float64 { return f.log(f.score.Above(lo, hi)) }

// AboveCost returns the approximate time of [Forest.Above], in nanoseconds.
func (f *Forest) AboveCost() int64 { return f.score.AboveCost() }

// Scorer returns a scorer of x.
func (f *Forest) Scorer(x *mcmc.Composition) mcmc.Scorer {
	s := &forestScorer{property: f, x: x, walk: f.score.NewScorer(), joins: f.score.Described()}
	for k := range s.known {
		s.known[k].sum = -1 // No sum over the trees is −1, so −1 marks an empty cache entry.
	}
	return s
}

type forestScorer struct {
	property *Forest
	x        *mcmc.Composition
	walk     *model.Scorer
	joins    bool          // whether neighbouring pieces with equal scores are joined; descriptors produce many such pieces
	known    [512]knownLog // cache of logs, indexed by a hash of the sum
}

// A knownLog is a cache entry: a sum over the trees and its log y. Successive lines of a chain repeat most sums, and
// a look-up is much faster than a logarithm.
type knownLog struct {
	sum int64
	log float64
}

// log is Forest.log with a cache.
func (s *forestScorer) log(sum int64) float64 {
	// Multiplying by 2⁶⁴ over the golden ratio makes each bit of the sum affect the cache index.
	k := &s.known[uint64(sum)*0x9e3779b97f4a7c15>>(64-9)]
	if k.sum != sum {
		*k = knownLog{sum, s.property.log(sum)}
	}
	return k.log
}

func (s *forestScorer) Reset()            { s.walk.Reset(s.x.Amounts(), s.x.Ingredients()) }
func (s *forestScorer) LogScore() float64 { return s.log(s.walk.Value()) }

func (s *forestScorer) Line(i, j int, p *mcmc.Pieces) {
	starts, sums := s.walk.Line(i, j)
	last := math.NaN()
	for k, start := range starts {
		log := s.log(sums[k])
		if s.joins && log == last {
			continue
		}
		p.Add(int(start), log)
		last = log
	}
}

func (s *forestScorer) Moved(i, j int) {
	s.walk.Set(i, int32(s.x.Amount(i)), j, int32(s.x.Amount(j)))
}
