package randomproblem

import "slices"

// A machine reads the amounts of a composition, one ingredient after another, and
// tells at the end whether a rule is kept. It is a second way to say what a rule
// asks for, by which compositions are counted that are too many to list.
type machine struct {
	states int                        // from 0 on, where it begins
	next   func(s, i, amount int) int // −1 where the rule is broken already
	keeps  func(s int) bool
}

// count returns how many compositions of n ingredients keep all rules, at index n.
// It goes from ingredient to ingredient with the number of compositions by
// ingredients used, units taken and the states of the machines.
func count(ingredients, total int, machines []machine) []int {
	states := 1
	for _, m := range machines {
		states *= m.states
	}
	// step is where all machines go together.
	step := func(s, i, amount int) int {
		to, scale := 0, 1
		for _, m := range machines {
			next := m.next(s%m.states, i, amount)
			if next < 0 {
				return -1
			}
			to += scale * next
			s /= m.states
			scale *= m.states
		}
		return to
	}
	most := min(ingredients, total)
	at := func(used, units int) int { return (used*(total+1) + units) * states }
	now := make([]int, at(most+1, 0))
	now[0] = 1
	table := make([]int, states)
	for i := range ingredients {
		next := make([]int, len(now))
		for amount := range total + 1 {
			for s := range table {
				table[s] = step(s, i, amount)
			}
			more := min(amount, 1)
			for used := 0; used+more <= most; used++ {
				for units := 0; units+amount <= total; units++ {
					from, to := now[at(used, units):][:states], next[at(used+more, units+amount):][:states]
					for s, ways := range from {
						if ways > 0 && table[s] >= 0 {
							to[table[s]] += ways
						}
					}
				}
			}
		}
		now = next
	}
	counts := make([]int, most+1)
	for used := range counts {
		for s, ways := range now[at(used, total):][:states] {
			kept, left := true, s
			for _, m := range machines {
				kept = kept && m.keeps(left%m.states)
				left /= m.states
			}
			if kept {
				counts[used] += ways
			}
		}
	}
	return counts
}

// limitMachine sums what each unit has of an attribute, whole and not negative.
func limitMachine(per []int, total, low, high int) machine {
	return machine{
		states: slices.Max(per)*total + 1,
		next: func(s, i, amount int) int {
			if s += per[i] * amount; s > high {
				return -1
			}
			return s
		},
		keeps: func(s int) bool { return s >= low },
	}
}

// needsMachine remembers whether an ingredient and whether one that it needs is
// used.
func needsMachine(first int, then []int) machine {
	return machine{
		states: 4,
		next: func(s, i, amount int) int {
			if amount > 0 && i == first {
				s |= 1
			}
			if amount > 0 && slices.Contains(then, i) {
				s |= 2
			}
			return s
		},
		keeps: func(s int) bool { return s != 1 },
	}
}

// usedMachine counts the members that are used.
func usedMachine(of []int, least, most int) machine {
	return machine{
		states: len(of) + 1,
		next: func(s, i, amount int) int {
			if amount > 0 && slices.Contains(of, i) {
				s++
			}
			if s > most {
				return -1
			}
			return s
		},
		keeps: func(s int) bool { return s >= least },
	}
}

// amountMachine knows nothing of other ingredients.
func amountMachine(allowed func(i, amount int) bool) machine {
	return machine{
		states: 1,
		next: func(_, i, amount int) int {
			if !allowed(i, amount) {
				return -1
			}
			return 0
		},
		keeps: func(int) bool { return true },
	}
}
