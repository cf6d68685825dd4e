// Package view renders the data of a report: as text on a terminal, as an HTML page, and as
// figures.
package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/terminal"
)

// Text writes the report on a run as text: the shortlist, how far to trust it, and what to do next.
// The parameter dir is the location of the run; if it is empty, the run is not stored, and commands
// that read it are left out.
func Text(w io.Writer, m *report.Model, dir string, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	writeText(m, dir, p)
	return p.Err
}

// Details writes what [Text] writes and after it all else that the report has: the models, the
// averages over the draws, the statistics of the chains, and how to repeat the run.
func Details(w io.Writer, m *report.Model, dir string, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	writeText(m, dir, p)
	writeQuestion(m, p)
	writeAnswer(m, p)
	p.Heading("%s", p.Bold("The draws"))
	p.Wrapped(0, m.Draws)
	p.Wrapped(0, samplerText(m)+".")
	writeIngredients(m, p, dir)
	writeSizes(m, p)
	writeScore(m, p)
	writeStatistics(m, p)
	writeRates(m, p)
	writeLadders(m, p, dir)
	writeProperties(p, m.Properties, true)
	p.Heading("Repeat it in the directory of the problem file, with kir version %s", terminal.EscapeControls(m.Version))
	writeCommand(p, m.Again.Command)
	if len(m.Files) > 0 {
		p.Heading("Files in %s", terminal.EscapeControls(dir))
		p.Wrapped(2, strings.Join(m.Files, ", "))
	}
	return p.Err
}

// writeText writes the result of [Text].
func writeText(m *report.Model, dir string, p *terminal.Printer) {
	for _, l := range terminal.Wrap(terminal.EscapeControls(m.Problem.Name), terminal.MaxColumns) {
		p.Line("%s", p.Bold(l))
	}
	writeShortlist(m, p, dir)
	if m.Tradeoff != nil {
		p.Line("")
		writeTradeoff(p, m.Tradeoff, m.Problem.Total)
	}
	p.Line("")
	writeHeadline(m, p)
	for _, warning := range m.Warnings {
		p.WrappedHanging(0, "! "+warning)
	}
	if dir != "" {
		p.Line("")
		run := terminal.EscapeControls(terminal.ShellWord(dir))
		p.Line("Next:")
		switch {
		case len(m.Best) == 0:
		case m.Problem.Unit != "":
			p.Line("  kir show %s --recipe 1 --batch %s%s", run, number.RoundTrip(float64(m.Problem.Whole)), m.Problem.Unit)
		default:
			p.Line("  kir show %s --xlsx -o shortlist.xlsx", run)
		}
		p.Line("  kir show %s --details", run)
	}
}

// writeQuestion writes what was asked: the question, the size of the problem and its constraints.
func writeQuestion(m *report.Model, p *terminal.Printer) {
	p.Heading("%s", p.Bold("The question"))
	p.Wrapped(0, m.Question)
	p.Wrapped(0, m.Problem.Describe()+".")
	if len(m.Problem.Rules) > 1 {
		p.Line("Constraints:")
		for _, r := range m.Problem.Rules {
			p.Wrapped(2, r)
		}
	}
}

// samplerText describes how the draws were made: kernel, chains, draws and seed.
func samplerText(m *report.Model) string {
	text := fmt.Sprintf("Sampling algorithm (kernel) %s: %s of %s; the first %s steps of each are thrown away (warm-up)%s; seed %d", m.Sampler.Kernel,
		number.CountWithNoun(m.Sampler.Chains, "chain"), number.CountWithNoun(m.Sampler.Draws, "draw"), number.Thousands(m.Sampler.Warmup), thinText(m.Sampler.Thin), m.Sampler.Seed)
	if m.Auto != nil && m.Auto.Stop == run.StopEnough && m.Auto.Draws == m.Sampler.Draws {
		text += fmt.Sprintf("; they stopped when every estimate was worth %s independent draws", number.Thousands(m.Auto.WantedESS))
	}
	return text
}

// thinText says which steps of a chain are draws, for use after the warm-up. It returns "" if all are.
func thinText(thin int) string {
	if thin <= 1 {
		return ""
	}
	return fmt.Sprintf(", then one step in %s is a draw (thin)", number.Thousands(thin))
}

