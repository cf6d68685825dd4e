package model

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"kir/internal/portable"
)

// A Calibration corrects a forest's probability of an outcome by how often the outcome occurs at
// rows that the forest has not seen. It is needed because the trees' votes are overconfident where
// they have seen few rows, and a search finds just these places.
//
// Let x be the log odds of the forest's probability of a row, by the trees that left it out, less
// their mean. The row has the outcome with probability
//
//	P = λ·q + (1−λ)·σ(a + b·x)
//
// q is the share of all rows with the outcome and σ the logistic function. This is Cox's
// recalibration (1958, "Two further applications of a model for binary regression"), as Platt
// (1999) uses it for classifiers, plus a share λ of rows about which the forest knows nothing. a, b
// and λ have a Bayesian posterior on a grid. The prior of a is uniform up to 3 about the log odds
// of q, that of λ uniform up to 0.3. b is 0 with probability 1/4, so that the forest knows nothing
// about any row. Otherwise b is half-normal with standard deviation 1. So little evidence leaves P
// near q with a wide interval, and no finite dataset makes P 1.
//
// The calibration holds for rows drawn as the dataset's were. A composition found by a search also
// profits from luck: see [Data.Halves].
type Calibration struct {
	rows, successes int
	baseRate        float64 // q
	centre          float64 // mean of the log odds
	clip            float64
	points          []calibrationPoint // the grid points with nearly all of the mass
}

// A calibrationPoint is one point of the grid.
type calibrationPoint struct {
	a, b, lapse, mass float64
}

// A Chance is a probability with the 5 % and 95 % quantiles of its law.
type Chance struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

const (
	calibrationReach   = 3.0 // a ranges this far to each side of the log odds of q
	calibrationStep    = 0.2 // spacing of the grid in a
	slopeMost          = 4.0
	slopeStep          = 0.1
	zeroSlopePrior     = 0.25 // the prior probability of b = 0
	lapseMost          = 0.3
	lapseStep          = 0.1
	negligible         = 1e-9 // points are dropped whose mass is a smaller share of the largest
	mostCalibrationPts = 256  // greatest number of groups of rows with nearly equal probabilities
)

// Calibrate learns from rows that the forest has not seen: their probabilities, as
// [Forest.OutOfBag] returns them, and whether each had the outcome. It ignores NaN, and returns nil
// if no row remains. trees is the number of trees: half a vote of one is the least distance of a
// probability from 0 and 1.
func Calibrate(probabilities []float64, came []bool, trees int) *Calibration {
	c := &Calibration{clip: 0.5 / float64(max(trees, 1))}
	var rows []calibrationRow
	for r, p := range probabilities {
		if !math.IsNaN(p) {
			rows = append(rows, calibrationRow{c.clippedLogOdds(p), came[r]})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b calibrationRow) int { return cmp.Compare(a.x, b.x) })
	for _, r := range rows {
		c.centre += r.x / float64(len(rows))
		if r.occurred {
			c.successes++
		}
	}
	c.rows = len(rows)
	c.baseRate = (float64(c.successes) + 0.5) / (float64(c.rows) + 1)
	c.normalize(c.setGrid(c.groupRows(rows)))
	return c
}

// A calibrationRow is the log odds of a row's probability, and whether it had the outcome.
type calibrationRow struct {
	x        float64
	occurred bool
}

// A calibrationGroup is the mean of nearly equal centred log odds, and how many rows of it had the
// outcome or not.
type calibrationGroup struct{ x, occurred, absent float64 }

// groupRows groups sorted rows with nearly equal log odds, which bounds the work.
func (c *Calibration) groupRows(rows []calibrationRow) (groups []calibrationGroup) {
	size := (len(rows) + mostCalibrationPts - 1) / mostCalibrationPts
	for some := range slices.Chunk(rows, size) {
		var g calibrationGroup
		for _, r := range some {
			g.x += (r.x - c.centre) / float64(len(some))
			g.occurred += indicator(r.occurred)
			g.absent += indicator(!r.occurred)
		}
		groups = append(groups, g)
	}
	return groups
}

// setGrid sets the points to the grid of a, b and λ, and returns the log of each one's posterior
// density, up to a constant.
func (c *Calibration) setGrid(groups []calibrationGroup) (logs []float64) {
	steps, slopes, lapses := roundToInt(calibrationReach/calibrationStep), roundToInt(slopeMost/slopeStep), roundToInt(lapseMost/lapseStep)
	priors, middle := 0.0, logOdds(c.baseRate)
	for k := 1; k <= slopes; k++ {
		priors += slopePrior(float64(float64(k) * slopeStep))
	}
	sure := make([]float64, len(groups)) // σ(a + b·x) by group, which does not depend on λ
	for ka := -steps; ka <= steps; ka++ {
		for kb := 0; kb <= slopes; kb++ {
			point := calibrationPoint{a: middle + float64(float64(ka)*calibrationStep), b: float64(float64(kb) * slopeStep)}
			prior := zeroSlopePrior
			if kb > 0 {
				prior = (1 - zeroSlopePrior) * slopePrior(point.b) / priors
			}
			for k, g := range groups {
				sure[k] = point.sigmoid(g.x)
			}
			for kl := 0; kl <= lapses; kl++ {
				point.lapse = float64(float64(kl) * lapseStep)
				c.points, logs = append(c.points, point), append(logs, c.addLikelihood(portable.Log(prior), point, groups, sure))
			}
		}
	}
	return logs
}

