package dataset

import (
	"fmt"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/tablefile"
)

// A footnote is a row with text in a single cell. Such rows at the end of the table are left out.
// If other rows follow, the footnote is an error.
type footnote struct {
	text      string          // text of the cell
	place     tablefile.Place // position of the cell
	rowErrors []*Error        // errors to report if the row is not a footnote after all
}

// remarkPattern matches texts that begin like a remark, such as * or Note, and so cannot be names.
var remarkPattern = lazyPattern(`(?i)^(?:[*†‡§¹²³#]|\(\d\)|(?:notes?|n\.?b|source|sources|anm|anmerkung(?:en)?|hinweise?|quellen?|remarques?|notas?|fuente|fonte)\b)`)

// footnoteFormat is the format of the note that a row is taken for a footnote. Its argument is the
// quoted text.
const footnoteFormat = "%s, which stands alone in its row, is taken for a remark and left out"

// holdBackFootnote holds back the current row if it may be a footnote, and reports whether it does.
// Otherwise the rows held back before are not at the end. In the wide form they are headings and left out. In the
// long form they are errors.
func (b *bookBuilder) holdBackFootnote() bool {
	t := b.table
	at := -1
	if t.hasSingleCell(t.row) {
		for i, text := range t.row {
			if strings.TrimSpace(text) != "" {
				at = i
			}
		}
	}
	amounts := at == b.amountColumn || at == b.ingredientColumn
	for _, p := range b.wideColumns {
		amounts = amounts || at == p.column
	}
	if at < 0 || amounts && !remarkPattern().MatchString(NormalizeName(t.row[at])) {
		if b.book.LongForm || !b.allowsNewIngredients {
			b.reportHeldFootnotes()
		} else {
			b.leaveOutHeldRows() // headings within the table
		}
		return false
	}
	if b.heldRowCount++; len(b.heldFootnotes) >= maxErrors {
		return true
	}
	n := footnote{text: strings.Clone(NormalizeName(t.row[at])), place: t.place(at)}
	switch {
	case t.shortRowErr != nil:
		n.rowErrors = []*Error{t.shortRowErr}
	case b.book.LongForm:
		n.rowErrors = []*Error{
			withFixes(t.errorAtField(b.ingredientColumn, "an ingredient without a name", "name it, or remove the row"), rowStage, b.withoutRow()),
			withFixes(t.errorAtField(b.amountColumn, "no amount", "write a number such as 4.5, or 0 for an ingredient that is not used"), rowStage, b.withoutRow()),
		}
	default:
		n.rowErrors = []*Error{withFixes(t.errorAtPlace(n.place, "the amounts of "+inputerr.Quote(n.text)+" add up to 0", "give at least one ingredient an amount above 0, or remove the recipe"), rowStage, b.withoutRow())}
	}
	b.heldFootnotes = append(b.heldFootnotes, n)
	return true
}

// reportHeldFootnotes records the errors of the rows that were held back, because those rows are
// not footnotes.
func (b *bookBuilder) reportHeldFootnotes() {
	for _, n := range b.heldFootnotes {
		for _, e := range n.rowErrors {
			b.faults.add(e)
		}
	}
	b.heldFootnotes, b.heldRowCount = b.heldFootnotes[:0], 0
}

// dropHeldFootnotes leaves out the rows that are still held back at the end of the table, with a
// note. If the table has no recipe, it reports them as errors instead.
func (b *bookBuilder) dropHeldFootnotes() {
	if len(b.heldFootnotes) == 0 {
		return
	}
	if len(b.recipes) == 0 {
		b.reportHeldFootnotes()
		return
	}
	b.leaveOutHeldRows()
}

// leaveOutHeldRows leaves out the rows that are held back, with a note.
func (b *bookBuilder) leaveOutHeldRows() {
	if len(b.heldFootnotes) == 0 {
		return
	}
	for _, n := range b.heldFootnotes {
		b.table.noteLeftOut(n.place.Line, outAsHeading)
	}
	message := fmt.Sprintf(footnoteFormat, inputerr.Quote(b.heldFootnotes[0].text))
	if b.heldRowCount > 1 {
		message += ", and so " + isOrAre(b.heldRowCount-1) + " " + inputerr.Count(b.heldRowCount-1, "row") + " like it"
	}
	b.table.addNote(b.heldFootnotes[0].place, message, "")
	b.heldFootnotes, b.heldRowCount = b.heldFootnotes[:0], 0
}
