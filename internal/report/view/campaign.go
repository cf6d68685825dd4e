package view

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"kir/internal/campaign"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/internal/report/figure"
	"kir/internal/report/pagestyle"
	"kir/internal/terminal"
)

// Batch writes the next batch of recipes that a campaign suggests, as text.
func Batch(w io.Writer, b *campaign.Batch, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	p.Line("%s", p.Bold(fmt.Sprintf("Batch %d: %s to make", b.Round, inputerr.Count(len(b.Entries), "recipe"))))
	if err := writeBestRecipe(p, b.Best, &b.Measure, b.Conditions, b.Total); err != nil {
		return err
	}
	if len(b.Pending) > 0 {
		p.WrappedHanging(0, "Earlier recipes without a result: "+recipeIDsText(b.Pending))
	}
	p.Wrapped(0, strings.Replace(adviceText(b.RemainingGain), anotherBatchText, "Make this batch.", 1))
	writeModels(p, b.Models)
	for _, note := range b.Notes {
		p.Wrapped(0, note)
	}
	if slices.ContainsFunc(b.Entries, func(e campaign.Entry) bool { return len(e.Predicted) > 0 }) {
		p.Line("In brackets: 90 %% ranges of the predictions.")
	}
	for k := range b.Entries {
		e := &b.Entries[k]
		p.Heading("%s", p.Bold(terminal.EscapeControls(e.ID))+"  "+terminal.EscapeControls(e.Reason.Text))
		if said := predictionsText(e.Predicted); said != "" {
			p.WrappedHanging(4, said)
		}
		if said := ConditionsText(b.Conditions, e.Conditions); said != "" {
			p.WrappedHanging(4, said)
		}
		for _, l := range e.Limits {
			if text := LimitText(l); text != "" {
				p.WrappedHanging(4, text)
			}
		}
		if err := writeSharesTable(p, &b.Measure, e.Recipe, b.Total); err != nil {
			return err
		}
	}
	return p.Err
}

// recipeBarWidth is the length of the bar of an ingredient that makes up the whole recipe, in
// characters.
const recipeBarWidth = 24

// writeSharesTable writes a table of the ingredients of a recipe, with their amounts and with bars.
func writeSharesTable(p *terminal.Printer, m *campaign.Measure, recipe map[string]int, total int) error {
	shares, err := m.Shares(recipe, total)
	if err != nil {
		return err
	}
	amounts, names := 0, 0
	for _, s := range shares {
		amounts = max(amounts, terminal.Width(s.Amount))
		names = max(names, min(terminal.Width(terminal.EscapeControls(s.Ingredient)), maxNameLength))
	}
	for _, s := range shares {
		pad := strings.Repeat(" ", amounts-terminal.Width(s.Amount))
		p.Line("    %s%s %s  %s  %s", pad, s.Amount, m.Unit, terminal.Pad(shortenName(terminal.EscapeControls(s.Ingredient)), names), p.Bar(s.Fraction, recipeBarWidth))
	}
	return nil
}

// RecordedText says how many results a record step has recorded: new, changed, withdrawn, and known
// already. It also says how many recipes have no result yet.
func RecordedText(r *campaign.RecordSummary) string {
	var said []string
	for _, of := range []struct {
		n    int
		what string
	}{{r.New, "added"}, {r.ChangedCount, "changed"}, {r.WithdrawnCount, "withdrawn"}, {r.UnchangedCount, "known already"}, {r.Unfilled, "still missing"}} {
		if of.n > 0 {
			n := fmt.Sprint(of.n)
			if len(said) == 0 {
				n = inputerr.Count(of.n, "result")
			}
			said = append(said, n+" "+of.what)
		}
	}
	if len(said) == 0 {
		return "nothing to record"
	}
	return strings.Join(said, ", ")
}

// predictionsText lists the predicted measurements of a recipe with their intervals. The parameter
// predictions maps the name of a label to the prediction.
func predictionsText(predictions map[string]campaign.Prediction) string {
	var said []string
	for _, label := range slices.Sorted(maps.Keys(predictions)) {
		q := predictions[label]
		said = append(said, fmt.Sprintf("%s %s (%s to %s)", label, number.FourFigures(q.Value), number.FourFigures(q.Low), number.FourFigures(q.High)))
	}
	return strings.Join(said, ", ")
}