// writeSizes writes the probability of each number of ingredients in the sparsity law, and its
// share of the draws.
func writeSizes(m *report.Model, p *terminal.Printer) {
	p.Heading("Number of ingredients: target share without objectives, and share of draws")
	t := terminal.NewTable(0, "ingredients", "target", "draws", "±")
	shown := 0
	for _, s := range m.Sparsity {
		if shown == maxTextSizes {
			t.Row("…", "", "", "")
			break
		}
		t.Row(s.N, number.Percent(s.Target), number.Percent(s.Observed), number.Fixed(report.Number(100*s.MCSE), 2))
		shown++
	}
	p.Table(t)
	p.Line(standardErrorText)
	if len(m.Sparsity) > 0 && m.Sparsity[0].Share != nil {
		worst := 0.0
		for _, s := range m.Sparsity {
			if s.Share.Estimate > 0 {
				worst = max(worst, float64(s.Share.SE/s.Share.Estimate))
			}
		}
		if worst > 0 {
			p.Wrapped(0, fmt.Sprintf("kir estimated how many recipes meet some constraints, so targets have standard errors of up to %s of their value. ± includes these; more draws do not reduce them.", number.Percent(worst)))
		}
	}
	p.Wrapped(0, sizesDifferenceText(m))
}

// sizesDifferenceText compares the difference between the target shares of the numbers of ingredients
// and their shares of the draws with the difference that chance alone would give.
func sizesDifferenceText(m *report.Model) string {
	difference, chance := number.ThreeFigures(m.Variation), number.ThreeFigures(m.Expected)
	if m.Variation <= m.Expected {
		return fmt.Sprintf("Targets and draws differ no more than by chance (total variation distance %s; chance alone gives %s).", difference, chance)
	}
	return fmt.Sprintf("Targets and draws differ by %s (total variation distance); chance alone gives %s. Objectives may favour some numbers.", difference, chance)
}

// maxTextSizes is the largest number of rows in the text report's table of the number of
// ingredients.
const maxTextSizes = 40

// writeScore writes the mean score of the draws next to that of random compositions.
func writeScore(m *report.Model, p *terminal.Printer) {
	if len(m.Properties) == 0 {
		return
	}
	p.Line("")
	p.Wrapped(0, fmt.Sprintf("Mean weighted score: %s ± %s in the draws; in %s random recipes with the draws' numbers of ingredients, %s ± %s. Weighted: each objective's score is raised to its weight. The scores of suggestions leave weights out.",
		number.Score(m.Score.Draws, 1), number.ScoreError(m.Score.Draws, m.Score.DrawsMCSE), number.Thousands(m.Score.RandomSize), number.Score(m.Score.Random, 1), number.ScoreError(m.Score.Random, m.Score.RandomSE)))
}

// writeStatistics writes the statistics that show whether the draws can be relied on.
func writeStatistics(m *report.Model, p *terminal.Printer) {
	p.Heading("How far the draws can be trusted (more: docs/diagnostics.md)")
	p.Wrapped(0, "ESS: how many independent draws the middle (bulk) and the extremes (tail) of a figure are worth. R-hat: 1 = the chains agree; at most 1.01 is good. Objectives: as scores, not in their own units. Log probability: up to a constant. ±: standard error.")
	t := terminal.NewTable(1, "figure", "mean", "±", "sd", "bulk ESS", "tail ESS", "R-hat")
	t.SetMaxWidth(0, 24)
	for _, name := range m.StatisticNames() {
		s := m.Statistics[name]
		t.Row(run.StatisticLabel(name), number.FourFigures(s.Mean), number.Error(s.SEMean), number.FourFigures(s.SD), number.RoundedDown(s.ESSBulk), number.RoundedDown(s.ESSTail), number.ThreeFigures(s.RHat))
	}
	p.Table(t)
	for _, name := range m.StatisticNames() {
		why := m.Statistics[name].Undefined.Texts()
		for _, hidden := range []string{"q5", "median", "q95", "mcse_q5", "mcse_median", "mcse_q95", "ess_mean"} {
			delete(why, hidden) // the table has no column of it
		}
		if len(why) > 0 {
			p.Wrapped(0, fmt.Sprintf("? in the row %s: %s.", run.StatisticLabel(name), strings.Join(unknownReasonLines(why), "; ")))
		}
	}
}

