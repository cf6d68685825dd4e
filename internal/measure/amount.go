package measure

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"kir/internal/inputerr"
)

// An Amount is a decimal number of at least 0. Its value is digits · 10^exp, held exactly with up
// to 18 significant digits. Equal numbers have equal representations, so amounts may be compared
// with ==. The zero value is 0.
type Amount struct {
	Digits uint64 // significant digits as a whole number, below 10^18; not a multiple of 10, except 0
	Exp    int8   // power of ten by which digits is multiplied; 0 if digits is 0
}

const (
	maxSignificantDigits = 18 // number of significant digits that an Amount keeps
	maxAmountExponent    = 30 // an Amount is 0 or in [10^-maxAmountExponent, 10^maxAmountExponent)
)

// ParseAmount parses a decimal number such as 3, 4.5, .75 or 1e-3. It rounds the number half up to
// 18 significant digits. It returns an error if the number is negative, not finite, at least 1e30,
// or below 1e-30 without being 0.
func ParseAmount(text string) (Amount, error) {
	a, message, hint := parseAmount(strings.TrimSpace(text))
	if message != "" {
		return Amount{}, fmt.Errorf("%s: %s", message, hint)
	}
	return a, nil
}

// MustAmount parses an amount that is written in this program's source. It panics if the text is
// not an amount.
func MustAmount(text string) Amount {
	a, err := ScanAmount(text)
	if err != nil {
		panic(err)
	}
	return a
}

// parseAmount parses an amount. If the text is not a valid amount, message states the fault and
// hint says how to write the amount. Otherwise both are empty.
func parseAmount(text string) (a Amount, message, hint string) {
	a, err := ScanAmount(text)
	switch err {
	case nil:
		return a, "", ""
	case errNegative:
		return a, "negative amount " + inputerr.Quote(text), "amounts are 0 or more"
	case errOutOfRange:
		return a, "amount " + inputerr.Quote(text) + " is out of range", "amounts are 0, or at least 1e-30 and below 1e30"
	}
	message, hint = "unreadable amount "+inputerr.Quote(text), "write a number such as 4.5"
	isAmount := func(text string) bool {
		_, err := ScanAmount(text)
		return err == nil
	}
	first, _, several := strings.Cut(text, " ")
	switch strings.ToLower(strings.TrimLeft(text, "+-")) {
	case "nan", "inf", "infinity":
		return a, "amount " + inputerr.Quote(text) + " is not finite", hint
	}
	switch {
	case remainderPattern().MatchString(text):
		return a, message, "what the others leave of 100 is q.s. 100: write that, or the number"
	case text == "":
		return a, "no amount", hint + ", or 0 for an ingredient that is not used"
	case strings.Contains(text, ",") && isAmount(strings.ReplaceAll(text, ",", "")):
		return a, message, "write the number without a comma and with a point before its fraction, such as 4.5"
	case several && isAmount(first):
		return a, message, "write the number alone; a unit goes into the column unit of the long form"
	}
	return a, message, hint
}

var (
	errUnreadable = errors.New("not a decimal number")
	errNegative   = errors.New("negative")
	errOutOfRange = errors.New("out of range")
)

// ScanAmount parses an amount of the form [+-] digits [. digits] [e [+-] digits] with at least one
// digit before the exponent. The error is errUnreadable, errNegative or errOutOfRange.
func ScanAmount(text string) (Amount, error) {
	rest := text
	negative := false
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		negative = rest[0] == '-'
		rest = rest[1:]
	}
	var (
		digits  uint64 // the leading significant digits, as a whole number
		kept    int    // number of digits in digits
		dropped int    // number of digits after the kept digits
		roundUp bool
		exp     int
		seen    bool // at least one digit was read
		point   bool
	)
	for ; rest != ""; rest = rest[1:] {
		c := rest[0]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen = true
		if kept < maxSignificantDigits {
			digits = digits*10 + uint64(c-'0')
			if digits > 0 {
				kept++
			}
			if point {
				exp--
			}
			continue
		}
		if dropped == 0 {
			roundUp = c >= '5'
		}
		dropped++
		if !point {
			exp++
		}
	}
	if !seen {
		return Amount{}, errUnreadable
	}
	if len(rest) > 1 && (rest[0] == 'e' || rest[0] == 'E') {
		e, err := strconv.Atoi(rest[1:])
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return Amount{}, errUnreadable
		}
		// Many digits may balance a large exponent, but no text has that many.
		const far = 1 << 40
		exp += min(max(e, -far), far)
		rest = ""
	}
	if rest != "" {
		return Amount{}, errUnreadable
	}
	if roundUp {
		digits++
	}
	if digits == 0 {
		return Amount{}, nil
	}
	if negative {
		return Amount{}, errNegative
	}
	for digits%10 == 0 {
		digits /= 10
		exp++
	}
	leading := exp + len(strconv.FormatUint(digits, 10)) - 1
	if leading < -maxAmountExponent || leading >= maxAmountExponent {
		return Amount{}, errOutOfRange
	}
	return Amount{Digits: digits, Exp: int8(exp)}, nil
}

// IsZero reports whether the amount is 0.
func (a Amount) IsZero() bool { return a.Digits == 0 }

// Rat returns the exact value of the amount as a new rational number.
func (a Amount) Rat() *big.Rat {
	n := new(big.Int).SetUint64(a.Digits)
	if a.Exp >= 0 {
		return new(big.Rat).SetInt(n.Mul(n, Pow10(int(a.Exp))))
	}
	return new(big.Rat).SetFrac(n, Pow10(-int(a.Exp)))
}

// Float64 returns the float64 nearest to the amount.
func (a Amount) Float64() float64 {
	f, _ := strconv.ParseFloat(strconv.FormatUint(a.Digits, 10)+"e"+strconv.Itoa(int(a.Exp)), 64)
	return f // in range: see maxAmountExponent
}

// String returns the exact decimal form, such as 4.5, or 1e-12 for a very small or very large
// amount.
func (a Amount) String() string {
	digits := strconv.FormatUint(a.Digits, 10)
	exp := int(a.Exp)
	leading := exp + len(digits) - 1
	switch {
	case leading < -6 || leading > 20:
		s := digits[:1]
		if len(digits) > 1 {
			s += "." + digits[1:]
		}
		return s + "e" + strconv.Itoa(leading)
	case exp >= 0:
		return digits + strings.Repeat("0", exp)
	case leading >= 0:
		return digits[:leading+1] + "." + digits[leading+1:]
	default:
		return "0." + strings.Repeat("0", -leading-1) + digits
	}
}

// NearestAmount returns the amount nearest to a rational number of at least 0. It returns an error
// if the number is out of range.
func NearestAmount(r *big.Rat) (Amount, error) {
	return ScanAmount(r.FloatString(maxAmountExponent + maxSignificantDigits + 2))
}

// multiply returns a·b, rounded to 18 significant digits. If the product is out of range, message
// and hint describe the fault; otherwise both are empty.
func (a Amount) multiply(b Amount) (product Amount, message, hint string) {
	n := new(big.Int).SetUint64(a.Digits)
	n.Mul(n, new(big.Int).SetUint64(b.Digits))
	return parseAmount(n.String() + "e" + strconv.Itoa(int(a.Exp)+int(b.Exp)))
}

// Pow10 returns 10^n for n ≥ 0.
func Pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
