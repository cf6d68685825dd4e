package assemble

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/search"
	"kir/model"
)

// minRemainingGain is a share of the predicted gain of the shortlist over random compositions. If a
// smaller share remains in a check with recipes that the models were not trained on, the gain
// counts as mostly chance. Each model in the check was trained on half of the known recipes only.
// So even for a correct prediction only about half of the gain remains.
const minRemainingGain = 0.25

// gradeAnswer determines how good an answer is, and sets its grade, headline and verdict. The
// parameter list is the shortlist.
func gradeAnswer(p *compile.Problem, a *report.Answer, list []report.Best) {
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
	if text := optimismText(a.OptimismCheck); text != "" {
		a.Verdict = append(a.Verdict, text)
	}
	if a.Bound != nil {
		text := boundSentence(a.Bound)
		if len(list) > 0 {
			text += centeredText(a.Bound, list[0].Score)
		}
		a.Verdict = append(a.Verdict, text)
	}
	a.Verdict = append(a.Verdict, fmt.Sprintf("%s searched.", number.CountWithNoun(int(a.Compositions), "recipe")))
	switch {
	case a.Shortlist.Number == 0:
		a.Grade, a.Headline = report.Doubtful, "No recipe was found that may be suggested."
	case len(weak) > 0:
		a.Grade, a.Headline = report.Weak, fmt.Sprintf("Weak: do not rely on predictions of %s%s", joinNamesOrCount(weak), skillReason(p, weak))
		if at := firstLimitedProperty(p, weak); at != "" {
			a.Headline += "; " + limitsDependText(p.LimitsOf(at))
		}
		a.Headline += "."
	case a.KnownShareBelow < 0.5:
		a.Grade, a.Headline = report.Doubtful, "Doubtful: the suggestions score no better than the recipes you have."
	case a.RandomShareBelow < 0.5:
		a.Grade, a.Headline = report.Doubtful, "Doubtful: the suggestions score no better than random recipes."
	case a.OptimismCheck != nil && a.OptimismCheck.RemainingGain < minRemainingGain:
		a.Grade, a.Headline = report.Doubtful, fmt.Sprintf("Doubtful: most of the predicted gain is luck (%s held up in a test).", remainingGainText(a.OptimismCheck))
	case len(fair) > 0:
		a.Grade, a.Headline = report.Fair, fmt.Sprintf("Fair: predictions of %s are right on trends, rough on single recipes%s.", joinNamesOrCount(fair), skillReason(p, fair))
	case len(learnt) > 0:
		a.Grade, a.Headline = report.Good, fmt.Sprintf("Good: predictions of %s are reliable%s.", joinNamesOrCount(learnt), skillReason(p, learnt))
	default:
		a.Grade, a.Headline = report.StatedObjectives, statedHeadline(a)
	}
}

// minFullScore is the least mean score of a shortlist whose recipes meet nearly every objective, if
// no score exceeds 1.
const minFullScore = 0.95

// statedHeadline returns the headline for a shortlist of a problem without models: how well its
// recipes meet the objectives, or how they score beside random recipes.
func statedHeadline(a *report.Answer) string {
	mean := number.Score(a.Shortlist.Mean, 1)
	if a.Shortlist.Mean >= minFullScore && a.Shortlist.Mean <= 1 {
		if mean == number.Score(1.0, 1) {
			return fmt.Sprintf("Suggestions meet all objectives (mean score %s of 1).", mean)
		}
		return fmt.Sprintf("Suggestions nearly meet all objectives (mean score %s of 1).", mean)
	}
	return fmt.Sprintf("Suggestions score %s on average, random recipes %s.", mean, number.Score(a.Random.Mean, 1))
}

// optimismText says how much of the predicted gain to expect, and how much held up on recipes kept
// aside. It returns "" if that was not checked.
func optimismText(c *search.OptimismCheck) string {
	if c == nil || !c.RemainingGain.IsKnown() {
		return ""
	}
	text := ""
	if c.ExpectedRemainingGain != nil {
		text = fmt.Sprintf("Expect about %s of the predicted gain over random recipes. ", number.WholePercent(*c.ExpectedRemainingGain))
	}
	return text + fmt.Sprintf("In a test, models of half your recipes chose and models of the other half judged: %s of the gain held up. Models of all your recipes should do better.", remainingGainText(c))
}

// remainingGainText returns the share of the predicted gain that held up in a check, as text.
func remainingGainText(c *search.OptimismCheck) string {
	if c.RemainingGain > 0 {
		return number.WholePercent(c.RemainingGain)
	}
	return "nothing"
}

// limitsDependText says that limits depend on predictions, such as "the limit of cost max 12 depends
// on them".
func limitsDependText(limits []string) string {
	verb := " depends on them"
	if len(limits) > 1 {
		verb = " depend on them"
	}
	return "the " + strings.Join(limits, " and the ") + verb
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
		return number.CountWithNoun(n, "objective")
	}
	return number.JoinAnd(names)
}

