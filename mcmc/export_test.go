package mcmc

import (
	"fmt"
	"math"
	"slices"
)

// UncheckedAccelerated returns the kernel without looking whether it can reach
// everything that the target allows.
func UncheckedAccelerated(t *Target) Kernel { return &acceleratedKernel{t} }

// UncheckedGibbs is as UncheckedAccelerated.
func UncheckedGibbs(t *Target) Kernel { return &gibbsKernel{t} }

// RuleScorer returns the scorer of a space's rules.
func RuleScorer(s *Space, x *Composition) Scorer { return s.rules.Scorer(x) }

// Along returns by how many steps of d among of, from the first with no amount below
// 0 on, the rules are kept, and where x stands among them.
func Along(s *Space, x *Composition, of []int32, d []int64) (kept []bool, here int) {
	one := ingredientStep{size: len(of)}
	copy(one.ingredients[:], of)
	copy(one.changes[:], d)
	from, to := x.stepNumberRange(&one)
	scorer := s.rules.scorer(x)
	scorer.Reset()
	var p PiecewiseConstant
	scorer.scoreSteps(&one, from, to, &p)
	for k := range p.values {
		end := int32(to - from + 1)
		if k+1 < len(p.starts) {
			end = p.starts[k+1]
		}
		for int32(len(kept)) < end {
			kept = append(kept, p.values[k] == 0)
		}
	}
	return kept, -from
}

// Basis is the lattice of these factors among the ingredients that they have.
func Basis(factors [][]int64) [][]int64 {
	of := make([]int32, len(factors[0]))
	for i := range of {
		of[i] = int32(i)
	}
	vectors, count := (&lattice{factors}).changeBasis(of)
	basis := make([][]int64, count)
	for k := range basis {
		basis[k] = vectors[k][:len(of)]
	}
	return basis
}

// Pair is Rand.pair.
func (r *Rand) Pair(n, m int) (a, b int) { return r.intnPair(n, m) }

// Split is Rand.split.
func (r *Rand) Split(end, inner float64, s int) int {
	law := newLineLaw(end, inner)
	return r.drawSplit(&law, s)
}

// CutsInBuckets and CutsInBits return a uniform subset of 1..gaps by either
// method.
func CutsInBuckets(r *Rand, size, gaps int) []int32 {
	var c cutSet
	c.resetAsBuckets(size, gaps)
	return c.draw(r, size, gaps)
}

// CutsInBits is as CutsInBuckets.
func CutsInBits(r *Rand, size, gaps int) []int32 {
	var c cutSet
	c.resetAsBits(gaps)
	return c.draw(r, size, gaps)
}

func (c *cutSet) draw(r *Rand, size, gaps int) []int32 {
	for top := gaps - size; top < gaps; top++ {
		c.add(r.Intn(top+1), top)
	}
	list, amounts := make([]int32, size+1), make([]int32, size+1)
	for k := range list {
		list[k] = int32(k)
	}
	c.divideUnits(list, amounts, gaps+1)
	for k := range size {
		amounts[k+1] += amounts[k]
	}
	return amounts[:size]
}

// Consistent says what is wrong with how a composition keeps its books.
func (x *Composition) Consistent() error {
	sum := 0
	for p, i := range x.used {
		if len(x.used) > maxScannedUsed && x.positions[i] != int32(p) {
			return fmt.Errorf("ingredient %d stands at %d, which says %d", i, p, x.positions[i])
		}
		if x.amounts[i] <= 0 {
			return fmt.Errorf("ingredient %d is used and has %d units", i, x.amounts[i])
		}
		sum += int(x.amounts[i])
	}
	all := 0
	for _, a := range x.amounts {
		all += int(a)
	}
	if sum != x.total || all != x.total || len(x.used) != len(slices.Compact(slices.Sorted(slices.Values(x.used)))) {
		return fmt.Errorf("the amounts sum to %d, those listed to %d and the total is %d; %v are listed", all, sum, x.total, x.used)
	}
	return nil
}

