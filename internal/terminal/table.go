package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// A Table is rows of cells in columns of equal width, for a terminal.
type Table struct {
	columns []column
	rows    [][]string
}

// A column says how its cells are set.
type column struct {
	align    text.Align
	maxWidth int // 0: as wide as need be
}

// NewTable returns a table with the given headings. The first columns, as many as
// are said, hold text, the others numbers, which are set flush right.
func NewTable(texts int, headings ...string) *Table {
	t := &Table{columns: make([]column, len(headings)), rows: [][]string{headings}}
	for k := range t.columns {
		t.columns[k].align = text.AlignLeft
		if k >= texts {
			t.columns[k].align = text.AlignRight
		}
	}
	return t
}

// SetMaxWidth makes a column, counted from 0, one of text of at most a width: what is
// longer is broken over lines.
func (t *Table) SetMaxWidth(place, width int) {
	t.columns[place] = column{align: text.AlignLeft, maxWidth: width}
}

// Row adds a row. Text is made plain.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(cells))
	for k, c := range cells {
		row[k] = Plain(fmt.Sprint(c))
	}
	t.rows = append(t.rows, row)
}

// Write prints the table.
func (t *Table) Write(w io.Writer) error {
	broken := make([][][]string, len(t.rows)) // into lines, of each row and cell
	widths := make([]int, len(t.columns))
	for r, row := range t.rows {
		broken[r] = make([][]string, len(row))
		for k, cell := range row {
			if widest := t.columns[k].maxWidth; widest > 0 {
				cell = text.WrapSoft(cell, widest)
			}
			broken[r][k] = strings.Split(cell, "\n")
			for _, line := range broken[r][k] {
				widths[k] = max(widths[k], Width(line))
			}
		}
	}
	var b strings.Builder
	for _, row := range broken {
		for n, more := 0, true; more; n++ {
			var line strings.Builder
			more = false
			for k, lines := range row {
				cell := ""
				if n < len(lines) {
					cell = lines[n]
				}
				more = more || n+1 < len(lines)
				line.WriteString(t.columns[k].align.Apply(cell, widths[k]) + "  ")
			}
			b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
