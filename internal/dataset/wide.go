package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/tablefile"
)

// readWideRow adds the current row of a table in the wide form to the book: one recipe.
func (b *bookBuilder) readWideRow() {
	t := b.table
	if (b.recipeColumn < 0 || b.recipeName() == "") && !slices.ContainsFunc(b.wideColumns, func(p wideColumn) bool { return strings.TrimSpace(t.row[p.column]) != "" }) {
		b.emptyRows.increment(func() tablefile.Place { return t.place(max(b.recipeColumn, 0)) }, "")
		t.noteLeftOut(t.rows.Line(max(b.recipeColumn, 0)), outAsEmpty)
		return
	}
	if b.holdBackFootnote() || b.skipExcludedRow() || b.skipSummaryRow() {
		return
	}
	recipe, isNew, ok := b.findOrAddRecipe()
	if !ok {
		return
	}
	r := &b.recipes[recipe]
	if !isNew {
		b.addError(b.recipeColumn, "", fmt.Sprintf("recipe %s is there twice: first on line %d", inputerr.Quote(r.Name), r.Line), "remove one of the rows, or rename one", b.withoutRow(), roleFix(t.header[b.recipeColumn], LabelColumn))
		return
	}
	used := b.partBuffer[:0]
	var others []placedPart // the parts whose units are of another kind than used
	for _, p := range b.wideColumns {
		text := t.row[p.column]
		if text == "" || text == "0" {
			continue
		}
		if text = strings.TrimSpace(text); text == "" || isDash(text) {
			continue
		}
		name := t.header[p.column]
		if b.book.Transposed && b.reportMergedAmount(p.column, name) {
			b.badRecipes[recipe] = true
			if b.faults.isFull() {
				return
			}
			continue
		}
		q, message, hint := b.readQuantity(p.column, text)
		if message != "" {
			b.addError(p.column, "", message+" of "+inputerr.Quote(name), hint, b.orderFixes(p.column, b.amountFixes(text, q.Unit, unitNames(used)...), b.withoutRecipe(), 2*t.profiles[p.column].amountCount <= t.profiles[p.column].filledCount)...)
			b.badRecipes[recipe] = true
			if b.faults.isFull() {
				return
			}
			continue
		}
		if q.Amount.IsZero() && !q.IsRemainder {
			continue
		}
		part := Part{Ingredient: p.ingredient, Line: int32(min(r.Line, math.MaxInt32)), Amount: q.Amount, Unit: p.defaultUnit}
		if q.Unit != "" {
			part.Unit, _ = b.units.Lookup(q.Unit)
		}
		if q.IsRemainder {
			b.addRemainder(recipe, part, p.column, text, len(used))
			continue
		}
		if !b.reconcileUnit(used, &part, p.column) {
			others = append(others, placedPart{part, t.place(p.column)})
			continue
		}
		used = append(used, part)
	}
	if len(others) > 0 {
		if !b.badRecipes[recipe] { // an unreadable amount may be the reason
			b.reportMixedUnits(r, used, others)
		}
		b.badRecipes[recipe] = true
	}
	b.partBuffer = used
	r.Parts = slices.Clone(used)
}

// withTotal returns a part that makes up the rest of a recipe with the sum of the recipe as the whole, if the part has none
// and a column says what the sum is.
func (b *bookBuilder) withTotal(part Part) Part {
	if b.book.LongForm || b.table.sumColumn < 0 || !part.Amount.IsZero() || part.kind().IsPercent() {
		return part
	}
	q, message, _ := b.readQuantity(b.table.sumColumn, strings.TrimSpace(b.table.row[b.table.sumColumn]))
	if message == "" && !q.IsRemainder && q.Unit == "" {
		part.Amount = q.Amount
	}
	return part
}
