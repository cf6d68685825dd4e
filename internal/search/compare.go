package search

import (
	"context"
	"fmt"
	"math"
	"slices"

	"kir/internal/diagnose"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/mcmc"
)

// A Comparison compares a shortlist with known and random compositions.
type Comparison struct {
	// Shortlist summarises the scores of the entries of the shortlist. A score is the product Π y_k over the
	// objectives, without weights.
	Shortlist Scores `json:"shortlist"`
	Random    Scores `json:"random"` // scores of random compositions under the same rules
	Known     Scores `json:"known"`  // scores of known recipes, by models not trained on them

	// RandomShareBelow is the share of random compositions that score less than the median entry of the
	// shortlist.
	RandomShareBelow number.Number `json:"beat_random"`
	// KnownShareBelow is the share of known compositions that score less than the median entry of the
	// shortlist.
	KnownShareBelow number.Number `json:"beat_known"`

	// MedianDistance is the median distance between two entries of the shortlist.
	MedianDistance      number.Number `json:"apart"`
	KnownMedianDistance number.Number `json:"known_apart"` // median distance between two known recipes

	// Reach is the 95 % quantile, over the known recipes, of the distance to the nearest other known recipe.
	Reach number.Number `json:"reach"`
	// ExtrapolatingEntries lists the indices of the entries of the shortlist that are further than Reach from
	// all known recipes. The model was trained on no recipe similar to these entries.
	ExtrapolatingEntries []int `json:"-"`
}

// Scores summarise the scores of several compositions. Without compositions, Number is 0 and all other fields are
// NaN.
type Scores struct {
	Number   int           `json:"number"`
	Mean     number.Number `json:"mean"`
	SE       number.Number `json:"se"` // standard error of the mean; unknown if all scores are equal
	Least    number.Number `json:"least"`
	Median   number.Number `json:"median"`
	Upper    number.Number `json:"-"` // 90 % quantile of the scores
	Greatest number.Number `json:"greatest"`
}

// CompareOptions says with which compositions a shortlist is compared.
type CompareOptions struct {
	RandomCount int // number of random compositions to draw, at least 1
	Seed        uint64
	Distance    *Distance // measure of how much two compositions differ
	Known       []*mcmc.Composition
	// KnownScores[r] is the product Π_k y_k of the scores of known recipe r, predicted by models that were not
	// trained on this recipe; see OutOfBag of package model. It is NaN for a recipe without such a prediction.
	// If KnownScores is nil, the target scores the recipes, which is right if no model was trained on them.
	KnownScores []float64
}

// reachQuantile is the order of the quantile of distances that defines [Comparison.Reach].
const reachQuantile = 0.95

// Compare compares a shortlist with known compositions, and with random compositions drawn under the same
// rules, but without objectives. It scores all compositions by the target t.
func Compare(ctx context.Context, t *mcmc.Target, list []Entry, o CompareOptions) (*Comparison, error) {
	if o.RandomCount < 1 || o.Distance == nil || o.KnownScores != nil && len(o.KnownScores) != len(o.Known) {
		return nil, fmt.Errorf("compare: %d random compositions, %d known ones with %d scores: there must be a random one, a distance, and a score for each known one", o.RandomCount, len(o.Known), len(o.KnownScores))
	}
	own := make([]float64, len(list))
	for k, e := range list {
		own[k] = portable.Exp(e.LogScore)
	}
	random, err := randomScores(ctx, t, o.RandomCount, o.Seed)
	if err != nil {
		return nil, err
	}
	known := slices.Clone(o.KnownScores)
	if known == nil {
		for _, x := range o.Known {
			x, err := withDefaultConditions(t, x)
			if err != nil {
				return nil, fmt.Errorf("compare: %w", err)
			}
			score, err := t.LogScore(x)
			if err != nil {
				return nil, fmt.Errorf("compare: %w", err)
			}
			known = append(known, portable.Exp(score))
		}
	}
	known = slices.DeleteFunc(known, math.IsNaN)
	c := &Comparison{Shortlist: summarizeScores(own), Random: summarizeScores(random), Known: summarizeScores(known)}
	c.RandomShareBelow = number.Number(shareBelow(random, float64(c.Shortlist.Median)))
	c.KnownShareBelow = number.Number(shareBelow(known, float64(c.Shortlist.Median)))
	c.computeDistances(list, o)
	return c, nil
}

// randomScores returns the weighted scores Π_k y_k^c_k of random compositions, which are drawn under the rules
// of the target t, but without its objectives.
func randomScores(ctx context.Context, t *mcmc.Target, number int, seed uint64) ([]float64, error) {
	r, prior := mcmc.NewRand(seed, "search random", 0), mcmc.NewPrior(t)
	scores := make([]float64, 0, number)
	for x, err := range prior.DrawsToScore(ctx, r, number) {
		if err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
		score, err := t.LogScore(x)
		if err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
		scores = append(scores, portable.Exp(score))
	}
	return scores, nil
}

// computeDistances sets all fields of the comparison that are distances, and ExtrapolatingEntries.
func (c *Comparison) computeDistances(list []Entry, o CompareOptions) {
	var between []float64
	for a := range list {
		for b := range a {
			between = append(between, o.Distance.Between(list[a].Parts, list[b].Parts))
		}
	}
	c.MedianDistance = number.Number(median(between))
	c.KnownMedianDistance = number.Number(o.Distance.Typical(o.Known))
	c.Reach = number.Unknown()
	if len(o.Known) < 2 {
		return
	}
	parts := make([][]mcmc.Part, len(o.Known))
	for k, x := range o.Known {
		parts[k] = x.Parts()
	}
	nearest := make([]float64, len(parts))
	for a := range parts {
		nearest[a] = 1
		for b := range parts {
			if a != b {
				nearest[a] = min(nearest[a], o.Distance.Between(parts[a], parts[b]))
			}
		}
	}
	slices.Sort(nearest)
	reach := nearest[int(math.Ceil(reachQuantile*float64(len(nearest))))-1]
	c.Reach = number.Number(reach)
	for k, e := range list {
		far := 1.0
		for _, x := range parts {
			far = min(far, o.Distance.Between(x, e.Parts))
		}
		if far > reach {
			c.ExtrapolatingEntries = append(c.ExtrapolatingEntries, k)
		}
	}
}

// NoScores returns the summary of an empty list of scores: Number is 0 and all other fields are NaN.
func NoScores() Scores {
	unknown := number.Unknown()
	return Scores{0, unknown, unknown, unknown, unknown, unknown, unknown}
}

// summarizeScores returns a summary of the scores v. It sorts v.
func summarizeScores(v []float64) Scores {
	n := len(v)
	if n == 0 {
		return NoScores()
	}
	slices.Sort(v)
	se := number.Number(standardDeviation(v) / math.Sqrt(float64(n)))
	if diagnose.IsConstant(v[0], v[n-1]) {
		se = number.Unknown() // a standard error needs at least two different scores
	}
	return Scores{
		Number: n, Mean: number.Number(mean(v)), SE: se,
		Least: number.Number(v[0]), Median: number.Number(median(v)), Upper: number.Number(v[int(math.Ceil(0.9*float64(n)))-1]), Greatest: number.Number(v[n-1]),
	}
}

// shareBelow returns the share of the sorted numbers that are below value, NaN if there are no numbers.
func shareBelow(sorted []float64, value float64) float64 {
	below, _ := slices.BinarySearch(sorted, value)
	return float64(below) / float64(len(sorted))
}
