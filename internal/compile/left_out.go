package compile

import (
	"fmt"
	"strings"

	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// maxLeftOutNames is the maximum number of columns that LeftOut names.
const maxLeftOutNames = 6

// LeftOut returns a sentence that says which columns and how many rows of the table of recipes are not used. It is empty
// if all are, or if there is no table.
func (p *Problem) LeftOut() string {
	if p.Book == nil || p.Book.Shape == nil {
		return ""
	}
	var columns, what []string
	for _, c := range p.Book.Shape.Columns {
		if c.Role == dataset.IgnoredColumn && c.Name != "" {
			columns = append(columns, c.Name)
		}
	}
	kind := "column"
	if p.Book.Transposed {
		kind = "row"
	}
	if n := len(columns); n > 0 {
		what = append(what, inputerr.Count(n, kind)+" ("+inputerr.List(columns, maxLeftOutNames)+")")
	}
	if n := len(p.Book.Shape.LeftOut); n > 0 {
		what = append(what, inputerr.Count(n, "row")+fmt.Sprintf(" from line %d on", p.Book.Shape.LeftOut[0].Line))
	}
	if len(what) == 0 {
		return ""
	}
	return "Not used of " + p.Book.File + ": " + strings.Join(what, ", ") + "."
}
