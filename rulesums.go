package kir

import "kir/rule"

// A factor is what a unit of an ingredient counts in a sum. It is not 0.
type factor struct {
	sum int32
	by  int64
}

// factorsOf returns, by ingredient, the sums in which it counts, by number. Of
// hundreds of limits on what ingredients are made of, few concern each.
func factorsOf(c *rule.Conditions) [][]factor {
	of := make([][]factor, len(c.Amounts))
	for k := range c.Sums {
		for i, by := range c.Sums[k].Factors {
			if by != 0 {
				of[i] = append(of[i], factor{int32(k), by})
			}
		}
	}
	return of
}

func (s *ruleScorer) sumBroken(k int32) bool {
	l := &s.r.Sums[k]
	return s.sums[k] < l.Min || s.sums[k] > l.Max
}

// addToSums notes that ingredient i has so many units more.
func (s *ruleScorer) addToSums(i int, units int64) {
	if units == 0 {
		return
	}
	for _, f := range s.r.sumsOf[i] {
		before := s.sumBroken(f.sum)
		s.sums[f.sum] += f.by * units
		s.badSums += broke(before, s.sumBroken(f.sum))
	}
}

// sumsHold returns the splits of (i, j), from least to most units to i, at which
// all sums are within their bounds; none if least > most.
func (s *ruleScorer) sumsHold(i, j int) (least, most int64) {
	all := int64(s.amounts[i] + s.amounts[j])
	least, most = 0, all
	bad := s.badSums // of those that neither counts in
	of, with := s.r.sumsOf[i], s.r.sumsOf[j]
	for len(of) > 0 || len(with) > 0 {
		var k int32
		var fi, fj int64
		switch {
		case len(with) == 0 || len(of) > 0 && of[0].sum < with[0].sum:
			k, fi, of = of[0].sum, of[0].by, of[1:]
		case len(of) == 0 || with[0].sum < of[0].sum:
			k, fj, with = with[0].sum, with[0].by, with[1:]
		default:
			k, fi, fj, of, with = of[0].sum, of[0].by, with[0].by, of[1:], with[1:]
		}
		if s.sumBroken(k) {
			bad--
		}
		l := &s.r.Sums[k]
		// At k = 0 the sum is rest, and each unit more adds slope.
		rest, slope := s.sums[k]-(fi-fj)*int64(s.amounts[i]), fi-fj
		switch {
		case slope == 0:
			if rest < l.Min || rest > l.Max {
				return 1, 0
			}
			continue
		case slope < 0:
			least = max(least, divideUp(subtract(rest, l.Max), -slope))
			most = min(most, divideDown(subtract(rest, l.Min), -slope))
		default:
			least = max(least, divideUp(subtract(l.Min, rest), slope))
			most = min(most, divideDown(subtract(l.Max, rest), slope))
		}
	}
	if bad > 0 {
		return 1, 0
	}
	return least, most
}
