package terminal

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A Table is rows of cells in columns of equal width, for a terminal.
type Table struct {
	writer  table.Writer
	columns []table.ColumnConfig
}

// NewTable returns a table with the given headings. The first columns, as many as
// are said, hold text, the others numbers, which are set flush right.
func NewTable(texts int, headings ...string) *Table {
	t := &Table{writer: table.NewWriter()}
	row := make(table.Row, len(headings))
	for k, h := range headings {
		row[k] = h
		c := table.ColumnConfig{Number: k + 1}
		if k >= texts {
			c.Align, c.AlignHeader = text.AlignRight, text.AlignRight
		}
		t.columns = append(t.columns, c)
	}
	t.writer.AppendHeader(row)
	style := table.StyleDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	style.Options = table.OptionsNoBordersAndSeparators
	t.writer.SetStyle(style)
	t.writer.SuppressTrailingSpaces()
	return t
}

// Widest makes a column, counted from 0, one of text of at most a width: what is
// longer is broken over lines.
func (t *Table) Widest(column, width int) {
	t.columns[column] = table.ColumnConfig{Number: column + 1, WidthMax: width, WidthMaxEnforcer: text.WrapSoft}
}

// Row adds a row. Text is made plain.
func (t *Table) Row(cells ...any) {
	row := make(table.Row, len(cells))
	for k, c := range cells {
		if s, ok := c.(string); ok {
			c = Plain(s)
		}
		row[k] = c
	}
	t.writer.AppendRow(row)
}

// Write prints the table.
func (t *Table) Write(w io.Writer) error {
	t.writer.SetColumnConfigs(t.columns)
	_, err := io.WriteString(w, t.writer.Render()+"\n")
	return err
}
