package diagnose

import (
	"errors"
	"fmt"
)

// Reasons why a figure is NaN. Test for them with errors.Is; the error that is
// returned often says more.
var (
	// ErrNoDraws is returned when there is no chain or no draw.
	ErrNoDraws = errors.New("there are no draws")
	// ErrRagged is returned when the chains differ in length.
	ErrRagged = errors.New("the chains differ in length")
	// ErrNotFinite is returned when a draw is NaN or infinite.
	ErrNotFinite = errors.New("a draw is not a finite number")
	// ErrFewDraws is returned when the chains are too short for the figure.
	ErrFewDraws = errors.New("too few draws")
	// ErrConstant is returned when all draws are equal, but for rounding: a statistic
	// that never moved says nothing about how well the chains mix, nor how far its mean
	// is off.
	ErrConstant = errors.New("all draws are equal")
	// ErrConstantTail is returned when no draw lies beyond the quantile in
	// question, which happens when the largest value makes up the whole tail.
	ErrConstantTail = errors.New("no draw lies beyond the quantile")
	// ErrFewEffective is returned when the draws are worth too few independent
	// ones for a standard error to be stated.
	ErrFewEffective = errors.New("too few effective draws")
	// ErrFewVisits is returned when an event came about, or failed to, too few
	// times for a standard error to be stated.
	ErrFewVisits = errors.New("too few visits")
	// ErrScale is returned when the spread of the draws is too large or too
	// small for its square to be a float64.
	ErrScale = errors.New("the spread of the draws is out of range")
)

const (
	// minDrawsRHat is the shortest chain for R-hat: two draws in each half,
	// so that a half has a variance.
	minDrawsRHat = 4
	// minDrawsESS is the shortest chain for an effective sample size: six
	// draws in each half, so that Geyer's sequence has its first pair of lags
	// and can end by itself rather than for want of draws.
	minDrawsESS = 12
)

// fewDraws is ErrFewDraws with the numbers.
func fewDraws(have, need int) error {
	return fmt.Errorf("%w: %d in a chain, at least %d are needed", ErrFewDraws, have, need)
}

// notFinite is ErrNotFinite with the place and the value.
func notFinite(chain, draw int, x float64) error {
	return fmt.Errorf("%w: draw %d of chain %d (both counted from 0) is %v", ErrNotFinite, draw, chain, x)
}
