// Package paper asks what the columns of the paper are whose figures are not those of the
// samplers that it describes: its naive column is that of units thrown into ingredients
// without the Hastings correction ([Multinomial]), and its gibbs column fits no reading of
// the updated rate that we know ([readings]).
package paper

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/paper"
	"kir/internal/portable"
	"kir/mcmc"
)

// Multinomial proposes a composition made by throwing the M units, one by one,
// into the N ingredients:
//
//	q(x) = M! / (Π_i x_i!) · N^−M.
//
// That is not uniform on the compositions: one whose units are spread over
// many ingredients comes up far more often. The zero value says so in the
// ratio that it returns, log q(x) − log q(y), and leads to the target.
//
// Uncorrected leaves the ratio out, as if the draw were uniform. The chain then
// follows another law, see [UncorrectedLaw]. The paper's naive sampler behaves like it.
type Multinomial struct {
	Uncorrected bool
}

var _ mcmc.Proposal = Multinomial{}

// Propose throws every unit of x anew. Where the units of x lie does not
// matter to where those of y come to lie.
func (m Multinomial) Propose(r *mcmc.Rand, x, y *mcmc.Composition) (logRatio float64, err error) {
	for _, i := range x.Ingredients() {
		for range x.Amount(int(i)) {
			j := r.Intn(x.N())
			if j == int(i) {
				continue
			}
			if err := y.Move(int(i), j, y.Amount(int(i))-1); err != nil {
				return 0, err
			}
		}
	}
	if m.Uncorrected {
		return 0, nil
	}
	return logFactorials(y) - logFactorials(x), nil
}

// logFactorials returns log Π_i x_i!.
func logFactorials(x *mcmc.Composition) float64 {
	sum := 0.0
	for _, i := range x.Ingredients() {
		if a := x.Amount(int(i)); a > 1 {
			sum += logFactorial(a)
		}
	}
	return sum
}

func logFactorial(n int) float64 { return portable.LogGamma(float64(n) + 1) }

// Limits of the closed forms below, whose time and memory grow with the total.
const (
	mostUnits  = 512  // M³ steps
	mostShapes = 6000 // steps with their square; there are 5,604 for 30 units
)

// errTooLong is returned where a closed form would take too long.
var errTooLong = errors.New("the closed form is out of reach")

func checkUnits(total int) error {
	if total > mostUnits {
		return fmt.Errorf("%w: a total of %d is more than %d", errTooLong, total, mostUnits)
	}
	return nil
}

// occupancy returns log P(n) at index n: the probability that M balls thrown
// into N bins occupy exactly n.
//
// It throws one ball after the other, P_m(n) = P_{m−1}(n)·n/N +
// P_{m−1}(n−1)·(N−n+1)/N, on logs, since P spans hundreds of decades.
func occupancy(bins, balls int) []float64 {
	most := min(bins, balls)
	log := make([]float64, most+1)
	for n := range log {
		log[n] = math.Inf(-1)
	}
	log[0] = 0
	f := float64(bins)
	for m := 1; m <= balls; m++ {
		for n := min(m, most); n >= 1; n-- {
			stay := log[n] + portable.Log(float64(n)/f)
			enter := log[n-1] + portable.Log((f-float64(n)+1)/f)
			log[n] = logAdd(stay, enter)
		}
		log[0] = math.Inf(-1)
	}
	return log
}

// logAdd returns log(exp a + exp b).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + portable.Log1p(portable.Exp(b-a))
}

// logSum returns log Σ exp v.
func logSum(v []float64) float64 {
	sum := math.Inf(-1)
	for _, x := range v {
		sum = logAdd(sum, x)
	}
	return sum
}

// UncorrectedLaw returns the law of n that the uncorrected [Multinomial]
// follows instead of y(n), with the probability of n at index n.
//
// Its chain is Metropolis–Hastings for π(x)·q(x), with q taken as the ratio
// that it forgot. As q sums to P(n) over X_n, the probability that M balls
// occupy n of N bins, the law is ∝ y(n)·P(n)/|X_n|.
func UncorrectedLaw(t *mcmc.Target) ([]float64, error) {
	logs, _, err := uncorrectedLogs(t)
	if err != nil {
		return nil, err
	}
	all := logSum(logs)
	for n := range logs {
		logs[n] = portable.Exp(logs[n] - all)
	}
	return logs, nil
}

// uncorrectedLogs returns the log of what UncorrectedLaw is in proportion to,
// and log P(n).
func uncorrectedLogs(t *mcmc.Target) (law, occupied []float64, err error) {
	if err := checkUnits(t.Space().Total()); err != nil {
		return nil, nil, err
	}
	occupied = occupancy(t.Space().N(), t.Space().Total())
	law = make([]float64, len(occupied))
	for n := range law {
		law[n] = t.LogLaw(n) + occupied[n]
	}
	return law, occupied, nil
}

