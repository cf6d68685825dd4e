package compile

import (
	"context"
	"errors"

	"kir/internal/search"
	"kir/mcmc"
)

// TradeOptions are the options of a search for the recipes of a trade-off.
type TradeOptions struct {
	ObjectiveNames []string // names of the objectives
	Effort         float64
	Seed           uint64
	Workers        int
	Steps          *search.Steps // how processes share the search; nil where one process makes it
}

// A TradeOff is the result of a search for a trade-off: the recipes that no other recipe beats in all
// objectives.
type TradeOff struct {
	*search.TradeOffResult
	Objectives         []Objective
	Target             *mcmc.Target // the target that was searched; see [Problem.TradeTarget]
	Err                error        // the reason why the search failed; nil if it did not
	BeyondKnownAmounts bool         // whether the search allowed amounts outside the range in the known recipes, because it found nothing within
}

// SearchTradeOff searches for the recipes of a trade-off. It first searches within the range of amounts in the
// known recipes, as a search for the best recipes does. If it finds nothing there, it searches all recipes that
// the problem allows.
func (p *Problem) SearchTradeOff(ctx context.Context, o TradeOptions) (t *TradeOff, err error) {
	t = &TradeOff{}
	if t.Objectives, err = p.Objectives(o.ObjectiveNames); err != nil {
		return nil, err
	}
	if t.Target, err = p.TradeTarget(); err != nil {
		return nil, err
	}
	q, err := p.SearchQuestion()
	if err != nil {
		return nil, p.Explain(err)
	}
	objectives := make([]search.Objective, len(t.Objectives))
	for k := range objectives {
		objectives[k] = t.Objectives[k].Objective
	}
	of := search.TradeOptions{
		Lines: search.FrontLineBudget(p.Total, o.Effort), Seed: o.Seed, Workers: o.Workers,
		Starts: q.Known, Least: q.Least, Most: q.Most, Refuse: q.LacksAlwaysUsed,
		Steps: o.Steps, StepName: "trade-off",
	}
	t.TradeOffResult, err = search.TradeOff(ctx, t.Target, objectives, of)
	if nothing := errors.Is(err, mcmc.ErrNoStart) || err == nil && len(t.Front) == 0; nothing && (q.Least != nil || q.LacksAlwaysUsed != nil) {
		of.Least, of.Most, of.Refuse = nil, nil, nil
		of.StepName = "trade-off-any-amounts"
		t.BeyondKnownAmounts = true
		t.TradeOffResult, err = search.TradeOff(ctx, t.Target, objectives, of)
	}
	if err != nil {
		return nil, p.Explain(err)
	}
	return t, nil
}

// SearchOwnTradeOff searches for the trade-off that the problem file asks for. It returns nil if the file asks
// for none. It returns an error only if
// the context ended, or an error of the steps, see
// [search.IsStepError]. Any other error is stored in [TradeOff.Err], because
// it does not affect the draws of a run.
func (p *Problem) SearchOwnTradeOff(ctx context.Context, steps *search.Steps) (*TradeOff, error) {
	if len(p.Trade) == 0 || p.Search.Effort == 0 {
		return nil, nil
	}
	t, err := p.SearchTradeOff(ctx, TradeOptions{ObjectiveNames: p.Trade, Effort: p.Search.Effort, Seed: p.Sampler.Seed, Steps: steps})
	if search.IsStepError(err) {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return &TradeOff{Err: err}, nil
	}
	return t, nil
}
