package property

import (
	"fmt"
	"math"
	"math/bits"
	"sync"

	"kir/mcmc"
)

// Markowitz scores a portfolio with the shares w = x/M by its return and its risk:
//
//	log y(x) = μᵀw − a·wᵀΣw
//
// μ are the expected returns, Σ is their covariance, and a ≥ 0 is the risk aversion. (Markowitz, "Portfolio
// Selection", Journal of Finance 7 (1952), 77–91. In the form with a half, U = μᵀw − (λ/2)·wᵀΣw, a is λ/2.) If
// the objective has weight c, draws have a probability proportional to exp(c·U), where U is log y. The larger c
// is, the more the draws concentrate on the best portfolios. Choose c so that c times a difference in U that
// matters is a few units.
//
// μ and Σ are stored as whole numbers. The largest entry of Σ is scaled to 59 bits minus the bits of M. xᵀΣx
// and μᵀx are exact, in 128 and 64 bits. If only the joint amount of two ingredients is divided differently,
// both are polynomials in the units that move. Computing the coefficients of these polynomials takes O(n) time
// for n used ingredients, and then each division takes constant time. Memory is 8·N² bytes, once.
type Markowitz struct {
	ingredientCount, total int
	returnForm             linearForm
	covariance             []int64 // covariances Σ as whole numbers, multiplied by a common scale: N rows of N
	returnFactor           float64 // factor from values of returnForm to μᵀw
	varianceFactor         float64 // factor from xᵀΣx in whole numbers to wᵀΣw
	penaltyFactor          float64 // factor from xᵀΣx in whole numbers to a·wᵀΣw

	convexOnce       sync.Once // ensures that cachedConvexRisk and hasConvexRisk are computed once, when a bound first needs them
	cachedConvexRisk convexRisk
	hasConvexRisk    bool
}

var (
	_ mcmc.LineProperty = (*Markowitz)(nil)
	_ mcmc.CurveScorer  = (*markowitzScorer)(nil)
)

// NewMarkowitz returns a [Markowitz]. The covariance must be a finite N×N matrix for N returns. Entries (i, j) and
// (j, i) may differ by rounding; their mean is used. NewMarkowitz does not check that the matrix is positive
// semidefinite; [CheckCovariance] does.
func NewMarkowitz(returns []float64, covariance [][]float64, aversion float64, total int) (*Markowitz, error) {
	if err := checkFinite("the return of ingredient", returns); err != nil {
		return nil, err
	}
	if !(aversion >= 0) || math.IsInf(aversion, 0) {
		return nil, fmt.Errorf("the aversion to risk is %v: it must be a finite number of at least 0", aversion)
	}
	n := len(returns)
	if len(covariance) != n {
		return nil, fmt.Errorf("the covariance has %d rows, and there are %d returns", len(covariance), n)
	}
	m := &Markowitz{ingredientCount: n, total: total, returnForm: newLinearForm(returns, total), covariance: make([]int64, n*n)}
	m.returnFactor = 1 / (m.returnForm.scale * float64(total))
	largest := 0.0
	for i, row := range covariance {
		if len(row) != n {
			return nil, fmt.Errorf("row %d of the covariance has %d numbers, and there are %d returns", i, len(row), n)
		}
		if err := checkFinite("the covariance with ingredient", row); err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
		for _, v := range row {
			largest = max(largest, math.Abs(v))
		}
	}
	if largest == 0 {
		return m, nil
	}
	_, exponent := math.Frexp(largest)
	shift := min(59-bits.Len(uint(total))-exponent, 900)
	for i := range n {
		for j := range n {
			m.covariance[i*n+j] = int64(math.RoundToEven(math.Ldexp(float64(covariance[i][j]/2)+float64(covariance[j][i]/2), shift)))
		}
	}
	m.varianceFactor = math.Ldexp(1/float64(total)/float64(total), -shift)
	m.penaltyFactor = math.Ldexp(aversion/float64(total)/float64(total), -shift)
	if math.IsInf(m.penaltyFactor, 0) {
		return nil, fmt.Errorf("an aversion to risk of %v times a covariance of %v is more than can be computed", aversion, largest)
	}
	return m, nil
}

// Risk returns the variance of the return of the portfolio x: wᵀΣw, where w is the shares and Σ the covariance.
func (m *Markowitz) Risk(x *mcmc.Composition) float64 {
	return float64(m.integerRisk(x).toFloat64() * m.varianceFactor)
}

