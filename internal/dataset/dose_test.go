package dataset

import (
	"slices"
	"strings"
	"testing"
)

func TestDoses(t *testing.T) {
	book, err := Read(strings.NewReader("recipe,Ice,Gin,Rye\nA,,1,3\nB,,1,1\nC,,2,\nD,,9,1\n"), "book.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := book.Doses(100)
	want := []Dose{{Ingredient: 1, RecipeCount: 4, MinUnits: 25, MedianUnits: 50, MaxUnits: 100}, {Ingredient: 2, RecipeCount: 3, MinUnits: 10, MedianUnits: 50, MaxUnits: 75}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := book.Doses(1); err == nil {
		t.Error("two ingredients shared one unit")
	}
}
