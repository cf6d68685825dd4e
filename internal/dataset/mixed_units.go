package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// A placedPart is a part of a recipe and the position of its unit.
type placedPart struct {
	Part
	place tablefile.Place
}

// reportMixedUnits records the error that the units of a recipe are of several kinds. parts are of the kind of its first
// part, and others of other kinds. The error names the part that differs from most: the first of others, unless these
// are the most and of one kind.
func (b *bookBuilder) reportMixedUnits(r *Recipe, parts []Part, others []placedPart) {
	odd, usual := others[0], parts[0]
	mostOfOneKind := !slices.ContainsFunc(others, func(p placedPart) bool { return p.kind() != others[0].kind() })
	if mostOfOneKind && len(others) > len(parts) {
		odd, usual = placedPart{parts[0], b.placeOf(parts[0], others[0].place)}, others[0].Part
	}
	describe := func(u *measure.Unit) string {
		if u == nil {
			return "no unit"
		}
		return inputerr.Quote(u.Name) + " (" + u.Kind.String() + ")"
	}
	name := b.book.Ingredients.Names[odd.Ingredient]
	message := fmt.Sprintf("%s mixes %s on line %d with %s without a unit", inputerr.Quote(r.Name), describe(usual.Unit), usual.Line, inputerr.Quote(name))
	if odd.Unit != nil {
		message = strings.TrimSuffix(message, "without a unit") + "in " + describe(odd.Unit)
	}
	key := ""
	var fixes []Fix
	if odd.Unit != nil && usual.Unit != nil {
		switch odd, usual := odd.Unit, usual.Unit; {
		case odd.Kind == measure.Mass && usual.Kind == measure.Volume || odd.Kind == measure.Volume && usual.Kind == measure.Mass:
			key = "density" // one fix resolves all such errors
			fixes = append(fixes, Fix{Unit: "g", Size: "0.1 cl", Effect: "takes the density of water for all"})
		case odd.Kind == measure.PieceCount:
			fixes = sizeFixes(odd.Name, "5 "+usual.PlainName())
		case usual.Kind == measure.PieceCount:
			fixes = sizeFixes(usual.Name, "5 "+odd.PlainName())
		}
	}
	without := withoutFix(r.Name, "recipe")
	if column := b.columnOf(odd.Ingredient); column >= 0 {
		if odd.Unit == nil || usual.Unit == nil {
			key = "no unit in " + name // another role of the column resolves all such errors
		}
		fixes = b.orderFixes(column, fixes, without, odd.Unit == b.wideColumns[b.wideColumnOf(odd.Ingredient)].defaultUnit)
	} else {
		fixes = append(fixes, without)
	}
	if key != "" {
		if b.reportedKeys[key] {
			return
		}
		b.reportedKeys[key] = true
	}
	b.faults.add(withFixes(b.table.errorAtPlace(odd.place, message, "use units of one kind in a recipe"), rowStage, fixes...))
}

// columnOf returns the index of the column of an ingredient in the wide form, or −1.
func (b *bookBuilder) columnOf(ingredient int32) int {
	if k := b.wideColumnOf(ingredient); k >= 0 {
		return b.wideColumns[k].column
	}
	return -1
}

// wideColumnOf returns the index into wideColumns of an ingredient, or −1.
func (b *bookBuilder) wideColumnOf(ingredient int32) int {
	return slices.IndexFunc(b.wideColumns, func(p wideColumn) bool { return p.ingredient == ingredient })
}

// placeOf returns the position of a part that was read before. In the wide form the part must be in the current row. In
// the long form the position is the line of the part, in the column of the other part, which like stands for.
func (b *bookBuilder) placeOf(part Part, like tablefile.Place) tablefile.Place {
	if column := b.columnOf(part.Ingredient); column >= 0 {
		return b.table.place(column)
	}
	p := tablefile.Place{Line: int(part.Line)}
	if like.Cell != "" {
		p.Cell = strings.TrimRight(like.Cell, "0123456789") + strconv.Itoa(p.Line)
	}
	return p
}

// orderFixes returns settings that may get past an error of a cell in the wide form: first others, and then those that
// leave out the recipe or take the column for no ingredient. The latter come first if the whole column is at fault.
func (b *bookBuilder) orderFixes(column int, others []Fix, without Fix, wholeColumn bool) []Fix {
	name := b.table.header[column]
	roles := []Fix{roleFix(name, LabelColumn), roleFix(name, IgnoredColumn)}
	if !wholeColumn {
		return slices.Concat(others, []Fix{without}, roles)
	}
	return slices.Concat(others, roles, []Fix{without})
}

// amountFixes returns settings with which a text may be an amount. unit is the unknown unit in the text, if there is one.
// units are names of units in which the size of a unit may be given, the likeliest first.
func (b *bookBuilder) amountFixes(text, unit string, units ...string) (fixes []Fix) {
	if n := measure.FirstNumeral(text); b.table.decimal == measure.AnyDecimal && n.IsAmbiguous() || n != (measure.Numeral{}) && n.PlainForm(b.table.decimal) == "" {
		for _, mark := range []measure.Decimal{measure.DecimalPoint, measure.DecimalComma} {
			if mark != b.table.decimal {
				fixes = append(fixes, Fix{Layout: Layout{Decimal: mark}, Effect: "takes the " + mark.String() + " as the decimal mark"})
			}
		}
	}
	word := measure.WithoutOne(text)
	switch {
	case unit != "":
		return append(fixes, b.unitFixes(unit, units...)...)
	case measure.MeansFillUp(text):
		return append(fixes, b.unitFixes(NormalizeName(text), units...)...)
	case b.book.LongForm && measure.IsWord(word) && !isUnknownMark(text):
		return append(fixes, b.unitFixes(word, units...)...)
	}
	return fixes
}

// unitFixes returns the settings that give an unknown unit a size, in one of units or in cl, g or %. There are none if the
// name is no word, or is nearly that of a known unit.
func (b *bookBuilder) unitFixes(name string, units ...string) []Fix {
	if strings.ContainsAny(name, "0123456789") || len([]rune(name)) < 2 || !measure.MeansFillUp(name) && b.units.Resembled(name) != "" {
		return nil
	}
	var sizes []string
	for _, unit := range append(units, "cl", "g", "%") {
		if size := "9 " + unit; !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	return sizeFixes(name, sizes...)
}

// unitNames returns the name of the unit of the first of parts, if it has one.
func unitNames(parts []Part) []string {
	if len(parts) == 0 || parts[0].Unit == nil {
		return nil
	}
	return []string{parts[0].Unit.Name}
}
