package randomproblem

import (
	"fmt"
	"slices"
	"testing"
)

// The machines count what listing counts, on problems small enough to list.
func TestMachines(t *testing.T) {
	kept := 0
	for seed := range uint64(200) {
		d := newDice(seed, 1<<43)
		p := drawLarge(d, 7, d.between(6, 9))
		e, listed := p.sizes(p.machines), p.feasible()
		if !slices.Equal(e.Sizes, listed.Sizes) {
			t.Errorf("seed %d: counted %v, and there are %v", seed, e.Sizes, listed.Sizes)
		}
		if e.possible() {
			kept++
		}
	}
	if kept < 50 {
		t.Errorf("only %d problems have compositions", kept)
	}
}

// Problems whose |X_n| kir counts by tables or measures, one for 20 small ones. What it
// measures is held against tables by TestMeasuredSharesAgreeWithTables. A problem has at most
// 13 sizes and 4 kernels: 3 of them raise a false alarm with probability
// 3·17·1e-7 = 5e-6 at most, as far as the errors of shares follow Student's law.
func TestLargeProblems(t *testing.T) {
	looked := 0
	first, count := seeds(t)
	count = max(1, count/20)
	for seed := first; seed < first+uint64(count); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := NewLarge(seed)
			out, err := CheckLarge(t.Context(), p, largeOptions(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range out.Faults {
				t.Error(f)
			}
			for _, r := range out.Rows {
				if r.P < small {
					t.Errorf("%s: the draws do not follow the law: p = %.2g at %s", r.Kernel, r.P, r.At)
				}
			}
			looked += len(out.Rows)
			t.Logf("|X_n| = %v, %d of them measured", p.sizes(p.machines).Sizes, out.Measured)
		})
	}
	if looked < 2*count {
		t.Errorf("%d runs of %d problems were looked at", looked, count)
	}
}

// A count of which the limit begins one step too low is rejected.
func TestControlLarge(t *testing.T) {
	p := NewLarge(1)
	o := largeOptions(t)
	o.alter = func(e *Enumeration) {
		wrong := slices.Clone(p.machines)
		limit := wrong[0]
		wrong[0].keeps = func(s int) bool { return limit.keeps(s + 1) }
		*e = *p.sizes(wrong)
	}
	out, err := CheckLarge(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Faults) == 0 {
		t.Error("the wrong count is accepted")
	}
	for _, f := range out.Faults {
		t.Log(f)
	}
}

func largeOptions(t *testing.T) Options {
	o := options(t)
	o.Starts, o.Iterations = 200, 20
	return o
}
