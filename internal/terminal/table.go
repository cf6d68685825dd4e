package terminal

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A Table is a table of aligned columns for a terminal.
type Table struct {
	writer  table.Writer
	columns []table.ColumnConfig
}

// NewTable returns a table with one column for each heading. The first textColumns columns contain
// text and are aligned to the left. The other columns contain numbers and are aligned to the right.
func NewTable(textColumns int, headings ...string) *Table {
	t := &Table{writer: table.NewWriter()}
	row := make(table.Row, len(headings))
	for k, heading := range headings {
		row[k] = heading
		align := text.AlignRight
		if k < textColumns {
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

// SetMaxWidth sets the maximum width of the column with the given index. The column is then aligned
// to the left, and longer text is broken into lines.
func (t *Table) SetMaxWidth(column, width int) {
	// Not by WidthMax, which makes the column so wide even where lines break sooner.
	wrap := func(cell any) string { return text.WrapSoft(fmt.Sprint(cell), width) }
	t.columns[column] = table.ColumnConfig{Number: column + 1, Align: text.AlignLeft, AlignHeader: text.AlignLeft, Transformer: wrap, TransformerHeader: wrap}
}

// Row adds a row to the table. It escapes control characters in the cells.
func (t *Table) Row(cells ...any) {
	row := make(table.Row, len(cells))
	for k, c := range cells {
		row[k] = EscapeControls(fmt.Sprint(c))
	}
	t.writer.AppendRow(row)
}

// Write writes the table to w.
func (t *Table) Write(w io.Writer) error {
	t.writer.SetColumnConfigs(t.columns)
	_, err := io.WriteString(w, t.writer.Render()+"\n")
	return err
}
