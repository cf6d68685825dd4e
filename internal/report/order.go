package report

import (
	"cmp"
	"slices"

	"kir/internal/run"
)

// HasWeights reports whether a property has a positive weight.
func (m *Model) HasWeights() bool {
	return slices.ContainsFunc(m.Properties, func(w Property) bool { return w.Weight > 0 })
}

// NeedsScoreOfEach reports whether the scores of single properties add to the total score. A single
// property of weight 1 adds nothing, since its score is the total score.
func (m *Model) NeedsScoreOfEach() bool {
	return len(m.Properties) > 1 || len(m.Properties) == 1 && m.Properties[0].Weight != 1
}

// OtherWarnings returns the warnings that are not about the answer.
func (m *Model) OtherWarnings() []string {
	if m.Answer == nil {
		return m.Warnings
	}
	return slices.DeleteFunc(slices.Clone(m.Warnings), func(w string) bool { return slices.Contains(m.Answer.Warnings, w) })
}

// Iterations returns the word for the kernel's iterations: "scans" for a tempered run, otherwise
// "iterations".
func (m *Model) Iterations() string {
	if len(m.Ladders) > 0 {
		return "scans"
	}
	return "iterations"
}

// StatisticNames returns the names of the statistics in their order: "used", "log_density", and the
// properties.
func (m *Model) StatisticNames() []string {
	names := []string{"used", "log_density"}
	for _, w := range m.Properties {
		names = append(names, w.Name)
	}
	return names
}

// ShownLaw returns the range of indices in Sparsity, from included and to excluded, outside of
// which sizes have hardly any probability or draws.
func (m *Model) ShownLaw() (from, to int) {
	some := func(s run.Size) bool { return s.Target > 5e-4 || s.Observed > 5e-4 }
	if from = slices.IndexFunc(m.Sparsity, some); from < 0 {
		return 0, len(m.Sparsity)
	}
	for to = len(m.Sparsity); !some(m.Sparsity[to-1]); to-- {
	}
	return from, to
}

// IndicesByFrequency returns the indices of Inclusion, from the most to the least frequent
// ingredient.
func (m *Model) IndicesByFrequency() []int {
	order := make([]int, len(m.Inclusion))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Inclusion[b].Probability, m.Inclusion[a].Probability) })
	return order
}

// WorstLadder returns the ladder with the fewest round trips, and among equal ladders the first;
// nil if there is no ladder.
func (m *Model) WorstLadder() *run.Ladder {
	var worst *run.Ladder
	for k := range m.Ladders {
		if l := &m.Ladders[k]; worst == nil || l.RoundTrips < worst.RoundTrips {
			worst = l
		}
	}
	return worst
}
