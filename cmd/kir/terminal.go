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

// textStyle returns the style for text on a stream. The style has colours only for a terminal, and only if the
// environment variable NO_COLOR is not set (no-color.org).
func textStyle(w io.Writer) terminal.Style {
	return terminal.Style{Color: isTerminal(w) && !noColor(), ASCII: isTerminal(w) && os.Getenv("TERM") == "dumb"}
}

// A progressView displays the progress of a run, in one of these ways:
//   - On a terminal it rewrites one line.
//   - With the flag --json-progress it prints lines of JSON.
//   - To a pipe or file it prints a line every few seconds.
type progressView struct {
	show func(run.Progress)
	end  func()
}

func newProgressView(w io.Writer, o *runOptions, p *compile.Problem) progressView {
	none := progressView{func(run.Progress) {}, func() {}}
	switch {
	case o.progressJSON:
		e := json.NewEncoder(w)
		none.show = func(r run.Progress) { _ = e.Encode(newProgressJSON(r, p)) } // whoever listens may go away; the run goes on
		return none
	case o.quiet:
		return none
	case !isTerminal(w), os.Getenv("TERM") == "dumb":
		return newLogProgressView(w, p)
	}
	return newTerminalProgressView(w, p, func() int { return terminalWidth(w) })
}

// progressLineInterval is the time between two lines of progress in a log.
const progressLineInterval = 5 * time.Second

// firstProgressDelay is the time before the first line of progress in a log. A shorter run prints no such line.
const firstProgressDelay = time.Second

// newLogProgressView returns a view that prints a line of progress every few seconds, for logs.
func newLogProgressView(w io.Writer, p *compile.Problem) progressView {
	last := firstProgressDelay - progressLineInterval
	return progressView{
		end: func() {},
		show: func(r run.Progress) {
			if r.Elapsed-last < progressLineInterval {
				return
			}
			last = r.Elapsed
			_, _ = fmt.Fprintln(w, logLineText(r, p)) // whoever listens may go away; the run goes on
		},
	}
}

// logLineText returns the line of text that describes the progress in a log.
func logLineText(r run.Progress, p *compile.Problem) string {
	line := fmt.Sprintf("%s, after %v%s", phaseText(r), r.Elapsed.Round(time.Second), timeLeftText(r))
	if !math.IsNaN(r.RHat) && !math.IsNaN(r.ESS) {
		line += fmt.Sprintf("; R-hat %.3f, %s at %d draws a chain", r.RHat, essText(r), r.Draws)
	}
	if best := bestRecipeText(r, p); best != "" {
		line += "; " + best
	}
	return line
}

// essText returns the present effective sample size as text, with the size at which the run ends, if it is
// known.
func essText(r run.Progress) string {
	if r.WantedESS == 0 {
		return fmt.Sprintf("ESS %.0f", r.ESS)
	}
	return fmt.Sprintf("ESS %.0f of %d", r.ESS, r.WantedESS)
}

// bestRecipeText returns the text of the best recipe found so far, with its score. The text is empty if there
// is none.
func bestRecipeText(r run.Progress, p *compile.Problem) string {
	if len(r.Best) == 0 {
		return ""
	}
	return recipeText(r.Best[0].Score, r.Best[0].Parts, p)
}

// recipeText returns a recipe as text: its score, and its largest amounts, at most four, in descending order.
func recipeText(score float64, of []mcmc.Part, p *compile.Problem) string {
	const most = 4
	parts := slices.SortedStableFunc(slices.Values(of), func(a, b mcmc.Part) int { return b.Amount - a.Amount })
	var units []int
	for _, part := range parts {
		units = append(units, part.Amount)
	}
	words := number.Shares(units, p.Total)[:min(len(parts), most)]
	for k := range words {
		words[k] += " " + terminal.EscapeControls(p.Ingredients[parts[k].Ingredient])
	}
	if len(parts) > most {
		words = append(words, "…")
	}
	return fmt.Sprintf("best so far %s: %s", number.Score(score, 1), strings.Join(words, ", "))
}

