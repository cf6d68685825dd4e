package model

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"kir/internal/portable"
)

// A Process is a Gaussian process on compositions (Rasmussen and Williams 2006). The numbers of the
// rows are values of a random function, plus noise. The function's covariance is
//
//	k(x, x′) = s·κ(d(x, x′)),  d² = Σ_i (√p_i − √p′_i)²/ℓ_i²,
//
// with the shares p = x/M. With equal lengths ℓ_i, d is proportional to Hellinger's distance, which
// allows zeros and distinguishes a trace from nothing. κ is a [Kernel]. The lengths, s and the
// noise are those of the greatest posterior density under the priors of process_fit.go.
//
// Roots of shares are rounded, so that the mean is constant over stretches of a line (see
// [ProcessScore]). The steps are so fine that held-out errors grow by about 1 %, and finer where an
// ingredient matters more. A Process does not change, so that any number of goroutines may use it.
type Process struct {
	label       string
	ingredients []string
	total       int
	beside      int // as in Data
	options     ProcessOptions
	rows        int // number of rows of the data
	labels      []float64
	group       []int32 // by row of the data: index of its composition in known

	known         [][]Part  // the different compositions of the data
	count         []float64 // by known composition: its number of rows
	means         []float64 // by known composition: the mean of its numbers
	meanVariance  []float64 // by known composition: the variance with which the mean was measured, as a share of scale²; 0 if unknown
	usualVariance float64   // the variance of a new measurement, as a share of scale²
	hasSD         bool      // whether any standard deviation is known; the noise then comes on top

	centre, scale float64 // the mean and the standard deviation of the labels
	hyper         hyperparameters

	grid     []axis    // by ingredient: how its amounts are rounded
	columns  [][]int32 // by ingredient: the step of each known composition; nil if no composition has it
	empty    []int64   // by known composition: the squared distance to the empty composition
	radial   *radial
	cholesky portable.Lower // Cholesky factor of the covariance of the known compositions, noise included
	alpha    []float64      // by known composition: its weight in the mean, times s

	heldOutMean, heldOutSD []float64 // by known composition: its held-out mean and standard deviation

	points sync.Pool

	once  sync.Once // guards the fields below, which only bounds need
	rough *roughness
}

// A Kernel is a correlation as a function of distance.
type Kernel int

const (
	// Matern52 is (1 + √5·d + 5d²/3)·exp(−√5·d), for twice differentiable functions.
	Matern52 Kernel = iota
	// Matern32 is (1 + √3·d)·exp(−√3·d), for once differentiable functions.
	Matern32
	// SquaredExponential is exp(−d²/2), for smooth functions.
	SquaredExponential
)

// String returns the kernel's name in files.
func (k Kernel) String() string {
	return [...]string{"matern 5/2", "matern 3/2", "squared exponential"}[k]
}

// ParseKernel parses the name of a kernel.
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
	// Kernel is Matern52 by default.
	Kernel Kernel
}

// MaxProcessRows is the greatest number of different compositions of a process: fitting takes time
// in proportion to its cube.
const MaxProcessRows = 2000

// An axis defines how the amounts of an ingredient are rounded: the root of its share to steps of
// 1/stepsPerUnit. A squared difference of steps counts weight·2^−distanceBits.
type axis struct {
	stepsPerUnit int64
	weight       int64
	firsts       []int32 // by step: the least amount rounded to the step; last, an amount above the total
}

const (
	distanceBits = 24
	leastSteps   = 64  // least initial number of steps of an axis
	mostSteps    = 256 // greatest number of steps of an axis
	rangeSteps   = 96  // initial number of steps that the rows' amounts span, within mostSteps
	fewestSteps  = 12  // least number of steps that the rows' amounts span

	// roundingShare is the variance that rounding adds, approximately, as a share of the variance
	// of held-out errors. The held-out error grows by half of that share.
	roundingShare = 0.02

	mostWeight = 1 << 32 // bounds sums of squared distances by 2⁶³; a step of this weight has correlation 0
)

// firsts returns the least amount of each step of 1/per: ⌈total·(2l − 1)²/(2·per)²⌉ of
// step l.
func firsts(per int64, total int) []int32 {
	all := make([]int32, per+2)
	bottom := 4 * per * per
	for l := int64(1); l <= per; l++ {
		all[l] = int32((int64(total)*(2*l-1)*(2*l-1) + bottom - 1) / bottom)
	}
	all[per+1] = math.MaxInt32
	return all
}

