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

// An UndefinedFigure is the name of a figure that is NaN, and the reason.
type UndefinedFigure struct {
	Figure string // the undefined figure, by its name as a field of Summary
	Err    error  // the reason why the figure is NaN
}

// Reasons lists the figures that are NaN, with the reasons. The JSON of Reasons is an object from the JSON name
// of a figure to the text of the error. The object omits figures that the JSON of a Summary omits.
type Reasons []UndefinedFigure

// figureFields returns the name of the Summary field of each figure in the JSON of a Summary, by the JSON name
// of the figure.
func figureFields() map[string]string {
	names := make(map[string]string)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Summary]()) {
		if name := f.Tag.Get("json"); f.Type == reflect.TypeFor[number.Number]() && name != "-" {
			names[name] = f.Name
		}
	}
	return names
}

// Texts returns the text of each reason by the JSON name of the figure.
func (r Reasons) Texts() map[string]string {
	words := make(map[string]string)
	for name, figure := range figureFields() {
		for _, u := range r {
			if u.Figure == figure {
				words[name] = u.Err.Error()
			}
		}
	}
	return words
}

// IsZero reports whether there is no reason to write in JSON.
func (r Reasons) IsZero() bool { return len(r.Texts()) == 0 }

// MarshalJSON writes the map that Words returns.
func (r Reasons) MarshalJSON() ([]byte, error) { return json.Marshal(r.Texts()) }

// UnmarshalJSON reads the output of MarshalJSON.
func (r *Reasons) UnmarshalJSON(data []byte) error {
	var words map[string]string
	if err := json.Unmarshal(data, &words); err != nil {
		return err
	}
	*r = nil
	names := figureFields()
	for _, name := range slices.Sorted(maps.Keys(words)) {
		figure, ok := names[name]
		if !ok {
			return fmt.Errorf("there is no figure %q", name)
		}
		*r = append(*r, UndefinedFigure{figure, errors.New(words[name])})
	}
	return nil
}
