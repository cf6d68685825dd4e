package volume

import (
	"bytes"
	"encoding/gob"
	"errors"
	"math"
)

// A saved is the encoded form of a Result, without the rules themselves.
type saved struct {
	Sizes      []Size
	Moves      int64
	Replicates [][]float64
	Members    [][][]Composition
	Weights    [][]float64
	Scales     []float64
}

// MarshalBinary encodes the result; [Restore] decodes it.
func (r *Result) MarshalBinary() ([]byte, error) {
	s := saved{Sizes: r.Sizes, Moves: r.Moves, Replicates: r.replicates}
	for _, p := range r.pools {
		s.Members, s.Weights = append(s.Members, p.members), append(s.Weights, p.weights)
	}
	for _, b := range r.rules.bounds {
		s.Scales = append(s.Scales, b.scale)
	}
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(s)
	return out.Bytes(), err
}

// errSaved is returned for data that are no result of the given problem.
var errSaved = errors.New("measure: this is no result of the problem")

// Restore decodes data of [Result.MarshalBinary] for the same problem and sizes. Corrupt data cannot break the rules:
// it checks each composition from which walks start.
func Restore(p Problem, sizes []int, data []byte) (*Result, error) {
	var s saved
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		return nil, errors.Join(errSaved, err)
	}
	rules, err := newRules(p)
	if err != nil {
		return nil, err
	}
	n := len(sizes)
	if len(s.Sizes) != n || len(s.Replicates) != n || len(s.Members) != n || len(s.Weights) != n || len(s.Scales) != len(rules.bounds) {
		return nil, errSaved
	}
	for k, scale := range s.Scales {
		rules.bounds[k].scale = scale
	}
	r := &Result{Sizes: s.Sizes, Moves: s.Moves, replicates: s.Replicates, rules: rules}
	w := newWalker(rules)
	for k, size := range s.Sizes {
		found := len(s.Replicates[k]) == groups && len(s.Members[k]) > 0
		if size.N != sizes[k] || size.Found != found || len(s.Members[k]) != len(s.Weights[k]) {
			return nil, errSaved
		}
		if !found {
			r.Sizes[k].LogShare, r.replicates[k] = math.Inf(-1), nil
		}
		for _, members := range s.Members[k] {
			if len(members) == 0 {
				return nil, errSaved
			}
			for _, x := range members {
				if len(x.Ingredients) != size.N || !w.isFeasible(x) {
					return nil, errSaved
				}
			}
		}
		r.pools = append(r.pools, pool{s.Members[k], s.Weights[k]})
	}
	return r, nil
}

// isFeasible reports whether x is a composition that keeps all rules. x may have any contents.
func (w *walker) isFeasible(x Composition) bool {
	if len(x.Amounts) != len(x.Ingredients) {
		return false
	}
	r, units := w.rules, 0
	w.clear()
	for k, i := range x.Ingredients {
		amount := x.Amounts[k] / int32(r.unit)
		if i < 0 || int(i) >= len(r.amounts) || w.amounts[i] != 0 || amount <= 0 ||
			x.Amounts[k]%int32(r.unit) != 0 || !r.amounts[i].contains(amount) {
			return false
		}
		w.set(i, amount)
		units += int(amount)
	}
	return units == r.total && w.v == 0 && w.hard == 0
}
