package compile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/number"
)

const (
	maxShownRecipes = 2  // recipes that Reading shows
	maxShownParts   = 8  // ingredients of a recipe that Reading shows
	maxShownNames   = 12 // columns or rows of one role that Reading lists
)

// Reading describes how the table of the draft was read, for a person to check: the first recipes in the unit of the
// table and as shares, the columns by their roles, and the rows that were left out. It is empty for a table of prices.
func (d *Draft) Reading() (lines []string) {
	if d.Book == nil || d.Book.Shape == nil {
		return nil
	}
	for _, r := range d.Book.Recipes[:min(len(d.Book.Recipes), maxShownRecipes)] {
		lines = append(lines, d.recipeText(&r))
	}
	return append(lines, d.roleLines()...)
}

// recipeText writes a recipe with the amounts of the table, their shares, and the sum.
func (d *Draft) recipeText(r *dataset.Recipe) string {
	whole := 0.0
	oneUnit := true
	sum := 0.0
	for _, p := range r.Parts {
		base, _ := p.Base().Float64()
		whole += base
		sum += p.Amount.Float64()
		oneUnit = oneUnit && p.Unit == r.Parts[0].Unit
	}
	var parts []string
	for _, p := range r.Parts {
		base, _ := p.Base().Float64()
		parts = append(parts, fmt.Sprintf("%s %s (%s %%)", amountText(p.Amount.String(), p.Unit), d.Book.Ingredients.Names[p.Ingredient], shareText(base/whole)))
	}
	text := strings.Join(parts[:min(len(parts), maxShownParts)], ", ")
	if more := len(parts) - maxShownParts; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if oneUnit && len(r.Parts) > 1 {
		text += "; " + amountText(number.Trim(number.Fixed(sum, 4)), r.Parts[0].Unit) + " in all"
	}
	return inputerr.Quote(r.Name) + " is " + text
}

// shareText writes a share in percent: with one decimal place, or with two figures below 1 %.
func shareText(share float64) string {
	if percent := float64(100 * share); percent < 1 {
		return strconv.FormatFloat(percent, 'g', 2, 64)
	}
	return number.Trim(number.Fixed(float64(100*share), 1))
}

// amountText writes a number and its unit.
func amountText(amount string, unit *measure.Unit) string {
	if unit == nil {
		return amount
	}
	return amount + " " + unit.Name
}

// roleLines lists the columns by their roles, and the rows that were left out. In a transposed table the rows have roles.
func (d *Draft) roleLines() (lines []string) {
	s := d.Book.Shape
	names := make(map[string][]string)
	for _, c := range s.Columns {
		if c.Name == "" {
			continue
		}
		role := string(c.Role)
		switch {
		case c.Role == dataset.LabelColumn && d.isCondition(c.Name):
			role = "condition"
		case c.Role == dataset.LabelColumn && d.isRemark(c.Name):
			role = "remark"
		case c.Role == dataset.LabelColumn:
			role = "result"
		case c.Role == dataset.IgnoredColumn:
			role = "left out"
		}
		names[role] = append(names[role], c.Name)
	}
	for _, name := range d.Book.AsideNames() {
		if !slices.Contains(names["left out"], name) {
			names["left out"] = append(names["left out"], name)
		}
	}
	for _, l := range d.Book.Labels {
		if !slices.ContainsFunc(s.Columns, func(c dataset.Column) bool { return c.Name == l.Name }) {
			names["result"] = append(names["result"], l.Name)
		}
	}
	for _, role := range []string{"recipe", "ingredient", "amount", "unit", "condition", "result", "remark", "left out"} {
		if list := names[role]; len(list) > 0 && !(d.Book.Transposed && role == "recipe") {
			lines = append(lines, fmt.Sprintf("%-11s %s", role, inputerr.List(list, maxShownNames)))
		}
	}
	if n := len(s.LeftOut); n > 0 {
		lines = append(lines, fmt.Sprintf("%-11s %s", "rows out", leftOutText(s.LeftOut)))
	}
	return lines
}

// isRemark reports whether a label is of texts that nobody optimises, such as dates and remarks.
func (d *Draft) isRemark(name string) bool {
	i := slices.IndexFunc(d.Book.Labels, func(l dataset.Label) bool { return l.Name == name })
	if i < 0 {
		return false
	}
	l := &d.Book.Labels[i]
	_, err := l.Numbers()
	return err != nil && dataset.RankResult(name, l.Classes) == dataset.NoResult
}

// leftOutText lists rows with the reasons why they were left out, those of one reason together.
func leftOutText(rows []dataset.LeftOutRow) string {
	lines := make(map[string][]string)
	var reasons []string
	for _, r := range rows[:min(len(rows), maxShownNames)] {
		if lines[r.Why] == nil {
			reasons = append(reasons, r.Why)
		}
		lines[r.Why] = append(lines[r.Why], fmt.Sprint("row ", r.Line))
	}
	var texts []string
	for _, why := range reasons {
		texts = append(texts, strings.Join(lines[why], ", ")+": "+why)
	}
	text := strings.Join(texts, "; ")
	if more := len(rows) - maxShownNames; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
