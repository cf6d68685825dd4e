package property

import (
	"math"

	"kir/mcmc"
)

// Preference is the probability that a composition is liked better than the average of the compared
// ones:
//
//	y(x) = P(u(x) > u(x̄)) = Φ(μ(x)/√(κ² + s(x)²)).
//
// μ and s² are the mean and the variance of u(x) − u(x̄) under the posterior of [Comparisons]. x̄
// stands for the mean features of all compared compositions. Where little is known y is near a
// half, so preferences steer the search only as far as they are known.
//
// μ, the share of x̄, and the |pairs| directions in which the variance is below the prior's are
// linear in the features. They are summed in whole numbers, so that a line equals its points. A
// split takes O(pairs) time.
type Preference struct {
	features             features
	scale                float64
	formCount            int       // number of linear forms of the features: |pairs| directions, the mean, and x̄
	forms                []int64   // coefficients, one row per feature and one column per form, in units of 2^−formBits
	ownRoots, groupRoots []int64   // √(k/M) for k units of an ingredient and of a group, in units of 2^−rootBits
	meanValues           []float64 // value of each form at the mean features x̄
}

var _ mcmc.LineProperty = (*Preference)(nil)

// Coefficients are whole multiples of 2^−formBits and features of 2^−rootBits. The sums fit in 64 bits: a form
// has at most the prior's norm, 24, and the features have at most 2.
const formBits, rootBits = 28, 22

// NewPreference returns the [Preference] of fitted comparisons.
func NewPreference(c *Comparisons) *Preference {
	t := c.Posterior()
	n, m := len(t.rows), len(t.mean)
	centre := t.meanFeatures
	p := &Preference{features: c.features, scale: c.scale, formCount: n + 2, forms: make([]int64, m*(n+2)), meanValues: make([]float64, n+2)}
	for q := range m {
		row := p.forms[q*p.formCount : (q+1)*p.formCount]
		for k := range n {
			row[k] = int64(math.RoundToEven(math.Ldexp(t.rows[k][q], formBits)))
			p.meanValues[k] += float64(t.rows[k][q] * centre[q])
		}
		row[n] = int64(math.RoundToEven(math.Ldexp(t.mean[q], formBits)))
		row[n+1] = int64(math.RoundToEven(math.Ldexp(centre[q], formBits)))
		p.meanValues[n] += float64(t.mean[q] * centre[q])
		p.meanValues[n+1] += float64(centre[q] * centre[q])
	}
	for k := range c.features.total + 1 {
		root := math.Sqrt(float64(k) / float64(c.features.total))
		p.ownRoots = append(p.ownRoots, int64(math.RoundToEven(math.Ldexp(c.features.ownFactor()*root, rootBits))))
		p.groupRoots = append(p.groupRoots, int64(math.RoundToEven(math.Ldexp(root, rootBits))))
	}
	return p
}

// add adds to sums the coefficients of one feature in all forms, times the given multiple.
func (p *Preference) add(sums []int64, feature int, times int64) {
	row := p.forms[feature*p.formCount : (feature+1)*p.formCount]
	for k, v := range row {
		sums[k] += v * times
	}
}

// sums sets sums to the values of all forms at x, and groups to the units of each group.
func (p *Preference) sums(x *mcmc.Composition, sums []int64, groups []int) {
	clear(sums)
	clear(groups)
	for _, i := range x.Ingredients() {
		amount := x.Amount(int(i))
		p.add(sums, int(i), p.ownRoots[amount])
		if g := p.features.group[i]; g >= 0 {
			groups[g] += amount
		}
	}
	for g, units := range groups {
		if units > 0 {
			p.add(sums, p.features.n+g, p.groupRoots[units])
		}
	}
}

// log returns log y, given the values of the forms and the total units of ingredients that belong to a group.
func (p *Preference) log(sums []int64, grouped int) float64 {
	unit := math.Ldexp(1, -formBits-rootBits)
	n := p.formCount - 2
	less := 0.0
	for k, v := range sums[:n] {
		d := float64(float64(v)*unit) - p.meanValues[k]
		less += float64(d * d)
	}
	own := p.features.ownFactor()
	square := float64(own*own) + float64(grouped)/float64(p.features.total) - float64(2*unit*float64(sums[n+1])) + p.meanValues[n+1]
	variance := max(0, float64(p.scale*p.scale*square)-less)
	mean := float64(float64(sums[n])*unit) - p.meanValues[n]
	return logNormal(mean / math.Sqrt(probitScale*probitScale+variance))
}

