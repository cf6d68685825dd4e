package model

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/ensemble"
)

// A LearnedScore is a function of the composition: how well a model expects the composition to
// satisfy a [Want]. It is the mean of two scores, the forest's [Score] and the process's
// [ProcessScore]. If the model has only a forest or only a process, it is the score of that model.
//
// For classes and bounds the score is a probability, calibrated on held-out rows. For [Maximize]
// and [Minimize] it is the position of the expected label between the least and the greatest label.
// If some compositions failed, the score is multiplied by the probability that the composition can
// be measured. A LearnedScore does not change, so that any number of goroutines may use it.
type LearnedScore struct {
	model        *LearnedModel
	want         Want // the wanted labels, as requested
	forest       *Score
	process      *ProcessScore
	calibration  *Calibration      // nil for a direction, and if no row was held out
	curve        *calibrationCurve // the curve of calibration; nil if calibration is nil
	successScore *Score            // score of the forest of success: the probability that a composition can be measured; nil if none failed
	successCurve *calibrationCurve // calibration of the probability of success; nil if no composition failed
}

// Score returns the score for a [Want]. The error says why the model cannot compute the score.
func (m *LearnedModel) Score(w Want) (*LearnedScore, error) {
	s := &LearnedScore{model: m, want: w}
	asked := w
	if m.options.Log {
		var err error
		if asked, err = w.logarithmic(); err != nil {
			return nil, err
		}
	}
	var err error
	if m.forest != nil {
		if s.forest, err = m.forest.Score(asked); err != nil {
			return nil, err
		}
	}
	if m.process != nil {
		if s.process, err = m.process.Score(asked); err != nil {
			return nil, err
		}
	}
	if w.direction == 0 {
		stated := s.heldOutUncalibrated()
		came := make([]bool, len(stated))
		for r := range came {
			came[r] = m.rowSatisfies(r, w)
		}
		if s.calibration = Calibrate(stated, came, m.probabilitySteps()); s.calibration != nil {
			s.curve = s.calibration.newCurve()
		}
	}
	return s, s.addSuccess()
}

// logarithmic returns the Want for a model that predicts the logarithms of the numbers.
func (w Want) logarithmic() (Want, error) {
	if w.direction == 0 && !w.isBounded {
		return w, fmt.Errorf("logarithms are of numbers, and classes are wanted")
	}
	if w.isBounded {
		if w.high <= 0 {
			return w, fmt.Errorf("no number with a logarithm is at most %g", w.high)
		}
		w.low, w.high = log(max(w.low, 0)), log(w.high)
	}
	if w.directionScale[0] < w.directionScale[1] {
		w.directionScale = [2]float64{log(w.directionScale[0]), log(w.directionScale[1])}
	}
	return w, nil
}

// probabilitySteps returns the number of distinct steps that a predicted probability is taken to
// have: the number of trees, or [processSteps] if there is no forest.
func (m *LearnedModel) probabilitySteps() int {
	if m.forest != nil {
		return m.forest.TreeCount()
	}
	return processSteps
}

// processSteps is the number of steps that a probability predicted by a Gaussian process is taken
// to have.
const processSteps = 100

// rowSatisfies reports whether the label of row r satisfies w.
func (m *LearnedModel) rowSatisfies(r int, w Want) bool {
	if w.isBounded {
		return w.low <= m.numericLabels[r] && m.numericLabels[r] <= w.high
	}
	return slices.Contains(w.classes, m.classLabels[r])
}

// heldOutUncalibrated returns the held-out score of each row, before calibration and without the
// probability of success. A score is NaN if no model held the row out.
func (s *LearnedScore) heldOutUncalibrated() []float64 {
	m := s.model
	shares := make([]float64, len(m.compositions))
	for r := range shares {
		shares[r] = math.NaN()
	}
	if s.forest != nil {
		// The forest was grown from exactly these rows.
		shares, _ = m.forest.OutOfBag(s.forest, m.compositions)
	}
	if s.process == nil {
		return shares
	}
	for r, k := range m.process.compositionOfRow {
		own := s.process.scoreOfMean(m.process.heldOutMean[k])
		if math.IsNaN(shares[r]) {
			shares[r] = own
		} else {
			shares[r] = float64((shares[r] + own) / 2)
		}
	}
	return shares
}

