package serve

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/report/view"
	"kir/internal/run"
	"kir/internal/search"
)

const (
	// firstSearchIterations sets the length of the first search of a step. At full effort, a search
	// examines a quarter as many pairs of ingredients as this number; see [search.LineBudget].
	firstSearchIterations = 2_000
	// secondSearchIterations sets the length of the second search of a step in the same way.
	secondSearchIterations = 40_000
	// firstFrontEffort is the effort of the first search for the Pareto front of a trade-off, where
	// a full search has the effort 1.
	firstFrontEffort = 0.02
	// secondFrontEffort is the effort of the second search for the Pareto front of a trade-off.
	secondFrontEffort = 0.2
	// maxListRecipes is the maximum number of recipes in a [List] that comes from draws or from the
	// finished run.
	maxListRecipes = 20
)

// A List is the shortlist of the best recipes of a step.
type List struct {
	Step     int              `json:"step"`    // id of the step, that is, of the version of the problem, that the list is for
	Settled  bool             `json:"settled"` // whether the list comes from the finished run; otherwise it is preliminary
	Note     string           `json:"note"`
	Headline string           `json:"headline"`
	Grade    string           `json:"grade"`
	Verdict  []string         `json:"verdict"`
	Entries  []report.Best    `json:"entries"`            // recipes, best first
	Colours  map[string]int   `json:"colours"`            // maps the name of an ingredient to the number of its colour
	Tradeoff *report.Tradeoff `json:"tradeoff,omitempty"` // Pareto front; nil if the problem has no trade-off
	Known    *KnownRecipe     `json:"known,omitempty"`    // known recipe that the finished run is compared with; nil if there is none
	Version  int64            `json:"version"`            // number that identifies this list; every new list has a greater number
}

// A KnownRecipe is the best known recipe, as the page shows it before the shortlist.
type KnownRecipe struct {
	Name       string         `json:"name"`
	Recipe     map[string]int `json:"recipe"`               // maps the name of an ingredient to its amount in units
	Conditions map[string]any `json:"conditions,omitempty"` // maps the name of a condition to its value
	Results    []string       `json:"results"`              // what was measured, predicted or computed of the recipe
	Notes      []string       `json:"notes"`                // where the shortlist stands beside the recipe
}

// newKnownRecipe returns the best known recipe of a report; nil if there is none.
func newKnownRecipe(m *report.Model) *KnownRecipe {
	k := m.BestKnown
	if k == nil {
		return nil
	}
	results, notes := view.BestKnownTexts(m)
	return &KnownRecipe{Name: k.Name, Recipe: k.Recipe, Conditions: k.Conditions, Results: results, Notes: notes}
}

// A stepWork is the computation for one step. It loads the problem, draws recipes, makes
// preliminary searches, and at last makes the same run as the command line.
type stepWork struct {
	session      *Session
	step         Step
	previousWork *stepWork // work on an earlier step, whose draws the chains start from; nil once the draws were taken
	cancel       context.CancelFunc
	doneSignal   chan struct{} // closed when the work ends

	mu              sync.Mutex
	problem         *compile.Problem // problem of the step; nil until it is loaded
	groups          *ingredientGroups
	chains          *drawingChains
	shortlist       *List            // latest shortlist; nil if there is none yet
	runResults      *report.Model    // results of the finished run; nil until the run has finished
	fault           error            // error that ended the work; nil: none
	pendingCommands []PendingCommand // programs that the problem wants to run and that the user has not allowed yet
	finishedShare   float64          // finished share of the run, from 0 to 1
}

// isSettled reports whether the run has finished.
func (w *stepWork) isSettled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runResults != nil
}

