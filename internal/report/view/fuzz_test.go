package view

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"testing"

	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/terminal"
)

// A document is a store with a summary alone.
type document struct {
	run.Store
	data []byte
}

func (d document) Path(name string) string { return name }

func (d document) Location() string { return "." }

func (d document) Read(_ context.Context, name string, _, _ int64) ([]byte, error) {
	if name != report.SummaryName {
		return nil, fs.ErrNotExist
	}
	return d.data, nil
}

// FuzzSummary reads a summary as it is, and with its checksum put right by who changed
// it, and shows it.
func FuzzSummary(f *testing.F) {
	data, err := small(f).JSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"problem": {"total": 5}, "sampler": {"chains": 1}, "best": [{"recipe": {"a": 5}}]}`))
	f.Add([]byte(`{"problem": {"total": 5, "conditions": [{"name": "c", "values": [1, "a"]}]}, "sampler": {"chains": 1}, "best": [{"recipe": {"a": 5}, "conditions": {"c": 1}, "condition_ranges": {"c": {"low": 1, "high": 2}}}],
"conditions": [{"name": "c", "values": [{"value": 1, "probability": 1}]}], "properties": [{"name": "p", "forest": {"total": 5, "condition_responses": [{"condition": "c", "at": [1], "points": [{"at": 1, "value": 1}, {"at": {}, "value": 2}]}]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		see(t, data)
		m := new(report.Model)
		if json.Unmarshal(data, m) != nil {
			return
		}
		if data, err = m.JSON(); err != nil {
			return // a number that JSON does not have
		}
		see(t, data)
	})
}

// see shows a summary, if it can be read.
func see(t *testing.T, data []byte) {
	m, err := report.Read(context.Background(), document{data: data})
	if err != nil {
		if !errors.Is(err, run.ErrDamaged) {
			t.Fatal(err)
		}
		return
	}
	room := limited(64<<20 + 100*len(data))
	for _, err := range []error{Details(&room, m, ".", terminal.Style{}), Shortlist(&room, m.Best, m, terminal.Style{}), Page(&room, m)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range Figures(m) {
		f.SVG()
	}
}
