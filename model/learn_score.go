package model

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/ensemble"
)

// A LearnedScore is a function of the composition that says how well a model expects the
// composition to satisfy a [Want]. It is the mean of the forest's [Score] and the process's
// [ProcessScore], weighted as in the model: see [BestKind]. If the model has only one of the two, it is
// the score of that one.
//
// For classes and bounds the score is a probability, calibrated on held-out rows. For [Maximize]
// and [Minimize] it is the position of the expected label between the least and the greatest label.
// If some compositions failed, the score is multiplied by the probability that the composition can
// be measured. A LearnedScore does not change, so that any number of goroutines may use it.
type LearnedScore struct {
	model            *LearnedModel
	want             Want              // what the user wants of the label, in the unit of the label
	forest           *Score            // score by the forest; nil if the model has no forest
	process          *ProcessScore     // score by the Gaussian process; nil if the model has no process
	calibration      *Calibration      // nil for [Maximize] and [Minimize], and if there were no held-out rows
	calibrationCurve *calibrationCurve // fast approximation of calibration; nil if calibration is nil
	// successScore is the probability, by a forest, that a composition can be measured. It is nil
	// if no composition failed.
	successScore            *Score
	successCalibrationCurve *calibrationCurve // calibration of successScore; nil if no composition failed
}

// Score returns the score for a [Want]. The error says why the model cannot compute the score.
func (m *LearnedModel) Score(w Want) (*LearnedScore, error) {
	s := &LearnedScore{model: m, want: w}
	asked := w
	if m.options.Log {
		var err error
		if asked, err = w.toLogarithms(); err != nil {
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
			s.calibrationCurve = s.calibration.newCurve()
		}
	}
	return s, s.addSuccess()
}

// toLogarithms returns the Want that a model of logarithms must satisfy: bounds are replaced by
// their logarithms.
func (w Want) toLogarithms() (Want, error) {
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

// probabilitySteps returns a number n so that predicted probabilities are taken to be multiples of
// 1/n. It is the number of trees, or [processProbabilitySteps] if there is no forest.
func (m *LearnedModel) probabilitySteps() int {
	if m.forest != nil {
		return m.forest.TreeCount()
	}
	return processProbabilitySteps
}

// processProbabilitySteps is the n for which the probabilities that a Gaussian process predicts are
// taken to be multiples of 1/n.
const processProbabilitySteps = 100

// rowSatisfies reports whether the label of row r satisfies w.
func (m *LearnedModel) rowSatisfies(r int, w Want) bool {
	if w.isBounded {
		return w.low <= m.numericLabels[r] && m.numericLabels[r] <= w.high
	}
	return slices.Contains(w.classes, m.classLabels[r])
}

// heldOutUncalibrated returns the score of each row by models that have not seen the row. The
// scores are uncalibrated and do not include the probability of success. A score is NaN if every
// model has seen the row.
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
			shares[r] = m.weightedMean(shares[r], own)
		}
	}
	return shares
}

// addSuccess sets successScore and successCalibrationCurve, if some compositions failed. They give
// the probability that a composition can be measured.
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
		s.successCalibrationCurve = c.newCurve()
	}
	return nil
}

// Want returns the [Want] of the score.
func (s *LearnedScore) Want() Want { return s.want }

// Uncalibrated returns the score without calibration and without the factor for the probability of
// success. For [Maximize] and [Minimize] it is the position of the expected label between the least
// and the greatest label.
func (s *LearnedScore) Uncalibrated() *LearnedScore {
	bare := *s
	bare.calibrationCurve, bare.successScore, bare.successCalibrationCurve = nil, nil, nil
	return &bare
}

// UncalibratedAt returns the score of [LearnedScore.Uncalibrated] for the dense composition x.
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

// HeldOutUncalibrated returns the uncalibrated score of each row of the data, by models that have
// not seen the row. A score is NaN if every model has seen the row.
func (s *LearnedScore) HeldOutUncalibrated() []float64 { return s.heldOutUncalibrated() }

// Calibration returns the calibration of the probability. It returns nil for [Maximize] and
// [Minimize], and if there were no held-out rows.
func (s *LearnedScore) Calibration() *Calibration { return s.calibration }

// HeldOut returns the score of each row of the data, by models that have not seen the row. A score
// is NaN if every model has seen the row.
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
		case s.calibrationCurve != nil:
			shares[r] = s.calibrationCurve.chanceAt(y)
		case s.process != nil:
			shares[r] = max(y, minDirectionScore)
		}
		if possible != nil {
			shares[r] = float64(shares[r] * s.successCalibrationCurve.chanceAt(possible[r]))
		}
	}
	return shares
}

// SuccessProbability returns the calibrated probability that the dense composition x can be
// measured. It returns 1 if no composition failed.
func (s *LearnedScore) SuccessProbability(x []int32) float64 {
	if s.successScore == nil {
		return 1
	}
	return s.successCalibrationCurve.chanceAt(s.successScore.Probability(s.successScore.Point(x)))
}

// ScoreAt returns the score of the dense composition x. The parameter used lists the ingredients
// with a positive amount, in any order.
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

// minDirectionScore is the least score for [Maximize] and [Minimize] if the model has a process.
// The label that a process expects can be below all labels of the rows. Without this limit, the
// score could be 0, which would forbid a composition that is only bad.
const minDirectionScore = 1e-3

// combineModels computes the score from the scores by three models. The elements of scores are
// those by the forest, by the process, and by the forest that predicts success.
func (s *LearnedScore) combineModels(scores [3]float64) float64 {
	y := s.combineUncalibrated(scores)
	switch {
	case s.calibrationCurve != nil:
		y = s.calibrationCurve.chanceAt(y)
	case s.process != nil:
		y = max(y, minDirectionScore)
	}
	if s.successScore != nil {
		y = float64(y * s.successCalibrationCurve.chanceAt(scores[2]))
	}
	return y
}

