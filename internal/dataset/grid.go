package dataset

import (
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// A grid is a table in memory that was made from a table in a file, such as one with rows and columns exchanged.
type grid struct {
	cells  [][]string          // texts by row and field; row 0 is the header
	places [][]tablefile.Place // by row: positions of the fields in the file; the last one is also that of the fields behind it
	exact  map[[2]int]bool     // set of the {row, field} of cells that a workbook stores as numbers
	filled map[[2]int]bool     // set of the {row, field} of cells that repeat a merged cell
}

// rows returns a reader of the rows of the grid.
func (g *grid) rows() tablefile.Rows {
	place := func(row, field int) tablefile.Place { return g.places[row][min(field, len(g.places[row])-1)] }
	return &tablefile.MemoryRows{Cells: g.cells, PlaceOf: place, NumberCells: g.exact, FilledCells: g.filled}
}

// withGrid returns a table with the same notes that holds a grid.
func (t *table) withGrid(g *grid, l Layout, units *measure.Units) (*table, error) {
	s := *t.source
	s.firstRows = g.rows
	s.rows = s.firstRows()
	s.allowsShortRows = true
	w := &table{source: &s, inMemory: true, leftOut: t.leftOut}
	if err := w.readHeader(0); err != nil {
		return nil, err
	}
	if err := w.buildProfiles(units); err != nil {
		return nil, err
	}
	w.chooseDecimalMark(l.Decimal)
	return w, nil
}
