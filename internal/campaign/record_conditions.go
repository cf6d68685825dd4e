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

// A Condition is the name and the unit of a condition of trials, such as a temperature.
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

// Text formats a value of the condition together with the unit. The text for a nil value is empty.
func (c Condition) Text(value any) string {
	if f, is := value.(float64); is {
		return number.WithUnit(f, c.Unit)
	}
	return valueText(value)
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

// valueText formats a value of a condition in the way of files of results. The text for a nil value
// is empty.
func valueText(value any) string {
	switch v := value.(type) {
	case float64:
		return number.RoundTrip(v)
	case string:
		return v
	}
	return ""
}

// moveConditions moves the values of conditions from res.Values to res.Conditions. It checks each
// value and formats the value in the way of files of results.
func (r *recorder) moveConditions(res *Result) error {
	taken := make(map[string]string)
	for _, values := range []map[string]string{res.Conditions, res.Values} {
		for name, text := range values {
			of := r.campaign.findCondition(dataset.NormalizeName(name))
			if of != nil && text != "" {
				v, err := of.ParseValue(text)
				if bad := firstInputError(err); bad != nil {
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

// contradictsConditions reports whether a stated value of a condition differs from the known value.
// The function knownValue returns the known value of the condition with a name. An empty known
// value contradicts nothing.
func contradictsConditions(stated map[string]string, knownValue func(name string) string) bool {
	for name, v := range stated {
		if was := knownValue(name); was != "" && !sameValue(was, v) {
			return true
		}
	}
	return false
}

// recordedValue returns the value of a label or condition in the log entry e. The value is empty if
// it is unknown.
func (r *recorder) recordedValue(e *dataset.Result, name string) string {
	if k := slices.Index(r.resultLog.Labels, name); k >= 0 && k < len(e.Values) {
		return e.Values[k]
	}
	return ""
}

// changesConditions reports whether a result states a value of a condition that differs from the
// value in recorded, the last log entry. It returns false if recorded is nil or withdrawn.
func (r *recorder) changesConditions(res *Result, recorded *dataset.Result) bool {
	if recorded == nil || recorded.Status == dataset.StatusWithdrawn {
		return false
	}
	for name, v := range res.Conditions {
		if !sameValue(r.recordedValue(recorded, name), v) {
			return true
		}
	}
	return false
}

// addConditions copies the values of conditions to the values of a result. If a new result does not
// state a condition, the offered value is used.
func (r *recorder) addConditions(res *Result, recorded *dataset.Result, entry *Entry) {
	again := recorded != nil && recorded.Status != dataset.StatusWithdrawn
	var unknown []string
	for _, name := range r.campaign.ConditionNames() {
		v := res.Conditions[name]
		if v == "" && entry != nil && !again {
			v = valueText(entry.Conditions[name])
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

// displayName returns the name of the result. If the result has no name, displayName returns the
// id.
func (res *Result) displayName() string {
	if res.Name != "" {
		return res.Name
	}
	return res.ID
}

// OfferedTexts returns a map from the name of each condition to the offered value. The values are
// formatted in the way of files of results.
func (e *Entry) OfferedTexts() map[string]string {
	texts := make(map[string]string, len(e.Conditions))
	for name, v := range e.Conditions {
		texts[name] = valueText(v)
	}
	return texts
}

// settingOf returns the values of all conditions in the log entry e.
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
