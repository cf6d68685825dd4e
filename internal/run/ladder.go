package run

import (
	"kir/internal/number"
	"kir/mcmc"
)

// A Ladder holds the statistics of a tempered chain after warm-up, by inverse temperature β, as in
// summary.json. [mcmc.LadderStatistics] holds the same data without nulls.
type Ladder struct {
	Chain      int           `json:"chain"`
	Scans      int64         `json:"scans"`
	Restarts   int64         `json:"restarts"`    // number of replicas that went from β = 0 to β = 1
	RoundTrips int64         `json:"round_trips"` // number of replicas that went from β = 0 to β = 1 after they had been at β = 1 before
	Barrier    number.Number `json:"barrier"`     // Λ, the sum of the rejection rates of all steps
	LogZ       Estimate      `json:"log_z"`
	Rungs      []Rung        `json:"rungs"` // one entry for each β, from β = 0 to β = 1

	Learnt *Leg `json:"learnt,omitempty"` // second part of the ladder, from the law that warm-up has learnt to β = 1; nil if there is none
}

// A Leg is the second part of a ladder. This part leads from the law that the warm-up has learnt to
// β = 1.
type Leg struct {
	Steps      int           `json:"steps"`
	Restarts   int64         `json:"restarts"`
	RoundTrips int64         `json:"round_trips"`
	Rejected   number.Number `json:"rejected"` // rejection rate of the step whose swaps are rejected most often
	Barrier    number.Number `json:"barrier"`
	LogZ       Estimate      `json:"log_z"`
}

// A Rung is one inverse temperature β of a ladder.
type Rung struct {
	Beta         number.Number `json:"beta"`
	Rejected     number.Number `json:"rejected"`       // rejected share of the swaps with the next rung; null at β = 1
	Barrier      number.Number `json:"barrier"`        // Λ(β), the sum of the rejection rates of all steps below this rung
	MeanLogScore number.Number `json:"mean_log_score"` // mean of the log score over the scans where the score is not 0
	Forbidden    number.Number `json:"forbidden"`      // share of the scans where the score is 0
}

// An Estimate is an estimated number with its standard error.
type Estimate struct {
	Value number.Number `json:"value"`
	SE    number.Number `json:"se"`
}

// Steps returns the number of steps of a ladder. A step is a pair of neighbouring rungs.
func (l Ladder) Steps() int { return len(l.Rungs) - 1 }

// WorstStep returns the index of the step whose swaps are rejected most often.
func (l Ladder) WorstStep() int {
	worst := 0
	for k := range l.Steps() {
		if l.Rungs[k].Rejected > l.Rungs[worst].Rejected {
			worst = k
		}
	}
	return worst
}

// MostRejected returns the largest rejection rate of a step; unknown for a ladder without steps.
func (l Ladder) MostRejected() number.Number { return l.Rungs[l.WorstStep()].Rejected }

// setLadders sets the ladders of a tempered run and its log Z: the log of the mean score over
// random compositions of the sparsity law. Runs of other kernels have no ladders and no log Z.
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
