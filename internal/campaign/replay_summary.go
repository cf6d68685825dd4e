package campaign

import (
	"cmp"
	"math"
	"slices"

	"kir/internal/config"
	"kir/internal/number"
)

// summarize compares the campaigns with choosing at random after the same starts.
func (r *replayer) summarize(replays []ReplayedCampaign, coverage [][]Coverage) *Replayed {
	s := r.settings
	out := &Replayed{
		Version: s.Version, Name: r.problem.Name, Minimize: r.minimizes(), Recipes: len(r.recipes), LeftOut: r.leftOut, Best: r.bestRecipe(),
		Start: s.Start, BatchSize: s.BatchSize, Trials: s.Trials, Seed: s.Seed, Replays: replays, Rounds: []ReplayRound{}, Coverage: []Coverage{}, NoTrade: r.noTrade,
	}
	if r.sole != nil {
		out.Label = r.sole.label
	}
	for _, x := range r.recipes {
		if x.failed {
			out.Failed++
		}
		if x.goodness == r.most {
			out.BestCount++
		}
	}
	var found []int
	for k := range replays {
		of := &replays[k]
		for _, index := range of.tried {
			of.Order = append(of.Order, r.full.trials[r.recipes[index].trials[0]].id)
		}
		if at := slices.IndexFunc(of.tried, func(index int) bool { return r.recipes[index].goodness == r.most }); at >= 0 {
			trials := s.endOfBatch(at + 1)
			of.FoundAt = &trials
			found = append(found, trials)
		}
	}
	chances := make([]chance, len(replays))
	for k := range replays {
		chances[k] = r.chanceAfter(replays[k].tried[:s.Start])
	}
	for trials := s.Start; ; trials = min(trials+s.BatchSize, s.Trials) {
		out.Rounds = append(out.Rounds, r.round(trials, replays, chances))
		if trials == s.Trials {
			break
		}
	}
	slices.Sort(found)
	half := (len(replays) + 1) / 2
	if len(found) > 0 {
		out.ToBest.Least = &found[0]
	}
	if len(found) >= half {
		out.ToBest.Median = &found[half-1]
	}
	if len(found) == len(replays) {
		out.ToBest.Most = &found[len(found)-1]
	}
	for out.ToBest.ChanceMedian = s.Start; ; out.ToBest.ChanceMedian = min(out.ToBest.ChanceMedian+s.BatchSize, len(r.recipes)) {
		if meanOver(chances, func(c *chance) float64 { return c.foundProbability(out.ToBest.ChanceMedian - s.Start) }) >= 0.5 {
			break
		}
	}
	for k := range coverage {
		for i, of := range coverage[k] {
			if k == 0 {
				out.Coverage = append(out.Coverage, Coverage{Label: of.Label})
			}
			out.Coverage[i].Within += of.Within
			out.Coverage[i].Intervals += of.Intervals
		}
	}
	return out
}

// endOfBatch returns the number of trials at the end of the batch of a trial, which counts from 1.
func (s *ReplaySettings) endOfBatch(trial int) int {
	batches := (max(trial-s.Start, 0) + s.BatchSize - 1) / s.BatchSize
	return min(s.Start+batches*s.BatchSize, s.Trials)
}

// minimizes reports whether small values are better.
func (r *replayer) minimizes() bool { return r.sole != nil && r.sole.direction == config.Minimize }

// bestRecipe returns the best measured recipe.
func (r *replayer) bestRecipe() ReplayBest {
	x := &r.recipes[r.best]
	b := ReplayBest{ID: r.full.trials[x.trials[0]].id, Value: r.value(r.most), Measured: make(map[string]float64), Conditions: x.allowed.Conditions}
	for i, o := range r.objectives {
		if o.learningSettings.Numeric {
			b.Measured[o.label] = x.measured[i]
		}
	}
	return b
}

// value returns the value of a goodness.
func (r *replayer) value(goodness float64) float64 {
	if r.minimizes() {
		return 0 - goodness // not −goodness, which may be −0
	}
	return goodness
}

