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

// Name and versions of the format of a saved model: see docs/formats.md.
const (
	learnedFormat   = "kir model"
	equalVersion    = 1 // the forest and the process have equal weights
	weightedVersion = 2 // the file has the weight of the forest
)

// A savedLearned is the JSON content of a model file. Of a Gaussian process, the file holds only
// the hyperparameters. Everything else follows from the rows and the hyperparameters.
type savedLearned struct {
	Format      string            `json:"format"`
	Version     int               `json:"version"`
	Label       string            `json:"label"`
	Kind        string            `json:"kind"`
	Log         bool              `json:"log"`
	Ingredients []string          `json:"ingredients"`
	Total       int               `json:"total"`
	Rows        [][]int32         `json:"rows"` // one list for each row: ingredient, amount, ingredient, amount, …
	Classes     []string          `json:"classes,omitempty"`
	Numbers     []float64         `json:"numbers,omitempty"`
	SD          []float64         `json:"sd,omitempty"` // standard deviation of the measurement of each row; −1 if unknown
	Failed      [][]int32         `json:"failed,omitempty"`
	HeldOut     Quality           `json:"held_out"`
	Spread      float64           `json:"spread"`
	Widen       float64           `json:"widen"`
	Weight      *float64          `json:"forest_weight,omitempty"` // weight of the forest; nil in version 1
	Choice      *CandidateChoice  `json:"choice,omitempty"`
	Brings      []CandidateResult `json:"brings,omitempty"`
	Process     *savedProcess     `json:"process,omitempty"`
	Forest      json.RawMessage   `json:"forest,omitempty"`
	Success     json.RawMessage   `json:"success,omitempty"`
	Checksum    string            `json:"checksum,omitempty"`
}

// A savedProcess holds the hyperparameters of a Gaussian process in a model file.
type savedProcess struct {
	Kernel          string    `json:"kernel"`
	Length          float64   `json:"length"`
	LogLengthRatios []float64 `json:"own"`
	Signal          float64   `json:"signal"`
	Noise           float64   `json:"noise"`
}

// String returns the name of the kind in files and in problem descriptions.
func (k ModelKind) String() string { return [...]string{"learn", "forest", "process"}[k] }

// ParseKind returns the kind with the given name.
func ParseKind(text string) (ModelKind, error) {
	for _, k := range []ModelKind{BestKind, ForestAlone, ProcessAlone} {
		if k.String() == text {
			return k, nil
		}
	}
	return 0, fmt.Errorf("the kind is %q and must be learn, forest or process", text)
}

// Write saves the model as JSON.
func (m *LearnedModel) Write(w io.Writer) error {
	if m.forest != nil && m.forest.besideCount > 0 || m.process != nil && m.process.besideCount > 0 {
		return errSavingConditions
	}
	s := savedLearned{
		Format: learnedFormat, Version: equalVersion,
		Label: m.Label(), Kind: m.options.Kind.String(), Log: m.options.Log,
		Ingredients: m.Ingredients(), Total: m.Total(),
		Rows: flattenRows(m.compositions), Classes: m.classLabels, Numbers: m.numericLabels, SD: encodeSD(m.measurementSD), Failed: flattenRows(m.options.Failed),
		HeldOut: m.quality, Spread: m.stretchFactor, Widen: m.intervalShift, Choice: m.featureSetChoice, Brings: m.heldOutResults,
	}
	// Older programs read version 1 alone, and most models need no other.
	if m.forest != nil && m.process != nil && m.forestWeight != equalWeight {
		s.Version, s.Weight = weightedVersion, &m.forestWeight
	}
	for _, f := range []struct {
		of *Forest
		to *json.RawMessage
	}{{m.forest, &s.Forest}, {m.successForest, &s.Success}} {
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
		s.Process = &savedProcess{p.options.Kernel.String(), p.hyperparameters.logLength, p.hyperparameters.logLengthRatios, p.hyperparameters.logSignal, p.hyperparameters.logNoise}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("writing a model: %w", err)
	}
	if _, err := w.Write(appendChecksum(bytes.TrimSuffix(text, []byte("}")))); err != nil {
		return fmt.Errorf("writing a model: %w", err)
	}
	return nil
}

// appendChecksum appends the end of a file to the text: the checksum of the text, in
// [checksumFormat].
func appendChecksum(text []byte) []byte {
	sum := sha256.Sum256(text)
	return fmt.Appendf(text, checksumFormat+"\n", hex.EncodeToString(sum[:]))
}

