package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
)

// readWide reads a row of the wide form.
func (b *builder) readWide() {
	t := b.table
	if (b.recipe < 0 || b.recipeName() == "") && !slices.ContainsFunc(b.parts, func(p widePart) bool { return strings.TrimSpace(t.row[p.column]) != "" }) {
		b.emptyRows.increment(func() place { return t.place(max(b.recipe, 0)) }, "")
		t.noteLeftOut(t.rows.line(max(b.recipe, 0)))
		return
	}
	if b.holdFootnote() || b.skipRow() {
		return
	}
	recipe, isNew, _, ok := b.findRecipe()
	if !ok {
		return
	}
	r := &b.recipes[recipe]
	if !isNew {
		b.addError(b.recipe, "", fmt.Sprintf("recipe %s is there twice: first on line %d", inputerr.Quote(r.Name), r.Line), "remove one of the rows, or rename one")
		return
	}
	used := b.used[:0]
	for _, p := range b.parts {
		text := t.row[p.column]
		if text == "" || text == "0" {
			continue
		}
		if text = strings.TrimSpace(text); text == "" || isDash(text) {
			continue
		}
		name := t.header[p.column]
		q, message, hint := b.readQuantity(p.column, text)
		if message != "" {
			if f, ok := number(text); !ok || f < 0 {
				hint += ", or if " + inputerr.Quote(name) + " is a label, say so: " + Layout{Columns: map[string]Role{name: LabelColumn}}.YAML()
			}
			b.addError(p.column, "", message+" of "+inputerr.Quote(name), hint)
			b.badRecipes[recipe] = true
			if b.faults.isFull() {
				return
			}
			continue
		}
		if q.amount.IsZero() && !q.isRest {
			continue
		}
		part := Part{Ingredient: p.ingredient, Line: int32(min(r.Line, math.MaxInt32)), Amount: q.amount, Unit: p.unit}
		if q.unit != "" {
			part.Unit, _ = b.units.Lookup(q.unit)
		}
		if q.isRest {
			b.addRemainder(recipe, part, p.column, text, len(used))
			continue
		}
		if !b.reconcileUnit(used, &part, p.column) {
			if !b.badRecipes[recipe] { // the others may disagree for the same reason
				b.failMixedUnits(r, &used[0], &part, p.column)
			}
			b.badRecipes[recipe] = true
			continue
		}
		used = append(used, part)
	}
	b.used = used
	r.Parts = slices.Clone(used)
}
