package mcmc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/constraint/volume"
)

// A Prior draws independent random compositions that keep every rule but ignore the objectives. The
// number of ingredients of a draw follows the sparsity law of a target. A Prior may be used by one
// goroutine only.
type Prior struct {
	target    *Target
	drawer    spaceDrawer  // draws compositions that keep the countable rules but may break others
	lastDraw  *Composition // the last draw
	lastParts []Part       // scratch memory: the ingredients and amounts of lastDraw, for checking rules

	casePriors []*Prior // casePriors[k] draws compositions of case k of the conditions, into the same lastDraw; nil if there are no cases

	// measuredWalk draws compositions whose share of all compositions was measured. It is nil if
	// nothing was measured.
	measuredWalk *volume.Walk
	lastWalkDraw volume.Composition // the last draw of measuredWalk
}

// NewPrior returns a prior whose number of ingredients follows the sparsity law of the target.
func NewPrior(t *Target) *Prior {
	p := &Prior{target: t, lastDraw: newComposition(t.space.ingredients)}
	p.drawer = t.space.newDrawer()
	if t.space.rules != nil && t.space.rules.measurement != nil {
		p.measuredWalk = t.space.rules.measurement.Walk()
	}
	if c := t.space.conditions; c.hasCases() {
		p.casePriors = make([]*Prior, len(c.caseSpaces))
		for k, space := range c.caseSpaces {
			if space == nil {
				continue
			}
			p.casePriors[k] = NewPrior(&Target{space: space})
			p.casePriors[k].lastDraw = p.lastDraw
		}
	}
	return p
}

// minRejectionShare decides how [Prior.Draw] keeps the rules that cannot be counted. If at least
// this share of compositions keeps these rules, Draw repeats draws until one keeps them. If the
// share is smaller and was measured, Draw uses the measurement.
const minRejectionShare = 0.02

// Draw returns a random composition, valid until the next call. It draws the number n of
// ingredients from the sparsity law, and then a composition uniformly among the compositions of n
// ingredients that keep all rules.
//
// If some rules cannot be counted, Draw repeats until a composition keeps them. If fewer than one
// composition in 50 keeps them and their share was measured, it draws with the help of the
// compositions that the measurement found: see [volume.Walk.Draw].
func (p *Prior) Draw(r *Rand) (*Composition, error) {
	return p.drawOfSize(r, p.target.law.draw(r))
}

