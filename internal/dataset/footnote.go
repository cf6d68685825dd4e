package dataset

import (
	"fmt"
	"strings"

	"kir/internal/inputerr"
)

// A footnote is a row with a text and nothing else. Below the table it is left out; above other
// rows it is an error.
type footnote struct {
	text  string
	place place
	wrong []*Error
}

// remarkPattern matches beginnings of texts that cannot be names.
var remarkPattern = pattern(`(?i)^(?:[*†‡§¹²³#]|\(\d\)|(?:notes?|n\.?b|source|sources|anm|anmerkung(?:en)?|hinweise?|quellen?|remarques?|notas?|fuente|fonte)\b)`)

// footnoteNote is the note about a footnote.
const footnoteNote = "%s, which stands alone in its row, is taken for a remark and left out"

// holdFootnote holds back the current row if it may be a footnote. If it is not, rows held back
// before are errors.
func (b *builder) holdFootnote() bool {
	t := b.table
	at := -1
	if t.hasSingleCell(t.row) {
		for i, text := range t.row {
			if strings.TrimSpace(text) != "" {
				at = i
			}
		}
	}
	amounts := at == b.amount || at == b.ingredient
	for _, p := range b.parts {
		amounts = amounts || at == p.column
	}
	if at < 0 || amounts && !remarkPattern().MatchString(NormalizeName(t.row[at])) {
		b.refuseFootnotes()
		return false
	}
	if b.footnoteCount++; len(b.footnotes) >= mostErrors {
		return true
	}
	n := footnote{text: strings.Clone(NormalizeName(t.row[at])), place: t.place(at)}
	switch {
	case t.shortRowErr != nil:
		n.wrong = []*Error{t.shortRowErr}
	case b.book.Long:
		n.wrong = []*Error{
			t.errorAt(b.ingredient, "an ingredient without a name", "name it, or remove the row"),
			t.errorAt(b.amount, "no amount", "write a number such as 4.5, or 0 for an ingredient that is not used"),
		}
	default:
		n.wrong = []*Error{t.errorIn(n.place, "the amounts of "+inputerr.Quote(n.text)+" add up to 0", "give at least one ingredient an amount above 0, or remove the recipe")}
	}
	b.footnotes = append(b.footnotes, n)
	return true
}

// refuseFootnotes reports the rows held back as errors.
func (b *builder) refuseFootnotes() {
	for _, n := range b.footnotes {
		for _, e := range n.wrong {
			b.faults.add(e)
		}
	}
	b.footnotes, b.footnoteCount = b.footnotes[:0], 0
}

// endFootnotes leaves out the rows held back at the end of the table.
func (b *builder) endFootnotes() {
	if len(b.footnotes) == 0 {
		return
	}
	if len(b.recipes) == 0 {
		b.refuseFootnotes()
		return
	}
	for _, n := range b.footnotes {
		b.table.noteLeftOut(n.place.line)
	}
	message := fmt.Sprintf(footnoteNote, inputerr.Quote(b.footnotes[0].text))
	if b.footnoteCount > 1 {
		message += ", and so " + verbFor(b.footnoteCount-1) + " " + inputerr.Count(b.footnoteCount-1, "row") + " like it"
	}
	b.table.addDoubt(b.footnotes[0].place, message)
}
