package dataset

import (
	"slices"
	"strings"
	"unicode"
)

// headerUnits returns the units that a column name may end with.
func headerUnits() []string {
	return []string{
		"R$", "zł", "kr", "Kč", "Ft", "ct", "bp", "bps", "SEK", "NOK", "DKK", "PLN", "BRL", "%", "€", "$", "£", "¥", "EUR", "USD", "GBP", "CHF", "kg", "g", "mg", "µg", "t", "l", "L", "dl", "cl", "ml", "mL",
		"m", "cm", "mm", "µm", "nm", "Pa", "kPa", "MPa", "GPa", "bar", "mbar", "mPa·s", "mPas", "Pa·s", "cP", "cSt", "°C", "°F", "°", "K",
		"s", "min", "h", "d", "N", "kN", "W", "kW", "J", "kJ", "kcal", "Wh", "kWh", "V", "A", "Hz", "ppm", "ppb", "mol", "mmol", "CO2e",
		"psi", "ksi", "mN", "dB", "rpm", "NTU", "FNU", "EBC", "IBU", "wt%", "vol%", "mol%", "oz", "lb", "gal", "cwt", "yd3", "m2", "m3", "cm2", "cm3",
	}
}

// SplitHeaderUnit splits the name of a column into a name and the unit of the numbers in the
// column, such as "cost" and "€/kg". The unit stands at the end: in brackets, behind a comma, or as
// the last word. A last word is a unit if it, or one side of a slash in it, is a known unit. unit
// is empty if the header has no unit. A scale such as (1-10) is removed from the name and is not a
// unit.
func SplitHeaderUnit(header string) (name, unit string) {
	if name = strings.TrimSpace(scalePattern().ReplaceAllString(header, "")); name != header && name != "" {
		return name, ""
	}
	if plain := noteInNamePattern().ReplaceAllString(header, ""); plain != header && plain != "" {
		if name, unit := SplitHeaderUnit(plain); unit != "" {
			return name, unit
		}
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
		if name, unit, ok := cutLast(header, "_"); ok && len(unit) > 1 && name != "" && slices.Contains(headerUnits(), unit) {
			return name, unit // such as Turbidity_NTU
		}
		return header, ""
	}
	name, unit = strings.TrimSpace(strings.TrimRight(header[:at], " ,")), header[at+1:]
	left, right, per := strings.Cut(unit, "/")
	known := headerUnits()
	trimmed := func(text string) string { return strings.TrimRight(text, "²³23^") }
	if isNumberText(name[strings.LastIndexByte(name, ' ')+1:]) {
		return header, "" // such as CaCO3 5 µm, or hardness at 23 °C
	}
	if name == "" || !slices.Contains(known, trimmed(left)) && !(per && slices.Contains(known, trimmed(right))) {
		return header, ""
	}
	// "kg CO2e/m3" and "kg CO2/kg" begin with another word of the unit.
	if before := strings.LastIndex(name, " "); before > 0 && per && slices.Contains(known, name[before+1:]) {
		name, unit = strings.TrimSpace(name[:before]), name[before+1:]+" "+unit
	}
	return name, unit
}

// noteInNamePattern matches the mark of a footnote at the end of a column name, such as (2) or ¹.
var noteInNamePattern = lazyPattern(`\s*(?:\([1-9]\)|[*†‡¹²³]+)$`)

// cutLast cuts a text at the last occurrence of a separator, as [strings.Cut] does at the first.
func cutLast(text, at string) (before, after string, found bool) {
	if i := strings.LastIndex(text, at); i >= 0 {
		return text[:i], text[i+len(at):], true
	}
	return text, "", false
}

// notUnitPattern matches the beginning of a text in brackets that is not a unit but, for example, a
// scale, a number, or how or when something was measured.
var notUnitPattern = lazyPattern(`(?i)^\s*(?:[0-9.,+\-±<>=≤≥]|(?:of|out|from|after|before|at|mean|average|avg|median|std|sd|(?-i:n)|von|aus|nach|bei|mittelwert|moyenne|media)(?:\W|$))`)

// mayBeUnit reports whether a text in brackets in a column name may be a unit.
func mayBeUnit(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || strings.ContainsRune("%€$£¥°‰", r) }) && !notUnitPattern().MatchString(text)
}

// hasPropertyUnit reports whether a column name ends with a unit of a property, such as mPa·s,
// which no amount has.
func hasPropertyUnit(header string) bool {
	_, unit := SplitHeaderUnit(header)
	return slices.Contains([]string{"Pa", "kPa", "MPa", "GPa", "mbar", "mPa·s", "mPas", "Pa·s", "cP", "cSt", "°C", "°F", "kN", "kW", "kJ", "kcal", "Wh", "kWh", "Hz"}, unit)
}

// Unit returns the unit of the attribute's numbers: the unit in the column's name or, without one,
// the text beside the numbers, such as €. It is empty if there is neither.
func (a *Attribute) Unit() string {
	if _, unit := SplitHeaderUnit(a.Name); unit != "" {
		return unit
	}
	return a.Affix
}
