package stattest

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// TestLaw tests whether independent draws follow a law: counts[k] of them came
// out as k, which has probability law[k]. It returns a p-value, and what it
// was for.
//
// Each outcome, and each "at most k", is held against its binomial law,
// exactly; the smallest of those p-values is multiplied by their number
// (Bonferroni). No approximation for large counts is made, so the probability
// that the p-value is below a is at most a, however small a is.
func TestLaw(counts []int, law []float64) (p float64, at string) {
	total := 0
	for _, c := range counts {
		total += c
	}
	all := bonferroni{p: 1}
	cum, share := 0, 0.0
	for k, c := range counts {
		all.addTest(binomialTail(c, total, law[k]), "= ", k)
		cum += c
		share += law[k]
		if k > 0 && k < len(counts)-1 {
			all.addTest(binomialTail(cum, total, min(share, 1)), "≤ ", k)
		}
	}
	return all.result()
}

// TestSameLaw tests whether two samples of independent draws have the same law. It
// returns a p-value, and what it was for.
//
// Each value, and each "at most v", splits both samples in two; Fisher's exact
// test compares the shares. The smallest p-value is multiplied by their number
// (Bonferroni). Which values there are is the same whichever sample a draw
// belongs to, so as with [TestLaw] the rate of false alarms is exact.
func TestSameLaw(a, b []int) (p float64, at string) {
	values := slices.Concat(a, b)
	slices.Sort(values)
	values = slices.Compact(values)
	countA, countB := tally(a), tally(b)
	all := bonferroni{p: 1}
	cumA, cumB := 0, 0
	for k, v := range values {
		all.addTest(Fisher(countA[v], len(a), countB[v], len(b)), "= ", v)
		cumA += countA[v]
		cumB += countB[v]
		if k > 0 && k < len(values)-1 {
			all.addTest(Fisher(cumA, len(a), cumB, len(b)), "≤ ", v)
		}
	}
	return all.result()
}

func tally(sample []int) map[int]int {
	counts := make(map[int]int)
	for _, v := range sample {
		counts[v]++
	}
	return counts
}

// bonferroni keeps the smallest of several p-values.
type bonferroni struct {
	p     float64
	tests int
	at    string
}

func (b *bonferroni) addTest(p float64, relation string, v int) {
	b.tests++
	if p < b.p {
		b.p, b.at = p, fmt.Sprintf("%s%d", relation, v)
	}
}

func (b *bonferroni) result() (float64, string) {
	return min(1, b.p*float64(max(b.tests, 1))), b.at
}

// binomialTail returns twice the smaller tail of the binomial law at c of n.
func binomialTail(c, n int, share float64) float64 {
	switch {
	case share <= 0 && c == 0, share >= 1 && c == n:
		return 1
	case share <= 0 || share >= 1:
		return 0
	}
	below := binomialCDF(c, n, share)
	above := 1.0
	if c > 0 {
		// The upper tail by the lower tail of the failures: 1 − CDF would
		// lose what is far out.
		above = binomialCDF(n-c, n, 1-share)
	}
	return min(1, 2*min(below, above))
}

// binomialCDF is the probability of at most c of n, for a share in (0, 1).
func binomialCDF(c, n int, share float64) float64 {
	if c >= n {
		return 1
	}
	return mathext.RegIncBeta(float64(n-c), float64(c+1), 1-share)
}

// Fisher returns the p-value of Fisher's exact test that a of n and b of m are
// trials of the same probability: twice the smaller tail of the hypergeometric
// law of a.
func Fisher(a, n, b, m int) float64 {
	k := a + b
	lo, hi := max(0, k-m), min(k, n)
	at := func(a int) float64 {
		return math.Exp(logChoose(n, a) + logChoose(m, k-a) - logChoose(n+m, k))
	}
	sum := func(from, to, step int) float64 {
		term, sum := at(from), 0.0
		for c := from; ; c += step {
			sum += term
			if c == to || term < sum*1e-17 {
				return sum
			}
			if step < 0 { // P(c−1)/P(c)
				term *= float64(c) / float64(k-c+1) * float64(m-k+c) / float64(n-c+1)
			} else { // P(c+1)/P(c)
				term *= float64(k-c) / float64(c+1) * float64(n-c) / float64(m-k+c+1)
			}
		}
	}
	return min(1, 2*min(sum(a, lo, -1), sum(a, hi, 1)))
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
