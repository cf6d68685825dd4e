package model

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// A ModelKind selects the models that [Learn] learns from a dataset.
type ModelKind int

const (
	// BestKind learns a forest and, for numbers of up to [MaxAveragedCompositions] different
	// compositions, a Gaussian process. The prediction is the mean of the two models. If one of them
	// is much better on held-out rows, it has the greater weight in the mean. If the mean is worse
	// than the forest on held-out rows, the model keeps only the forest. For classes the model is
	// always only a forest.
	BestKind ModelKind = iota
	// ForestAlone learns only a forest.
	ForestAlone
	// ProcessAlone learns only a Gaussian process. The labels must be numbers.
	ProcessAlone
)

// MaxAveragedCompositions is the greatest number n of different compositions for which a forest is
// averaged with a Gaussian process. The time to fit a process is proportional to n³, and the time
// to score a line is proportional to n.
const MaxAveragedCompositions = 1000

// minAveragedCompositions is the least number of different compositions for which a forest is
// averaged with a Gaussian process. With fewer compositions, the length scales of the process are
// essentially those of the priors.
const minAveragedCompositions = 8

// A FeatureSet is a named list of features that the trees of a forest may test.
type FeatureSet struct {
	Name     string
	Features []Feature // the features, as in [Data.Features]
}

// LearnOptions are the options of [Learn]. The zero value of a field selects its default.
type LearnOptions struct {
	Kind   ModelKind
	Forest Options
	// Features are sets of features from which cross-validation chooses one. List the simplest set
	// first. A later set is taken only if its loss is lower by more than the standard error of the
	// difference. If Features is empty, the features of the data are taken.
	Features []FeatureSet
	// Log makes the model learn the logarithms of the numbers, which must be above 0. Predictions
	// are nevertheless in the unit of the label. The score of [Maximize] or [Minimize] is on the
	// logarithmic scale, from the smallest to the largest label.
	Log bool
	// Failed are compositions that were tried and could not be measured. From Failed and the rows,
	// the model learns the probability that a composition can be measured. All scores are
	// multiplied by this probability.
	Failed [][]Part
}

// Cross-validation chooses a [FeatureSet]. It is repeated featureSetRepeats times, each time with
// other folds, and uses at most the first maxFeatureSetRows rows.
const featureSetRepeats, maxFeatureSetRows = 3, 2000

// maxFeatureSetTrees is the greatest number of trees of the forests that are grown to compare
// feature sets.
const maxFeatureSetTrees = 50

// A LearnedModel is the model that [Learn] returns: a forest, a Gaussian process, or the weighted
// mean of both. It also knows how well it predicts held-out rows:
//   - A forest predicts a held-out row by the trees whose bootstrap sample does not have the row.
//   - A process predicts a held-out row from the rows of other compositions.
//
// A LearnedModel does not change, so that any number of goroutines may use it.
type LearnedModel struct {
	options       LearnOptions // options with which the model was learnt
	forestOptions Options      // options with which the forest was grown
	forest        *Forest      // the forest; nil if the model is only a Gaussian process
	process       *Process     // the Gaussian process; nil if the model is only a forest
	successForest *Forest      // a forest that predicts whether a composition can be measured; nil if no composition failed

	numericLabels    []float64 // numeric label of each row, before any logarithm; nil for classes
	measurementSD    []float64 // standard deviation of the measurement of each row; nil if none is known
	classLabels      []string  // class of each row; nil for numbers
	compositions     [][]Part  // composition of each row
	quality          Quality
	featureSetChoice *CandidateChoice // result of the comparison of the feature sets; nil if there was only one set
	// heldOutResults compares the forest, the process and their mean on held-out rows, in this
	// order. It is nil unless both models were learnt.
	heldOutResults []CandidateResult
	forestWeight   float64 // weight of the forest in the mean of forest and process, from 0 to 1; the process has the rest
	stretchFactor  float64 // predicted distributions are stretched about their mean by this factor
	intervalShift  float64 // how far each end of a 90 % interval is moved outwards, in the unit of the label
}

// Classes of the forest that predicts success, that is, whether a composition can be made and
// measured.
const (
	madeClass   = "made"
	failedClass = "failed"
)

