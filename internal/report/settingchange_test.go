package report

import (
	"fmt"
	"testing"
)

// TestChangedSettings: each changed value is named by the keys that lead to it, and lists of
// mappings are compared item by item.
func TestChangedSettings(t *testing.T) {
	a := "sampler: {seed: 1, thin: 1}\nconstraints:\n- {require: [Gin]}\n- {used: {max: 3}}\ntotal: 100\nname: one\n"
	b := "sampler: {seed: 2, thin: 1}\nconstraints:\n- {used: {max: 4}}\n- {require: [Gin]}\ntotal: 100\ntrade: [x, y]\n"
	want := "[{sampler.seed 1 2} {constraints {used: {max: 3}} } {constraints  {used: {max: 4}}} {name one } {trade  [x, y]}]"
	if got := fmt.Sprint(changedSettings(a, b)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := changedSettings(a, a); got != nil {
		t.Errorf("equal problems: %v", got)
	}
	if got := changedSettings(a, "a: [1"); got != nil {
		t.Errorf("a damaged problem: %v", got)
	}
}
