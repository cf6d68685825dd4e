package dataset
import ("testing";"os";"fmt";"bytes")
func TestDbg(t *testing.T) {
	f := os.Getenv("F"); if f == "" { t.Skip() }
	text, _ := os.ReadFile(f)
	u := DefaultUnits()
	tb, err := newTable(bytes.NewReader(text), f, Layout{}, u, isRecipeHeader)
	if err != nil { t.Fatal(err) }
	if tb.isTransposed(Options{}, u) { b := tb; tb, err = b.transpose(Layout{}, u); fmt.Println("turned", err) }
	c := &columnReader{table: tb, units: u, givenRoles: map[int]Role{}, columnByRole: map[Role]int{}, columns: make([]Column, len(tb.header))}
	c.hasPercentNames, c.hasUnitCells = c.mostNamesArePercent, c.mostAmountsHaveUnits
	fmt.Println("long", c.findLongForm())
	for i := range tb.header {
		col, g := c.weighColumn(i)
		p := tb.profiles[i]
		fmt.Printf("%2d %-30q ev %.0f fixed %v kind %v sect %v amounts %d/%d guess %v %s\n", i, tb.header[i], col.evidence, col.isFixed, col.kind, tb.sectionAt(i), p.amountCount, p.filledCount, g.role, g.reason)
	}
}
