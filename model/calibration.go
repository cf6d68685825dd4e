package model

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"kir/internal/portable"
)

// A Calibration corrects a forest's probability of an outcome by how often the outcome occurs in
// rows that the forest has not seen. The correction is needed because the votes of the trees are
// overconfident where the trees have seen few rows. A search for good compositions tends to end in
// just such places.
//
// For one row, let y be the log odds of the probability that the trees predict that have not seen
// the row. Let x be y minus the mean of y over all rows. The row has the outcome with probability
//
//	P = λ·q + (1−λ)·σ(a + b·x)
//
// where q is the share of all rows with the outcome, and σ is the logistic function. The second
// term is Cox's recalibration (1958, "Two further applications of a model for binary regression"),
// as Platt (1999) uses it for classifiers. The first term adds a share λ of rows about which the
// forest knows nothing.
//
// The parameters a, b and λ have a Bayesian posterior distribution on a grid. Their priors are:
//   - a is uniform within 3 of the log odds of q,
//   - b is 0 with probability 1/4, which means that the forest knows nothing about any row, and
//     otherwise half-normal with standard deviation 1,
//   - λ is uniform from 0 to 0.3.
//
// With little evidence, P therefore stays near q and has a wide interval. No finite dataset makes P
// equal to 1.
//
// The calibration holds for rows that are drawn like the rows of the dataset. The prediction for a
// composition that a search has found is partly luck: see [Data.SplitIntoHalves].
type Calibration struct {
	rows        int // number of rows from which the calibration was learnt
	occurrences int // number of rows with the outcome
	// baseRate is q of the formula: the share of rows with the outcome, smoothed by half a row.
	baseRate    float64
	meanLogOdds float64 // mean over the rows of the log odds of the forest's probability
	// minProbability is the least probability whose log odds are taken. Probabilities are first
	// clipped to minProbability..1−minProbability.
	minProbability float64
	gridPoints     []calibrationPoint // the tried values of a, b and λ, without those of negligible posterior probability
}

// A calibrationPoint is a point of the grid of a [Calibration]: values of the parameters a, b and λ
// (the field lapse), and the posterior probability of these values (the field mass).
type calibrationPoint struct {
	a, b, lapse, mass float64
}

// An UncertainProbability is a probability that is known only with a distribution: the expected
// value, and the interval from the 5 % quantile to the 95 % quantile.
type UncertainProbability struct {
	Value float64 `json:"value"` // the expected probability
	Low   float64 `json:"low"`   // the 5 % quantile of the probability
	High  float64 `json:"high"`  // the 95 % quantile of the probability
}

const (
	interceptReach = 3.0  // the intercept a of [Calibration] is tried this far to each side of the log odds of q
	interceptStep  = 0.2  // spacing of the tried values of the intercept a of [Calibration]
	maxSlope       = 4.0  // greatest tried value of the slope b of [Calibration]
	slopeStep      = 0.1  // spacing of the tried values of the slope b of [Calibration]
	zeroSlopePrior = 0.25 // prior probability that the slope b of [Calibration] is 0
	maxLapse       = 0.3  // greatest tried value of the share λ of [Calibration]
	lapseStep      = 0.1  // spacing of the tried values of the share λ of [Calibration]
	// negligibleMass is the posterior probability, relative to the greatest, below which a point of
	// the grid is dropped.
	negligibleMass       = 1e-9
	maxCalibrationGroups = 256 // greatest number of groups into which rows with nearly equal probabilities are joined
)

// Calibrate learns a calibration from rows that the forest has not seen. The element
// probabilities[r] is the forest's probability for row r, as [Forest.OutOfBag] returns it, or NaN
// if the row is to be ignored. The element occurred[r] tells whether row r had the outcome. The
// parameter trees is the number of trees of the forest. Probabilities are clipped so that they
// differ from 0 and 1 by at least half a vote of one tree. Calibrate returns nil if all
// probabilities are NaN.
func Calibrate(probabilities []float64, occurred []bool, trees int) *Calibration {
	c := &Calibration{minProbability: 0.5 / float64(max(trees, 1))}
	var rows []calibrationRow
	for r, p := range probabilities {
		if !math.IsNaN(p) {
			rows = append(rows, calibrationRow{c.clippedLogOdds(p), occurred[r]})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b calibrationRow) int { return cmp.Compare(a.logOdds, b.logOdds) })
	for _, r := range rows {
		c.meanLogOdds += r.logOdds / float64(len(rows))
		if r.occurred {
			c.occurrences++
		}
	}
	c.rows = len(rows)
	c.baseRate = (float64(c.occurrences) + 0.5) / (float64(c.rows) + 1)
	c.normalizePoints(c.setGrid(c.groupRows(rows)))
	return c
}

// A calibrationRow is a row from which a [Calibration] is learnt.
type calibrationRow struct {
	logOdds  float64 // log odds of the forest's probability of the outcome
	occurred bool    // whether the row had the outcome
}

