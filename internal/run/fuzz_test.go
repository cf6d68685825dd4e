package run

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/mcmc"
)

// held is a store in memory, to be read.
type held map[string][]byte

func (h held) Location() string                                    { return "held" }
func (h held) Path(name string) string                             { return name }
func (h held) Create(_ context.Context, _ string, _ []byte) error  { return fs.ErrPermission }
func (h held) Replace(_ context.Context, _ string, _ []byte) error { return fs.ErrPermission }
func (h held) Remove(_ context.Context, _ string) error            { return fs.ErrPermission }

func (h held) Read(_ context.Context, name string, offset, length int64) ([]byte, error) {
	data, ok := h[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	data = data[min(offset, int64(len(data))):]
	if length >= 0 {
		data = data[:min(length, int64(len(data)))]
	}
	return data, nil
}

func (h held) List(_ context.Context, prefix string) (files []File, err error) {
	for name, data := range h {
		if strings.HasPrefix(name, prefix) {
			files = append(files, File{name, int64(len(data))})
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// heldRun makes a small run and holds its files.
func heldRun(f *testing.F) held {
	s := smallSpec(f, mcmc.Settings{Kernel: "tempered", Chains: 2, Warmup: 50, Draws: 40, Thin: 1, Seed: 3})
	dir, _ := start(f, s, Options{Workers: 1})
	files, err := NewDirectoryStore(dir).List(f.Context(), "")
	if err != nil {
		f.Fatal(err)
	}
	h := make(held)
	for _, file := range files {
		if h[file.Name], err = os.ReadFile(filepath.Join(dir, file.Name)); err != nil {
			f.Fatal(err)
		}
	}
	return h
}

// look reads all that there is of a run. What cannot be read is said.
func look(t *testing.T, h held) {
	ctx := t.Context()
	r, err := Open(ctx, h)
	if err != nil {
		if none := (*NotRunError)(nil); !errors.As(err, &none) {
			t.Fatalf("a run cannot be opened: %v", err)
		}
		return
	}
	if _, err := r.Status(); err != nil {
		t.Fatalf("a run has no status: %v", err)
	}
	for d, err := range r.Draws(ctx) {
		if err != nil {
			if unfinished := (*UnfinishedError)(nil); !errors.Is(err, ErrDamaged) && !errors.As(err, &unfinished) {
				t.Fatalf("draws cannot be read: %v", err)
			}
			return
		}
		if len(d.Parts) == 0 || len(d.Scores) != len(r.Manifest.Properties) {
			t.Fatalf("a draw is %+v", d)
		}
	}
}

// FuzzManifest reads a manifest as it is, and as it would be with its identity and its
// checksum put right by who changed it.
func FuzzManifest(f *testing.F) {
	h := heldRun(f)
	f.Add(h[manifestName])
	f.Add([]byte(`{"format": 2, "sampler": {"kernel": "gibbs", "chains": 3, "draws": 5, "thin": 1}, "total": 7, "properties": ["a"], "counted": {"prefix": "x", "count": 20000}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		of := maps.Clone(h)
		of[manifestName] = data
		look(t, of)
		var m Manifest
		if json.Unmarshal(data, &m) != nil {
			return
		}
		m.Format, m.Run = manifestFormat, m.identity()
		var err error
		if of[manifestName], err = m.encode(); err != nil {
			t.Fatal(err)
		}
		look(t, of)
		if again, err := readManifest(t.Context(), of); err == nil {
			again.Ingredient(again.IngredientCount() - 1)
			again.IngredientNames()
			_ = m.checkSameRun("held", again)
		}
	})
}

// FuzzPart reads a file of draws.
func FuzzPart(f *testing.F) {
	h := heldRun(f)
	name := partName(0, 0)
	f.Add(h[name])
	f.Fuzz(func(t *testing.T, data []byte) {
		of := maps.Clone(h)
		of[name] = data
		look(t, of)
	})
}

// FuzzState reads the state of a chain with its checksum put right, and goes on from it.
func FuzzState(f *testing.F) {
	h := heldRun(f)
	name := stateName(0)
	var plain bytes.Buffer
	if _, err := plain.ReadFrom(flate.NewReader(bytes.NewReader(h[name][len(stateHeader) : len(h[name])-sha256.Size]))); err != nil {
		f.Fatal(err)
	}
	f.Add(plain.Bytes())
	var small bytes.Buffer
	if err := gob.NewEncoder(&small).Encode(&state{Draws: 40}); err != nil {
		f.Fatal(err)
	}
	f.Add(small.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		var b bytes.Buffer
		b.WriteString(stateHeader)
		w, err := flate.NewWriter(&b, flate.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b.Bytes())
		of := maps.Clone(h)
		of[name] = append(b.Bytes(), sum[:]...)
		look(t, of)
	})
}
