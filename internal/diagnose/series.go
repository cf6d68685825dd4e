package diagnose

import (
	"fmt"
	"math"

	"kir/internal/number"
	"kir/internal/portable"
)

// drawsPerBlock is the number of draws whose moments (count, mean and variance) are summed before they are merged
// with the moments of all earlier draws.
const drawsPerBlock = 256

// A Series records the values of one statistic in the draws of one chain, one by one, in bounded memory. From the
// Series of all chains [Summarizer.Series] computes a [Summary].
//
// Up to a limit a Series keeps every draw, and the Summary is that of [Summarizer.Draws], bit for bit. Beyond the
// limit, a Series keeps
//
//   - the number, mean and variance of all draws, exactly;
//   - the sums of 4,096 to 8,192 batches of consecutive draws. The length of a batch doubles as needed. The
//     MCSE of the mean is the MCSE of the mean of the batch means, which estimates the same error. No draw is
//     left out. Geyer's sequence corrects for batches shorter than the autocorrelation time;
//   - every stride-th draw, from the first draw on. The stride doubles as needed, so that the number of kept
//     draws is between half the limit and the limit. Quantiles, R-hat, and the bulk and tail effective sample
//     size are the figures of the kept draws.
//
// The kept draws are worth at most as many independent draws as all draws (MacEachern and Berliner 1994),
// because the mean of all draws is a mean of stride means of kept draws with equal variances. So the effective
// sample sizes are lower bounds, and the standard errors of the quantiles are upper bounds. The loss is small if
// the autocorrelation time exceeds the stride, and at most a factor of stride for independent draws.
//
// What a Series keeps depends on the draws alone, not on when a Summary was computed. A Series is not safe for
// concurrent use.
type Series struct {
	maxKept   int // maximum number of kept draws
	drawCount int // number of draws so far

	stride    int       // distance between kept draws: 1 if every draw is kept
	keptDraws []float64 // every stride-th draw, from the first draw on

	completeBlockMoments   moments   // count, mean and variance of all draws in complete blocks
	blockShift             float64   // first draw of the open block, that is, of the block that is not yet complete
	drawsInBlock           int       // number of draws in the open block
	blockSum, blockSquares float64   // over the draws of the open block: sum of the deviations from blockShift, and sum of the squared deviations
	min, max               float64   // least and greatest draw
	firstNonFinite         int       // index of the first draw that is not finite, or −1
	firstNonFiniteValue    float64   // value of the first draw that is not finite
	batchLength            int       // length of a batch, in draws
	batchSums              []float64 // sums of the complete batches
	maxBatches             int       // maximum number of batches
	drawsInBatch           int       // number of draws in the open batch, that is, in the batch that is not yet complete
	openBatchSum           float64   // sum of the open batch, that is, of the batch that is not yet complete
}

// NewSeries returns an empty Series for one chain that keeps up to limit draws. A limit of 0 or less means
// [DefaultKeptDraws]; any other limit is made even and at least 64. The parameter chains is the number of chains
// of the run: if there are very many, each Series keeps fewer batches, but at least 128, to bound the total
// memory.
func NewSeries(limit, chains int) *Series {
	s := &Series{maxKept: keptDrawLimit(limit), stride: 1, batchLength: 1, firstNonFinite: -1, maxBatches: maxBatches}
	for s.maxBatches > 128 && s.maxBatches*chains > maxBatches*fullBatchChains {
		s.maxBatches /= 2
	}
	return s
}

// Add appends a draw to the series.
func (s *Series) Add(x float64) {
	if x-x != 0 && s.firstNonFinite < 0 { // only NaN and infinite numbers differ from 0 here
		s.firstNonFinite, s.firstNonFiniteValue = s.drawCount, x
	}
	if s.drawCount == 0 {
		s.min, s.max = x, x
	} else if x < s.min {
		s.min = x
	} else if x > s.max {
		s.max = x
	}
	if s.drawCount&(s.stride-1) == 0 {
		s.keepDraw(x)
	}
	if s.drawsInBlock == 0 {
		s.blockShift = x
	}
	d := x - s.blockShift
	s.blockSum += d
	s.blockSquares += float64(d * d)
	s.openBatchSum += x
	s.drawsInBlock++
	s.drawsInBatch++
	s.drawCount++
	if s.drawsInBlock == drawsPerBlock {
		s.completeBlockMoments = s.moments()
		s.drawsInBlock, s.blockSum, s.blockSquares = 0, 0, 0
	}
	if s.drawsInBatch == s.batchLength {
		s.closeBatch()
	}
}

// keepDraw stores the draw x. If the limit is reached, keepDraw first drops every other stored draw, after which
// x may be dropped too.
func (s *Series) keepDraw(x float64) {
	if len(s.keptDraws) == s.maxKept {
		s.thinDraws()
		if s.drawCount&(s.stride-1) != 0 {
			return
		}
	}
	s.keptDraws = append(s.keptDraws, x)
}

// thinDraws drops every other stored draw and doubles the stride.
func (s *Series) thinDraws() {
	for i := range s.maxKept / 2 {
		s.keptDraws[i] = s.keptDraws[2*i]
	}
	s.keptDraws = s.keptDraws[:s.maxKept/2]
	s.stride *= 2
}

