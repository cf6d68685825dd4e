package diagnose

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"kir/internal/number"
	"kir/internal/testonly/testmode"
)

// seriesOf adds the draws of each chain to a Series of its own.
func seriesOf(limit int, chains [][]float64) []*Series {
	series := make([]*Series, len(chains))
	for c, x := range chains {
		series[c] = NewSeries(limit, 1)
		for _, v := range x {
			series[c].Add(v)
		}
	}
	return series
}

// equal compares summaries, where NaN is NaN.
func equal(a, b Summary) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if u, ok := x.Field(i).Interface().(number.Number); ok {
			v := y.Field(i).Interface().(number.Number)
			if math.Float64bits(float64(u)) != math.Float64bits(float64(v)) && !(math.IsNaN(float64(u)) && math.IsNaN(float64(v))) {
				return false
			}
		}
	}
	if len(a.Undefined) != len(b.Undefined) {
		return false
	}
	for i, u := range a.Undefined {
		if u.Figure != b.Undefined[i].Figure || u.Err.Error() != b.Undefined[i].Err.Error() {
			return false
		}
	}
	return a.Chains == b.Chains && a.Draws == b.Draws && a.Stride == b.Stride
}

// TestSeriesKeepsAll is about series up to their limit.
func TestSeriesKeepsAll(t *testing.T) {
	var z Summarizer
	for _, n := range []int{0, 1, 3, 11, 12, 500, 999, 1000} {
		x := autoregressions(9, 3, n, 0.8)
		if got, want := z.Series(seriesOf(1000, x)), Summarize(x); !equal(got, want) {
			t.Errorf("%d draws: got %+v, want %+v", n, got, want)
		}
	}
	if s := z.Series(nil); !errors.Is(s.ReasonFor("Mean"), ErrNoDraws) {
		t.Errorf("no chains: %+v", s)
	}
}

// TestSeriesBeyondLimit compares with the figures of all draws. Up to 25 batches
// to an autocorrelation time, the batch means' relative error of the ESS is about
// √(2(2W+1)/B) with W = 6 autocorrelation times in batches and B the number of
// batches, and that of all draws is smaller: at most 6 % here, against which 4.5
// times as much is allowed.
func TestSeriesBeyondLimit(t *testing.T) {
	var z Summarizer
	for _, phi := range []float64{0, 0.9, 0.99} {
		for _, n := range []int{1001, 16_384, 50_000, 100_001} {
			if n > 50_000 && !testmode.Enabled() {
				continue // strides of 2, 32 and 64 there are, with a last batch that is whole or not
			}
			x := autoregressions(10, 4, n, phi)
			for _, c := range x {
				for i := range c {
					c[i] += 1000
				}
			}
			series := seriesOf(1000, x)
			got, want := z.Series(series), Summarize(x)
			stride := 1
			for (n+stride-1)/stride > 1000 {
				stride *= 2
			}
			if got.Stride != stride || got.Draws != n || got.Chains != 4 || len(got.Undefined) != 0 && n > 1001 {
				t.Errorf("φ = %v, %d draws: %+v", phi, n, got)
			}
			if !same(float64(got.Mean), float64(want.Mean)) || !same(float64(got.SD), float64(want.SD)) {
				t.Errorf("φ = %v, %d draws: mean %v, sd %v, want %v, %v", phi, n, got.Mean, got.SD, want.Mean, want.SD)
			}
			batch := float64(series[0].batchLength)
			tau := math.Max(1, float64(want.IACT)/batch)
			se := math.Sqrt(2 * (12*tau + 1) / (4 * float64(n) / batch))
			if math.Abs(math.Log(float64(got.ESSMean)/float64(want.ESSMean))) > 4.5*se {
				t.Errorf("φ = %v, %d draws: ESS of the mean is %v, want %v ± %.0f %%", phi, n, got.ESSMean, want.ESSMean, 100*se)
			}
			if !same(float64(got.MCSEMean), float64(got.SD)/math.Sqrt(float64(got.ESSMean))) || !same(float64(got.IACT), float64(4*(n/2)*2)/float64(got.ESSMean)) {
				t.Errorf("φ = %v, %d draws: MCSE %v and IACT %v do not fit the ESS %v", phi, n, got.MCSEMean, got.IACT, got.ESSMean)
			}
			// Every stride-th draw, and nothing else.
			thinned := make([][]float64, 4)
			for c := range x {
				for i := 0; i < n; i += stride {
					thinned[c] = append(thinned[c], x[c][i])
				}
			}
			if thin := Summarize(thinned); got.ESSBulk != thin.ESSBulk || got.RHat != thin.RHat || got.Q5 != thin.Q5 || got.ESSTail != thin.ESSTail || got.MCSEQ95 != thin.MCSEQ95 {
				t.Errorf("φ = %v, %d draws: got %+v, and of every %d-th draw %+v", phi, n, got, stride, thin)
			}
		}
	}
}

