package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"kir/internal/run"
	"kir/internal/testonly/testmode"
)

// kirDoes runs the command and returns what it printed.
func kirDoes(t testing.TB, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if err := execute(patient(context.Background()), args, &stdout, &stderr); err != nil {
		t.Fatalf("kir %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}

// example is the path of a problem of the examples.
func example(name string) string { return filepath.Join("..", "..", "examples", name, "problem.yaml") }

// at returns what a JSON Pointer points to.
func at(t testing.TB, tree any, pointer string) any {
	t.Helper()
	for _, key := range strings.Split(pointer, "/")[1:] {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		switch v := tree.(type) {
		case map[string]any:
			child, ok := v[key]
			if !ok {
				t.Fatalf("%s: there is no %s", pointer, key)
			}
			tree = child
		case []any:
			k, err := strconv.Atoi(key)
			if err != nil || k >= len(v) {
				t.Fatalf("%s: there is no %s of %d", pointer, key, len(v))
			}
			tree = v[k]
		default:
			t.Fatalf("%s: %v has no %s", pointer, v, key)
		}
	}
	return tree
}

// says reports whether a number as it is shown, rounded, stands for v, which is
// nil if it is unknown.
func says(shown string, v any, factor float64) bool {
	shown = strings.NewReplacer(",", "", "%", "", " ", "").Replace(shown)
	if v == nil {
		return shown == "?"
	}
	switch shown { // what rounding would make certain
	case ">99":
		return factor*v.(float64) > 99
	case "<1":
		return factor*v.(float64) < 1
	}
	number, err := strconv.ParseFloat(shown, 64)
	if err != nil {
		return false
	}
	mantissa, exponent, _ := strings.Cut(shown, "e")
	unit := 1.0
	if _, decimals, ok := strings.Cut(mantissa, "."); ok {
		unit = math.Pow(10, -float64(len(decimals)))
	}
	if e, err := strconv.Atoi(exponent); err == nil {
		unit *= math.Pow(10, float64(e))
	}
	off := math.Abs(number - factor*v.(float64))
	// Whole numbers are rounded down, and %.2g of 12.3 is 12.
	return off <= 0.5*unit*(1+1e-9) || unit == 1 && off < 1
}

// TestThreeViews reads summary.json, report.html and what kir show prints. Every
// figure of the page is that of the summary, bit for bit, and is shown as it; so
// are the tables of the text.
func TestThreeViews(t *testing.T) {
	recipes, err := filepath.Abs(filepath.Join(filepath.Dir(example("cocktails")), "recipes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	// A target that is narrow enough for a ladder of several steps and for pairs.
	narrow := filepath.Join(t.TempDir(), "problem.yaml")
	text := "recipes: " + strconv.Quote(recipes) + "\ntotal: 200\nproperties:\n  taste: {forest: {label: taste, want: Fresh}, weight: 30}\n"
	if err := os.WriteFile(narrow, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	// The figures are compared, not judged: a third of the draws has as many of them.
	draws, warmup := testmode.Pick("3000", "1000"), "1000"
	cases := []struct {
		name string
		args []string
	}{
		{"narrow", []string{"--draws", draws, "--warmup", warmup, "--kernel", "tempered"}},
		{"cocktails", []string{"--draws", draws, "--warmup", warmup}},
		{"cocktails", []string{"--draws", "2000", "--warmup", "0", "--chains", "1", "--kernel", "balanced", "--seed", "5"}},
		{"fragrance", []string{"--draws", "60", "--warmup", "2000", "--thin", "10"}},
	}
	for _, c := range cases[:testmode.Pick(4, 2)] {
		t.Run(c.name+" "+strings.Join(c.args, " "), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			problem := narrow
			if c.name != "narrow" {
				problem = example(c.name)
			}
			kirDoes(t, append([]string{"sample", problem, "-o", dir, "--quiet"}, c.args...)...)
			data, err := os.ReadFile(filepath.Join(dir, "summary.json"))
			if err != nil {
				t.Fatal(err)
			}
			var summary map[string]any
			if err := json.Unmarshal(data, &summary); err != nil {
				t.Fatal(err)
			}
			page, err := os.ReadFile(filepath.Join(dir, "report.html"))
			if err != nil {
				t.Fatal(err)
			}
			comparePage(t, summary, string(page))
			compareText(t, summary, kirDoes(t, "show", dir, "--details"))
			if c.name == "narrow" {
				pairs := summary["pairs"].(map[string]any)
				if len(pairs["together"].([]any))+len(pairs["apart"].([]any)) == 0 || len(at(t, summary, "/ladders/0/rungs").([]any)) < 3 {
					t.Error("there are no pairs or no rungs to compare")
				}
			}
		})
	}
}

// comparePage compares the figures of the page, each of which says which one it
// is.
func comparePage(t *testing.T, summary map[string]any, page string) {
	seen := make(map[string]int)
	total := at(t, summary, "/problem/total").(float64)
	problem := at(t, summary, "/problem").(map[string]any)
	unit, _ := problem["unit"].(string)
	whole, _ := problem["whole"].(float64)
	for _, m := range regexp.MustCompile(`<data value="([^"]*)" data-of="([^"]*)">(.*?)</data>`).FindAllStringSubmatch(page, -1) {
		value, pointer, shown := m[1], html.UnescapeString(m[2]), html.UnescapeString(m[3])
		of := at(t, summary, pointer)
		seen[strings.Split(pointer, "/")[1]]++
		if of == nil {
			if value != "" || !strings.Contains(shown, "?") {
				t.Errorf("%s is %q on the page and unknown in the summary", pointer, shown)
			}
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil || number != of.(float64) {
			t.Errorf("%s is %s on the page and %v in the summary", pointer, value, of)
			continue
		}
		ok := false
		if amount, inUnit := strings.CutSuffix(shown, " "+unit); inUnit && unit != "" {
			// Amounts of a recipe are rounded together, so one may be off by a whole unit of its last place.
			_, decimals, _ := strings.Cut(amount, ".")
			written, err := strconv.ParseFloat(amount, 64)
			ok = err == nil && math.Abs(written-number*whole/total) < math.Pow(10, -float64(len(decimals)))
		}
		for _, factor := range []float64{1, 100, 100 / total} {
			ok = ok || says(shown, number, factor)
		}
		if !ok {
			t.Errorf("%s is shown as %q and is %v", pointer, shown, number)
		}
	}
	ladders := summary["ladders"].([]any)
	if rungs := 0; len(ladders) > 0 {
		for _, l := range ladders {
			rungs += len(l.(map[string]any)["rungs"].([]any))
		}
		if least := 7*len(ladders) + 5*rungs - len(ladders); seen["ladders"] < least || seen["log_z"] != 2 {
			t.Errorf("the page has %d figures of ladders, want at least %d, and %d of log Z", seen["ladders"], least, seen["log_z"])
		}
	}
	for name, least := range map[string]int{
		"statistics": 9 * len(summary["statistics"].(map[string]any)), "inclusion": 4 * len(summary["inclusion"].([]any)),
		"sparsity": 3, "rates": 2, "chains": 2, "best": 10, "score": 6, "total_variation": 1, "timing": 2,
	} {
		if seen[name] < least {
			t.Errorf("the page has %d figures of %s, want at least %d", seen[name], name, least)
		}
	}
}

// compareText compares the tables of the text.
func compareText(t *testing.T, summary map[string]any, text string) {
	rows := 0
	row := func(pattern string, factor float64, pointers ...string) {
		t.Helper()
		m := regexp.MustCompile(`(?m)^` + pattern + `$`).FindStringSubmatch(text)
		if m == nil {
			t.Errorf("the text has no line %s", pattern)
			return
		}
		rows++
		for k, p := range pointers {
			if v := at(t, summary, p); !says(m[k+1], v, factor) {
				t.Errorf("%s is shown as %q and is %v", p, m[k+1], v)
			}
		}
	}
	const number = `\s+([-0-9.,e+?]+)`
	for name := range summary["statistics"].(map[string]any) {
		of := "/statistics/" + name
		row(regexp.QuoteMeta(run.StatisticLabel(name))+strings.Repeat(number, 6), 1, of+"/mean", of+"/mcse_mean", of+"/sd", of+"/ess_bulk", of+"/ess_tail", of+"/rhat")
	}
	for k, s := range summary["sparsity"].([]any) {
		of := fmt.Sprint("/sparsity/", k)
		percent := number + ` %`
		row(` *`+fmt.Sprint(s.(map[string]any)["n"])+percent+percent+number, 100, of+"/target", of+"/observed", of+"/mcse")
	}
	// The ten most frequent ingredients, whose names are not shortened.
	inclusion := summary["inclusion"].([]any)
	shown := 0
	for k, i := range inclusion {
		name := i.(map[string]any)["ingredient"].(string)
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + number).MatchString(text) {
			continue
		}
		of := fmt.Sprint("/inclusion/", k)
		figures, factors := []string{of + "/probability", of + "/mcse"}, []float64{100, 100}
		if at(t, summary, "/problem/recipes").(float64) > 0 {
			figures, factors = append(figures, of+"/book_share"), append(factors, 100)
		}
		total := at(t, summary, "/problem/total").(float64)
		figures, factors = append(figures, of+"/mean_amount", of+"/mean_amount_mcse"), append(factors, 100/total, 100/total)
		for k := range figures {
			rest := strings.Repeat(number, len(figures)-k-1)
			row(regexp.QuoteMeta(name)+strings.Repeat(`\s+[-0-9.,e+?]+`, k)+number+strings.ReplaceAll(rest, "(", "(?:"), factors[k], figures[k])
		}
		shown++
	}
	if shown != 10 {
		t.Errorf("the text has %d ingredients, want 10", shown)
	}
	for _, how := range []string{"together", "apart"} {
		for k, pair := range at(t, summary, "/pairs/"+how).([]any) {
			if k < 4 {
				pair, of := pair.(map[string]any), fmt.Sprintf("/pairs/%s/%d", how, k)
				both := pair["first"].(string) + " + " + pair["second"].(string)
				row(how+number+number+number+`\s+`+regexp.QuoteMeta(both), 1, of+"/lift", of+"/mcse", of+"/expected")
			}
		}
	}
	row(`([0-9.]+) % of the proposed steps were accepted, ([0-9.]+) % changed the recipe;.*`, 100, "/rates/accepted", "/rates/updated")
	for k, m := range summary["moves"].([]any) {
		of := fmt.Sprint("/moves/", k)
		name := regexp.QuoteMeta(m.(map[string]any)["name"].(string))
		row(name+number+`\s+[0-9.]+ %\s+[0-9.]+ %`, 1, of+"/tried")
		row(name+`\s+[0-9,]+\s+([0-9.]+) %\s+([0-9.]+) %`, 100, of+"/accepted", of+"/updated")
	}
	compareLadders(t, summary, text, row)
	if answer := summary["answer"].(map[string]any); answer["grade"] != "unasked" {
		// It stands behind the recipes and before what is said of it.
		joined := strings.Join(strings.Fields(text), " ")
		if at, recipe, why := strings.Index(joined, answer["headline"].(string)), strings.Index(text, "\n 1 "), strings.Index(joined, "How far to trust the shortlist"); at < 0 || recipe < 0 || why < at {
			t.Errorf("the text lacks %q between the recipes and the reasons", answer["headline"])
		}
		const model = `(?:\s+(?:weak|fair|good))?`
		row(`score`+model+number+`(?:\s+[-0-9.,e+?]+)+`, 1, "/answer/shortlist/mean")
		for k, w := range answer["wishes"].([]any) {
			w := w.(map[string]any)
			name, value, factor := regexp.QuoteMeta(w["name"].(string))+model, `\s+([<>]?[0-9]+) %`, 100.0
			if !regexp.MustCompile(`(?m)^` + name + value).MatchString(text) { // no probability of a class
				value, factor = number, 1
			}
			other := strings.NewReplacer("(", "(?:").Replace(value)
			shortlist := "shortlist"
			if _, ok := w["expected"]; ok {
				shortlist = "expected" // as the suggestions show it
			}
			row(name+value+value+`(?:`+other+`)?`, factor, fmt.Sprintf("/answer/wishes/%d/%s", k, shortlist), fmt.Sprintf("/answer/wishes/%d/random", k))
		}
	}
	best := summary["best"].([]any)
	for k := range min(len(best), 5) {
		row(fmt.Sprintf(` ?%d  score ([0-9.]+)`, k+1), 1, fmt.Sprintf("/best/%d/score", k))
	}
	if rows < 20 {
		t.Errorf("%d rows were compared", rows)
	}
}

// compareLadders compares what the text says of tempering.
func compareLadders(t *testing.T, summary map[string]any, text string, row func(pattern string, factor float64, pointers ...string)) {
	t.Helper()
	ladders := summary["ladders"].([]any)
	if said := strings.Contains(text, "Tempering"); said != (len(ladders) > 0) || said != (summary["log_z"] != nil) {
		t.Errorf("there are %d ladders and log Z is %v; of tempering the text says something: %v", len(ladders), summary["log_z"], said)
	}
	if len(ladders) == 0 {
		return
	}
	const number, percent = `\s+([-0-9.,e+?]+)`, `\s+([0-9.]+) %`
	fewest := 0
	for k, l := range ladders {
		l := l.(map[string]any)
		of := fmt.Sprint("/ladders/", k)
		steps := len(l["rungs"].([]any)) - 1
		row(fmt.Sprintf(`\s+%d\s+%d`, k, steps)+number+number+`\s+[0-9.]+ %`+number+number+number, 1,
			of+"/restarts", of+"/round_trips", of+"/barrier", of+"/log_z/value", of+"/log_z/se")
		most := 0
		for q := range steps {
			if at(t, summary, fmt.Sprint(of, "/rungs/", q, "/rejected")).(float64) > at(t, summary, fmt.Sprint(of, "/rungs/", most, "/rejected")).(float64) {
				most = q
			}
		}
		row(fmt.Sprintf(`\s+%d\s+%d(?:\s+[0-9,]+){2}`, k, steps)+percent+".*", 100, fmt.Sprint(of, "/rungs/", most, "/rejected"))
		if at(t, summary, of+"/round_trips").(float64) < at(t, summary, fmt.Sprint("/ladders/", fewest, "/round_trips")).(float64) {
			fewest = k
		}
	}
	joined := strings.Join(strings.Fields(text), " ")
	if m := regexp.MustCompile(`is ([-0-9.]+) ± ([0-9.]+) \(standard error\); all chains should agree`).FindStringSubmatch(joined); m == nil ||
		!says(m[1], at(t, summary, "/log_z/value"), 1) || !says(m[2], at(t, summary, "/log_z/se"), 1) {
		t.Errorf("log Z is shown as %q and is %v", m, summary["log_z"])
	}
	rungs := ladders[fewest].(map[string]any)["rungs"].([]any)
	for q, g := range rungs {
		of := fmt.Sprintf("/ladders/%d/rungs/%d", fewest, q)
		beta := regexp.QuoteMeta(fmt.Sprintf("%.4g", g.(map[string]any)["beta"]))
		if q < len(rungs)-1 {
			row(`\s*`+beta+percent+`\s+[0-9.]+\s+\S+`+percent, 100, of+"/rejected", of+"/forbidden")
		}
		row(`\s*`+beta+`(?:\s+[0-9.]+ %)?`+number+number+`\s+[0-9.]+ %`, 1, of+"/barrier", of+"/mean_log_score")
	}
}

// The help says of the report's scripts what is true of a report.
func TestReportHelpNamesTheScript(t *testing.T) {
	help := strings.Join(strings.Fields(kirDoes(t, "report", "--help")), " ")
	if !strings.Contains(help, "script sorts and filters tables") || strings.Contains(help, "no scripts") {
		t.Errorf("the help is %q", help)
	}
}
