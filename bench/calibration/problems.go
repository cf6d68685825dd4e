package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kir/internal/testonly/stattest"
)

// A subject is a problem whose truth is known: the files that kir reads, and the
// same law written down for enumeration, which shares no code with kir.
type subject struct {
	name  string
	about string
	files map[string]string // problem.yaml among them
	law   stattest.Law
	names []string // of the wishes, in the law's order
}

// write puts the files into a directory and returns the path of the problem.
func (s *subject) write(dir string) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s.files[name]), 0o666); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "problem.yaml"), nil
}

// subjects are the problems whose figures are compared with the truth.
func subjects() []*subject {
	return []*subject{smallOfPaper(), documentSubject(), tailSubject(), ruledSubject()}
}

// uniform is a weight of 1 from lo to hi.
func uniform(lo, hi int) func(n int) float64 {
	return func(n int) float64 {
		if n < lo || n > hi {
			return 0
		}
		return 1
	}
}

// smallOfPaper is the smaller experiment of Obara, Morimura and Yanagisawa
// (2019): nothing but a law of n, along which accelerated walks slowly.
func smallOfPaper() *subject {
	return &subject{
		name:  "small",
		about: "10 ingredients, 5 units, n uniform from 2 to 5, no properties",
		files: map[string]string{"problem.yaml": `
ingredients: [a, b, c, d, e, f, g, h, i, j]
total: 5
sparsity: {uniform: [2, 5]}
`},
		law: stattest.Law{Ingredients: 10, Total: 5, Size: uniform(2, 5)},
	}
}

// documentSubject is the posterior over the topics of a short document.
func documentSubject() *subject {
	counts := []int{4, 6, 4, 2, 2, 4, 3, 2, 1, 7}
	return documentOf("document", "6 topics in steps of 5 %, 35 words, a law of n that falls by e an ingredient", counts, 1)
}

// topics are the probabilities of ten words in six topics.
var topics = [][]float64{
	{0.30, 0.20, 0.16, 0.08, 0.06, 0.02, 0.02, 0.02, 0.04, 0.10},
	{0.02, 0.24, 0.02, 0.02, 0.02, 0.24, 0.20, 0.12, 0.02, 0.10},
	{0.12, 0.02, 0.20, 0.20, 0.28, 0.02, 0.02, 0.02, 0.02, 0.10},
	{0.06, 0.02, 0.04, 0.24, 0.02, 0.18, 0.02, 0.24, 0.08, 0.10},
	{0.02, 0.02, 0.30, 0.02, 0.30, 0.04, 0.02, 0.02, 0.16, 0.10},
	{0.14, 0.02, 0.20, 0.04, 0.02, 0.02, 0.02, 0.04, 0.40, 0.10},
}

// documentTotal is how many steps a topic's share has.
const documentTotal = 20

// documentOf is the problem of a document that has each word so often. Its draws
// are a posterior where the weight is 1.
func documentOf(name, about string, counts []int, weight float64) *subject {
	var table, words strings.Builder
	table.WriteString("topic")
	words.WriteString("word,count\n")
	for w := range topics[0] {
		fmt.Fprintf(&table, ",w%d", w)
		fmt.Fprintf(&words, "w%d,%d\n", w, counts[w])
	}
	table.WriteString("\n")
	names := make([]string, len(topics))
	for k, row := range topics {
		names[k] = fmt.Sprintf("t%d", k)
		table.WriteString(names[k])
		for _, p := range row {
			fmt.Fprintf(&table, ",%g", p)
		}
		table.WriteString("\n")
	}
	length := 0.0
	for _, n := range counts {
		length += float64(n)
	}
	return &subject{
		name: name, about: about,
		files: map[string]string{
			"problem.yaml": fmt.Sprintf(`
ingredients: [%s]
total: %d
sparsity: {exponential: {rate: 1}}
properties:
  words:
    document: {topics: topics.csv, words: words.csv}
    weight: %g
`, strings.Join(names, ", "), documentTotal, weight),
			"topics.csv": table.String(),
			"words.csv":  words.String(),
		},
		law: stattest.Law{
			Ingredients: len(topics), Total: documentTotal, Size: fallingLaw(1),
			Objectives: []stattest.Objective{{Weight: weight, Score: func(x []int) float64 {
				sum := 0.0
				for w, n := range counts {
					if n > 0 {
						sum += float64(n) * math.Log(wordShare(x, w)/(float64(n)/length))
					}
				}
				return math.Exp(sum)
			}}},
		},
		names: []string{"words"},
	}
}

