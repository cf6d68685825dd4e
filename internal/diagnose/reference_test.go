package diagnose

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// relative is the largest relative difference from a reference value.
const relative = 1e-9

// same reports whether a is b, up to rounding.
func same(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= relative*math.Abs(b)
}

// referenceValue is a number; "NaN", "NA" and null are NaN.
type referenceValue float64

func (v *referenceValue) UnmarshalJSON(b []byte) error {
	if b[0] == '"' || string(b) == "null" {
		*v = referenceValue(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(v))
}

type referenceCase struct {
	Name      string
	File      string
	Chains    json.RawMessage // a number, or the draws themselves
	ArviZ     map[string]referenceValue
	Posterior map[string]referenceValue
}

func readReference(t *testing.T, file string) []referenceCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ Cases []referenceCase }
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) == 0 {
		t.Fatalf("%s has no cases", file)
	}
	return r.Cases
}

// draws returns the draws of a case.
func (c referenceCase) draws(t *testing.T) [][]float64 {
	t.Helper()
	if c.File == "" {
		var chains [][]float64
		if err := json.Unmarshal(c.Chains, &chains); err != nil {
			t.Fatal(err)
		}
		return chains
	}
	f, err := os.Open(filepath.Join("testdata", c.File))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	chains := make([][]float64, len(rows))
	for i, row := range rows {
		for _, field := range row {
			x, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			chains[i] = append(chains[i], x)
		}
	}
	return chains
}

// figuresOf computes all figures under the names of the references, and checks that
// a NaN has a reason and nothing else has.
func figuresOf(t *testing.T, chains [][]float64) map[string]float64 {
	t.Helper()
	s := Summarize(chains)
	figures := map[string]float64{"rhat_rank": float64(s.RHat), "ess_q05": float64(s.ESSQ5)}
	for _, f := range []struct {
		name, field string
		x           float64
	}{
		{"mean", "Mean", float64(s.Mean)}, {"sd", "SD", float64(s.SD)}, {"q5", "Q5", float64(s.Q5)}, {"median", "Median", float64(s.Median)}, {"q95", "Q95", float64(s.Q95)},
		{"rhat", "RHat", float64(s.RHat)}, {"rhat_bulk", "RHatBulk", float64(s.RHatBulk)}, {"rhat_folded", "RHatFolded", float64(s.RHatFolded)},
		{"ess_bulk", "ESSBulk", float64(s.ESSBulk)}, {"ess_tail", "ESSTail", float64(s.ESSTail)}, {"ess_mean", "ESSMean", float64(s.ESSMean)},
		{"ess_q5", "ESSQ5", float64(s.ESSQ5)}, {"ess_median", "ESSMedian", float64(s.ESSMedian)}, {"ess_q95", "ESSQ95", float64(s.ESSQ95)},
		{"mcse_mean", "MCSEMean", float64(s.MCSEMean)}, {"mcse_sd", "MCSESD", float64(s.MCSESD)},
		{"mcse_q5", "MCSEQ5", float64(s.MCSEQ5)}, {"mcse_median", "MCSEMedian", float64(s.MCSEMedian)}, {"mcse_q95", "MCSEQ95", float64(s.MCSEQ95)},
		{"iact", "IACT", float64(s.IACT)},
	} {
		if math.IsNaN(f.x) != (s.ReasonFor(f.field) != nil) {
			t.Errorf("%s is %v with the reason %v", f.field, f.x, s.ReasonFor(f.field))
		}
		figures[f.name] = f.x
	}
	if x, err := MCSEMean(chains); math.Float64bits(x) != math.Float64bits(float64(s.MCSEMean)) && !math.IsNaN(x) || (err == nil) != (s.ReasonFor("MCSEMean") == nil) {
		t.Errorf("the MCSE of the mean is %v, %v, and %v in the summary", x, err, s.MCSEMean)
	}
	var of sample
	if of.loadChains(chains) != nil {
		return figures
	}
	figures["q37"] = of.quantile(0.37)
	for p, name := range map[float64]string{0: "q0", 0.37: "q37"} {
		ess, err := of.essQuantile(p)
		figures["ess_"+name] = ess
		if figures["mcse_"+name] = math.NaN(); err == nil {
			figures["mcse_"+name] = of.mcseQuantile(p, ess)
		}
	}
	return figures
}

