package assemble

import (
	"fmt"
	"strings"

	"kir/internal/compile"
	"kir/internal/number"
	"kir/internal/report"
	"kir/model"
)

// minRemainingGain is a share of the predicted gain of the shortlist over random compositions. If a
// smaller share remains in a check with recipes that the models were not trained on, the gain
// counts as mostly chance. Each model in the check was trained on half of the known recipes only.
// So even for a correct prediction only about half of the gain remains.
const minRemainingGain = 0.25

// gradeAnswer determines how good an answer is, and sets its grade, headline and verdict.
func gradeAnswer(p *compile.Problem, a *report.Answer) {
	var weak, fair, learnt []string
	for _, w := range p.Properties {
		if w.Model == nil || w.Weight == 0 && len(p.LimitsOf(w.Name)) == 0 {
			continue // nothing rests on it
		}
		q := w.Model.Quality()
		learnt = append(learnt, w.Name)
		switch q.Strength() {
		case model.WeakStrength:
			weak = append(weak, w.Name)
		case model.Fair:
			fair = append(fair, w.Name)
		}
		a.Verdict = append(a.Verdict, modelErrorSentence(w))
	}
	a.Verdict = append(a.Verdict, comparisonText(p, a))
	if a.OptimismCheck != nil && a.OptimismCheck.RemainingGain.IsKnown() {
		left := "nothing"
		if a.OptimismCheck.RemainingGain > 0 {
			left = number.WholePercent(a.OptimismCheck.RemainingGain)
		}
		text := fmt.Sprintf("Checked on held-out recipes, %s of the predicted gain over random recipes remains: models of one half of the book choose, models of the other half check.", left)
		if a.OptimismCheck.ExpectedRemainingGain != nil {
			text += fmt.Sprintf(" Of the gain that models of the whole book predict, %s is expected.", number.WholePercent(*a.OptimismCheck.ExpectedRemainingGain))
		}
		a.Verdict = append(a.Verdict, text)
	}
	if a.Bound != nil {
		a.Verdict = append(a.Verdict, boundSentence(a.Bound))
	}
	a.Verdict = append(a.Verdict, fmt.Sprintf("The search looked at %s compositions.", number.Thousands(a.Compositions)))
	switch {
	case a.Shortlist.Number == 0:
		a.Grade, a.Headline = report.Doubtful, "Nothing was found that may be offered."
	case len(weak) > 0:
		a.Grade, a.Headline = report.Weak, fmt.Sprintf("Weak: do not rely on the %s of %s.", pluralNoun("model", len(weak)), joinNamesOrCount(weak))
		if len(weak) == 1 {
			a.Headline = strings.TrimSuffix(a.Headline, ".") + " (" + modelSkillText(p, weak[0]) + ")"
			if limits := p.LimitsOf(weak[0]); len(limits) > 0 {
				a.Headline += "; " + limitsDependText(limits, "it")
			}
			a.Headline += "."
		} else if at := firstLimitedProperty(p, weak); at != "" {
			a.Headline = strings.TrimSuffix(a.Headline, ".") + "; " + limitsDependText(p.LimitsOf(at), "that of "+at+" ("+modelSkillText(p, at)+")") + "."
		}
	case a.KnownShareBelow < 0.5:
		a.Grade, a.Headline = report.Doubtful, "Doubtful: the shortlist is no better than the known recipes."
	case a.RandomShareBelow < 0.5:
		a.Grade, a.Headline = report.Doubtful, "Doubtful: the shortlist is no better than random compositions."
	case a.OptimismCheck != nil && a.OptimismCheck.RemainingGain < minRemainingGain:
		a.Grade, a.Headline = report.Doubtful, "Doubtful: most of what the shortlist promises is luck."
	case len(fair) > 0:
		a.Grade, a.Headline = report.Fair, fmt.Sprintf("Fair: the %s of %s tell good from bad, and are often off.", pluralNoun("model", len(fair)), joinNamesOrCount(fair))
		if len(fair) == 1 {
			a.Headline = fmt.Sprintf("Fair: the model of %s tells good from bad, and is often off (%s).", fair[0], modelSkillText(p, fair[0]))
		}
	case len(learnt) > 0:
		a.Grade, a.Headline = report.Good, fmt.Sprintf("Good: the %s of %s can be relied on.", pluralNoun("model", len(learnt)), joinNamesOrCount(learnt))
		if len(learnt) == 1 {
			a.Headline = strings.TrimSuffix(a.Headline, ".") + " (" + modelSkillText(p, learnt[0]) + ")."
		}
	default:
		a.Grade, a.Headline = report.StatedObjectives, fmt.Sprintf("The shortlist scores %s; random compositions, %s.", number.Score(a.Shortlist.Mean, 1), number.Score(a.Random.Mean, 1))
	}
}

// limitsDependText says that limits depend on the predictions of a model, such as "the limit of
// cost max 12 rests on it". The parameter modelName names the model in the text.
func limitsDependText(limits []string, modelName string) string {
	verb := " rests on "
	if len(limits) > 1 {
		verb = " rest on "
	}
	return "the " + strings.Join(limits, " and the ") + verb + modelName
}

// firstLimitedProperty returns the first of the named properties that has a limit; empty if none
// has.
func firstLimitedProperty(p *compile.Problem, names []string) string {
	for _, name := range names {
		if len(p.LimitsOf(name)) > 0 {
			return name
		}
	}
	return ""
}

// maxNamesInHeadline is the largest number of objectives that a headline names.
const maxNamesInHeadline = 3

// joinNamesOrCount joins names to a list such as "a, b and c". If there are more than
// maxNamesInHeadline, it returns only their number.
func joinNamesOrCount(names []string) string {
	if n := len(names); n > maxNamesInHeadline {
		return number.CountWithNoun(n, "wish") + "es"
	}
	return number.JoinAnd(names)
}

