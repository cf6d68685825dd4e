// Package importedmodel has the property that scores a composition by a tree ensemble of another program.
package importedmodel

import (
	"math"

	"kir/internal/ensemble"
	"kir/internal/portable"
	"kir/mcmc"
)

// Model is the desirability of what a tree ensemble of another program predicts:
//
// \ty(x) = max(floor, max_m wish(v_m(x)))
//
// v_m are the model's outputs in setting m. Settings are alternative values of inputs that are not part of the
// composition, such as temperatures. wish is the desirability of the outputs. A whole line is scored in one walk of
// the trees; see package ensemble.
type Model struct {
	settings     []*ensemble.Score
	desirability func(sums []float64) float64
	floor        float64
}

var _ mcmc.LineProperty = (*Model)(nil)

// New returns a [Model]. settings holds the ensemble bound to each setting. wish is the desirability of the sums of
// the ensemble's targets, and must depend on nothing else. floor is the least score, in [0, 1].
func New(settings []*ensemble.Score, wish func(sums []float64) float64, floor float64) *Model {
	return &Model{settings, wish, floor}
}

// LogScore returns log y(x).
func (m *Model) LogScore(x *mcmc.Composition) float64 {
	sums, _ := m.Sums(x)
	return portable.Log(max(m.floor, m.desirability(sums)))
}

// Sums returns the most desirable setting for x, the first of equals, and the sums of the ensemble's targets there.
func (m *Model) Sums(x *mcmc.Composition) (sums []float64, setting int) {
	y := math.Inf(-1)
	for k, s := range m.settings {
		found := s.Sums(x.Amounts())
		if v := m.desirability(found); k == 0 || v > y {
			sums, setting, y = found, k, v
		}
	}
	return sums, setting
}

// Scorer returns a scorer of x.
func (m *Model) Scorer(x *mcmc.Composition) mcmc.Scorer {
	s := &modelScorer{property: m, x: x}
	for _, score := range m.settings {
		s.scorers = append(s.scorers, score.NewScorer())
	}
	s.lines = make([]modelLine, len(s.scorers))
	return s
}

type modelScorer struct {
	property *Model
	x        *mcmc.Composition
	scorers  []*ensemble.Scorer
	lines    []modelLine
	sums     []float64
}

// A modelLine is a line in one setting, with the present position among its pieces.
type modelLine struct {
	starts []int32
	sums   [][]float64
	piece  int
	y      float64
}

func (s *modelScorer) Reset() {
	for _, w := range s.scorers {
		w.Reset(s.x.Amounts(), s.x.Ingredients())
	}
}

func (s *modelScorer) LogScore() float64 {
	y := s.property.floor
	for _, w := range s.scorers {
		s.sums = w.AppendSums(s.sums[:0])
		y = max(y, s.property.desirability(s.sums))
	}
	return portable.Log(y)
}

// updatePiece computes the desirability of the present piece of a line.
func (s *modelScorer) updatePiece(l *modelLine) {
	s.sums = s.sums[:0]
	for _, of := range l.sums {
		s.sums = append(s.sums, of[l.piece])
	}
	l.y = s.property.desirability(s.sums)
}

func (s *modelScorer) Line(i, j int, p *mcmc.Pieces) {
	for k, w := range s.scorers {
		l := &s.lines[k]
		l.starts, l.sums = w.Line(i, j)
		l.piece = 0
		s.updatePiece(l)
	}
	last, lastLog := s.property.floor-1, 0.0
	for start := int32(0); ; {
		y := s.property.floor
		next := int32(math.MaxInt32)
		for k := range s.lines {
			l := &s.lines[k]
			if l.piece+1 < len(l.starts) && l.starts[l.piece+1] == start {
				l.piece++
				s.updatePiece(l)
			}
			y = max(y, l.y)
			if l.piece+1 < len(l.starts) {
				next = min(next, l.starts[l.piece+1])
			}
		}
		if start == 0 || y != last {
			if log := portable.Log(y); start == 0 || log != lastLog {
				p.Add(int(start), log)
				lastLog = log
			}
			last = y
		}
		if next == math.MaxInt32 {
			return
		}
		start = next
	}
}

func (s *modelScorer) Moved(i, j int) {
	for _, w := range s.scorers {
		w.Set(i, int32(s.x.Amount(i)), j, int32(s.x.Amount(j)))
	}
}