// Learn learns a model from the data, as the options select. The result depends only on the data
// and the options. Learn returns the error of ctx if ctx ends first.
func Learn(ctx context.Context, d *Data, o LearnOptions) (*LearnedModel, error) {
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("learning %q: %w", d.Label, err)
	}
	m := &LearnedModel{options: o, forestWeight: equalWeight, stretchFactor: 1, numericLabels: slices.Clone(d.Numbers), measurementSD: slices.Clone(d.SD), classLabels: slices.Clone(d.Classes), compositions: d.Rows}
	if d.Numbers == nil && o.Kind == ProcessAlone {
		return nil, fmt.Errorf("learning %q: it is a class, and a Gaussian process is of numbers", d.Label)
	}
	if d.Numbers == nil && o.Forest.Splits == RandomSplits && len(d.Rows) <= MaxAveragedCompositions {
		m.options.Forest.shrink = classShrinkage
	}
	known := *d
	if o.Log {
		var err error
		if known.Numbers, err = logLabels(d); err != nil {
			return nil, fmt.Errorf("learning %q: %w", d.Label, err)
		}
		known.SD = logSDs(d)
	}
	if o.Kind != ProcessAlone {
		if err := m.growForest(ctx, &known); err != nil {
			return nil, err
		}
	}
	if err := m.fitProcess(ctx, &known); err != nil {
		return nil, err
	}
	if err := m.evaluateHeldOut(ctx, &known); err != nil {
		return nil, err
	}
	return m, m.growSuccessForest(ctx, d)
}

// RefitTo learns a model from some of the data, such as a half. It keeps the choices that were made
// for all of the data: the features are the same, and a Gaussian process is fitted only if m has
// one.
func (m *LearnedModel) RefitTo(ctx context.Context, some *Data) (*LearnedModel, error) {
	o := m.options
	o.Forest, o.Features = m.forestOptions, nil
	o.Forest.Importances = false
	part := *some
	if m.forest != nil && !areAmountFeatures(m.forest.features, m.forest.ingredients) {
		part.Features = m.forest.features
	}
	if m.process == nil {
		o.Kind = ForestAlone
	}
	return Learn(ctx, &part, o)
}

// logLabels returns the logarithms of the numeric labels. The error is a [*RowError] if a label is
// not positive.
func logLabels(d *Data) ([]float64, error) {
	if d.Numbers == nil {
		return nil, fmt.Errorf("it is a class, which has no logarithm")
	}
	logs := make([]float64, len(d.Numbers))
	for r, y := range d.Numbers {
		if !(y > 0) {
			return nil, &RowError{r, fmt.Sprintf("the number %v has no logarithm", y)}
		}
		logs[r] = log(y)
	}
	return logs, nil
}

// logSDs returns the standard deviations of the logarithms of the labels. To first order, they are
// SD/label. It returns nil if the data has no standard deviations.
func logSDs(d *Data) []float64 {
	if d.SD == nil {
		return nil
	}
	sd := make([]float64, len(d.SD))
	for r, v := range d.SD {
		sd[r] = v / d.Numbers[r]
	}
	return sd
}

// growForest grows the forest of the model. If there are several feature sets, it first chooses one
// of them by cross-validation.
func (m *LearnedModel) growForest(ctx context.Context, d *Data) (err error) {
	whole, sets := *d, m.options.Features
	m.forestOptions = m.options.Forest
	if len(sets) > 0 {
		whole.Features = sets[0].Features
	}
	if len(sets) > 1 && len(d.Rows) >= 2*defaultFoldCount {
		var candidates []Candidate
		for k, s := range sets {
			o := m.options.forestOptions(k, s)
			if o.Trees = cmp.Or(o.Trees, maxFeatureSetTrees); o.Trees > maxFeatureSetTrees {
				o.Trees = maxFeatureSetTrees
			}
			candidates = append(candidates, Candidate{s.Name, s.Features, o})
		}
		some := d.firstRows(maxFeatureSetRows)
		if m.featureSetChoice, err = Choose(ctx, some, candidates, featureSetRepeats, defaultFoldCount, m.options.Forest.Seed); err != nil {
			return err
		}
		m.featureSetChoice.Chosen = m.featureSetChoice.bestCandidate()
		whole.Features = sets[m.featureSetChoice.Chosen].Features
		m.forestOptions = m.options.forestOptions(m.featureSetChoice.Chosen, sets[m.featureSetChoice.Chosen])
	}
	if m.forest, err = Grow(ctx, &whole, m.forestOptions); err != nil || d.Numbers == nil || m.forestOptions.SmallestLeaf > 0 || m.forestOptions.Splits != RandomSplits {
		return err
	}
	// Where the labels are mostly noise, large leaves are better.
	large := m.forestOptions
	large.SmallestLeaf = largeLeafRows
	f, err := Grow(ctx, &whole, large)
	if err == nil && f.quality.Numbers != nil && f.quality.Numbers.CRPS < m.forest.quality.Numbers.CRPS {
		m.forest, m.forestOptions = f, large
	}
	return err
}

