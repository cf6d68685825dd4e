package model

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"kir/internal/portable"
)

// A Calibration corrects a forest's probability of an outcome by how often the outcome occurs in
// rows that the forest has not seen. The correction is needed because the trees' votes are
// overconfident where the trees have seen few rows. A search finds just such places.
//
// For one row, let y be the log odds of the probability by the trees that left the row out. Let x
// be y minus the mean of y over all rows. The row has the outcome with probability
//
//	P = λ·q + (1−λ)·σ(a + b·x)
//
// where q is the share of all rows with the outcome, and σ is the logistic function. The second
// term is Cox's recalibration (1958, "Two further applications of a model for binary regression"),
// as Platt (1999) uses it for classifiers. The first term adds a share λ of rows about which the
// forest knows nothing.
//
// The parameters a, b and λ have a Bayesian posterior distribution on a grid. The prior of a is
// uniform within 3 of the log odds of q. The prior of λ is uniform from 0 to 0.3. With prior
// probability 1/4, b is 0, which means that the forest knows nothing about any row. Otherwise b is
// half-normal with standard deviation 1. With little evidence, P therefore stays near q and has a
// wide interval. No finite dataset makes P equal to 1.
//
// The calibration holds for rows that are drawn like the rows of the dataset. A composition that a
// search has found also profits from luck: see [Data.SplitIntoHalves].
type Calibration struct {
	rows, occurrences int                // number of rows, and number of rows with the outcome
	baseRate          float64            // q, the share of rows with the outcome
	meanLogOdds       float64            // mean over the rows of the log odds of the forest's probability
	minProbability    float64            // probabilities are clipped to minProbability..1−minProbability before the log odds are taken
	gridPoints        []calibrationPoint // the points of the grid that have nearly all of the posterior mass
}

// A calibrationPoint is one point of the grid of a [Calibration]: the parameters a, b and λ
// (lapse), and the posterior mass of the point.
type calibrationPoint struct {
	a, b, lapse, mass float64
}

// A UncertainProbability is an uncertain probability: its expected value, and the interval from its 5 % quantile
// to its 95 % quantile.
type UncertainProbability struct {
	Value float64 `json:"value"` // the expected probability
	Low   float64 `json:"low"`   // the 5 % quantile of the probability
	High  float64 `json:"high"`  // the 95 % quantile of the probability
}

const (
	interceptReach       = 3.0  // the grid of a extends this far to each side of the log odds of q
	interceptStep        = 0.2  // spacing of the grid in a
	maxSlope             = 4.0  // the greatest b of the grid
	slopeStep            = 0.1  // spacing of the grid in b
	zeroSlopePrior       = 0.25 // the prior probability of b = 0
	maxLapse             = 0.3  // the greatest λ of the grid
	lapseStep            = 0.1  // spacing of the grid in λ
	negligibleMass       = 1e-9 // a grid point is dropped if its mass is less than this share of the largest mass
	maxCalibrationGroups = 256  // greatest number of groups of rows with nearly equal probabilities
)

