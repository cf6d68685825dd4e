package run

import (
	"kir/internal/number"
	"kir/mcmc"
)

// A Ladder holds the statistics of a tempered chain after warm-up, for each inverse temperature β,
// as in summary.json. [mcmc.LadderStatistics] holds the same numbers, without nulls.
type Ladder struct {
	Chain      int           `json:"chain"`
	Scans      int64         `json:"scans"`       // number of scans; in a scan the chains at all β move, and then neighbours may swap
	Restarts   int64         `json:"restarts"`    // number of times that a replica (one of the coupled chains, which swap their β) came from β = 0 to β = 1
	RoundTrips int64         `json:"round_trips"` // number of Restarts by replicas that had been at β = 1 before
	Barrier    number.Number `json:"barrier"`     // Λ, the sum of the rejection rates of the swaps between all neighbouring β
	LogZ       Estimate      `json:"log_z"`       // estimate of log Z, the log of the mean score over random compositions
	Rungs      []Rung        `json:"rungs"`       // statistics for each β, from β = 0 to β = 1

	Learnt *Leg `json:"learnt,omitempty"` // second ladder, from the distribution that warm-up has learnt to β = 1; nil if there is none
}

// A Leg is the second part of a [Ladder]. It leads to the target at β = 1 from the distribution
// that the warm-up has learnt, while the first part leads there from random compositions.
type Leg struct {
	Steps      int           `json:"steps"`       // number of pairs of neighbouring inverse temperatures
	Restarts   int64         `json:"restarts"`    // number of times that a replica (one of the coupled chains, which swap their β) came from the learnt distribution to β = 1
	RoundTrips int64         `json:"round_trips"` // number of Restarts by replicas that had been at β = 1 before
	Rejected   number.Number `json:"rejected"`    // largest rejection rate of the swaps between two neighbours
	Barrier    number.Number `json:"barrier"`     // sum of the rejection rates of the swaps between all neighbours
	LogZ       Estimate      `json:"log_z"`       // estimate of log Z, the log of the mean score over random compositions
}

// A Rung holds the statistics of a tempered chain at one inverse temperature β of its [Ladder].
type Rung struct {
	Beta         number.Number `json:"beta"`
	Rejected     number.Number `json:"rejected"`       // share of the swaps with the next larger β that were rejected; null at β = 1
	Barrier      number.Number `json:"barrier"`        // Λ(β), the sum of the rejection rates of the swaps between all neighbours up to this β
	MeanLogScore number.Number `json:"mean_log_score"` // mean of the log score over the scans in which the score at this β is not 0
	Forbidden    number.Number `json:"forbidden"`      // share of the scans in which the score at this β is 0
}

// An Estimate is an estimated number with its standard error.
type Estimate struct {
	Value number.Number `json:"value"`
	SE    number.Number `json:"se"` // standard error of Value
}

// Steps returns the number of pairs of neighbouring inverse temperatures of the ladder.
func (l Ladder) Steps() int { return len(l.Rungs) - 1 }

// WorstStep returns the index k for which swaps between the inverse temperatures k and k+1 are
// rejected most often.
func (l Ladder) WorstStep() int {
	worst := 0
	for k := range l.Steps() {
		if l.Rungs[k].Rejected > l.Rungs[worst].Rejected {
			worst = k
		}
	}
	return worst
}

// MostRejected returns the largest rejection rate of the swaps between two neighbouring inverse
// temperatures. The rate is unknown for a ladder with a single inverse temperature.
func (l Ladder) MostRejected() number.Number { return l.Rungs[l.WorstStep()].Rejected }

// setLadders sets the ladders of a tempered run and log Z, the log of the mean score over random
// compositions of the sparsity law. Runs of other kernels have no ladders and no log Z.
func (r *Result) setLadders() {
	r.Ladders = []Ladder{}
	var pooled []*mcmc.LadderStatistics
	for chain, c := range r.Chains {
		if c.Ladder == nil {
			continue
		}
		pooled = append(pooled, c.Ladder)
		l := Ladder{
			Chain: chain, Scans: c.Ladder.Scans, Restarts: c.Ladder.Restarts, RoundTrips: c.Ladder.RoundTrips, Barrier: number.Number(c.Ladder.Barrier),
			LogZ: toEstimate(c.Ladder.LogZ, c.Ladder.LogZError),
		}
		for k, g := range c.Ladder.Rungs {
			rung := Rung{number.Number(g.Beta), number.Number(g.Rejected), number.Number(g.Barrier), number.Number(g.MeanLogScore), number.Number(g.Forbidden)}
			if k == len(c.Ladder.Rungs)-1 {
				rung.Rejected = number.Unknown() // it has no next
			}
			l.Rungs = append(l.Rungs, rung)
		}
		if leg := c.Ladder.Learnt; leg != nil {
			l.Learnt = &Leg{
				Steps: len(leg.Rungs) - 1, Restarts: leg.Restarts, RoundTrips: leg.RoundTrips, Barrier: number.Number(leg.Barrier),
				LogZ: toEstimate(leg.LogZ, leg.LogZError),
			}
			for _, g := range leg.Rungs {
				l.Learnt.Rejected = max(l.Learnt.Rejected, number.Number(g.Rejected))
			}
		}
		r.Ladders = append(r.Ladders, l)
	}
	if len(pooled) > 0 {
		z := toEstimate(mcmc.MeanLogZ(pooled...))
		r.LogZ = &z
	}
}

func toEstimate(value, se float64) Estimate {
	return Estimate{number.Number(value), number.Number(se)}
}