// closeBatch stores the sum of the open batch. If all batches are in use, closeBatch instead merges every pair of
// neighbouring batches into one batch, and the open batch then grows to the doubled length.
func (s *Series) closeBatch() {
	if len(s.batchSums) == s.maxBatches {
		for i := range s.maxBatches / 2 {
			s.batchSums[i] = s.batchSums[2*i] + s.batchSums[2*i+1]
		}
		s.batchSums = s.batchSums[:s.maxBatches/2]
		s.batchLength *= 2
		return
	}
	s.batchSums = append(s.batchSums, s.openBatchSum)
	s.drawsInBatch, s.openBatchSum = 0, 0
}

// moments returns the moments of all draws.
func (s *Series) moments() moments {
	if s.drawsInBlock == 0 {
		return s.completeBlockMoments
	}
	n := float64(s.drawsInBlock)
	return s.completeBlockMoments.merge(moments{
		count:             s.drawsInBlock,
		mean:              s.blockShift + s.blockSum/n,
		squaredDeviations: math.Max(0, s.blockSquares-s.blockSum*s.blockSum/n),
	})
}

// stridedDraws returns every stride-th draw among the first n draws. The parameter stride must be a multiple of
// s.stride. The result may share the memory of s.
func (s *Series) stridedDraws(stride, n int) []float64 {
	step := stride / s.stride
	count := (n + stride - 1) / stride
	if step == 1 {
		return s.keptDraws[:count]
	}
	kept := make([]float64, count)
	for i := range kept {
		kept[i] = s.keptDraws[i*step]
	}
	return kept
}

// batchMeans returns the means of the complete batches of the given length among the first n draws. The length
// must be a multiple of s.batchLength.
func (s *Series) batchMeans(length, n int) []float64 {
	step := length / s.batchLength
	means := make([]float64, n/length)
	for i := range means {
		var sum float64
		for _, b := range s.batchSums[i*step : (i+1)*step] {
			sum += b
		}
		means[i] = sum / float64(length)
	}
	return means
}

// Series computes the [Summary] of a statistic from the Series of the chains, which must have equal numbers of
// draws. Otherwise every number in the Summary is undefined with ErrRagged.
func (z *Summarizer) Series(series []*Series) Summary {
	sum := z.summarizeSeries(series)
	if len(series) >= minNestedChains {
		sum.NestedRHat = number.Number(NestedRHat(series))
	}
	return sum
}

// summarizeSeries does the work of [Summarizer.Series] except for nested R-hat.
func (z *Summarizer) summarizeSeries(series []*Series) Summary {
	sum := Summary{Chains: len(series), Stride: 1, NestedRHat: number.Unknown()}
	z.chainBuffer = resize(z.chainBuffer, len(series))
	if len(series) > 0 {
		sum.Draws = series[0].drawCount
	}
	stride, err := commonStride(series)
	if err == nil && stride == 1 {
		for c, s := range series {
			z.chainBuffer[c] = s.keptDraws
		}
		return z.Draws(z.chainBuffer)
	}
	sum.Stride = stride
	if err == nil {
		for c, s := range series {
			z.chainBuffer[c] = s.stridedDraws(stride, s.drawCount)
		}
		err = z.sample.loadChains(z.chainBuffer)
	}
	total := pooledMoments(series)
	sum.setStatistic("Mean", &sum.Mean, err, total.meanOrError)
	sum.setStatistic("SD", &sum.SD, err, func() (float64, error) {
		if allConstant(series) {
			return 0, nil
		}
		return total.sd()
	})
	sum.setStatistic("ESSMean", &sum.ESSMean, err, func() (float64, error) { return z.essMeanOfBatches(series) })
	z.meanFreedom = z.batchSample.geyerESS.degreesOfFreedom
	z.fillStatistics(&sum, err)
	return sum
}

// commonStride returns the largest stride (distance between kept draws) of the series. commonStride fails if the
// series cannot be combined.
func commonStride(series []*Series) (stride int, err error) {
	if len(series) == 0 || series[0].drawCount == 0 {
		return 1, ErrNoDraws
	}
	for c, s := range series {
		if s.drawCount != series[0].drawCount {
			return 1, fmt.Errorf("%w: %d draws in chain 0, %d in chain %d", ErrRagged, series[0].drawCount, s.drawCount, c)
		}
		if s.firstNonFinite >= 0 {
			return 1, notFiniteError(c, s.firstNonFinite, s.firstNonFiniteValue)
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

// essMeanOfBatches returns the effective sample size of the mean of all S draws, computed from batch means. The
// effective sample size is the variance of a draw over the squared standard error of the mean of the batch
// means, and at most S·log₁₀ S. If the series differ in length, only the draws up to the shortest length count.
func (z *Summarizer) essMeanOfBatches(series []*Series) (float64, error) {
	if allConstant(series) {
		return math.NaN(), ErrConstant
	}
	n, length := series[0].drawCount, 0
	for _, s := range series {
		n, length = min(n, s.drawCount), max(length, s.batchLength)
	}
	if n/length < minDrawsESS {
		return math.NaN(), fewDrawsError(n/length, minDrawsESS)
	}
	z.chainBuffer = resize(z.chainBuffer, len(series))
	for c, s := range series {
		z.chainBuffer[c] = s.batchMeans(length, n)
	}
	b := &z.batchSample
	if err := b.loadChains(z.chainBuffer); err != nil {
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