// addSuccess prepares the factor for the probability that a composition can be measured, if some
// compositions failed.
func (s *LearnedScore) addSuccess() (err error) {
	m := s.model
	if m.successForest == nil {
		return nil
	}
	if s.successScore, err = m.successForest.Score(AnyOf(madeClass)); err != nil {
		return err
	}
	all := slices.Concat(m.compositions, m.options.Failed)
	stated, err := m.successForest.OutOfBag(s.successScore, all)
	if err != nil {
		return err
	}
	came := make([]bool, len(all))
	for r := range m.compositions {
		came[r] = true
	}
	if c := Calibrate(stated, came, m.successForest.TreeCount()); c != nil {
		s.successCurve = c.newCurve()
	}
	return nil
}

// Want returns the [Want] of the score.
func (s *LearnedScore) Want() Want { return s.want }

// Uncalibrated returns the score before calibration and without the probability of success. For a direction
// it is only the position of the expected label.
func (s *LearnedScore) Uncalibrated() *LearnedScore {
	bare := *s
	bare.curve, bare.successScore, bare.successCurve = nil, nil, nil
	return &bare
}

// UncalibratedAt returns the uncalibrated probability of the Want at the dense composition x.
func (s *LearnedScore) UncalibratedAt(x []int32) float64 {
	var of [3]float64
	if s.forest != nil {
		of[0] = s.forest.Probability(s.forest.Point(x))
	}
	if s.process != nil {
		of[1] = s.process.ScoreAt(x, usedIngredients(x))
	}
	return s.combineUncalibrated(of)
}

// usedIngredients returns the ingredients with a positive amount in the dense composition x.
func usedIngredients(x []int32) (used []int32) {
	for i, v := range x {
		if v > 0 {
			used = append(used, int32(i))
		}
	}
	return used
}

// HeldOutUncalibrated returns the uncalibrated held-out probability of the Want for each row of the data.
// A probability is NaN if no model held the row out.
func (s *LearnedScore) HeldOutUncalibrated() []float64 { return s.heldOutUncalibrated() }

// Calibration returns the calibration of the probability. It returns nil for a direction, and if no
// row was held out.
func (s *LearnedScore) Calibration() *Calibration { return s.calibration }

// HeldOut returns the held-out score of each row of the data. A score is NaN if no model held the
// row out.
func (s *LearnedScore) HeldOut() []float64 {
	shares := s.heldOutUncalibrated()
	var possible []float64
	if s.successScore != nil {
		// These rows are the first of those from which the forest of success was grown.
		possible, _ = s.model.successForest.OutOfBag(s.successScore, slices.Concat(s.model.compositions, s.model.options.Failed))
	}
	for r, y := range shares {
		if math.IsNaN(y) {
			continue
		}
		switch {
		case s.curve != nil:
			shares[r] = s.curve.chanceAt(y)
		case s.process != nil:
			shares[r] = max(y, minDirectionScore)
		}
		if possible != nil {
			shares[r] = float64(shares[r] * s.successCurve.chanceAt(possible[r]))
		}
	}
	return shares
}

// SuccessProbability returns the calibrated probability that the dense composition x can be measured. It
// returns 1 if no composition failed.
func (s *LearnedScore) SuccessProbability(x []int32) float64 {
	if s.successScore == nil {
		return 1
	}
	return s.successCurve.chanceAt(s.successScore.Probability(s.successScore.Point(x)))
}

// ScoreAt returns the score of the dense composition x. The parameter used lists the ingredients with a
// positive amount, in any order.
func (s *LearnedScore) ScoreAt(x, used []int32) float64 {
	var of [3]float64
	if s.forest != nil {
		of[0] = s.forest.Probability(s.forest.Sum(x, used))
	}
	if s.process != nil {
		of[1] = s.process.ScoreAt(x, used)
	}
	if s.successScore != nil {
		of[2] = s.successScore.Probability(s.successScore.Sum(x, used))
	}
	return s.combineModels(of)
}

// minDirectionScore is the least score of a direction if there is a process. The expected label of
// a process can be below all labels. A score of 0 would then forbid a composition that is only bad.
const minDirectionScore = 1e-3

// combineModels returns the score. The parameter of holds the scores by the forest, by the process
// and by the forest of success, in this order.
func (s *LearnedScore) combineModels(of [3]float64) float64 {
	y := s.combineUncalibrated(of)
	switch {
	case s.curve != nil:
		y = s.curve.chanceAt(y)
	case s.process != nil:
		y = max(y, minDirectionScore)
	}
	if s.successScore != nil {
		y = float64(y * s.successCurve.chanceAt(of[2]))
	}
	return y
}

