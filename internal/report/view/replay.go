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

// Replay writes how soon kir would have found the best of the measured recipes, as text. The parameter commands
// are what the user may run next.
func Replay(w io.Writer, r *campaign.Replayed, commands []string, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	p.Line("%s", p.Bold(terminal.EscapeControls(r.Name)))
	p.Wrapped(0, ReplayHeadline(r))
	p.Wrapped(0, replayMethod(r))
	p.Heading("%s", terminal.EscapeControls(replayHeading(r)))
	heading, rows := replayRows(r)
	bars := "closed by kir"
	if r.CountsBest() {
		bars = "made by kir"
	}
	t := terminal.NewTable(0, append(heading, terminal.Pad(bars, replayBarWidth))...)
	for _, row := range rows {
		cells := make([]any, 0, len(row.cells)+1)
		for _, c := range row.cells {
			cells = append(cells, c)
		}
		bar := ""
		if row.share > 0 {
			bar = p.Bar(row.share, replayBarWidth)
		}
		t.Row(append(cells, terminal.Pad(bar, replayBarWidth))...)
	}
	p.Table(t)
	for _, text := range replayNotes(r) {
		p.Wrapped(0, text)
	}
	p.Line("")
	p.Line("Next:")
	for _, command := range commands {
		writeCommand(p, command)
	}
	return p.Err
}

// replayBarWidth is the length of a bar that stands for everything, in characters.
const replayBarWidth = 20

// ReplayHeadline says what kir would have found, and what choosing at random finds.
func ReplayHeadline(r *campaign.Replayed) string {
	last := r.Rounds[len(r.Rounds)-1]
	replays := inputerr.Count(len(r.Replays), "replay")
	if r.CountsBest() {
		return fmt.Sprintf("Of your %d recipes with the best result, kir would have made %s in %d trials (mean of %s). Choosing at random makes %s.",
			r.BestCount, hitsText(last), r.Trials, replays, number.Fixed(last.ChanceHits, 1))
	}
	what := "the best"
	if r.BestCount > 1 {
		what = fmt.Sprintf("one of the %d best", r.BestCount)
	}
	found := fmt.Sprintf("kir would have found %s of your %d recipes (%s)", what, r.Recipes, replayBestText(r))
	if r.ToBest.Median == nil {
		return fmt.Sprintf("%s in %d of %s of %d trials; choosing at random, in %s of them. kir closed %s of the gap to the best, and random choice %s.",
			found, int(math.Round(last.Found*float64(len(r.Replays)))), replays, r.Trials, number.WholePercent(last.ChanceFound), closedText(last), number.WholePercent(last.ChanceClosed))
	}
	most := fmt.Sprint("more than ", r.Trials)
	if r.ToBest.Most != nil {
		most = fmt.Sprint(*r.ToBest.Most)
	}
	spread := ""
	switch {
	case len(r.Replays) == 1:
	case r.ToBest.Most != nil && *r.ToBest.Least == *r.ToBest.Most:
		spread = fmt.Sprintf(" (in each of %s)", replays)
	default:
		spread = fmt.Sprintf(" (median of %s, %d to %s)", replays, *r.ToBest.Least, most)
	}
	return fmt.Sprintf("%s after %d trials%s. Choosing at random takes %d (median).", found, *r.ToBest.Median, spread, r.ToBest.ChanceMedian)
}

// hitsText writes how many of the best recipes the campaigns have made, with a standard error.
func hitsText(of campaign.ReplayRound) string {
	text := number.Fixed(of.Hits, 1)
	if of.HitsSE.IsKnown() && of.HitsSE > 0 {
		text += " ± " + number.Fixed(of.HitsSE, 1)
	}
	return text
}

// closedText writes the share of the gap that kir has closed, with a standard error.
func closedText(of campaign.ReplayRound) string {
	if of.ClosedSE.IsKnown() && of.ClosedSE >= 0.005 {
		return number.Fixed(float64(100*of.Closed), 0) + " ± " + number.Fixed(float64(100*of.ClosedSE), 0) + " %"
	}
	return number.WholePercent(of.Closed)
}

// replayBestText names the best recipe with its measurements.
func replayBestText(r *campaign.Replayed) string {
	b := &r.Best
	var said []string
	for _, label := range slices.Sorted(maps.Keys(b.Measured)) {
		text := label + " " + number.FourFigures(b.Measured[label])
		if label == r.Label {
			text += map[bool]string{false: ", the highest", true: ", the lowest"}[r.Minimize]
		}
		said = append(said, text)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Conditions)) {
		v := fmt.Sprint(b.Conditions[name])
		if f, is := b.Conditions[name].(float64); is {
			v = number.FourFigures(f)
		}
		said = append(said, name+" "+v)
	}
	if len(said) == 0 {
		return b.ID
	}
	return b.ID + ": " + strings.Join(said, ", ")
}

