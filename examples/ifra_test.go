package examples_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"kir/internal/compile"
	"kir/internal/diagnose"
	"kir/mcmc"
)

// thousandths returns a decimal number of at most three decimals, times 1000.
func thousandths(t *testing.T, text string) int {
	t.Helper()
	v, ok := new(big.Rat).SetString(text)
	if !ok || !v.Mul(v, big.NewRat(1000, 1)).IsInt() {
		t.Fatalf("%q is no number of at most three decimals", text)
	}
	return int(v.Num().Int64())
}

// ifraLimits are those of the files, in whole numbers.
type ifraLimits struct {
	shares map[string]map[int]int // by constituent, by material
	most   map[string]int
}

func readLimits(t *testing.T) *ifraLimits {
	t.Helper()
	_, materials := readCSV(t, "ifra/ingredients.csv")
	_, limits := readCSV(t, "ifra/limits.csv")
	_, constituents := readCSV(t, "ifra/constituents.csv")
	at := make(map[string]int)
	for i, row := range materials {
		at[row[0]] = i
	}
	l := &ifraLimits{make(map[string]map[int]int), make(map[string]int)}
	for _, row := range limits {
		l.shares[row[0]], l.most[row[0]] = make(map[int]int), thousandths(t, row[2])
	}
	for _, row := range constituents {
		l.shares[row[1]][at[row[0]]] = thousandths(t, row[2])
	}
	if len(at) != 1000 || len(l.most) != 171 || len(l.shares) != 171 {
		t.Fatalf("%d materials, %d limits, %d constituents", len(at), len(l.most), len(l.shares))
	}
	return l
}

// check says, as an error, which limit a composition breaks.
func (l *ifraLimits) check(c *mcmc.Composition) error {
	for name, of := range l.shares {
		sum := 0
		for _, part := range c.Parts() {
			sum += of[part.Ingredient] * part.Amount
		}
		if sum > l.most[name]*c.Total() {
			return fmt.Errorf("%v has %d thousandths of %s, at most %d", c, sum/c.Total(), name, l.most[name])
		}
	}
	return nil
}

// Each draw keeps each of the 171 limits, summed here in whole numbers from the
// files. So that it takes seconds, the law of n is narrow and the run short, unless
// KIR_IFRA is set: then it is the file's, and the presence of each material that one
// in a thousand draws has must be worth 1,000 independent draws.
func TestIFRA(t *testing.T) {
	dir, whole := "ifra", os.Getenv("KIR_IFRA") != ""
	if !whole {
		dir = t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("ifra")); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "problem.yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		narrow := bytes.Replace(text, []byte("{normal: {mean: 30, sd: 4}}"), []byte("{uniform: [30, 30]}"), 1)
		if err := os.WriteFile(file, narrow, 0o600); err != nil || bytes.Equal(narrow, text) {
			t.Fatalf("the file is another one than the test thinks, or is not written: %v", err)
		}
	}
	p, err := compile.Load(t.Context(), filepath.Join(dir, "problem.yaml"), compile.Options{OverrideSampler: func(s *mcmc.Settings) {
		if !whole {
			s.Draws, s.Warmup = 100, 5000
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, all := p.Sampler, readLimits(t)
	sampler, err := s.Sampler(p.Target)
	if err != nil {
		t.Fatal(err)
	}
	used := make([][][]float64, 1000) // by material, chain and draw
	for i := range used {
		used[i] = make([][]float64, s.Chains)
	}
	failed := make([]error, s.Chains)
	_, err = mcmc.Stream(t.Context(), sampler, s, 0, func(chain, _ int, x *mcmc.State) error {
		for i := range used {
			used[i][chain] = append(used[i][chain], float64(min(x.Composition.Amount(i), 1)))
		}
		failed[chain] = errors.Join(failed[chain], all.check(x.Composition))
		return failed[chain]
	})
	if err != nil {
		t.Fatal(err)
	}
	if !whole {
		return
	}
	worst, which := float64(s.Chains*s.Draws), 0
	sums := make([]float64, len(used))
	for i, chains := range used {
		for _, series := range chains {
			for _, v := range series {
				sums[i] += v
			}
		}
		if sums[i] < 0.001*float64(s.Chains*s.Draws) {
			continue
		}
		of := diagnose.Summarize(chains)
		ess, err := of.ESSMean, of.ReasonFor("ESSMean")
		if err != nil {
			t.Fatal(err)
		}
		if float64(ess) < worst {
			worst, which = float64(ess), i
		}
	}
	t.Logf("the worst presence is that of material %d, with %.0f effective draws", which, worst)
	if worst < 1000 {
		t.Error("that is less than 1,000")
	}
}

// The limits of the test are the files' own: a formula of one material breaks some.
func TestLimitsAreChecked(t *testing.T) {
	all, broken := readLimits(t), 0
	for i := range 1000 {
		c, err := mcmc.NewComposition(1000, mcmc.Part{Ingredient: i, Amount: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if all.check(c) != nil {
			broken++
		}
	}
	if broken < 900 {
		t.Errorf("%d of 1,000 materials by themselves break a limit", broken)
	}
}
