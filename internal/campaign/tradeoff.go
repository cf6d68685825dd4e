package campaign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/front"
	"kir/internal/portable"
	"kir/internal/problem"
	"kir/internal/search"
	"kir/mcmc"
)

// A goal is an objective of the problem's trade-off: what is learnt, or what is known.
type goal struct {
	name  string
	learn *objective        // nil of what is known
	known problem.Objective // of what is known
}

// loss returns how bad values are that models have drawn.
func (g *goal) loss(v float64) float64 {
	o := g.learn
	if !o.learning.Numeric {
		return -min(max(v, 0), 1)
	}
	number := scaled(o.number(v), o.learning.Log)
	width := scaled(o.greatest, o.learning.Log) - scaled(o.least, o.learning.Log)
	switch o.learning.Want.Direction() {
	case 1:
		return -number / width
	case -1:
		return number / width
	}
	low, high, _ := o.learning.Want.Bounds()
	return max(scaled(low, o.learning.Log)-number, number-scaled(high, o.learning.Log), 0) / width
}

// optimistic is the loss of a recipe that comes out a standard deviation better than
// predicted.
func (g *goal) optimistic(x []mcmc.Part) float64 {
	mean, sd := g.learn.model.Predict(x)
	return min(g.loss(mean-sd), g.loss(mean), g.loss(mean+sd))
}

// A frontier chooses recipes for a trade-off: those that add most to the hypervolume, on
// average over joint draws of the models.
type frontier struct {
	*chooser
	goals  []goal
	others []*objective // that count and are no goal

	parts  [][]mcmc.Part
	losses [][][]float64 // by draw, by recipe: candidates, then trials, then what waits
	worth  []float64     // by candidate: the probability that it does not fail and is what else is wanted, by price
	fronts [][][]float64 // by draw: what trials, what waits and what was chosen have
	volume []float64     // by draw: the hypervolume of that before anything was chosen
}

// How many joint draws there are of two objectives and of more, whose hypervolumes take
// longer.
const frontDraws, frontDrawsOfMore = 128, 48

// frontier returns what chooses for the problem's trade-off; nil if there is none, or a
// model of it cannot be learnt yet.
func (ch *chooser) frontier() (*frontier, error) {
	names := ch.c.Problem.Trade
	if len(names) == 0 {
		return nil, nil
	}
	objectives, err := ch.c.Problem.Objectives(names)
	if err != nil {
		return nil, err
	}
	f := &frontier{chooser: ch}
	learns := false
	for k, name := range names {
		g := goal{name: name, known: objectives[k]}
		if at := slices.IndexFunc(ch.objectives, func(o *objective) bool { return o.name == name }); at >= 0 {
			if g.learn, learns = ch.objectives[at], true; g.learn.model == nil {
				return nil, nil
			}
		}
		f.goals = append(f.goals, g)
	}
	if !learns {
		return nil, nil
	}
	for _, o := range ch.learnt() {
		if !slices.Contains(names, o.name) {
			f.others = append(f.others, o)
		}
	}
	return f, nil
}

// knownLoss is the loss of a recipe in what nothing is learnt of.
func (f *frontier) knownLoss(g *goal, x []mcmc.Part) (float64, error) {
	composition, err := f.composition(x)
	if err != nil {
		return 0, err
	}
	v := g.known.Loss.Of(composition)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s has no value at %v", g.name, composition)
	}
	return v, nil
}

// worthOf is by what the gain of a recipe is multiplied.
func (f *frontier) worthOf(x []mcmc.Part) (float64, error) {
	worth := 1 / f.price(x)
	if f.success != nil {
		p, _ := f.success.Predict(x)
		if p < leastSuccess {
			return 0, nil
		}
		worth = float64(worth * p)
	}
	for _, o := range f.others {
		mean, _ := o.model.Predict(x)
		worth = float64(worth * portable.Pow(o.wanted(mean), o.weight))
	}
	if len(f.fixed.Wishes()) == 0 {
		return worth, nil
	}
	composition, err := f.composition(x)
	if err != nil {
		return 0, err
	}
	scores, err := f.fixed.AppendScores(nil, composition)
	if err != nil {
		return 0, f.c.Problem.Explain(err)
	}
	for k, w := range f.fixed.Wishes() {
		if w.Weight > 0 && !slices.ContainsFunc(f.goals, func(g goal) bool { return g.name == w.Name }) {
			worth = float64(worth * portable.Pow(scores[k], w.Weight))
		}
	}
	return worth, nil
}

