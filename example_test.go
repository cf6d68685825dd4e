package kir_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir"
	"kir/diagnostics"
	"kir/internal/number"
	"kir/mcmc"
	"kir/rule"
)

// The shortlist of a problem file. Few draws are enough to show it.
func Example() {
	ctx := context.Background()
	p, err := kir.Load(ctx, "examples/cocktails/problem.yaml")
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	p.Settings.Draws = 1000
	result, err := p.Sample(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Headline)
	for _, r := range result.Shortlist[:2] {
		fmt.Println(r)
	}
	// Output:
	// Fair: predictions of taste and timing are right on trends, rough on single recipes (weakest: taste, 28 ± 7 % better than guessing).
	// 0.791: 46.5 % Champagne, 42.9 % Pineapple juice, 10.0 % Crème de cassis, 0.6 % Absinthe
	// 0.787: 52.3 % Champagne, 33.6 % Orange juice, 13.5 % Grapefruit juice, 0.6 % Absinthe
}

// A target that the program builds: three to four of six ingredients, at least two fifths
// spirits, and a score of one's own.
func ExampleNew() {
	ctx := context.Background()
	names := []string{"gin", "rum", "vermouth", "lime", "syrup", "egg white"}
	set := rule.Set{Ingredients: len(names), Total: 20, Used: []int{3, 4}, Rules: []rule.Rule{
		rule.Require{Of: []int{3}},
		rule.Group{Of: []int{0, 1}, Total: &rule.Range{Min: 8, Max: 20}},
	}}
	space, err := mcmc.NewRuledSpace(ctx, set, mcmc.CountingOptions{})
	if err != nil {
		log.Fatal(err)
	}
	sour := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		lime, sweet := float64(x.Amount(3)), float64(x.Amount(2)+x.Amount(4))
		return 1 / (1 + (lime-sweet/2)*(lime-sweet/2))
	})
	target, err := mcmc.NewTarget(space, mcmc.Uniform(3, 4), mcmc.Objective{Name: "sour", Property: sour, Weight: 1})
	if err != nil {
		log.Fatal(err)
	}
	p, err := kir.New("sours", target, names...)
	if err != nil {
		log.Fatal(err)
	}
	p.Settings.Draws = 2000
	result, err := p.Sample(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Shortlist[0])
	fmt.Printf("rum in %.2f ± %.2f of the draws\n", result.Inclusion["rum"].Mean, result.Inclusion["rum"].MCSE)
	// Output:
	// 1.000: 40.0 % vermouth, 35.0 % rum, 20.0 % lime, 5.0 % gin
	// rum in 0.69 ± 0.01 of the draws
}

// swap is a proposal: a used and an unused ingredient exchange their amounts. The way back has the same probability.
type swap struct{}

func (swap) Propose(r *mcmc.Rand, x, y *mcmc.Composition) (logRatio float64, err error) {
	from := int(x.Ingredients()[r.Intn(x.UsedCount())])
	unused := r.Intn(x.N() - x.UsedCount())
	for to := range x.N() {
		if x.Amount(to) > 0 {
			continue
		}
		if unused == 0 {
			return 0, y.Move(from, to, 0)
		}
		unused--
	}
	return 0, nil
}

// share is a proposal: one unit goes from a used ingredient to another one.
type share struct{}

func (share) Propose(r *mcmc.Rand, x, y *mcmc.Composition) (logRatio float64, err error) {
	used := x.Ingredients()
	from, to := int(used[r.Intn(len(used))]), int(used[r.Intn(len(used))])
	if from == to || x.Amount(from) == 1 {
		return math.Inf(-1), nil // the number of ingredients stays
	}
	return 0, y.Move(from, to, x.Amount(from)-1)
}

// turns is a kernel that moves by one kernel after the other.
type turns []mcmc.Kernel

func (k turns) Advance(r *mcmc.Rand, x *mcmc.State, iterations int, tally *mcmc.Tally) error {
	for range iterations {
		if err := k[r.Intn(len(k))].Advance(r, x, 1, tally); err != nil {
			return err
		}
	}
	return nil
}

