package dataset

import (
	"math/big"
	"strings"

	"kir/internal/inputerr"
)

// A quantity is the interpretation of a cell with an amount.
type quantity struct {
	amount Amount
	unit   string      // the text behind the number
	guess  readingKind // how freely the cell was interpreted
	mark   Decimal     // the decimal mark that the numbers show
	twoWay bool        // a number in it would differ with the other decimal mark
	isRest bool        // it is the remainder that the others leave of the amount, which is 0 if it is not given
}

// A readingKind is a kind of interpretation that a note reports.
type readingKind int

const (
	literalReading readingKind = iota
	rangeMiddle                // the middle of a range
	approximate                // a number marked as approximate
	impliedOne                 // a unit without a number: one of the unit
	readingKinds               // number of kinds
)

// readingNotes describes each kind. Its argument is an example from the table.
var readingNotes = [readingKinds]string{
	rangeMiddle: "ranges are read as their middle",
	approximate: "amounts said to be about right are read as they stand",
	impliedOne:  "units without a number are read as one of them",
}

var (
	aboutWord      = pattern(`^(?i:~|≈|about\b|approximately\b|approx\b\.?|around\b|roughly\b|circa\b|ca\b\.?|c\. |etwa\b|ungefähr |environ\b|env\.)\s*`)
	rangeMark      = pattern(`^(?i:\s*(?:--?|–|—|−|\.\.+|…)\s*|\s+(?:to|or|bis|oder|à|ou)\s+)`)
	slashFraction  = pattern(`^(?:([0-9]{1,9})(?:[ \x{00a0}\x{202f}]+|-))?([0-9]{1,9})\s*[/⁄∕]\s*([0-9]{1,9})`)
	vulgarFraction = pattern(`^(?:([0-9]{1,9})[ \x{00a0}\x{202f}]*)?([½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒])`)
	numeralPattern = pattern(`^[+-]?(?:[0-9]{1,3}(?:[ \x{00a0}\x{2009}\x{202f}'’][0-9]{3})+(?:[.,][0-9]+)?|[0-9][0-9.,]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?`)
	wordPattern    = pattern(`^\pL[\pL ]{2,30}$`) // may be used in place of an amount
	oneWord        = pattern(`^(?i:an?|one|eine?|une?)\s+`)
	datePattern    = pattern(`^(?i)(?:[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,4}|[0-9]{1,4}/[0-9]{1,2}/[0-9]{1,4}|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{2,4}|[0-9]{1,2}[-. ]{1,2}(?:` + months + `)\.?(?:[- ][0-9]{2,4})?|(?:` + months + `)\.?[- ][0-9]{1,4})(?:[T ].*)?$`)
)

// months are the names of months and their abbreviations, in English and German.
const months = `jan|january|januar|feb|february|februar|mar|march|mär|märz|apr|april|may|mai|jun|june|juni|jul|july|juli|aug|august|sep|sept|september|oct|october|okt|oktober|nov|november|dec|december|dez|dezember`

// vulgarFractions are the fractions that are single characters.
var vulgarFractions = map[string][2]int64{
	"½": {1, 2}, "⅓": {1, 3}, "⅔": {2, 3}, "¼": {1, 4}, "¾": {3, 4}, "⅕": {1, 5}, "⅖": {2, 5}, "⅗": {3, 5}, "⅘": {4, 5},
	"⅙": {1, 6}, "⅚": {5, 6}, "⅐": {1, 7}, "⅛": {1, 8}, "⅜": {3, 8}, "⅝": {5, 8}, "⅞": {7, 8}, "⅑": {1, 9}, "⅒": {1, 10},
}

