package dataset

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"kir/internal/inputerr"
)

// An Amount is a decimal number that is not negative, digits · 10^exp, held
// exactly to 18 significant digits. Equal numbers are equal values, so amounts
// may be compared with ==. The zero value is 0.
type Amount struct {
	digits uint64 // below 10^18, no multiple of 10 unless 0
	exp    int8   // 0 if digits is 0
}

const (
	amountDigits    = 18 // number of significant digits kept
	amountMagnitude = 30 // amounts are 0 or in [10^-amountMagnitude, 10^amountMagnitude)
)

// ParseAmount parses a decimal number such as 3, 4.5, .75 or 1e-3. It rounds to 18 digits, half up.
// It returns an error if the number is negative, not finite, or too far from 1 (below 1e-30 without
// being 0, or 1e30 and more).
func ParseAmount(text string) (Amount, error) {
	a, message, hint := parseAmount(strings.TrimSpace(text))
	if message != "" {
		return Amount{}, fmt.Errorf("%s: %s", message, hint)
	}
	return a, nil
}

// mustAmount parses an amount that this program's source contains.
func mustAmount(text string) Amount {
	a, err := scanAmount(text)
	if err != nil {
		panic(err)
	}
	return a
}

// parseAmount returns the amount, or a message with the fault and a hint how to write it.
func parseAmount(text string) (a Amount, message, hint string) {
	a, err := scanAmount(text)
	switch err {
	case nil:
		return a, "", ""
	case errNegative:
		return a, "negative amount " + inputerr.Quote(text), "amounts are 0 or more"
	case errRange:
		return a, "amount " + inputerr.Quote(text) + " is out of range", "amounts are 0, or at least 1e-30 and below 1e30"
	}
	message, hint = "unreadable amount "+inputerr.Quote(text), "write a number such as 4.5"
	isAmount := func(text string) bool {
		_, err := scanAmount(text)
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
	errRange      = errors.New("out of range")
)

// scanAmount reads [+-] digits [. digits] [e [+-] digits] with at least one
// digit before the exponent.
func scanAmount(text string) (Amount, error) {
	rest := text
	negative := false
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		negative = rest[0] == '-'
		rest = rest[1:]
	}
	var (
		digits  uint64 // the first significant digits
		kept    int    // their number
		dropped int    // number of digits after those
		roundUp bool
		exp     int
		seen    bool // there was at least one digit
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
		if kept < amountDigits {
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
	if leading < -amountMagnitude || leading >= amountMagnitude {
		return Amount{}, errRange
	}
	return Amount{digits: digits, exp: int8(exp)}, nil
}

// IsZero reports whether the amount is 0.
func (a Amount) IsZero() bool { return a.digits == 0 }

// Rat returns the amount exactly, as a new rational number.
func (a Amount) Rat() *big.Rat {
	n := new(big.Int).SetUint64(a.digits)
	if a.exp >= 0 {
		return new(big.Rat).SetInt(n.Mul(n, pow10(int(a.exp))))
	}
	return new(big.Rat).SetFrac(n, pow10(-int(a.exp)))
}

// Float64 returns the float64 nearest to the amount.
func (a Amount) Float64() float64 {
	f, _ := strconv.ParseFloat(strconv.FormatUint(a.digits, 10)+"e"+strconv.Itoa(int(a.exp)), 64)
	return f // in range: see amountMagnitude
}

// String returns the shortest exact form, such as 4.5 or 1e-12.
func (a Amount) String() string {
	digits := strconv.FormatUint(a.digits, 10)
	exp := int(a.exp)
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

// nearestAmount returns the amount nearest to a number of at least 0.
func nearestAmount(r *big.Rat) (Amount, error) {
	return scanAmount(r.FloatString(amountMagnitude + amountDigits + 2))
}

// times returns a·b, rounded to 18 digits.
func (a Amount) times(b Amount) (product Amount, message, hint string) {
	n := new(big.Int).SetUint64(a.digits)
	n.Mul(n, new(big.Int).SetUint64(b.digits))
	return parseAmount(n.String() + "e" + strconv.Itoa(int(a.exp)+int(b.exp)))
}

// pow10 returns 10^n, n ≥ 0.
func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
