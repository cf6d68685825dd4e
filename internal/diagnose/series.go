package diagnose

import (
	"fmt"
	"math"

	"kir/internal/number"
	"kir/internal/portable"
)

// blockLength is the number of draws whose moments are summed up before they are
// merged with those of the draws before.
const blockLength = 256

// A Series takes the draws of one statistic in one chain, one by one, in bounded
// memory. [Summarizer.Series] computes the figures of a statistic from the
// Series of its chains.
//
// Up to its limit it keeps every draw, and the figures are those of
// [Summarizer.Draws], bit for bit. Beyond, it keeps
//
//   - the number, mean and variance of all draws, exactly;
//   - the sums of 4,096 to 8,192 batches of consecutive draws, whose length
//     doubles as needed. The MCSE of the mean is that of the mean of the batch
//     means, which estimates the same error: nothing is left out, and batches
//     that are shorter than the autocorrelation time are corrected for, since
//     Geyer's sequence is applied to them as it is to draws;
//   - every stride-th draw, from the first on, where stride doubles as needed so
//     that between half the limit and the limit are kept. Quantiles, R-hat, and
//     the bulk and tail effective sample size are those of the draws kept. What
//     the draws kept are worth is at most what all are worth (the mean of all
//     draws is a mean of stride means over every stride-th draw that have equal
//     variances, and so has at most that variance; MacEachern and Berliner
//     1994), so these effective sample sizes are lower bounds and the standard
//     errors of the quantiles are upper bounds. The loss is small when the
//     autocorrelation time is longer than the stride, and at most a factor of
//     stride when draws are independent.
//
// What it keeps depends on the draws alone, not on when it was looked at.
// A Series must not be used by two goroutines at once.
type Series struct {
	limit int
	n     int

	stride int
	kept   []float64

	done         moments // of all complete blocks
	shift        float64 // first draw of the open block
	inBlock      int
	sum, squares float64 // of the deviations from shift in the open block
	least, most  float64
	bad          int // the first draw that is not finite, or −1
	badValue     float64
	batch        int // length of a batch
	batches      []float64
	mostBatches  int
	inBatch      int
	batchSum     float64
}

// NewSeries returns an empty Series of one of so many chains that keeps up to limit
// draws: [DefaultLimit] if limit is 0 or less, and otherwise at least 64 and even.
// One of very many keeps fewer batches, 128 at least, so that the memory of all of
// them is bounded.
func NewSeries(limit, chains int) *Series {
	s := &Series{limit: streamLimit(limit), stride: 1, batch: 1, bad: -1, mostBatches: maxBatches}
	for s.mostBatches > 128 && s.mostBatches*chains > maxBatches*manyChains {
		s.mostBatches /= 2
	}
	return s
}

// Add appends a draw.
func (s *Series) Add(x float64) {
	if x-x != 0 && s.bad < 0 { // NaN or infinite
		s.bad, s.badValue = s.n, x
	}
	if s.n == 0 {
		s.least, s.most = x, x
	} else if x < s.least {
		s.least = x
	} else if x > s.most {
		s.most = x
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

// keep keeps a draw, unless there are so many that it is not to be.
func (s *Series) keep(x float64) {
	if len(s.kept) == s.limit {
		s.thin()
		if s.n&(s.stride-1) != 0 {
			return
		}
	}
	s.kept = append(s.kept, x)
}

// thin drops every other draw that is kept.
func (s *Series) thin() {
	for i := range s.limit / 2 {
		s.kept[i] = s.kept[2*i]
	}
	s.kept = s.kept[:s.limit/2]
	s.stride *= 2
}

// closeBatch appends the open batch to the others; when they are full, it first
// joins them two by two, and the open batch is then but half full.
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

// strided returns every stride-th draw among the first n, where stride is a
// multiple of s.stride. The result may share the memory of s.
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

// batchMeans returns the means of the complete batches of the given length among
// the first n draws, where length is a multiple of s.batch.
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

// Series computes the figures of a statistic from the Series of its chains,
// which must have equal numbers of draws; otherwise every figure is undefined
// with ErrRagged.
func (z *Summarizer) Series(series []*Series) Summary {
	sum := z.series(series)
	if len(series) >= nestedChains {
		sum.NestedRHat = number.Number(NestedRHat(series))
	}
	return sum
}

// series is Series without nested R-hat.
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

// commonStride returns the stride of the series, or why they cannot be taken together.
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

// allConstant reports whether all draws of all series are the same but for rounding.
func allConstant(series []*Series) bool {
	least, most := series[0].least, series[0].most
	for _, s := range series {
		least, most = math.Min(least, s.least), math.Max(most, s.most)
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

// essMeanOfBatches returns the effective sample size of the mean of all draws
// that the batch means imply: the variance of a draw over the squared standard
// error of the mean of the batch means, and at most S·log₁₀ S. The series may
// differ in length; then their common length counts.
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
