package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"

	"kir"
	"kir/forest"
	"kir/problem"
)

// A Check is what is said of a problem before it is sampled.
type Check struct {
	Problem      Problem      `json:"problem"`
	Sampler      kir.Settings `json:"sampler"`
	Sizes        []SpaceSize  `json:"sizes"`
	Compositions *big.Int     `json:"compositions"` // of the sizes with mass, all together; nil if that of one is
	Properties   []Property   `json:"properties"`
	Kernel       Advice       `json:"kernel"`
	Warnings     []string     `json:"warnings"`
}

// A SpaceSize is one number of ingredients that the sparsity law allows.
type SpaceSize struct {
	N            int      `json:"n"`
	Target       Number   `json:"target"`
	Compositions *big.Int `json:"compositions"` // that keep every rule that can be counted; nil beyond mostBits
	Share        *Share   `json:"share,omitempty"`
}

// A Share is the part of the counted compositions that keeps the rules which
// cannot be counted, as measured by exact draws.
type Share struct {
	Estimate Number `json:"estimate"`
	SE       Number `json:"se"`
}

// Advice is a kernel that suits a problem, and why.
type Advice struct {
	Recommended string `json:"recommended"`
	Because     string `json:"because"`
}

// mostBits bounds the exact counts that are kept, all together. Beyond it they
// are left out.
const mostBits = 1 << 27

// NewCheck works out what there is to say of a problem.
func NewCheck(p *problem.Problem) (*Check, error) {
	c := &Check{
		Problem:      problemOf(p),
		Sampler:      p.Sampler,
		Compositions: new(big.Int),
		Properties:   propertiesOf(p),
		Warnings:     append(append([]string{}, p.Warnings...), forestWarnings(p)...),
	}
	var err error
	if c.Kernel, err = advise(p); err != nil {
		return nil, fmt.Errorf("scoring random compositions: %w", err)
	}
	space := p.Target.Space()
	counts, err := space.Counts()
	if err != nil {
		return nil, err
	}
	law := p.Target.Law()
	lo, hi := law.Support()
	exact := 0 // sizes whose counts are kept
	for bits, n := 0.0, lo; n <= hi; n++ {
		if bits += max(counts.LogCount(n), 0) / math.Ln2; bits > mostBits {
			break
		}
		exact = n
	}
	compositions := make(map[int]*big.Int)
	for n, x := range counts.Counts(lo, exact) {
		compositions[n] = x
	}
	for n := lo; n <= hi; n++ {
		if law.P(n) == 0 {
			continue
		}
		size := SpaceSize{N: n, Target: Number(law.P(n)), Compositions: compositions[n]}
		if shares := space.Shares(); shares != nil {
			size.Share = &Share{Number(shares[n-1].Estimate), Number(shares[n-1].SE)}
		}
		c.Sizes = append(c.Sizes, size)
		switch {
		case size.Compositions == nil:
			c.Compositions = nil
		case c.Compositions != nil:
			c.Compositions.Add(c.Compositions, size.Compositions)
		}
	}
	return c, nil
}

func problemOf(p *problem.Problem) Problem {
	out := Problem{Name: p.Name, Ingredients: len(p.Ingredients), Total: p.Total, Rules: []string{}}
	if p.Book != nil {
		out.Recipes = len(p.Book.Recipes)
	}
	for _, r := range p.Rules {
		out.Rules = append(out.Rules, r.Text)
	}
	return out
}

func propertiesOf(p *problem.Problem) []Property {
	properties := make([]Property, len(p.Properties))
	for k, w := range p.Properties {
		properties[k] = Property{Name: w.Name, Kind: w.Kind, About: w.About, Weight: w.Weight}
		if w.Forest != nil {
			properties[k].Forest = forestOf(w.Forest)
		}
	}
	return properties
}

func forestOf(f *forest.Forest) *Forest {
	out := &Forest{Label: f.Label(), Trees: f.Trees(), Rows: f.Rows(), Classes: f.Classes(), Quality: f.Quality()}
	features := f.Features()
	for k, i := range f.Importances() {
		if i.Mean > 0 {
			out.Importances = append(out.Importances, Importance{features[k].Name, Number(i.Mean), Number(i.SE)})
		}
	}
	slices.SortStableFunc(out.Importances, func(a, b Importance) int { return cmp.Compare(b.Mean, a.Mean) })
	out.Importances = out.Importances[:min(len(out.Importances), shownImportances)]
	return out
}

// shownImportances is of how many features the importance is told.
const shownImportances = 15

// forestWarnings says which forests have learnt nothing.
func forestWarnings(p *problem.Problem) []string {
	var warnings []string
	for _, w := range p.Properties {
		if w.Forest == nil {
			continue
		}
		q := w.Forest.Quality()
		if q.Classes != nil && q.Classes.Guessing() || q.Numbers != nil && q.Numbers.Guessing() {
			warnings = append(warnings, fmt.Sprintf("The forest for %s predicts recipes that it has not seen no better than guessing: its scores say little. Add recipes, merge rare classes, or drop the property.", w.Name))
		}
	}
	return warnings
}