// step returns the step that an amount is rounded to: the greatest L with
// √(amount/total) ≥ (L − ½)/per.
func (a axis) step(amount int32, total int) int32 {
	if amount <= 0 {
		return 0
	}
	return a.stepFrom(int32(float64(math.Sqrt(float64(amount)/float64(total))*float64(a.stepsPerUnit))+0.5), amount)
}

// stepFrom returns the result of [axis.step], searched from a step nearby.
func (a axis) stepFrom(l, amount int32) int32 {
	l = min(l, int32(a.stepsPerUnit))
	for amount < a.firsts[l] {
		l--
	}
	for amount >= a.firsts[l+1] {
		l++
	}
	return l
}

// squaredDistance returns the squared distance of two steps.
func (a axis) squaredDistance(l, q int32) int64 {
	d := int64(l - q)
	return d * d * a.weight
}

// FitProcess fits a process to numbers. The error describes the fault in the data; it is ctx's if
// ctx ends first.
func FitProcess(ctx context.Context, d *Data, o ProcessOptions) (*Process, error) {
	p, err := newProcess(d, o)
	if err != nil {
		return nil, fmt.Errorf("fitting a Gaussian process: %w", err)
	}
	if p.hyper, err = p.fit(ctx); err != nil {
		return nil, err
	}
	return p, p.precompute(ctx)
}

// newProcess returns a process with its rows, not yet fitted.
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
		label: d.Label, ingredients: slices.Clone(d.Ingredients), total: d.Total, beside: d.Beside,
		options: o, rows: len(d.Rows), labels: slices.Clone(d.Numbers),
	}
	p.groupCompositions(d)
	if len(p.known) > MaxProcessRows {
		return nil, fmt.Errorf("there are %d different compositions, and a process is of %d at most", len(p.known), MaxProcessRows)
	}
	n := float64(len(d.Numbers))
	for _, y := range d.Numbers {
		p.centre += y / n
	}
	for _, y := range d.Numbers {
		p.scale += float64((y-p.centre)*(y-p.centre)) / n
	}
	if p.scale = math.Sqrt(p.scale); p.scale == 0 {
		p.scale = 1
	}
	p.setMeasurementSD(d.SD)
	return p, nil
}

// setMeasurementSD stores the standard deviations of the rows' measurements. A row without one gets
// the median of the others, as does a new measurement.
func (p *Process) setMeasurementSD(sd []float64) {
	p.meanVariance = make([]float64, len(p.known))
	known := slices.Sorted(slices.Values(sd))
	known = slices.DeleteFunc(known, math.IsNaN)
	if len(known) == 0 {
		return
	}
	middle := known[len(known)/2] / p.scale
	p.usualVariance = float64(middle * middle)
	p.hasSD = middle > 0
	for r, k := range p.group {
		share := p.usualVariance
		if v := sd[r] / p.scale; !math.IsNaN(v) {
			share = float64(v * v)
		}
		p.meanVariance[k] += share / float64(p.count[k]*p.count[k])
	}
}

// groupCompositions groups the rows by composition.
func (p *Process) groupCompositions(d *Data) {
	index := make(map[string]int32)
	p.group = make([]int32, len(d.Rows))
	for r, row := range d.Rows {
		parts := slices.DeleteFunc(slices.Clone(row), func(part Part) bool { return part.Amount == 0 })
		slices.SortFunc(parts, func(a, b Part) int { return int(a.Ingredient) - int(b.Ingredient) })
		key := fmt.Sprint(parts)
		k, found := index[key]
		if !found {
			k = int32(len(p.known))
			index[key] = k
			p.known = append(p.known, parts)
			p.count = append(p.count, 0)
			p.means = append(p.means, 0)
		}
		p.group[r] = k
		p.count[k]++
		p.means[k] += d.Numbers[r]
	}
	for k := range p.means {
		p.means[k] /= p.count[k]
	}
}

// totalOf returns what an amount of an ingredient is divided by: the total, or [BesideTotal].
func (p *Process) totalOf(i int32) int {
	if int(i) >= len(p.ingredients)-p.beside {
		return BesideTotal
	}
	return p.total
}

