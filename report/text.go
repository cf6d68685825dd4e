package report

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// A TextStyle says what a terminal can show.
type TextStyle struct {
	Color bool // ANSI colours
	ASCII bool // no block characters
}

// textWidth is how wide text is at most, where names allow.
const textWidth = 80

// WriteText prints the model of the run in a directory for a person.
func (m *Model) WriteText(w io.Writer, dir string, style TextStyle) error {
	p := &printer{w: w}
	for _, l := range wrap(Plain(m.Problem.Name), textWidth) {
		p.line("%s", style.bold(l))
	}
	p.wrapped(0, m.Question)
	p.line("%s", m.Problem.words())
	p.wrapped(0, m.sampled())
	if len(m.Problem.Rules) > 1 {
		p.line("Rules:")
		for _, r := range m.Problem.Rules {
			p.wrapped(2, r)
		}
	}
	p.line("")
	for _, l := range wrap(m.Verdict, textWidth-2) {
		if m.Grade != Sound {
			l = style.warn(l)
		}
		p.line("%s", l)
	}
	p.warnings(m.Warnings)
	m.writeShortlists(p, style)
	m.writeIngredients(p, style)
	m.writeSizes(p)
	m.writeScore(p)
	m.writeStatistics(p)
	m.writeRates(p)
	m.writeLadders(p, style)
	p.properties(m.Properties)
	p.heading("To do it again with kir %s, in the directory of the problem file", Plain(m.Version))
	p.command(m.Again.Command)
	if len(m.Files) > 0 {
		p.heading("Files in %s", Plain(dir))
		p.wrapped(2, strings.Join(m.Files, ", "))
	}
	return p.err
}

// sampled says how the draws were made.
func (m *Model) sampled() string {
	return fmt.Sprintf("Kernel %s: %s of %s, warm-up %s, thin %d, seed %d", m.Sampler.Kernel,
		counted(m.Sampler.Chains, "chain"), counted(m.Sampler.Draws, "draw"), thousands(m.Sampler.Warmup), m.Sampler.Thin, m.Sampler.Seed)
}

// textBest and textDiverse are how many compositions the text shows, and longBest
// and longDiverse how many of those that have many parts.
const (
	textBest, textDiverse = 10, 5
	longBest, longDiverse = 5, 3
)

func (m *Model) writeShortlists(p *printer, style TextStyle) {
	mostBest, mostDiverse := textBest, textDiverse
	if slices.ContainsFunc(slices.Concat(m.Best[:min(len(m.Best), longBest)], m.Diverse[:min(len(m.Diverse), longDiverse)]),
		func(b Best) bool { return len(b.Recipe) > longParts }) {
		mostBest, mostDiverse = longBest, longDiverse
	}
	best, various := m.shortlists(mostBest, mostDiverse)
	m.writeLists(p, style, best, various)
	if more := len(m.Best) - len(best); more > 0 && m.weighs() {
		p.line("")
		p.line("%s more: kir show RUN --best 20, --diverse 20, --json", thousands(more))
	}
}

// longParts is above how many parts a composition is long.
const longParts = 6

// A Shortlist is the beginnings of the lists of compositions that are worth a
// look; a list that was not asked for is nil.
type Shortlist struct {
	Best    []Best `json:"best,omitzero"`
	Diverse []Best `json:"diverse,omitzero"`
}

// Shortlist returns the first compositions of each list, as many as there are
// and 0 for none.
func (m *Model) Shortlist(best, diverse int) Shortlist {
	first := func(list []Best, most int) []Best {
		if most == 0 {
			return nil
		}
		return append([]Best{}, list[:min(len(list), most)]...)
	}
	return Shortlist{first(m.Best, best), first(m.Diverse, diverse)}
}

// WriteText prints the shortlist of a model for a person.
func (s Shortlist) WriteText(w io.Writer, m *Model, style TextStyle) error {
	var b strings.Builder
	p := &printer{w: &b}
	number := func(list []Best) []placed {
		var numbered []placed
		for k, b := range list {
			numbered = append(numbered, placed{b, k})
		}
		return numbered
	}
	m.writeLists(p, style, number(s.Best), number(s.Diverse))
	if p.err != nil {
		return p.err
	}
	_, err := io.WriteString(w, strings.TrimLeft(b.String(), "\n"))
	return err
}

