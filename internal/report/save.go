package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"kir/internal/inputerr"
	"kir/internal/run"
	"kir/internal/terminal"
)

// SummaryName is the name of the file in a run's directory that holds the [Model].
const SummaryName = "summary.json"

// maxSummaryBytes is the largest size of a summary.json, in bytes. Its lists are only as long as a
// person reads.
const maxSummaryBytes = 32 << 20

// JSON returns the model as indented JSON text with a checksum.
func (m *Model) JSON() ([]byte, error) {
	open := *m
	open.Checksum = ""
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(&open); err != nil {
		return nil, err
	}
	return run.Seal(terminal.EscapeJSON(b.Bytes())), nil
}

// Save writes the model as summary.json into the store of a run.
func (m *Model) Save(ctx context.Context, store run.Store) error {
	data, err := m.JSON()
	if err != nil {
		return err
	}
	return store.Replace(ctx, SummaryName, data)
}

// Read reads the model from summary.json in the store of a run. The error wraps [run.ErrDamaged] if
// the file was changed.
func Read(ctx context.Context, store run.Store) (*Model, error) {
	data, err := run.ReadWhole(ctx, store, SummaryName, maxSummaryBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, explainMissingSummary(ctx, store, err)
	}
	if err != nil && !errors.Is(err, run.ErrDamaged) {
		return nil, err
	}
	m := new(Model)
	if err == nil {
		err = run.UnmarshalDocument(data, m)
	}
	if err == nil {
		err = run.CheckSeal(data)
	}
	if err == nil {
		err = m.validate()
	}
	if err != nil {
		why := strings.TrimPrefix(err.Error(), run.ErrDamaged.Error()+": ")
		return nil, &inputerr.Error{File: store.Path(SummaryName), Message: "the summary is damaged: " + why, Hint: "kir report " + terminal.ShellWord(store.Location()) + " makes it again where the draws are", Err: fmt.Errorf("%w: %w", run.ErrDamaged, err)}
	}
	return m, nil
}

// ErrNoSummary is returned if a run has all its draws but no summary.json. That happens if the run
// is interrupted between its last draw and its report.
var ErrNoSummary = errors.New("the run has no summary")

// explainMissingSummary returns an error that explains why a store has no summary.
func explainMissingSummary(ctx context.Context, store run.Store, err error) error {
	dir := store.Location()
	r, openErr := run.Open(ctx, store)
	if openErr == nil && r.IsActive(time.Now()) {
		return &inputerr.Error{File: dir, Message: "the run is still going", Hint: "kir status " + terminal.ShellWord(dir) + " says how far it is", Err: err}
	}
	if openErr == nil && r.CheckComplete() == nil {
		return &inputerr.Error{File: dir, Message: "the run has no " + SummaryName, Hint: "make it with kir report " + dir, Err: ErrNoSummary}
	} else if openErr == nil {
		return &inputerr.Error{File: dir, Message: "the run is not finished", Hint: "go on with kir resume " + dir, Err: err}
	}
	if _, statErr := os.Stat(dir); errors.As(openErr, new(*run.NotRunError)) && errors.Is(statErr, fs.ErrNotExist) {
		return &inputerr.Error{File: dir, Message: "there is no such directory", Hint: "name the directory of a run", Err: err}
	}
	return &inputerr.Error{File: dir, Message: "this is not the directory of a run", Hint: "it has no " + SummaryName, Err: err}
}