// replayMethod says how the campaigns were replayed.
func replayMethod(r *campaign.Replayed) string {
	without := ", without the best,"
	if r.CountsBest() {
		without = ""
	}
	return fmt.Sprintf("Each replay begins with %s drawn at random%s and continues in batches of %d. kir sees a result only after it has chosen the recipe.", inputerr.Count(r.Start, "recipe"), without, r.BatchSize)
}

// replayValueName returns the name of what the campaigns look for.
func replayValueName(r *campaign.Replayed) string {
	if r.Label == "" {
		return "score"
	}
	return r.Label
}

// replayHeading returns the title of the table and of the figure.
func replayHeading(r *campaign.Replayed) string {
	if r.CountsBest() {
		return "Recipes made that have the best result"
	}
	if r.Minimize {
		return "Lowest " + replayValueName(r) + " found"
	}
	return "Highest " + replayValueName(r) + " found"
}

// A replayRow is a row of the table of a replay.
type replayRow struct {
	cells []string
	share float64 // share of the goal that kir reached, from 0 to 1
}

// maxReplayRows is about the number of rows of the table.
const maxReplayRows = 12

// replayRows returns the headings and the rows of the table: where the campaigns stand after some trials.
func replayRows(r *campaign.Replayed) (heading []string, rows []replayRow) {
	heading = []string{"trials", "kir", "range", "at random", "gap closed", "at random"}
	if r.CountsBest() {
		heading = []string{"trials", "kir", "at random"}
	}
	// Once all campaigns have found the best, only the last row tells more.
	end := slices.IndexFunc(r.Rounds, func(of campaign.ReplayRound) bool { return of.Found == 1 && !r.CountsBest() })
	if end < 0 {
		end = len(r.Rounds) - 1
	}
	step := (end + maxReplayRows) / maxReplayRows
	for k, of := range r.Rounds {
		if (k > end || k%step != 0) && k != end && k != len(r.Rounds)-1 {
			continue
		}
		if r.CountsBest() {
			rows = append(rows, replayRow{[]string{fmt.Sprint(of.Trials), hitsText(of), number.Fixed(of.ChanceHits, 1)}, of.Hits / float64(r.BestCount)})
			continue
		}
		rows = append(rows, replayRow{[]string{
			fmt.Sprint(of.Trials), number.FourFigures(of.Best.Median), number.FourFigures(of.Best.Worst) + " to " + number.FourFigures(of.Best.Best),
			number.FourFigures(of.Chance.Median), closedText(of), number.WholePercent(of.ChanceClosed)}, of.Closed})
	}
	return heading, rows
}

// replayNotes are sentences below the table.
func replayNotes(r *campaign.Replayed) (notes []string) {
	if !r.CountsBest() {
		notes = append(notes, "Values are medians; gaps closed are means. The gap is from the best of the start to the best of all.")
	}
	for _, c := range r.Coverage {
		notes = append(notes, CoverageText(c))
	}
	if r.Label == "" && !r.CountsBest() {
		notes = append(notes, "The score is the product of the desirabilities of all objectives.")
	}
	if len(r.NoTrade) > 0 {
		notes = append(notes, "The trade-off was replayed as one score.")
	}
	if r.Failed > 0 {
		notes = append(notes, fmt.Sprintf("%s failed; a failure counts as the worst result.", inputerr.Count(r.Failed, "recipe")))
	}
	if text := r.LeftOut.Text(); text != "" {
		notes = append(notes, "Left out: "+text+".")
	}
	return append(notes, "A replay is no experiment: it cannot make new recipes. A small table, or one that an optimiser made, says little about new experiments.")
}