// TestReference compares with what ArviZ and posterior say of the chains in
// testdata. Where both give a number and agree, so must we. Where they differ,
// posterior is followed, in these figures and no others.
func TestReference(t *testing.T) {
	differ := map[string]bool{
		"iid_normal_4x500 mcse_sd":       true,
		"ar1_phi0.9_4x500 mcse_sd":       true,
		"two_stuck_chains_4x200 mcse_sd": true,
		"cauchy_4x500 mcse_sd":           true,
		"odd_draws_4x101 mcse_sd":        true,
		"constant_4x100 ess_bulk":        true,
		"constant_4x100 ess_tail":        true,
		"constant_4x100 ess_mean":        true,
		"constant_4x100 mcse_mean":       true,
	}
	compared := 0
	for _, c := range readReference(t, "reference.json") {
		ours := figuresOf(t, c.draws(t))
		for name, a := range c.ArviZ {
			want := float64(a)
			if p, ok := c.Posterior[name]; ok {
				want = float64(p)
				if same(float64(a), want) == differ[c.Name+" "+name] {
					t.Errorf("%s %s: ArviZ has %v and posterior %v", c.Name, name, a, p)
				}
			} else if name == "rhat_split" {
				continue // R-hat without ranks is not offered
			} else if c.Name == "constant_4x100" {
				want = math.NaN() // ArviZ: 400 for the quantiles' ESS
			} else if c.Name == "odd_draws_4x101" && name == "rhat_folded" {
				continue // ArviZ splits before it folds; see TestPosterior
			}
			compared++
			if !same(ours[name], want) {
				t.Errorf("%s %s: got %v, want %v", c.Name, name, ours[name], want)
			}
		}
	}
	if compared != 79 {
		t.Errorf("%d figures were compared", compared)
	}
}

// TestPosterior compares with what posterior says of many small cases: ties,
// odd lengths, single chains, very short chains, opposing draws, constant
// chains. It lists every kind of case in which we differ on purpose.
func TestPosterior(t *testing.T) {
	counts := map[string]int{}
	for _, c := range readReference(t, "posterior.json") {
		chains := c.draws(t)
		ours := figuresOf(t, chains)
		draws := len(chains[0])
		total := float64(len(chains) * 2 * (draws / 2))
		for name, p := range c.Posterior {
			if name == "ess_q1" {
				continue // a quantile that nothing lies beyond is not offered
			}
			got, want, kind := ours[name], float64(p), "the same"
			size := float64(c.Posterior[strings.Replace(name, "mcse_", "ess_", 1)])
			switch {
			case draws < minDrawsESS && (strings.HasPrefix(name, "ess_") || strings.HasPrefix(name, "mcse_")):
				kind, want = "too few draws", math.NaN()
			case draws < minDrawsRHat && strings.HasPrefix(name, "rhat"):
				kind, want = "too few draws", math.NaN()
			case name == "rhat" && math.IsNaN(want) && !math.IsNaN(ours["rhat_bulk"]):
				kind, want = "folded draws are constant", float64(c.Posterior["rhat_bulk"])
			case strings.HasPrefix(name, "ess_") && want == total/2 && got != want:
				kind, want = "first pair is not positive", total*math.Log10(total)
			case name == "mcse_mean" && size == total/2 && !same(got, want):
				kind, want = "first pair is not positive", want/math.Sqrt(2*math.Log10(total))
			case strings.HasPrefix(name, "mcse_") && size == total/2 && !same(got, want):
				continue // follows from the one before
			case name == "mcse_sd" && !same(got, want):
				// The ESS of the squares is not in the file; the case is
				// decided by the first pair of their autocorrelations.
				kind = "first pair is not positive"
				want /= math.Sqrt(2 * math.Log10(total))
			}
			counts[kind]++
			if !same(got, want) {
				t.Errorf("%s %s: got %v, want %v (%s)", c.Name, name, got, want, kind)
			}
		}
	}
	t.Log(counts)
	for _, kind := range []string{"the same", "too few draws", "folded draws are constant", "first pair is not positive"} {
		if counts[kind] == 0 {
			t.Errorf("no figure is of the kind %q", kind)
		}
	}
	if counts["the same"] < 1400 {
		t.Errorf("only %d figures were compared as they are", counts["the same"])
	}
}