// Return returns the expected return of the portfolio x: μᵀw, where w is the shares and μ the expected returns.
func (m *Markowitz) Return(x *mcmc.Composition) float64 {
	return float64(float64(m.returnForm.scaledValue(x)) * m.returnFactor)
}

// integerRisk returns xᵀΣx for a portfolio of x units, where Σ is the matrix of whole numbers in the field
// covariance.
func (m *Markowitz) integerRisk(x *mcmc.Composition) (sum int128) {
	for _, i := range x.Ingredients() {
		sum = sum.plus(multiply128(m.covarianceProduct(int(i), x), int64(x.Amount(int(i)))))
	}
	return sum
}

// covarianceProduct returns item i of the vector Σx, where Σ is the matrix of whole numbers in the field
// covariance.
func (m *Markowitz) covarianceProduct(i int, x *mcmc.Composition) (sum int64) {
	row, amounts := m.covariance[i*m.ingredientCount:(i+1)*m.ingredientCount], x.Amounts()
	for _, u := range x.Ingredients() {
		sum += row[u] * int64(amounts[u])
	}
	return sum
}

// logScoreFrom returns the log score for the given whole numbers: returns is μᵀx and risk is xᵀΣx; see
// [Markowitz].
func (m *Markowitz) logScoreFrom(returns int64, risk int128) float64 {
	return float64(float64(returns)*m.returnFactor) - float64(risk.toFloat64()*m.penaltyFactor)
}

// LogScore returns the natural logarithm of the score of the portfolio x. It takes O(n²) time for n used
// ingredients.
func (m *Markowitz) LogScore(x *mcmc.Composition) float64 {
	return m.logScoreFrom(m.returnForm.scaledValue(x), m.integerRisk(x))
}

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
func (m *Markowitz) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &markowitzScorer{property: m, previousAmounts: previousAmounts{x: x}}
}

type markowitzScorer struct {
	property *Markowitz
	previousAmounts
	integerReturn int64  // μᵀx of the current portfolio x, in whole numbers; see [Markowitz]
	integerRisk   int128 // xᵀΣx of the current portfolio x, in whole numbers; see [Markowitz]

	lineParabola parabola // scores of the divisions that Curve prepared
}

// A parabola is the log score as a function of the number d of units that move from ingredient j to ingredient
// i: constant + linear·d − quadratic·d². The fields riskSlope, riskCurvature, integerReturn and returnStep are
// whole numbers from which ScoreAt computes exact scores.
type parabola struct {
	currentSplit                               int64 // current units of ingredient i, for which d is 0
	riskSlope, riskCurvature                   int64
	integerReturn, returnStep                  int64
	constant, linear, quadratic, roundingSlack float64
	peakUnitsMoved                             float64 // number d at which the parabola is greatest, if quadratic > 0
}

func (s *markowitzScorer) Reset() {
	s.previousAmounts.reset()
	s.integerReturn, s.integerRisk = s.property.returnForm.scaledValue(s.x), s.property.integerRisk(s.x)
}

func (s *markowitzScorer) LogScore() float64 {
	return s.property.logScoreFrom(s.integerReturn, s.integerRisk)
}

// riskDerivatives returns whole numbers that describe how the risk xᵀΣx changes if d units move from ingredient
// j to ingredient i: xᵀΣx increases by 2·d·slope + d²·curve. Hence slope and curve are half of the first and
// half of the second derivative with respect to d.
func (s *markowitzScorer) riskDerivatives(i, j int) (slope, curve int64) {
	m := s.property
	slope = m.covarianceProduct(i, s.x) - m.covarianceProduct(j, s.x)
	curve = m.covariance[i*m.ingredientCount+i] + m.covariance[j*m.ingredientCount+j] - 2*m.covariance[i*m.ingredientCount+j]
	return slope, curve
}

// riskAfter returns xᵀΣx after d units have moved from j to i, given the results of
// [markowitzScorer.riskDerivatives]. No product overflows: 2·slope + d·curve is at most 2⁶², because the entries of
// Σ have 59 bits minus the bits of M.
func (s *markowitzScorer) riskAfter(slope, curve, d int64) int128 {
	return s.integerRisk.plus(multiply128(2*slope+d*curve, d))
}

