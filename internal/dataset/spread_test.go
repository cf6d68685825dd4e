package dataset

import (
	"slices"
	"strings"
	"testing"
)

func TestIsSpread(t *testing.T) {
	for _, c := range []struct {
		header, of string
		is         bool
	}{
		{"stars sd", "stars", true}, {"Stars SD", "stars", true}, {"liking ±", "liking", true}, {"liking±", "liking", true}, {"sd of stars", "stars", true},
		{"stars error", "stars", true}, {"stars_std", "stars", true}, {"SD stars", "stars", true}, {"stars (sd)", "stars", true}, {"standard deviation of stars", "stars", true},
		{"strength sd", "strength (MPa)", true}, {"strength (MPa) sd", "strength (MPa)", true}, {"strength sd (MPa)", "strength (MPa)", true}, {"viscosity mPa·s sd", "viscosity mPa·s", true},
		{"stars", "stars", false}, {"terror", "t", false}, {"stars sd", "taste", false}, {"base", "ba", false}, {"sd", "stars", false},
	} {
		if is := isSpreadOf(c.header, c.of); is != c.is {
			t.Errorf("%q of %q: %v", c.header, c.of, is)
		}
	}
}

// A column of standard deviations, and the one that it is of, are labels and no
// ingredients.
func TestSpreadColumns(t *testing.T) {
	b, err := Read(strings.NewReader("recipe,flour,sugar,hardness,hardness sd,viscosity mPa·s\na,60,40,7,0.5,3\nb,50,50,9,n/a,2\nc,70,30,4,0.1,1\n"), "b.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b.Ingredients.Len() != 2 || len(b.Labels) != 3 {
		t.Fatalf("%v, %d labels", b.Ingredients.Names, len(b.Labels))
	}
	if of := b.SpreadLabels(); !slices.Equal(of, []int{1, -1, -1}) {
		t.Errorf("the standard deviations are in %v", of)
	}
}
