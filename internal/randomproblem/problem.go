package randomproblem

import (
	"fmt"
	"math/rand/v2"
)

// A Problem is a problem in the words of this package.
type Problem struct {
	Seed    uint64
	Names   []string // of the ingredients
	Columns []Column // their attributes
	Recipes []Recipe // the book; none if the problem has none
	Total   int
	Law     Law
	Rules   []Rule
	Wishes  []*Wish
}

// A Column is an attribute of the ingredients: text, or numbers of hundredths.
type Column struct {
	Name       string
	Text       []string
	Hundredths []int // nil for text
}

// A Recipe is a known recipe. Its amounts sum to the total, so that they need not
// be scaled.
type Recipe struct {
	Name    string
	Amounts []int
	Taste   string
	Stars   int
}

// dice are the random choices of which a problem is made.
type dice struct{ *rand.Rand }

func newDice(seed uint64, purpose uint64) dice {
	return dice{rand.New(rand.NewPCG(seed, purpose))}
}

// chance is true with probability p.
func (d dice) chance(p float64) bool { return d.Float64() < p }

// between returns a whole number from lo to hi.
func (d dice) between(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

// one returns one of several values.
func one[T any](d dice, values ...T) T { return values[d.IntN(len(values))] }

// some returns k different numbers below n, in rising order.
func (d dice) some(k, n int) []int {
	var of []int
	for i := range n {
		if d.IntN(n-i) < k-len(of) {
			of = append(of, i)
		}
	}
	return of
}

// mostStates bounds the compositions of a problem, those that break rules
// included.
const mostStates = 2500

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
			continue // its |X_n| would be measured for a second each
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
	p := &Problem{}
	n := one(d, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 6, 6, 7)
	most := 1
	for compositions(n, most+1) <= mostStates && most < 120 {
		most++
	}
	p.Total = d.between(1, most)
	for _, round := range []int{100, 60, 50, 40, 25, 20, 10} {
		if round <= most && d.chance(0.25) {
			p.Total = round // of which percentages are whole
			break
		}
	}
	kinds := []string{"bitters", "gin", "syrup"}
	for i := range n {
		p.Names = append(p.Names, fmt.Sprintf("%c %s", 'a'+i, one(d, kinds...)))
	}
	group := Column{Name: "family"}
	for range n {
		group.Text = append(group.Text, one(d, "citrus", "spirit", "spirit", ""))
	}
	p.Columns = append(p.Columns, group)
	for _, name := range []string{"cost", "abv"} {
		c := Column{Name: name}
		for range n {
			c.Hundredths = append(c.Hundredths, one(d, 0, 100*d.IntN(50), d.IntN(5000), -d.IntN(300)))
		}
		p.Columns = append(p.Columns, c)
	}
	if p.Total >= 2 && d.chance(0.45) {
		p.drawBook(d)
	}
	p.drawLaw(d)
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

// drawBook draws recipes. An odd and an even number of them are as frequent.
func (p *Problem) drawBook(d dice) {
	n := len(p.Names)
	for r := range d.between(1, 8) {
		of := d.some(d.between(1, min(n, p.Total, 4)), n)
		amounts := make([]int, n)
		left := p.Total - len(of)
		for k, i := range of {
			amounts[i] = 1
			if k == len(of)-1 {
				amounts[i] += left
			} else if left > 0 {
				more := d.IntN(left + 1)
				amounts[i] += more
				left -= more
			}
		}
		p.Recipes = append(p.Recipes, Recipe{
			Name: fmt.Sprintf("recipe %d", r+1), Amounts: amounts,
			Taste: one(d, "Fresh", "Bitter", "Sweet"), Stars: d.between(1, 5),
		})
	}
	p.Recipes[0].Taste = "Fresh" // so that there is something to want
}

// compositions returns how many compositions of a total over n ingredients there
// are: C(n+total−1, n−1).
func compositions(n, total int) int {
	count := 1
	for k := 1; k < n; k++ {
		count = count * (total + k) / k
	}
	return count
}

// used counts the ingredients of a composition.
func used(x []int) int {
	n := 0
	for _, a := range x {
		if a > 0 {
			n++
		}
	}
	return n
}
