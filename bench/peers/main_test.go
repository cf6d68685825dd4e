package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// hill is a table of three ingredients in twelfths whose best has six of the first and three of the second; the
// recipe of the third alone failed.
func hill() *table {
	t := &table{Name: "hill", Ingredients: []string{"a", "b", "c"}, Total: 12, Most: 3, Starts: make(map[int][]int),
		Problem: "total: 12\ningredients: [a, b, c]\nsparsity: {uniform: [1, 3]}\nproperties: {y: {forest: {label: y, maximize: true}}}\nsearch: {doses: any}\n"}
	for a := range 13 {
		for b := range 13 - a {
			t.Units = append(t.Units, []int{a, b, 12 - a - b})
			worth := float64(100 - (a-6)*(a-6) - 2*(b-3)*(b-3))
			t.Worth, t.Results = append(t.Worth, &worth), append(t.Results, map[string]float64{"y": worth})
			if len(t.Starts[0]) < 20 && a < 3 {
				t.Starts[0] = append(t.Starts[0], len(t.Units)-1)
			}
		}
	}
	t.Worth[0], t.Results[0] = nil, nil
	return t
}

// A kirArm answers in the test's own process.
type kirArm struct {
	randomArm
	ctx context.Context
}

func (k kirArm) ask(q question) (answer, error) {
	chosen, err := chooseByKir(k.ctx, q)
	return answer{Chosen: chosen}, err
}

// TestReplay: regret never grows, no recipe is taken twice, and an arm that learns finds the top of a hill.
func TestReplay(t *testing.T) {
	h := hill()
	for name, a := range map[string]arm{"random": randomArm{}, "kir": kirArm{ctx: t.Context()}} {
		r := record{Batch: 4}
		if err := replay(a, h, &r, 6); err != nil {
			t.Fatal(err)
		}
		if len(r.Closed) != 6 || !slices.IsSorted(r.Closed) {
			t.Errorf("%s: closed %v", name, r.Closed)
		}
		if name == "kir" && r.Closed[5] != 1 {
			t.Errorf("kir closed %v", r.Closed)
		}
	}
}

// twoHills is the hill with a price of each ingredient that is known.
func twoHills() *table {
	t := hill()
	first := float64(46)
	t.Worth[0], t.Results[0] = &first, map[string]float64{"y": first}
	t.Prices = []float64{5, 1, 2}
	t.Stock = "name,price\na,5\nb,1\nc,2\n"
	t.Problem = "total: 12\ningredients: ingredients.csv\nsparsity: {uniform: [1, 3]}\nproperties:\n  y: {forest: {label: y, maximize: true}}\n  z: {blend: {attribute: price, minimize: true}}\ntrade: [y, z]\nsearch: {doses: any}\n"
	for k, units := range t.Units {
		price := 0.0
		for i, u := range units {
			price += t.Prices[i] * float64(u) / 12
		}
		t.Second, t.Scaled = append(t.Second, -price), append(t.Scaled, []float64{(100 - *t.Worth[k]) / 100, price / 5})
	}
	t.Volume = 1
	all := make([]int, len(t.Units))
	for k := range all {
		all[k] = k
	}
	t.Volume = t.volume(all)
	return t
}

// A volumeArm answers in the test's own process.
type volumeArm struct {
	randomArm
	ctx context.Context
}

func (v volumeArm) ask(q question) (answer, error) {
	chosen, err := chooseByVolume(v.ctx, q)
	return answer{Chosen: chosen}, err
}

// TestReplayFront: the hypervolume of a campaign for two objectives never shrinks, and kir comes near that of the table.
func TestReplayFront(t *testing.T) {
	h := twoHills()
	for name, a := range map[string]arm{"random": randomArm{}, "kir": kirArm{ctx: t.Context()}, "ehvi": volumeArm{ctx: t.Context()}} {
		r := record{Task: "fronts", Batch: 4}
		if err := replay(a, h, &r, 6); err != nil {
			t.Fatal(err)
		}
		if len(r.Volume) != 6 || r.Closed != nil || !slices.IsSorted(r.Volume) || r.Volume[5] > 1 {
			t.Errorf("%s: %v", name, r.Volume)
		}
		if name == "kir" && r.Volume[5] < 0.97 {
			t.Errorf("kir reached %v", r.Volume)
		}
	}
	if _, err := chooseByVolume(t.Context(), question{Y: []float64{1}}); err == nil {
		t.Error("a hypervolume of one objective")
	}
}

