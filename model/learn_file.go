package model

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// The format of a saved model, which docs/formats.md names.
const (
	learnedFormat  = "kir model"
	learnedVersion = 1
)

// A savedLearned is a model as JSON. A process is saved as its rows and hyperparameters, which
// determine the rest.
type savedLearned struct {
	Format      string          `json:"format"`
	Version     int             `json:"version"`
	Label       string          `json:"label"`
	Kind        string          `json:"kind"`
	Log         bool            `json:"log"`
	Ingredients []string        `json:"ingredients"`
	Total       int             `json:"total"`
	Rows        [][]int32       `json:"rows"` // ingredient, amount, ingredient, amount, …
	Classes     []string        `json:"classes,omitempty"`
	Numbers     []float64       `json:"numbers,omitempty"`
	SD          []float64       `json:"sd,omitempty"` // standard deviation by row; −1 where unknown
	Failed      [][]int32       `json:"failed,omitempty"`
	HeldOut     Quality         `json:"held_out"`
	Spread      float64         `json:"spread"`
	Widen       float64         `json:"widen"`
	Choice      *Choice         `json:"choice,omitempty"`
	Brings      []Tried         `json:"brings,omitempty"`
	Process     *savedProcess   `json:"process,omitempty"`
	Forest      json.RawMessage `json:"forest,omitempty"`
	Success     json.RawMessage `json:"success,omitempty"`
	Checksum    string          `json:"checksum,omitempty"`
}

type savedProcess struct {
	Kernel          string    `json:"kernel"`
	Length          float64   `json:"length"`
	LogLengthRatios []float64 `json:"own"`
	Signal          float64   `json:"signal"`
	Noise           float64   `json:"noise"`
}

// String returns the kind's name in files and problems.
func (k Kind) String() string { return [...]string{"learn", "forest", "process"}[k] }

// ParseKind reads the name of a kind.
func ParseKind(text string) (Kind, error) {
	for _, k := range []Kind{Best, ForestAlone, ProcessAlone} {
		if k.String() == text {
			return k, nil
		}
	}
	return 0, fmt.Errorf("the kind is %q and must be learn, forest or process", text)
}

// Write saves the model as JSON.
func (m *Learned) Write(w io.Writer) error {
	if m.forest != nil && m.forest.beside > 0 || m.process != nil && m.process.beside > 0 {
		return errBesideFile
	}
	s := savedLearned{
		Format: learnedFormat, Version: learnedVersion,
		Label: m.Label(), Kind: m.options.Kind.String(), Log: m.options.Log,
		Ingredients: m.Ingredients(), Total: m.Total(),
		Rows: flattenRows(m.rows), Classes: m.classes, Numbers: m.numbers, SD: savedSD(m.sd), Failed: flattenRows(m.options.Failed),
		HeldOut: m.quality, Spread: m.stretchFactor, Widen: m.intervalShift, Choice: m.choice, Brings: m.heldOutErrors,
	}
	for _, f := range []struct {
		of *Forest
		to *json.RawMessage
	}{{m.forest, &s.Forest}, {m.success, &s.Success}} {
		if f.of == nil {
			continue
		}
		var b bytes.Buffer
		if err := f.of.Write(&b); err != nil {
			return err
		}
		*f.to = b.Bytes()
	}
	if p := m.process; p != nil {
		s.Process = &savedProcess{p.options.Kernel.String(), p.hyper.length, p.hyper.logLengthRatios, p.hyper.signal, p.hyper.noise}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("writing a model: %w", err)
	}
	if _, err := w.Write(addChecksum(bytes.TrimSuffix(text, []byte("}")))); err != nil {
		return fmt.Errorf("writing a model: %w", err)
	}
	return nil
}

// addChecksum appends the checksum that ends a file.
func addChecksum(text []byte) []byte {
	sum := sha256.Sum256(text)
	return fmt.Appendf(text, checksumEnd+"\n", hex.EncodeToString(sum[:]))
}

