package campaign

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// trialsTable is a table of recipes of a, b, c, d and e in twentieths, of which y is known.
func trialsTable(n int, y func(x []int, k int) string) string {
	r := mcmc.NewRand(11, "trials", 0)
	var b strings.Builder
	b.WriteString("recipe,ingredient,amount,y\n")
	for k := range n {
		x := make([]int, 5)
		for range 20 {
			x[min(r.Intn(5), r.Intn(5))]++
		}
		for i, v := range x {
			if v > 0 {
				fmt.Fprintf(&b, "t%d,%c,%d,%s\n", k, 'a'+i, v, y(x, k))
			}
		}
	}
	return b.String()
}

// hill is greatest where a has 10 and c has 6.
func hill(x []int, _ int) string {
	return fmt.Sprintf("%.4f", 100-float64((x[0]-10)*(x[0]-10)+(x[2]-6)*(x[2]-6)))
}

const fiveWays = "total: 20\ningredients: ingredients.csv\nrecipes: trials.csv\nsparsity: {uniform: [1, 5]}\n"

const fivePriced = "name,price\na,1\nb,2\nc,3\nd,4\ne,50\nf,1\ng,1\nh,1\n"

func fiveBench(t *testing.T, text, trials string) string {
	return bench(t, map[string]string{"bar.yaml": fiveWays + text, "ingredients.csv": fivePriced, "trials.csv": trials})
}

// shortSearch is what a problem says to search a tenth as long, unless tests run in full.
func shortSearch() string { return testmode.Pick("", "search: {effort: 0.1}\n") }

