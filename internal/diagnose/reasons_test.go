package diagnose

import (
	"encoding/json"
	"testing"
)

// TestSummaryJSON: what is not known is null, its reason stands beside it, and what was
// written reads back as the same.
func TestSummaryJSON(t *testing.T) {
	for name, c := range map[string]struct {
		chains [][]float64
		why    string // of R-hat
	}{
		"known":    {autoregressions(3, 4, 200, 0.5), ""},
		"few":      {autoregressions(3, 4, 3, 0.5), fewDrawsError(3, minDrawsRHat).Error()},
		"constant": {[][]float64{make([]float64, 50), make([]float64, 50)}, ErrConstant.Error()},
	} {
		s := Summarize(c.chains)
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var plain map[string]any
		var back Summary
		if err := json.Unmarshal(data, &plain); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		why, _ := plain["why"].(map[string]any)
		if said, _ := why["rhat"].(string); said != c.why || (plain["rhat"] == nil) != (c.why != "") || (back.ReasonFor("RHat") != nil) != (c.why != "") {
			t.Errorf("%s: %s", name, data)
		}
		if why == nil != s.Undefined.IsZero() {
			t.Errorf("%s: %v is written as %s", name, s.Undefined, data)
		}
		if again, err := json.Marshal(back); err != nil || string(again) != string(data) {
			t.Errorf("%s: %s reads back as %s, %v", name, data, again, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"why": {"depth": "it is deep"}}`), new(Summary)); err == nil {
		t.Error("a figure that is none has a reason")
	}
}
