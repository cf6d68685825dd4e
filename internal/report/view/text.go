// Package view renders the data of a report: as text on a terminal, as an HTML page, and as
// figures.
package view

import (
	"fmt"
	"io"
	"strings"

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
	writeIngredients(m, p)
	writeSizes(m, p)
	writeScore(m, p)
	writeStatistics(m, p)
	writeRates(m, p)
	writeLadders(m, p)
	writeProperties(p, m.Properties)
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
	p.Heading("%s", p.Bold("What was asked"))
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
	text := fmt.Sprintf("Kernel (sampling algorithm) %s: %s of %s, warm-up %s, thin %d, seed %d", m.Sampler.Kernel,
		number.CountWithNoun(m.Sampler.Chains, "chain"), number.CountWithNoun(m.Sampler.Draws, "draw"), number.Thousands(m.Sampler.Warmup), m.Sampler.Thin, m.Sampler.Seed)
	if m.Auto != nil && m.Auto.Stop == run.StopEnough && m.Auto.Draws == m.Sampler.Draws {
		text += fmt.Sprintf("; stopped when every estimate was worth %s independent draws", number.Thousands(m.Auto.WantedESS))
	}
	return text
}

// writeSizes writes the probability of each number of ingredients in the sparsity law, and its
// share of the draws.
func writeSizes(m *report.Model, p *terminal.Printer) {
	p.Heading("Number of ingredients: asked for (without objectives), and in the draws")
	t := terminal.NewTable(0, "n", "asked", "drawn", "±")
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
	if len(m.Sparsity) > 0 && m.Sparsity[0].Share != nil {
		worst := 0.0
		for _, s := range m.Sparsity {
			if s.Share.Estimate > 0 {
				worst = max(worst, float64(s.Share.SE/s.Share.Estimate))
			}
		}
		if worst > 0 {
			p.Wrapped(0, fmt.Sprintf("kir estimated how many recipes meet some constraints, instead of counting: shares of the column \"asked\" have relative standard errors of up to %s. ± includes these; more draws do not reduce them.", number.Percent(worst)))
		}
	}
	p.Wrapped(0, fmt.Sprintf("The columns differ by %s (total variation distance). Without objectives, chance alone would give %s.", number.ThreeFigures(m.Variation), number.ThreeFigures(m.Expected)))
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
	p.Wrapped(0, fmt.Sprintf("Mean weighted score: %s ± %s in the draws; in %s random recipes of as many ingredients, %s ± %s. The weighted score is the product of the objectives' values, each raised to its weight. The scores of suggestions leave weights out.",
		number.Score(m.Score.Draws, 1), number.ScoreError(m.Score.Draws, m.Score.DrawsMCSE), number.Thousands(m.Score.RandomSize), number.Score(m.Score.Random, 1), number.ScoreError(m.Score.Random, m.Score.RandomSE)))
}

// writeStatistics writes the statistics that show whether the draws can be relied on.
func writeStatistics(m *report.Model, p *terminal.Printer) {
	p.Heading("How far the draws can be trusted (docs/diagnostics.md explains the figures)")
	t := terminal.NewTable(1, "figure", "mean", "±", "sd", "bulk ESS", "tail ESS", "R-hat")
	t.SetMaxWidth(0, 24)
	for _, name := range m.StatisticNames() {
		s := m.Statistics[name]
		t.Row(statisticLabel(name), number.FourFigures(s.Mean), number.Error(s.SEMean), number.FourFigures(s.SD), number.RoundedDown(s.ESSBulk), number.RoundedDown(s.ESSTail), number.ThreeFigures(s.RHat))
	}
	p.Table(t)
	for _, name := range m.StatisticNames() {
		if why := m.Statistics[name].Undefined.Texts(); len(why) > 0 {
			p.Wrapped(0, fmt.Sprintf("? in the row %s: %s.", statisticLabel(name), strings.Join(unknownReasonLines(why), "; ")))
		}
	}
}

