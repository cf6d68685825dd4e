package search

import (
	"context"
	"fmt"
	"math"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/diagnose"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/mcmc"
)

// A Comparison compares a shortlist with known and random compositions.
type Comparison struct {
	// Scores are Π y_k of the objectives that count, each once, whatever its weight.
	Shortlist Scores `json:"shortlist"` // of its entries
	Random    Scores `json:"random"`    // of compositions drawn under the same rules
	Known     Scores `json:"known"`     // of the known recipes, by models that have not seen them

	// BeatRandom and BeatKnown are the shares of random and of known compositions that score less
	// than the median entry of the shortlist.
	BeatRandom number.Number `json:"beat_random"`
	BeatKnown  number.Number `json:"beat_known"`

	// Apart is the median distance between two entries, and KnownApart that between
	// two known recipes.
	Apart      number.Number `json:"apart"`
	KnownApart number.Number `json:"known_apart"`

	// Reach is the 95 % quantile of the distance from a known recipe to its nearest neighbour.
	// Extrapolates are the entries, counted from 0, that lie further than that from all known
	// recipes. The model was trained on nothing like them.
	Reach        number.Number `json:"reach"`
	Extrapolates []int         `json:"-"`
}

// Scores summarise the scores of several compositions. All fields are NaN if there are none.
type Scores struct {
	Number   int           `json:"number"`
	Mean     number.Number `json:"mean"`
	SE       number.Number `json:"se"` // of the mean; unknown where all are the same
	Least    number.Number `json:"least"`
	Median   number.Number `json:"median"`
	Upper    number.Number `json:"-"` // the quantile 90 %
	Greatest number.Number `json:"greatest"`
}

// CompareOptions are the compositions to compare a shortlist with.
type CompareOptions struct {
	Random   int // how many random compositions are drawn, at least 1
	Seed     uint64
	Distance *Distance
	Known    []*mcmc.Composition
	// KnownScores are Π_k y_k of the known recipes, predicted out of bag: see OutOfBag of package
	// model. They are NaN where there is no such prediction. Nil means the scores of the target,
	// for properties that were not trained on them.
	KnownScores []float64
}

// reachShare is the share of the known recipes that have a neighbour within reach.
const reachShare = 0.95

// Compare compares a shortlist of a target with known compositions and with random ones, drawn
// exactly under the same rules.
func Compare(ctx context.Context, t *mcmc.Target, list []Entry, o CompareOptions) (*Comparison, error) {
	if o.Random < 1 || o.Distance == nil || o.KnownScores != nil && len(o.KnownScores) != len(o.Known) {
		return nil, fmt.Errorf("compare: %d random compositions, %d known ones with %d scores: there must be a random one, a distance, and a score for each known one", o.Random, len(o.Known), len(o.KnownScores))
	}
	own := make([]float64, len(list))
	for k, e := range list {
		own[k] = portable.Exp(e.LogScore)
	}
	random, err := randomScores(ctx, t, o.Random, o.Seed)
	if err != nil {
		return nil, err
	}
	known := slices.Clone(o.KnownScores)
	if known == nil {
		for _, x := range o.Known {
			x, err := withConditions(t, x)
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
	c := &Comparison{Shortlist: newScores(own), Random: newScores(random), Known: newScores(known)}
	c.BeatRandom = number.Number(shareBelow(random, float64(c.Shortlist.Median)))
	c.BeatKnown = number.Number(shareBelow(known, float64(c.Shortlist.Median)))
	c.computeDistances(list, o)
	return c, nil
}

// randomScores returns Π_k y_k^c_k of exactly drawn compositions.
func randomScores(ctx context.Context, t *mcmc.Target, number int, seed uint64) ([]float64, error) {
	r, prior := mcmc.NewRand(seed, "search random", 0), mcmc.NewPrior(t)
	scores := make([]float64, number)
	for k := range scores {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		x, err := prior.Draw(r)
		if err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
		score, err := t.LogScore(x)
		if err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
		scores[k] = portable.Exp(score)
	}
	return scores, nil
}

// computeDistances sets the distances between the entries, and from them to the known recipes.
func (c *Comparison) computeDistances(list []Entry, o CompareOptions) {
	var between []float64
	for a := range list {
		for b := range a {
			between = append(between, o.Distance.Between(list[a].Parts, list[b].Parts))
		}
	}
	c.Apart = number.Number(median(between))
	c.KnownApart = number.Number(o.Distance.Typical(o.Known))
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
	reach := nearest[int(math.Ceil(reachShare*float64(len(nearest))))-1]
	c.Reach = number.Number(reach)
	for k, e := range list {
		far := 1.0
		for _, x := range parts {
			far = min(far, o.Distance.Between(x, e.Parts))
		}
		if far > reach {
			c.Extrapolates = append(c.Extrapolates, k)
		}
	}
}

// NoScores returns the summary of an empty list.
func NoScores() Scores {
	unknown := number.Unknown()
	return Scores{0, unknown, unknown, unknown, unknown, unknown, unknown}
}

// newScores summarises numbers, which it sorts.
func newScores(v []float64) Scores {
	n := len(v)
	if n == 0 {
		return NoScores()
	}
	slices.Sort(v)
	se := number.Number(deviation(v) / math.Sqrt(float64(n)))
	if diagnose.IsConstant(v[0], v[n-1]) {
		se = number.Unknown() // one number, or the same one always, tells no error
	}
	return Scores{
		Number: n, Mean: number.Number(mean(v)), SE: se,
		Least: number.Number(v[0]), Median: number.Number(median(v)), Upper: number.Number(v[int(math.Ceil(0.9*float64(n)))-1]), Greatest: number.Number(v[n-1]),
	}
}

// shareBelow returns the share of sorted numbers below a value, NaN if there are none.
func shareBelow(sorted []float64, value float64) float64 {
	below, _ := slices.BinarySearch(sorted, value)
	return float64(below) / float64(len(sorted))
}