func TestUndefined(t *testing.T) {
	ramp := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i * 37 % 101)
		}
		return x
	}
	all := []string{"RHat", "RHatBulk", "RHatFolded", "ESSBulk", "ESSTail", "ESSMean", "IACT", "MCSEMean", "MCSESD", "Mean", "SD", "ESSQ5", "MCSEQ5", "Median"}
	spread := []string{"RHat", "RHatBulk", "RHatFolded", "ESSBulk", "ESSTail", "ESSMean", "IACT", "MCSEMean", "MCSESD", "ESSQ5", "MCSEQ5"}
	sizes := []string{"ESSBulk", "ESSTail", "ESSMean", "IACT", "MCSEMean", "MCSESD", "ESSQ5", "MCSEQ5"}
	huge, tiny := ramp(40), ramp(40)
	for i := range huge {
		huge[i] *= 1e300
		tiny[i] *= 1e-300
	}
	tests := []struct {
		name   string
		chains [][]float64
		nan    []string
		err    error
		text   string
	}{
		{"none", nil, all, ErrNoDraws, "there are no draws"},
		{"empty", [][]float64{{}, {}}, all, ErrNoDraws, "there are no draws"},
		{"ragged", [][]float64{ramp(20), ramp(21)}, all, ErrRagged, "the chains differ in length: 20 draws in chain 0, 21 in chain 1"},
		{"NaN", [][]float64{ramp(20), append(ramp(19), math.NaN())}, all, ErrNotFinite, "a draw is not a finite number: draw 19 of chain 1 (both counted from 0) is NaN"},
		{"Inf", [][]float64{append(ramp(19), math.Inf(-1)), ramp(20)}, all, ErrNotFinite, "a draw is not a finite number: draw 19 of chain 0 (both counted from 0) is -Inf"},
		{"one draw", [][]float64{{1}}, append([]string{"SD"}, spread...), ErrFewDraws, ""},
		{"three draws", [][]float64{ramp(3), ramp(3)}, spread, ErrFewDraws, "too few draws: 3 in a chain, at least 4 are needed"},
		{"eleven draws", [][]float64{ramp(11), ramp(11)}, sizes, ErrFewDraws, "too few draws: 11 in a chain, at least 12 are needed"},
		{"twelve draws", [][]float64{ramp(12), ramp(12)}, nil, nil, ""},
		{"constant", [][]float64{make([]float64, 30), make([]float64, 30)}, spread, ErrConstant, "all draws are equal"},
		{"overflow", [][]float64{huge, huge}, []string{"SD", "ESSMean", "IACT", "MCSEMean", "MCSESD"}, ErrScale, "the spread of the draws is out of range"},
		{"underflow", [][]float64{tiny, tiny}, []string{"SD", "ESSMean", "IACT", "MCSEMean", "MCSESD"}, ErrScale, "the spread of the draws is out of range"},
	}
	for _, test := range tests {
		s := Summarize(test.chains)
		want := map[string]bool{}
		for _, name := range test.nan {
			want[name] = true
		}
		for _, name := range all {
			if err := s.ReasonFor(name); (err != nil) != want[name] || err != nil && !errors.Is(err, test.err) {
				t.Errorf("%s: %s: %v", test.name, name, err)
			}
		}
		if err := s.ReasonFor("RHat"); err != nil && test.text != "" && err.Error() != test.text {
			t.Errorf("%s: %q, want %q", test.name, err, test.text)
		}
	}
}

