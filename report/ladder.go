package report

import (
	"fmt"
	"math"

	"kir"
	"kir/run"
)

// A Ladder is what a tempered chain did after warm-up, see [kir.Ladder].
type Ladder struct {
	Chain      int      `json:"chain"`
	Scans      int64    `json:"scans"`
	Restarts   int64    `json:"restarts"`    // replicas that came from β = 0 to β = 1
	RoundTrips int64    `json:"round_trips"` // of these, those that had been at β = 1 before
	Barrier    Number   `json:"barrier"`     // Λ, the sum of the rejection rates
	LogZ       Estimate `json:"log_z"`
	Rungs      []Rung   `json:"rungs"` // from β = 0 to β = 1
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

// laddersOf returns the ladders of a tempered run and its log Z: the log of the
// mean score over random compositions of the sparsity law. Of other kernels
// there are none, and no log Z.
func laddersOf(r *run.Result) ([]Ladder, *Estimate) {
	ladders := []Ladder{}
	var pooled []*kir.Ladder
	for chain, c := range r.Chains {
		if c.Ladder == nil {
			continue
		}
		pooled = append(pooled, c.Ladder)
		l := Ladder{
			Chain: chain, Scans: c.Ladder.Scans, Restarts: c.Ladder.Restarts, RoundTrips: c.Ladder.RoundTrips, Barrier: Number(c.Ladder.Barrier),
			LogZ: Estimate{Number(c.Ladder.LogZ), Number(c.Ladder.LogZError)},
		}
		for k, g := range c.Ladder.Rungs {
			rung := Rung{Number(g.Beta), Number(g.Rejected), Number(g.Barrier), Number(g.MeanLogScore), Number(g.Forbidden)}
			if k == len(c.Ladder.Rungs)-1 {
				rung.Rejected = Number(math.NaN()) // it has no next
			}
			l.Rungs = append(l.Rungs, rung)
		}
		ladders = append(ladders, l)
	}
	if len(pooled) == 0 {
		return ladders, nil
	}
	value, se := kir.PoolLogZ(pooled...)
	return ladders, &Estimate{Number(value), Number(se)}
}

// Steps returns how many pairs of neighbours a ladder has.
func (l Ladder) Steps() int { return len(l.Rungs) - 1 }

// worstStep returns the step whose swaps are rejected most often.
func (l Ladder) worstStep() int {
	worst := 0
	for k := range l.Steps() {
		if l.Rungs[k].Rejected > l.Rungs[worst].Rejected {
			worst = k
		}
	}
	return worst
}

// mostRejected returns the largest share of rejected swaps, unknown for a ladder
// without steps.
func (l Ladder) mostRejected() Number { return l.Rungs[l.worstStep()].Rejected }

// placedRung is a rung with its place in the ladder.
type placedRung struct {
	Rung
	Place int
}

// WorstRung returns the rung whose swaps with the next are rejected most often.
func (l Ladder) WorstRung() placedRung {
	k := l.worstStep()
	return placedRung{l.Rungs[k], k}
}

// worstLadder returns the ladder with the fewest round trips, and of several the
// first; nil if there is none.
func (m *Model) worstLadder() *Ladder {
	var worst *Ladder
	for k := range m.Ladders {
		if l := &m.Ladders[k]; worst == nil || l.RoundTrips < worst.RoundTrips {
			worst = l
		}
	}
	return worst
}

// largestRejected is the share of rejected swaps above which a step hardly lets
// anything through.
const largestRejected = 0.95

// ladderWarnings says what in the ladders calls for care, and what to do.
func ladderWarnings(ladders []Ladder) []string {
	var warnings []string
	add := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }

	shut, unknown := 0, 0
	var first, blocked, blind *Ladder
	for k := range ladders {
		l := &ladders[k]
		if l.Steps() > 0 && l.RoundTrips == 0 {
			if shut++; first == nil {
				first = l
			}
		}
		if l.Steps() > 0 && l.mostRejected() > largestRejected && (blocked == nil || l.mostRejected() > blocked.mostRejected()) {
			blocked = l
		}
		if !l.LogZ.SE.Known() {
			if unknown++; blind == nil {
				blind = l
			}
		}
	}
	if first != nil {
		subject := fmt.Sprintf("Chain %d made no round trip between β = 1 and β = 0", first.Chain)
		if shut > 1 {
			subject = fmt.Sprintf("%d of %d chains made no round trip between β = 1 and β = 0", shut, len(ladders))
		}
		add("%s in %s scans: good regions that are far apart may not have met. Take ten times the warm-up and the draws, or lower the weights of the properties.", subject, thousands(int(first.Scans)))
	}
	if blocked != nil {
		k := blocked.worstStep()
		from, to := blocked.Rungs[k], blocked.Rungs[k+1]
		// Those that score 0 are rejected whatever the spacing.
		if spacing := (from.Rejected - from.Forbidden) / (1 - from.Forbidden); !(spacing > largestRejected) {
			add("Of the random compositions at β = 0, %s score 0, so that little comes from there (chain %d). Give the properties a floor, or add rules that keep to what is allowed.", percent(float64(from.Forbidden)), blocked.Chain)
		} else {
			add("Swaps between β = %s and %s are rejected %s of the time (chain %d): hardly anything passes there. Take a longer warm-up, which spaces the ladder, or lower the weights of the properties.",
				short(float64(from.Beta)), short(float64(to.Beta)), percent(float64(from.Rejected)), blocked.Chain)
		}
	}
	if lo, hi, apart := disagreement(ladders); apart {
		add("The chains disagree on log Z, from %s to %s: some have not seen all good regions. Take ten times the warm-up and the draws.",
			decimals(float64(lo.LogZ.Value), 2), decimals(float64(hi.LogZ.Value), 2))
	}
	if blind != nil {
		subject := fmt.Sprintf("of chain %d", blind.Chain)
		if unknown > 1 {
			subject = fmt.Sprintf("of %d of %d chains", unknown, len(ladders))
		}
		add("The standard error of log Z %s cannot be told from %s scans. Take more draws.", subject, thousands(int(blind.Scans)))
	}
	return warnings
}

