package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kir"
	"kir/fault"
	"kir/problem"
	"kir/rule"
	"kir/run"
)

// summaryName is the file of a run's directory that holds the model.
const summaryName = "summary.json"

const (
	// shownNearest is how many known recipes are set beside each.
	shownNearest = 3
	// mostInclusion is up to how many ingredients all are listed; of more, only
	// those that some draw uses.
	mostInclusion = 10_000
)

// New returns what there is to say of the finished run in a store. It reads
// all draws once.
func New(ctx context.Context, p *problem.Problem, store run.Store, r *run.Result, version string) (*Model, error) {
	m := &Model{
		Version:    version,
		Problem:    problemOf(p),
		Sampler:    p.Sampler,
		Rates:      rates(r.Moves.Accepted, r.Moves.Updated, r.Moves.Iterations),
		Moves:      movesOf(p, r),
		Variation:  Number(r.Variation),
		Expected:   Number(r.Expected),
		Statistics: map[string]Statistic{"used": statistic(r.Used), "log_density": statistic(r.LogDensity)},
		Properties: propertiesOf(p),
		Inputs:     p.Inputs,
		Again:      Again{command(p), string(p.Resolved)},
		Timing:     Timing{Number(r.Timing.Seconds), Number(r.Timing.IterationsPerSecond)},
	}
	for k, c := range r.Chains {
		m.Chains = append(m.Chains, Chain{Chain: k, Starts: c.Tries, Rates: rates(c.Tally.Accepted, c.Tally.Updated, c.Tally.Iterations)})
	}
	m.Ladders, m.LogZ = laddersOf(r)
	for _, s := range r.Sizes {
		size := Size{N: s.N, Target: Number(s.Target), Observed: Number(s.Observed), MCSE: Number(s.MCSE), LawSE: Number(s.LawSE)}
		if shares := p.Target.Space().Shares(); shares != nil {
			size.Share = &Share{Number(shares[s.N-1].Estimate), Number(shares[s.N-1].SE)}
		}
		m.Sparsity = append(m.Sparsity, size)
	}
	m.Question = question(m)
	for _, s := range r.Properties {
		m.Statistics[s.Name] = statistic(s)
	}

	made, err := run.Open(ctx, store)
	if err != nil {
		return nil, err
	}
	g, err := gather(ctx, p, made, r.Inclusion, standard())
	if err != nil {
		return nil, fmt.Errorf("reading the draws: %w", err)
	}
	if m.Inclusion, err = inclusionOf(p, r, g); err != nil {
		return nil, err
	}
	probabilities := make([]float64, len(r.Inclusion))
	for k, i := range r.Inclusion {
		probabilities[k] = i.Probability
	}
	m.Pairs = newPairs(p, g, probabilities, r.Unlisted)
	m.Plots = newPlots(g, m.Statistics)
	nan := Number(math.NaN())
	m.Score = Comparison{Draws: nan, DrawsMCSE: nan, DrawsESS: nan, Random: nan, RandomSE: nan, Histogram: newHistogram(g, r.Baseline)}
	if r.Score != nil {
		m.Score.Draws, m.Score.DrawsMCSE, m.Score.DrawsESS = Number(r.Score.Mean), Number(r.Score.SEMean), Number(r.Score.ESSBulk)
	}
	if b := r.Baseline; b != nil {
		m.Score.Random, m.Score.RandomSE, m.Score.RandomSize = Number(b.Mean), Number(b.SE), len(b.LogScores)
	}

	best := r.Best
	if p.Book != nil {
		best = r.New
	}
	m.Best = bestsOf(p, best)
	m.Diverse = bestsOf(p, diverse(run.Distinct(slices.Concat(best, g.pool)), mostDiverse))

	m.Verdict, m.Grade = verdict(p, r)
	m.Verdict, m.Grade = judged(m.Verdict, m.Grade, m.Ladders)
	m.Warnings = append(append([]string{}, p.Warnings...), forestWarnings(p)...)
	m.Warnings = append(m.Warnings, runWarnings(p, r)...)
	m.Warnings = append(m.Warnings, ladderWarnings(m.Ladders)...)
	m.Warnings = append(m.Warnings, r.Notes...)
	m.Files = []string{summaryName, "problem.yaml", "run.json", "draws/"}
	m.Parts = r.Parts
	return m, nil
}