// unknownReasonLines lists why numbers of a statistic, such as its R-hat, are unknown. Each line
// has one reason and all numbers that it applies to. The parameter reasons maps the JSON name of a
// number, such as "rhat", to the reason.
func unknownReasonLines(reasons map[string]string) []string {
	words := []struct{ name, text string }{
		{"mean", "mean"}, {"sd", "sd"}, {"q5", "5 % quantile"}, {"median", "median"}, {"q95", "95 % quantile"},
		{"mcse_mean", "± of the mean"}, {"mcse_q5", "± of the 5 % quantile"}, {"mcse_median", "± of the median"}, {"mcse_q95", "± of the 95 % quantile"},
		{"ess_mean", "ESS of the mean"}, {"ess_bulk", "bulk ESS"}, {"ess_tail", "tail ESS"}, {"rhat", "R-hat"},
	}
	var order []string
	of := make(map[string][]string)
	for _, w := range words {
		if reason, ok := reasons[w.name]; ok {
			if of[reason] == nil {
				order = append(order, reason)
			}
			of[reason] = append(of[reason], w.text)
		}
	}
	var list []string
	for _, reason := range order {
		list = append(list, strings.Join(of[reason], ", ")+" ("+reason+")")
	}
	return list
}

// writeRates writes the shares of iterations that were accepted.
func writeRates(m *report.Model, p *terminal.Printer) {
	p.Line("")
	p.Wrapped(0, fmt.Sprintf("%s of the proposed steps were accepted, %s changed the recipe; %s %s per second.", number.Rate(m.Rates.Accepted), number.Rate(m.Rates.Updated), number.RoundedDown(m.Timing.IterationsPerSecond), m.Iterations()))
	if len(m.Moves) == 0 {
		return
	}
	t := terminal.NewTable(1, "kind of step", "tried", "taken", "changed")
	for _, v := range m.Moves {
		t.Row(v.Name, number.Thousands(v.Tried), number.Rate(v.Accepted), number.Rate(v.Updated))
	}
	p.Table(t)
	p.WrappedHanging(0, moveMeanings(m.Moves)+".")
}

// upperFirst returns the text with its first letter in upper case.
func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// moveMeanings says what each kind of step of a chain does, in a word or two each.
func moveMeanings(moves []run.Move) string {
	meanings := map[string]string{
		"line": "moves amounts between two ingredients", "resize": "adds or drops ingredients", "refresh": "tries an unrelated recipe",
		"recall": "tries a recipe like those of the warm-up", "along": "moves amounts together that a constraint links", "set": "changes a condition",
	}
	var list []string
	for _, m := range moves {
		if meaning, ok := meanings[m.Name]; ok {
			list = append(list, m.Name+": "+meaning)
		}
	}
	return strings.Join(append(list, "more: docs/kernels.md"), "; ")
}

// writeCommand writes a command line. A long one is divided into several lines, but only before
// flags, since other arguments may be quoted.
func writeCommand(p *terminal.Printer, text string) {
	text = terminal.EscapeControls(text)
	line := "  "
	if at := strings.LastIndex(text, " --kernel "); at > 0 {
		line += text[:at]
		text = text[at:]
		for _, flag := range strings.Split(text, " --")[1:] {
			flag = " --" + flag
			if terminal.Width(line)+terminal.Width(flag)+2 > terminal.MaxColumns {
				p.Line("%s \\", line)
				line = "   "
			}
			line += flag
		}
	} else {
		line += text
	}
	p.Line("%s", line)
}

// writeProperties writes the properties of a problem with the quality of their models. If detailed is
// true, it adds figures for statisticians.
func writeProperties(p *terminal.Printer, properties []report.Property, detailed bool) {
	if len(properties) == 0 {
		return
	}
	lines := make([][]string, len(properties))
	note := ""
	for k, w := range properties {
		if w.Forest != nil {
			lines[k] = qualityLines(w.Forest, detailed)
		}
		if slices.ContainsFunc(lines[k], func(l string) bool { return strings.Contains(l, " ± ") }) {
			note = " (±: standard error)"
		}
	}
	p.Heading("Objectives and their models%s", note)
	for k, w := range properties {
		p.WrappedHanging(2, fmt.Sprintf("%s: %s, weight %g", w.Name, w.About, w.Weight))
		for _, l := range lines[k] {
			p.WrappedHanging(4, l)
		}
	}
}

