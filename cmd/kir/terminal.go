package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"kir/internal/compile"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/terminal"
	"kir/mcmc"
)

// isTerminal reports whether a stream is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// textStyle returns the style that a stream can display. Colours are for terminals only, and not if
// NO_COLOR is set (no-color.org).
func textStyle(w io.Writer) terminal.Style {
	return terminal.Style{Color: isTerminal(w) && !noColor(), ASCII: isTerminal(w) && os.Getenv("TERM") == "dumb"}
}

// A progressView displays the progress of a run: a rewritten line on a terminal, JSON lines on
// request, or a line every few seconds in a pipe or a file.
type progressView struct {
	show func(run.Progress)
	end  func()
}

func newProgress(w io.Writer, o *runOptions, p *compile.Problem) progressView {
	none := progressView{func(run.Progress) {}, func() {}}
	switch {
	case o.progressJSON:
		e := json.NewEncoder(w)
		none.show = func(r run.Progress) { _ = e.Encode(progressLine(r, p)) } // whoever listens may go away; the run goes on
		return none
	case o.quiet:
		return none
	case !isTerminal(w), os.Getenv("TERM") == "dumb":
		return newLineProgress(w, p)
	}
	return newRewrittenProgress(w, p, func() int { return terminalWidth(w) })
}

// lineTime is the time between lines of progress. A shorter run prints none.
const lineTime = 5 * time.Second

// firstLine is the time before the first line.
const firstLine = time.Second

// newLineProgress displays the progress line by line, for logs.
func newLineProgress(w io.Writer, p *compile.Problem) progressView {
	last := firstLine - lineTime
	return progressView{
		end: func() {},
		show: func(r run.Progress) {
			if r.Elapsed-last < lineTime {
				return
			}
			last = r.Elapsed
			_, _ = fmt.Fprintln(w, progressText(r, p)) // whoever listens may go away; the run goes on
		},
	}
}

// progressText returns a line of progress.
func progressText(r run.Progress, p *compile.Problem) string {
	line := fmt.Sprintf("%s, after %v%s", phaseText(r), r.Elapsed.Round(time.Second), timeLeft(r))
	if !math.IsNaN(r.RHat) && !math.IsNaN(r.ESS) {
		line += fmt.Sprintf("; R-hat %.3f, %s at %d draws a chain", r.RHat, essText(r), r.Draws)
	}
	if best := bestText(r, p); best != "" {
		line += "; " + best
	}
	return line
}

// essText returns the effective sample size so far, and the one the run must reach.
func essText(r run.Progress) string {
	if r.WantedESS == 0 {
		return fmt.Sprintf("ESS %.0f", r.ESS)
	}
	return fmt.Sprintf("ESS %.0f of %d", r.ESS, r.WantedESS)
}

// bestText returns the best recipe so far, its largest amounts first, or "" if there is none.
func bestText(r run.Progress, p *compile.Problem) string {
	if len(r.Best) == 0 {
		return ""
	}
	return bestLine(r.Best[0].Score, r.Best[0].Parts, p)
}

// bestLine returns a recipe with its score, its largest amounts first.
func bestLine(score float64, of []mcmc.Part, p *compile.Problem) string {
	const most = 4
	parts := slices.SortedStableFunc(slices.Values(of), func(a, b mcmc.Part) int { return b.Amount - a.Amount })
	var units []int
	for _, part := range parts {
		units = append(units, part.Amount)
	}
	words := number.Shares(units, p.Total)[:min(len(parts), most)]
	for k := range words {
		words[k] += " " + terminal.Plain(p.Ingredients[parts[k].Ingredient])
	}
	if len(parts) > most {
		words = append(words, "…")
	}
	return fmt.Sprintf("best so far %s: %s", number.Score(score, 1), strings.Join(words, ", "))
}

// progressJSON is one line of --json-progress.
type progressJSON struct {
	Elapsed float64         `json:"elapsed"` // seconds
	Done    float64         `json:"done"`    // share of all iterations
	Draws   int             `json:"draws"`   // of the shortest chain, when R-hat and ESS were computed
	Rhat    report.Number   `json:"rhat"`    // the largest
	ESS     report.Number   `json:"ess"`     // the smallest
	Search  float64         `json:"search"`  // share of the search for the best, after the chains
	Chains  []chainProgress `json:"chains"`
	Best    []bestProgress  `json:"best,omitempty"` // so far, the best first
}

type bestProgress struct {
	Score  report.Number  `json:"score"`
	Recipe map[string]int `json:"recipe"` // units by ingredient
}