// addLikelihood adds to a sum of logs those of the likelihoods of the groups at a point.
func (c *Calibration) addLikelihood(log float64, point calibrationPoint, groups []calibrationGroup, sure []float64) float64 {
	for k, g := range groups {
		p := c.withLapse(point, sure[k])
		if g.occurred > 0 {
			log += float64(g.occurred * portable.Log(p))
		}
		if g.absent > 0 {
			log += float64(g.absent * portable.Log1p(-p))
		}
	}
	return log
}

// normalize drops the points with negligible mass and gives the others a total mass of 1.
func (c *Calibration) normalize(logs []float64) {
	top := math.Inf(-1)
	for _, log := range logs {
		top = max(top, log)
	}
	kept, mass := c.points[:0], 0.0
	for k, log := range logs {
		point := c.points[k]
		if point.mass = portable.Exp(log - top); point.mass >= negligible {
			kept = append(kept, point)
			mass += point.mass
		}
	}
	for k := range kept {
		kept[k].mass /= mass
	}
	c.points = slices.Clip(kept)
}

// slopePrior is the density of a slope above 0, up to a factor.
func slopePrior(b float64) float64 { return portable.Exp(float64(-float64(b*b) / 2)) }

func logOdds(p float64) float64 { return portable.Log(p / (1 - p)) }

// clippedLogOdds returns the log odds of p, clipped to clip..1−clip.
func (c *Calibration) clippedLogOdds(p float64) float64 {
	return logOdds(min(max(p, c.clip), 1-c.clip))
}

func roundToInt(v float64) int { return int(math.Round(v)) }

// sigmoid returns σ(a + b·x).
func (p calibrationPoint) sigmoid(x float64) float64 {
	return 1 / (1 + portable.Exp(-p.a-float64(p.b*x)))
}

// withLapse returns P, given the value of σ.
func (c *Calibration) withLapse(p calibrationPoint, sure float64) float64 {
	return float64(p.lapse*c.baseRate) + float64((1-p.lapse)*sure)
}

// Value returns the calibrated chance for a forest's probability, without its interval.
func (c *Calibration) Value(probability float64) float64 {
	sum := 0.0
	for p, mass := range c.law(probability) {
		sum += float64(mass * p)
	}
	return c.extrapolate(probability, sum)
}

// law yields P and the mass at each point of the grid, for a forest's probability. Points that
// differ only in λ follow each other.
func (c *Calibration) law(probability float64) iter.Seq2[float64, float64] {
	x := c.clippedLogOdds(probability) - c.centre
	return func(yield func(p, mass float64) bool) {
		a, b, sure := math.NaN(), math.NaN(), 0.0
		for _, point := range c.points {
			if point.a != a || point.b != b {
				a, b, sure = point.a, point.b, point.sigmoid(x)
			}
			if !yield(c.withLapse(point, sure), point.mass) {
				return
			}
		}
	}
}

// extrapolate lets a chance rise a little with the probability where its log odds are cut off, so
// that the order of probabilities is kept.
func (c *Calibration) extrapolate(probability, chance float64) float64 {
	switch {
	case probability > 1-c.clip:
		return chance + float64((probability-(1-c.clip))*(1-chance))
	case probability < c.clip:
		return chance - float64((c.clip-probability)*chance)
	}
	return chance
}

// Chance returns the calibrated chance for a forest's probability: the mean of P, which does not
// fall when the probability rises, and an interval that holds P with probability 0.9.
func (c *Calibration) Chance(probability float64) Chance {
	type weighed struct{ p, mass float64 }
	all, mean := make([]weighed, 0, len(c.points)), 0.0
	for p, mass := range c.law(probability) {
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
	return Chance{Value: value, Low: min(quantile(0.05), value), High: max(quantile(0.95), value)}
}

// A curve interpolates [Calibration.Value] linearly between knots of the log odds, because a chain
// needs it at each piece of a line. It is nondecreasing.
type curve struct {
	calibration         *Calibration
	firstKnot, knotStep float64 // log odds of the first knot, and the distance of knots in log odds
	values              []float64
}

// curveKnots is the number of pieces of a curve. Between knots the value is off by less than a
// thousandth.
const curveKnots = 128

// curve returns the calibration's curve.
func (c *Calibration) curve() *curve {
	first := logOdds(c.clip)
	v := &curve{calibration: c, firstKnot: first, knotStep: float64(float64(-2*first) / curveKnots), values: make([]float64, curveKnots+1)}
	for k := range v.values {
		v.values[k] = c.Value(1 / (1 + portable.Exp(-first-float64(float64(k)*v.knotStep))))
		if k > 0 {
			v.values[k] = max(v.values[k], v.values[k-1])
		}
	}
	return v
}

// at returns the chance for a model's probability, or the probability itself if there is no curve.
func (v *curve) at(probability float64) float64 {
	if v == nil {
		return probability
	}
	t := (v.calibration.clippedLogOdds(probability) - v.firstKnot) / v.knotStep
	k := min(max(int(t), 0), curveKnots-1)
	from, to := v.values[k], v.values[k+1]
	return v.calibration.extrapolate(probability, min(from+float64(max(t-float64(k), 0)*(to-from)), to))
}
