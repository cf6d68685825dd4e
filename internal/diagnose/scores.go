package diagnose

// sortDraws sorts the draws unless the draws are already sorted.
func (s *sample) sortDraws() {
	if !s.ranking.isSorted {
		s.ranking.sort(s.allDraws)
	}
}

// normalScores returns the rank-normalised draws,
//
//	z = Φ⁻¹((r − 3/8) / (S + 1/4)),
//
// where r is the rank of a draw among all S draws of the split chains. Equal draws share the mean of their ranks
// (Vehtari et al. 2021, rank normalisation). The result is in the order of s.allDraws, with 0 for a middle draw
// that is in neither half of its chain. The result is valid until the next call.
func (s *sample) normalScores() []float64 {
	s.sortDraws()
	return s.scoresOf(s.ranking.draws)
}

// foldedScores returns the normal scores (see [normalScore]) of the folded draws |x − median|, in the order of
// s.allDraws. The median is the median of all draws, including a middle draw that is in neither half of its
// chain, as in the R package posterior; ArviZ leaves such draws out.
//
// Folding keeps the order of the draws on either side of the median. So the sorted draws are merged from the
// median outwards, without sorting again.
func (s *sample) foldedScores() []float64 {
	s.sortDraws()
	r := &s.ranking
	median := r.median()
	r.foldedDraws = resize(r.foldedDraws, len(r.draws))[:0]
	high := 0
	for high < len(r.draws) && r.at(high) < median {
		high++
	}
	low := high - 1
	for low >= 0 || high < len(r.draws) {
		if high == len(r.draws) || low >= 0 && median-r.at(low) <= r.at(high)-median {
			r.foldedDraws = append(r.foldedDraws, rankedDraw{median - r.at(low), r.draws[low].drawIndex})
			low--
		} else {
			r.foldedDraws = append(r.foldedDraws, rankedDraw{r.at(high) - median, r.draws[high].drawIndex})
			high++
		}
	}
	return s.scoresOf(r.foldedDraws)
}

// scoresOf returns the normal scores (see [normalScore]) of the numbers in sorted, in the order of s.allDraws.
func (s *sample) scoresOf(sorted []rankedDraw) []float64 {
	s.scores = resize(s.scores, len(s.allDraws))
	total := 2 * s.halfLength * s.chainCount
	for i, before := 0, 0; i < len(sorted); {
		j, members := i, 0
		for ; j < len(sorted) && sorted[j].value == sorted[i].value; j++ {
			if !s.isMiddleDraw(sorted[j].drawIndex) {
				members++
			}
		}
		z := normalScore(float64(before)+float64(float64(members+1)/2), total)
		for ; i < j; i++ {
			s.scores[sorted[i].drawIndex] = z
		}
		before += members
	}
	s.clearMiddleScores()
	return s.scores
}

// isMiddleDraw reports whether the draw with the given index in allDraws is the middle draw of a chain of odd
// length. A middle draw is in neither half.
func (s *sample) isMiddleDraw(place uint32) bool {
	return s.drawsPerChain%2 == 1 && int(place)%s.drawsPerChain == s.halfLength
}

// clearMiddleScores sets to 0 the scores of the middle draws of chains of odd length, which are in neither half.
func (s *sample) clearMiddleScores() {
	if s.drawsPerChain%2 == 0 {
		return
	}
	for c := range s.chainCount {
		s.scores[c*s.drawsPerChain+s.halfLength] = 0
	}
}
