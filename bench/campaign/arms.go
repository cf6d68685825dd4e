package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kir/internal/campaign"
	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/measure"
	"kir/internal/search"
	"kir/mcmc"
	"kir/model"
)

// A replay is one campaign on an oracle.
type replay struct {
	o     *oracle
	seed  uint64
	size  int
	tried []int // recipes of the oracle, in the order in which they were made
	dir   string
	left  []float64 // see record, and what follows
	stop  []bool
	said  []float64
	came  []bool
	ids   map[int]string // of recipes that were offered in a batch
	off   [][]float64    // see record
	r     *rand.Rand
}

// untried returns the recipes that were not made.
func (p *replay) untried() []int {
	done := make([]bool, len(p.o.recipes))
	for _, k := range p.tried {
		done[k] = true
	}
	var rest []int
	for k := range done {
		if !done[k] {
			rest = append(rest, k)
		}
	}
	return rest
}

// An arm chooses a batch.
type arm struct {
	name   string
	choose func(ctx context.Context, p *replay) ([]int, error)
}

func random(_ context.Context, p *replay) ([]int, error) {
	rest := p.untried()
	p.r.Shuffle(len(rest), func(a, b int) { rest[a], rest[b] = rest[b], rest[a] })
	var out []int
	for _, k := range rest {
		if len(out) < p.size && p.o.fits(out, k) {
			out = append(out, k)
		}
	}
	return out, nil
}

// shortlist is what kir sample shows: the best means of the default forest that are as far
// apart as its shortlist is, whether or not they were tried.
func shortlist(ctx context.Context, p *replay) ([]int, error) {
	data := &model.Data{Label: "y", Ingredients: p.o.ingredients, Total: p.o.total}
	var known []*mcmc.Composition
	for _, k := range p.tried {
		x, err := mcmc.NewComposition(len(p.o.ingredients), p.o.recipes[k]...)
		if err != nil {
			return nil, err
		}
		known = append(known, x)
		if math.IsInf(p.o.worth(k), -1) {
			continue
		}
		data.Rows, data.Numbers = append(data.Rows, model.PositiveParts(x.Amounts())), append(data.Numbers, p.o.worth(k))
	}
	if len(data.Rows) == 0 || slices.Max(data.Numbers) == slices.Min(data.Numbers) {
		return random(ctx, p)
	}
	f, err := model.Grow(ctx, data, model.Options{Trees: 300, Seed: 1, Workers: 1})
	if err != nil {
		return nil, err
	}
	score, err := f.Score(model.Maximize())
	if err != nil {
		return nil, err
	}
	d := search.NewDistance(len(p.o.ingredients), known)
	sums := make([]int64, len(p.o.recipes))
	order := make([]int, len(sums))
	x := make([]int32, len(p.o.ingredients))
	for k, parts := range p.o.recipes {
		clear(x)
		for _, part := range parts {
			x[part.Ingredient] = int32(part.Amount)
		}
		sums[k], order[k] = score.Point(x), k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case sums[a] > sums[b]:
			return -1
		case sums[a] < sums[b]:
			return 1
		}
		return a - b
	})
	var out []int
	for apart := search.MinDistanceShare * d.Typical(known); len(out) < p.size; apart /= 2 {
		for _, k := range order {
			if len(out) < p.size && !slices.Contains(out, k) && !slices.ContainsFunc(out, func(j int) bool { return d.Between(p.o.recipes[j], p.o.recipes[k]) < apart }) {
				out = append(out, k)
			}
		}
	}
	return out, nil
}

// problem returns the problem file of an oracle, and the ingredients.csv that it names; empty: it names none.
func (o *oracle) problem() (text, stock string) {
	quoted := make([]string, len(o.ingredients))
	for i, name := range o.ingredients {
		quoted[i] = strconv.Quote(name)
	}
	way := "maximize"
	if o.minimize {
		way = "minimize"
	}
	ingredients, more := "["+strings.Join(quoted, ", ")+"]", "properties: {y: {forest: {label: y, "+way+": true}}}\n"
	if s := o.second; s != nil {
		ingredients, more, stock = "ingredients.csv", s.asked(way), s.ingredients(o)
	}
	return fmt.Sprintf("total: %d\ningredients: %s\nsparsity: {uniform: [1, %d]}\n%s%ssearch: {doses: any}\n", o.total, ingredients, o.most, o.section(), more), stock
}