// combineUncalibrated does the work of [LearnedScore.combineModels] without calibration and without
// success.
func (s *LearnedScore) combineUncalibrated(of [3]float64) float64 {
	switch {
	case s.forest == nil:
		return of[1]
	case s.process != nil:
		return float64((of[0] + of[1]) / 2)
	}
	return of[0]
}

// A LearnedScorer keeps the score of a composition that moves step by step. It also scores lines:
// all compositions that differ from the current one only in how two ingredients share their sum. It
// is the working memory of one Markov chain: several goroutines must not use it at once. Its scores
// equal those of [LearnedScore.ScoreAt], bit for bit.
type LearnedScorer struct {
	score         *LearnedScore
	scorers       [3]modelScorer // the scorers of the forest, of the process and of the forest of success, in this order; nil where a model does not exist
	scorerIndices []int          // the indices of the elements of scorers that are not nil
	modelLines    [3]modelLine   // by index of scorers: the model's pieces of the current line

	lineStarts   []int32
	values       []float64
	modelColumns [3][]float64 // by index of scorers: the model's scores of the current column
}

// A modelScorer scores a moving composition, and the lines through the composition, by one model.
type modelScorer interface {
	Reset(x, used []int32)
	Set(i int, xi int32, j int, xj int32)
	value() float64
	line(i, j int) (starts []int32, values []float64)
	// column appends the scores of the compositions in which ingredient i has each of the ascending
	// amounts and all other amounts are unchanged.
	column(i int, amounts []int32, values []float64) []float64
}

// A modelLine holds the pieces of a line by one model, and the current piece of a walk along the
// line.
type modelLine struct {
	starts     []int32   // by piece: the amount of the line's first ingredient at which the piece begins
	values     []float64 // by piece: the score
	pieceIndex int       // index of the current piece
	nextStart  int32     // start of the piece after the current one; MaxInt32 after the last piece
}

// NewScorer returns a scorer of the score. Call [LearnedScorer.Reset] before other methods.
func (s *LearnedScore) NewScorer() *LearnedScorer {
	c := &LearnedScorer{score: s}
	for k, f := range []*Score{0: s.forest, 2: s.successScore} {
		switch {
		case f == nil:
		case f.ensembleScore != nil:
			c.scorers[k] = &descriptorModelScorer{score: f, Scorer: f.ensembleScore.NewScorer()}
		default:
			c.scorers[k] = &forestModelScorer{score: f, Scorer: f.NewScorer()}
		}
	}
	if s.process != nil {
		c.scorers[1] = processModelScorer{s.process.NewScorer()}
	}
	for k, w := range c.scorers {
		if w != nil {
			c.scorerIndices = append(c.scorerIndices, k)
		}
	}
	return c
}

// Reset moves the scorer to the dense composition x. The parameter used lists the ingredients with
// a positive amount, in any order. Reset only reads both slices and does not keep them.
func (c *LearnedScorer) Reset(x, used []int32) {
	for _, w := range c.scorers {
		if w != nil {
			w.Reset(x, used)
		}
	}
}

// Set moves the scorer to the composition in which ingredient i has amount xi, ingredient j has
// amount xj, and all other amounts are unchanged.
func (c *LearnedScorer) Set(i int, xi int32, j int, xj int32) {
	for _, w := range c.scorers {
		if w != nil {
			w.Set(i, xi, j, xj)
		}
	}
}

// Value returns the score of the current composition.
func (c *LearnedScorer) Value() float64 {
	var of [3]float64
	for k, w := range c.scorers {
		if w != nil {
			of[k] = w.value()
		}
	}
	return c.score.combineModels(of)
}

// Line scores the compositions in which ingredients i ≠ j share their current sum s = x_i + x_j as
// (k, s−k), k = 0, …, s. The score is values[p] for all k from starts[p] to starts[p+1] − 1. The
// first start is 0, and the last piece ends at k = s. Both slices are valid until the next call.
func (c *LearnedScorer) Line(i, j int) (starts []int32, values []float64) {
	var of [3]float64
	next := int32(math.MaxInt32)
	for _, k := range c.scorerIndices {
		l := &c.modelLines[k]
		l.starts, l.values = c.scorers[k].line(i, j)
		l.pieceIndex, l.nextStart = 0, int32(math.MaxInt32)
		of[k] = l.values[0]
		if len(l.starts) > 1 {
			l.nextStart = l.starts[1]
		}
		next = min(next, l.nextStart)
	}
	last := c.score.combineModels(of)
	c.lineStarts, c.values = append(c.lineStarts[:0], 0), append(c.values[:0], last)
	for next != math.MaxInt32 {
		start := next
		next = math.MaxInt32
		for _, k := range c.scorerIndices {
			l := &c.modelLines[k]
			if l.nextStart == start {
				l.pieceIndex++
				of[k], l.nextStart = l.values[l.pieceIndex], math.MaxInt32
				if l.pieceIndex+1 < len(l.starts) {
					l.nextStart = l.starts[l.pieceIndex+1]
				}
			}
			next = min(next, l.nextStart)
		}
		if y := c.score.combineModels(of); y != last {
			last = y
			c.lineStarts, c.values = append(c.lineStarts, start), append(c.values, y)
		}
	}
	return c.lineStarts, c.values
}

