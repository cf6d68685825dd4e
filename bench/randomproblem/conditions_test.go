package randomproblem

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/compile"
	"kir/internal/report/assemble"
	"kir/internal/run"
	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"

	"github.com/parquet-go/parquet-go"
)

// A pair is a composition with a value of each condition: a number and a category.
type pair struct {
	x    [3]int
	heat float64
	oven string
}

// A conditioned is a random problem of three ingredients and two conditions, with
// the law that docs/conditions.md gives it.
type conditioned struct {
	text  string
	pairs []pair
	index map[pair]int
	pi    []float64 // by pair
	score []float64 // by pair: the log of the formula's score, 0 without one
	log   []float64 // by pair: log(y_sparse(n)/W_n · p(z)) + score
}

// newConditioned makes a problem: weights, perhaps a given value, rules that tie
// conditions and recipe either way, perhaps a formula of both.
func newConditioned(seed uint64) *conditioned {
	d := newDice(seed, 1<<42)
	total := d.between(2, 6)
	names, ovens, heats := []string{"A", "B", "C"}, []string{"deck", "fan", "gas"}, []float64{150, 160, 170, 185}
	heats = heats[:d.between(1, 4)]
	heatWeights, ovenWeights := make([]float64, len(heats)), make([]float64, len(ovens))
	for k := range heatWeights {
		heatWeights[k] = one(d, 1, 1, 2, 0.25, 7)
	}
	for k := range ovenWeights {
		ovenWeights[k] = one(d, 1, 1, 3, 0.5)
	}
	law := make([]float64, 4)
	var b strings.Builder
	fmt.Fprintf(&b, "ingredients: [A, B, C]\ntotal: %d\nsparsity: {table: {", total)
	for n := 1; n <= min(3, total); n++ {
		law[n] = one(d, 1, 2, 0.5, 5)
		fmt.Fprintf(&b, "%d: %v, ", n, law[n])
	}
	numbers := func(of []float64) string { return strings.ReplaceAll(fmt.Sprint(of), " ", ", ") }
	fmt.Fprintf(&b, "}}\nconditions:\n  heat: {values: %s, weights: %s, unit: °C}\n", numbers(heats), numbers(heatWeights))
	given := ""
	if d.chance(0.2) {
		given = one(d, ovens...)
	}
	fmt.Fprintf(&b, "  oven: {values: [deck, fan, gas], weights: %s%s}\n", numbers(ovenWeights), map[bool]string{true: ", given: " + given}[given != ""])
	var keeps []func(q pair) bool
	rules := 0
	rule := func(text string, of func(q pair) bool) {
		if rules++; rules == 1 {
			b.WriteString("constraints:\n")
		}
		fmt.Fprintf(&b, "  - %s\n", text)
		keeps = append(keeps, of)
	}
	for range d.between(0, 5) {
		i, j, oven, heat, most := d.IntN(3), d.IntN(3), one(d, ovens...), one(d, heats...), d.between(1, total)
		switch d.IntN(7) {
		case 0:
			rule(fmt.Sprintf("if: {condition: {of: oven, is: %s}, then: {exclude: [%s]}}", oven, names[i]), func(q pair) bool { return q.oven != oven || q.x[i] == 0 })
		case 1:
			rule(fmt.Sprintf("if: {used: %s, then: {condition: {of: heat, max: %v}}}", names[i], heat), func(q pair) bool { return q.x[i] == 0 || q.heat <= heat })
		case 2:
			rule(fmt.Sprintf("if: {condition: {of: heat, min: %v}, then: {amount: {of: %s, max: %d}}}", heat, names[i], most), func(q pair) bool { return q.heat < heat || q.x[i] <= most })
		case 3:
			rule(fmt.Sprintf("if: {condition: {of: oven, in: [%s, gas]}, then: {condition: {of: heat, is: %v}}}", oven, heat), func(q pair) bool { return q.oven != oven && q.oven != "gas" || q.heat == heat })
		case 4:
			other := one(d, "deck", oven)
			rule(fmt.Sprintf("condition: {of: oven, in: [%s, %s]}", oven, other), func(q pair) bool { return q.oven == oven || q.oven == other })
		case 5:
			rule(fmt.Sprintf("if: {used: %s, unused: %s, then: {condition: {of: oven, is: %s}}}", names[i], names[j], oven), func(q pair) bool { return q.x[i] == 0 || q.x[j] > 0 || q.oven == oven })
		case 6:
			rule(fmt.Sprintf("amount: {of: %s, max: %d}", names[i], most), func(q pair) bool { return q.x[i] <= most })
		}
	}
	score := func(pair) float64 { return 0 }
	if d.chance(0.6) {
		fan, slope := one(d, 0.2, 1.5), one(d, 0.5, 3)
		fmt.Fprintf(&b, "properties:\n  good: {expression: 'exp(-%v * share(\"A\") * (condition(\"heat\") - 150) / 35) * (condition(\"oven\") == \"fan\" ? %v : 1)'}\n", slope, fan)
		score = func(q pair) float64 {
			y := -slope * float64(q.x[0]) / float64(total) * (q.heat - 150) / 35
			if q.oven == "fan" {
				y += math.Log(fan)
			}
			return y
		}
	}
	c := &conditioned{text: b.String(), index: map[pair]int{}}
	within, mass := make([]float64, 4), 0.0
	var prior []float64
	for a := range total + 1 {
		for bb := range total + 1 - a {
			for h, heat := range heats {
				for o, oven := range ovens {
					q := pair{[3]int{a, bb, total - a - bb}, heat, oven}
					if given != "" && oven != given || slices.ContainsFunc(keeps, func(keep func(pair) bool) bool { return !keep(q) }) {
						continue
					}
					c.index[q] = len(c.pairs)
					p := heatWeights[h] * ovenWeights[o]
					c.pairs, prior, c.score = append(c.pairs, q), append(prior, p), append(c.score, score(q))
					within[used(q.x[:])] += p
				}
			}
		}
	}
	for n := range law {
		if within[n] == 0 {
			law[n] = 0
		}
		mass += law[n]
	}
	sum := 0.0
	for s, q := range c.pairs {
		n := used(q.x[:])
		c.log = append(c.log, math.Log(law[n]/mass*prior[s]/within[n])+c.score[s])
		c.pi = append(c.pi, math.Exp(c.log[s]))
		sum += c.pi[s]
	}
	for s := range c.pi {
		c.pi[s] /= sum
	}
	return c
}

