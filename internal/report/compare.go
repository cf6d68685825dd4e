package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"kir/internal/config/change"
	"kir/internal/portable"
	"kir/internal/run"
)

// A Difference is the result of a comparison of two runs, A and B.
type Difference struct {
	A string `json:"a"` // name of run A
	B string `json:"b"` // name of run B
	// ProblemDiff is the unified diff of the resolved problems; empty if the problems are equal.
	ProblemDiff string `json:"asked"`
	// Settings lists the settings that differ between the resolved problems.
	Settings []SettingChange `json:"settings"`
	// Stayed lists the recipes whose set of ingredients is in both shortlists.
	Stayed  []CommonRecipe   `json:"stayed"`
	OnlyInA []ShortlistEntry `json:"went"` // recipes whose set of ingredients is only in the shortlist of A
	OnlyInB []ShortlistEntry `json:"came"` // recipes whose set of ingredients is only in the shortlist of B
	// Figures compares the statistics of the draws that both runs have.
	Figures []FigureChange `json:"figures"`
	// FalseAlarm is the probability that at least one statistic is wrongly said to have changed, if
	// none has changed.
	FalseAlarm float64  `json:"false_alarm"`
	Notes      []string `json:"notes"`

	TotalA int `json:"-"` // number of units of a recipe of A
	TotalB int `json:"-"` // number of units of a recipe of B
}

// A ShortlistEntry is an entry of one of the compared shortlists.
type ShortlistEntry struct {
	Rank       int            `json:"rank"` // place in the shortlist, from 1
	Score      Number         `json:"score"`
	Recipe     map[string]int `json:"recipe"`               // maps the name of an ingredient to its amount in units
	Conditions map[string]any `json:"conditions,omitempty"` // maps the name of a condition to its value
}

// A CommonRecipe is a recipe that is in both shortlists: two entries with the same set of
// ingredients. Their amounts may differ.
type CommonRecipe struct {
	A ShortlistEntry `json:"a"` // entry in the shortlist of A
	B ShortlistEntry `json:"b"` // entry in the shortlist of B
}

// A FigureChange compares one statistic of the draws between run A and run B.
type FigureChange struct {
	Kind string `json:"kind"` // kind of statistic: used (share of draws with an ingredient), amount (mean amount of an ingredient), set (share of draws with a value of a condition), n (share of draws with a number of ingredients), score or mean
	Of   string `json:"of"`   // what the statistic is about, such as the name of the ingredient
	A    Number `json:"a"`    // the statistic in run A
	B    Number `json:"b"`    // the statistic in run B
	SEA  Number `json:"se_a"` // standard error of A
	SEB  Number `json:"se_b"` // standard error of B
	Sure bool   `json:"sure"` // whether the difference is statistically significant
}

// Z returns the difference B − A divided by its standard error.
func (m FigureChange) Z() float64 { return float64(m.B-m.A) / m.SE() }

// SE returns the standard error of the difference B − A.
func (m FigureChange) SE() float64 { return portable.Hypot(float64(m.SEA), float64(m.SEB)) }

// falseAlarmRate is the significance level for all compared statistics together: the largest
// probability that any of them is wrongly said to have changed.
const falseAlarmRate = 0.05

// unseenShareErrorTimesDraws determines the standard error of a share that is 0 or 1 in all S
// draws: unseenShareErrorTimesDraws/S. The reason: if the true share of a case exceeds 3/S, then S
// independent draws show the case at least once with a probability of 19/20.
const unseenShareErrorTimesDraws = 3