// ovens is the hill in two ovens at three heats, as bench/campaign exports it; the best is in the second oven at the
// middle heat.
func ovens() *table {
	h := hill()
	t := &table{Name: "ovens", Ingredients: h.Ingredients, Total: 12, Most: 3, Starts: make(map[int][]int), Conditions: []condition{{"oven", false}, {"heat", true}},
		Problem: strings.Replace(h.Problem, "properties:", "conditions: {oven: {values: [A, B]}, heat: {values: [150, 160, 170]}}\nproperties:", 1)}
	for k, units := range h.Units {
		for n, oven := range []string{"A", "B"} {
			for heat := range 3 {
				worth := float64(80+10*n-10*(heat-1)*(heat-1)-(units[0]-6)*(units[0]-6)) - 2*float64((units[1]-3)*(units[1]-3))
				if len(t.Starts[0]) < 20 && k%5 == 0 && n == 0 && units[0] < 4 {
					t.Starts[0] = append(t.Starts[0], len(t.Units))
				}
				t.Units, t.Worth, t.Results = append(t.Units, units), append(t.Worth, &worth), append(t.Results, map[string]float64{"y": worth})
				t.Settings = append(t.Settings, []any{oven, float64(150 + 10*heat)})
				t.Features = append(t.Features, []float64{float64(1 - n), float64(n), float64(heat) / 2})
			}
		}
	}
	return t
}

// TestReplayConditions: recipes are chosen with what is set beside them.
func TestReplayConditions(t *testing.T) {
	r := record{Task: "conditions", Batch: 4}
	if err := replay(kirArm{ctx: t.Context()}, ovens(), &r, 6); err != nil {
		t.Fatal(err)
	}
	if len(r.Closed) != 6 || !slices.IsSorted(r.Closed) || r.Closed[5] < 0.95 {
		t.Errorf("closed %v", r.Closed)
	}
}

// TestDecodeTables: what bench/campaign exports is read, and a question has of it what belongs to its recipes.
func TestDecodeTables(t *testing.T) {
	text := `{"name":"a","ingredients":["a","b"],"total":4,"most":2,"units":[[4,0],[3,1],[0,4]],"worth":[1,null,3],"starts":{"0":[2,1]},
		"problem":"total: 4","stock":"name,price","results":[{"y":-1},null,{"y":-3}],
		"second":[-5,-4,-1],"prices":[5,1],"scaled":[[1,1],[0.5,0.5],[0,0]],"volume":1,
		"conditions":[{"name":"oven"},{"name":"heat","number":true}],"settings":[["A",1],["B",1],["B",2]],"features":[[1,0,0],[0,1,0],[0,1,1]]}`
	tables, err := decodeTables(strings.NewReader(text))
	if err != nil || len(tables) != 1 {
		t.Fatalf("%v, %v", tables, err)
	}
	q, rest := tables[0].question(tables[0].Starts[0], 1, 7)
	want := question{Names: []string{"a", "b"}, X: [][]float64{{0, 1}, {0.75, 0.25}}, Y: []float64{3, 3}, N: 1, Seed: 7, Pool: [][]float64{{1, 0}}, Total: 4, Most: 2, Failed: []bool{false, true},
		Problem: "total: 4", Stock: "name,price", Results: []map[string]float64{{"y": -3}, nil},
		Z: []float64{-1, -4}, Prices: []float64{5, 1}, Known: []float64{-5},
		Conditions: []condition{{"oven", false}, {"heat", true}}, Settings: [][]any{{"B", 2.0}, {"B", 1.0}}, PoolSettings: [][]any{{"A", 1.0}},
		Features: [][]float64{{0, 1, 1}, {0, 1, 0}}, PoolFeatures: [][]float64{{1, 0, 0}}}
	if !reflect.DeepEqual(q, want) || !slices.Equal(rest, []int{0}) {
		t.Errorf("%+v, not %+v; rest %v", q, want, rest)
	}
}

