package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"kir/internal/ensemble"
	"kir/internal/ensemble/lightgbm"
	"kir/internal/ensemble/onnx"
	"kir/internal/ensemble/xgboost"
)

// A modelQuestion asks for a model, its predictions of points, and the time of lines; see python/samplers_models.py.
type modelQuestion struct {
	Kind        string `json:"kind"`
	Ingredients int    `json:"ingredients"`
	Total       int    `json:"total"`
	Recipes     int    `json:"recipes"`
	Points      int    `json:"points"`
	Lines       int    `json:"lines"`
	Seed        int    `json:"seed"`
	Directory   string `json:"directory"`
}

// models measures how kir reads the models of other programs, and how long lines take.
func (b *samplerBench) models(ctx context.Context) error {
	for seed := range b.seeds {
		for _, kind := range []string{"xgboost", "lightgbm", "onnx forest", "onnx boosted", "sklearn forest", "sklearn boosted"} {
			r := samplerRecord{Task: "models", On: kind, Arm: "peer", Seed: seed}
			if b.isMeasured(r) {
				continue
			}
			q := modelQuestion{kind, 50, 1000, 2000, 100_000, 200, seed + 1, filepath.Join(b.scratch, "model")}
			if kind == "sklearn forest" || kind == "sklearn boosted" {
				q.Points, q.Lines = 10_000, 50 // they take long
			}
			if err := os.RemoveAll(q.Directory); err != nil {
				return err
			}
			if err := os.MkdirAll(q.Directory, 0o700); err != nil {
				return err
			}
			if err := b.ask(ctx, "models", q, &r, nil); err != nil {
				return err
			}
			if r.Refused == "" {
				own, err := readModel(q)
				if err != nil {
					return fmt.Errorf("%s: %w", kind, err)
				}
				for name, v := range own {
					r.Figures[name] = v
				}
				r.Figures["peer_microseconds"] = 1e6 * r.Processor / float64(q.Lines)
			}
			if err := b.add(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// readModel reads the model of a directory, and returns how far its predictions are from those recorded there and how
// long a line takes kir.
func readModel(q modelQuestion) (map[string]float64, error) {
	m, err := modelIn(q.Directory)
	if err != nil {
		return nil, err
	}
	sources := make([]ensemble.Source, q.Ingredients)
	for i := range sources {
		sources[i] = ensemble.Source{Ingredients: []int32{int32(i)}, Divisor: float64(q.Total)}
	}
	s, err := ensemble.Bind(m, q.Ingredients, q.Total, sources)
	if err != nil {
		return nil, err
	}
	points, theirs := make([]int32, q.Points*q.Ingredients), make([]float64, q.Points)
	if err := readNumbers(filepath.Join(q.Directory, "points.i32"), points); err != nil {
		return nil, err
	}
	if err := readNumbers(filepath.Join(q.Directory, "predictions.f64"), theirs); err != nil {
		return nil, err
	}
	worst, largest, different := 0.0, 0.0, 0.0
	for k, want := range theirs {
		got := m.Outputs[0].Compute(s.Sums(points[k*q.Ingredients:][:q.Ingredients]), 0)
		if float64(float32(got)) == want {
			got = want // the peer's numbers are those of float32
		}
		if got != want {
			different++
		}
		worst, largest = max(worst, math.Abs(got-want)), max(largest, math.Abs(want))
	}
	return map[string]float64{"difference": worst, "largest": largest, "different": different, "trees": float64(m.Trees()),
		"kir_microseconds": lineMicroseconds(s, points, q.Ingredients)}, nil
}

// lineMicroseconds returns the time of a line through a recipe that is new to the scorer.
func lineMicroseconds(s *ensemble.Score, points []int32, ingredients int) float64 {
	const lines = 5000
	r := rand.New(rand.NewPCG(1, 31))
	scorer := s.NewScorer()
	runtime.GC()
	before := processorSeconds()
	for k := range lines {
		x := points[k%(len(points)/ingredients)*ingredients:][:ingredients]
		var used []int32
		for i, units := range x {
			if units > 0 {
				used = append(used, int32(i))
			}
		}
		i := int(used[r.IntN(len(used))])
		scorer.Reset(x, used)
		scorer.Line(i, (i+1+r.IntN(ingredients-1))%ingredients)
	}
	return 1e6 * (processorSeconds() - before) / lines
}

// modelIn reads the one model of a directory.
func modelIn(dir string) (*ensemble.Model, error) {
	if text, err := os.ReadFile(filepath.Join(dir, "model.json")); err == nil {
		return xgboost.Read(bytes.NewReader(text))
	}
	if text, err := os.ReadFile(filepath.Join(dir, "model.txt")); err == nil {
		return lightgbm.Read(bytes.NewReader(text))
	}
	text, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return nil, err
	}
	return onnx.Read(bytes.NewReader(text))
}

// readNumbers reads a file of little-endian numbers.
func readNumbers(path string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return binary.Read(f, binary.LittleEndian, into)
}
