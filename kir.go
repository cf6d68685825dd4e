// Package kir finds new recipes. It samples sparse composition ratios, which divide a fixed whole among a few
// of many possible ingredients. The probability of a recipe is proportional to how well the recipe fits what is
// wanted. Markov chains draw the recipes, and tests check that the chains follow these probabilities exactly.
//
// A problem file states the available ingredients, the total amount, what a recipe should be like, and which
// rules it must keep. This program prints the shortlist of a problem:
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
// A run draws recipes by 4 chains, after a warm-up of at most 10,000 iterations each, with seed 1. Short trials
// choose the kernel, which is the rule by which a chain moves from recipe to recipe. A figure is a statistic of
// the draws, such as a mean score. The chains stop when every figure is worth 1,000 independent draws, or after
// 1m0s ([Problem.Time]). If [Problem.Settings] gives a number of draws, each chain makes this number of draws
// instead. A separate search looks for the best recipes. Draws and figures follow from the problem and its seed
// alone, whatever the number of workers, unless the time ends a run.
//
// # Concurrency
//
// Sample uses all cores unless [Problem.Workers] says otherwise, and ends early when its context ends. A
// Problem must not be sampled or changed by several goroutines at once; a Result may be read by any number of
// goroutines.
//
// The method starts from Obara, Morimura and Yanagisawa, "Sampler for Composition Ratio by Markov Chain Monte
// Carlo" (2019, arXiv 1906.06663).
package kir

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"runtime/debug"
	"slices"
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

// A Problem defines what to sample. It comes from a problem file, or from a target that a program has built.
// Its exported fields may be changed before [Problem.Sample] is called.
type Problem struct {
	Name     string
	Settings mcmc.Settings // number of chains, draws and seed; if the kernel is empty, short trials choose it

	// Time limits the duration of the chains if their number of draws is [mcmc.AutoDraws]. When the time has
	// passed, the chains stop, and the draws made by then are the result. 0 means no limit.
	Time time.Duration

	// Directory is where the run is stored. The commands of kir can then show, resume and merge the run. The
	// directory must not exist before the run. If Directory is empty, the run is kept in memory.
	Directory string

	// Workers is the number of chains that run at the same time, 0 for all cores. It affects only the duration.
	Workers int

	// Kernel replaces the kernel that Settings names. It must leave the distribution of [Problem.Target]
	// invariant; [mcmc.NewMetropolis] makes such a kernel from a proposal. A stored run with a Kernel can be shown,
	// but kir resume cannot continue it.
	Kernel mcmc.Kernel

	// Progress is called a few times a second with the completed fraction of the chains' work. Calls come from
	// one goroutine at a time. It may be nil.
	Progress func(done float64)

	p *compile.Problem
}

// Load reads a problem file and the files that it names. An error in a file tells the file, the line, the
// column, and what to write instead. Load refuses a problem that runs external programs, unless the user trusts
// these programs (kir trust) or the context allows them (see [AllowPrograms]).
func Load(ctx context.Context, file string) (*Problem, error) {
	p, err := compile.Load(ctx, file, compile.Options{})
	if err != nil {
		return nil, err
	}
	return newProblem(p), nil
}

// New returns the problem of sampling a target that a program has built. names[i] is the name of ingredient i
// of the target. Without names the ingredients are called 0, 1, and so on.
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
// permitted number of ingredients. The error tells the reason. It also lists changes of the rules; after each
// of these changes, a composition was found. Check also returns a [*rule.Error] for an invalid rule, and the
// error of the context if it ends.
func Check(ctx context.Context, set rule.Set) error {
	why, err := conflict.Explain(ctx, set)
	if err == nil && why != nil {
		return why
	}
	return err
}

// AllowPrograms returns a context with which [Load] accepts problems that run external programs. These programs
// run with the rights of the user.
func AllowPrograms(ctx context.Context) context.Context { return compile.AllowPrograms(ctx) }

// Ingredients returns the names of the ingredients; item i is the name of ingredient i of the target.
func (p *Problem) Ingredients() []string { return append([]string{}, p.p.Ingredients...) }

// Target returns the target that is sampled: the space of compositions, the probabilities of the numbers of
// ingredients, and the properties with their weights.
func (p *Problem) Target() *mcmc.Target { return p.p.Target }

// Warnings returns warnings about what the problem file permits although its author may not have intended it.
func (p *Problem) Warnings() []string { return append([]string{}, p.p.Warnings...) }

// Close ends the external programs that the problem runs. Afterwards the problem cannot be sampled.
func (p *Problem) Close() error { return p.p.Close() }