// TestSeriesSpecial is about streams that say nothing, or something impossible.
func TestSeriesSpecial(t *testing.T) {
	var z Summarizer
	fill := func(n int, f func(i int) float64) []*Series {
		s := NewSeries(100, 1)
		for i := range n {
			s.Add(f(i))
		}
		return []*Series{s}
	}
	one := func(int) float64 { return 0.1 }
	if s := z.Series(fill(5000, one)); !errors.Is(s.ReasonFor("ESSMean"), ErrConstant) || !errors.Is(s.ReasonFor("RHat"), ErrConstant) || s.Mean != 0.1 || s.SD != 0 {
		t.Errorf("constant: %+v", s)
	}
	// The draw is not among those that are kept.
	nan := func(i int) float64 {
		if i == 77 {
			return math.NaN()
		}
		return float64(i % 5)
	}
	s := z.Series(fill(5000, nan))
	if err := s.ReasonFor("Mean"); !errors.Is(err, ErrNotFinite) || err.Error() != "a draw is not a finite number: draw 77 of chain 0 (both counted from 0) is NaN" {
		t.Error(err)
	}
	if live := z.Live(fill(5000, nan)); !errors.Is(live.RHatErr, ErrNotFinite) || !math.IsNaN(live.ESS) {
		t.Errorf("%+v", live)
	}
	// What is kept is constant, and what is not is not.
	seldom := func(i int) float64 {
		if i%64 == 1 {
			return 1
		}
		return 0
	}
	s = z.Series(fill(5000, seldom))
	if !errors.Is(s.ReasonFor("RHat"), ErrConstant) || s.ReasonFor("Mean") != nil || s.SD < 0.1 {
		t.Errorf("%+v", s)
	}
	two := fill(200, one)
	two = append(two, fill(201, one)...)
	if s := z.Series(two); !errors.Is(s.ReasonFor("Mean"), ErrRagged) || !math.IsNaN(float64(s.RHat)) {
		t.Errorf("%+v", s)
	}
}

