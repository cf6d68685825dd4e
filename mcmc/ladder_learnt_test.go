package mcmc_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"kir/internal/testonly/golden"
	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// pointed is a target of 15,000 compositions, most of which is about a few, in two
// regions; and its law.
func pointed(t testing.TB) (*mcmc.Target, stattest.Law) {
	t.Helper()
	score := func(amount func(i int) int) float64 {
		off := func(best ...int) float64 {
			sum := 0.0
			for i, b := range best {
				d := float64(amount(i) - b)
				sum += math.Abs(d) + d*d/20
			}
			return sum
		}
		return -2 * min(off(6, 4, 2, 0, 0, 0, 0, 0), 0.3+off(0, 0, 3, 0, 0, 0, 7, 2))
	}
	space, err := mcmc.NewSpace(8, 12)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 4), mcmc.Objective{Name: "pointed", Weight: 1, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		return math.Exp(score(x.Amount))
	})})
	if err != nil {
		t.Fatal(err)
	}
	return target, stattest.Law{
		Ingredients: 8, Total: 12,
		Size: func(n int) float64 {
			if n < 2 || n > 4 {
				return 0
			}
			return 1
		},
		Objectives: []stattest.Objective{{Weight: 1, LogScore: func(x []int) float64 { return score(func(i int) int { return x[i] }) }}},
	}
}

// told is all that ladders tell.
func told(c *mcmc.Chain) string {
	l := *c.Ladder()
	learnt := l.Learnt
	l.Learnt = nil
	return fmt.Sprintf("%+v %+v", l, learnt)
}

// TestLearntLegStays keeps what a learnt leg tells from fixed seeds, where draws from what
// was learnt are compositions at once, and where they hardly ever are.
func TestLearntLegStays(t *testing.T) {
	kept := golden.Open(t)
	near := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		off := 0.0
		for i := range 9 {
			off += math.Abs(float64(x.Amount(i)-3)) + 2*math.Abs(float64(x.Amount(i)-4*(i%3)))
		}
		return math.Exp(-off / 3)
	})
	one, _ := pointed(t)
	for name, target := range map[string]*mcmc.Target{"pointed": one, "repeats": newTarget(t, 12, 27, mcmc.Uniform(6, 9), mcmc.Objective{Name: "near", Property: near, Weight: 1})} {
		c := settled(t, "tempered", target, 5, 1000)
		if err := c.Advance(150); err != nil {
			t.Fatal(err)
		}
		if c.Ladder().Learnt == nil {
			t.Errorf("%s: the learnt leg is left out", name)
		}
		kept.CheckText(t, name, c.State.Composition.String()+" "+told(c))
	}
}

// With a learnt leg draws follow the law, within 5 standard errors each, and log Z of
// either leg is that of the enumeration within 4: of 13 figures one is farther off with
// probability 1.4e-4.
func TestLearntLegKeepsTheLaw(t *testing.T) {
	target, law := pointed(t)
	e, err := law.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	z := 0.0
	for s, x := range e.States {
		if c := plainComposition(t, x); e.Pi[s] > 0 {
			z += math.Exp(target.LogLaw(c.UsedCount()) + law.Objectives[0].Log(x))
		}
	}
	scans := testmode.Pick(12_000, 3000)
	c := settled(t, "tempered", target, 1, 1000)
	statistics, plain := lawStatistics(target)
	all := follow(t, c, statistics, scans, 1)
	first := c.Ladder()
	if first.Learnt == nil {
		t.Fatal("the learnt leg is left out")
	}
	for name, l := range map[string]*mcmc.LadderStatistics{"first": first, "learnt": first.Learnt} {
		t.Logf("%s leg: %d steps, Λ %.2f, %d round trips, log Z %.4f ± %.4f, of %.4f", name, len(l.Rungs)-1, l.Barrier, l.RoundTrips, l.LogZ, l.LogZError, math.Log(z))
		if off := (l.LogZ - math.Log(z)) / l.LogZError; !(math.Abs(off) < 4) || l.RoundTrips == 0 {
			t.Errorf("%s leg: log Z is %.4f ± %.4f, %+.1f standard errors off, after %d round trips", name, l.LogZ, l.LogZError, off, l.RoundTrips)
		}
	}
	for s, x := range all {
		if off := away(t, x, expectation(e, plain[s])); math.Abs(off) > 5 {
			t.Errorf("%s is %.1f standard errors off", statistics[s].Name, off)
		}
	}
}

// A chain with a learnt leg is the same on any number of workers, and saved and restored
// in warm-up and after.
func TestLearntLegIsRestored(t *testing.T) {
	target, _ := pointed(t)
	k, err := mcmc.NewTempered(target)
	if err != nil {
		t.Fatal(err)
	}
	run := func(each func(c *mcmc.Chain) *mcmc.Chain) string {
		c, err := k.NewChain(3, 0)
		if err != nil {
			t.Fatal(err)
		}
		for part := range 30 {
			if c = each(c); part < 20 {
				err = c.Warm(29) // rounds end after 480 and 992
			} else {
				err = c.Advance(7)
			}
			if part == 19 {
				c.EndWarmup()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if c.Ladder().Learnt == nil {
			t.Fatal("the learnt leg is left out")
		}
		data, err := c.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return told(c) + string(data)
	}
	want := run(func(c *mcmc.Chain) *mcmc.Chain { return c })
	for _, workers := range []int{2, 8} {
		if got := run(func(c *mcmc.Chain) *mcmc.Chain { c.MoveAtOnce(workers); return c }); got != want {
			t.Errorf("%d workers make it otherwise", workers)
		}
	}
	want = run(func(c *mcmc.Chain) *mcmc.Chain {
		if err := c.Refresh(); err != nil {
			t.Fatal(err)
		}
		return c
	})
	got := run(func(c *mcmc.Chain) *mcmc.Chain {
		data, err := c.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		restored, err := k.RestoreChain(data)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := restored.MarshalBinary(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("what is saved of a restored chain is something else: %v", err)
		}
		return restored
	})
	if got != want {
		t.Error("restored, it ends otherwise")
	}
}
