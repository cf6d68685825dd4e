package search

import (
	"context"
	"fmt"
	"math"

	"kir/internal/number"
	"kir/internal/portable"
	"kir/mcmc"
)

// An OptimismCheck compares a shortlist's predicted scores with those of an independent model. The
// best of many is partly best by luck (the winner's curse).
type OptimismCheck struct {
	Told    number.Number `json:"told"`    // mean score of a shortlist by the target that it was searched for
	Checked number.Number `json:"checked"` // by one that has learnt from other data
	// RandomTold and RandomChecked are the mean scores of random compositions.
	RandomTold    number.Number `json:"random_told"`
	RandomChecked number.Number `json:"random_checked"`

	// Left is the share of the predicted gain over random compositions that remains: (Checked −
	// RandomChecked) / (Told − RandomTold). It is NaN without a gain.
	Left number.Number `json:"left"`
	// Kept is the share of the gain predicted by the model of all recipes that is expected to
	// remain: √(2·Left/(1 + Left)), 0 to 1. Left is the reliability of a model of half the recipes,
	// and 2·Left/(1 + Left) that of a model of all (Spearman and Brown 1910). The root is the
	// correlation with the truth. Kept is absent where Left is unknown.
	Kept *number.Number `json:"kept,omitempty"`

	Evaluations  int64 `json:"-"` // lines and compositions that were scored to find it out
	Compositions int64 `json:"-"` // and their splits
}

// setRemaining computes Left and Kept from the means.
func (p *OptimismCheck) setRemaining() {
	p.Left, p.Kept = number.Unknown(), nil
	if p.Told > p.RandomTold {
		p.Left = (p.Checked - p.RandomChecked) / (p.Told - p.RandomTold)
	}
	if math.IsNaN(float64(p.Left)) {
		return
	}
	left := min(max(float64(p.Left), 0), 1)
	kept := number.Number(math.Sqrt(2 * left / (1 + left)))
	p.Kept = &kept
}

// optimismRandom is the number of random compositions in the check.
const optimismRandom = 1000

// Check searches a target trained on one half of the data and makes a shortlist. It scores that by
// a target of the same space trained on the other half. See Data.Halves of package model.
func Check(ctx context.Context, own, other *mcmc.Target, o Options, l ListOptions) (*OptimismCheck, error) {
	r, err := Best(ctx, own, o)
	if err != nil {
		return nil, err
	}
	list, err := Shortlist(ctx, own, append(r.Diverse, r.Archive.Best()...), l)
	if err != nil {
		return nil, err
	}
	if len(list.Entries) == 0 {
		return nil, fmt.Errorf("check: nothing was found that may be offered")
	}
	p := &OptimismCheck{Evaluations: r.Evaluations + list.Evaluations, Compositions: r.Compositions + list.Compositions}
	for _, e := range list.Entries {
		x, err := own.Space().Composition(e.Parts, e.Conditions)
		if err != nil {
			return nil, err
		}
		score, err := other.LogScore(x)
		if err != nil {
			return nil, fmt.Errorf("check: %w", err)
		}
		p.Told += number.Number(portable.Exp(e.LogScore) / float64(len(list.Entries)))
		p.Checked += number.Number(portable.Exp(score) / float64(len(list.Entries)))
	}
	if p.RandomTold, err = meanOfRandom(ctx, own, o.Seed); err != nil {
		return nil, err
	}
	if p.RandomChecked, err = meanOfRandom(ctx, other, o.Seed); err != nil {
		return nil, err
	}
	p.setRemaining()
	return p, nil
}

func meanOfRandom(ctx context.Context, t *mcmc.Target, seed uint64) (number.Number, error) {
	scores, err := randomScores(ctx, t, optimismRandom, seed)
	if err != nil {
		return 0, err
	}
	return newScores(scores).Mean, nil
}
