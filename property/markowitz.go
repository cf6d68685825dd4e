package property

import (
	"fmt"
	"math"
	"math/bits"
	"sync"

	"kir/mcmc"
)

// Markowitz trades the return of a portfolio with the shares w = x/M against its risk:
//
//	log y(x) = μᵀw − a·wᵀΣw
//
// μ are the expected returns, Σ is their covariance, and a ≥ 0 is the risk aversion. (Markowitz,
// "Portfolio Selection", Journal of Finance 7 (1952), 77–91. In the form with a half, U = μᵀw −
// (λ/2)·wᵀΣw, a is λ/2.) The weight c of the objective turns log y into a law, exp(c·U). The larger
// c, the more the law concentrates on the best portfolios. Choose c so that c·(the difference in U
// that matters) is a few.
//
// μ and Σ are whole numbers. Σ has 59 bits less those of M for its largest entry. xᵀΣx and μᵀx are
// exact, in 128 and 64 bits. Both are polynomials along a line. Their coefficients take the rows of
// i and j in Σ at the used ingredients, O(n) time; then a split takes constant time. Memory is 8·N²
// bytes, once.
type Markowitz struct {
	n, total   int
	returns    form
	covariance []int64 // Σ as whole numbers, times a scale: N rows of N
	perReturn  float64 // factor from values of the form returns to μᵀw
	perUnit    float64 // factor from xᵀΣx in whole numbers to wᵀΣw
	perRisk    float64 // factor from xᵀΣx in whole numbers to a·wᵀΣw

	once          sync.Once // computes the two fields below when a bound first needs them
	convexPart    convexRisk
	hasConvexPart bool
}

var (
	_ mcmc.LineProperty = (*Markowitz)(nil)
	_ mcmc.CurveScorer  = (*markowitzScorer)(nil)
)

// NewMarkowitz returns a [Markowitz]. covariance must be a finite N×N matrix for N returns. Of entries (i, j) and
// (j, i) it uses the mean, so they may differ by rounding. It does not check that the matrix is positive
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
	m := &Markowitz{n: n, total: total, returns: newForm(returns, total), covariance: make([]int64, n*n)}
	m.perReturn = 1 / (m.returns.scale * float64(total))
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
	m.perUnit = math.Ldexp(1/float64(total)/float64(total), -shift)
	m.perRisk = math.Ldexp(aversion/float64(total)/float64(total), -shift)
	if math.IsInf(m.perRisk, 0) {
		return nil, fmt.Errorf("an aversion to risk of %v times a covariance of %v is more than can be computed", aversion, largest)
	}
	return m, nil
}

// Risk returns wᵀΣw, the variance of the return.
func (m *Markowitz) Risk(x *mcmc.Composition) float64 { return float64(m.risk(x).float() * m.perUnit) }

// Return returns μᵀw, the expected return.
func (m *Markowitz) Return(x *mcmc.Composition) float64 {
	return float64(float64(m.returns.value(x)) * m.perReturn)
}

// risk returns xᵀΣx in the whole numbers of m.covariance.
func (m *Markowitz) risk(x *mcmc.Composition) (sum int128) {
	for _, i := range x.Ingredients() {
		sum = sum.plus(multiply(m.covarianceProduct(int(i), x), int64(x.Amount(int(i)))))
	}
	return sum
}

// covarianceProduct returns (Σx)_i in the whole numbers of m.covariance.
func (m *Markowitz) covarianceProduct(i int, x *mcmc.Composition) (sum int64) {
	row, amounts := m.covariance[i*m.n:(i+1)*m.n], x.Amounts()
	for _, u := range x.Ingredients() {
		sum += row[u] * int64(amounts[u])
	}
	return sum
}

// log returns log y, given μᵀx and xᵀΣx in whole numbers.
func (m *Markowitz) log(returns int64, risk int128) float64 {
	return float64(float64(returns)*m.perReturn) - float64(risk.float()*m.perRisk)
}

// LogScore returns log y(x). It takes O(n²) time for n used ingredients.
func (m *Markowitz) LogScore(x *mcmc.Composition) float64 {
	return m.log(m.returns.value(x), m.risk(x))
}

// Scorer returns a scorer of x.
func (m *Markowitz) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &markowitzScorer{property: m, previousAmounts: previousAmounts{x: x}}
}

type markowitzScorer struct {
	property *Markowitz
	previousAmounts
	returns int64  // μᵀx at the scorer's composition, in whole numbers
	risk    int128 // xᵀΣx at the scorer's composition, in whole numbers

	line parabola
}

// A parabola is log y along a line: constant + linear·d − quadratic·d², where d is the number of units moved
// from j to i. slope, curve, returns and step are the whole numbers from which At computes exact scores.
type parabola struct {
	at                                 int64 // split of the line at which the composition stands, where d is 0
	slope, curve                       int64
	returns, step                      int64
	constant, linear, quadratic, slack float64
	peak                               float64 // the d at which the parabola is greatest, if quadratic > 0
}

