package dataset

import (
	"fmt"
	"math"
	"strings"

	"kir/internal/inputerr"
)

// readLong reads a row of the long form.
func (b *builder) readLong() {
	t := b.table
	if b.holdFootnote() || b.skipRow() {
		return
	}
	recipe, isNew, below, ok := b.findRecipe()
	if !ok {
		return
	}
	r := &b.recipes[recipe]
	if !isNew {
		b.checkSameLabels(recipe, r, below)
	}
	part, isRest, ok := b.longPart(recipe, r)
	if !ok {
		b.badRecipes[recipe] = true
		return
	}
	at := [2]int32{recipe, part.Ingredient}
	if isRest {
		b.addRemainder(recipe, part, b.amount, t.row[b.amount], len(r.Parts))
	}
	if isRest || part.Amount.IsZero() {
		b.lines[at] = part.Line
		return
	}
	field := b.unit
	if field < 0 {
		field = b.amount
	}
	if !b.reconcileUnit(r.Parts, &part, field) {
		b.failMixedUnits(r, &r.Parts[0], &part, field)
		b.badRecipes[recipe] = true
		return
	}
	b.lines[at] = part.Line
	r.Parts = append(r.Parts, part)
}

// checkSameLabels verifies that the current row has the same labels as the recipe's earlier rows.
func (b *builder) checkSameLabels(recipe int32, r *Recipe, below bool) {
	t := b.table
	for i := range b.labels {
		l := &b.labels[i]
		was := l.Value(int(recipe))
		is := t.labelFigure(l.column, NormalizeName(t.row[l.column]))
		if is == was || below && is == "" {
			continue
		}
		if b.reported["label "+l.Name] {
			continue
		}
		b.reported["label "+l.Name] = true
		e := t.errorAt(l.column, fmt.Sprintf("%s of %s changes from %s on line %d to %s", inputerr.Quote(l.Name), inputerr.Quote(r.Name), inputerr.Quote(was), r.Line, inputerr.Quote(is)),
			"write the same in all rows of a recipe or, if it says nothing of recipes, leave it out: "+Layout{Columns: map[string]Role{l.Name: IgnoredColumn}}.YAML())
		b.faults.addChange(e, l.Name)
	}
}

// longPart parses the ingredient, the amount and the unit of the current row.
func (b *builder) longPart(recipe int32, r *Recipe) (part Part, isRest, ok bool) {
	t := b.table
	ok = true
	name := NormalizeName(t.row[b.ingredient])
	if name == "" {
		b.addError(b.ingredient, "", "an ingredient without a name", "name it, or remove the row")
		ok = false
	} else if i, known := b.findIngredient(name, func() place { return t.place(b.ingredient) }); !known {
		b.refuseIngredient(name, t.place(b.ingredient))
		ok = false
	} else {
		part.Ingredient = i
		if first, twice := b.lines[[2]int32{recipe, i}]; twice {
			b.addError(b.ingredient, "", fmt.Sprintf("%s is in %s twice: first on line %d", inputerr.Quote(name), inputerr.Quote(r.Name), first), "put the sum of the amounts into one row")
			ok = false
		}
	}
	part.Line = int32(min(t.rows.line(b.recipe), math.MaxInt32))

	var cell string
	if b.unit >= 0 {
		unit, message, hint := b.findUnit(t.row[b.unit])
		if message != "" {
			b.addError(b.unit, "unit "+NormalizeName(t.row[b.unit]), message, hint)
			ok = false
		}
		part.Unit, cell = unit, NormalizeName(t.row[b.unit])
	}
	text := strings.TrimSpace(t.row[b.amount])
	if text == "" && part.Unit != nil && (part.Unit.Name == "to taste" || isFilling(part.Unit.Name)) {
		text = "1"
	}
	if text == "" && b.unit >= 0 && part.Unit == nil && isFilling(t.row[b.unit]) {
		return part, false, false // the unit's error has been reported
	}
	q, message, hint := b.readQuantity(b.amount, text)
	if message != "" {
		if word := oneWord().ReplaceAllString(text, ""); wordPattern().MatchString(word) && !isFilling(text) && !isUnknown(text) {
			hint += ", 0 for none, or say how much that is: units: {" + YAMLText(word) + ": 1 cl}"
		}
		b.addError(b.amount, "", message, hint)
		return part, false, false
	}
	part.Amount = q.amount
	if q.unit != "" {
		unit, _ := b.units.Lookup(q.unit)
		if cell != "" && part.Unit != nil && *part.Unit != *unit && !isFilling(unit.Name) {
			b.addError(b.amount, "", fmt.Sprintf("the amount %s has the unit %s and the row has %s", inputerr.Quote(text), inputerr.Quote(unit.Name), inputerr.Quote(cell)), "write one unit")
			return part, false, false
		}
		part.Unit = unit
	} else if cell == "" && part.Unit == nil && (q.isRest || !part.Amount.IsZero()) {
		part.Unit = b.amountUnit
	}
	return part, q.isRest, ok
}
