package run

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/mcmc"
)

// bufferedDraws are the draws of a chain in a run whose number of draws is not known yet: every
// thin-th state since warm-up.
type bufferedDraws struct {
	thin        int
	density     []float64
	scores      []float64 // of all draws, one draw after the other
	ends        []int     // of the draws' ingredients
	conditions  []int32   // the values of all draws, by index, one draw after the other
	ingredients []int32   // in ascending order within a draw
	amounts     []int32
}

// add appends a draw.
func (h *bufferedDraws) add(x *mcmc.State, scores []float64) {
	from := len(h.ingredients)
	h.ingredients = append(h.ingredients, x.Composition.Ingredients()...)
	slices.Sort(h.ingredients[from:])
	amounts := x.Composition.Amounts()
	for _, i := range h.ingredients[from:] {
		h.amounts = append(h.amounts, amounts[i])
	}
	h.ends = append(h.ends, len(h.ingredients))
	h.density = append(h.density, x.LogDensity())
	h.scores = append(h.scores, scores...)
	h.conditions = x.Composition.AppendConditions(h.conditions)
}

// draws returns the number of buffered draws.
func (h *bufferedDraws) draws() int { return len(h.ends) }

// parts returns the ingredients and amounts of a draw.
func (h *bufferedDraws) parts(draw int) (ingredients, amounts []int32) {
	from := 0
	if draw > 0 {
		from = h.ends[draw-1]
	}
	return h.ingredients[from:h.ends[draw]], h.amounts[from:h.ends[draw]]
}

// ingredientCount returns the number of ingredients that a draw uses.
func (h *bufferedDraws) ingredientCount(draw int) int {
	if draw == 0 {
		return h.ends[0]
	}
	return h.ends[draw] - h.ends[draw-1]
}

// scoresOf returns the scores of a draw.
func (h *bufferedDraws) scoresOf(draw int) []float64 {
	n := len(h.scores) / len(h.ends)
	return h.scores[draw*n : (draw+1)*n]
}

// conditionsOf returns the values of the conditions of a draw, by index.
func (h *bufferedDraws) conditionsOf(draw int) []int32 {
	n := len(h.conditions) / len(h.ends)
	return h.conditions[draw*n : (draw+1)*n]
}

// thinTo keeps only the draws of a chain with a larger thin, which must be a multiple of the
// present one.
func (h *bufferedDraws) thinTo(thin int) {
	step := thin / h.thin
	h.thin = thin
	if step == 1 {
		return
	}
	kept, at := 0, 0
	for d := step - 1; d < h.draws(); d += step {
		ingredients, amounts := h.parts(d)
		copy(h.ingredients[at:], ingredients)
		copy(h.amounts[at:], amounts)
		at += len(ingredients)
		scores := h.scoresOf(d)
		copy(h.scores[kept*len(scores):], scores)
		conditions := h.conditionsOf(d)
		copy(h.conditions[kept*len(conditions):], conditions)
		h.density[kept], h.ends[kept] = h.density[d], at
		kept++
	}
	scores, conditions := 0, 0 // of a draw
	if len(h.ends) > 0 {
		scores, conditions = len(h.scores)/len(h.ends), len(h.conditions)/len(h.ends)
	}
	h.density, h.scores, h.ends = h.density[:kept], h.scores[:kept*scores], h.ends[:kept]
	h.conditions = h.conditions[:kept*conditions]
	h.ingredients, h.amounts = h.ingredients[:at], h.amounts[:at]
}

// encode encodes the first draws for decodeBuffered.
func (h *bufferedDraws) encode(draws int) []byte {
	var b []byte
	for d := range min(draws, h.draws()) {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(h.density[d]))
		for _, y := range h.scoresOf(d) {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(y))
		}
		for _, v := range h.conditionsOf(d) {
			b = binary.AppendUvarint(b, uint64(v))
		}
		ingredients, amounts := h.parts(d)
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

// errBuffered is returned if buffered draws do not fit the run.
var errBuffered = errors.New("the draws in it are not of such a run")

// decodeBuffered decodes draws of a run, with their scores.
func decodeBuffered(b []byte, m *Manifest, thin, draws int) (*bufferedDraws, error) {
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
	for d := range draws {
		if len(b) == 0 {
			return nil, fmt.Errorf("%w: it has %d of %d", errBuffered, d, draws)
		}
		h.density = append(h.density, number())
		for range m.Properties {
			h.scores = append(h.scores, number())
		}
		for k := range m.Conditions {
			v := whole(m.Conditions[k].Values() - 1)
			if v < 0 {
				return nil, errBuffered
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
				return nil, errBuffered
			}
			h.ingredients, h.amounts = append(h.ingredients, int32(last)), append(h.amounts, int32(amount))
		}
		if used < 1 || sum != m.Total {
			return nil, errBuffered
		}
		h.ends = append(h.ends, len(h.ingredients))
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%w: there is more behind them", errBuffered)
	}
	return h, nil
}
