package measure

import (
	"math/big"
	"regexp"
	"strings"
	"sync"

	"kir/internal/inputerr"
)

// A Quantity is the interpretation of a cell that holds an amount.
type Quantity struct {
	Amount      Amount  // the number; for a remainder, the whole, or 0 if the cell does not state it
	Unit        string  // name of the unit behind the number; empty if there is none
	Reading     Reading // how the cell was interpreted
	DecimalMark Decimal // the only decimal mark with which the numbers are valid; AnyDecimal if both are possible
	IsAmbiguous bool    // whether a number has different values with the two decimal marks
	IsRemainder bool    // whether the amount is what the other ingredients leave of a whole
}

// A Reading is a way to interpret an amount that is not a plain number.
type Reading int

const (
	LiteralReading     Reading = iota // a number, read as it stands; no note is needed
	rangeReading                      // a range, read as its middle
	approximateReading                // a number marked as approximate, read as it stands
	ImpliedOneReading                 // a unit without a number, read as one of the unit
	ReadingCount                      // number of kinds
)

// String returns how notes describe amounts that are read so. It is empty for plain numbers.
func (r Reading) String() string {
	switch r {
	case rangeReading:
		return "ranges are read as their middle"
	case approximateReading:
		return "amounts said to be about right are read as they stand"
	case ImpliedOneReading:
		return "units without a number are read as one of them"
	}
	return ""
}

var (
	aboutPattern          = lazyExpression(`^(?i:~|≈|about\b|approximately\b|approx\b\.?|around\b|roughly\b|circa\b|ca\b\.?|c\. |etwa\b|ungefähr |environ\b|env\.)\s*`)
	rangeMarkPattern      = lazyExpression(`^(?i:\s*(?:--?|–|—|−|\.\.+|…)\s*|\s+(?:to|or|bis|oder|à|ou)\s+)`)
	slashFractionPattern  = lazyExpression(`^(?:([0-9]{1,9})(?:[ \x{00a0}\x{202f}]+|-))?([0-9]{1,9})\s*[/⁄∕]\s*([0-9]{1,9})`)
	vulgarFractionPattern = lazyExpression(`^(?:([0-9]{1,9})[ \x{00a0}\x{202f}]*)?([½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒])`)
	numeralPattern        = lazyExpression(`^[+-]?(?:[0-9]{1,3}(?:[ \x{00a0}\x{2009}\x{202f}'’][0-9]{3})+(?:[.,][0-9]+)?|[0-9][0-9.,]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?`)
	wordPattern           = lazyExpression(`^\pL[\pL ]{2,30}$`) // matches words that may stand in place of an amount
	oneWordPattern        = lazyExpression(`^(?i:an?|one|eine?|une?)\s+`)
	datePattern           = lazyExpression(`^(?i)(?:[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,4}|[0-9]{1,4}/[0-9]{1,2}/[0-9]{1,4}|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{2,4}|[0-9]{1,2}[-. ]{1,2}(?:` + monthNames + `)\.?(?:[- ][0-9]{2,4})?|(?:` + monthNames + `)\.?[- ][0-9]{1,4})(?:[T ].*)?$`)
)

// monthNames is a regular expression that matches the names and abbreviations of months in English
// and German.
const monthNames = `jan|january|januar|feb|february|februar|mar|march|mär|märz|apr|april|may|mai|jun|june|juni|jul|july|juli|aug|august|sep|sept|september|oct|october|okt|oktober|nov|november|dec|december|dez|dezember`

// vulgarFractions holds the numerator and the denominator of each fraction that is a single
// character.
var vulgarFractions = map[string][2]int64{
	"½": {1, 2}, "⅓": {1, 3}, "⅔": {2, 3}, "¼": {1, 4}, "¾": {3, 4}, "⅕": {1, 5}, "⅖": {2, 5}, "⅗": {3, 5}, "⅘": {4, 5},
	"⅙": {1, 6}, "⅚": {5, 6}, "⅐": {1, 7}, "⅛": {1, 8}, "⅜": {3, 8}, "⅝": {5, 8}, "⅞": {7, 8}, "⅑": {1, 9}, "⅒": {1, 10},
}

