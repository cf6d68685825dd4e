package diagnose

import (
	"fmt"
	"math"

	"kir/internal/number"
	"kir/internal/portable"
)

// blockLength is the number of draws whose moments are summed before they are merged with the moments of all earlier
// draws.
const blockLength = 256

// A Series takes the draws of one statistic in one chain, one by one, in bounded
// memory. [Summarizer.Series] computes the figures of a statistic from the
// Series of its chains.
//
// Up to its limit it keeps every draw, and the figures are those of [Summarizer.Draws], bit for bit.
// Beyond, it keeps
//
//   - the number, mean and variance of all draws, exactly;
//   - the sums of 4,096 to 8,192 batches of consecutive draws, whose length doubles as needed. The
//     MCSE of the mean is that of the mean of the batch means, which estimates the same error. No draw
//     is left out. Geyer's sequence corrects for batches shorter than the autocorrelation time.
//   - every stride-th draw, from the first on. The stride doubles as needed, so that between half the
//     limit and the limit are kept. Quantiles, R-hat, and the bulk and tail effective sample size are
//     those of the kept draws.
//
// The kept draws are worth at most as many independent ones as all draws (MacEachern and Berliner
// 1994): the mean of all draws is a mean of stride such means with equal variances. So the effective
// sample sizes are lower bounds, and the standard errors of the quantiles are upper bounds. The loss is
// small if the autocorrelation time exceeds the stride, and at most a factor of stride for independent
// draws.
//
// What a Series keeps depends on the draws alone, not on when figures were computed. Only one goroutine
// may use it at a time.
type Series struct {
	limit int
	n     int

	stride int
	kept   []float64

	done         moments // moments of all complete blocks of draws
	shift        float64 // first draw of the open block
	inBlock      int
	sum, squares float64 // sums over the open block of the deviations from shift and of their squares
	min, max     float64
	bad          int // index of the first draw that is not finite, or −1
	badValue     float64
	batch        int // length of a batch, in draws
	batches      []float64
	mostBatches  int
	inBatch      int
	batchSum     float64
}

// NewSeries returns an empty Series, for one of the given number of chains, that keeps up to limit draws. A limit of
// 0 or less means [DefaultLimit]; others are made even and at least 64. With very many chains each Series keeps fewer
// batches, but at least 128, to bound the memory of all.
func NewSeries(limit, chains int) *Series {
	s := &Series{limit: streamLimit(limit), stride: 1, batch: 1, bad: -1, mostBatches: maxBatches}
	for s.mostBatches > 128 && s.mostBatches*chains > maxBatches*manyChains {
		s.mostBatches /= 2
	}
	return s
}

// Add appends a draw to the series.
func (s *Series) Add(x float64) {
	if x-x != 0 && s.bad < 0 { // only NaN and infinite numbers differ from 0 here
		s.bad, s.badValue = s.n, x
	}
	if s.n == 0 {
		s.min, s.max = x, x
	} else if x < s.min {
		s.min = x
	} else if x > s.max {
		s.max = x
	}
	if s.n&(s.stride-1) == 0 {
		s.keep(x)
	}
	if s.inBlock == 0 {
		s.shift = x
	}
	d := x - s.shift
	s.sum += d
	s.squares += float64(d * d)
	s.batchSum += x
	s.inBlock++
	s.inBatch++
	s.n++
	if s.inBlock == blockLength {
		s.done = s.moments()
		s.inBlock, s.sum, s.squares = 0, 0, 0
	}
	if s.inBatch == s.batch {
		s.closeBatch()
	}
}

// keep stores a draw. If the limit is reached, it first thins the draws, after which this draw may be dropped, too.
func (s *Series) keep(x float64) {
	if len(s.kept) == s.limit {
		s.thin()
		if s.n&(s.stride-1) != 0 {
			return
		}
	}
	s.kept = append(s.kept, x)
}

// thin drops every other stored draw and doubles the stride.
func (s *Series) thin() {
	for i := range s.limit / 2 {
		s.kept[i] = s.kept[2*i]
	}
	s.kept = s.kept[:s.limit/2]
	s.stride *= 2
}

// closeBatch stores the sum of the open batch. If all batches are in use, it merges each two of them instead, and the
// open batch continues to the doubled length.
func (s *Series) closeBatch() {
	if len(s.batches) == s.mostBatches {
		for i := range s.mostBatches / 2 {
			s.batches[i] = s.batches[2*i] + s.batches[2*i+1]
		}
		s.batches = s.batches[:s.mostBatches/2]
		s.batch *= 2
		return
	}
	s.batches = append(s.batches, s.batchSum)
	s.inBatch, s.batchSum = 0, 0
}

// moments returns the moments of all draws.
func (s *Series) moments() moments {
	if s.inBlock == 0 {
		return s.done
	}
	n := float64(s.inBlock)
	return s.done.merge(moments{
		n:       s.inBlock,
		mean:    s.shift + s.sum/n,
		squares: math.Max(0, s.squares-s.sum*s.sum/n),
	})
}

