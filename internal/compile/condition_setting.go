package compile

import (
	"fmt"
	"slices"
	"strings"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/model"
)

// A Setting is a value of each condition, by the problem's order of conditions. It may be that of a trial, which need
// not be offered. The zero Setting is that of a problem without conditions.
type Setting struct {
	Values  []any       // a float64 or a string; nil if unknown
	Offered []int32     // the index of the offered value, or of the one nearest to it; of an unknown value the usual one
	Codes   []mcmc.Part // how models see the values: as amounts of further ingredients; see [model.Data.Beside]
}

// Named returns the known values by the name of the condition; nil if there are none.
func (s *Setting) Named(of []Condition) map[string]any {
	var named map[string]any
	for k, v := range s.Values {
		if v != nil {
			if named == nil {
				named = make(map[string]any)
			}
			named[of[k].Name] = v
		}
	}
	return named
}

// KnownSetting returns the setting that recipe r of the book had.
func (p *Problem) KnownSetting(r int) (s Setting) {
	t := p.conditionTable
	if t == nil {
		return s
	}
	s.Values, s.Offered = t.knownValues[r], t.nearest[r]
	for _, part := range t.rows[r] {
		s.Codes = append(s.Codes, mcmc.Part{Ingredient: int(part.Ingredient), Amount: int(part.Amount)})
	}
	return s
}

// OfferedSetting returns the setting of offered values, given their indices.
func (p *Problem) OfferedSetting(offered []int32) (s Setting) {
	if p.conditionTable == nil {
		return s
	}
	s.Offered, s.Codes = offered, p.AppendCodes(nil, offered)
	for k, v := range offered {
		s.Values = append(s.Values, p.Conditions[k].Value(int(v)))
	}
	return s
}

// AppendCodes appends the [Setting.Codes] of offered values, given their indices.
func (p *Problem) AppendCodes(dst []mcmc.Part, offered []int32) []mcmc.Part {
	if p.conditionTable == nil {
		return dst
	}
	return p.conditionTable.codes.AppendParts(dst, offered)
}

// NamedSetting returns the setting of values by the name of the condition, each a float64 or a string. A condition
// without a value is at the usual one of those offered.
func (p *Problem) NamedSetting(values map[string]any) (Setting, error) {
	if len(p.Conditions) == 0 {
		return Setting{}, nil
	}
	s := Setting{Values: make([]any, len(p.Conditions)), Offered: make([]int32, len(p.Conditions))}
	for k := range p.Conditions {
		c, scale := &p.Conditions[k], &p.conditionTable.scales[k]
		s.Values[k] = c.Value(int(c.Nearest(nil)))
		if v, ok := values[c.Name]; ok {
			var err error
			if s.Values[k], err = c.check(v); err != nil {
				return Setting{}, err
			}
		}
		s.Offered[k] = c.Nearest(s.Values[k])
		part := scale.part(s.Values[k])
		s.Codes = append(s.Codes, mcmc.Part{Ingredient: int(part.Ingredient), Amount: int(part.Amount)})
	}
	return s, nil
}

// check returns v as the condition has its values; an error if it can have no such value.
func (c *Condition) check(v any) (any, error) {
	if c.Numbers != nil {
		if f, is := v.(float64); is {
			return f, nil
		}
		return nil, fmt.Errorf("the %s is %s, which is no number", c.Name, inputerr.Quote(fmt.Sprint(v)))
	}
	text, _ := v.(string)
	text = dataset.NormalizeName(text)
	at := slices.IndexFunc(c.file.Categories, func(category string) bool { return strings.EqualFold(category, text) })
	if at < 0 {
		return nil, fmt.Errorf("the %s is %s, which the condition does not list", c.Name, inputerr.Quote(fmt.Sprint(v)))
	}
	return c.file.Categories[at], nil
}

// ParseValue reads a value of a condition as a person writes it: a number, with or without the unit, or a category that
// the file lists. An error is a [inputerr.Error] without a place.
func (c *Condition) ParseValue(text string) (any, error) {
	text = dataset.NormalizeName(text)
	if c.Numbers == nil {
		v, err := c.check(text)
		if err != nil {
			hint := inputerr.DidYouMean(text, c.file.Categories)
			if hint == "" {
				hint = "write one of " + inputerr.List(c.file.Categories, 8) + ", or add it to the values of the condition"
			}
			return nil, &inputerr.Error{Message: err.Error(), Hint: hint}
		}
		return v, nil
	}
	figure := text
	if c.Unit != "" {
		figure = strings.TrimSpace(strings.TrimSuffix(text, c.Unit))
	}
	v, ok := dataset.Number(figure)
	if !ok {
		v, ok = dataset.Number(strings.Replace(figure, ",", ".", 1))
	}
	if !ok {
		return nil, &inputerr.Error{Message: fmt.Sprintf("the %s is %s, which is no number", c.Name, inputerr.Quote(text)), Hint: "write a number, with a point and without a unit"}
	}
	return v, nil
}

// ValueText returns a value of the condition, offered or not, with its unit.
func (c *Condition) ValueText(v any) string {
	if f, is := v.(float64); is {
		return c.file.NumberText(f)
	}
	return fmt.Sprint(v)
}

// Allows reports whether a value, offered or not, is within those that may be offered: a number between the least and
// the greatest, or an offered category. Any value of a given condition is.
func (c *Condition) Allows(v any) bool {
	switch v := v.(type) {
	case float64:
		return c.Given || c.Numbers[0] <= v && v <= c.Numbers[len(c.Numbers)-1]
	case string:
		return c.Given || slices.Contains(c.Categories, v)
	}
	return true
}

// OfferedText returns the range of the values that may be offered.
func (c *Condition) OfferedText() string {
	if c.Numbers == nil {
		return inputerr.List(c.Categories, 8)
	}
	if c.Len() == 1 {
		return c.Text(0)
	}
	return c.Text(0) + " to " + c.Text(c.Len()-1)
}

// AddConditions adds the conditions to training data, whose rows are the given recipes of the book.
func (p *Problem) AddConditions(data *model.Data, recipes []int) {
	p.conditionTable.addConditions(data, recipes, nil, nil)
}

// CodedIngredients returns the number of ingredients with those that stand for conditions; see [Setting.Codes].
func (p *Problem) CodedIngredients() int {
	if p.conditionTable == nil {
		return len(p.Ingredients)
	}
	return len(p.Ingredients) + len(p.conditionTable.names)
}

// CodesOf returns the range of the further ingredients that stand for condition k: from the first to before the last.
func (p *Problem) CodesOf(k int) (first, end int) {
	t := p.conditionTable
	if end = p.CodedIngredients(); k+1 < len(t.scales) {
		end = t.scales[k+1].first
	}
	return t.scales[k].first, end
}
