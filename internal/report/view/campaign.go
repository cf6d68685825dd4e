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
	"kir/internal/fault"
	"kir/internal/number"
	"kir/internal/report/figure"
	"kir/internal/terminal"
)

// Batch writes the next recipes to make as text.
func Batch(w io.Writer, b *campaign.Batch, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	p.Line("%s", p.Bold(fmt.Sprintf("Round %d: %s to make", b.Round, fault.Count(len(b.Entries), "recipe"))))
	if err := bestLine(p, b.Best, &b.Measure, b.Total); err != nil {
		return err
	}
	if len(b.Pending) > 0 {
		p.Hanging(0, "Earlier recipes without a result: "+idsText(b.Pending))
	}
	p.Wrapped(0, b.Left.Text)
	modelLines(p, b.Models)
	for _, note := range b.Notes {
		p.Wrapped(0, note)
	}
	for k := range b.Entries {
		e := &b.Entries[k]
		p.Heading("%s", p.Bold(terminal.Plain(e.ID))+"  "+terminal.Plain(e.Reason.Text))
		if said := predictedOf(e.Predicted); said != "" {
			p.Hanging(4, said)
		}
		if err := sharesTable(p, &b.Measure, e.Recipe, b.Total); err != nil {
			return err
		}
	}
	return p.Err
}

// barWidth is how long the bar of a whole recipe is.
const barWidth = 24

// sharesTable writes what is in a recipe.
func sharesTable(p *terminal.Printer, m *campaign.Measure, recipe map[string]int, total int) error {
	shares, err := m.Shares(recipe, total)
	if err != nil {
		return err
	}
	amounts, names := 0, 0
	for _, s := range shares {
		amounts = max(amounts, terminal.Width(s.Amount))
		names = max(names, min(terminal.Width(terminal.Plain(s.Ingredient)), mostNamed))
	}
	for _, s := range shares {
		pad := strings.Repeat(" ", amounts-terminal.Width(s.Amount))
		p.Line("    %s%s %s  %s  %s", pad, s.Amount, m.Unit, terminal.Pad(clipped(terminal.Plain(s.Ingredient)), names), p.Bar(s.Part, barWidth))
	}
	return nil
}

// predictedOf says what will be measured.
func predictedOf(of map[string]campaign.Prediction) string {
	var said []string
	for _, label := range slices.Sorted(maps.Keys(of)) {
		q := of[label]
		said = append(said, fmt.Sprintf("%s %s (%s to %s)", label, number.Four(q.Value), number.Four(q.Low), number.Four(q.High)))
	}
	return strings.Join(said, ", ")
}

// bestText says what the best is.
func bestText(b *campaign.Best, m *campaign.Measure, total int) (string, error) {
	shares, err := m.Shares(b.Recipe, total)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, s := range shares {
		parts = append(parts, strings.TrimSpace(s.Ingredient+" "+s.Amount+" "+m.Unit))
	}
	return fmt.Sprintf("%s, %s: %s", b.ID, measuredText(b), strings.Join(parts, ", ")), nil
}

// measuredText says what was measured of the best.
func measuredText(b *campaign.Best) string {
	var said []string
	for _, label := range slices.Sorted(maps.Keys(b.Measured)) {
		said = append(said, label+" "+number.Four(b.Measured[label]))
	}
	text := strings.Join(said, ", ")
	if b.Trials > 1 {
		text += fmt.Sprintf(" (the mean of %d trials)", b.Trials)
	}
	return text
}

func bestLine(p *terminal.Printer, b *campaign.Best, m *campaign.Measure, total int) error {
	if b == nil {
		return nil
	}
	text, err := bestText(b, m, total)
	p.Hanging(0, "Best so far: "+text)
	return err
}

// mostIDs is of how many ids a list tells.
const mostIDs = 16

// idsText lists ids.
func idsText(ids []string) string {
	more := ""
	if len(ids) > mostIDs {
		more = fmt.Sprintf(" and %d more", len(ids)-mostIDs)
	}
	return strings.Join(ids[:min(len(ids), mostIDs)], ", ") + more
}

// modelText says how well a label was learnt.
func modelText(m campaign.Model) string {
	if m.Kind == campaign.NoModel {
		return fmt.Sprintf("Model of %s: none yet, on %s", m.Label, fault.Count(m.Rows, "result"))
	}
	text := fmt.Sprintf("Model of %s: %s on %s", m.Label, m.Kind, fault.Count(m.Rows, "result"))
	if m.R2 != nil {
		text += ", held-out R² " + number.Fixed(*m.R2, 2)
	}
	if m.Noise != nil {
		text += ", noise of a measurement " + number.Three(*m.Noise)
	}
	return text
}

