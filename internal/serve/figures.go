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

// maxIngredientRows is the maximum number of ingredients in [Draws.Ingredients].
const maxIngredientRows = 60

// A Draws is a summary of the draws of a step. It takes a few kilobytes, whatever the number of
// draws.
type Draws struct {
	Step          int    `json:"step"`     // id of the step, that is, of the version of the problem, from which the draws come
	DrawCount     int    `json:"made"`     // number of draws that all chains have made together
	ReusableDraws int    `json:"from"`     // number of the previous step's draws that are possible in this step
	Reliable      bool   `json:"reliable"` // whether the numbers in the summary are reliable or may still change
	Why           string `json:"why"`      // sentence that gives the reason for the value of Reliable

	RHat          report.Number  `json:"rhat"`        // convergence statistic R-hat, which compares the chains with each other
	ESS           report.Number  `json:"ess"`         // effective sample size of the draws
	Ingredients   []Row          `json:"ingredients"` // one row for each of the most used ingredients, at most maxIngredientRows
	UnlistedCount int            `json:"unlisted"`    // number of used ingredients that are not in Ingredients
	Groups        []Group        `json:"groups"`
	Conditions    []ConditionRow `json:"conditions"`
	FinishedShare float64        `json:"run"` // finished share of the run, from 0 to 1
}

// A Row is a summary of how the draws use one ingredient.
type Row struct {
	Name     string        `json:"name"`
	UseShare report.Number `json:"used"`  // share of the draws that use the ingredient
	SE       report.Number `json:"se"`    // standard error of UseShare
	Mean     report.Number `json:"mean"`  // mean share of the ingredient in a recipe, over the draws that use the ingredient
	Group    int           `json:"group"` // index of the ingredient's group; −1 if the ingredient is in no group
}

// A Group is a summary of how the draws use a group of ingredients. The ingredients of a group have
// the same value of an attribute.
type Group struct {
	Attribute string        `json:"attribute"` // name of the attribute
	Value     string        `json:"value"`     // value of the attribute that all ingredients of the group have
	Mean      report.Number `json:"mean"`      // mean share of the group in a recipe, over all draws
	Q5        report.Number `json:"q5"`        // 5 % quantile of the group's share over the draws
	Q95       report.Number `json:"q95"`       // 95 % quantile of the group's share over the draws
	Members   int           `json:"members"`   // number of ingredients in the group
}

// Draws count as reliable if the bulk effective sample size is at least minESS and R-hat is at most
// maxRHat. The report of a run uses the same limits.
const (
	minESS  = 400
	maxRHat = 1.01
)

// newDraws returns a summary of the kept draws, which are indexed by chain and draw. Every chain
// must have the same number of kept draws. The parameter drawCount is the number of all draws.
func newDraws(p *compile.Problem, groups *ingredientGroups, kept [][]keptDraw, drawCount int) *Draws {
	d := &Draws{DrawCount: drawCount, Ingredients: []Row{}, Groups: []Group{}, Conditions: newConditionRows(p, kept)}
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
	d.assessConvergence(density, used)
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
	d.UnlistedCount = max(0, len(order)-maxIngredientRows)
	order = order[:min(len(order), maxIngredientRows)]
	inclusions, err := diagnose.AllInclusions(uses, func(i int) bool { return slices.Contains(order, i) })
	if err != nil {
		return d // no draws, as assessConvergence has reported
	}
	d.Ingredients = make([]Row, len(order))
	for i, x := range inclusions {
		d.Ingredients[slices.Index(order, i)] = Row{
			Name: p.Ingredients[i], Group: groups.groupOfIngredient[i], UseShare: report.Number(x.Probability), SE: report.Number(x.MCSE),
			Mean: report.Number(x.MeanAmount / float64(p.Total)),
		}
	}
	for k, value := range groups.values {
		totals := make([]float64, 0, all)
		for _, draws := range kept {
			for _, x := range draws {
				totals = append(totals, groups.groupShare(x, k, p.Total))
			}
		}
		slices.Sort(totals)
		mean := 0.0
		for _, v := range totals {
			mean += v / float64(all)
		}
		d.Groups = append(d.Groups, Group{
			Attribute: groups.attributeName, Value: value, Members: groups.memberCounts[k], Mean: report.Number(mean),
			Q5: report.Number(totals[len(totals)/20]), Q95: report.Number(totals[len(totals)-1-len(totals)/20]),
		})
	}
	return d
}

