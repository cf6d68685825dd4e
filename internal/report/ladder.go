package report

// A Ladder is what a tempered chain did after warm-up, see [mcmc.Ladder].
type Ladder struct {
	Chain      int      `json:"chain"`
	Scans      int64    `json:"scans"`
	Restarts   int64    `json:"restarts"`    // replicas that came from β = 0 to β = 1
	RoundTrips int64    `json:"round_trips"` // of these, those that had been at β = 1 before
	Barrier    Number   `json:"barrier"`     // Λ, the sum of the rejection rates
	LogZ       Estimate `json:"log_z"`
	Rungs      []Rung   `json:"rungs"` // from β = 0 to β = 1

	Learnt *Leg `json:"learnt,omitempty"` // the second leg, where there is one
}

// A Leg is what leads to β = 1 from the law that warm-up has learnt, told as a ladder is.
type Leg struct {
	Steps      int      `json:"steps"`
	Restarts   int64    `json:"restarts"`
	RoundTrips int64    `json:"round_trips"`
	Rejected   Number   `json:"rejected"` // swaps of the step that rejects most
	Barrier    Number   `json:"barrier"`
	LogZ       Estimate `json:"log_z"`
}

// A Rung is one β of a ladder.
type Rung struct {
	Beta         Number `json:"beta"`
	Rejected     Number `json:"rejected"`       // share of the swaps with the next rung; null at β = 1
	Barrier      Number `json:"barrier"`        // Λ(β), the sum of these shares below
	MeanLogScore Number `json:"mean_log_score"` // where the score is not 0
	Forbidden    Number `json:"forbidden"`      // share of the scans where the score is 0
}

// An Estimate is a figure and its standard error.
type Estimate struct {
	Value Number `json:"value"`
	SE    Number `json:"se"`
}

// Steps returns how many pairs of neighbours a ladder has.
func (l Ladder) Steps() int { return len(l.Rungs) - 1 }

// WorstStep returns the step whose swaps are rejected most often.
func (l Ladder) WorstStep() int {
	worst := 0
	for k := range l.Steps() {
		if l.Rungs[k].Rejected > l.Rungs[worst].Rejected {
			worst = k
		}
	}
	return worst
}

// MostRejected returns the largest share of rejected swaps, unknown for a ladder
// without steps.
func (l Ladder) MostRejected() Number { return l.Rungs[l.WorstStep()].Rejected }
