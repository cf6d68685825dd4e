package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kir/fault"
	"kir/problem"
	"kir/run"
)

// summaryName is the file of a run's directory that holds the model.
const summaryName = "summary.json"

const (
	// shownBest is how many compositions the model lists.
	shownBest = 10
	// shownNearest is how many known recipes are set beside each.
	shownNearest = 3
	// mostInclusion is up to how many ingredients all are listed; of more, only
	// those that some draw uses.
	mostInclusion = 10_000
)

// New returns what there is to say of a finished run.
func New(p *problem.Problem, r *run.Result, version string) *Model {
	m := &Model{
		Version:    version,
		Problem:    problemOf(p),
		Sampler:    p.Sampler,
		Rates:      rates(r.Moves.Accepted, r.Moves.Updated, r.Moves.Iterations),
		Variation:  Number(r.Variation),
		Expected:   Number(r.Expected),
		Statistics: map[string]Statistic{"used": statistic(r.Used), "log_density": statistic(r.LogDensity)},
		Properties: propertiesOf(p),
		Inputs:     p.Inputs,
		Timing:     Timing{Number(r.Timing.Seconds), Number(r.Timing.IterationsPerSecond)},
	}
	for k, c := range r.Chains {
		m.Chains = append(m.Chains, Chain{Chain: k, Starts: c.Tries, Rates: rates(c.Tally.Accepted, c.Tally.Updated, c.Tally.Iterations)})
	}
	for _, s := range r.Sizes {
		size := Size{N: s.N, Target: Number(s.Target), Observed: Number(s.Observed), MCSE: Number(s.MCSE)}
		if shares := p.Target.Space().Shares(); shares != nil {
			size.Share = &Share{Number(shares[s.N-1].Estimate), Number(shares[s.N-1].SE)}
		}
		m.Sparsity = append(m.Sparsity, size)
	}
	for _, s := range r.Properties {
		m.Statistics[s.Name] = statistic(s)
	}
	m.Inclusion = make([]Inclusion, 0, len(r.Inclusion))
	for _, i := range r.Inclusion {
		if i.Probability > 0 || len(p.Ingredients) <= mostInclusion {
			m.Inclusion = append(m.Inclusion, Inclusion{p.Ingredients[i.Ingredient], Number(i.Probability), Number(i.MCSE), Number(i.MeanAmount)})
		}
	}
	nan := Number(math.NaN())
	m.Score = Comparison{Draws: nan, DrawsMCSE: nan, Random: nan, RandomSE: nan}
	if r.Score != nil {
		m.Score.Draws, m.Score.DrawsMCSE = Number(r.Score.Mean), Number(r.Score.MCSEMean)
	}
	if b := r.Baseline; b != nil {
		m.Score.Random, m.Score.RandomSE, m.Score.RandomSize = Number(b.Mean), Number(b.SE), len(b.LogScores)
	}
	best := r.Best
	if p.Book != nil {
		best = r.New
	}
	m.Best = make([]Best, 0, shownBest)
	for _, b := range best[:min(len(best), shownBest)] {
		m.Best = append(m.Best, bestOf(p, b))
	}
	m.Verdict = verdict(p, r)
	m.Warnings = append(append([]string{}, p.Warnings...), forestWarnings(p)...)
	m.Warnings = append(m.Warnings, runWarnings(p, r)...)
	m.Warnings = append(m.Warnings, r.Notes...)
	m.Files = []string{summaryName, "problem.yaml", "manifest.json"}
	for k := range r.Chains {
		m.Files = append(m.Files, fmt.Sprintf("draws-%d.parquet", k))
	}
	return m
}

func rates(accepted, updated, iterations int64) Rates {
	return Rates{Number(float64(accepted) / float64(iterations)), Number(float64(updated) / float64(iterations))}
}

func statistic(s run.Statistic) Statistic {
	return Statistic{
		Mean: Number(s.Mean), SD: Number(s.SD), Q5: Number(s.Q5), Median: Number(s.Median), Q95: Number(s.Q95),
		MCSEMean: Number(s.MCSEMean), ESSBulk: Number(s.ESSBulk), ESSTail: Number(s.ESSTail), Rhat: Number(s.RHat),
	}
}

func bestOf(p *problem.Problem, b run.Best) Best {
	out := Best{
		Chain: b.Chain, Draw: b.Draw, Score: Number(b.Score), LogDensity: Number(b.LogDensity),
		Scores: make(map[string]Number, len(b.Scores)), Recipe: make(map[string]int, len(b.Parts)), Known: b.Known, Nearest: []Nearest{},
	}
	for k, y := range b.Scores {
		out.Scores[p.Properties[k].Name] = Number(y)
	}
	set := make([]int, len(b.Parts))
	for k, part := range b.Parts {
		out.Recipe[p.Ingredients[part.Ingredient]] = part.Amount
		set[k] = part.Ingredient
	}
	if p.Book == nil {
		return out
	}
	for _, n := range p.Book.Nearest(set, shownNearest) {
		near := Nearest{Recipe: p.Book.Recipes[n.Recipe].Name, Overlap: Number(n.Overlap), Shared: []string{}}
		for _, i := range n.Shared {
			near.Shared = append(near.Shared, p.Ingredients[i])
		}
		out.Nearest = append(out.Nearest, near)
	}
	return out
}

// series are the statistics that say whether a run can be trusted.
func series(r *run.Result) []run.Statistic {
	return append([]run.Statistic{r.Used, r.LogDensity}, r.Properties...)
}

