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
// function is
//
//	k(x, x′) = s·κ(d(x, x′)),  d² = Σ_i (√p_i − √p′_i)²/ℓ_i².
//
// Here p = x/M are the shares of the ingredients in a composition of total M, κ is a [Kernel], and
// ℓ_i is the length scale of ingredient i. If all ℓ_i are equal, d is proportional to Hellinger's
// distance. This distance allows shares of zero, and distinguishes a trace of an ingredient from
// its absence. The length scales, s and the noise are those of the greatest posterior density,
// under the priors that process_fit.go defines.
//
// The square roots of shares are rounded to steps, so that the mean is constant over stretches of a
// line (see [ProcessScore]). The rounding raises held-out errors by about 1 %. The steps are finer
// for ingredients that matter more. A Process does not change, so that any number of goroutines may
// use it.
type Process struct {
	label            string
	ingredients      []string
	totalAmount      int // the sum of the amounts of a composition
	besideCount      int // number of ingredients that stand beside the composition: see [Data.Beside]
	options          ProcessOptions
	rowCount         int       // number of rows of the data
	labels           []float64 // by row: the numeric label
	compositionOfRow []int32   // by row: the index of the row's composition in compositions

	compositions           [][]Part  // the different compositions of the data
	rowCounts              []float64 // by composition: the number of its rows
	meanLabels             []float64 // by composition: the mean label of its rows
	meanVariances          []float64 // by composition: the measurement variance of the mean label, as a share of labelSD²; 0 if unknown
	newMeasurementVariance float64   // the measurement variance of a new row, as a share of labelSD²
	hasSD                  bool      // whether any measurement has a known standard deviation; the fitted noise is then in addition to it

	labelMean, labelSD float64 // mean and standard deviation of the labels
	hyperparameters    hyperparameters

	roundings      []shareRounding          // by ingredient: how its amounts are rounded
	stepColumns    [][]int32                // by ingredient, then composition: the step to which the amount is rounded; nil if no composition has the ingredient
	emptyDistances []int64                  // by composition: the squared distance to the composition in which all amounts are 0
	kernelTable    *kernelTable             // the kernel as a function of the squared distance
	cholesky       portable.LowerTriangular // Cholesky factor of the covariance of the compositions, noise included
	alpha          []float64                // by composition: the factor of κ in the mean, in units of labelSD

	heldOutMean, heldOutSD []float64 // by composition: mean and standard deviation of the prediction without its rows

	distancePool sync.Pool // a pool of *[]int64: squared distances to all compositions

	roughnessOnce sync.Once  // guards meanRoughness
	meanRoughness *roughness // computed at the first use
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

// MaxProcessCompositions is the greatest number n of different compositions of a process. The time to fit a
// process is proportional to n³.
const MaxProcessCompositions = 2000

// A shareRounding defines how the amounts of an ingredient are rounded. The square root of the
// ingredient's share is rounded to a multiple of 1/stepsPerUnit, and the step is the number of that
// multiple. Two steps at a difference of n contribute n²·weight·2^−distanceBits to the squared
// distance of two compositions.
type shareRounding struct {
	stepsPerUnit int64   // number of steps from a share of 0 to a share of 1
	weight       int64   // factor of a squared difference of steps, in units of 2^−distanceBits
	leastAmounts []int32 // by step: the least amount that is rounded to the step; the last element exceeds every amount
}

const (
	distanceBits      = 24  // squared distances are whole numbers in units of 2^−distanceBits
	minInitialSteps   = 64  // least initial number of steps of an ingredient
	maxSteps          = 256 // greatest number of steps of an ingredient
	initialRangeSteps = 96  // initial number of steps between the least and the greatest amount of an ingredient in the rows, unless maxSteps is exceeded
	minRangeSteps     = 12  // least number of steps between the least and the greatest amount of an ingredient in the rows

	// roundingShare is the approximate variance that rounding adds, as a share of the variance of
	// held-out errors. The held-out error grows by half of this share.
	roundingShare = 0.02

	maxStepWeight = 1 << 32 // limits sums of squared distances to 2⁶³; steps of this weight make compositions uncorrelated
)

// leastAmountsOfSteps returns, for each step of 1/per, the least amount that is rounded to the
// step. For step l it is ⌈total·(2l − 1)²/(2·per)²⌉. The last element exceeds every amount.
func leastAmountsOfSteps(per int64, total int) []int32 {
	all := make([]int32, per+2)
	bottom := 4 * per * per
	for l := int64(1); l <= per; l++ {
		all[l] = int32((int64(total)*(2*l-1)*(2*l-1) + bottom - 1) / bottom)
	}
	all[per+1] = math.MaxInt32
	return all
}

// roundToStep returns the step to which an amount is rounded: the greatest L with √(amount/total) ≥ (L −
// ½)/stepsPerUnit.
func (a shareRounding) roundToStep(amount int32, total int) int32 {
	if amount <= 0 {
		return 0
	}
	return a.roundToStepFrom(int32(float64(math.Sqrt(float64(amount)/float64(total))*float64(a.stepsPerUnit))+0.5), amount)
}

// roundToStepFrom returns the step to which an amount is rounded. It searches from step l, and is fast if
// the result is near l.
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

// squaredDistance returns the contribution of an ingredient with the steps l and q to the squared
// distance of two compositions.
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

// newProcess returns a process with the rows of the data, before any hyperparameters are fitted.
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

// setMeasurementSD stores the measurement variances that follow from sd, the standard deviation of
// each row's measurement. A row without a standard deviation gets the median of the others. A new
// measurement also gets the median.
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

// groupCompositions sets the different compositions of the rows, with the number of rows and the
// mean label of each.
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

// amountDivisor returns the number by which an amount of ingredient i is divided to give a share.
// It is the total of a composition, or [MaxBesideAmount] for an ingredient beside the composition.
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

// Replicates returns the number of rows whose composition at least one other row has. It also
// returns the pooled standard deviation of the labels of equal compositions, or 0 if there are no
// such rows.
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

// Noise returns the standard deviation of the noise, in the unit of the label. By the noise, the
// process expects the labels of equal compositions to differ.
func (p *Process) Noise() float64 {
	return float64(p.labelSD * math.Sqrt(exp(p.hyperparameters.logNoise)+p.newMeasurementVariance))
}

// Lengths returns the length scale of each ingredient. If the square root of an ingredient's share
// changes by a length scale, the label becomes nearly independent. An ingredient that no row has
// gets the common length scale.
func (p *Process) Lengths() []float64 {
	lengths := make([]float64, len(p.ingredients))
	for i := range lengths {
		lengths[i] = exp(p.hyperparameters.logLength + p.hyperparameters.logLengthRatios[i])
	}
	return lengths
}

// precompute computes the parts of predictions that depend only on the rows and the
// hyperparameters. It first rounds amounts finely, to learn how much each ingredient matters. It
// then rounds the amounts as coarsely as the allowed error permits, because the time to score a
// line is proportional to the number of steps along the line.
func (p *Process) precompute(ctx context.Context) error {
	p.kernelTable = newKernelTable(p.options.Kernel)
	if err := p.precomputeWithSteps(ctx, p.initialSteps()); err != nil {
		return err
	}
	return p.precomputeWithSteps(ctx, p.coarserSteps())
}

// precomputeWithSteps does the work of [Process.precompute] with the given number of steps for each
// ingredient.
func (p *Process) precomputeWithSteps(ctx context.Context, steps []int64) error {
	n := len(p.compositions)
	p.roundRows(steps)
	p.emptyDistances = make([]int64, n)
	for i, column := range p.stepColumns {
		for r, q := range column {
			p.emptyDistances[r] += p.roundings[i].squaredDistance(0, q)
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

// initialSteps returns the number of steps of each ingredient for the first, fine rounding.
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

// rootShareSpans returns, for each ingredient, the difference between the greatest and the least
// square root of its share in the rows.
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

// coarserSteps returns the number of steps of each ingredient for the second, coarse rounding. The
// rounding raises the variance of held-out errors by about the share roundingShare, which is
// divided equally among the ingredients. The rounding error of a value is its slope times a number
// that is uniform over a step of width 1, with variance 1/12.
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

// roundRows sets the roundings to the given numbers of steps, and rounds the amounts of all
// compositions of the data.
func (p *Process) roundRows(steps []int64) {
	p.roundings = make([]shareRounding, len(p.ingredients))
	p.stepColumns = make([][]int32, len(p.ingredients))
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
			if p.stepColumns[q.Ingredient] == nil {
				p.stepColumns[q.Ingredient] = make([]int32, len(p.compositions))
			}
			p.stepColumns[q.Ingredient][r] = p.roundings[q.Ingredient].roundToStep(q.Amount, p.amountDivisor(q.Ingredient))
		}
	}
}

// writeDistances writes the squared distances between the composition with the given parts and all
// compositions of the data.
func (p *Process) writeDistances(parts []Part, to []int64) {
	copy(to, p.emptyDistances)
	for _, q := range parts {
		p.shiftDistances(to, q.Ingredient, 0, p.roundings[q.Ingredient].roundToStep(q.Amount, p.amountDivisor(q.Ingredient)))
	}
}

// shiftDistances updates the squared distances to all compositions of the data when ingredient i
// goes from one step to another.
func (p *Process) shiftDistances(distances []int64, i, from, to int32) {
	if from == to {
		return
	}
	by, slope := p.roundings[i].distanceChange(from, to)
	column := p.stepColumns[i]
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

// distanceChange returns by and slope: if an ingredient goes from one step to another, the squared
// distance to a composition with step q changes by by − slope·q.
func (a shareRounding) distanceChange(from, to int32) (by, slope int64) {
	f, t := int64(from), int64(to)
	return (t*t - f*f) * a.weight, 2 * (t - f) * a.weight
}

// predictHeldOut computes the prediction for each composition of the data without the rows of the
// composition (Rasmussen and Williams 2006, equation 5.12). The hyperparameters remain those that
// were fitted to all rows.
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

// heldOutDeviation returns the standard deviation of the held-out prediction for a single row of
// composition r. The parameter variance is the held-out variance of the mean label of the
// composition's rows. A mean of several rows has less noise than a single row.
func (p *Process) heldOutDeviation(r int, variance float64) float64 {
	noise := exp(p.hyperparameters.logNoise)
	measured := float64(p.meanVariances[r] * p.rowCounts[r]) // measurement variance of a single row
	return float64(p.labelSD * math.Sqrt(max(variance-noise/p.rowCounts[r]-p.meanVariances[r], 0)+noise+measured))
}

// leaveOutGroups corrects the held-out predictions for compositions that differ only in ingredients
// beside the composition. All compositions of such a group G are left out together. Let A be the
// inverse of the covariance. The residuals of the group are then A_GG⁻¹·(A·y)_G, with covariance
// A_GG⁻¹.
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

// meanAtDistances returns the expected label of a composition, given its squared distances to all
// compositions of the data. It adds in four independent sums, for speed.
func (p *Process) meanAtDistances(distances []int64) float64 {
	var s [4]float64
	t, alpha := p.kernelTable, p.alpha[:len(distances)]
	r := 0
	for ; r+4 <= len(distances); r += 4 {
		s[0] += float64(alpha[r] * t.correlationAt(distances[r]))
		s[1] += float64(alpha[r+1] * t.correlationAt(distances[r+1]))
		s[2] += float64(alpha[r+2] * t.correlationAt(distances[r+2]))
		s[3] += float64(alpha[r+3] * t.correlationAt(distances[r+3]))
	}
	for ; r < len(distances); r++ {
		s[0] += float64(alpha[r] * t.correlationAt(distances[r]))
	}
	return p.meanOfLanes(s)
}

// meanOfLanes returns the expected label, given the four sums of [Process.meanAtDistances].
func (p *Process) meanOfLanes(s [4]float64) float64 {
	return p.labelMean + float64(p.labelSD*((s[0]+s[1])+(s[2]+s[3])))
}

// shiftDistancesAndMean does the work of [Process.shiftDistances] and returns the result of
// [Process.meanAtDistances].
func (p *Process) shiftDistancesAndMean(distances []int64, i, from, to int32) float64 {
	column := p.stepColumns[i]
	if column == nil || from == to {
		p.shiftDistances(distances, i, from, to)
		return p.meanAtDistances(distances)
	}
	by, slope := p.roundings[i].distanceChange(from, to)
	var s [4]float64
	t, alpha := p.kernelTable, p.alpha[:len(distances)]
	column = column[:len(distances)]
	r := 0
	for ; r+4 <= len(distances); r += 4 {
		d0 := distances[r] + by - slope*int64(column[r])
		d1 := distances[r+1] + by - slope*int64(column[r+1])
		d2 := distances[r+2] + by - slope*int64(column[r+2])
		d3 := distances[r+3] + by - slope*int64(column[r+3])
		distances[r], distances[r+1], distances[r+2], distances[r+3] = d0, d1, d2, d3
		s[0] += float64(alpha[r] * t.correlationAt(d0))
		s[1] += float64(alpha[r+1] * t.correlationAt(d1))
		s[2] += float64(alpha[r+2] * t.correlationAt(d2))
		s[3] += float64(alpha[r+3] * t.correlationAt(d3))
	}
	for ; r < len(distances); r++ {
		distances[r] += by - slope*int64(column[r])
		s[0] += float64(alpha[r] * t.correlationAt(distances[r]))
	}
	return p.meanOfLanes(s)
}

// Mean returns the expected label for the dense composition x.
func (p *Process) Mean(x []int32) float64 {
	d := make([]int64, len(p.compositions))
	p.writeDistances(PositiveParts(x), d)
	return p.meanAtDistances(d)
}

// Predict returns the expected label for the dense composition x, and the standard deviation of a
// new measurement there, noise included. The standard deviation is large where the dataset has no
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
func (p *Process) Law(x []int32) Distribution { return normalLaw(p.Predict(x)) }

// HeldOut returns, for each row of the data, the prediction without any row of the same
// composition. The results are the mean and the standard deviation of a measurement.
func (p *Process) HeldOut() (mean, sd []float64) {
	mean, sd = make([]float64, p.rowCount), make([]float64, p.rowCount)
	for r, k := range p.compositionOfRow {
		mean[r], sd[r] = p.heldOutMean[k], p.heldOutSD[k]
	}
	return mean, sd
}
