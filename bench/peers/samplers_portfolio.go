package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"kir/mcmc"
	"kir/property"
	"kir/rule"
)

// A portfolioQuestion asks for a portfolio of few assets; see python/samplers_skfolio.py.
type portfolioQuestion struct {
	Returns    []float64   `json:"returns"`
	Covariance [][]float64 `json:"covariance"`
	Aversion   float64     `json:"aversion"`
	Most       int         `json:"most"`
	Least      float64     `json:"least"`
	Solver     string      `json:"solver"`
	Seconds    float64     `json:"seconds"`
	Scale      float64     `json:"scale,omitempty"` // of skfolio's objective and constraints
}

// portfolioTotal is kir's total: steps of a thousandth.
const portfolioTotal = 1000

// utility returns what weights are worth, and what they break.
func (q *portfolioQuestion) utility(w []float64) (value float64, broken string) {
	sum, held := 0.0, 0
	for i, share := range w {
		sum += share
		value += q.Returns[i] * share
		for j, other := range w {
			value -= q.Aversion * share * q.Covariance[i][j] * other
		}
		if share > tolerance {
			held++
			if share < q.Least-tolerance {
				broken = "the smallest share"
			}
		}
		if share < -tolerance {
			broken = "a negative share"
		}
	}
	if math.Abs(sum-1) > 10*tolerance {
		broken = "the total"
	}
	if held > q.Most {
		broken = "the count"
	}
	return value, broken
}

