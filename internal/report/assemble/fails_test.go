package assemble

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"kir/internal/compile"
	"kir/internal/run"
	"kir/internal/search"
	"kir/mcmc"
)

// A failing store fails at one of its reads.
type failingStore struct {
	run.Store
	left *atomic.Int64
}

// counter returns a count that several goroutines take from.
func counter(n int) *atomic.Int64 {
	c := new(atomic.Int64)
	c.Store(int64(n))
	return c
}

var errLost = errors.New("the connection is lost")

func (s *failingStore) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if s.left.Add(-1) == 0 {
		return nil, errLost
	}
	return s.Store.Read(ctx, name, offset, length)
}

func (s *failingStore) List(ctx context.Context, prefix string) ([]run.File, error) {
	if s.left.Add(-1) == 0 {
		return nil, errLost
	}
	return s.Store.List(ctx, prefix)
}

// A countdown is a context that ends when it is asked for the last time.
type countdown struct {
	context.Context
	left *atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestFailuresAreTold: whichever read or score fails while a report, a check, a scorecard
// or an answer is made, and whenever somebody tells it to stop, nothing is made of the
// rest.
func TestFailuresAreTold(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "problem.yaml")
	if err := os.WriteFile(file, []byte("total: 12\nrecipes: r.csv\nsparsity: {uniform: [1, 3]}\nproperties: {y: {expression: \"0.2 + share('a')\"}}\nsampler: {kernel: accelerated, chains: 2, draws: 40, warmup: 10}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "r.csv"), []byte("recipe,ingredient,amount\nA,a,1\nA,b,2\nB,b,1\nB,c,1\nC,c,3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	made := sampleFile(t, file, nil)
	p := made.problem
	defer p.Close()
	for k := 1; ; k++ {
		store := &failingStore{made.store, counter(k)}
		_, err := Model(t.Context(), p, store, made.result, nil, "test")
		if store.left.Load() > 0 {
			if err != nil || k < 5 {
				t.Errorf("of %d reads none fails, and it says %v", k, err)
			}
			break
		}
		if !errors.Is(err, errLost) {
			t.Errorf("read %d fails, and it says %v", k, err)
		}
	}

	left := counter(math.MaxInt)
	failing := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		if left.Add(-1) == 0 {
			return math.NaN()
		}
		return 0.2 + float64(x.Amount(0))/12
	})
	bad, err := p.Target.WithObjectives(mcmc.Objective{Name: "y", Property: failing, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := *p
	q.Target = bad
	for name, make := range map[string]func(ctx context.Context, p *compile.Problem) error{
		"check": func(_ context.Context, p *compile.Problem) error { _, err := Check(p); return err },
		"answer": func(ctx context.Context, p *compile.Problem) error {
			_, _, err := Answer(ctx, p, made.result.Answer)
			return err
		},
	} {
		for k := 1; ; k += 1 + k/20 {
			left.Store(int64(k))
			err := make(t.Context(), &q)
			if left.Load() > 0 {
				if err != nil || k < 20 {
					t.Errorf("%s: of %d scores none fails, and it says %v", name, k, err)
				}
				break
			}
			// Where random compositions tell what a wish has by chance, a score is no error.
			var score *mcmc.ScoreError
			if !errors.As(err, &score) && (name == "check" || k <= len(made.result.Answer.Entries)) {
				t.Errorf("%s: score %d is no number, and it says %v", name, k, err)
			}
		}
		left.Store(math.MaxInt)
	}
	for k := range 500 {
		if _, _, err := Answer(&countdown{t.Context(), counter(k)}, p, made.result.Answer); !errors.Is(err, context.Canceled) {
			t.Fatalf("told to stop when asked %d times: %v", k, err)
		}
	}
	if _, _, err := Answer(&countdown{t.Context(), counter(500)}, p, made.result.Answer); err != nil {
		t.Errorf("it asks more than 500 times: %v", err)
	}
	broken := *made.result.Answer
	broken.Entries = []search.Entry{{Found: search.Found{Parts: []mcmc.Part{{Ingredient: 99, Amount: 12}}}}}
	if _, _, err := Answer(t.Context(), p, &broken); err == nil {
		t.Error("an entry of no ingredient is told of")
	}
	if _, _, err := Answer(t.Context(), p, nil); err != nil {
		t.Errorf("no answer: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Model(over, p, made.store, made.result, nil, "test"); !errors.Is(err, context.Canceled) {
		t.Errorf("told to stop: %v", err)
	}
}