// writeWarnings writes the section of warnings.
func writeWarnings(p *terminal.Printer, warnings []string) {
	if len(warnings) == 0 {
		return
	}
	p.Heading("Warnings")
	for _, w := range warnings {
		for k, l := range terminal.Wrap(terminal.EscapeControls(w), 76) {
			if k == 0 {
				p.Line("  ! %s", l)
			} else {
				p.Line("    %s", l)
			}
		}
	}
}

// qualityLines describes a model in several lines. It compares the predictions for recipes that the
// model was not trained on with guessing. If detailed is true, it adds figures for statisticians.
func qualityLines(f *report.Forest, detailed bool) []string {
	q := f.Quality
	head := fmt.Sprintf("%s, learnt from %s", f.Describe(), number.CountWithNoun(f.Rows, "recipe"))
	if f.Learnt != nil && f.Learnt.Features != "" {
		head += ". Inputs (features): " + f.Learnt.Features
	}
	lines := []string{head}
	on := number.CountWithNoun(q.Rows, "recipe") + ", each held out in turn"
	switch {
	case q.Classes != nil:
		c := q.Classes
		lines = append(lines, fmt.Sprintf("%s: right for %.0f ± %.0f %% of %s; always answering %s is right for %.0f %%",
			upperFirst(q.Strength().String()), 100*c.Accuracy, 100*c.AccuracySE, on, inputerr.Quote(c.Majority), 100*c.MajorityAccuracy))
		if detailed {
			lines = append(lines, fmt.Sprintf("Error of the predicted chances (log loss; smaller is better) %.2f ± %.2f; guessing by how common each class is: %.2f", c.LogLoss, c.LogLossSE, c.PriorLogLoss))
		}
	case q.Numbers != nil:
		n := q.Numbers
		lines = append(lines, fmt.Sprintf("%s: R² %.2f on %s; typical error (RMSE) %s; guessing the mean is off by %s", upperFirst(q.Strength().String()), n.R2, on, number.Value(n.RMSE), number.Value(n.PriorRMSE)))
		if detailed {
			lines = append(lines,
				fmt.Sprintf("%.0f %% of the results lie in their predicted 50 %% ranges, %.0f %% in the 90 %% ranges", 100*n.Coverage50, 100*n.Coverage90),
				fmt.Sprintf("Error of the predicted ranges (CRPS; smaller is better) %s ± %s; predicting the spread of all results: %s", number.Value(n.CRPS), number.Error(n.CRPSSE), number.Value(n.PriorCRPS)))
		}
	default:
		lines = []string{head + ". No tree left a recipe out, so its quality is unknown"}
	}
	return append(lines, forestAndProcessLines(f, detailed)...)
}

// forestAndProcessLines describes, in several lines, a model that may combine a forest and a
// Gaussian process: how well each part predicts, and the noise of measurements.
func forestAndProcessLines(f *report.Forest, detailed bool) (lines []string) {
	l := f.Learnt
	if l == nil {
		return nil
	}
	if detailed && len(l.Brings) == 3 {
		of := l.Brings
		text := fmt.Sprintf("The same error before kir corrects the ranges: forest %s ± %s, Gaussian process %s ± %s, average %s ± %s; kir uses the average unless the forest alone is better",
			number.Value(of[0].Loss), number.Error(of[0].SE), number.Value(of[1].Loss), number.Error(of[1].SE),
			number.Value(of[2].Loss), number.Error(of[2].SE))
		if !l.Process {
			text += ", as here"
		}
		lines = append(lines, text)
	}
	if l.Replicates > 0 {
		lines = append(lines, fmt.Sprintf("%s were measured more than once; their results differ by ±%s, the repeat error by the model is ±%s",
			number.CountWithNoun(l.Replicates, "recipe"), number.Value(l.ReplicateSD), number.Value(l.Noise)))
	}
	if l.Failures > 0 {
		lines = append(lines, fmt.Sprintf("%s failed: kir multiplies scores by the chance of success", number.CountWithNoun(l.Failures, "more recipe")))
	}
	return lines
}