// readMarketIndex reads the assets of a market index as the OR-Library has them.
func readMarketIndex(path string) (q portfolioQuestion, err error) {
	f, err := os.Open(path)
	if err != nil {
		return q, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	read := func(into ...any) {
		if _, e := fmt.Fscan(r, into...); e != nil && err == nil {
			err = fmt.Errorf("%s: %w", path, e)
		}
	}
	n := 0
	read(&n)
	deviations := make([]float64, n)
	for k := range n {
		mean := 0.0
		read(&mean, &deviations[k])
		q.Returns, q.Covariance = append(q.Returns, mean), append(q.Covariance, make([]float64, n))
	}
	for range n * (n + 1) / 2 {
		i, j, correlation := 1, 1, 0.0
		read(&i, &j, &correlation)
		if err != nil || min(i, j) < 1 || max(i, j) > n {
			return q, errors.Join(err, fmt.Errorf("%s: no index of the OR-Library", path))
		}
		q.Covariance[i-1][j-1] = correlation * deviations[i-1] * deviations[j-1]
		q.Covariance[j-1][i-1] = q.Covariance[i-1][j-1]
	}
	return q, err
}

// generatedIndex draws assets of five factors.
func generatedIndex(n int) (q portfolioQuestion) {
	r := rand.New(rand.NewPCG(uint64(n), 29))
	loads := make([][5]float64, n)
	for i := range n {
		for k := range loads[i] {
			loads[i][k] = 0.02 + 0.015*r.NormFloat64()
		}
		q.Returns = append(q.Returns, 0.008*r.Float64())
	}
	for i := range n {
		row := make([]float64, n)
		for j := range n {
			for k := range loads[i] {
				row[j] += loads[i][k] * loads[j][k]
			}
		}
		own := 0.02 + 0.04*r.Float64()
		row[i] += own * own
		q.Covariance = append(q.Covariance, row)
	}
	return q
}

// portfolios measures the best portfolio of few assets.
func (b *samplerBench) portfolios(ctx context.Context) error {
	type portfolioCase struct {
		name string
		q    portfolioQuestion
	}
	var cases []portfolioCase
	add := func(name string, q portfolioQuestion, most int, aversion float64) {
		q.Most, q.Aversion, q.Least, q.Seconds = most, aversion, 0.01, 120
		cases = append(cases, portfolioCase{fmt.Sprintf("%s, at most %d, aversion %g", name, most, aversion), q})
	}
	if b.index != "" {
		q, err := readMarketIndex(b.index)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(b.index), filepath.Ext(b.index))
		add(name, q, 10, 1)
		add(name, q, 5, 10)
		add(name, q, 3, 50)
	}
	for _, n := range []int{100, 225} {
		add(fmt.Sprint(n, " generated assets"), generatedIndex(n), 10, 10)
	}
	program := filepath.Join(b.scratch, "kir")
	build := exec.CommandContext(ctx, "go", "build", "-C", "..", "-o", program, "./cmd/kir")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build kir: %w", err)
	}
	for _, c := range cases {
		for seed := range b.seeds {
			for _, arm := range []string{"kir", "kir search", "skfolio, SCIP", "skfolio, SCIP, scaled", "skfolio, HiGHS", "SCIP", "HiGHS", "HiGHS, returns alone"} {
				r := samplerRecord{Task: "portfolios", On: c.name, Arm: arm, Seed: seed}
				isExact := !strings.HasPrefix(arm, "kir")
				if b.isMeasured(r) || isExact && seed > 0 { // the solvers have no seed
					continue
				}
				if err := b.invest(ctx, program, c.q, &r); err != nil {
					return fmt.Errorf("%s on %s: %w", arm, c.name, err)
				}
				if w := r.Vectors["weights"]; w != nil {
					q := c.q
					if arm == "HiGHS, returns alone" {
						q.Aversion = 0
					}
					if r.Figures == nil {
						r.Figures = make(map[string]float64)
					}
					value, broken := q.utility(w)
					if r.Figures["utility"] = value; broken != "" {
						r.Refused = "breaks " + broken
					}
				}
				if err := b.add(r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// invest has an arm answer.
func (b *samplerBench) invest(ctx context.Context, program string, q portfolioQuestion, r *samplerRecord) error {
	script := ""
	switch r.Arm {
	case "kir":
		return b.investByCommand(ctx, program, q, r)
	case "kir search":
		return investBySearch(ctx, q, 3*time.Second, r)
	case "skfolio, SCIP":
		script, q.Solver = "skfolio", "SCIP"
	case "skfolio, SCIP, scaled":
		script, q.Solver, q.Scale = "skfolio", "SCIP", 1e4
	case "skfolio, HiGHS":
		script, q.Solver = "skfolio", "HIGHS"
	case "SCIP":
		script = "scip"
	case "HiGHS":
		script = "highs"
	case "HiGHS, returns alone":
		script, q.Aversion = "highs", 0
	}
	return b.ask(ctx, script, q, r, nil)
}

// investBySearch lets a tempered chain look for the best, and notes when it found the last.
func investBySearch(ctx context.Context, q portfolioQuestion, limit time.Duration, r *samplerRecord) error {
	const weight, scans, warmup = 1e6, 100, 2000
	runtime.GC()
	began, before := time.Now(), processorSeconds()
	score, err := property.NewMarkowitz(q.Returns, q.Covariance, q.Aversion, portfolioTotal)
	if err != nil {
		return err
	}
	set := rule.Set{Ingredients: len(q.Returns), Total: portfolioTotal}
	for i := range q.Returns {
		set.Rules = append(set.Rules, rule.Amount{Of: []int{i}, Min: int(math.Round(q.Least * portfolioTotal))})
	}
	law := mcmc.Uniform(1, q.Most)
	space, err := mcmc.NewRuledSpace(ctx, set, mcmc.CountingOptions{Law: law, Workers: 1})
	if err != nil {
		return err
	}
	target, err := mcmc.NewTarget(space, law, mcmc.Objective{Name: "utility", Property: score, Weight: weight})
	if err != nil {
		return err
	}
	sampler, err := mcmc.NewSampler("tempered", target)
	if err != nil {
		return err
	}
	c, err := sampler.NewChain(uint64(r.Seed), 0)
	if err != nil {
		return err
	}
	best := math.Inf(-1)
	weights := make([]float64, len(q.Returns))
	r.Figures = make(map[string]float64)
	for made := 0; processorSeconds()-before < limit.Seconds() && ctx.Err() == nil; made += scans {
		advance := c.Advance
		if made < warmup {
			advance = c.Warm
		}
		c.RecordVisited(best)
		if err := advance(scans); err != nil {
			return err
		}
		if made+scans == warmup {
			c.EndWarmup()
		}
		if err := c.DrainVisited(func(f mcmc.VisitedState) error {
			if f.LogScore > best {
				best, r.Figures["found_after"] = f.LogScore, processorSeconds()-before
				clear(weights)
				for _, p := range f.Parts {
					weights[p.Ingredient] = float64(p.Amount) / portfolioTotal
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	r.Vectors = map[string][]float64{"weights": weights}
	r.Processor, r.Seconds = processorSeconds()-before, time.Since(began).Seconds()
	return ctx.Err()
}

// investByCommand has kir sample answer, as a user would ask it.
func (b *samplerBench) investByCommand(ctx context.Context, program string, q portfolioQuestion, r *samplerRecord) error {
	dir, err := os.MkdirTemp(b.scratch, "portfolio-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	assets, covariance := [][]string{{"name", "return"}}, [][]string{{"name"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for i, v := range q.Returns {
		name := fmt.Sprint("asset ", i+1)
		assets, covariance[0] = append(assets, []string{name, number(v)}), append(covariance[0], name)
		row := []string{name}
		for _, v := range q.Covariance[i] {
			row = append(row, number(v))
		}
		covariance = append(covariance, row)
	}
	text := fmt.Sprintf("total: %d\ningredients: assets.csv\nsparsity: {uniform: [1, %d]}\nproperties:\n  utility:\n    markowitz: {returns: {attribute: return}, covariance: covariance.csv, risk_aversion: %g}\n    weight: 1000000\nconstraints:\n  - amount: {of: \"*\", min: %g%%}\n",
		portfolioTotal, q.Most, q.Aversion, 100*q.Least)
	file := filepath.Join(dir, "problem.yaml")
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), writeTable(filepath.Join(dir, "assets.csv"), assets), writeTable(filepath.Join(dir, "covariance.csv"), covariance)); err != nil {
		return err
	}
	began := time.Now()
	c := exec.CommandContext(ctx, program, "sample", file, "-o", filepath.Join(dir, "run"), "--seed", strconv.Itoa(r.Seed+1))
	c.Env = append(os.Environ(), "GOMAXPROCS=1", "XDG_CACHE_HOME="+dir) // nothing has been counted before
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("kir sample: %w\n%s", err, out)
	}
	r.Seconds, r.Processor = time.Since(began).Seconds(), (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	summary, err := os.ReadFile(filepath.Join(dir, "run", "summary.json"))
	if err != nil {
		return err
	}
	var s struct {
		Answer struct {
			Bound *struct {
				Score, Best *float64
				Proved      bool
			}
		}
		Best []struct{ Recipe map[string]int }
	}
	if err := json.Unmarshal(summary, &s); err != nil {
		return err
	}
	if len(s.Best) == 0 {
		r.Refused = "there is no suggestion"
		return nil
	}
	weights := make([]float64, len(q.Returns))
	for name, units := range s.Best[0].Recipe {
		i := slices.Index(covariance[0], name) - 1
		weights[i] = float64(units) / portfolioTotal
	}
	r.Vectors, r.Figures = map[string][]float64{"weights": weights}, map[string]float64{}
	if bound := s.Answer.Bound; bound != nil && bound.Proved {
		r.Figures["proved"] = 1
	}
	return nil
}
