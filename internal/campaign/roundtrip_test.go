package campaign

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/testonly/testmode"
)

// noted is bar with a label of text.
const noted = bar + "labels: [note]\n"

// results returns the text of the file of results, empty if there is none.
func results(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(compile.ResultsPath(path))
	if err != nil && !isNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// TestRecordUnreadable: what no command could read afterwards is refused, by what it is and
// with how to write it, and nothing changes.
func TestRecordUnreadable(t *testing.T) {
	letters := strings.Repeat("n", 70_000)
	for _, c := range []struct {
		what  string
		yaml  string
		res   Result
		wants []string
	}{
		{"a long text", noted, Result{ID: "3-1", Values: map[string]string{"liking": "5", "note": letters}}, []string{`"note" of "3-1" has 70000 bytes; a cell can hold at most 65536`, "shorten it"}},
		{"one that is long with its apostrophe", noted, Result{ID: "3-1", Values: map[string]string{"note": "=" + letters[:1<<16-1]}}, []string{`"note" of "3-1" has 65537 bytes`}},
		{"a long name", noted, Result{Name: letters, Values: map[string]string{"liking": "5"}}, []string{"the name", "has 70000 bytes"}},
		{"a NUL", noted, Result{ID: "3-1", Values: map[string]string{"note": "a\x00b"}}, []string{`"note" of "3-1" has the control character U+0000`, "leave it out"}},
		{"no UTF-8", noted, Result{ID: "3-1", Values: map[string]string{"note": "caf\xe9"}}, []string{`"note" of "3-1" is no text in UTF-8`}},
		{"a label that is a column", bar + "labels: [Time]\n", Result{ID: "3-1", Values: map[string]string{"Time": "5"}}, []string{`a label is called "Time", as another column of results is`, "rename the label"}},
		{"a long label", bar + "labels: [" + letters + "]\n", Result{ID: "3-1", Values: map[string]string{letters: "5"}}, []string{"the label", "has 70000 bytes"}},
		{"a number of Go", bar, Result{ID: "3-1", Values: map[string]string{"liking": "0x1p3"}}, []string{`"liking" is "0x1p3", which is no number`}},
		{"a spread below 0", strings.Replace(bar, "{forest: {label: liking, maximize: true}}", "{process: {label: liking, maximize: true, sd: error}}", 1),
			Result{ID: "3-1", Values: map[string]string{"liking": "5", "error": "-1"}}, []string{`"error" is "-1", which is no standard deviation`}},
	} {
		t.Run(c.what, func(t *testing.T) {
			path := bench(t, map[string]string{"bar.yaml": bar, "bar.batch-003.json": batch})
			if _, _, err := record(t, path, Result{ID: "3-2", Values: map[string]string{"liking": "4"}}, RecordOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.yaml), 0o644); err != nil {
				t.Fatal(err)
			}
			was := results(t, path)
			if c.res.Name != "" {
				c.res.Parts = mustParts(t, path)
			}
			_, _, err := record(t, path, c.res, RecordOptions{})
			for _, want := range c.wants {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %s", shortened(err), want)
				}
			}
			if results(t, path) != was {
				t.Error("the results changed")
			}
			open(t, path)
		})
	}
	// A row may be too long though no cell is: the reader itself says so.
	yaml, values := bar+"labels: [l0", map[string]string{}
	for k := range 66 {
		yaml += fmt.Sprintf(", l%d", k+1)
		values[fmt.Sprintf("l%d", k+1)] = letters[:1<<16-1]
	}
	path := bench(t, map[string]string{"bar.yaml": yaml + "]\n", "bar.batch-003.json": batch})
	if _, _, err := record(t, path, Result{ID: "3-1", Values: values}, RecordOptions{}); err == nil || !strings.Contains(err.Error(), "nothing was recorded: the file of results could not be read again: a row is longer than 4 MiB") {
		t.Error(shortened(err))
	}
	if results(t, path) != "" {
		t.Error("there are results")
	}
}

