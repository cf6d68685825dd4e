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

// Undefined is a figure that is NaN, and why.
type Undefined struct {
	Figure string // the name of the field of Summary
	Err    error
}

// Reasons say which figures are NaN, and why. Their JSON has those figures that the JSON of
// a summary has, by their names there, and the words of the errors alone.
type Reasons []Undefined

// figures are the figures that the JSON of a summary has: the names of their fields by
// those in JSON.
func figures() map[string]string {
	names := make(map[string]string)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Summary]()) {
		if name := f.Tag.Get("json"); f.Type == reflect.TypeFor[number.Number]() && name != "-" {
			names[name] = f.Name
		}
	}
	return names
}

// Words returns the reasons by the names of the figures in JSON.
func (r Reasons) Words() map[string]string {
	words := make(map[string]string)
	for name, figure := range figures() {
		for _, u := range r {
			if u.Figure == figure {
				words[name] = u.Err.Error()
			}
		}
	}
	return words
}

// IsZero says whether JSON has nothing to tell.
func (r Reasons) IsZero() bool { return len(r.Words()) == 0 }

// MarshalJSON writes what Words returns.
func (r Reasons) MarshalJSON() ([]byte, error) { return json.Marshal(r.Words()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Reasons) UnmarshalJSON(data []byte) error {
	var words map[string]string
	if err := json.Unmarshal(data, &words); err != nil {
		return err
	}
	*r = nil
	names := figures()
	for _, name := range slices.Sorted(maps.Keys(words)) {
		figure, ok := names[name]
		if !ok {
			return fmt.Errorf("there is no figure %q", name)
		}
		*r = append(*r, Undefined{figure, errors.New(words[name])})
	}
	return nil
}
