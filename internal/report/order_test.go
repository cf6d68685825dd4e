package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/run"
	"kir/internal/testonly/golden"
)

// TestOrder: what a model says of itself, for every kind of model.
func TestOrder(t *testing.T) {
	record := golden.Open(t)
	for name, m := range map[string]*Model{
		"nothing": {},
		"one wish of weight 1": {
			Properties: []Property{{Name: "a", Weight: 1}}, Warnings: []string{"x", "y", "z"}, Answer: &Answer{Warnings: []string{"y"}}, Ladders: []run.Ladder{{Chain: 1, RoundTrips: 4}, {Chain: 2, RoundTrips: 3}, {Chain: 3, RoundTrips: 3}},
			Sparsity: []run.Size{{N: 1, Target: 5e-4, Observed: 5e-4}, {N: 2, Target: 6e-4}, {N: 3}, {N: 4, Observed: 6e-4}, {N: 5, Target: 1e-4}}, Inclusion: []run.Inclusion{{Probability: 0.2}, {Probability: 0.7}, {Probability: 0.2}, {Probability: 0.9}},
		},
		"one wish of weight 2": {Properties: []Property{{Name: "a", Weight: 2}}, Warnings: []string{"x"}, Sparsity: []run.Size{{N: 1}, {N: 2}}},
		"one that has no say":  {Properties: []Property{{Name: "a"}}, Sparsity: []run.Size{{N: 1, Target: 1}}},
		"two":                  {Properties: []Property{{Name: "a"}, {Name: "b", Weight: 0.5}}},
	} {
		from, to := m.ShownLaw()
		worst := m.WorstLadder()
		if worst != nil {
			worst = &run.Ladder{Chain: worst.Chain}
		}
		record.CheckText(t, name, fmt.Sprint(m.HasWeights(), m.NeedsScoreOfEach(), m.OtherWarnings(), m.Iterations(), m.StatisticNames(), from, to, m.IndicesByFrequency(), worst != nil && worst.Chain == 2))
	}
	for _, grade := range []AnswerGrade{Weak, Doubtful, Fair, Good, StatedObjectives, NoObjectives} {
		record.CheckText(t, string(grade), fmt.Sprint(grade.IsSure()))
	}
	for _, p := range []Problem{{Ingredients: 1, Total: 1}, {Ingredients: 1200, Total: 10000, Recipes: 1}, {Ingredients: 2, Total: 100, Recipes: 33}} {
		record.CheckText(t, fmt.Sprint(p.Recipes), p.Describe())
	}
	b := Best{Recipe: map[string]int{"d": 1, "a": 7, "c": 7, "b": 20}}
	if got := b.Parts(); !slices.Equal(got, []Part{{"b", 20}, {"a", 7}, {"c", 7}, {"d", 1}}) {
		t.Errorf("the parts are %v", got)
	}
	b.Recipe = map[string]int{"z": 5, "y": 6, "x": 7, "a": 4}
	if got := b.Parts(); !slices.Equal(got, []Part{{"x", 7}, {"y", 6}, {"z", 5}, {"a", 4}}) {
		t.Errorf("the parts are %v", got)
	}
	l := run.Ladder{Rungs: []run.Rung{{Rejected: 0.2}, {Rejected: 0.4}, {Rejected: UnknownNumber()}}}
	if got := l.MostRejected(); got != 0.4 {
		t.Errorf("at most %v is rejected", got)
	}
}