// round says where the campaigns stand after some trials.
func (r *replayer) round(trials int, replays []ReplayedCampaign, chances []chance) ReplayRound {
	out := ReplayRound{Trials: trials}
	var best, closed []float64
	var hits []float64
	found := 0
	var all []weightedValue
	more := trials - r.settings.Start
	for k := range replays {
		level, made := math.Inf(-1), 0
		for _, index := range replays[k].tried[:min(trials, len(replays[k].tried))] {
			level = max(level, r.recipes[index].goodness)
			if r.recipes[index].goodness == r.most {
				made++
			}
		}
		if made > 0 {
			found++
		}
		best, hits = append(best, level), append(hits, float64(made))
		replays[k].Best = append(replays[k].Best, r.value(level))
		c := &chances[k]
		byChance := c.best(more)
		all = append(all, byChance...)
		closed = append(closed, c.closed(level))
		for _, v := range byChance {
			out.ChanceClosed += float64(v.weight * c.closed(v.value))
		}
	}
	out.ChanceClosed /= float64(len(replays))
	slices.Sort(best)
	out.Best = ValueRange{r.value(best[0]), r.value(best[len(best)/2]), r.value(best[len(best)-1])}
	out.Closed, out.ClosedSE = meanAndError(closed)
	out.Found = float64(found) / float64(len(replays))
	out.Hits, out.HitsSE = meanAndError(hits)
	out.ChanceFound = meanOver(chances, func(c *chance) float64 { return c.foundProbability(more) })
	out.ChanceHits = meanOver(chances, func(c *chance) float64 { return c.hits(more) })
	slices.SortFunc(all, func(a, b weightedValue) int { return cmp.Compare(a.value, b.value) })
	// The greatest value that at least 1 − share of the probability reaches, as the median of the campaigns is the
	// greatest value that at least half of them reach.
	quantile := func(share float64) float64 {
		at, below := all[0].value, 0.0
		for _, v := range all {
			if below > share+1e-9 {
				break
			}
			at = v.value
			below += v.weight / float64(len(chances))
		}
		return r.value(at)
	}
	out.Chance = ValueRange{quantile(0.05), quantile(0.5), quantile(0.95)}
	return out
}

// meanOver returns the mean of a number over starts.
func meanOver(chances []chance, of func(*chance) float64) float64 {
	sum := 0.0
	for k := range chances {
		sum += of(&chances[k])
	}
	return sum / float64(len(chances))
}

// meanAndError returns the mean of independent numbers and its standard error, which one number does not have.
func meanAndError(values []float64) (mean float64, se number.Number) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	if len(values) < 2 {
		return mean, number.Unknown()
	}
	sum := 0.0
	for _, v := range values {
		sum += float64((v - mean) * (v - mean))
	}
	return mean, number.Number(math.Sqrt(sum / float64(len(values)*(len(values)-1))))
}

// A chance is what drawing recipes at random, without replacement, makes of the start of a campaign.
type chance struct {
	start     float64   // best goodness of the start
	startHits int       // number of best recipes in the start
	rest      []float64 // goodness of the other recipes, ascending
	restHits  int       // number of best recipes among the others
	most      float64   // best goodness of all recipes
}

// A weightedValue is a goodness with its probability.
type weightedValue struct{ value, weight float64 }

// chanceAfter returns the chance after a start.
func (r *replayer) chanceAfter(start []int) chance {
	c := chance{start: math.Inf(-1), most: r.most}
	for k, x := range r.recipes {
		in := slices.Contains(start, k)
		switch {
		case in:
			c.start = max(c.start, x.goodness)
		default:
			c.rest = append(c.rest, x.goodness)
		}
		if x.goodness == r.most && in {
			c.startHits++
		} else if x.goodness == r.most {
			c.restHits++
		}
	}
	slices.Sort(c.rest)
	return c
}

// closed returns the share of the gap between the best of the start and the best of all that a goodness closes, 1
// if there is no gap.
func (c *chance) closed(goodness float64) float64 {
	if c.start >= c.most {
		return 1
	}
	return max(goodness-c.start, 0) / (c.most - c.start)
}

// best returns the distribution of the best goodness after some draws. The greatest of m draws from n values is
// value j, in ascending order from 1, with probability C(j−1, m−1) / C(n, m).
func (c *chance) best(draws int) (all []weightedValue) {
	if draws == 0 {
		return []weightedValue{{c.start, 1}}
	}
	below := 1.0 // probability that the greatest is at most value j
	for j := len(c.rest); j >= draws && below > 0; j-- {
		w := below * float64(draws) / float64(j)
		all = append(all, weightedValue{max(c.rest[j-1], c.start), w})
		below = float64(below * float64(j-draws) / float64(j))
	}
	return all
}

// foundProbability returns the probability that the start or some draws have a best recipe.
func (c *chance) foundProbability(draws int) float64 {
	if c.startHits > 0 {
		return 1
	}
	missed := 1.0
	for k := range draws {
		missed = float64(missed * float64(max(len(c.rest)-c.restHits-k, 0)) / float64(len(c.rest)-k))
	}
	return 1 - missed
}

// hits returns the expected number of best recipes in the start and some draws.
func (c *chance) hits(draws int) float64 {
	return float64(c.startHits) + float64(float64(draws*c.restHits)/float64(len(c.rest)))
}
