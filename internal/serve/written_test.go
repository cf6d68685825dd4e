package serve

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/number"
)

// TestScriptWritesAmounts: the page writes percentages and scores as kir does, and divides a batch into
// whole steps of a scale.
func TestScriptWritesAmounts(t *testing.T) {
	type asked struct {
		Units []int `json:"units"`
		Total int   `json:"total"`
		Least int   `json:"least"`
		Steps int   `json:"steps"`
	}
	r := rand.New(rand.NewPCG(8, 4))
	var all []asked
	totals := []int{1, 2, 3, 7, 30, 64, 99, 100, 200, 400, 960, 1000, 1001, 10_000, 12_345, 1<<31 - 1}
	for range 400 {
		total := totals[r.IntN(len(totals))]
		a := asked{Total: total, Least: r.IntN(2), Steps: 1 + r.IntN(2000)}
		for left := total; left > 0 && len(a.Units) < 8; {
			some := 1 + r.IntN(left)
			a.Units, left = append(a.Units, some), left-some
		}
		all = append(all, a)
	}
	questions, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	scores := []float64{0, 0.791, 0.0995, 0.09949, 0.0123, 1e-5, 1e-6, 9.99e-7, 6.01e-73, 5e-324, 1, 12.3456, 99_999.9, 1e5, 1.31e17}
	for range 100 {
		scores = append(scores, math.Exp(400*r.Float64()-300))
	}
	numbers, err := json.Marshal(scores)
	if err != nil {
		t.Fatal(err)
	}
	out := runScripts(t, "\nconsole.log(JSON.stringify("+string(questions)+".map(q => ({ texts: percentages(q.units, q.total, q.least), steps: steps(q.units, q.total, q.steps) })).concat([{ texts: "+string(numbers)+".map(score) }])));\n", "written.js")
	var answers []struct {
		Texts []string `json:"texts"`
		Steps []int    `json:"steps"`
	}
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	for k, v := range scores {
		if got, want := answers[len(all)].Texts[k], number.Score(v, 1); got != want {
			t.Errorf("the score %g is written %q, not %q", v, got, want)
		}
	}
	for k, q := range all {
		a := number.Percentages(q.Total)
		a.MinDigits = max(a.MinDigits, q.Least)
		if want := a.Write(q.Units); !slices.Equal(answers[k].Texts, want) {
			t.Errorf("%v of %d are written as %q, not %q", q.Units, q.Total, answers[k].Texts, want)
		}
		sum, units := 0, 0
		for i, n := range answers[k].Steps {
			sum, units = sum+n, units+q.Units[i]
			if off := float64(n) - float64(q.Units[i])*float64(q.Steps)/float64(q.Total); off <= -1 || off >= 1 {
				t.Errorf("%d of %d units are %d of %d steps", q.Units[i], q.Total, n, q.Steps)
			}
		}
		if units == q.Total && sum != q.Steps {
			t.Errorf("%v of %d are %v steps, not %d", q.Units, q.Total, answers[k].Steps, q.Steps)
		}
	}
}