// uncorrectedRates are those of the uncorrected multinomial proposal, under
// the law that its chain follows. Whether a candidate is accepted depends on n
// and on the candidate's m alone, min(1, w(m)/w(n)) with w = y/|X|.
//
// It equals the state with probability Σ_x w(n)·q(x)² / Σ_x w(n)·q(x), where
//
//	Σ_{x∈X_n} q(x)² = C(N, n)·(M!/N^M)²·[t^M] (Σ_{k≥1} t^k/k!²)^n.
func uncorrectedRates(t *mcmc.Target) (paper.Rates, error) {
	law, occupied, err := uncorrectedLogs(t)
	if err != nil {
		return paper.Rates{}, err
	}
	all := logSum(law)
	accepted := 0.0
	for n := range law {
		if math.IsInf(law[n], -1) {
			continue
		}
		for m := range law {
			if math.IsInf(law[m], -1) {
				continue
			}
			accepted += portable.Exp(law[n] - all + occupied[m] + min(0, t.LogLaw(m)-t.LogLaw(n)))
		}
	}
	same := make([]float64, len(law))
	for n, q := range repeats(t.Space()) {
		same[n] = t.LogLaw(n) + q
	}
	return paper.Rates{Accepted: accepted, Updated: max(0, accepted-portable.Exp(logSum(same)-all))}, nil
}

// repeats returns log Σ_{x∈X_n} q(x)² at index n: the probability that two
// multinomial draws are equal and use n ingredients.
func repeats(s *mcmc.Space) []float64 {
	total, most := s.Total(), s.MaxUsed()
	logs := make([]float64, most+1)
	logs[0] = math.Inf(-1)
	one := make([]float64, total+1) // log 1/k!²
	for k := range one {
		one[k] = float64(-2 * logFactorial(k))
	}
	scale := float64(2 * (logFactorial(total) - float64(float64(total)*portable.Log(float64(s.N())))))
	power := slices.Repeat([]float64{math.Inf(-1)}, total+1) // of the series, by degree
	power[0] = 0
	next := make([]float64, total+1)
	choose := 0.0 // log C(N, n)
	for n := 1; n <= most; n++ {
		for m := range next {
			next[m] = math.Inf(-1)
			for k := 1; k <= m; k++ {
				next[m] = logAdd(next[m], one[k]+power[m-k])
			}
		}
		power, next = next, power
		choose += portable.Log(float64(s.N()-n+1) / float64(n))
		logs[n] = choose + scale + power[total]
	}
	return logs
}

// multinomialRates are those of the corrected multinomial proposal: with the
// target π,
//
//	accepted = Σ_x Σ_y min(π(x)·q(y), π(y)·q(x)),
//
// of which Σ_x π(x)·q(x) leave the state as it is. Both depend on the amounts
// alone and not on which ingredients have them, so the sums run over the
// partitions of M.
func multinomialRates(t *mcmc.Target) (paper.Rates, error) {
	total := t.Space().Total()
	if err := checkUnits(total); err != nil {
		return paper.Rates{}, err
	}
	type shape struct{ pi, q, count float64 }
	var shapes []shape
	scale := logFactorial(total) - float64(float64(total)*portable.Log(float64(t.Space().N())))
	ok := partitions(total, t.Space().MaxUsed(), func(parts []int) bool {
		logLaw := t.LogLaw(len(parts))
		if math.IsInf(logLaw, -1) {
			return true
		}
		log := scale
		count := logFactorial(t.Space().N()) - logFactorial(t.Space().N()-len(parts))
		for k, run := 0, 1; k < len(parts); k++ {
			log -= logFactorial(parts[k])
			if k+1 < len(parts) && parts[k+1] == parts[k] {
				run++
				continue
			}
			count -= logFactorial(run)
			run = 1
		}
		shapes = append(shapes, shape{portable.Exp(logLaw + count), portable.Exp(log + count), portable.Exp(count)})
		return len(shapes) <= mostShapes
	})
	if !ok {
		return paper.Rates{}, fmt.Errorf("%w: a total of %d has more than %d partitions", errTooLong, total, mostShapes)
	}
	var r paper.Rates
	for _, a := range shapes {
		for _, b := range shapes {
			r.Accepted += min(a.pi*b.q, b.pi*a.q)
		}
		r.Updated -= a.pi * a.q / a.count
	}
	r.Updated = max(0, r.Updated+r.Accepted)
	return r, nil
}

// partitions hands every partition of total into at most that many parts to
// visit, largest part first, in memory that is reused, until visit returns
// false. It reports whether visit never did.
func partitions(total, most int, visit func(parts []int) bool) bool {
	var parts []int
	var place func(left, largest int) bool
	place = func(left, largest int) bool {
		if left == 0 {
			return visit(parts)
		}
		if len(parts) == most {
			return true
		}
		for k := min(left, largest); k*(most-len(parts)) >= left; k-- {
			parts = append(parts, k)
			ok := place(left-k, k)
			parts = parts[:len(parts)-1]
			if !ok {
				return false
			}
		}
		return true
	}
	return place(total, total)
}
