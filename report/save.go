package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"kir/fault"
	"kir/run"
)

// SummaryName is the file of a run's directory that holds the model.
const SummaryName = "summary.json"

// JSON returns the model as indented JSON.
func (m *Model) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(m)
	return b.Bytes(), err
}

// Save writes summary.json into the run's directory.
func (m *Model) Save(ctx context.Context, dir string) error {
	data, err := m.JSON()
	if err != nil {
		return err
	}
	return run.WriteFile(ctx, dir, SummaryName, data)
}

// Read reads the model of the run in a directory.
func Read(ctx context.Context, dir string) (*Model, error) {
	path := filepath.Join(dir, SummaryName)
	data, err := run.ReadFile(ctx, dir, SummaryName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noSummary(ctx, dir, err)
	}
	if err != nil {
		return nil, err
	}
	m := new(Model)
	err = json.Unmarshal(data, m)
	if err == nil {
		err = m.valid()
	}
	if err != nil {
		return nil, &fault.Error{File: path, Message: "the summary is damaged: " + err.Error(), Hint: "delete it and make it again with kir report " + dir, Err: err}
	}
	return m, nil
}

// ErrNoSummary is returned when a complete run has no summary, because it was
// interrupted when the last draw had been made.
var ErrNoSummary = errors.New("the run has no summary")

// noSummary says why a directory has none.
func noSummary(ctx context.Context, dir string, err error) error {
	if _, statErr := os.Stat(dir); !run.IsBucket(dir) && errors.Is(statErr, fs.ErrNotExist) {
		return &fault.Error{File: dir, Message: "there is no such directory", Hint: "name the directory of a run", Err: err}
	}
	r, openErr := run.Open(ctx, dir)
	if openErr == nil && r.Complete() == nil {
		return &fault.Error{File: dir, Message: "the run has no " + SummaryName, Hint: "make it with kir report " + dir, Err: ErrNoSummary}
	} else if openErr == nil {
		return &fault.Error{File: dir, Message: "the run is not finished", Hint: "go on with kir resume " + dir, Err: err}
	}
	return &fault.Error{File: dir, Message: "this is not the directory of a run", Hint: "it has no " + SummaryName, Err: err}
}
