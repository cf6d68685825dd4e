package model

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// A Kind selects which models are learnt from a dataset.
type Kind int

const (
	// Best is a forest for classes. For numbers of up to [MostAveraged] compositions it is the mean
	// of a forest and a Gaussian process, or the forest alone if the mean is worse on held-out
	// rows.
	Best Kind = iota
	// ForestAlone is a forest.
	ForestAlone
	// ProcessAlone is a Gaussian process; it needs numbers.
	ProcessAlone
)

// MostAveraged is the greatest number of different compositions for which a forest is averaged with
// a Gaussian process. The process's fit takes time in proportion to the cube of that number, and
// its lines in proportion to it.
const MostAveraged = 1000

// fewestAveraged is the least number of different compositions to fit a process: with fewer, its
// lengths are those of the priors.
const fewestAveraged = 8

// A FeatureSet is a named set of features that the splits of a forest may test.
type FeatureSet struct {
	Name     string
	Features []Feature // as in [Data]
}

// LearnOptions set how a model is learnt from a dataset. The zero value of a field selects its
// default.
type LearnOptions struct {
	Kind   Kind
	Forest Options
	// Features are compared by cross-validation if there are several sets; list the simplest first.
	// A later one is taken if its loss is lower by more than the standard error. Without any, those
	// of the data are taken.
	Features []FeatureSet
	// Log learns the logarithms of numbers, which must be above 0. Predictions are in the label's
	// unit all the same. The scores of a direction are on the logarithmic scale, from the smallest
	// to the largest.
	Log bool
	// Failed are compositions that were tried and could not be measured. From them a model learns a
	// probability of success, which multiplies the scores.
	Failed [][]Part
}

// Features are chosen with choosingRepeats deals of the rows to folds, on at most mostChosen rows.
const choosingRepeats, mostChosen = 3, 2000

// triedTrees is the greatest number of trees of a forest in a comparison.
const triedTrees = 50

// A Learned is the model that [Learn] returns: a forest, a Gaussian process, or the mean of both,
// with their errors on held-out rows. A forest predicts a held-out row by the trees whose bootstrap
// left it out, a process by the rows of other compositions. A Learned does not change, so that any
// number of goroutines may use it.
type Learned struct {
	options       LearnOptions
	forestOptions Options  // options of the forest
	forest        *Forest  // nil for a process alone
	process       *Process // nil for a forest alone
	success       *Forest  // a forest with the classes made and failed; nil if nothing failed

	numbers       []float64 // labels of the data, as given; nil for classes
	sd            []float64 // standard deviations of the measurements; nil if none is known
	classes       []string  // labels of the data; nil for numbers
	rows          [][]Part
	quality       Quality
	choice        *Choice // the comparison of feature sets; nil if there was only one set
	heldOutErrors []Tried // errors of the forest, the process and their average
	stretchFactor float64 // factor by which a law is stretched about its mean
	intervalShift float64 // by how much each end of a 90 % interval moves outwards
}

// The classes of the forest that predicts which compositions can be made.
const (
	madeClass   = "made"
	failedClass = "failed"
)

// Learn learns the best model that the options allow. The result depends only on the data and the
// options. The error is ctx's if ctx ends first.
func Learn(ctx context.Context, d *Data, o LearnOptions) (*Learned, error) {
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("learning %q: %w", d.Label, err)
	}
	m := &Learned{options: o, stretchFactor: 1, numbers: slices.Clone(d.Numbers), sd: slices.Clone(d.SD), classes: slices.Clone(d.Classes), rows: d.Rows}
	if d.Numbers == nil && o.Kind == ProcessAlone {
		return nil, fmt.Errorf("learning %q: it is a class, and a Gaussian process is of numbers", d.Label)
	}
	if d.Numbers == nil && o.Forest.Splits == RandomSplits && len(d.Rows) <= MostAveraged {
		m.options.Forest.shrink = leafShrink
	}
	known := *d
	if o.Log {
		var err error
		if known.Numbers, err = logarithms(d); err != nil {
			return nil, fmt.Errorf("learning %q: %w", d.Label, err)
		}
		known.SD = logSDs(d)
	}
	if o.Kind != ProcessAlone {
		if err := m.grow(ctx, &known); err != nil {
			return nil, err
		}
	}
	if err := m.fit(ctx, &known); err != nil {
		return nil, err
	}
	if err := m.evaluate(ctx, &known); err != nil {
		return nil, err
	}
	return m, m.learnSuccess(ctx, d)
}

