package dataset

import (
	"slices"
	"strings"
	"unicode"
)

// A Origin says where the values of a column come from, as far as its name tells.
type Origin int

const (
	// UnknownOrigin is that of a column whose name tells nothing.
	UnknownOrigin Origin = iota
	// Set is what a trial sets beside its recipe, such as a temperature of an oven or a catalyst.
	Set
	// SetOrMeasured is either, such as a time, which may be that of stirring or of disintegration.
	SetOrMeasured
	// Measured is what came of a trial.
	Measured
)

// Words of column names, in lower case.
var (
	// quantityWords are quantities that are usually set; ambiguousWords are set or measured.
	quantityWords  = []string{"temperature", "temp", "temperatures", "rpm", "pressure", "humidity", "rh", "voltage", "age", "ages", "temperatur", "druck", "feuchte", "alter", "température", "temperatura", "pression", "presión"}
	ambiguousWords = []string{"time", "times", "duration", "minutes", "hours", "days", "weeks", "speed", "ph", "rate", "power", "current", "zeit", "dauer", "temps", "durée", "tiempo", "tempo", "zeiten"}

	// processWords are steps and things of making, which make a quantity beside them one that is set.
	processWords = []string{"oven", "bake", "baking", "cure", "curing", "cured", "stir", "stirring", "mix", "mixing", "anneal", "annealing", "sinter", "sintering", "calcination", "reaction", "reactor", "furnace",
		"ferment", "fermentation", "proof", "proofing", "proving", "storage", "drying", "milling", "heating", "hold", "holding", "soak", "soaking", "process", "processing", "kneading", "ageing", "aging", "ofen", "back", "rühren", "misch", "cuisson", "four", "horno", "forno"}

	// circumstanceWords are names of categories that are set or met.
	circumstanceWords = []string{"catalyst", "oven", "operator", "technician", "site", "plant", "lab", "laboratory", "machine", "mixer", "equipment", "reactor", "furnace", "atmosphere", "method", "process", "route", "instrument", "test", "substrate", "shift", "season", "line",
		"katalysator", "ofen", "anlage", "labor", "verfahren", "methode", "maschine", "catalyseur", "méthode", "catalizador", "método", "catalizzatore", "metodo"}

	// outcomeWords make a time or a temperature beside them one that is measured.
	outcomeWords = []string{"melting", "glass", "setting", "gel", "gelation", "onset", "transition", "softening", "decomposition", "flash", "boiling", "freezing", "disintegration", "dissolution", "shelf", "half", "life",
		"peak", "loss", "flow", "gain", "rise", "induction", "crystallization", "crystallisation", "response", "final", "delay", "stability", "tack", "open", "breakthrough", "release"}
)

// OriginOf tells by its name whether a column of a table of recipes is set or measured. texts says whether its cells are
// texts and not numbers.
func OriginOf(header string, texts bool) Origin {
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
		return Set
	case texts:
		return UnknownOrigin
	case (quantity || ambiguous) && has(outcomeWords):
		return Measured
	case quantity, ambiguous && has(processWords):
		return Set
	case ambiguous:
		return SetOrMeasured
	}
	return UnknownOrigin
}
