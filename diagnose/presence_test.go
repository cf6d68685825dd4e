package diagnose

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// history is what one chain used, by draw and ingredient.
type history [][]int

// randomHistory changes amounts at random: on average rate ingredients at each
// draw, which then are absent, present as before, or present with another amount.
func randomHistory(r *rand.Rand, draws, ingredients int, rate float64) history {
	h := make(history, draws)
	now := make([]int, ingredients)
	for d := range h {
		for i := range now {
			if r.Float64() < rate/float64(ingredients) {
				now[i] = max(0, r.IntN(5)-2+i%2)
			}
		}
		h[d] = append([]int(nil), now...)
	}
	return h
}

// follow tells p of a history, with runs that are cut up for no reason in
// between.
func (h history) follow(r *rand.Rand, p *Presence) *Presence {
	if len(h) == 0 {
		return p
	}
	since := make([]int, len(h[0]))
	end := func(i, d int) {
		if amount := h[d-1][i]; amount > 0 {
			p.AddRun(i, amount, since[i], d)
		}
		since[i] = d
	}
	for d, now := range h {
		for i, amount := range now {
			if d > 0 && (h[d-1][i] != amount || r.IntN(10) == 0) {
				end(i, d)
			}
		}
		p.Advance(d + 1)
	}
	for i := range since {
		end(i, len(h))
	}
	return p
}

// series returns the 0/1 series of an ingredient in each chain.
func presenceSeries(chains []history, ingredient int) (x [][]float64, sum, present int) {
	x = make([][]float64, len(chains))
	for c, h := range chains {
		for _, now := range h {
			v := 0.0
			if now[ingredient] > 0 {
				v = 1
				present++
				sum += now[ingredient]
			}
			x[c] = append(x[c], v)
		}
	}
	return x, sum, present
}

// TestInclusions compares with the figures of the 0/1 series written out.
func TestInclusions(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 20))
	for _, draws := range []int{1, 11, 12, 13, 64, 500, 1001} {
		for _, rate := range []float64{0.01, 0.5, 5} {
			var chains []history
			var presences []*Presence
			for range 3 {
				h := randomHistory(r, draws, 5, rate)
				chains = append(chains, h)
				presences = append(presences, h.follow(r, NewPresence(5, 2000)))
			}
			got, err := Inclusions(presences)
			if err != nil || len(got) != 5 {
				t.Fatal(err)
			}
			for i, g := range got {
				x, sum, present := presenceSeries(chains, i)
				probability, _ := Mean(x)
				mcse, reason := MCSEMean(x)
				ess, _ := ESSMean(x)
				if present == 0 || present == 3*draws {
					mcse, ess, reason = math.NaN(), math.NaN(), ErrConstant
				}
				amount := float64(sum) / float64(present)
				if !same(g.Probability, probability) || !same(g.MCSE, mcse) || !same(g.ESS, ess) || !same(g.MeanAmount, amount) || g.Batch != 1 ||
					!errors.Is(g.Err, errors.Unwrap(reason)) && g.Err != reason {
					t.Fatalf("%d draws, rate %v, ingredient %d: got %+v, want %v, %v, %v, %v, %v", draws, rate, i, g, probability, mcse, ess, amount, reason)
				}
			}
		}
	}
}

// TestInclusionsInBatches compares with the MCSE of the mean of the batch means
// written out, beyond the limit of draws.
func TestInclusionsInBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 21))
	for _, draws := range []int{101, 8192, 8193, 40_000} {
		var chains []history
		var presences []*Presence
		for range 2 {
			h := randomHistory(r, draws, 4, 0.3)
			chains = append(chains, h)
			presences = append(presences, h.follow(r, NewPresence(4, 100)))
		}
		batch := 1
		for draws > maxBatches*batch {
			batch *= 2
		}
		got, err := Inclusions(presences)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range got {
			x, sum, present := presenceSeries(chains, i)
			probability, _ := Mean(x)
			means := make([][]float64, len(x))
			for c := range x {
				for b := range draws / batch {
					m, _ := Mean([][]float64{x[c][b*batch : (b+1)*batch]})
					means[c] = append(means[c], m)
				}
			}
			mcse, _ := MCSEMean(means)
			amount := float64(sum) / float64(present)
			if !same(g.Probability, probability) || !same(g.MCSE, mcse) || !same(g.MeanAmount, amount) || g.Batch != batch || g.Err != nil {
				t.Errorf("%d draws, ingredient %d: got %+v, want %v, %v, %v in batches of %d", draws, i, g, probability, mcse, amount, batch)
			}
			p := g.Probability
			total := float64(2 * draws)
			if want := p * (1 - p) * total / (total - 1) / (mcse * mcse); !same(g.ESS, want) {
				t.Errorf("%d draws, ingredient %d: ESS %v, want %v", draws, i, g.ESS, want)
			}
		}
	}
}

