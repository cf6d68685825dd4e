package compile

import (
	"testing"

	"kir/rule"
)

// What there is and what is made may be in two units of one kind: those that recipes know.
func TestStockInOtherUnits(t *testing.T) {
	for text, want := range map[string]int{
		"stock: 350 ml, batch: 750 ml":      9,
		"stock: 35 cl, batch: 750 ml":       9,
		"stock: 0.35 l, batch: 75 cl":       9,
		"stock: 350 g, batch: 0.75 kg":      9,
		"stock: 2 cups, batch: 0.96 litres": 10,
	} {
		p, err := loadRules(t, headBook, "  - amount: {of: Gin, "+text+"}\n")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := p.Rules[0].Rules[0].(rule.Amount).Max; got != want {
			t.Errorf("%s: Gin is at most %d of 20, want %d", text, got, want)
		}
	}
}
