package mcmc

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/measure"
)

// A Prior draws compositions independently from a target's sparsity law, with
// every rule kept and as if there were no wishes: what random compositions look
// like. It belongs to one goroutine.
type Prior struct {
	target *Target
	draws  exactScratch
	x      *Composition
	parts  []Part // of x, where rules are looked at

	walk    *measure.Walk // where some sizes are measured
	drawnAs measure.Composition
}

// NewPrior returns what draws from the sparsity law of a target.
func NewPrior(t *Target) *Prior {
	p := &Prior{target: t, x: newComposition(t.space.ingredients)}
	if t.space.rules != nil {
		p.draws.sampler = t.space.rules.sampler.Clone()
		if t.space.rules.measured != nil {
			p.walk = t.space.rules.measured.Walk()
		}
	}
	return p
}

// rareShare is the share of what is drawn exactly below which it is not drawn again
// and again until rules are kept.
const rareShare = 0.02

// Draw returns a composition, which holds until the next call: n from the law,
// then one of X_n uniformly. Where rules cannot be counted it draws again until
// one keeps them. Where fewer than one in 50 do and |X_n| was measured, it is
// instead one that the measuring met, moved on: see [measure.Walk.Draw].
func (p *Prior) Draw(r *Rand) (*Composition, error) {
	return p.drawSize(r, p.target.law.draw(r))
}

// drawSize is Draw with n given.
func (p *Prior) drawSize(r *Rand, n int) (*Composition, error) {
	t := p.target
	if p.walk != nil && t.space.rules.measuredAt[n] >= 0 && t.space.rules.shares[n-1].Estimate < rareShare {
		p.walk.Draw(r, t.space.rules.measuredAt[n], &p.drawnAs)
		p.x.clear()
		for k, i := range p.drawnAs.Ingredients {
			p.x.put(int(i), int(p.drawnAs.Amounts[k]))
		}
		return p.x, nil
	}
	const maxTries = 10_000_000
	for range maxTries {
		p.draws.draw(r, p.x, n, t.space.total)
		if t.space.Shares() == nil || t.space.rules.Keeps(p.drawn()) {
			return p.x, nil
		}
	}
	return nil, fmt.Errorf("%w: no composition of %d ingredients among %d keeps the rules", ErrNoStart, n, maxTries)
}

// drawn returns the parts of what was drawn, until the next.
func (p *Prior) drawn() []Part {
	p.parts = p.x.AppendParts(p.parts[:0])
	return p.parts
}

// ErrNoStart is returned when no composition of positive density was found to
// start a chain from.
var ErrNoStart = errors.New("no start of positive density was found")

// A NoStartError is [ErrNoStart] with the property or the bound that is to blame for most of
// it.
type NoStartError struct {
	Tries     int     // compositions that were drawn
	Objective string  // the property that is 0 most often; empty if none is alone
	Bound     string  // the same, if it is a bound
	Zero      float64 // the share of compositions drawn at random where it is
	Parts     []Part  // one of them
}

func (e *NoStartError) Error() string {
	text := fmt.Sprintf("%v among %d compositions drawn from the sparsity law: each has a property that is 0", ErrNoStart, e.Tries)
	if name := e.Objective + e.Bound; name != "" {
		text += fmt.Sprintf(", %q in %.3g %% of them", name, 100*e.Zero)
	}
	return text
}

func (e *NoStartError) Unwrap() error { return ErrNoStart }

// blameTries is how many compositions tell which property is 0.
const blameTries = 200

// newNoStartError looks at each property alone.
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
	for range blameTries {
		x, err := prior.drawSize(r, t.law.draw(r))
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
		if e.Zero, e.Parts = float64(zeros[k])/blameTries, examples[k]; k < len(t.objectives) {
			e.Objective = t.objectives[k].Name
		} else {
			e.Bound = t.bounds[k-len(t.objectives)].Name
		}
	}
	return e
}

// startTries is how many draws from the sparsity law a chain may take to find
// a composition that no property forbids.
const startTries = 100_000