// TestValid: of a summary that somebody changed it is told which figure cannot be, and
// what can just be is read.
func TestValid(t *testing.T) {
	record := golden.Open(t)
	data, err := os.ReadFile("assemble/testdata/summary.json")
	if err != nil {
		t.Fatal(err)
	}
	unknown, total := UnknownNumber(), 0
	for name, change := range map[string]func(m *Model){
		"nothing":             func(*Model) {},
		"a total of 0":        func(m *Model) { m.Problem.Total = 0 },
		"a total of 2³¹":      func(m *Model) { m.Problem.Total = math.MaxInt32 + 1 },
		"no chains":           func(m *Model) { m.Sampler.Chains = 0 },
		"one chain":           func(m *Model) { m.Sampler.Chains = 1 },
		"less than the total": func(m *Model) { m.Best[1].Recipe = map[string]int{"Gin": total - 1} },
		"the total":           func(m *Model) { m.Best[1].Recipe = map[string]int{"Gin": total - 1, "Rum": 1} },
		"of nothing":          func(m *Model) { m.Best[1].Recipe["Gin"], m.Best[1].Recipe["none"] = total, 0 },
		"a rule that is not":  func(m *Model) { m.Best[0].Slack = []Slack{{Rule: len(m.Problem.Rules)}} },
		"a rule before all":   func(m *Model) { m.Best[0].Slack = []Slack{{Rule: -1}} },
		"the last rule":       func(m *Model) { m.Best[0].Slack = []Slack{{Rule: len(m.Problem.Rules) - 1}} },
		"a class more":        func(m *Model) { m.Properties[0].Forest.Classes = append(m.Properties[0].Forest.Classes, "x") },
		"a row of one": func(m *Model) {
			m.Properties[0].Forest.Quality.Classes.Confusion[1] = m.Properties[0].Forest.Quality.Classes.Confusion[1][:1]
		},
		"no rungs":                   func(m *Model) { m.Ladders[1].Rungs = nil },
		"no log Z":                   func(m *Model) { m.LogZ = nil },
		"neither":                    func(m *Model) { m.LogZ, m.Ladders = nil, nil },
		"an unknown target":          func(m *Model) { m.Sparsity[0].Target = unknown },
		"an unknown share":           func(m *Model) { m.Sparsity[0].Observed = unknown },
		"an error of more than 1":    func(m *Model) { m.Sparsity[0].MCSE = 1.01 },
		"a share of 1":               func(m *Model) { m.Sparsity[0].Target, m.Sparsity[0].Observed, m.Sparsity[0].MCSE = 1, 0, 1 },
		"a share below 0":            func(m *Model) { m.Sparsity[0].Observed = -0.1 },
		"an unknown probability":     func(m *Model) { m.Inclusion[1].Probability = unknown },
		"an unknown amount":          func(m *Model) { m.Inclusion[1].MeanAmount = unknown },
		"that is never used":         func(m *Model) { m.Inclusion[1].MeanAmount, m.Inclusion[1].Probability = unknown, 0 },
		"a probability above 1":      func(m *Model) { m.Inclusion[1].Probability = 1.5 },
		"a share of the book":        func(m *Model) { m.Inclusion[1].BookShare = 2 },
		"an amount above all":        func(m *Model) { m.Inclusion[1].BookAmount = Number(total) + 1 },
		"all":                        func(m *Model) { m.Inclusion[1].BookAmount = Number(total) },
		"a point of the map nowhere": func(m *Model) { m.Map = &RecipeMap{Known: []MappedKnown{{At: [2]Number{0, unknown}}}} },
		"a map":                      func(m *Model) { m.Map = &RecipeMap{Draws: [][2]Number{{-1, 2}}} },
		"a corner of 2":              func(m *Model) { m.Ternary = &Ternary{Known: []TernaryKnown{{Shares: [3]Number{2, 0, 0}}}} },
		"none of three":              func(m *Model) { m.Ternary = &Ternary{Draws: [][3]Number{{unknown, unknown, unknown}}} },
		"a measurement of 10⁹":       func(m *Model) { m.Properties[0].Forest.HeldOut = []HeldOut{{Measured: 1e9, Value: 1}} },
		"an unknown measurement":     func(m *Model) { m.Properties[0].Forest.HeldOut = []HeldOut{{Measured: unknown, Value: 1}} },
		"an infinite interval": func(m *Model) {
			m.Properties[0].Forest.HeldOut = []HeldOut{{Measured: 1, Value: 1, Low: unknown, High: 1e10}}
		},
		"no interval": func(m *Model) {
			m.Properties[0].Forest.HeldOut = []HeldOut{{Measured: 1, Value: 1, Low: unknown, High: unknown}}
		},
		"a lift of 0":              func(m *Model) { m.Pairs = &Pairs{Apart: []Pair{{Lift: 0, Expected: 1}}} },
		"an expected lift of 10⁹":  func(m *Model) { m.Pairs = &Pairs{Together: []Pair{{Lift: 1, Expected: 1e9}}} },
		"an error below 0":         func(m *Model) { m.Pairs = &Pairs{Together: []Pair{{Lift: 1, Expected: 1, MCSE: -1}}} },
		"an error of 10⁹":          func(m *Model) { m.Pairs = &Pairs{Together: []Pair{{Lift: 1, Expected: 1, MCSE: 1e9}}} },
		"a pair":                   func(m *Model) { m.Pairs = &Pairs{Together: []Pair{{Lift: 1e8, Expected: 1e-8, MCSE: 1e8}}} },
		"no pairs":                 func(m *Model) { m.Pairs = nil },
		"a barrier above its most": func(m *Model) { m.Ladders[0].Barrier = Number(len(m.Ladders[0].Rungs)) + 0.5 },
		"an unknown barrier":       func(m *Model) { m.Ladders[0].Barrier = unknown },
		"an unknown β":             func(m *Model) { m.Ladders[0].Rungs[1].Beta = unknown },
		"a β above 1":              func(m *Model) { m.Ladders[0].Rungs[1].Beta = 1.1 },
		"a rung's barrier":         func(m *Model) { m.Ladders[0].Rungs[1].Barrier = -1 },
		"that is unknown":          func(m *Model) { m.Ladders[0].Rungs[1].Barrier = unknown },
		"unknown rejections":       func(m *Model) { m.Ladders[0].Rungs[0].Rejected = unknown },
		"of the last":              func(m *Model) { m.Ladders[0].Rungs[len(m.Ladders[0].Rungs)-1].Rejected = unknown },
		"of the one before":        func(m *Model) { m.Ladders[0].Rungs[len(m.Ladders[0].Rungs)-2].Rejected = unknown },
		"a leg that rejects":       func(m *Model) { m.Ladders[0].Learnt = &run.Leg{Steps: 1, Rejected: 1.1} },
		"a leg's barrier":          func(m *Model) { m.Ladders[0].Learnt = &run.Leg{Steps: 1, Barrier: 1.1} },
		"a leg":                    func(m *Model) { m.Ladders[0].Learnt = &run.Leg{Steps: 1, Barrier: 1, Rejected: 1} },
		"an importance":            func(m *Model) { m.Properties[0].Forest.Importances[0].Mean = -1e9 },
		"an importance's error":    func(m *Model) { m.Properties[0].Forest.Importances[0].SE = float64(unknown) },
		"an edge less":             func(m *Model) { m.Score.Histogram.Edges = m.Score.Histogram.Edges[1:] },
		"an unknown edge":          func(m *Model) { m.Score.Histogram.Edges[0] = unknown },
		"one edge":                 func(m *Model) { m.Score.Histogram.Edges = m.Score.Histogram.Edges[:1] },
		"no bins":                  func(m *Model) { m.Score.Histogram.Draws = nil },
		"a bin of random less":     func(m *Model) { m.Score.Histogram.Random = m.Score.Histogram.Random[1:] },
		"a bin above 1":            func(m *Model) { m.Score.Histogram.Random[0] = 1.5 },
		"a bin of draws below 0":   func(m *Model) { m.Score.Histogram.Draws[0] = -0.5 },
		"below, above 1":           func(m *Model) { m.Score.Histogram.DrawsBelow = 1.5 },
		"random below, above 1":    func(m *Model) { m.Score.Histogram.RandomBelow = 1.5 },
		"no histogram":             func(m *Model) { m.Score.Histogram = nil },
		"a plot of nothing":        func(m *Model) { m.Plots[0].Ranks[1] = nil },
		"an unknown rank":          func(m *Model) { m.Plots[0].Ranks[0][3] = unknown },
		"a rank above 1":           func(m *Model) { m.Plots[0].Ranks[0][3] = 1.1 },
	} {
		m := new(Model)
		if err := json.Unmarshal(data, m); err != nil {
			t.Fatal(err)
		}
		total = m.Problem.Total
		for k := range m.Ladders { // of which the draws decide
			l := &m.Ladders[k]
			l.Rungs, l.Barrier = []run.Rung{l.Rungs[0], l.Rungs[len(l.Rungs)-1]}, 0
		}
		change(m)
		record.CheckText(t, name, fmt.Sprint(m.validate()))
	}
}