// execute does all work on the step. It returns when the work is finished or ctx ends.
func (w *stepWork) execute(ctx context.Context) (err error) {
	p, err := w.loadProblem(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	w.mu.Lock()
	w.problem, w.groups = p, newIngredientGroups(p)
	w.mu.Unlock()
	w.session.updateAmountConverter(p)
	if err := w.session.publishState(); err != nil {
		return err
	}
	c := newDrawingChains(p.Target, &w.session.processors)
	release := w.session.processors.claim()
	before := w.previousWork.drawsReusableFor(p)
	pause := w.session.waitTimes.pauseBeforeRun
	if w.previousWork == nil {
		pause = 0 // no click led to the first step, so that none may follow it at once
	}
	w.previousWork = nil
	w.mu.Lock()
	w.chains = c
	w.mu.Unlock()
	g, drawing := errgroup.WithContext(ctx)
	g.Go(func() error { return c.drawUntilDone(drawing, p.Sampler.Kernel, p.Sampler.Seed, before) })
	shown, hide := context.WithCancel(drawing)
	defer hide()
	g.Go(func() error { return w.publishRepeatedly(shown) })
	g.Go(func() error {
		defer hide()
		defer release()
		return w.makeSearchesAndRun(drawing, p, pause)
	})
	return p.Explain(g.Wait())
}

// loadProblem loads the problem of the step.
func (w *stepWork) loadProblem(ctx context.Context) (*compile.Problem, error) {
	return w.session.loadProblem(ctx, []byte(w.step.Text), compile.Options{Notify: w.session.addNote})
}

// drawsReusableFor returns the draws of this work as starts for the chains of problem p. It returns
// nil if the ingredients or the totals of the two problems differ.
func (w *stepWork) drawsReusableFor(p *compile.Problem) []keptDraw {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.problem == nil || w.chains == nil || w.problem.Total != p.Total || !slices.Equal(w.problem.Ingredients, p.Ingredients) {
		return nil
	}
	kept, _ := w.chains.draws()
	all := slices.Concat(kept...)
	for k := range all {
		all[k].conditions = convertConditions(w.problem.Conditions, p.Conditions, all[k].conditions)
	}
	return all
}

// publishRepeatedly publishes a summary of the draws again and again until ctx ends. The time
// between two summaries grows from 40 milliseconds to a second.
func (w *stepWork) publishRepeatedly(ctx context.Context) error {
	for pause := 40 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		select {
		case <-ctx.Done():
			return w.publishDraws() // publish the final draws
		case <-time.After(pause):
		}
		if err := w.publishDraws(); err != nil {
			return err
		}
	}
}

// publishDraws sends a summary of the draws to all open pages if this is the current step.
func (w *stepWork) publishDraws() error {
	kept, made := w.chains.draws()
	d := newDraws(w.problem, w.groups, kept, made)
	w.mu.Lock()
	d.Step, d.ReusableDraws, d.FinishedShare = w.step.ID, int(w.chains.reusableDrawCount.Load()), w.finishedShare
	w.mu.Unlock()
	return w.session.hub.publish("draws", func() (any, bool) { return d, w.session.isCurrentWork(w) })
}

// makeSearchesAndRun makes two short searches and then the same run as the command line. The run
// begins after the given pause at the earliest. On a single processor, as in a browser, there is
// only the first search, as the second one would delay the run.
func (w *stepWork) makeSearchesAndRun(ctx context.Context, p *compile.Problem, pause time.Duration) error {
	begun := time.Now()
	searches := []struct {
		lines int64
		front float64
	}{{firstSearchIterations, firstFrontEffort}, {secondSearchIterations, secondFrontEffort}}
	if runtime.GOMAXPROCS(0) == 1 {
		searches = searches[:1]
	}
	for _, first := range searches {
		if err := w.quickSearch(ctx, p, first.lines, first.front); err != nil {
			return err
		}
	}
	w.session.refreshCampaign()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause - time.Since(begun)):
	}
	return w.makeFullRun(ctx)
}

// quickSearch makes a preliminary shortlist from the draws and from a short search. If the problem
// has a trade-off, it also makes a preliminary Pareto front.
func (w *stepWork) quickSearch(ctx context.Context, p *compile.Problem, iterations int64, frontEffort float64) error {
	q, err := p.SearchQuestion()
	if err != nil {
		return err
	}
	q.Effort = min(q.Effort, 1)
	q.HalfTargets = nil // the check of the predicted gain is left to the run
	found, pool, err := w.bestDraws(p)
	if err != nil {
		return err
	}
	a, err := q.Answer(ctx, search.RunContext{Iterations: iterations, Seed: p.Sampler.Seed, Found: found})
	if err != nil {
		return err
	}
	l := &List{Note: "First results of a short search; the full run follows."}
	if a == nil {
		l.Headline = "There is no objective: the list shows random recipes that differ."
		if l.Entries, err = assemble.DiverseList(p, pool); err != nil {
			return err
		}
		l.Entries = l.Entries[:min(len(l.Entries), maxListRecipes)]
	} else {
		answer, list, err := assemble.Answer(ctx, p, a)
		if err != nil {
			return err
		}
		l.Headline, l.Grade, l.Verdict, l.Entries = answer.Headline, string(answer.Grade), answer.Verdict, list
	}
	if slices.ContainsFunc(l.Entries, func(b report.Best) bool { return len(b.Predicted) > 0 }) {
		l.Note += " The predictions do not yet allow for luck in choosing the best."
	}
	if len(p.Trade) == 0 {
		return w.storeShortlist(l)
	}
	w.mu.Lock()
	if w.shortlist != nil {
		l.Tradeoff = w.shortlist.Tradeoff
	}
	w.mu.Unlock()
	if err := w.storeShortlist(l); err != nil {
		return err
	}
	next := *l
	trade, err := p.SearchTradeOff(ctx, compile.TradeOptions{ObjectiveNames: p.Trade, Effort: frontEffort, Seed: p.Sampler.Seed})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return nil // the run searches for longer and reports the error
	}
	if next.Tradeoff, err = assemble.Tradeoff(p, trade, 0, nil); err != nil {
		return err
	}
	return w.storeShortlist(&next)
}