// inclusionOf sets the use of each ingredient beside the book's.
func inclusionOf(p *problem.Problem, r *run.Result, g *gathered) ([]Inclusion, error) {
	var shares, amounts []float64
	if p.Book != nil {
		var err error
		if shares, amounts, err = bookUse(p); err != nil {
			return nil, err
		}
	}
	errors := make(map[int]float64, len(g.slots))
	for slot, se := range g.amountErrors() {
		errors[g.slots[slot]] = se
	}
	inclusion := make([]Inclusion, 0, len(r.Inclusion))
	for _, i := range r.Inclusion {
		if i.Probability == 0 && len(p.Ingredients) > mostInclusion {
			continue
		}
		se, ok := errors[i.Ingredient]
		if !ok {
			se = math.NaN()
		}
		out := Inclusion{
			Ingredient: p.Ingredients[i.Ingredient], Probability: Number(i.Probability), MCSE: Number(i.MCSE),
			MeanAmount: Number(i.MeanAmount), AmountMCSE: Number(se),
			BookShare: Number(math.NaN()), BookAmount: Number(math.NaN()),
		}
		if shares != nil {
			out.BookShare, out.BookAmount = Number(shares[i.Ingredient]), Number(amounts[i.Ingredient])
		}
		inclusion = append(inclusion, out)
	}
	return inclusion, nil
}

// movesOf says what each move of a kernel that mixes several did.
func movesOf(p *problem.Problem, r *run.Result) []Move {
	moves := []Move{}
	if k := p.Sampler.Kernel; k != "balanced" && k != "tempered" {
		return moves
	}
	for k, name := range kir.BalancedMoves() {
		if t := r.Moves.Moves[k]; t.Tried > 0 {
			of := rates(t.Accepted, t.Updated, t.Tried)
			moves = append(moves, Move{name, t.Tried, of.Accepted, of.Updated})
		}
	}
	return moves
}

// command returns a command line that makes the same run from the problem file,
// whatever flags this run was started with.
func command(p *problem.Problem) string {
	s := p.Sampler
	return fmt.Sprintf("kir sample %s --kernel %s --chains %d --warmup %d --draws %d --thin %d --seed %d",
		shellQuote(filepath.Base(p.File)), s.Kernel, s.Chains, s.Warmup, s.Draws, s.Thin, s.Seed)
}

