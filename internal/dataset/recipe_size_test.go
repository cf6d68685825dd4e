package dataset

import (
	"strings"
	"testing"
)

// TestRecipeSize: the unit is that of most amounts, and the size the median of the recipes that are
// all in units of its kind; amounts in percent or without a unit have none.
func TestRecipeSize(t *testing.T) {
	for _, c := range []struct {
		table, unit string
		median      float64
	}{
		{"r1,a,3,cl\nr1,b,6,cl\nr2,a,40,ml\nr3,a,2,cl\nr3,b,3,cl\n", "cl", 5},
		{"r1,a,3,g\nr1,b,7,g\nr2,a,1,kg\n", "g", 1000},
		{"r1,a,3,cl\nr1,b,1,dash\nr2,a,8,cl\n", "cl", 8.0},
		{"r1,a,30,%\nr1,b,70,%\n", "", 0},
		{"r1,a,30,\nr1,b,70,\n", "", 0},
	} {
		b, err := Read(strings.NewReader("recipe,ingredient,amount,unit\n"+c.table), "t.csv", Options{})
		if err != nil {
			t.Errorf("%s: %v", c.table, err)
			continue
		}
		size, ok := b.RecipeSize()
		if ok != (c.unit != "") || ok && (size.Unit.Name != c.unit || size.Median != c.median) {
			t.Errorf("%sa recipe is %+v, %v; want %v %s", c.table, size, ok, c.median, c.unit)
		}
	}
}
