package campaign

import (
	"context"
	"slices"

	"kir/internal/browsersched"
)

// A coordinateAscent raises the posterior density of a process's length scales and noise. It
// multiplies or divides one after another by a factor, as long as the density rises.
type coordinateAscent struct {
	process *gaussianProcess
	values  []float64 // centred
	groups  [][]int   // ingredients that share a length scale
	best    float64   // the greatest log density so far
}

// ascentRounds is the greatest number of rounds for each factor.
const ascentRounds = 3

// leastRise is the rise of the log density below which a step is undone.
const leastRise = 1e-3

// run takes large steps, then small ones.
func (a *coordinateAscent) run(ctx context.Context) error {
	coordinates := a.coordinates()
	for _, factor := range []float64{2, 1.4} {
		for range ascentRounds {
			moved, err := a.climbEach(ctx, coordinates, factor)
			if err != nil {
				return err
			}
			if !moved {
				break
			}
		}
	}
	return nil
}

// coordinates returns what is changed in turn: the noise, which is nil, all length scales together,
// then those of each group.
func (a *coordinateAscent) coordinates() [][]int {
	all := make([]int, len(a.process.weight))
	for i := range all {
		all[i] = i
	}
	return append([][]int{nil, all}, a.groups...)
}

// climbEach climbs along each coordinate, up and down. It reports whether the density rose.
func (a *coordinateAscent) climbEach(ctx context.Context, coordinates [][]int, factor float64) (moved bool, err error) {
	for _, group := range coordinates {
		for _, by := range []float64{factor, 1 / factor} {
			rose, err := a.climb(ctx, group, by)
			if err != nil {
				return false, err
			}
			moved = moved || rose
		}
	}
	return moved, nil
}

// climb takes steps along one coordinate until the density rises no further.
func (a *coordinateAscent) climb(ctx context.Context, group []int, by float64) (moved bool, err error) {
	for {
		if err := browsersched.Err(ctx); err != nil {
			return false, err
		}
		if !a.step(group, by) {
			return moved, nil
		}
		moved = true
	}
}

// step multiplies one coordinate, and undoes that unless the density rises.
func (a *coordinateAscent) step(group []int, by float64) bool {
	g := a.process
	weight, noise := slices.Clone(g.weight), g.noise
	if group == nil {
		g.noise = float64(g.noise * by)
	}
	for _, i := range group {
		g.weight[i] /= by * by
	}
	if g.noise > 1e-6 && g.noise < 100 && g.fit(a.values) {
		if d := g.logPosterior(a.groups); d > a.best+leastRise {
			a.best = d
			return true
		}
	}
	copy(g.weight, weight)
	g.noise = noise
	return false
}
