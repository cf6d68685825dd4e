package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"kir/internal/file"
	"kir/internal/inputerr"
)

// A Step is one version of the text of a problem file.
type Step struct {
	ID     int    `json:"id"`     // number of the step, from 1
	Parent int    `json:"parent"` // id of the step from which this step was made; 0 if it was made from no step
	Name   string `json:"name"`   // name that the user has given to the step; may be empty
	Change string `json:"change"` // description of the change from the parent
	Text   string `json:"text"`   // text of the problem file
}

// A history is the tree of all steps of a problem. The user can go back to any step and continue
// from there. The history is stored in a file beside the problem file.
type history struct {
	Current int          `json:"current"` // id of the current step
	Steps   limitedSteps `json:"steps"`   // all steps, in order of their ids

	path       string        // path of the file in which the history is stored
	savedSteps []encodedStep // item k is the JSON of step k that was written to the file last
}

// An encodedStep is a step with its JSON. Saving a history therefore encodes only new steps.
type encodedStep struct {
	step Step
	json []byte
}

const (
	// maxHistoryBytes is the maximum size, in bytes, of the file of a history.
	maxHistoryBytes = 64 << 20
	// maxSteps is the maximum number of steps of a history.
	maxSteps = 10_000
)

// A limitedSteps is a list of steps. Its decoder reads one step at a time and stops with an error
// after [maxSteps] steps.
type limitedSteps []Step

// UnmarshalJSON implements [json.Unmarshaler].
func (s *limitedSteps) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		return errors.Join(err, errors.New("the steps are no list"))
	}
	for d.More() {
		if len(*s) == maxSteps {
			return fmt.Errorf("there are more than %d steps", maxSteps)
		}
		var step Step
		if err := d.Decode(&step); err != nil {
			return err
		}
		*s = append(*s, step)
	}
	return nil
}

// openHistory reads the history of a problem file or, if there is none, begins a new history. The
// parameter currentText is the current text of the problem file. If no step without a parent has
// this text, the text becomes a new step.
func openHistory(problem string, currentText []byte) (*history, error) {
	base := filepath.Base(problem)
	h := &history{path: filepath.Join(filepath.Dir(problem), strings.TrimSuffix(base, filepath.Ext(base))+".steps.json")}
	data, err := file.Read(h.path, maxHistoryBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, file.ErrTooLong):
		return nil, &inputerr.Error{File: h.path, Message: "the history is too large", Hint: "move it away, and a new one is begun", Err: err}
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(data, h); err != nil || !h.isValid() {
			return nil, &inputerr.Error{File: h.path, Message: "this is no history of a problem", Hint: "move it away, and a new one is begun", Err: err}
		}
	}
	for _, s := range h.Steps {
		if s.Parent == 0 && s.Text == string(currentText) {
			return h, nil
		}
	}
	change := "as in " + base
	if len(h.Steps) > 0 {
		change = "as in " + base + ", changed since"
	}
	h.addStep(0, change, string(currentText))
	return h, nil
}

// isValid reports whether the ids, the parents and the id of the current step fit together.
func (h *history) isValid() bool {
	for k, s := range h.Steps {
		if s.ID != k+1 || s.Parent < 0 || s.Parent >= s.ID {
			return false
		}
	}
	return h.Current >= 1 && h.Current <= len(h.Steps)
}

// addStep adds a step and makes it the current step. The parameter parent is the id of the step
// from which the new step was made.
func (h *history) addStep(parent int, description, text string) *Step {
	h.Steps = append(h.Steps, Step{ID: len(h.Steps) + 1, Parent: parent, Change: description, Text: text})
	h.Current = len(h.Steps)
	return h.currentStep()
}

// fullError returns the error for a history that has as many steps or bytes as allowed.
func (h *history) fullError() error {
	return &inputerr.Error{File: h.path, Message: "the history is full", Hint: "save the problem under another name and serve that, or move the history away"}
}

// currentStep returns the current step.
func (h *history) currentStep() *Step { return &h.Steps[h.Current-1] }

// findStep returns the step with the given id, or an error.
func (h *history) findStep(id int) (*Step, error) {
	if id < 1 || id > len(h.Steps) {
		return nil, &inputerr.Error{Message: fmt.Sprintf("there is no step %d", id)}
	}
	return &h.Steps[id-1], nil
}

// changeAndSave calls changeFunc with a copy of the history and saves the copy. If changeFunc or
// saving fails, for example because the disk is full, the history stays unchanged.
func (h *history) changeAndSave(changeFunc func(next *history) error) error {
	next := &history{Current: h.Current, Steps: slices.Clone(h.Steps), path: h.path, savedSteps: slices.Clone(h.savedSteps)}
	if err := changeFunc(next); err != nil {
		return err
	}
	if err := next.save(); err != nil {
		return err
	}
	*h = *next
	return nil
}

// save writes the history to its file, replacing the whole file.
func (h *history) save() error {
	if len(h.Steps) > maxSteps {
		return h.fullError()
	}
	size := 0
	for k, step := range h.Steps {
		if k == len(h.savedSteps) {
			h.savedSteps = append(h.savedSteps, encodedStep{})
		}
		if w := &h.savedSteps[k]; w.json == nil || w.step != step {
			text, err := json.Marshal(step)
			if err != nil {
				return err
			}
			*w = encodedStep{step, text}
		}
		if size += len(h.savedSteps[k].json) + 4; size >= maxHistoryBytes {
			return h.fullError()
		}
	}
	var data bytes.Buffer
	data.Grow(size + 64)
	fmt.Fprintf(&data, "{\n \"current\": %d,\n \"steps\": [", h.Current)
	for k := range h.Steps {
		if k > 0 {
			data.WriteByte(',')
		}
		data.WriteString("\n  ")
		data.Write(h.savedSteps[k].json)
	}
	data.WriteString("\n ]\n}\n")
	if err := file.Replace(h.path, data.Bytes()); err != nil {
		return &notSavedError{"nothing was changed, as the history cannot be written", err}
	}
	return nil
}

// A notSavedError says that an action was not done because its result could not be written to disk.
type notSavedError struct {
	message string // sentence that says what was not done
	err     error
}

func (e *notSavedError) Error() string { return e.message + ": " + e.err.Error() }

func (e *notSavedError) Unwrap() error { return e.err }
