package diagnose

import (
	"errors"
	"fmt"
)

// These errors are the reasons why a statistic such as a mean or an R-hat is NaN. Callers must test for the
// errors with errors.Is, because the returned error often adds details.
var (
	// ErrNoDraws is returned if there is no chain or no draw.
	ErrNoDraws = errors.New("there are no draws")
	// ErrRagged is returned if the chains differ in length.
	ErrRagged = errors.New("the chains differ in length")
	// ErrNotFinite is returned if a draw is NaN or infinite.
	ErrNotFinite = errors.New("a draw is not a finite number")
	// ErrFewDraws is returned if the chains are too short for the statistic.
	ErrFewDraws = errors.New("too few draws")
	// ErrConstant is returned if all draws are equal up to rounding. Draws that never change show neither how
	// well the chains mix nor how far off the mean is.
	ErrConstant = errors.New("all draws are equal")
	// ErrConstantTail is returned for a quantile if no draw lies beyond the quantile, because the largest value
	// makes up the whole tail.
	ErrConstantTail = errors.New("too many draws have the same largest value")
	// ErrFewEffective is returned if the effective sample size is too small to compute a reliable standard error.
	ErrFewEffective = errors.New("too few independent draws")
	// ErrFewVisits is returned if an event, or the opposite of the event, occurred too few times to compute a
	// reliable standard error.
	ErrFewVisits = errors.New("too few visits")
	// ErrScale is returned if the spread of the draws is too large or too small for the square of the spread to
	// be a float64.
	ErrScale = errors.New("the spread of the draws is out of range")
)

const (
	// minDrawsRHat is the minimum number of draws in a chain for R-hat. Each half then has two draws and so a
	// variance.
	minDrawsRHat = 4
	// minDrawsESS is the minimum number of draws in a chain for an effective sample size. With six draws in each
	// half of a chain, Geyer's sequence of pairs of autocorrelations has at least a first pair and need not end
	// for lack of draws.
	minDrawsESS = 12
)

// fewDrawsError returns an error that wraps ErrFewDraws and states the number of draws and the minimum number of
// draws.
func fewDrawsError(draws, minDraws int) error {
	return fmt.Errorf("%w: %d in a chain, at least %d are needed", ErrFewDraws, draws, minDraws)
}

// notFiniteError returns an error that wraps ErrNotFinite and names the chain, the draw and the value of the
// draw.
func notFiniteError(chain, draw int, x float64) error {
	return fmt.Errorf("%w: draw %d of chain %d (both counted from 0) is %v", ErrNotFinite, draw, chain, x)
}