func modelLines(p *terminal.Printer, models []campaign.Model) {
	for _, m := range models {
		p.Wrapped(0, modelText(m))
	}
}

// Standing writes where a campaign stands as text.
func Standing(w io.Writer, s *campaign.Standing, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	p.Line("%s", p.Bold(terminal.Plain(s.Name)))
	p.Wrapped(0, s.Left.Text)
	if err := bestLine(p, s.Best, &s.Measure, s.Total); err != nil {
		return err
	}
	p.Wrapped(0, triedText(s))
	if len(s.Pending) > 0 {
		p.Hanging(0, "Without a result yet: "+idsText(s.Pending))
	}
	modelLines(p, s.Models)
	p.Heading("Rounds")
	t := terminal.NewTable(0, "round", "results", "failed", "best so far", "")
	for _, r := range s.Rounds {
		best, by := "", ""
		if r.Best != nil {
			best, by = measuredText(r.Best), ""
			if r.Better {
				by = "new: " + terminal.Plain(clipped(r.Best.ID))
			}
		}
		t.Row(r.Round, r.Results, r.Failed, terminal.Plain(best), by)
	}
	p.Table(t)
	if len(s.Told) > 0 {
		p.Heading("Predicted, and what came")
		t := terminal.NewTable(2, "recipe", "label", "predicted", "90 %", "measured", "")
		for _, q := range s.Told {
			t.Row(terminal.Plain(clipped(q.ID)), terminal.Plain(clipped(q.Label)), number.Four(q.Predicted.Value), number.Four(q.Predicted.Low)+" to "+number.Four(q.Predicted.High), number.Four(q.Measured), toldText(&q))
		}
		p.Table(t)
		for _, c := range s.Coverage {
			p.Wrapped(0, coverageText(c))
		}
	}
	for _, note := range s.Notes {
		p.Wrapped(0, note)
	}
	return p.Err
}

// triedText says what was tried.
func triedText(s *campaign.Standing) string {
	text := fault.Count(s.Tried, "recipe") + " tried"
	if s.Failed > 0 {
		text += fmt.Sprintf(", %d failed", s.Failed)
	}
	if s.Broken == 1 {
		text += "; 1 breaks a constraint and is never called best"
	} else if s.Broken > 1 {
		text += fmt.Sprintf("; %d break a constraint and are never called best", s.Broken)
	}
	return text
}

// toldText says how a prediction did.
func toldText(q *campaign.Told) string {
	switch {
	case q.Otherwise:
		return "made otherwise"
	case !q.Within:
		return "outside"
	}
	return ""
}

func coverageText(c campaign.Coverage) string {
	return fmt.Sprintf("%s: %d of %d within their 90 %% interval", c.Label, c.Within, c.Of)
}

// StandingFigures returns the figures of a campaign: for each label what was predicted of
// recipes and what came, and how the best went from round to round.
func StandingFigures(s *campaign.Standing) []*figure.Figure {
	var all []*figure.Figure
	var labels []string
	if s.Best != nil {
		labels = slices.Sorted(maps.Keys(s.Best.Measured))
	}
	for k, label := range labels {
		if f := bestFigure(s, label); f != nil {
			f.Name = fmt.Sprintf("best-%d", k+1)
			all = append(all, f)
		}
	}
	labels = nil
	for _, q := range s.Told {
		if !slices.Contains(labels, q.Label) {
			labels = append(labels, q.Label)
		}
	}
	for k, label := range labels {
		f := toldFigure(s, label)
		f.Name = fmt.Sprintf("told-%d", k+1)
		all = append(all, f)
	}
	return all
}

// The frame of the figures of a campaign.
const (
	campaignLeft, campaignTop      = 60.0, 10.0
	campaignHeight, campaignBottom = 240.0, 200.0
)

// ranged returns a scale that has all of some values, with a little room.
func ranged(values []float64, from, to float64) figure.Scale {
	lo, hi := slices.Min(values), slices.Max(values)
	room := float64((hi - lo) / 20)
	if room == 0 {
		room = math.Max(math.Abs(lo)/20, 1e-9)
	}
	return figure.Scale{Lo: lo - room, Hi: hi + room, From: from, To: to}
}

// verticalAxis draws an axis of values.
func verticalAxis(f *figure.Figure, s figure.Scale) {
	ticks, digits := figure.Ticks(s.Lo, s.Hi, 5)
	for _, t := range ticks {
		f.Line(campaignLeft, s.At(t), figureWidth-10, s.At(t), 0.5, figure.Line)
		f.Write(campaignLeft-5, s.At(t)+4, figure.SmallSize, figure.End, figure.Soft, number.Axis(t, digits))
	}
}

