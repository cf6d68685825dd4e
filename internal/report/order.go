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

// NeedsScoreOfEach reports whether the scores of single properties tell more than the total score.
// They do not if there is only one property and its weight is 1: then the two scores are equal.
func (m *Model) NeedsScoreOfEach() bool {
	return len(m.Properties) > 1 || len(m.Properties) == 1 && m.Properties[0].Weight != 1
}

// OtherWarnings returns the warnings of the report without those of the answer.
func (m *Model) OtherWarnings() []string {
	if m.Answer == nil {
		return m.Warnings
	}
	return slices.DeleteFunc(slices.Clone(m.Warnings), func(w string) bool { return slices.Contains(m.Answer.Warnings, w) })
}

// Iterations returns the word for an iteration of the kernel in reports: "scans" for a tempered
// run, otherwise "iterations".
func (m *Model) Iterations() string {
	if len(m.Ladders) > 0 {
		return "scans"
	}
	return "iterations"
}

// StatisticNames returns the names of the statistics in the order of reports: "used" (number of
// ingredients), "log_density", and the names of the properties.
func (m *Model) StatisticNames() []string {
	names := []string{"used", "log_density"}
	for _, w := range m.Properties {
		names = append(names, w.Name)
	}
	return names
}

// ShownLaw returns the range of indices of Sparsity that reports show, from included and to
// excluded. Numbers of ingredients outside of the range have hardly any probability and hardly any
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

// IndicesByFrequency returns the indices of the items of Inclusion, from the most to the least
// frequent ingredient.
func (m *Model) IndicesByFrequency() []int {
	order := make([]int, len(m.Inclusion))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Inclusion[b].Probability, m.Inclusion[a].Probability) })
	return order
}

// WorstLadder returns the ladder (statistics of a tempered chain) with the fewest round trips
// between the inverse temperatures 0 and 1. Of several such ladders it returns the first. It
// returns nil if there is no ladder.
func (m *Model) WorstLadder() *run.Ladder {
	var worst *run.Ladder
	for k := range m.Ladders {
		if l := &m.Ladders[k]; worst == nil || l.RoundTrips < worst.RoundTrips {
			worst = l
		}
	}
	return worst
}
