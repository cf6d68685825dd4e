package number

import (
	"encoding/json"
	"math"
)

// A Number is a floating-point number that may be unknown, which NaN and the infinities stand for. In JSON an
// unknown number is null.
type Number float64

// MarshalJSON writes the shortest number that reads back as the same float64, or null for NaN and the
// infinities.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads a number, or null as NaN.
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Unknown()
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}

// IsKnown reports whether the number is neither NaN nor infinite.
func (n Number) IsKnown() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// Unknown returns NaN, which stands for an unknown number.
func Unknown() Number { return Number(math.NaN()) }
