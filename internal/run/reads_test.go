package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/parquet-go/parquet-go"

	"kir/mcmc"
)

// An unread store fails one time that it is read or listed.
type unread struct {
	Store
	at    int64 // the time; 0: never
	calls *atomic.Int64
}

func (u unread) fails() error {
	if n := u.calls.Add(1); n == u.at {
		return errShaken
	}
	return nil
}

func (u unread) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := u.fails(); err != nil {
		return nil, err
	}
	return u.Store.Read(ctx, name, offset, length)
}

func (u unread) List(ctx context.Context, prefix string) ([]File, error) {
	if err := u.fails(); err != nil {
		return nil, err
	}
	return u.Store.List(ctx, prefix)
}

// TestEveryReadFault: a disk that cannot be read once is told by all that reads a run,
// and what is told of it with the disk mended is what it was.
func TestEveryReadFault(t *testing.T) {
	spec := faultSpec(t, 300)
	dir, want := start(t, spec, Options{Workers: 1})
	for name, read := range map[string]func(store Store) error{
		"its draws": func(store Store) error {
			r, err := Open(t.Context(), store)
			if err != nil {
				return err
			}
			if err := r.CheckComplete(); err != nil {
				return err
			}
			for _, err := range r.Draws(t.Context()) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"a merge": func(store Store) error {
			got, err := Merge(t.Context(), spec, store, Options{Workers: 1})
			if err == nil && !equalResults(got, want) {
				t.Errorf("the merged run is %+v, want %+v", got, want)
			}
			return err
		},
		"going on": func(store Store) error {
			_, err := Resume(t.Context(), spec, store, Options{Workers: 1})
			if errors.Is(err, ErrComplete) {
				return nil
			}
			return err
		},
	} {
		var calls atomic.Int64
		if err := read(unread{NewDirectoryStore(dir), 0, &calls}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %d calls", name, calls.Load())
		for at, all := int64(1), calls.Load(); at <= all; at++ {
			calls.Store(0)
			if err := read(unread{NewDirectoryStore(dir), at, &calls}); !errors.Is(err, syscall.EIO) {
				t.Errorf("%s, call %d of %d: the error is %v", name, at, all, err)
			}
		}
	}
}

// TestFiguresFail: an error names a property that fails when the draws are summed up.
func TestFiguresFail(t *testing.T) {
	broken := false
	wish := mcmc.Objective{Name: "breaks", Weight: 1, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		if broken {
			return math.NaN()
		}
		return 1
	})}
	spec := newSpec(t, 6, 10, mcmc.Uniform(1, 3), mcmc.Settings{Kernel: "balanced", Chains: 1, Warmup: 10, Draws: 50, Thin: 1, Seed: 1}, wish)
	store := NewDirectoryStore(filepath.Join(t.TempDir(), "run"))
	if _, err := Start(t.Context(), spec, store, Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	broken = true
	if f, err := computeFigures(t.Context(), spec, store, r.Manifest, 1); err == nil {
		t.Errorf("a property without scores makes %+v", f)
	}
}

// TestPartsThatAreNot: parts that the library reads, and that cannot be of the run, are
// told to be damaged, by what is wrong with them.
func TestPartsThatAreNot(t *testing.T) {
	names := []string{"Gin", "Rum", "Lime"}
	score := mcmc.Objective{Name: "score", Property: mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 1 })}
	spec := newSpec(t, 3, 10, mcmc.Uniform(1, 3), mcmc.Settings{Kernel: "balanced", Chains: 1, Draws: 1, Thin: 1}, score)
	table := newPartLayout([]string{"score"}, nil, names)
	number := func(k, at int, v int64) func(p *partWriter) {
		return func(p *partWriter) { p.pendingValues[k][at] = parquet.Int64Value(v).Level(0, 0, k) }
	}
	used := func(v ...int32) func(p *partWriter) {
		return func(p *partWriter) {
			for k := range v {
				p.pendingValues[2][k] = parquet.Int32Value(v[k]).Level(0, 0, 2)
			}
		}
	}
	for _, c := range []struct {
		name, run  string
		chain      int
		properties []string
		change     func(p *partWriter)
		want       string
	}{
		{"as it is", "a", 0, []string{"score"}, func(*partWriter) {}, "2 draws"},
		{"of another run", "b", 0, []string{"score"}, func(*partWriter) {}, "it is of another run"},
		{"of another chain", "a", 1, []string{"score"}, func(*partWriter) {}, `it is of chain "0"`},
		{"of other properties", "a", 0, []string{"other"}, func(*partWriter) {}, "its columns are not those of the run"},
		{"of fewer properties", "a", 0, nil, func(*partWriter) {}, "its columns are not those of the run"},
		{"of other numbers", "a", 0, []string{"score"}, number(0, 1, 7), "draw 7 stands where draw 6 should"},
		{"without ingredients", "a", 0, []string{"score"}, used(0, 4), "the lists of draw 5 are too short"},
		{"of more ingredients", "a", 0, []string{"score"}, used(2, 3), "the lists of draw 6 are too short"},
		{"of fewer ingredients", "a", 0, []string{"score"}, used(2, 1), "the lists up to draw 6 are too long"},
		{"out of order", "a", 0, []string{"score"}, func(p *partWriter) {
			p.pendingValues[4][0], p.pendingValues[4][1] = p.pendingValues[4][1].Level(0, 1, 4), p.pendingValues[4][0].Level(1, 1, 4)
		}, "the ingredients of draw 5 are not in order"},
		{"of one ingredient twice", "a", 0, []string{"score"}, func(p *partWriter) { p.pendingValues[4][1] = table.ingredientValue(0) }, "the ingredients of draw 5 are not in order"},
		{"of an unknown ingredient", "a", 0, []string{"score"}, func(p *partWriter) { p.pendingValues[4][1] = parquet.ByteArrayValue([]byte("Tea")).Level(1, 1, 4) }, `"Tea" is no ingredient of the run`},
	} {
		p := table.newPartWriter("a", 0)
		for draw, parts := range [][]mcmc.Part{{{Ingredient: 0, Amount: 4}, {Ingredient: 2, Amount: 6}}, {{Ingredient: 1, Amount: 7}, {Ingredient: 2, Amount: 3}}} {
			x, err := mcmc.NewComposition(3, parts...)
			if err != nil {
				t.Fatal(err)
			}
			state, err := mcmc.NewState(spec.Target, x)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.add(5+draw, state, []float64{1}); err != nil {
				t.Fatal(err)
			}
		}
		c.change(p)
		data, err := p.close()
		if err != nil {
			t.Fatal(err)
		}
		m := &Manifest{Run: c.run, Settings: spec.Settings, Total: 10, Properties: c.properties, Ingredients: names}
		r, err := openPart(bytes.NewReader(data), int64(len(data)), m, c.chain)
		said := ""
		if err == nil {
			r.ingredientIndex = newIngredientFinder(m)
			var draws int
			draws, _, err = r.visitDraws(data, new(rowGroupData), &Draw{Scores: make([]float64, len(c.properties))}, c.properties, 5, func(int) bool { return true }, func(*Draw) bool { return true })
			said = fmt.Sprint(draws, " draws")
		}
		if err != nil {
			said = err.Error()
		}
		if err != nil && !errors.Is(err, ErrDamaged) || !strings.HasSuffix(said, c.want) {
			t.Errorf("a part %s says %q, want %q", c.name, said, c.want)
		}
	}
}