// TestChoices states what is done where posterior and ArviZ part.
func TestChoices(t *testing.T) {
	repeat := func(n int, values ...float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = values[i%len(values)]
		}
		return x
	}

	t.Run("stuck chains have an infinite R-hat", func(t *testing.T) {
		chains := [][]float64{repeat(40, 0.1), repeat(40, 0.3), repeat(40, 0.3)}
		s := Summarize(chains)
		if !math.IsInf(float64(s.RHat), 1) {
			t.Errorf("R-hat is %v, %v", s.RHat, s.ReasonFor("RHat"))
		}
		// As good as three draws, or a few more; far from 120.
		if !(s.ESSMean <= 6) {
			t.Errorf("ESS is %v, %v", s.ESSMean, s.ReasonFor("ESSMean"))
		}
	})
	t.Run("alternating draws have the largest ESS", func(t *testing.T) {
		chains := [][]float64{repeat(100, 1, 2), repeat(100, 2, 1)}
		want := 200 * math.Log10(200)
		if ess := Summarize(chains).ESSMean; !same(float64(ess), want) {
			t.Errorf("ESS is %v, want %v", ess, want)
		}
	})
	t.Run("a single chain is compared with itself", func(t *testing.T) {
		up := make([]float64, 100)
		for i := range up {
			up[i] = float64(i)
		}
		if r := Summarize([][]float64{up}).RHat; !(r >= 1.5) {
			t.Errorf("R-hat of a ramp is %v", r)
		}
	})
	t.Run("a value above 5 % at the upper end has no tail ESS", func(t *testing.T) {
		chains := [][]float64{repeat(100, 1, 2, 2, 1, 3), repeat(100, 2, 1, 3, 1, 2)}
		s := Summarize(chains)
		if err := s.ReasonFor("ESSTail"); !errors.Is(err, ErrConstantTail) || err.Error() != "too many draws have the same largest value, 3: 5 % or more of them" {
			t.Error(err)
		}
		if math.IsNaN(float64(s.ESSQ5)) || !math.IsNaN(float64(s.ESSQ95)) || !errors.Is(s.ReasonFor("MCSEQ95"), ErrConstantTail) {
			t.Errorf("%+v", s)
		}
	})
	t.Run("two values, equally often, have no MCSE of the sd", func(t *testing.T) {
		s := Summarize([][]float64{repeat(100, 0.1, 0.3, 0.3, 0.1)})
		if err := s.ReasonFor("MCSESD"); !errors.Is(err, ErrConstant) {
			t.Error(err)
		}
	})
	t.Run("figures do not depend on the unit", func(t *testing.T) {
		x := readReference(t, "reference.json")[1].draws(t)
		want := Summarize(x)
		for _, c := range x {
			for i := range c {
				c[i] = math.Ldexp(c[i], -200)
			}
		}
		got := Summarize(x)
		if got.ESSBulk != want.ESSBulk || got.ESSMean != want.ESSMean || got.RHat != want.RHat || got.ESSTail != want.ESSTail {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if float64(got.MCSESD) != math.Ldexp(float64(want.MCSESD), -200) {
			t.Errorf("MCSE of the sd is %v", got.MCSESD)
		}
	})
	t.Run("zeros of both signs are equal", func(t *testing.T) {
		s := Summarize([][]float64{repeat(40, 0, math.Copysign(0, -1))})
		if err := s.ReasonFor("RHat"); !errors.Is(err, ErrConstant) {
			t.Error(err)
		}
	})
}