// Sample runs the chains and the search for the best recipes, and returns the results of both. If the context
// ends, Sample returns an error that wraps the error of the context. A run that is stored in a directory can
// then be resumed.
func (p *Problem) Sample(ctx context.Context) (*Result, error) {
	asked := *p.p
	asked.Name, asked.Sampler, asked.Time = p.Name, p.Settings, p.Time
	if p.Kernel != nil {
		asked.Sampler.Kernel = run.OwnKernel
	}
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
	spec.Kernel = p.Kernel
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
	trade, err := asked.SearchOwnTradeOff(ctx, nil)
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
	r := newResult(m)
	if r.run, err = run.Open(ctx, store); err != nil {
		return nil, err
	}
	return r, nil
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

// A Result holds the results of a run: statistics of the draws, and the best recipes.
type Result struct {
	// Headline says in one line how far the results can be trusted.
	Headline string
	Warnings []string // what else a reader of the results should know

	// Shortlist holds good recipes that differ from each other and from the known recipes, from best to worst.
	Shortlist []Recipe

	// Score summarises the scores of the draws. The score of a draw is the weighted product Π y_k^c_k, with the
	// score y_k and the weight c_k of each property k. Score is unknown if no property has a positive weight.
	Score Figure

	// Used summarises the number of used ingredients in the draws.
	Used Figure

	// Inclusion maps the name of an ingredient to the share of the draws that use the ingredient. It leaves out
	// ingredients that no draw uses.
	Inclusion map[string]Figure

	summary *report.Model
	run     *run.Run
}

// A Draw is one state of a chain after the warm-up: a composition that the run drew.
type Draw struct {
	Chain, Draw int                // numbers of the chain, and of the draw in its chain, both from 0
	Amounts     []Amount           // amounts of the used ingredients, in the order of the problem's ingredients
	Conditions  []int32            // item k is the index of the value of condition k of the target's space
	Scores      map[string]float64 // maps the name of a property to its score y_k
	LogDensity  float64            // log of the unnormalised probability Π y_k^c_k · y_sparse(n)/|X_n|
}

// A Figure is the mean of a number over the draws, with measures of its accuracy. An unknown number is NaN.
type Figure struct {
	Mean float64
	MCSE float64 // Monte Carlo standard error of the mean
	ESS  float64 // bulk effective sample size, which is the number of independent draws that are as accurate; known for Score and Used
	RHat float64 // split R-hat, which is near 1 if the chains agree; known for Used
}

// A Recipe is a composition, with the names of its ingredients.
type Recipe struct {
	Amounts []Amount            // amounts of the used ingredients, the largest first
	Score   float64             // product Π y_k of the scores of all properties with a positive weight, in 0..1; the weights are not applied
	Scores  map[string]float64  // maps the name of a property to its score y_k
	Labels  map[string]Interval // maps the name of a learnt objective to its predicted value
}

// An Amount is one ingredient of a recipe, with its amount.
type Amount struct {
	Ingredient string
	Units      int
	Share      float64 // Units divided by the total
}

// An Interval is a predicted value of a recipe, with a 90 % prediction interval from Low to High: the interval
// contains the values of 90 % of new recipes. Low and High are NaN if the model predicts no interval.
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

// Draws returns the draws of all chains, one chain after the other, in memory that does not grow with their number.
// The sequence ends with the first error. The error wraps the error of the context if the context ends.
func (r *Result) Draws(ctx context.Context) iter.Seq2[Draw, error] {
	return func(yield func(Draw, error) bool) {
		if r.run == nil {
			yield(Draw{}, errNoRun)
			return
		}
		total := float64(r.summary.Problem.Total)
		for d, err := range r.run.Draws(ctx) {
			if err != nil {
				yield(Draw{}, err)
				return
			}
			out := Draw{Chain: d.Chain, Draw: d.Draw, LogDensity: d.LogDensity, Scores: make(map[string]float64, len(d.Scores)),
				Conditions: slices.Clone(d.Conditions)}
			for _, part := range d.Parts {
				out.Amounts = append(out.Amounts, Amount{r.run.Manifest.Ingredient(part.Ingredient), part.Amount, float64(part.Amount) / total})
			}
			for k, y := range d.Scores {
				out.Scores[r.run.Manifest.Properties[k]] = y
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

// errNoRun is the error of the zero Result, which no run has made.
var errNoRun = errors.New("kir: no run has made this result")

func figureOf(m *report.Model, name string) Figure {
	s := m.Statistics[name]
	return Figure{Mean: float64(s.Mean), MCSE: float64(s.SEMean), ESS: float64(s.ESSBulk), RHat: float64(s.RHat)}
}

// MarshalJSON returns the whole summary of the run, as kir sample --json prints it.
func (r *Result) MarshalJSON() ([]byte, error) {
	if r.summary == nil {
		return nil, errNoRun
	}
	return r.summary.JSON()
}
