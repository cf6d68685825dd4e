// Package rounding rounds a recipe to the steps of a scale. The rounded amounts sum exactly to the batch,
// satisfy the rules of the recipe and are as near to the recipe as possible.
package rounding

import (
	"errors"
	"math"
	"math/big"
	"strings"

	"kir/internal/inputerr"
	"kir/rule"
)

// A Batch is a recipe and the quantity of the recipe to make.
type Batch struct {
	Parts []rule.Part // used ingredients with their amounts, in units of the rules' total; all amounts are above 0
	Rules rule.Set    // the rules of the recipe, with the ingredients and the total

	Size *big.Rat // quantity to make, in the measure of the recipe, such as millilitres
	Step *big.Rat // smallest step of the scale, in the measure that is weighed, such as grams

	// Density[i] is the weighed quantity of part i per unit of the recipe's measure, for example grams per
	// millilitre. Each Density must be above 0. A nil slice means that both measures are the same.
	Density []*big.Rat
}

// A RoundedBatch holds the amounts to weigh.
type RoundedBatch struct {
	Steps          []int64   // number of scale steps of each part, at least 1
	UnroundedSteps []float64 // number of scale steps of each part before rounding
	Sum            int64     // sum of Steps: exactly the size of the batch in steps, or the nearest whole number if densities differ
}

// An ImpossibleError explains why no rounding of a batch was found. Alternatives lists other scale steps and
// batch sizes. If the batch is not a whole number of steps, these are the nearest sizes that are. Otherwise a
// rounding was found for each of them.
type ImpossibleError struct {
	Reason       string
	Alternatives []Alternative
}

func (e *ImpossibleError) Error() string { return e.Reason }

// An Alternative is another step of the scale, or another size of the batch, to try instead.
type Alternative struct {
	IsScaleStep bool // whether Value is a step of the scale, and not a size of the batch
	Value       *big.Rat
}

// These errors describe batches that cannot be rounded, whatever the rules are.
var (
	errNotWhole    = errors.New("the batch is not a whole number of steps of the scale")
	errTooFewSteps = errors.New("the batch has fewer steps of the scale than ingredients")
)

// Weigh rounds the amounts of a batch to whole steps of the scale. Let S be the number of steps of the whole
// batch, and q_i the number of steps of part i before rounding. Weigh returns whole numbers x_i ≥ 1 with Σ x_i =
// S that satisfy the rules and minimise Σ (x_i − q_i)². Without rules the result is that of the method of the
// largest remainder. If Weigh finds no such numbers, the error is an [*ImpossibleError].
func Weigh(b Batch) (*RoundedBatch, error) {
	r, err := newRoundingProblem(b)
	switch {
	case errors.Is(err, errNotWhole):
		return nil, &ImpossibleError{Reason: err.Error(), Alternatives: b.wholeBatches()}
	case errors.Is(err, errTooFewSteps):
		return nil, &ImpossibleError{Reason: err.Error(), Alternatives: b.findAlternatives()}
	case err != nil:
		return nil, err
	}
	steps, found := r.findNearestRounding(r.bounds)
	if !found {
		return nil, &ImpossibleError{Reason: r.failureReason(), Alternatives: b.findAlternatives()}
	}
	return &RoundedBatch{Steps: steps, UnroundedSteps: r.idealSteps, Sum: r.batchSteps}, nil
}

