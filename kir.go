// Package kir finds new recipes. It samples sparse composition ratios, which divide a fixed whole among a few of
// many possible ingredients. The probability of a recipe is proportional to how well the recipe fits what is
// wanted. Markov chains draw the recipes, and tests check that the chains follow the stated law exactly.
//
// A problem file states the available ingredients, the total amount, what a recipe should be like, and which rules
// it must keep. This program prints the shortlist of a problem:
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
// [New] makes a problem from a target that a program builds with the packages mcmc (spaces, laws, kernels and
// chains), rule, property and model.
//
// # Defaults
//
// A run draws by 4 chains, after a warm-up of at most 10,000 iterations each, with seed 1. Short trials recommend the
// kernel. The chains stop when every figure is worth 1,000 independent draws, or after 1m0s ([Problem.Time]). If
// [Problem.Settings] gives a number of draws, each chain makes this number of draws instead. A separate search looks
// for the best recipes. Draws and figures follow from the problem and its seed alone, whatever the number of workers,
// unless the time ends a run.
//
// # Concurrency
//
// Sample uses all cores unless [Problem.Workers] says otherwise, and ends early when its context ends. A Problem
// must not be sampled or changed by several goroutines at once; a Result may be read by any number of goroutines.
//
// The method starts from Obara, Morimura and Yanagisawa, "Sampler for Composition Ratio by Markov Chain Monte
// Carlo" (2019, arXiv 1906.06663).
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

// A Problem is what to sample: a problem file that was read and checked, or a target that a program has built. The
// exported fields may be changed before [Problem.Sample].
type Problem struct {
	Name     string
	Settings mcmc.Settings // chains, draws and seed; if the kernel is empty, trials choose it

	// Time is the time limit of chains whose number of draws is [mcmc.AutoDraws]. When it has passed, the chains
	// stop with the draws made by then. 0 means no limit.
	Time time.Duration

	// Directory is where the run is stored, so that the commands of kir can show, resume and merge it; the
	// directory must not exist. If Directory is empty, the run is kept in memory.
	Directory string

	// Workers is how many chains run at once, 0 for all cores. It affects only the duration.
	Workers int

	// Progress is called a few times a second with the fraction of the chains' work that is done, from one
	// goroutine at a time. It may be nil.
	Progress func(done float64)

	p *compile.Problem
}

// Load reads a problem file and the files that it names. Errors in these files state file, line and column, and
// what to write instead. A problem that names programs is refused unless the user trusts them (kir trust) or the
// context allows them, see [AllowPrograms].
func Load(ctx context.Context, file string) (*Problem, error) {
	p, err := compile.Load(ctx, file, compile.Options{})
	if err != nil {
		return nil, err
	}
	return newProblem(p), nil
}

// New returns the problem of a target that a program has built. The names of the ingredients are in the order of
// the target; without names the ingredients are called 0, 1, ...
func New(name string, target *mcmc.Target, ingredients ...string) (*Problem, error) {
	p, err := compile.FromTarget(name, target, ingredients...)
	if err != nil {
		return nil, fmt.Errorf("kir: %w", err)
	}
	return newProblem(p), nil
}

func newProblem(p *compile.Problem) *Problem {
	out := &Problem{Name: p.Name, Settings: p.Sampler, Time: p.Time, p: p}
	if p.KernelChosen {
		out.Settings.Kernel = ""
	}
	return out
}

// Check returns an error if it can show that no composition both satisfies the rules of the set and uses a
// permitted number of ingredients. The error states the reason, and changes after each of which some composition
// was found. Check also returns a [*rule.Error] for an invalid rule, and the error of the context if it ends.
func Check(ctx context.Context, set rule.Set) error {
	why, err := conflict.Explain(ctx, set)
	if err == nil && why != nil {
		return why
	}
	return err
}

// AllowPrograms returns a context in which [Load] accepts problems that run programs of their own, with the rights
// of the user.
func AllowPrograms(ctx context.Context) context.Context { return compile.AllowPrograms(ctx) }

// Ingredients returns the names of the ingredients, in the order of the target.
func (p *Problem) Ingredients() []string { return append([]string{}, p.p.Ingredients...) }

// Target returns the law that is sampled: a space, a law of the number of ingredients, and the properties with
// their weights.
func (p *Problem) Target() *mcmc.Target { return p.p.Target }

// Warnings returns warnings about what the problem file allows and its author may not have intended.
func (p *Problem) Warnings() []string { return append([]string{}, p.p.Warnings...) }

// Close ends the programs that the problem runs. Afterwards the problem cannot be sampled.
func (p *Problem) Close() error { return p.p.Close() }

// Sample runs the chains and the search for the best recipes, and returns the results of both. If ctx ends, Sample
// returns an error that wraps the error of ctx; a run in a directory can then be resumed.
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
	store := run.NewMemoryStore()
	if p.Directory != "" {
		store = run.NewDirectoryStore(p.Directory)
		if spec.AbsoluteProblemPath, err = filepath.Abs(asked.File); err != nil {
			return nil, err
		}
		spec.ProblemPath = spec.AbsoluteProblemPath
	}
	options := run.Options{Workers: p.Workers}
	if p.Progress != nil {
		options.Progress = func(s run.Progress) { p.Progress(s.DoneShare) }
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

// version returns the version of module kir that is linked into the program, or "devel" if it is unknown.
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

// A Result holds the draws' statistics and the best recipes of a run.
type Result struct {
	// Headline states in one line how far the answer can be trusted. Warnings states what else a reader should
	// know.
	Headline string
	Warnings []string

	// Shortlist holds the best recipes that differ from each other and from the known recipes, from best to worst.
	Shortlist []Recipe

	// Score summarises the scores Π y_k^c_k of the draws. It is unknown if no property has a positive weight.
	Score Figure

	// Used summarises the number of used ingredients of the draws.
	Used Figure

	// Inclusion holds, by name of an ingredient, the share of the draws that use it. Ingredients that no draw uses
	// are left out.
	Inclusion map[string]Figure

	summary *report.Model
}

// A Figure is the mean of a quantity over the draws, with numbers to judge its accuracy. NaN stands for an unknown
// number.
type Figure struct {
	Mean float64
	MCSE float64 // Monte Carlo standard error of the mean
	ESS  float64 // bulk effective sample size; known for Score and Used
	RHat float64 // split R-hat, which compares the chains; known for Used
}

// A Recipe is a composition, with the names of its ingredients.
type Recipe struct {
	Amounts []Amount            // amounts of the used ingredients, the largest first
	Score   float64             // product Π y_k of the scores of all properties with a positive weight, without weights, in 0..1
	Scores  map[string]float64  // score y_k of each property, by name
	Labels  map[string]Interval // predicted value of each learnt objective, by name
}

// An Amount is an ingredient and its share of the whole.
type Amount struct {
	Ingredient string
	Units      int
	Share      float64 // Units divided by the total
}

// An Interval is a predicted value, with the interval that contains the values of 90 % of new recipes. The ends of
// the interval are NaN if the model predicts no interval.
type Interval struct{ Value, Low, High float64 }

// String returns the recipe as one line of text: its score, and the ingredients with their shares.
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

// MarshalJSON returns the whole summary of the run, as kir sample --json prints it.
func (r *Result) MarshalJSON() ([]byte, error) {
	if r.summary == nil {
		return nil, errors.New("kir: this result is of no run")
	}
	return r.summary.JSON()
}
