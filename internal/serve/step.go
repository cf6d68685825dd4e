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

// A Step is a version of the problem, with the change that led to it.
type Step struct {
	ID     int    `json:"id"`     // from 1
	Parent int    `json:"parent"` // the step that it was made from; 0: none
	Name   string `json:"name"`   // given by a person, or empty
	Change string `json:"change"` // description of the change
	Text   string `json:"text"`   // text of the problem file
}

// A history is the tree of a problem's steps: a person can go back and continue differently.
// It is stored in a file beside the problem.
type history struct {
	Current int   `json:"current"`
	Steps   steps `json:"steps"`

	path    string
	written []writtenStep // the steps as last saved
}

// A writtenStep caches the JSON of a step. Among ten thousand steps usually one is new.
type writtenStep struct {
	step Step
	text []byte
}

// Limits of a history: the size of its file, and the number of its steps.
const (
	mostHistory = 64 << 20
	mostSteps   = 10_000
)

// steps are decoded one by one, so that decoding stops at the limit.
type steps []Step

func (s *steps) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		return errors.Join(err, errors.New("the steps are no list"))
	}
	for d.More() {
		if len(*s) == mostSteps {
			return fmt.Errorf("there are more than %d steps", mostSteps)
		}
		var step Step
		if err := d.Decode(&step); err != nil {
			return err
		}
		*s = append(*s, step)
	}
	return nil
}

// openHistory reads the history of a problem, or starts one with the text. If the file has
// changed since the last step, its text becomes a step of its own.
func openHistory(problem string, text []byte) (*history, error) {
	base := filepath.Base(problem)
	h := &history{path: filepath.Join(filepath.Dir(problem), strings.TrimSuffix(base, filepath.Ext(base))+".steps.json")}
	data, err := file.Read(h.path, mostHistory)
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
		if s.Parent == 0 && s.Text == string(text) {
			return h, nil
		}
	}
	change := "as in " + base
	if len(h.Steps) > 0 {
		change = "as in " + base + ", changed since"
	}
	h.add(0, change, string(text))
	return h, nil
}

// isValid reports whether the steps are numbered correctly.
func (h *history) isValid() bool {
	for k, s := range h.Steps {
		if s.ID != k+1 || s.Parent < 0 || s.Parent >= s.ID {
			return false
		}
	}
	return h.Current >= 1 && h.Current <= len(h.Steps)
}

// add adds a step and makes it the current one.
func (h *history) add(parent int, change, text string) *Step {
	h.Steps = append(h.Steps, Step{ID: len(h.Steps) + 1, Parent: parent, Change: change, Text: text})
	h.Current = len(h.Steps)
	return h.current()
}

// fullError returns the error for a full history.
func (h *history) fullError() error {
	return &inputerr.Error{File: h.path, Message: "the history is full", Hint: "save the problem under another name and serve that, or move the history away"}
}

func (h *history) current() *Step { return &h.Steps[h.Current-1] }

// step returns the step of an id, or an error.
func (h *history) step(id int) (*Step, error) {
	if id < 1 || id > len(h.Steps) {
		return nil, &inputerr.Error{Message: fmt.Sprintf("there is no step %d", id)}
	}
	return &h.Steps[id-1], nil
}

// commit changes the history and saves it. If either fails, as on a full disk, the history
// stays unchanged.
func (h *history) commit(change func(next *history) error) error {
	next := &history{Current: h.Current, Steps: slices.Clone(h.Steps), path: h.path, written: slices.Clone(h.written)}
	if err := change(next); err != nil {
		return err
	}
	if err := next.save(); err != nil {
		return err
	}
	*h = *next
	return nil
}

// save writes the history to its file atomically.
func (h *history) save() error {
	if len(h.Steps) > mostSteps {
		return h.fullError()
	}
	size := 0
	for k, step := range h.Steps {
		if k == len(h.written) {
			h.written = append(h.written, writtenStep{})
		}
		if w := &h.written[k]; w.text == nil || w.step != step {
			text, err := json.Marshal(step)
			if err != nil {
				return err
			}
			*w = writtenStep{step, text}
		}
		if size += len(h.written[k].text) + 4; size >= mostHistory {
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
		data.Write(h.written[k].text)
	}
	data.WriteString("\n ]\n}\n")
	if err := file.Replace(h.path, data.Bytes()); err != nil {
		return &unkeptError{"nothing was changed, as the history cannot be written", err}
	}
	return nil
}

// An unkeptError says that an action was not done because its result cannot be written.
type unkeptError struct {
	what string
	err  error
}

func (e *unkeptError) Error() string { return e.what + ": " + e.err.Error() }

func (e *unkeptError) Unwrap() error { return e.err }
