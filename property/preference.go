package property

import (
	"math"

	"kir/mcmc"
)

// Preference scores a composition by the probability that a person prefers it to the average of the compared
// compositions:
//
//	y(x) = P(u(x) > u(x̄)) = Φ(μ(x)/√(κ² + s(x)²)).
//
// u is the utility, and κ a constant of the model; see [Comparisons]. μ and s² are the mean and the variance of
// u(x) − u(x̄) under the posterior distribution. x̄ stands for the mean features of all compared compositions.
// Where little is known, y is near ½, so a search follows preferences only as far as they are known.
//
// The score is computed from linear functions of the features: the mean μ, the product with x̄, and one
// function for each compared pair, which reduces the variance. These functions are summed in whole numbers, so
// the sums are exact in any order. Scoring one division of the joint amount of two ingredients takes time
// proportional to the number of pairs.
type Preference struct {
	features         featureMap
	priorSD          float64
	formCount        int       // number of linear functions of the features: the mean, the product with x̄, and one for each pair
	formCoefficients []int64   // coefficients of the linear functions: one row per feature and one column per function, in units of 2^−formBits
	ingredientRoots  []int64   // item k is the feature of an ingredient with k units, √(k/M) times ingredientFactor, in units of 2^−rootBits
	groupRoots       []int64   // item k is the feature of a group with k units, √(k/M), in units of 2^−rootBits
	valuesAtMean     []float64 // item f is the value of linear function f for the mean features x̄
}

var _ mcmc.LineProperty = (*Preference)(nil)

// The coefficients of the linear functions in a [Preference] are whole multiples of 2^−formBits, and the
// features are whole multiples of 2^−rootBits. The sums fit in 64 bits, because the norm of the coefficients of
// a function is at most 24, the largest prior standard deviation, and the norm of the features is at most 2.
const formBits, rootBits = 28, 22

// NewPreference returns the [Preference] that scores by the given fitted model of comparisons.
func NewPreference(c *Comparisons) *Preference {
	t := c.Posterior()
	n, m := len(t.reductionRows), len(t.weightMeans)
	centre := t.meanFeatures
	p := &Preference{features: c.features, priorSD: c.priorSD, formCount: n + 2, formCoefficients: make([]int64, m*(n+2)), valuesAtMean: make([]float64, n+2)}
	for q := range m {
		row := p.formCoefficients[q*p.formCount : (q+1)*p.formCount]
		for k := range n {
			row[k] = int64(math.RoundToEven(math.Ldexp(t.reductionRows[k][q], formBits)))
			p.valuesAtMean[k] += float64(t.reductionRows[k][q] * centre[q])
		}
		row[n] = int64(math.RoundToEven(math.Ldexp(t.weightMeans[q], formBits)))
		row[n+1] = int64(math.RoundToEven(math.Ldexp(centre[q], formBits)))
		p.valuesAtMean[n] += float64(t.weightMeans[q] * centre[q])
		p.valuesAtMean[n+1] += float64(centre[q] * centre[q])
	}
	for k := range c.features.total + 1 {
		root := math.Sqrt(float64(k) / float64(c.features.total))
		p.ingredientRoots = append(p.ingredientRoots, int64(math.RoundToEven(math.Ldexp(c.features.ingredientFactor()*root, rootBits))))
		p.groupRoots = append(p.groupRoots, int64(math.RoundToEven(math.Ldexp(root, rootBits))))
	}
	return p
}

// addFeature adds to sums what one feature contributes to each linear function: the coefficient of the feature,
// multiplied by times. times is the value of the feature, negated to subtract.
func (p *Preference) addFeature(sums []int64, feature int, times int64) {
	row := p.formCoefficients[feature*p.formCount : (feature+1)*p.formCount]
	for k, v := range row {
		sums[k] += v * times
	}
}

// setFormValues sets sums to the values of all linear functions for the composition x, and groups to the units
// of each group.
func (p *Preference) setFormValues(x *mcmc.Composition, sums []int64, groups []int) {
	clear(sums)
	clear(groups)
	for _, i := range x.Ingredients() {
		amount := x.Amount(int(i))
		p.addFeature(sums, int(i), p.ingredientRoots[amount])
		if g := p.features.groupOf[i]; g >= 0 {
			groups[g] += amount
		}
	}
	for g, units := range groups {
		if units > 0 {
			p.addFeature(sums, p.features.ingredients+g, p.groupRoots[units])
		}
	}
}

// logScoreFrom returns the log score of a composition. sums holds the values of the linear functions, and
// grouped is the total units of ingredients that belong to a group.
func (p *Preference) logScoreFrom(sums []int64, grouped int) float64 {
	unit := math.Ldexp(1, -formBits-rootBits)
	n := p.formCount - 2
	less := 0.0
	for k, v := range sums[:n] {
		d := float64(float64(v)*unit) - p.valuesAtMean[k]
		less += float64(d * d)
	}
	own := p.features.ingredientFactor()
	square := float64(own*own) + float64(grouped)/float64(p.features.total) - float64(2*unit*float64(sums[n+1])) + p.valuesAtMean[n+1]
	variance := max(0, float64(p.priorSD*p.priorSD*square)-less)
	mean := float64(float64(sums[n])*unit) - p.valuesAtMean[n]
	return logNormalCDF(mean / math.Sqrt(probitScale*probitScale+variance))
}

