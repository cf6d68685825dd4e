package dataset

import (
	"regexp"
	"strings"

	"kir/internal/inputerr"
)

// An ingredientLine is the parts of a line of ingredients as people write it.
type ingredientLine struct {
	amount, unit, name string
	isCut              bool // something was cut off the name
	hasNoAmount        bool // the line has no amount
}

var (
	brackets       = pattern(`\s*(?:\([^()]*\)|\[[^\[\]]*\])`)
	toTastePattern = pattern(`(?i)[,;]?\s*\b(?:to taste|as needed|as required|nach geschmack|nach belieben|au goût|al gusto)\b\.?`)
	ofWord         = pattern(`^(?i:of\s+|de\s+|d['’]|di\s+|von\s+)`)
	andAmount      = pattern(`^(?i:plus|and|und|et|\+|&|x|×)\s*(?:[0-9½⅓⅔¼¾⅛⅜⅝⅞]|an?\s)`)
	eggs           = pattern(`^(?i)(?:(?:large|medium|small|whole)\s+)?(?:eggs?|ei|eier|œufs?|oeufs?|huevos?|uova|uovo)$`)
)

// mostUnitWords is the greatest number of words in a unit's name.
const mostUnitWords = 4

// splitLine splits a text such as "1 ½ cups flour, sifted". An amount without a unit counts pieces,
// or whole ones for eggs. A missing amount is one "to taste". The name ends before a comma and
// excludes text in brackets. message says why a line cannot be read.
func splitLine(text string, units *Units) (l ingredientLine, message string) {
	shown := inputerr.Quote(text)
	if len(text) > longestCell {
		return l, shown + " is too long"
	}
	text = strings.Join(strings.Fields(NormalizeName(text)), " ")
	rest := strings.TrimSpace(strings.TrimLeft(text, "•*·–—- "))
	plain := brackets().ReplaceAllString(rest, "")
	l.isCut = plain != rest
	rest = plain
	free := toTastePattern().MatchString(rest)
	rest = strings.TrimSpace(toTastePattern().ReplaceAllString(rest, ""))

	l.amount, rest = leadingAmount(rest)
	if l.amount == "" {
		if word := oneWord().FindString(rest); word != "" {
			if unit, after := leadingUnit(rest[len(word):], units); unit != "" && after != "" {
				l.amount, l.unit, rest = "1", unit, after
			}
		} else if unit, after := leadingUnit(rest, units); unit != "" && ofWord().MatchString(after) {
			l.amount, l.unit, rest = "1", unit, after
		}
	} else {
		if unit, after := leadingUnit(rest, units); unit != "" && after != "" {
			l.unit, rest = unit, after
		}
	}
	if andAmount().MatchString(rest) {
		return l, shown + " has two amounts"
	}
	rest = ofWord().ReplaceAllString(rest, "")
	if name, _, found := strings.Cut(rest, ","); found {
		l.isCut, rest = true, name
	}
	l.name = NormalizeName(rest)
	switch {
	case l.name == "":
		return l, shown + " names no ingredient"
	case l.amount == "":
		l.amount, l.unit, l.hasNoAmount = "1", "to taste", !free
	case l.unit == "" && eggs().MatchString(l.name):
		l.unit = "whole"
	case l.unit == "":
		l.unit = "piece"
	}
	return l, ""
}

// leadingAmount cuts the amount off the beginning of a text.
func leadingAmount(text string) (amount, rest string) {
	at := len(aboutWord().FindString(text))
	n := numberLength(text[at:])
	if n == 0 {
		return "", text
	}
	at += n
	if sep := rangeMark().FindString(text[at:]); sep != "" {
		if n := numberLength(text[at+len(sep):]); n > 0 {
			at += len(sep) + n
		}
	}
	return text[:at], strings.TrimSpace(text[at:])
}

// numberLength returns the length of the number at the beginning of a text.
func numberLength(text string) int {
	for _, form := range []func() *regexp.Regexp{slashFraction, vulgarFraction, numeralPattern} {
		if n := len(form().FindString(text)); n > 0 {
			// A comma or point at the end belongs to the sentence.
			return len(strings.TrimRight(text[:n], ".,"))
		}
	}
	return 0
}

// leadingUnit cuts the longest name of a unit off the beginning of a text.
func leadingUnit(text string, units *Units) (unit, rest string) {
	words := strings.SplitN(text, " ", mostUnitWords+1)
	for n := min(len(words), mostUnitWords); n > 0; n-- {
		name := strings.TrimRight(strings.Join(words[:n], " "), ",;:")
		if u, ok := units.Lookup(name); ok {
			return u.Name, strings.TrimSpace(strings.Join(words[n:], " "))
		}
	}
	return "", text
}