// LimitText describes the check of a limit: the probability that a measurement keeps the limit, or
// that the limit is broken. It returns "" if no probability is asked for and the prediction keeps
// the limit.
func LimitText(l campaign.LimitCheck) string {
	switch {
	case l.Sure && l.Within:
		return fmt.Sprintf("%s: %s chance of keeping it", l.Limit, number.Percent(l.Value))
	case l.Sure:
		return fmt.Sprintf("%s: only %s chance of keeping it", l.Limit, number.Percent(l.Value))
	case !l.Within:
		return fmt.Sprintf("%s: %s is predicted, outside the limit", l.Limit, number.FourFigures(l.Value))
	}
	return ""
}

// bestRecipeText describes the best recipe of a campaign: its measurements, its ingredients and its
// conditions.
func bestRecipeText(b *campaign.Best, m *campaign.Measure, under []campaign.Condition, total int) (string, error) {
	shares, err := m.SharesWithOwnDecimals(b.Recipe, total)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, s := range shares {
		parts = append(parts, strings.TrimSpace(s.Ingredient+" "+s.Amount+" "+m.Unit))
	}
	if said := ConditionsText(under, b.Conditions); said != "" {
		parts = append(parts, "at "+said)
	}
	return fmt.Sprintf("%s, %s: %s", b.ID, MeasuredText(b), strings.Join(parts, ", ")), nil
}

// ConditionsText lists the values of conditions, in the order of the problem, such as "temperature
// 185 °C, oven deck". The parameter values maps the name of a condition to its value.
func ConditionsText(of []campaign.Condition, values map[string]any) string {
	var said []string
	for _, c := range of {
		if v, ok := values[c.Name]; ok {
			said = append(said, c.Name+" "+c.Text(v))
		}
	}
	return strings.Join(said, ", ")
}

// MeasuredText lists the measurements of the best recipe of a campaign.
func MeasuredText(b *campaign.Best) string {
	var said []string
	for _, label := range slices.Sorted(maps.Keys(b.Measured)) {
		said = append(said, label+" "+number.FourFigures(b.Measured[label]))
	}
	text := strings.Join(said, ", ")
	if b.Trials > 1 {
		text += fmt.Sprintf(" (the mean of %d trials)", b.Trials)
	}
	return text
}

// writeBestRecipe writes the best recipe of a campaign; nothing if there is none.
func writeBestRecipe(p *terminal.Printer, b *campaign.Best, m *campaign.Measure, under []campaign.Condition, total int) error {
	if b == nil {
		return nil
	}
	text, err := bestRecipeText(b, m, under, total)
	p.WrappedHanging(0, "Best so far: "+text)
	return err
}

// maxListedIDs is the largest number of recipe ids that a list names.
const maxListedIDs = 16

// recipeIDsText lists the ids of recipes. If there are more than maxListedIDs, the last are only
// counted.
func recipeIDsText(ids []string) string {
	more := ""
	if len(ids) > maxListedIDs {
		more = fmt.Sprintf(" and %d more", len(ids)-maxListedIDs)
	}
	return strings.Join(ids[:min(len(ids), maxListedIDs)], ", ") + more
}

// ModelText describes the model of a label: its kind, the number of results it was trained on, and
// how well it predicts.
func ModelText(m campaign.ModelSummary) string {
	if m.Kind == campaign.NoModel {
		return fmt.Sprintf("Model of %s: none yet (%s)", m.Label, inputerr.Count(m.Rows, "result"))
	}
	text := fmt.Sprintf("Model of %s: %s of %s", m.Label, modelKindText(m.Kind), inputerr.Count(m.Rows, "result"))
	if m.R2 != nil {
		text += ", R² " + number.Fixed(*m.R2, 2) + " on held-out recipes"
	}
	if m.Noise != nil {
		text += "; repeating a recipe varies by ±" + number.Value(*m.Noise) + " (standard deviation)"
	}
	return text
}

// modelKindText names a kind of model in plain words, with its name in the literature.
func modelKindText(kind string) string {
	switch kind {
	case "forest":
		return "average of decision trees (random forest)"
	case "Gaussian process":
		return "smooth curve fit (Gaussian process)"
	}
	return kind
}

