package report

import "kir/internal/number"

// A Number is a figure of the model that may be unknown.
type Number = number.Number

// UnknownNumber is a figure that is not known.
func UnknownNumber() Number { return number.Unknown() }
