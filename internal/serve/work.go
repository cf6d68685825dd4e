package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/run"
	"kir/internal/search"
)

const (
	// firstSearchIterations and secondSearchIterations are numbers of iterations that set the
	// efforts of the first two searches of a step. A search at full effort scores a quarter as many
	// lines; see [search.LineBudget].
	firstSearchIterations, secondSearchIterations = 2_000, 40_000
	// firstFrontEffort and secondFrontEffort are the efforts of the first two searches for the
	// Pareto front of a trade-off. The effort of a full search is 1.
	firstFrontEffort, secondFrontEffort = 0.02, 0.2
	// maxListRecipes is the maximum number of recipes in a [List] that comes from draws or from the
	// finished run.
	maxListRecipes = 20
)

// A List is the shortlist of recipes of a step.
type List struct {
	Step     int              `json:"step"`    // id of the step
	Settled  bool             `json:"settled"` // whether the list comes from the finished run; if not, it is preliminary
	Note     string           `json:"note"`
	Headline string           `json:"headline"`
	Grade    string           `json:"grade"`
	Verdict  []string         `json:"verdict"`
	Entries  []report.Best    `json:"entries"`            // recipes, best first
	Colours  map[string]int   `json:"colours"`            // by ingredient: the number of the colour
	Tradeoff *report.Tradeoff `json:"tradeoff,omitempty"` // Pareto front; nil if the problem has no trade-off
	Version  int64            `json:"version"`            // number that no other list has
}

// A stepWork is the computation for one step. It loads the problem, draws recipes, makes
// preliminary searches, and then makes the same run as the command line.
type stepWork struct {
	session      *Session
	step         Step
	previousWork *stepWork // work whose draws start the chains; nil after its draws were taken
	cancel       context.CancelFunc
	doneSignal   chan struct{} // closed when the work ends

	mu              sync.Mutex
	problem         *compile.Problem // nil until the problem is loaded
	groups          *ingredientGroups
	chains          *chains
	shortlist       *List            // latest shortlist; nil: none yet
	runModel        *report.Model    // results of the finished run; nil before
	fault           error            // error that ended the work
	pendingCommands []PendingCommand // programs of the problem that nobody has allowed yet
	finishedShare   float64          // finished share of the run, from 0 to 1
}

// isSettled reports whether the run has finished.
func (w *stepWork) isSettled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runModel != nil
}

// execute does all work on the step until the work is finished or ctx ends.
func (w *stepWork) execute(ctx context.Context) (err error) {
	p, err := w.loadProblem(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	w.mu.Lock()
	w.problem, w.groups = p, newGroups(p)
	w.mu.Unlock()
	w.session.updateAmountConverter(p)
	if err := w.session.publishState(); err != nil {
		return err
	}
	c := newChains(p.Target)
	before := w.previousWork.reusableDrawsFor(p)
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
		defer close(c.processorFree)
		return w.searchInStages(drawing, p)
	})
	return p.Explain(g.Wait())
}

// loadProblem loads the problem of the step.
func (w *stepWork) loadProblem(ctx context.Context) (*compile.Problem, error) {
	return w.session.loadProblem(ctx, []byte(w.step.Text), compile.Options{Notify: w.session.note})
}

// reusableDrawsFor returns the draws of this work, from which the chains of problem p may start. It
// returns nil if the ingredients or the totals of the two problems differ.
func (w *stepWork) reusableDrawsFor(p *compile.Problem) []keptDraw {
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

// publishRepeatedly publishes a summary of the draws until ctx ends. The pauses grow from 40
// milliseconds to a second.
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

// publishDraws sends a summary of the draws to all open pages, if the page shows this step.
func (w *stepWork) publishDraws() error {
	kept, made := w.chains.draws()
	d := newDraws(w.problem, w.groups, kept, made)
	w.mu.Lock()
	d.Step, d.ReusableDraws, d.FinishedShare = w.step.ID, int(w.chains.reusableCount.Load()), w.finishedShare
	w.mu.Unlock()
	return w.session.hub.publish("draws", func() (any, bool) { return d, w.session.isCurrent(w) })
}

// searchInStages makes two short searches, and then makes the same run as the command line.
func (w *stepWork) searchInStages(ctx context.Context, p *compile.Problem) error {
	begun := time.Now()
	for _, first := range []struct {
		lines int64
		front float64
	}{{firstSearchIterations, firstFrontEffort}, {secondSearchIterations, secondFrontEffort}} {
		if err := w.quickSearch(ctx, p, first.lines, first.front); err != nil {
			return err
		}
	}
	w.session.refreshCampaign()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(w.session.waitTimes.pauseBeforeRun - time.Since(begun)):
	}
	return w.makeRun(ctx)
}

// quickSearch makes a preliminary shortlist from the draws and a short search. For a trade-off it
// also makes a preliminary Pareto front.
func (w *stepWork) quickSearch(ctx context.Context, p *compile.Problem, lines int64, front float64) error {
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
	a, err := q.Answer(ctx, search.RunContext{Iterations: lines, Seed: p.Sampler.Seed, Found: found})
	if err != nil {
		return err
	}
	l := &List{Note: "A first look, by a short search. The run that settles it is on its way."}
	if a == nil {
		l.Headline = "There is no objective: the list shows draws that differ."
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
	trade, err := p.SearchTradeOff(ctx, compile.TradeOptions{ObjectiveNames: p.Trade, Effort: front, Seed: p.Sampler.Seed})
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

// bestDraws returns the best draws so far, best first. The scores in found are without the weights
// of the objectives.
func (w *stepWork) bestDraws(p *compile.Problem) (found []search.Found, pool []run.Best, err error) {
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
		found = append(found, search.Found{Parts: pool[k].Parts, Conditions: pool[k].Conditions, LogScore: score})
	}
	return found, pool, nil
}

// makeRun makes the run that the command line would make from the same problem file with the same
// seed.
func (w *stepWork) makeRun(ctx context.Context) (err error) {
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
	l := &List{Settled: true, Note: m.Draws, Entries: m.Best[:min(len(m.Best), maxListRecipes)], Tradeoff: m.Tradeoff}
	if m.Answer != nil {
		l.Headline, l.Grade, l.Verdict = m.Answer.Headline, string(m.Answer.Grade), m.Answer.Verdict
	}
	w.mu.Lock()
	w.runModel, w.finishedShare = m, 1
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

// storeShortlist stores the list l and sends it to all open pages.
func (w *stepWork) storeShortlist(l *List) error {
	l.Step = w.step.ID
	if l.Entries == nil {
		l.Entries = []report.Best{}
	}
	l.Version = w.session.listVersion.Add(1)
	w.session.palette.addShortlist(l.Entries)
	w.mu.Lock()
	w.shortlist = l
	w.mu.Unlock()
	return w.publishShortlist()
}

// publishShortlist sends the shortlist to all open pages, if there is one and the page shows this
// step.
func (w *stepWork) publishShortlist() error {
	return w.session.hub.publish("list", func() (any, bool) {
		l := w.shortlistWithColours()
		return l, l != nil && w.session.isCurrent(w)
	})
}

// shortlistWithColours returns a copy of the shortlist with the colours of the session. It returns
// nil if there is no shortlist.
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
