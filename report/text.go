package report

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
)

// A TextStyle says what a terminal can show.
type TextStyle struct {
	Color bool // ANSI colours
	ASCII bool // no block characters
}

// WriteText prints the model of the run in a directory for a person, on 80
// columns.
func (m *Model) WriteText(w io.Writer, dir string, style TextStyle) error {
	p := &printer{w: w}
	p.line("%s", style.bold(Plain(m.Problem.Name)))
	p.line("%s", m.Problem.words())
	p.line("%s: %s of %s after a warm-up of %s, thin %d, seed %d", m.Sampler.Kernel,
		counted(m.Sampler.Chains, "chain"), counted(m.Sampler.Draws, "draw"), thousands(m.Sampler.Warmup), m.Sampler.Thin, m.Sampler.Seed)
	p.line("")
	for _, l := range wrap(m.Verdict, 78) {
		p.line("%s", l)
	}
	if len(m.Warnings) > 0 {
		p.line("%s", style.warn(counted(len(m.Warnings), "warning")+": see below."))
	}
	m.writeBest(p, style)
	m.writeSizes(p)
	m.writeScore(p)
	p.line("")
	p.line("Iterations: %s accepted, %s updated; %s a second.", rate(m.Rates.Accepted), rate(m.Rates.Updated), thousands(int(m.Timing.IterationsPerSecond)))
	p.properties(m.Properties)
	p.warnings(m.Warnings)
	if len(m.Files) > 0 {
		p.heading("Files in %s", Plain(dir))
		for _, l := range wrap(strings.Join(m.Files, ", "), 76) {
			p.line("  %s", l)
		}
	}
	return p.err
}

func (m *Model) writeBest(p *printer, style TextStyle) {
	if len(m.Properties) == 0 {
		return // nothing makes one composition better than another
	}
	if len(m.Best) == 0 {
		if m.Problem.Recipes > 0 {
			p.heading("Every set of ingredients that was drawn is in the book.")
		}
		return
	}
	title := "Best compositions, by score"
	if m.Problem.Recipes > 0 {
		title = "Best new compositions (sets of ingredients that no known recipe has), by score"
	}
	p.heading("%s", style.bold(title))
	for k, b := range m.Best {
		head := fmt.Sprintf("%2d  score %s", k+1, figure(float64(b.Score)))
		if len(m.Properties) > 1 {
			for _, w := range m.Properties {
				head += fmt.Sprintf("   %s %s", Plain(w.Name), figure(float64(b.Scores[w.Name])))
			}
		}
		p.line("%s", style.bold(head))
		for _, part := range b.Parts(m.Problem.Total) {
			p.line("    %s  %s  %s", pad(Plain(part.Ingredient), 28), percentOf(part.Amount, m.Problem.Total), style.bar(float64(part.Amount)/float64(m.Problem.Total), 30))
		}
		for q, n := range b.Nearest {
			head := "nearest: "
			if q > 0 {
				head = "         "
			}
			text := fmt.Sprintf("%s, overlap %.2f: %s", Plain(n.Recipe), float64(n.Overlap), Plain(strings.Join(n.Shared, ", ")))
			for r, l := range wrap(text, 66) {
				if r > 0 {
					head = "           "
				}
				p.line("    %s%s", head, l)
			}
		}
	}
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
			worst = max(worst, float64(s.Share.SE/s.Share.Estimate))
		}
		p.line("Some rules cannot be counted: the law is exact to the share that keeps them,")
		p.line("which exact draws measured to %s (relative standard error, the largest).", percent(worst))
	}
	p.line("Total variation distance %s; without properties, chance alone makes it %s.", figure(float64(m.Variation)), figure(float64(m.Expected)))
}

func (m *Model) writeScore(p *printer) {
	if len(m.Properties) == 0 {
		return
	}
	p.heading("Score, the product of the properties: mean over the draws %s ± %s,", figure(float64(m.Score.Draws)), figure(float64(m.Score.DrawsMCSE)))
	p.line("over %s random compositions of the same sparsity %s ± %s.", thousands(m.Score.RandomSize), figure(float64(m.Score.Random)), figure(float64(m.Score.RandomSE)))
}

// A NamedPart is an ingredient of a recipe and its units.
type NamedPart struct {
	Ingredient string
	Amount     int
}

// Parts returns the recipe's parts, the largest first, then by name.
func (b Best) Parts(total int) []NamedPart {
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

// figure writes a number to three figures.
func figure(v float64) string {
	switch {
	case math.IsNaN(v):
		return "?"
	case v != 0 && math.Abs(v) < 0.001:
		return fmt.Sprintf("%.2g", v)
	}
	return fmt.Sprintf("%.3f", v)
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