// A kernel and a rule that the program has built, with the shortlist and the draws of the run. The rule: no ingredient has
// more than half of the total.
func ExampleProblem_Sample() {
	ctx := context.Background()
	space, err := mcmc.NewSpace(8, 10)
	if err != nil {
		log.Fatal(err)
	}
	first := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(1+x.Amount(0)) / 6 })
	target, err := mcmc.NewTarget(space, mcmc.Uniform(3, 3), mcmc.Objective{Name: "much of ingredient 0", Property: first, Weight: 1})
	if err != nil {
		log.Fatal(err)
	}
	target, err = target.WithBounds(mcmc.Bound{Name: "at most half", Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		for _, part := range x.Parts() {
			if part.Amount > 5 {
				return 0
			}
		}
		return 1
	})})
	if err != nil {
		log.Fatal(err)
	}
	p, err := kir.New("eight", target)
	if err != nil {
		log.Fatal(err)
	}
	p.Kernel = turns{mcmc.NewMetropolis("swap", target, swap{}), mcmc.NewMetropolis("share", target, share{})}
	p.Settings.Draws = 20000
	result, err := p.Sample(ctx)
	if err != nil {
		log.Fatal(err)
	}
	amounts := make([][]float64, p.Settings.Chains) // of ingredient 0
	for d, err := range result.Draws(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		amount := 0
		for _, a := range d.Amounts {
			if a.Ingredient == "0" {
				amount = a.Units
			}
		}
		amounts[d.Chain] = append(amounts[d.Chain], float64(amount))
	}
	s := diagnostics.Summarize(amounts)
	fmt.Println(result.Shortlist[0])
	fmt.Printf("%.2f ± %.2f units of ingredient 0; R-hat %.2f\n", s.Mean, s.MCSEMean, s.RHat)
	// Output:
	// 1.000: 50.0 % 0, 30.0 % 1, 20.0 % 2
	// 2.72 ± 0.03 units of ingredient 0; R-hat 1.00
}