// statisticLabel returns the name of a statistic for people. The parameter name is its key in
// summary.json.
func statisticLabel(name string) string {
	if name == "used" {
		return "number of ingredients"
	}
	return name
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
	p.Line("%s: %s accepted, %s changed the recipe; %s per second.", upperFirst(m.Iterations()), number.Rate(m.Rates.Accepted), number.Rate(m.Rates.Updated), number.RoundedDown(m.Timing.IterationsPerSecond))
	if len(m.Moves) == 0 {
		return
	}
	t := terminal.NewTable(1, "move", "tried", "accepted", "changed")
	for _, v := range m.Moves {
		t.Row(v.Name, number.Thousands(v.Tried), number.Rate(v.Accepted), number.Rate(v.Updated))
	}
	p.Table(t)
	p.Line("A move is one kind of step of a chain; docs/kernels.md explains each.")
}

// upperFirst returns the text with its first letter in upper case.
func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

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

// writeProperties writes the properties of a problem with the quality of their models.
func writeProperties(p *terminal.Printer, properties []report.Property) {
	if len(properties) == 0 {
		return
	}
	p.Heading("Objectives and their models")
	for _, w := range properties {
		p.WrappedHanging(2, fmt.Sprintf("%s: %s, weight %g", w.Name, w.About, w.Weight))
		if w.Forest != nil {
			for _, l := range qualityLines(w.Forest) {
				p.WrappedHanging(4, l)
			}
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
// model was not trained on with guessing.
func qualityLines(f *report.Forest) []string {
	q := f.Quality
	head := fmt.Sprintf("%s, learnt from %s", f.Describe(), number.CountWithNoun(f.Rows, "recipe"))
	if f.Learnt != nil && f.Learnt.Features != "" {
		head += ". Features: " + f.Learnt.Features
	}
	lines := []string{fmt.Sprintf("%s. On %s, each held out in turn:", head, number.CountWithNoun(q.Rows, "recipe"))}
	switch {
	case q.Classes != nil:
		c := q.Classes
		lines = append(lines,
			fmt.Sprintf("accuracy %.0f ± %.0f %% (always %s: %.0f %%), log loss %.2f ± %.2f (guessing by class shares: %.2f)",
				100*c.Accuracy, 100*c.AccuracySE, c.Majority, 100*c.MajorityAccuracy, c.LogLoss, c.LogLossSE, c.PriorLogLoss))
	case q.Numbers != nil:
		n := q.Numbers
		lines = append(lines,
			fmt.Sprintf("R² %.2f, RMSE %s (guessing the mean: %s)", n.R2, number.Value(n.RMSE), number.Value(n.PriorRMSE)),
			fmt.Sprintf("CRPS %s ± %s (guessing from all results: %s); intervals of 50 %% and 90 %% hold %.0f %% and %.0f %% of the results",
				number.Value(n.CRPS), number.Error(n.CRPSSE), number.Value(n.PriorCRPS), 100*n.Coverage50, 100*n.Coverage90))
	default:
		lines = []string{head + ". No tree left a recipe out, so its quality is unknown"}
	}
	return append(lines, forestAndProcessLines(f)...)
}

// forestAndProcessLines describes, in several lines, a model that may combine a forest and a
// Gaussian process: how well each part predicts, and the noise of measurements.
func forestAndProcessLines(f *report.Forest) (lines []string) {
	l := f.Learnt
	if l == nil {
		return nil
	}
	if len(l.Brings) == 3 {
		of := l.Brings
		text := fmt.Sprintf("CRPS on held-out recipes, before calibration: forest %s ± %s, Gaussian process %s ± %s, average %s ± %s, %s ± %s better than the forest",
			number.Value(of[0].Loss), number.Error(of[0].SE), number.Value(of[1].Loss), number.Error(of[1].SE),
			number.Value(of[2].Loss), number.Error(of[2].SE), number.Value(of[2].Gain), number.Error(of[2].GainSE))
		if l.Process {
			text += "; kir takes the average unless the forest alone is better"
		} else {
			text += "; so kir takes the forest alone"
		}
		lines = append(lines, text)
	}
	if l.Replicates > 0 {
		lines = append(lines, fmt.Sprintf("%s are replicates of others and differ by %s (standard deviation); the noise of a measurement is %s",
			number.CountWithNoun(l.Replicates, "recipe"), number.Value(l.ReplicateSD), number.Value(l.Noise)))
	}
	if l.Failures > 0 {
		lines = append(lines, fmt.Sprintf("%s failed: the probability of success multiplies the score", number.CountWithNoun(l.Failures, "more recipe")))
	}
	return lines
}
