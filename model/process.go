package model

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"kir/internal/portable"
)

// A Process is a Gaussian process on compositions (Rasmussen and Williams 2006). It models the
// numeric labels of the rows as values of a random function plus noise. The covariance of the
// function at two compositions x and x′ is
//
//	k(x, x′) = s·κ(d(x, x′)),  d² = Σ_i (√p_i − √p′_i)²/ℓ_i².
//
// Here p = x/M are the shares of the ingredients in a composition of total M, s is a variance, κ is
// a [Kernel], and ℓ_i is the length scale of ingredient i. If all ℓ_i are equal, d is proportional
// to Hellinger's distance. This distance allows shares of zero, and distinguishes a trace of an
// ingredient from its absence. The length scales, s and the noise are those of the greatest
// posterior density, under the priors that process_fit.go defines.
//
// The square roots of shares are rounded to a grid of steps (see [ProcessScore]). The mean is
// therefore constant over parts of a line of compositions. The rounding raises held-out errors by
// about 1 %. The steps are finer for ingredients that matter more. A Process does not change, so
// that any number of goroutines may use it.
type Process struct {
	label            string
	ingredients      []string
	totalAmount      int // the sum of the amounts of a composition
	besideCount      int // number of ingredients beside the composition: see [Data.Beside]
	options          ProcessOptions
	rowCount         int       // number of rows to which the process was fitted
	labels           []float64 // numeric label of each row
	compositionOfRow []int32   // index in compositions of the composition of each row

	compositions [][]Part  // the different compositions of the data
	rowCounts    []float64 // number of rows with each composition
	meanLabels   []float64 // mean label of the rows with each composition
	// meanVariances[k] is the variance, by errors of measurement, of the mean label of composition
	// k. It is relative to labelSD², and 0 if unknown.
	meanVariances          []float64
	newMeasurementVariance float64 // variance of the error of a new measurement, relative to labelSD²
	// hasSD tells whether the standard deviation of any measurement is known. The fitted noise is
	// then in addition to the errors of measurement.
	hasSD bool

	labelMean       float64 // mean of the labels
	labelSD         float64 // standard deviation of the labels
	hyperparameters hyperparameters

	roundings []shareRounding // how the amounts of each ingredient are rounded to steps
	// ingredientSteps[i][k] is the step to which the amount of ingredient i in composition k is
	// rounded. The column of an ingredient is nil if no composition has the ingredient.
	ingredientSteps    [][]int32
	distancesFromEmpty []int64                  // squared distance of each composition from the composition in which all amounts are 0
	kernelTable        *kernelTable             // the correlation κ as a function of the squared distance
	cholesky           portable.LowerTriangular // Cholesky factor of the covariance matrix of the compositions, noise included
	// alpha[k] is a factor in the mean. The mean of a composition, in units of labelSD, is the sum
	// over k of alpha[k] times the composition's correlation with composition k.
	alpha []float64

	heldOutMean []float64 // mean of the prediction for each composition without the rows of the composition
	// heldOutSD holds the standard deviation of the prediction for each composition without the
	// rows of the composition.
	heldOutSD []float64

	distancePool sync.Pool // a pool of *[]int64 for the squared distances of one composition from all compositions

	roughnessOnce sync.Once  // guards meanRoughness
	meanRoughness *roughness // data for upper bounds of the mean; nil before the first use
}

// A Kernel is a correlation κ as a function of the distance d of two compositions.
type Kernel int

const (
	// Matern52 is (1 + √5·d + 5d²/3)·exp(−√5·d), for functions that are twice differentiable.
	Matern52 Kernel = iota
	// Matern32 is (1 + √3·d)·exp(−√3·d), for functions that are once differentiable.
	Matern32
	// SquaredExponential is exp(−d²/2), for functions that are infinitely differentiable.
	SquaredExponential
)

// String returns the name of the kernel in files.
func (k Kernel) String() string {
	return [...]string{"matern 5/2", "matern 3/2", "squared exponential"}[k]
}

// ParseKernel returns the kernel with the given name.
func ParseKernel(text string) (Kernel, error) {
	for _, k := range []Kernel{Matern52, Matern32, SquaredExponential} {
		if k.String() == text {
			return k, nil
		}
	}
	return 0, fmt.Errorf("there is no kernel %q: it must be matern 5/2, matern 3/2 or squared exponential", text)
}

