package volume

const (
	groups       = 32   // independent populations of each size
	population   = 32   // compositions of each
	pilot        = 256  // compositions of the population that fixes the steps
	earlyGroups  = 2    // of these, before the others
	relevantMass = 1e-3 // share of the mass from which on a size counts for RatioError
	firstTries   = 16   // of each composition in the first round of ratios
)

// A schedule is a ladder of rising b, without the first b = 0. After it only members with v = 0 are
// kept.
type schedule struct {
	steps []float64
	found bool // whether the pilot got there
	moves int64
}

// group is one population of a size. Once annealed, its members keep all rules.
type group struct {
	members []Composition
	mean    float64 // the product of the mean weights: expected to be the share
	moves   int64

	tries, splits, merges int64 // of size changes, and how many keep the rules
	rand                  Rand
}

// sizeWork is the work on one size.
type sizeWork struct {
	n        int
	mass     float64
	schedule schedule
	groups   [groups]*group
	stream   uint64  // index of its first stream
	logCount float64 // log D_n
}

// sampled reports whether some population of the size reached v = 0.
func (w *sizeWork) sampled() bool {
	for _, g := range w.groups {
		if g != nil && g.mean > 0 {
			return true
		}
	}
	return false
}

// moves returns the number of moves made for a size.
func (w *sizeWork) moves() int64 {
	moves := w.schedule.moves
	for _, g := range w.groups {
		if g != nil {
			moves += g.moves
		}
	}
	return moves
}

// movesPerStep is the number of moves of each composition after a step.
func movesPerStep(n int) int { return 10 + 3*n }