// lawTries is how many of them are of the law; after that n is uniform in every
// second one, since what no property forbids may be of a size that the law hardly
// has.
const lawTries = 1_000

// StartState draws the first state of a chain exactly from the sparsity law,
// again while a property is 0 there; after 1,000 draws every second one has an n
// that is uniform on the law's sizes. It returns how many draws that took, and
// fails with a [NoStartError] after 100,000. Where a target has bounds that can be led to,
// it leads there after 1,000; see [Bound].
func StartState(t *Target, r *Rand) (x *State, tries int, err error) {
	prior := NewPrior(t)
	x = newState(t, prior.x)
	leads := slices.ContainsFunc(t.bounds, func(b Bound) bool { return b.Toward != nil })
	for tries < startTries {
		if leads && tries == lawTries {
			if led, more, err := t.leadToBounds(r); led != nil || err != nil {
				return led, tries + more, err
			}
		}
		tries++
		n := t.law.draw(r)
		if tries > lawTries && tries%2 == 0 {
			if u := t.law.lo + r.Intn(t.law.hi-t.law.lo+1); t.law.P(u) > 0 {
				n = u
			}
		}
		if _, err := prior.drawSize(r, n); err != nil {
			return nil, tries, err
		}
		if err := x.Refresh(); err != nil {
			return nil, tries, err
		}
		if x.sum > negInf {
			return x, tries, nil
		}
	}
	return nil, tries, newNoStartError(t, r, prior, tries)
}

// A lead has so many attempts, each at so many weights of what leads, each four times the
// one before, for so many turns of so many iterations.
const (
	leadAttempts   = 5
	leadWeights    = 9
	leadTurns      = 10
	leadIterations = 50
)

// leadToBounds returns a state at which all bounds are kept, nil if none is found: a walk of the
// target whose bounds are replaced by what leads to them, to powers that rise.
func (t *Target) leadToBounds(r *Rand) (x *State, tries int, err error) {
	free := *t
	free.bounds = nil
	for _, b := range t.bounds {
		if b.Toward == nil {
			free.bounds = append(free.bounds, b)
		}
	}
	free.deferComponents()
	for range leadAttempts {
		from, some, err := StartState(&free, r)
		tries += some
		if errors.Is(err, ErrNoStart) {
			return nil, tries, nil
		}
		if err != nil {
			return nil, tries, err
		}
		at := from.Composition
		for k := range leadWeights {
			led := free
			led.objectives = t.leadingObjectives(math.Ldexp(1, 2*k))
			led.deferComponents()
			if at, err = led.walkUntil(r, at, t); err != nil {
				return nil, tries, err
			}
			x, err := NewState(t, at.Clone())
			if err != nil {
				return nil, tries, err
			}
			if x.sum > negInf {
				return x, tries, nil
			}
		}
	}
	return nil, tries, nil
}

// leadingObjectives returns the wishes of t and what leads to its bounds, to a power.
func (t *Target) leadingObjectives(power float64) []Objective {
	wishes := slices.Clone(t.objectives)
	for _, b := range t.bounds {
		if b.Toward != nil {
			wishes = append(wishes, Objective{Name: "toward " + b.Name, Property: b.Toward, Weight: power})
		}
	}
	return wishes
}

// walkUntil goes from a composition by the law t until it is where another target gives
// density, and returns where it then is.
func (t *Target) walkUntil(r *Rand, from *Composition, until *Target) (*Composition, error) {
	kernel, err := NewKernel("accelerated", t)
	if err != nil {
		return nil, err
	}
	x, err := NewState(t, from)
	if err != nil {
		return nil, err
	}
	var tally Tally
	for range leadTurns {
		if err := kernel.Advance(r, x, leadIterations, &tally); err != nil {
			return nil, err
		}
		score, err := until.LogScore(x.Composition)
		if err != nil {
			return nil, err
		}
		if score > negInf {
			break
		}
	}
	return x.Composition, nil
}
