package dataset

import "testing"

// TestOriginOf: what a column's name tells of whether it is set or measured.
func TestOriginOf(t *testing.T) {
	for _, c := range []struct {
		header string
		texts  bool
		want   Origin
	}{
		{"temperature °C", false, SetInTrial}, {"Oven temp (°C)", false, SetInTrial}, {"Bake time [min]", false, SetInTrial}, {"age (days)", false, SetInTrial}, {"Stirring speed, rpm", false, SetInTrial}, {"Speed (rpm)", false, SetInTrial},
		{"catalyst", true, SetInTrial}, {"Site", true, SetInTrial}, {"method", true, SetInTrial}, {"Temperatur", false, SetInTrial},
		{"Time", false, SetOrMeasured}, {"pH", false, SetOrMeasured}, {"Days", false, SetOrMeasured},
		{"Setting time (min)", false, MeasuredInTrial}, {"Melting temperature °C", false, MeasuredInTrial}, {"disintegration time", false, MeasuredInTrial},
		{"Taste", false, UnknownOrigin}, {"Texture", true, UnknownOrigin}, {"strength MPa", false, UnknownOrigin}, {"Plant oil", false, UnknownOrigin}, {"Baking powder", false, UnknownOrigin},
		{"Aged rum", false, UnknownOrigin}, {"price per day", true, UnknownOrigin}, {"", false, UnknownOrigin}, {"°C", false, UnknownOrigin},
	} {
		if got := GuessOrigin(c.header, c.texts); got != c.want {
			t.Errorf("%q, texts %t: %d, and not %d", c.header, c.texts, got, c.want)
		}
	}
}
