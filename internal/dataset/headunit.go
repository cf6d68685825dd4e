package dataset

import (
	"slices"
	"strings"
	"unicode"
)

// headerUnitWords returns the units that a header may end with.
func headerUnitWords() []string {
	return []string{
		"%", "€", "$", "£", "¥", "EUR", "USD", "GBP", "CHF", "kg", "g", "mg", "µg", "t", "l", "L", "dl", "cl", "ml", "mL",
		"m", "cm", "mm", "µm", "nm", "Pa", "kPa", "MPa", "GPa", "bar", "mbar", "mPa·s", "mPas", "Pa·s", "cP", "cSt", "°C", "°F", "°", "K",
		"s", "min", "h", "d", "N", "kN", "W", "kW", "J", "kJ", "kcal", "Wh", "kWh", "V", "A", "Hz", "ppm", "ppb", "mol", "mmol", "CO2e",
		"psi", "ksi", "mN", "dB", "rpm", "NTU", "FNU", "EBC", "IBU", "wt%", "vol%", "mol%", "oz", "lb", "gal", "cwt", "yd3", "m2", "m3", "cm2", "cm3",
	}
}

// SplitHeaderUnit splits a header into a name and the unit of its numbers, such as "cost" and
// "€/kg". The unit stands in brackets at the end, behind a comma, or as a last word that is a unit
// or has one beside a slash. unit is empty if there is none.
//
// A scale such as (1-10) is not a unit.
func SplitHeaderUnit(header string) (name, unit string) {
	if name = strings.TrimSpace(scalePattern().ReplaceAllString(header, "")); name != header && name != "" {
		return name, ""
	}
	for _, pair := range []string{"()", "[]"} {
		if inner, ok := strings.CutSuffix(header, pair[1:]); ok {
			if at := strings.LastIndex(inner, pair[:1]); at > 0 && len(inner)-at <= 24 && mayBeUnit(inner[at+1:]) {
				return strings.TrimSpace(inner[:at]), strings.TrimSpace(inner[at+1:])
			}
		}
	}
	at := strings.LastIndexAny(header, " ,")
	if at <= 0 {
		if name, unit, ok := cutLast(header, "_"); ok && len(unit) > 1 && name != "" && slices.Contains(headerUnitWords(), unit) {
			return name, unit // such as Turbidity_NTU
		}
		return header, ""
	}
	name, unit = strings.TrimSpace(strings.TrimRight(header[:at], " ,")), header[at+1:]
	left, right, per := strings.Cut(unit, "/")
	known := headerUnitWords()
	trimmed := func(text string) string { return strings.TrimRight(text, "²³23^") }
	if name == "" || !slices.Contains(known, trimmed(left)) && !(per && slices.Contains(known, trimmed(right))) {
		return header, ""
	}
	// "kg CO2e/m3" and "kg CO2/kg" begin with another word of the unit.
	if before := strings.LastIndex(name, " "); before > 0 && per && slices.Contains(known, name[before+1:]) {
		name, unit = strings.TrimSpace(name[:before]), name[before+1:]+" "+unit
	}
	return name, unit
}

// cutLast is [strings.Cut] at the last occurrence.
func cutLast(text, at string) (before, after string, found bool) {
	if i := strings.LastIndex(text, at); i >= 0 {
		return text[:i], text[i+len(at):], true
	}
	return text, "", false
}

// notUnitPattern matches the beginning of a remark in brackets that is not a unit: a scale, a
// number, how or when something was measured.
var notUnitPattern = pattern(`(?i)^\s*(?:[0-9.,+\-±<>=≤≥]|(?:of|out|from|after|before|at|mean|average|avg|median|std|sd|n|von|aus|nach|bei|mittelwert|moyenne|media)(?:\W|$))`)

// mayBeUnit reports whether a text in brackets in a header may be a unit.
func mayBeUnit(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || strings.ContainsRune("%€$£¥°‰", r) }) && !notUnitPattern().MatchString(text)
}

// hasPropertyUnit reports whether a column's name ends with a unit of a property, not of an amount,
// such as mPa·s.
func hasPropertyUnit(header string) bool {
	_, unit := SplitHeaderUnit(header)
	return slices.Contains([]string{"Pa", "kPa", "MPa", "GPa", "mbar", "mPa·s", "mPas", "Pa·s", "cP", "cSt", "°C", "°F", "kN", "kW", "kJ", "kcal", "Wh", "kWh", "Hz"}, unit)
}

// Unit returns the unit of the attribute's numbers: that of its header, or the affix of its
// numbers; empty if there is none.
func (a *Attribute) Unit() string {
	if _, unit := SplitHeaderUnit(a.Name); unit != "" {
		return unit
	}
	return a.Affix
}
