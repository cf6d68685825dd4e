package rule

import (
	"math/bits"
	"slices"
)

// Masks are which rules each composition breaks, a bit a rule: those only of
// which none breaks less. Some rules can hold together if a mask has none of
// them.
type masks []uint64

// masksOf looks at every composition that uses a number of ingredients that the
// set asks for. It returns nil if there are more than most of them, or too many rules.
func masksOf(s Set, most float64) masks {
	sizes := s.sizes()
	if len(s.Rules) > 64 || len(s.overrides) > 0 || len(sizes) == 0 {
		return nil
	}
	each := make([]*Conditions, len(s.Rules))
	for k := range s.Rules {
		c, err := s.only([]int{k}).Conditions()
		if err != nil {
			return nil
		}
		each[k] = c
	}
	free, err := s.only(nil).Conditions()
	if err != nil {
		return nil
	}
	e := newEnumeration(free, sizes)
	if e.candidates() > most {
		return nil
	}
	found := make(map[uint64]bool)
	done := e.each(func(parts []Part) bool {
		mask := uint64(0)
		for k, c := range each {
			if !c.Keeps(parts) {
				mask |= 1 << k
			}
		}
		found[mask] = true
		return true
	})
	if !done {
		return nil
	}
	all := make([]uint64, 0, len(found))
	for mask := range found {
		all = append(all, mask)
	}
	slices.SortFunc(all, func(a, b uint64) int {
		if d := bits.OnesCount64(a) - bits.OnesCount64(b); d != 0 {
			return d
		}
		return int(a>>1) - int(b>>1)
	})
	m := masks{}
	for _, mask := range all {
		if !slices.ContainsFunc(m, func(less uint64) bool { return less&^mask == 0 }) {
			m = append(m, mask)
		}
	}
	return m
}

// hold says whether some rules can.
func (m masks) hold(rules []int) bool {
	of := uint64(0)
	for _, k := range rules {
		of |= 1 << k
	}
	return slices.ContainsFunc(m, func(mask uint64) bool { return mask&of == 0 })
}