// Refit learns from some of the data with the choices made for all of it: the same features, and a
// process if it was kept.
func (m *Learned) Refit(ctx context.Context, some *Data) (*Learned, error) {
	o := m.options
	o.Forest, o.Features = m.forestOptions, nil
	o.Forest.Importances = false
	part := *some
	if m.forest != nil && !plainFeatures(m.forest.features, m.forest.ingredients) {
		part.Features = m.forest.features
	}
	if m.process == nil {
		o.Kind = ForestAlone
	}
	return Learn(ctx, &part, o)
}

// logarithms returns the logarithms of the numbers.
func logarithms(d *Data) ([]float64, error) {
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

// logSDs returns the standard deviations of the logarithms of the labels, to first order: sd/label.
// It returns nil if the data has no standard deviations.
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

// grow grows the forest, with the features that cross-validation chooses.
func (m *Learned) grow(ctx context.Context, d *Data) (err error) {
	whole, sets := *d, m.options.Features
	m.forestOptions = m.options.Forest
	if len(sets) > 0 {
		whole.Features = sets[0].Features
	}
	if len(sets) > 1 && len(d.Rows) >= 2*folds {
		var candidates []Candidate
		for k, s := range sets {
			o := m.options.forest(k, s)
			if o.Trees = cmp.Or(o.Trees, triedTrees); o.Trees > triedTrees {
				o.Trees = triedTrees
			}
			candidates = append(candidates, Candidate{s.Name, s.Features, o})
		}
		some := d.firstRows(mostChosen)
		if m.choice, err = Choose(ctx, some, candidates, choosingRepeats, folds, m.options.Forest.Seed); err != nil {
			return err
		}
		m.choice.Chosen = m.choice.bestCandidate()
		whole.Features = sets[m.choice.Chosen].Features
		m.forestOptions = m.options.forest(m.choice.Chosen, sets[m.choice.Chosen])
	}
	if m.forest, err = Grow(ctx, &whole, m.forestOptions); err != nil || d.Numbers == nil || m.forestOptions.SmallestLeaf > 0 || m.forestOptions.Splits != RandomSplits {
		return err
	}
	// Where the labels are mostly noise, large leaves are better.
	large := m.forestOptions
	large.SmallestLeaf = largeLeaf
	f, err := Grow(ctx, &whole, large)
	if err == nil && f.quality.Numbers != nil && f.quality.Numbers.CRPS < m.forest.quality.Numbers.CRPS {
		m.forest, m.forestOptions = f, large
	}
	return err
}

// largeLeaf is the least number of rows in a leaf of a forest of noisy labels.
const largeLeaf = 5

// forest returns the options of a forest of the k-th set of features. If the set has descriptors,
// all features are tried at a split, because a descriptor is more informative than an amount.
func (o *LearnOptions) forest(k int, s FeatureSet) Options {
	of := o.Forest
	if k > 0 && of.Splits == RandomSplits && of.FeaturesPerSplit == 0 {
		of.FeaturesPerSplit = len(s.Features)
	}
	return of
}

// bestCandidate returns the candidate of the lowest loss among the first one and those whose loss
// is below the first's by more than the standard error of the difference.
func (c *Choice) bestCandidate() int {
	best := 0
	for k, t := range c.Tried {
		if t.Gain > t.GainSE && t.Loss < c.Tried[best].Loss {
			best = k
		}
	}
	return best
}

// firstRows returns the data, cut to the first so many rows.
func (d *Data) firstRows(most int) *Data {
	some := *d
	if len(d.Rows) > most {
		some.Rows = d.Rows[:most]
		if d.Numbers != nil {
			some.Numbers = d.Numbers[:most]
			if d.SD != nil {
				some.SD = d.SD[:most]
			}
		} else {
			some.Classes = d.Classes[:most]
		}
	}
	return &some
}

// fit fits the process if the options ask for one.
func (m *Learned) fit(ctx context.Context, d *Data) (err error) {
	if d.Numbers == nil || m.options.Kind == ForestAlone {
		return nil
	}
	p, err := newProcess(d, ProcessOptions{})
	if m.options.Kind == Best && (err != nil || len(p.known) > MostAveraged || len(p.known) < fewestAveraged) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("learning %q: %w", d.Label, err)
	}
	if p.hyper, err = p.fit(ctx); err != nil {
		return err
	}
	m.process = p
	return p.precompute(ctx)
}