// shellQuote makes text one word of a POSIX shell.
func shellQuote(text string) string {
	if text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-") == "" && text[0] != '-' {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// mostAbout is how many wishes the question tells in full; of more it has the
// names.
const mostAbout = 3

// question is what was asked, in words.
func question(m *Model) string {
	var b strings.Builder
	shown := m.shownLaw()
	lo, hi := shown[0].N, shown[len(shown)-1].N
	fmt.Fprintf(&b, "Which compositions of %s", thousands(lo))
	if hi > lo {
		fmt.Fprintf(&b, " to %s", thousands(hi))
	}
	fmt.Fprintf(&b, " out of %s", counted(m.Problem.Ingredients, "ingredient"))
	var wishes []Property
	for _, w := range m.Properties {
		if w.Weight > 0 {
			wishes = append(wishes, w)
		}
	}
	for k, w := range wishes {
		if k == 0 {
			b.WriteString(" suit best: ")
		} else {
			b.WriteString("; ")
		}
		if len(wishes) <= mostAbout {
			b.WriteString(w.About)
		} else {
			b.WriteString(w.Name)
		}
		if w.Weight != 1 {
			fmt.Fprintf(&b, " (weight %g)", w.Weight)
		}
	}
	if len(wishes) == 0 {
		b.WriteString(" are possible")
	}
	switch n := len(m.Problem.Rules); {
	case n == 1:
		fmt.Fprintf(&b, ", with the rule: %s", m.Problem.Rules[0])
	case n > 1:
		fmt.Fprintf(&b, ", with %d rules", n)
	}
	b.WriteString("?")
	return b.String()
}

func rates(accepted, updated, iterations int64) Rates {
	return Rates{Number(float64(accepted) / float64(iterations)), Number(float64(updated) / float64(iterations))}
}

func statistic(s run.Statistic) Statistic {
	out := Statistic{
		Mean: Number(s.Mean), SD: Number(s.SD), Q5: Number(s.Q5), Median: Number(s.Median), Q95: Number(s.Q95),
		MCSEMean: Number(s.SEMean), MCSEQ5: Number(s.SEQ5), MCSEMedian: Number(s.SEMedian), MCSEQ95: Number(s.SEQ95),
		ESSMean: Number(s.ESSMean), ESSBulk: Number(s.ESSBulk), ESSTail: Number(s.ESSTail), Rhat: Number(s.RHat), Nested: Number(s.NestedRHat),
	}
	names := map[string]string{
		"Mean": "mean", "SD": "sd", "Q5": "q5", "Median": "median", "Q95": "q95",
		"SEMean": "mcse_mean", "SEQ5": "mcse_q5", "SEMedian": "mcse_median", "SEQ95": "mcse_q95",
		"ESSMean": "ess_mean", "ESSBulk": "ess_bulk", "ESSTail": "ess_tail", "RHat": "rhat",
	}
	for _, r := range s.Reasons {
		if name, ok := names[r.Figure]; ok {
			if out.Why == nil {
				out.Why = make(map[string]string)
			}
			out.Why[name] = r.Why
		}
	}
	return out
}

func bestsOf(p *problem.Problem, list []run.Best) []Best {
	out := make([]Best, len(list))
	for k, b := range list {
		out[k] = bestOf(p, b)
	}
	return out
}

func bestOf(p *problem.Problem, b run.Best) Best {
	out := Best{
		Chain: b.Chain, Draw: b.Draw, Drawn: !b.Found, Score: Number(b.Score), LogDensity: Number(b.LogDensity),
		Scores: make(map[string]Number, len(b.Scores)), Recipe: make(map[string]int, len(b.Parts)), Known: b.Known,
		Nearest: []Nearest{}, Slack: []Slack{},
	}
	for k, y := range b.Scores {
		out.Scores[p.Properties[k].Name] = Number(y)
	}
	for _, part := range b.Parts {
		out.Recipe[p.Ingredients[part.Ingredient]] = part.Amount
	}
	for k, r := range p.Rules {
		for _, s := range rule.Slacks(r.Rule, b.Parts, p.Total) {
			slack := Slack{Rule: k, Value: Number(s.Value), Min: Number(s.Min), Max: Number(s.Max), Unit: s.Unit, Room: Number(s.Room())}
			if s.Ingredient >= 0 {
				slack.Ingredient = p.Ingredients[s.Ingredient]
			}
			out.Slack = append(out.Slack, slack)
		}
	}
	if p.Book == nil {
		return out
	}
	for _, n := range p.Book.Nearest(setOf(b.Parts), shownNearest) {
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

// slowest is the figure with the smallest effective sample size.
type slowest struct {
	what string // in running text
	kind string // bulk ESS, or ESS
	ess  float64
}

// rarest is between which probability and one less it the presence of an
// ingredient has a say in how many independent draws a run is worth. What is
// rarer, or hardly ever missing, is too few draws' matter.
const rarest = 0.05

// worst returns the statistic with the largest R-hat, and what has the smallest
// ESS, the presence of ingredients included: chains that are caught in regions
// that score alike differ in what they use and in nothing else. Nil where
// nothing has the figure.
func worst(p *problem.Problem, r *run.Result) (rhat *run.Statistic, ess *slowest) {
	see := func(s slowest) {
		if !math.IsNaN(s.ess) && (ess == nil || s.ess < ess.ess) {
			ess = &s
		}
	}
	for _, s := range series(r) {
		if !math.IsNaN(s.RHat) && (rhat == nil || s.RHat > rhat.RHat) {
			rhat = &s
		}
		see(slowest{words(s.Name), "bulk ESS", s.ESSBulk})
	}
	for _, i := range r.Inclusion {
		if rarest <= i.Probability && i.Probability <= 1-rarest {
			see(slowest{"the presence of " + fault.Quote(p.Ingredients[i.Ingredient]), "ESS", i.ESS})
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

// verdict says in a sentence or two, and in a word, whether the run can be
// trusted.
func verdict(p *problem.Problem, r *run.Result) (string, Grade) {
	rhat, ess := worst(p, r)
	if ess == nil || rhat == nil {
		return "How many independent draws these are worth cannot be told: no figure varies enough or there are too few draws.", Unknown
	}
	worth := fmt.Sprintf("The %s draws are worth about %s independent ones, by the figure that mixes slowest, %s.",
		thousands(p.Sampler.Chains*p.Sampler.Draws), thousands(int(ess.ess)), ess.what)
	switch {
	case rhat.RHat > largestRHat:
		return fmt.Sprintf("Do not rely on this run yet: the chains disagree on %s (R-hat %s, at most %.2f is wanted). %s", words(rhat.Name), rhatText(rhat.RHat), largestRHat, worth), Unsound
	case ess.ess < float64(leastESS*len(r.Chains)):
		return fmt.Sprintf("This run is short: %s The chains agree so far (R-hat at most %.3f).", lower(worth), rhat.RHat), Short
	case len(r.Chains) == 1:
		return fmt.Sprintf("%s The halves of the one chain agree (R-hat at most %.3f); several chains would say more.", worth, rhat.RHat), Sound
	}
	return fmt.Sprintf("%s The chains agree (R-hat at most %.3f).", worth, rhat.RHat), Sound
}

// words names a statistic in running text.
func words(statistic string) string {
	switch statistic {
	case "used":
		return "the number of ingredients used"
	case "log_density":
		return "the log density"
	}
	return statistic
}

func lower(s string) string { return strings.ToLower(s[:1]) + s[1:] }
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// runWarnings says what in a run calls for care, and what to do.
func runWarnings(p *problem.Problem, r *run.Result) []string {
	var warnings []string
	add := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	better := ""
	switch p.Sampler.Kernel {
	case "exact", "tempered":
	case "balanced":
		if r.Score != nil {
			better = ", or take the kernel tempered, which goes from one good region to another by way of random compositions"
		}
	default:
		better = ", or take the kernel balanced, which mixes faster"
	}
	rhat, ess := worst(p, r)
	wanted := float64(leastESS * len(r.Chains))
	enough := func() string {
		if ess == nil {
			return "more draws"
		}
		return "about " + thousands(roundUp(float64(p.Sampler.Draws)*max(2, 2*wanted/ess.ess))) + " draws a chain"
	}
	if rhat != nil && rhat.RHat > largestRHat {
		add("R-hat of %s is %s, above %.2f: the chains have not yet come to the same law, and means over them may be off. Take %s and as long a warm-up%s.", words(rhat.Name), rhatText(rhat.RHat), largestRHat, enough(), better)
	}
	if ess != nil && ess.ess < wanted {
		add("The %s of %s is %s, below %d a chain: R-hat and standard errors are themselves unsure. Take %s%s.", ess.kind, ess.what, thousands(int(ess.ess)), leastESS, enough(), better)
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
		// Gibbs and accelerated go no further than a line at a time, the others
		// also to compositions that have nothing to do with the last.
		danger, out := "there may be few ways from one allowed region to another", "take the kernel tempered"
		switch p.Sampler.Kernel {
		case "gibbs", "accelerated":
			danger, out = "a chain may be shut in one allowed region", "take the kernel tempered or balanced"
		case "tempered":
			out = "take ten times the warm-up and the draws"
		}
		add("A property was 0 at %s of %s compositions drawn to start from: much of the space is forbidden, and %s. Compare the chains, %s, or give the property a floor.",
			thousands(tries-len(r.Chains)), thousands(tries), danger, out)
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

// Save writes summary.json into the run's store.
func (m *Model) Save(ctx context.Context, store run.Store) error {
	data, err := m.JSON()
	if err != nil {
		return err
	}
	return store.Replace(ctx, summaryName, data)
}

// Read reads the model of the run in a store.
func Read(ctx context.Context, store run.Store) (*Model, error) {
	data, err := store.Read(ctx, summaryName, 0, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noSummary(ctx, store, err)
	}
	if err != nil {
		return nil, err
	}
	m := new(Model)
	err = json.Unmarshal(data, m)
	if err == nil {
		err = m.valid()
	}
	if err != nil {
		return nil, &fault.Error{File: store.Path(summaryName), Message: "the summary is damaged: " + err.Error(), Hint: "delete it and make it again with kir report " + store.Location(), Err: err}
	}
	return m, nil
}

// ErrNoSummary is returned when a complete run has no summary, because it was
// interrupted when the last draw had been made.
var ErrNoSummary = errors.New("the run has no summary")

// noSummary says why a store has none.
func noSummary(ctx context.Context, store run.Store, err error) error {
	dir := store.Location()
	r, openErr := run.Open(ctx, store)
	if openErr == nil && r.Complete() == nil {
		return &fault.Error{File: dir, Message: "the run has no " + summaryName, Hint: "make it with kir report " + dir, Err: ErrNoSummary}
	} else if openErr == nil {
		return &fault.Error{File: dir, Message: "the run is not finished", Hint: "go on with kir resume " + dir, Err: err}
	}
	if _, statErr := os.Stat(dir); errors.As(openErr, new(*run.NotRunError)) && errors.Is(statErr, fs.ErrNotExist) {
		return &fault.Error{File: dir, Message: "there is no such directory", Hint: "name the directory of a run", Err: err}
	}
	return &fault.Error{File: dir, Message: "this is not the directory of a run", Hint: "it has no " + summaryName, Err: err}
}

// SortedInclusion returns the ingredients from the most to the least frequent.
func (m *Model) SortedInclusion() []Inclusion {
	sorted := slices.Clone(m.Inclusion)
	slices.SortStableFunc(sorted, func(a, b Inclusion) int { return cmp.Compare(b.Probability, a.Probability) })
	return sorted
}
