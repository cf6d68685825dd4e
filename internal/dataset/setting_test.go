package dataset

import "testing"

// TestOriginOf: what a column's name tells of whether it is set or measured.
func TestOriginOf(t *testing.T) {
	for _, c := range []struct {
		header string
		texts  bool
		want   Origin
	}{
		{"temperature °C", false, Set}, {"Oven temp (°C)", false, Set}, {"Bake time [min]", false, Set}, {"age (days)", false, Set}, {"Stirring speed, rpm", false, Set}, {"Speed (rpm)", false, Set},
		{"catalyst", true, Set}, {"Site", true, Set}, {"method", true, Set}, {"Temperatur", false, Set},
		{"Time", false, SetOrMeasured}, {"pH", false, SetOrMeasured}, {"Days", false, SetOrMeasured},
		{"Setting time (min)", false, Measured}, {"Melting temperature °C", false, Measured}, {"disintegration time", false, Measured},
		{"Taste", false, UnknownOrigin}, {"Texture", true, UnknownOrigin}, {"strength MPa", false, UnknownOrigin}, {"Plant oil", false, UnknownOrigin}, {"Baking powder", false, UnknownOrigin},
		{"Aged rum", false, UnknownOrigin}, {"price per day", true, UnknownOrigin}, {"", false, UnknownOrigin}, {"°C", false, UnknownOrigin},
	} {
		if got := OriginOf(c.header, c.texts); got != c.want {
			t.Errorf("%q, texts %t: %d, and not %d", c.header, c.texts, got, c.want)
		}
	}
}
