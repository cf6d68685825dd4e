package volume

const (
	populationCount        = 32   // number of independent populations of each size
	populationSize         = 32   // number of compositions in each population
	pilotSize              = 256  // number of compositions in the pilot population, which determines the annealing schedule
	roughPopulationCount   = 2    // number of populations of each size that are annealed for the rough result
	minRelevantProbability = 1e-3 // fraction of the total probability of all sizes above which a size is relevant, so that its ratios must be precise
	firstRoundTries        = 16   // number of times that each composition tries a split and a merge of ingredients in the first round of measuring ratios
)

// A schedule is the rising sequence of inverse temperatures b along which populations are annealed. The initial b
// = 0 is left out. After the last b, only members that violate no sum are kept.
type schedule struct {
	inverseTemperatures []float64 // inverse temperatures b, in rising order
	pilotReachedZero    bool      // whether annealing brought enough members of the pilot population to violate no sum
	pilotMoves          int64     // number of moves that the pilot population made
}

// A population is a list of compositions of one size that annealing moves until they keep all rules. The
// populations of a size are independent of each other.
type population struct {
	members       []Composition
	weightProduct float64 // product, over all annealing steps, of the mean weight of the members; an unbiased estimate of the share of countable compositions that keep all rules
	moveCount     int64   // number of moves that the members made

	tries, splits, merges int64 // tries is the number of tries to split an ingredient and to merge two ingredients; splits and merges count the successes
	random                Rand
}

// A sizeState is the state of the measurement for one size, that is, for compositions with one number of used
// ingredients.
type sizeState struct {
	usedCount           int     // number of used ingredients
	relativeProbability float64 // probability of the size, up to a common factor; from Options.SizeProbabilities
	schedule            schedule
	populations         [populationCount]*population
	firstStreamIndex    uint64  // index, for Options.Stream, of the first source of random choices of this size
	logCount            float64 // log of the number of compositions of this size that keep the countable rules
}

// hasMembers reports whether some population of the size has members that keep all rules.
func (w *sizeState) hasMembers() bool {
	for _, g := range w.populations {
		if g != nil && g.weightProduct > 0 {
			return true
		}
	}
	return false
}

// moveCount returns the number of moves made for the size so far.
func (w *sizeState) moveCount() int64 {
	moves := w.schedule.pilotMoves
	for _, g := range w.populations {
		if g != nil {
			moves += g.moveCount
		}
	}
	return moves
}

// movesPerStep returns the number of moves that each composition of n ingredients makes after an annealing step.
func movesPerStep(n int) int { return 10 + 3*n }
