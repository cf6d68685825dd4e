package randomproblem

import (
	"math"
	"slices"
)

// An Enumeration is every composition that keeps the rules, and the law of them.
type Enumeration struct {
	States [][]int   // amounts by ingredient
	Used   []int     // n of each
	Sizes  []int     // |X_n| at n
	Law    []float64 // y_sparse(n) at n, normalised on the sizes that are not empty
	Prior  []float64 // of each state: y_sparse(n)/|X_n|
	Scores [][]float64
	Score  []float64 // Σ c·log y of each state
	Pi     []float64 // the law
	LogZ   float64   // log of the mean of Π y^c over the prior

	thin   bool // few of the compositions keep the rules that are not counted
	number map[string]int
}

// key is a composition as a map's key.
func key(x []int) string {
	b := make([]byte, len(x))
	for i, a := range x {
		b[i] = byte(a) // totals are below 256
	}
	return string(b)
}

// Number returns which state a composition is, −1 if it is none.
func (e *Enumeration) Number(x []int) int {
	if s, ok := e.number[key(x)]; ok {
		return s
	}
	return -1
}

// Mass says whether the law of n leaves a state any.
func (e *Enumeration) Mass(s int) bool { return e.Law[e.Used[s]] > 0 }

// feasible lists the compositions that keep the rules. It leaves States empty if
// none of them uses a number of ingredients that the law allows.
func (p *Problem) feasible() *Enumeration {
	n := len(p.Names)
	most := min(n, p.Total)
	e := &Enumeration{Sizes: make([]int, most+1), Law: make([]float64, most+1), number: map[string]int{}}
	plain := make([]int, most+1) // that keep what is surely counted
	x := make([]int, n)
	var fill func(i, left int)
	fill = func(i, left int) {
		if i < n-1 {
			for x[i] = 0; x[i] <= left; x[i]++ {
				fill(i+1, left-x[i])
			}
			x[i] = 0
			return
		}
		x[i] = left
		if p.keepsAmounts(x) {
			plain[used(x)]++
		}
		if p.keeps(x) {
			e.number[key(x)] = len(e.States)
			e.States = append(e.States, slices.Clone(x))
			e.Used = append(e.Used, used(x))
			e.Sizes[used(x)]++
		}
	}
	fill(0, p.Total)
	for k, v := range p.Law.on(most) {
		if e.Sizes[k+1] > 0 {
			e.Law[k+1] = v
		}
		if v > 0 && e.Sizes[k+1]*50 < plain[k+1] {
			e.thin = true
		}
	}
	e.Law = normalise(e.Law)
	if slices.Max(e.Law) == 0 {
		e.States = nil
	}
	return e
}

// keepsAmounts says whether a composition keeps the rules on single ingredients,
// which are counted whatever other rules there are.
func (p *Problem) keepsAmounts(x []int) bool {
	for _, r := range p.Rules {
		for _, kind := range []string{"require", "exclude", "amount"} {
			if r.yaml[kind] != nil && !r.keeps(x) {
				return false
			}
		}
	}
	return true
}

// scored says whether each wish has a score wherever the problem asks for one.
func (p *Problem) scored(e *Enumeration) bool {
	for _, w := range p.Wishes {
		if w.log == nil {
			continue
		}
		for s, x := range e.States {
			if v := w.log(x); e.Mass(s) && !(v < math.Inf(1)) {
				return false
			}
		}
	}
	return true
}

// Enumerate lists the compositions and their law. sizes is |X_n| as the target has
// it where that is an estimate, nil to take the count. Forests must have been
// read.
func (p *Problem) Enumerate(sizes []float64) *Enumeration {
	e := p.feasible()
	logPi := make([]float64, len(e.States))
	top := math.Inf(-1)
	for s, x := range e.States {
		count := float64(e.Sizes[e.Used[s]])
		if sizes != nil && e.Mass(s) {
			count = sizes[e.Used[s]]
		}
		e.Prior = append(e.Prior, e.Law[e.Used[s]]/count)
		sum, scores := 0.0, make([]float64, len(p.Wishes))
		for k, w := range p.Wishes {
			scores[k] = math.NaN()
			if e.Mass(s) {
				scores[k] = w.log(x)
				if w.Weight > 0 {
					sum += w.Weight * scores[k]
				}
			}
		}
		if e.Mass(s) && !p.keepsLimits(x) {
			sum = math.Inf(-1)
		}
		e.Scores = append(e.Scores, scores)
		e.Score = append(e.Score, sum)
		logPi[s] = math.Log(e.Prior[s]) + sum
		top = max(top, logPi[s])
	}
	total := 0.0
	for _, l := range logPi {
		e.Pi = append(e.Pi, math.Exp(l-top))
		total += e.Pi[len(e.Pi)-1]
	}
	e.LogZ = top + math.Log(total)
	if math.IsInf(top, -1) {
		e.LogZ = top
		e.Pi = make([]float64, len(e.States))
		return e
	}
	for s := range e.Pi {
		e.Pi[s] /= total
	}
	return e
}

// Allowed says whether a state has positive density, however small.
func (e *Enumeration) Allowed(s int) bool { return e.Mass(s) && e.Score[s] > math.Inf(-1) }

// Parts returns how many parts moves of two ingredients leave what is allowed in.
func (e *Enumeration) Parts() int {
	parent := make([]int, len(e.States))
	for s := range parent {
		parent[s] = s
	}
	find := func(s int) int {
		for parent[s] != s {
			s = parent[s]
		}
		return s
	}
	parts := 0
	first := map[string]int{}
	for s, x := range e.States {
		if !e.Allowed(s) {
			continue
		}
		parts++
		for i := range x {
			for j := i + 1; j < len(x); j++ {
				rest := slices.Clone(x)
				rest[i], rest[j] = 0, 0
				line := key(append(rest, i, j))
				t, ok := first[line]
				if !ok {
					first[line] = s
				} else if a, b := find(s), find(t); a != b {
					parent[a] = b
					parts--
				}
			}
		}
	}
	return parts
}