// ProcessOptions set how a process is fitted.
type ProcessOptions struct {
	// Kernel is the correlation function. The default is [Matern52].
	Kernel Kernel
}

// MaxProcessCompositions is the greatest number n of different compositions of a process. The time
// to fit a process is proportional to n³.
const MaxProcessCompositions = 2000

// A shareRounding defines how the amounts of an ingredient are rounded. The square root of the
// ingredient's share is rounded to a multiple of 1/stepsPerUnit; the step of an amount is that
// multiple, 0, …, stepsPerUnit. If the steps of an ingredient in two compositions differ by n, the
// ingredient contributes n²·weight·2^−distanceBits to the squared distance of the compositions.
type shareRounding struct {
	stepsPerUnit int64 // number of steps from a share of 0 to a share of 1 of the ingredient
	// weight is the contribution of a difference of one step to a squared distance, in units of
	// 2^−distanceBits.
	weight int64
	// leastAmounts[l] is the least amount that is rounded to step l. The last element exceeds every
	// amount.
	leastAmounts []int32
}

const (
	distanceBits    = 24  // squared distances are whole numbers in units of 2^−distanceBits
	minInitialSteps = 64  // least number of steps to which the amounts of an ingredient are rounded at first
	maxSteps        = 256 // greatest number of steps to which the amounts of an ingredient are rounded
	// initialRangeSteps is the number of steps, in the first rounding, between the least and the
	// greatest amount of an ingredient in the rows. The number is smaller if maxSteps would be
	// exceeded.
	initialRangeSteps = 96
	// minRangeSteps is the least number of rounding steps between the least and the greatest amount
	// of an ingredient in the rows.
	minRangeSteps = 12

	// roundingShare is the approximate variance that the rounding of amounts adds, as a share of
	// the variance of held-out errors. The held-out error itself rises by half of this share.
	roundingShare = 0.02

	// maxStepWeight is the greatest weight of a [shareRounding]. It keeps sums of squared distances
	// below 2⁶³. With this weight, a difference of one step makes compositions uncorrelated.
	maxStepWeight = 1 << 32
)

// leastAmountsOfSteps returns the least amount that is rounded to each step. The square root of the
// share amount/total is rounded to a multiple of 1/per. The least amount of step l is ⌈total·(2l −
// 1)²/(2·per)²⌉. The last element exceeds every amount.
func leastAmountsOfSteps(per int64, total int) []int32 {
	all := make([]int32, per+2)
	bottom := 4 * per * per
	for l := int64(1); l <= per; l++ {
		all[l] = int32((int64(total)*(2*l-1)*(2*l-1) + bottom - 1) / bottom)
	}
	all[per+1] = math.MaxInt32
	return all
}

// roundToStep returns the step to which an amount is rounded: the greatest step L with
// √(amount/total) ≥ (L − ½)/stepsPerUnit.
func (a shareRounding) roundToStep(amount int32, total int) int32 {
	if amount <= 0 {
		return 0
	}
	return a.roundToStepFrom(int32(float64(math.Sqrt(float64(amount)/float64(total))*float64(a.stepsPerUnit))+0.5), amount)
}

// roundToStepFrom returns the step to which an amount is rounded. It starts the search at step l,
// and is fast if the result is near l.
func (a shareRounding) roundToStepFrom(l, amount int32) int32 {
	l = min(l, int32(a.stepsPerUnit))
	for amount < a.leastAmounts[l] {
		l--
	}
	for amount >= a.leastAmounts[l+1] {
		l++
	}
	return l
}

// squaredDistance returns what an ingredient contributes to the squared distance of two
// compositions, if its amounts in them are rounded to the steps l and q.
func (a shareRounding) squaredDistance(l, q int32) int64 {
	d := int64(l - q)
	return d * d * a.weight
}

// FitProcess fits a process to the numeric labels of the data. If the data or the options are
// invalid, the error describes the fault. FitProcess returns the error of ctx if ctx ends first.
func FitProcess(ctx context.Context, d *Data, o ProcessOptions) (*Process, error) {
	p, err := newProcess(d, o)
	if err != nil {
		return nil, fmt.Errorf("fitting a Gaussian process: %w", err)
	}
	if p.hyperparameters, err = p.fitHyperparameters(ctx); err != nil {
		return nil, err
	}
	return p, p.precompute(ctx)
}

