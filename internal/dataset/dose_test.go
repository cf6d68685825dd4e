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
	want := []Dose{{Ingredient: 1, Recipes: 4, Least: 25, Median: 50, Most: 100}, {Ingredient: 2, Recipes: 3, Least: 10, Median: 50, Most: 75}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := book.Doses(1); err == nil {
		t.Error("two ingredients shared one unit")
	}
}
