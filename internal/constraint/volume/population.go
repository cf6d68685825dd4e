package volume

const (
	groups       = 32   // number of independent populations of each size
	population   = 32   // number of compositions in each population
	pilot        = 256  // number of compositions in the population that determines the schedule
	earlyGroups  = 2    // number of populations annealed for the rough result
	relevantMass = 1e-3 // least fraction of the law's probability for which a size counts in RatioError
	firstTries   = 16   // tries of a split and a merge per composition in the first round of ratios
)

// A schedule is the rising sequence of b along which populations are annealed, without the initial 0. After the last
// b only members with v = 0 are kept.
type schedule struct {
	steps []float64
	found bool // whether the pilot population reached v = 0
	moves int64
}

// A group is one population of a size. After annealing all its members keep the rules.
type group struct {
	members []Composition
	mean    float64 // product of the mean weights; its expected value is the share
	moves   int64

	tries, splits, merges int64 // numbers of tried size changes, and of splits and merges that keep the rules
	rand                  Rand
}

// sizeWork is the state of the measurement for one size.
type sizeWork struct {
	n        int
	mass     float64
	schedule schedule
	groups   [groups]*group
	stream   uint64  // index of the first random stream of this size
	logCount float64 // log D_n, the number of countable compositions
}

// sampled reports whether some population of the size has members that keep all rules.
func (w *sizeWork) sampled() bool {
	for _, g := range w.groups {
		if g != nil && g.mean > 0 {
			return true
		}
	}
	return false
}

// moves returns the number of moves made for the size so far.
func (w *sizeWork) moves() int64 {
	moves := w.schedule.moves
	for _, g := range w.groups {
		if g != nil {
			moves += g.moves
		}
	}
	return moves
}

// movesPerStep returns the number of moves of each composition of n ingredients after an annealing step.
func movesPerStep(n int) int { return 10 + 3*n }