// combineUncalibrated computes the score of [LearnedScore.Uncalibrated] from the scores by the
// forest and by the process, which are the first two elements of scores.
func (s *LearnedScore) combineUncalibrated(scores [3]float64) float64 {
	switch {
	case s.forest == nil:
		return scores[1]
	case s.process != nil:
		return s.model.weightedMean(scores[0], scores[1])
	}
	return scores[0]
}

// weightedMean returns the weighted mean of a number by the forest and one by the process. If either
// number rises, the mean does not fall, not even by rounding. Upper bounds of scores depend on this.
func (m *LearnedModel) weightedMean(byForest, byProcess float64) float64 {
	return float64(m.forestWeight*byForest) + float64((1-m.forestWeight)*byProcess)
}

// A LearnedScorer keeps the score of a composition that moves step by step. It also scores lines,
// that is, all divisions of the current sum of two amounts: see [LearnedScorer.Line]. It is the
// working memory of one Markov chain: several goroutines must not use it at once. Its scores equal
// those of [LearnedScore.ScoreAt], bit for bit.
type LearnedScorer struct {
	score *LearnedScore
	// scorers holds the scorers of three models: the forest, the process, and the forest that
	// predicts success. A scorer is nil if its model does not exist.
	scorers       [3]modelScorer
	scorerIndices []int        // indices of the models that exist, in scorers
	modelLines    [3]modelLine // pieces of the current line by each model, in the order of scorers

	lineStarts   []int32      // the result starts of the last call of Line
	values       []float64    // the scores of the last call of Line or Column
	modelColumns [3][]float64 // scores by each model in the last call of Column, in the order of scorers
}

// A modelScorer scores by one model: a composition that moves step by step, and lines through the
// composition as in [LearnedScorer.Line].
type modelScorer interface {
	Reset(x, used []int32)
	Set(i int, xi int32, j int, xj int32)
	value() float64
	line(i, j int) (starts []int32, values []float64)
	// column appends the scores of the compositions in which ingredient i has each of the ascending
	// amounts and all other amounts are unchanged.
	column(i int, amounts []int32, values []float64) []float64
}

// A modelLine holds the pieces of a line by one model: see [LearnedScorer.Line]. It also holds the
// current piece while the pieces of several models are merged.
type modelLine struct {
	pieceStarts []int32   // amount of the line's first ingredient at which each piece begins
	pieceScores []float64 // score of each piece of the line
	pieceIndex  int       // index of the current piece of the line
	nextStart   int32     // amount at which the next piece begins; MaxInt32 after the last piece
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

// Reset makes the dense composition x the composition of the scorer. The parameter used lists the
// ingredients with a positive amount, in any order. Reset only reads both slices and does not keep
// them.
func (c *LearnedScorer) Reset(x, used []int32) {
	for _, w := range c.scorers {
		if w != nil {
			w.Reset(x, used)
		}
	}
}

// Set changes the amount of ingredient i to xi and the amount of ingredient j to xj. All other
// amounts are unchanged.
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

// Line scores all compositions on a line. The line consists of the compositions in which
// ingredients i ≠ j share their current sum s = x_i + x_j as (k, s−k), for k = 0, …, s. A piece of
// the line is a range of k with equal scores. Piece p goes from k = starts[p] to k = starts[p+1] −
// 1 and has the score values[p]. The first piece starts at 0, and the last piece ends at s. Both
// slices are valid until the next call.
func (c *LearnedScorer) Line(i, j int) (starts []int32, values []float64) {
	var of [3]float64
	next := int32(math.MaxInt32)
	for _, k := range c.scorerIndices {
		l := &c.modelLines[k]
		l.pieceStarts, l.pieceScores = c.scorers[k].line(i, j)
		l.pieceIndex, l.nextStart = 0, int32(math.MaxInt32)
		of[k] = l.pieceScores[0]
		if len(l.pieceStarts) > 1 {
			l.nextStart = l.pieceStarts[1]
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
				of[k], l.nextStart = l.pieceScores[l.pieceIndex], math.MaxInt32
				if l.pieceIndex+1 < len(l.pieceStarts) {
					l.nextStart = l.pieceStarts[l.pieceIndex+1]
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

// Column returns the score for each of the given amounts of ingredient i, while all other amounts
// are unchanged. The amounts must ascend. Column is for an ingredient that stands for a condition,
// such as a temperature, whose amount does not count towards the total of the composition. The
// slice is valid until the next call.
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
	probabilities []float64 // scratch memory of line: the scores
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
	sums          []float64 // scratch memory of value: the sum of the leaf values
	probabilities []float64 // scratch memory of line: the scores
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

// columnByPoints computes the result of [modelScorer.column]. It sets ingredient i to each amount
// in turn, and at the end to currentAmount, which is its amount before the call.
func columnByPoints(w modelScorer, i int, currentAmount int32, amounts []int32, values []float64) []float64 {
	for _, amount := range amounts {
		w.Set(i, amount, i, amount)
		values = append(values, w.value())
	}
	w.Set(i, currentAmount, i, currentAmount)
	return values
}

// A processModelScorer is the [modelScorer] of a Gaussian process.
type processModelScorer struct{ *ProcessScorer }

func (w processModelScorer) value() float64                                   { return w.Value() }
func (w processModelScorer) line(i, j int) (starts []int32, values []float64) { return w.Line(i, j) }

func (w processModelScorer) column(i int, amounts []int32, values []float64) []float64 {
	return columnByPoints(w, i, w.x[i], amounts, values)
}