// choose fills the batch, and says what there is to gain.
func (f *frontier) choose(ctx context.Context) (Left, error) {
	if err := f.candidates(ctx); err != nil {
		return Left{}, err
	}
	if err := f.draw(); err != nil {
		return Left{}, err
	}
	left := f.left()
	used := make([]bool, len(f.parts))
	for len(f.batch) < f.s.Size {
		at, most := -1, math.Inf(-1)
		for k, x := range f.parts {
			if used[k] || f.worth[k] == 0 || f.fromChosen(x) < apartLeast || !f.fits(x) {
				continue
			}
			if gain := float64(f.gain(k) * f.worth[k]); gain > most {
				at, most = k, gain
			}
		}
		if at < 0 || !(most > 0) {
			return left, nil // the rest fills the space
		}
		used[at] = true
		b := chosen{parts: f.parts[at], kind: Likely, gain: most, near: f.nearest(f.parts[at]), scored: true, front: f}
		for s := range f.fronts {
			if added := front.Added(f.losses[s][at], f.fronts[s], f.one()); added > 0 {
				b.beats++
				b.better += added / max(f.volume[s], 1e-9)
			}
			f.fronts[s] = pareto(append(f.fronts[s], f.losses[s][at]))
		}
		b.beats /= float64(len(f.fronts))
		b.better /= float64(len(f.fronts))
		f.add(b)
	}
	return left, nil
}

// stand says what there is to gain.
func (f *frontier) stand(ctx context.Context) (Left, error) {
	if err := f.candidates(ctx); err != nil {
		return Left{}, err
	}
	if err := f.draw(); err != nil {
		return Left{}, err
	}
	return f.left(), nil
}

// candidates looks for recipes that nothing else beats if they come out better than
// predicted, and adds some at random.
func (f *frontier) candidates(ctx context.Context) error {
	if err := f.lookFor(ctx); err != nil || len(f.parts) > 0 || !f.loosen() {
		return err
	}
	return f.lookFor(ctx)
}

func (f *frontier) lookFor(ctx context.Context) error {
	if f.s.Among != nil {
		for _, x := range f.s.Among {
			if f.keeps(x) {
				f.parts = append(f.parts, x)
			}
		}
		return f.thin()
	}
	var losses []search.Loss
	for k := range f.goals {
		g := &f.goals[k]
		score := func(x []mcmc.Part) float64 {
			v := 0.0
			if g.learn != nil {
				v = g.optimistic(x)
			} else {
				var err error
				if v, err = f.knownLoss(g, x); err != nil {
					return math.NaN() // which the search says of which recipe
				}
			}
			if out := f.shortfall(x); out > 0 {
				v += float64((1 + math.Abs(v)) * outsideFront * out)
			}
			return -v
		}
		losses = append(losses, search.Loss{Name: g.name, Property: newAcquisition(f.c.Problem.Total, score, func([]mcmc.Part) bool { return false })})
	}
	o := search.TradeOptions{Lines: f.effort(), Seed: f.s.Seed + uint64(f.round), Workers: f.s.Workers, Least: f.least, NoRandom: true}
	for k, t := range f.c.trials {
		if len(t.broken) > 0 || t.failed || k >= anchorCount {
			continue
		}
		x, err := f.composition(t.parts)
		if err != nil {
			return err
		}
		o.Starts = append(o.Starts, x)
	}
	found, err := search.TradeOff(ctx, f.rules, losses, o)
	if err != nil && !errors.Is(err, mcmc.ErrNoStart) {
		return f.c.Problem.Explain(err)
	}
	if err == nil {
		for _, m := range found.Front {
			if f.keeps(m.Parts) {
				f.parts = append(f.parts, m.Parts)
			}
		}
	}
	if err := f.thin(); err != nil {
		return err
	}
	random, err := f.random(ctx, randomPool, f.rand(fillStream, 1))
	if err != nil {
		return err
	}
	for _, x := range random {
		if !slices.ContainsFunc(f.parts, func(y []mcmc.Part) bool { return compareParts(x, y) == 0 }) {
			f.parts = append(f.parts, x)
		}
	}
	return nil
}

