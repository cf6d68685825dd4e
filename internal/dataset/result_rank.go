package dataset

import "strings"

// A ResultRank says how likely a label is what people want to optimise, as far as its name and its values tell.
type ResultRank int

const (
	NoResult      ResultRank = iota // a condition, a number of a row, a remark, or classes without an order
	Cost                            // what a recipe costs, which a limit usually bounds
	UnnamedNumber                   // numbers whose name does not tell what they are, or whether a recipe passes
	Measurement                     // a property that is measured, or a flaw
	Rating                          // how good people find a recipe
)

// RankResult returns the rank of a label. classes are its values if these are no numbers, else nil.
func RankResult(label string, classes []string) ResultRank {
	name, _ := SplitHeaderUnit(label)
	words := wordsOf(name)
	origin := GuessOrigin(label, classes != nil)
	_, ordered := OrderClasses(classes)
	switch {
	case origin == SetInTrial || origin == SetOrMeasured, IsCostName(label) && sellingWord.isIn(words):
		return NoResult
	case ratingWord.isIn(wordsOf(label)) && (classes == nil || ordered):
		return Rating
	case IsCostName(label):
		return Cost
	case classes == nil && indifferentWord.isIn(words):
		return UnnamedNumber
	case origin == MeasuredInTrial, isJudgement(label), IsLowerBetterName(label), resultWord.isIn(words), qualityWord.isIn(words), meanWord.isIn(words), ordered && len(classes) > 2, classes == nil && hasPropertyUnit(label) && !isTemperature(label):
		return Measurement
	case ordered: // such as yes and no: a limit suits them better
		return UnnamedNumber
	case classes != nil, processWord.isIn(words), circumstanceWord.isIn(words), describesRecipe(label), isRowNumber(label):
		return NoResult
	}
	return UnnamedNumber
}

// isTemperature reports whether a column's name has a unit of temperatures.
func isTemperature(name string) bool {
	_, unit := SplitHeaderUnit(name)
	return strings.HasPrefix(unit, "°")
}

// IsMeanName reports whether a column's name says that its numbers are means.
func IsMeanName(name string) bool { return meanWord.isIn(wordsOf(name)) }