// advised is how many random compositions a recommendation looks at.
const advised = 200

// advise recommends a kernel.
func advise(p *problem.Problem) (Advice, error) {
	if _, err := kir.NewExact(p.Target); err == nil {
		return Advice{"exact", "without properties each draw can be made independently"}, nil
	}
	forbidden, looked := 0, advised
	if runsPrograms(p) {
		looked = 0
	}
	prior, r := kir.NewPrior(p.Target), kir.NewRand(p.Sampler.Seed, "advice", 0)
	for range looked {
		x, err := prior.Draw(r)
		if err != nil {
			return Advice{}, err
		}
		score, err := p.Target.LogScore(x)
		if err != nil {
			return Advice{}, err
		}
		if math.IsInf(score, -1) {
			forbidden++
		}
	}
	if 2*forbidden > looked {
		return Advice{"tempered", fmt.Sprintf("a property is 0 at %d of %d random compositions, and it goes round what they forbid", forbidden, looked)}, nil
	}
	if n, gap := p.Target.Law().Gap(); gap {
		return Advice{"balanced", fmt.Sprintf("the sparsity law has a gap at n = %d, which it crosses", n)}, nil
	}
	return Advice{"balanced", "it mixes fastest; take tempered if its chains should disagree, or for the very best"}, nil
}

// runsPrograms says whether a property is scored by a program, which runs with
// the user's rights and is not to be started by looking at a problem.
func runsPrograms(p *problem.Problem) bool {
	return slices.ContainsFunc(p.Properties, func(w problem.Property) bool { return w.Kind == "program" })
}

// WriteText prints the check for a person.
func (c *Check) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.line("%s", Plain(c.Problem.Name))
	p.line("%s", c.Problem.words())
	p.line("")
	headings := []string{"ingredients used", "wanted", "compositions"}
	measured := len(c.Sizes) > 0 && c.Sizes[0].Share != nil
	if measured {
		headings = append(headings, "of which all rules keep")
	}
	t := NewTable(headings...)
	t.AlignRight(0, 1, 2)
	if measured {
		t.AlignRight(3)
	}
	shown, estimated := c.Sizes, false
	const most = 40
	if len(shown) > most {
		shown = shown[:most]
	}
	for _, s := range shown {
		cells := []any{s.N, percent(float64(s.Target)), bigNumber(s.Compositions)}
		if measured {
			share := fmt.Sprintf("%.3g", float64(s.Share.Estimate))
			if s.Share.SE > 0 {
				share += fmt.Sprintf(" ± %.1g", float64(s.Share.SE))
				estimated = true
			}
			cells = append(cells, share)
		}
		t.Row(cells...)
	}
	if len(shown) < len(c.Sizes) {
		t.Row("…", "", fmt.Sprintf("%d more sizes: see --json", len(c.Sizes)-most))
	}
	t.Row("all", "", bigNumber(c.Compositions))
	p.table(t)
	switch {
	case estimated:
		p.line("Rules that overlap, needs and limits cannot be counted: their share is measured")
		p.line("by exact draws, and the law of n is as exact as that.")
	case measured:
		p.line("Rules that overlap, needs and limits are counted by looking at every")
		p.line("composition.")
	}
	p.properties(c.Properties)
	p.line("")
	if c.Sampler.Kernel == c.Kernel.Recommended {
		p.line("Kernel: %s, as is recommended: %s.", c.Sampler.Kernel, c.Kernel.Because)
	} else {
		p.line("Kernel: %s. Recommended: %s, as %s.", c.Sampler.Kernel, c.Kernel.Recommended, c.Kernel.Because)
	}
	p.warnings(c.Warnings)
	return p.err
}

// words is the problem in a line.
func (p Problem) words() string {
	s := fmt.Sprintf("%s, a total of %s", counted(p.Ingredients, "ingredient"), counted(p.Total, "unit"))
	if p.Recipes > 0 {
		s += ", " + counted(p.Recipes, "known recipe")
	}
	return s
}

// bigNumber writes a count: exactly up to 60 digits, which fit a line, and
// rounded beyond.
func bigNumber(n *big.Int) string {
	if n == nil {
		return "too many digits"
	}
	if len(n.String()) <= 60 {
		return Grouped(n)
	}
	f := new(big.Float).SetInt(n)
	text := f.Text('e', 3)
	mantissa, exponent, _ := strings.Cut(text, "e+")
	return mantissa + " × 10^" + exponent
}

// percent writes a share with a digit after the point.
func percent(share float64) string {
	if math.IsNaN(share) {
		return "?"
	}
	if share > 0 && share < 0.0005 {
		return "<0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}
