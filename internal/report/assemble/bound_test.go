package assemble

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"kir/internal/report"
	"kir/internal/search"
)

// A bound is written as it is proved; where it is proved to be the best found, but for rounding,
// it is that number, and one that is far above it is not called a gap.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		name string
		of   search.Bound
		json string
		text string
	}{
		{
			"rounding", search.Bound{UpperLogScore: 0x1p-48, BestLogScore: 0, Proved: true},
			`{"score":1,"best":1,"gap":0,"proved":true,"doses":false,"unbounded":[]}`,
			"Proved best: no allowed recipe can score above 1.000.",
		},
		{
			"near", search.Bound{UpperLogScore: math.Log(0.5), BestLogScore: math.Log(0.45), OnlyKnownDoses: true},
			"", "No allowed recipe within the amounts of your recipes can score above 0.500. The best found scores 0.450, 10.0 % below that.",
		},
		{
			"far", search.Bound{UpperLogScore: math.Log(2), BestLogScore: math.Log(0.5)},
			"", "The best found scores 0.500. A proved limit: no allowed recipe scores above 2.000 (a loose limit: better recipes need not exist).",
		},
		{
			"unbounded", search.Bound{UpperLogScore: math.Inf(1), BestLogScore: 0, UnboundedTerms: []string{"taste"}},
			`{"score":null,"best":1,"gap":null,"proved":false,"doses":false,"unbounded":["taste"]}`,
			"The best found scores 1.000; how much better a recipe can be is unknown, because nothing bounds taste.",
		},
	} {
		b := newBound(&c.of)
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if c.json != "" && string(text) != c.json {
			t.Errorf("%s: %s, not %s", c.name, text, c.json)
		}
		if said := boundSentence(b); strings.ReplaceAll(said, "\u00a0", " ") != c.text {
			t.Errorf("%s: %s", c.name, said)
		}
		if above := math.Exp(c.of.BestLogScore); float64(b.Score) < above*(1-1e-15) {
			t.Errorf("%s: the bound %v is below the best found, %v", c.name, b.Score, above)
		}
	}
}

// TestCenteredText: the first suggestion may score a little less than the best found, and the
// answer says why; of any other difference it says nothing.
func TestCenteredText(t *testing.T) {
	b := &report.Bound{Best: 0.8224}
	for _, c := range []struct {
		first report.Number
		text  string
	}{
		{0.8211, " Suggestion 1 scores 0.821: kir sets each amount in the middle of the range that scores nearly the same, so that small errors matter little."},
		{0.8224, ""}, {0.82239, ""}, {0.83, ""}, {0.7, ""}, {report.UnknownNumber(), ""},
	} {
		if text := centeredText(b, c.first); text != c.text {
			t.Errorf("%v: %q", c.first, text)
		}
	}
}