// newProcess returns a process with the rows of the data, before its hyperparameters are fitted.
func newProcess(d *Data, o ProcessOptions) (*Process, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	if d.Numbers == nil {
		return nil, fmt.Errorf("%q is a class, and a process is of numbers", d.Label)
	}
	if o.Kernel < Matern52 || o.Kernel > SquaredExponential {
		return nil, fmt.Errorf("there is no kernel %d", int(o.Kernel))
	}
	p := &Process{
		label: d.Label, ingredients: slices.Clone(d.Ingredients), totalAmount: d.Total, besideCount: d.Beside,
		options: o, rowCount: len(d.Rows), labels: slices.Clone(d.Numbers),
	}
	p.groupCompositions(d)
	if len(p.compositions) > MaxProcessCompositions {
		return nil, fmt.Errorf("there are %d different compositions, and a process is of %d at most", len(p.compositions), MaxProcessCompositions)
	}
	n := float64(len(d.Numbers))
	for _, y := range d.Numbers {
		p.labelMean += y / n
	}
	for _, y := range d.Numbers {
		p.labelSD += float64((y-p.labelMean)*(y-p.labelMean)) / n
	}
	if p.labelSD = math.Sqrt(p.labelSD); p.labelSD == 0 {
		p.labelSD = 1
	}
	p.setMeasurementSD(d.SD)
	return p, nil
}

// setMeasurementSD sets the variances of the errors of measurement. The element sd[r] is the
// standard deviation of the measurement of row r, or NaN if unknown. Rows without a known standard
// deviation, and new measurements, get the median of the known ones.
func (p *Process) setMeasurementSD(sd []float64) {
	p.meanVariances = make([]float64, len(p.compositions))
	known := slices.Sorted(slices.Values(sd))
	known = slices.DeleteFunc(known, math.IsNaN)
	if len(known) == 0 {
		return
	}
	middle := known[len(known)/2] / p.labelSD
	p.newMeasurementVariance = float64(middle * middle)
	p.hasSD = middle > 0
	for r, k := range p.compositionOfRow {
		share := p.newMeasurementVariance
		if v := sd[r] / p.labelSD; !math.IsNaN(v) {
			share = float64(v * v)
		}
		p.meanVariances[k] += share / float64(p.rowCounts[k]*p.rowCounts[k])
	}
}

// groupCompositions finds the different compositions among the rows. It sets the number of rows and
// the mean label of each of them.
func (p *Process) groupCompositions(d *Data) {
	index := make(map[string]int32)
	p.compositionOfRow = make([]int32, len(d.Rows))
	for r, row := range d.Rows {
		parts := slices.DeleteFunc(slices.Clone(row), func(part Part) bool { return part.Amount == 0 })
		slices.SortFunc(parts, func(a, b Part) int { return int(a.Ingredient) - int(b.Ingredient) })
		key := fmt.Sprint(parts)
		k, found := index[key]
		if !found {
			k = int32(len(p.compositions))
			index[key] = k
			p.compositions = append(p.compositions, parts)
			p.rowCounts = append(p.rowCounts, 0)
			p.meanLabels = append(p.meanLabels, 0)
		}
		p.compositionOfRow[r] = k
		p.rowCounts[k]++
		p.meanLabels[k] += d.Numbers[r]
	}
	for k := range p.meanLabels {
		p.meanLabels[k] /= p.rowCounts[k]
	}
}

// amountDivisor returns the number by which an amount of ingredient i is divided to give a share:
// the total of a composition, or [MaxBesideAmount] for an ingredient beside the composition.
func (p *Process) amountDivisor(i int32) int {
	if int(i) >= len(p.ingredients)-p.besideCount {
		return MaxBesideAmount
	}
	return p.totalAmount
}

// Label returns the name of the predicted quantity.
func (p *Process) Label() string { return p.label }

// RowCount returns the number of rows to which the process was fitted.
func (p *Process) RowCount() int { return p.rowCount }