// ReplayFigure draws the best value, or the number of best recipes, against the number of trials.
func ReplayFigure(r *campaign.Replayed) *figure.Figure {
	f := &figure.Figure{Name: "replay", Title: replayHeading(r), Width: figureWidth, Height: campaignFigureHeight, Text: ReplayHeadline(r)}
	of := func(v campaign.ReplayRound) (kir, worst, best, chance float64) {
		if r.CountsBest() {
			return v.Hits, v.Hits, v.Hits, v.ChanceHits
		}
		return v.Best.Median, v.Best.Worst, v.Best.Best, v.Chance.Median
	}
	goal, title := r.Best.Value, replayValueName(r)
	if r.CountsBest() {
		goal, title = float64(r.BestCount), "recipes"
	}
	values := []float64{goal}
	for _, v := range r.Rounds {
		kir, worst, best, chance := of(v)
		values = append(values, kir, worst, best, chance)
	}
	x := figure.Scale{Lo: float64(r.Start), Hi: float64(r.Trials), From: campaignPlotLeft, To: figureWidth - 10}
	y := paddedScale(values, campaignPlotBottom, campaignPlotTop)
	drawVerticalAxis(f, x, y, title)
	drawHorizontalAxis(f, x, campaignPlotBottom, "trials")
	var area, own, random []float64
	for _, v := range r.Rounds {
		kir, worst, _, chance := of(v)
		at := x.At(float64(v.Trials))
		area = append(area, at, y.At(worst))
		own, random = append(own, at, y.At(kir)), append(random, at, y.At(chance))
	}
	for _, v := range slices.Backward(r.Rounds) {
		_, _, best, _ := of(v)
		area = append(area, x.At(float64(v.Trials)), y.At(best))
	}
	if !r.CountsBest() && len(r.Replays) > 1 {
		f.FillArea(area, figure.Accent)
		f.Key("all replays", func(f *figure.Figure, x, y float64) {
			f.FillArea([]float64{x, y, x + 20, y, x + 20, y + 10, x, y + 10}, figure.Accent)
		})
	}
	f.Line(x.From, y.At(goal), x.To, y.At(goal), 1, figure.Soft)
	f.DashedPath(random, 2, figure.Soft)
	f.Path(own, 2.5, figure.Accent)
	middle := "median"
	if r.CountsBest() {
		middle = "mean"
	}
	f.Key("kir, "+middle, func(f *figure.Figure, x, y float64) { f.Line(x, y+5, x+20, y+5, 2.5, figure.Accent) })
	f.Key("at random, "+middle, func(f *figure.Figure, x, y float64) { f.Dashed(x, y+5, x+20, y+5, 2, figure.Soft) })
	f.Key("best of all", func(f *figure.Figure, x, y float64) { f.Line(x, y+5, x+20, y+5, 1, figure.Soft) })
	return f
}

// replayView is the data for the template of the page of a replay.
type replayView struct {
	Version, Name, Headline, Method, Title string
	Style                                  template.CSS
	Figure                                 template.HTML
	Heading                                []string
	Rows                                   [][]string
	Notes                                  []string
}

// replayTemplate is the template of the page of a replay. The page is one file that needs no other files.
var replayTemplate = template.Must(template.New("replay").Funcs(template.FuncMap{"text": Shown}).Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="kir {{.Version}}">
<link rel="icon" href="data:,">
<title>{{text .Name}} · kir replay</title>
<style>{{.Style}}</style>
</head>
<body>
<main>
<h1><bdi>{{text .Name}}</bdi></h1>
<p class="headline plain"><strong>{{text .Headline}}</strong></p>
<p>{{.Method}}</p>
<div class="figures">
<figure><figcaption>{{text .Title}}</figcaption>{{.Figure}}</figure>
</div>
<h2>{{text .Title}}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Table of trials">
<table>
<thead><tr>{{range .Heading}}<th scope="col" class="n">{{.}}</th>{{end}}</tr></thead>
<tbody>
{{range .Rows}}<tr>{{range .}}<td class="n">{{.}}</td>{{end}}</tr>
{{end}}</tbody>
</table></div>
{{range .Notes}}<p>{{text .}}</p>
{{end}}</main>
</body>
</html>
`))

// ReplayPage writes how soon kir would have found the best of the measured recipes, as an HTML page.
func ReplayPage(w io.Writer, r *campaign.Replayed) error {
	f := ReplayFigure(r)
	f.PlaceKeys()
	v := &replayView{
		Version: r.Version, Name: r.Name, Headline: ReplayHeadline(r), Method: replayMethod(r), Title: f.Title,
		Style: template.CSS(pagestyle.Text()), Figure: template.HTML(f.SVG()), Notes: replayNotes(r),
	}
	var rows []replayRow
	v.Heading, rows = replayRows(r)
	for k := range v.Heading {
		if v.Heading[k] != "kir" {
			v.Heading[k] = upperFirst(v.Heading[k])
		}
	}
	for _, row := range rows {
		v.Rows = append(v.Rows, row.cells)
	}
	var b bytes.Buffer
	if err := replayTemplate.Execute(&b, v); err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}
