package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"kir/internal/compile"
)

// TestConditions keeps conditions at values and lets them go: the draws have the kept value alone, the file says so, the
// map and the draws say what is set, and what cannot be is refused without a step.
func TestConditions(t *testing.T) {
	file := copied(t, "bread/problem.yaml", "bread/trials.csv")
	c := serving(t, file)
	first := c.until("the problem", func(s *State) bool { return s.Problem != nil })
	views := first.Problem.Conditions
	if len(views) != 3 || views[0].Name != "temperature" || !views[0].Number || views[0].Texts[0] != "190 °C" || views[2].Number || len(views[2].Values) != 2 || views[2].Given != nil {
		t.Fatalf("the conditions are %+v", views)
	}
	if !slices.Contains(first.Problem.Constraints, "if Sugar is used, temperature: at most 230 °C") {
		t.Errorf("the constraints are %q", first.Problem.Constraints)
	}
	for _, r := range []Request{
		{Action: "set", Condition: "humidity", ConditionValue: 1.0}, {Action: "set", Condition: "temperature", ConditionValue: []any{1}}, {Action: "set", Condition: "", ConditionValue: "x"},
		{Action: "set", Condition: "temperature", ConditionValue: map[string]any{"a": 1}}, {Action: "set", Condition: "oven", ConditionValue: true}, {Action: "set", Condition: "oven"},
	} {
		if status, text := c.do(r); status == http.StatusOK {
			t.Errorf("%+v is done: %s", r, text)
		}
	}
	c.must(Request{Action: "set", Condition: "oven", ConditionValue: "deck"})
	c.must(Request{Action: "set", Condition: "temperature", ConditionValue: 205.0})
	c.until("the third step", func(s *State) bool { return s.Step == 3 && s.Problem != nil && s.Problem.Conditions[0].Given == 205.0 })
	if words := c.session.currentStep().Change; words != "temperature at 205 °C" {
		t.Errorf("the step is called %q", words)
	}
	c.drawn()
	_, kept := drawsAt(t, c, 3)
	p := loadText(t, file, c)
	for _, x := range kept {
		if got := conditionsText(p, x.conditions); !strings.HasPrefix(got, "temperature 205 °C, time ") || !strings.HasSuffix(got, ", oven deck") {
			t.Fatalf("a draw is made at %s", got)
		}
	}
	status, text := c.get("/map")
	var drawn PCAMap
	if err := json.Unmarshal([]byte(text), &drawn); status != http.StatusOK || err != nil || len(drawn.Conditions) != 3 || len(drawn.Conditions[0].Texts) != 1 || !strings.Contains(drawn.Points[0].Text, "temperature 205 °C") {
		t.Errorf("the map is %.300s, %v", text, err)
	}
	// A value that the rules forbid is a fault of the step, which says so; a number between the steps is taken.
	c.must(Request{Action: "set", Condition: "oven", ConditionValue: "fan"})
	c.must(Request{Action: "set", Condition: "temperature", ConditionValue: 245.0})
	fault := c.until("a fault", func(s *State) bool { return s.Step == 5 && s.Fault != nil }).Fault
	if said := fmt.Sprint(fault.Message, fault.Hint); !strings.Contains(said, "temperature") && !strings.Contains(said, "no combination of conditions") {
		t.Errorf("the fault is %+v", fault)
	}
	c.must(Request{Action: "set", Condition: "temperature", ConditionValue: 197.5})
	c.until("a number between", func(s *State) bool {
		return s.Step == 6 && s.Fault == nil && s.Problem != nil && s.Problem.Conditions[0].Given == 197.5
	})
	c.must(Request{Action: "set", Condition: "temperature"})
	c.until("let go", func(s *State) bool { return s.Step == 7 && s.Problem != nil && s.Problem.Conditions[0].Given == nil })
}

// drawsAt returns the work on a step and its draws.
func drawsAt(t *testing.T, c *client, step int) (*stepWork, []keptDraw) {
	t.Helper()
	w, _, kept, err := c.session.waitForDraws(t.Context())
	if err != nil || w.step.ID != step {
		t.Fatalf("the draws are of step %d, %v", w.step.ID, err)
	}
	return w, slices.Concat(kept...)
}

// loadText returns the problem of the current step.
func loadText(t *testing.T, file string, c *client) *compile.Problem {
	t.Helper()
	p, err := compile.Load(t.Context(), file, compile.Options{Text: []byte(c.session.currentStep().Text)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// TestMoveConditions: draws of a step go over to the next with the values that it has, or the nearest.
func TestMoveConditions(t *testing.T) {
	heats := []compile.Condition{{Name: "heat", Numbers: []float64{150, 160, 170}}, {Name: "oven", Categories: []string{"a", "b"}}}
	for _, c := range []struct {
		to   []compile.Condition
		want string
	}{
		{heats, "[2 1]"},
		{[]compile.Condition{{Name: "oven", Categories: []string{"b"}}, {Name: "heat", Numbers: []float64{100, 164}}}, "[0 1]"},
		{[]compile.Condition{{Name: "new", Categories: []string{"x", "y"}}}, "[0]"},
		{nil, "[]"},
	} {
		if got := fmt.Sprint(convertConditions(heats, c.to, []int32{2, 1})); got != c.want {
			t.Errorf("to %v: %s, and not %s", c.to, got, c.want)
		}
	}
	if got := fmt.Sprint(convertConditions(nil, heats, nil)); got != "[0 0]" {
		t.Errorf("from none: %s", got)
	}
}