// outsideFront is by how many times itself a loss grows with a shortfall of 1 of the limits, so
// that what keeps them beats it.
const outsideFront = 1000

// thin leaves as many candidates as can be drawn jointly: those spread evenly by their
// optimistic losses.
func (f *frontier) thin() error {
	if len(f.parts) <= poolSize-randomPool {
		return nil
	}
	points := make([][]float64, len(f.parts))
	for a, x := range f.parts {
		for k := range f.goals {
			v := 0.0
			if g := &f.goals[k]; g.learn != nil {
				v = g.optimistic(x)
			} else {
				var err error
				if v, err = f.knownLoss(g, x); err != nil {
					return err
				}
			}
			points[a] = append(points[a], v)
		}
	}
	ideal, nadir := front.Bounds(points)
	var some [][]mcmc.Part
	for _, k := range front.Spread(front.Scaled(points, ideal, nadir), poolSize-randomPool) {
		some = append(some, f.parts[k])
	}
	f.parts = some
	return nil
}

// draw draws candidates, trials and what waits jointly, and scales the losses so that the
// front of what was tried lies between 0 and 1, the reference.
func (f *frontier) draw() error {
	for _, x := range f.parts {
		worth, err := f.worthOf(x)
		if err != nil {
			return err
		}
		f.worth = append(f.worth, worth)
	}
	xs := slices.Clone(f.parts)
	seen, err := f.breaking() // which are on no front
	if err != nil {
		return err
	}
	for _, t := range f.c.trials {
		if !t.failed && len(t.broken) == 0 && !seen[t.key] {
			seen[t.key] = true
			xs = append(xs, t.parts)
		}
	}
	if err := f.anchor(&xs); err != nil {
		return err
	}
	trials := len(xs) - len(f.parts)
	for _, e := range f.pending {
		xs = append(xs, e.parts)
	}
	count := frontDraws
	if len(f.goals) > 2 {
		count = frontDrawsOfMore
	}
	f.losses = make([][][]float64, count)
	for s := range f.losses {
		f.losses[s] = make([][]float64, len(xs))
		for a := range xs {
			f.losses[s][a] = make([]float64, len(f.goals))
		}
	}
	for k := range f.goals {
		g := &f.goals[k]
		if g.learn == nil {
			for a, x := range xs {
				v, err := f.knownLoss(g, x)
				if err != nil {
					return err
				}
				for s := range f.losses {
					f.losses[s][a][k] = v
				}
			}
			continue
		}
		for s, draw := range g.learn.model.Draws(xs, count, f.rand(drawStream, uint64(k))) {
			for a, v := range draw {
				f.losses[s][a][k] = g.loss(v)
			}
		}
	}
	f.scale(trials)
	for s := range f.losses {
		tried := pareto(f.losses[s][len(f.parts) : len(f.parts)+trials])
		f.volume = append(f.volume, front.Hypervolume(tried, f.one()))
		f.fronts = append(f.fronts, pareto(slices.Concat(tried, f.losses[s][len(f.parts)+trials:])))
	}
	return nil
}

