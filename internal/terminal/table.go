package terminal

import (
	"fmt"
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
	for k, heading := range headings {
		row[k] = heading
		align := text.AlignRight
		if k < texts {
			align = text.AlignLeft
		}
		t.columns = append(t.columns, table.ColumnConfig{Number: k + 1, Align: align, AlignHeader: align})
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

// SetMaxWidth makes a column, counted from 0, one of text of at most a width: what is
// longer is broken over lines.
func (t *Table) SetMaxWidth(place, width int) {
	// Not by WidthMax, which makes the column so wide even where lines break sooner.
	wrap := func(cell any) string { return text.WrapSoft(fmt.Sprint(cell), width) }
	t.columns[place] = table.ColumnConfig{Number: place + 1, Align: text.AlignLeft, AlignHeader: text.AlignLeft, Transformer: wrap, TransformerHeader: wrap}
}

// Row adds a row. Text is made plain.
func (t *Table) Row(cells ...any) {
	row := make(table.Row, len(cells))
	for k, c := range cells {
		row[k] = Plain(fmt.Sprint(c))
	}
	t.writer.AppendRow(row)
}

// Write prints the table.
func (t *Table) Write(w io.Writer) error {
	t.writer.SetColumnConfigs(t.columns)
	_, err := io.WriteString(w, t.writer.Render()+"\n")
	return err
}