func shortened(err error) string {
	text := fmt.Sprint(err)
	return text[:min(len(text), 300)]
}

// oddTexts are what names and values may be and is no plain word.
var oddTexts = []string{
	"x", "a b", " a ", "a\u00a0", "e\u0301", "caf\u00e9", "a,b", "a;b;c", "a\tb", "a|b", `a"b`, `"`, "a\nb", "a\r\nb", "a\rb", "\r", "=x", "'=x", "''=x", "' =x", "+1", "-1", "-x", "@x", "＝x", "'＝x", "'",
	"\ufeffx", "x\ufeff", "\u2028", "a\u2028b", "\u200eab", "\u202eab\u202c", "\x00", "a\x1b[31mb", "\x7f", "\u0085", "caf\xe9", "\xff\xfe", "1,5", "1.234", "1,500", "12 %", "€ 3", "-", "n/a", "na", "failed", "1-1", "B1-1", "1-Jan", "sep=;", "#", "NaN", "1e5", "0x10",
	"total", "Summe", "id", "note", "status", "recipe", "😀", "\u0338x", "=\u0338", "Ｇｉｎ", "GIN", "made", "5 ml", "ﬁ", "\\", `\.`, "a\\nb", "null", "~", "*", "? x", "{a: b}",
}

// text returns a text at random, now and then a long one.
func text(r *rand.Rand) string {
	switch r.IntN(12) {
	case 0:
		return strings.Repeat("n", 70_000)
	case 1:
		return oddTexts[r.IntN(len(oddTexts))] + oddTexts[r.IntN(len(oddTexts))]
	case 2:
		var b strings.Builder
		for range 1 + r.IntN(5) {
			b.WriteRune([]rune("a =+-@'\"\r\n\t,;\u00a0\u0301\u2028\u202e\ufeff\x00\x1bé＝")[r.IntN(22)])
		}
		return b.String()
	}
	return oddTexts[r.IntN(len(oddTexts))]
}