// worst returns the statistics with the largest R-hat and the smallest bulk
// ESS; nil where no statistic has the figure.
func worst(r *run.Result) (rhat, ess *run.Statistic) {
	for _, s := range series(r) {
		if !math.IsNaN(s.RHat) && (rhat == nil || s.RHat > rhat.RHat) {
			rhat = &s
		}
		if !math.IsNaN(s.ESSBulk) && (ess == nil || s.ESSBulk < ess.ESSBulk) {
			ess = &s
		}
	}
	return rhat, ess
}

const (
	// largestRHat and leastESS are the limits of Vehtari et al. (2021), the
	// latter a chain.
	largestRHat = 1.01
	leastESS    = 100
)

// verdict says in a sentence or two whether the run can be trusted.
func verdict(p *problem.Problem, r *run.Result) string {
	rhat, ess := worst(r)
	if ess == nil || rhat == nil {
		return "How many independent draws these are worth cannot be told: no figure varies enough or there are too few draws."
	}
	worth := fmt.Sprintf("The %s draws are worth about %s independent ones, by %s, the slowest figure.",
		thousands(p.Sampler.Chains*p.Sampler.Draws), thousands(int(ess.ESSBulk)), ess.Name)
	switch {
	case rhat.RHat > largestRHat:
		return fmt.Sprintf("Do not rely on this run yet: the chains disagree on %s (R-hat %.3f, at most %.2f is wanted). %s", rhat.Name, rhat.RHat, largestRHat, worth)
	case ess.ESSBulk < float64(leastESS*len(r.Chains)):
		return fmt.Sprintf("This run is short: %s The chains agree so far (R-hat at most %.3f).", lower(worth), rhat.RHat)
	case len(r.Chains) == 1:
		return fmt.Sprintf("%s The halves of the one chain agree (R-hat at most %.3f); several chains would say more.", worth, rhat.RHat)
	}
	return fmt.Sprintf("%s The chains agree (R-hat at most %.3f).", worth, rhat.RHat)
}

func lower(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// runWarnings says what in a run calls for care, and what to do.
func runWarnings(p *problem.Problem, r *run.Result) []string {
	var warnings []string
	add := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	better := ""
	if p.Sampler.Kernel != "balanced" && p.Sampler.Kernel != "exact" && p.Sampler.Kernel != "tempered" {
		better = ", or take the kernel balanced, which mixes faster"
	}
	rhat, ess := worst(r)
	wanted := float64(leastESS * len(r.Chains))
	enough := func() string {
		if ess == nil {
			return "more draws"
		}
		return "about " + thousands(roundUp(float64(p.Sampler.Draws)*max(2, 2*wanted/ess.ESSBulk))) + " draws a chain"
	}
	if rhat != nil && rhat.RHat > largestRHat {
		add("R-hat of %s is %.3f, above %.2f: the chains have not yet come to the same law, and means over them may be off. Take %s and as long a warm-up%s.", rhat.Name, rhat.RHat, largestRHat, enough(), better)
	}
	if ess != nil && ess.ESSBulk < wanted {
		add("The bulk ESS of %s is %s, below %d a chain: R-hat and standard errors are themselves unsure. Take %s%s.", ess.Name, thousands(int(ess.ESSBulk)), leastESS, enough(), better)
	}
	for k, c := range r.Chains {
		if c.Tally.Updated == 0 && c.Tally.Iterations > 0 && len(p.Ingredients) > 1 {
			add("Chain %d never moved in %s iterations: its draws are one and the same. Lower the weights of the properties, give them a floor, or take another kernel.", k, thousands(int(c.Tally.Iterations)))
		}
	}
	tries := 0
	for _, c := range r.Chains {
		tries += c.Tries
	}
	if tries > 2*len(r.Chains) {
		add("A property was 0 at %s of %s compositions drawn to start from: large parts of the space are forbidden, and a chain may be shut in one of them. Compare chains, or give the property a floor.", thousands(tries-len(r.Chains)), thousands(tries))
	}
	return warnings
}

// roundUp rounds up to two figures.
func roundUp(v float64) int {
	unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(v))-1))
	return int(math.Ceil(v/unit) * unit)
}

// JSON returns the model as indented JSON.
func (m *Model) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(m)
	return b.Bytes(), err
}

// Save writes summary.json into the run's directory.
func (m *Model) Save(dir string) error {
	data, err := m.JSON()
	if err != nil {
		return err
	}
	return run.WriteFile(dir, summaryName, data)
}

// Read reads the model of the run in a directory.
func Read(dir string) (*Model, error) {
	path := filepath.Join(dir, summaryName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noSummary(dir, err)
	}
	if err != nil {
		return nil, err
	}
	m := new(Model)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, &fault.Error{File: path, Message: "the summary is damaged", Hint: err.Error(), Err: err}
	}
	return m, nil
}

// noSummary says why a directory has none.
func noSummary(dir string, err error) error {
	if _, statErr := os.Stat(dir); errors.Is(statErr, fs.ErrNotExist) {
		return &fault.Error{File: dir, Message: "there is no such directory", Hint: "name the directory of a run", Err: err}
	}
	if _, statErr := os.Stat(filepath.Join(dir, "manifest.json")); statErr == nil {
		return &fault.Error{File: dir, Message: "the run is not finished", Hint: "go on with kir resume " + dir, Err: err}
	}
	return &fault.Error{File: dir, Message: "this is not the directory of a run", Hint: "it has no " + summaryName, Err: err}
}

// SortedInclusion returns the ingredients from the most to the least frequent.
func (m *Model) SortedInclusion() []Inclusion {
	sorted := slices.Clone(m.Inclusion)
	slices.SortStableFunc(sorted, func(a, b Inclusion) int {
		switch {
		case a.Probability > b.Probability:
			return -1
		case a.Probability < b.Probability:
			return 1
		}
		return 0
	})
	return sorted
}
