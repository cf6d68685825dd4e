package stattest

import (
	"errors"
	"fmt"
	"math"

	"kir/mcmc"
)

// ErrTree is returned for a step that cannot be explored: it makes other
// choices when it is run again on the same outcomes, or asks for a choice
// among nothing, or for one that is not a law.
var ErrTree = errors.New("the step has no tree of outcomes")

// Explore runs step once for every outcome of its random choices that has
// positive probability, and calls visit after each run with the probability of
// that outcome. The probabilities sum to 1.
//
// The step must start from the same state each time: its choices form a tree,
// which is walked depth first by running the step again with the choices of
// the last run up to the deepest one that has an alternative left.
//
// It ends with the first error of step or visit, and with one that wraps
// [ErrTree] if there is no such tree.
func Explore(step func(r *mcmc.Rand) error, visit func(p float64) error) (err error) {
	w := &treeWalker{}
	defer func() {
		if e := recover(); e != nil {
			t, ok := e.(treeError)
			if !ok {
				panic(e)
			}
			err = t
		}
	}()
	r := mcmc.NewOracleRand(w)
	for {
		w.depth = 0
		if err := step(r); err != nil {
			return err
		}
		if w.depth < len(w.path) {
			return treeError("it made fewer choices than on the run before")
		}
		if err := visit(w.probability()); err != nil {
			return err
		}
		if !w.next() {
			return nil
		}
	}
}

// treeError passes through the kernel as a panic, since an oracle can only
// answer.
type treeError string

func (e treeError) Error() string { return fmt.Sprintf("%v: %s", ErrTree, string(e)) }
func (e treeError) Unwrap() error { return ErrTree }

// treeWalker is the oracle that walks the tree.
type treeWalker struct {
	path  []choice
	depth int // how many choices of the path the present run has made
	alts  []alternative
}

// choice is one node on the path from the root.
type choice struct {
	options int     // how many there were to choose among
	before  float64 // probability of reaching the node
	uniform bool

	at       int // the alternative taken: k itself if uniform, else an index of alts
	from, to int // the alternatives of positive probability, in alts
}

// alternative is one outcome of a choice in proportion to weights.
type alternative struct {
	k int
	p float64
}

func (w *treeWalker) Uniform(n int) int {
	if w.depth < len(w.path) {
		return w.replay(n, true)
	}
	if n < 1 {
		panic(treeError(fmt.Sprintf("it drew a uniform integer below %d", n)))
	}
	w.push(choice{options: n, before: w.probability(), uniform: true})
	return 0
}

func (w *treeWalker) Choose(weights []float64) int {
	if w.depth < len(w.path) {
		return w.replay(len(weights), false)
	}
	sum := 0.0
	for _, v := range weights {
		if !(v >= 0) || math.IsInf(v, 1) {
			panic(treeError(fmt.Sprintf("it chose in proportion to %v, and weights are finite and not negative", weights)))
		}
		sum += v
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		panic(treeError(fmt.Sprintf("it chose in proportion to %v, whose sum is no positive number", weights)))
	}
	c := choice{options: len(weights), before: w.probability(), from: len(w.alts)}
	for k, v := range weights {
		if v > 0 {
			w.alts = append(w.alts, alternative{k, v / sum})
		}
	}
	c.at, c.to = c.from, len(w.alts)
	w.push(c)
	return w.alts[c.at].k
}

func (w *treeWalker) replay(options int, uniform bool) int {
	c := &w.path[w.depth]
	if c.options != options || c.uniform != uniform {
		panic(treeError(fmt.Sprintf("choice %d of the same outcomes was among %d, and then among %d", w.depth, c.options, options)))
	}
	w.depth++
	if uniform {
		return c.at
	}
	return w.alts[c.at].k
}

func (w *treeWalker) push(c choice) {
	w.path = append(w.path, c)
	w.depth++
}

// probability returns that of the path.
func (w *treeWalker) probability() float64 {
	if len(w.path) == 0 {
		return 1
	}
	c := &w.path[len(w.path)-1]
	if c.uniform {
		return c.before / float64(c.options)
	}
	return c.before * w.alts[c.at].p
}

// next moves on to the next leaf and says whether there is one.
func (w *treeWalker) next() bool {
	for len(w.path) > 0 {
		c := &w.path[len(w.path)-1]
		c.at++
		if c.uniform && c.at < c.options || !c.uniform && c.at < c.to {
			return true
		}
		if !c.uniform {
			w.alts = w.alts[:c.from]
		}
		w.path = w.path[:len(w.path)-1]
	}
	return false
}