// encodeSD returns the standard deviations with −1 in place of NaN, because JSON has no NaN.
func encodeSD(sd []float64) []float64 {
	saved := slices.Clone(sd)
	for r, v := range saved {
		if math.IsNaN(v) {
			saved[r] = -1
		}
	}
	return saved
}

// decodeSD returns the standard deviations with NaN in place of −1. It is the inverse of
// [encodeSD].
func decodeSD(saved []float64) []float64 {
	sd := slices.Clone(saved)
	for r, v := range sd {
		if v == -1 {
			sd[r] = math.NaN()
		}
	}
	return sd
}

// equalSD reports whether two lists of standard deviations are equal, where NaN equals NaN.
func equalSD(a, b []float64) bool { return slices.Equal(encodeSD(a), encodeSD(b)) }

// flattenRows converts rows to the form in a model file: one list ingredient, amount, ingredient,
// amount, … for each row.
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

// Ingredients returns the names of the ingredients, in the order of the amounts in a composition.
func (m *LearnedModel) Ingredients() []string {
	if m.forest == nil {
		return slices.Clone(m.process.ingredients)
	}
	return m.forest.Ingredients()
}

// Total returns the sum of the amounts of the compositions for which the model predicts.
func (m *LearnedModel) Total() int {
	if m.forest == nil {
		return m.process.totalAmount
	}
	return m.forest.totalAmount
}

// IsLearntFrom reports whether the model was learnt from the rows and labels of d, in their order.
// If d has standard deviations, they must also be equal.
func (m *LearnedModel) IsLearntFrom(d *Data) bool {
	return slices.EqualFunc(m.compositions, d.Rows, slices.Equal[[]Part]) && slices.Equal(m.numericLabels, d.Numbers) && (d.SD == nil || equalSD(m.measurementSD, d.SD)) && slices.Equal(m.classLabels, d.Classes)
}

// IsModelFile reports whether the text of a file is that of a saved model (true) or a saved forest
// (false). It looks only at the beginning of the text.
func IsModelFile(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte(`{"format":"`+learnedFormat+`"`))
}

// ReadLearned loads a model that [LearnedModel.Write] saved, and checks all of it. If the file is
// damaged, the error wraps a [*FormatError] that locates and describes the damage.
func ReadLearned(ctx context.Context, r io.Reader) (*LearnedModel, error) {
	data, err := io.ReadAll(r)
	if err == nil {
		var m *LearnedModel
		if m, err = parseLearned(ctx, data); err == nil {
			return m, nil
		}
	}
	return nil, fmt.Errorf("reading a model: %w", err)
}