// assessConvergence sets RHat, ESS and Reliable. Both parameters are indexed by chain and draw. The
// elements of logDensities are the log densities of the draws, and those of ingredientCounts are
// their numbers of ingredients.
func (d *Draws) assessConvergence(logDensities, ingredientCounts [][]float64) {
	unknown := report.UnknownNumber()
	d.RHat, d.ESS = unknown, unknown
	if len(logDensities) == 0 || len(logDensities[0]) < 8 {
		d.Why = "The first random recipes (draws) are on their way."
		return
	}
	of, n := diagnose.Summarize(logDensities), diagnose.Summarize(ingredientCounts)
	d.RHat, d.ESS = worseStatistic(of.RHat, n.RHat, math.Max), worseStatistic(of.ESSBulk, n.ESSBulk, math.Min)
	switch {
	case !d.RHat.IsKnown() || !d.ESS.IsKnown():
		d.Why = "Not reliable yet: too few random recipes (draws) to tell."
	case float64(d.RHat) > maxRHat:
		d.Why = fmt.Sprintf("Not reliable yet: the independent sampling runs (chains) do not agree (R-hat %s; below 1.01 is good).", number.Fixed(float64(d.RHat), 3))
	case float64(d.ESS) < minESS:
		d.Why = fmt.Sprintf("Not reliable yet: the random recipes (draws) are worth only %s independent ones.", number.RoundedDown(float64(d.ESS)))
	default:
		d.Reliable = true
		d.Why = fmt.Sprintf("Reliable: the independent sampling runs (chains) agree (R-hat %s; below 1.01 is good). The random recipes (draws) are worth at least %s independent ones.", number.Fixed(float64(d.RHat), 3), number.RoundedDown(float64(d.ESS)))
	}
}

// worseStatistic returns the worse of two statistics. The function worse, such as math.Max, returns
// the worse of two numbers. If one of the statistics is unknown, worseStatistic returns the other.
func worseStatistic(a, b report.Number, worse func(a, b float64) float64) report.Number {
	if math.IsNaN(float64(a)) {
		return b
	}
	if math.IsNaN(float64(b)) {
		return a
	}
	return report.Number(worse(float64(a), float64(b)))
}

// An ingredientGroups divides the ingredients into groups. The ingredients of a group have the same
// value of one attribute. The page uses groups for colours and totals. The attribute is also the
// attribute that orders the ingredients in tables.
type ingredientGroups struct {
	attributeName     string   // name of the attribute; empty if there are no groups
	values            []string // item g is the value of the attribute that all ingredients of group g have
	groupOfIngredient []int    // item i is the index of the group of ingredient i; −1 if it is in no group
	memberCounts      []int    // item g is the number of ingredients in group g
}

// newIngredientGroups returns the groups of a problem's ingredients. There are no groups if no attribute is
// suitable.
func newIngredientGroups(p *compile.Problem) *ingredientGroups {
	g := &ingredientGroups{groupOfIngredient: make([]int, len(p.Ingredients))}
	for i := range g.groupOfIngredient {
		g.groupOfIngredient[i] = -1
	}
	a := report.NewIngredientOrder(p.Outline().Attributes, "", "").Group
	if a == nil {
		return g
	}
	g.attributeName = a.Name
	for i, v := range a.Values {
		if v == "" {
			continue
		}
		k := slices.Index(g.values, v)
		if k < 0 {
			k = len(g.values)
			g.values, g.memberCounts = append(g.values, v), append(g.memberCounts, 0)
		}
		g.groupOfIngredient[i] = k
		g.memberCounts[k]++
	}
	return g
}

// groupShare returns the share of a group in a draw whose amounts sum to total.
func (g *ingredientGroups) groupShare(draw keptDraw, group, total int) float64 {
	sum := 0
	for _, part := range draw.parts {
		if g.groupOfIngredient[part.Ingredient] == group {
			sum += part.Amount
		}
	}
	return float64(sum) / float64(total)
}

// A Distribution is a histogram of the amounts that an ingredient, or a group of ingredients, has
// in the draws.
type Distribution struct {
	Name     string        `json:"name"`
	UseShare report.Number `json:"used"`  // share of the draws that use the ingredient or group
	Low      float64       `json:"low"`   // lower end of the first bin, as a share of the recipe
	High     float64       `json:"high"`  // upper end of the last bin, as a share of the recipe
	Bins     []int         `json:"bins"`  // number of draws in each bin; draws with an amount of 0 do not count
	Total    int           `json:"total"` // sum of the amounts of a recipe in units
}

// maxHistogramBins is the maximum number of bins of a [Distribution].
const maxHistogramBins = 40

// newDistribution returns the histogram of the total amount of certain ingredients in each draw.
// The function isCounted reports whether an ingredient counts. Draws with a total amount of 0 are
// left out. The width of a bin is a whole number of units.
func newDistribution(name string, total int, kept [][]keptDraw, isCounted func(ingredient int) bool) *Distribution {
	var amounts []int
	all := 0
	for _, draws := range kept {
		for _, x := range draws {
			sum := 0
			for _, part := range x.parts {
				if isCounted(part.Ingredient) {
					sum += part.Amount
				}
			}
			all++
			if sum > 0 {
				amounts = append(amounts, sum)
			}
		}
	}
	d := &Distribution{Name: name, Total: total, Bins: []int{}, UseShare: report.Number(float64(len(amounts)) / float64(all))}
	if len(amounts) == 0 {
		return d
	}
	low, high := slices.Min(amounts)-1, slices.Max(amounts)
	if low < high/4 {
		low = 0
	}
	width := (high - low + maxHistogramBins - 1) / maxHistogramBins
	d.Bins = make([]int, (high-low+width-1)/width)
	for _, v := range amounts {
		d.Bins[(v-low-1)/width]++
	}
	d.Low, d.High = float64(low)/float64(total), float64(low+width*len(d.Bins))/float64(total)
	return d
}
