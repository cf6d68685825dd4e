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

// An Undefined is the name of a figure that is NaN, and the reason.
type Undefined struct {
	Figure string // the undefined figure, by its name as a field of Summary
	Err    error
}

// Reasons lists the figures that are NaN, with the reasons. Its JSON is an object from a figure's JSON name to the
// error's text. Figures that a summary's JSON omits are omitted there, too.
type Reasons []Undefined

// figures returns the field name of each figure in a summary's JSON, by its JSON name.
func figures() map[string]string {
	names := make(map[string]string)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Summary]()) {
		if name := f.Tag.Get("json"); f.Type == reflect.TypeFor[number.Number]() && name != "-" {
			names[name] = f.Name
		}
	}
	return names
}

// Words returns the text of each reason by the figure's JSON name.
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

// IsZero reports whether there is no reason to write in JSON.
func (r Reasons) IsZero() bool { return len(r.Words()) == 0 }

// MarshalJSON writes the map that Words returns.
func (r Reasons) MarshalJSON() ([]byte, error) { return json.Marshal(r.Words()) }

// UnmarshalJSON reads the output of MarshalJSON.
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