// Replicates returns the number of rows whose composition occurs in more than one row. It also
// returns the pooled standard deviation of the labels among rows of the same composition, or 0 if
// there are no such rows.
func (p *Process) Replicates() (rows int, sd float64) {
	squares, free := p.replicateScatter()
	for _, n := range p.rowCounts {
		if n > 1 {
			rows += int(n)
		}
	}
	if free > 0 {
		sd = math.Sqrt(squares / free)
	}
	return rows, sd
}

// replicateScatter returns Σ (y − ȳ)², where y is the label of a row and ȳ is the mean label of the
// rows with the same composition. It also returns the degrees of freedom of the sum.
func (p *Process) replicateScatter() (squares, free float64) {
	for r, k := range p.compositionOfRow {
		gap := p.labels[r] - p.meanLabels[k]
		squares += float64(gap * gap)
	}
	for _, n := range p.rowCounts {
		free += n - 1
	}
	return squares, free
}

// Noise returns the standard deviation of the noise, in the unit of the label: by this much the
// process expects the labels of equal compositions to vary.
func (p *Process) Noise() float64 {
	return float64(p.labelSD * math.Sqrt(exp(p.hyperparameters.logNoise)+p.newMeasurementVariance))
}

// Lengths returns the length scale of each ingredient. If the square root of an ingredient's share
// changes by the length scale, the label may become nearly independent of its previous value. An
// ingredient that no row has gets the common length scale.
func (p *Process) Lengths() []float64 {
	lengths := make([]float64, len(p.ingredients))
	for i := range lengths {
		lengths[i] = exp(p.hyperparameters.logLength + p.hyperparameters.logLengthRatios[i])
	}
	return lengths
}

// precompute computes what predictions need and what depends only on the rows and the
// hyperparameters. It rounds amounts twice. The first rounding is fine and tells how much each
// ingredient matters. The second is as coarse as the allowed error permits, because the time to
// score a line is proportional to the number of steps along the line.
func (p *Process) precompute(ctx context.Context) error {
	p.kernelTable = newKernelTable(p.options.Kernel)
	if err := p.precomputeWithSteps(ctx, p.initialSteps()); err != nil {
		return err
	}
	return p.precomputeWithSteps(ctx, p.coarserSteps())
}

// precomputeWithSteps rounds amounts to the given number of steps for each ingredient, and computes
// what predictions need.
func (p *Process) precomputeWithSteps(ctx context.Context, steps []int64) error {
	n := len(p.compositions)
	p.roundRows(steps)
	p.distancesFromEmpty = make([]int64, n)
	for i, column := range p.ingredientSteps {
		for r, q := range column {
			p.distancesFromEmpty[r] += p.roundings[i].squaredDistance(0, q)
		}
	}
	s, noise := exp(p.hyperparameters.logSignal), exp(p.hyperparameters.logNoise)
	distance := make([]int64, n)
	for jitter := 1e-8; ; jitter = float64(jitter * 10) {
		p.cholesky = portable.NewLower(n)
		for r := range n {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			p.writeDistances(p.compositions[r], distance)
			row := p.cholesky.Row(r)
			for c := range row {
				row[c] = float64(s * p.kernelTable.correlationAt(distance[c]))
			}
			row[r] += noise/p.rowCounts[r] + p.meanVariances[r] + float64(jitter*s)
		}
		if p.cholesky.Factor() {
			break
		}
		if jitter > s {
			return fmt.Errorf("fitting a Gaussian process: the covariance of the rows of %q cannot be factored", p.label)
		}
	}
	p.alpha = make([]float64, n)
	for r := range p.alpha {
		p.alpha[r] = (p.meanLabels[r] - p.labelMean) / p.labelSD
	}
	p.cholesky.Solve(p.alpha)
	p.predictHeldOut()
	for r := range p.alpha {
		p.alpha[r] = float64(p.alpha[r] * s)
	}
	return nil
}

// initialSteps returns the number of steps of each ingredient in the first, fine rounding.
func (p *Process) initialSteps() []int64 {
	steps := make([]int64, len(p.ingredients))
	for i, span := range p.rootShareSpans() {
		steps[i] = minInitialSteps
		if span > 0 {
			steps[i] = min(max(steps[i], int64(math.Ceil(initialRangeSteps/span))), maxSteps)
		}
	}
	return steps
}

