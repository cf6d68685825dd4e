package report

import (
	"cmp"
	"slices"

	"kir/internal/run"
)

// HasWeights reports whether a property counts.
func (m *Model) HasWeights() bool {
	return slices.ContainsFunc(m.Properties, func(w Property) bool { return w.Weight > 0 })
}

// NeedsScoreOfEach reports whether the scores of the properties say more than the score:
// that of one property of weight 1 is the score.
func (m *Model) NeedsScoreOfEach() bool {
	return len(m.Properties) > 1 || len(m.Properties) == 1 && m.Properties[0].Weight != 1
}

// OtherWarnings are those that are not about the answer.
func (m *Model) OtherWarnings() []string {
	if m.Answer == nil {
		return m.Warnings
	}
	return slices.DeleteFunc(slices.Clone(m.Warnings), func(w string) bool { return slices.Contains(m.Answer.Warnings, w) })
}

// Iterations is what the kernel's iterations are called.
func (m *Model) Iterations() string {
	if len(m.Ladders) > 0 {
		return "scans"
	}
	return "iterations"
}

// StatisticNames returns the names of the statistics in their order: used,
// log_density, and the properties.
func (m *Model) StatisticNames() []string {
	names := []string{"used", "log_density"}
	for _, w := range m.Properties {
		names = append(names, w.Name)
	}
	return names
}

// ShownLaw returns from where to where, in Sparsity, sizes have some mass or
// draws.
func (m *Model) ShownLaw() (from, to int) {
	some := func(s run.Size) bool { return s.Target > 5e-4 || s.Observed > 5e-4 }
	if from = slices.IndexFunc(m.Sparsity, some); from < 0 {
		return 0, len(m.Sparsity)
	}
	for to = len(m.Sparsity); !some(m.Sparsity[to-1]); to-- {
	}
	return from, to
}

// IndicesByFrequency returns the places in Inclusion from the most to the least frequent
// ingredient.
func (m *Model) IndicesByFrequency() []int {
	order := make([]int, len(m.Inclusion))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Inclusion[b].Probability, m.Inclusion[a].Probability) })
	return order
}

// WorstLadder returns the ladder with the fewest round trips, and of several the
// first; nil if there is none.
func (m *Model) WorstLadder() *run.Ladder {
	var worst *run.Ladder
	for k := range m.Ladders {
		if l := &m.Ladders[k]; worst == nil || l.RoundTrips < worst.RoundTrips {
			worst = l
		}
	}
	return worst
}