// TestRecordAnything records texts of all kinds as names, values and ids: either all of it is
// refused and the file is what it was, or everything that follows reads it, as what was
// recorded, and recording it again adds nothing.
func TestRecordAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 6))
	refused, accepted := 0, 0
	for range testmode.Pick(1000, 30) {
		gin, note, class, own, id := text(r), text(r), text(r), text(r), text(r)
		name := func() string { // of an ingredient, that a problem may have
			in, err := json.Marshal(gin)
			if err != nil {
				t.Fatal(err)
			}
			return string(in)
		}()
		path := bench(t, map[string]string{
			"bar.yaml":           "total: 100\ningredients: [" + name + ", Tonic, Lime]\nsparsity: {uniform: [1, 3]}\nproperties: {liking: {forest: {label: liking, maximize: true}}}\nlabels: [note, class]\n",
			"bar.batch-003.json": `{"round": 3, "total": 100, "measure": {"unit": "%", "size": "100", "decimals": 0}, "batch": [{"id": "B3-1", "recipe": {"Lime": 30, "Tonic": 70}}, {"id": "B3-2", "recipe": {"Lime": 50, "Tonic": 50}}]}`,
		})
		c, err := Open(t.Context(), path, compile.Options{})
		if err != nil {
			continue // nothing is accepted of a problem that cannot be read
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		parts := func(gin int64) []dataset.Part {
			var all []dataset.Part
			for k, v := range []int64{gin, 100 - gin} {
				a, err := measure.ParseAmount(fmt.Sprint(v))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, dataset.Part{Ingredient: int32(k), Amount: a})
			}
			return all
		}
		say := func(err error) {
			t.Errorf("ingredient %.80q, note %.80q, class %.80q, name %.80q, id %.80q: %s", gin, note, class, own, id, shortened(err))
		}
		for k, res := range []Result{
			{ID: "B3-1", Values: map[string]string{"liking": "5", "note": note}},
			{ID: "B3-2", Values: map[string]string{"class": class}},
			{Name: own, Parts: parts(40), Values: map[string]string{"liking": "3"}},
			{ID: id, Parts: parts(60), Values: map[string]string{"liking": "2", "class": class}},
		} {
			was := results(t, path)
			took := func() (*RecordSummary, error) {
				one := res
				one.Values = map[string]string{}
				for name, v := range res.Values {
					one.Values[name] = v
				}
				_, out, err := record(t, path, one, RecordOptions{ReplaceRecorded: true})
				return out, err
			}
			out, err := took()
			if bad := (*inputerr.Error)(nil); errors.As(err, &bad) || errors.As(err, new(*inputerr.Errors)) {
				if refused++; results(t, path) != was {
					say(fmt.Errorf("%d was refused and the file changed: %w", k, err))
				}
				continue
			}
			if err != nil {
				say(err)
				continue
			}
			accepted++
			if !strings.HasPrefix(results(t, path), was) {
				say(fmt.Errorf("%d changed what was there", k))
			}
			c, err := Open(t.Context(), path, compile.Options{})
			if err != nil {
				say(fmt.Errorf("%d cannot be read: %w", k, err))
				break
			}
			for _, of := range out.IDs {
				e, ok := c.Result(of)
				if !ok || out.New == 1 && e.Recipe != nameOf(res, of) && res.ID != "B3-1" && res.ID != "B3-2" {
					say(fmt.Errorf("%d, %s, is called %q", k, of, e.Recipe))
				}
				for name, v := range res.Values {
					if is := c.Problem.Results().Value(&e, name); !dataset.SameNumber(is, dataset.NormalizeName(v)) && !(dataset.IsFailureMark(v) && is == "") {
						say(fmt.Errorf("%d has the %s %q", k, name, is))
					}
				}
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if again, err := took(); err != nil || again.New+again.ChangedCount != 0 {
				say(fmt.Errorf("%d again: %+v, %w", k, again, err))
			}
		}
	}
	t.Logf("%d accepted, %d refused", accepted, refused)
	if accepted < refused {
		t.Error("most of it was refused")
	}
}

// nameOf returns what a recipe of one's own is called.
func nameOf(res Result, id string) string {
	for _, name := range []string{dataset.NormalizeName(res.Name), dataset.NormalizeName(res.ID)} {
		if name != "" {
			return name
		}
	}
	return id
}

