package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// A record is one campaign, or one answer under rules or by size.
type record struct {
	Task     string    `json:"task"` // tables, fronts, conditions, rules or speed
	On       string    `json:"on"`   // the table, the rules, or the size
	Arm      string    `json:"arm"`
	Seed     int       `json:"seed"`
	Batch    int       `json:"batch"`
	Versions []string  `json:"versions,omitempty"`
	Closed   []float64 `json:"closed,omitempty"` // of a campaign, after each round: the share of the first regret that is gone
	Regret   []float64 `json:"regret,omitempty"`
	Volume   []float64 `json:"volume,omitempty"` // of a campaign for two objectives instead: the share of the table's hypervolume

	Seconds   []float64 `json:"seconds,omitempty"` // of each answer
	Processor []float64 `json:"processor,omitempty"`
	Peak      float64   `json:"peak,omitempty"`  // MB
	Start     float64   `json:"start,omitempty"` // processor seconds before the first answer

	Offers   int       `json:"offers,omitempty"`
	Broken   []string  `json:"broken,omitempty"`  // of each offer that breaks a rule: which
	Worth    []float64 `json:"worth,omitempty"`   // of each offer that breaks none: the truth
	Refused  string    `json:"refused,omitempty"` // why there is no answer
	Recorded string    `json:"recorded"`          // the date
}

// key says what was measured.
func (r *record) key() string {
	return fmt.Sprint(r.Task, "|", r.On, "|", r.Arm, "|", r.Seed, "|", r.Batch)
}

// reached returns what the figure of a campaign was after each round.
func (r *record) reached() []float64 {
	if r.Volume != nil {
		return r.Volume
	}
	return r.Closed
}

// readKept reads what was measured, a record a line; the end of an interrupted line is left out.
func readKept[R any](path string) ([]R, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var kept []R
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var r R
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			kept = append(kept, r)
		}
	}
	return kept, lines.Err()
}

// isMeasured reports whether a measurement was made.
func (b *bench) isMeasured(r record) bool {
	for _, k := range b.kept {
		if k.key() == r.key() {
			return true
		}
	}
	return false
}

// add keeps a measurement.
func (b *bench) add(r record) error {
	b.kept = append(b.kept, r)
	return appendRecord(b.keep, r)
}

// appendRecord adds a record to the file of what was measured; an empty path is no file.
func appendRecord[R any](path string, r R) error {
	if path == "" {
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}
