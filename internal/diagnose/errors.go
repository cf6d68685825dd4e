package diagnose

import (
	"errors"
	"fmt"
)

// These errors are the reasons why a figure is NaN. Test for them with errors.Is; the returned error often adds
// details.
var (
	// ErrNoDraws is returned when there is no chain or no draw.
	ErrNoDraws = errors.New("there are no draws")
	// ErrRagged is returned when the chains differ in length.
	ErrRagged = errors.New("the chains differ in length")
	// ErrNotFinite is returned when a draw is NaN or infinite.
	ErrNotFinite = errors.New("a draw is not a finite number")
	// ErrFewDraws is returned when the chains are too short for the figure.
	ErrFewDraws = errors.New("too few draws")
	// ErrConstant is returned when all draws are equal up to rounding. A statistic that never changes shows neither
	// how well the chains mix nor how far off its mean is.
	ErrConstant = errors.New("all draws are equal")
	// ErrConstantTail is returned when no draw lies beyond the quantile in question, because the largest value makes
	// up the whole tail.
	ErrConstantTail = errors.New("no draw lies beyond the quantile")
	// ErrFewEffective is returned when the effective sample size is too small to state a standard error.
	ErrFewEffective = errors.New("too few effective draws")
	// ErrFewVisits is returned when an event, or its opposite, occurred too few times to state a standard error.
	ErrFewVisits = errors.New("too few visits")
	// ErrScale is returned when the spread of the draws is too large or too
	// small for its square to be a float64.
	ErrScale = errors.New("the spread of the draws is out of range")
)

const (
	// minDrawsRHat is the least number of draws in a chain for R-hat. Each half then has two draws and so a variance.
	minDrawsRHat = 4
	// minDrawsESS is the least number of draws in a chain for an effective sample size. With six draws in each half
	// Geyer's sequence has its first pair of lags, and need not end for lack of draws.
	minDrawsESS = 12
)

// fewDraws returns an error that wraps ErrFewDraws and names the number of draws and the number needed.
func fewDraws(have, need int) error {
	return fmt.Errorf("%w: %d in a chain, at least %d are needed", ErrFewDraws, have, need)
}

// notFinite returns an error that wraps ErrNotFinite and names the chain, the draw and its value.
func notFinite(chain, draw int, x float64) error {
	return fmt.Errorf("%w: draw %d of chain %d (both counted from 0) is %v", ErrNotFinite, draw, chain, x)
}