func (s *markowitzScorer) Reset() {
	s.previousAmounts.reset()
	s.returns, s.risk = s.property.returns.value(s.x), s.property.risk(s.x)
}

func (s *markowitzScorer) LogScore() float64 { return s.property.log(s.returns, s.risk) }

// slopes returns half of the first and half of the second derivative of xᵀΣx with respect to d, the units moved
// from j to i. After the move xᵀΣx has grown by 2·d·slope + d²·curve.
func (s *markowitzScorer) slopes(i, j int) (slope, curve int64) {
	m := s.property
	slope = m.covarianceProduct(i, s.x) - m.covarianceProduct(j, s.x)
	curve = m.covariance[i*m.n+i] + m.covariance[j*m.n+j] - 2*m.covariance[i*m.n+j]
	return slope, curve
}

// riskAfter returns xᵀΣx after d units have moved from j to i. No product overflows: 2·slope + d·curve is at
// most 2⁶², because the entries of Σ have 59 bits less those of M.
func (s *markowitzScorer) riskAfter(slope, curve, d int64) int128 {
	return s.risk.plus(multiply(2*slope+d*curve, d))
}

func (s *markowitzScorer) Line(i, j int, p *mcmc.Pieces) {
	q := joiner{pieces: p}
	s.eachSplit(i, j, func(k int, returns int64, risk int128) { q.add(k, s.property.log(returns, risk)) })
}

// eachSplit calls at for each split k of the line of i and j, with μᵀx and xᵀΣx there in whole numbers.
func (s *markowitzScorer) eachSplit(i, j int, at func(k int, returns int64, risk int128)) {
	m := s.property
	slope, curve := s.slopes(i, j)
	a := int64(s.x.Amount(i))
	returns, step := m.returns.line(s.x, s.returns, i, j)
	risk := s.riskAfter(slope, curve, -a)
	by := 2*slope + (1-2*a)*curve // change of the risk from one split to the next
	for k := range int(a) + s.x.Amount(j) + 1 {
		at(k, returns, risk)
		returns += step
		risk = risk.plus(newInt128(by))
		by += 2 * curve
	}
}

// Curve prepares the parabola of log y along the line. slack bounds by how much rounding can put the parabola below
// the score that At returns. At has fewer than seven roundings and the parabola eight, each of numbers below size.
func (s *markowitzScorer) Curve(i, j int) (peak int) {
	m, l := s.property, &s.line
	l.slope, l.curve = s.slopes(i, j)
	a := s.x.Amount(i)
	l.at, l.returns, l.step = int64(a), s.returns, m.returns.a[i]-m.returns.a[j]
	gain, loss := float64(float64(l.step)*m.perReturn), float64(2*float64(l.slope)*m.perRisk)
	l.constant, l.linear, l.quadratic = s.LogScore(), gain-loss, float64(float64(l.curve)*m.perRisk)
	sum := float64(a + s.x.Amount(j))
	size := math.Abs(float64(s.returns)*m.perReturn) + math.Abs(s.risk.float()*m.perRisk) +
		float64(sum*(math.Abs(gain)+math.Abs(loss)+float64(sum*math.Abs(l.quadratic))))
	l.slack = float64(0x1p-48 * size)
	if !(l.quadratic > 0) {
		return 0
	}
	l.peak = l.linear / (2 * l.quadratic)
	if at := math.Round(float64(l.at) + l.peak); 0 < at && at < sum {
		return int(at)
	}
	return 0
}

func (s *markowitzScorer) At(k int) float64 {
	l := &s.line
	d := int64(k) - l.at
	return s.property.log(l.returns+d*l.step, s.riskAfter(l.slope, l.curve, d))
}

// Above returns an upper bound of the log score over the splits from..to: the parabola's value at its peak if that
// lies between them, else at the higher end.
func (s *markowitzScorer) Above(from, to int) float64 {
	l := &s.line
	a, b := float64(int64(from)-l.at), float64(int64(to)-l.at)
	if l.quadratic > 0 && a < l.peak && l.peak < b {
		return l.constant + float64(l.linear*l.peak/2) + l.slack
	}
	return l.constant + max((l.linear-float64(l.quadratic*a))*a, (l.linear-float64(l.quadratic*b))*b) + l.slack
}

func (s *markowitzScorer) Moved(i, j int) {
	m := s.property
	byI, byJ := s.previousAmounts.changes(i, j)
	s.returns += int64(byI)*m.returns.a[i] + int64(byJ)*m.returns.a[j]
	// slopes is for the new composition, so the move is undone: d = −byI.
	slope, curve := s.slopes(i, j)
	s.risk = s.risk.plus(multiply(2*slope-int64(byI)*curve, int64(byI)))
}
