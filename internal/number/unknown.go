package number

import (
	"encoding/json"
	"math"
)

// A Number is a figure that may be unknown. NaN and the infinities are null in
// JSON: a figure that could not be computed is left open, not made up.
type Number float64

// MarshalJSON writes the shortest number that reads back the same, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads a number or null, which is NaN.
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Unknown()
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}

// Known says whether the figure is known.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// Unknown is a figure that is not known.
func Unknown() Number { return Number(math.NaN()) }
