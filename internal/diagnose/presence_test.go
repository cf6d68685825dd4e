package diagnose

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kir/internal/number"
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

// follow tells p of a history.
func (h history) follow(p *Presence) *Presence {
	for _, now := range h {
		p.Next()
		for i, amount := range now {
			if amount > 0 {
				p.Add(i, amount)
			}
		}
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
				presences = append(presences, h.follow(NewPresence(5, 1)))
			}
			got, err := Inclusions(presences)
			if err != nil || len(got) != 5 {
				t.Fatal(err)
			}
			for i, g := range got {
				x, sum, present := presenceSeries(chains, i)
				s := Summarize(x)
				probability, mcse, ess, reason := s.Mean, s.MCSEMean, s.ESSMean, s.ReasonFor("MCSEMean")
				if present == 0 || present == 3*draws {
					mcse, ess, reason = number.Unknown(), number.Unknown(), ErrConstant
				}
				amount := float64(sum) / float64(present)
				if !same(g.Probability, float64(probability)) || !same(g.MCSE, float64(mcse)) || !same(g.ESS, float64(ess)) || !same(g.MeanAmount, amount) || g.Batch != 1 ||
					!errors.Is(g.Err, errors.Unwrap(reason)) && g.Err != reason {
					t.Fatalf("%d draws, rate %v, ingredient %d: got %+v, want %v, %v, %v, %v, %v", draws, rate, i, g, probability, mcse, ess, amount, reason)
				}
			}
		}
	}
}

// TestInclusionsInBatches compares with the MCSE of the mean of the batch means
// written out, beyond what is kept draw by draw.
func TestInclusionsInBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 21))
	for _, draws := range []int{8192, 8193, 40_000} {
		var chains []history
		var presences []*Presence
		for range 2 {
			h := randomHistory(r, draws, 4, 0.3)
			chains = append(chains, h)
			presences = append(presences, h.follow(NewPresence(4, 1)))
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
			probability := Summarize(x).Mean
			means := make([][]float64, len(x))
			for c := range x {
				for b := range draws / batch {
					used := 0.0
					for _, v := range x[c][b*batch : (b+1)*batch] {
						used += v
					}
					means[c] = append(means[c], used/float64(batch))
				}
			}
			mcse, _ := MCSEMean(means)
			amount := float64(sum) / float64(present)
			if !same(g.Probability, float64(probability)) || !same(g.MCSE, mcse) || !same(g.MeanAmount, amount) || g.Batch != batch || g.Err != nil {
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

// TestJoinedChains joins the batches of a chain to the length of another's, and
// counts what came and went.
func TestJoinedChains(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 27))
	h := []history{randomHistory(r, 3000, 3, 0.05), randomHistory(r, 3000, 3, 0.05)}
	fine, coarse := h[0].follow(NewPresence(3, 1)), h[1].follow(NewPresence(3, 10_000))
	got, err := Inclusions([]*Presence{fine, coarse})
	if err != nil || fine.batchLength != 1 || coarse.batchLength < 4 {
		t.Fatal(fine.batchLength, coarse.batchLength, err)
	}
	both, err := Inclusions([]*Presence{h[0].follow(NewPresence(3, 10_000)), coarse})
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range got {
		if b := both[i]; g.Probability != b.Probability || g.MCSE != b.MCSE || g.MeanAmount != b.MeanAmount || g.Batch != coarse.batchLength {
			t.Errorf("ingredient %d: %+v, want %+v", i, g, b)
		}
		present, absent := 0, 0
		for d, now := range h[0] {
			if now[i] > 0 && (d == 0 || h[0][d-1][i] == 0) {
				present++
			}
			if now[i] == 0 && (d == 0 || h[0][d-1][i] > 0) {
				absent++
			}
		}
		if _, v := fine.visitCountsOf(i); v != (visitCounts{present, absent}) {
			t.Errorf("ingredient %d came and went %v times, want %d and %d", i, v, present, absent)
		}
		if _, v := coarse.visitCountsOf(i); v.presentPeriods < 1 || v.absentPeriods < 1 {
			t.Errorf("ingredient %d came and went %v times", i, v)
		}
	}
}

// With so many ingredients that there are but 1 or 2 batches a chain, the error
// is that of the mean of independent batch means.
func TestFewBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 28))
	const ingredients, draws, batch = 1 << 20, 1000, 512
	var chains []*Presence
	var means []float64
	for range 4 {
		p := NewPresence(ingredients, 4)
		present := 0.0
		for d := range draws {
			p.Next()
			if r.IntN(3) == 0 {
				p.Add(7, 2)
				present++
			}
			if (d+1)%batch == 0 {
				means, present = append(means, present/batch), 0
			}
		}
		chains = append(chains, p)
	}
	mean, squares := 0.0, 0.0
	for _, x := range means {
		mean += x / float64(len(means))
	}
	for _, x := range means {
		squares += (x - mean) * (x - mean)
	}
	want := math.Sqrt(squares / float64(len(means)-1) / float64(len(means)))
	for _, some := range [][]*Presence{chains, chains[:3]} {
		all, err := AllInclusions(some, func(i int) bool { return i == 7 })
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			if len(some) == 4 && (!same(x.MCSE, want) || x.Batch != batch || x.MeanAmount != 2 || x.Err != nil) {
				t.Errorf("%+v, want an MCSE of %v", x, want)
			}
			if len(some) == 3 && (x.Err == nil || x.Probability == 0) {
				t.Errorf("three chains of one batch each: %+v", x)
			}
		}
	}
}