// TestPresenceFull has more runs than are kept, long before the limit of draws,
// and in one chain only. The run which is one too many is of either ingredient.
func TestPresenceFull(t *testing.T) {
	const draws = 1_500_000
	for again := range 2 {
		busy, quiet := NewPresence(2, 1<<29), NewPresence(2, 1<<29)
		for d := range draws {
			if d%2 == 1 && (again == 0 || busy.count != maxRuns || d > 1_450_000) {
				busy.AddRun(0, 1, d, d+1)
			}
			if d < 50_000 && d%10 == 5 || again == 1 && d == 1_450_000 {
				busy.AddRun(1, 3, d-4, d+1)
			}
			if d == 1_300_000 && !busy.exact {
				t.Fatalf("at draw %d the runs are not kept", d)
			}
			if d%2000 == 1999 {
				quiet.AddRun(1, 1, d-999, d+1)
			}
		}
		busy.AddRun(1, 3, 1_450_001, 1_500_000) // many batches long
		busy.Advance(draws)
		quiet.Advance(draws)
		if busy.exact {
			t.Fatal("the runs are kept")
		}
		want := []uint64{750_000, 5*5_000 + 49_999 + 5*uint64(again)}
		if again == 1 {
			want[0] = maxRuns - 5_000 + 25_000 // as long as there was room, and at the end
		}
		for i := range 2 {
			var sum uint64
			for b := range busy.batchesBegun() {
				sum += uint64(busy.row(b)[i])
			}
			if sum != want[i] {
				t.Errorf("ingredient %d: %d draws in batches, want %d", i, sum, want[i])
			}
		}
		got, err := Inclusions([]*Presence{busy, quiet})
		if err != nil {
			t.Fatal(err)
		}
		if !quiet.exact {
			t.Error("the quiet chain was changed by being looked at")
		}
		if g := got[0]; g.Probability != float64(want[0])/(2*draws) || g.MeanAmount != 1 || g.Batch != 256 {
			t.Errorf("%+v", g)
		}
		present := float64(want[1] + 750_000)
		if g := got[1]; !same(g.Probability, present/(2*draws)) || !same(g.MeanAmount, (3*float64(want[1])+750_000)/present) {
			t.Errorf("%+v", g)
		}
	}
}

// With so many ingredients that there are but 2 to 4 batches a chain, the error
// is that of the mean of independent batch means.
func TestFewBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 28))
	const ingredients, draws = 1 << 18, 1000 // at most 2 batches, of 512 draws
	var chains []*Presence
	var means []float64
	var present [4]int
	for c := range present {
		p := NewPresence(ingredients, 64)
		for d := range draws {
			now := r.IntN(3) == 0
			if d < 512 && now {
				present[c]++
			}
			if now {
				p.AddRun(7, 2, d, d+1)
			}
		}
		p.Advance(draws)
		chains = append(chains, p)
		means = append(means, float64(present[c])/512)
	}
	all, err := Inclusions(chains)
	if err != nil {
		t.Fatal(err)
	}
	mean, squares := 0.0, 0.0
	for _, x := range means {
		mean += x / 4
	}
	for _, x := range means {
		squares += (x - mean) * (x - mean)
	}
	if got, want := all[7].MCSE, math.Sqrt(squares/3/4); !same(got, want) || all[7].Batch != 512 || all[7].MeanAmount != 2 {
		t.Errorf("%+v, want an MCSE of %v", all[7], want)
	}
	all, err = Inclusions(chains[:3])
	if err != nil || all[7].Err == nil || all[7].Probability == 0 {
		t.Errorf("three chains of one batch each: %+v, %v", all[7], err)
	}
}