// A progressJSON is one line that the flag --json-progress makes kir print.
type progressJSON struct {
	Elapsed    float64         `json:"elapsed"` // time since the start of the run, in seconds
	Done       float64         `json:"done"`    // completed fraction of all iterations
	Draws      int             `json:"draws"`   // number of draws of the shortest chain at the time when R-hat and ESS were computed
	Rhat       report.Number   `json:"rhat"`    // largest R-hat of all statistics
	ESS        report.Number   `json:"ess"`     // smallest effective sample size of all statistics
	SearchDone float64         `json:"search"`  // completed fraction of the search for the best recipes, which follows the chains
	Chains     []chainProgress `json:"chains"`
	Best       []bestProgress  `json:"best,omitempty"` // best recipes so far, from best to worst
}

type bestProgress struct {
	Score  report.Number  `json:"score"`
	Recipe map[string]int `json:"recipe"` // maps the name of an ingredient to its units
}

type chainProgress struct {
	Done     float64       `json:"done"`
	Warmup   bool          `json:"warmup"`
	Rate     report.Number `json:"iterations_per_second"` // iterations per second
	Accepted report.Number `json:"accepted"`
}

func newProgressJSON(r run.Progress, p *compile.Problem) progressJSON {
	line := progressJSON{Elapsed: r.Elapsed.Seconds(), Done: r.DoneShare, Draws: r.Draws, Rhat: report.Number(r.RHat), ESS: report.Number(r.ESS), SearchDone: r.SearchDoneShare, Chains: []chainProgress{}}
	for _, c := range r.Chains {
		line.Chains = append(line.Chains, chainProgress{c.DoneShare, c.InWarmup, report.Number(c.IterationsPerSecond), report.Number(c.AcceptedShare)})
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

// newBarWriter returns a writer of progress bars in the style of kir.
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

// newTerminalProgressView returns a view that displays the progress in one line of a terminal, and rewrites
// this line.
func newTerminalProgressView(w io.Writer, p *compile.Problem, width func() int) progressView {
	last := time.Duration(-rewriteInterval)
	return progressView{
		end: func() { _, _ = io.WriteString(w, "\r\x1b[K") },
		show: func(r run.Progress) {
			if r.Elapsed-last < rewriteInterval {
				return
			}
			last = r.Elapsed
			_, _ = fmt.Fprintf(w, "\r%s\x1b[K", truncateLine(rewrittenLineText(r, p), width()-1))
		},
	}
}

// rewriteInterval is the time after which the line of progress on a terminal is rewritten.
const rewriteInterval = 200 * time.Millisecond

// terminalWidth returns the number of columns of a terminal, or 80 if the number is unknown.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

// truncateLine shortens a line so that it fits into the given number of columns of a terminal.
func truncateLine(line string, columns int) string {
	if text.StringWidth(line) <= columns {
		return line
	}
	return text.Trim(line, max(columns-1, 0)) + "…"
}

// rewrittenLineText returns the line of progress for a terminal: the remaining time, the effective sample size,
// and the best recipe so far. The most important comes first, because the terminal may cut off the end.
func rewrittenLineText(r run.Progress, p *compile.Problem) string {
	line := phaseText(r) + timeLeftText(r)
	if !math.IsNaN(r.ESS) {
		line += "; " + essText(r)
	}
	if best := bestRecipeText(r, p); best != "" {
		line += "; " + best
	}
	return line
}

// phaseText returns what the run is doing at present, such as the warm-up, with the completed fraction if it is
// known.
func phaseText(r run.Progress) string {
	what, done := "sampling", r.DoneShare
	switch {
	case r.Chains == nil:
		what, done = "looking for the best", r.SearchDoneShare
	case r.Chains[0].InWarmup:
		what = "warm-up"
	}
	if r.LeftIsLimit {
		return what
	}
	return fmt.Sprintf("%s: %.0f %%", what, 100*done)
}

// timeLeftText returns the estimated remaining time as text. The text is empty if the time is unknown.
func timeLeftText(r run.Progress) string {
	switch {
	case r.TimeLeft <= 0:
		return ""
	case r.LeftIsLimit:
		return fmt.Sprintf(", at most %v left", r.TimeLeft.Round(time.Second))
	}
	return fmt.Sprintf(", about %v left", r.TimeLeft.Round(time.Second))
}

// startProgressBars displays progress bars until the returned function is called.
func startProgressBars(bars progress.Writer) (end func()) {
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

// noColor reports whether to print without colours: the environment variable NO_COLOR is set (no-color.org), or
// the terminal has no colours.
func noColor() bool { return os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" }