func TestLive(t *testing.T) {
	var z Summarizer
	x := autoregressions(12, 4, 30_000, 0.95)
	// The chains have come to different lengths.
	for c := range x {
		x[c] = x[c][:30_000-1000*c]
	}
	live := z.Live(seriesOf(4096, x))
	if live.Draws != 27_000 || live.RHatErr != nil || live.ESSErr != nil {
		t.Fatalf("%+v", live)
	}
	for c := range x {
		x[c] = x[c][:27_000]
	}
	full := Summarize(x)
	// 108,000 draws with an IACT of 39, in batches of 4: the relative standard
	// error of the ESS is about 7 %, and that of its difference from the full
	// one less.
	if math.Abs(math.Log(live.ESS/float64(full.ESSMean))) > 0.3 {
		t.Errorf("ESS %v, want about %v", live.ESS, full.ESSMean)
	}
	if live.RHat < 0.999 || live.RHat > float64(full.RHat+0.01) {
		t.Errorf("R-hat %v, and %v of all draws", live.RHat, full.RHat)
	}

	// Chains that keep draws at different strides: of 500 draws every eighth, of
	// 200 every fourth.
	x = autoregressions(14, 2, 500, 0.5)
	x[1] = x[1][:200]
	live = z.Live(seriesOf(64, x))
	var eighth [][]float64
	for _, chain := range x {
		var kept []float64
		for i := 0; i < 200; i += 8 {
			kept = append(kept, chain[i])
		}
		eighth = append(eighth, kept)
	}
	if want := Summarize(eighth).RHat; live.RHat != float64(want) || live.Draws != 200 {
		t.Errorf("%+v, want R-hat %v", live, want)
	}

	// Short chains have the figures of all their draws.
	x = autoregressions(13, 3, 2000, 0.5)
	full = Summarize(x)
	live = z.Live(seriesOf(0, x))
	if live.RHat != float64(full.RHat) || !same(live.ESS, float64(full.ESSMean)) {
		t.Errorf("%+v, want %v and %v", live, full.RHat, full.ESSMean)
	}

	for _, n := range []int{0, 1, 3, 4, 11, 12} {
		live := z.Live(seriesOf(0, autoregressions(1, 2, n, 0)))
		if (live.ESSErr == nil) != (n >= 12) || math.IsNaN(live.ESS) != (n < 12) || (live.RHatErr == nil) != (n >= 4) {
			t.Errorf("%d draws: %+v", n, live)
		}
	}
	// The distances from the median are all alike, so that R-hat is of the ranks.
	two := [][]float64{make([]float64, 40), make([]float64, 40)}
	for k := range 40 {
		two[0][k], two[1][k] = float64(k%2), float64(k/2%2)
	}
	if live, want := z.Live(seriesOf(0, two)), Summarize(two); live.RHatErr != nil || !same(live.RHat, float64(want.RHatBulk)) {
		t.Errorf("of two values: %+v, want %v", live, want.RHatBulk)
	}
	if live := z.Live(nil); !errors.Is(live.RHatErr, ErrNoDraws) {
		t.Errorf("no chains: %+v", live)
	}
	// One chain is far ahead of the other.
	ahead := seriesOf(0, [][]float64{autoregression(rand.New(rand.NewPCG(1, 2)), 200_000, 0), autoregression(rand.New(rand.NewPCG(1, 3)), 30, 0)})
	if live := z.Live(ahead); live.Draws != 30 || live.RHatErr != nil || !errors.Is(live.ESSErr, ErrFewDraws) {
		t.Errorf("far ahead: %+v", live)
	}
	if live := z.Live(seriesOf(0, [][]float64{make([]float64, 50)})); !errors.Is(live.RHatErr, ErrConstant) || !errors.Is(live.ESSErr, ErrConstant) {
		t.Errorf("constant: %+v", live)
	}
}

// TestNoAllocation allows for the growth of what is kept, which is not per draw.
func TestNoAllocation(t *testing.T) {
	s := NewSeries(1<<12, 1)
	for i := range 1 << 13 {
		s.Add(float64(i))
	}
	if n := testing.AllocsPerRun(1<<16, func() { s.Add(1) }); n != 0 {
		t.Errorf("Series.Add allocates %v times", n)
	}
}

func BenchmarkSeriesAdd(b *testing.B) {
	s := NewSeries(0, 1)
	x := autoregression(rand.New(rand.NewPCG(1, 1)), 1<<12, 0.5)
	i := 0
	for b.Loop() {
		s.Add(x[i&(1<<12-1)])
		i++
	}
}

func BenchmarkLive(b *testing.B) {
	series := seriesOf(0, autoregressions(1, 4, 500_000, 0.99))
	var z Summarizer
	for b.Loop() {
		z.Live(series)
	}
}