// rootShareSpans returns the span of each ingredient: the greatest minus the least square root of
// the ingredient's share in the rows.
func (p *Process) rootShareSpans() []float64 {
	least, most := make([]int32, len(p.ingredients)), make([]int32, len(p.ingredients))
	uses := make([]int, len(p.ingredients))
	for _, parts := range p.compositions {
		for _, q := range parts {
			if uses[q.Ingredient] == 0 || q.Amount < least[q.Ingredient] {
				least[q.Ingredient] = q.Amount
			}
			most[q.Ingredient] = max(most[q.Ingredient], q.Amount)
			uses[q.Ingredient]++
		}
	}
	spans := make([]float64, len(p.ingredients))
	for i := range spans {
		if uses[i] < len(p.compositions) {
			least[i] = 0
		}
		m := float64(p.amountDivisor(int32(i)))
		spans[i] = math.Sqrt(float64(most[i])/m) - math.Sqrt(float64(least[i])/m)
	}
	return spans
}

// coarserSteps returns the number of steps of each ingredient in the second, coarse rounding. The
// rounding may raise the variance of held-out errors by the share roundingShare, of which each
// ingredient gets an equal part. The error by rounding an amount is taken to be the slope of the
// mean, per step, times a number that is uniform over an interval of width 1. The variance of this
// number is 1/12.
func (p *Process) coarserSteps() []int64 {
	squares := make([]float64, len(p.ingredients)) // by ingredient: Σ of the squared slopes over the known compositions
	distance := make([]int64, len(p.compositions))
	for _, parts := range p.compositions {
		p.writeDistances(parts, distance)
		for _, q := range parts {
			at := p.roundings[q.Ingredient].roundToStep(q.Amount, p.amountDivisor(q.Ingredient))
			p.shiftDistances(distance, q.Ingredient, at, at+1)
			above := p.meanAtDistances(distance)
			p.shiftDistances(distance, q.Ingredient, at+1, at-1)
			slope := float64((above - p.meanAtDistances(distance)) / 2)
			p.shiftDistances(distance, q.Ingredient, at-1, at)
			squares[q.Ingredient] += float64(slope * slope)
		}
	}
	active := 0
	for _, sum := range squares {
		if sum > 0 {
			active++
		}
	}
	spread := p.heldOutRMSE()
	allowed := float64(roundingShare*float64(spread*spread)) * 12 * float64(len(p.compositions)) / float64(max(active, 1))
	steps := make([]int64, len(p.ingredients))
	for i, span := range p.rootShareSpans() {
		finest := p.roundings[i].stepsPerUnit
		fewest := finest
		if span > 0 {
			fewest = min(int64(math.Ceil(minRangeSteps/span)), finest)
		}
		needed := float64(float64(finest) * math.Sqrt(squares[i]/allowed))
		switch {
		case needed <= float64(fewest):
			steps[i] = fewest
		case needed < float64(finest):
			steps[i] = int64(math.Ceil(needed))
		default: // held-out errors of 0 come here, too
			steps[i] = finest
		}
	}
	return steps
}

// roundRows sets the roundings, with the given number of steps for each ingredient. It then rounds
// the amounts in all compositions of the data.
func (p *Process) roundRows(steps []int64) {
	p.roundings = make([]shareRounding, len(p.ingredients))
	p.ingredientSteps = make([][]int32, len(p.ingredients))
	lengths := p.Lengths()
	tables := make(map[[2]int64][]int32) // by steps and total
	for i, per := range steps {
		key := [2]int64{per, int64(p.amountDivisor(int32(i)))}
		if tables[key] == nil {
			tables[key] = leastAmountsOfSteps(per, int(key[1]))
		}
		apart := 1 / (float64(per) * lengths[i])
		weight := int64(min(math.Round(math.Ldexp(apart*apart, distanceBits)), maxStepWeight))
		p.roundings[i] = shareRounding{per, weight, tables[key]}
	}
	for r, parts := range p.compositions {
		for _, q := range parts {
			if p.ingredientSteps[q.Ingredient] == nil {
				p.ingredientSteps[q.Ingredient] = make([]int32, len(p.compositions))
			}
			p.ingredientSteps[q.Ingredient][r] = p.roundings[q.Ingredient].roundToStep(q.Amount, p.amountDivisor(q.Ingredient))
		}
	}
}