// writeModels writes a line on each model.
func writeModels(p *terminal.Printer, models []campaign.ModelSummary) {
	for _, m := range models {
		p.Wrapped(0, ModelText(m))
	}
}

// Standing writes the state of a campaign as text: the recipes tried, the best recipe, the models,
// and whether to continue.
func Standing(w io.Writer, s *campaign.Standing, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	p.Line("%s", p.Bold(terminal.EscapeControls(s.Name)))
	p.Wrapped(0, adviceText(s.RemainingGain))
	if err := writeBestRecipe(p, s.Best, &s.Measure, s.Conditions, s.Total); err != nil {
		return err
	}
	p.Wrapped(0, TriedText(s))
	if len(s.Pending) > 0 {
		p.WrappedHanging(0, "No result yet: "+recipeIDsText(s.Pending))
	}
	writeModels(p, s.Models)
	p.Heading("Batches")
	t := terminal.NewTable(0, "batch", "results", "failures", "best so far", "")
	for _, r := range s.Rounds {
		best, by := "", ""
		if r.Best != nil {
			best, by = MeasuredText(r.Best), ""
			if r.BestChanged {
				by = "new: " + terminal.EscapeControls(shortenName(r.Best.ID))
			}
		}
		t.Row(batchName(r.Round), r.ResultCount, r.Failed, terminal.EscapeControls(best), by)
	}
	p.Table(t)
	if s.FailedTrials > 0 {
		p.Line("Failures: recipes that could not be made or measured.")
	}
	if len(s.Checks) > 0 {
		p.Heading("Predicted and measured")
		t := terminal.NewTable(2, "recipe", "result", "predicted", "90 % range", "measured", "")
		for _, q := range s.Checks {
			t.Row(terminal.EscapeControls(shortenName(q.ID)), terminal.EscapeControls(shortenName(q.Label)), number.FourFigures(q.Predicted.Value), number.FourFigures(q.Predicted.Low)+" to "+number.FourFigures(q.Predicted.High), number.FourFigures(q.Measured), predictionCheckText(&q))
		}
		p.Table(t)
		for _, c := range s.Coverage {
			p.Wrapped(0, CoverageText(c))
		}
	}
	for _, note := range s.Notes {
		p.Wrapped(0, note)
	}
	return p.Err
}

// batchName returns the number of a batch as text, or "before" for the recipes that came before the
// first batch.
func batchName(round int) string {
	if round == 0 {
		return "before"
	}
	return fmt.Sprint(round)
}

// TriedText says how many recipes were tried, how many failed, and how many break a constraint.
func TriedText(s *campaign.Standing) string {
	text := inputerr.Count(s.Tried, "recipe") + " tried"
	if s.FailedTrials > 0 {
		text += fmt.Sprintf(", %d failed", s.FailedTrials)
	}
	if s.RuleBreakingTrials == 1 {
		text += "; 1 breaks a constraint and is not ranked"
	} else if s.RuleBreakingTrials > 1 {
		text += fmt.Sprintf("; %d break a constraint and are not ranked", s.RuleBreakingTrials)
	}
	return text
}

// predictionCheckText returns a remark on a measurement: that it lies outside the predicted
// interval, or that the recipe was made differently. It returns "" if neither is true.
func predictionCheckText(q *campaign.PredictionCheck) string {
	switch {
	case q.MadeDifferently:
		return "made differently"
	case !q.Within:
		return "outside the range"
	}
	return ""
}

// CoverageText says how many of a label's predicted intervals contain the measurement.
func CoverageText(c campaign.Coverage) string {
	return fmt.Sprintf("%s: %d of %d results in their predicted 90 %% range", c.Label, c.Within, c.Intervals)
}

// StandingFigures returns the figures of a campaign, at most two for each label. The first shows
// the best value after each round and the results of all recipes. The second shows predicted
// against measured values.
func StandingFigures(s *campaign.Standing) []*figure.Figure {
	var labels []string
	if s.Best != nil {
		labels = slices.Sorted(maps.Keys(s.Best.Measured))
	}
	for _, q := range s.Checks {
		if !slices.Contains(labels, q.Label) {
			labels = append(labels, q.Label)
		}
	}
	var all []*figure.Figure
	for k, label := range labels {
		var told []campaign.PredictionCheck
		for _, q := range s.Checks {
			if q.Label == label {
				told = append(told, q)
			}
		}
		if f := bestByRoundFigure(s, label, told); f != nil {
			f.Name = fmt.Sprintf("best-%d", k+1)
			all = append(all, f)
		}
		if len(told) > 0 {
			f := predictionCheckFigure(label, told)
			f.Name = fmt.Sprintf("told-%d", k+1)
			all = append(all, f)
		}
	}
	return all
}