// DrawsToScore returns an iterator of count draws by [Prior.Draw], each valid until the next. The
// caller scores them: every [BatchProperty] of the target gets several draws in advance. The iterator
// ends after the first error, which may be the error of ctx. Only the iterator may use r until then.
func (p *Prior) DrawsToScore(ctx context.Context, r *Rand, count int) iter.Seq2[*Composition, error] {
	return func(yield func(*Composition, error) bool) {
		ahead := 1
		if p.target.HasBatchProperty() {
			ahead = prefetchCount
		}
		for left := count; left > 0; left -= ahead {
			var drawn []*Composition
			var err error
			for range min(ahead, left) {
				if err = browsersched.Err(ctx); err != nil {
					break
				}
				var x *Composition
				if x, err = p.Draw(r); err != nil {
					break
				}
				if ahead > 1 {
					x = x.Clone() // the next draw overwrites x
				}
				drawn = append(drawn, x)
			}
			for _, w := range p.target.objectives {
				if batch, ok := w.Property.(BatchProperty); ok && w.Weight > 0 {
					batch.Prefetch(drawn)
				}
			}
			for _, x := range drawn {
				if !yield(x, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// drawOfSize is [Prior.Draw] with a given number n of ingredients.
func (p *Prior) drawOfSize(r *Rand, n int) (*Composition, error) {
	t := p.target
	if p.casePriors != nil {
		k := t.space.conditions.keptCaseLaws[n].draw(r)
		if _, err := p.casePriors[k].drawOfSize(r, n); err != nil {
			return nil, err
		}
		t.space.conditions.drawWithinCase(r, p.lastDraw, k)
		return p.lastDraw, nil
	}
	if p.measuredWalk != nil && t.space.rules.measuredSizeIndices[n] >= 0 && t.space.rules.uncountedRuleShares[n-1].Estimate < minRejectionShare {
		p.measuredWalk.Draw(r, t.space.rules.measuredSizeIndices[n], &p.lastWalkDraw)
		p.lastDraw.clear()
		for k, i := range p.lastWalkDraw.Ingredients {
			p.lastDraw.addIngredient(int(i), int(p.lastWalkDraw.Amounts[k]))
		}
		t.space.conditions.draw(r, p.lastDraw)
		return p.lastDraw, nil
	}
	const maxTries = 10_000_000
	for range maxTries {
		p.drawer.draw(r, p.lastDraw, n)
		if t.space.UncountedRuleShares() == nil || t.space.rules.AreKeptBy(p.lastDrawParts()) {
			return p.lastDraw, nil
		}
	}
	return nil, fmt.Errorf("%w: no composition of %d ingredients among %d keeps the rules", ErrNoStart, n, maxTries)
}

// lastDrawParts returns the ingredients and amounts of the last draw. The slice is valid until the
// next draw.
func (p *Prior) lastDrawParts() []Part {
	p.lastParts = p.lastDraw.AppendParts(p.lastParts[:0])
	return p.lastParts
}

// ErrNoStart is the error of a chain for which no first state of positive density was found.
var ErrNoStart = errors.New("no start of positive density was found")

// A NoStartError is an [ErrNoStart] that names the objective or the bound that forbids most of the
// compositions that were tried as a first state.
type NoStartError struct {
	Tries        int     // number of compositions drawn in search of a first state
	Objective    string  // name of the objective that is 0 most often; empty if a bound is 0 most often, or if nothing is 0
	Bound        string  // name of the bound that is 0 most often; empty if an objective is 0 most often, or if nothing is 0
	ZeroShare    float64 // share of random compositions for which the named objective or bound is 0
	ExampleParts []Part  // ingredients and amounts of one composition for which the named objective or bound is 0
}

func (e *NoStartError) Error() string {
	text := fmt.Sprintf("%v among %d compositions drawn from the sparsity law: each has a property that is 0", ErrNoStart, e.Tries)
	if name := e.Objective + e.Bound; name != "" {
		text += fmt.Sprintf(", %q in %.3g %% of them", name, 100*e.ZeroShare)
	}
	return text
}

func (e *NoStartError) Unwrap() error { return ErrNoStart }

// diagnosticDraws is the number of compositions drawn for a [NoStartError], to find out which
// objective or bound is 0 most often.
const diagnosticDraws = 200

// newNoStartError draws random compositions and scores each objective and bound alone. It returns a
// [NoStartError] that names the one that is 0 most often.
func newNoStartError(t *Target, r *Rand, prior *Prior, tries int) error {
	e := &NoStartError{Tries: tries}
	zeros := make([]int, len(t.objectives)+len(t.bounds))
	examples := make([][]Part, len(zeros))
	count := func(k int, p Property, x *Composition) {
		if p.LogScore(x) == negInf {
			zeros[k]++
			examples[k] = x.Parts()
		}
	}
	for range diagnosticDraws {
		x, err := prior.drawOfSize(r, t.law.draw(r))
		if err != nil {
			return err
		}
		for k, w := range t.objectives {
			if w.Weight > 0 {
				count(k, w.Property, x)
			}
		}
		for k, b := range t.bounds {
			count(len(t.objectives)+k, b.Property, x)
		}
	}
	if k := slices.Index(zeros, slices.Max(append(zeros, 1))); k >= 0 {
		if e.ZeroShare, e.ExampleParts = float64(zeros[k])/diagnosticDraws, examples[k]; k < len(t.objectives) {
			e.Objective = t.objectives[k].Name
		} else {
			e.Bound = t.bounds[k-len(t.objectives)].Name
		}
	}
	return e
}

// maxStartDraws is the greatest number of random compositions that a chain draws to find a first
// state of positive density.
const maxStartDraws = 100_000

// lawStartDraws is the number of first draws of [StartState] that all take the number n of
// ingredients from the sparsity law. After these draws every second draw takes n uniformly, because
// allowed compositions may have an n that the law rarely draws.
const lawStartDraws = 1_000

// StartState draws compositions from the sparsity law until one has positive density, and returns
// it as the first state of a chain. It also returns the number of draws. After 100,000 draws it
// fails with a [NoStartError].
//
// After 1,000 draws it searches harder:
//
//   - Every second draw takes the number of ingredients uniformly among the sizes of the law.
//   - If bounds of the target have a guide, see [Bound], StartState searches with these guides.
func StartState(t *Target, r *Rand) (x *State, tries int, err error) {
	prior := NewPrior(t)
	x = newState(t, prior.lastDraw)
	leads := slices.ContainsFunc(t.bounds, func(b Bound) bool { return b.Guide != nil })
	for tries < maxStartDraws {
		if leads && tries == lawStartDraws {
			if led, more, err := t.findStateWithinBounds(r); led != nil || err != nil {
				return led, tries + more, err
			}
		}
		tries++
		n := t.law.draw(r)
		if tries > lawStartDraws && tries%2 == 0 {
			if u := t.law.minSize + r.Intn(t.law.maxSize-t.law.minSize+1); t.law.P(u) > 0 {
				n = u
			}
		}
		if _, err := prior.drawOfSize(r, n); err != nil {
			return nil, tries, err
		}
		if err := x.Refresh(); err != nil {
			return nil, tries, err
		}
		if x.logScore > negInf {
			return x, tries, nil
		}
	}
	return nil, tries, newNoStartError(t, r, prior, tries)
}

// Limits of the search of [Target.findStateWithinBounds].
const (
	guideStartCount     = 5  // greatest number of random compositions from which the search starts
	guidePowerCount     = 9  // number of powers to which the guides are raised, 1, 4, 16, …
	maxGuideTurns       = 10 // greatest number of turns for each power; a turn is a short run of a chain
	guideTurnIterations = 50 // number of iterations in a turn, which is a short run of a chain
)

// findStateWithinBounds searches for a state that keeps all bounds. It returns the state and the
// number of random compositions drawn, or a nil state if it finds none. It runs chains on a target
// in which the guides of the bounds, see [Bound], take the place of the bounds. The guides are
// raised to higher and higher powers.
func (t *Target) findStateWithinBounds(r *Rand) (x *State, tries int, err error) {
	free := *t
	free.bounds = nil
	for _, b := range t.bounds {
		if b.Guide == nil {
			free.bounds = append(free.bounds, b)
		}
	}
	free.deferComponents()
	for range guideStartCount {
		from, some, err := StartState(&free, r)
		tries += some
		if errors.Is(err, ErrNoStart) {
			return nil, tries, nil
		}
		if err != nil {
			return nil, tries, err
		}
		at := from.Composition
		for k := range guidePowerCount {
			led := free
			led.objectives = t.guidedObjectives(math.Ldexp(1, 2*k))
			led.deferComponents()
			if at, err = led.walkUntil(r, at, t); err != nil {
				return nil, tries, err
			}
			x, err := NewState(t, at.Clone())
			if err != nil {
				return nil, tries, err
			}
			if x.logScore > negInf {
				return x, tries, nil
			}
		}
	}
	return nil, tries, nil
}

// guidedObjectives returns the objectives of t, followed by the guides of its bounds as objectives.
// The weight of each guide is the given power.
func (t *Target) guidedObjectives(power float64) []Objective {
	wishes := slices.Clone(t.objectives)
	for _, b := range t.bounds {
		if b.Guide != nil {
			wishes = append(wishes, Objective{Name: "toward " + b.Name, Property: b.Guide, Weight: power})
		}
	}
	return wishes
}

// walkUntil runs a chain on the target t that starts at the composition from. It stops when the
// current composition has positive density under the target goal, or after maxGuideTurns turns. It
// returns the last composition.
func (t *Target) walkUntil(r *Rand, from *Composition, goal *Target) (*Composition, error) {
	kernel, err := NewKernel("accelerated", t)
	if err != nil {
		return nil, err
	}
	x, err := NewState(t, from)
	if err != nil {
		return nil, err
	}
	var tally Tally
	for range maxGuideTurns {
		if err := kernel.Advance(r, x, guideTurnIterations, &tally); err != nil {
			return nil, err
		}
		score, err := goal.LogScore(x.Composition)
		if err != nil {
			return nil, err
		}
		if score > negInf {
			break
		}
	}
	return x.Composition, nil
}
