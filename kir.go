// Package kir finds new recipes: it samples sparse composition ratios, ways to divide a
// fixed whole among a few of many possible ingredients, in proportion to how well they fit
// what is wanted, by Markov chains that are checked to follow the stated law exactly.
//
// A problem file says what there is to choose from, how much of it, what a recipe should be
// like, and which rules it must keep. This program prints the shortlist of one:
//
//	p, err := kir.Load(ctx, "examples/cocktails/problem.yaml")
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer p.Close()
//	result, err := p.Sample(ctx)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(result.Headline)
//	for _, r := range result.Shortlist {
//		fmt.Println(r)
//	}
//
// [New] makes a problem of a target that a program builds, from packages mcmc (spaces, laws,
// kernels and chains), rule, property and model.
//
// # Defaults
//
// 4 chains, after a warm-up of at most 10,000 iterations each, by the kernel that short trials
// recommend, with seed 1. They stop when every figure is worth 1,000 independent draws, or
// after 1m0s ([Problem.Time]); with a number of draws in [Problem.Settings] they make that
// number each. A search for the best recipes stands beside them. Draws and figures follow from
// the problem and its seed alone, whatever the number of workers, unless the time ends a run.
//
// # Concurrency
//
// Sample uses all cores unless [Problem.Workers] says otherwise, and ends early when its
// context does. A Problem must not be sampled or changed by several goroutines at once; a
// Result may be read by any number.
//
// The method starts from Obara, Morimura and Yanagisawa, "Sampler for Composition Ratio by
// Markov Chain Monte Carlo" (2019, arXiv 1906.06663).
package kir

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"kir/internal/compile"
	"kir/internal/constraint/conflict"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/run"
	"kir/mcmc"
	"kir/rule"
)

// A Problem is what to sample: a problem file that was read and checked, or a target that a
// program has built. The exported fields may be changed before [Problem.Sample].
type Problem struct {
	Name     string
	Settings mcmc.Settings // chains, draws, seed; an empty kernel is chosen by trials

	// Time is after how long chains stop whose number of draws is [mcmc.AutoDraws], with
	// what was drawn by then; 0: never.
	Time time.Duration

	// Directory keeps the run, for the commands of kir to show, resume and merge; it must
	// not exist. Empty: the run is kept in memory while it is made.
	Directory string

	// Workers is how many chains run at once, 0 for all cores. It changes nothing but the
	// time.
	Workers int

	// Progress is called a few times a second with the share of the chains' work that is
	// done, from one goroutine at a time. It may be nil.
	Progress func(done float64)

	p *compile.Problem
}

// Load reads a problem file and the files that it names. Errors in them say file, line and
// column, and what to write instead. A problem that names programs is refused unless the
// user trusts them (kir trust) or the context allows them, see [AllowPrograms].
func Load(ctx context.Context, file string) (*Problem, error) {
	p, err := compile.Load(ctx, file, compile.Options{})
	if err != nil {
		return nil, err
	}
	return newProblem(p), nil
}

// New returns the problem of a target that a program has built, with names for its
// ingredients in their order; without names they are called 0, 1, ...
func New(name string, target *mcmc.Target, ingredients ...string) (*Problem, error) {
	p, err := compile.FromTarget(name, target, ingredients...)
	if err != nil {
		return nil, fmt.Errorf("kir: %w", err)
	}
	return newProblem(p), nil
}

func newProblem(p *compile.Problem) *Problem {
	out := &Problem{Name: p.Name, Settings: p.Sampler, Time: p.Time, p: p}
	if p.Auto {
		out.Settings.Kernel = ""
	}
	return out
}

// Check fails where it is shown that no composition keeps rules and uses a number of
// ingredients that is asked for: with the reason, and with changes each of which was tried
// and found to leave compositions. It fails with a [*rule.Error] for a rule that is none,
// and with the context's error.
func Check(ctx context.Context, set rule.Set) error {
	why, err := conflict.Explain(ctx, set)
	if err == nil && why != nil {
		return why
	}
	return err
}

// AllowPrograms returns a context in which [Load] accepts problems that run programs of
// their own, with the user's rights.
func AllowPrograms(ctx context.Context) context.Context { return compile.AllowPrograms(ctx) }

// Ingredients returns the names of the ingredients, in the target's order.
func (p *Problem) Ingredients() []string { return append([]string{}, p.p.Ingredients...) }

// Target returns the law that is sampled: a space, a law of the number of ingredients, and
// the properties with their weights.
func (p *Problem) Target() *mcmc.Target { return p.p.Target }

// Warnings returns what the problem file allows and its author may not have meant.
func (p *Problem) Warnings() []string { return append([]string{}, p.p.Warnings...) }

// Close ends the programs that the problem runs. The problem cannot be sampled after it.
func (p *Problem) Close() error { return p.p.Close() }