// Label returns the name of the predicted quantity.
func (p *Process) Label() string { return p.label }

// Rows returns the number of rows the process was fitted to.
func (p *Process) Rows() int { return p.rows }

// Replicates returns the number of rows whose composition another row has, and the pooled standard
// deviation of their numbers, 0 if there are none.
func (p *Process) Replicates() (rows int, sd float64) {
	squares, free := p.scatter()
	for _, n := range p.count {
		if n > 1 {
			rows += int(n)
		}
	}
	if free > 0 {
		sd = math.Sqrt(squares / free)
	}
	return rows, sd
}

// scatter returns Σ (y − ȳ)² within the compositions, and its degrees of freedom.
func (p *Process) scatter() (squares, free float64) {
	for r, k := range p.group {
		gap := p.labels[r] - p.means[k]
		squares += float64(gap * gap)
	}
	for _, n := range p.count {
		free += n - 1
	}
	return squares, free
}

// Noise returns the standard deviation of the noise, in the label's unit: how much the process
// expects the numbers of one composition to differ.
func (p *Process) Noise() float64 {
	return float64(p.scale * math.Sqrt(exp(p.hyper.noise)+p.usualVariance))
}

// Lengths returns the length of each ingredient: the change of the root of its share that makes the
// number nearly independent. Ingredients that no row has get the common length.
func (p *Process) Lengths() []float64 {
	lengths := make([]float64, len(p.ingredients))
	for i := range lengths {
		lengths[i] = exp(p.hyper.length + p.hyper.logLengthRatios[i])
	}
	return lengths
}

// precompute computes the parts of predictions that depend only on the rows and the
// hyperparameters. It first rounds amounts finely to learn how much each ingredient matters, and
// then as coarsely as that allows: a line takes time in proportion to the steps along it.
func (p *Process) precompute(ctx context.Context) error {
	p.radial = newRadial(p.options.Kernel)
	if err := p.precomputeWith(ctx, p.initialSteps()); err != nil {
		return err
	}
	return p.precomputeWith(ctx, p.coarserSteps())
}

