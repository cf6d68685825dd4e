package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// A blockSheet is a sheet on which each recipe is a small table of its own, a block: its name, below it a header such as
// ingredient and g, which all blocks share, and below that its rows. Blocks stand side by side or below each other.
type blockSheet struct {
	header []string // names of the columns of a block
	amount int      // index into header of the column that is read
	rows   [][]string
	places [][]tablefile.Place
	exact  []map[int]bool // by row: set of the fields that a workbook stores as numbers

	starts []int // of blocks without a header: the first fields of those whose names stand in one row

	isCards bool // whether the blocks are cards, each with its name and perhaps other facts in rows of two texts above its header
}

const (
	maxBlockSearchRows = 40  // number of first rows with text among which the header of a block is searched
	maxCardSearchRows  = 400 // the same for cards, of which the second must be found
	minBlocks          = 2   // fewest blocks
)

// A block is the position of a block: the row of its header, its first field, and the row behind its last one.
type block struct {
	name             string
	header, from, to int   // header and to are indices into rows, and from is a field
	facts            []int // of a card: indices of rows above the header that name a fact and its value
}

// unfoldBlocks makes the source yield a column for each recipe and a row for each ingredient if the sheet holds recipes in
// blocks. It adds a note.
func (s *source) unfoldBlocks(units *measure.Units) error {
	b, ok, err := s.readBlocks()
	if !ok || err != nil {
		return err
	}
	blocks := b.find()
	b.chooseAmount(blocks[0], units)
	corner := b.header[0]
	if unit := bareUnit(b.header[b.amount]); isUnitText(unit, units) {
		corner += " (" + unit + ")"
	} else if _, unit := SplitHeaderUnit(b.header[b.amount]); unit != "" {
		corner += " (" + unit + ")"
	}
	cells, places := [][]string{{corner}}, [][]tablefile.Place{{b.places[blocks[0].header][blocks[0].from]}}
	exacts := make(map[[2]int]bool)
	order := b.mergeNames(blocks)
	if (len(order)+1)*(len(blocks)+1) > tablefile.MaxCells {
		return s.errorf("the recipes of the sheet have more than %d cells", tablefile.MaxCells)
	}
	rowOf := make(map[string]int)
	for _, name := range order {
		rowOf[name] = len(cells)
		cells, places = append(cells, append([]string{name}, make([]string, len(blocks))...)), append(places, make([]tablefile.Place, len(blocks)+1))
	}
	for k, block := range blocks {
		cells[0], places[0] = append(cells[0], block.name), append(places[0], b.places[block.header][block.from])
		rows := b.rowsOf(block)
		for i, name := range b.namesOf(block, rows) {
			r, row := rows[i], rowOf[name]
			field := block.from + b.amount
			if r < block.header { // a fact
				field = block.from + 1 + firstFilled(b.rows[r][block.from+1:])
			}
			if field < len(b.rows[r]) {
				cells[row][k+1] = b.rows[r][field]
				exacts[[2]int{row, k + 1}] = b.exact[r][field]
			}
			places[row][k+1] = b.places[r][min(field, len(b.places[r])-1)]
			if places[row][0] == (tablefile.Place{}) {
				places[row][0] = b.places[r][block.from]
			}
		}
	}
	for r := range places {
		for i := range places[r] {
			if places[r][i] == (tablefile.Place{}) {
				places[r][i] = places[r][0]
			}
		}
	}
	s.firstRows = (&grid{cells: cells, places: places, exact: exacts}).rows
	s.rows, s.allowsShortRows, s.hasBlocks = s.firstRows(), true, true
	first := places[0][0]
	message := fmt.Sprintf("each of %d blocks is a recipe, such as %s and %s", len(blocks), inputerr.Quote(blocks[0].name), inputerr.Quote(blocks[1].name))
	if len(b.header) > 2 {
		message += ", with the amounts in " + inputerr.Quote(b.header[b.amount])
	}
	s.notes = append(s.notes, Note{File: s.file, Line: first.Line, Column: first.Column, Cell: first.Cell, Message: message})
	return nil
}