// writeLists prints lists of compositions.
func (m *Model) writeLists(p *printer, style TextStyle, best, various []placed) {
	kind := "compositions"
	if m.Problem.Recipes > 0 {
		kind = "new compositions (sets of ingredients that no known recipe has)"
	}
	if m.Problem.Recipes > 0 && len(m.Best) == 0 && len(m.Diverse) == 0 {
		p.heading("Every set of ingredients that was drawn is in the book.")
		return
	}
	if len(best) > 0 && m.weighs() {
		p.heading("%s", style.bold("Best "+kind+", by score"))
		if m.Sampler.Kernel == "tempered" {
			p.line("What a replica met on its way is among them, so that not all are draws.")
		}
		m.writeCompositions(p, best, style)
	}
	if len(various) > 0 {
		title := "Most diverse " + kind
		if m.weighs() {
			title = "Diverse " + kind
		}
		p.heading("%s", style.bold(title))
		if various[len(various)-1].Place >= len(various) {
			p.line("Those shown above are left out, so that numbers are missing.")
		}
		m.writeCompositions(p, various, style)
	}
}

const (
	// mostParts is how many parts of a composition the text lists.
	mostParts = 12
	// mostScores is how wide the columns of the properties may be together;
	// what is wider is listed below each composition.
	mostScores = 34
)

// writeCompositions prints compositions as a table.
func (m *Model) writeCompositions(p *printer, list []placed, style TextStyle) {
	head := " #"
	scored := m.weighs()
	scores := len("score")
	var columns []int // of the properties' scores
	if scored {
		for _, b := range list {
			scores = max(scores, len(number(float64(b.Score))))
		}
		head += fmt.Sprintf("  %*s", scores, "score")
		wide := 0
		for _, w := range m.Properties {
			width := stringWidth(Plain(w.Name))
			for _, b := range list {
				width = max(width, len(scoreText(float64(b.Scores[w.Name]), w.Weight)))
			}
			columns = append(columns, width)
			wide += 2 + width
		}
		if wide > mostScores || !m.scoresEach() {
			columns = nil
		}
		for k, w := range columns {
			head += "  " + strings.Repeat(" ", w-stringWidth(Plain(m.Properties[k].Name))) + Plain(m.Properties[k].Name)
		}
	}
	width := len(percentOf(m.Problem.Total, m.Problem.Total)) - len(" %")
	left := stringWidth(head) + 2
	names := 8
	for _, b := range list {
		for name := range b.Recipe {
			names = max(names, stringWidth(Plain(name)))
		}
	}
	names = min(names, 30, textWidth-left-width-2-10)
	bars := min(24, textWidth-left-width-2-names-2)
	p.line("%s  %*s  %s", head, width, "%", "ingredient")
	indent := strings.Repeat(" ", left)
	for k, b := range list {
		line := fmt.Sprintf("%2d", b.Place+1)
		if scored {
			line += fmt.Sprintf("  %*s", scores, number(float64(b.Score)))
			for q, w := range columns {
				line += fmt.Sprintf("  %*s", w, scoreText(float64(b.Scores[m.Properties[q].Name]), m.Properties[q].Weight))
			}
		}
		line = style.bold(line) + strings.Repeat(" ", max(0, left-stringWidth(line)))
		parts := b.Parts()
		rest, restUnits := 0, 0
		if len(parts) > mostParts+1 {
			for _, part := range parts[mostParts:] {
				rest++
				restUnits += part.Amount
			}
			parts = parts[:mostParts]
		}
		percents := func(amount int) string { return strings.TrimSuffix(percentOf(amount, m.Problem.Total), " %") }
		for _, part := range parts {
			p.line("%s%*s  %s  %s", line, width, percents(part.Amount), pad(Plain(part.Ingredient), names),
				style.bar(float64(part.Amount)/float64(m.Problem.Total), bars))
			line = indent
		}
		if rest > 0 {
			p.line("%s%*s  in %d more ingredients: see --json", indent, width, percents(restUnits), rest)
		}
		if scored && columns == nil && m.scoresEach() {
			var each []string
			for _, w := range m.Properties {
				each = append(each, w.Name+" "+scoreText(float64(b.Scores[w.Name]), w.Weight))
			}
			p.wrapped(left, strings.Join(each, ", "))
		}
		if len(b.Nearest) > 0 {
			var near []string
			for _, n := range b.Nearest {
				near = append(near, fmt.Sprintf("%s %.2f (%s)", n.Recipe, float64(n.Overlap), strings.Join(b.shared(n), ", ")))
			}
			p.wrapped(left, "nearest: "+strings.Join(near, "; "))
		}
		for _, s := range b.Slack {
			p.wrapped(left, m.slackText(s))
		}
		if k < len(list)-1 {
			p.line("")
		}
	}
}