// bestDraws returns the best recipes among the kept draws, best first. The scores in candidates are
// computed without the weights of the objectives.
func (w *stepWork) bestDraws(p *compile.Problem) (candidates []search.Found, pool []run.Best, err error) {
	plain, err := search.UnweightedTarget(p.Target)
	if err != nil {
		return nil, nil, err
	}
	kept, _ := w.chains.draws()
	for c, draws := range kept {
		for k, d := range draws {
			pool = append(pool, run.Best{Chain: c, Draw: k, LogScore: d.logScore, LogDensity: d.logDensity, Parts: d.parts, Conditions: d.conditions})
		}
	}
	slices.SortStableFunc(pool, run.Best.Compare)
	const most = 200
	pool = pool[:min(len(pool), most)]
	for k := range pool {
		x, err := p.Target.Space().Composition(pool[k].Parts, pool[k].Conditions)
		if err != nil {
			return nil, nil, err
		}
		score, err := plain.LogScore(x)
		if err != nil {
			return nil, nil, err
		}
		if pool[k].Scores, err = p.Target.AppendScores(nil, x); err != nil {
			return nil, nil, err
		}
		candidates = append(candidates, search.Found{Parts: pool[k].Parts, Conditions: pool[k].Conditions, LogScore: score})
	}
	return candidates, pool, nil
}

// makeFullRun makes the run that the command line would make from the same problem file.
func (w *stepWork) makeFullRun(ctx context.Context) (err error) {
	p, err := w.loadProblem(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if w.session.options.TryKernels {
		if _, err := assemble.ChooseKernel(ctx, p); err != nil {
			return err
		}
	}
	dir, remove, err := w.session.scratchDir.makeRunDir(fmt.Sprintf("step-%d", w.step.ID))
	if err != nil {
		return err
	}
	// The page keeps its view of the run in memory, so the files can go.
	defer func() { err = errors.Join(err, remove()) }()
	m, err := w.session.options.Run(ctx, p, dir, func(r run.Progress) {
		w.mu.Lock()
		w.finishedShare = r.DoneShare
		w.mu.Unlock()
	})
	if err != nil {
		return err
	}
	l := &List{Settled: true, Note: m.Draws, Entries: m.Best[:min(len(m.Best), maxListRecipes)], Tradeoff: m.Tradeoff, Known: newKnownRecipe(m)}
	if m.Answer != nil {
		l.Headline, l.Grade, l.Verdict = m.Answer.Headline, string(m.Answer.Grade), m.Answer.Verdict
	}
	w.mu.Lock()
	w.runResults, w.finishedShare = m, 1
	w.mu.Unlock()
	if err := w.storeShortlist(l); err != nil {
		return err
	}
	return w.session.publishState()
}

// republish sends the shortlist and the draws of this work to all pages again.
func (w *stepWork) republish() error {
	if err := w.publishShortlist(); err != nil {
		return err
	}
	return w.publishDraws()
}

// storeShortlist stores the list l as the latest shortlist and sends it to all open pages.
func (w *stepWork) storeShortlist(l *List) error {
	l.Step = w.step.ID
	if l.Entries == nil {
		l.Entries = []report.Best{}
	}
	l.Version = w.session.shortlistVersion.Add(1)
	w.session.palette.addShortlist(l.Entries)
	if l.Known != nil {
		w.session.palette.addRecipes(l.Known.Recipe)
	}
	w.mu.Lock()
	w.shortlist = l
	w.mu.Unlock()
	return w.publishShortlist()
}

// publishShortlist sends the shortlist to all open pages if there is one and this is the current
// step.
func (w *stepWork) publishShortlist() error {
	return w.session.hub.publish("list", func() (any, bool) {
		l := w.shortlistWithColours()
		return l, l != nil && w.session.isCurrentWork(w)
	})
}

// shortlistWithColours returns a copy of the shortlist with the current colours of ingredients. It
// returns nil if there is no shortlist.
func (w *stepWork) shortlistWithColours() *List {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shortlist == nil {
		return nil
	}
	l := *w.shortlist
	l.Colours = w.session.palette.ingredientColours()
	return &l
}