// ParseQuantity parses an amount as people write it. An amount is a decimal number with either mark
// and with marks between thousands, a fraction, a whole number and a fraction, or a range between
// two of these. A word such as "about" may stand before the amount, and a unit behind it. A unit
// alone means one of the unit. If the text is not an amount, message states the fault and hint says
// what to write.
func ParseQuantity(text string, decimal Decimal, units *Units) (q Quantity, message, hint string) {
	if strings.Trim(text, "0123456789") == "" || decimal == DecimalPoint && strings.Trim(text, "0123456789.") == "" {
		if a, err := ScanAmount(text); err == nil {
			return Quantity{Amount: a}, "", ""
		}
	}
	rest := strings.TrimSpace(text)
	if datePattern().MatchString(rest) {
		return q, "unreadable amount " + inputerr.Quote(text) + ", which looks like a date", "a spreadsheet takes 1/2 or 2-3 for a date: format the cell as text and write it anew"
	}
	if at := aboutPattern().FindString(rest); at != "" {
		q.Reading, rest = approximateReading, rest[len(at):]
	}
	first, left, ok, why := q.readNumber(rest, decimal)
	if !ok {
		if u, known := units.Lookup(oneWordPattern().ReplaceAllString(rest, "")); known && why == "" {
			q.Amount, q.Unit, q.Reading = MustAmount("1"), u.Name, ImpliedOneReading
			return q, "", ""
		}
		if m := remainderPattern().FindStringSubmatch(rest); m != nil && m[2] == "" {
			whole := m[1] + m[3] + m[4] + m[5]
			if whole == "" {
				return Quantity{IsRemainder: true}, "", ""
			}
			if q, message, hint = ParseQuantity(whole, decimal, units); q.Reading == LiteralReading && !q.Amount.IsZero() || message != "" {
				q.IsRemainder = true
				return q, message, hint
			}
		}
		if MeansFillUp(rest) {
			q.Amount, q.Unit, q.Reading = MustAmount("1"), fillUpUnit, ImpliedOneReading
			return q, "", ""
		}
		return q.describeFault(text, decimal, why)
	}
	value := first
	if sep := rangeMarkPattern().FindString(left); sep != "" {
		second, end, ok, why := q.readNumber(left[len(sep):], decimal)
		switch {
		case why != "":
			return q.describeFault(text, decimal, why)
		case ok && (second.Cmp(first) < 0 || first.Sign() < 0):
			return q, "the range " + inputerr.Quote(text) + " goes down", "write the smaller number first, or the amount alone"
		case ok:
			value = new(big.Rat).Add(first, second)
			value.Quo(value, big.NewRat(2, 1))
			q.Reading, left = rangeReading, end
		}
	}
	q.Unit = strings.TrimSpace(left)
	if value.Sign() < 0 {
		return q, "negative amount " + inputerr.Quote(text), "amounts are 0 or more"
	}
	amount, err := NearestAmount(value)
	if err != nil {
		return q, "amount " + inputerr.Quote(text) + " is out of range", "amounts are 0, or at least 1e-30 and below 1e30"
	}
	q.Amount = amount
	if q.Unit != "" {
		if _, ok := units.Lookup(q.Unit); !ok {
			if strings.ContainsAny(q.Unit[:1], "0123456789.,+-/⁄'") || left == q.Unit {
				return q.describeFault(text, decimal, "")
			}
			message, hint := units.DescribeUnknownUnit(q.Unit)
			return q, message + " in the amount " + inputerr.Quote(text), hint
		}
	}
	return q, "", ""
}

// readNumber parses the number at the beginning of a text. rest is the text behind the number. For
// a number below 0, value is −1. ok is false if the text does not begin with a valid number; then
// why may state the reason, such as that the decimal mark is ambiguous.
func (q *Quantity) readNumber(text string, decimal Decimal) (value *big.Rat, rest string, ok bool, why string) {
	if m := slashFractionPattern().FindStringSubmatch(text); m != nil {
		return mixedNumber(m[1], m[2], m[3], text[len(m[0]):])
	}
	if m := vulgarFractionPattern().FindStringSubmatch(text); m != nil {
		f := vulgarFractions[m[2]]
		value, rest, ok, why = mixedNumber(m[1], "0", "1", text[len(m[0]):])
		return value.Add(value, big.NewRat(f[0], f[1])), rest, ok, why
	}
	found := numeralPattern().FindString(text)
	if found == "" {
		return nil, text, false, ""
	}
	n := ParseNumeral(found)
	plain := n.PlainForm(decimal)
	if plain == "" {
		switch {
		case n.IsAmbiguous():
			return nil, text, false, "it may be " + n.WithPoint + " or " + n.WithComma
		case n.WithComma != "":
			return nil, text, false, "the decimal mark of the table is the point"
		case n.WithPoint != "":
			return nil, text, false, "the decimal mark of the table is the comma"
		}
		return nil, text, false, ""
	}
	if s := n.DecimalMark(); s != AnyDecimal {
		q.DecimalMark = s
	}
	q.IsAmbiguous = q.IsAmbiguous || n.IsAmbiguous()
	if plain[0] == '-' {
		// The caller keeps the sign and rejects it, so the size may be any.
		if a, err := ScanAmount(plain[1:]); err == nil && a.IsZero() {
			return new(big.Rat), text[len(found):], true, ""
		}
		return big.NewRat(-1, 1), text[len(found):], true, ""
	}
	a, err := ScanAmount(plain)
	if err != nil {
		return nil, text, false, err.Error()
	}
	return a.Rat(), text[len(found):], true, ""
}

// mixedNumber returns the number whole + numerator/denominator. Each of these three is a text of a
// few digits, and whole may be empty. left is returned as rest. ok is false if the denominator is
// 0; then why says so.
func mixedNumber(whole, numerator, denominator, left string) (value *big.Rat, rest string, ok bool, why string) {
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

// describeFault returns the message and the hint for a text that is not a valid amount. why is a
// more specific hint, or empty.
func (q Quantity) describeFault(text string, decimal Decimal, why string) (_ Quantity, message, hint string) {
	_, message, hint = parseAmount(strings.TrimSpace(text))
	if message == "" { // valid by itself, but not in this table
		message = "unreadable amount " + inputerr.Quote(text)
	}
	if why != "" && why != errUnreadable.Error() && why != errOutOfRange.Error() {
		hint = why
	}
	return q, message, hint
}

// lazyExpression returns a function that returns the regular expression, which it compiles at its first call, since the
// program starts faster so.
func lazyExpression(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// FirstNumeral returns the number at the beginning of a text; the zero numeral if there is none.
func FirstNumeral(text string) Numeral { return ParseNumeral(numeralPattern().FindString(text)) }

// IsDate reports whether a text is a date and no amount, such as 3.5.2024.
func IsDate(text string) bool { return datePattern().MatchString(text) }

// IsWord reports whether a text is a word or several, which may be a unit.
func IsWord(text string) bool { return wordPattern().MatchString(text) }

// WithoutOne returns a text without a word for one before it, as in a dash.
func WithoutOne(text string) string { return oneWordPattern().ReplaceAllString(text, "") }