// judged is a verdict in the light of the ladders: chains that have not been to
// and fro may agree on what they all have missed.
func judged(verdict string, grade Grade, ladders []Ladder) (string, Grade) {
	shut := 0
	for _, l := range ladders {
		if l.Steps() > 0 && l.RoundTrips == 0 {
			shut++
		}
	}
	_, _, apart := disagreement(ladders)
	switch {
	case apart && grade != Unsound:
		return "Do not rely on this run yet: the chains disagree on log Z. " + verdict, Unsound
	case shut > 0 && grade == Sound:
		return fmt.Sprintf("This run is short: %d of %s made no round trip between random compositions and the target. %s", shut, counted(len(ladders), "chain"), verdict), Short
	}
	return verdict, grade
}

// disagreement returns the ladders with the smallest and the largest log Z, and
// says whether the mean over the ladders varies by more than 4 times what their
// own errors amount to: of 2 chains by chance once in 16,000, of more less often.
func disagreement(ladders []Ladder) (lo, hi *Ladder, apart bool) {
	mean, within, between := 0.0, 0.0, 0.0
	for k := range ladders {
		l := &ladders[k]
		mean += float64(l.LogZ.Value) / float64(len(ladders))
		within += float64(l.LogZ.SE * l.LogZ.SE)
		if lo == nil || l.LogZ.Value < lo.LogZ.Value {
			lo = l
		}
		if hi == nil || l.LogZ.Value > hi.LogZ.Value {
			hi = l
		}
	}
	for _, l := range ladders {
		between += (float64(l.LogZ.Value) - mean) * (float64(l.LogZ.Value) - mean) / float64(len(ladders)-1)
	}
	return lo, hi, len(ladders) > 1 && between > 16*within/float64(len(ladders))
}

// iterations is what the kernel's iterations are called.
func (m *Model) iterations() string {
	if len(m.Ladders) > 0 {
		return "scans"
	}
	return "iterations"
}

// Iterations is what the kernel's iterations are called.
func (v *pageView) Iterations() string { return v.iterations() }

// ShownLadders returns the ladders whose rungs the page lists.
func (v *pageView) ShownLadders() []Ladder { return v.Ladders[:min(len(v.Ladders), shownChains)] }

// textRungs is how many rungs of a ladder the text lists.
const textRungs = 41

// writeLadders prints what says how well tempering works.
func (m *Model) writeLadders(p *printer, style TextStyle) {
	worst := m.worstLadder()
	if worst == nil {
		return
	}
	p.heading("%s", style.bold("Tempering: from random compositions (β = 0) to the target (β = 1) and back"))
	t := NewTable("chain", "steps", "restarts", "round trips", "rejected", "Λ", "log Z", "±")
	t.AlignRight(0, 1, 2, 3, 4, 5, 6, 7)
	for _, l := range m.Ladders[:min(len(m.Ladders), textLadders)] {
		t.Row(l.Chain, l.Steps(), thousands(int(l.Restarts)), thousands(int(l.RoundTrips)), rate(l.mostRejected()),
			decimals(float64(l.Barrier), 2), decimals(float64(l.LogZ.Value), 3), errorText(float64(l.LogZ.SE)))
	}
	p.table(t)
	if more := len(m.Ladders) - textLadders; more > 0 {
		p.line("%s more: see --json", thousands(more))
	}
	p.wrapped(0, fmt.Sprintf("In %s scans a chain. Rejected: swaps of the step that rejects most; Λ: the sum over the steps. Restarts: replicas that came from β = 0 to β = 1; round trips: those that had been there before. log Z, the log of the mean score over random compositions, is %s ± %s from all chains.",
		thousands(int(worst.Scans)), decimals(float64(m.LogZ.Value), 3), errorText(float64(m.LogZ.SE))))
	if worst.Steps() == 0 {
		p.wrapped(0, "Nothing is wished for, so that all β are alike and the ladder has one rung.")
		return
	}
	p.line("")
	p.wrapped(0, fmt.Sprintf("The ladder of chain %d, which made the fewest round trips. Rejected: swaps with the next β; Λ(β): their sum so far; forbidden: scans where the score is 0.", worst.Chain))
	rungs := NewTable("β", "rejected", "Λ(β)", "mean log score", "forbidden")
	rungs.AlignRight(0, 1, 2, 3, 4)
	for k, g := range worst.Rungs {
		if k == textRungs && len(worst.Rungs) > textRungs+1 {
			p.table(rungs)
			p.line("%s more: see --json", thousands(len(worst.Rungs)-k))
			return
		}
		rejected := ""
		if g.Rejected.Known() {
			rejected = rate(g.Rejected)
		}
		rungs.Row(short(float64(g.Beta)), rejected, decimals(float64(g.Barrier), 2), short(float64(g.MeanLogScore)), rate(g.Forbidden))
	}
	p.table(rungs)
}

// textLadders is how many ladders the text has a line of.
const textLadders = 16
