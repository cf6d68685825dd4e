package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
)

// readWideRow adds the current row of a table in the wide form to the book: one recipe.
func (b *bookBuilder) readWideRow() {
	t := b.table
	if (b.recipeColumn < 0 || b.recipeName() == "") && !slices.ContainsFunc(b.wideColumns, func(p wideColumn) bool { return strings.TrimSpace(t.row[p.column]) != "" }) {
		b.emptyRows.increment(func() place { return t.place(max(b.recipeColumn, 0)) }, "")
		t.noteLeftOut(t.rows.line(max(b.recipeColumn, 0)))
		return
	}
	if b.holdBackFootnote() || b.skipExcludedRow() || b.skipSummaryRow() {
		return
	}
	recipe, isNew, _, ok := b.findOrAddRecipe()
	if !ok {
		return
	}
	r := &b.recipes[recipe]
	if !isNew {
		b.addError(b.recipeColumn, "", fmt.Sprintf("recipe %s is there twice: first on line %d", inputerr.Quote(r.Name), r.Line), "remove one of the rows, or rename one")
		return
	}
	used := b.partBuffer[:0]
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
			if f, ok := parseNumber(text); !ok || f < 0 {
				hint += ", or if " + inputerr.Quote(name) + " is a label, say so: " + Layout{Columns: map[string]Role{name: LabelColumn}}.YAML()
			}
			b.addError(p.column, "", message+" of "+inputerr.Quote(name), hint)
			b.badRecipes[recipe] = true
			if b.faults.isFull() {
				return
			}
			continue
		}
		if q.amount.IsZero() && !q.isRemainder {
			continue
		}
		part := Part{Ingredient: p.ingredient, Line: int32(min(r.Line, math.MaxInt32)), Amount: q.amount, Unit: p.defaultUnit}
		if q.unit != "" {
			part.Unit, _ = b.units.Lookup(q.unit)
		}
		if q.isRemainder {
			b.addRemainder(recipe, part, p.column, text, len(used))
			continue
		}
		if !b.reconcileUnit(used, &part, p.column) {
			if !b.badRecipes[recipe] { // the others may disagree for the same reason
				b.reportMixedUnits(r, &used[0], &part, p.column)
			}
			b.badRecipes[recipe] = true
			continue
		}
		used = append(used, part)
	}
	b.partBuffer = used
	r.Parts = slices.Clone(used)
}

// withTotal returns a part that makes up the rest of a recipe with the sum of the recipe as the whole, if the part has none
// and a column says what the sum is.
func (b *bookBuilder) withTotal(part Part) Part {
	if b.book.LongForm || b.table.sumColumn < 0 || !part.Amount.IsZero() || part.kind().isPercent() {
		return part
	}
	q, message, _ := b.readQuantity(b.table.sumColumn, strings.TrimSpace(b.table.row[b.table.sumColumn]))
	if message == "" && !q.isRemainder && q.unit == "" {
		part.Amount = q.amount
	}
	return part
}