// TestReadSays: why a summary is not read, with its way out.
func TestReadSays(t *testing.T) {
	record := golden.Open(t)
	data, err := os.ReadFile("assemble/testdata/summary.json")
	if err != nil {
		t.Fatal(err)
	}
	m := new(Model)
	if err := json.Unmarshal(data, m); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store := run.NewDirectoryStore(dir)
	if err := m.Save(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, SummaryName)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := slices.Clone(whole)
	changed[bytes.Index(changed, []byte(`"ingredients": `))+len(`"ingredients": `)] ^= 1
	for name, text := range map[string][]byte{"changed": changed, "cut": whole[:len(whole)/2], "no JSON": []byte("{"), "a checksum in it": []byte(`{"checksum": "x"}`), "nothing": []byte("{}")} {
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Read(t.Context(), store)
		record.CheckError(t, name, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	_, err = Read(t.Context(), store)
	record.CheckError(t, "no run", err)
	_, err = Read(t.Context(), run.NewDirectoryStore(filepath.Join(dir, "none")))
	record.CheckError(t, "no directory", err)

	// What stands in a summary is read back, letter by letter, and is not written for HTML.
	m.Problem.Name = "gin & <tonic>\u202e"
	if whole, err = m.JSON(); err != nil {
		t.Fatal(err)
	}
	again := new(Model)
	if err := json.Unmarshal(whole, again); err != nil || again.Problem.Name != m.Problem.Name || !strings.Contains(string(whole), `"name": "gin & <tonic>\u202e"`) {
		t.Errorf("%q, %v", again.Problem.Name, err)
	}
}
