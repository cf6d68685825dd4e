package assemble

import (
	"context"
	"fmt"
	"math"
	"slices"

	"kir/internal/compile"
	"kir/internal/config"
	"kir/internal/diagnose"
	"kir/internal/pareto"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/search"
	"kir/mcmc"
	"kir/model"
)

const (
	// defaultFrontLength is the largest number of recipes of a front that a report lists by
	// default.
	defaultFrontLength = 20
	// maxThinDraws is the approximate number of draws displayed as points, such as those behind a
	// Pareto front.
	maxThinDraws = 400
)

// Tradeoff returns the report on a Pareto front. It lists at most maxPoints recipes of the front; 0
// stands for 20. The parameter draws holds the draws to display behind the front.
func Tradeoff(p *compile.Problem, found *compile.TradeOff, maxPoints int, draws []*mcmc.Composition) (*report.Tradeoff, error) {
	t := &tradeoffBuilder{problem: p, objectives: found.Objectives, target: found.Target, namedValues: newNamedValues(p)}
	var err error
	if t.models, err = newPredictors(p); err != nil {
		return nil, err
	}
	out := &report.Tradeoff{
		Front: []report.FrontPoint{}, Draws: [][]report.Number{}, Known: []report.KnownPoint{}, Warnings: []string{},
		Hypervolume: newHypervolume(found.SearchVolumes), Random: newHypervolume(found.RandomVolumes),
		Lines: found.Lines, Compositions: found.Compositions,
	}
	if found.BeyondKnownAmounts {
		out.Warnings = append(out.Warnings, "Nothing was found within the amounts of the known recipes, so amounts may be of any size.")
	}
	out.Hypervolume.Value, out.Random.Compositions = report.Number(found.Volume), found.RandomSize
	if err := t.addFront(out, found.TradeOffResult, maxPoints); err != nil {
		return nil, err
	}
	if err := t.addKnownRecipes(out); err != nil {
		return nil, err
	}
	for _, x := range draws {
		out.Draws = append(out.Draws, t.displayedValues(x))
	}
	return out, nil
}

// newHypervolume returns the mean of several hypervolumes, with its standard error. The standard
// error is unknown if all hypervolumes are equal.
func newHypervolume(each []float64) report.Hypervolume {
	out := report.Hypervolume{Each: []report.Number{}}
	mean, sum := 0.0, 0.0
	for _, v := range each {
		out.Each = append(out.Each, report.Number(v))
		mean += v / float64(len(each))
	}
	for _, v := range each {
		sum += float64((v - mean) * (v - mean))
	}
	n := float64(len(each))
	out.Value, out.SE = report.Number(mean), report.Number(math.Sqrt(sum/float64((n-1)*n)))
	if len(each) > 0 && diagnose.IsConstant(slices.Min(each), slices.Max(each)) {
		out.Value, out.SE = report.Number(each[0]), report.UnknownNumber()
	}
	return out
}

// A tradeoffBuilder builds the report on a Pareto front.
type tradeoffBuilder struct {
	problem     *compile.Problem
	objectives  []compile.Objective // objectives of the front
	target      *mcmc.Target        // target whose compositions keep the constraints of the front
	models      []predictor
	namedValues []namedValue // named values that properties compute
}

// displayedValues returns the values of a composition for all objectives, as reports display them:
// a prediction, a percentage, a quantity or a score.
func (t *tradeoffBuilder) displayedValues(x *mcmc.Composition) []report.Number {
	out := make([]report.Number, len(t.objectives))
	for k, o := range t.objectives {
		w := &t.problem.Properties[o.Property]
		if o.Figure >= 0 {
			f := w.Figures[o.Figure]
			if out[k] = report.Number(f.ValueOf(x)); f.Percent {
				out[k] = toPercent(out[k])
			}
			continue
		}
		at := slices.IndexFunc(t.models, func(m predictor) bool { return m.Name == w.Name })
		switch {
		case at < 0:
			out[k] = report.Number(portable.Exp(t.problem.Target.Objectives()[o.Property].Property.LogScore(x)))
		case w.Class != "":
			out[k] = toPercent(report.Number(t.models[at].predictValue(x)))
		default:
			out[k] = report.Number(t.models[at].predictValue(x))
		}
	}
	return out
}