// largeLeafRows is the least number of rows in a leaf of a second way to grow the forest, which is
// tried for numbers. Large leaves are better if the labels are mostly noise.
const largeLeafRows = 5

// forestOptions returns the options of a forest that uses the feature set with index k. The sets
// after the first have descriptors, which are more informative than amounts. With these sets, all
// features are tried at each split.
func (o *LearnOptions) forestOptions(k int, s FeatureSet) Options {
	of := o.Forest
	if k > 0 && of.Splits == RandomSplits && of.FeaturesPerSplit == 0 {
		of.FeaturesPerSplit = len(s.Features)
	}
	return of
}

// bestCandidate returns the index of the candidate with the lowest loss. A candidate other than the
// first counts only if it is better than the first by more than the standard error of the
// difference.
func (c *CandidateChoice) bestCandidate() int {
	best := 0
	for k, t := range c.Tried {
		if t.Gain > t.GainSE && t.Loss < c.Tried[best].Loss {
			best = k
		}
	}
	return best
}

// firstRows returns the data with only its first rows, at most maxRows of them.
func (d *Data) firstRows(maxRows int) *Data {
	some := *d
	if len(d.Rows) > maxRows {
		some.Rows = d.Rows[:maxRows]
		if d.Numbers != nil {
			some.Numbers = d.Numbers[:maxRows]
			if d.SD != nil {
				some.SD = d.SD[:maxRows]
			}
		} else {
			some.Classes = d.Classes[:maxRows]
		}
	}
	return &some
}

// fitProcess fits the Gaussian process if the options ask for one.
func (m *LearnedModel) fitProcess(ctx context.Context, d *Data) (err error) {
	if d.Numbers == nil || m.options.Kind == ForestAlone {
		return nil
	}
	p, err := newProcess(d, ProcessOptions{})
	if m.options.Kind == BestKind && (err != nil || len(p.compositions) > MaxAveragedCompositions || len(p.compositions) < minAveragedCompositions) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("learning %q: %w", d.Label, err)
	}
	if p.hyperparameters, err = p.fitHyperparameters(ctx); err != nil {
		return err
	}
	m.process = p
	return p.precompute(ctx)
}

// evaluateHeldOut measures how well the model predicts held-out rows. It drops the process if
// averaging makes the model worse: if the mean of forest and process has a greater loss than the
// forest, by more than the standard error of the difference.
func (m *LearnedModel) evaluateHeldOut(ctx context.Context, d *Data) error {
	if m.process == nil && !m.options.Log {
		m.quality = m.forest.Quality()
		if q := m.quality.Numbers; q != nil {
			m.intervalShift = q.Widen90
		}
		return nil
	}
	names := []string{"forest", "Gaussian process", "average of both"}
	var meters [3]*distributionMeter
	for k := range meters {
		meters[k] = newDistributionMeter(m.numericLabels)
	}
	held := m.newHeldOutPredictor()
	if m.forest != nil && m.process != nil {
		m.forestWeight = held.chooseForestWeight(d.Numbers)
	}
	for r := range d.Rows {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		grown, fitted := held.rowDistributions(r)
		for k, l := range []Distribution{grown, fitted, m.average(grown, fitted)} {
			if l.Values != nil {
				meters[k].addRow(m.numericLabels[r], m.toLabelUnit(l))
			}
		}
	}
	if m.forest != nil && m.process != nil {
		for k, meter := range meters {
			loss, gain := differenceMoments(meter.rowCRPS, nil), differenceMoments(meters[0].rowCRPS, meter.rowCRPS)
			if len(meter.rowCRPS) != len(meters[0].rowCRPS) {
				gain = meanAccumulator{n: 1} // some rows are in the bootstrap of every tree
			}
			m.heldOutResults = append(m.heldOutResults, CandidateResult{names[k], loss.mean(), loss.standardError(), gain.mean(), gain.standardError()})
		}
		if t := m.heldOutResults[2]; t.Gain < -t.GainSE {
			m.process = nil
		}
	}
	return m.calibrateIntervals(ctx, held)
}

