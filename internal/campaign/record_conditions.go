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

// A Condition is the name and the unit of a condition, such as a temperature, under which trials
// are made.
type Condition struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
}

// conditionList returns the names and units of the problem's conditions.
func (c *Campaign) conditionList() []Condition {
	var all []Condition
	for k := range c.Problem.Conditions {
		all = append(all, Condition{c.Problem.Conditions[k].Name, c.Problem.Conditions[k].Unit})
	}
	return all
}

// Text formats a value of the condition with the unit. The text for nil is empty.
func (c Condition) Text(v any) string {
	if f, is := v.(float64); is {
		return number.WithUnit(f, c.Unit)
	}
	return valueText(v)
}

// findCondition returns the problem's condition with the given name, or nil. Upper and lower case
// are not distinguished.
func (c *Campaign) findCondition(name string) *compile.Condition {
	k := slices.IndexFunc(c.Problem.Conditions, func(of compile.Condition) bool { return strings.EqualFold(of.Name, name) })
	if k < 0 {
		return nil
	}
	return &c.Problem.Conditions[k]
}

// valueText formats a value of a condition as files of results do. The text for nil is empty.
func valueText(v any) string {
	switch v := v.(type) {
	case float64:
		return number.RoundTrip(v)
	case string:
		return v
	}
	return ""
}

// moveConditions moves values of conditions from res.Values to res.Conditions. It checks each value
// and formats it as files of results do.
func (r *recorder) moveConditions(res *Result) error {
	taken := make(map[string]string)
	for _, values := range []map[string]string{res.Conditions, res.Values} {
		for name, text := range values {
			of := r.campaign.findCondition(dataset.NormalizeName(name))
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
		if r.campaign.findCondition(dataset.NormalizeName(name)) != nil {
			delete(res.Values, name)
		}
	}
	for name := range res.Conditions {
		if r.campaign.findCondition(dataset.NormalizeName(name)) == nil {
			return res.errorf(inputerr.DidYouMean(name, r.campaign.ConditionNames()), "the problem has no condition %s", inputerr.Quote(name))
		}
	}
	res.Conditions = taken
	return nil
}

// contradictsConditions reports whether a stated value of a condition contradicts the value that
// the function from returns for the condition's name. An empty value from that function is unknown
// and contradicts nothing.
func contradictsConditions(stated map[string]string, from func(name string) string) bool {
	for name, v := range stated {
		if was := from(name); was != "" && !sameValue(was, v) {
			return true
		}
	}
	return false
}

// recordedValue returns the value of a label or condition in a log entry. The value is empty if
// unknown.
func (r *recorder) recordedValue(e *dataset.Result, name string) string {
	if k := slices.Index(r.resultLog.Labels, name); k >= 0 && k < len(e.Values) {
		return e.Values[k]
	}
	return ""
}

// changesConditions reports whether a result states a value of a condition that differs from the
// recorded value. It is false if no result was recorded before.
func (r *recorder) changesConditions(res *Result, old *dataset.Result) bool {
	if old == nil || old.Status == dataset.StatusWithdrawn {
		return false
	}
	for name, v := range res.Conditions {
		if !sameValue(r.recordedValue(old, name), v) {
			return true
		}
	}
	return false
}

// addConditions adds the values of conditions to the values of a result. Stated values come first.
// A condition of a new result that is not stated gets the offered value.
func (r *recorder) addConditions(res *Result, old *dataset.Result, proposed *Entry) {
	again := old != nil && old.Status != dataset.StatusWithdrawn
	var unknown []string
	for _, name := range r.campaign.ConditionNames() {
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
		r.summary.Notes = append(r.summary.Notes, fmt.Sprintf("nothing says the %s of %s: it is recorded without", number.JoinAnd(unknown), inputerr.Quote(res.displayName())))
	}
}

// displayName returns the name of the result, or the id if there is no name.
func (res *Result) displayName() string {
	if res.Name != "" {
		return res.Name
	}
	return res.ID
}

// OfferedTexts returns the offered value of each condition, by name, formatted as in files of
// results.
func (e *Entry) OfferedTexts() map[string]string {
	texts := make(map[string]string, len(e.Conditions))
	for name, v := range e.Conditions {
		texts[name] = valueText(v)
	}
	return texts
}

// settingOf returns the values of the conditions in an entry of the log.
func (r *recorder) settingOf(e *dataset.Result) (compile.Setting, error) {
	values := make(map[string]any)
	for _, name := range r.campaign.ConditionNames() {
		if text := r.recordedValue(e, name); text != "" {
			v, err := r.campaign.findCondition(name).ParseValue(text)
			if err != nil {
				return compile.Setting{}, err
			}
			values[name] = v
		}
	}
	return r.campaign.Problem.NamedSetting(values)
}