// Column scores the compositions in which ingredient i has each of the ascending amounts and all
// other amounts are unchanged. The totals of these compositions differ. Column is therefore for an
// ingredient that stands for a condition, whose amount does not count towards the total. The slice
// is valid until the next call.
func (c *LearnedScorer) Column(i int, amounts []int32) []float64 {
	for _, k := range c.scorerIndices {
		c.modelColumns[k] = c.scorers[k].column(i, amounts, c.modelColumns[k][:0])
	}
	c.values = c.values[:0]
	var of, last [3]float64
	for at := range amounts {
		for _, k := range c.scorerIndices {
			of[k] = c.modelColumns[k][at]
		}
		if at > 0 && of == last { // within a piece of all models
			c.values = append(c.values, c.values[at-1])
			continue
		}
		c.values, last = append(c.values, c.score.combineModels(of)), of
	}
	return c.values
}

// A forestModelScorer is the [modelScorer] of a forest without descriptors.
type forestModelScorer struct {
	score *Score
	*Scorer
	probabilities []float64 // scratch memory of line
}

func (w *forestModelScorer) value() float64 { return w.score.Probability(w.Value()) }

func (w *forestModelScorer) line(i, j int) (starts []int32, values []float64) {
	starts, sums := w.Line(i, j)
	w.probabilities = w.probabilities[:0]
	one := float64(w.score.SumForCertainty()) // the same division as in Score.Probability
	for _, sum := range sums {
		w.probabilities = append(w.probabilities, float64(sum)/one)
	}
	return starts, w.probabilities
}

func (w *forestModelScorer) column(i int, amounts []int32, values []float64) []float64 {
	starts, sums := w.Column(i, amounts[len(amounts)-1])
	one := float64(w.score.SumForCertainty())
	piece := 0
	for _, amount := range amounts {
		for piece+1 < len(starts) && starts[piece+1] <= amount {
			piece++
		}
		values = append(values, float64(sums[piece])/one)
	}
	return values
}

// A descriptorModelScorer is the [modelScorer] of a forest with descriptors.
type descriptorModelScorer struct {
	score *Score
	*ensemble.Scorer
	sums          []float64
	probabilities []float64
}

func (w *descriptorModelScorer) value() float64 {
	w.sums = w.AppendSums(w.sums[:0])
	return w.score.Probability(int64(w.sums[0]))
}

func (w *descriptorModelScorer) line(i, j int) (starts []int32, values []float64) {
	starts, sums := w.Line(i, j)
	w.probabilities = w.probabilities[:0]
	for _, sum := range sums[0] {
		w.probabilities = append(w.probabilities, w.score.Probability(int64(sum)))
	}
	return starts, w.probabilities
}

func (w *descriptorModelScorer) column(i int, amounts []int32, values []float64) []float64 {
	return columnByPoints(w, i, w.Amount(i), amounts, values)
}

// columnByPoints computes [modelScorer.column] by moving the scorer to each amount in turn. It then
// moves the scorer back to the amount now, which ingredient i has at present.
func columnByPoints(w modelScorer, i int, now int32, amounts []int32, values []float64) []float64 {
	for _, amount := range amounts {
		w.Set(i, amount, i, amount)
		values = append(values, w.value())
	}
	w.Set(i, now, i, now)
	return values
}

// A processModelScorer is the [modelScorer] of a Gaussian process.
type processModelScorer struct{ *ProcessScorer }

func (w processModelScorer) value() float64                                   { return w.Value() }
func (w processModelScorer) line(i, j int) (starts []int32, values []float64) { return w.Line(i, j) }

func (w processModelScorer) column(i int, amounts []int32, values []float64) []float64 {
	return columnByPoints(w, i, w.x[i], amounts, values)
}
