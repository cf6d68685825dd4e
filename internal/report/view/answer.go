package view

import (
	"slices"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/terminal"
)

// reportHeadline returns the headline of a report: the quality of the answer and, if they are not
// reliable or there is no answer, the reliability of the draws. The result sure reports whether both
// can be relied on without caution.
func reportHeadline(m *report.Model) (text string, sure bool) {
	switch {
	case m.Answer == nil:
		return drawsHeadline(m.Grade) + ".", m.Grade == report.Sound
	case m.Grade == report.Sound:
		return m.Answer.Headline, m.Answer.Grade.IsSure()
	}
	return m.Answer.Headline + " " + drawsHeadline(m.Grade) + ".", false
}

// drawsHeadline says in a few words how reliable the draws are.
func drawsHeadline(g report.Grade) string {
	switch g {
	case report.Sound:
		return "The draws are reliable"
	case report.Short:
		return "Averages over draws (recipes drawn at random, better ones more often) need more of them"
	case report.Unsound:
		return "Averages over draws (recipes drawn at random, better ones more often) are not reliable yet"
	}
	return "Too little varies to tell how reliable the draws are"
}

// writeHeadline writes the headline of a report.
func writeHeadline(m *report.Model, p *terminal.Printer) {
	text, sure := reportHeadline(m)
	for _, l := range terminal.Wrap(terminal.EscapeControls(text), terminal.MaxColumns) {
		if sure {
			l = p.Bold(l)
		} else {
			l = p.Warn(l)
		}
		p.Line("%s", l)
	}
}

// writeAnswer writes the section on how far to trust the shortlist. It has the quality of the models,
// and the means of the shortlist next to those of random compositions and known recipes.
func writeAnswer(m *report.Model, p *terminal.Printer) {
	a := m.Answer
	if a == nil || a.Grade == report.NoObjectives {
		return
	}
	p.Heading("%s", p.Bold("How far to trust the shortlist")+" (±: standard error)")
	for _, l := range a.Verdict {
		p.WrappedHanging(0, l)
	}
	if len(a.Objectives) > 0 {
		p.Line("")
		t := terminal.NewTable(2, "average", "model", "suggestions", "random", "yours")
		t.SetMaxWidth(0, 30)
		for _, w := range a.Objectives {
			_, mean := shownMean(m, w)
			t.Row(w.Name, w.Strength, objectiveValueText(w, mean), objectiveValueText(w, w.Random), objectiveValueTextIfKnown(w, w.Known))
		}
		t.Row("score", "", number.Score(a.Shortlist.Mean, 1), number.Score(a.Random.Mean, 1), knownScoreText(a))
		p.Table(t)
	}
}

// shownMean returns the mean of an objective over the shortlist, of the same figures as the entries
// show; see [report.Prediction.Shown]. The result field is the name of its field in the JSON of
// [report.ObjectiveSummary].
func shownMean(m *report.Model, w report.ObjectiveSummary) (field string, mean report.Number) {
	limited := slices.ContainsFunc(m.Best, func(b report.Best) bool { return b.Predicted[w.Name].Limited })
	if w.Expected != nil && !limited {
		return "expected", *w.Expected
	}
	return "shortlist", w.Shortlist
}

// objectiveValueText writes a value v of an objective: as a number of the label's unit, as a
// percentage for the probability of a class, or as a score.
func objectiveValueText(w report.ObjectiveSummary, v report.Number) string {
	switch w.Unit {
	case "value":
		return number.Value(v)
	case "probability":
		return number.WholePercent(v)
	}
	return number.Score(v, 1)
}

// objectiveValueTextIfKnown writes a value of an objective, as [objectiveValueText] does. It
// returns "" if the value is unknown.
func objectiveValueTextIfKnown(w report.ObjectiveSummary, v report.Number) string {
	if !v.IsKnown() {
		return ""
	}
	return objectiveValueText(w, v)
}

// knownScoreText returns the mean score of the known recipes; "" if there are no known recipes.
func knownScoreText(a *report.Answer) string {
	if a.Known.Number == 0 {
		return ""
	}
	return number.Score(a.Known.Mean, 1)
}