// parseQuantity parses an amount as people write it: a decimal number with either mark and marks
// between thousands, a fraction, a whole number and a fraction, or a range of two of these. "about"
// may stand before it and a unit behind it, and a unit may stand alone. For an invalid text it
// returns a message and a hint what to write instead.
func parseQuantity(text string, decimal Decimal, units *Units) (q quantity, message, hint string) {
	if strings.Trim(text, "0123456789") == "" || decimal == DecimalPoint && strings.Trim(text, "0123456789.") == "" {
		if a, err := scanAmount(text); err == nil {
			return quantity{amount: a}, "", ""
		}
	}
	rest := strings.TrimSpace(text)
	if datePattern().MatchString(rest) {
		return q, "unreadable amount " + inputerr.Quote(text) + ", which looks like a date", "a spreadsheet takes 1/2 or 2-3 for a date: format the cell as text and write it anew"
	}
	if at := aboutWord().FindString(rest); at != "" {
		q.guess, rest = approximate, rest[len(at):]
	}
	first, left, ok, why := q.readNumber(rest, decimal)
	if !ok {
		if u, known := units.Lookup(oneWord().ReplaceAllString(rest, "")); known && why == "" {
			q.amount, q.unit, q.guess = mustAmount("1"), u.Name, impliedOne
			return q, "", ""
		}
		if m := remainderPattern().FindStringSubmatch(rest); m != nil && m[2] == "" {
			whole := m[1] + m[3] + m[4]
			if whole == "" {
				return quantity{isRest: true}, "", ""
			}
			if q, message, hint = parseQuantity(whole, decimal, units); q.guess == literalReading && !q.amount.IsZero() || message != "" {
				q.isRest = true
				return q, message, hint
			}
		}
		return q.refusal(text, decimal, why)
	}
	value := first
	if sep := rangeMark().FindString(left); sep != "" {
		second, end, ok, why := q.readNumber(left[len(sep):], decimal)
		switch {
		case why != "":
			return q.refusal(text, decimal, why)
		case ok && (second.Cmp(first) < 0 || first.Sign() < 0):
			return q, "the range " + inputerr.Quote(text) + " goes down", "write the smaller number first, or the amount alone"
		case ok:
			value = new(big.Rat).Add(first, second)
			value.Quo(value, big.NewRat(2, 1))
			q.guess, left = rangeMiddle, end
		}
	}
	q.unit = strings.TrimSpace(left)
	if value.Sign() < 0 {
		return q, "negative amount " + inputerr.Quote(text), "amounts are 0 or more"
	}
	amount, err := nearestAmount(value)
	if err != nil {
		return q, "amount " + inputerr.Quote(text) + " is out of range", "amounts are 0, or at least 1e-30 and below 1e30"
	}
	q.amount = amount
	if q.unit != "" {
		if _, ok := units.Lookup(q.unit); !ok {
			if strings.ContainsAny(q.unit[:1], "0123456789.,+-/⁄'") || left == q.unit {
				return q.refusal(text, decimal, "")
			}
			message, hint := units.unknownUnit(q.unit)
			return q, message + " in the amount " + inputerr.Quote(text), hint
		}
	}
	return q, "", ""
}

// readNumber parses the number at the beginning of a text. why is a hint for a number whose decimal
// mark is ambiguous.
func (q *quantity) readNumber(text string, decimal Decimal) (value *big.Rat, rest string, ok bool, why string) {
	if m := slashFraction().FindStringSubmatch(text); m != nil {
		return fraction(m[1], m[2], m[3], text[len(m[0]):])
	}
	if m := vulgarFraction().FindStringSubmatch(text); m != nil {
		f := vulgarFractions[m[2]]
		value, rest, ok, why = fraction(m[1], "0", "1", text[len(m[0]):])
		return value.Add(value, big.NewRat(f[0], f[1])), rest, ok, why
	}
	found := numeralPattern().FindString(text)
	if found == "" {
		return nil, text, false, ""
	}
	n := parseNumeral(found)
	plain := n.plainForm(decimal)
	if plain == "" {
		switch {
		case n.isAmbiguous():
			return nil, text, false, "it may be " + n.point + " or " + n.comma + ": say decimal: point, or decimal: comma"
		case n.comma != "":
			return nil, text, false, "the table's decimal mark is the point; if it is the comma, say decimal: comma"
		case n.point != "":
			return nil, text, false, "the table's decimal mark is the comma; if it is the point, say decimal: point"
		}
		return nil, text, false, ""
	}
	if s := n.decimalMark(); s != AnyDecimal {
		q.mark = s
	}
	q.twoWay = q.twoWay || n.isAmbiguous()
	if plain[0] == '-' {
		// The caller keeps the sign and rejects it, so the size may be any.
		if a, err := scanAmount(plain[1:]); err == nil && a.IsZero() {
			return new(big.Rat), text[len(found):], true, ""
		}
		return big.NewRat(-1, 1), text[len(found):], true, ""
	}
	a, err := scanAmount(plain)
	if err != nil {
		return nil, text, false, err.Error()
	}
	return a.Rat(), text[len(found):], true, ""
}

// fraction returns whole + numerator/denominator, each a few digits or empty.
func fraction(whole, numerator, denominator, left string) (value *big.Rat, rest string, ok bool, why string) {
	d, _ := new(big.Int).SetString(denominator, 10)
	if d.Sign() == 0 {
		return nil, left, false, "a number cannot be divided by 0"
	}
	n, _ := new(big.Int).SetString(numerator, 10)
	value = new(big.Rat).SetFrac(n, d)
	if whole != "" {
		w, _ := new(big.Int).SetString(whole, 10)
		value.Add(value, new(big.Rat).SetInt(w))
	}
	return value, left, true, ""
}

// refusal describes the fault of an amount.
func (q quantity) refusal(text string, decimal Decimal, why string) (_ quantity, message, hint string) {
	if isFilling(text) {
		return q, "unreadable amount " + inputerr.Quote(text), sizeHint(text)
	}
	_, message, hint = parseAmount(strings.TrimSpace(text))
	if message == "" { // valid by itself, but not in this table
		message = "unreadable amount " + inputerr.Quote(text)
	}
	if why != "" && why != errUnreadable.Error() && why != errRange.Error() {
		hint = why
	}
	return q, message, hint
}