// bestFigure draws the best of a label by round; nil where there is no number of it.
func bestFigure(s *campaign.Standing, label string) *figure.Figure {
	var rounds []int
	var values []float64
	for _, r := range s.Rounds {
		if r.Best == nil {
			continue
		}
		rounds, values = append(rounds, r.Round), append(values, r.Best.Measured[label])
	}
	if len(values) == 0 {
		return nil
	}
	last := len(values) - 1
	f := &figure.Figure{Title: label + " of the best recipe after each round", Width: figureWidth, Height: campaignHeight,
		Text: fmt.Sprintf("%s of the best: %s after round %d, %s after round %d.", label, number.Four(values[0]), rounds[0], number.Four(values[last]), rounds[last])}
	y := ranged(values, campaignBottom, campaignTop)
	verticalAxis(f, y)
	x := figure.Scale{Lo: float64(rounds[0]), Hi: float64(max(rounds[last], rounds[0]+1)), From: campaignLeft + 10, To: figureWidth - 20}
	step := figure.Every(rounds[last]-rounds[0]+1, 12)
	for r := rounds[0]; r <= rounds[last]; r += step {
		f.Write(x.At(float64(r)), campaignBottom+16, figure.SmallSize, figure.Middle, figure.Soft, fmt.Sprint(r))
	}
	f.Write((campaignLeft+figureWidth)/2, campaignBottom+32, figure.SmallSize, figure.Middle, figure.Soft, "round")
	var line []float64
	for k, v := range values {
		at := x.At(float64(rounds[k]))
		if k > 0 {
			line = append(line, at, y.At(values[k-1]))
		}
		line = append(line, at, y.At(v))
		f.Dot(at, y.At(v), 3.5, figure.Accent)
	}
	f.Path(line, 1.5, figure.Accent)
	return f
}

// toldFigure draws what was predicted of each recipe, with its interval, and what came.
func toldFigure(s *campaign.Standing, label string) *figure.Figure {
	var told []campaign.Told
	var values []float64
	within, of := 0, 0
	for _, q := range s.Told {
		if q.Label != label {
			continue
		}
		told = append(told, q)
		values = append(values, q.Predicted.Low, q.Predicted.High, q.Measured)
		if !q.Otherwise {
			of++
			if q.Within {
				within++
			}
		}
	}
	f := &figure.Figure{Title: label + ": predicted, and what came", Width: figureWidth, Height: campaignHeight,
		Text: fmt.Sprintf("%d recipes in the order in which they were offered, each with the interval that was to hold what came with a probability of 90 %%; %d of %d did.", len(told), within, of)}
	y := ranged(values, campaignBottom, campaignTop)
	verticalAxis(f, y)
	x := figure.Scale{Lo: -0.5, Hi: float64(len(told)) - 0.5, From: campaignLeft, To: figureWidth - 10}
	round := -1
	for k, q := range told {
		at := x.At(float64(k))
		if q.Round != round {
			if round = q.Round; k > 0 {
				f.Dashed(x.At(float64(k)-0.5), campaignTop, x.At(float64(k)-0.5), campaignBottom, 0.5, figure.Line)
			}
			f.Write(at, campaignBottom+16, figure.SmallSize, figure.Start, figure.Soft, fmt.Sprint(round))
		}
		f.Line(at, y.At(q.Predicted.Low), at, y.At(q.Predicted.High), 1.5, figure.Line)
		f.Ring(at, y.At(q.Predicted.Value), 3, figure.Soft)
		paint := figure.Accent
		if !q.Within {
			paint = figure.Ink
		}
		f.Dot(at, y.At(q.Measured), 3, paint)
	}
	f.Write((campaignLeft+figureWidth)/2, campaignBottom+32, figure.SmallSize, figure.Middle, figure.Soft, "recipes, by round")
	f.Key("predicted, and its 90 % interval", func(f *figure.Figure, x, y float64) {
		f.Line(x, y+5, x+20, y+5, 1.5, figure.Line)
		f.Ring(x+10, y+5, 3, figure.Soft)
	})
	f.Key("measured", func(f *figure.Figure, x, y float64) { f.Dot(x+10, y+5, 3, figure.Accent) })
	f.Key("measured, outside the interval", func(f *figure.Figure, x, y float64) { f.Dot(x+10, y+5, 3, figure.Ink) })
	f.PlaceKeys()
	return f
}

