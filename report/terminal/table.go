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

// NewTable returns a table with the given headings.
func NewTable(headings ...string) *Table {
	t := &Table{writer: table.NewWriter()}
	row := make(table.Row, len(headings))
	for k, h := range headings {
		row[k] = h
		t.columns = append(t.columns, table.ColumnConfig{Number: k + 1})
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

// AlignRight sets columns, counted from 0, flush right, as numbers are read.
func (t *Table) AlignRight(columns ...int) {
	for _, c := range columns {
		t.columns[c].Align = text.AlignRight
		t.columns[c].AlignHeader = text.AlignRight
	}
}

// Widest bounds the width of a column, counted from 0: what is longer is
// broken over lines.
func (t *Table) Widest(column, width int) {
	t.columns[column].WidthMax = width
	t.columns[column].WidthMaxEnforcer = text.WrapSoft
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
