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
	// quickLines and longerLines are the numbers of lines that the first two searches of a
	// step score, times a quarter of search.Budget.
	quickLines, longerLines = 2_000, 40_000
	// quickFront and longerFront are the efforts of the preliminary fronts.
	quickFront, longerFront = 0.02, 0.2
	// listLength is how many compositions are shown of a law without objectives.
	listLength = 20
)

// A List is the shortlist of a step.
type List struct {
	Step     int              `json:"step"`
	Settled  bool             `json:"settled"` // it is that of the run; false: it is preliminary
	Note     string           `json:"note"`
	Headline string           `json:"headline"`
	Grade    string           `json:"grade"`
	Verdict  []string         `json:"verdict"`
	Entries  []report.Best    `json:"entries"`
	Colours  map[string]int   `json:"colours"`            // by ingredient, if groups give none
	Tradeoff *report.Tradeoff `json:"tradeoff,omitempty"` // for a problem with a trade-off
	Version  int64            `json:"version"`            // unique to each list
}

// A work is the work on a step. It loads the problem, draws chains, makes preliminary
// searches, and then makes the run that the command line would make.
type work struct {
	session  *Session
	step     Step
	previous *work // its draws start the chains; nil once they are used
	cancel   context.CancelFunc
	done     chan struct{}

	mu              sync.Mutex
	problem         *compile.Problem
	groups          *groups
	chains          *chains
	list            *List
	model           *report.Model // of the finished run; else nil
	fault           error
	pendingCommands []PendingCommand // programs that nobody has allowed yet
	run             float64          // finished share of the run, 0 to 1
}

// isSettled reports whether the run is finished.
func (w *work) isSettled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.model != nil
}

// execute does the work until it is finished or ctx ends.
func (w *work) execute(ctx context.Context) (err error) {
	p, err := w.read(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	w.mu.Lock()
	w.problem, w.groups = p, newGroups(p)
	w.mu.Unlock()
	w.session.updateMeasure(p)
	if err := w.session.publishState(); err != nil {
		return err
	}
	c := newChains(p.Target)
	before := w.previous.drawsFor(p)
	w.previous = nil
	w.mu.Lock()
	w.chains = c
	w.mu.Unlock()
	g, drawing := errgroup.WithContext(ctx)
	g.Go(func() error { return c.run(drawing, p.Sampler.Kernel, p.Sampler.Seed, before) })
	shown, hide := context.WithCancel(drawing)
	defer hide()
	g.Go(func() error { return w.show(shown) })
	g.Go(func() error {
		defer hide()
		defer close(c.processorFree)
		return w.searchInStages(drawing, p)
	})
	return p.Explain(g.Wait())
}

// read loads the step's problem.
func (w *work) read(ctx context.Context) (*compile.Problem, error) {
	return w.session.load(ctx, []byte(w.step.Text), compile.Options{Notify: w.session.note})
}

// drawsFor returns the draws of a work that can start the chains of a problem. Both must have
// the same ingredients and total.
func (w *work) drawsFor(p *compile.Problem) []keptDraw {
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
		all[k].conditions = moveConditions(w.problem.Conditions, p.Conditions, all[k].conditions)
	}
	return all
}

// show publishes the draws repeatedly, often at first.
func (w *work) show(ctx context.Context) error {
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

func (w *work) publishDraws() error {
	kept, made := w.chains.draws()
	d := newDraws(w.problem, w.groups, kept, made)
	w.mu.Lock()
	d.Step, d.Reused, d.Run = w.step.ID, int(w.chains.reused.Load()), w.run
	w.mu.Unlock()
	return w.session.hub.publish("draws", func() (any, bool) { return d, w.session.isCurrent(w) })
}

// searchInStages makes two short searches, and then the run that the command line would make.
func (w *work) searchInStages(ctx context.Context, p *compile.Problem) error {
	begun := time.Now()
	for _, first := range []struct {
		lines int64
		front float64
	}{{quickLines, quickFront}, {longerLines, longerFront}} {
		if err := w.quickSearch(ctx, p, first.lines, first.front); err != nil {
			return err
		}
	}
	w.session.showCampaign()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(w.session.waits.settleTime - time.Since(begun)):
	}
	return w.makeRun(ctx)
}