// skillReason gives the reason for the grade of models in brackets, as one number: how well the
// weakest of the named properties is predicted, such as " (R² 0.71)". It names the property if there
// are several, and returns "" if no recipe was left to check the models with.
func skillReason(p *compile.Problem, names []string) string {
	worst, text := math.Inf(1), ""
	for _, w := range p.Properties {
		if w.Model == nil || !slices.Contains(names, w.Name) {
			continue
		}
		q := w.Model.Quality()
		skill, of := math.NaN(), ""
		switch {
		case q.Numbers != nil:
			skill, of = float64(q.Numbers.R2), fmt.Sprintf("R² %s ± %s", number.Fixed(q.Numbers.R2, 2), number.Fixed(q.Numbers.R2SE, 2))
		case q.Classes != nil:
			skill = float64(q.Classes.Skill)
			of = fmt.Sprintf("%s ± %s better than guessing", wholeSkill(q.Classes), number.WholePercent(q.Classes.SkillSE))
		}
		if skill < worst {
			worst, text = skill, of
			if len(names) > 1 {
				text = "weakest: " + w.Name + ", " + of
			}
		}
	}
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// wholeSkill writes the skill of a model of classes in whole percent, without the sign. A negative
// skill counts as 0.
func wholeSkill(c *model.ClassQuality) string { return number.Fixed(max(0, float64(100*c.Skill)), 0) }

// modelErrorSentence returns a sentence on the model of an objective. It compares the error of
// predictions for recipes that the model was not trained on with the error of guessing.
func modelErrorSentence(w compile.Property) string {
	q := w.Model.Quality()
	text := fmt.Sprintf("The model of %s is %s: ", w.Name, q.Strength())
	switch {
	case q.Numbers != nil:
		n := q.Numbers
		return text + fmt.Sprintf("R² %s ± %s on %s, each held out in turn. Its typical error is %s; guessing the mean is off by %s.",
			number.Fixed(n.R2, 2), number.Fixed(n.R2SE, 2), number.CountWithNoun(q.Rows, "recipe"), number.Value(n.RMSE), number.Value(n.PriorRMSE))
	case q.Classes != nil:
		c := q.Classes
		return text + fmt.Sprintf("by Brier score its chances are %s ± %s better than guessing, on %s, each held out in turn. It is right for %s ± %s %%; always answering %s is right for %s %%.",
			wholeSkill(c), number.WholePercent(c.SkillSE), number.CountWithNoun(q.Rows, "recipe"),
			number.Fixed(float64(100*c.Accuracy), 0), number.Fixed(float64(100*c.AccuracySE), 0), inputerr.Quote(c.Majority), number.Fixed(float64(100*c.MajorityAccuracy), 0))
	}
	return text + "no recipe was left to check it with."
}

// comparisonText compares the scores of the shortlist with those of random compositions and known
// recipes.
func comparisonText(p *compile.Problem, a *report.Answer) string {
	text := fmt.Sprintf("Mean score: suggestions %s, random recipes (drawn without objectives) %s ± %s",
		number.Score(a.Shortlist.Mean, 1), number.Score(a.Random.Mean, 1), number.ScoreError(a.Random.Mean, a.Random.SE))
	if p.HasPredictedLimits() {
		text += " (0 beyond a predicted limit)"
	}
	if a.Known.Number > 0 {
		text += fmt.Sprintf(", your recipes %s ± %s%s", number.Score(a.Known.Mean, 1), number.ScoreError(a.Known.Mean, a.Known.SE), heldOutScoresNote(p))
	}
	by := "The median suggestion"
	if a.Known.Number > 0 && heldOutScoresNote(p) != "" { // their own results may score higher
		by = "By prediction, the median suggestion"
	}
	text += fmt.Sprintf(". %s scores higher than %s random recipes", by, shareOfRecipes(a.RandomShareBelow))
	if a.Known.Number > 0 {
		text += fmt.Sprintf(" and %s your recipes", shareOfRecipes(a.KnownShareBelow))
	}
	return text + "."
}

// shareOfRecipes writes a share for use before "random recipes", such as "all" or "97 % of".
func shareOfRecipes(share report.Number) string {
	if share == 1 {
		return "all"
	}
	return number.WholePercent(share) + " of"
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
		said = append(said, "each held out when judged")
	case len(unseen) > 0:
		said = append(said, joinNamesOrCount(unseen)+": each held out when judged")
	}
	if len(unsure) > 0 {
		said = append(said, "models of "+joinNamesOrCount(unsure)+" may have learnt from your recipes")
	}
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, "; ") + ")"
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
	which := "Suggestion " + places[0] + " is"
	if n := len(places); n == entryCount && n > 1 {
		which = "All suggestions are"
	} else if n > 1 {
		which = "Suggestions " + number.JoinAnd(places) + " are"
	}
	return []string{which + " unlike any recipe that you have. Make such a recipe before you rely on its predictions."}
}