// precomputeWith is precompute with given numbers of steps for the root of each ingredient's share.
func (p *Process) precomputeWith(ctx context.Context, steps []int64) error {
	n := len(p.known)
	p.roundRows(steps)
	p.empty = make([]int64, n)
	for i, column := range p.columns {
		for r, q := range column {
			p.empty[r] += p.grid[i].squaredDistance(0, q)
		}
	}
	s, noise := exp(p.hyper.signal), exp(p.hyper.noise)
	distance := make([]int64, n)
	for jitter := 1e-8; ; jitter = float64(jitter * 10) {
		p.cholesky = portable.NewLower(n)
		for r := range n {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			p.distances(p.known[r], distance)
			row := p.cholesky.Row(r)
			for c := range row {
				row[c] = float64(s * p.radial.at(distance[c]))
			}
			row[r] += noise/p.count[r] + p.meanVariance[r] + float64(jitter*s)
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
		p.alpha[r] = (p.means[r] - p.centre) / p.scale
	}
	p.cholesky.Solve(p.alpha)
	p.predictHeldOut()
	for r := range p.alpha {
		p.alpha[r] = float64(p.alpha[r] * s)
	}
	return nil
}

// initialSteps returns the initial numbers of steps for the roots of shares.
func (p *Process) initialSteps() []int64 {
	steps := make([]int64, len(p.ingredients))
	for i, span := range p.spans() {
		steps[i] = leastSteps
		if span > 0 {
			steps[i] = min(max(steps[i], int64(math.Ceil(rangeSteps/span))), mostSteps)
		}
	}
	return steps
}

// spans returns, for each ingredient, the range of the roots of its shares in the rows.
func (p *Process) spans() []float64 {
	least, most := make([]int32, len(p.ingredients)), make([]int32, len(p.ingredients))
	uses := make([]int, len(p.ingredients))
	for _, parts := range p.known {
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
		if uses[i] < len(p.known) {
			least[i] = 0
		}
		m := float64(p.totalOf(int32(i)))
		spans[i] = math.Sqrt(float64(most[i])/m) - math.Sqrt(float64(least[i])/m)
	}
	return spans
}

// coarserSteps returns numbers of steps that raise the variance of held-out errors by about the
// share roundingShare, divided equally among the ingredients. A value within a step of width 1 is
// off by its slope times a number of variance 1/12.
func (p *Process) coarserSteps() []int64 {
	squares := make([]float64, len(p.ingredients)) // by ingredient: Σ of the squared slopes over the known compositions
	distance := make([]int64, len(p.known))
	for _, parts := range p.known {
		p.distances(parts, distance)
		for _, q := range parts {
			at := p.grid[q.Ingredient].step(q.Amount, p.totalOf(q.Ingredient))
			p.shiftDistances(distance, q.Ingredient, at, at+1)
			above := p.mean(distance)
			p.shiftDistances(distance, q.Ingredient, at+1, at-1)
			slope := float64((above - p.mean(distance)) / 2)
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
	spread := p.heldOutSpread()
	allowed := float64(roundingShare*float64(spread*spread)) * 12 * float64(len(p.known)) / float64(max(active, 1))
	steps := make([]int64, len(p.ingredients))
	for i, span := range p.spans() {
		finest := p.grid[i].stepsPerUnit
		fewest := finest
		if span > 0 {
			fewest = min(int64(math.Ceil(fewestSteps/span)), finest)
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

// roundRows rounds the rows.
func (p *Process) roundRows(steps []int64) {
	p.grid = make([]axis, len(p.ingredients))
	p.columns = make([][]int32, len(p.ingredients))
	lengths := p.Lengths()
	tables := make(map[[2]int64][]int32) // by steps and total
	for i, per := range steps {
		key := [2]int64{per, int64(p.totalOf(int32(i)))}
		if tables[key] == nil {
			tables[key] = firsts(per, int(key[1]))
		}
		apart := 1 / (float64(per) * lengths[i])
		weight := int64(min(math.Round(math.Ldexp(apart*apart, distanceBits)), mostWeight))
		p.grid[i] = axis{per, weight, tables[key]}
	}
	for r, parts := range p.known {
		for _, q := range parts {
			if p.columns[q.Ingredient] == nil {
				p.columns[q.Ingredient] = make([]int32, len(p.known))
			}
			p.columns[q.Ingredient][r] = p.grid[q.Ingredient].step(q.Amount, p.totalOf(q.Ingredient))
		}
	}
}

// distances writes the squared distances of a composition to the known ones.
func (p *Process) distances(parts []Part, to []int64) {
	copy(to, p.empty)
	for _, q := range parts {
		p.shiftDistances(to, q.Ingredient, 0, p.grid[q.Ingredient].step(q.Amount, p.totalOf(q.Ingredient)))
	}
}

// shiftDistances updates distances when an ingredient goes from one step to another.
func (p *Process) shiftDistances(distances []int64, i, from, to int32) {
	if from == to {
		return
	}
	by, slope := p.grid[i].distanceChange(from, to)
	column := p.columns[i]
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

// distanceChange returns the change of the squared distance from a step q when the other step
// changes: by − slope·q.
func (a axis) distanceChange(from, to int32) (by, slope int64) {
	f, t := int64(from), int64(to)
	return (t*t - f*f) * a.weight, 2 * (t - f) * a.weight
}

// predictHeldOut computes the prediction for each known composition without its rows (Rasmussen and
// Williams 2006, equation 5.12), with the hyperparameters of all rows.
func (p *Process) predictHeldOut() {
	inverse := p.cholesky.Inverse()
	p.heldOutMean, p.heldOutSD = make([]float64, len(p.known)), make([]float64, len(p.known))
	for r := range p.known {
		precision := inverse.Row(r)[r]
		p.heldOutMean[r] = p.means[r] - float64(p.scale*(p.alpha[r]/precision))
		p.heldOutSD[r] = p.heldOutDeviation(r, 1/precision)
	}
	p.leaveOutGroups(inverse)
}

// heldOutDeviation returns the standard deviation of one row of known composition r, given the variance
// of the mean of its rows. That mean has the noise of several rows.
func (p *Process) heldOutDeviation(r int, variance float64) float64 {
	noise := exp(p.hyper.noise)
	measured := float64(p.meanVariance[r] * p.count[r]) // measurement variance of a single row
	return float64(p.scale * math.Sqrt(max(variance-noise/p.count[r]-p.meanVariance[r], 0)+noise+measured))
}

// leaveOutGroups is leaveOut for known compositions that differ in what stands beside them alone: such
// a group G is left out together. With A the inverse of the covariance, its residuals are
// A_GG⁻¹·(A·y)_G, of covariance A_GG⁻¹.
func (p *Process) leaveOutGroups(inverse portable.Lower) {
	of, count := rowGroups(p.known, len(p.ingredients)-p.beside, p.beside)
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
			p.heldOutMean[r] = p.means[r] - float64(p.scale*left[a])
			p.heldOutSD[r] = p.heldOutDeviation(r, variances.Row(a)[a])
		}
	}
}

// mean returns the mean, given the squared distances to the known compositions. It sums in four
// lanes, as dot does.
func (p *Process) mean(distances []int64) float64 {
	var s [4]float64
	t, alpha := p.radial, p.alpha[:len(distances)]
	r := 0
	for ; r+4 <= len(distances); r += 4 {
		s[0] += float64(alpha[r] * t.at(distances[r]))
		s[1] += float64(alpha[r+1] * t.at(distances[r+1]))
		s[2] += float64(alpha[r+2] * t.at(distances[r+2]))
		s[3] += float64(alpha[r+3] * t.at(distances[r+3]))
	}
	for ; r < len(distances); r++ {
		s[0] += float64(alpha[r] * t.at(distances[r]))
	}
	return p.meanOf(s)
}

// meanOf returns the mean, given the sums of the four lanes.
func (p *Process) meanOf(s [4]float64) float64 {
	return p.centre + float64(p.scale*((s[0]+s[1])+(s[2]+s[3])))
}

// shiftMean combines shiftDistances and mean.
func (p *Process) shiftMean(distances []int64, i, from, to int32) float64 {
	column := p.columns[i]
	if column == nil || from == to {
		p.shiftDistances(distances, i, from, to)
		return p.mean(distances)
	}
	by, slope := p.grid[i].distanceChange(from, to)
	var s [4]float64
	t, alpha := p.radial, p.alpha[:len(distances)]
	column = column[:len(distances)]
	r := 0
	for ; r+4 <= len(distances); r += 4 {
		d0 := distances[r] + by - slope*int64(column[r])
		d1 := distances[r+1] + by - slope*int64(column[r+1])
		d2 := distances[r+2] + by - slope*int64(column[r+2])
		d3 := distances[r+3] + by - slope*int64(column[r+3])
		distances[r], distances[r+1], distances[r+2], distances[r+3] = d0, d1, d2, d3
		s[0] += float64(alpha[r] * t.at(d0))
		s[1] += float64(alpha[r+1] * t.at(d1))
		s[2] += float64(alpha[r+2] * t.at(d2))
		s[3] += float64(alpha[r+3] * t.at(d3))
	}
	for ; r < len(distances); r++ {
		distances[r] += by - slope*int64(column[r])
		s[0] += float64(alpha[r] * t.at(distances[r]))
	}
	return p.meanOf(s)
}

// Mean returns the expected label at the dense composition x.
func (p *Process) Mean(x []int32) float64 {
	d := make([]int64, len(p.known))
	p.distances(Parts(x), d)
	return p.mean(d)
}

// Predict returns the expected label at the dense composition x and the standard deviation of a new
// measurement there, noise included. The standard deviation is large where the dataset has nothing
// near.
func (p *Process) Predict(x []int32) (mean, sd float64) {
	d := make([]int64, len(p.known))
	p.distances(Parts(x), d)
	s := exp(p.hyper.signal)
	k := make([]float64, len(d))
	for r := range k {
		k[r] = float64(s * p.radial.at(d[r]))
	}
	p.cholesky.Forward(k)
	variance := max(s-portable.Dot(k, k), 0) + exp(p.hyper.noise) + p.usualVariance
	return p.mean(d), float64(p.scale * math.Sqrt(variance))
}

// Law returns the law of a new measurement at the dense composition x.
func (p *Process) Law(x []int32) Law { return normalLaw(p.Predict(x)) }

// HeldOut returns, for each row of the data, the prediction without the rows of its composition:
// the mean, and the standard deviation of a measurement.
func (p *Process) HeldOut() (mean, sd []float64) {
	mean, sd = make([]float64, p.rows), make([]float64, p.rows)
	for r, k := range p.group {
		mean[r], sd[r] = p.heldOutMean[k], p.heldOutSD[k]
	}
	return mean, sd
}