type chainProgress struct {
	Done     float64       `json:"done"`
	Warmup   bool          `json:"warmup"`
	Rate     report.Number `json:"iterations_per_second"`
	Accepted report.Number `json:"accepted"`
}

func progressLine(r run.Progress, p *compile.Problem) progressJSON {
	line := progressJSON{Elapsed: r.Elapsed.Seconds(), Done: r.Done, Draws: r.Draws, Rhat: report.Number(r.RHat), ESS: report.Number(r.ESS), Search: r.Search, Chains: []chainProgress{}}
	for _, c := range r.Chains {
		line.Chains = append(line.Chains, chainProgress{c.Done, c.Warmup, report.Number(c.Rate), report.Number(c.Accepted)})
	}
	for _, b := range r.Best {
		of := bestProgress{report.Number(b.Score), make(map[string]int)}
		for _, part := range b.Parts {
			of.Recipe[p.Ingredients[part.Ingredient]] = part.Amount
		}
		line.Best = append(line.Best, of)
	}
	return line
}

// newBarWriter returns a writer of progress bars in kir's style.
func newBarWriter(w io.Writer) progress.Writer {
	bars := progress.NewWriter()
	bars.SetOutputWriter(w)
	bars.SetUpdateFrequency(100 * time.Millisecond)
	bars.SetTrackerLength(20)
	bars.SetAutoStop(false)
	style := progress.StyleBlocks
	style.Visibility = progress.StyleVisibility{ETA: true, Percentage: true, Time: true, Tracker: true, Pinned: true}
	style.Options.Separator = "  "
	style.Options.ETAString = "left"
	style.Options.TimeInProgressPrecision = time.Second
	style.Options.ETAPrecision = time.Second
	bars.SetStyle(style)
	return bars
}

// newRewrittenProgress displays the progress in one line that it rewrites.
func newRewrittenProgress(w io.Writer, p *compile.Problem, width func() int) progressView {
	last := time.Duration(-rewriteTime)
	return progressView{
		end: func() { _, _ = io.WriteString(w, "\r\x1b[K") },
		show: func(r run.Progress) {
			if r.Elapsed-last < rewriteTime {
				return
			}
			last = r.Elapsed
			_, _ = fmt.Fprintf(w, "\r%s\x1b[K", clip(rewrittenText(r, p), width()-1))
		},
	}
}

// rewriteTime is the time between rewrites of the line.
const rewriteTime = 200 * time.Millisecond

// terminalWidth returns the number of columns of a terminal, or 80 if unknown.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

// clip shortens a line to a number of columns.
func clip(line string, columns int) string {
	if text.StringWidth(line) <= columns {
		return line
	}
	return text.Trim(line, max(columns-1, 0)) + "…"
}

// rewrittenText returns the text of the line: the remaining time, the statistic that holds up the
// run, and the best recipe so far, which may be cut off.
func rewrittenText(r run.Progress, p *compile.Problem) string {
	line := phaseText(r) + timeLeft(r)
	if !math.IsNaN(r.ESS) {
		line += "; " + essText(r)
	}
	if best := bestText(r, p); best != "" {
		line += "; " + best
	}
	return line
}

// phaseText returns the current phase of a run, with its completed share if known.
func phaseText(r run.Progress) string {
	what, done := "sampling", r.Done
	switch {
	case r.Chains == nil:
		what, done = "looking for the best", r.Search
	case r.Chains[0].Warmup:
		what = "warm-up"
	}
	if r.AtMost {
		return what
	}
	return fmt.Sprintf("%s: %.0f %%", what, 100*done)
}

// timeLeft returns the estimated remaining time, "" if unknown.
func timeLeft(r run.Progress) string {
	switch {
	case r.Left <= 0:
		return ""
	case r.AtMost:
		return fmt.Sprintf(", at most %v left", r.Left.Round(time.Second))
	}
	return fmt.Sprintf(", about %v left", r.Left.Round(time.Second))
}

// startBars draws until the returned function is called.
func startBars(bars progress.Writer) (end func()) {
	go bars.Render()
	return func() {
		// A bar must be drawn before it can be stopped.
		for range 100 {
			if bars.IsRenderInProgress() {
				break
			}
			time.Sleep(time.Millisecond)
		}
		bars.Stop()
		for bars.IsRenderInProgress() {
			time.Sleep(time.Millisecond)
		}
	}
}

// noColor reports whether to avoid colours (no-color.org).
func noColor() bool { return os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" }