// standingView is what the template sees.
type standingView struct {
	*campaign.Standing
	Style    template.CSS
	Figures  []titled
	Headline string
}

// titled is a figure and its title.
type titled struct {
	Title string
	SVG   template.HTML
}

// BestText says what the best is.
func (v *standingView) BestText() (string, error) {
	if v.Best == nil {
		return "", nil
	}
	return bestText(v.Best, &v.Measure, v.Total)
}

// TriedText says what was tried.
func (v *standingView) TriedText() string { return triedText(v.Standing) }

// standingPage is a page of where a campaign stands: one file that needs nothing else.
var standingPage = template.Must(template.New("campaign").Funcs(template.FuncMap{
	"text":     Shown,
	"short":    func(v float64) string { return number.Four(v) },
	"measured": measuredText,
	"model":    modelText,
	"coverage": coverageText,
	"did":      func(q campaign.Told) string { return toldText(&q) },
	"list":     idsText,
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
<h1><bdi>{{text .Name}}</bdi></h1>
<p class="advice"><strong>{{.Headline}}</strong> {{text .Left.Text}}</p>
{{with .BestText}}<p>Best so far: {{text .}}</p>
{{end}}<p>{{.TriedText}}</p>
{{with .Pending}}<p>Without a result yet: {{text (list .)}}</p>
{{end}}{{range .Models}}<p>{{text (model .)}}</p>
{{end}}{{range .Notes}}<p>{{text .}}</p>
{{end}}{{with .Figures}}<div class="figures">
{{range .}}<figure><figcaption>{{text .Title}}</figcaption>{{.SVG}}</figure>
{{end}}</div>
{{end}}<h2>Rounds</h2>
<table>
<thead><tr><th scope="col" class="n">Round</th><th scope="col" class="n">Results</th><th scope="col" class="n">Failed</th><th scope="col">Best so far</th><th scope="col">Recipe</th></tr></thead>
<tbody>
{{range .Rounds}}<tr><td class="n">{{.Round}}</td><td class="n">{{.Results}}</td><td class="n">{{.Failed}}</td><td>{{with .Best}}{{text (measured .)}}{{end}}</td><td>{{if .Better}}new: {{end}}{{with .Best}}<bdi>{{text .ID}}</bdi>{{end}}</td></tr>
{{end}}</tbody>
</table>
{{with .Told}}<h2>Predicted, and what came</h2>
<table>
<thead><tr><th scope="col">Recipe</th><th scope="col">Label</th><th scope="col" class="n">Predicted</th><th scope="col" class="n">90 %</th><th scope="col" class="n">Measured</th><th scope="col"></th></tr></thead>
<tbody>
{{range .}}<tr><td><bdi>{{text .ID}}</bdi></td><td><bdi>{{text .Label}}</bdi></td><td class="n">{{short .Predicted.Value}}</td><td class="n">{{short .Predicted.Low}} to {{short .Predicted.High}}</td><td class="n">{{short .Measured}}</td><td>{{did .}}</td></tr>
{{end}}</tbody>
</table>
{{end}}{{range .Coverage}}<p>{{text (coverage .)}}</p>
{{end}}</body>
</html>
`))

// standingStyle is the style sheet of the page of a campaign.
const standingStyle = `:root{color-scheme:light dark;LIGHT}
@media (prefers-color-scheme:dark){:root{DARK}}
@media print{:root{color-scheme:light;LIGHT}}
FIGURES
body{font:16px/1.45 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:var(--ink);background:var(--ground)}
h1{font-size:1.5rem;margin:0 0 .5rem}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
.advice{font-size:1.1rem}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr));gap:1.5rem;margin:1.5rem 0}
figure{margin:0}
figcaption{font-weight:600}
svg{width:100%;height:auto;max-width:30rem}
table{border-collapse:collapse;width:100%;display:block;overflow-x:auto}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
`

// StandingPage writes where a campaign stands as a page.
func StandingPage(w io.Writer, s *campaign.Standing) error {
	onLight, onDark := figure.Variables()
	v := &standingView{Standing: s, Headline: "Go on."}
	if s.Left.Advice == campaign.Stop {
		v.Headline = "Stop."
	}
	v.Style = template.CSS(strings.NewReplacer("LIGHT", onLight, "DARK", onDark, "FIGURES", figure.Style()).Replace(standingStyle))
	for _, f := range StandingFigures(s) {
		v.Figures = append(v.Figures, titled{f.Title, template.HTML(f.SVG())})
	}
	var b bytes.Buffer
	if err := standingPage.Execute(&b, v); err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}
