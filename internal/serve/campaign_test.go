package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"kir/internal/campaign"
	"kir/internal/compile"
	"kir/internal/dataset"
)

// tonics writes a problem with a book of trials of three ingredients.
func tonics(t *testing.T) string {
	t.Helper()
	var trials strings.Builder
	trials.WriteString("recipe,ingredient,amount,unit,liking\n")
	for k, r := range [][4]int{{50, 30, 20, 31}, {60, 20, 20, 42}, {30, 30, 40, 25}, {70, 20, 10, 55}, {40, 50, 10, 38}, {80, 10, 10, 61}, {20, 70, 10, 12}, {55, 35, 10, 44}} {
		for i, name := range []string{"Tonic", "Gin", "Lime"} {
			fmt.Fprintf(&trials, "trial %d,%s,%d,ml,%d\n", k+1, name, r[i], r[3])
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"trials.csv": trials.String(),
		"bar.yaml": `name: A long drink
recipes: trials.csv
total: 20
properties: {liking: {learn: {label: liking, maximize: true}}}
constraints: [{amount: {of: Gin, max: 14}}]
campaign: {batch: 3}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "bar.yaml")
}

// campaignIs waits until the campaign that the page received last is so.
func (c *client) campaignIs(what string, ok func(*Campaign) bool) *Campaign {
	c.t.Helper()
	var n Campaign
	for range 2400 {
		n = Campaign{}
		if text := c.lastTold("campaign"); text != "" {
			if err := json.Unmarshal([]byte(text), &n); err != nil {
				c.t.Fatal(err)
			}
			if ok(&n) {
				return &n
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	c.t.Fatalf("%s: the campaign is %+v, with the fault %+v", what, n, n.Fault)
	return nil
}

// read opens the campaign of a problem as the command line does.
func readCampaign(t *testing.T, file string) *campaign.Campaign {
	t.Helper()
	k, err := campaign.Open(t.Context(), file, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// TestCampaign goes through two rounds: the batches are those of kir next, the results are
// those of kir record, and a page that is opened anew goes on with them.
func TestCampaign(t *testing.T) {
	file := tonics(t)
	c := serving(t, file)
	n := c.campaignIs("read", func(n *Campaign) bool { return n.Step == 1 })
	if len(n.Batches) != 0 || n.BatchSize != 3 || !reflect.DeepEqual(n.Labels, []Label{{Name: "liking", Numeric: true}}) || n.Standing != nil {
		t.Fatalf("at first it is %+v", n)
	}
	c.must(Request{Action: "next"})
	n = c.campaignIs("a batch", func(n *Campaign) bool { return len(n.Batches) == 1 && n.Activity == "" && n.Standing != nil })
	batch := n.Batches[0]
	if len(batch.Entries) != 3 || n.Standing.Headline == "" || batch.Table != "bar.batch-001.csv" || len(n.Standing.Figures) == 0 {
		t.Fatalf("the batch is %+v, and it stands at %+v", batch, n.Standing)
	}
	again, err := readCampaign(t, file).UnchangedBatch(campaign.SettingsOf(readCampaign(t, file).Problem, ""))
	if err != nil || again == nil {
		t.Fatalf("kir next does not print the page's batch again: %v", err)
	}
	for k, e := range batch.Entries {
		for name := range e.Recipe {
			if _, ok := n.Colours[name]; !ok {
				t.Errorf("%s has no colour", name)
			}
		}
		if !reflect.DeepEqual(e.Recipe, again.Entries[k].Recipe) || e.Status != "waits" || e.Reason == "" || e.Predicted["liking"].Low >= e.Predicted["liking"].High {
			t.Errorf("recipe %d is %+v, and that of kir next %+v", k+1, e, again.Entries[k])
		}
	}
	status, sheets := c.get("/sheets?round=1&batch=200ml&step=0.5")
	if status != http.StatusOK || strings.Count(sheets, "<section") != 3 || !strings.Contains(sheets, "<span>liking</span>") || !strings.Contains(sheets, "recipe B1-3") {
		t.Errorf("the sheets: %d %.300s", status, sheets)
	}

	for _, wrong := range []Request{
		{Action: "record", Results: []RecipeResult{{ID: "1-1", Values: map[string]string{"liking": "nice"}}}},
		{Action: "record", Results: []RecipeResult{{ID: "1-1", Values: map[string]string{"liking": "1"}}, {ID: "9-9", Values: map[string]string{"liking": "7"}}}},
		{Action: "record", Results: []RecipeResult{{ID: "1-1", Values: map[string]string{"haze": "1"}}}},
		{Action: "record"}, {Action: "paste", Text: ""}, {Action: "paste", Text: "id,liking\n8-8,4\n"}, {Action: "next", Size: -1}, {Action: "next", Size: campaign.MaxBatchSize + 1},
	} {
		if status, text := c.do(wrong); status != http.StatusBadRequest {
			t.Errorf("%+v: %d %s", wrong, status, text)
		}
	}
	if _, err := os.Stat(compile.ResultsPath(file)); !os.IsNotExist(err) {
		t.Errorf("after what was refused there are results: %v", err)
	}

	c.must(Request{Action: "record", Results: []RecipeResult{{ID: "1-1", Values: map[string]string{"liking": "60"}}}})
	c.must(Request{Action: "record", Results: []RecipeResult{{ID: "1-1", Values: map[string]string{"liking": "66"}}}}) // a slip
	c.must(Request{Action: "record", Results: []RecipeResult{{ID: "B1-2", Failed: true}}})
	c.must(Request{Action: "paste", Text: "id\tliking\n1-3\t58,5\n"})
	n = c.campaignIs("learnt", func(n *Campaign) bool {
		return n.Activity == "" && n.Standing != nil && !n.Stale && len(n.Standing.Checks) == 2
	})
	for k, want := range []struct{ status, value string }{{"made", "66"}, {"failed", ""}, {"made", "58.5"}} {
		if e := n.Batches[0].Entries[k]; e.Status != want.status || e.Values["liking"] != want.value {
			t.Errorf("recipe %d is %+v", k+1, e)
		}
	}
	k := readCampaign(t, file)
	if r, _ := k.Result("1-1"); r.Status != dataset.StatusMade || r.Values[0] != "66" {
		t.Errorf("the file has %+v", r)
	}
	c.must(Request{Action: "record", Results: []RecipeResult{{ID: "1-2"}}, Withdraw: true})
	c.must(Request{Action: "next", Size: 2})
	n = c.campaignIs("the second batch", func(n *Campaign) bool { return len(n.Batches) == 2 && n.Activity == "" })
	if len(n.Batches[0].Entries) != 2 || n.Batches[0].Round != 2 || n.Batches[1].Entries[1].Status != "withdrawn" {
		t.Errorf("the batches are %+v", n.Batches)
	}

	// Another page, as after the first was closed.
	if err := c.session.endAllWork(); err != nil {
		t.Fatal(err)
	}
	other := serving(t, file)
	m := other.campaignIs("opened anew", func(n *Campaign) bool { return n.Standing != nil && n.Activity == "" })
	if !reflect.DeepEqual(m.Batches, n.Batches) {
		t.Errorf("opened anew the batches are %+v, and were %+v", m.Batches, n.Batches)
	}
}

// TestCampaignUnkept: a result that cannot be written is refused with a word, and does not
// count.
func TestCampaignUnkept(t *testing.T) {
	file := tonics(t)
	c := serving(t, file)
	c.campaignIs("read", func(n *Campaign) bool { return n.Step == 1 })
	c.must(Request{Action: "next", Size: 1})
	c.campaignIs("a batch", func(n *Campaign) bool { return len(n.Batches) == 1 && n.Activity == "" })
	// Nothing can be written in place of a directory.
	if err := os.Mkdir(compile.ResultsPath(file), 0o777); err != nil {
		t.Fatal(err)
	}
	status, text := c.do(Request{Action: "record", Results: []RecipeResult{{ID: "1-1", Values: map[string]string{"liking": "7"}}}})
	if status == http.StatusOK || !strings.Contains(text, "message") {
		t.Errorf("it is answered with %d %s", status, text)
	}
	if err := os.Remove(compile.ResultsPath(file)); err != nil {
		t.Fatal(err)
	}
	c.must(Request{Action: "record", Results: []RecipeResult{{ID: "1-1", Values: map[string]string{"liking": "7"}}}})
}

// TestCampaignLast: of many results of one recipe the last counts, in the file and on the
// page, and where the campaign stands is computed for it.
func TestCampaignLast(t *testing.T) {
	file := tonics(t)
	c := serving(t, file)
	c.session.waitTimes.relearnDelay = soon().relearnDelay // nothing is recorded yet
	c.campaignIs("read", func(n *Campaign) bool { return n.Step == 1 })
	c.must(Request{Action: "next", Size: 1})
	c.campaignIs("a batch", func(n *Campaign) bool { return len(n.Batches) == 1 && n.Activity == "" })
	for k := range 6 {
		c.must(Request{Action: "record", Results: []RecipeResult{{ID: "1-1", Values: map[string]string{"liking": fmt.Sprint(50 + k)}}}})
	}
	n := c.campaignIs("learnt", func(n *Campaign) bool {
		return n.Activity == "" && n.Standing != nil && !n.Stale && len(n.Standing.Checks) == 1
	})
	if n.Batches[0].Entries[0].Values["liking"] != "55" || n.Standing.Checks[0].Measured != 55 {
		t.Errorf("the page has %+v, and stands at %+v", n.Batches[0].Entries[0], n.Standing.Checks)
	}
	if err := c.session.useCampaign(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	c.campaignIs("read again without a change", func(n *Campaign) bool { return n.Standing != nil && !n.Stale })
	if r, _ := readCampaign(t, file).Result("1-1"); r.Values[0] != "55" {
		t.Errorf("the file has %+v", r)
	}
}
