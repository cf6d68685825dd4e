package randomproblem

import "fmt"

// A Pantry is what laws, rules and wishes are about: ingredients, a book of
// recipes of them, and the total of a composition.
type Pantry struct {
	Names   []string // of the ingredients
	Columns []Column // their attributes
	Recipes []Recipe // the book; none if the problem has none
	Total   int
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

// mostStates bounds the compositions of a problem, those that break rules
// included.
const mostStates = 2500

// drawPantry draws ingredients with a group and two attributes, and some recipes.
func drawPantry(d dice) Pantry {
	var p Pantry
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
	return p
}

// drawBook draws recipes. An odd and an even number of them are as frequent.
func (p *Pantry) drawBook(d dice) {
	for r := range d.between(1, 8) {
		amounts := p.compose(d)
		p.Recipes = append(p.Recipes, Recipe{
			Name: fmt.Sprintf("recipe %d", r+1), Amounts: amounts,
			Taste: one(d, "Fresh", "Bitter", "Sweet"), Stars: d.between(1, 5),
		})
	}
	p.Recipes[0].Taste = "Fresh" // so that there is something to want
}

// compose draws the amounts of one to four ingredients.
func (p *Pantry) compose(d dice) []int {
	n := len(p.Names)
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
	return amounts
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

// mean returns the mean of an attribute, weighted by amounts.
func (p *Pantry) mean(c Column, x []int) float64 {
	s := 0
	for i, a := range x {
		s += c.Hundredths[i] * a
	}
	return float64(s) / float64(100*p.Total)
}
