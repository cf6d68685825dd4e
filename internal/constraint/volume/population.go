package volume

const (
	groupCount      = 32   // number of independent populations of each size
	populationSize  = 32   // number of compositions in each population
	pilotSize       = 256  // number of compositions in the population that determines the schedule
	earlyGroups     = 2    // number of populations annealed for the rough result
	minRelevantMass = 1e-3 // fraction of the total mass above which a size counts for the precision of ratios
	firstRoundTries = 16   // tries of a split and a merge per composition in the first round of ratios
)

// A schedule is the rising sequence of inverse temperatures b along which populations are annealed, without the
// initial 0. After the last b only members that violate no sum are kept.
type schedule struct {
	steps       []float64 // inverse temperatures b, in rising order
	reachedZero bool      // whether enough members of the pilot population came to violate no sum
	pilotMoves  int64     // number of moves that the pilot population made
}

// A group is one of the independent populations of a size. After annealing all members of the group keep the
// rules.
type group struct {
	members       []Composition
	weightProduct float64 // product over all annealing steps of the mean weight; the expected value is the share of countable compositions that keep all rules
	moveCount     int64   // number of moves that the members made

	tries, splits, merges int64 // numbers of tried size changes, and of splits and merges that keep the rules
	random                Rand
}

// A sizeState is the state of the measurement for one size, that is, for one number of used ingredients.
type sizeState struct {
	n           int     // number of used ingredients
	mass        float64 // relative importance of the size, from Options.Mass
	schedule    schedule
	groups      [groupCount]*group
	firstStream uint64  // index of the first random stream of this size
	logCount    float64 // log of the number of countable compositions of the size
}

// hasMembers reports whether some population of the size has members that keep all rules.
func (w *sizeState) hasMembers() bool {
	for _, g := range w.groups {
		if g != nil && g.weightProduct > 0 {
			return true
		}
	}
	return false
}

// moveCount returns the number of moves made for the size so far.
func (w *sizeState) moveCount() int64 {
	moves := w.schedule.pilotMoves
	for _, g := range w.groups {
		if g != nil {
			moves += g.moveCount
		}
	}
	return moves
}

// movesPerStep returns the number of moves of each composition of n ingredients after an annealing step.
func movesPerStep(n int) int { return 10 + 3*n }