// TestRefusal: an arm in Python that is not written for two objectives or for conditions says so, and leaves neither out.
func TestRefusal(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		t.Skip("python3 has no numpy")
	}
	script := filepath.Join(t.TempDir(), "arm.py")
	home, err := filepath.Abs("python")
	if err != nil {
		t.Fatal(err)
	}
	text := "import sys\nsys.path.insert(0, sys.argv[1])\nimport protocol\nprotocol.serve([], lambda q: [0], choose_setting=(lambda q: [len(q.pool) - 1]) if sys.argv[2:] else None)\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	front, _ := twoHills().question(twoHills().Starts[0], 1, 0)
	setting, rest := ovens().question(ovens().Starts[0], 1, 0)
	for _, c := range []struct {
		args    []string
		q       question
		chosen  []int
		refused bool
	}{
		{nil, front, nil, true},
		{nil, setting, nil, true},
		{[]string{"settings"}, setting, []int{len(rest) - 1}, false},
	} {
		p, err := startProcess(t.Context(), time.Minute, python, append([]string{script, home}, c.args...)...)
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.ask(c.q)
		if err != nil || (a.Refused != "") != c.refused || !slices.Equal(a.Chosen, c.chosen) {
			t.Errorf("%v: %+v, %v", c.args, a, err)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestReportPaired: the report has what each arm reached, how far kir is ahead on the same campaigns, and what the arms
// took.
func TestReportPaired(t *testing.T) {
	var kept []record
	for arm, volumes := range map[string][]float64{"kir": {0.9, 0.8}, "baybe": {0.7, 0.4}} {
		for seed, v := range volumes {
			kept = append(kept, record{Task: "fronts", On: "hills", Arm: arm, Seed: seed, Batch: 4, Volume: []float64{0.1, v}, Seconds: []float64{2}, Processor: []float64{1}, Start: 3, Peak: 100})
		}
	}
	kept = append(kept, record{Task: "fronts", On: "hills", Arm: "baybe", Seed: 2, Batch: 4, Volume: []float64{0.1}, Refused: "no"})
	var out strings.Builder
	reportPaired(&out, kept, "fronts", []string{"kir", "baybe"})
	for _, want := range []string{
		"| hills | 85.0 ± 5.0 | 55.0 ± 15.0 | 30.0 ± 10.0 |",
		"| all | 85.0 | 55.0 | 30.0 |",
		"| baybe | 2 | 2.00 | 1.00 | 3.0 | 100 |",
		"1 times baybe: no",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// A wrongArm chooses what is not to be chosen.
type wrongArm struct{ randomArm }

func (wrongArm) ask(question) (answer, error) { return answer{Chosen: []int{5, 5}}, nil }

// TestWrongAnswer: a recipe that is chosen twice is an error of the arm.
func TestWrongAnswer(t *testing.T) {
	if err := replay(wrongArm{}, hill(), &record{Batch: 2}, 1); err == nil {
		t.Error("a recipe was chosen twice, without an error")
	}
}

// TestBroken: the first rule that a recipe breaks is named; rounding breaks none.
func TestBroken(t *testing.T) {
	r := &ruleset{Least: 2, Most: 3, Price: []float64{1, 10, 1, 1}, Budget: 4, Groups: []group{{[]int{2, 3}, 0.5}}, Smallest: 0.05}
	for want, x := range map[string][]float64{
		"":                    {0.5, 0.3, 0.2, 1e-9},
		"a negative share":    {1.1, -0.1, 0, 0},
		"the total":           {0.5, 0.2, 0.2, 0},
		"the count":           {1, 0, 0, 0},
		"the budget":          {0.5, 0.5, 0, 0},
		"a group":             {0.4, 0, 0.3, 0.3},
		"the smallest amount": {0.6, 0.01, 0.39, 0},
	} {
		if got := r.firstBroken(x); got != want {
			t.Errorf("%v breaks %q, not %q", x, got, want)
		}
	}
}

// TestTrials: trials keep their rules.
func TestTrials(t *testing.T) {
	for _, s := range settings(12) {
		q, _ := trialsUnder(s.rules, 12, 40, 1)
		for _, x := range q.X {
			if rule := s.rules.firstBroken(x); rule != "" {
				t.Errorf("%s: %v breaks %s", s.name, x, rule)
			}
		}
	}
}

// TestCommand: kir next reads the problem that is written for it, and its offers keep the rules.
func TestCommand(t *testing.T) {
	program := filepath.Join(t.TempDir(), "kir")
	if text, err := exec.Command("go", "build", "-C", "../..", "-o", program, "./cmd/kir").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s := settings(12)[3]
	q, _ := trialsUnder(s.rules, 12, 40, 1)
	q.N = 3
	c := &command{ctx: t.Context(), program: program, limit: time.Minute}
	a, err := c.ask(q)
	if err != nil || a.Refused != "" || len(a.Recipes) != 3 || a.Processor <= 0 || a.Peak <= 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, x := range a.Recipes {
		if rule := s.rules.firstBroken(x); rule != "" {
			t.Errorf("%v breaks %s", x, rule)
		}
	}
}

// TestProcess: an arm that is a program is asked by lines, and one that is too slow is ended.
func TestProcess(t *testing.T) {
	script := filepath.Join(t.TempDir(), "arm")
	text := `echo '{"versions":["arm 1"]}'; read -r question; echo '{"chosen":[2],"processor":1.5}'; read -r question; exec sleep 1000`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := startProcess(t.Context(), 2*time.Second, "/bin/sh", script)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := p.ask(question{N: 1}); err != nil || !slices.Equal(a.Chosen, []int{2}) || a.Processor != 1.5 || p.greeting().Versions[0] != "arm 1" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := p.ask(question{N: 1}); err != errSlow {
		t.Errorf("slow: %v", err)
	}
	if err := p.close(); err != nil {
		t.Errorf("a slow arm is not ended: %v", err)
	}
}

// TestKept: what was measured is read again, but for the end of an interrupted line, and reported.
func TestKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.jsonl")
	b := &bench{keep: path}
	for seed := range 2 {
		for k, arm := range []string{"kir", "bofire"} {
			closed := []float64{0.5, 1 - 0.1*float64(k+seed*k)}
			if err := b.add(record{Task: "tables", On: "hill", Arm: arm, Seed: seed, Batch: 4, Closed: closed, Seconds: []float64{1, 2}, Processor: []float64{1, 1}, Versions: []string{arm + " 1"}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.add(record{Task: "rules", On: "count", Arm: "ax", Batch: 3, Offers: 3, Broken: []string{"the count"}, Worth: []float64{2, -1}, Processor: []float64{6}}); err != nil {
		t.Fatal(err)
	}
	if err := b.add(record{Task: "speed", On: "100 rows", Arm: "bofire", Processor: []float64{60}, Refused: errSlow.Error()}); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"task":"ta`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	kept, err := readKept[record](path)
	if err != nil || len(kept) != 6 {
		t.Fatalf("%d, %v", len(kept), err)
	}
	if again := (&bench{kept: kept}); !again.isMeasured(record{Task: "tables", On: "hill", Arm: "kir", Seed: 1, Batch: 4}) || again.isMeasured(record{Task: "tables", On: "hill", Arm: "kir", Seed: 2, Batch: 4}) {
		t.Error("what was measured is not known")
	}
	var out strings.Builder
	reportTables(&out, kept, []string{"kir", "bofire"})
	reportRules(&out, kept, []string{"ax"})
	reportSpeed(&out, kept, []string{"bofire"})
	printVersions(&out, kept)
	for _, want := range []string{
		"| bofire | 85.0 ± 5.0 | 85.0 | 15.0 | 2 | 1.50 | 1.00 |",
		"| count | ax | 1 of 1 | 3 | 1 | 1 | 2.0 | 6.0 |",
		"| 100 rows | > 60.0 |",
		"1 times bofire: no answer within the limit",
		"bofire 1, kir 1",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
