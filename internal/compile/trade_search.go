package compile

import (
	"context"
	"errors"

	"kir/internal/search"
	"kir/mcmc"
)

// TradeOptions are the options of the search for the recipes of a trade-off.
type TradeOptions struct {
	Between []string // the names of the objectives
	Effort  float64
	Seed    uint64
	Workers int
}

// A TradeOff is what the search for a trade-off found: recipes that no other one beats.
type TradeOff struct {
	*search.TradeOffResult
	Objectives []Objective
	Target     *mcmc.Target // that was searched; see [Problem.TradeTarget]
	Err        error        // why nothing was found; else nil
	AnyAmounts bool         // nothing was found within the amounts of the known recipes, so that any were searched
}

// SearchTradeOff searches for the recipes of a trade-off within the limits of the shortlist, and everywhere if it finds
// nothing there.
func (p *Problem) SearchTradeOff(ctx context.Context, o TradeOptions) (t *TradeOff, err error) {
	t = &TradeOff{}
	if t.Objectives, err = p.Objectives(o.Between); err != nil {
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
		Lines: search.TradeBudget(p.Total, o.Effort), Seed: o.Seed, Workers: o.Workers,
		Starts: q.Known, Least: q.Least, Most: q.Most, Refuse: q.Lacks,
	}
	t.TradeOffResult, err = search.TradeOff(ctx, t.Target, objectives, of)
	if nothing := errors.Is(err, mcmc.ErrNoStart) || err == nil && len(t.Front) == 0; nothing && (q.Least != nil || q.Lacks != nil) {
		of.Least, of.Most, of.Refuse = nil, nil, nil
		t.AnyAmounts = true
		t.TradeOffResult, err = search.TradeOff(ctx, t.Target, objectives, of)
	}
	if err != nil {
		return nil, p.Explain(err)
	}
	return t, nil
}

// SearchOwnTradeOff searches for the trade-off that the file asks for. It returns nil if the file asks for none. An error
// is one of the context; another one is kept in the trade-off, as the draws of a run are as good without it.
func (p *Problem) SearchOwnTradeOff(ctx context.Context) (*TradeOff, error) {
	if len(p.Trade) == 0 || p.Search.Effort == 0 {
		return nil, nil
	}
	t, err := p.SearchTradeOff(ctx, TradeOptions{Between: p.Trade, Effort: p.Search.Effort, Seed: p.Sampler.Seed})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return &TradeOff{Err: err}, nil
	}
	return t, nil
}