// writeDistances writes to the slice to the squared distances between a composition with the given
// parts and all compositions of the data.
func (p *Process) writeDistances(parts []Part, to []int64) {
	copy(to, p.distancesFromEmpty)
	for _, q := range parts {
		p.shiftDistances(to, q.Ingredient, 0, p.roundings[q.Ingredient].roundToStep(q.Amount, p.amountDivisor(q.Ingredient)))
	}
}

// shiftDistances updates squared distances after a change of ingredient i from one step to another.
// The slice distances holds the squared distances of the changed composition to all compositions of
// the data.
func (p *Process) shiftDistances(distances []int64, i, from, to int32) {
	if from == to {
		return
	}
	by, slope := p.roundings[i].distanceChange(from, to)
	column := p.ingredientSteps[i]
	if column == nil {
		for r := range distances {
			distances[r] += by
		}
		return
	}
	for r, q := range column {
		distances[r] += by - slope*int64(q)
	}
}

// distanceChange returns how squared distances change if an ingredient goes from one step to
// another. The squared distance to a composition with step q of the ingredient changes by constant
// − slope·q.
func (a shareRounding) distanceChange(from, to int32) (constant, slope int64) {
	f, t := int64(from), int64(to)
	return (t*t - f*f) * a.weight, 2 * (t - f) * a.weight
}

// predictHeldOut predicts each composition of the data from the rows of all other compositions
// (Rasmussen and Williams 2006, equation 5.12). The hyperparameters remain those that were fitted
// to all rows.
func (p *Process) predictHeldOut() {
	inverse := p.cholesky.Inverse()
	p.heldOutMean, p.heldOutSD = make([]float64, len(p.compositions)), make([]float64, len(p.compositions))
	for r := range p.compositions {
		precision := inverse.Row(r)[r]
		p.heldOutMean[r] = p.meanLabels[r] - float64(p.labelSD*(p.alpha[r]/precision))
		p.heldOutSD[r] = p.heldOutDeviation(r, 1/precision)
	}
	p.leaveOutGroups(inverse)
}

// heldOutDeviation returns the standard deviation of the held-out prediction of a single row with
// composition r. The parameter variance is that of the held-out prediction of the mean label of
// composition r, in which the noise of several rows is averaged.
func (p *Process) heldOutDeviation(r int, variance float64) float64 {
	noise := exp(p.hyperparameters.logNoise)
	measured := float64(p.meanVariances[r] * p.rowCounts[r]) // measurement variance of a single row
	return float64(p.labelSD * math.Sqrt(max(variance-noise/p.rowCounts[r]-p.meanVariances[r], 0)+noise+measured))
}

// leaveOutGroups corrects the held-out predictions of compositions that differ only in ingredients
// beside the composition: see [Data.Beside]. It predicts such a group of compositions from the rows
// outside the group. Let G be the group, y the mean labels, and A the inverse of their covariance.
// The residuals of the group are A_GG⁻¹·(A·y)_G, with covariance A_GG⁻¹.
func (p *Process) leaveOutGroups(inverse portable.LowerTriangular) {
	of, count := groupRowsByComposition(p.compositions, len(p.ingredients)-p.besideCount, p.besideCount)
	members := make([][]int, count)
	for r, g := range of {
		members[g] = append(members[g], r)
	}
	for _, group := range members {
		if len(group) < 2 {
			continue
		}
		block := portable.NewLower(len(group))
		left := make([]float64, len(group))
		for a, r := range group {
			for b := range a + 1 {
				block.Row(a)[b] = inverse.Row(max(r, group[b]))[min(r, group[b])]
			}
			left[a] = p.alpha[r]
		}
		if !block.Factor() {
			continue // the rows alone have been left out
		}
		variances := block.Inverse()
		block.Solve(left)
		for a, r := range group {
			p.heldOutMean[r] = p.meanLabels[r] - float64(p.labelSD*left[a])
			p.heldOutSD[r] = p.heldOutDeviation(r, variances.Row(a)[a])
		}
	}
}

