package config

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/internal/number"
)

// ReadUnits decodes an amount of at least minUnits units. The node has a number of units, or a percentage of
// the total that is a whole number of units. The parameter what names the amount in errors.
func (d *Data) ReadUnits(n *yaml.Node, what string, minUnits int) (int, error) {
	total := d.Total
	if n.Kind != yaml.Text {
		v, err := n.Whole(what, minUnits, total)
		if share, float := n.Float(what); err != nil && float == nil && share > 0 && share < float64(total) && share != math.Trunc(share) {
			way := fmt.Sprintf(`write a whole number of the %d units of the total, or a percentage such as "20%%"`, total)
			if share < 1 {
				way = fmt.Sprintf(`write a whole number of the %d units of the total, or a percentage: "%s%%"`, total, strconv.FormatFloat(float64(100*share), 'g', 6, 64))
			}
			return 0, yaml.Hint(n.Errorf("%s is %s", what, n.Describe()), "%s", way)
		}
		return v, err
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(n.Text), "%")
	share, ok := parseDecimal(digits)
	if !percent || !ok {
		return 0, yaml.Hint(n.Errorf("%s is %s", what, n.Describe()), `write a number of units or a percentage such as "20%%"`)
	}
	amount := new(big.Rat).Mul(share, big.NewRat(int64(total), 100))
	if amount.Cmp(new(big.Rat).SetInt64(int64(minUnits))) < 0 || amount.Cmp(new(big.Rat).SetInt64(int64(total))) > 0 {
		return 0, yaml.Hint(n.Errorf("%s is %s of %d units", what, n.Describe(), total), "it must be from %d units to 100 %%", minUnits)
	}
	if !amount.IsInt() {
		down := new(big.Int).Quo(amount.Num(), amount.Denom()).Int64()
		near := func(u int64) string { // a percentage, or units if its decimals do not end
			share := new(big.Rat).SetFrac64(100*u, int64(total))
			text := share.FloatString(6)
			if same, _ := new(big.Rat).SetString(text); same.Cmp(share) != 0 {
				return strconv.FormatInt(u, 10)
			}
			return number.Trim(text) + "%"
		}
		return 0, yaml.Hint(n.Errorf("%s is %s, which is %s of %d units and not a whole number", what, n.Describe(), strings.TrimRight(amount.FloatString(4), "0"), total),
			"write %s or %s, or take a finer total", near(down), near(down+1))
	}
	return int(amount.Num().Int64()), nil
}

// parseDecimal parses a decimal number. Exponents, fractions and other bases are errors.
func parseDecimal(text string) (*big.Rat, bool) {
	text = strings.TrimSpace(text)
	if len(text) > 30 || strings.Trim(strings.TrimPrefix(text, "-"), "0123456789.") != "" {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// roundDown rounds a number of at least 0 down to a whole number. The result is at most 2⁴⁰, far above any
// total.
func roundDown(v *big.Rat) int {
	q := new(big.Int).Quo(v.Num(), v.Denom())
	if !q.IsInt64() || q.Int64() > 1<<40 {
		return 1 << 40
	}
	return int(q.Int64())
}

// roundUp rounds a number of at least 0 up to a whole number.
func roundUp(v *big.Rat) int {
	down := roundDown(v)
	if v.IsInt() {
		return down
	}
	return down + 1
}

// namesAttribute reports whether the text of a node is the name of an attribute of the ingredients.
func (d *Data) namesAttribute(n *yaml.Node) bool {
	if n.Kind != yaml.Text || d.Attributes == nil {
		return false
	}
	_, ok := d.Attributes.Attribute(n.Text)
	return ok
}

// addAttributeHint extends the hint of the error err. It suggests attributes of the ingredients that the text of
// the node n may mean.
func (d *Data) addAttributeHint(err error, n *yaml.Node) error {
	bad, ok := err.(*inputerr.Error)
	if !ok || n.Kind != yaml.Text || strings.HasSuffix(strings.TrimSpace(n.Text), "%") || d.Attributes == nil || len(d.Attributes.Attributes) == 0 {
		return err
	}
	var names []string
	for k := range d.Attributes.Attributes {
		names = append(names, d.Attributes.Attributes[k].Name)
	}
	if near := inputerr.DidYouMean(n.Text, names); near != "" {
		bad.Hint += "; " + near
	} else {
		bad.Hint += ", or a column of the ingredients file: " + inputerr.List(names, 8)
	}
	return bad
}

// readAmountCell returns the amount, in units, that an attribute gives for an ingredient. The text of the node
// n is the name of the attribute. The amount is nil if the cell is empty. The result fail makes an error at the
// cell.
func (d *Data) readAmountCell(n *yaml.Node, ingredient int) (amount *big.Rat, fail func(message, hint string) error, err error) {
	a, err := d.Attribute(n, n.Text)
	if err != nil {
		return nil, nil, err
	}
	fail = func(message, hint string) error {
		line, column := a.CellPosition(ingredient)
		return &inputerr.Error{File: d.Attributes.File, Line: line, Column: column, Cell: a.CellAddress(ingredient), Message: message, Hint: hint}
	}
	text := a.Values[ingredient]
	if text == "" {
		return nil, fail, nil
	}
	digits, percent := strings.CutSuffix(text, "%")
	v, ok := parseDecimal(digits)
	if !ok || v.Sign() < 0 || a.Affix != "" && a.Affix != "%" {
		return nil, nil, fail(fmt.Sprintf("the %s of %s is %s, which the problem uses on line %d as an amount", a.Name, inputerr.Quote(d.IngredientNames[ingredient]), inputerr.Quote(text), n.Line), "write a number of units or a percentage, 0 for none of it, or leave the cell empty for any")
	}
	if percent || a.Affix == "%" || strings.Contains(a.Name, "%") {
		v.Mul(v, big.NewRat(int64(d.Total), 100))
	}
	return v, fail, nil
}
