package randomproblem

import (
	"fmt"
	"slices"
)

// A Problem is a problem in the words of this package.
type Problem struct {
	Pantry
	Seed   uint64
	Law    Law
	Rules  []Rule
	Wishes []*Wish
	Limits []Limit
}

// New draws a problem. It can have no feasible composition, and then kir must
// refuse it. Otherwise every wish has a score, finite and not negative, at each
// composition that keeps the rules and uses a number of ingredients that the law
// gives mass; elsewhere it need not have one.
func New(seed uint64) *Problem {
	for try := uint64(0); ; try++ {
		d := newDice(seed, try)
		p := draw(d)
		p.Seed = seed
		e := p.feasible()
		if e.thin && !d.chance(0.02) {
			continue // there is little to compare
		}
		if len(e.States) == 0 && !d.chance(0.25) {
			continue
		}
		if p.scored(e) {
			return p
		}
	}
}

func draw(d dice) *Problem {
	p := &Problem{Pantry: drawPantry(d)}
	p.Law = p.drawLaw(d)
	if d.chance(0.7) {
		for range d.between(1, 4) {
			if r := p.drawRule(d); r != nil {
				p.Rules = append(p.Rules, *r)
			}
		}
	}
	p.drawWishes(d)
	return p
}

// keeps says whether a composition keeps every rule.
func (p *Problem) keeps(x []int) bool {
	return !slices.ContainsFunc(p.Rules, func(r Rule) bool { return !r.keeps(x) })
}

// drawWishes draws none to three wishes. Some problems are extreme: their scores
// spread over thousands of log units.
func (p *Problem) drawWishes(d dice) {
	if d.chance(0.15) {
		return
	}
	extreme := d.chance(0.4)
	for k := range one(d, 1, 1, 1, 2, 3) {
		kinds := []string{"blend", "blend", "markowitz", "document", "document", "expression", "expression", "pairs"}
		if len(p.Recipes) > 0 {
			kinds = append(kinds, "pairs", "novelty", "likeness", "novelty", "likeness", "forest", "forest")
		}
		if d.chance(0.02) {
			kinds = []string{"program"}
		}
		w := &Wish{Kind: one(d, kinds...), Weight: one(d, 1, 1, 1, 0.5, 2.5, 0)}
		w.Name = fmt.Sprintf("%s %d", w.Kind, k+1)
		if extreme {
			w.Weight = one(d, 1.0, 30, 300, 3000)
		}
		switch w.Kind {
		case "forest":
			p.drawForest(d, w)
		case "blend":
			p.drawBlend(d, w)
		case "pairs":
			p.drawPairs(d, w)
		case "novelty", "likeness":
			p.drawNearest(d, w)
		case "markowitz":
			p.drawMarkowitz(d, w, extreme)
		case "document":
			p.drawDocument(d, w, extreme)
		case "expression":
			p.drawExpression(d, w)
		case "program":
			p.drawProgram(d, w)
		}
		p.Wishes = append(p.Wishes, w)
	}
}