// meanAtDistances returns the expected label of a composition, given the composition's squared
// distances to all compositions of the data. For speed, it adds in four independent sums.
func (p *Process) meanAtDistances(distances []int64) float64 {
	var s0, s1, s2, s3 float64
	t, alpha := p.kernelTable, p.alpha[:len(distances)]
	r := 0
	for ; r+4 <= len(distances); r += 4 {
		s0 += float64(alpha[r] * t.correlationAt(distances[r]))
		s1 += float64(alpha[r+1] * t.correlationAt(distances[r+1]))
		s2 += float64(alpha[r+2] * t.correlationAt(distances[r+2]))
		s3 += float64(alpha[r+3] * t.correlationAt(distances[r+3]))
	}
	for ; r < len(distances); r++ {
		s0 += float64(alpha[r] * t.correlationAt(distances[r]))
	}
	return p.meanOfLanes(s0, s1, s2, s3)
}

// meanOfLanes returns the expected label, given the four sums of [Process.meanAtDistances].
func (p *Process) meanOfLanes(s0, s1, s2, s3 float64) float64 {
	return p.labelMean + float64(p.labelSD*((s0+s1)+(s2+s3)))
}

// shiftDistancesAndMean updates the squared distances as [Process.shiftDistances] does. It returns
// the expected label at the new distances, as [Process.meanAtDistances] does.
func (p *Process) shiftDistancesAndMean(distances []int64, i, from, to int32) float64 {
	column := p.ingredientSteps[i]
	if column == nil || from == to {
		p.shiftDistances(distances, i, from, to)
		return p.meanAtDistances(distances)
	}
	by, slope := p.roundings[i].distanceChange(from, to)
	var s0, s1, s2, s3 float64
	t, alpha := p.kernelTable, p.alpha[:len(distances)]
	column = column[:len(distances)]
	r := 0
	for ; r+4 <= len(distances); r += 4 {
		d0 := distances[r] + by - slope*int64(column[r])
		d1 := distances[r+1] + by - slope*int64(column[r+1])
		d2 := distances[r+2] + by - slope*int64(column[r+2])
		d3 := distances[r+3] + by - slope*int64(column[r+3])
		distances[r], distances[r+1], distances[r+2], distances[r+3] = d0, d1, d2, d3
		s0 += float64(alpha[r] * t.correlationAt(d0))
		s1 += float64(alpha[r+1] * t.correlationAt(d1))
		s2 += float64(alpha[r+2] * t.correlationAt(d2))
		s3 += float64(alpha[r+3] * t.correlationAt(d3))
	}
	for ; r < len(distances); r++ {
		distances[r] += by - slope*int64(column[r])
		s0 += float64(alpha[r] * t.correlationAt(distances[r]))
	}
	return p.meanOfLanes(s0, s1, s2, s3)
}

// Mean returns the expected label for the dense composition x.
func (p *Process) Mean(x []int32) float64 {
	d := make([]int64, len(p.compositions))
	p.writeDistances(PositiveParts(x), d)
	return p.meanAtDistances(d)
}

// Predict returns the expected label for the dense composition x, and the standard deviation of a
// new measurement of x, noise included. The standard deviation is large where the dataset has no
// similar composition.
func (p *Process) Predict(x []int32) (mean, sd float64) {
	d := make([]int64, len(p.compositions))
	p.writeDistances(PositiveParts(x), d)
	s := exp(p.hyperparameters.logSignal)
	k := make([]float64, len(d))
	for r := range k {
		k[r] = float64(s * p.kernelTable.correlationAt(d[r]))
	}
	p.cholesky.Forward(k)
	variance := max(s-portable.Dot(k, k), 0) + exp(p.hyperparameters.logNoise) + p.newMeasurementVariance
	return p.meanAtDistances(d), float64(p.labelSD * math.Sqrt(variance))
}

// Law returns the predicted distribution of a new measurement for the dense composition x.
func (p *Process) Law(x []int32) Distribution { return normalDistribution(p.Predict(x)) }

// HeldOut returns the prediction for each row of the data from the rows of other compositions: the
// mean and the standard deviation of a measurement.
func (p *Process) HeldOut() (mean, sd []float64) {
	mean, sd = make([]float64, p.rowCount), make([]float64, p.rowCount)
	for r, k := range p.compositionOfRow {
		mean[r], sd[r] = p.heldOutMean[k], p.heldOutSD[k]
	}
	return mean, sd
}