// stretchFactors returns the candidates for the stretch factor of predicted distributions: 0.5,
// 0.55, …, 1.5. A factor corrects the width of a distribution: the mixture of two distributions,
// for example, is wider than either.
func stretchFactors() (all []float64) {
	for k := 10; k <= 30; k++ {
		all = append(all, float64(k)/20)
	}
	return all
}

// calibrateIntervals sets two corrections from held-out rows: the stretch factor of predicted
// distributions, and the shift of the ends of 90 % intervals. It then measures the quality of the
// corrected predictions.
func (m *LearnedModel) calibrateIntervals(ctx context.Context, held *heldOutPredictor) error {
	if m.process == nil {
		held.means = nil
	}
	if m.process != nil || len(m.compositions) <= MaxAveragedCompositions {
		if err := m.chooseStretch(ctx, held); err != nil {
			return err
		}
	}
	meter := newDistributionMeter(m.numericLabels)
	for r := range m.compositions {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if l := m.average(held.rowDistributions(r)); l.Values != nil {
			meter.addRow(m.numericLabels[r], m.toLabelUnit(l.stretchedAboutMean(m.stretchFactor)))
		}
	}
	m.quality, m.intervalShift = meter.quality()
	return nil
}

// chooseStretch sets the stretch factor to the one of [stretchFactors] with the least CRPS on
// held-out rows.
func (m *LearnedModel) chooseStretch(ctx context.Context, held *heldOutPredictor) error {
	all := stretchFactors()
	losses := make([]float64, len(all))
	for r := range m.compositions {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		l := m.average(held.rowDistributions(r))
		if l.Values == nil {
			continue
		}
		for k, by := range all {
			losses[k] += m.toLabelUnit(l.stretchedAboutMean(by)).CRPS(m.numericLabels[r])
		}
	}
	m.stretchFactor = all[slices.Index(losses, slices.Min(losses))]
	return nil
}

// equalWeight is the weight of the forest unless forest or process is much better than the other.
const equalWeight = 0.5

// equalLossRatio is the greatest ratio of the held-out CRPS of forest and process for which their
// weights are equal. Unequal weights for smaller ratios would hardly reduce errors, and would make
// extreme predictions too extreme.
const equalLossRatio = 1.5

// chooseForestWeight returns the weight of the forest in the mean of forest and process. Let r be the
// greater of the two held-out CRPS divided by the smaller one and by equalLossRatio. If r is above 1, the
// weight of the worse model is 1/(1 + r⁸). The parameter labels has the numeric labels on the scale on
// which the model learns.
func (h *heldOutPredictor) chooseForestWeight(labels []float64) float64 {
	var forestLoss, processLoss meanAccumulator
	for r, y := range labels {
		grown, fitted := h.rowDistributions(r)
		if grown.Values == nil {
			continue
		}
		forestLoss.add(grown.CRPS(y))
		processLoss.add(fitted.CRPS(y))
	}
	ratio := forestLoss.mean() / processLoss.mean()
	excess := max(ratio, 1/ratio) / equalLossRatio
	if !(excess > 1) { // it is not a number if neither has errors
		return equalWeight
	}
	fourth := float64(float64(excess*excess) * float64(excess*excess))
	worse := 1 / (1 + float64(fourth*fourth))
	if ratio > 1 {
		return worse
	}
	return 1 - worse
}

// average returns the mixture of the distributions by the forest and by the process. If one of them
// is empty, it returns the other.
func (m *LearnedModel) average(grown, fitted Distribution) Distribution {
	switch {
	case grown.Values == nil:
		return fitted
	case fitted.Values == nil:
		return grown
	}
	return mixDistributions(grown, fitted, m.forestWeight)
}

// toLabelUnit converts a distribution on the scale on which the model learns to the unit of the
// label. The two scales differ only if the model learns logarithms.
func (m *LearnedModel) toLabelUnit(l Distribution) Distribution {
	if !m.options.Log {
		return l
	}
	values := make([]float64, len(l.Values))
	for k, v := range l.Values {
		values[k] = exp(v)
	}
	return Distribution{values, l.Weights}
}

