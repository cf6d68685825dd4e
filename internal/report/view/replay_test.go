package view

import (
	"bytes"
	"strings"
	"testing"

	"kir/internal/campaign"
	"kir/internal/number"
	"kir/internal/terminal"
	"kir/internal/testonly/golden"
)

// someReplay is a replay of 200 recipes with names that want to be more than text.
func someReplay() *campaign.Replayed {
	least, median := 24, 28
	at := func(trials int, median, closed, chance float64) campaign.ReplayRound {
		return campaign.ReplayRound{
			Trials: trials, Best: campaign.ValueRange{Worst: median - 5, Median: median, Best: 96.9}, Chance: campaign.ValueRange{Worst: 60, Median: median - 3, Best: 95},
			Closed: closed, ClosedSE: number.Number(closed / 10), ChanceClosed: chance, Found: closed / 2, ChanceFound: chance / 2, Hits: 10 * closed, HitsSE: 0.3, ChanceHits: 10 * chance,
		}
	}
	return &campaign.Replayed{
		Version: "devel", Name: "a <script> bar", Label: "liking", Recipes: 200, Failed: 2, LeftOut: campaign.ReplayLeftOut{Unmeasured: 3, RuleBreaking: 1},
		Best:      campaign.ReplayBest{ID: "<b>S-17</b>\x1b[2J", Value: 96.9, Measured: map[string]float64{"liking": 96.9}, Conditions: map[string]any{"temperature": 180.0, "oven": "deck"}},
		BestCount: 1, Start: 20, BatchSize: 4, Trials: 28, Seed: 1, Replays: make([]campaign.ReplayedCampaign, 10),
		Rounds:   []campaign.ReplayRound{at(20, 80, 0, 0), at(24, 90, 0.5, 0.1), at(28, 96.9, 0.96, 0.2)},
		ToBest:   campaign.TrialsToBest{Least: &least, Median: &median, ChanceMedian: 112},
		Coverage: []campaign.Coverage{{Label: "liking", Within: 70, Intervals: 80}},
	}
}

// TestReplay: the text of a replay says the answer first, whether the best was found or not, and whether there is one
// best recipe or many, and no name acts on a terminal.
func TestReplay(t *testing.T) {
	var b bytes.Buffer
	write := func(r *campaign.Replayed) {
		t.Helper()
		if err := Replay(&b, r, []string{"kir init recipes.csv", "kir next problem.yaml"}, terminal.Style{}); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n----\n")
	}
	write(someReplay())
	missed := someReplay()
	missed.ToBest.Median, missed.BestCount, missed.Minimize, missed.NoTrade = nil, 3, true, []string{"cost", "liking"}
	missed.Rounds = missed.Rounds[:2]
	write(missed)
	one := someReplay()
	one.Replays, one.ToBest.Most, one.Label, one.Failed, one.LeftOut = one.Replays[:1], one.ToBest.Median, "", 1, campaign.ReplayLeftOut{}
	for k := range one.Rounds {
		one.Rounds[k].ClosedSE = number.Unknown()
	}
	for range 30 { // and the table is thinned
		one.Rounds = append([]campaign.ReplayRound{one.Rounds[0]}, one.Rounds...)
	}
	write(one)
	many := someReplay()
	many.BestCount, many.Label = 40, ""
	write(many)
	golden.Compare(t, "testdata/replay.txt", b.Bytes())
	if strings.ContainsRune(b.String(), '\x1b') {
		t.Error("a name acts on the terminal")
	}
}

// TestReplayPage: the page has the answer, the figure and the table, no markup of names, and is known as one of kir's.
func TestReplayPage(t *testing.T) {
	for _, best := range []int{1, 40} {
		r := someReplay()
		r.BestCount = best
		var b bytes.Buffer
		if err := ReplayPage(&b, r); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		for _, want := range []string{ReplayHeadline(r)[:20], "<svg ", "kir, me", "at random, me", `<th scope="col" class="n">Trials</th>`, "a &lt;script&gt; bar", "Left out: 3 without a result and 1 outside the constraints."} {
			if !strings.Contains(page, want) {
				t.Errorf("no %q in\n%s", want, page)
			}
		}
		for _, not := range []string{"<script", "<b>S-17", "http:", "https:", "url("} {
			if strings.Contains(page, not) {
				t.Errorf("%q in the page", not)
			}
		}
		if !IsPage(b.Bytes()) {
			t.Error("it is not known as a page")
		}
		if f := ReplayFigure(r); strings.Contains(f.SVG(), "NaN") || f.Text == "" {
			t.Errorf("the figure: %s", f.SVG())
		}
	}
}
