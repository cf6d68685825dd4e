package view

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"kir/internal/campaign"
	"kir/internal/report"
	"kir/internal/terminal"
)

// someStanding is a campaign of two rounds with names that want to be more than text.
func someStanding() *campaign.Standing {
	left, gain, r2 := 0.25, 1.5, 0.8
	first := &campaign.Best{ID: "start", Recipe: map[string]int{"Gin": 30, "<b>Tonic</b>\x1b[2J": 70}, Measured: map[string]float64{"liking": 60}, Trials: 1}
	best := &campaign.Best{ID: "1-2", Recipe: map[string]int{"Gin": 100}, Measured: map[string]float64{"liking": 71.5}, Trials: 2}
	return &campaign.Standing{
		Version: "devel", Name: "a <script> bar", Total: 100, Measure: campaign.Measure{Unit: "ml", WholeAmount: "200"}, Round: 2, Tried: 22, FailedTrials: 1, RuleBreakingTrials: 1,
		Rounds: []campaign.Round{{Round: 0, ResultCount: 20, Best: first}, {Round: 1, ResultCount: 2, Failed: 1, Best: best, BestChanged: true}, {Round: 2, Best: best}},
		Checks: []campaign.PredictionCheck{
			{ID: "1-1", Round: 1, Label: "liking", Predicted: campaign.Prediction{Value: 65, Low: 60, High: 70}, Measured: 66, Within: true},
			{ID: "1-2", Round: 1, Label: "liking", Predicted: campaign.Prediction{Value: 65, Low: 60, High: 70}, Measured: 71.5},
			{ID: "1-3", Round: 1, Label: "liking", Predicted: campaign.Prediction{Value: 65, Low: 60, High: 70}, Measured: 80, MadeDifferently: true},
		},
		Coverage: []campaign.Coverage{{Label: "liking", Within: 1, Intervals: 2}}, Best: best, Pending: []string{"2-1", "2-2"},
		RemainingGain: campaign.RemainingGain{Probability: &left, Gain: &gain, Advice: campaign.GoOn, Text: "25 % chance of a better recipe."},
		Models:        []campaign.ModelSummary{{Label: "liking", Kind: "Gaussian process", Rows: 21, R2: &r2}, {Label: "haze", Kind: campaign.NoModel}},
		Notes:         []string{"A note."},
	}
}

// TestStanding: the text has the figures, and no name acts on a terminal.
func TestStanding(t *testing.T) {
	s := someStanding()
	var b bytes.Buffer
	if err := Standing(&b, s, terminal.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"a <script> bar\n", "Best so far: 1-2, liking 71.5 (the mean of 2 trials): Gin 200 ml\n", "22 recipes tried, 1 failed; 1 breaks a constraint",
		"No result yet: 2-1, 2-2\n", "R² 0.80 on\nheld-out recipes", "Model of haze: none yet (0 results)", "new: 1-2", "60 to 70", "outside", "made differently",
		"liking: 1 of 2 results in their predicted 90 % range", "A note.", "Make another batch. 25 % chance",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.ContainsRune(b.String(), '\x1b') {
		t.Error("a name acts on the terminal")
	}
}

// TestStandingPage: the page has no markup of names, needs nothing else, and is known as
// one of kir's; a campaign of which nothing is known has one, too.
func TestStandingPage(t *testing.T) {
	var b bytes.Buffer
	if err := StandingPage(&b, someStanding()); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"Make another batch.", "<td>new: <bdi>1-2</bdi></td>", "<svg ", "best-1", "told-1", "1 of 2 results lie within", "a &lt;script&gt; bar"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	for _, not := range []string{"<script", "<b>Tonic", "http:", "https:", "url("} {
		if strings.Contains(page, not) {
			t.Errorf("%q in the page", not)
		}
	}
	if !IsPage(b.Bytes()) {
		t.Error("it is not known as a page")
	}
	if n := len(StandingFigures(someStanding())); n != 2 {
		t.Errorf("%d figures", n)
	}
	b.Reset()
	if err := StandingPage(&b, &campaign.Standing{Name: "new", Measure: campaign.Measure{WholeAmount: "100"}, RemainingGain: campaign.RemainingGain{Advice: campaign.Stop}}); err != nil || !strings.Contains(b.String(), "Stop, or change") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestLimitText: what predictions do not show of a limit is said: with what probability it is
// kept, and that it is not kept.
func TestLimitText(t *testing.T) {
	for want, l := range map[string]campaign.LimitCheck{
		"": {Limit: "limit of v min 5", Value: 6, Within: true},
		"limit of v min 5: 4.2 is predicted, outside the limit":       {Limit: "limit of v min 5", Value: 4.2},
		"limit of v min 5 sure 80%: 85.0 % chance of keeping it":      {Limit: "limit of v min 5 sure 80%", Value: 0.85, Sure: true, Within: true},
		"limit of v min 5 sure 80%: only 41.0 % chance of keeping it": {Limit: "limit of v min 5 sure 80%", Value: 0.41, Sure: true},
	} {
		if got := LimitText(l); got != want {
			t.Errorf("%q instead of %q", got, want)
		}
		var b bytes.Buffer
		of := &campaign.Batch{Round: 1, Total: 10, Measure: campaign.Measure{Unit: "%", WholeAmount: "100"}, Entries: []campaign.Entry{{ID: "1-1", Recipe: map[string]int{"a": 10}, Limits: []campaign.LimitCheck{l}}}}
		if err := Batch(&b, of, terminal.Style{}); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s, %v", want, b.String(), err)
		}
	}
}

// TestPredictionOfALimit: of what is limited the value that the limit bounds stands first, and
// what is expected in brackets; of anything else what is expected stands for it.
func TestPredictionOfALimit(t *testing.T) {
	expected := report.Number(19)
	q := report.Prediction{Value: 21, Low: 12, High: 25, Unit: "mPa·s", Expected: &expected}
	for want, limited := range map[string]bool{"21.0 mPa·s (expected 19.0, 12.0 to 25.0)": true, "19.0 mPa·s (12.0 to 25.0)": false} {
		q.Limited = limited
		if got := predictionText(q, func(_, text string) string { return text }); got != want {
			t.Errorf("%q instead of %q", got, want)
		}
		if head, cells := predictionHeadings("v", q), predictionCells(q); len(head) != 4 || len(cells) != 4 || head[1] != "v, expected, mPa·s" || cells[0] != 21.0 || cells[1] != 19.0 {
			t.Errorf("%v\n%v", head, cells)
		}
	}
}

// TestFarRounds: a figure takes as long as there are rounds, however they are numbered.
func TestFarRounds(t *testing.T) {
	s := someStanding()
	s.Rounds[2].Round, s.Round = 2_000_000_000, 2_000_000_000
	begun := time.Now()
	if figures := StandingFigures(s); len(figures) == 0 {
		t.Error("there are no figures")
	}
	if took := time.Since(begun); took > time.Second {
		t.Errorf("it took %v", took)
	}
}
