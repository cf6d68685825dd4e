package dataset

import (
	"slices"
	"strings"
	"unicode"
)

// An Origin says whether the values of a column are set before a trial or measured in it, as far as
// the name of the column tells.
type Origin int

const (
	UnknownOrigin   Origin = iota // the name of the column does not tell
	SetInTrial                    // set for a trial beside its recipe, such as a catalyst or the temperature of an oven
	SetOrMeasured                 // either set or measured, such as a time, which may be that of stirring or of disintegration
	MeasuredInTrial               // a result of a trial
)

// Words in the names of columns, in lower case, that tell the [Origin] of the values.
var (
	// quantityWords name quantities that are usually set. ambiguousWords name quantities that are
	// either set or measured.
	quantityWords  = []string{"temperature", "temp", "temperatures", "rpm", "pressure", "humidity", "rh", "voltage", "age", "ages", "temperatur", "druck", "feuchte", "alter", "température", "temperatura", "pression", "presión"}
	ambiguousWords = []string{"time", "times", "duration", "minutes", "hours", "days", "weeks", "speed", "ph", "rate", "power", "current", "zeit", "dauer", "temps", "durée", "tiempo", "tempo", "zeiten"}

	// processWords name steps and equipment of production. Beside an ambiguous word they mean that
	// the quantity is set.
	processWords = []string{"oven", "bake", "baking", "cure", "curing", "cured", "stir", "stirring", "mix", "mixing", "anneal", "annealing", "sinter", "sintering", "calcination", "reaction", "reactor", "furnace",
		"ferment", "fermentation", "proof", "proofing", "proving", "storage", "drying", "milling", "heating", "hold", "holding", "soak", "soaking", "process", "processing", "kneading", "ageing", "aging", "ofen", "back", "rühren", "misch", "cuisson", "four", "horno", "forno"}

	// circumstanceWords occur in the names of columns of text whose values are set.
	circumstanceWords = []string{"catalyst", "oven", "operator", "technician", "site", "plant", "lab", "laboratory", "machine", "mixer", "equipment", "reactor", "furnace", "atmosphere", "method", "process", "route", "instrument", "test", "substrate", "shift", "season", "line",
		"katalysator", "ofen", "anlage", "labor", "verfahren", "methode", "maschine", "catalyseur", "méthode", "catalizador", "método", "catalizzatore", "metodo"}

	// outcomeWords name outcomes. Beside a quantity or an ambiguous word they mean that the
	// values are measured.
	outcomeWords = []string{"melting", "glass", "setting", "gel", "gelation", "onset", "transition", "softening", "decomposition", "flash", "boiling", "freezing", "disintegration", "dissolution", "shelf", "half", "life",
		"peak", "loss", "flow", "gain", "rise", "induction", "crystallization", "crystallisation", "response", "final", "delay", "stability", "tack", "open", "breakthrough", "release"}
)

// GuessOrigin tells from the name of a column whether its values are set or measured. texts reports
// whether the values are texts and not numbers.
func GuessOrigin(header string, texts bool) Origin {
	name, unit := SplitHeaderUnit(header)
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	if unit = strings.ToLower(unit); unit != "" && !strings.ContainsRune(unit, '/') {
		words = append(words, strings.TrimPrefix(unit, "°"))
	}
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(list, word) })
	}
	quantity, ambiguous := has(quantityWords), has(ambiguousWords)
	switch {
	case texts && has(circumstanceWords):
		return SetInTrial
	case texts:
		return UnknownOrigin
	case (quantity || ambiguous) && has(outcomeWords):
		return MeasuredInTrial
	case quantity, ambiguous && has(processWords):
		return SetInTrial
	case ambiguous:
		return SetOrMeasured
	}
	return UnknownOrigin
}
