package compile

import (
	"fmt"
	"slices"
	"strings"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/mcmc"
	"kir/model"
)

// A Setting has one value for each condition of a problem, such as the values that a trial had. A value need
// not be one of the offered values. The zero Setting is for a problem without conditions.
type Setting struct {
	Values []any // item k is the value of condition k: a float64, a string, or nil if unknown
	// Item k of OfferedIndices is the index of an offered value of condition k: the value itself, or the
	// offered value nearest to it. For an unknown value it is the usual value; see [Condition.Nearest].
	OfferedIndices []int32
	// Codes are the values as models use them: amounts of code ingredients. A code ingredient is an additional
	// model input that encodes a condition; see [model.Data.Beside].
	Codes []mcmc.Part
}

// ValuesByName returns a map from the name of each condition in conditions to its value. Unknown values are
// left out. It returns nil if no value is known.
func (s *Setting) ValuesByName(conditions []Condition) map[string]any {
	var named map[string]any
	for k, v := range s.Values {
		if v != nil {
			if named == nil {
				named = make(map[string]any)
			}
			named[conditions[k].Name] = v
		}
	}
	return named
}

// KnownSetting returns the values of the conditions in the known recipe with index r.
func (p *Problem) KnownSetting(r int) (s Setting) {
	t := p.conditionTable
	if t == nil {
		return s
	}
	s.Values, s.OfferedIndices = t.knownValues[r], t.nearestOfferedIndices[r]
	for _, part := range t.codesByRecipe[r] {
		s.Codes = append(s.Codes, mcmc.Part{Ingredient: int(part.Ingredient), Amount: int(part.Amount)})
	}
	return s
}

// OfferedSetting returns a setting of offered values. Item k of offered is the index of the value of condition
// k.
func (p *Problem) OfferedSetting(offered []int32) (s Setting) {
	if p.conditionTable == nil {
		return s
	}
	s.OfferedIndices, s.Codes = offered, p.AppendCodes(nil, offered)
	for k, v := range offered {
		s.Values = append(s.Values, p.Conditions[k].Value(int(v)))
	}
	return s
}

// AppendCodes appends the amounts of code ingredients to dst; see [Setting.Codes]. Item k of offered is the
// index of the offered value of condition k.
func (p *Problem) AppendCodes(dst []mcmc.Part, offered []int32) []mcmc.Part {
	if p.conditionTable == nil {
		return dst
	}
	return p.conditionTable.offeredEncoder.AppendParts(dst, offered)
}

// NamedSetting returns the setting with the given values. The map values has a float64 or a string for the name
// of a condition. A condition that is not in the map gets its usual value; see [Condition.Nearest].
func (p *Problem) NamedSetting(values map[string]any) (Setting, error) {
	if len(p.Conditions) == 0 {
		return Setting{}, nil
	}
	s := Setting{Values: make([]any, len(p.Conditions)), OfferedIndices: make([]int32, len(p.Conditions))}
	for k := range p.Conditions {
		c, scale := &p.Conditions[k], &p.conditionTable.encoders[k]
		s.Values[k] = c.Value(int(c.Nearest(nil)))
		if v, ok := values[c.Name]; ok {
			var err error
			if s.Values[k], err = c.normalizeValue(v); err != nil {
				return Setting{}, err
			}
		}
		s.OfferedIndices[k] = c.Nearest(s.Values[k])
		part := scale.encode(s.Values[k])
		s.Codes = append(s.Codes, mcmc.Part{Ingredient: int(part.Ingredient), Amount: int(part.Amount)})
	}
	return s, nil
}

