package mcmc

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/constraint/volume"
)

// A Prior draws independent compositions from a target's sparsity law. It keeps every rule and
// ignores the objectives: its draws show what random compositions look like. It belongs to one
// goroutine.
type Prior struct {
	target *Target
	draws  drawer
	x      *Composition
	parts  []Part // parts of x, for checking rules

	cases []*Prior // by case, with the same x; nil without cases

	walk    *volume.Walk // for the sizes that were measured; nil if none were
	drawnAs volume.Composition
}

// NewPrior returns a prior of the sparsity law of a target.
func NewPrior(t *Target) *Prior {
	p := &Prior{target: t, x: newComposition(t.space.ingredients)}
	p.draws = t.space.newDrawer()
	if t.space.rules != nil && t.space.rules.measured != nil {
		p.walk = t.space.rules.measured.Walk()
	}
	if c := t.space.conditions; c.isTied() {
		p.cases = make([]*Prior, len(c.spaces))
		for k, space := range c.spaces {
			if space == nil {
				continue
			}
			p.cases[k] = NewPrior(&Target{space: space})
			p.cases[k].x = p.x
		}
	}
	return p
}

// rareShare is the least share of exact draws that must keep the rules for Draw to reject and
// repeat. Below it, Draw uses the measured walk.
const rareShare = 0.02

// Draw returns a composition, valid until the next call. It draws n from the law, and then a
// composition uniformly from X_n. Where rules cannot be counted, it repeats until one keeps them.
// Where fewer than one in 50 keep them and |X_n| was measured, it instead moves on a composition
// that the measurement met: see [volume.Walk.Draw].
func (p *Prior) Draw(r *Rand) (*Composition, error) {
	return p.drawSize(r, p.target.law.draw(r))
}

// drawSize is [Prior.Draw] for a given n.
func (p *Prior) drawSize(r *Rand, n int) (*Composition, error) {
	t := p.target
	if p.cases != nil {
		k := t.space.conditions.kept[n].draw(r)
		if _, err := p.cases[k].drawSize(r, n); err != nil {
			return nil, err
		}
		t.space.conditions.drawWithin(r, p.x, k)
		return p.x, nil
	}
	if p.walk != nil && t.space.rules.measuredAt[n] >= 0 && t.space.rules.shares[n-1].Estimate < rareShare {
		p.walk.Draw(r, t.space.rules.measuredAt[n], &p.drawnAs)
		p.x.clear()
		for k, i := range p.drawnAs.Ingredients {
			p.x.addIngredient(int(i), int(p.drawnAs.Amounts[k]))
		}
		t.space.conditions.draw(r, p.x)
		return p.x, nil
	}
	const maxTries = 10_000_000
	for range maxTries {
		p.draws.draw(r, p.x, n)
		if t.space.Shares() == nil || t.space.rules.Keeps(p.drawnParts()) {
			return p.x, nil
		}
	}
	return nil, fmt.Errorf("%w: no composition of %d ingredients among %d keeps the rules", ErrNoStart, n, maxTries)
}

// drawnParts returns the parts of p.x, the last draw. The slice is valid until the next draw.
func (p *Prior) drawnParts() []Part {
	p.parts = p.x.AppendParts(p.parts[:0])
	return p.parts
}

// ErrNoStart is returned when no composition of positive density was found to
// start a chain from.
var ErrNoStart = errors.New("no start of positive density was found")

// A NoStartError is an [ErrNoStart] that names the property or the bound that forbids most of the
// compositions tried.
type NoStartError struct {
	Tries     int     // number of compositions drawn
	Objective string  // the objective that is 0 most often; empty if a bound is, or none
	Bound     string  // the bound that is 0 most often; empty if an objective is, or none
	Zero      float64 // share of random compositions where that objective or bound is 0
	Parts     []Part  // an example of such a composition
}

func (e *NoStartError) Error() string {
	text := fmt.Sprintf("%v among %d compositions drawn from the sparsity law: each has a property that is 0", ErrNoStart, e.Tries)
	if name := e.Objective + e.Bound; name != "" {
		text += fmt.Sprintf(", %q in %.3g %% of them", name, 100*e.Zero)
	}
	return text
}

func (e *NoStartError) Unwrap() error { return ErrNoStart }

// blameTries is the number of compositions drawn to find which property is 0.
const blameTries = 200

// newNoStartError tests each property alone.
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

// startTries is the most draws from the sparsity law that a chain takes to find a composition of
// positive density.
const startTries = 100_000

// lawTries is how many of these draws take n from the law. After them every second draw has a
// uniform n, since the allowed compositions may have sizes that the law rarely draws.
const lawTries = 1_000

// StartState draws the first state of a chain exactly from the sparsity law and repeats while a
// property is 0 there. After 1,000 draws every second one has an n uniform on the law's sizes. It
// returns the number of draws, and fails with a [NoStartError] after 100,000. If the target has
// bounds with a guide toward them, a guided walk starts after 1,000 draws; see [Bound].
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

// leadToBounds makes several attempts. Each attempt tries several weights of the guiding property,
// each four times the last, for several turns of iterations.
const (
	leadAttempts   = 5
	leadWeights    = 9
	leadTurns      = 10
	leadIterations = 50
)

// leadToBounds returns a state that keeps all bounds, nil if it finds none. It walks a target in
// which guides replace the bounds, raised to rising powers.
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

// leadingObjectives returns the objectives of t and the guides of its bounds, raised to a power.
func (t *Target) leadingObjectives(power float64) []Objective {
	wishes := slices.Clone(t.objectives)
	for _, b := range t.bounds {
		if b.Toward != nil {
			wishes = append(wishes, Objective{Name: "toward " + b.Name, Property: b.Toward, Weight: power})
		}
	}
	return wishes
}

// walkUntil walks from a composition by the law t until the target until has positive density, and
// returns the composition there.
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