// A problem that runs a program of its own is refused, unless the context allows it.
func TestAllowPrograms(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // where nothing is trusted
	file := filepath.Join(t.TempDir(), "problem.yaml")
	text := fmt.Sprintf("ingredients: [gin, lime]\ntotal: 10\nsparsity: {uniform: [1, 2]}\nproperties:\n  own: {program: {command: [%q]}}\n", program)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := kir.Load(t.Context(), file); err == nil || !strings.Contains(err.Error(), "kir trust") {
		t.Errorf("a program without consent: %v", err)
	}
	p, err := kir.Load(kir.AllowPrograms(t.Context()), file)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// A rule that is none, and rules that can hold, are no conflict.
func TestCheck(t *testing.T) {
	set := rule.Set{Ingredients: 2, Total: 5, Rules: []rule.Rule{rule.Amount{Of: []int{0}, Min: 4, Max: 3}}}
	if bad, is := errors.AsType[*rule.Error](kir.Check(t.Context(), set)); !is || bad.Rule != 0 {
		t.Errorf("%v", bad)
	}
	set.Rules[0] = rule.Amount{Of: []int{0}, Min: 4}
	if err := kir.Check(t.Context(), set); err != nil {
		t.Error(err)
	}
	set.Rules = append(set.Rules, rule.Amount{Of: []int{1}, Min: 4}, rule.Require{Of: []int{0, 1}})
	if err := kir.Check(t.Context(), set); err == nil || !strings.HasPrefix(err.Error(), "the least amounts of the 2 required ingredients sum to 8 of a total of 5") {
		t.Errorf("%v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := kir.Check(ended, set); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestDefaults holds what the package's comment says of the defaults against a problem that
// has them.
func TestDefaults(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "kir.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(file.Doc.Text(), "# Defaults\n")
	text, _, _ = strings.Cut(text, "\n#")
	text = strings.Join(strings.Fields(text), " ")
	space, err := mcmc.NewSpace(3, 10)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	p, err := kir.New("three", target)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Settings
	if s.Draws != mcmc.AutoDraws || s.Kernel != "" {
		t.Errorf("the default is %d draws by %q, and the comment is of draws that are enough, by a kernel that trials choose", s.Draws, s.Kernel)
	}
	for _, says := range []string{
		fmt.Sprintf("%d chains, after a warm-up of at most %s iterations each", s.Chains, number.Thousands(s.Warmup)),
		fmt.Sprintf("with seed %d.", s.Seed),
		fmt.Sprintf("or after %v ([Problem.Time])", p.Time),
	} {
		if !strings.Contains(text, says) {
			t.Errorf("the comment says nothing of %q: %s", says, text)
		}
	}
	p.Directory = filepath.Join(t.TempDir(), "run")
	if _, err := p.Sample(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(p.Directory, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ Auto struct{ Wanted int } }
	if err := json.Unmarshal(data, &made); err != nil {
		t.Fatal(err)
	}
	if says := fmt.Sprintf("every figure is worth %s independent draws", number.Thousands(made.Auto.Wanted)); !strings.Contains(text, says) {
		t.Errorf("the comment says nothing of %q: %s", says, text)
	}
}

// threeOfSix returns a problem without objectives, with a kernel that the program has built.
func threeOfSix(t *testing.T) *kir.Problem {
	t.Helper()
	space, err := mcmc.NewSpace(6, 12)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(3, 3))
	if err != nil {
		t.Fatal(err)
	}
	p, err := kir.New("six", target)
	if err != nil {
		t.Fatal(err)
	}
	p.Kernel = turns{mcmc.NewMetropolis("swap", target, swap{}), mcmc.NewMetropolis("share", target, share{})}
	p.Settings.Chains, p.Settings.Draws = 2, 500
	return p
}

// TestDraws checks that the draws of a result are those of its statistics, and that the sequence ends early when the
// reader stops or the context ends.
func TestDraws(t *testing.T) {
	p := threeOfSix(t)
	result, err := p.Sample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	draws, uses := 0, make(map[string]int)
	for d, err := range result.Draws(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Chain != draws/500 || d.Draw != draws%500 {
			t.Fatalf("draw %d is called draw %d of chain %d", draws, d.Draw, d.Chain)
		}
		share, units := 0.0, 0
		for _, a := range d.Amounts {
			share, units = share+a.Share, units+a.Units
			uses[a.Ingredient]++
		}
		if len(d.Amounts) != 3 || units != 12 || share < 1-1e-12 || share > 1+1e-12 {
			t.Fatalf("draw %d has the amounts %v", draws, d.Amounts)
		}
		draws++
	}
	if draws != 1000 {
		t.Errorf("there are %d draws", draws)
	}
	for name, f := range result.Inclusion {
		if got := float64(uses[name]) / 1000; got != f.Mean {
			t.Errorf("%v of the draws use %s, and its inclusion is %v", got, name, f.Mean)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range result.Draws(ctx) {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		cancel()
	}
	for range result.Draws(t.Context()) {
		break
	}
	for _, err := range new(kir.Result).Draws(t.Context()) {
		if err == nil {
			t.Error("the result of no run has draws")
		}
	}
}

// TestOwnKernelStored checks that the run of a kernel that the program has built is stored, and that the draws stay
// readable.
func TestOwnKernelStored(t *testing.T) {
	p := threeOfSix(t)
	p.Directory = filepath.Join(t.TempDir(), "run")
	result, err := p.Sample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	draws := 0
	for _, err := range result.Draws(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		draws++
	}
	if draws != 1000 {
		t.Errorf("there are %d draws", draws)
	}
}

// TestOwnKernelName checks that the name of such a kernel alone samples nothing.
func TestOwnKernelName(t *testing.T) {
	p := threeOfSix(t)
	p.Kernel, p.Settings.Kernel = nil, "own"
	if _, err := p.Sample(t.Context()); err == nil || !strings.Contains(err.Error(), "own") {
		t.Errorf("the kernel %q: %v", p.Settings.Kernel, err)
	}
}

// TestStateString checks what a program sees that prints a state.
func TestStateString(t *testing.T) {
	p := threeOfSix(t)
	x, err := mcmc.NewComposition(6, mcmc.Part{Ingredient: 1, Amount: 4}, mcmc.Part{Ingredient: 2, Amount: 7}, mcmc.Part{Ingredient: 5, Amount: 1})
	if err != nil {
		t.Fatal(err)
	}
	state, err := mcmc.NewState(p.Target(), x)
	if err != nil {
		t.Fatal(err)
	}
	// C(6, 3) sets, and C(11, 2) ways to divide 12 units among three: log(1/1100)
	if got, want := state.String(), "{1: 4, 2: 7, 5: 1}, log density -7.00307"; got != want {
		t.Errorf("a state prints as %q, not %q", got, want)
	}
}
