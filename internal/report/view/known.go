package view

import (
	"fmt"
	"strings"

	"kir/internal/number"
	"kir/internal/report"
)

// knownResultText returns what the best known recipe achieved for a property: the measured label, or
// what was predicted or computed of it. It returns "" if nothing is known but the score.
func knownResultText(k *report.BestKnown, w report.Property) string {
	if label, ok := k.Measured[w.Name]; ok {
		if label.Class != "" {
			return label.Class
		}
		return number.Value(label.Value)
	}
	if q, ok := k.Predicted[w.Name]; ok {
		q.Low = report.UnknownNumber()
		text := predictionText(q, func(_, text string) string { return text })
		if w.Forest != nil {
			text += " (predicted)"
		}
		return text
	}
	if len(w.Values) > 0 {
		return valuesText(w, report.Best{Values: k.Values})
	}
	return ""
}

// BestKnownTexts returns what the best known recipe of a report achieved for each property, and
// sentences that say where the shortlist stands beside it. The report must have such a recipe.
func BestKnownTexts(m *report.Model) (results, notes []string) {
	return append([]string{}, knownResultTexts(m)...), append([]string{}, knownNotes(m)...)
}

// knownResultTexts lists what the best known recipe achieved for each property, with the names of
// the properties.
func knownResultTexts(m *report.Model) []string {
	var list []string
	for _, w := range m.Properties {
		if text := knownResultText(m.BestKnown, w); text != "" {
			list = append(list, propertyPrefix(w)+text)
		}
	}
	return list
}

// knownNotes returns sentences that say where the shortlist stands beside the best known recipe.
func knownNotes(m *report.Model) (notes []string) {
	k := m.BestKnown
	switch {
	case k.Broken > 0:
		notes = append(notes, fmt.Sprintf("It breaks %s, as does every recipe that you have.", number.CountWithNoun(k.Broken, "constraint")))
	case m.NoneBetter() && onlyClasses(m):
		notes = append(notes, "This recipe meets your objectives. The suggestions are new recipes that may meet them, too.")
	case m.NoneBetter():
		notes = append(notes, "No suggestion is predicted to beat these results. A best result is partly luck: make it again before you rely on it.")
	}
	if k.Ties > 0 {
		notes = append(notes, fmt.Sprintf("%s of yours score the same.", number.CountWithNoun(k.Ties, "more recipe")))
	}
	return notes
}

// onlyClasses reports whether every objective with a positive weight is a class that was measured of
// the best known recipe.
func onlyClasses(m *report.Model) bool {
	for _, w := range m.Properties {
		if w.Weight > 0 && m.BestKnown.Measured[w.Name].Class == "" {
			return false
		}
	}
	return true
}

// notBetterText says that the best known recipe scores at least as much as an entry, and names the
// objectives in which the known recipe is ahead. It returns "" if the entry scores more, and if no
// entry does, which [knownNotes] says of all.
func notBetterText(m *report.Model, b report.Best) string {
	if !b.NotBetter || m.NoneBetter() {
		return ""
	}
	text := fmt.Sprintf("Not better than %s, which you have", shortenName(m.BestKnown.Name))
	var ahead []string
	for _, w := range m.Properties {
		if w.Weight == 0 || m.BestKnown.Scores[w.Name] <= b.Scores[w.Name] {
			continue
		}
		of := knownResultText(m.BestKnown, w)
		if of == "" {
			of = "score " + number.Score(m.BestKnown.Scores[w.Name], 1)
		}
		ahead = append(ahead, propertyPrefix(w)+of)
	}
	if len(ahead) > 0 {
		text += ": " + strings.Join(ahead, ", ")
	}
	return text
}

// tieSpread is the largest difference between the scores of a shortlist whose entries count as tied,
// as a share of what the best entry gains over the mean of random recipes.
const tieSpread = 0.01

// pageTie says that the entries of the shortlist that the page shows score nearly the same. It
// returns "" if the scores tell the entries apart.
func pageTie(m *report.Model) string {
	list := m.Best[:min(len(m.Best), maxPageEntries)]
	if !m.HasWeights() || m.Answer == nil || len(list) < 2 {
		return ""
	}
	low, high := list[0].Score, list[0].Score
	for _, b := range list {
		low, high = min(low, b.Score), max(high, b.Score)
	}
	if !(float64(high-low) <= tieSpread*float64(high-m.Answer.Random.Mean)) {
		return ""
	}
	return fmt.Sprintf("A tie: all %s score %s.", number.Thousands(len(list)), scoreRangeText(low, high))
}

// scoreRangeText writes the range of some scores, or one score if both are written alike.
func scoreRangeText(low, high report.Number) string {
	least, greatest := number.Score(low, 1), number.Score(high, 1)
	if least == greatest {
		return greatest
	}
	return least + " to " + greatest
}