// evaluate compares the models on held-out rows. It drops the process if that makes the average
// worse by more than the standard error.
func (m *Learned) evaluate(ctx context.Context, d *Data) error {
	if m.process == nil && !m.options.Log {
		m.quality = m.forest.Quality()
		if q := m.quality.Numbers; q != nil {
			m.intervalShift = q.Widen90
		}
		return nil
	}
	names := []string{"forest", "Gaussian process", "average of both"}
	var meters [3]*lawMeter
	for k := range meters {
		meters[k] = newLawMeter(m.numbers)
	}
	held := m.holdOut()
	for r := range d.Rows {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		grown, fitted := held.laws(r)
		for k, l := range []Law{grown, fitted, average(grown, fitted)} {
			if l.Values != nil {
				meters[k].add(m.numbers[r], m.toLabelUnit(l))
			}
		}
	}
	if m.forest != nil && m.process != nil {
		for k, meter := range meters {
			loss, gain := differenceMoments(meter.crps, nil), differenceMoments(meters[0].crps, meter.crps)
			if len(meter.crps) != len(meters[0].crps) {
				gain = moment{n: 1} // some rows are in the bootstrap of every tree
			}
			m.heldOutErrors = append(m.heldOutErrors, Tried{names[k], loss.mean(), loss.standardError(), gain.mean(), gain.standardError()})
		}
		if t := m.heldOutErrors[2]; t.Gain < -t.GainSE {
			m.process = nil
		}
	}
	return m.calibrate(ctx, held)
}

// stretchFactors returns the factors that are tried for stretching a law about its mean. The one of
// the least CRPS on held-out rows is taken. Stretching is needed because the mean of two laws is
// wider than either.
func stretchFactors() (all []float64) {
	for k := 10; k <= 30; k++ {
		all = append(all, float64(k)/20)
	}
	return all
}

// calibrate sets the stretch factor and the widening of intervals, and measures the resulting
// quality.
func (m *Learned) calibrate(ctx context.Context, held *holdout) error {
	if m.process == nil {
		held.means = nil
	}
	if m.process != nil || len(m.rows) <= MostAveraged {
		if err := m.stretch(ctx, held); err != nil {
			return err
		}
	}
	meter := newLawMeter(m.numbers)
	for r := range m.rows {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if l := average(held.laws(r)); l.Values != nil {
			meter.add(m.numbers[r], m.toLabelUnit(l.stretched(m.stretchFactor)))
		}
	}
	m.quality, m.intervalShift = meter.quality()
	return nil
}

// stretch chooses the stretch factor.
func (m *Learned) stretch(ctx context.Context, held *holdout) error {
	all := stretchFactors()
	losses := make([]float64, len(all))
	for r := range m.rows {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		l := average(held.laws(r))
		if l.Values == nil {
			continue
		}
		for k, by := range all {
			losses[k] += m.toLabelUnit(l.stretched(by)).CRPS(m.numbers[r])
		}
	}
	m.stretchFactor = all[slices.Index(losses, slices.Min(losses))]
	return nil
}

// average returns the equal mixture of two laws, or the only law.
func average(a, b Law) Law {
	switch {
	case a.Values == nil:
		return b
	case b.Values == nil:
		return a
	}
	return mixed(a, b)
}

// toLabelUnit converts a law to the label's unit.
func (m *Learned) toLabelUnit(l Law) Law {
	if !m.options.Log {
		return l
	}
	values := make([]float64, len(l.Values))
	for k, v := range l.Values {
		values[k] = exp(v)
	}
	return Law{values, l.Weights}
}

// learnSuccess grows the forest that predicts which compositions can be made.
func (m *Learned) learnSuccess(ctx context.Context, d *Data) (err error) {
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
	if m.forest != nil && !plainFeatures(m.forest.features, m.forest.ingredients) {
		all.Features = m.forest.features
	}
	o := m.options.Forest
	o.FeaturesPerSplit, o.SmallestLeaf, o.Importances = 0, 0, false
	if o.Splits == RandomSplits && len(all.Rows) <= MostAveraged {
		o.shrink = leafShrink
	}
	m.success, err = Grow(ctx, &all, o)
	return err
}

// A holdout gives the models' predictions for rows that they have not seen.
type holdout struct {
	*Learned
	bags             []bag
	x                []int32
	means, variances []float64
}

func (m *Learned) holdOut() *holdout {
	h := &holdout{Learned: m}
	if m.forest != nil {
		h.bags = m.forest.bags()
		h.x = make([]int32, len(m.forest.ingredients))
	}
	if m.process != nil {
		h.means, h.variances = m.process.HeldOut()
	}
	return h
}

// laws returns the laws of row r by the forest and by the process, in the learnt unit. A law is
// empty if its model is absent.
func (h *holdout) laws(r int) (grown, fitted Law) {
	if h.forest != nil {
		if law := h.forest.lawOutOfBag(h.features(r), r, h.bags, nil); len(law) > 0 {
			grown = Law{h.forest.numbers, law}
		}
	}
	if h.means != nil {
		fitted = normalLaw(h.means[r], h.variances[r])
	}
	return grown, fitted
}