// Most returns an upper bound of log y, which is 0: y is never above 1.
func (*Preference) Most(int) float64 { return 0 }

// LogScore returns log y(x).
func (p *Preference) LogScore(x *mcmc.Composition) float64 {
	s := p.scorer(x)
	s.Reset()
	return s.LogScore()
}

// Scorer returns a scorer of x.
func (p *Preference) Scorer(x *mcmc.Composition) mcmc.Scorer { return p.scorer(x) }

func (p *Preference) scorer(x *mcmc.Composition) *preferenceScorer {
	return &preferenceScorer{
		property: p, previousAmounts: previousAmounts{x: x}, sums: make([]int64, p.formCount), groups: make([]int, p.features.groups),
		base: make([]int64, p.formCount), currentSums: make([]int64, p.formCount),
	}
}

type preferenceScorer struct {
	property *Preference
	previousAmounts
	sums              []int64
	groups            []int // units of each group
	grouped           int   // units of all ingredients that belong to a group
	base, currentSums []int64
}

func (s *preferenceScorer) Reset() {
	s.previousAmounts.reset()
	s.property.sums(s.x, s.sums, s.groups)
	s.grouped = 0
	for _, units := range s.groups {
		s.grouped += units
	}
}

func (s *preferenceScorer) LogScore() float64 { return s.property.log(s.sums, s.grouped) }

// changingGroups returns the groups of i and j. Both are −1 if i and j are in one group, whose total a line of i
// and j leaves unchanged.
func (s *preferenceScorer) changingGroups(i, j int) (gi, gj int) {
	gi, gj = s.property.features.group[i], s.property.features.group[j]
	if gi == gj {
		return -1, -1
	}
	return gi, gj
}

// addPair adds to sums, times sign, the terms that change along the line of i and j. i has a units and j has b; the
// groups gi and gj, if not −1, have ofI and ofJ units.
func (s *preferenceScorer) addPair(sums []int64, i, j, a, b, gi, gj, ofI, ofJ int, sign int64) {
	p := s.property
	p.add(sums, i, sign*p.ownRoots[a])
	p.add(sums, j, sign*p.ownRoots[b])
	if gi >= 0 {
		p.add(sums, p.features.n+gi, sign*p.groupRoots[ofI])
	}
	if gj >= 0 {
		p.add(sums, p.features.n+gj, sign*p.groupRoots[ofJ])
	}
}

// otherUnits returns the units of the groups gi and gj without the a units of i and the b units of j.
func (s *preferenceScorer) otherUnits(gi, gj, a, b int) (ofI, ofJ int) {
	if gi >= 0 {
		ofI = s.groups[gi] - a
	}
	if gj >= 0 {
		ofJ = s.groups[gj] - b
	}
	return ofI, ofJ
}

func (s *preferenceScorer) Line(i, j int, pieces *mcmc.Pieces) {
	a, b := s.x.Amount(i), s.x.Amount(j)
	gi, gj := s.changingGroups(i, j)
	ofI, ofJ := s.otherUnits(gi, gj, a, b)
	copy(s.base, s.sums)
	s.addPair(s.base, i, j, a, b, gi, gj, ofI+a, ofJ+b, -1)
	grouped := s.grouped
	if gi >= 0 {
		grouped -= a
	}
	if gj >= 0 {
		grouped -= b
	}
	q := joiner{pieces: pieces}
	for k := range a + b + 1 {
		copy(s.currentSums, s.base)
		s.addPair(s.currentSums, i, j, k, a+b-k, gi, gj, ofI+k, ofJ+a+b-k, 1)
		in := grouped
		if gi >= 0 {
			in += k
		}
		if gj >= 0 {
			in += a + b - k
		}
		q.add(k, s.property.log(s.currentSums, in))
	}
}

func (s *preferenceScorer) Moved(i, j int) {
	byI, byJ := s.previousAmounts.changes(i, j)
	a, b := s.x.Amount(i), s.x.Amount(j)
	f := &s.property.features
	gi, gj := s.changingGroups(i, j)
	s.property.add(s.sums, i, s.property.ownRoots[a]-s.property.ownRoots[a-byI])
	s.property.add(s.sums, j, s.property.ownRoots[b]-s.property.ownRoots[b-byJ])
	for _, c := range [...]struct{ of, by int }{{gi, byI}, {gj, byJ}} {
		if c.of < 0 {
			continue
		}
		was := s.groups[c.of]
		s.groups[c.of] += c.by
		s.grouped += c.by
		s.property.add(s.sums, f.n+c.of, s.property.groupRoots[s.groups[c.of]]-s.property.groupRoots[was])
	}
}