func choose(t *testing.T, path string, s Settings) *Batch {
	t.Helper()
	b, err := open(t, path).Choose(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBatch: whatever is learnt, a batch has as many recipes as were asked for, each of
// which keeps the rules, is new, and is there once; how many workers there are changes
// nothing, nor does choosing again.
func TestBatch(t *testing.T) {
	numbers, classes := trialsTable(30, hill), trialsTable(30, func(x []int, _ int) string {
		if x[0] > x[1] {
			return "good"
		}
		return "bad"
	})
	up := "properties: {y: {forest: {label: y, maximize: true}}}\n"
	for name, c := range map[string]struct{ text, trials string }{
		"a number":            {up, numbers},
		"as little as can be": {"properties: {y: {forest: {label: y, minimize: true}}}\n", numbers},
		"learn":               {"properties: {y: {learn: {label: y, maximize: true}}}\n", numbers},
		"process":             {"properties: {y: {process: {label: y, maximize: true}}}\n", numbers},
		"between":             {"properties: {y: {forest: {label: y, between: [60, 70]}}}\n", numbers},
		"a class":             {"properties: {y: {forest: {label: y, want: good}}}\n", classes},
		"with what is given":  {"properties: {y: {forest: {label: y, maximize: true}}, price: {blend: {attribute: price, smaller: {from: 1, to: 5}}}}\n", numbers},
		"constant":            {up, trialsTable(30, func([]int, int) string { return "3" })},
		"noise":               {up, trialsTable(30, func(_ []int, k int) string { return fmt.Sprint(k * 7919 % 31) })},
		"nothing to learn":    {"", numbers},
		"tight rules":         {up + "constraints: [{amount: {of: a, min: 10, max: 10}}, {exclude: [f, g, h]}, {amount: {of: \"*\", min: 5, step: 5}}]\n", numbers},
	} {
		t.Run(name, func(t *testing.T) {
			path := fiveBench(t, c.text+shortSearch(), c.trials)
			c := open(t, path)
			b, err := c.Choose(t.Context(), Settings{BatchSize: 5, Seed: 4, MaxNewIngredients: -1, Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Entries) != 5 {
				t.Errorf("%d recipes, %q", len(b.Entries), b.Notes)
			}
			tried := make(map[string]bool)
			for _, one := range c.trials {
				tried[one.key] = true
			}
			for _, e := range b.Entries {
				if tried[e.key] {
					t.Errorf("%v was tried, or is there twice", e.Recipe)
				}
				tried[e.key] = true
				if broken, err := c.Problem.BrokenRules(e.parts, e.conditionSetting); err != nil || len(broken) > 0 {
					t.Errorf("%v: %+v, %v", e.Recipe, broken, err)
				}
				if e.Reason.Text == "" || e.BeatsBestProbability != nil && !(*e.BeatsBestProbability >= 0 && *e.BeatsBestProbability <= 1) {
					t.Errorf("%+v", e)
				}
			}
			again := choose(t, path, Settings{BatchSize: 5, Seed: 4, MaxNewIngredients: -1, Workers: 3})
			one, _ := json.Marshal(b)
			two, _ := json.Marshal(again)
			if string(one) != string(two) {
				t.Errorf("again:\n%s\n%s", one, two)
			}
		})
	}
}

// TestBatchFinds: on a hill that is known to within its noise the batch has its top, and
// says so; once that was tried nothing is left to gain.
func TestBatchFinds(t *testing.T) {
	path := fiveBench(t, "properties: {y: {forest: {label: y, maximize: true}}}\n", trialsTable(60, hill))
	b := choose(t, path, Settings{BatchSize: 4, Seed: 1, MaxNewIngredients: -1})
	at := slices.IndexFunc(b.Entries, func(e Entry) bool {
		a, c := e.Recipe["a"], e.Recipe["c"]
		return (a-10)*(a-10)+(c-6)*(c-6) <= 1
	})
	if at < 0 {
		t.Fatalf("none is near the top: %+v", b.Entries)
	}
	if top := b.Entries[at]; top.Reason.Kind != Likely || math.Abs(top.Predicted["y"].Value-100) > 5 {
		t.Errorf("the top: %+v", top)
	}
	if b.RemainingGain.Advice != GoOn {
		t.Errorf("%+v", b.RemainingGain)
	}
	// Of two ingredients all is known but the ends, which lie far below.
	// As long as the last rounds have brought something better, that is no reason to stop.
	for rounds, want := range map[int]string{1: GoOn, 2: GoOn, 3: Stop} {
		all := "id,round,recipe,ingredient,amount,unit,y,status,time\n"
		for a := 2; a <= 18; a++ {
			round := 1
			if a != 10 {
				round = 1 + a%rounds
			}
			all += fmt.Sprintf("top %[1]d,%[4]d,x,a,%[1]d,,%[2]s,made,\ntop %[1]d,%[4]d,x,b,%[3]d,,%[2]s,made,\n", a, hill([]int{a, 0, 6}, 0), 20-a, round)
		}
		path := bench(t, map[string]string{"bar.yaml": "total: 20\ningredients: [a, b]\nsparsity: {uniform: [1, 2]}\nproperties: {y: {forest: {label: y, maximize: true}}}\nsearch: {doses: any}\n", "bar.results.csv": all})
		st, err := open(t, path).ComputeStanding(t.Context(), Settings{BatchSize: 4, Seed: 1, MaxNewIngredients: -1})
		if err != nil {
			t.Fatal(err)
		}
		if st.RemainingGain.Advice != want || *st.RemainingGain.Probability >= stopProbability || st.Best.ID != "top 10" {
			t.Errorf("after %d rounds: %+v, the best %+v", rounds, st.RemainingGain, st.Best)
		}
	}
}

// TestBatchPending: what waits is not offered again, and the next batch is another.
func TestBatchPending(t *testing.T) {
	path := fiveBench(t, "properties: {y: {forest: {label: y, maximize: true}}}\n"+shortSearch(), trialsTable(30, hill))
	s := Settings{BatchSize: 3, Seed: 1, MaxNewIngredients: -1}
	c := open(t, path)
	first, err := c.Next(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	c = open(t, path)
	if again, err := c.UnchangedBatch(s); err != nil || again == nil || again.Entries[0].key != first.Entries[0].key {
		t.Errorf("again: %+v, %v", again, err)
	}
	s.BatchSize = 4
	if other, err := c.UnchangedBatch(s); err != nil || other != nil {
		t.Errorf("another size: %+v, %v", other, err)
	}
	second, err := c.Next(t.Context(), s)
	if err != nil || second.Round != 2 || len(second.Pending) != 3 {
		t.Fatalf("%+v, %v", second, err)
	}
	for _, e := range second.Entries {
		if slices.ContainsFunc(first.Entries, func(o Entry) bool { return o.key == e.key }) {
			t.Errorf("%v waits, and is offered again", e.Recipe)
		}
	}
}

// TestBatchMeans: stock is for the whole batch, max_new for all of its new ingredients, and
// what a trial costs counts.
func TestBatchMeans(t *testing.T) {
	up := "properties: {y: {forest: {label: y, maximize: true}}}\n"
	path := fiveBench(t, up+"constraints: [{amount: {of: a, stock: 24}}]\n", trialsTable(30, hill))
	sum := 0
	b := choose(t, path, Settings{BatchSize: 4, Seed: 1, MaxNewIngredients: -1})
	for _, e := range b.Entries {
		sum += e.Recipe["a"]
	}
	if sum > 24 || len(b.Entries) != 4 {
		t.Errorf("%d of a, of which 24 are there; %d recipes", sum, len(b.Entries))
	}
	for most := range 3 {
		path := fiveBench(t, "", trialsTable(30, hill)) // nothing is learnt: the space is filled
		fresh := make(map[string]bool)
		b := choose(t, path, Settings{BatchSize: 6, Seed: 1, MaxNewIngredients: most})
		for _, e := range b.Entries {
			for name := range e.Recipe {
				if name >= "f" {
					fresh[name] = true
				}
			}
		}
		if len(fresh) > most || len(b.Entries) != 6 {
			t.Errorf("new are %v, of at most %d; %d recipes", fresh, most, len(b.Entries))
		}
	}
	path = fiveBench(t, up, trialsTable(30, func(x []int, _ int) string { return fmt.Sprint(x[4] + x[0]) }))
	dear := func(cost string) (sum int) {
		for _, e := range choose(t, path, Settings{BatchSize: 4, Seed: 1, MaxNewIngredients: -1, CostAttribute: cost}).Entries {
			sum += e.Recipe["e"]
		}
		return sum
	}
	if with, without := dear("price"), dear(""); with >= without {
		t.Errorf("%d of what is dear if it counts, %d if not", with, without)
	}
}

// TestBatchReplicates: where noise is known and decides which is best, the best are made
// again; where there is none they are not.
func TestBatchReplicates(t *testing.T) {
	table := func(noise float64) string {
		var b strings.Builder
		b.WriteString("recipe,ingredient,amount,y\n")
		for k := range 24 {
			a := 1 + k%8*2
			y := -math.Abs(float64(a-9)) / 8
			fmt.Fprintf(&b, "r%[1]d,a,%[2]d,%[3]s\nr%[1]d,b,%[4]d,%[3]s\n", k, a, fmt.Sprintf("%.3f", y+noise*[]float64{-1, 0.2, 0.8}[k/8]), 20-a)
		}
		return b.String()
	}
	text := "properties: {y: {forest: {label: y, maximize: true}}}\nconstraints: [{exclude: [c, d, e, f, g, h]}]\n"
	count := func(noise float64) (n int) {
		for _, e := range choose(t, fiveBench(t, text, table(noise)), Settings{BatchSize: 8, Seed: 1, MaxNewIngredients: -1}).Entries {
			if e.Reason.Kind == Replicate {
				n++
			}
		}
		return n
	}
	if with, without := count(0.5), count(0.001); with == 0 || without > 0 {
		t.Errorf("%d replicates with noise, %d without", with, without)
	}
}

// TestBatchFailures: where recipes with much of a failed, few are offered that have it;
// without those that failed most of a batch has.
func TestBatchFailures(t *testing.T) {
	with, without := failing(t, "failed"), failing(t, "withdrawn")
	if with > 2 || without < 4 {
		t.Errorf("%d of 6 have so much that all such failed, and %d where nothing is known of them", with, without)
	}
}

// failing returns how many recipes of a batch have more than 12 of a, where all that had
// more than 10 have a status.
func failing(t *testing.T, status string) (n int) {
	text := "id,round,recipe,ingredient,amount,unit,y,status,time\n"
	r := mcmc.NewRand(3, "failures", 0)
	for k := range 40 {
		x := make([]int, 3)
		for range 20 {
			x[r.Intn(3)]++
		}
		x[0], x[1] = k%20, 20-k%20-min(x[2], 20-k%20)
		x[2] = 20 - x[0] - x[1]
		y, is := fmt.Sprint(x[0]), "made"
		if x[0] > 10 {
			y, is = "", status
		}
		for i, v := range x {
			if v > 0 {
				text += fmt.Sprintf("1-%d,1,1-%[1]d,%c,%d,,%s,%s,\n", k+1, 'a'+i, v, y, is)
			}
		}
	}
	path := bench(t, map[string]string{"bar.yaml": "total: 20\ningredients: [a, b, c]\nsparsity: {uniform: [1, 3]}\nproperties: {y: {forest: {label: y, maximize: true}}}\n", "bar.results.csv": text})
	b := choose(t, path, Settings{BatchSize: 6, Seed: 1, MaxNewIngredients: -1})
	for _, e := range b.Entries {
		if e.Recipe["a"] > 12 {
			n++
		}
	}
	if len(b.Entries) != 6 {
		t.Errorf("%d recipes", len(b.Entries))
	}
	return n
}

// TestLearnWords: in a campaign, too, a value of learn's failed is a failure and no number,
// in the table of recipes and in a result, and log learns logarithms.
func TestLearnWords(t *testing.T) {
	trials := trialsTable(60, func(x []int, _ int) string {
		if x[0] > 8 {
			return "curdled"
		}
		return fmt.Sprintf("%.6g", math.Pow(10, float64(x[0])/2))
	})
	of := func(more string) string {
		return "properties: {y: {learn: {label: y, maximize: true, failed: curdled" + more + "}}}\n"
	}
	path := fiveBench(t, of(""), trials)
	c := open(t, path)
	failed := 0
	for _, one := range c.trials {
		a := slices.IndexFunc(one.parts, func(p mcmc.Part) bool { return p.Ingredient == 0 })
		if much := a >= 0 && one.parts[a].Amount > 8; much != one.failed {
			t.Errorf("%v failed: %v", one.parts, one.failed)
		}
		if one.failed {
			failed++
		}
	}
	if failed < 5 {
		t.Fatalf("%d trials failed", failed)
	}
	parts, _, err := c.ParseRecipe("a=5,b=15")
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := record(t, path, Result{Name: "own", Parts: parts, Values: map[string]string{"y": "curdled"}}, RecordOptions{})
	if err != nil || !strings.Contains(text, ",failed,") {
		t.Errorf("a result that failed: %v\n%s", err, text)
	}

	logs := open(t, fiveBench(t, of(", log: true"), trials))
	o, err := logs.learnObjective(t.Context(), &logs.Problem.Properties[0], nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d := o.desirability(math.Sqrt(o.minMeasured * o.maxMeasured)); math.Abs(d-0.5) > 1e-9 {
		t.Errorf("the geometric mean of %v and %v is wanted by %v", o.minMeasured, o.maxMeasured, d)
	}
	if back := o.labelValue(float64(o.modelValueSign * o.warp.score(100))); math.Abs(back-100) > 1e-6 {
		t.Errorf("100 comes back as %v", back)
	}

	below := trialsTable(30, func(x []int, _ int) string { return fmt.Sprint(x[0] - 5) })
	for _, c := range []struct{ text, trials, wrong string }{
		{"properties: {y: {learn: {label: y, maximize: true}}}\n", trials, "curdled"},
		{of(", log: 1"), trials, `log is "1"`},
		{of(", log: true"), below, "no logarithm"},
		{"properties: {y: {learn: {label: y, want: curdled, log: true}}}\n", trials, "a class is wanted"},
	} {
		if _, err := Open(t.Context(), fiveBench(t, c.text, c.trials), compile.Options{}); err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// TestSpreads: a campaign trusts a value the less the worse it was measured, by the column
// that sd names: one that is 100 too large, and was measured that badly, moves what is
// predicted there by less than a fifth of what it moves it otherwise.
func TestSpreads(t *testing.T) {
	predicted := func(wrong float64, sd string) float64 {
		trials := trialsTable(30, func(x []int, k int) string {
			y, err := strconv.ParseFloat(hill(x, k), 64)
			if err != nil {
				t.Fatal(err)
			}
			if k == 3 {
				return fmt.Sprintf("%.4f,%s", y+wrong, sd)
			}
			return fmt.Sprintf("%.4f,1", y)
		})
		c := open(t, fiveBench(t, "properties: {y: {learn: {label: y, maximize: true, sd: y sd}}}\n", strings.Replace(trials, "amount,y", "amount,y,y sd", 1)))
		o, err := c.learnObjective(t.Context(), &c.Problem.Properties[0], nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		mean, _ := o.model.Predict(c.trials[3].recipe)
		return o.labelValue(mean)
	}
	well, badly := predicted(100, "1")-predicted(0, "1"), predicted(100, "500")-predicted(0, "500")
	if !(well > 2) || !(math.Abs(badly) < well/5) {
		t.Errorf("an error of 100 moves what is predicted by %v, and by %v where it was measured badly", well, badly)
	}
	for _, c := range []struct{ text, trials, wrong string }{
		{"{label: y, maximize: true, sd: y sd}", "recipe,ingredient,amount,y,y sd\nt1,a,20,1,-1\nt2,b,20,2,1\nt3,c,20,2,1\nt4,d,20,3,1\n", "standard deviation -1"},
	} {
		path := fiveBench(t, "properties: {y: {learn: "+c.text+"}}\n", c.trials)
		if _, err := open(t, path).Choose(t.Context(), Settings{BatchSize: 2, Seed: 1, MaxNewIngredients: -1}); err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// TestStand: what was predicted is set beside what came, what was made otherwise does not
// count, and the best is the best of what keeps the rules.
func TestStand(t *testing.T) {
	path := fiveBench(t, "properties: {y: {forest: {label: y, maximize: true}}}\nconstraints: [{amount: {of: a, max: 12}}]\n", trialsTable(30, hill))
	s := Settings{BatchSize: 3, Seed: 1, MaxNewIngredients: -1}
	b, err := open(t, path).Next(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, path)
	parts, _, err := c.ParseRecipe("a=15,b=5")
	if err != nil {
		t.Fatal(err)
	}
	low := b.Entries[0].Predicted["y"]
	if _, err := c.Record(t.Context(), []Result{
		{ID: "1-1", Values: map[string]string{"y": fmt.Sprint(low.Value)}},
		{ID: "1-2", Values: map[string]string{"y": fmt.Sprint(low.High + 1000)}, Parts: parts}, // otherwise, and against the rules
		{ID: "1-3", Failed: true},
	}, RecordOptions{Now: noon}); err != nil {
		t.Fatal(err)
	}
	st, err := open(t, path).ComputeStanding(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if st.Tried != 33 || st.FailedTrials != 1 || st.RuleBreakingTrials < 1 || len(st.Rounds) != 2 || st.Rounds[1].ResultCount != 3 || st.Rounds[1].Failed != 1 {
		t.Errorf("%+v", st)
	}
	if st.Best.ID == "1-2" || len(st.Checks) != 2 || !st.Checks[0].Within || !st.Checks[1].MadeDifferently || st.Coverage[0] != (Coverage{"y", 1, 1}) {
		t.Errorf("the best %+v, told %+v, coverage %+v", st.Best, st.Checks, st.Coverage)
	}
}

// TestFewestWithin: fewer than so many of n intervals of 90 % hold what comes with a
// probability of at most 1 %; the bounds are those of the binomial law.
func TestFewestWithin(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 1, 5: 3, 10: 7, 20: 15, 50: 39, 100: 82} {
		below := func(k int) (p float64) {
			for j := range k {
				term := 1.0
				for i := range j {
					term *= float64(n-i) / float64(i+1)
				}
				p += term * math.Pow(0.9, float64(j)) * math.Pow(0.1, float64(n-j))
			}
			return p
		}
		if got := fewestCorrectIntervals(n); got != want && !(below(got) <= 0.01 && below(got+1) > 0.01) {
			t.Errorf("of %d: %d (%.4f, and of one more %.4f)", n, got, below(got), below(got+1))
		}
	}
}

// TestBatchDamaged: a batch that was changed by hand is refused with a way out.
func TestBatchDamaged(t *testing.T) {
	for text, want := range map[string]string{
		"{":                                           "no batch that kir next wrote",
		strings.Replace(batch, "Gin", "Gyn", 1):       "no ingredient of the problem",
		strings.Replace(batch, "30", "31", 1):         "101 units, and the problem a total of 100",
		strings.Replace(batch, "30", "-1", 1):         "has -1 of",
		strings.Replace(batch, "d\": 3", "d\": 4", 1): "no batch that kir next wrote",
	} {
		path := bench(t, map[string]string{"bar.yaml": bar, "bar.batch-003.json": text})
		if _, err := Open(t.Context(), path, compile.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	path := bench(t, map[string]string{"bar.yaml": bar, "bar.batch-3.json": "{", "bar.batch-003.json.1.new": "{"})
	if c := open(t, path); len(c.Batches) != 0 {
		t.Error("what only looks like a batch is one")
	}
	if err := os.Symlink(filepath.Join(t.TempDir(), "other"), compile.ResultsPath(path)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, compile.Options{}); err == nil || !strings.Contains(err.Error(), "this is a link") {
		t.Errorf("a link in the place of results: %v", err)
	}
}

// TestNextUnfinished: what a process that was killed left of a batch is removed, and a
// batch that is there already is left as it is.
func TestNextUnfinished(t *testing.T) {
	path := bench(t, map[string]string{"bar.yaml": bar, "bar.batch-001.json.17.new": "{", "bar.batch-002.json.17.new": "{"})
	c := open(t, path)
	if _, err := c.Next(t.Context(), Settings{BatchSize: 2, Seed: 1, MaxNewIngredients: -1}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "bar.batch-001.json bar.batch-002.json.17.new bar.yaml" {
		t.Errorf("beside the problem is %s", got)
	}
	was, err := os.ReadFile(c.batchPath(1, "json"))
	if err != nil {
		t.Fatal(err)
	}
	other := open(t, path)
	other.Batches = nil // as a process saw it that began a moment before
	if _, err := other.Next(t.Context(), Settings{BatchSize: 3, Seed: 1, MaxNewIngredients: -1}); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a batch that is there: %v", err)
	}
	if is, err := os.ReadFile(c.batchPath(1, "json")); err != nil || string(is) != string(was) {
		t.Errorf("%v: it was written over", err)
	}
}
