package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"kir/internal/pareto"
)

// A table is a table of measured recipes, as bench/campaign exports it.
type table struct {
	Name        string        `json:"name"`
	Ingredients []string      `json:"ingredients"`
	Total       int           `json:"total"`
	Most        int           `json:"most"`
	Units       [][]int       `json:"units"`
	Worth       []*float64    `json:"worth"`
	Starts      map[int][]int `json:"starts"`

	Problem string               `json:"problem"`
	Stock   string               `json:"stock"`
	Results []map[string]float64 `json:"results"`

	Second []float64   `json:"second"` // of two objectives
	Prices []float64   `json:"prices"`
	Scaled [][]float64 `json:"scaled"`
	Volume float64     `json:"volume"`

	Conditions []condition `json:"conditions"`
	Settings   [][]any     `json:"settings"`
	Features   [][]float64 `json:"features"`
}

// readTables has bench/campaign read the tables of a task from a directory.
func readTables(ctx context.Context, task, dir, only string, seeds int) ([]*table, error) {
	args := []string{"run", "./campaign", "-data", dir, "-only", only, "-seeds", strconv.Itoa(seeds), "-export"}
	switch task {
	case "fronts":
		args = append(args, "-trade")
	case "conditions":
		args = append(args, "-conditions")
	}
	c := exec.CommandContext(ctx, "go", args...)
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("bench/campaign: %w", err)
	}
	return decodeTables(bytes.NewReader(text))
}

func decodeTables(r io.Reader) ([]*table, error) {
	var tables []*table
	lines := json.NewDecoder(r)
	for {
		t := new(table)
		err := lines.Decode(t)
		if errors.Is(err, io.EOF) {
			return tables, nil
		}
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
}

// shares returns the shares of a recipe.
func (t *table) shares(k int) []float64 {
	x := make([]float64, len(t.Ingredients))
	for i, u := range t.Units[k] {
		x[i] = float64(u) / float64(t.Total)
	}
	return x
}

// question asks for n recipes that were not tried; rest has the recipes of its pool.
func (t *table) question(tried []int, n, seed int) (q question, rest []int) {
	q = question{Names: t.Ingredients, N: n, Seed: seed, Total: t.Total, Most: t.Most, Problem: t.Problem, Stock: t.Stock, Prices: t.Prices, Conditions: t.Conditions}
	worst, any := 0.0, false
	for _, k := range tried {
		if w := t.Worth[k]; w != nil && (!any || *w < worst) {
			worst, any = *w, true
		}
	}
	for _, k := range tried {
		q.X, q.Failed = append(q.X, t.shares(k)), append(q.Failed, t.Worth[k] == nil)
		if t.Worth[k] == nil {
			q.Y = append(q.Y, worst)
		} else {
			q.Y = append(q.Y, *t.Worth[k])
		}
		q.Results = append(q.Results, t.Results[k])
		if t.Second != nil {
			q.Z = append(q.Z, t.Second[k])
		}
		if t.Conditions != nil {
			q.Settings, q.Features = append(q.Settings, t.Settings[k]), append(q.Features, t.Features[k])
		}
	}
	for k := range t.Units {
		if slices.Contains(tried, k) {
			continue
		}
		q.Pool, rest = append(q.Pool, t.shares(k)), append(rest, k)
		if t.Prices != nil {
			q.Known = append(q.Known, t.Second[k])
		}
		if t.Conditions != nil {
			q.PoolSettings, q.PoolFeatures = append(q.PoolSettings, t.Settings[k]), append(q.PoolFeatures, t.Features[k])
		}
	}
	return q, rest
}

// best returns the greatest worth of recipes, and whether any has one.
func (t *table) best(of []int) (best float64, ok bool) {
	for _, k := range of {
		if w := t.Worth[k]; w != nil && (!ok || *w > best) {
			best, ok = *w, true
		}
	}
	return best, ok
}

// volume returns the share of the table's hypervolume that recipes have.
func (t *table) volume(of []int) float64 {
	var points [][]float64
	for _, k := range of {
		points = append(points, t.Scaled[k])
	}
	return pareto.Hypervolume(points, []float64{1, 1}) / t.Volume
}

// campaigns makes the campaigns of a task that are missing, the tables and seeds of all arms in turn.
func (b *bench) campaigns(ctx context.Context, task string, tables []*table, rounds, size int) error {
	for _, name := range b.arms {
		var a arm
		for seed := range b.seeds {
			for _, t := range tables {
				r := record{Task: task, On: t.Name, Arm: name, Seed: seed, Batch: size, Recorded: time.Now().Format(time.DateOnly)}
				if b.isMeasured(r) {
					continue
				}
				if a == nil {
					var err error
					if a, err = b.startArm(ctx, name); err != nil {
						return err
					}
				}
				err := replay(a, t, &r, rounds)
				if errors.Is(err, errSlow) {
					r.Refused, err = errSlow.Error(), a.close()
					a = nil
				}
				if err != nil {
					return fmt.Errorf("%s on %s: %w", name, t.Name, err)
				}
				if err := b.add(r); err != nil {
					return err
				}
				fmt.Fprintf(os.Stderr, "%s %s seed %d: %.2f, %s\n", t.Name, name, seed, r.reached(), strings.TrimSpace(r.Refused))
			}
		}
		if a != nil {
			if err := a.close(); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// replay makes one campaign; a round that an arm refuses ends it.
func replay(a arm, t *table, r *record, rounds int) error {
	tried := slices.Clone(t.Starts[r.Seed])
	all := make([]int, len(t.Units))
	for k := range all {
		all[k] = k
	}
	top, _ := t.best(all)
	start, ok := t.best(tried)
	if !ok { // all of the start failed: the first regret is that of the worst that did not
		start = top
		for _, w := range t.Worth {
			if w != nil {
				start = min(start, *w)
			}
		}
	}
	best := start
	r.Versions, r.Start = a.greeting().Versions, a.greeting().Processor
	for round := range rounds {
		q, rest := t.question(tried, r.Batch, 1000*r.Seed+round)
		got, err := a.ask(q)
		if err != nil {
			return err
		}
		r.Peak = max(r.Peak, got.Peak)
		if got.Refused != "" {
			r.Refused = got.Refused
			return nil
		}
		r.Seconds, r.Processor = append(r.Seconds, got.Seconds), append(r.Processor, got.Processor)
		for _, k := range got.Chosen {
			if k < 0 || k >= len(rest) || slices.Contains(tried, rest[k]) {
				return fmt.Errorf("recipe %d is not to be chosen", k)
			}
			tried = append(tried, rest[k])
			if w := t.Worth[rest[k]]; w != nil {
				best = max(best, *w)
			}
		}
		if t.Scaled != nil {
			r.Volume = append(r.Volume, t.volume(tried))
			continue
		}
		r.Regret, r.Closed = append(r.Regret, top-best), append(r.Closed, (best-start)/(top-start))
	}
	return nil
}