// Most returns 0, which is an upper bound of the log score, because the score is at most 1.
func (*Preference) Most(int) float64 { return 0 }

// LogScore returns log y(x), the natural logarithm of the score y of the composition x.
func (p *Preference) LogScore(x *mcmc.Composition) float64 {
	s := p.newScorer(x)
	s.Reset()
	return s.LogScore()
}

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
func (p *Preference) Scorer(x *mcmc.Composition) mcmc.Scorer { return p.newScorer(x) }

func (p *Preference) newScorer(x *mcmc.Composition) *preferenceScorer {
	return &preferenceScorer{
		property: p, previousAmounts: previousAmounts{x: x}, formValues: make([]int64, p.formCount), groupUnits: make([]int, p.features.groupCount),
		fixedValues: make([]int64, p.formCount), splitValues: make([]int64, p.formCount),
	}
}

type preferenceScorer struct {
	property *Preference
	previousAmounts
	formValues               []int64 // values of the linear functions for the current composition
	groupUnits               []int   // item g is the units of the ingredients of group g
	groupedUnits             int     // total units of the ingredients that belong to a group
	fixedValues, splitValues []int64
}

func (s *preferenceScorer) Reset() {
	s.previousAmounts.reset()
	s.property.setFormValues(s.x, s.formValues, s.groupUnits)
	s.groupedUnits = 0
	for _, units := range s.groupUnits {
		s.groupedUnits += units
	}
}

func (s *preferenceScorer) LogScore() float64 {
	return s.property.logScoreFrom(s.formValues, s.groupedUnits)
}

// changingGroups returns the groups of ingredients i and j whose units change if units move between i and j. A
// result is −1 if the ingredient has no group. Both are −1 if i and j belong to the same group.
func (s *preferenceScorer) changingGroups(i, j int) (gi, gj int) {
	gi, gj = s.property.features.groupOf[i], s.property.features.groupOf[j]
	if gi == gj {
		return -1, -1
	}
	return gi, gj
}

// addPairTerms adds to sums the contributions of ingredients i and j and of their groups, multiplied by sign.
// Ingredient i has a units and ingredient j has b units. Group gi has ofI units and group gj has ofJ units; a
// group of −1 contributes nothing.
func (s *preferenceScorer) addPairTerms(sums []int64, i, j, a, b, gi, gj, ofI, ofJ int, sign int64) {
	p := s.property
	p.addFeature(sums, i, sign*p.ingredientRoots[a])
	p.addFeature(sums, j, sign*p.ingredientRoots[b])
	if gi >= 0 {
		p.addFeature(sums, p.features.ingredients+gi, sign*p.groupRoots[ofI])
	}
	if gj >= 0 {
		p.addFeature(sums, p.features.ingredients+gj, sign*p.groupRoots[ofJ])
	}
}

// otherGroupUnits returns the units of the groups gi and gj that belong to ingredients other than i and j.
// Ingredient i has a units and ingredient j has b units.
func (s *preferenceScorer) otherGroupUnits(gi, gj, a, b int) (ofI, ofJ int) {
	if gi >= 0 {
		ofI = s.groupUnits[gi] - a
	}
	if gj >= 0 {
		ofJ = s.groupUnits[gj] - b
	}
	return ofI, ofJ
}

func (s *preferenceScorer) Line(i, j int, pieces *mcmc.PiecewiseConstant) {
	a, b := s.x.Amount(i), s.x.Amount(j)
	gi, gj := s.changingGroups(i, j)
	ofI, ofJ := s.otherGroupUnits(gi, gj, a, b)
	copy(s.fixedValues, s.formValues)
	s.addPairTerms(s.fixedValues, i, j, a, b, gi, gj, ofI+a, ofJ+b, -1)
	grouped := s.groupedUnits
	if gi >= 0 {
		grouped -= a
	}
	if gj >= 0 {
		grouped -= b
	}
	q := pieceJoiner{pieces: pieces}
	for k := range a + b + 1 {
		copy(s.splitValues, s.fixedValues)
		s.addPairTerms(s.splitValues, i, j, k, a+b-k, gi, gj, ofI+k, ofJ+a+b-k, 1)
		in := grouped
		if gi >= 0 {
			in += k
		}
		if gj >= 0 {
			in += a + b - k
		}
		q.add(k, s.property.logScoreFrom(s.splitValues, in))
	}
}

func (s *preferenceScorer) Moved(i, j int) {
	byI, byJ := s.previousAmounts.updateAndReturnChanges(i, j)
	a, b := s.x.Amount(i), s.x.Amount(j)
	f := &s.property.features
	gi, gj := s.changingGroups(i, j)
	s.property.addFeature(s.formValues, i, s.property.ingredientRoots[a]-s.property.ingredientRoots[a-byI])
	s.property.addFeature(s.formValues, j, s.property.ingredientRoots[b]-s.property.ingredientRoots[b-byJ])
	for _, c := range [...]struct{ of, by int }{{gi, byI}, {gj, byJ}} {
		if c.of < 0 {
			continue
		}
		was := s.groupUnits[c.of]
		s.groupUnits[c.of] += c.by
		s.groupedUnits += c.by
		s.property.addFeature(s.formValues, f.ingredients+c.of, s.property.groupRoots[s.groupUnits[c.of]]-s.property.groupRoots[was])
	}
}
