package volume

import (
	"bytes"
	"encoding/gob"
	"errors"
	"math"
)

// A savedResult is the form in which a [Result] is encoded. The rules are not part of the encoded form.
type savedResult struct {
	Sizes      []Size            // as in Result
	Moves      int64             // as in Result
	Replicates [][]float64       // Replicates[k][g] is the log share of size k computed without population g
	Members    [][][]Composition // Members[k][g] lists compositions of size k in population g that keep all rules
	Weights    [][]float64       // Weights[k][g] is the share that population g of size k measured
	Scales     []float64         // item s is the contribution of each unit of violation of sum s to the total violation
}

// MarshalBinary encodes the result; [Restore] decodes the encoded result.
func (r *Result) MarshalBinary() ([]byte, error) {
	s := savedResult{Sizes: r.Sizes, Moves: r.Moves, Replicates: r.jackknifeLogShares}
	for _, p := range r.compositionPools {
		s.Members, s.Weights = append(s.Members, p.members), append(s.Weights, p.weights)
	}
	for _, b := range r.rules.sumBounds {
		s.Scales = append(s.Scales, b.scale)
	}
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(s)
	return out.Bytes(), err
}

// errNotSavedResult is returned if the data are not a result of the given problem.
var errNotSavedResult = errors.New("measure: this is no result of the problem")

// Restore decodes the data that [Result.MarshalBinary] returned for the same problem and sizes. Corrupt data
// cannot lead to compositions that break the rules: Restore checks each composition from which a [Walk] starts.
func Restore(p Problem, sizes []int, data []byte) (*Result, error) {
	var s savedResult
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		return nil, errors.Join(errNotSavedResult, err)
	}
	rules, err := newRules(p)
	if err != nil {
		return nil, err
	}
	n := len(sizes)
	if len(s.Sizes) != n || len(s.Replicates) != n || len(s.Members) != n || len(s.Weights) != n || len(s.Scales) != len(rules.sumBounds) {
		return nil, errNotSavedResult
	}
	for k, scale := range s.Scales {
		rules.sumBounds[k].scale = scale
	}
	r := &Result{Sizes: s.Sizes, Moves: s.Moves, jackknifeLogShares: s.Replicates, rules: rules}
	w := newWalker(rules)
	for k, size := range s.Sizes {
		found := len(s.Replicates[k]) == populationCount && len(s.Members[k]) > 0
		if size.N != sizes[k] || size.Found != found || len(s.Members[k]) != len(s.Weights[k]) {
			return nil, errNotSavedResult
		}
		if !found {
			r.Sizes[k].LogShare, r.jackknifeLogShares[k] = math.Inf(-1), nil
		}
		for _, members := range s.Members[k] {
			if len(members) == 0 {
				return nil, errNotSavedResult
			}
			for _, x := range members {
				if len(x.Ingredients) != size.N || !w.isFeasible(x) {
					return nil, errNotSavedResult
				}
			}
		}
		r.compositionPools = append(r.compositionPools, compositionPool{s.Members[k], s.Weights[k]})
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
		if i < 0 || int(i) >= len(r.allowedAmounts) || w.amounts[i] != 0 || amount <= 0 ||
			x.Amounts[k]%int32(r.unit) != 0 || !r.allowedAmounts[i].contains(amount) {
			return false
		}
		w.setAmount(i, amount)
		units += int(amount)
	}
	return units == r.total && w.totalViolation == 0 && w.brokenCountableCount == 0
}