// Teach gives a state the memory of having met these compositions.
func Teach(x *State, met ...*Composition) {
	if x.memory == nil {
		x.memory = &warmupMemory{}
	}
	var all stateList
	for _, c := range met {
		all.addComposition(c)
	}
	x.memory.learnFrom(x.target, &all)
	x.logRecallCached = false
}

// Replicas is a ladder that tests set up and move by themselves.
type Replicas struct {
	l     *replicas
	tally Tally // of their moves
}

// NewReplicas returns the replicas of a target at the given β, from 0 to 1,
// each of which makes so many moves in a scan.
func NewReplicas(t *Target, betas []float64, moves int) (*Replicas, error) {
	k, err := NewTempered(t)
	if err != nil {
		return nil, err
	}
	k.movesPerScan = moves
	l := &replicas{kernel: k}
	for _, beta := range betas {
		x := newState(t, newComposition(t.space.ingredients))
		x.beta = beta
		l.rungs = append(l.rungs, rung{state: x})
		if beta > 1 {
			l.peakCount++
		}
	}
	l.firstLegSums.reset(l.stepCount())
	return &Replicas{l: l}, nil
}

// Learn adds a learnt leg of the given β, from 0 up to below 1, which begins at the
// reference of what was met.
func (p *Replicas) Learn(f *Reference, betas ...float64) error {
	p.l.reference = f.f
	return p.l.rebuildLearntLeg(append(slices.Clone(betas), 1), make([]float64, len(betas)+1))
}

// A Reference is what the learnt leg of a ladder begins at.
type Reference struct {
	f *referenceLaw
	t *Target
}

// NewReference returns the reference of what was met, from which draws are tried so
// often; nil where it is not made.
func NewReference(t *Target, tries int, met ...*Composition) *Reference {
	var all stateList
	for _, c := range met {
		all.addComposition(c)
	}
	if f := newReferenceLaw(t, &all, tries); f != nil {
		return &Reference{f, t}
	}
	return nil
}

// State returns a state of the leg.
func (f *Reference) State(beta float64) *State {
	x := newState(f.t, newComposition(f.t.space.ingredients))
	x.beta, x.memory = beta, f.f.copyMemory()
	return x
}

// Log returns the log of the reference's density.
func (f *Reference) Log(c *Composition) float64 { return f.f.logProbability(f.State(0), c) }

// Move moves a state of the leg.
func (f *Reference) Move(r *Rand, x *State) error { return f.f.move(r, x) }

// Kept says whether the density that a state keeps is the reference's.
func (f *Reference) Kept(x *State) error {
	kept := x.cachedLogRecall
	if !x.logRecallCached {
		return nil
	}
	x.logRecallCached = false
	if want := f.f.logProbability(x, x.Composition); math.Abs(kept-want) > 1e-9 {
		return fmt.Errorf("the log density %v is kept of %v, which has %v", kept, x.Composition, want)
	}
	return nil
}

// Kept says whether the densities that replicas keep are right.
func (p *Replicas) Kept() error {
	for k := range p.l.rungs {
		x := p.State(k)
		if k >= len(p.l.rungs)-p.l.learntRungCount {
			if err := (&Reference{f: p.l.reference}).Kept(x); err != nil {
				return err
			}
		} else if x.logRecallCached {
			if want := x.logRecallWeight(x.Composition, x.memory.divideAmounts(nil, nil, x.Composition)); math.Abs(want-x.cachedLogRecall) > 1e-9 {
				return fmt.Errorf("replica %d keeps the log weight %v of %v, which has %v", k, x.cachedLogRecall, x.Composition, want)
			}
		}
	}
	return nil
}

// State returns one of the replicas' states.
func (p *Replicas) State(k int) *State { return p.l.rungs[k].state }