// A calibrationGroup summarises a group of rows with nearly equal probabilities. The field
// centredLogOdds is the mean of their log odds minus the mean over all rows. The fields occurred
// and absent are the numbers of rows with and without the outcome.
type calibrationGroup struct{ centredLogOdds, occurred, absent float64 }

// groupRows divides the rows, which are sorted by log odds, into at most [maxCalibrationGroups]
// groups of neighbouring rows. The groups limit the work of the likelihoods.
func (c *Calibration) groupRows(rows []calibrationRow) (groups []calibrationGroup) {
	size := (len(rows) + maxCalibrationGroups - 1) / maxCalibrationGroups
	for some := range slices.Chunk(rows, size) {
		var g calibrationGroup
		for _, r := range some {
			g.centredLogOdds += (r.logOdds - c.meanLogOdds) / float64(len(some))
			g.occurred += indicator(r.occurred)
			g.absent += indicator(!r.occurred)
		}
		groups = append(groups, g)
	}
	return groups
}

// setGrid sets gridPoints to all points of a grid: values of the parameters a, b and λ of
// [Calibration]. It returns the logarithm of the posterior density at each point, up to an additive
// constant.
func (c *Calibration) setGrid(groups []calibrationGroup) (logs []float64) {
	steps, slopes, lapses := roundToInt(interceptReach/interceptStep), roundToInt(maxSlope/slopeStep), roundToInt(maxLapse/lapseStep)
	priors, middle := 0.0, logOdds(c.baseRate)
	for k := 1; k <= slopes; k++ {
		priors += slopePriorDensity(float64(float64(k) * slopeStep))
	}
	sure := make([]float64, len(groups)) // σ(a + b·x) by group, which does not depend on λ
	for ka := -steps; ka <= steps; ka++ {
		for kb := 0; kb <= slopes; kb++ {
			point := calibrationPoint{a: middle + float64(float64(ka)*interceptStep), b: float64(float64(kb) * slopeStep)}
			prior := zeroSlopePrior
			if kb > 0 {
				prior = (1 - zeroSlopePrior) * slopePriorDensity(point.b) / priors
			}
			for k, g := range groups {
				sure[k] = point.sigmoid(g.centredLogOdds)
			}
			for kl := 0; kl <= lapses; kl++ {
				point.lapse = float64(float64(kl) * lapseStep)
				c.gridPoints, logs = append(c.gridPoints, point), append(logs, c.addLogLikelihoods(portable.Log(prior), point, groups, sure))
			}
		}
	}
	return logs
}

// addLogLikelihoods returns log plus the log likelihood of the parameters at a grid point, given
// the groups of rows. The element sure[g] is the σ(a + b·x) of [Calibration] for group g.
func (c *Calibration) addLogLikelihoods(log float64, point calibrationPoint, groups []calibrationGroup, sure []float64) float64 {
	for k, g := range groups {
		p := c.probabilityWithLapse(point, sure[k])
		if g.occurred > 0 {
			log += float64(g.occurred * portable.Log(p))
		}
		if g.absent > 0 {
			log += float64(g.absent * portable.Log1p(-p))
		}
	}
	return log
}

// normalizePoints sets the mass of each grid point to its posterior probability. The element
// logs[k] is the log posterior density at point k, up to a constant. Points whose probability is
// negligible are dropped, and the other probabilities are scaled so that they sum to 1.
func (c *Calibration) normalizePoints(logs []float64) {
	top := math.Inf(-1)
	for _, log := range logs {
		top = max(top, log)
	}
	kept, mass := c.gridPoints[:0], 0.0
	for k, log := range logs {
		point := c.gridPoints[k]
		if point.mass = portable.Exp(log - top); point.mass >= negligibleMass {
			kept = append(kept, point)
			mass += point.mass
		}
	}
	for k := range kept {
		kept[k].mass /= mass
	}
	c.gridPoints = slices.Clip(kept)
}

// slopePriorDensity returns the prior density of a slope b > 0 of [Calibration], up to a constant
// factor.
func slopePriorDensity(b float64) float64 { return portable.Exp(float64(-float64(b*b) / 2)) }

// logOdds returns log(p/(1−p)).
func logOdds(p float64) float64 { return portable.Log(p / (1 - p)) }

// clippedLogOdds clips probability p to the range from minProbability to 1−minProbability. It
// returns the log odds of the result.
func (c *Calibration) clippedLogOdds(p float64) float64 {
	return logOdds(min(max(p, c.minProbability), 1-c.minProbability))
}

// roundToInt returns v rounded to the nearest integer.
func roundToInt(v float64) int { return int(math.Round(v)) }

// sigmoid returns the logistic function of a + b·x, where a and b are those of the grid point.
func (p calibrationPoint) sigmoid(x float64) float64 {
	return 1 / (1 + portable.Exp(-p.a-float64(p.b*x)))
}