// wordShare is the probability of a word in a mixture of the topics.
func wordShare(x []int, w int) float64 {
	p := 0.0
	for t, units := range x {
		p += float64(units) / documentTotal * topics[t][w]
	}
	return p
}

// fallingLaw is e^(−rate·n).
func fallingLaw(rate float64) func(n int) float64 {
	return func(n int) float64 { return math.Exp(-rate * float64(n)) }
}

// tailSubject has a law of n whose end is hardly ever met, and a wish that is so
// sharp that chains walk slowly.
func tailSubject() *subject {
	const total = 10
	costs := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	var file strings.Builder
	file.WriteString("name,cost\n")
	for i, c := range costs {
		fmt.Fprintf(&file, "%c,%g\n", 'a'+i, c)
	}
	return &subject{
		name:  "tail",
		about: "10 ingredients, 10 units, a law of n that falls by e an ingredient, a sharp wish of their mean cost",
		files: map[string]string{
			"problem.yaml": `
ingredients: costs.csv
total: 10
sparsity: {exponential: {rate: 1}}
properties:
  cost: {blend: {attribute: cost, normal: {mean: 7.5, sd: 0.25}}}
`,
			"costs.csv": file.String(),
		},
		law: stattest.Law{
			Ingredients: len(costs), Total: total, Size: fallingLaw(1),
			Objectives: []stattest.Objective{{Weight: 1, Score: func(x []int) float64 {
				mean := 0.0
				for i, units := range x {
					mean += costs[i] * float64(units) / total
				}
				return math.Exp(-(mean - 7.5) * (mean - 7.5) / (2 * 0.25 * 0.25))
			}}},
		},
		names: []string{"cost"},
	}
}

// ruledSubject has rules that are counted, and pairs that clash.
func ruledSubject() *subject {
	clash := func(x []int) float64 {
		y := 1.0
		for _, pair := range [][2]int{{0, 2}, {1, 3}, {4, 6}, {5, 7}} {
			if x[pair[0]] > 0 && x[pair[1]] > 0 {
				y *= 0.05
			}
		}
		return y
	}
	return &subject{
		name:  "ruled",
		about: "8 ingredients, 16 units, n uniform from 2 to 6, least doses, a step, a group, clashing pairs",
		files: map[string]string{"problem.yaml": `
ingredients: [a, b, c, d, e, f, g, h]
total: 16
sparsity: {uniform: [2, 6]}
constraints:
  - amount: {of: "*", min: 2}
  - amount: {of: a, step: 2}
  - group: {of: [a, b, c], used: [1, 2], total: [4, 12]}
properties:
  clash:
    pairs:
      lift: none
      avoid:
        - {of: [a, c], factor: 0.05}
        - {of: [b, d], factor: 0.05}
        - {of: [e, g], factor: 0.05}
        - {of: [f, h], factor: 0.05}
`},
		law: stattest.Law{
			Ingredients: 8, Total: 16, Size: uniform(2, 6),
			Feasible: func(x []int) bool {
				for _, units := range x {
					if units == 1 {
						return false
					}
				}
				group, units := 0, 0
				for _, amount := range x[:3] {
					if amount > 0 {
						group++
					}
					units += amount
				}
				return x[0]%2 == 0 && 1 <= group && group <= 2 && 4 <= units && units <= 12
			},
			Objectives: []stattest.Objective{{Score: clash, Weight: 1}},
		},
		names: []string{"clash"},
	}
}