// parseLearned reads and checks the text of a model file.
func parseLearned(ctx context.Context, data []byte) (*LearnedModel, error) {
	var s savedLearned
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return nil, locateError(data, err)
	}
	switch {
	case s.Format != learnedFormat:
		return nil, damageError("this is not a saved model: format is %q and should be %q", s.Format, learnedFormat)
	case s.Version != equalVersion && s.Version != weightedVersion:
		return nil, damageError("the model is saved in version %d of the format; this program reads versions %d and %d", s.Version, equalVersion, weightedVersion)
	case !checksumMatches(data):
		return nil, damageError("the file was changed since it was saved: its checksum is another")
	}
	if !(s.Spread > 0) || !(math.Abs(s.Widen) <= maxAbsLabel) {
		return nil, damageError("the spread is %v and the widening %v", s.Spread, s.Widen)
	}
	weight := equalWeight
	if (s.Weight != nil) != (s.Version == weightedVersion) {
		return nil, damageError("version %d has a forest_weight, and version %d has none", weightedVersion, equalVersion)
	}
	if s.Weight != nil {
		if weight = *s.Weight; !(weight >= 0 && weight <= 1) {
			return nil, damageError("the weight of the forest is %v and must be in 0..1", weight)
		}
	}
	kind, err := ParseKind(s.Kind)
	if err != nil {
		return nil, damageError("%v", err)
	}
	m := &LearnedModel{
		options: LearnOptions{Kind: kind, Log: s.Log}, numericLabels: s.Numbers, measurementSD: decodeSD(s.SD), classLabels: s.Classes,
		quality: s.HeldOut, forestWeight: weight, stretchFactor: s.Spread, intervalShift: s.Widen, featureSetChoice: s.Choice, heldOutResults: s.Brings,
	}
	d := &Data{Label: s.Label, Ingredients: s.Ingredients, Total: s.Total, Numbers: s.Numbers, SD: decodeSD(s.SD), Classes: s.Classes}
	if d.Rows, err = unflattenRows(s.Rows); err != nil {
		return nil, err
	}
	if m.options.Failed, err = unflattenRows(s.Failed); err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, damageError("%v", err)
	}
	all := *d
	all.Rows, all.Classes, all.SD, all.Numbers = slices.Concat(d.Rows, m.options.Failed), nil, nil, make([]float64, len(d.Rows)+len(m.options.Failed))
	if err := all.check(); err != nil {
		return nil, damageError("failed: %v", err)
	}
	m.compositions = d.Rows
	if m.forest, err = restoreForest(s.Forest, d, len(d.Rows)); err != nil {
		return nil, err
	}
	if m.successForest, err = restoreForest(s.Success, d, len(all.Rows)); err != nil {
		return nil, err
	}
	if m.successForest != nil && (m.successForest.Numeric() || len(m.options.Failed) == 0 || !slices.Contains(m.successForest.classes, madeClass)) {
		return nil, damageError("success is no forest of what was made and what failed")
	}
	if m.forest != nil {
		m.forestOptions = m.forest.options
		m.options.Forest = m.forest.options
		if m.forest.Numeric() != (d.Numbers != nil) {
			return nil, damageError("the forest is not of the label's kind")
		}
	}
	if s.Process != nil {
		if err := m.restoreProcess(ctx, s.Process, d); err != nil {
			return nil, err
		}
	}
	if m.forest == nil && m.process == nil {
		return nil, damageError("there is neither a forest nor a process")
	}
	if q := s.HeldOut; q.Rows < 0 || q.Rows > len(d.Rows) || q.Numbers != nil && d.Numbers == nil || q.Classes != nil && d.Classes == nil {
		return nil, damageError("held_out does not fit the %d rows", len(d.Rows))
	}
	if c := s.Choice; c != nil && (c.Chosen < 0 || c.Chosen >= len(c.Tried)) {
		return nil, damageError("choice: %d is chosen of %d that were tried", c.Chosen, len(c.Tried))
	}
	return m, nil
}

// unflattenRows converts rows from the form in a model file. It is the inverse of [flattenRows].
func unflattenRows(rows [][]int32) ([][]Part, error) {
	all := make([][]Part, len(rows))
	for r, row := range rows {
		if len(row)%2 != 0 {
			return nil, damageError("row %d has %d numbers and must have pairs of ingredient and amount", r, len(row))
		}
		for k := 0; k < len(row); k += 2 {
			all[r] = append(all[r], Part{row[k], row[k+1]})
		}
	}
	return all, nil
}

// restoreForest reads the forest that is part of a model file. It returns nil if the file has no
// forest.
func restoreForest(text json.RawMessage, d *Data, rows int) (*Forest, error) {
	if text == nil {
		return nil, nil
	}
	f, err := parseForest(text)
	if err != nil {
		return nil, err
	}
	if f.label != d.Label || f.totalAmount != d.Total || f.rowCount != rows || !slices.Equal(f.ingredients, d.Ingredients) {
		return nil, damageError("the forest is of another label, other ingredients, another total or other rows than the model")
	}
	return f, nil
}

// restoreProcess sets the Gaussian process of the model. It computes the process from the rows of d
// and the saved hyperparameters.
func (m *LearnedModel) restoreProcess(ctx context.Context, s *savedProcess, d *Data) (err error) {
	if d.Numbers == nil {
		return damageError("there is a process of classes")
	}
	known := *d
	if m.options.Log {
		if known.Numbers, err = logLabels(d); err != nil {
			return damageError("%v", err)
		}
		known.SD = logSDs(d)
	}
	kernel, err := ParseKernel(s.Kernel)
	if err != nil {
		return damageError("%v", err)
	}
	p, err := newProcess(&known, ProcessOptions{Kernel: kernel})
	if err != nil {
		return damageError("%v", err)
	}
	if len(s.LogLengthRatios) != len(d.Ingredients) {
		return damageError("there are %d lengths for %d ingredients", len(s.LogLengthRatios), len(d.Ingredients))
	}
	for _, v := range append([]float64{s.Length, s.Signal, s.Noise}, s.LogLengthRatios...) {
		if !(math.Abs(v) <= maxAbsHyperparameter) {
			return damageError("a hyperparameter is %v and must be within ±%v", v, maxAbsHyperparameter)
		}
	}
	p.hyperparameters = hyperparameters{s.Length, s.LogLengthRatios, s.Signal, s.Noise}
	m.process = p
	return p.precompute(ctx)
}
