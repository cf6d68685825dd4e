package randomproblem

import (
	"fmt"
	"math"

	"kir/internal/compile"
	"kir/mcmc"
)

// Options say how much is looked at.
type Options struct {
	Dir    string // an empty directory, for the problem and its runs
	Scorer string // a program; see [Problem.Write]

	Starts     int // states drawn from the law that each kernel moves
	Iterations int // made from each
	Chains     int // of each whole run, which end in files
	More       int // chains beside them, which do not
	Warmup     int // iterations of those

	// Faults that negative controls put in: what is written in place of the problem,
	// and what is done to the law that is compared with. The figures of draws are
	// then not looked at, so that it is the comparison of laws that must see it.
	written *Problem
	alter   func(e *Enumeration)
}

// An Outcome is what became of a problem.
type Outcome struct {
	Refused  bool // it is infeasible, and was refused
	Empty    bool // its wishes forbid all, and no run began
	NoStart  bool // some kernel found no start, which can be by chance
	States   int  // compositions that keep the rules
	Measured int  // sizes of which |X_n| was measured
	Matrices int  // transition matrices that were small enough to compute
	Rows     []Row
	Faults   []string // what cannot be, whatever the random choices
}

// A Row is a comparison of draws with the law.
type Row struct {
	Kernel string
	Way    string  // fromLaw or wholeRun
	P      float64 // see [Problem.compare]
	At     string
	// Slow says of a whole run whose draws do not follow the law that the same
	// kernel left draws from the law as they are: the chains were too short for
	// the problem.
	Slow bool
}

// The ways to compare.
const (
	fromLaw  = "from the law"
	wholeRun = "whole run"
)

// small is the p-value below which draws do not follow a law.
const small = 1e-7

// unlucky is how probable it must be that a chain finds no start for that to be put
// down to chance.
const unlucky = 1e-12

// A checker checks one problem.
type checker struct {
	*Problem
	Options
	out       *Outcome
	read      *compile.Problem
	law       *Enumeration
	measured  bool // some |X_n| are estimates
	uncounted bool // some rules cannot be counted
}

// fault notes what cannot be.
func (c *checker) fault(format string, args ...any) {
	c.out.Faults = append(c.out.Faults, fmt.Sprintf(format, args...))
}

// parts lists what a composition uses.
func parts(x []int) []mcmc.Part {
	var list []mcmc.Part
	for i, a := range x {
		if a > 0 {
			list = append(list, mcmc.Part{Ingredient: i, Amount: a})
		}
	}
	return list
}

// state returns which state a composition is; it fails if that is not allowed.
func (c *checker) state(x *mcmc.Composition) (int, error) {
	amounts := make([]int, x.N())
	for i, a := range x.Amounts() {
		amounts[i] = int(a)
	}
	return c.allowed(amounts)
}

func (c *checker) allowed(x []int) (int, error) {
	s := c.law.Number(x)
	if s < 0 || !c.law.Allowed(s) {
		return 0, fmt.Errorf("a draw is %v, which is not allowed", x)
	}
	return s, nil
}

// startless returns the probability that a chain finds nothing to start from: as the
// documentation of [mcmc.StartState] has it, 1,000 draws are of the sparsity law, and
// of 99,000 more every second one has an n that is uniform from the least to the
// greatest that the law has; where it has none of that, n is of the law as well.
func (c *checker) startless() float64 {
	lo, hi := 0, 0
	for n, mass := range c.law.Law {
		if mass > 0 {
			if hi = n; lo == 0 {
				lo = n
			}
		}
	}
	inLaw, gaps := 0.0, 0.0 // probabilities that a draw is a start, and of no size that has mass
	share := 1 / float64(hi-lo+1)
	for n := lo; n <= hi; n++ {
		if c.law.Law[n] == 0 {
			gaps += share
		}
	}
	uniform := 0.0
	for s, prior := range c.law.Prior {
		if c.law.Allowed(s) {
			inLaw += prior
			uniform += share * prior / c.law.Law[c.law.Used[s]]
		}
	}
	uniform += gaps * inLaw
	return math.Exp(50_500*math.Log1p(-min(inLaw, 1)) + 49_500*math.Log1p(-min(uniform, 1)))
}
