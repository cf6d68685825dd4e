package assemble

import (
	"fmt"
	"strings"

	"kir/internal/number"
	"kir/internal/report"
)

// maxDescribedObjectives is the largest number of objectives for which [questionText] describes
// what is wanted. If there are more, it only names the objectives.
const maxDescribedObjectives = 3

// questionText returns the question of a run in sentences, such as "Find recipes of 3 to 5
// out of 40 ingredients. Objective: taste Fresh.".
func questionText(m *report.Model) string {
	var b strings.Builder
	from, to := m.ShownLaw()
	lo, hi := m.Sparsity[from].N, m.Sparsity[to-1].N
	fmt.Fprintf(&b, "Find recipes of %s", number.Thousands(lo))
	if hi > lo {
		fmt.Fprintf(&b, " to %s", number.Thousands(hi))
	}
	fmt.Fprintf(&b, " out of %s", number.CountWithNoun(m.Problem.Ingredients, "ingredient"))
	var wishes []report.Property
	for _, w := range m.Properties {
		if w.Weight > 0 {
			wishes = append(wishes, w)
		}
	}
	b.WriteString(".")
	switch len(wishes) {
	case 0:
	case 1:
		b.WriteString(" Objective: ")
	default:
		b.WriteString(" Objectives: ")
	}
	for k, w := range wishes {
		if k > 0 {
			b.WriteString("; ")
		}
		if len(wishes) <= maxDescribedObjectives && w.Forest != nil {
			b.WriteString(w.About) // such as "taste Fresh"; that of others may be a formula
		} else {
			b.WriteString(w.Name)
		}
		if w.Weight != 1 {
			fmt.Fprintf(&b, " (weight %g)", w.Weight)
		}
	}
	if len(wishes) > 0 {
		b.WriteString(".")
	}
	switch n := len(m.Problem.Rules); {
	case n == 1:
		fmt.Fprintf(&b, " Constraint: %s.", m.Problem.Rules[0])
	case n > 1:
		fmt.Fprintf(&b, " There are %d constraints.", n)
	}
	return b.String()
}