func (s *markowitzScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	q := pieceJoiner{pieces: p}
	s.forEachSplit(i, j, func(k int, returns int64, risk int128) { q.add(k, s.property.logScoreFrom(returns, risk)) })
}

// forEachSplit calls the function visit for each number k of units that ingredient i can have of the joint
// amount of i and j. The arguments of visit are k and, in whole numbers, μᵀx and xᵀΣx; see [Markowitz].
func (s *markowitzScorer) forEachSplit(i, j int, visit func(k int, returns int64, risk int128)) {
	m := s.property
	slope, curve := s.riskDerivatives(i, j)
	a := int64(s.x.Amount(i))
	returns, step := m.returnForm.valueAlongLine(s.x, s.integerReturn, i, j)
	risk := s.riskAfter(slope, curve, -a)
	by := 2*slope + (1-2*a)*curve // change of the risk from one split to the next
	for k := range int(a) + s.x.Amount(j) + 1 {
		visit(k, returns, risk)
		returns += step
		risk = risk.plus(newInt128(by))
		by += 2 * curve
	}
}

// Curve prepares the log scores of all divisions of the joint amount of ingredients i and j: they lie on a
// [parabola]. The field roundingSlack bounds by how much rounding can put the parabola below the score that
// ScoreAt returns. ScoreAt has fewer than seven roundings and the parabola eight, each of numbers below size.
func (s *markowitzScorer) Curve(i, j int) (peak int) {
	m, l := s.property, &s.lineParabola
	l.riskSlope, l.riskCurvature = s.riskDerivatives(i, j)
	a := s.x.Amount(i)
	l.currentSplit, l.integerReturn, l.returnStep = int64(a), s.integerReturn, m.returnForm.coefficients[i]-m.returnForm.coefficients[j]
	gain, loss := float64(float64(l.returnStep)*m.returnFactor), float64(2*float64(l.riskSlope)*m.penaltyFactor)
	l.constant, l.linear, l.quadratic = s.LogScore(), gain-loss, float64(float64(l.riskCurvature)*m.penaltyFactor)
	sum := float64(a + s.x.Amount(j))
	size := math.Abs(float64(s.integerReturn)*m.returnFactor) + math.Abs(s.integerRisk.toFloat64()*m.penaltyFactor) +
		float64(sum*(math.Abs(gain)+math.Abs(loss)+float64(sum*math.Abs(l.quadratic))))
	l.roundingSlack = float64(0x1p-48 * size)
	if !(l.quadratic > 0) {
		return 0
	}
	l.peakUnitsMoved = l.linear / (2 * l.quadratic)
	if at := math.Round(float64(l.currentSplit) + l.peakUnitsMoved); 0 < at && at < sum {
		return int(at)
	}
	return 0
}

func (s *markowitzScorer) ScoreAt(k int) float64 {
	l := &s.lineParabola
	d := int64(k) - l.currentSplit
	return s.property.logScoreFrom(l.integerReturn+d*l.returnStep, s.riskAfter(l.riskSlope, l.riskCurvature, d))
}

// UpperBound returns an upper bound of the log score over the splits from..to, where split k gives k units of the
// joint amount of i and j to ingredient i. The bound is the value of the parabola at its peak if the peak lies
// between from and to, otherwise the greater of the values at from and to.
func (s *markowitzScorer) UpperBound(from, to int) float64 {
	l := &s.lineParabola
	a, b := float64(int64(from)-l.currentSplit), float64(int64(to)-l.currentSplit)
	if l.quadratic > 0 && a < l.peakUnitsMoved && l.peakUnitsMoved < b {
		return l.constant + float64(l.linear*l.peakUnitsMoved/2) + l.roundingSlack
	}
	return l.constant + max((l.linear-float64(l.quadratic*a))*a, (l.linear-float64(l.quadratic*b))*b) + l.roundingSlack
}

func (s *markowitzScorer) Moved(i, j int) {
	m := s.property
	byI, byJ := s.previousAmounts.updateAndReturnChanges(i, j)
	s.integerReturn += int64(byI)*m.returnForm.coefficients[i] + int64(byJ)*m.returnForm.coefficients[j]
	// riskDerivatives is for the new composition, so the move is undone: d = −byI.
	slope, curve := s.riskDerivatives(i, j)
	s.integerRisk = s.integerRisk.plus(multiply128(2*slope-int64(byI)*curve, int64(byI)))
}
