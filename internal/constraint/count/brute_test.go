package count

import (
	"math"
	"math/rand/v2"
)

// bruteForce lists all compositions of a space, amounts of all ingredients
// each, by going through every way to divide the total. It reads the rules
// straight from their definitions.
func bruteForce(s Space) [][]int {
	var found [][]int
	amounts := make([]int, len(s.Ingredients))
	var fill func(i, left int)
	fill = func(i, left int) {
		if i == len(amounts) {
			if left == 0 && keepsRules(s, amounts) {
				found = append(found, append([]int(nil), amounts...))
			}
			return
		}
		for a := 0; a <= left; a++ {
			amounts[i] = a
			fill(i+1, left-a)
		}
		amounts[i] = 0
	}
	fill(0, s.Total)
	return found
}

func keepsRules(s Space, amounts []int) bool {
	for i, a := range amounts {
		ing := s.Ingredients[i]
		if a == 0 {
			if ing.Required {
				return false
			}
			continue
		}
		if ing.Excluded {
			return false
		}
		allowed := false
		step := ing.Step
		if step == 0 {
			step = 1
		}
		first := ing.Min
		if first == 0 {
			first = step
		}
		for v := first; v <= s.Total; v += step {
			if v == a && (ing.Max == 0 || v <= ing.Max) {
				allowed = true
			}
		}
		if !allowed {
			return false
		}
	}
	for _, g := range s.Groups {
		used, units := 0, 0
		for _, i := range g.Members {
			if amounts[i] > 0 {
				used++
			}
			units += amounts[i]
		}
		if g.Used != nil && (used < g.Used.Min || used > g.Used.Max) {
			return false
		}
		if g.Total != nil && (units < g.Total.Min || units > g.Total.Max) {
			return false
		}
	}
	for _, sum := range s.Sums {
		v := 0
		for _, t := range sum.Terms {
			if a := amounts[t.Ingredient]; a > 0 {
				v += int(t.PerUnit)*a + int(t.PerUse)
			}
		}
		if int64(v) < sum.Min || int64(v) > sum.Max {
			return false
		}
	}
	return true
}

func usedOf(amounts []int) int {
	n := 0
	for _, a := range amounts {
		if a > 0 {
			n++
		}
	}
	return n
}

// randomSpace makes a small space with rules of all sorts. About a third of
// them are empty.
func randomSpace(r *rand.Rand) Space {
	n, m := 1+r.IntN(6), 1+r.IntN(12)
	s := Space{Total: m, Ingredients: make([]Ingredient, n)}
	few := r.IntN(2) == 0 // few kinds of ingredients, so that classes are large
	kinds := make([]Ingredient, 2)
	random := func() (ing Ingredient) {
		if r.IntN(3) == 0 {
			ing.Min = r.IntN(4)
		}
		if r.IntN(3) == 0 {
			ing.Max = 1 + r.IntN(m)
		}
		if r.IntN(4) == 0 {
			ing.Step = 1 + r.IntN(3)
		}
		ing.Required = r.IntN(8) == 0
		ing.Excluded = r.IntN(10) == 0 && !(ing.Required && r.IntN(4) > 0)
		return ing
	}
	for k := range kinds {
		kinds[k] = random()
	}
	some := 1 + r.IntN(2)
	for i := range s.Ingredients {
		if s.Ingredients[i] = random(); few {
			s.Ingredients[i] = kinds[r.IntN(some)]
		}
	}
	if r.IntN(8) == 0 { // coarse units
		for i := range s.Ingredients {
			s.Ingredients[i].Step, s.Ingredients[i].Min = 2, 2*r.IntN(2)
		}
	}
	// Groups are split off the rest, or off the group before.
	free := r.Perm(n)
	for len(free) > 0 && r.IntN(3) > 0 {
		size := 1 + r.IntN(len(free))
		g := Group{Members: append([]int(nil), free[:size]...)}
		limits := r.IntN(4)
		if limits&1 == 0 {
			lo := r.IntN(size + 1)
			g.Used = &Range{lo, lo + r.IntN(size+1-lo)}
			if r.IntN(3) == 0 {
				g.Used.Min = 0
			}
		}
		if limits&2 == 0 {
			lo := r.IntN(m + 1)
			g.Total = &Range{lo, lo + r.IntN(m+1-lo)}
			if r.IntN(3) == 0 {
				g.Total.Min = 0
			}
		}
		s.Groups = append(s.Groups, g)
		if r.IntN(3) == 0 {
			free = free[:max(size-1, 1)] // the next group lies within this one
			if size == 1 {
				break
			}
		} else {
			free = free[size:]
		}
	}
	return s
}

// randomCrossing is randomSpace with groups that cross, needs and limits.
func randomCrossing(r *rand.Rand) Space {
	s := randomSpace(r)
	n := len(s.Ingredients)
	for range r.IntN(3) {
		members := r.Perm(n)[:1+r.IntN(n)]
		g := Group{Members: members}
		if r.IntN(2) == 0 {
			lo := r.IntN(len(members))
			g.Used = &Range{lo, lo + r.IntN(3)}
		}
		if r.IntN(2) == 0 {
			lo := r.IntN(s.Total)
			g.Total = &Range{lo - 1, lo + r.IntN(s.Total)}
		}
		s.Groups = append(s.Groups, g)
	}
	for range r.IntN(3) { // needs
		need := Sum{Min: math.MinInt64, Terms: []Term{{Ingredient: r.IntN(n), PerUse: 1}}}
		for _, i := range r.Perm(n)[:r.IntN(n)+1] {
			need.Terms = append(need.Terms, Term{Ingredient: i, PerUse: -1})
		}
		s.Sums = append(s.Sums, need)
	}
	for range r.IntN(3) {
		some := 1 + r.IntN(5)
		sum := Sum{Min: math.MinInt64, Max: math.MaxInt64}
		low, high := 0, 0
		for i := range n {
			t := Term{Ingredient: i, PerUnit: int64(r.IntN(some)-1) * 3}
			if r.IntN(4) == 0 {
				t.PerUse = int64(r.IntN(7) - 3)
			}
			sum.Terms = append(sum.Terms, t)
			low, high = min(low, int(t.PerUnit)), max(high, int(t.PerUnit))
		}
		at := int64(low*s.Total + r.IntN((high-low)*s.Total+1))
		switch r.IntN(3) {
		case 0:
			sum.Min = at
		case 1:
			sum.Max = at
		default:
			sum.Min, sum.Max = at, at+int64(r.IntN(6))
		}
		s.Sums = append(s.Sums, sum)
	}
	return s
}

// randomSpaces are the makers of small spaces: with what takes no frontier, and
// with what does.
var randomSpaces = map[string]func(*rand.Rand) Space{"nested": randomSpace, "crossing": randomCrossing}