// addFront selects at most limit recipes of a front, evenly spread, and adds them to the report. A
// limit of 0 stands for [defaultFrontLength].
func (t *tradeoffBuilder) addFront(out *report.Tradeoff, found *search.TradeOffResult, limit int) error {
	var compositions []*mcmc.Composition
	var shown [][]report.Number
	var points [][]float64
	for _, m := range found.Front {
		x, err := t.problem.Target.Space().Composition(m.Parts, m.Conditions)
		if err != nil {
			return err
		}
		values := t.displayedValues(x)
		point := make([]float64, len(values))
		for k, v := range values {
			point[k] = t.objectives[k].ShownLoss(float64(v))
		}
		compositions, shown, points = append(compositions, x), append(shown, values), append(points, point)
	}
	// The losses may distinguish recipes whose displayed values are equal.
	sizes := make([]float64, len(t.objectives))
	for k := range sizes {
		sizes[k] = t.objectives[k].ShownSize()
	}
	points = pareto.MergeTies(points, sizes)
	best := pareto.NonDominated(points)
	var kept [][]float64
	for _, k := range best {
		kept = append(kept, points[k])
	}
	out.Found = len(kept)
	ideal, nadir := pareto.Bounds(kept)
	scaled := pareto.ScaleLosses(kept, ideal, nadir)
	knees, ends := pareto.Knees(scaled), pareto.BestInEachLoss(scaled)
	t.addObjectives(out, found, shown, best, ends)
	if limit == 0 {
		limit = defaultFrontLength
	}
	known, err := t.problem.KnownRecipes()
	if err != nil {
		return err
	}
	var parts [][]mcmc.Part
	for _, at := range pareto.SelectSpread(scaled, limit, knees...) {
		x := compositions[best[at]]
		b := report.FrontPoint{
			Index: len(out.Front) + 1, Recipe: make(map[string]int), Knee: slices.Contains(knees, at), Best: []string{},
			Conditions: conditionValues(t.problem, x.AppendConditions(nil)),
			Known:      isKnownSet(t.problem, x.Parts()), Values: compositionValues(t.namedValues, x, predictAll(t.models, x)),
		}
		for _, part := range x.Parts() {
			b.Recipe[t.problem.Ingredients[part.Ingredient]] = part.Amount
		}
		if b.Values == nil {
			b.Values = make(map[string]report.Value)
		}
		for k, o := range t.objectives {
			if _, ok := b.Values[o.Name]; !ok || o.Figure >= 0 {
				b.Values[o.Name] = report.Value{Value: shown[best[at]][k], Low: report.UnknownNumber(), High: report.UnknownNumber(), Unit: o.Unit}
			}
			if ends[k] == at {
				b.Best = append(b.Best, o.Name)
			}
		}
		out.Front = append(out.Front, b)
		parts = append(parts, x.Parts())
	}
	if learnt := slices.ContainsFunc(t.objectives, func(o compile.Objective) bool { return t.problem.Properties[o.Property].Model != nil }); learnt {
		far := search.ExtrapolatingIndices(parts, known, search.NewDistance(len(t.problem.Ingredients), known))
		for _, k := range far {
			out.Front[k].Extrapolates = true
		}
	}
	return nil
}