const (
	// mostShared is how many shared ingredients are named.
	mostShared = 6
	// mostNamed is how long a name is at most where it stands in full elsewhere.
	mostNamed = 32
)

// shared names the ingredients that a composition shares with a known recipe,
// those that it has most of first. The list of parts has their names in full.
func (b Best) shared(n Nearest) []string {
	names := slices.Clone(n.Shared)
	slices.SortStableFunc(names, func(x, y string) int { return b.Recipe[y] - b.Recipe[x] })
	if more := len(names) - mostShared; more > 1 {
		names = append(names[:mostShared], fmt.Sprintf("and %d more", more))
	}
	for k, name := range names {
		names[k] = clipped(name)
	}
	return names
}

// clipped shortens a name to mostNamed letters.
func clipped(name string) string {
	if letters := []rune(name); len(letters) > mostNamed {
		return string(letters[:mostNamed-1]) + "…"
	}
	return name
}

// slackText says how close a composition comes to a rule.
func (m *Model) slackText(s Slack) string {
	return m.Problem.Rules[s.Rule] + ": " + s.text()
}

// atBound ends the text of a rule whose bound is met.
const atBound = ", at the bound"

// text says what a rule bounds, and how far from the bound it is.
func (s Slack) text() string {
	if !s.Min.Known() && !s.Max.Known() || s.Min == s.Max {
		return "kept"
	}
	value, room := fmt.Sprintf("%.4g", float64(s.Value)), fmt.Sprintf("%.3g", float64(s.Room))
	switch {
	case s.Ingredient != "":
		value = clipped(s.Ingredient) + " has " + unitsOf(value)
	case s.Unit == "ingredients":
		value += " used"
	case s.Unit == "units":
		value = unitsOf(value)
	default:
		value = s.Unit + " " + value
	}
	if math.Abs(float64(s.Room)) < 1e-9 {
		return value + atBound
	}
	return value + ", " + room + " to spare"
}

func unitsOf(value string) string {
	if value == "1" {
		return "1 unit"
	}
	return value + " units"
}

// textIngredients is how many ingredients the text lists.
const textIngredients = 10

func (m *Model) writeIngredients(p *printer, style TextStyle) {
	sorted := m.SortedInclusion()
	if len(sorted) == 0 || !(sorted[0].Probability > 0) {
		return
	}
	p.heading("%s", style.bold("Ingredients: how many draws use them, and how much then"))
	headings := []string{"ingredient", "draws, %", "±"}
	book := m.Problem.Recipes > 0
	if book {
		headings = append(headings, "book, %")
	}
	headings = append(headings, "mean amount, %", "±")
	t := NewTable(headings...)
	for k := 1; k < len(headings); k++ {
		t.AlignRight(k)
	}
	t.Widest(0, 30)
	total := float64(m.Problem.Total)
	for _, i := range sorted[:min(len(sorted), textIngredients)] {
		cells := []any{pad(Plain(i.Ingredient), min(30, stringWidth(Plain(i.Ingredient)))), decimals(100*float64(i.Probability), 1), standardError(float64(i.MCSE))}
		if book {
			cells = append(cells, decimals(100*float64(i.BookShare), 1))
		}
		t.Row(append(cells, decimals(100*float64(i.MeanAmount)/total, 1), standardError(float64(i.AmountMCSE)/total))...)
	}
	p.table(t)
	if more := len(sorted) - textIngredients; more > 0 {
		p.line("%s more: see --json", thousands(more))
	}
	if m.Pairs == nil || len(m.Pairs.Together)+len(m.Pairs.Apart) == 0 {
		return
	}
	p.heading("Pairs: lift, how much more often both are used than if each was by itself,")
	p.line("and the lift expected of ingredients that only compete for places")
	pairs := NewTable("", "lift", "±", "expected", "pair")
	pairs.AlignRight(1, 2, 3)
	pairs.Widest(4, 46)
	for _, of := range []struct {
		how  string
		list []Pair
	}{{"together", m.Pairs.Together}, {"apart", m.Pairs.Apart}} {
		for _, pair := range of.list[:min(len(of.list), textPairs)] {
			pairs.Row(of.how, decimals(float64(pair.Lift), 2), decimals(float64(pair.MCSE), 2), decimals(float64(pair.Expected), 2), pair.First+" + "+pair.Second)
		}
	}
	p.table(pairs)
}

