package dataset

import (
	"fmt"
	"strings"
	"testing"
)

// TestSubset: a subset has the recipes and the values of the labels that it was asked for, in its order, and classes and
// counts of these alone; the book stays as it is.
func TestSubset(t *testing.T) {
	b, err := Read(strings.NewReader("recipe,Gin,Tonic,taste,liking\na,10,90,dry,3\nb,20,80,sweet,\nc,30,70,dry,5\nd,40,60,bitter,4\n"), "book.csv", Options{Labels: []string{"taste", "liking"}})
	if err != nil {
		t.Fatal(err)
	}
	said := func(b *Book) (text string) {
		for k, r := range b.Recipes {
			text += r.Name + ":"
			for _, l := range b.Labels {
				text += " " + l.Value(k)
			}
			text += "; "
		}
		for _, l := range b.Labels {
			text += fmt.Sprint(l.Classes, l.Counts, l.MissingCount(), l.IsNumeric(), " ")
		}
		return text
	}
	before := said(b)
	s := b.Subset([]int{2, 1, 0})
	if got, want := said(s), "c: dry 5; b: sweet ; a: dry 3; [dry sweet] [2 1] 0 false [3 5] [1 1] 1 true "; got != want {
		t.Errorf("%s, and not %s", got, want)
	}
	if said(b) != before {
		t.Error("the book changed")
	}
	if got := said(b.Subset(nil)); !strings.HasPrefix(got, "[] [] 0") {
		t.Errorf("of no recipes: %s", got)
	}
}
