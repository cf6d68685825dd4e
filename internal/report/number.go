package report

import "kir/internal/number"

// A Number is a figure that may be unknown.
type Number = number.Number

// UnknownNumber returns the unknown figure.
func UnknownNumber() Number { return number.Unknown() }