// newRoundingProblem returns the rounding problem of a batch.
func newRoundingProblem(b Batch) (*roundingProblem, error) {
	if len(b.Parts) == 0 || b.Size.Sign() <= 0 || b.Step.Sign() <= 0 {
		return nil, errors.New("a batch and the step of a scale are above 0, and a recipe has ingredients")
	}
	r := &roundingProblem{maxPartialRoundings: defaultMaxPartialRoundings, maxDistance: maxRoundingDistance, densities: b.Density, recipeParts: b.Parts, total: int64(b.Rules.Total), ruleText: b.Rules.Text}
	sum := new(big.Rat)
	for k, p := range b.Parts {
		q := new(big.Rat).SetFrac64(int64(p.Amount), r.total)
		q.Mul(q, b.Size).Quo(q, b.Step)
		weight := big.NewRat(1, 1)
		if b.Density != nil {
			q.Mul(q, b.Density[k])
			weight.Inv(b.Density[k])
		}
		sum.Add(sum, q)
		ideal, _ := q.Float64()
		r.idealSteps, r.weights = append(r.idealSteps, ideal), append(r.weights, weight)
	}
	switch {
	case b.Density != nil:
		half := new(big.Rat).Add(sum, big.NewRat(1, 2))
		sum.SetInt(new(big.Int).Quo(half.Num(), half.Denom()))
	case !sum.IsInt():
		return nil, errNotWhole
	}
	if steps, _ := sum.Float64(); steps > 1<<40 {
		return nil, &inputerr.Error{Message: "the batch has too many steps of the scale", Hint: "take a coarser scale"}
	}
	r.batchSteps = sum.Num().Int64()
	if r.batchSteps < int64(len(b.Parts)) {
		return nil, errTooFewSteps
	}
	return r, r.addRules(b.Rules)
}

// wholeBatches returns the nearest smaller and the nearest larger batch that is a whole number of scale steps.
func (b Batch) wholeBatches() []Alternative {
	steps := new(big.Rat).Quo(b.Size, b.Step)
	down := new(big.Int).Quo(steps.Num(), steps.Denom())
	var ways []Alternative
	for _, n := range []*big.Int{down, new(big.Int).Add(down, big.NewInt(1))} {
		if n.Sign() > 0 {
			ways = append(ways, Alternative{Value: new(big.Rat).Mul(b.Step, new(big.Rat).SetInt(n))})
		}
	}
	return ways
}

// findAlternatives returns a finer scale step and a larger batch size for which a rounding was found.
func (b Batch) findAlternatives() (ways []Alternative) {
	for _, finer := range []int64{2, 5, 10, 100} {
		c := b
		c.Step = new(big.Rat).Mul(b.Step, big.NewRat(1, finer))
		if c.isPossible() {
			ways = append(ways, Alternative{IsScaleStep: true, Value: c.Step})
			break
		}
	}
	if b.Density != nil {
		return ways
	}
	steps := new(big.Rat).Quo(b.Size, b.Step)
	whole := new(big.Int).Quo(steps.Num(), steps.Denom()).Int64()
	for n := whole + 1; n <= whole+maxSizesTried; n++ {
		c := b
		if c.Size = new(big.Rat).Mul(b.Step, new(big.Rat).SetInt64(n)); c.isPossible() {
			return append(ways, Alternative{Value: c.Size})
		}
	}
	return ways
}

// maxSizesTried is the number of larger batches that findAlternatives tries. maxPartialRoundingsEach is the maximum number
// of partial roundings that findAlternatives looks at for each batch.
const maxSizesTried, maxPartialRoundingsEach = 1000, 2000

// isPossible reports whether some rounding of the batch satisfies all rules, as far as a short search can tell.
func (b Batch) isPossible() bool {
	r, err := newRoundingProblem(b)
	if err != nil {
		return false
	}
	r.maxPartialRoundings, r.maxDistance = maxPartialRoundingsEach, 2
	_, found := r.findNearestRounding(r.bounds)
	return found
}

// Decimal writes a number that has at most nine decimal places.
func Decimal(v *big.Rat) string {
	text := v.FloatString(9)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// sumTolerance is the assumed maximum rounding error of a floating-point sum, as a fraction of the sum of the
// magnitudes.
const sumTolerance = 1e-9

// isNonNegative reports whether v is at least 0 within the rounding error of a sum of numbers whose magnitudes
// add up to about scale.
func isNonNegative(v, scale float64) bool { return v >= -sumTolerance*math.Max(scale, 1) }
