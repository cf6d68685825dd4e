package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kir/bench/front"
)

// samplerPython returns a bench with the virtual environment of -install -samplers, which KIR_SAMPLERS may name.
func samplerPython(t *testing.T) *samplerBench {
	t.Helper()
	environment := os.Getenv("KIR_SAMPLERS")
	if environment == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip("there is no directory of caches: ", err)
		}
		environment = filepath.Join(cache, "kir-samplers")
	}
	b := &samplerBench{python: filepath.Join(environment, "bin", "python"), scripts: "python", limit: time.Minute, scratch: t.TempDir(), seeds: 1}
	if _, err := os.Stat(b.python); err != nil {
		t.Skip("there is no environment; make it with go run -C bench ./peers -install -samplers: ", err)
	}
	return b
}

// threeAssets is a portfolio of two of three assets, of which the second and third are best.
func threeAssets() portfolioQuestion {
	return portfolioQuestion{Returns: []float64{0.001, 0.01, 0.01}, Aversion: 5, Most: 2, Least: 0.01, Seconds: 10,
		Covariance: [][]float64{{0.01, 0, 0}, {0, 0.01, 0}, {0, 0, 0.01}}}
}

// TestPeersOfSamplers: SCIP finds a portfolio that is known, and DEAP evolves by kir's losses.
func TestPeersOfSamplers(t *testing.T) {
	b := samplerPython(t)
	t.Run("scip", func(t *testing.T) {
		q, r := threeAssets(), samplerRecord{}
		if err := b.ask(t.Context(), "scip", q, &r, nil); err != nil || r.Refused != "" {
			t.Fatal(err, r.Refused)
		}
		w := r.Vectors["weights"]
		if u, broken := q.utility(w); broken != "" || math.Abs(u-(0.01-0.025)) > 1e-6 || math.Abs(w[1]-0.5) > 0.01 {
			t.Errorf("%v has a utility of %v and breaks %q", w, u, broken)
		}
	})
	t.Run("deap", func(t *testing.T) {
		e, first := bentCase(t, 20)
		r := samplerRecord{}
		q := evolutionQuestion{Genes: len(first[0]), Objectives: 2, Start: first, Seed: 1}
		if err := b.ask(t.Context(), "deap", q, &r, e.evaluate); err != nil || r.Refused != "" {
			t.Fatal(err, r.Refused)
		}
		if e.spent != 200 || len(e.fronts) != 2 || r.Processor <= 0 || !slices.Contains(r.Versions, "deap 1.4.4") {
			t.Errorf("%d evaluations, %d fronts, %+v", e.spent, len(e.fronts), r)
		}
	})
}

