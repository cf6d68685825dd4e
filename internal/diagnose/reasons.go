package diagnose

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"kir/internal/number"
)

// An UndefinedFigure names a statistic of a [Summary] that is NaN, and gives the reason.
type UndefinedFigure struct {
	Figure string // name of the statistic, as a field of Summary
	Err    error  // reason why the statistic is NaN
}

// Reasons lists the statistics of a [Summary] that are NaN, with the reasons. In JSON, Reasons is an object that
// maps the JSON name of a statistic to the text of the reason. The object omits statistics that the JSON of a
// Summary omits.
type Reasons []UndefinedFigure

// summaryFieldNames returns a map from the name of each statistic in the JSON of a [Summary] to the name of the field
// in Summary.
func summaryFieldNames() map[string]string {
	names := make(map[string]string)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Summary]()) {
		if name := f.Tag.Get("json"); f.Type == reflect.TypeFor[number.Number]() && name != "-" {
			names[name] = f.Name
		}
	}
	return names
}

// Texts returns a map from the JSON name of each statistic that is NaN to the text of the reason.
func (r Reasons) Texts() map[string]string {
	words := make(map[string]string)
	for name, figure := range summaryFieldNames() {
		for _, u := range r {
			if u.Figure == figure {
				words[name] = u.Err.Error()
			}
		}
	}
	return words
}

// IsZero reports whether [Reasons.Texts] is empty, so that JSON can omit the reasons.
func (r Reasons) IsZero() bool { return len(r.Texts()) == 0 }

// MarshalJSON writes the map that [Reasons.Texts] returns.
func (r Reasons) MarshalJSON() ([]byte, error) { return json.Marshal(r.Texts()) }

// UnmarshalJSON reads the output of MarshalJSON.
func (r *Reasons) UnmarshalJSON(data []byte) error {
	var words map[string]string
	if err := json.Unmarshal(data, &words); err != nil {
		return err
	}
	*r = nil
	names := summaryFieldNames()
	for _, name := range slices.Sorted(maps.Keys(words)) {
		figure, ok := names[name]
		if !ok {
			return fmt.Errorf("there is no figure %q", name)
		}
		*r = append(*r, UndefinedFigure{figure, errors.New(words[name])})
	}
	return nil
}