// pairOf returns the pair that a chain is at.
func pairOf(p *compile.Problem, x *mcmc.Composition) pair {
	return pair{[3]int{x.Amount(0), x.Amount(1), x.Amount(2)}, p.Conditions[0].Value(x.Condition(0)).(float64), p.Conditions[1].Value(x.Condition(1)).(string)}
}

// readPairs reads the draws of a run by a reader that is not kir's, with their log densities.
func readPairs(t *testing.T, dir string) (pairs []pair, densities []float64) {
	paths, err := filepath.Glob(filepath.Join(dir, "draws", "chain=*", "part-*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		err := eachRow(path, func(columns [][]string, row parquet.Row) error {
			var q pair
			var names []string
			var amounts []int
			density := 0.0
			for _, v := range row {
				switch strings.Join(columns[v.Column()], ".") {
				case "log_density":
					density = v.Double()
				case "heat":
					q.heat = v.Double()
				case "oven":
					q.oven = string(v.ByteArray())
				default:
					switch columns[v.Column()][0] {
					case "ingredient":
						names = append(names, string(v.ByteArray()))
					case "amount":
						amounts = append(amounts, int(v.Int32()))
					}
				}
			}
			for k, name := range names {
				q.x[name[0]-'A'] = amounts[k]
			}
			pairs, densities = append(pairs, q), append(densities, density)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return pairs, densities
}

// Random problems with conditions through the whole pipeline, from the file to the
// draws, with every kernel. A problem that allows nothing is refused. Of at most six
// comparisons a problem each raises a false alarm with probability 1e-7 at most.
func TestRandomConditions(t *testing.T) {
	first, count := seeds(t)
	if os.Getenv("KIR_PROBLEMS") == "" {
		count = testmode.Pick(100, 16)
	}
	refused, compared, smallest := 0, 0, 1.0
	for seed := first; seed < first+uint64(count); seed++ {
		c := newConditioned(seed)
		p, err := compile.Load(t.Context(), filepath.Join(t.TempDir(), "problem.yaml"), compile.Options{Text: []byte(c.text), Workers: 1})
		if len(c.pairs) == 0 {
			if refused++; err == nil {
				t.Errorf("seed %d: nothing is allowed, and it was not refused:\n%s", seed, c.text)
				p.Close()
			}
			continue
		}
		if err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, c.text)
			continue
		}
		for _, name := range kernels {
			settings := p.Sampler
			settings.Kernel, settings.Seed, settings.Chains, settings.Warmup, settings.Draws, settings.Thin = name, seed, 2, 600, 20, 2
			sampler, err := settings.Sampler(p.Target)
			if err != nil {
				if name != "exact" || c.score == nil {
					t.Errorf("seed %d, %s: %v\n%s", seed, name, err, c.text)
				}
				continue // exact draws from the law alone
			}
			counts := make([]int, len(c.pairs))
			at := func(q pair) int {
				s, ok := c.index[q]
				if !ok {
					t.Fatalf("seed %d, %s: %v is drawn, and is not allowed:\n%s", seed, name, q, c.text)
				}
				return s
			}
			for k := range 400 {
				chain, err := sampler.NewChain(seed, k)
				if err != nil {
					t.Fatalf("seed %d, %s: %v\n%s", seed, name, err, c.text)
				}
				if err := chain.Warm(100); err != nil {
					t.Fatal(err)
				}
				chain.EndWarmup()
				if err := chain.Advance(50); err != nil {
					t.Fatal(err)
				}
				counts[at(pairOf(p, chain.State.Composition))]++
			}
			pvalue, where := stattest.TestLaw(counts, c.pi)
			if compared++; pvalue < small {
				t.Errorf("seed %d, %s: the draws do not follow the law: p = %.2g at %s\n%s", seed, name, pvalue, where, c.text)
			}
			smallest = min(smallest, pvalue)
			if name != "balanced" {
				continue
			}
			spec, err := assemble.Spec(p, "test")
			if err != nil {
				t.Fatal(err)
			}
			spec.Settings = settings
			dir := filepath.Join(t.TempDir(), "run")
			if _, err := run.Start(t.Context(), spec, run.NewDirectoryStore(dir), run.Options{Workers: 1}); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, c.text)
			}
			pairs, densities := readPairs(t, dir)
			if len(pairs) != 40 {
				t.Errorf("seed %d: the files have %d draws", seed, len(pairs))
			}
			for k, q := range pairs {
				if want := c.log[at(q)]; math.Abs(densities[k]-want) > 1e-6 {
					t.Errorf("seed %d: %v has the log density %v, and should have %v\n%s", seed, q, densities[k], want, c.text)
					break
				}
			}
		}
		p.Close()
	}
	t.Logf("%d problems, %d refused, %d comparisons, the smallest p %.2g", count, refused, compared, smallest)
	if compared < 2*count {
		t.Errorf("%d problems led to %d comparisons", count, compared)
	}
}