// TestTableAnything: the table of a batch, in both formats, is read again whatever its
// ingredients and labels are called, or nothing is written.
func TestTableAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	read, refused := 0, 0
	for range testmode.Pick(500, 25) {
		gin, label := text(r), text(r)
		quoted := func(text string) string { b, _ := json.Marshal(text); return string(b) }
		path := bench(t, map[string]string{
			"bar.yaml": "total: 100\ningredients: [" + quoted(gin) + ", Tonic, Lime]\nsparsity: {uniform: [1, 3]}\nlabels: [liking, " + quoted(label) + "]\n",
		})
		c, err := Open(t.Context(), path, compile.Options{})
		if err != nil {
			continue
		}
		b := &Batch{Round: 1, Total: 100, Measure: Measure{Unit: "%", WholeAmount: "100"}, Labels: c.measuredLabels(), Entries: []Entry{
			{ID: "B1-1", Recipe: map[string]int{c.Problem.Ingredients[0]: 30, "Tonic": 70}, Reason: Reason{Text: "likely best"}},
			{ID: "B1-2", Recipe: map[string]int{c.Problem.Ingredients[0]: 20, "Lime": 80}, Reason: Reason{Text: "likely best"}},
		}}
		for k := range b.Entries {
			b.Entries[k].round, b.Entries[k].measure = 1, b.Measure
			if err := c.resolveEntry(&b.Entries[k]); err != nil {
				t.Fatal(err)
			}
		}
		if c.checkLabels() != nil {
			continue // it is not chosen
		}
		for _, ending := range []string{"csv", "xlsx"} {
			table := filepath.Join(filepath.Dir(path), "table."+ending)
			err := c.SaveTable(b, table)
			if _, missed := os.Stat(table); (err == nil) != (missed == nil) {
				t.Errorf("%q, %q: %v, and %v", gin, label, err, missed)
			}
			if err != nil {
				if refused++; !errors.As(err, new(*inputerr.Error)) {
					t.Error(err)
				}
				continue
			}
			all, _, err := c.ReadTable(t.Context(), table, dataset.Layout{})
			if err != nil || len(all) != 2 || all[1].ID != "B1-2" {
				t.Errorf("%q, %q: %v, %+v", gin, label, err, all)
				continue
			}
			for _, name := range c.measuredLabels() {
				if _, ok := all[0].Values[name]; !ok {
					t.Errorf("%q, %q: no label %q in %v", gin, label, name, all[0].Values)
				}
			}
			read++
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d tables read, %d refused", read, refused)
	if read < 3*refused {
		t.Error("most were refused")
	}
}

// mangled are the ids of a batch as spreadsheets write what they take for dates.
var mangled = map[string][]string{
	"English":      {"1-Jan", "2-Jan", "3-Jan", "4-Jan"},
	"German":       {"01. Jan", "02. Jan", "03. Jan", "04. Jan"},
	"ISO":          {"2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"},
	"serial":       {"46023", "46024", "46025", "46026"},
	"a long dash":  {"1–1", "1–2", "1–3", "1–4"},
	"without B":    {"1-1", "1-2", "1-3", "1-4"},
	"small":        {"b1-1", "b1-2", "b1-3", "b1-4"},
	"some of them": {"B1-1", "2-Jan", "B1-3", "4-Jan"},
	"in French":    {"1-janv", "1-févr", "1-mars", "1-avr"},
}

// offered is a batch of four, two of which are the same, beside an earlier one with the first.
var offered = map[string]string{
	"bar.yaml": noted,
	"bar.batch-001.json": `{"round": 1, "total": 100, "measure": {"unit": "%", "size": "100", "decimals": 0}, "batch": [
{"id": "B1-1", "recipe": {"Gin": 30, "Tonic": 70}}, {"id": "B1-2", "recipe": {"Lime": 50, "Tonic": 50}},
{"id": "B1-3", "recipe": {"Crème de cassis": 10, "Tonic": 90}}, {"id": "B1-4", "recipe": {"Lime": 50, "Tonic": 50}}]}`,
	"bar.batch-002.json": `{"round": 2, "total": 100, "measure": {"unit": "%", "size": "100", "decimals": 0}, "batch": [
{"id": "B2-1", "recipe": {"Gin": 30, "Tonic": 70}, "reason": {"kind": "replicate"}}, {"id": "B2-2", "recipe": {"Lime": 20, "Tonic": 80}}]}`,
}

// filled writes the table of the first batch with other ids.
func filled(t *testing.T, ids []string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for k, row := range [][]string{{"id", "Gin", "Tonic", "Lime", "Crème de cassis", "liking", "note"}, {"", "30", "70", "", "", "7", "a"}, {"", "", "50", "50", "", "6", "b"}, {"", "", "90", "", "10", "5", "c"}, {"", "", "50", "50", "", "4", "d"}} {
		if k > 0 {
			row[0] = ids[k-1]
		}
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	return b.Bytes()
}

// recordText records a table.
func recordText(t *testing.T, path string, text []byte) (*RecordSummary, error) {
	t.Helper()
	c := open(t, path)
	all, _, err := c.ParseTable(text, "table.csv", dataset.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Record(t.Context(), all, RecordOptions{Now: noon})
}

// TestMangledIDs: a table whose ids a spreadsheet has turned into dates is that of its batch,
// by its amounts, with a word; the right table then brings nothing new.
func TestMangledIDs(t *testing.T) {
	right := []string{"B1-1", "B1-2", "B1-3", "B1-4"}
	for what, ids := range mangled {
		t.Run(what, func(t *testing.T) {
			path := bench(t, offered)
			out, err := recordText(t, path, filled(t, ids))
			if err != nil || out.New != 4 || !slices.Equal(out.IDs, right) {
				t.Fatalf("%+v, %v", out, err)
			}
			words := strings.Join(out.Notes, "\n")
			for k, id := range ids {
				word := fmt.Sprintf("%s has the amounts of %s and is recorded as it", inputerr.Quote(id), right[k])
				if is := strings.Contains(words, word); is != (dataset.IDKey(id) != right[k]) {
					t.Errorf("%s: %s", id, words)
				}
			}
			was := results(t, path)
			for _, again := range [][]string{ids, right, {"1-1", "1-2", "1-3", "1-4"}} {
				if out, err = recordText(t, path, filled(t, again)); err != nil || out.New+out.ChangedCount != 0 || out.UnchangedCount != 4 {
					t.Errorf("%v: %+v, %v", again, out, err)
				}
			}
			c := open(t, path)
			if results(t, path) != was || len(c.trials) != 4 || c.CountResultsOutsideBatches() != 0 {
				t.Errorf("%d trials:\n%s", len(c.trials), results(t, path))
			}
		})
	}
	// One that was made otherwise is no longer known by its amounts: kir says what it takes it for.
	path := bench(t, offered)
	out, err := recordText(t, path, []byte("id,Gin,Tonic,liking\n1-Jan,31,69,7\n"))
	if err != nil || len(out.Notes) != 1 || out.Notes[0] != `"1-Jan" is no id of a batch, and no batch has its amounts: it is recorded as a recipe of your own, B2-3` {
		t.Errorf("%+v, %v", out, err)
	}
	// Of two that are the same it is the one of the batch that more rows are of.
	path = bench(t, offered)
	if out, err = recordText(t, path, []byte("id,Gin,Tonic,Lime,liking\n2-Jan,30,70,,7\n2-Feb,,80,20,7\n")); err != nil || !slices.Equal(out.IDs, []string{"B2-1", "B2-2"}) {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestOldIDs: batches and results that have 1-1 for B1-1 go on.
func TestOldIDs(t *testing.T) {
	for _, c := range []struct{ batch, recorded, typed, want string }{
		{"3-1", "", "B3-1", "3-1"}, {"B3-1", "", "3-1", "B3-1"}, {"3-1", "3-1", "B3-1", "3-1"}, {"B3-1", "3-1", "B3-1", "3-1"}, {"B3-1", "B3-1", "3-1", "B3-1"},
	} {
		files := map[string]string{"bar.yaml": bar, "bar.batch-003.json": strings.ReplaceAll(batch, `"3-1"`, `"`+c.batch+`"`)}
		if c.recorded != "" {
			files["bar.results.csv"] = "id,round,recipe,ingredient,amount,unit,liking,status,time\n" + c.recorded + ",3," + c.recorded + ",Gin,30,%,7,made,2026-01-02T08:00:00Z\n" + c.recorded + ",3," + c.recorded + ",Tonic,70,%,7,made,2026-01-02T08:00:00Z\n"
		}
		path := bench(t, files)
		k := open(t, path)
		if !k.HasID(c.typed) || k.findEntry(c.typed) == nil || k.IsPending(c.batch) != (c.recorded == "") {
			t.Errorf("%+v is not known", c)
		}
		_, out, err := record(t, path, Result{ID: c.typed, Values: map[string]string{"liking": "8"}}, RecordOptions{ReplaceRecorded: true})
		if err != nil || !slices.Equal(out.IDs, []string{c.want}) {
			t.Errorf("%+v: %+v, %v", c, out, err)
		}
		k = open(t, path)
		if e, ok := k.Result(c.typed); !ok || e.Values[0] != "8" || len(k.trials) != 1 || k.trials[0].round != 3 || len(k.pendingEntries()) != 2 {
			t.Errorf("%+v: %+v, %v, %d trials", c, e, ok, len(k.trials))
		}
	}
}

// TestRoundsFollowBatches: a number that somebody gave a recipe is no round, and sizes
// nothing.
func TestRoundsFollowBatches(t *testing.T) {
	path := bench(t, offered)
	begun := time.Now()
	for _, text := range []string{"id,Gin,Tonic,liking\n20261124-3,31,69,7\n3-1,32,68,7\n", "id,round,recipe,ingredient,amount,unit,liking,status,time\nB20261124-3,20261124,mine,Gin,1,ml,7,made,\n"} {
		if out, err := recordText(t, path, []byte(text)); err != nil || out.New == 0 || !strings.HasPrefix(out.IDs[0], "B2-") {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	typed := results(t, path) + "20261124-3,20261124,x,Gin,1,ml,7,,made,2026-01-02T08:00:00Z\n"
	if err := os.WriteFile(compile.ResultsPath(path), []byte(typed), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{"", "bar.batch-999999999.json"} {
		rounds := 3
		if more != "" {
			text := `{"round": 999999999, "total": 100, "measure": {"unit": "%", "size": "100", "decimals": 0}, "batch": []}`
			if err := os.WriteFile(filepath.Join(filepath.Dir(path), more), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			rounds = 5 // and the one that was typed is before the last
		}
		st, err := open(t, path).ComputeStanding(t.Context(), Settings{BatchSize: 1, Seed: 1})
		if err != nil || len(st.Rounds) != rounds || st.Rounds[2].Round != 2 || more == "" && st.Round != 2 {
			t.Fatalf("%+v, %v", st, err)
		}
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	// Where batches are gone the next one takes no id that results have.
	path = bench(t, map[string]string{"bar.yaml": bar, "bar.results.csv": "id,round,recipe,ingredient,amount,unit,liking,status,time\n1-1,1,1-1,Gin,30,%,7,made,\n2-1,2,2-1,Gin,30,%,7,made,\n"})
	if round := open(t, path).Round(); round != 2 {
		t.Errorf("the last round is %d", round)
	}
}

// TestBatchNumbers: the numbers of a batch that somebody changed size nothing.
func TestBatchNumbers(t *testing.T) {
	for old, changed := range map[string]string{
		`"total": 100`: `"total": 0`, `"size": "100"`: `"size": "1e999999"`, `"decimals": 0`: `"decimals": 99999999`, `"Gin": 30, "Tonic": 70`: `"Gin": 9223372036854775807, "Tonic": -9223372036854775707`,
	} {
		path := bench(t, map[string]string{"bar.yaml": bar, "bar.batch-003.json": strings.Replace(batch, old, changed, 1)})
		if c, err := Open(t.Context(), path, compile.Options{}); err == nil || !strings.Contains(err.Error(), "bar.batch-003.json: ") {
			t.Errorf("%s: %v, %v", changed, c, err)
		}
	}
}

// TestNamesAreRecordedOnce: a name is the same name however it is written, on both sides.
func TestNamesAreRecordedOnce(t *testing.T) {
	for name, other := range map[string]string{"house ": "house", "cafe\u0301": "caf\u00e9", "'=x": "=x", "a\r\nb": "a\nb", "＝x": "'＝x", "\u00a0x": "x"} {
		for _, names := range [][]string{{name, other}, {other, name}} {
			path := bench(t, map[string]string{"bar.yaml": noted})
			for k, one := range slices.Concat(names, names) {
				res := Result{Name: one, Parts: mustParts(t, path), Values: map[string]string{"liking": "1", "note": one}}
				_, out, err := record(t, path, res, RecordOptions{})
				if err != nil || (out.New == 1) != (k == 0) || k > 0 && out.UnchangedCount != 1 {
					t.Errorf("%q, after %q: %+v, %v", one, names[0], out, err)
				}
			}
		}
	}
}
