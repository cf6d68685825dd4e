package serve

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"kir/internal/compile"
	"kir/internal/diagnose"
	"kir/internal/number"
	"kir/internal/report"
)

// mostRows is the number of ingredients that the page receives without asking.
const mostRows = 60

// Draws summarises the draws of a step in a few kilobytes, whatever their number.
type Draws struct {
	Step     int    `json:"step"`
	Made     int    `json:"made"`
	Reused   int    `json:"from"`     // number of the previous step's draws that still fit
	Reliable bool   `json:"reliable"` // false: the figures may still change
	Why      string `json:"why"`      // reason for Reliable, in a sentence

	RHat        report.Number  `json:"rhat"`
	ESS         report.Number  `json:"ess"`
	Ingredients []Row          `json:"ingredients"`
	Unlisted    int            `json:"unlisted"` // number of used ingredients that are not listed
	Groups      []Group        `json:"groups"`
	Conditions  []ConditionRow `json:"conditions"`
	Run         float64        `json:"run"` // finished share of the run, 0 to 1
}

// A Row describes the use of an ingredient in the draws.
type Row struct {
	Name  string        `json:"name"`
	Used  report.Number `json:"used"` // share of the draws
	SE    report.Number `json:"se"`
	Mean  report.Number `json:"mean"` // mean share in the draws that use it
	Group int           `json:"group"`
}

// A Group has the ingredients that share a value of an attribute.
type Group struct {
	Attribute string        `json:"attribute"`
	Value     string        `json:"value"`
	Mean      report.Number `json:"mean"` // mean share of a recipe over all draws
	Q5        report.Number `json:"q5"`
	Q95       report.Number `json:"q95"`
	Members   int           `json:"members"`
}

// Draws are reliable from a bulk ESS of enoughESS on and up to an R-hat of mostRHat, as in
// the report.
const (
	enoughESS = 400
	mostRHat  = 1.01
)