// savedSD converts standard deviations for a file: JSON has no NaN.
func savedSD(sd []float64) []float64 {
	saved := slices.Clone(sd)
	for r, v := range saved {
		if math.IsNaN(v) {
			saved[r] = -1
		}
	}
	return saved
}

// restoredSD is the inverse of savedSD.
func restoredSD(saved []float64) []float64 {
	sd := slices.Clone(saved)
	for r, v := range sd {
		if v == -1 {
			sd[r] = math.NaN()
		}
	}
	return sd
}

func sameSD(a, b []float64) bool { return slices.Equal(savedSD(a), savedSD(b)) }

func flattenRows(rows [][]Part) [][]int32 {
	all := make([][]int32, len(rows))
	for r, row := range rows {
		all[r] = []int32{}
		for _, p := range row {
			all[r] = append(all[r], p.Ingredient, p.Amount)
		}
	}
	return all
}

// Ingredients returns the names of the ingredients, in the order of the amounts in a
// composition.
func (m *Learned) Ingredients() []string {
	if m.forest == nil {
		return slices.Clone(m.process.ingredients)
	}
	return m.forest.Ingredients()
}

// Total returns the sum of the amounts of the compositions the model is for.
func (m *Learned) Total() int {
	if m.forest == nil {
		return m.process.total
	}
	return m.forest.total
}

// IsLearntFrom reports whether the model was learnt from these rows, labels and, if given, standard
// deviations, in this order.
func (m *Learned) IsLearntFrom(d *Data) bool {
	return slices.EqualFunc(m.rows, d.Rows, slices.Equal[[]Part]) && slices.Equal(m.numbers, d.Numbers) && (d.SD == nil || sameSD(m.sd, d.SD)) && slices.Equal(m.classes, d.Classes)
}

// IsLearned reports whether a file begins as a saved model rather than as a saved forest.
func IsLearned(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte(`{"format":"`+learnedFormat+`"`))
}

// ReadLearned loads a model that [Learned.Write] saved, and checks all of it. If the file is
// damaged, the error wraps a [*FormatError] that locates and describes the damage.
func ReadLearned(ctx context.Context, r io.Reader) (*Learned, error) {
	data, err := io.ReadAll(r)
	if err == nil {
		var m *Learned
		if m, err = parseLearned(ctx, data); err == nil {
			return m, nil
		}
	}
	return nil, fmt.Errorf("reading a model: %w", err)
}