// features returns the forest's features of row r.
func (h *holdout) features(r int) []int32 {
	for _, p := range h.rows[r] {
		h.x[p.Ingredient] = p.Amount
	}
	values := h.forest.featureValues(h.x)
	for _, p := range h.rows[r] {
		h.x[p.Ingredient] = 0
	}
	return values
}

// bags redraws the forest's bootstrap samples.
func (f *Forest) bags() []bag {
	bags := make([]bag, len(f.trees))
	drawn := make([]int32, f.rows)
	for k := range bags {
		bags[k] = f.drawBag(newStream(f.options.Seed, growing, uint64(k)), drawn)
	}
	return bags
}

// Label returns the name of the predicted quantity.
func (m *Learned) Label() string {
	if m.forest == nil {
		return m.process.label
	}
	return m.forest.label
}

// Forest returns the forest, or nil if there is none.
func (m *Learned) Forest() *Forest { return m.forest }

// Process returns the Gaussian process, or nil if there is none.
func (m *Learned) Process() *Process { return m.process }

// Options returns the options with which the model was learnt.
func (m *Learned) Options() LearnOptions { return m.options }

// Numeric reports whether the label is a number rather than a class.
func (m *Learned) Numeric() bool { return m.numbers != nil }

// Classes returns the names of the classes, ascending; nil if the label is a number.
func (m *Learned) Classes() []string {
	if m.forest == nil {
		return nil
	}
	return m.forest.Classes()
}

// Rows returns the number of learnt rows, without failures.
func (m *Learned) Rows() int { return len(m.rows) }

// Failures returns the number of compositions that could not be measured.
func (m *Learned) Failures() int { return len(m.options.Failed) }

// Range returns the smallest and largest number.
func (m *Learned) Range() (smallest, largest float64) {
	if !m.Numeric() {
		return 0, 0
	}
	return slices.Min(m.numbers), slices.Max(m.numbers)
}

// Quality returns how well the model predicts held-out rows.
func (m *Learned) Quality() Quality { return m.quality }

// Choice returns the cross-validation that chose the features, or nil if there was only one set.
func (m *Learned) Choice() *Choice { return m.choice }

// Brings returns the held-out CRPS of the forest, the process and their average, each with its gain
// over the forest. It is nil unless both were learnt.
func (m *Learned) Brings() []Tried { return slices.Clone(m.heldOutErrors) }

// Compositions returns the learnt rows, which the caller must not change.
func (m *Learned) Compositions() [][]Part { return m.rows }

// Measured returns the numbers of the data, or nil for classes.
func (m *Learned) Measured() []float64 { return slices.Clone(m.numbers) }

// Law returns the predictive law at the dense composition x, in the label's unit. It panics if the
// label is a class.
func (m *Learned) Law(x []int32) Law {
	var grown, fitted Law
	if m.forest != nil {
		grown = m.forest.Law(x)
	}
	if m.process != nil {
		fitted = m.process.Law(x)
	}
	return m.toLabelUnit(average(grown, fitted).stretched(m.stretchFactor))
}

// Predict returns the expected number at the dense composition x, and a 90 % prediction interval
// for new rows drawn as the known ones were. The ends are the 5 % and 95 % quantiles of the law,
// moved apart as held-out rows require (conformalised quantile regression: Romano, Patterson and
// Candès 2019). The law of a process is wide where the dataset has nothing near, and so is the
// interval. Predict panics if the label is a class.
//
// The interval does not hold for a composition found by a search: the more candidates it was chosen
// from, the more of its value is luck.
func (m *Learned) Predict(x []int32) Prediction { return m.predict(m.Law(x)) }

func (m *Learned) predict(l Law) Prediction {
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

// HeldOut returns the model's prediction for each row of the data without that row. It is all NaN
// where no tree left the row out. It panics if the label is a class.
func (m *Learned) HeldOut() []Prediction {
	held := m.holdOut()
	all := make([]Prediction, len(m.rows))
	for r := range all {
		l := average(held.laws(r))
		if l.Values == nil {
			all[r] = Prediction{math.NaN(), math.NaN(), math.NaN()}
			continue
		}
		all[r] = m.predict(m.toLabelUnit(l.stretched(m.stretchFactor)))
	}
	return all
}

// Shares returns the probability of each class at the dense composition x; nil if the
// label is a number.
func (m *Learned) Shares(x []int32) []float64 {
	if m.forest == nil {
		return nil
	}
	return m.forest.Shares(x)
}
