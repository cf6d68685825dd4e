package run

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/mcmc"
)

// bufferedDraws holds the draws of a chain in memory while the run has not determined its number of
// draws yet. A draw is the state of the chain at every thin-th iteration after the warm-up.
type bufferedDraws struct {
	thin           int       // number of iterations from one draw to the next
	logDensities   []float64 // item d is the log density of draw d
	scores         []float64 // scores of all properties, one draw after the other
	ingredientEnds []int     // item d is the index after the last ingredient of draw d, in the slices ingredients and amounts
	conditions     []int32   // indices of the values of all conditions, one draw after the other
	ingredients    []int32   // indices of the ingredients that draws use, one draw after the other, ascending within a draw
	amounts        []int32   // amounts of the ingredients in the slice ingredients, in units
}

// add appends the state x, with the scores of all properties, as a draw.
func (h *bufferedDraws) add(x *mcmc.State, scores []float64) {
	from := len(h.ingredients)
	h.ingredients = append(h.ingredients, x.Composition.Ingredients()...)
	slices.Sort(h.ingredients[from:])
	amounts := x.Composition.Amounts()
	for _, i := range h.ingredients[from:] {
		h.amounts = append(h.amounts, amounts[i])
	}
	h.ingredientEnds = append(h.ingredientEnds, len(h.ingredients))
	h.logDensities = append(h.logDensities, x.LogDensity())
	h.scores = append(h.scores, scores...)
	h.conditions = x.Composition.AppendConditions(h.conditions)
}

// count returns the number of buffered draws.
func (h *bufferedDraws) count() int { return len(h.ingredientEnds) }

// partsOf returns the indices of the ingredients that a draw uses, and the amounts of these
// ingredients.
func (h *bufferedDraws) partsOf(draw int) (ingredients, amounts []int32) {
	from := 0
	if draw > 0 {
		from = h.ingredientEnds[draw-1]
	}
	return h.ingredients[from:h.ingredientEnds[draw]], h.amounts[from:h.ingredientEnds[draw]]
}

// ingredientCount returns the number of ingredients that a draw uses.
func (h *bufferedDraws) ingredientCount(draw int) int {
	if draw == 0 {
		return h.ingredientEnds[0]
	}
	return h.ingredientEnds[draw] - h.ingredientEnds[draw-1]
}

// scoresOf returns the scores of a draw; item k is the score of property k.
func (h *bufferedDraws) scoresOf(draw int) []float64 {
	n := len(h.scores) / len(h.ingredientEnds)
	return h.scores[draw*n : (draw+1)*n]
}

// conditionsOf returns the conditions of a draw; item k is the index of the value of condition k.
func (h *bufferedDraws) conditionsOf(draw int) []int32 {
	n := len(h.conditions) / len(h.ingredientEnds)
	return h.conditions[draw*n : (draw+1)*n]
}

// thinTo keeps only the draws that the chain would have made with a larger thin, the number of
// iterations from one draw to the next. The parameter thin must be a multiple of the current thin.
func (h *bufferedDraws) thinTo(thin int) {
	step := thin / h.thin
	h.thin = thin
	if step == 1 {
		return
	}
	kept, at := 0, 0
	for d := step - 1; d < h.count(); d += step {
		ingredients, amounts := h.partsOf(d)
		copy(h.ingredients[at:], ingredients)
		copy(h.amounts[at:], amounts)
		at += len(ingredients)
		scores := h.scoresOf(d)
		copy(h.scores[kept*len(scores):], scores)
		conditions := h.conditionsOf(d)
		copy(h.conditions[kept*len(conditions):], conditions)
		h.logDensities[kept], h.ingredientEnds[kept] = h.logDensities[d], at
		kept++
	}
	scores, conditions := 0, 0 // of a draw
	if len(h.ingredientEnds) > 0 {
		scores, conditions = len(h.scores)/len(h.ingredientEnds), len(h.conditions)/len(h.ingredientEnds)
	}
	h.logDensities, h.scores, h.ingredientEnds = h.logDensities[:kept], h.scores[:kept*scores], h.ingredientEnds[:kept]
	h.conditions = h.conditions[:kept*conditions]
	h.ingredients, h.amounts = h.ingredients[:at], h.amounts[:at]
}

// encode encodes the first draws for [decodeBuffered]. The parameter maxDraws limits their number.
func (h *bufferedDraws) encode(maxDraws int) []byte {
	var b []byte
	for d := range min(maxDraws, h.count()) {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(h.logDensities[d]))
		for _, y := range h.scoresOf(d) {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(y))
		}
		for _, v := range h.conditionsOf(d) {
			b = binary.AppendUvarint(b, uint64(v))
		}
		ingredients, amounts := h.partsOf(d)
		b = binary.AppendUvarint(b, uint64(len(ingredients)))
		last := int32(-1)
		for k, i := range ingredients {
			b = binary.AppendUvarint(b, uint64(i-last))
			b = binary.AppendUvarint(b, uint64(amounts[k]))
			last = i
		}
	}
	return b
}

// errBufferedMismatch is returned if encoded draws do not fit the run.
var errBufferedMismatch = errors.New("the draws in it are not of such a run")

// decodeBuffered decodes draws that [bufferedDraws.encode] encoded, and returns an error if the
// draws do not fit the run of the manifest. The parameter drawCount is the expected number of
// draws.
func decodeBuffered(b []byte, m *Manifest, thin, drawCount int) (*bufferedDraws, error) {
	h := &bufferedDraws{thin: thin}
	number := func() float64 {
		if len(b) < 8 {
			b = nil
			return math.NaN()
		}
		v := math.Float64frombits(binary.LittleEndian.Uint64(b))
		b = b[8:]
		return v
	}
	whole := func(most int) int {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > uint64(most) {
			b = nil
			return -1
		}
		b = b[n:]
		return int(v)
	}
	for d := range drawCount {
		if len(b) == 0 {
			return nil, fmt.Errorf("%w: it has %d of %d", errBufferedMismatch, d, drawCount)
		}
		h.logDensities = append(h.logDensities, number())
		for range m.Properties {
			h.scores = append(h.scores, number())
		}
		for k := range m.Conditions {
			v := whole(m.Conditions[k].Values() - 1)
			if v < 0 {
				return nil, errBufferedMismatch
			}
			h.conditions = append(h.conditions, int32(v))
		}
		last, sum := -1, 0
		used := whole(min(m.IngredientCount(), m.Total))
		for range used {
			step, amount := whole(m.IngredientCount()), whole(m.Total)
			last += step
			sum += amount
			if step < 1 || amount < 1 || last >= m.IngredientCount() {
				return nil, errBufferedMismatch
			}
			h.ingredients, h.amounts = append(h.ingredients, int32(last)), append(h.amounts, int32(amount))
		}
		if used < 1 || sum != m.Total {
			return nil, errBufferedMismatch
		}
		h.ingredientEnds = append(h.ingredientEnds, len(h.ingredients))
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%w: there is more behind them", errBufferedMismatch)
	}
	return h, nil
}