// strided returns every stride-th draw among the first n. stride must be a multiple of s.stride. The result may share
// the memory of s.
func (s *Series) strided(stride, n int) []float64 {
	step := stride / s.stride
	count := (n + stride - 1) / stride
	if step == 1 {
		return s.kept[:count]
	}
	kept := make([]float64, count)
	for i := range kept {
		kept[i] = s.kept[i*step]
	}
	return kept
}

// batchMeans returns the means of the complete batches of the given length among the first n draws. length must be a
// multiple of s.batch.
func (s *Series) batchMeans(length, n int) []float64 {
	step := length / s.batch
	means := make([]float64, n/length)
	for i := range means {
		var sum float64
		for _, b := range s.batches[i*step : (i+1)*step] {
			sum += b
		}
		means[i] = sum / float64(length)
	}
	return means
}

// Series computes the figures of a statistic from the Series of its chains, which must have equal numbers of draws.
// Otherwise every figure is undefined with ErrRagged.
func (z *Summarizer) Series(series []*Series) Summary {
	sum := z.series(series)
	if len(series) >= nestedChains {
		sum.NestedRHat = number.Number(NestedRHat(series))
	}
	return sum
}

// series does the work of Series except for nested R-hat.
func (z *Summarizer) series(series []*Series) Summary {
	sum := Summary{Chains: len(series), Stride: 1, NestedRHat: number.Unknown()}
	z.chains = grow(z.chains, len(series))
	if len(series) > 0 {
		sum.Draws = series[0].n
	}
	stride, err := commonStride(series)
	if err == nil && stride == 1 {
		for c, s := range series {
			z.chains[c] = s.kept
		}
		return z.Draws(z.chains)
	}
	sum.Stride = stride
	if err == nil {
		for c, s := range series {
			z.chains[c] = s.strided(stride, s.n)
		}
		err = z.sample.load(z.chains)
	}
	total := pooledMoments(series)
	sum.compute("Mean", &sum.Mean, err, total.meanOrError)
	sum.compute("SD", &sum.SD, err, func() (float64, error) {
		if allConstant(series) {
			return 0, nil
		}
		return total.sd()
	})
	sum.compute("ESSMean", &sum.ESSMean, err, func() (float64, error) { return z.essMeanOfBatches(series) })
	z.freedom = z.means.geyer.freedom
	z.fill(&sum, err)
	return sum
}

// commonStride returns the largest stride of the series. It fails if the series cannot be combined.
func commonStride(series []*Series) (stride int, err error) {
	if len(series) == 0 || series[0].n == 0 {
		return 1, ErrNoDraws
	}
	for c, s := range series {
		if s.n != series[0].n {
			return 1, fmt.Errorf("%w: %d draws in chain 0, %d in chain %d", ErrRagged, series[0].n, s.n, c)
		}
		if s.bad >= 0 {
			return 1, notFinite(c, s.bad, s.badValue)
		}
		stride = max(stride, s.stride)
	}
	return stride, nil
}

// allConstant reports whether all draws of all series are equal up to rounding.
func allConstant(series []*Series) bool {
	least, most := series[0].min, series[0].max
	for _, s := range series {
		least, most = math.Min(least, s.min), math.Max(most, s.max)
	}
	return IsConstant(least, most)
}

// pooledMoments returns the moments of all draws of all series.
func pooledMoments(series []*Series) moments {
	var m moments
	for _, s := range series {
		m = m.merge(s.moments())
	}
	return m
}

// essMeanOfBatches returns the effective sample size of the mean of all draws, computed from batch means. It is the
// variance of a draw over the squared standard error of the mean of the batch means, and at most S·log₁₀ S. If
// the series differ in length, only their common length counts.
func (z *Summarizer) essMeanOfBatches(series []*Series) (float64, error) {
	if allConstant(series) {
		return math.NaN(), ErrConstant
	}
	n, length := series[0].n, 0
	for _, s := range series {
		n, length = min(n, s.n), max(length, s.batch)
	}
	if n/length < minDrawsESS {
		return math.NaN(), fewDraws(n/length, minDrawsESS)
	}
	z.chains = grow(z.chains, len(series))
	for c, s := range series {
		z.chains[c] = s.batchMeans(length, n)
	}
	b := &z.means
	if err := b.load(z.chains); err != nil {
		return math.NaN(), err
	}
	ess, err := b.essMean()
	if err != nil {
		return math.NaN(), err
	}
	sdBatch, err := b.sd()
	if err != nil {
		return math.NaN(), err
	}
	sd, err := pooledMoments(series).sd()
	if err != nil {
		return math.NaN(), err
	}
	draws := float64(float64(len(series)) * float64(n))
	ratio := sd / sdBatch
	return math.Min(ess*ratio*ratio, draws*portable.Log10(draws)), nil
}