// growSuccessForest grows the forest that predicts success, that is, whether a composition can be
// made and measured. It does nothing if no composition failed.
func (m *LearnedModel) growSuccessForest(ctx context.Context, d *Data) (err error) {
	if len(m.options.Failed) == 0 {
		return nil
	}
	all := Data{Label: d.Label, Ingredients: d.Ingredients, Total: d.Total, Beside: d.Beside, Rows: slices.Concat(d.Rows, m.options.Failed)}
	for r := range all.Rows {
		class := madeClass
		if r >= len(d.Rows) {
			class = failedClass
		}
		all.Classes = append(all.Classes, class)
	}
	if m.forest != nil && !areAmountFeatures(m.forest.features, m.forest.ingredients) {
		all.Features = m.forest.features
	}
	o := m.options.Forest
	o.FeaturesPerSplit, o.SmallestLeaf, o.Importances = 0, 0, false
	if o.Splits == RandomSplits && len(all.Rows) <= MaxAveragedCompositions {
		o.shrink = classShrinkage
	}
	m.successForest, err = Grow(ctx, &all, o)
	return err
}

// A heldOutPredictor predicts each row of a model's own data without the row: by trees, and by a
// process, that have not seen the row.
type heldOutPredictor struct {
	*LearnedModel
	leftOutByTree []leftOutRows // the rows that each tree has not seen
	composition   []int32       // scratch memory: a dense composition; zero between uses
	means         []float64     // mean of the process's held-out prediction of each row; nil if there is no process
	// heldOutSDs holds the standard deviation of the process's held-out prediction of each row. It
	// is nil if there is no process.
	heldOutSDs []float64
}

// newHeldOutPredictor returns a predictor of the rows of the model's data.
func (m *LearnedModel) newHeldOutPredictor() *heldOutPredictor {
	h := &heldOutPredictor{LearnedModel: m}
	if m.forest != nil {
		h.leftOutByTree = m.forest.redrawLeftOutRows()
		h.composition = make([]int32, len(m.forest.ingredients))
	}
	if m.process != nil {
		h.means, h.heldOutSDs = m.process.HeldOut()
	}
	return h
}

// rowDistributions returns two predictions of row r without the row: the distribution by the forest
// (grown) and that by the process (fitted). Both are on the scale on which the model learns. A
// distribution is empty if the model has no forest or process, or if every tree has seen the row.
func (h *heldOutPredictor) rowDistributions(r int) (grown, fitted Distribution) {
	if h.forest != nil {
		if law := h.forest.outOfBagWeights(h.rowFeatures(r), r, h.leftOutByTree, nil); len(law) > 0 {
			grown = Distribution{h.forest.numbers, law}
		}
	}
	if h.means != nil {
		fitted = normalDistribution(h.means[r], h.heldOutSDs[r])
	}
	return grown, fitted
}

// rowFeatures returns the features of row r.
func (h *heldOutPredictor) rowFeatures(r int) []int32 {
	for _, p := range h.compositions[r] {
		h.composition[p.Ingredient] = p.Amount
	}
	values := h.forest.featureValues(h.composition)
	for _, p := range h.compositions[r] {
		h.composition[p.Ingredient] = 0
	}
	return values
}

// redrawLeftOutRows returns, for each tree, the rows that are not in the tree's bootstrap sample.
// The seed determines the samples, so that it can draw them again.
func (f *Forest) redrawLeftOutRows() []leftOutRows {
	leftOut := make([]leftOutRows, len(f.trees))
	drawn := make([]int32, f.rowCount)
	for k := range leftOut {
		leftOut[k] = f.drawBootstrap(newRandomStream(f.options.Seed, streamForGrowing, uint64(k)), drawn)
	}
	return leftOut
}

// Label returns the name of the predicted quantity.
func (m *LearnedModel) Label() string {
	if m.forest == nil {
		return m.process.label
	}
	return m.forest.label
}

// Forest returns the forest, or nil if there is none.
func (m *LearnedModel) Forest() *Forest { return m.forest }

// Process returns the Gaussian process, or nil if there is none.
func (m *LearnedModel) Process() *Process { return m.process }

// Options returns the options with which the model was learnt.
func (m *LearnedModel) Options() LearnOptions { return m.options }

// Numeric reports whether the label is a number rather than a class.
func (m *LearnedModel) Numeric() bool { return m.numericLabels != nil }

// Classes returns the names of the classes in ascending order, or nil if the label is a number.
func (m *LearnedModel) Classes() []string {
	if m.forest == nil {
		return nil
	}
	return m.forest.Classes()
}

