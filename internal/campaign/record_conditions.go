package campaign

import (
	"fmt"
	"slices"
	"strings"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/number"
)

// ConditionNames returns the names of the problem's conditions.
func (c *Campaign) ConditionNames() []string {
	var names []string
	for k := range c.Problem.Conditions {
		names = append(names, c.Problem.Conditions[k].Name)
	}
	return names
}

// A Condition is the name and the unit of a condition of the problem.
type Condition struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
}

// conditions returns the problem's conditions.
func (c *Campaign) conditions() []Condition {
	var all []Condition
	for k := range c.Problem.Conditions {
		all = append(all, Condition{c.Problem.Conditions[k].Name, c.Problem.Conditions[k].Unit})
	}
	return all
}

// Text returns a value of the condition with its unit; "" for nil.
func (c Condition) Text(v any) string {
	if f, is := v.(float64); is {
		return number.WithUnit(f, c.Unit)
	}
	return valueText(v)
}

// condition returns the condition with a name, or nil.
func (c *Campaign) condition(name string) *compile.Condition {
	k := slices.IndexFunc(c.Problem.Conditions, func(of compile.Condition) bool { return strings.EqualFold(of.Name, name) })
	if k < 0 {
		return nil
	}
	return &c.Problem.Conditions[k]
}

// valueText writes a value of a condition as a file of results has it.
func valueText(v any) string {
	switch v := v.(type) {
	case float64:
		return number.RoundTrip(v)
	case string:
		return v
	}
	return ""
}

// takeConditions moves the values of conditions out of those of labels, checked and written as a
// file of results has them.
func (r *recorder) takeConditions(res *Result) error {
	taken := make(map[string]string)
	for _, values := range []map[string]string{res.Conditions, res.Values} {
		for name, text := range values {
			of := r.c.condition(dataset.NormalizeName(name))
			if of != nil && text != "" {
				v, err := of.ParseValue(text)
				if bad := firstFault(err); bad != nil {
					return res.errorf(bad.Hint, "%s", bad.Message)
				}
				if err != nil {
					return err
				}
				taken[of.Name] = valueText(v)
			}
		}
	}
	for name := range res.Values {
		if r.c.condition(dataset.NormalizeName(name)) != nil {
			delete(res.Values, name)
		}
	}
	for name := range res.Conditions {
		if r.c.condition(dataset.NormalizeName(name)) == nil {
			return res.errorf(inputerr.DidYouMean(name, r.c.ConditionNames()), "the problem has no condition %s", inputerr.Quote(name))
		}
	}
	res.Conditions = taken
	return nil
}

// statesOtherCondition reports whether a result states another value of a condition than the given ones, of
// which an empty one is unknown.
func statesOtherCondition(stated map[string]string, from func(name string) string) bool {
	for name, v := range stated {
		if was := from(name); was != "" && !sameValue(was, v) {
			return true
		}
	}
	return false
}

// recordedValue returns the value that an entry of the log has in a column, "" if none.
func (r *recorder) recordedValue(e *dataset.Result, name string) string {
	if k := slices.Index(r.log.Labels, name); k >= 0 && k < len(e.Values) {
		return e.Values[k]
	}
	return ""
}

// changesConditions reports whether a result states a value of a condition that the recorded one
// does not have.
func (r *recorder) changesConditions(res *Result, old *dataset.Result) bool {
	if old == nil || old.Status == dataset.Withdrawn {
		return false
	}
	for name, v := range res.Conditions {
		if !sameValue(r.recordedValue(old, name), v) {
			return true
		}
	}
	return false
}

// addConditions adds the values of conditions to those that are recorded of a result: those that
// it states, else for a new one those that were offered.
func (r *recorder) addConditions(res *Result, old *dataset.Result, proposed *Entry) {
	again := old != nil && old.Status != dataset.Withdrawn
	var unknown []string
	for _, name := range r.c.ConditionNames() {
		v := res.Conditions[name]
		if v == "" && proposed != nil && !again {
			v = valueText(proposed.Conditions[name])
		}
		if v != "" {
			res.Values[name] = v
		} else if !again {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		r.out.Notes = append(r.out.Notes, fmt.Sprintf("nothing says the %s of %s: it is recorded without", number.JoinAnd(unknown), inputerr.Quote(res.title())))
	}
}

// title returns the id or the name of a result.
func (res *Result) title() string {
	if res.Name != "" {
		return res.Name
	}
	return res.ID
}

// OfferedTexts returns the conditions of an entry as a file of results has them, by name.
func (e *Entry) OfferedTexts() map[string]string {
	texts := make(map[string]string, len(e.Conditions))
	for name, v := range e.Conditions {
		texts[name] = valueText(v)
	}
	return texts
}

// settingOf returns the conditions of an entry of the log.
func (r *recorder) settingOf(e *dataset.Result) (compile.Setting, error) {
	values := make(map[string]any)
	for _, name := range r.c.ConditionNames() {
		if text := r.recordedValue(e, name); text != "" {
			v, err := r.c.condition(name).ParseValue(text)
			if err != nil {
				return compile.Setting{}, err
			}
			values[name] = v
		}
	}
	return r.c.Problem.NamedSetting(values)
}