// textPairs is how many pairs of a kind the text lists.
const textPairs = 4

// writeStatistics prints what says how far the draws can be trusted.
func (m *Model) writeStatistics(p *printer) {
	p.heading("How far the draws can be trusted (docs/diagnostics.md explains the figures)")
	t := NewTable("figure", "mean", "±", "sd", "bulk ESS", "tail ESS", "R-hat")
	t.AlignRight(1, 2, 3, 4, 5, 6)
	t.Widest(0, 24)
	for _, name := range m.StatisticNames() {
		s := m.Statistics[name]
		t.Row(name, short(float64(s.Mean)), errorText(float64(s.MCSEMean)), short(float64(s.SD)), whole(s.ESSBulk), whole(s.ESSTail), number(float64(s.Rhat)))
	}
	p.table(t)
	for _, name := range m.StatisticNames() {
		if why := m.Statistics[name].Why; len(why) > 0 {
			p.wrapped(0, fmt.Sprintf("Unknown of %s: %s.", name, strings.Join(reasons(why), "; ")))
		}
	}
}

// StatisticNames returns the names of the statistics in their order: used,
// log_density, and the properties.
func (m *Model) StatisticNames() []string {
	names := []string{"used", "log_density"}
	for _, w := range m.Properties {
		names = append(names, w.Name)
	}
	return names
}

func (m *Model) writeRates(p *printer) {
	p.line("")
	p.line("%s: %s accepted, %s updated; %s a second.", upper(m.iterations()), rate(m.Rates.Accepted), rate(m.Rates.Updated), thousands(int(m.Timing.IterationsPerSecond)))
	if len(m.Moves) == 0 {
		return
	}
	t := NewTable("move", "tried", "accepted", "updated")
	t.AlignRight(1, 2, 3)
	for _, v := range m.Moves {
		t.Row(v.Name, thousands(int(v.Tried)), rate(v.Accepted), rate(v.Updated))
	}
	p.table(t)
}

// mostSizes is how many numbers of ingredients are listed one by one.
const mostSizes = 40

func (m *Model) writeSizes(p *printer) {
	p.heading("Number of ingredients: the law without properties, and the draws")
	t := NewTable("n", "law", "drawn", "±")
	t.AlignRight(0, 1, 2, 3)
	shown := 0
	for _, s := range m.Sparsity {
		if shown == mostSizes {
			t.Row("…", "", "", "")
			break
		}
		t.Row(s.N, percent(float64(s.Target)), percent(float64(s.Observed)), standardError(float64(s.MCSE)))
		shown++
	}
	p.table(t)
	if len(m.Sparsity) > 0 && m.Sparsity[0].Share != nil {
		worst := 0.0
		for _, s := range m.Sparsity {
			if s.Share.Estimate > 0 {
				worst = max(worst, float64(s.Share.SE/s.Share.Estimate))
			}
		}
		if worst > 0 {
			p.line("Some rules cannot be counted: the law is exact to the share that keeps them,")
			p.line("which exact draws measured to %s (relative standard error, the largest).", percent(worst))
			p.line("± includes that error; more draws do not lessen it.")
		}
	}
	p.wrapped(0, fmt.Sprintf("Total variation distance %s; without properties, chance alone makes it %s.", number(float64(m.Variation)), number(float64(m.Expected))))
}

func (m *Model) writeScore(p *printer) {
	if len(m.Properties) == 0 {
		return
	}
	p.line("")
	p.wrapped(0, fmt.Sprintf("Score, the product of the properties, each to its weight: mean over the draws %s ± %s, over %s random compositions of the same sparsity %s ± %s.",
		number(float64(m.Score.Draws)), errorText(float64(m.Score.DrawsMCSE)), thousands(m.Score.RandomSize), number(float64(m.Score.Random)), errorText(float64(m.Score.RandomSE))))
}