// Sample runs the chains and the search for the best, and returns what they found. When ctx
// ends it returns an error that wraps ctx's; a run in a directory can then be resumed.
func (p *Problem) Sample(ctx context.Context) (*Result, error) {
	asked := *p.p
	asked.Name, asked.Sampler, asked.Time = p.Name, p.Settings, p.Time
	if asked.Sampler.Kernel == "" {
		advice, err := run.Recommend(ctx, asked.Target, asked.Sampler, asked.RunsPrograms())
		if err != nil {
			return nil, p.p.Explain(err)
		}
		asked.Sampler.Kernel = advice.Kernel
	}
	spec, err := assemble.Spec(&asked, version())
	if err != nil {
		return nil, err
	}
	store := run.Memory()
	if p.Directory != "" {
		store = run.Directory(p.Directory)
		if spec.Place, err = filepath.Abs(asked.File); err != nil {
			return nil, err
		}
		spec.Problem = spec.Place
	}
	options := run.Options{Workers: p.Workers}
	if p.Progress != nil {
		options.Progress = func(s run.Progress) { p.Progress(s.Done) }
	}
	result, err := run.Start(ctx, spec, store, options)
	if err != nil {
		return nil, p.p.Explain(err)
	}
	trade, err := asked.SearchOwnTradeOff(ctx)
	if err != nil {
		return nil, err
	}
	m, err := assemble.Model(ctx, &asked, store, result, trade, spec.Version)
	if err != nil {
		return nil, err
	}
	if p.Directory != "" {
		if err := m.Save(ctx, store); err != nil {
			return nil, fmt.Errorf("writing the summary: %w", err)
		}
	}
	return newResult(m), nil
}

// version returns the version of the module, as far as the program that links it knows.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == "kir" && m.Version != "" && m.Version != "(devel)" {
				return m.Version
			}
		}
	}
	return "devel"
}

// A Result is what a run found.
type Result struct {
	// Headline says in a line how far the answer can be trusted, and Warnings what else a
	// reader should know.
	Headline string
	Warnings []string

	// Shortlist is the best recipes that differ from each other and from the known ones,
	// the best first.
	Shortlist []Recipe

	// Score is the score of the draws, Π y_k^c_k. Without properties that count it is
	// unknown.
	Score Figure

	// Used is the number of ingredients of the draws.
	Used Figure

	// Inclusion is the share of the draws that use each ingredient, by name, of those that
	// any draw uses.
	Inclusion map[string]Figure

	summary *report.Model
}

// A Figure is the mean of a series over the draws with what it takes to judge it. NaN
// stands for what is unknown.
type Figure struct {
	Mean float64
	MCSE float64 // standard error of the mean
	ESS  float64 // bulk effective sample size, of Score and Used
	RHat float64 // split R-hat, of Used
}

// A Recipe is a composition by names.
type Recipe struct {
	Amounts []Amount           // the largest first
	Score   float64            // Π y_k of the properties that count, each once, in 0..1
	Scores  map[string]float64 // y_k by property
	Labels  map[string]Interval
}

// An Amount is an ingredient and its share of the whole.
type Amount struct {
	Ingredient string
	Units      int
	Share      float64 // Units / total
}

// An Interval is a predicted value, and the interval that holds those of 90 % of new
// recipes; its ends are NaN where the model has none.
type Interval struct{ Value, Low, High float64 }

// String writes the recipe in a line: its score, and the ingredients with their shares.
func (r Recipe) String() string {
	var b strings.Builder
	b.WriteString(number.Score(r.Score, 1))
	units, total := make([]int, len(r.Amounts)), 0
	for k, a := range r.Amounts {
		units[k] = a.Units
		total += a.Units
	}
	percent := number.Percentages(total)
	percent.MinDigits = max(percent.MinDigits, 1)
	separator := ": "
	for k, text := range percent.Write(units) {
		fmt.Fprintf(&b, "%s%s %% %s", separator, text, r.Amounts[k].Ingredient)
		separator = ", "
	}
	return b.String()
}

func newResult(m *report.Model) *Result {
	r := &Result{Headline: m.Verdict, Warnings: m.Warnings, Inclusion: make(map[string]Figure), summary: m}
	if m.Answer != nil {
		r.Headline = m.Answer.Headline
	}
	for _, b := range m.Best {
		recipe := Recipe{Score: float64(b.Score), Scores: make(map[string]float64), Labels: make(map[string]Interval)}
		for _, part := range b.Parts() {
			recipe.Amounts = append(recipe.Amounts, Amount{part.Ingredient, part.Amount, float64(part.Amount) / float64(m.Problem.Total)})
		}
		for name, y := range b.Scores {
			recipe.Scores[name] = float64(y)
		}
		for name, v := range b.Predicted {
			recipe.Labels[name] = Interval{float64(v.Value), float64(v.Low), float64(v.High)}
		}
		r.Shortlist = append(r.Shortlist, recipe)
	}
	r.Used = figureOf(m, "used")
	r.Score = Figure{Mean: float64(m.Score.Draws), MCSE: float64(m.Score.DrawsMCSE), ESS: float64(m.Score.DrawsESS), RHat: math.NaN()}
	for _, i := range m.Inclusion {
		if i.Probability > 0 {
			r.Inclusion[i.Ingredient] = Figure{Mean: float64(i.Probability), MCSE: float64(i.MCSE), ESS: math.NaN(), RHat: math.NaN()}
		}
	}
	return r
}

func figureOf(m *report.Model, name string) Figure {
	s := m.Statistics[name]
	return Figure{Mean: float64(s.Mean), MCSE: float64(s.SEMean), ESS: float64(s.ESSBulk), RHat: float64(s.RHat)}
}

// MarshalJSON writes the whole summary of the run, as kir sample --json prints it.
func (r *Result) MarshalJSON() ([]byte, error) {
	if r.summary == nil {
		return nil, errors.New("kir: this result is of no run")
	}
	return r.summary.JSON()
}
