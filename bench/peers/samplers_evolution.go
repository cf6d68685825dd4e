package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"kir/bench/front"
	"kir/internal/pareto"
	"kir/internal/search"
	"kir/mcmc"
)

// evolutionEffort is the share of kir's default lines that the evolution is held against.
const evolutionEffort = 0.1

// evolutionTimes are evaluations as multiples of the lines of evolutionEffort.
var evolutionTimes = []int{1, 10}

// An evolutionQuestion asks a script to evolve genes. It writes lines {"evaluate": [genes, ...]} and reads lines
// {"losses": [[...] or null, ...], "left": n}: null is what breaks a rule, and no more than n may be asked for that
// break none.
type evolutionQuestion struct {
	Genes      int         `json:"genes"`
	Objectives int         `json:"objectives"`
	Start      [][]float64 `json:"start"`
	Seed       int         `json:"seed"`
}

// An evolved case turns genes into compositions, and keeps what is found.
type evolved struct {
	*front.Case
	r      *rand.Rand
	sizes  []int // numbers of ingredients of the law
	spent  int   // evaluations of what breaks no rule
	asked  int
	limit  int
	found  [][]float64
	marks  []int // evaluations after which fronts are kept
	fronts [][][]float64
}

func newEvolved(c *front.Case, lines, seed int) *evolved {
	e := &evolved{Case: c, r: rand.New(rand.NewPCG(uint64(seed), 23))}
	for n := range c.Target.Space().N() + 1 {
		if n > 0 && !math.IsInf(c.Target.LogLaw(n), -1) {
			e.sizes = append(e.sizes, n)
		}
	}
	for _, times := range evolutionTimes {
		e.marks = append(e.marks, times*lines)
		e.limit = times * lines
	}
	return e
}

// compositionOf decodes genes in 0..1: the first is the number of ingredients, the others are amounts, of which the
// largest are used. It is nil if the amounts cannot be repaired.
func (e *evolved) compositionOf(genes []float64) *mcmc.Composition {
	n := e.sizes[min(int(genes[0]*float64(len(e.sizes))), len(e.sizes)-1)]
	order := make([]int, len(genes)-1)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return int(math.Copysign(1, genes[1+j]-genes[1+i]))
	})
	amounts := make([]float64, len(order))
	for _, i := range order[:n] {
		amounts[i] = max(genes[1+i], 1e-9)
	}
	return e.Repair(e.r, amounts)
}

// genesOf encodes a composition.
func (e *evolved) genesOf(x *mcmc.Composition) []float64 {
	genes := make([]float64, 1+x.N())
	genes[0] = (float64(slices.Index(e.sizes, x.UsedCount())) + 0.5) / float64(len(e.sizes))
	for i, units := range x.Amounts() {
		genes[1+i] = float64(units) / float64(x.Total())
	}
	return genes
}

// start returns the genes of a first generation: known recipes, and random ones that break no rule.
func (e *evolved) start(seed, size int) ([][]float64, error) {
	var genes [][]float64
	for _, x := range e.Known {
		if len(genes) < size && slices.Contains(e.sizes, x.UsedCount()) && e.Feasible(x) {
			genes = append(genes, e.genesOf(x))
		}
	}
	prior, r := mcmc.NewPrior(e.Target), mcmc.NewRand(uint64(seed), "evolution", 0)
	for tries := 0; len(genes) < size && tries < 200*size; tries++ {
		x, err := prior.Draw(r)
		if err != nil {
			return nil, err
		}
		if e.Feasible(x) {
			genes = append(genes, e.genesOf(x))
		}
	}
	return genes, nil
}

// evaluate answers a line of a script.
func (e *evolved) evaluate(line []byte) (any, error) {
	var asked struct{ Evaluate [][]float64 }
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	losses := make([][]float64, len(asked.Evaluate))
	for k, genes := range asked.Evaluate {
		e.asked++
		x := e.compositionOf(genes)
		if e.spent >= e.limit || x == nil || !e.Feasible(x) {
			continue
		}
		for _, o := range e.Objectives {
			losses[k] = append(losses[k], o.Loss(x))
		}
		e.spent++
		e.found = append(e.found, losses[k])
		if slices.Contains(e.marks, e.spent) {
			e.found = nonDominated(e.found)
			e.fronts = append(e.fronts, slices.Clone(e.found))
		} else if len(e.found) > 2000 {
			e.found = nonDominated(e.found)
		}
	}
	left := e.limit - e.spent
	if e.asked > 50*e.limit { // hardly anything breaks no rule
		left = 0
	}
	return map[string]any{"losses": losses, "left": left}, nil
}