// Sizes of the figures of a campaign, in CSS pixels: the left, top and bottom edges of the plot
// area, and the height of the figure.
const (
	campaignPlotLeft, campaignPlotTop        = 60.0, 22.0
	campaignFigureHeight, campaignPlotBottom = 240.0, 200.0
)

// paddedScale returns a scale that contains all given values, with a small margin at both ends. The
// parameters from and to are the positions of its ends in a figure.
func paddedScale(values []float64, from, to float64) figure.Scale {
	lo, hi := slices.Min(values), slices.Max(values)
	room := float64((hi - lo) / 20)
	if room == 0 {
		room = math.Max(math.Abs(lo)/20, 1e-9)
	}
	return figure.Scale{Lo: lo - room, Hi: hi + room, From: from, To: to}
}

// bestByRoundFigure draws the best value of a label after each round as steps. Each item of checks
// is a dot in the round of its recipe, on its predicted interval. The result is nil if there are no
// measurements.
func bestByRoundFigure(s *campaign.Standing, label string, checks []campaign.PredictionCheck) *figure.Figure {
	var values []float64
	best := make(map[int]float64)
	first, last := s.Round, 0
	for _, r := range s.Rounds {
		if r.Best == nil {
			continue
		}
		if v, ok := r.Best.Measured[label]; ok {
			best[r.Round] = v
			values = append(values, v)
			first, last = min(first, r.Round), max(last, r.Round)
		}
	}
	in := make(map[int]int)
	for _, q := range checks {
		values = append(values, q.Predicted.Low, q.Predicted.High, q.Measured)
		first, last = min(first, q.Round), max(last, q.Round)
		in[q.Round]++
	}
	if len(values) == 0 {
		return nil
	}
	f := &figure.Figure{Title: label + " of the best so far, and of each result", Width: figureWidth, Height: campaignFigureHeight}
	y := paddedScale(values, campaignPlotBottom, campaignPlotTop)
	x := figure.Scale{Lo: float64(first) - 0.5, Hi: float64(last) + 0.5, From: campaignPlotLeft, To: figureWidth - 10}
	drawVerticalAxis(f, x, y, label)
	step := figure.TickStep(last-first+1, 12)
	for r := first; r <= last; r += step {
		f.Write(x.At(float64(r)), campaignPlotBottom+16, figure.SmallSize, figure.Middle, figure.Soft, batchName(r))
	}
	f.Write((campaignPlotLeft+figureWidth)/2, campaignPlotBottom+32, figure.SmallSize, figure.Middle, figure.Soft, "batch")
	drawn := make(map[int]int)
	for _, q := range checks {
		drawn[q.Round]++
		at := x.At(float64(q.Round) - 0.4 + float64(0.8*float64(drawn[q.Round])/float64(in[q.Round]+1)))
		f.Line(at, y.At(q.Predicted.Low), at, y.At(q.Predicted.High), 1.5, figure.Line)
		f.Dot(at, y.At(q.Measured), 3, predictionCheckPaint(&q))
	}
	var line []float64
	said := "nothing is best yet"
	for _, r := range slices.Sorted(maps.Keys(best)) {
		v := best[r]
		if len(line) == 0 {
			said = fmt.Sprintf("the best is %s %s", number.FourFigures(v), afterBatchText(r))
		}
		line = append(line, x.At(float64(r)-0.5), y.At(v), x.At(float64(r)+0.5), y.At(v))
	}
	if v, ok := best[last]; ok && last > first {
		said += fmt.Sprintf(" and %s %s", number.FourFigures(v), afterBatchText(last))
	}
	f.Path(line, 2.5, figure.Accent)
	f.Text = fmt.Sprintf("Steps of the best %s by batch: %s.", label, said)
	if len(checks) > 0 {
		f.Text += " " + coverageOfChecksText(checks)
	}
	if len(line) > 0 {
		f.Key("best so far", func(f *figure.Figure, x, y float64) { f.Line(x, y+5, x+20, y+5, 2.5, figure.Accent) })
	}
	addPredictionCheckKeys(f, checks)
	return f
}