func parseLearned(ctx context.Context, data []byte) (*Learned, error) {
	var s savedLearned
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return nil, locateError(data, err)
	}
	switch {
	case s.Format != learnedFormat:
		return nil, damaged("this is not a saved model: format is %q and should be %q", s.Format, learnedFormat)
	case s.Version != learnedVersion:
		return nil, damaged("the model is saved in version %d of the format; this program reads version %d", s.Version, learnedVersion)
	case !hasChecksum(data):
		return nil, damaged("the file was changed since it was saved: its checksum is another")
	}
	if !(s.Spread > 0) || !(math.Abs(s.Widen) <= maxNumber) {
		return nil, damaged("the spread is %v and the widening %v", s.Spread, s.Widen)
	}
	kind, err := ParseKind(s.Kind)
	if err != nil {
		return nil, damaged("%v", err)
	}
	m := &Learned{
		options: LearnOptions{Kind: kind, Log: s.Log}, numbers: s.Numbers, sd: restoredSD(s.SD), classes: s.Classes,
		quality: s.HeldOut, stretchFactor: s.Spread, intervalShift: s.Widen, choice: s.Choice, heldOutErrors: s.Brings,
	}
	d := &Data{Label: s.Label, Ingredients: s.Ingredients, Total: s.Total, Numbers: s.Numbers, SD: restoredSD(s.SD), Classes: s.Classes}
	if d.Rows, err = unflattenRows(s.Rows); err != nil {
		return nil, err
	}
	if m.options.Failed, err = unflattenRows(s.Failed); err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, damaged("%v", err)
	}
	all := *d
	all.Rows, all.Classes, all.SD, all.Numbers = slices.Concat(d.Rows, m.options.Failed), nil, nil, make([]float64, len(d.Rows)+len(m.options.Failed))
	if err := all.check(); err != nil {
		return nil, damaged("failed: %v", err)
	}
	m.rows = d.Rows
	if m.forest, err = restoreForest(s.Forest, d, len(d.Rows)); err != nil {
		return nil, err
	}
	if m.success, err = restoreForest(s.Success, d, len(all.Rows)); err != nil {
		return nil, err
	}
	if m.success != nil && (m.success.Numeric() || len(m.options.Failed) == 0 || !slices.Contains(m.success.classes, madeClass)) {
		return nil, damaged("success is no forest of what was made and what failed")
	}
	if m.forest != nil {
		m.forestOptions = m.forest.options
		m.options.Forest = m.forest.options
		if m.forest.Numeric() != (d.Numbers != nil) {
			return nil, damaged("the forest is not of the label's kind")
		}
	}
	if s.Process != nil {
		if err := m.restoreProcess(ctx, s.Process, d); err != nil {
			return nil, err
		}
	}
	if m.forest == nil && m.process == nil {
		return nil, damaged("there is neither a forest nor a process")
	}
	if q := s.HeldOut; q.Rows < 0 || q.Rows > len(d.Rows) || q.Numbers != nil && d.Numbers == nil || q.Classes != nil && d.Classes == nil {
		return nil, damaged("held_out does not fit the %d rows", len(d.Rows))
	}
	if c := s.Choice; c != nil && (c.Chosen < 0 || c.Chosen >= len(c.Tried)) {
		return nil, damaged("choice: %d is chosen of %d that were tried", c.Chosen, len(c.Tried))
	}
	return m, nil
}

func unflattenRows(rows [][]int32) ([][]Part, error) {
	all := make([][]Part, len(rows))
	for r, row := range rows {
		if len(row)%2 != 0 {
			return nil, damaged("row %d has %d numbers and must have pairs of ingredient and amount", r, len(row))
		}
		for k := 0; k < len(row); k += 2 {
			all[r] = append(all[r], Part{row[k], row[k+1]})
		}
	}
	return all, nil
}

// restoreForest reads a forest within a model, or returns nil if there is none.
func restoreForest(text json.RawMessage, d *Data, rows int) (*Forest, error) {
	if text == nil {
		return nil, nil
	}
	f, err := parse(text)
	if err != nil {
		return nil, err
	}
	if f.label != d.Label || f.total != d.Total || f.rows != rows || !slices.Equal(f.ingredients, d.Ingredients) {
		return nil, damaged("the forest is of another label, other ingredients, another total or other rows than the model")
	}
	return f, nil
}

// restoreProcess recomputes the process from its rows and hyperparameters.
func (m *Learned) restoreProcess(ctx context.Context, s *savedProcess, d *Data) (err error) {
	if d.Numbers == nil {
		return damaged("there is a process of classes")
	}
	known := *d
	if m.options.Log {
		if known.Numbers, err = logarithms(d); err != nil {
			return damaged("%v", err)
		}
		known.SD = logSDs(d)
	}
	kernel, err := ParseKernel(s.Kernel)
	if err != nil {
		return damaged("%v", err)
	}
	p, err := newProcess(&known, ProcessOptions{Kernel: kernel})
	if err != nil {
		return damaged("%v", err)
	}
	if len(s.LogLengthRatios) != len(d.Ingredients) {
		return damaged("there are %d lengths for %d ingredients", len(s.LogLengthRatios), len(d.Ingredients))
	}
	for _, v := range append([]float64{s.Length, s.Signal, s.Noise}, s.LogLengthRatios...) {
		if !(math.Abs(v) <= mostHyper) {
			return damaged("a hyperparameter is %v and must be within ±%v", v, mostHyper)
		}
	}
	p.hyper = hyperparameters{s.Length, s.LogLengthRatios, s.Signal, s.Noise}
	m.process = p
	return p.precompute(ctx)
}
