package dataset

import "testing"

// TestHeadUnit: what stands in brackets is a unit if it can be one, and no scale or remark.
func TestHeadUnit(t *testing.T) {
	for header, want := range map[string][2]string{
		"cost €/kg": {"cost", "€/kg"}, "Price (€/l)": {"Price", "€/l"}, "viscosity [mPa·s]": {"viscosity", "mPa·s"}, "strength, MPa": {"strength", "MPa"},
		"GWP kg CO2e/m3": {"GWP", "kg CO2e/m3"}, "Water (kg/m3)": {"Water", "kg/m3"}, "AE (oz/cwt)": {"AE", "oz/cwt"}, "Slump (in)": {"Slump", "in"}, "pH": {"pH", ""},
		"Rating (1-10)": {"Rating", ""}, "Rating [1 to 5]": {"Rating", ""}, "score/10": {"score", ""}, "liking (0–100)": {"liking", ""},
		"liking (mean of 8)": {"liking (mean of 8)", ""}, "liking (of 10)": {"liking (of 10)", ""}, "viscosity (25 °C)": {"viscosity (25 °C)", ""}, "haze (after 24 h)": {"haze (after 24 h)", ""},
		"stable (n=3)": {"stable (n=3)", ""}, "yield (±2)": {"yield (±2)", ""}, "taste (stars)": {"taste", "stars"}, "Turbidity_NTU": {"Turbidity", "NTU"}, "x_m": {"x_m", ""}, "What goes in": {"What goes in", ""}, "strength psi": {"strength", "psi"}, "cost (%)": {"cost", "%"},
	} {
		if name, unit := SplitHeaderUnit(header); name != want[0] || unit != want[1] {
			t.Errorf("%q is %q in %q, want %q", header, name, unit, want)
		}
	}
}