// Compare compares run B with run A. A statistic counts as changed if |z| exceeds the normal
// quantile of 1 − 0.05/2K, where z is the difference divided by its standard error, and K the
// number of compared statistics (Bonferroni). So the probability of any false alarm is at most 1 in
// 20.
func Compare(nameA string, a *Model, nameB string, b *Model) *Difference {
	d := &Difference{
		A: nameA, B: nameB, FalseAlarm: falseAlarmRate, Stayed: []CommonRecipe{}, OnlyInA: []ShortlistEntry{}, OnlyInB: []ShortlistEntry{}, Figures: []FigureChange{}, Notes: []string{}, TotalA: a.Problem.Total, TotalB: b.Problem.Total,
		ProblemDiff: change.Diff(nameA, []byte(a.Again.Problem), nameB, []byte(b.Again.Problem)),
		Settings:    append([]SettingChange{}, changedSettings(a.Again.Problem, b.Again.Problem)...),
	}
	if a.Sampler.Seed == b.Sampler.Seed && d.ProblemDiff != "" {
		d.Notes = append(d.Notes, "Both runs have the seed "+strconv.FormatUint(a.Sampler.Seed, 10)+", so their errors may be alike: differences may be more certain than stated.")
	}
	if a.Problem.Total != b.Problem.Total {
		d.Notes = append(d.Notes, "The totals differ, so amounts have different steps.")
	}
	d.compareShortlists(a.Best, b.Best)
	d.compareStatistics(a, b)
	known := 0
	for _, m := range d.Figures {
		if !math.IsNaN(m.Z()) {
			known++
		}
	}
	limit := portable.NormalQuantile(1 - falseAlarmRate/2/float64(max(known, 1)))
	for k := range d.Figures {
		d.Figures[k].Sure = math.Abs(d.Figures[k].Z()) > limit
	}
	slices.SortStableFunc(d.Figures, func(a, b FigureChange) int { // the surest first, in each kind
		switch {
		case a.Kind != b.Kind || math.Abs(a.Z()) == math.Abs(b.Z()) || math.IsNaN(a.Z()) && math.IsNaN(b.Z()):
			return 0
		case math.IsNaN(b.Z()) || math.Abs(a.Z()) > math.Abs(b.Z()):
			return -1
		}
		return 1
	})
	return d
}

// meanAmountError returns the standard error of an ingredient's mean amount in a run, to compare
// the mean with otherMean, that of another run.
//
// If all draws that use the ingredient have the same amount, the draws show no error. Then
// meanAmountError assumes that a share of [unseenShareErrorTimesDraws]/H of all possible draws has
// the amount otherMean instead. H is the effective number of draws that use the ingredient.
func meanAmountError(m *Model, i *run.Inclusion, otherMean Number) Number {
	if i.AmountMCSE > Number(roundingTolerance*math.Abs(float64(i.MeanAmount))) || float64(i.MeanAmount) != math.Trunc(float64(i.MeanAmount)) {
		return i.AmountMCSE
	}
	p, se := float64(i.Probability), float64(i.MCSE)
	hits := p * p * (1 - p) / (se * se) // effective ones; NaN or infinite where they are not known
	if p == 1 {
		hits = float64(m.Sampler.Chains * m.Sampler.Draws)
	}
	if !(hits > 0) || math.IsInf(hits, 0) {
		return UnknownNumber()
	}
	return Number(unseenShareErrorTimesDraws / hits * math.Abs(float64(i.MeanAmount-otherMean)))
}

// roundingTolerance is a relative standard error. A statistic whose relative standard error is
// smaller counts as constant, since such errors come from rounding.
const roundingTolerance = 1e-9

// compareShortlists finds the sets of ingredients that are in both shortlists, only in a, and only
// in b.
func (d *Difference) compareShortlists(a, b []Best) {
	key := func(e Best) string {
		var names []string
		for name := range e.Recipe {
			names = append(names, strconv.Quote(name))
		}
		slices.Sort(names)
		return strings.Join(names, ",")
	}
	listed := func(k int, e Best) ShortlistEntry {
		return ShortlistEntry{Rank: k + 1, Score: e.Score, Recipe: e.Recipe, Conditions: e.Conditions}
	}
	there := make(map[string][]int)
	for k, e := range b {
		there[key(e)] = append(there[key(e)], k)
	}
	taken := make(map[int]bool)
	for k, e := range a {
		if of := there[key(e)]; len(of) > 0 {
			there[key(e)], taken[of[0]] = of[1:], true
			d.Stayed = append(d.Stayed, CommonRecipe{listed(k, e), listed(of[0], b[of[0]])})
		} else {
			d.OnlyInA = append(d.OnlyInA, listed(k, e))
		}
	}
	for k, e := range b {
		if !taken[k] {
			d.OnlyInB = append(d.OnlyInB, listed(k, e))
		}
	}
}