// readBlocks looks for blocks among the first rows. If there are some, it reads the whole sheet.
func (s *source) readBlocks() (b *blockSheet, ok bool, err error) {
	if b, err = s.findBlocks(); b == nil || err != nil {
		return nil, false, err
	}
	if err := s.readInto(b, s.firstRows(), maxProfileRows); err != nil || len(b.find()) < minBlocks {
		return nil, false, nil // no blocks, or reading the table reports a fault
	}
	return b, true, s.readInto(b, s.rows, math.MaxInt)
}

// findBlocks looks for the header of a block, or for the names of blocks without one, among the first rows; it returns nil if
// there is none.
func (s *source) findBlocks() (b *blockSheet, err error) {
	head := s.firstRows()
	var above []string
	counts := make(map[string]int) // by texts of a row that may be the header of a card: number of such rows
	for seen := 0; seen < maxCardSearchRows && b == nil; {
		row, err := head.Next()
		if bad := (*Error)(nil); errors.As(err, &bad) || err == io.EOF {
			break // reading the table reports a fault
		} else if err != nil {
			return nil, err
		}
		if tablefile.IsBlank(row) {
			continue
		}
		texts := trimmed(row)
		if seen++; seen > 1 && seen <= maxBlockSearchRows {
			if b = findBlockHeader(above, texts); b == nil {
				b = findBareBlocks(above, texts)
			}
		}
		if b == nil && isCardHeader(texts) {
			key := strings.Join(texts, "\t")
			if counts[key]++; counts[key] == minBlocks && !isTextColumn(above, texts) {
				b = &blockSheet{header: blockHeader(texts, firstFilled(texts), len(texts)), isCards: true}
			}
		}
		above = texts
	}
	return b, nil
}

// readInto reads rows, at most limit, into a sheet of blocks, in place of those that it has.
func (s *source) readInto(b *blockSheet, rows tablefile.Rows, limit int) error {
	b.rows, b.places, b.exact = nil, nil, nil
	cells := 0
	for len(b.rows) < limit {
		if err := browsersched.Err(s.ctx); err != nil {
			return err
		}
		row, err := rows.Next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if cells += len(row) + 1; cells > tablefile.MaxCells {
			return s.errorf("the sheet has more than %d cells", tablefile.MaxCells)
		}
		exact, places := make(map[int]bool), make([]tablefile.Place, max(len(row), 1))
		texts := make([]string, len(row))
		for i, text := range row {
			texts[i], exact[i] = strings.Clone(strings.TrimSpace(text)), rows.IsNumber(i)
			if rows.IsFilled(i) {
				texts[i] = ""
			}
		}
		for i := range places {
			places[i] = rows.Place(i)
		}
		b.rows, b.places, b.exact = append(b.rows, texts), append(b.places, places), append(b.exact, exact)
	}
	return nil
}

// errorf returns an error about the whole file.
func (s *source) errorf(format string, args ...any) *Error {
	return &Error{File: s.file, Message: fmt.Sprintf(format, args...), Hint: "write a row for each ingredient of each recipe"}
}

// findBlockHeader returns the header of blocks if a row repeats the same names from its first text on, and the row above
// has one text above each of the blocks and no other; else nil.
func findBlockHeader(above, row []string) *blockSheet {
	first := firstFilled(row)
	if first < 0 || isNumberText(row[first]) {
		return nil
	}
	var starts []int
	for i := first; i < len(row); i++ {
		if strings.EqualFold(row[i], row[first]) {
			starts = append(starts, i)
		}
	}
	if len(starts) < minBlocks {
		return nil
	}
	header := blockHeader(row, starts[0], starts[1])
	if len(header) < 2 || !matchesRole(header[0], IngredientColumn) && !slices.ContainsFunc(header[1:], func(name string) bool {
		return matchesRole(name, AmountColumn) || isUnitText(name, measure.UsualUnits())
	}) {
		return nil
	}
	for k, start := range starts {
		end := len(row)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		if !slices.EqualFunc(blockHeader(row, start, end), header, strings.EqualFold) || start >= len(above) || above[start] == "" || isNumberText(above[start]) {
			return nil
		}
	}
	if countFilled(above) != len(starts) {
		return nil
	}
	return &blockSheet{header: header}
}

