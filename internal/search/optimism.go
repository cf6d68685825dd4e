package search

import (
	"context"
	"fmt"
	"math"

	"kir/internal/number"
	"kir/internal/portable"
	"kir/mcmc"
)

// An OptimismCheck compares the predicted scores of a shortlist with the scores that an independent model predicts.
// Selected compositions tend to be overestimated, because the best of many is partly best by luck (the winner's
// curse).
type OptimismCheck struct {
	Predicted number.Number `json:"told"`    // mean score of the shortlist by the target that was searched
	Checked   number.Number `json:"checked"` // mean score of the shortlist by a target trained on other data
	// RandomPredicted is the mean score of random compositions by the target that was searched.
	RandomPredicted number.Number `json:"random_told"`
	// mean score of the same random compositions by the target trained on other data
	RandomChecked number.Number `json:"random_checked"`

	// RemainingGain is the fraction of the predicted gain over random compositions that the independent target
	// confirms: (Checked − RandomChecked) / (Predicted − RandomPredicted). It is NaN unless Predicted exceeds
	// RandomPredicted.
	RemainingGain number.Number `json:"left"`
	// ExpectedRemainingGain estimates the remaining gain for the model of all recipes: √(2·r/(1 + r)) with r =
	// RemainingGain, clamped to 0..1. r is the reliability of a model of half the recipes, and 2·r/(1 + r) is the
	// reliability of a model of all recipes (Spearman and Brown 1910). The square root of this reliability is the
	// correlation with the truth. ExpectedRemainingGain is nil if r is unknown.
	ExpectedRemainingGain *number.Number `json:"kept,omitempty"`

	Evaluations  int64 `json:"-"` // number of lines (see mcmc.Scorer) and single compositions scored for the check
	Compositions int64 `json:"-"` // number of compositions on the scored lines
}

// setRemainingGains computes RemainingGain and ExpectedRemainingGain from the four means.
func (p *OptimismCheck) setRemainingGains() {
	p.RemainingGain, p.ExpectedRemainingGain = number.Unknown(), nil
	if p.Predicted > p.RandomPredicted {
		p.RemainingGain = (p.Checked - p.RandomChecked) / (p.Predicted - p.RandomPredicted)
	}
	if math.IsNaN(float64(p.RemainingGain)) {
		return
	}
	left := min(max(float64(p.RemainingGain), 0), 1)
	kept := number.Number(math.Sqrt(2 * left / (1 + left)))
	p.ExpectedRemainingGain = &kept
}

// optimismSampleSize is the number of random compositions with which an optimism check compares a shortlist.
const optimismSampleSize = 1000

// CheckOptimism searches the target own, which was trained on one half of the data, and makes a shortlist. It
// then scores the shortlist by the target other, which was trained on the other half and has the same rules.
// See Data.Halves of package model.
func CheckOptimism(ctx context.Context, own, other *mcmc.Target, o Options, l ListOptions) (*OptimismCheck, error) {
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
		p.Predicted += number.Number(portable.Exp(e.LogScore) / float64(len(list.Entries)))
		p.Checked += number.Number(portable.Exp(score) / float64(len(list.Entries)))
	}
	if p.RandomPredicted, err = meanRandomScore(ctx, own, o.Seed); err != nil {
		return nil, err
	}
	if p.RandomChecked, err = meanRandomScore(ctx, other, o.Seed); err != nil {
		return nil, err
	}
	p.setRemainingGains()
	return p, nil
}

func meanRandomScore(ctx context.Context, t *mcmc.Target, seed uint64) (number.Number, error) {
	scores, err := randomScores(ctx, t, optimismSampleSize, seed)
	if err != nil {
		return 0, err
	}
	return summarizeScores(scores).Mean, nil
}