func nonDominated(points [][]float64) (kept [][]float64) {
	for _, k := range pareto.NonDominated(points) {
		kept = append(kept, points[k])
	}
	return kept
}

// evolution measures fronts.
func (b *samplerBench) evolution(ctx context.Context) error {
	dir := filepath.Join(b.scratch, "fronts")
	paths, names := map[string]string{"frontier": filepath.Join("..", "examples", "portfolio", "frontier.yaml")}, []string{"bent inwards", "frontier"}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var err error
	if paths["bent inwards"], err = front.WriteBent(dir); err != nil {
		return err
	}
	if b.tables != "" {
		concrete := filepath.Join(b.scratch, "concrete")
		if err := os.MkdirAll(concrete, 0o700); err != nil {
			return err
		}
		if paths["concrete"], err = front.WriteConcrete(concrete, b.tables); err != nil {
			return err
		}
		names = append(names, "concrete")
	}
	for _, name := range names {
		if err := b.evolve(ctx, name, paths[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// evolve measures the fronts of a problem.
func (b *samplerBench) evolve(ctx context.Context, name, path string) error {
	p, c, err := front.Read(ctx, path)
	if err != nil {
		return err
	}
	defer p.Close()
	lines := search.FrontLineBudget(p.Total, evolutionEffort)
	for seed := range b.seeds {
		for _, times := range evolutionTimes {
			own := samplerRecord{Task: "evolution", On: name, Arm: "kir", Seed: seed}
			if times > 1 {
				own.Arm = fmt.Sprintf("kir × %d", times)
			}
			if b.isMeasured(own) {
				continue
			}
			if err := tradeByKir(ctx, c, times*lines, &own); err != nil {
				return err
			}
			if err := b.add(own); err != nil {
				return err
			}
		}
		for _, script := range []string{"pymoo", "deap"} {
			r := samplerRecord{Task: "evolution", On: name, Arm: fmt.Sprintf("%s × %d", script, evolutionTimes[0]), Seed: seed}
			if b.isMeasured(r) {
				continue
			}
			e := newEvolved(c, lines, seed)
			first, err := e.start(seed, 100)
			if err != nil {
				return err
			}
			q := evolutionQuestion{Genes: 1 + p.Target.Space().N(), Objectives: len(c.Objectives), Start: first, Seed: seed + 1}
			if err := b.ask(ctx, script, q, &r, e.evaluate); err != nil {
				return err
			}
			r.Figures = map[string]float64{"evaluations": float64(e.spent), "asked": float64(e.asked)}
			for k, times := range evolutionTimes {
				r.Arm = fmt.Sprintf("%s × %d", script, times)
				if r.Points = nil; k < len(e.fronts) {
					r.Points = e.fronts[k]
				}
				if err := b.add(r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// tradeByKir searches a front by kir.
func tradeByKir(ctx context.Context, c *front.Case, lines int, r *samplerRecord) error {
	runtime.GC()
	began, before := time.Now(), processorSeconds()
	got, err := search.TradeOff(ctx, c.Target, c.Objectives, search.TradeOptions{Lines: lines, Seed: uint64(r.Seed), Workers: 1,
		Starts: c.Known, Least: c.Least, Most: c.Most, SkipRandomVolumes: true})
	if err != nil {
		return err
	}
	r.Processor, r.Seconds = processorSeconds()-before, time.Since(began).Seconds()
	r.Figures = map[string]float64{"evaluations": float64(got.Lines)}
	for _, m := range got.Front {
		r.Points = append(r.Points, m.Losses)
	}
	return nil
}

// volumesOf returns the hypervolume of each record of a problem, within the ideal and the reference of all of them.
func volumesOf(records []samplerRecord) []float64 {
	var all [][]float64
	for _, r := range records {
		all = append(all, r.Points...)
	}
	ideal, nadir := pareto.Bounds(nonDominated(all))
	reference := pareto.HypervolumeReference(ideal, nadir)
	one := slices.Repeat([]float64{1}, len(ideal))
	var volumes []float64
	for _, r := range records {
		volumes = append(volumes, pareto.Hypervolume(pareto.ScaleLosses(r.Points, ideal, reference), one))
	}
	return volumes
}