// A NamedPart is an ingredient of a recipe and its units.
type NamedPart struct {
	Ingredient string
	Amount     int
}

// Parts returns the recipe's parts, the largest first, then by name.
func (b Best) Parts() []NamedPart {
	parts := make([]NamedPart, 0, len(b.Recipe))
	for name, amount := range b.Recipe {
		parts = append(parts, NamedPart{name, amount})
	}
	slices.SortFunc(parts, func(a, b NamedPart) int {
		if a.Amount != b.Amount {
			return b.Amount - a.Amount
		}
		return strings.Compare(a.Ingredient, b.Ingredient)
	})
	return parts
}

func (s TextStyle) bold(text string) string { return s.ansi("1", text) }
func (s TextStyle) warn(text string) string { return s.ansi("33", text) }

func (s TextStyle) ansi(code, text string) string {
	if !s.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// bar draws a share of width characters, in eighths of one.
func (s TextStyle) bar(share float64, width int) string {
	if s.ASCII {
		return strings.Repeat("#", max(1, int(math.Round(share*float64(width)))))
	}
	eighths := max(1, int(math.Round(share*float64(8*width))))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return bar
}

// percentOf writes units as a percentage with as many digits as units need.
func percentOf(amount, total int) string {
	digits := 0
	for step := 100.0; step < float64(total) && digits < 4; step *= 10 {
		digits++
	}
	return fmt.Sprintf("%*.*f %%", 4+digits, digits, 100*float64(amount)/float64(total))
}

// number writes a number to three figures and three decimals at least, as far as
// it is not too large or too small to be read so.
func number(v float64) string {
	size := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return "?"
	case size >= 1e5 || v != 0 && size < 1e-6:
		return fmt.Sprintf("%.3g", v)
	case v != 0 && size < 0.0995:
		return fmt.Sprintf("%.*f", 2-int(math.Floor(math.Log10(size))), v)
	}
	return fmt.Sprintf("%.3f", v)
}

// scoreText writes a property's score. A difference matters to the score of a
// composition as much as the weight is large, so that it has more decimals then.
func scoreText(v, weight float64) string {
	if size := math.Abs(v); !(weight >= 10) || size >= 1e5 || size < 0.0995 {
		return number(v)
	}
	return decimals(v, min(9, 3+int(math.Log10(weight))))
}

// scoresEach says whether the scores of the properties say more than the score:
// that of one property of weight 1 is the score.
func (m *Model) scoresEach() bool {
	return len(m.Properties) > 1 || len(m.Properties) == 1 && m.Properties[0].Weight != 1
}

// rhatText writes an R-hat to three decimals, and to as many as it takes to see
// that it is above the limit.
func rhatText(v float64) string {
	for digits := 3; ; digits++ {
		text := decimals(v, digits)
		if shown, err := strconv.ParseFloat(text, 64); err != nil || digits == 9 || shown > largestRHat == (v > largestRHat) {
			return text
		}
	}
}

func rate(share Number) string {
	if !share.Known() {
		return "?"
	}
	return fmt.Sprintf("%.2f %%", 100*float64(share))
}

func standardError(share float64) string {
	if math.IsNaN(share) {
		return "?"
	}
	return fmt.Sprintf("%.2f", 100*share)
}

// short writes a number to four figures.
func short(v float64) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return "?"
	case size >= 1e4 && size < 1e7:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}

// errorText writes a standard error to two figures.
func errorText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "?"
	case v >= 100 && v < 1e7:
		return fmt.Sprintf("%.0f", v)
	case v >= 1e-6 && v < 1e-4:
		return fmt.Sprintf("%.*f", 1-int(math.Floor(math.Log10(v))), v)
	}
	return fmt.Sprintf("%.2g", v)
}

// decimals writes a number with digits behind the point.
func decimals(v float64, digits int) string {
	if math.IsNaN(v) {
		return "?"
	}
	return fmt.Sprintf("%.*f", digits, v)
}

// whole writes a number rounded down.
func whole(v Number) string {
	if !v.Known() {
		return "?"
	}
	return thousands(int(v))
}

// thousands writes a whole number with commas.
func thousands(n int) string {
	return Grouped(big.NewInt(int64(n)))
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}
