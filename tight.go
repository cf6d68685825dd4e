package kir

import "math"

// tightSums are the sums that few compositions keep: an exchange of one ingredient
// for another breaks most of them, unless others make up for it.
type tightSums struct {
	factors [][]float64 // by sum, by ingredient
}

// mostTight is the share of random compositions up to which a sum is tight.
const mostTight = 0.15

// newTightSums finds them, nil if there are none or an equality beside them, which
// an exchange would break. It draws nothing: a sum over a random composition of n
// ingredients has a mean of M·f̄ and a variance of about 2/(n+1)·M²·Var f, and is
// taken for normal.
func newTightSums(r *ruleset, n float64) *tightSums {
	if r == nil || r.lattice != nil {
		return nil
	}
	s, c := &tightSums{}, &r.Conditions
	for _, sum := range c.Sums {
		f := make([]float64, len(c.Amounts))
		mean, square, whole := 0.0, 0.0, false
		for _, t := range sum.Terms {
			f[t.Ingredient] = float64(t.PerUnit)
			mean += f[t.Ingredient] / float64(len(f))
			square += f[t.Ingredient] * f[t.Ingredient] / float64(len(f))
			whole = whole || t.Whole != 0 || t.Bent()
		}
		deviation := float64(c.Total) * math.Sqrt(2/(n+1)*(square-mean*mean))
		below := func(bound int64) float64 { // the share
			return math.Erfc((mean*float64(c.Total)-float64(bound))/deviation/math.Sqrt2) / 2
		}
		if !whole && deviation > 0 && below(sum.Max)-below(sum.Min) < mostTight {
			s.factors = append(s.factors, f)
		}
	}
	if len(s.factors) == 0 {
		return nil
	}
	return s
}

// mostHeld is how many sums an exchange makes up for at most.
const mostHeld = 3

// solve finds what b takes of a unit of a, and what each of the others, so that the
// total and the sums stay: ρ + Σκ = 1 and f_b·ρ + Σ f_c·κ_c = f_a.
func (s *tightSums) solve(held []int, a, b int32, others []int32) (rho float64, kappa [mostHeld]float64, ok bool) {
	n := len(held) + 1
	var m [mostHeld + 1][mostHeld + 2]float64
	for row := range n {
		f := func(i int32) float64 {
			if row == 0 {
				return 1
			}
			return s.factors[held[row-1]][i]
		}
		m[row][0], m[row][n] = f(b), f(a)
		for k, c := range others {
			m[row][k+1] = f(c)
		}
	}
	for k := range n {
		p := k
		for row := k + 1; row < n; row++ {
			if math.Abs(m[row][k]) > math.Abs(m[p][k]) {
				p = row
			}
		}
		m[k], m[p] = m[p], m[k]
		if m[k][k] == 0 {
			return 0, kappa, false
		}
		for row := range n {
			if row == k {
				continue
			}
			by := m[row][k] / m[k][k]
			for col := k; col <= n; col++ {
				m[row][col] -= by * m[k][col]
			}
		}
	}
	rho = m[0][n] / m[0][0]
	for k := range others {
		kappa[k] = m[k+1][n] / m[k+1][k+1]
	}
	return rho, kappa, true
}

// compensate exchanges a used ingredient for an absent one, and lets others that
// are used make up for what tight sums would gain or lose.
func (x *State) compensate(r *Rand, tight *tightSums) (outcome, error) {
	c := x.Composition
	var held [mostHeld]int
	h := min(mostHeld, len(tight.factors))
	for k := range h {
		held[k] = k
	}
	if len(tight.factors) > h {
		for k := range h {
			held[k] = r.Intn(len(tight.factors))
			for _, other := range held[:k] {
				if other == held[k] {
					return stayed, nil
				}
			}
		}
	}
	if c.Used() < h+1 {
		return stayed, nil
	}
	s := &x.step
	s.m = h + 2
	for k := range h + 1 { // i and the others, each once
		s.of[k+1] = c.list[r.Intn(c.Used())]
		for _, i := range s.of[1 : k+1] {
			if i == s.of[k+1] {
				return stayed, nil
			}
		}
	}
	i, j, others := s.of[1], int32(x.memory.draw(r, c.N())), s.of[2:s.m]
	s.of[0], s.of[1] = i, j
	if c.amounts[j] > 0 {
		return stayed, nil
	}
	a, b := min(i, j), max(i, j)
	rho, kappa, ok := tight.solve(held[:h], a, b, others)
	if !ok || !(rho > 1e-3 && rho < 1e3) {
		return stayed, nil
	}
	width, total := max(1, rho), float64(x.target.space.total)
	amountsOfB := func(x int32) (lo, hi float64) {
		return max(1, math.Ceil(rho*float64(x)-width)), min(math.Floor(rho*float64(x)+width), total)
	}
	amountsOfA := func(y int32) (lo, hi float64) {
		return max(1, math.Ceil((float64(y)-width)/rho)), min(math.Floor((float64(y)+width)/rho), total)
	}
	there, back := amountsOfB, amountsOfA
	if i == b {
		there, back = amountsOfA, amountsOfB
	}
	xi := c.amounts[i]
	lo, hi := there(xi)
	if lo > hi {
		return stayed, nil
	}
	xj := int32(lo)
	if hi > lo {
		xj += int32(r.Intn(int(hi-lo) + 1))
	}
	lo2, hi2 := back(xj)
	if float64(xi) < lo2 || float64(xi) > hi2 {
		return rejected, nil
	}
	of, with := float64(xi), float64(xj) // of a and of b
	sign := int64(1)
	if i == b {
		of, with, sign = with, of, -1
	}
	s.d[0], s.d[1] = -int64(xi), int64(xj)
	left := int64(xi - xj)
	for k := range others {
		d := left
		if k < len(others)-1 {
			d = sign * int64(math.Round(kappa[k]*(of+with/rho)/2))
			left -= d
		}
		if amount := int64(c.amounts[others[k]]) + d; amount < 1 || amount > int64(total) {
			return rejected, nil
		}
		s.d[k+2] = d
	}
	was := x.sum
	x.undo = x.undo[:0]
	x.walk(s, 1)
	if err := x.rescore(); err != nil {
		return rejected, err
	}
	x.finds.see(c, x.sum)
	q := x.memory.share(int(i), c.N()) / x.memory.share(int(j), c.N()) * (hi - lo + 1) / (hi2 - lo2 + 1)
	if r.Bernoulli(math.Exp(min(0, math.Log(q)+x.beta*(x.sum-was)))) {
		return updated, nil
	}
	x.takeBack(was)
	return rejected, nil
}
