package dataset

import "strings"

// An Origin says whether the values of a column are set before a trial or measured in it, as far as
// the name of the column tells.
type Origin int

const (
	UnknownOrigin   Origin = iota // the name of the column does not tell
	SetInTrial                    // set for a trial beside its recipe, such as a catalyst or the temperature of an oven
	SetOrMeasured                 // either set or measured, such as a time, which may be that of stirring or of disintegration
	MeasuredInTrial               // a result of a trial
)

// GuessOrigin tells from the name of a column whether its values are set or measured. texts reports
// whether the values are texts and not numbers.
func GuessOrigin(header string, texts bool) Origin {
	name, unit := SplitHeaderUnit(header)
	words := wordsOf(name)
	if unit = strings.ToLower(strings.TrimSpace(unit)); len(unit) == 1 && !hasBracketedUnit(header) {
		unit = "" // Binder A has no unit of currents
	}
	quantity, ambiguous := setWord.isIn(words) || setUnit.includes(unit), ambiguousWord.isIn(words) || ambiguousUnit.includes(unit)
	switch {
	case texts && (outcomeWord.isIn(words) || resultWord.isIn(words)):
		return UnknownOrigin
	case texts && (circumstanceWord.isIn(words) || quantity || processWord.isIn(words)):
		return SetInTrial
	case texts && ambiguous:
		return SetOrMeasured
	case texts:
		return UnknownOrigin
	case (quantity || ambiguous) && (outcomeWord.isIn(words) || resultWord.isIn(words)):
		return MeasuredInTrial
	case quantity, ambiguous && processWord.isIn(words):
		return SetInTrial
	case ambiguous:
		return SetOrMeasured
	}
	return UnknownOrigin
}
