package dataset

import (
	"strings"
	"testing"
)

// Rows that describe others, or have no amounts, are left out and asked about. including takes them in.
func TestSummaryRows(t *testing.T) {
	t.Parallel()
	const head, body = "recipe,Gin,Rum,Ice,liking\n", "A,1,2,3,7\nB,2,2,2,5\nC,3,2,1,6\nD,2,3,1,4\nE,1,1,4,6\n"
	for _, test := range []struct {
		row, says string
	}{
		{"Mean,1.8,2,2.2,5.6\n", "a mean or a standard deviation"},
		{"Moyenne,1.8,2,2.2,5.6\n", "a mean or a standard deviation"},
		{"Spec max,,,,8\n", "limit or an explanation"},
		{"Sollwert,,,,8\n", "limit or an explanation"},
		{"Price (€/kg),12,9,1,\n", "prices"},
		{"Heading,,,,\n", "stands alone in its row"},
		{"Benchmark,,,,5\n", "left out"},
	} {
		b, err := Read(strings.NewReader(head+body+test.row), "b.csv", Options{})
		if err != nil {
			t.Errorf("%q: %v", test.row, err)
			continue
		}
		said := ""
		for _, n := range b.Notes {
			if n.Doubtful || strings.Contains(n.Message, "stands alone in its row") { // a row of one text has no amounts to take in
				said += n.Message + "\n"
			}
		}
		if len(b.Recipes) != 5 || !strings.Contains(said, test.says) {
			t.Errorf("%q: %d recipes, and it says %q", test.row, len(b.Recipes), said)
		}
	}
	for _, name := range []string{"Target", "Maximum", "Mean"} {
		row := name + ",1,2,3,4\n"
		b, err := Read(strings.NewReader(head+body+row), "b.csv", Options{Layout: Layout{Including: []string{name}}})
		if err != nil || len(b.Recipes) != 6 {
			t.Errorf("%q is not taken in: %v", name, err)
		}
	}
	if b, err := Read(strings.NewReader(head+body+"Target,1,2,3,4\n"), "b.csv", Options{}); err != nil || len(b.Recipes) != 6 {
		t.Errorf("a recipe called Target, which has amounts, is left out: %v", err)
	}
}

// A short row, in which the name of the recipe would stand behind its end, is left out.
func TestShortRowBeforeNames(t *testing.T) {
	t.Parallel()
	for _, rows := range []string{"Series 2\n", "Series 2,\n", "* note\n"} {
		b, err := Read(strings.NewReader("No.,recipe,Gin,Rum\n1,A,1,2\n2,B,2,1\n"+rows), "b.csv", Options{})
		if err != nil || len(b.Recipes) != 2 {
			t.Errorf("%q: %v", rows, err)
		}
	}
}
