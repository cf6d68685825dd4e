package dataset

import (
	"fmt"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// legendPattern matches what a legend says of a unit, as in 1 dash = 1 ml. Groups 1 and 2 are the unit and its size.
var legendPattern = lazyPattern(`(?i)(?:^|[\s,;:(])(?:1\s*)?(\pL[\pL ]{0,20}?)\.?\s*[=≈~]\s*([0-9]+(?:[.,][0-9]+)?\s*(?:ml|cl|dl|g|oz))\b`)

// legendUnits returns the units with the sizes that a legend above or below the table gives those without a standard size,
// such as a dash, unless the units have another size than usual already. It adds a note for each.
func (t *table) legendUnits(units *measure.Units) *measure.Units {
	head := t.firstRows()
	for row := range readableRows(head, maxProfileRows) {
		if len(row) == 0 || countFilled(row) != 1 || !strings.ContainsAny(strings.Join(row, ""), "=≈~") {
			continue
		}
		for _, m := range legendPattern().FindAllStringSubmatch(firstText(row), -1) {
			name, size := strings.TrimSpace(m[1]), strings.ReplaceAll(m[2], ",", ".")
			usual, loose := measure.UsualUnits().Lookup(name)
			now, ok := units.Lookup(name)
			if !loose || !ok || usual.AsMass == nil || now.Size != usual.Size {
				continue
			}
			number := strings.TrimRight(size, "mlcdgoz ")
			with, err := units.With(name, number+" "+strings.TrimSpace(size[len(number):]))
			if err != nil {
				continue
			}
			units = with
			t.addNote(head.Place(0), fmt.Sprintf("1 %s is %s, as the table says", inputerr.Quote(name), size), "")
		}
	}
	return units
}