// pluralNoun returns the noun, with an s at its end unless n is 1.
func pluralNoun(noun string, n int) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// modelSkillText says how well the model of an objective predicts, such as "R² 0.71 ± 0.05".
func modelSkillText(p *compile.Problem, name string) string {
	for _, w := range p.Properties {
		if w.Name != name || w.Model == nil {
			continue
		}
		switch q := w.Model.Quality(); {
		case q.Numbers != nil:
			return fmt.Sprintf("R² %s ± %s", number.Fixed(q.Numbers.R2, 2), number.Fixed(q.Numbers.R2SE, 2))
		case q.Classes != nil:
			return fmt.Sprintf("skill %s ± %s", number.Fixed(q.Classes.Skill, 2), number.Fixed(q.Classes.SkillSE, 2))
		}
	}
	return "unknown"
}

// modelErrorSentence returns a sentence on the model of an objective. It compares the error of
// predictions for recipes that the model was not trained on with the error of guessing.
func modelErrorSentence(w compile.Property) string {
	q := w.Model.Quality()
	text := fmt.Sprintf("The model of %s is %s: ", w.Name, q.Strength())
	switch {
	case q.Numbers != nil:
		n := q.Numbers
		return text + fmt.Sprintf("R² is %s ± %s on %s that it had not seen. Its error (RMSE) is %s; guessing the mean is off by %s.",
			number.Fixed(n.R2, 2), number.Fixed(n.R2SE, 2), number.CountWithNoun(q.Rows, "recipe"), number.Value(n.RMSE), number.Value(n.PriorRMSE))
	case q.Classes != nil:
		c := q.Classes
		return text + fmt.Sprintf("its skill is %s ± %s on %s that it had not seen. It predicts %s ± %s %% of them right; guessing %s is right for %s %%.",
			number.Fixed(c.Skill, 2), number.Fixed(c.SkillSE, 2), number.CountWithNoun(q.Rows, "recipe"),
			number.Fixed(float64(100*c.Accuracy), 0), number.Fixed(float64(100*c.AccuracySE), 0), c.Majority, number.Fixed(float64(100*c.MajorityAccuracy), 0))
	}
	return text + "no recipe was left to check it with."
}

// comparisonText compares the scores of the shortlist with those of random compositions and known
// recipes.
func comparisonText(p *compile.Problem, a *report.Answer) string {
	scores := "scores"
	if a.Shortlist.Number != 1 {
		scores = "score"
	}
	text := fmt.Sprintf("The %s %s %s on average, random recipes under the same constraints %s ± %s",
		suggestionsText(a.Shortlist.Number), scores, number.Score(a.Shortlist.Mean, 1), number.Score(a.Random.Mean, 1), number.ScoreError(a.Random.Mean, a.Random.SE))
	if p.HasPredictedLimits() {
		text += " (0 beyond a limit of what is predicted)"
	}
	if a.Known.Number > 0 {
		text += fmt.Sprintf(", the known recipes %s ± %s%s", number.Score(a.Known.Mean, 1), number.ScoreError(a.Known.Mean, a.Known.SE), heldOutScoresNote(p))
	}
	known := a.Known.Number > 0
	if a.RandomShareBelow == 1 && (!known || a.KnownShareBelow == 1) {
		text += ". The median suggestion outscores every random"
		if known {
			text += " and every known"
		}
		return text + " recipe."
	}
	text += fmt.Sprintf(". The median suggestion outscores %s of the random", number.WholePercent(a.RandomShareBelow))
	if known {
		text += fmt.Sprintf(" and %s of the known", number.WholePercent(a.KnownShareBelow))
	}
	return text + " recipes."
}

// heldOutScoresNote returns a note in brackets on the scores of the known recipes. It says which
// scores come from predictions by models that were trained without the recipe, and which may not.
// It returns "" if no model was trained.
func heldOutScoresNote(p *compile.Problem) string {
	var unseen, unsure []string
	count := 0
	for k := range p.Properties {
		w := &p.Properties[k]
		switch {
		case w.Weight == 0:
			continue
		case w.ScoresByHeldOut():
			unseen = append(unseen, w.Name)
		case w.Kind == "model":
			unsure = append(unsure, w.Name)
		}
		count++
	}
	var said []string
	switch {
	case len(unseen) == count && count > 0:
		said = append(said, "by models that have not seen them")
	case len(unseen) > 0:
		said = append(said, joinNamesOrCount(unseen)+" by models that have not seen them")
	}
	if len(unsure) > 0 {
		said = append(said, fmt.Sprintf("the %s of %s may have learnt from them", pluralNoun("model", len(unsure)), joinNamesOrCount(unsure)))
	}
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, "; ") + ")"
}

// suggestionsText returns the number of suggested recipes as text.
func suggestionsText(n int) string {
	if n == 1 {
		return "1 suggestion"
	}
	return number.Thousands(n) + " suggestions"
}

// extrapolationWarnings returns warnings of entries of the shortlist that lie far from all known
// recipes. The parameter farEntries holds the indices of these entries, and entryCount is the
// number of all entries.
func extrapolationWarnings(farEntries []int, entryCount int) []string {
	if len(farEntries) == 0 {
		return []string{}
	}
	var places []string
	for _, k := range farEntries {
		places = append(places, number.Thousands(k+1))
	}
	which := "Entry " + places[0] + " lies"
	if n := len(places); n == entryCount && n > 1 {
		which = "All entries lie"
	} else if n > 1 {
		which = "Entries " + number.JoinAnd(places) + " lie"
	}
	return []string{which + " further from every known recipe than 95 % of these from their nearest: there the models extrapolate. Keep doses within those of the book, or add recipes like these."}
}