func TestPresenceMisuse(t *testing.T) {
	for name, misuse := range map[string]func(p *Presence){
		"ingredient":      func(p *Presence) { p.AddRun(3, 1, 0, 1) },
		"draw below zero": func(p *Presence) { p.Advance(1000); p.AddRun(0, 1, -1, 5) },
		"draws":           func(p *Presence) { p.Advance(MaxDraws + 1) },
		"value":           func(*Presence) { NewHistogram(3, 0).Set(0, 3) },
		"value before":    func(*Presence) { h := NewHistogram(3, 0); h.Set(0, 1); h.Set(7, 2); h.Set(6, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			misuse(NewPresence(3, 64))
		}()
	}
	if _, err := Inclusions(nil); !errors.Is(err, ErrNoDraws) {
		t.Error(err)
	}
	if _, err := Inclusions([]*Presence{NewPresence(3, 0)}); !errors.Is(err, ErrNoDraws) {
		t.Error(err)
	}
	a, b, c := NewPresence(3, 0), NewPresence(3, 0), NewPresence(4, 0)
	a.Advance(20)
	b.Advance(21)
	c.Advance(20)
	for _, other := range []*Presence{b, c} {
		if _, err := Inclusions([]*Presence{a, other}); !errors.Is(err, ErrRagged) {
			t.Error(err)
		}
	}
}

func TestSums(t *testing.T) {
	p := NewPresence(1, 0)
	p.AddRun(0, math.MaxInt32, 0, 1<<17)
	p.AddRun(0, math.MaxInt32, 1<<17+1, MaxDraws)
	got, err := Inclusions([]*Presence{p})
	if err != nil || !same(got[0].MeanAmount, math.MaxInt32) || got[0].Probability != 1-1./MaxDraws {
		t.Error(got, err)
	}
}

// TestShares compares a histogram with one written out.
func TestShares(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 23))
	var values [][]float64
	var chains []*Histogram
	for range 3 {
		h := NewHistogram(6, 0)
		var x []float64
		v := 2
		for d := range 700 {
			if r.IntN(4) == 0 {
				v = r.IntN(5)
			}
			h.Set(d, v)
			x = append(x, float64(v))
		}
		h.Advance(705)
		for range 5 {
			x = append(x, float64(v))
		}
		values = append(values, x)
		chains = append(chains, h)
	}
	shares, err := Shares(chains)
	if err != nil || len(shares) != 6 {
		t.Fatal(shares, err)
	}
	for v, s := range shares {
		x := make([][]float64, len(values))
		for c := range values {
			for _, w := range values[c] {
				if int(w) == v {
					x[c] = append(x[c], 1)
				} else {
					x[c] = append(x[c], 0)
				}
			}
		}
		share, _ := Mean(x)
		mcse, _ := MCSEMean(x)
		if !same(s.Probability, share) || !same(s.MCSE, mcse) || (s.Err != nil) != (v == 5) {
			t.Errorf("%d: %+v, want %v ± %v", v, s, share, mcse)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic when the first draw is left out")
		}
	}()
	NewHistogram(3, 0).Set(1, 0)
}

