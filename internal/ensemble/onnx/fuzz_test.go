package onnx

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func FuzzRead(f *testing.F) {
	paths, err := filepath.Glob("../testdata/*.onnx")
	if err != nil || len(paths) < 10 {
		f.Fatalf("%d models are recorded: %v", len(paths), err)
	}
	more, _ := filepath.Glob("testdata/*.onnx")
	for _, path := range append(paths, more...) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 6000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(m.Inputs) < 1000 {
			sums := m.Sums(make([]float64, len(m.Inputs)))
			for _, o := range m.Outputs[:min(len(m.Outputs), 10)] {
				o.Compute(sums, max(len(o.Classes)-1, 0))
			}
		}
	})
}
