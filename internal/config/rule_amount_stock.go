package config

import (
	"math/big"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/rule"
)

// compileStock returns rules with the maximum amounts that the stock allows.
func (r *amountRule) compileStock(d *Data, of []int, text string) ([]Demand, error) {
	batch, unit := new(big.Rat).SetInt64(int64(d.CompositionTotal)), ""
	if v := r.Batch; v != nil {
		var err error
		if batch, unit, err = readQuantity(v, v.Text, "the batch"); err != nil {
			return nil, err
		}
		if batch.Sign() == 0 {
			return nil, yaml.Hint(v.Errorf("the batch is nothing"), "write how much is made")
		}
	}
	v := r.Stock
	most := func(stock *big.Rat) int { // returns ⌊M·stock/batch⌋
		share := new(big.Rat).Quo(stock, batch)
		return roundDown(share.Mul(share, new(big.Rat).SetInt64(int64(d.CompositionTotal))))
	}
	out := Demand{Text: ingredientsText(text) + ": at most the stock of " + v.Text, Stock: make(map[int]int)}
	if d.namesAttribute(v) {
		out.Text = ingredientsText(text) + ": at most its " + inputerr.Quote(v.Text)
	}
	if r.Batch != nil {
		out.Text += ", for a batch of " + r.Batch.Text
	}
	var none []int
	bounded := false
	for _, i := range of {
		var stock *big.Rat
		if d.namesAttribute(v) {
			amount, _, err := d.readAmountCell(v, i)
			if err != nil {
				return nil, err
			}
			if amount == nil {
				continue
			}
			stock = amount
		} else {
			var have string
			var err error
			if stock, have, err = readQuantity(v, v.Text, "the stock"); err != nil {
				return nil, d.addAttributeHint(err, v)
			}
			if r.Batch == nil && have != "" {
				return nil, yaml.Hint(v.Errorf("the stock is in %s, and there is no batch to compare it with", have), "add batch: how much is made, such as 750 %s; without a batch the stock is in units of the total", have)
			}
			if have != unit {
				ratio := d.unitRatio(have, unit)
				if ratio == nil {
					return nil, yaml.Hint(v.Errorf("the stock is in %s and the batch in %s", unitName(have), unitName(unit)), "write both in one unit, such as stock: 350 ml, batch: 750 ml, or in two of a volume, or of a mass")
				}
				stock.Mul(stock, ratio)
			}
		}
		bounded = true
		limit := most(stock)
		out.Stock[i] = limit
		switch {
		case limit == 0:
			none = append(none, i)
		case limit < d.CompositionTotal:
			out.addRule(rule.Amount{Of: []int{i}, Max: limit}, d.IngredientNames[i]+": the stock is enough for at most "+d.amountText(limit))
		}
	}
	if !bounded {
		return nil, yaml.Hint(v.Errorf("the column has no stock of any of them"), "fill in the cells; 0 is none")
	}
	d.excludeUnusable(&out, none, "as there is none, or less than a unit")
	if len(out.Rules) == 1 {
		out.RuleTexts = nil
	}
	return []Demand{out}, nil
}

// unitRatio returns the size of the unit fromUnit divided by the size of toUnit. It returns nil if one unit
// does not convert to the other.
func (d *Data) unitRatio(fromUnit, toUnit string) *big.Rat {
	units := d.Units
	if units == nil {
		units = measure.DefaultUnits()
	}
	a, ok := units.Lookup(fromUnit)
	b, known := units.Lookup(toUnit)
	if !ok || !known || a.Kind != b.Kind {
		return nil
	}
	return new(big.Rat).Quo(a.Size.Rat(), b.Size.Rat())
}

// unitName returns the name of a unit for messages. An empty unit means units of the total.
func unitName(unit string) string {
	if unit == "" {
		return "units of the total"
	}
	return unit
}

// readQuantity parses a number of at least 0 with an optional unit. The parameter what names the quantity in
// errors.
func readQuantity(at *yaml.Node, text, what string) (v *big.Rat, unit string, err error) {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.", r) })
	if end < 0 {
		end = len(text)
	}
	v, ok := parseDecimal(text[:end])
	unit = strings.TrimSpace(text[end:])
	if !ok || strings.ContainsAny(unit, "0123456789%/-") {
		return nil, "", yaml.Hint(at.Errorf("%s is %s", what, at.Describe()), "write how much there is, such as 350 or 350 ml")
	}
	return v, unit, nil
}