// anchor leaves, of what was tried, what is predicted to be on the front, and of the rest
// what is nearest to it, as many as are drawn jointly.
func (f *frontier) anchor(xs *[][]mcmc.Part) error {
	first := len(f.parts)
	tried := slices.Clone((*xs)[first:])
	*xs = (*xs)[:first]
	points := make([][]float64, len(tried))
	for a, x := range tried {
		for k := range f.goals {
			g := &f.goals[k]
			if g.learn != nil {
				mean, _ := g.learn.model.Predict(x)
				points[a] = append(points[a], g.loss(mean))
				continue
			}
			v, err := f.knownLoss(g, x)
			if err != nil {
				return err
			}
			points[a] = append(points[a], v)
		}
	}
	for left := 2 * anchorCount; left > 0 && len(points) > 0; {
		best := front.Minimal(points)
		for _, k := range best[:min(len(best), left)] {
			*xs = append(*xs, tried[k])
			left--
		}
		slices.Sort(best)
		for _, k := range slices.Backward(best) {
			points, tried = slices.Delete(points, k, k+1), slices.Delete(tried, k, k+1)
		}
	}
	return nil
}

// scale makes the losses shares of the way from the best to the reference, of the means of
// all draws: over what was tried, or all candidates where that is too little.
func (f *frontier) scale(trials int) {
	mean := make([][]float64, len(f.losses[0]))
	for a := range mean {
		mean[a] = make([]float64, len(f.goals))
		for _, draw := range f.losses {
			for k, v := range draw[a] {
				mean[a][k] += v / float64(len(f.losses))
			}
		}
	}
	of := pareto(mean[len(f.parts) : len(f.parts)+trials])
	ideal, nadir := front.Bounds(mean)
	if len(of) > 1 {
		_, nadir = front.Bounds(of)
	} else if trials > 1 {
		_, nadir = front.Bounds(mean[len(f.parts) : len(f.parts)+trials])
	}
	reference := front.Reference(ideal, nadir)
	for s := range f.losses {
		f.losses[s] = front.Scaled(f.losses[s], ideal, reference)
	}
}

// one is the reference of scaled losses.
func (f *frontier) one() []float64 {
	one := make([]float64, len(f.goals))
	for k := range one {
		one[k] = 1
	}
	return one
}

// pareto returns the points that no other dominates.
func pareto(points [][]float64) [][]float64 {
	var out [][]float64
	for _, k := range front.Minimal(points) {
		out = append(out, points[k])
	}
	return out
}

// gain is what a candidate adds to the hypervolume, on average over the draws.
func (f *frontier) gain(k int) float64 {
	sum, one := 0.0, f.one()
	for s, points := range f.fronts {
		sum += front.Added(f.losses[s][k], points, one)
	}
	return sum / float64(len(f.fronts))
}

// frontMoves is by which share of its hypervolume a front is to move to count.
const frontMoves = 0.01

// left says whether a candidate moves the front.
func (f *frontier) left() Left {
	better, gain, one := 0.0, 0.0, f.one()
	for s, points := range f.fronts {
		most := 0.0
		for k := range f.parts {
			if f.worth[k] > 0 {
				most = max(most, front.Added(f.losses[s][k], points, one))
			}
		}
		share := most / max(f.volume[s], 1e-9)
		if share > frontMoves {
			better++
		}
		gain += min(share, 1)
	}
	n := float64(len(f.fronts))
	probability := better / n
	gain /= n
	l := Left{Probability: &probability, Gain: &gain, Advice: GoOn}
	said := "go on"
	if probability < stopBelow {
		l.Advice, said = Stop, "stop, or change what is allowed"
	}
	l.Text = fmt.Sprintf("With probability %.2f ± %.2f a recipe is left that adds more than %.0f %% to the hypervolume of the trade-off; the best is expected to add %.1f %%. Advice: %s.",
		probability, math.Sqrt(max(probability*(1-probability), 1/n)/n), 100*frontMoves, 100*gain, said)
	return f.doubt(l)
}

// reason says why a recipe was chosen.
func (f *frontier) reason(b *chosen) Reason {
	var names []string
	for _, g := range f.goals {
		names = append(names, g.name)
	}
	return Reason{Likely, fmt.Sprintf("moves the trade-off of %s with probability %.2f: adds %.1f %% to its hypervolume on average", strings.Join(names, ", "), b.beats, 100*b.better)}
}
