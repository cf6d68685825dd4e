package report

import "kir/internal/number"

// A Number is a floating-point number that may be unknown.
type Number = number.Number

// UnknownNumber returns the unknown number.
func UnknownNumber() Number { return number.Unknown() }