// Calibrate learns a calibration from rows that the forest has not seen. The parameter
// probabilities holds the forest's probability for each row, as [Forest.OutOfBag] returns it; NaN
// means that the row is ignored. The element came[r] tells whether row r had the outcome. The
// parameter trees is the number of trees: the probabilities are clipped to at least half a vote of
// one tree from 0 and 1. Calibrate returns nil if all probabilities are NaN.
func Calibrate(probabilities []float64, came []bool, trees int) *Calibration {
	c := &Calibration{minProbability: 0.5 / float64(max(trees, 1))}
	var rows []calibrationRow
	for r, p := range probabilities {
		if !math.IsNaN(p) {
			rows = append(rows, calibrationRow{c.clippedLogOdds(p), came[r]})
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

// A calibrationRow is the log odds of a row's probability, and whether the row had the outcome.
type calibrationRow struct {
	logOdds  float64
	occurred bool
}

// A calibrationGroup summarises rows with nearly equal probabilities: the mean of their log odds
// minus the mean over all rows, the number of rows that had the outcome, and the number of rows
// that did not.
type calibrationGroup struct{ centredLogOdds, occurred, absent float64 }

// groupRows divides the sorted rows into at most [maxCalibrationGroups] groups of neighbours, which
// bounds the work.
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

// setGrid sets gridPoints to all points of the grid of a, b and λ. It returns the logarithm of the
// posterior density of each point, up to a constant.
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

// addLogLikelihoods returns log plus the log likelihoods of all groups at a grid point. The
// parameter sure holds σ(a + b·x) for each group.
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

// normalizePoints computes the mass of each grid point from logs, the log posterior density of each
// point. It drops the points with negligible mass and scales the other masses to a sum of 1.
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

// slopePriorDensity returns the prior density of a slope b > 0, up to a constant factor.
func slopePriorDensity(b float64) float64 { return portable.Exp(float64(-float64(b*b) / 2)) }

// logOdds returns log(p/(1−p)).
func logOdds(p float64) float64 { return portable.Log(p / (1 - p)) }

// clippedLogOdds returns the log odds of p, where p is first clipped to
// minProbability..1−minProbability.
func (c *Calibration) clippedLogOdds(p float64) float64 {
	return logOdds(min(max(p, c.minProbability), 1-c.minProbability))
}

// roundToInt returns v rounded to the nearest integer.
func roundToInt(v float64) int { return int(math.Round(v)) }

// sigmoid returns σ(a + b·x) with the a and b of the grid point.
func (p calibrationPoint) sigmoid(x float64) float64 {
	return 1 / (1 + portable.Exp(-p.a-float64(p.b*x)))
}

// probabilityWithLapse returns P = λ·q + (1−λ)·sure at a grid point, where sure is σ(a + b·x).
func (c *Calibration) probabilityWithLapse(p calibrationPoint, sure float64) float64 {
	return float64(p.lapse*c.baseRate) + float64((1-p.lapse)*sure)
}

// Value returns the expected calibrated probability for a forest's probability.
func (c *Calibration) Value(probability float64) float64 {
	sum := 0.0
	for p, mass := range c.pointProbabilities(probability) {
		sum += float64(mass * p)
	}
	return c.extrapolate(probability, sum)
}

// pointProbabilities yields, for each grid point, the calibrated probability P and the mass of the
// point, given a forest's probability. Grid points that differ only in λ follow each other.
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

// extrapolate adjusts a calibrated chance where the forest's probability was clipped. The chance
// then still rises a little with the probability, so that the order of probabilities is kept.
func (c *Calibration) extrapolate(probability, chance float64) float64 {
	switch {
	case probability > 1-c.minProbability:
		return chance + float64((probability-(1-c.minProbability))*(1-chance))
	case probability < c.minProbability:
		return chance - float64((c.minProbability-probability)*chance)
	}
	return chance
}

// Chance returns the calibrated chance for a forest's probability: the mean of P and an interval
// that contains P with probability 0.9. The mean does not fall when the forest's probability rises.
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

// A calibrationCurve interpolates [Calibration.Value] linearly between knots of the log odds. A
// Markov chain needs the value at each piece of a line, and the interpolation is fast. The curve is
// nondecreasing.
type calibrationCurve struct {
	calibration         *Calibration
	firstKnot, knotStep float64   // log odds of the first knot, and the distance between neighbouring knots in log odds
	values              []float64 // by knot: the calibrated probability
}

// curveSegments is the number of linear segments of a [calibrationCurve]. Between knots the
// interpolated probability is off by less than a thousandth.
const curveSegments = 128

// newCurve returns the curve that interpolates the calibration.
func (c *Calibration) newCurve() *calibrationCurve {
	first := logOdds(c.minProbability)
	v := &calibrationCurve{calibration: c, firstKnot: first, knotStep: float64(float64(-2*first) / curveSegments), values: make([]float64, curveSegments+1)}
	for k := range v.values {
		v.values[k] = c.Value(1 / (1 + portable.Exp(-first-float64(float64(k)*v.knotStep))))
		if k > 0 {
			v.values[k] = max(v.values[k], v.values[k-1])
		}
	}
	return v
}

// chanceAt returns the calibrated chance for a model's probability. A nil curve returns the probability
// itself.
func (v *calibrationCurve) chanceAt(probability float64) float64 {
	if v == nil {
		return probability
	}
	t := (v.calibration.clippedLogOdds(probability) - v.firstKnot) / v.knotStep
	k := min(max(int(t), 0), curveSegments-1)
	from, to := v.values[k], v.values[k+1]
	return v.calibration.extrapolate(probability, min(from+float64(max(t-float64(k), 0)*(to-from)), to))
}
