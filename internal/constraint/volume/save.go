package volume

import (
	"bytes"
	"encoding/gob"
	"errors"
	"math"
)

// A saved is the encoded form of a Result, without the rules.
type saved struct {
	Sizes      []Size            // as in Result
	Moves      int64             // as in Result
	Replicates [][]float64       // by size, then by group: log share without the group
	Members    [][][]Composition // by size, then by population: compositions that keep all rules
	Weights    [][]float64       // by size, then by population: share that the population measured
	Scales     []float64         // for each sum: contribution to v of each unit of violation
}

// MarshalBinary encodes the result; [Restore] decodes the encoded result.
func (r *Result) MarshalBinary() ([]byte, error) {
	s := saved{Sizes: r.Sizes, Moves: r.Moves, Replicates: r.replicates}
	for _, p := range r.pools {
		s.Members, s.Weights = append(s.Members, p.members), append(s.Weights, p.weights)
	}
	for _, b := range r.rules.sumBounds {
		s.Scales = append(s.Scales, b.scale)
	}
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(s)
	return out.Bytes(), err
}

// errSaved is returned if the data are not a result of the given problem.
var errSaved = errors.New("measure: this is no result of the problem")

// Restore decodes data of [Result.MarshalBinary] for the same problem and sizes. Corrupt data cannot break the
// rules: Restore checks each composition from which walks start.
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
	if len(s.Sizes) != n || len(s.Replicates) != n || len(s.Members) != n || len(s.Weights) != n || len(s.Scales) != len(rules.sumBounds) {
		return nil, errSaved
	}
	for k, scale := range s.Scales {
		rules.sumBounds[k].scale = scale
	}
	r := &Result{Sizes: s.Sizes, Moves: s.Moves, replicates: s.Replicates, rules: rules}
	w := newWalker(rules)
	for k, size := range s.Sizes {
		found := len(s.Replicates[k]) == groupCount && len(s.Members[k]) > 0
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
		r.pools = append(r.pools, compositionPool{s.Members[k], s.Weights[k]})
	}
	return r, nil
}

// isFeasible reports whether x is a composition that keeps all rules. The slices of x may have any contents.
func (w *walker) isFeasible(x Composition) bool {
	if len(x.Amounts) != len(x.Ingredients) {
		return false
	}
	r, units := w.rules, 0
	w.clearAmounts()
	for k, i := range x.Ingredients {
		amount := x.Amounts[k] / int32(r.unit)
		if i < 0 || int(i) >= len(r.amounts) || w.amounts[i] != 0 || amount <= 0 ||
			x.Amounts[k]%int32(r.unit) != 0 || !r.amounts[i].contains(amount) {
			return false
		}
		w.setAmount(i, amount)
		units += int(amount)
	}
	return units == r.total && w.totalViolation == 0 && w.brokenCountable == 0
}