// compareStatistics compares the statistics of the draws that both runs have.
func (d *Difference) compareStatistics(a, b *Model) {
	add := func(kind, of string, va, sa, vb, sb Number) {
		if sa < roundingTolerance*Number(math.Abs(float64(va))) {
			sa = 0
		}
		if sb < roundingTolerance*Number(math.Abs(float64(vb))) {
			sb = 0
		}
		if va.IsKnown() && vb.IsKnown() {
			d.Figures = append(d.Figures, FigureChange{Kind: kind, Of: of, A: va, B: vb, SEA: sa, SEB: sb})
		}
	}
	if a.HasWeights() && b.HasWeights() {
		add("score", "mean over the draws", a.Score.Draws, a.Score.DrawsMCSE, b.Score.Draws, b.Score.DrawsMCSE)
	}
	for _, name := range a.StatisticNames() {
		if y, ok := b.Statistics[name]; ok && name != "log_density" { // which two targets do not share
			x := a.Statistics[name]
			add("mean", name, x.Mean, x.SEMean, y.Mean, y.SEMean)
		}
	}
	share := func(m *Model, p, se Number) Number {
		if s := unseenShareErrorTimesDraws / Number(m.Sampler.Chains*m.Sampler.Draws); (p == 0 || p == 1) && !(se > s) {
			return s
		}
		return se
	}
	sizes := make(map[int]run.Size)
	for _, s := range b.Sparsity {
		sizes[s.N] = s
	}
	for _, x := range a.Sparsity {
		if y, ok := sizes[x.N]; ok && (x.Observed > 0 || y.Observed > 0) {
			add("n", strconv.Itoa(x.N), x.Observed, share(a, x.Observed, x.MCSE), y.Observed, share(b, y.Observed, y.MCSE))
		}
	}
	included := make(map[string]run.Inclusion)
	for _, i := range b.Inclusion {
		included[i.Ingredient] = i
	}
	for _, x := range a.Inclusion {
		y, ok := included[x.Ingredient]
		if !ok || x.Probability == 0 && y.Probability == 0 {
			continue
		}
		add("used", x.Ingredient, x.Probability, share(a, x.Probability, x.MCSE), y.Probability, share(b, y.Probability, y.MCSE))
		add("amount", x.Ingredient, x.MeanAmount, meanAmountError(a, &x, y.MeanAmount), y.MeanAmount, meanAmountError(b, &y, x.MeanAmount))
	}
	for _, c := range a.Conditions {
		other := slices.IndexFunc(b.Conditions, func(o run.ConditionShares) bool { return o.Name == c.Name })
		if other < 0 {
			continue
		}
		x, y := sharesByValue(c), sharesByValue(b.Conditions[other])
		for _, v := range slices.Concat(c.Values, b.Conditions[other].Values) {
			p, known := x[v.Value]
			q, also := y[v.Value]
			if !known && !also || p.Probability == 0 && q.Probability == 0 {
				continue // compared already, or in no draw
			}
			delete(x, v.Value)
			delete(y, v.Value)
			add("set", a.Problem.ConditionText(c.Name, v.Value), p.Probability, share(a, p.Probability, p.MCSE), q.Probability, share(b, q.Probability, q.MCSE))
		}
	}
}

// sharesByValue maps each value of a condition to the share of the draws with this value.
func sharesByValue(c run.ConditionShares) map[any]run.ValueShare {
	all := make(map[any]run.ValueShare)
	for _, v := range c.Values {
		all[v.Value] = v
	}
	return all
}
