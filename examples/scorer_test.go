package examples_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kir/internal/compile"
	"kir/internal/run"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// TestMain makes the test binary a scorer when it is run as one, so that the
// protocol is tested where there is no Python.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "scorer" {
		answerBatches()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// answerBatches answers batches. If the file trouble is there it holds a number of
// batches and what to do after them.
func answerBatches() {
	in := bufio.NewReader(os.Stdin)
	for batch := 0; ; batch++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		if text, err := os.ReadFile("trouble"); err == nil {
			after, what, _ := strings.Cut(string(text), " ")
			_, died := os.Stat("died")
			if n, err := strconv.Atoi(after); err == nil && batch >= n || died == nil {
				switch what {
				case "die": // and once more when it is started again
					fmt.Fprintln(os.Stderr, "no more ink")
					os.WriteFile("died", nil, 0o644)
					os.Exit(7)
				case "hang":
					time.Sleep(time.Minute)
				default:
					fmt.Println(what)
					continue
				}
			}
		}
		var recipes []map[string]float64
		if err := json.Unmarshal(line, &recipes); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		scores := make([]float64, len(recipes))
		for k, recipe := range recipes {
			for _, name := range slices.Sorted(maps.Keys(recipe)) {
				scores[k] += math.Sqrt(recipe[name]) * float64(len(name))
			}
		}
		answer, err := json.Marshal(scores)
		if err != nil {
			os.Exit(1)
		}
		fmt.Printf("%s\n", answer)
	}
}

// TestScorer runs the example with scikit-learn, for a few of its draws.
func TestScorer(t *testing.T) {
	if out, err := exec.Command("python3", "-c", "import sklearn").CombinedOutput(); err != nil {
		t.Skipf("python3 has no scikit-learn (%v): %s", err, out)
	}
	var told []string
	p, err := compile.Load(compile.AllowPrograms(context.Background()), "scorer/problem.yaml", compile.Options{
		OverrideSampler: func(s *mcmc.Settings) { s.Warmup, s.Draws = 100, 50 },
		Notify:          func(message string) { told = append(told, message) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s := p.Sampler
	sums := make([]float64, s.Chains)
	sampler, err := s.Sampler(p.Target)
	if err != nil {
		t.Fatal(err)
	}
	_, err = mcmc.Stream(t.Context(), sampler, s, 0, func(chain, _ int, x *mcmc.State) error {
		sums[chain] += x.AppendScores(nil)[0] / float64(s.Draws)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// Random drinks of as many ingredients score about 0.1.
	mean := 0.0
	for _, m := range sums {
		mean += m / float64(s.Chains)
	}
	if mean < 0.2 || mean > 1 {
		t.Errorf("the draws score %v on average", mean)
	}
	if len(told) > 0 {
		t.Errorf("the scorer was restarted: %q", told)
	}
	t.Logf("mean scores %v", sums)
}

// loadScored reads a problem in a directory whose scorer is this binary.
func loadScored(t *testing.T, dir string, draws int) *compile.Problem {
	t.Helper()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "problem.yaml")
	text := fmt.Sprintf(`ingredients: [Gin, Rum, Lime juice, Sugar, Mint, Soda water, Champagne]
total: 100
sparsity: {uniform: [1, 4]}
properties:
  length: {program: {command: [%q, scorer], timeout: 0.5, processes: 2}}
sampler: {kernel: balanced, chains: 2, warmup: 50, draws: %d, thin: 1, seed: 3}
`, self, draws)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := compile.Load(compile.AllowPrograms(context.Background()), path, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// scoredRun is the run of a problem.
func scoredRun(p *compile.Problem) *run.Spec {
	s := &run.Spec{
		Name: p.Name, Ingredients: p.Ingredients, Target: p.Target, ResolvedProblem: p.Resolved, Version: "test",
		Settings: p.Sampler,
	}
	for _, in := range p.Inputs {
		s.Inputs = append(s.Inputs, run.Input(in))
	}
	return s
}

// readDraws returns the draws of a chain, as text.
func readDraws(t *testing.T, dir string, chain int) (all []string) {
	r, err := run.Open(t.Context(), run.NewDirectoryStore(dir))
	if err != nil {
		t.Fatal(err)
	}
	for d, err := range r.ChainDraws(t.Context(), chain) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(*d))
	}
	return all
}

// A scorer that fails ends the run with a message that quotes it. The run is
// resumed once the scorer is put right, and its files of draws are those of a run
// that was never troubled.
func TestScoredRunIsResumed(t *testing.T) {
	// The trouble comes in the middle of the draws.
	n := testmode.Pick(3000, 800)
	middle := strconv.Itoa(n / 2)
	whole := t.TempDir()
	if _, err := run.Start(t.Context(), scoredRun(loadScored(t, whole, n)), run.NewDirectoryStore(filepath.Join(whole, "run")), run.Options{Workers: 2}); err != nil {
		t.Fatal(err)
	}
	for trouble, says := range map[string]string{
		middle + " die":          `exit status 7`,
		middle + " hang":         "did not answer",
		middle + " Segmentation": `"Segmentation"`,
		middle + " [NaN]":        `"[NaN]"`,
		middle + " [-1]":         "-1",
		"0 {}":                   `"{}"`, // before there is a first draw
	} {
		t.Run(trouble, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "trouble"), []byte(trouble), 0o644); err != nil {
				t.Fatal(err)
			}
			options := run.Options{Workers: 2, Interval: time.Millisecond}
			p := loadScored(t, dir, n)
			_, err := run.Start(t.Context(), scoredRun(p), run.NewDirectoryStore(filepath.Join(dir, "run")), options)
			var bad *mcmc.ScoreError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), says) {
				t.Fatalf("the run ended with %v, which does not say %s", err, says)
			}
			if err := os.Remove(filepath.Join(dir, "trouble")); err != nil {
				t.Fatal(err)
			}
			goOn := run.Resume
			if strings.HasPrefix(trouble, "0 ") {
				goOn = run.Start
			}
			if _, err := goOn(t.Context(), scoredRun(loadScored(t, dir, n)), run.NewDirectoryStore(filepath.Join(dir, "run")), options); err != nil {
				t.Fatal(err)
			}
			for chain := range 2 {
				want, got := readDraws(t, filepath.Join(whole, "run"), chain), readDraws(t, filepath.Join(dir, "run"), chain)
				if !slices.Equal(got, want) {
					t.Errorf("the draws of chain %d differ from those of a run without trouble", chain)
				}
			}
		})
	}
}