func TestPresenceMisuse(t *testing.T) {
	for name, misuse := range map[string]func(p *Presence){
		"ingredient": func(p *Presence) { p.Next(); p.Add(3, 1) },
		"draws":      func(p *Presence) { p.drawCount = MaxDraws; p.Next() },
		"value":      func(*Presence) { NewHistogram(3, 1).Add(3) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			misuse(NewPresence(3, 1))
		}()
	}
	if _, err := Inclusions(nil); !errors.Is(err, ErrNoDraws) {
		t.Error(err)
	}
	if _, err := Inclusions([]*Presence{NewPresence(3, 1)}); !errors.Is(err, ErrNoDraws) {
		t.Error(err)
	}
	a, b, c := NewPresence(3, 1), NewPresence(3, 1), NewPresence(4, 1)
	for d := range 21 {
		b.Next()
		if d < 20 {
			a.Next()
			c.Next()
		}
	}
	for _, other := range []*Presence{b, c} {
		if _, err := Inclusions([]*Presence{a, other}); !errors.Is(err, ErrRagged) {
			t.Error(err)
		}
	}
}

// TestShares compares a histogram with one written out.
func TestShares(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 23))
	var values [][]float64
	var chains []*Histogram
	for range 3 {
		h := NewHistogram(6, 1)
		var x []float64
		v := 2
		for range 705 {
			if r.IntN(4) == 0 {
				v = r.IntN(5)
			}
			h.Add(v)
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
		of := Summarize(x)
		share, mcse := of.Mean, of.MCSEMean
		if !same(s.Probability, float64(share)) || !same(s.MCSE, float64(mcse)) || (s.Err != nil) != (v == 5) {
			t.Errorf("%d: %+v, want %v ± %v", v, s, share, mcse)
		}
	}
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
	// What no chain has counted is never met.
	got = ExpectedTotalVariation([]float64{0.8, 0.2}, []Proportion{{MCSE: 0.01}})
	if want := (2*0.2*0.8 + 0.01*math.Sqrt(2/math.Pi)) / 2; !same(got, want) {
		t.Errorf("of two values one is not counted: got %v, want %v", got, want)
	}
}

// ring is a chain on 0..5 that stays or steps to a neighbour, and has a uniform
// law.
func ring(r *rand.Rand, n int) *Histogram {
	h := NewHistogram(6, 1)
	v := r.IntN(6)
	for range n {
		h.Add(v)
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

// TestBatches runs one chain of presences into a Presence that keeps every draw and
// one that keeps batches of 64, for rates of change from 1 in 2 to 1 in 2,000 draws,
// and compares the standard errors. Both estimate the same one: from batches to
// within about 1/√(2·4·128) = 3 % as long as a batch is longer than the
// autocorrelation time, and to within √((2·6·2+1)/(4·128)) ≈ 22 % when it is not. 4.5
// times as much is allowed.
func TestBatches(t *testing.T) {
	const draws, ingredients = 8192, 8_000
	for _, rate := range []float64{0.5, 0.05, 0.005, 0.002} {
		var exact, batched []*Presence
		for c := range 4 {
			r := rand.New(rand.NewPCG(25, uint64(c)))
			e, b := NewPresence(1, 1), NewPresence(ingredients, 1)
			v := 0
			for range draws {
				// In with the given rate, out four times as often.
				if r.Float64() < rate*[]float64{0.25, 1}[v] {
					v = 1 - v
				}
				e.Next()
				b.Next()
				if v == 1 {
					e.Add(0, 1)
					b.Add(0, 1)
				}
			}
			exact, batched = append(exact, e), append(batched, b)
		}
		e, err := Inclusions(exact)
		if err != nil {
			t.Fatal(err)
		}
		b, err := AllInclusions(batched, func(i int) bool { return i == 0 })
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range b {
			tau := 4 * draws / e[0].ESS
			t.Logf("rate %v, IACT %.1f: MCSE %.3g of all draws, %.3g of batches of %d, ratio %.3f", rate, tau, e[0].MCSE, b.MCSE, b.Batch, b.MCSE/e[0].MCSE)
			se := 0.03
			if tau > 64 {
				se = 0.22
			}
			if e[0].Batch != 1 || b.Batch != 64 || e[0].Probability != b.Probability || math.Abs(math.Log(b.MCSE/e[0].MCSE)) > 4.5*se {
				t.Errorf("rate %v: %+v of all draws, %+v of batches", rate, e[0], b)
			}
		}
	}
}

func BenchmarkInclusions(b *testing.B) {
	for _, size := range []struct{ ingredients, used, draws int }{{63, 4, 100_000}, {2000, 20, 100_000}} {
		chains := make([]*Presence, 4)
		for c := range chains {
			r := rand.New(rand.NewPCG(26, uint64(c)))
			chains[c] = NewPresence(size.ingredients, len(chains))
			for range size.draws {
				chains[c].Next()
				for k := range size.used {
					chains[c].Add(k*size.ingredients/size.used+r.IntN(size.ingredients/size.used), 1)
				}
			}
		}
		b.Run(fmt.Sprintf("%dx4x%d", size.ingredients, size.draws), func(b *testing.B) {
			for b.Loop() {
				if _, err := Inclusions(chains); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