// Set puts a replica at a composition.
func (p *Replicas) Set(k int, x *Composition) error {
	p.State(k).Composition.CopyFrom(x)
	return p.State(k).Refresh()
}

// Move moves one replica as a scan does.
func (p *Replicas) Move(r *Rand, k int) error {
	p.l.rungs[k].rand = r
	return p.l.moveReplica(k, false, &p.tally)
}

// Swap makes the swaps of a scan.
func (p *Replicas) Swap(r *Rand, parity int64) {
	p.l.scanCount = parity
	p.l.swapNeighbours(r)
}

// Space spaces the ladder anew after scans in which each step was rejected that
// often, and returns how many rungs it has up to β = 1.
func (p *Replicas) Space(rejected float64) (rungs int, err error) {
	s := &p.l.firstLegSums
	s.scanCount = 100
	for k := range s.rejectionSums {
		s.rejectionSums[k] = rejected * 100
	}
	err = p.l.endRound()
	return p.l.stepCount() + 1, err
}

// SetMoves sets how many moves each replica of a tempered kernel makes in a
// scan.
func (t *Tempered) SetMoves(moves int) { t.movesPerScan = moves }

// DrawLine draws a split of the line of (i, j), on which an end k = 0, an end of all
// units and a split between weigh so much, the last times e^shift: by its law, or
// another one than where x is, as balanced does. x stays where it is.
func DrawLine(r *Rand, x *State, i, j int, zero, full, inner, shift float64, another bool) (int, error) {
	law := splitLaw{zero, full, inner, shift}
	if !another {
		k, _, err := x.drawSplit(r, i, j, &law)
		return k, err
	}
	was := x.Composition.Amount(i)
	if _, err := x.moveToAnotherSplitByEnvelope(r, i, j, &law); err != nil {
		return 0, err
	}
	k := x.Composition.Amount(i)
	return k, x.moveToSplit(i, j, was, math.NaN())
}

// IsCurved says whether lines of a sum are drawn from by an envelope, and whether the
// last one was in the end weighed split by split.
func IsCurved(x *State, r *Rand, s int) (curved, plain bool) {
	return x.usesEnvelope(r, s), x.envelope.mustWeighAllSplits
}

// SetBetas sets the ladder of a tempered chain whose number of replicas fits.
func (c *Chain) SetBetas(betas ...float64) {
	for k, x := range c.mover.recordingStates() {
		x.beta = betas[k]
	}
}

// MoveAtOnce lets so many replicas of a tempered chain move at once, however
// little time a scan takes.
func (c *Chain) MoveAtOnce(workers int) {
	l := c.mover.(*replicas)
	l.workers, l.timedScanCount, l.timedDuration = workers, timedScans, timedScans*minParallelScanTime
}

// SetBeta sets the power to which a state's properties are raised.
func SetBeta(x *State, beta float64) { x.beta = beta }

// RecallCandidate returns a candidate of recall and the probability of it, nil if it is
// none. It is NaN if it is another one for whom did not draw the candidate.
func RecallCandidate(x *State, r *Rand) (*Composition, float64) {
	y := x.candidateComposition()
	if !x.drawIngredients(r, y) {
		return nil, 0
	}
	p := x.memory.divideAmounts(r, &x.drawer.uniformDrawer, y)
	if p != x.memory.divideAmounts(nil, nil, y) {
		return y, math.NaN()
	}
	return y, math.Exp(p.timesProduct(x.ingredientsProbability(y)).log())
}

// LogProduct returns the log of a product of factors, as recall keeps its probability.
func LogProduct(factors ...float64) float64 { return productOf(factors).log() }

// LogProducts returns the logs of the product and of the sum of two of them.
func LogProducts(a, b []float64) (and, plus float64) {
	p, q := productOf(a), productOf(b)
	return p.timesProduct(q).log(), p.plus(q).log()
}

func productOf(factors []float64) smallProduct {
	p := unitProduct()
	for _, f := range factors {
		p.multiply(f)
	}
	return p
}
