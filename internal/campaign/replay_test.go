package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/inputerr"
)

// hillProblem is a problem for tables of recipes on a hill.
const hillProblem = "properties: {y: {learn: {label: y, maximize: true}}}\n"

// loadReplay reads a problem for a replay, from a directory with the table of trials and further files.
func loadReplay(t *testing.T, text, trials string) *compile.Problem {
	t.Helper()
	p, err := compile.Load(t.Context(), fiveBench(t, text, trials), compile.Options{Campaign: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func mustReplay(t *testing.T, p *compile.Problem, s ReplaySettings) *Replayed {
	t.Helper()
	r, err := Replay(t.Context(), p, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReplayBeatsChance: on a hill with one best recipe of 56, replays of 18 trials from starts of 6 find the best
// nearly always. Choosing at random finds it with probability 12/50, so that it would find it in at least 9 of 10
// replays, which is asked for, with probability 2.1·10⁻⁵. The seeds are fixed.
func TestReplayBeatsChance(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		label    string
		minimize bool
	}{
		"maximize": {hillProblem, "y", false},
		"minimize": {"properties: {y: {learn: {label: z, minimize: true}}}\n", "z", true},
		"score":    {"properties: {y: {learn: {label: y, maximize: true}}, z: {learn: {label: z, minimize: true}}}\n", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			trials := strings.Replace(trialsTable(60, func(x []int, k int) string {
				y := (x[0]-10)*(x[0]-10) + (x[2]-6)*(x[2]-6)
				return fmt.Sprintf("%d.%02d,%d.%02d", 500-y, 50-x[1], y, 50+x[1]) // x[1] makes the best one of two
			}), ",y\n", ",y,z\n", 1)
			r := mustReplay(t, loadReplay(t, c.text, trials), ReplaySettings{Start: 6, Trials: 18, Seed: 3, Workers: 2})
			first, last := r.Rounds[0], r.Rounds[len(r.Rounds)-1]
			if r.Label != c.label || r.Minimize != c.minimize || r.BestCount != 1 || r.Recipes != 56 || len(r.Replays) != 10 || len(r.Rounds) != 4 {
				t.Fatalf("%+v", r)
			}
			if first.Found != 0 || first.Closed != 0 || first.ChanceClosed != 0 || first.Best.Median != first.Chance.Median {
				t.Errorf("the start is no start: %+v", first)
			}
			if last.Found < 0.9 || last.Closed < 0.9 {
				t.Errorf("kir found the best in %v of the replays and closed %v of the gap", last.Found, last.Closed)
			}
			if want := 12.0 / 50; math.Abs(last.ChanceFound-want) > 1e-12 {
				t.Errorf("chance finds the best with %v, and not %v", last.ChanceFound, want)
			}
			if r.ToBest.ChanceMedian != 34 { // 25 of 50, at the end of a batch of 4 after 6
				t.Errorf("chance takes %d", r.ToBest.ChanceMedian)
			}
			for _, of := range r.Replays {
				if len(of.Order) != 18 || (of.Best[3] == r.Best.Value) != (of.FoundAt != nil) || of.FoundAt != nil && (*of.FoundAt-6)%4 != 0 {
					t.Errorf("%+v", of)
				}
				if sorted := slices.Sorted(slices.Values(of.Order)); len(slices.Compact(sorted)) != 18 {
					t.Errorf("a recipe was made twice: %v", of.Order)
				}
				if at := of.FoundAt; at != nil && !slices.Contains(of.Order[*at-4:*at], r.Best.ID) {
					t.Errorf("the best was not made in the batch before trial %d: %v", *at, of.Order)
				}
			}
		})
	}
}

// TestReplayIsTheSameOnAnyNumberOfWorkers, and another seed gives other starts.
func TestReplayIsTheSameOnAnyNumberOfWorkers(t *testing.T) {
	p := loadReplay(t, hillProblem, trialsTable(40, hill))
	var first string
	for _, workers := range []int{1, 3} {
		done := 0
		r := mustReplay(t, p, ReplaySettings{Repeats: 3, Trials: 16, Workers: workers, Progress: func(k, all int) {
			if done++; k != done || all != 3 {
				t.Errorf("%d of %d done after %d", k, all, done)
			}
		}})
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(text)
		} else if first != string(text) {
			t.Error("the number of workers changes the replay")
		}
	}
	if r := mustReplay(t, p, ReplaySettings{Repeats: 3, Trials: 16, Seed: 100}); strings.Contains(first, strings.Join(r.Replays[0].Order[:8], `","`)) {
		t.Error("another seed gives the same start")
	}
}

// TestReplayChoosesAsNext: a replay chooses the batches that [Campaign.Next] chooses among the same recipes, from a
// problem file with the start as its table and the results of the batches recorded, with conditions and failures.
func TestReplayChoosesAsNext(t *testing.T) {
	const conditions = "conditions: {temperature: {values: [100, 120, 140]}}\n"
	text := hillProblem + conditions
	table := strings.Replace(trialsTable(40, func(x []int, k int) string {
		y := hill(x, k)
		if k%9 == 4 {
			y = "failed"
		}
		return fmt.Sprint(y, ",", 100+20*(k%3))
	}), ",y\n", ",y,temperature\n", 1)
	r := mustReplay(t, loadReplay(t, text, table), ReplaySettings{Start: 12, Trials: 20, Repeats: 1, Seed: 5})
	order := r.Replays[0].Order
	lines := make(map[string][]string) // by recipe
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		name, _, _ := strings.Cut(line, ",")
		lines[name] = append(lines[name], line)
	}
	start := "recipe,ingredient,amount,y,temperature\n"
	for _, name := range order[:12] {
		start += strings.Join(lines[name], "\n") + "\n"
	}
	path := fiveBench(t, text+"search: {doses: any}\n", start)
	var allowed []AllowedRecipe
	names := make(map[string]string) // by key
	whole := open(t, fiveBench(t, text, table))
	for _, one := range whole.trials {
		allowed = append(allowed, AllowedRecipe{Parts: one.parts, Conditions: map[string]any{"temperature": one.conditionSetting.Values[0]}})
		names[one.key] = one.id
	}
	at := 12
	for range 2 {
		b, err := open(t, path).Next(t.Context(), Settings{BatchSize: 4, Seed: 5, MaxNewIngredients: -1, Workers: 1, AllowedRecipes: allowed})
		if err != nil {
			t.Fatal(err)
		}
		var results []Result
		for _, e := range b.Entries {
			name := names[e.key]
			if name != order[at] {
				t.Fatalf("kir next chooses %s as trial %d, and the replay %s", name, at+1, order[at])
			}
			at++
			cells := strings.Split(lines[name][0], ",")
			res := Result{ID: e.ID, Values: map[string]string{"y": cells[3]}}
			if cells[3] == "failed" {
				res.Failed, res.Values = true, nil
			}
			results = append(results, res)
		}
		if _, err := open(t, path).Record(t.Context(), results, RecordOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	// The intervals are counted as kir campaign counts them.
	st, err := open(t, path).ComputeStanding(t.Context(), Settings{BatchSize: 4, Seed: 5, MaxNewIngredients: -1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(st.Coverage) != fmt.Sprint(r.Coverage) || r.Coverage[0].Intervals == 0 {
		t.Errorf("intervals: %v, and in the replay %v", st.Coverage, r.Coverage)
	}
}

// TestReplayWritesNothing: the files beside the problem stay as they are, also those of its campaign, whose results
// are replayed too.
func TestReplayWritesNothing(t *testing.T) {
	path := fiveBench(t, hillProblem, trialsTable(20, hill))
	c := open(t, path)
	b, err := c.Next(t.Context(), Settings{BatchSize: 3, Seed: 1, MaxNewIngredients: -1})
	if err != nil {
		t.Fatal(err)
	}
	var results []Result
	for k, e := range b.Entries {
		results = append(results, Result{ID: e.ID, Values: map[string]string{"y": fmt.Sprint(200 + k)}})
	}
	if _, err := c.Record(t.Context(), results, RecordOptions{}); err != nil {
		t.Fatal(err)
	}
	read := func() (all []string) {
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e.Name()+" "+string(text))
		}
		return all
	}
	before := read()
	p, err := compile.Load(t.Context(), path, compile.Options{Campaign: true})
	if err != nil {
		t.Fatal(err)
	}
	r := mustReplay(t, p, ReplaySettings{Repeats: 1, Trials: 9})
	if !slices.Equal(before, read()) {
		t.Error("the replay changed a file")
	}
	if r.Recipes != 23 || r.Best.ID != "B1-3" || r.Best.Value != 202 {
		t.Errorf("the recorded results are not replayed: %+v", r.Best)
	}
	if len(p.Book.Recipes) != 23 || p.Search.AnyDoses {
		t.Error("the replay changed the problem")
	}
}

// TestReplayedRecipes: trials of one recipe are one recipe with their mean, which brings all its results; failures are
// the worst, also if a larger number would be worse; and trials without a result, outside the constraints or at
// unknown conditions are left out.
func TestReplayedRecipes(t *testing.T) {
	table := "recipe,a,b,y,temperature\n"
	for k := range 18 {
		table += fmt.Sprintf("r%d,%d,%d,%d,100\n", k, k+1, 20-k-1, 50+k)
	}
	table += "again,1,19,70,100\n" + "third,1,19,failed,100\n" + "hot,1,19,12,120\n" // r0 has the mean of 50 and 70
	table += "bad,20,0,failed,120\n" + "empty,20,0,,100\n" + "unknown,3,17,90,\n" + "never,19,1,99,120\n"
	text := "conditions: {temperature: {values: [100, 120]}}\nconstraints: [{amount: {of: a, max: 18}}]\n"
	p := loadReplay(t, text+"properties: {y: {learn: {label: y, maximize: true}}}\n", table)
	r, err := newReplayer(p)
	if err != nil {
		t.Fatal(err)
	}
	if want := (ReplayLeftOut{Unmeasured: 1, RuleBreaking: 2, NoConditions: 1}); r.leftOut != want {
		t.Errorf("left out: %+v", r.leftOut)
	}
	if x := r.recipes[0]; len(x.trials) != 3 || x.measured[0] != 60 || x.goodness != 60 || x.failed {
		t.Errorf("%+v", x)
	}
	if n := len(r.recipes); n != 19 || r.full.trials[r.recipes[n-1].trials[0]].id != "hot" || r.full.trials[r.recipes[r.best].trials[0]].id != "r17" {
		t.Errorf("%d recipes", n)
	}
	r.settings.Start = 2
	c := r.campaignAfter([]int{0, 5}, nil)
	if len(c.trials) != 4 || c.firstResultTrial != 4 {
		t.Errorf("%d trials", len(c.trials))
	}
	numbers, _, err := c.measuredValues(r.objectives[0].learningSettings)
	if err != nil || fmt.Sprint(numbers) != "[50 70 NaN 55]" {
		t.Errorf("%v %v", numbers, err)
	}
}

// TestChance: the distribution of the best of random draws is that of all sets of draws, counted one by one.
func TestChance(t *testing.T) {
	c := chance{start: 3, rest: []float64{1, 2, 4, 4, 6, 8, 8}, restHits: 2, most: 8}
	for draws := range len(c.rest) + 1 {
		want, found, hits, sets := make(map[float64]float64), 0.0, 0.0, 0.0
		for set := range 1 << len(c.rest) {
			best, n, most := c.start, 0, 0
			for k, v := range c.rest {
				if set>>k&1 == 1 {
					n++
					best = max(best, v)
					if v == c.most {
						most++
					}
				}
			}
			if n != draws {
				continue
			}
			sets++
			want[best]++
			hits += float64(most)
			if most > 0 {
				found++
			}
		}
		got := make(map[float64]float64)
		for _, v := range c.best(draws) {
			got[v.value] += v.weight
		}
		for v, n := range want {
			if math.Abs(got[v]-n/sets) > 1e-12 {
				t.Errorf("%d draws: %v with probability %v, and not %v", draws, v, got[v], n/sets)
			}
		}
		if math.Abs(c.foundProbability(draws)-found/sets) > 1e-12 || math.Abs(c.hits(draws)-hits/sets) > 1e-12 {
			t.Errorf("%d draws: %v found, %v hits, and not %v, %v", draws, c.foundProbability(draws), c.hits(draws), found/sets, hits/sets)
		}
	}
	if c.closed(2) != 0 || c.closed(5.5) != 0.5 || c.closed(8) != 1 {
		t.Error("shares of the gap")
	}
}

// TestReplayRefuses: what cannot be replayed says why, and what to do.
func TestReplayRefuses(t *testing.T) {
	hills := loadReplay(t, hillProblem, trialsTable(30, hill))
	for name, c := range map[string]struct {
		problem *compile.Problem
		s       ReplaySettings
		want    string
	}{
		"few":         {loadReplay(t, hillProblem, trialsTable(12, hill)), ReplaySettings{}, "12 different recipes measured, and a replay needs 15: make a batch with kir next, or choose a result that more recipes have"},
		"constraints": {loadReplay(t, hillProblem+"constraints: [{amount: {of: a, max: 2}}]\n", trialsTable(30, hill)), ReplaySettings{}, "outside the constraints): replay the table of recipes, without the constraints of the problem, or loosen these"},
		"not learnt":  {loadReplay(t, "properties: {price: {blend: {attribute: price, minimize: true}}}\n", trialsTable(30, hill)), ReplaySettings{}, "no objective is learnt from results, so there is nothing to replay: add a property for a measured result, such as liking: {learn: {label: liking, maximize: true}}"},
		"equal":       {loadReplay(t, hillProblem, trialsTable(30, func([]int, int) string { return "5" })), ReplaySettings{}, "all measured recipes have the same result, so none is the best: choose a result that differs between recipes"},
		"all start":   {hills, ReplaySettings{Start: 30}, "a start of 30 recipes, and 30 are measured: begin with 1 to 29"},
		"no trials":   {hills, ReplaySettings{Start: 8, Trials: 8}, "8 trials, of which 8 are the start, and 30 recipes are measured: ask for 9 to 30"},
		"many trials": {hills, ReplaySettings{Trials: 31}, "31 trials, of which 6 are the start, and 30 recipes are measured: ask for 7 to 30"},
		"batch":       {hills, ReplaySettings{BatchSize: -1}, "a batch of -1 recipes: ask for 1 to 1000"},
		"repeats":     {hills, ReplaySettings{Repeats: 1001}, "1001 replays: ask for 1 to 1000"},
	} {
		_, err := Replay(t.Context(), c.problem, c.s)
		var bad *inputerr.Error
		if !errors.As(err, &bad) || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: %v, and not %s", name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Replay(ctx, hills, ReplaySettings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestReplayCounts: where many recipes share the best result, a replay counts them.
func TestReplayCounts(t *testing.T) {
	p := loadReplay(t, "properties: {y: {learn: {label: y, want: good}}}\n", trialsTable(40, func(x []int, _ int) string {
		if x[0] > x[1] {
			return "good"
		}
		return "bad"
	}))
	r := mustReplay(t, p, ReplaySettings{Repeats: 2})
	if last := r.Rounds[len(r.Rounds)-1]; !r.CountsBest() || r.BestCount < 10 || last.Hits <= last.ChanceHits || len(r.Coverage) != 0 || r.Label != "" {
		t.Errorf("%d best recipes, %+v", r.BestCount, last)
	}
}