// quickSearch makes a preliminary shortlist from the draws and a short search. For a trade-off
// it also makes a preliminary front.
func (w *work) quickSearch(ctx context.Context, p *compile.Problem, lines int64, front float64) error {
	q, err := p.SearchQuestion()
	if err != nil {
		return err
	}
	q.Effort = min(q.Effort, 1)
	q.Halves = nil // the check of the predicted gain is left to the run
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
		l.Entries = l.Entries[:min(len(l.Entries), listLength)]
	} else {
		answer, list, err := assemble.Answer(ctx, p, a)
		if err != nil {
			return err
		}
		l.Headline, l.Grade, l.Verdict, l.Entries = answer.Headline, string(answer.Grade), answer.Verdict, list
	}
	if len(p.Trade) == 0 {
		return w.keepList(l)
	}
	w.mu.Lock()
	if w.list != nil {
		l.Tradeoff = w.list.Tradeoff
	}
	w.mu.Unlock()
	if err := w.keepList(l); err != nil {
		return err
	}
	next := *l
	trade, err := p.SearchTradeOff(ctx, compile.TradeOptions{Between: p.Trade, Effort: front, Seed: p.Sampler.Seed})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return nil // the run searches for longer and reports the error
	}
	if next.Tradeoff, err = assemble.Tradeoff(p, trade, 0, nil); err != nil {
		return err
	}
	return w.keepList(&next)
}

// bestDraws returns the best draws so far, by the score that orders shortlists.
func (w *work) bestDraws(p *compile.Problem) (found []search.Found, pool []run.Best, err error) {
	plain, err := search.Unweighted(p.Target)
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

// makeRun makes the run that the command line would make from the same file with the same
// seed.
func (w *work) makeRun(ctx context.Context) (err error) {
	p, err := w.read(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if w.session.options.TryKernels {
		if _, err := assemble.ChooseKernel(ctx, p); err != nil {
			return err
		}
	}
	dir, remove, err := w.session.scratch.makeDir(fmt.Sprintf("step-%d", w.step.ID))
	if err != nil {
		return err
	}
	// The page keeps its view of the run in memory, so the files can go.
	defer func() { err = errors.Join(err, remove()) }()
	m, err := w.session.options.Run(ctx, p, dir, func(r run.Progress) {
		w.mu.Lock()
		w.run = r.Done
		w.mu.Unlock()
	})
	if err != nil {
		return err
	}
	l := &List{Settled: true, Note: m.Draws, Entries: m.Best[:min(len(m.Best), listLength)], Tradeoff: m.Tradeoff}
	if m.Answer != nil {
		l.Headline, l.Grade, l.Verdict = m.Answer.Headline, string(m.Answer.Grade), m.Answer.Verdict
	}
	w.mu.Lock()
	w.model, w.run = m, 1
	w.mu.Unlock()
	if err := w.keepList(l); err != nil {
		return err
	}
	return w.session.publishState()
}

// republish publishes the results of earlier work again.
func (w *work) republish() error {
	if err := w.publishList(); err != nil {
		return err
	}
	return w.publishDraws()
}

// keepList stores and publishes a list.
func (w *work) keepList(l *List) error {
	l.Step = w.step.ID
	if l.Entries == nil {
		l.Entries = []report.Best{}
	}
	l.Version = w.session.listVersion.Add(1)
	w.session.palette.addShortlist(l.Entries)
	w.mu.Lock()
	w.list = l
	w.mu.Unlock()
	return w.publishList()
}

// publishList publishes the list, if there is one and the page shows this step.
func (w *work) publishList() error {
	return w.session.hub.publish("list", func() (any, bool) {
		l := w.shownList()
		return l, l != nil && w.session.isCurrent(w)
	})
}

// shownList returns the list with the session's colours, or nil.
func (w *work) shownList() *List {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list == nil {
		return nil
	}
	l := *w.list
	l.Colours = w.session.palette.colours()
	return &l
}