// probabilityWithLapse returns the P of [Calibration] at grid point p: λ·q + (1−λ)·sure, where sure
// is σ(a + b·x).
func (c *Calibration) probabilityWithLapse(p calibrationPoint, sure float64) float64 {
	return float64(p.lapse*c.baseRate) + float64((1-p.lapse)*sure)
}

// Value returns the expected calibrated probability, given the probability that the forest
// predicts.
func (c *Calibration) Value(probability float64) float64 {
	sum := 0.0
	for p, mass := range c.pointProbabilities(probability) {
		sum += float64(mass * p)
	}
	return c.extrapolate(probability, sum)
}

// pointProbabilities yields one pair for each grid point: the calibrated probability P at that
// point, and the posterior probability (mass) of the point. The parameter probability is the
// forest's probability. Grid points that differ only in λ follow each other.
func (c *Calibration) pointProbabilities(probability float64) iter.Seq2[float64, float64] {
	x := c.clippedLogOdds(probability) - c.meanLogOdds
	return func(yield func(p, mass float64) bool) {
		a, b, sure := math.NaN(), math.NaN(), 0.0
		for _, point := range c.gridPoints {
			if point.a != a || point.b != b {
				a, b, sure = point.a, point.b, point.sigmoid(x)
			}
			if !yield(c.probabilityWithLapse(point, sure), point.mass) {
				return
			}
		}
	}
}

// extrapolate adjusts a calibrated chance if the forest's probability had to be clipped. The chance
// then still rises a little with the forest's probability, so that compositions keep their order.
func (c *Calibration) extrapolate(probability, chance float64) float64 {
	switch {
	case probability > 1-c.minProbability:
		return chance + float64((probability-(1-c.minProbability))*(1-chance))
	case probability < c.minProbability:
		return chance - float64((c.minProbability-probability)*chance)
	}
	return chance
}

// Chance returns the calibrated probability P and its uncertainty, given the probability that the
// forest predicts: the mean of P, and an interval that contains P with probability 0.9. The mean
// does not fall when the forest's probability rises.
func (c *Calibration) Chance(probability float64) UncertainProbability {
	type weighed struct{ p, mass float64 }
	all, mean := make([]weighed, 0, len(c.gridPoints)), 0.0
	for p, mass := range c.pointProbabilities(probability) {
		all = append(all, weighed{p, mass})
		mean += float64(mass * p)
	}
	slices.SortFunc(all, func(a, b weighed) int { // written out for speed
		switch {
		case a.p < b.p:
			return -1
		case a.p > b.p:
			return 1
		}
		return cmp.Compare(a.mass, b.mass)
	})
	quantile := func(q float64) float64 {
		sum := 0.0
		for _, w := range all {
			if sum += w.mass; sum >= q {
				return w.p
			}
		}
		return all[len(all)-1].p
	}
	value := c.extrapolate(probability, mean)
	return UncertainProbability{Value: value, Low: min(quantile(0.05), value), High: max(quantile(0.95), value)}
}

// A calibrationCurve is a fast approximation of [Calibration.Value]. It interpolates linearly
// between knots, which are equally spaced in the log odds of the forest's probability. The curve
// never falls.
type calibrationCurve struct {
	calibration *Calibration
	firstKnot   float64   // log odds of the forest's probability at the first knot
	knotStep    float64   // distance between neighbouring knots, in log odds
	values      []float64 // calibrated probability at each knot
}

// curveSegmentCount is the number of linear segments of a [calibrationCurve]. The interpolated
// probability differs from the exact one by less than a thousandth.
const curveSegmentCount = 128

// newCurve returns a [calibrationCurve] of the calibration.
func (c *Calibration) newCurve() *calibrationCurve {
	first := logOdds(c.minProbability)
	v := &calibrationCurve{calibration: c, firstKnot: first, knotStep: float64(float64(-2*first) / curveSegmentCount), values: make([]float64, curveSegmentCount+1)}
	for k := range v.values {
		v.values[k] = c.Value(1 / (1 + portable.Exp(-first-float64(float64(k)*v.knotStep))))
		if k > 0 {
			v.values[k] = max(v.values[k], v.values[k-1])
		}
	}
	return v
}

// chanceAt returns the calibrated probability, given the probability that the model predicts. If
// the curve is nil, it returns the given probability.
func (v *calibrationCurve) chanceAt(probability float64) float64 {
	if v == nil {
		return probability
	}
	t := (v.calibration.clippedLogOdds(probability) - v.firstKnot) / v.knotStep
	k := min(max(int(t), 0), curveSegmentCount-1)
	from, to := v.values[k], v.values[k+1]
	return v.calibration.extrapolate(probability, min(from+float64(max(t-float64(k), 0)*(to-from)), to))
}