// Rows returns the number of rows from which the model was learnt. Failed compositions do not
// count.
func (m *LearnedModel) Rows() int { return len(m.compositions) }

// FailedCount returns the number of compositions in [LearnOptions.Failed].
func (m *LearnedModel) FailedCount() int { return len(m.options.Failed) }

// Range returns the smallest and the largest numeric label of the rows. Both are 0 if the label is
// a class.
func (m *LearnedModel) Range() (smallest, largest float64) {
	if !m.Numeric() {
		return 0, 0
	}
	return slices.Min(m.numericLabels), slices.Max(m.numericLabels)
}

// Quality returns how well the model predicts held-out rows.
func (m *LearnedModel) Quality() Quality { return m.quality }

// Choice returns the result of the cross-validation that chose the feature set, or nil if there was
// only one set.
func (m *LearnedModel) Choice() *CandidateChoice { return m.featureSetChoice }

// HeldOutComparison returns three results on held-out rows: of the forest, of the process and of
// their mean. Each has the CRPS and its gain over the CRPS of the forest. HeldOutComparison returns
// nil unless both models were learnt.
func (m *LearnedModel) HeldOutComparison() []CandidateResult { return slices.Clone(m.heldOutResults) }

// Compositions returns the rows from which the model was learnt. The caller must not change them.
func (m *LearnedModel) Compositions() [][]Part { return m.compositions }

// NumericLabels returns the numeric labels of the rows, or nil if the labels are classes.
func (m *LearnedModel) NumericLabels() []float64 { return slices.Clone(m.numericLabels) }

// Law returns the predicted distribution of the label for the dense composition x, in the unit of
// the label. It panics if the label is a class.
func (m *LearnedModel) Law(x []int32) Distribution {
	var grown, fitted Distribution
	if m.forest != nil {
		grown = m.forest.Law(x)
	}
	if m.process != nil {
		fitted = m.process.Law(x)
	}
	return m.toLabelUnit(m.average(grown, fitted).stretchedAboutMean(m.stretchFactor))
}

// Predict returns the expected label for the dense composition x, and a 90 % prediction interval
// for new rows that are drawn like the known rows. It panics if the label is a class.
//
// The ends of the interval are the 5 % and 95 % quantiles of the predicted distribution. They are
// then moved apart as far as held-out rows require (conformalised quantile regression: Romano,
// Patterson and Candès 2019). The distribution of a process, and so the interval, is wide where the
// dataset has no similar composition.
//
// The interval does not hold for a composition that a search has found. The more candidates the
// search chose from, the more of the predicted value is luck.
func (m *LearnedModel) Predict(x []int32) Prediction { return m.predictFromDistribution(m.Law(x)) }

// predictFromDistribution returns the prediction that follows from the predicted distribution l of
// the label.
func (m *LearnedModel) predictFromDistribution(l Distribution) Prediction {
	p := Prediction{Value: l.Mean()}
	p.Low = min(l.Quantile(0.05)-m.intervalShift, p.Value)
	p.High = max(l.Quantile(0.95)+m.intervalShift, p.Value)
	if m.process == nil { // a forest cannot predict beyond the labels
		least, greatest := m.Range()
		p.Low, p.High = max(p.Low, min(least, p.Value)), min(p.High, max(greatest, p.Value))
	}
	if m.options.Log {
		p.Low = max(p.Low, 0)
	}
	return p
}

// HeldOut returns the prediction for each row of the data, by a model without that row. If every
// tree has seen a row and there is no process, the numbers of the prediction are NaN. HeldOut
// panics if the label is a class.
func (m *LearnedModel) HeldOut() []Prediction {
	held := m.newHeldOutPredictor()
	all := make([]Prediction, len(m.compositions))
	for r := range all {
		l := m.average(held.rowDistributions(r))
		if l.Values == nil {
			all[r] = Prediction{math.NaN(), math.NaN(), math.NaN()}
			continue
		}
		all[r] = m.predictFromDistribution(m.toLabelUnit(l.stretchedAboutMean(m.stretchFactor)))
	}
	return all
}

// Shares returns the predicted probability of each class for the dense composition x, or nil if the
// label is a number.
func (m *LearnedModel) Shares(x []int32) []float64 {
	if m.forest == nil {
		return nil
	}
	return m.forest.Shares(x)
}