// newDraws summarises draws, the same number of each chain.
func newDraws(p *compile.Problem, g *groups, kept [][]keptDraw, made int) *Draws {
	d := &Draws{Made: made, Ingredients: []Row{}, Groups: []Group{}, Conditions: newConditionRows(p, kept)}
	density := make([][]float64, len(kept))
	used := make([][]float64, len(kept))
	counts := make([]uint64, len(p.Ingredients))
	uses := make([]*diagnose.Presence, len(kept))
	all := 0
	for c, draws := range kept {
		uses[c] = diagnose.NewPresence(len(p.Ingredients), len(kept))
		for _, x := range draws {
			density[c] = append(density[c], x.logDensity)
			used[c] = append(used[c], float64(len(x.parts)))
			all++
			uses[c].Next()
			for _, part := range x.parts {
				uses[c].Add(part.Ingredient, part.Amount)
			}
		}
		uses[c].AddCounts(counts)
	}
	d.judge(density, used)
	if all == 0 {
		return d
	}
	order := make([]int, 0, len(counts))
	for i, n := range counts {
		if n > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	d.Unlisted = max(0, len(order)-mostRows)
	order = order[:min(len(order), mostRows)]
	inclusions, err := diagnose.AllInclusions(uses, func(i int) bool { return slices.Contains(order, i) })
	if err != nil {
		return d // no draws, as judge has reported
	}
	d.Ingredients = make([]Row, len(order))
	for i, x := range inclusions {
		d.Ingredients[slices.Index(order, i)] = Row{
			Name: p.Ingredients[i], Group: g.byIngredient[i], Used: report.Number(x.Probability), SE: report.Number(x.MCSE),
			Mean: report.Number(x.MeanAmount / float64(p.Total)),
		}
	}
	for k, value := range g.values {
		totals := make([]float64, 0, all)
		for _, draws := range kept {
			for _, x := range draws {
				totals = append(totals, g.share(x, k, p.Total))
			}
		}
		slices.Sort(totals)
		mean := 0.0
		for _, v := range totals {
			mean += v / float64(all)
		}
		d.Groups = append(d.Groups, Group{
			Attribute: g.attribute, Value: value, Members: g.members[k], Mean: report.Number(mean),
			Q5: report.Number(totals[len(totals)/20]), Q95: report.Number(totals[len(totals)-1-len(totals)/20]),
		})
	}
	return d
}

// judge sets the convergence figures and whether the draws are reliable.
func (d *Draws) judge(density, used [][]float64) {
	unknown := report.UnknownNumber()
	d.RHat, d.ESS = unknown, unknown
	if len(density) == 0 || len(density[0]) < 8 {
		d.Why = "The first draws are on their way."
		return
	}
	of, n := diagnose.Summarize(density), diagnose.Summarize(used)
	d.RHat, d.ESS = worst(of.RHat, n.RHat, math.Max), worst(of.ESSBulk, n.ESSBulk, math.Min)
	switch {
	case !d.RHat.Known() || !d.ESS.Known():
		d.Why = "Not reliable yet: too few draws to tell."
	case float64(d.RHat) > mostRHat:
		d.Why = fmt.Sprintf("Not reliable yet: the chains do not agree (R-hat %s).", number.Fixed(float64(d.RHat), 3))
	case float64(d.ESS) < enoughESS:
		d.Why = fmt.Sprintf("Not reliable yet: the draws are worth %s independent ones.", number.RoundedDown(float64(d.ESS)))
	default:
		d.Reliable = true
		d.Why = fmt.Sprintf("The chains agree (R-hat %s), and the draws are worth at least %s independent ones.", number.Fixed(float64(d.RHat), 3), number.RoundedDown(float64(d.ESS)))
	}
}

// worst returns the worse of two figures. Either may be unknown, as for a law with only one
// number of ingredients.
func worst(a, b report.Number, of func(a, b float64) float64) report.Number {
	if math.IsNaN(float64(a)) {
		return b
	}
	if math.IsNaN(float64(b)) {
		return a
	}
	return report.Number(of(float64(a), float64(b)))
}

// groups are the groups of ingredients by one attribute, for colours and totals. The attribute
// is the one that orders ingredients in a table.
type groups struct {
	attribute    string
	values       []string
	byIngredient []int // by ingredient; −1: none
	members      []int
}

// newGroups returns the groups of a problem. There are none if no attribute groups the
// ingredients.
func newGroups(p *compile.Problem) *groups {
	g := &groups{byIngredient: make([]int, len(p.Ingredients))}
	for i := range g.byIngredient {
		g.byIngredient[i] = -1
	}
	a := report.NewIngredientOrder(p.Outline().Attributes, "", "").Group
	if a == nil {
		return g
	}
	g.attribute = a.Name
	for i, v := range a.Values {
		if v == "" {
			continue
		}
		k := slices.Index(g.values, v)
		if k < 0 {
			k = len(g.values)
			g.values, g.members = append(g.values, v), append(g.members, 0)
		}
		g.byIngredient[i] = k
		g.members[k]++
	}
	return g
}

// share returns the share of a group in a draw.
func (g *groups) share(x keptDraw, group, total int) float64 {
	sum := 0
	for _, part := range x.parts {
		if g.byIngredient[part.Ingredient] == group {
			sum += part.Amount
		}
	}
	return float64(sum) / float64(total)
}

// A Distribution is a histogram of the amounts of an ingredient or group over the draws.
type Distribution struct {
	Name  string        `json:"name"`
	Used  report.Number `json:"used"` // share of the draws
	Low   float64       `json:"low"`  // lower end of the bins, as a share
	High  float64       `json:"high"`
	Bins  []int         `json:"bins"` // number of draws by bin, of the draws that use it
	Total int           `json:"total"`
}

// distributionBins is the greatest number of bins.
const distributionBins = 40

// newDistribution returns the distribution of the total amount of the wanted ingredients over
// the draws that use them. Bins are whole units wide.
func newDistribution(name string, total int, kept [][]keptDraw, wanted func(ingredient int) bool) *Distribution {
	var amounts []int
	all := 0
	for _, draws := range kept {
		for _, x := range draws {
			sum := 0
			for _, part := range x.parts {
				if wanted(part.Ingredient) {
					sum += part.Amount
				}
			}
			all++
			if sum > 0 {
				amounts = append(amounts, sum)
			}
		}
	}
	d := &Distribution{Name: name, Total: total, Bins: []int{}, Used: report.Number(float64(len(amounts)) / float64(all))}
	if len(amounts) == 0 {
		return d
	}
	low, high := slices.Min(amounts)-1, slices.Max(amounts)
	if low < high/4 {
		low = 0
	}
	width := (high - low + distributionBins - 1) / distributionBins
	d.Bins = make([]int, (high-low+width-1)/width)
	for _, v := range amounts {
		d.Bins[(v-low-1)/width]++
	}
	d.Low, d.High = float64(low)/float64(total), float64(low+width*len(d.Bins))/float64(total)
	return d
}
