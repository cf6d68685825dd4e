package diagnose

// rank sorts the draws unless they are already sorted.
func (s *sample) rank() {
	if !s.ranking.sorted {
		s.ranking.sort(s.flat)
	}
}

// normalScores returns the rank-normalised draws,
//
//	z = Φ⁻¹((r − 3/8) / (S + 1/4)),
//
// where r is the rank of a draw among all S draws of the split chains, and
// equal draws share the mean of their ranks (Vehtari et al. 2021, rank
// normalisation).
// The result is laid out as flat, with 0 for a middle draw that is in no half;
// it is valid until the next call.
func (s *sample) normalScores() []float64 {
	s.rank()
	return s.scoresOf(s.ranking.draws)
}

// foldedScores returns the normal scores of the folded draws |x − median|, in the order of s.flat. The median is
// that of all draws, including a middle draw, as in R's posterior; ArviZ leaves the middle draw out.
//
// Folding keeps the order on either side of the median. So the sorted draws are merged from the median outwards,
// without sorting again.
func (s *sample) foldedScores() []float64 {
	s.rank()
	r := &s.ranking
	median := r.median()
	r.folded = grow(r.folded, len(r.draws))[:0]
	high := 0
	for high < len(r.draws) && r.at(high) < median {
		high++
	}
	low := high - 1
	for low >= 0 || high < len(r.draws) {
		if high == len(r.draws) || low >= 0 && median-r.at(low) <= r.at(high)-median {
			r.folded = append(r.folded, rankedDraw{median - r.at(low), r.draws[low].index})
			low--
		} else {
			r.folded = append(r.folded, rankedDraw{r.at(high) - median, r.draws[high].index})
			high++
		}
	}
	return s.scoresOf(r.folded)
}

// scoresOf returns the normal scores of sorted numbers, in the order of s.flat.
func (s *sample) scoresOf(sorted []rankedDraw) []float64 {
	s.scores = grow(s.scores, len(s.flat))
	total := 2 * s.half * s.chains
	for i, before := 0, 0; i < len(sorted); {
		j, members := i, 0
		for ; j < len(sorted) && sorted[j].value == sorted[i].value; j++ {
			if !s.isMiddle(sorted[j].index) {
				members++
			}
		}
		z := normalScore(float64(before)+float64(float64(members+1)/2), total)
		for ; i < j; i++ {
			s.scores[sorted[i].index] = z
		}
		before += members
	}
	s.clearMiddle()
	return s.scores
}

// isMiddle reports whether the draw with this index in flat is the middle one of a chain of odd length, which is in
// neither half.
func (s *sample) isMiddle(place uint32) bool {
	return s.draws%2 == 1 && int(place)%s.draws == s.half
}

// clearMiddle sets the scores of the draws in neither half to 0.
func (s *sample) clearMiddle() {
	if s.draws%2 == 0 {
		return
	}
	for c := range s.chains {
		s.scores[c*s.draws+s.half] = 0
	}
}
