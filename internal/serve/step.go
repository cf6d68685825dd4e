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

	"kir/internal/fault"
	"kir/internal/file"
)

// A Step is a problem that was asked, and what was changed to come to it.
type Step struct {
	ID     int    `json:"id"`     // from 1
	Parent int    `json:"parent"` // the step that it was made from; 0: none
	Name   string `json:"name"`   // given by a person, or empty
	Change string `json:"change"` // what was changed, in words
	Text   string `json:"text"`   // the problem file
}

// A history is the steps of a problem: a tree, since one can go back and on in
// another way. It is kept in a file beside the problem.
type history struct {
	Current int   `json:"current"`
	Steps   steps `json:"steps"`

	path    string
	written []writtenStep // the steps as they were last written down
}

// A writtenStep is a step and its JSON, which is made once: of ten thousand steps one is new.
type writtenStep struct {
	step Step
	text []byte
}

// A history is bounded: its file, and how many steps it has.
const (
	mostHistory = 64 << 20
	mostSteps   = 10_000
)

// steps are read one after the other, no more of them than there may be.
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

// openHistory reads the history of a problem, or begins one with its text. Where
// the file has changed since, its text is a step of its own.
func openHistory(problem string, text []byte) (*history, error) {
	base := filepath.Base(problem)
	h := &history{path: filepath.Join(filepath.Dir(problem), strings.TrimSuffix(base, filepath.Ext(base))+".steps.json")}
	data, err := file.Read(h.path, mostHistory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, file.ErrTooLong):
		return nil, &fault.Error{File: h.path, Message: "the history is too large", Hint: "move it away, and a new one is begun", Err: err}
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(data, h); err != nil || !h.isValid() {
			return nil, &fault.Error{File: h.path, Message: "this is no history of a problem", Hint: "move it away, and a new one is begun", Err: err}
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

// isValid says whether steps are numbered as they should be.
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

// fullError is the error of a history that has all that it may have.
func (h *history) fullError() error {
	return &fault.Error{File: h.path, Message: "the history is full", Hint: "save the problem under another name and serve that, or move the history away"}
}

func (h *history) current() *Step { return &h.Steps[h.Current-1] }

// step returns a step, or an error for one that there is not.
func (h *history) step(id int) (*Step, error) {
	if id < 1 || id > len(h.Steps) {
		return nil, &fault.Error{Message: fmt.Sprintf("there is no step %d", id)}
	}
	return &h.Steps[id-1], nil
}

// commit changes the history and writes it down. Where either fails, as on a full disk,
// the history is as it was.
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

// save writes the history down, whole or not at all.
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

// An unkeptError is that of what was not done because it cannot be written down.
type unkeptError struct {
	what string
	err  error
}

func (e *unkeptError) Error() string { return e.what + ": " + e.err.Error() }

func (e *unkeptError) Unwrap() error { return e.err }