// measured returns what an experiment says of a recipe, by the labels of the problem file; nil: it failed.
func (o *oracle) measured(k int) map[string]float64 {
	if math.IsNaN(o.values[k]) {
		return nil
	}
	values := map[string]float64{"y": o.values[k]}
	if s := o.second; s != nil && s.prices == nil {
		values["z"] = s.values[k]
	}
	return values
}

// next is kir next, from a problem file and the file of its results, among the recipes of
// the oracle.
func next(ctx context.Context, p *replay) (_ []int, err error) {
	path := filepath.Join(p.dir, "replay.yaml")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		text, stock := p.o.problem()
		if stock != "" {
			if err := os.WriteFile(filepath.Join(p.dir, "ingredients.csv"), []byte(stock), 0o600); err != nil {
				return nil, err
			}
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	c, err := campaign.Open(ctx, path, compile.Options{Workers: 1})
	if err != nil {
		return nil, err
	}
	var results []campaign.Result
	for _, k := range p.tried {
		res := campaign.Result{Name: fmt.Sprint("recipe ", k), Values: make(map[string]string)}
		if id, ok := p.ids[k]; ok {
			res.ID, res.Name = id, ""
		}
		measured := p.o.measured(k)
		if measured == nil {
			res.Failed, res.Values = true, nil
		}
		for label, v := range measured {
			res.Values[label] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		for _, part := range p.o.recipes[k] {
			if res.ID != "" {
				break // made as it was offered
			}
			a, err := measure.ParseAmount(strconv.Itoa(part.Amount))
			if err != nil {
				return nil, err
			}
			res.Parts = append(res.Parts, dataset.Part{Ingredient: int32(part.Ingredient), Amount: a})
		}
		if res.ID == "" {
			res.Conditions = make(map[string]string)
			for name, v := range p.o.named(k) {
				res.Conditions[name] = fmt.Sprint(v)
			}
		}
		results = append(results, res)
	}
	if _, err := c.Record(ctx, results, campaign.RecordOptions{}); err != nil {
		return nil, err
	}
	if err := c.Close(); err != nil {
		return nil, err
	}
	if c, err = campaign.Open(ctx, path, compile.Options{Workers: 1}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	b, err := c.Next(ctx, campaign.Settings{BatchSize: p.size, Seed: p.seed, MaxNewIngredients: -1, Workers: 1, AllowedRecipes: p.o.allowed(), AlikeLimits: p.o.alike()})
	if err != nil {
		return nil, err
	}
	if b.RemainingGain.Probability != nil {
		p.left, p.stop = append(p.left, *b.RemainingGain.Probability), append(p.stop, b.RemainingGain.Advice == campaign.Stop)
	}
	at := make(map[string]int)
	for k, x := range p.o.recipes {
		at[recipeKey(p.o, x)+fmt.Sprint(p.o.named(k))] = k
	}
	var out []int
	off := []float64{}
	defer func() { p.off = append(p.off, off) }()
	for _, e := range b.Entries {
		k, ok := at[mapKey(e.Recipe)+fmt.Sprint(e.Conditions)]
		if !ok {
			return nil, fmt.Errorf("%v under %v is no recipe of %s", e.Recipe, e.Conditions, p.o.name)
		}
		out = append(out, k)
		if p.ids[k] == "" {
			p.ids[k] = e.ID
		}
		if told, ok := e.Predicted["y"]; ok && told.Low < told.Value && told.Value < told.High && !math.IsNaN(p.o.values[k]) {
			off = append(off, offset(told, p.o.values[k]))
		}
		if e.BeatsBestProbability != nil && e.Reason.Kind != campaign.Replicate {
			p.said, p.came = append(p.said, *e.BeatsBestProbability), append(p.came, p.beats(k, out[:len(out)-1]))
		}
	}
	return out, nil
}

// offset is how far a value is from its prediction, where 1 is the end of the interval, and -1 the
// other end.
func offset(told campaign.Prediction, value float64) float64 {
	if value < told.Value {
		return (value - told.Value) / (told.Value - told.Low)
	}
	return (value - told.Value) / (told.High - told.Value)
}

// beats says whether a recipe is better than all that was tried; of a trade-off, whether it
// adds to that and what was chosen before.
func (p *replay) beats(k int, chosen []int) bool {
	if p.o.second != nil {
		return p.o.adds(k, slices.Concat(p.tried, chosen)) > 0
	}
	return !slices.ContainsFunc(p.tried, func(j int) bool { return p.o.worth(j) >= p.o.worth(k) })
}

func recipeKey(o *oracle, x []mcmc.Part) string {
	recipe := make(map[string]int)
	for _, p := range x {
		recipe[o.ingredients[p.Ingredient]] = p.Amount
	}
	return mapKey(recipe)
}

func mapKey(recipe map[string]int) string { return fmt.Sprint(recipe) } // maps print in the order of their keys

// A python is the script that has scikit-learn's arms, which answers as long as it is
// asked.
type python struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

func startPython(ctx context.Context, program, script string) (*python, error) {
	p := &python{command: exec.CommandContext(ctx, program, script)}
	p.command.Stderr = os.Stderr
	p.command.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	p.out.Buffer(nil, 1<<24)
	return p, p.command.Start()
}

func (p *python) close() error {
	return errors.Join(p.in.Close(), p.command.Wait())
}

// arm returns one of the arms of the script. It is given shares, and what was measured so
// that more is better; what failed is as bad as the worst that was measured.
func (p *python) arm(name string) func(context.Context, *replay) ([]int, error) {
	return func(_ context.Context, r *replay) ([]int, error) {
		question := struct {
			Arm  string      `json:"arm"`
			X    [][]float64 `json:"x"`
			Y    []float64   `json:"y"`
			Pool [][]float64 `json:"pool"`
			N    int         `json:"n"`
			Seed uint64      `json:"seed"`

			Shares   int     `json:"shares"`   // how many of the columns are shares
			Settings [][]any `json:"settings"` // of the pool: the value of each condition
			Limits   []int   `json:"limits"`   // the most values of each that a batch has; 0: any number
		}{Arm: name, N: r.size, Seed: r.seed, Shares: len(r.o.ingredients), Limits: r.o.limits()}
		worst := math.Inf(1)
		for _, k := range r.tried {
			if v := r.o.worth(k); !math.IsInf(v, -1) {
				worst = min(worst, v)
			}
		}
		if math.IsInf(worst, 1) {
			worst = 0
		}
		for _, k := range r.tried {
			question.X = append(question.X, append(r.o.shares(k), r.o.features(k)...))
			question.Y = append(question.Y, max(r.o.worth(k), worst))
		}
		rest := r.untried()
		for _, k := range rest {
			question.Pool = append(question.Pool, append(r.o.shares(k), r.o.features(k)...))
			question.Settings = append(question.Settings, r.o.settings[k])
		}
		text, err := json.Marshal(question)
		if err != nil {
			return nil, err
		}
		if _, err := p.in.Write(append(text, '\n')); err != nil {
			return nil, err
		}
		if !p.out.Scan() {
			return nil, fmt.Errorf("scikit-learn ended: %v", p.out.Err())
		}
		var at []int
		if err := json.Unmarshal(p.out.Bytes(), &at); err != nil {
			return nil, fmt.Errorf("scikit-learn said %q: %w", p.out.Text(), err)
		}
		for k := range at {
			at[k] = rest[at[k]]
		}
		return at, nil
	}
}

// shares returns a recipe's shares.
func (o *oracle) shares(k int) []float64 {
	x := make([]float64, len(o.ingredients))
	for _, p := range o.recipes[k] {
		x[p.Ingredient] = float64(p.Amount) / float64(o.total)
	}
	return x
}