// addObjectives sets the best, worst and reference value of each objective in the report, and
// adds warnings of weak models.
func (t *tradeoffBuilder) addObjectives(out *report.Tradeoff, found *search.TradeOffResult, shown [][]report.Number, best, ends []int) {
	for k, o := range t.objectives {
		w := &t.problem.Properties[o.Property]
		d := report.Objective{Name: o.Name, Direction: o.Direction, Unit: o.Unit, Low: report.UnknownNumber(), High: report.UnknownNumber()}
		if o.Direction == config.Between {
			d.Low, d.High = report.Number(o.Least), report.Number(o.Most)
		}
		if w.Model != nil {
			quality := w.Model.Quality()
			d.Strength = quality.Strength().String()
			if d.Strength == "weak" {
				out.Warnings = append(out.Warnings, fmt.Sprintf("The model of %s is weak: it predicts recipes that it has not seen hardly better than guessing, so the trade-off is unreliable, too.", o.Name))
			}
		}
		d.Best = shown[best[ends[k]]][k]
		for _, at := range best {
			if v := shown[at][k]; o.ShownLoss(float64(v)) >= o.ShownLoss(float64(d.Worst)) || at == best[0] {
				d.Worst = v
			}
		}
		// As far beyond the worst displayed value as the search's reference.
		d.Reference = d.Worst + (d.Worst-d.Best)/10
		if !(found.Nadir[k] > found.Ideal[k]) {
			d.Reference = report.UnknownNumber()
		}
		out.Objectives = append(out.Objectives, d)
	}
	for k := range t.problem.Properties {
		w := &t.problem.Properties[k]
		limits := t.problem.LimitsOf(w.Name)
		if w.Model == nil || len(limits) == 0 || slices.ContainsFunc(t.objectives, func(o compile.Objective) bool { return o.Property == k }) {
			continue
		}
		if quality := w.Model.Quality(); quality.Strength() == model.WeakStrength {
			out.Warnings = append(out.Warnings, fmt.Sprintf("Predictions of %s are little better than guessing; %s. Recipes of the trade-off may break %s.", w.Name, limitsDependText(limits), map[bool]string{true: "it", false: "them"}[len(limits) == 1]))
		}
	}
}

// addKnownRecipes adds the known recipes that keep the constraints to the report. Their values are
// measured if the objective has a trained model, and computed otherwise.
func (t *tradeoffBuilder) addKnownRecipes(out *report.Tradeoff) error {
	known, err := t.problem.KnownRecipes()
	if err != nil {
		return err
	}
	measured := make([][]float64, len(t.objectives))
	for k, o := range t.objectives {
		if w := &t.problem.Properties[o.Property]; w.Model != nil && w.ScoresByHeldOut() && o.Figure < 0 {
			measured[k] = measuredValues(t.problem, w)
		}
	}
	for r, x := range known {
		if score, err := t.target.LogScore(x); err != nil || math.IsInf(score, -1) || math.IsInf(t.target.LogLaw(x.UsedCount()), -1) {
			continue
		}
		point := report.KnownPoint{Recipe: t.problem.Book.Recipes[r].Name, Values: t.displayedValues(x)}
		for k := range measured {
			if measured[k] != nil {
				point.Values[k] = report.Number(measured[k][r])
			}
		}
		if !slices.ContainsFunc(point.Values, func(v report.Number) bool { return !v.IsKnown() }) {
			out.Known = append(out.Known, point)
		}
	}
	return nil
}

// measuredValues returns the measured labels of the known recipes. Item r is that of recipe r, or
// NaN if it was not measured. The label is the one that the property's model predicts. If the model
// predicts a class, item r is 100 if recipe r is in the wanted class, and 0 if not.
func measuredValues(p *compile.Problem, w *compile.Property) []float64 {
	values := make([]float64, len(p.Book.Recipes))
	label, ok := p.Book.Label(w.Model.Label())
	for r := range values {
		values[r] = math.NaN()
		if ok && w.Class != "" {
			values[r] = float64(100 * w.ClassMembership(label, r))
		}
	}
	if ok && w.Class == "" {
		if numbers, _, err := label.Measurements(label.Classes...); err == nil {
			return numbers
		}
	}
	return values
}

// DrawsBehind returns evenly spaced draws from all chains of a complete run, to be displayed behind
// a Pareto front.
func DrawsBehind(ctx context.Context, p *compile.Problem, r *run.Run) (all []*mcmc.Composition, err error) {
	settings := r.Manifest.Settings
	for chain := range settings.Chains {
		for d, err := range r.ThinnedDraws(ctx, chain, evenStride(settings.Draws, max(maxThinDraws/settings.Chains, 1))) {
			if err != nil {
				return nil, err
			}
			x, err := p.Target.Space().Composition(d.Parts, d.Conditions)
			if err != nil {
				return nil, err
			}
			all = append(all, x)
		}
	}
	return all, nil
}
