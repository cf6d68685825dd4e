package model

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/ensemble"
)

// A LearnedScore is a function of the composition that states how well a model expects it to
// satisfy a [Want]. It is the mean of the forest's [Score] and the process's [ProcessScore], or the
// only one of them. For classes and bounds it is a probability, calibrated on held-out rows. For a
// direction it is the position of the mean between the least and the greatest label. If some
// compositions could not be made, the probability of success multiplies it. A LearnedScore does not
// change, so that any number of goroutines may use it.
type LearnedScore struct {
	model        *Learned
	want         Want // the Want as requested
	forest       *Score
	process      *ProcessScore
	calibration  *Calibration // nil for a direction
	curve        *curve       // the calibration's curve
	success      *Score
	successCurve *curve // calibration of the probability of success; nil without failures
}

// Score returns the score of a want. The error says why the model cannot compute it.
func (m *Learned) Score(w Want) (*LearnedScore, error) {
	s := &LearnedScore{model: m, want: w}
	asked := w
	if m.options.Log {
		var err error
		if asked, err = w.logarithm(); err != nil {
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
		stated := s.heldOutShares()
		came := make([]bool, len(stated))
		for r := range came {
			came[r] = m.satisfies(r, w)
		}
		if s.calibration = Calibrate(stated, came, m.steps()); s.calibration != nil {
			s.curve = s.calibration.curve()
		}
	}
	return s, s.addSuccess()
}

// logarithm returns the Want for the logarithms of numbers.
func (w Want) logarithm() (Want, error) {
	if w.direction == 0 && !w.numerics {
		return w, fmt.Errorf("logarithms are of numbers, and classes are wanted")
	}
	if w.numerics {
		if w.high <= 0 {
			return w, fmt.Errorf("no number with a logarithm is at most %g", w.high)
		}
		w.low, w.high = log(max(w.low, 0)), log(w.high)
	}
	if w.scale[0] < w.scale[1] {
		w.scale = [2]float64{log(w.scale[0]), log(w.scale[1])}
	}
	return w, nil
}

// steps returns the number of trees whose votes make a probability, or processSteps for a process.
func (m *Learned) steps() int {
	if m.forest != nil {
		return m.forest.Trees()
	}
	return processSteps
}

// processSteps is the number of steps that a probability of a process is taken to have.
const processSteps = 100

// satisfies reports whether row r of the data satisfies w.
func (m *Learned) satisfies(r int, w Want) bool {
	if w.numerics {
		return w.low <= m.numbers[r] && m.numbers[r] <= w.high
	}
	return slices.Contains(w.classes, m.classes[r])
}

// heldOutShares returns the held-out score of each row, before calibration and without success. It
// is NaN where no model held the row out.
func (s *LearnedScore) heldOutShares() []float64 {
	m := s.model
	shares := make([]float64, len(m.rows))
	for r := range shares {
		shares[r] = math.NaN()
	}
	if s.forest != nil {
		// The forest was grown from exactly these rows.
		shares, _ = m.forest.OutOfBag(s.forest, m.rows)
	}
	if s.process == nil {
		return shares
	}
	for r, k := range m.process.group {
		own := s.process.scoreOfMean(m.process.heldOutMean[k])
		if math.IsNaN(shares[r]) {
			shares[r] = own
		} else {
			shares[r] = float64((shares[r] + own) / 2)
		}
	}
	return shares
}

// addSuccess adds the probability that a composition can be made.
func (s *LearnedScore) addSuccess() (err error) {
	m := s.model
	if m.success == nil {
		return nil
	}
	if s.success, err = m.success.Score(AnyOf(madeClass)); err != nil {
		return err
	}
	all := slices.Concat(m.rows, m.options.Failed)
	stated, err := m.success.OutOfBag(s.success, all)
	if err != nil {
		return err
	}
	came := make([]bool, len(all))
	for r := range m.rows {
		came[r] = true
	}
	if c := Calibrate(stated, came, m.success.Trees()); c != nil {
		s.successCurve = c.curve()
	}
	return nil
}

// Want returns the Want of the score.
func (s *LearnedScore) Want() Want { return s.want }

// Bare returns the score before calibration and without the probability of success. For a direction
// it is only the position of the expected label.
func (s *LearnedScore) Bare() *LearnedScore {
	bare := *s
	bare.curve, bare.success, bare.successCurve = nil, nil, nil
	return &bare
}

// Stated returns the uncalibrated probability of the Want at the dense composition x.
func (s *LearnedScore) Stated(x []int32) float64 {
	var of [3]float64
	if s.forest != nil {
		of[0] = s.forest.Probability(s.forest.Point(x))
	}
	if s.process != nil {
		of[1] = s.process.At(x, usedIngredients(x))
	}
	return s.combineUncalibrated(of)
}

func usedIngredients(x []int32) (used []int32) {
	for i, v := range x {
		if v > 0 {
			used = append(used, int32(i))
		}
	}
	return used
}

// HeldOutStated returns the uncalibrated held-out probability of the Want for each row of the data.
// It is NaN where no model held the row out.
func (s *LearnedScore) HeldOutStated() []float64 { return s.heldOutShares() }

// Calibrated returns the calibration of a probability. It is nil for a direction, and where no row
// was held out.
func (s *LearnedScore) Calibrated() *Calibration { return s.calibration }

// HeldOut returns the held-out score of each row of the data. It is NaN where no tree left the row
// out.
func (s *LearnedScore) HeldOut() []float64 {
	shares := s.heldOutShares()
	var possible []float64
	if s.success != nil {
		// These rows are the first of those from which the forest of success was grown.
		possible, _ = s.model.success.OutOfBag(s.success, slices.Concat(s.model.rows, s.model.options.Failed))
	}
	for r, y := range shares {
		if math.IsNaN(y) {
			continue
		}
		switch {
		case s.curve != nil:
			shares[r] = s.curve.at(y)
		case s.process != nil:
			shares[r] = max(y, leastDirected)
		}
		if possible != nil {
			shares[r] = float64(shares[r] * s.successCurve.at(possible[r]))
		}
	}
	return shares
}

// Success returns the calibrated probability that the dense composition x can be made; 1 if nothing
// has failed.
func (s *LearnedScore) Success(x []int32) float64 {
	if s.success == nil {
		return 1
	}
	return s.successCurve.at(s.success.Probability(s.success.Point(x)))
}

// At returns the score at the composition x. used lists the ingredients with a positive amount, in
// any order.
func (s *LearnedScore) At(x, used []int32) float64 {
	var of [3]float64
	if s.forest != nil {
		of[0] = s.forest.Probability(s.forest.Sum(x, used))
	}
	if s.process != nil {
		of[1] = s.process.At(x, used)
	}
	if s.success != nil {
		of[2] = s.success.Probability(s.success.Sum(x, used))
	}
	return s.combine(of)
}

// leastDirected is the least score of a direction in which a process takes part. Without it a mean
// below all labels would forbid a composition that is only bad.
const leastDirected = 1e-3

// combine returns the score, given the values of the forest, the process and the forest of success.
func (s *LearnedScore) combine(of [3]float64) float64 {
	y := s.combineUncalibrated(of)
	switch {
	case s.curve != nil:
		y = s.curve.at(y)
	case s.process != nil:
		y = max(y, leastDirected)
	}
	if s.success != nil {
		y = float64(y * s.successCurve.at(of[2]))
	}
	return y
}

// combineUncalibrated is [LearnedScore.combine] before calibration and without success.
func (s *LearnedScore) combineUncalibrated(of [3]float64) float64 {
	switch {
	case s.forest == nil:
		return of[1]
	case s.process != nil:
		return float64((of[0] + of[1]) / 2)
	}
	return of[0]
}

// A LearnedScorer keeps the score of one moving composition, and scores the lines through it. It is
// the working memory of one chain: several goroutines must not use it at once. Its scores of a line
// equal, bit for bit, those of [LearnedScore.At] at the points.
type LearnedScorer struct {
	score         *LearnedScore
	scorers       [3]modelScorer // by model: forest, process and forest of success; nil where there is none
	scorerIndices []int          // the indices of scorers that are not nil
	lines         [3]modelLine

	starts []int32
	values []float64
	column [3][]float64
}

// A modelScorer scores a moving composition, and its lines, by one model.
type modelScorer interface {
	Reset(x, used []int32)
	Set(i int, xi int32, j int, xj int32)
	value() float64
	line(i, j int) (starts []int32, values []float64)
	// column appends the scores where ingredient i has each of the ascending amounts, and all others
	// what they have.
	column(i int, amounts []int32, values []float64) []float64
}

// A modelLine has the pieces of a line by one model, and which of them is current.
type modelLine struct {
	starts    []int32
	values    []float64
	piece     int
	nextStart int32 // the split where the next piece begins; MaxInt32 after the last
}

// NewScorer returns a scorer. Call [LearnedScorer.Reset] to begin.
func (s *LearnedScore) NewScorer() *LearnedScorer {
	c := &LearnedScorer{score: s}
	for k, f := range []*Score{0: s.forest, 2: s.success} {
		switch {
		case f == nil:
		case f.ensembleScore != nil:
			c.scorers[k] = &describedModelScorer{score: f, Scorer: f.ensembleScore.NewScorer()}
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

// Reset moves to the dense composition x. Used are the ingredients with a positive
// amount, in any order; both slices are only read.
func (c *LearnedScorer) Reset(x, used []int32) {
	for _, w := range c.scorers {
		if w != nil {
			w.Reset(x, used)
		}
	}
}

// Set moves to the composition in which ingredient i has amount xi and ingredient j has
// amount xj, the others as they are.
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
	return c.score.combine(of)
}

// Line scores the compositions in which ingredients i ≠ j share their current sum
// s = x_i + x_j as (k, s−k), k = 0, …, s: the score is values[p] for k in
// [starts[p], starts[p+1]), where starts[0] is 0 and after the last piece comes s+1.
// The slices are valid until the next call.
func (c *LearnedScorer) Line(i, j int) (starts []int32, values []float64) {
	var of [3]float64
	next := int32(math.MaxInt32)
	for _, k := range c.scorerIndices {
		l := &c.lines[k]
		l.starts, l.values = c.scorers[k].line(i, j)
		l.piece, l.nextStart = 0, int32(math.MaxInt32)
		of[k] = l.values[0]
		if len(l.starts) > 1 {
			l.nextStart = l.starts[1]
		}
		next = min(next, l.nextStart)
	}
	last := c.score.combine(of)
	c.starts, c.values = append(c.starts[:0], 0), append(c.values[:0], last)
	for next != math.MaxInt32 {
		start := next
		next = math.MaxInt32
		for _, k := range c.scorerIndices {
			l := &c.lines[k]
			if l.nextStart == start {
				l.piece++
				of[k], l.nextStart = l.values[l.piece], math.MaxInt32
				if l.piece+1 < len(l.starts) {
					l.nextStart = l.starts[l.piece+1]
				}
			}
			next = min(next, l.nextStart)
		}
		if y := c.score.combine(of); y != last {
			last = y
			c.starts, c.values = append(c.starts, start), append(c.values, y)
		}
	}
	return c.starts, c.values
}

// Column scores the compositions in which ingredient i has each of the ascending amounts and all
// others keep theirs. Their totals differ: an ingredient that stands for a condition has no share in
// the total of a composition. The slice is valid until the next call.
func (c *LearnedScorer) Column(i int, amounts []int32) []float64 {
	for _, k := range c.scorerIndices {
		c.column[k] = c.scorers[k].column(i, amounts, c.column[k][:0])
	}
	c.values = c.values[:0]
	var of, last [3]float64
	for at := range amounts {
		for _, k := range c.scorerIndices {
			of[k] = c.column[k][at]
		}
		if at > 0 && of == last { // within a piece of all models
			c.values = append(c.values, c.values[at-1])
			continue
		}
		c.values, last = append(c.values, c.score.combine(of)), of
	}
	return c.values
}

// A forestModelScorer scores by a forest without descriptors.
type forestModelScorer struct {
	score *Score
	*Scorer
	probabilities []float64
}

func (w *forestModelScorer) value() float64 { return w.score.Probability(w.Value()) }

func (w *forestModelScorer) line(i, j int) (starts []int32, values []float64) {
	starts, sums := w.Line(i, j)
	w.probabilities = w.probabilities[:0]
	one := float64(w.score.One()) // the same division as in Score.Probability
	for _, sum := range sums {
		w.probabilities = append(w.probabilities, float64(sum)/one)
	}
	return starts, w.probabilities
}

func (w *forestModelScorer) column(i int, amounts []int32, values []float64) []float64 {
	starts, sums := w.Column(i, amounts[len(amounts)-1])
	one := float64(w.score.One())
	piece := 0
	for _, amount := range amounts {
		for piece+1 < len(starts) && starts[piece+1] <= amount {
			piece++
		}
		values = append(values, float64(sums[piece])/one)
	}
	return values
}

// A describedModelScorer scores by a forest with descriptors.
type describedModelScorer struct {
	score *Score
	*ensemble.Scorer
	sums          []float64
	probabilities []float64
}

func (w *describedModelScorer) value() float64 {
	w.sums = w.AppendSums(w.sums[:0])
	return w.score.Probability(int64(w.sums[0]))
}

func (w *describedModelScorer) line(i, j int) (starts []int32, values []float64) {
	starts, sums := w.Line(i, j)
	w.probabilities = w.probabilities[:0]
	for _, sum := range sums[0] {
		w.probabilities = append(w.probabilities, w.score.Probability(int64(sum)))
	}
	return starts, w.probabilities
}

func (w *describedModelScorer) column(i int, amounts []int32, values []float64) []float64 {
	return columnByPoints(w, i, w.Amount(i), amounts, values)
}

// columnByPoints is [modelScorer.column] of a scorer that has to go to each amount, and back to what
// ingredient i has now.
func columnByPoints(w modelScorer, i int, now int32, amounts []int32, values []float64) []float64 {
	for _, amount := range amounts {
		w.Set(i, amount, i, amount)
		values = append(values, w.value())
	}
	w.Set(i, now, i, now)
	return values
}

// A processModelScorer scores by a Gaussian process.
type processModelScorer struct{ *ProcessScorer }

func (w processModelScorer) value() float64                                   { return w.Value() }
func (w processModelScorer) line(i, j int) (starts []int32, values []float64) { return w.Line(i, j) }

func (w processModelScorer) column(i int, amounts []int32, values []float64) []float64 {
	return columnByPoints(w, i, w.x[i], amounts, values)
}