// bentCase returns the problem whose front bends inwards, and a first generation.
func bentCase(t *testing.T, lines int) (*evolved, [][]float64) {
	t.Helper()
	path, err := front.WriteBent(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, c, err := front.Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	e := newEvolved(c, lines, 0)
	first, err := e.start(0, 100)
	if err != nil || len(first) != 100 {
		t.Fatal(len(first), err)
	}
	return e, first
}

// TestGenes: genes of a recipe are those of the recipe, what breaks a rule has no losses, and evaluations end.
func TestGenes(t *testing.T) {
	e, first := bentCase(t, 1)
	for _, genes := range first {
		if x := e.compositionOf(genes); x == nil || !slices.Equal(e.genesOf(x), genes) {
			t.Fatalf("%v became %v", genes, x)
		}
	}
	said, err := e.evaluate([]byte(`{"evaluate":[[0,1,0.1,0,0,0,0,0,0]]}`)) // ingredient a without h
	if err != nil || e.spent != 0 || said.(map[string]any)["left"] != 10 {
		t.Errorf("%v after %d evaluations, %v", said, e.spent, err)
	}
	for range 12 {
		if said, err = e.evaluate([]byte(`{"evaluate":[[0,0,0,0.5,0.5,0,0,0,0]]}`)); err != nil {
			t.Fatal(err)
		}
	}
	if e.spent != 10 || said.(map[string]any)["left"] != 0 || len(e.fronts) != 2 || len(e.fronts[0]) != 1 {
		t.Errorf("%v after %d evaluations, %v", said, e.spent, e.fronts)
	}
}

// TestDrawsByKir: draws keep the rules, and kir's figures of them are those of independent draws.
func TestDrawsByKir(t *testing.T) {
	b := &samplerBench{scratch: t.TempDir()}
	q := drawQuestion{Low: []float64{0.1, 0.1, 0.1}, High: []float64{0.6, 0.8, 0.8}, Groups: []shareGroup{{[]int{0, 1}, 0.5, 0.7}}}
	r := samplerRecord{}
	if err := b.draw(t.Context(), q, drawArm{"kir exact", "", "exact", 1000, 4, 0, 500, 1}, &r); err != nil {
		t.Fatal(err)
	}
	// The third share is 1 less the group, and uniform where the first may be anything the group leaves.
	if m := r.Vectors["mean"]; math.Abs(m[0]+m[1]+m[2]-1) > 1e-9 || m[2] < 0.3 || m[2] > 0.5 || r.Figures["ess_bulk"] < 1500 || r.Figures["rhat"] > 1.01 {
		t.Errorf("%+v", r)
	}
	if _, ok := r.Figures["difference_rhat"]; ok {
		t.Error("figures without Python are compared with themselves")
	}
}

// TestUtility: weights are worth what the question says, and each rule that they break is named.
func TestUtility(t *testing.T) {
	q := threeAssets()
	if u, broken := q.utility([]float64{0, 0.5, 0.5}); broken != "" || math.Abs(u+0.015) > 1e-12 {
		t.Errorf("%v, %q", u, broken)
	}
	for want, w := range map[string][]float64{"the count": {0.2, 0.4, 0.4}, "the total": {0, 0.5, 0.4}, "a negative share": {-0.1, 0.6, 0.5}, "the smallest share": {0.005, 0.995, 0}} {
		if _, broken := q.utility(w); broken != want {
			t.Errorf("%v breaks %q, not %q", w, broken, want)
		}
	}
}

// TestMarketIndex: a file of the OR-Library is read, and one that is cut is refused.
func TestMarketIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "port.txt")
	text := "2\n .001 .1\n .002 .2\n 1 1 1\n 1 2 .5\n 2 2 1\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	q, err := readMarketIndex(path)
	if err != nil || q.Returns[1] != 0.002 || math.Abs(q.Covariance[1][0]-0.01) > 1e-15 || math.Abs(q.Covariance[1][1]-0.04) > 1e-15 {
		t.Errorf("%+v, %v", q, err)
	}
	if err := os.WriteFile(path, []byte(text[:30]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readMarketIndex(path); err == nil {
		t.Error("half a file is read without an error")
	}
}

// TestSamplerReport: what was kept is read again, is not measured again, and has a row in the tables.
func TestSamplerReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.jsonl")
	b := &samplerBench{keep: path, python: "python"}
	for seed := range 2 {
		f := 100 + float64(20*seed)
		figures := map[string]float64{"per_second": f, "ess_bulk": f, "rhat": 1.002, "difference_sd": 1e-14}
		vectors := map[string][]float64{"mean": {0.5, 0.5}, "sd": {0.1, 0.1}, "mcse_mean": {0.01, 0.01}, "mcse_sd": {0.01, 0.01}}
		for _, r := range []samplerRecord{
			{Task: "polytopes", On: "square", Arm: "kir", Setup: 1, Processor: 2, Figures: figures, Vectors: vectors},
			{Task: "polytopes", On: "square", Arm: "hopsy, coordinates", Figures: figures, Vectors: map[string][]float64{"mean": {0.53, 0.47}, "sd": {0.1, 0.1}, "mcse_mean": {0.01, 0.01}, "mcse_sd": {0.01, 0.01}}},
			{Task: "evolution", On: "hill", Arm: "kir", Points: [][]float64{{0, 1}, {1, 0}, {0.2, 0.2}}, Figures: map[string]float64{"evaluations": 10}},
			{Task: "evolution", On: "hill", Arm: "deap × 10", Points: [][]float64{{0, 1}, {1, 0}}, Figures: map[string]float64{"evaluations": 100, "asked": 120}},
			{Task: "portfolios", On: "three", Arm: "kir", Figures: map[string]float64{"utility": -0.015, "proved": 1}},
			{Task: "portfolios", On: "three", Arm: "SCIP", Figures: map[string]float64{"utility": -0.03}, Refused: "breaks the count"},
			{Task: "models", On: "xgboost", Arm: "peer", Figures: map[string]float64{"trees": 500, "peer_microseconds": 1000, "kir_microseconds": 10, "difference": 1e-6, "largest": 2}},
			{Task: "models", On: "onnx", Arm: "peer", Refused: "ValueError: no"},
		} {
			r.Seed = seed
			if err := b.add(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept, err := readKept[samplerRecord](path)
	if err != nil || len(kept) != 16 {
		t.Fatal(len(kept), err)
	}
	again := &samplerBench{kept: kept, python: "python"}
	if !again.isMeasured(samplerRecord{Task: "models", On: "onnx", Arm: "peer", Seed: 1}) || again.isMeasured(samplerRecord{Task: "models", On: "onnx", Arm: "peer", Seed: 2}) {
		t.Error("what was measured is not known")
	}
	var out strings.Builder
	reportSamplers(&out, kept)
	for _, want := range []string{
		"| square | kir | 1.00 ± 0.00 | 110 ± 10 | 110 ± 10 | 1.002 | 3.0 | 0.0 |",
		"| hill | kir | 100.00 ± 0.00 | – | 10 lines |",
		"| 100, and 20 that break a rule |",
		"| three | SCIP | -0.030000000 | 1000000.0 ± 0.0, breaks the count |",
		"Diagnostics of 4 sets",
		"| sd | 1.0e-14 |",
		"| xgboost | 500 |",
		"2 times models, peer: ValueError: no",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
