package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// hill is a table of three ingredients in twelfths whose best has six of the first and three of the second; the
// recipe of the third alone failed.
func hill() *table {
	t := &table{Name: "hill", Ingredients: []string{"a", "b", "c"}, Total: 12, Most: 3, Starts: make(map[int][]int)}
	for a := range 13 {
		for b := range 13 - a {
			t.Units = append(t.Units, []int{a, b, 12 - a - b})
			worth := float64(100 - (a-6)*(a-6) - 2*(b-3)*(b-3))
			t.Worth = append(t.Worth, &worth)
			if len(t.Starts[0]) < 20 && a < 3 {
				t.Starts[0] = append(t.Starts[0], len(t.Units)-1)
			}
		}
	}
	t.Worth[0] = nil
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
	kept, err := readKept(path)
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