// afterBatchText says after which batch a value holds.
func afterBatchText(round int) string {
	if round == 0 {
		return "before the first batch"
	}
	return fmt.Sprintf("after batch %d", round)
}

// coverageOfChecksText says how many of the predicted intervals contain the measured result.
func coverageOfChecksText(checks []campaign.PredictionCheck) string {
	within, of := 0, 0
	for _, q := range checks {
		if q.MadeDifferently {
			continue
		}
		of++
		if q.Within {
			within++
		}
	}
	return fmt.Sprintf("%d of %s lie within their predicted 90 %% range.", within, inputerr.Count(of, "result"))
}

// predictionCheckPaint returns the colour of a result in figures: a striking colour if the result
// lies outside its predicted interval.
func predictionCheckPaint(q *campaign.PredictionCheck) figure.Paint {
	switch {
	case q.MadeDifferently:
		return figure.Line
	case !q.Within:
		return figure.Colour(outsideIntervalColour)
	}
	return figure.Soft
}

// outsideIntervalColour is the number, for [figure.Colour], of the colour of results outside their
// predicted intervals: vermillion.
const outsideIntervalColour = 5

// addPredictionCheckKeys adds keys to a figure that explain the marks of results.
func addPredictionCheckKeys(f *figure.Figure, checks []campaign.PredictionCheck) {
	if len(checks) == 0 {
		return
	}
	f.Key("predicted 90 % range", func(f *figure.Figure, x, y float64) { f.Line(x, y+5, x+20, y+5, 1.5, figure.Line) })
	f.Key("measured", func(f *figure.Figure, x, y float64) { f.Dot(x+10, y+5, 3, figure.Soft) })
	f.Key("outside the range", func(f *figure.Figure, x, y float64) { f.Dot(x+10, y+5, 3, figure.Colour(outsideIntervalColour)) })
	if slices.ContainsFunc(checks, func(q campaign.PredictionCheck) bool { return q.MadeDifferently }) {
		f.Key("made differently", func(f *figure.Figure, x, y float64) { f.Dot(x+10, y+5, 3, figure.Line) })
	}
	f.PlaceKeys()
}

// predictionCheckFigure draws predicted values of a label, with their intervals, against measured
// values.
func predictionCheckFigure(label string, checks []campaign.PredictionCheck) *figure.Figure {
	var values []float64
	for _, q := range checks {
		values = append(values, q.Predicted.Low, q.Predicted.High, q.Measured)
	}
	f := &figure.Figure{Title: label + ": predicted and measured", Width: figureWidth, Height: campaignFigureHeight,
		Text: fmt.Sprintf("Measured %s of %s (up) and the predictions (across). %s", label, inputerr.Count(len(checks), "recipe"), coverageOfChecksText(checks))}
	y := paddedScale(values, campaignPlotBottom, campaignPlotTop)
	x := y
	x.From, x.To = campaignPlotLeft, figureWidth-10
	drawScatterAxes(f, x, y, "predicted; dashed = perfect", "measured")
	f.Dashed(x.At(x.Lo), y.At(x.Lo), x.At(x.Hi), y.At(x.Hi), 1, figure.Soft)
	for _, q := range checks {
		f.Line(x.At(q.Predicted.Low), y.At(q.Measured), x.At(q.Predicted.High), y.At(q.Measured), 1.5, figure.Line)
		f.Dot(x.At(q.Predicted.Value), y.At(q.Measured), 3, predictionCheckPaint(&q))
	}
	addPredictionCheckKeys(f, checks)
	return f
}

// standingView is the data for the template of a campaign's page.
type standingView struct {
	*campaign.Standing
	Style    template.CSS // style sheet
	Figures  []titledFigure
	Headline string // says whether to continue the campaign
	Why      string // reason for the headline
}

// A titledFigure is a figure, as SVG, with its title.
type titledFigure struct {
	Title string
	SVG   template.HTML
}

// BestText describes the best recipe of the campaign; "" if there is none.
func (v *standingView) BestText() (string, error) {
	if v.Best == nil {
		return "", nil
	}
	return bestRecipeText(v.Best, &v.Measure, v.Conditions, v.Total)
}

