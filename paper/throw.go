package paper

import (
	"math"
	"sync"

	"kir"
)

// thrown is the chain of the uncorrected [Multinomial], for targets without
// properties, in less time. How many ingredients a candidate uses decides
// alone whether it is accepted, so the units are thrown and counted, and a
// composition is only made of them when it is.
type thrown struct {
	target *kir.Target
	spare  sync.Pool // of *throw
}

// A throw is where the units came to lie.
type throw struct {
	amounts []int32 // by ingredient
	used    []int32
	parts   []kir.Part
}

func newThrown(t *kir.Target) *thrown {
	n := t.Space().N()
	return &thrown{target: t, spare: sync.Pool{New: func() any { return &throw{amounts: make([]int32, n)} }}}
}

// Advance makes iterations.
func (k *thrown) Advance(r *kir.Rand, x *kir.State, iterations int, tally *kir.Tally) error {
	y := k.spare.Get().(*throw)
	defer k.spare.Put(y)
	tally.Iterations += int64(iterations)
	for range iterations {
		y.units(r, k.target.Space().Total())
		ratio := math.Exp(k.target.LogLaw(len(y.used)) - k.target.LogLaw(x.Composition.Used()))
		if r.Bernoulli(ratio) {
			tally.Accepted++
			if !y.equal(x.Composition) {
				if err := y.move(x.Composition); err != nil {
					return err
				}
				tally.Updated++
			}
		}
		for _, i := range y.used {
			y.amounts[i] = 0
		}
		y.used = y.used[:0]
	}
	return nil
}

// units throws the units into the ingredients.
func (y *throw) units(r *kir.Rand, total int) {
	for range total {
		i := r.Intn(len(y.amounts))
		if y.amounts[i] == 0 {
			y.used = append(y.used, int32(i))
		}
		y.amounts[i]++
	}
}

func (y *throw) equal(x *kir.Composition) bool {
	if len(y.used) != x.Used() {
		return false
	}
	for _, i := range y.used {
		if int(y.amounts[i]) != x.Amount(int(i)) {
			return false
		}
	}
	return true
}

// move makes x what was thrown.
func (y *throw) move(x *kir.Composition) error {
	y.parts = y.parts[:0]
	for _, i := range y.used {
		y.parts = append(y.parts, kir.Part{Ingredient: int(i), Amount: int(y.amounts[i])})
	}
	return x.SetParts(y.parts...)
}