// findBareBlocks returns the blocks without a header of which a row holds the names and the row below it, for each of them, a
// text and a number; nil if there are none.
func findBareBlocks(names, row []string) *blockSheet {
	var starts []int
	for i, text := range names {
		if text == "" {
			continue
		}
		if isNumberText(text) || i+1 >= len(row) || row[i] == "" || isNumberText(row[i]) || !isNumberText(row[i+1]) || i+1 < len(names) && names[i+1] != "" {
			return nil
		}
		starts = append(starts, i)
	}
	if len(starts) < minBlocks || countFilled(row) != 2*len(starts) {
		return nil
	}
	return &blockSheet{header: []string{"ingredient", ""}, starts: starts}
}

// findBare returns the blocks without a header. A row of names has texts at the first fields of blocks alone, and below
// each is a text with a number behind it.
func (b *blockSheet) findBare() (all []block) {
	open := make(map[int]int)
	for r, row := range b.rows[:max(len(b.rows)-1, 0)] {
		next := b.rows[r+1]
		if found := findBareBlocks(row, next); found == nil && !b.isLastBareRow(row, next) {
			continue
		}
		for i, text := range row {
			if text == "" || !slices.Contains(b.starts, i) {
				continue
			}
			if k, ok := open[i]; ok {
				all[k].to = r
			}
			open[i] = len(all)
			all = append(all, block{name: text, header: r, from: i, to: len(b.rows)})
		}
	}
	if slices.ContainsFunc(all, func(k block) bool { return !b.holdsPairs(k) }) {
		return nil
	}
	return all
}

// holdsPairs reports whether two rows in three of a block, and two at least, are a text with a number behind it.
func (b *blockSheet) holdsPairs(k block) bool {
	rows, pairs := b.rowsOf(k), 0
	for _, r := range rows {
		if row := b.rows[r]; k.from+1 < len(row) && !isNumberText(row[k.from]) && isNumberText(row[k.from+1]) {
			pairs++
		}
	}
	return pairs >= 2 && 3*pairs >= 2*len(rows)
}

// isLastBareRow reports whether a row holds the name of a single block, as the last row of names may.
func (b *blockSheet) isLastBareRow(row, next []string) bool {
	if countFilled(row) != 1 || countFilled(next) != 2 {
		return false
	}
	i := firstFilled(row)
	return slices.Contains(b.starts, i) && i+1 < len(next) && next[i] != "" && !isNumberText(next[i]) && isNumberText(next[i+1]) && i == b.starts[0]
}

// firstFilled returns the index of the first text that is not empty, or −1.
func firstFilled(texts []string) int {
	return slices.IndexFunc(texts, func(text string) bool { return text != "" })
}

// isCardHeader reports whether a row may be the header of a card: the first of its texts is a usual name of ingredients, and
// another one is that of amounts or a unit.
func isCardHeader(row []string) bool {
	first := firstFilled(row)
	return first >= 0 && matchesRole(row[first], IngredientColumn) && slices.ContainsFunc(row[first+1:], func(name string) bool {
		return name != "" && (matchesRole(name, AmountColumn) || isUnitText(name, measure.UsualUnits()))
	})
}

// isTextColumn reports whether a row above the header of a card has another number of texts than a name, or a fact and its
// value, have.
func isTextColumn(above, header []string) bool {
	filled := countFilled(above)
	return filled == 0 || filled > 2 || slices.Equal(above, header)
}

// blockHeader returns the texts of a row from a field on, to another one excluded, without empty ones at the end.
func blockHeader(row []string, from, to int) []string {
	header := row[from:to]
	for len(header) > 0 && header[len(header)-1] == "" {
		header = header[:len(header)-1]
	}
	return header
}