// TriedText says how many recipes were tried; see the function [TriedText].
func (v *standingView) TriedText() string { return TriedText(v.Standing) }

// standingTemplate is the template of the page on the state of a campaign. The page is one file
// that needs no other files.
var standingTemplate = template.Must(template.New("campaign").Funcs(template.FuncMap{
	"text":     Shown,
	"short":    func(v float64) string { return number.FourFigures(v) },
	"measured": MeasuredText,
	"model":    ModelText,
	"coverage": CoverageText,
	"batch":    batchName,
	"did":      func(q campaign.PredictionCheck) string { return predictionCheckText(&q) },
	"list":     recipeIDsText,
}).Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="kir {{.Version}}">
<link rel="icon" href="data:,">
<title>{{text .Name}} · kir campaign</title>
<style>{{.Style}}</style>
</head>
<body>
<main>
<h1><bdi>{{text .Name}}</bdi></h1>
<p class="headline plain"><strong>{{.Headline}}</strong> {{text .Why}}</p>
{{with .BestText}}<p>Best so far: {{text .}}</p>
{{end}}<p>{{.TriedText}}</p>
{{with .Pending}}<p>Without a result yet: {{text (list .)}}</p>
{{end}}{{range .Models}}<p>{{text (model .)}}</p>
{{end}}{{range .Notes}}<p>{{text .}}</p>
{{end}}{{with .Figures}}<div class="figures">
{{range .}}<figure><figcaption>{{text .Title}}</figcaption>{{.SVG}}</figure>
{{end}}</div>
{{end}}<h2>Batches</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Table of batches">
<table>
<thead><tr><th scope="col" class="n">Batch</th><th scope="col" class="n">Results</th><th scope="col" class="n">Failures</th><th scope="col">Best so far</th><th scope="col">Recipe</th></tr></thead>
<tbody>
{{range .Rounds}}<tr><td class="n">{{batch .Round}}</td><td class="n">{{.ResultCount}}</td><td class="n">{{.Failed}}</td><td>{{with .Best}}{{text (measured .)}}{{end}}</td><td>{{if .BestChanged}}new: {{end}}{{with .Best}}<bdi>{{text .ID}}</bdi>{{end}}</td></tr>
{{end}}</tbody>
</table></div>
{{with .Checks}}<h2>Predicted and measured</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Table of predictions">
<table>
<thead><tr><th scope="col">Recipe</th><th scope="col">Result</th><th scope="col" class="n">Predicted</th><th scope="col" class="n">90 % range</th><th scope="col" class="n">Measured</th><th scope="col"></th></tr></thead>
<tbody>
{{range .}}<tr><td><bdi>{{text .ID}}</bdi></td><td><bdi>{{text .Label}}</bdi></td><td class="n">{{short .Predicted.Value}}</td><td class="n">{{short .Predicted.Low}} to {{short .Predicted.High}}</td><td class="n">{{short .Measured}}</td><td>{{did .}}</td></tr>
{{end}}</tbody>
</table></div>
{{end}}{{range .Coverage}}<p>{{text (coverage .)}}</p>
{{end}}</main>
</body>
</html>
`))

// anotherBatchText is the advice to continue a campaign.
const anotherBatchText = "Make another batch."

// Advice returns a headline that says whether to continue a campaign, and the reason. The parameter
// gain is an estimate of what more trials can gain.
func Advice(gain campaign.RemainingGain) (headline, why string) {
	if gain.Advice == campaign.Stop {
		return "Stop, or change what is allowed.", gain.Text
	}
	return anotherBatchText, gain.Text
}

// adviceText writes the advice and its reason in one text.
func adviceText(gain campaign.RemainingGain) string {
	headline, why := Advice(gain)
	return strings.TrimSpace(headline + " " + why)
}

// StandingPage writes the state of a campaign as an HTML page.
func StandingPage(w io.Writer, s *campaign.Standing) error {
	v := &standingView{Standing: s, Style: template.CSS(pagestyle.Text())}
	v.Headline, v.Why = Advice(s.RemainingGain)
	for _, f := range StandingFigures(s) {
		v.Figures = append(v.Figures, titledFigure{f.Title, template.HTML(f.SVG())})
	}
	var b bytes.Buffer
	if err := standingTemplate.Execute(&b, v); err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}
