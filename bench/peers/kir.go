package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"kir/bench/ehvi"
	"kir/internal/campaign"
	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/measure"
	"kir/mcmc"
)

// answerAll answers questions about tables as the other arms do. The arm kir is what kir next is made of; the command
// itself cannot be told that only the recipes of a table may be chosen.
func answerAll(ctx context.Context, arm string, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<26)
	answers := json.NewEncoder(out)
	choose := chooseByKir
	switch arm {
	case "kir":
	case "ehvi":
		choose = chooseByVolume
	default:
		return fmt.Errorf("-answer %s: want kir or ehvi", arm)
	}
	version := "kir"
	if info, ok := debug.ReadBuildInfo(); ok {
		version += " (" + info.GoVersion + ")"
	}
	if err := answers.Encode(answer{Versions: []string{version}, Processor: processorSeconds(), Peak: peakMegabytes()}); err != nil {
		return err
	}
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return err
		}
		began, before := time.Now(), processorSeconds()
		chosen, err := choose(ctx, q)
		a := answer{Chosen: chosen, Seconds: time.Since(began).Seconds(), Processor: processorSeconds() - before, Peak: peakMegabytes()}
		if err != nil {
			a.Refused = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
	return lines.Err()
}

// processorSeconds returns the seconds that the processor worked for this process.
func processorSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return math.NaN()
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// peakMegabytes returns the most memory that this process had, in MB.
func peakMegabytes() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return math.NaN()
	}
	return float64(u.Maxrss) / 1024
}

// chooseByKir chooses from the pool by a problem file and its results.
func chooseByKir(ctx context.Context, q question) (_ []int, err error) {
	dir, err := os.MkdirTemp("", "kir-peers-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "replay.yaml")
	if err := errors.Join(os.WriteFile(path, []byte(q.Problem), 0o600), os.WriteFile(filepath.Join(dir, "ingredients.csv"), []byte(q.Stock), 0o600)); err != nil {
		return nil, err
	}
	results := make([]campaign.Result, len(q.X))
	for k, x := range q.X {
		results[k] = campaign.Result{Name: fmt.Sprint("recipe ", k), Failed: q.Results[k] == nil}
		if !results[k].Failed {
			results[k].Values = make(map[string]string)
		}
		for label, v := range q.Results[k] {
			results[k].Values[label] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		if q.Conditions != nil {
			results[k].Conditions = make(map[string]string)
			for name, v := range q.named(q.Settings[k]) {
				results[k].Conditions[name] = fmt.Sprint(v)
			}
		}
		for _, p := range partsOfShares(x, q.Total) {
			a, err := measure.ParseAmount(strconv.Itoa(p.Amount))
			if err != nil {
				return nil, err
			}
			results[k].Parts = append(results[k].Parts, dataset.Part{Ingredient: int32(p.Ingredient), Amount: a})
		}
	}
	c, err := campaign.Open(ctx, path, compile.Options{Workers: 1})
	if err != nil {
		return nil, err
	}
	if _, err := c.Record(ctx, results, campaign.RecordOptions{}); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := c.Close(); err != nil {
		return nil, err
	}
	if c, err = campaign.Open(ctx, path, compile.Options{Workers: 1}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	allowed, at := make([]campaign.AllowedRecipe, len(q.Pool)), make(map[string]int)
	for k, x := range q.Pool {
		allowed[k].Parts = partsOfShares(x, q.Total)
		recipe := make(map[string]int)
		for _, p := range allowed[k].Parts {
			recipe[q.Names[p.Ingredient]] = p.Amount
		}
		if q.Conditions != nil {
			allowed[k].Conditions = q.named(q.PoolSettings[k])
		}
		at[fmt.Sprint(recipe, allowed[k].Conditions)] = k
	}
	b, err := c.Choose(ctx, campaign.Settings{BatchSize: q.N, Seed: uint64(q.Seed), MaxNewIngredients: -1, Workers: 1, AllowedRecipes: allowed})
	if err != nil {
		return nil, err
	}
	var out []int
	for _, e := range b.Entries {
		k, ok := at[fmt.Sprint(e.Recipe, e.Conditions)]
		if !ok {
			continue // the repeat of a recipe that was tried
		}
		out = append(out, k)
	}
	return out, nil
}

// named returns the values of the conditions by name.
func (q *question) named(setting []any) map[string]any {
	named := make(map[string]any)
	for c, of := range q.Conditions {
		named[of.Name] = setting[c]
	}
	return named
}

// chooseByVolume chooses from the pool by the exact expected improvement of the hypervolume.
func chooseByVolume(_ context.Context, q question) ([]int, error) {
	if q.Z == nil {
		return nil, errors.New("one objective has no hypervolume")
	}
	var losses [][]float64
	for k, y := range q.Y {
		losses = append(losses, []float64{-y, -q.Z[k]})
	}
	var known []float64
	for _, z := range q.Known {
		known = append(known, -z)
	}
	return ehvi.Choose(q.X, losses, q.Pool, known, q.N)
}

// partsOfShares returns the units of a recipe's shares.
func partsOfShares(x []float64, total int) []mcmc.Part {
	var out []mcmc.Part
	for i, share := range x {
		if u := int(math.Round(share * float64(total))); u > 0 {
			out = append(out, mcmc.Part{Ingredient: i, Amount: u})
		}
	}
	return out
}