// normalizeValue converts v to the type and the spelling of the values of the condition. It returns an error if
// v is not a number, or not a category that the file lists.
func (c *Condition) normalizeValue(v any) (any, error) {
	if c.Numbers != nil {
		if f, is := v.(float64); is {
			return f, nil
		}
		return nil, fmt.Errorf("the %s is %s, which is no number", c.Name, inputerr.Quote(fmt.Sprint(v)))
	}
	text, _ := v.(string)
	text = dataset.NormalizeName(text)
	at := slices.IndexFunc(c.fileCondition.Categories, func(category string) bool { return strings.EqualFold(category, text) })
	if at < 0 {
		return nil, fmt.Errorf("the %s is %s, which the condition does not list", c.Name, inputerr.Quote(fmt.Sprint(v)))
	}
	return c.fileCondition.Categories[at], nil
}

// ParseValue parses a value of the condition that a person wrote: a number with or without its unit, or a
// category that the file lists. An error is an [inputerr.Error] without a position.
func (c *Condition) ParseValue(text string) (any, error) {
	text = dataset.NormalizeName(text)
	if c.Numbers == nil {
		v, err := c.normalizeValue(text)
		if err != nil {
			hint := inputerr.DidYouMean(text, c.fileCondition.Categories)
			if hint == "" {
				hint = "write one of " + inputerr.List(c.fileCondition.Categories, 8) + ", or add it to the values of the condition"
			}
			return nil, &inputerr.Error{Message: err.Error(), Hint: hint}
		}
		return v, nil
	}
	figure := text
	if c.Unit != "" {
		figure = strings.TrimSpace(strings.TrimSuffix(text, c.Unit))
	}
	v, ok := measure.Number(figure)
	if !ok {
		v, ok = measure.Number(strings.Replace(figure, ",", ".", 1))
	}
	if !ok {
		return nil, &inputerr.Error{Message: fmt.Sprintf("the %s is %s, which is no number", c.Name, inputerr.Quote(text)), Hint: "write a number, with a point and without a unit"}
	}
	return v, nil
}

// ValueText returns the text of a value, with its unit. The value need not be offered.
func (c *Condition) ValueText(v any) string {
	if f, is := v.(float64); is {
		return c.fileCondition.NumberText(f)
	}
	return fmt.Sprint(v)
}

// Allows reports whether the value v is within the range of the offered values: a number from the least to the
// greatest, or an offered category. If the file fixes the value of the condition, every value is allowed.
func (c *Condition) Allows(v any) bool {
	switch v := v.(type) {
	case float64:
		return c.Given || c.Numbers[0] <= v && v <= c.Numbers[len(c.Numbers)-1]
	case string:
		return c.Given || slices.Contains(c.Categories, v)
	}
	return true
}

// OfferedText describes the offered values: the range of the numbers, or the list of categories.
func (c *Condition) OfferedText() string {
	if c.Numbers == nil {
		return inputerr.List(c.Categories, 8)
	}
	if c.Len() == 1 {
		return c.Text(0)
	}
	return c.Text(0) + " to " + c.Text(c.Len()-1)
}

// AddConditions appends the code ingredients, which encode conditions, to the rows of training data; see
// [Setting.Codes]. Row k of the data is the known recipe with index recipes[k].
func (p *Problem) AddConditions(data *model.Data, recipes []int) {
	p.conditionTable.addConditions(data, recipes, nil, nil)
}

// ModelInputCount returns the number of inputs of models: the number of ingredients of recipes plus the number
// of code ingredients, which encode conditions; see [Setting.Codes].
func (p *Problem) ModelInputCount() int {
	if p.conditionTable == nil {
		return len(p.Ingredients)
	}
	return len(p.Ingredients) + len(p.conditionTable.codeNames)
}

// CodeIndices returns the indices of the code ingredients that encode condition k in models; see
// [Setting.Codes]. The indices are first, first + 1, ..., end − 1.
func (p *Problem) CodeIndices(k int) (first, end int) {
	t := p.conditionTable
	if end = p.ModelInputCount(); k+1 < len(t.encoders) {
		end = t.encoders[k+1].firstCodeIndex
	}
	return t.encoders[k].firstCodeIndex, end
}
