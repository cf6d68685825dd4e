package mcmc

// A Mix is how often each move of [Balanced] is made, up to a common factor.
type Mix struct {
	Line, Resize, Refresh, Recall float64

	// Along counts only where rules fix a sum or leave it little room.
	Along float64
}

// The moves of Balanced, as indices into the mix and into moveNames.
const (
	lineMove = iota
	resizeMove
	refreshMove
	recallMove
	moveCount

	alongMove = moveCount // beside the mix, where rules hold a sum
)

// moveNames are what a [Tally] calls the moves of Balanced.
func moveNames() []string { return []string{"line", "resize", "refresh", "recall", "along"} }

// movesOf returns a tally's counts of the moves of Balanced, with or without along.
func movesOf(t *Tally, along bool) []MoveTally {
	names := moveNames()
	if !along {
		names = names[:moveCount]
	}
	return t.Of(names...)
}

// shares is how often each move is made, up to a common factor.
type shares [moveCount]float64

// pick draws a move.
func (s *shares) pick(r *Rand) int {
	if s[0] == 0 && s[1] == 0 && s[3] == 0 {
		return refreshMove
	}
	return r.Categorical(s[:])
}

const (
	// drawnWhole is how many ingredients refresh draws an iteration, on
	// average, without properties; so an iteration's cost does not grow with n.
	drawnWhole = 20

	// resizeShare is how often resize is made for each line.
	resizeShare = 0.15

	// wholeShare is how often refresh, and recall, are made for each line until
	// warm-up has measured what they are worth.
	wholeShare = 0.25

	// alongShare is how many of all moves are along, where rules hold a sum.
	alongShare = 0.5
)

// untuned returns the mix that suits a target as far as is known before warm-up.
func untuned(t *Target) *shares {
	if t.scored() {
		return &shares{lineMove: 1, resizeMove: resizeShare, refreshMove: wholeShare, recallMove: wholeShare}
	}
	whole := min(1, drawnWhole/t.law.Mean())
	return &shares{lineMove: 1 - whole, resizeMove: resizeShare * whole * (1 - whole), refreshMove: whole}
}
