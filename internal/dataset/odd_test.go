package dataset

import (
	"fmt"
	"strings"
	"testing"

	"kir/internal/inputerr"
)

// ratedTable is a table of 40 recipes with a rating, of which some cells are others.
func ratedTable(cells ...string) string {
	var b strings.Builder
	b.WriteString("recipe,Gin,Rum,rating\n")
	for r := range 40 {
		cell := fmt.Sprint(1 + float64(r*7%13)/2)
		if r < len(cells) {
			cell = cells[r]
		}
		fmt.Fprintf(&b, "r%d,%d,%d,%q\n", r, 1+r%7, 2+r%5, cell)
	}
	return b.String()
}

// TestCellsThatAreNoNumbers: a label of numbers stays one in spite of a few cells that are none.
// Each of these is named by its place, and left out it is a label of numbers again.
func TestCellsThatAreNoNumbers(t *testing.T) {
	for _, c := range []struct{ cells, odd []string }{
		{[]string{"8?"}, []string{"8?"}},
		{[]string{"<5", "85 ± 6", "12.5*", "~8", "8 +/- 1", "(7)", "curdled"}, []string{"~8", "(7)", "curdled"}},
		{[]string{"5 %", "8?"}, []string{"5 %", "8?"}},
		{[]string{"n/a", "-", "?", "NaN", "", "k. A.", "1,5"}, nil},
		{[]string{"8?", "-", "?", "NaN", "", "#N/A", "1,5"}, []string{"8?"}},
		{[]string{"failed", "unstable", "-"}, nil},
		{strings.Split(strings.Repeat("±1 ± 1,", 40), ",")[:40], nil}, // no number begins
	} {
		b, err := Read(strings.NewReader(ratedTable(c.cells...)), "b.csv", Options{})
		if err != nil {
			t.Fatal(err)
		}
		l, ok := b.Label("rating")
		if !ok {
			t.Fatalf("%q: there is no label", c.cells)
		}
		var odd, without []string
		err = TryFixes(b.CheckNumbers(), Options{}, func(o Options) (*Book, error) {
			b, err := Read(strings.NewReader(ratedTable(c.cells...)), "b.csv", o)
			if err != nil {
				return nil, err
			}
			return b, b.CheckNumbers()
		})
		for _, e := range inputerr.All(err) {
			text := ratedTable(c.cells...)
			line := strings.Split(text, "\n")[e.Line-1]
			name, _, _ := strings.Cut(line, ",")
			cell := strings.Trim(line[strings.LastIndex(line, ",")+1:], `"`)
			odd, without = append(odd, cell), append(without, name)
			if !strings.HasPrefix(e.Message, inputerr.Quote(cell)+` in "rating" is not a number, while `) || !strings.Contains(e.Hint, Layout{Unknown: []string{cell}}.YAML()) {
				t.Errorf("%q on line %d: %v", cell, e.Line, e)
			}
		}
		if fmt.Sprintf("%q", odd) != fmt.Sprintf("%q", c.odd) {
			t.Errorf("%q: no numbers are %q", c.cells, odd)
		}
		if len(c.odd) > 0 {
			if _, _, err := l.Measurements(); len(inputerr.All(err)) != len(c.odd) {
				t.Errorf("%q: as numbers it is %v", c.cells, err)
			}
			if _, _, err := l.Measurements(c.odd...); err != nil {
				t.Errorf("%q: where these say that a recipe failed it is %v", c.cells, err)
			}
		}
		if b, err = Read(strings.NewReader(ratedTable(c.cells...)), "b.csv", Options{Layout: Layout{Without: without}}); err != nil {
			t.Fatal(err)
		}
		if l, _ = b.Label("rating"); b.CheckNumbers() != nil || !strings.HasPrefix(c.cells[0], "±") && !l.IsMeasurement() {
			t.Errorf("%q without %q: classes are %q, %v", c.cells, without, l.Classes, b.CheckNumbers())
		}
	}
}

// TestClassesAmongNumbers: a label of classes is none of numbers because some look like one.
func TestClassesAmongNumbers(t *testing.T) {
	cells := make([]string, 40)
	for r := range cells {
		cells[r] = []string{"A1", "7", "dry", "B2", "3"}[r%5]
	}
	b, err := Read(strings.NewReader(ratedTable(cells...)), "b.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if l, _ := b.Label("rating"); b.CheckNumbers() != nil || len(l.Classes) != 5 {
		t.Errorf("the classes are %q, %v", l.Classes, b.CheckNumbers())
	}
}

// TestCellsThatAreNoNumbersOfRows: in the long form a cell is named once for its recipe.
func TestCellsThatAreNoNumbersOfRows(t *testing.T) {
	text := "recipe,ingredient,amount,rating\n"
	for r := range 10 {
		rating := fmt.Sprint(r)
		if r == 4 {
			rating = "8?"
		}
		text += fmt.Sprintf("r%d,Gin,1,%s\nr%d,Rum,2,%s\n", r, rating, r, rating)
	}
	b, err := Read(strings.NewReader(text), "b.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.CheckNumbers(); err == nil || !strings.HasPrefix(err.Error(), `b.csv:10:10: "8?" in "rating" is not a number, while 9 others are: `) {
		t.Errorf("it says %v", err)
	}
}

// TestAttributeThatIsNoNumber: a column of the ingredients that is text for one cell says so.
func TestAttributeThatIsNoNumber(t *testing.T) {
	in, err := ReadIngredients(strings.NewReader("name,price\nGin,20\nRum,15?\nLime,3\nSugar,1\n"), "shelf.csv", Layout{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(in.Notes); got != `[shelf.csv:3:5: "15?" in "price" is not a number, while most others are: the column is read as text]` {
		t.Errorf("the notes are %s", got)
	}
}