// find returns the blocks in the order of their names on the sheet: row by row, and from left to right.
func (b *blockSheet) find() (all []block) {
	switch {
	case b.isCards:
		return b.findCards()
	case b.starts != nil:
		return b.findBare()
	}
	named := -1 // the last row with text above
	open := make(map[int]int)
	for r, row := range b.rows {
		var starts []int
		for i := range row {
			if i+len(b.header) <= len(row) && slices.EqualFunc(row[i:i+len(b.header)], b.header, strings.EqualFold) && named >= 0 && i < len(b.rows[named]) && b.rows[named][i] != "" {
				starts = append(starts, i)
			}
		}
		for _, from := range starts {
			if k, ok := open[from]; ok {
				all[k].to = min(all[k].to, named)
			}
			open[from] = len(all)
			all = append(all, block{name: b.rows[named][from], header: r, from: from, to: len(b.rows)})
		}
		if !tablefile.IsBlank(row) {
			named = r
		}
	}
	return all
}

// findCards returns the cards in the order of the rows. Above the header of a card, behind an empty row or the beginning of
// the sheet, stand its name, alone or behind a usual name of recipes, and perhaps other facts.
func (b *blockSheet) findCards() (all []block) {
	begin := 0 // the first row behind the last empty one
	for r, row := range b.rows {
		if tablefile.IsBlank(row) {
			begin = r + 1
			continue
		}
		from := firstFilled(row)
		if from+len(b.header) > len(row) || !slices.EqualFunc(row[from:from+len(b.header)], b.header, strings.EqualFold) {
			continue
		}
		k := block{header: r, from: from, to: len(b.rows)}
		for above := begin; above < r; above++ {
			switch texts := slices.DeleteFunc(slices.Clone(b.rows[above]), func(text string) bool { return text == "" }); {
			case len(texts) == 2 && matchesRole(texts[0], RecipeColumn):
				k.name = texts[1]
			case len(texts) == 2:
				k.facts = append(k.facts, above)
			case len(texts) == 1 && (k.name == "" || above == r-1):
				k.name = texts[0]
			}
		}
		if k.name == "" {
			return nil
		}
		if len(all) > 0 {
			all[len(all)-1].to = begin
		}
		all = append(all, k)
	}
	return all
}

// rowsOf returns the indices of the rows of a block that have a name.
func (b *blockSheet) rowsOf(k block) (all []int) {
	all = append(all, k.facts...)
	for r := k.header + 1; r < k.to; r++ {
		if k.from < len(b.rows[r]) && b.rows[r][k.from] != "" {
			all = append(all, r)
		}
	}
	return all
}

// namesOf returns the names in some rows of a block. A name that occurs again gets a number.
func (b *blockSheet) namesOf(k block, rows []int) (names []string) {
	count := make(map[string]int)
	for _, r := range rows {
		name := NormalizeName(b.rows[r][k.from])
		if count[name]++; count[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, count[name])
		}
		names = append(names, name)
	}
	return names
}

// mergeNames returns the names of the rows of all blocks, each once, so that each stands behind that before it in a block.
func (b *blockSheet) mergeNames(blocks []block) (order []string) {
	next := make(map[string]string) // by name: the one behind it; "" stands before the first
	seen := make(map[string]bool)
	for _, k := range blocks {
		last := ""
		for _, name := range b.namesOf(k, b.rowsOf(k)) {
			if !seen[name] {
				next[name], next[last], seen[name] = next[last], name, true
			}
			last = name
		}
	}
	for name := next[""]; name != ""; name = next[name] {
		order = append(order, name)
	}
	return order
}

// chooseAmount chooses the column of amounts: the first that is called so or after a unit of amounts other than %, or else
// the first one with numbers.
func (b *blockSheet) chooseAmount(k block, units *measure.Units) {
	b.amount = 1
	for i := 1; i < len(b.header); i++ {
		unit, ok := units.Lookup(bareUnit(b.header[i]))
		if !ok {
			_, text := SplitHeaderUnit(b.header[i])
			unit, ok = units.Lookup(text)
		}
		if ok && !unit.Kind.IsPercent() || !ok && matchesRole(b.header[i], AmountColumn) {
			b.amount = i
			return
		}
	}
	for i := 1; i < len(b.header); i++ {
		if slices.ContainsFunc(b.rowsOf(k), func(r int) bool {
			return k.from+i < len(b.rows[r]) && isNumberText(b.rows[r][k.from+i])
		}) {
			b.amount = i
			return
		}
	}
}