func TestTotalVariation(t *testing.T) {
	for _, test := range []struct {
		p, q []float64
		want float64
	}{
		{nil, nil, 0},
		{[]float64{0.5, 0.5}, []float64{0.5, 0.5}, 0},
		{[]float64{1}, []float64{0, 1}, 1},
		{[]float64{0.2, 0.3, 0.5}, []float64{0.5, 0.5}, 0.5},
	} {
		if got := TotalVariation(test.p, test.q); math.Abs(got-test.want) > 1e-15 {
			t.Errorf("%v, %v: got %v, want %v", test.p, test.q, got, test.want)
		}
	}
	// Never seen, always seen, too rare for its error to be normal, ordinary.
	got := ExpectedTotalVariation([]float64{0.1, 0, 0.001, 0.899}, []Proportion{
		{Err: ErrConstant}, {Err: ErrConstant}, {MCSE: 1}, {MCSE: 0.01},
	})
	if want := (2*0.1*0.9 + 0 + 2*0.001*0.999 + 0.01*math.Sqrt(2/math.Pi)) / 2; !same(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// ring is a chain on 0..5 that stays or steps to a neighbour, and has a uniform
// law.
func ring(r *rand.Rand, n int) *Histogram {
	h := NewHistogram(6, 0)
	v := r.IntN(6)
	for d := range n {
		h.Set(d, v)
		v = (v + 5 + r.IntN(3)) % 6
	}
	return h
}

// TestExpectedTotalVariation compares with the mean distance of many runs. The
// distance has a relative standard deviation of about 0.3, so its mean over 300
// runs has one of 2 %; the expected distance is estimated in each run to within
// 10 % or so, which averages out. 4.5 standard errors are 9 %.
func TestExpectedTotalVariation(t *testing.T) {
	uniform := []float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6}
	var observed, expected float64
	const runs = 300
	for run := range runs {
		r := rand.New(rand.NewPCG(24, uint64(run)))
		shares, err := Shares([]*Histogram{ring(r, 2000), ring(r, 2000)})
		if err != nil {
			t.Fatal(err)
		}
		p := make([]float64, 6)
		for n, s := range shares {
			p[n] = s.Probability
		}
		observed += TotalVariation(uniform, p) / runs
		expected += ExpectedTotalVariation(uniform, shares) / runs
	}
	t.Logf("mean distance %.5f, expected %.5f", observed, expected)
	if math.Abs(observed/expected-1) > 0.09 {
		t.Errorf("mean distance %v, expected %v", observed, expected)
	}
}

// TestBatchesAgainstChanges runs one chain of presences into both forms, for
// rates of change from 1 in 2 to 1 in 2,000 draws, and compares the standard
// errors. Both estimate the same one: from batches to within about 1/√(2·4·128)
// = 3 % (W = 1) as long as a batch of 512 draws is longer than the
// autocorrelation time, and to within √((2·6·2+1)/(4·128)) ≈ 22 % when it is half
// as long. 4.5 times as much is allowed.
func TestBatchesAgainstChanges(t *testing.T) {
	const draws, ingredients = 100_000, 2000 // 256 batches
	for _, rate := range []float64{0.5, 0.05, 0.005, 0.0005} {
		var exact, batched []*Presence
		for c := range 4 {
			r := rand.New(rand.NewPCG(25, uint64(c)))
			e, b := NewPresence(1, draws), NewPresence(ingredients, 64)
			v := 0
			for d := range draws {
				// In with the given rate, out four times as often.
				if r.Float64() < rate*[]float64{0.25, 1}[v] {
					v = 1 - v
				}
				if v == 1 {
					e.AddRun(0, 1, d, d+1)
					b.AddRun(0, 1, d, d+1)
				}
			}
			e.Advance(draws)
			b.Advance(draws)
			exact, batched = append(exact, e), append(batched, b)
		}
		e, err := Inclusions(exact)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Inclusions(batched)
		if err != nil {
			t.Fatal(err)
		}
		tau := 4 * draws / e[0].ESS
		t.Logf("rate %v, IACT %.1f: MCSE %.3g of all draws, %.3g of batches of %d, ratio %.3f", rate, tau, e[0].MCSE, b[0].MCSE, b[0].Batch, b[0].MCSE/e[0].MCSE)
		se := 0.03
		if tau > 256 {
			se = 0.22
		}
		if e[0].Probability != b[0].Probability || math.Abs(math.Log(b[0].MCSE/e[0].MCSE)) > 4.5*se {
			t.Errorf("rate %v: %+v of all draws, %+v of batches", rate, e[0], b[0])
		}
	}
}

// BenchmarkPresenceAddRun is one run, in both forms.
func BenchmarkPresenceAddRun(b *testing.B) {
	for _, limit := range []int{1 << 29, 64} {
		name := "changes"
		if limit == 64 {
			name = "batches"
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			p := NewPresence(2000, limit)
			n := 40
			for b.Loop() {
				// Each of 20 ingredients in use is present for 40 draws.
				p.AddRun(n*701%2000, 5, n-40, n)
				if n++; n&(1<<19-1) == 0 && limit > 64 {
					p, n = NewPresence(2000, limit), 40
				}
			}
		})
	}
}

func BenchmarkInclusions(b *testing.B) {
	for _, size := range []struct {
		ingredients, draws int
		rate               float64 // changes of presence in a draw
	}{{63, 100_000, 0.02}, {63, 100_000, 0.5}, {63, 100_000, 6}, {2000, 100_000, 1}, {2000, 100_000, 6}} {
		chains := make([]*Presence, 4)
		for c := range chains {
			r := rand.New(rand.NewPCG(26, uint64(c)))
			p := NewPresence(size.ingredients, 0)
			used := make([]int, min(20, size.ingredients/15))
			since := make([]int, len(used))
			for d := range size.draws {
				for rate := size.rate / 2; r.Float64() < rate; rate-- {
					k := r.IntN(len(used))
					p.AddRun(used[k], 1, since[k], d)
					used[k], since[k] = r.IntN(size.ingredients), d
				}
			}
			p.Advance(size.draws)
			chains[c] = p
		}
		b.Run(fmt.Sprintf("%dx4x%d/%v", size.ingredients, size.draws, size.rate), func(b *testing.B) {
			for b.Loop() {
				if _, err := Inclusions(chains); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
