package randomproblem

import (
	"math"
	"testing"

	"kir/internal/compile"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// rejected says whether the comparison of laws rejects a problem, and whether
// anything was compared.
func rejected(t *testing.T, p *Problem, o Options) (bad, compared bool) {
	out, err := Check(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out.Rows {
		if r.P < small && !r.Slow {
			bad = true
		}
	}
	return bad || len(out.Faults) > 0, len(out.Rows) > 0
}

// A law that is not divided by |X_n| is rejected.
func TestControlNotDivided(t *testing.T) {
	caught, of := 0, 0
	for seed := uint64(1); seed <= testmode.Pick(uint64(10), 5); seed++ {
		o := options(t)
		o.alter = func(e *Enumeration) {
			sum := 0.0
			for s := range e.Pi {
				e.Pi[s] *= float64(e.Sizes[e.Used[s]])
				sum += e.Pi[s]
			}
			for s := range e.Pi {
				e.Pi[s] /= sum
			}
		}
		if bad, compared := rejected(t, New(seed), o); compared {
			of++
			if bad {
				caught++
			}
		}
	}
	// The others have one number of ingredients, or one composition.
	t.Logf("%d of %d rejected", caught, of)
	if caught < of/3 {
		t.Errorf("a law that is not divided by |X_n| is rejected in %d of %d problems", caught, of)
	}
}

// allows counts the compositions that rules and sparsity leave.
func (p *Problem) allows() int {
	e, count := p.feasible(), 0
	for s := range e.States {
		if e.Mass(s) {
			count++
		}
	}
	return count
}

// A rule that is left out of the file is missed.
func TestControlRuleLeftOut(t *testing.T) {
	caught, of := 0, 0
	for seed := uint64(1); seed <= 60; seed++ {
		p := New(seed)
		less := *p
		if len(p.Rules) == 0 {
			continue
		}
		less.Rules = p.Rules[:len(p.Rules)-1]
		if less.allows() == p.allows() {
			continue // it follows from the others
		}
		of++
		o := options(t)
		o.written = &less
		if bad, _ := rejected(t, p, o); bad {
			caught++
		}
	}
	t.Logf("%d of %d rejected", caught, of)
	if caught < of || of < 10 {
		t.Errorf("a rule that is left out is noticed in %d of %d problems", caught, of)
	}
}

// uncorrected throws the units into the ingredients one by one, which is not
// uniform on the compositions, and leaves Hastings' factor out.
type uncorrected struct{ target *mcmc.Target }

func (k uncorrected) Advance(r *mcmc.Rand, x *mcmc.State, iterations int, tally *mcmc.Tally) error {
	space := k.target.Space()
	for range iterations {
		tally.Iterations++
		amounts := make([]int, space.N())
		for range space.Total() {
			amounts[r.Intn(space.N())]++
		}
		y, err := mcmc.NewComposition(space.N(), parts(amounts)...)
		if err != nil {
			return err
		}
		if space.Contains(y) != nil {
			continue
		}
		score, err := k.target.LogScore(y)
		if err != nil {
			continue // no score is asked for where the law has no mass
		}
		ratio := score + k.target.LogLaw(y.UsedCount()) - x.LogDensity()
		if math.IsInf(ratio, -1) || !r.Bernoulli(min(1, math.Exp(ratio))) {
			continue
		}
		if err := x.Composition.SetParts(y.Parts()...); err != nil {
			return err
		}
		if err := x.Refresh(); err != nil {
			return err
		}
	}
	return nil
}

// A kernel without its Hastings factor is rejected.
func TestControlHastings(t *testing.T) {
	caught, of := 0, 0
	for seed := uint64(1); seed <= 40; seed++ {
		p := New(seed)
		if len(p.Wishes) > 0 && p.Wishes[0].forest != nil || len(p.Names) < 2 || len(p.feasible().States) < 2 {
			continue
		}
		o := options(t)
		path, err := p.Write(o.Dir, o.Scorer)
		if err != nil {
			t.Fatal(err)
		}
		read, err := compile.Load(compile.AllowPrograms(t.Context()), path, compile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		forest := false
		for _, w := range p.Wishes {
			forest = forest || w.forest != nil || w.Kind == "program"
		}
		if forest || read.Target.Space().UncountedRuleShares() != nil {
			read.Close()
			continue
		}
		c := &checker{Problem: p, Options: o, out: &Outcome{}, read: read, law: p.Enumerate(nil)}
		if c.law.Parts() > 0 && p.allows() > 1 {
			of++
			row, err := c.fromLaw(uncorrected{read.Target}, "uncorrected")
			if err != nil {
				t.Fatal(err)
			}
			if row.P < small {
				caught++
			}
		}
		read.Close()
	}
	t.Logf("%d of %d rejected", caught, of)
	if caught < 3 {
		t.Errorf("a kernel without its Hastings factor is rejected in %d of %d problems", caught, of)
	}
}
