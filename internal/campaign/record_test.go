package campaign

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/testonly/testmode"
)

const (
	bar = `total: 100
ingredients: [Gin, Tonic, Lime, Crème de cassis]
sparsity: {uniform: [1, 3]}
properties: {liking: {forest: {label: liking, maximize: true}}}
constraints: [{amount: {of: Gin, max: 50}}]
`
	batch = `{"round": 3, "total": 100, "measure": {"unit": "%", "size": "100", "decimals": 0}, "batch": [
{"id": "3-1", "recipe": {"Gin": 30, "Tonic": 70}, "reason": {"kind": "best", "text": "likely best"}},
{"id": "3-2", "recipe": {"Lime": 50, "Tonic": 50}, "reason": {"kind": "best", "text": "likely best"}},
{"id": "3-3", "recipe": {"Crème de cassis": 10, "Tonic": 90}, "reason": {"kind": "fill", "text": "fills the space"}}]}`
)

// bench writes files beside a problem, and returns the path of that.
func bench(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "bar.yaml")
}

func open(t *testing.T, path string) *Campaign {
	t.Helper()
	c, err := Open(t.Context(), path, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// noon is when all is recorded.
func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

// record records one result and returns what the results then are.
func record(t *testing.T, path string, res Result, o RecordOptions) (string, *RecordSummary, error) {
	t.Helper()
	o.Now = noon
	out, err := open(t, path).Record(t.Context(), []Result{res}, o)
	text, missing := os.ReadFile(compile.ResultsPath(path))
	if missing != nil && !errors.Is(missing, os.ErrNotExist) {
		t.Fatal(missing)
	}
	return string(text), out, err
}

// TestRecord goes through the life of results: what is known is added to, corrected and
// withdrawn, each time below what was there; what says nothing new changes nothing.
func TestRecord(t *testing.T) {
	path := bench(t, map[string]string{"bar.yaml": bar, "bar.batch-003.json": batch})
	parts := func(text string) []dataset.Part {
		p, _, err := open(t, path).ParseRecipe(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	before := "id,round,recipe,ingredient,amount,unit,liking,status,time\n"
	for _, step := range []struct {
		what  string
		res   Result
		o     RecordOptions
		added string // to the file
		wrong string
	}{
		{what: "a result", res: Result{ID: "3-1", Values: map[string]string{"liking": "7"}},
			added: "3-1,3,3-1,Gin,30,%,7,made,2026-01-02T12:00:00Z\n3-1,3,3-1,Tonic,70,%,7,made,2026-01-02T12:00:00Z\n"},
		{what: "the same again", res: Result{ID: "3-1", Values: map[string]string{"liking": "7.0"}}},
		{what: "another", res: Result{ID: "3-1", Values: map[string]string{"liking": "8"}}, wrong: `"3-1" has the liking "7" already, and not "8": kir record --correct replaces it`},
		{what: "a correction", res: Result{ID: "3-1", Values: map[string]string{"liking": "8"}}, o: RecordOptions{ReplaceRecorded: true},
			added: "3-1,3,3-1,Gin,30,%,8,made,2026-01-02T12:00:01Z\n3-1,3,3-1,Tonic,70,%,8,made,2026-01-02T12:00:01Z\n"},
		{what: "made otherwise", res: Result{ID: "3-2", Parts: parts("Lime=40,Tonic=60"), Values: map[string]string{"liking": "5,5"}},
			added: "3-2,3,3-2,Lime,40,%,5.5,made,2026-01-02T12:00:00Z\n3-2,3,3-2,Tonic,60,%,5.5,made,2026-01-02T12:00:00Z\n"},
		{what: "no number", res: Result{ID: "3-3", Values: map[string]string{"liking": "nice"}}, wrong: `"liking" is "nice", which is no number`},
		{what: "failed", res: Result{ID: "3-3", Values: map[string]string{"liking": "Unstable"}},
			added: "3-3,3,3-3,Tonic,90,%,,failed,2026-01-02T12:00:00Z\n3-3,3,3-3,Crème de cassis,10,%,,failed,2026-01-02T12:00:00Z\n"},
		{what: "failed again", res: Result{ID: "3-3", Failed: true}},
		{what: "not failed", res: Result{ID: "3-3", Values: map[string]string{"liking": "2"}}, wrong: `"3-3" was recorded as failed`},
		{what: "of one's own, that breaks a rule", res: Result{Name: "house", Parts: parts("Gin=60ml; Tonic=40ml"), Values: map[string]string{"liking": "9"}},
			added: "B3-4,3,house,Gin,60,ml,9,made,2026-01-02T12:00:00Z\nB3-4,3,house,Tonic,40,ml,9,made,2026-01-02T12:00:00Z\n"},
		{what: "the same of one's own", res: Result{Name: "house", Parts: parts("Gin=30,Tonic=20"), Values: map[string]string{"liking": "9"}}},
		{what: "withdrawn", res: Result{ID: "3-1"}, o: RecordOptions{Withdraw: true}, added: "3-1,3,,,,,,withdrawn,2026-01-02T12:00:02Z\n"},
		{what: "withdrawn again", res: Result{ID: "3-1"}, o: RecordOptions{Withdraw: true}},
		{what: "made after all", res: Result{ID: "3-1", Values: map[string]string{"liking": "4"}},
			added: "3-1,3,3-1,Gin,30,%,4,made,2026-01-02T12:00:03Z\n3-1,3,3-1,Tonic,70,%,4,made,2026-01-02T12:00:03Z\n"},
		{what: "nobody", res: Result{ID: "9-9", Values: map[string]string{"liking": "4"}}, wrong: `there is no recipe "9-9" in a batch or among the results`},
		{what: "says nothing", res: Result{ID: "3-2"}},
	} {
		text, out, err := record(t, path, step.res, step.o)
		if step.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), step.wrong) {
				t.Errorf("%s: %v, want %s", step.what, err, step.wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", step.what, err)
			continue
		}
		if text != before+step.added {
			t.Fatalf("%s:\n%swant\n%s%s", step.what, text, before, step.added)
		}
		before = text
		if breaks := strings.Contains(step.what, "breaks"); breaks != (len(out.Notes) > 0) {
			t.Errorf("%s: notes %q", step.what, out.Notes)
		}
	}
	c := open(t, path)
	if len(c.pendingEntries()) != 0 || len(c.trials) != 4 || len(c.trials[3].brokenRules) != 1 || !c.trials[2].failed {
		t.Errorf("%d pending, trials %+v", len(c.pendingEntries()), c.trials)
	}
	// A second label gets a column.
	text, _, err := record(t, path, Result{ID: "3-2", Values: map[string]string{"haze": "4"}}, RecordOptions{})
	if err != nil || !strings.HasPrefix(text, strings.Replace(before[:strings.Index(before, "\n")], "liking,", "liking,haze,", 1)) || !strings.Contains(text, "3-2,3,3-2,Tonic,60,%,5.5,4,made") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestPending: what waits is not tried, what is withdrawn before it was made is given up,
// and what was made under another id does not wait.
func TestPending(t *testing.T) {
	path := bench(t, map[string]string{"bar.yaml": bar, "bar.batch-003.json": batch})
	if _, _, err := record(t, path, Result{ID: "3-1"}, RecordOptions{Withdraw: true}); err != nil {
		t.Fatal(err)
	}
	p, _, err := open(t, path).ParseRecipe("Tonic=1;Lime=1")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := record(t, path, Result{Name: "half", Parts: p, Values: map[string]string{"liking": "1"}}, RecordOptions{}); err != nil {
		t.Fatal(err)
	}
	c := open(t, path)
	if wait := c.pendingEntries(); len(wait) != 1 || wait[0].ID != "3-3" {
		t.Errorf("%+v wait", wait)
	}
	if up := c.withdrawnKeys(); len(up) != 1 || !up[c.Batches[0].Entries[0].key] {
		t.Errorf("given up: %v", up)
	}
}

// TestReadTable: a filled batch, another lab's table, and a file of results are read, and
// the same file twice changes nothing.
func TestReadTable(t *testing.T) {
	for name, text := range map[string]string{
		"a filled batch":        "id,Gin,Tonic,Lime,Crème de cassis,liking,note\n3-1,30,70,,,7,likely best\n3-2,,50,50,,,\n3-3,,80,,20,failed,\n",
		"of a spreadsheet":      "id;Gin;Tonic;Lime;Cre\u0300me de cassis;liking;note\r\n3-1;30;70;;;7;likely best\r\n3-2;;50;50;;;\r\n3-3;;80;;20;Failed;\r\n",
		"another's":             "recipe,ingredient,amount,unit,liking,haze\nA,Gin,2,cl,7,1\nA,Lime,2,cl,7,1\nB,Tonic,5,cl,3,\n",
		"another's, wide":       "recipe,Gin,Lime,liking\nA,2,2,7\nB,0,5,3\n",
		"another's of results":  "id,round,recipe,ingredient,amount,unit,liking,status,time\nx1,1,A,Gin,1,,7,made,\nx1,1,A,Lime,1,,7,made,\nx2,1,B,Tonic,5,cl,,failed,\n",
		"with a column of ends": "id,Gin,Tonic,liking,status\n3-1,30,70,7,made\nown,10,90,,failed\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := bench(t, map[string]string{"bar.yaml": bar, "bar.batch-003.json": batch, "table.csv": text})
			c := open(t, path)
			results, _, err := c.ReadTable(t.Context(), filepath.Join(filepath.Dir(path), "table.csv"), dataset.Layout{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := c.Record(t.Context(), results, RecordOptions{Now: noon})
			if err != nil || out.New != 2 {
				t.Fatalf("%+v, %v", out, err)
			}
			once, err := os.ReadFile(compile.ResultsPath(path))
			if err != nil {
				t.Fatal(err)
			}
			c = open(t, path)
			if results, _, err = c.ReadTable(t.Context(), filepath.Join(filepath.Dir(path), "table.csv"), dataset.Layout{}); err != nil {
				t.Fatal(err)
			}
			if out, err = c.Record(t.Context(), results, RecordOptions{}); err != nil || out.New+out.ChangedCount != 0 {
				t.Errorf("twice: %+v, %v", out, err)
			}
			if twice, err := os.ReadFile(compile.ResultsPath(path)); err != nil || string(twice) != string(once) {
				t.Errorf("%v, was\n%sis\n%s", err, once, twice)
			}
			if len(c.trials) != 2 || strings.Contains(name, "batch") && (!c.trials[1].failed || c.trials[1].parts[0].Amount != 80) {
				t.Errorf("trials %+v", c.trials)
			}
		})
	}
	for text, want := range map[string]string{
		"id,Gin,liking\n3-1,30,good\n":        `table.csv:2:1: "liking" is "good", which is no number`,
		"id,Gyn,liking\n3-1,30,7\n":           `table.csv:1:4: "Gyn" is not one of the 4 ingredients`,
		"id,Gin,liking\n3-1,,7\n":             `the amounts of "3-1" add up to 0`,
		"id,Gin,liking,status\n3-1,1,,lost\n": `table.csv:2:1: the status is "lost"`,
		"id,Gin,liking\n3-1,2,7\n3-1,2,7\n":   `"3-1" is there twice`,
	} {
		path := bench(t, map[string]string{"bar.yaml": bar, "bar.batch-003.json": batch, "table.csv": text})
		c := open(t, path)
		results, _, err := c.ReadTable(t.Context(), filepath.Join(filepath.Dir(path), "table.csv"), dataset.Layout{})
		if err == nil {
			_, err = c.Record(t.Context(), results, RecordOptions{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q says %v, not %s", text, err, want)
		}
		if _, err := os.Stat(compile.ResultsPath(path)); err == nil {
			t.Errorf("%q left results", text)
		}
	}
}

// TestParseRecipe reads recipes that are written out.
func TestParseRecipe(t *testing.T) {
	c := open(t, bench(t, map[string]string{"bar.yaml": bar}))
	for text, want := range map[string]string{
		"Gin=22%,Tonic=78%":                 "0:22 1:78 ",
		"Gin = 22 %, Tonic = 78 %":          "0:22 1:78 ",
		"Gin=1,5;Tonic=8,5":                 "0:15 1:85 ",
		"Gin=1,5,Tonic=8,5":                 "0:15 1:85 ",
		"Gin=1.5,Tonic=8.5":                 "0:15 1:85 ",
		"Crème de cassis=1 cl, Tonic=90 ml": "1:90 3:10 ",
		"Gin=1/2,Tonic=½":                   "0:50 1:50 ",
	} {
		parts, _, err := c.ParseRecipe(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if x, err := c.scaleToTotal(parts); err != nil || recipeKey(x) != want {
			t.Errorf("%s is %s, %v, want %s", text, recipeKey(x), err, want)
		}
	}
	for text, want := range map[string]string{
		"Gin":         `"Gin" does not say how much of what`,
		"Gyn=1":       `"Gyn" is not one of the 4 ingredients: did you mean "Gin"?`,
		"Gin=a":       `unreadable amount "a"`,
		"Gin=1,Gin=2": `"Gin" is in "it" twice`,
		"":            "does not say how much of what",
	} {
		if _, _, err := c.ParseRecipe(text); err == nil || !strings.HasPrefix(err.Error(), want) && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestRecordFails: at whichever call of the system writing ends, the file is as it was or
// as it is to be.
func TestRecordFails(t *testing.T) {
	path := bench(t, map[string]string{"bar.yaml": bar, "bar.batch-003.json": batch})
	was, _, err := record(t, path, Result{ID: "3-1", Values: map[string]string{"liking": "7"}}, RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space is left")
	other := Result{ID: "3-2", Values: map[string]string{"liking": "7"}}
	fails := 0
	for at := 0; ; at++ {
		calls := 0
		is, _, err := record(t, path, other, RecordOptions{Step: func(call, of string) error {
			if calls++; calls > at {
				return full // and so do all that follow, as if the process were dead
			}
			return nil
		}})
		if err == nil {
			if is == was || !strings.HasPrefix(is, was) {
				t.Errorf("nothing failed:\n%s", is)
			}
			break
		}
		fails++
		if !errors.Is(err, full) {
			t.Errorf("call %d: %v", at, err)
		}
		if is != was {
			// The file had been renamed: what follows only sees to it that it stays.
			if again, out, err := record(t, path, other, RecordOptions{}); err != nil || out.UnchangedCount != 1 || again != is {
				t.Errorf("call %d: %v, %+v\n%s", at, err, out, again)
			}
			break
		}
	}
	if fails < 4 {
		t.Errorf("it failed at %d calls only", fails)
	}
}

// recordAlone is what the process that is killed does: it records results without end.
func recordAlone(path string) error {
	ctx := context.Background()
	for k := 1; ; k++ {
		c, err := Open(ctx, path, compile.Options{})
		if err != nil {
			return err
		}
		parts, _, err := c.ParseRecipe(fmt.Sprintf("Gin=%d,Tonic=%d", k%40+1, 99-k%40))
		if err != nil {
			return err
		}
		if _, err := c.Record(ctx, []Result{{Name: fmt.Sprint(k), Parts: parts, Values: map[string]string{"liking": fmt.Sprint(k)}}}, RecordOptions{}); err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
	}
}

const killedPath = "KIR_TEST_RECORD"

func TestMain(m *testing.M) {
	testmode.CollectRarely()
	if path := os.Getenv(killedPath); path != "" {
		fmt.Fprintln(os.Stderr, recordAlone(path))
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// TestRecordKilled kills processes that record, at any moment: what they leave begins
// with what was there before, ends with a whole result, and can be added to.
func TestRecordKilled(t *testing.T) {
	path := bench(t, map[string]string{"bar.yaml": bar})
	r := rand.New(rand.NewPCG(1, 2))
	var was []byte
	const enough, most = 5, 200 // results; processes, of which few get so far on a slow machine
	results := 0
	for k := 0; k < testmode.Pick(60, 12) || results < enough && k < most; k++ {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), killedPath+"="+path)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		// A process records every few milliseconds; on a slow machine it takes long to begin, so
		// that the time grows until there are results.
		span := testmode.Pick(300, 100)
		if results < enough {
			span <<= min(k/12, 5)
		}
		time.Sleep(time.Duration(20+r.IntN(span)) * time.Millisecond)
		if err := command.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatalf("process %d: %v", k, err)
		}
		if err := command.Wait(); err == nil {
			t.Fatal("it was not killed")
		} else if !strings.Contains(err.Error(), "killed") {
			t.Fatal(err)
		}
		is, err := os.ReadFile(compile.ResultsPath(path))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil || !strings.HasPrefix(string(is), string(was)) {
			t.Fatalf("%v: process %d left\n%s\nafter\n%s", err, k, is, was)
		}
		log, err := dataset.ReadResults(strings.NewReader(string(is)), "", dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range log.Entries {
			if len(e.Parts) != 2 || e.Values[0] == "" {
				t.Fatalf("half a result: %+v", e)
			}
		}
		was, results = is, len(log.Entries)
	}
	if results < enough {
		t.Errorf("%d results: too few to have been killed at", results)
	}
	if _, _, err := record(t, path, Result{Name: "last", Parts: mustParts(t, path), Values: map[string]string{"liking": "1"}}, RecordOptions{}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".new") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func mustParts(t *testing.T, path string) []dataset.Part {
	t.Helper()
	parts, _, err := open(t, path).ParseRecipe("Gin=1,Tonic=1")
	if err != nil {
		t.Fatal(err)
	}
	return parts
}
