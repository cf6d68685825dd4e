package count

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"

	"kir/internal/portable"
)

// A groupNode is a group of ingredients, or the whole space, as a node of the tree of nested groups. The
// ingredients of a groupNode are the ingredients of its classes and of the groups within it. The fields used and
// units are limits on all ingredients together.
type groupNode struct {
	classes     []class
	classIndex  map[classKey]int // maps the amounts and the requirement of a class to the index of the class in classes
	groups      []*groupNode     // the groups directly within the group
	used        Range            // limits of the number of used ingredients
	units       Range            // limits of the units that the ingredients take together
	memberCount int              // number of ingredients, including the ingredients of nested groups

	// maxUsedOnward and maxUnits are the greatest number of used ingredients and of units possible within the limits.
	maxUsed, maxUnits int
}

// A plan is a [Space] prepared for counting. Amounts are divided by their greatest common divisor, ingredients
// that cannot be used are dropped, ingredients with equal rules form classes, and groups are nested.
type plan struct {
	root            *groupNode // ingredients without terms in sums, with their groups
	frontier        *frontier  // states by which the ingredients with terms in sums are counted; nil if there are no such ingredients
	ingredientCount int        // number N of ingredients of the space
	unit            int        // common divisor by which all amounts were divided
	total           int        // total M of the space, divided by unit
	maxUsed         int        // maximum number of used ingredients to count for

	// impossible means that some rule alone excludes all compositions. All other fields are then undefined.
	impossible bool
}

// newPlan prepares a space for counting compositions of up to maxUsedOnward ingredients. The parameter maxCells is the
// maximum number of table cells for a frontier; newPlan returns a [SizeError] if more cells are needed.
func newPlan(ctx context.Context, s Space, maxUsed int, maxCells float64) (*plan, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	p := &plan{ingredientCount: len(s.Ingredients), unit: 1, total: s.Total, maxUsed: maxUsed}
	kinds := make([]amountSet, len(s.Ingredients))
	unit := 0
	for i, ing := range s.Ingredients {
		if !ing.Excluded {
			kinds[i] = ing.amountSet(s.Total)
		}
		switch k := kinds[i]; {
		case k.n == 0:
			p.impossible = p.impossible || ing.Required
		case k.n == 1:
			unit = portable.GCD(unit, k.lo)
		default:
			unit = portable.GCD(portable.GCD(unit, k.lo), k.step)
		}
	}
	if unit == 0 || s.Total%unit != 0 {
		p.impossible = true
		unit = 1
	}
	p.unit, p.total = unit, s.Total/unit
	for i := range kinds {
		if k := &kinds[i]; k.n > 0 {
			k.lo /= unit
			if k.n > 1 {
				k.step /= unit
			}
		}
	}

	kept, sums, ok := s.splitRules(kinds, p)
	p.impossible = p.impossible || !ok
	s.Groups = kept
	held := make([][]Term, len(s.Ingredients)) // for each ingredient: terms of the ingredient, in which Ingredient holds the index of the sum
	for k, sum := range sums {
		for _, t := range sum.Terms {
			held[t.Ingredient] = append(held[t.Ingredient], Term{k, t.PerUnit, t.PerUse})
		}
	}
	inner, groups, _ := nestGroups(s, func(i int) bool { return kinds[i].n > 0 && held[i] == nil }) // ok is not needed: splitRules left no groups that cross
	p.root = &groupNode{used: Range{0, maxUsed}, units: Range{p.total, p.total}}
	if len(sums) > 0 {
		p.root.units.Min = 0
	}
	parts := make([]*groupNode, len(s.Groups))
	for _, g := range groups { // parents first, so that parts[g.Within] exists
		q := &groupNode{used: Range{0, math.MaxInt}, units: Range{0, math.MaxInt}}
		if r := s.Groups[g.Index].Used; r != nil {
			q.used = *r
		}
		if r := s.Groups[g.Index].Total; r != nil {
			q.units = Range{(max(r.Min, 0) + unit - 1) / unit, floorDiv(r.Max, unit)}
		}
		parts[g.Index] = q
		up := p.root
		if g.Parent >= 0 {
			up = parts[g.Parent]
		}
		up.groups = append(up.groups, q)
	}
	stages := p.gatherClasses(s, kinds, held, inner, parts)
	p.root.normalize(p, Range{0, maxUsed}, p.total)
	if len(sums) > 0 && !p.impossible {
		var err error
		if p.frontier, err = newFrontier(ctx, stages, sums, p.root.memberCount, maxUsed, p.total, maxCells); err != nil {
			return nil, err
		}
		p.impossible = p.frontier.impossible
	}
	return p, nil
}

// gatherClasses puts each usable ingredient into a class. Item i of kinds holds the amounts, and item i of held
// the terms in sums, of ingredient i. Ingredients with terms form the classes of the returned stages. Each other
// ingredient i goes to a class of parts[inner[i]], the smallest group that contains the ingredient.
func (p *plan) gatherClasses(s Space, kinds []amountSet, held [][]Term, inner []int, parts []*groupNode) (stages []stage) {
	at := make(map[string]int)
	var id []byte
	for i, k := range kinds {
		if k.n == 0 {
			continue
		}
		if held[i] != nil {
			id = fmt.Append(id[:0], k, s.Ingredients[i].Required)
			for _, t := range held[i] {
				id = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(id, int64(t.Ingredient)), t.PerUnit), t.PerUse)
			}
			if _, ok := at[string(id)]; !ok {
				at[string(id)] = len(stages)
				stages = append(stages, stage{class: class{amounts: k, required: s.Ingredients[i].Required}, terms: held[i]})
			}
			c := &stages[at[string(id)]]
			c.members = append(c.members, int32(i))
			continue
		}
		q := p.root
		if inner[i] >= 0 {
			q = parts[inner[i]]
		}
		c := q.classOf(k, s.Ingredients[i].Required)
		c.members = append(c.members, int32(i))
	}
	return stages
}

// classOf returns the class of q with the amounts k and the given requirement, and makes the class if there is
// no such class.
func (q *groupNode) classOf(k amountSet, required bool) *class {
	id := classKey{k, required}
	c, ok := q.classIndex[id]
	if !ok {
		if q.classIndex == nil {
			q.classIndex = make(map[classKey]int)
		}
		c = len(q.classes)
		q.classIndex[id] = c
		q.classes = append(q.classes, class{amounts: k, required: required})
	}
	return &q.classes[c]
}

// normalize prepares q and the groups within q. The method counts members and cuts limits to values that can
// occur. A group whose limits have no effect is merged into the group that contains it. If a range is empty,
// normalize sets p.impossible.
func (q *groupNode) normalize(p *plan, used Range, units int) {
	q.memberCount = 0
	for _, c := range q.classes {
		q.memberCount += len(c.members)
	}
	q.used.Max = min(q.used.Max, used.Max)
	q.units.Max = min(q.units.Max, units)
	groups := q.groups
	q.groups = nil
	for _, g := range groups {
		g.normalize(p, q.used, q.units.Max)
		q.memberCount += g.memberCount
		free := g.used.Min <= 0 && g.used.Max >= min(g.memberCount, q.used.Max) &&
			g.units.Min <= 0 && g.units.Max >= q.units.Max
		if !free {
			q.groups = append(q.groups, g)
			continue
		}
		q.groups = append(q.groups, g.groups...)
		for _, c := range g.classes {
			d := q.classOf(c.amounts, c.required)
			d.members = append(d.members, c.members...)
		}
	}
	if least, _ := q.leastAmountAndChoices(); q.memberCount > 0 && q.units.Max >= 0 {
		q.used.Max = min(q.used.Max, q.units.Max/least)
	}
	q.used.Max = min(q.used.Max, q.memberCount)
	q.used.Min = max(q.used.Min, 0)
	q.units.Min = max(q.units.Min, 0)
	if q.used.Min > q.used.Max || q.units.Min > q.units.Max {
		p.impossible = true
	}
	q.maxUsed, q.maxUnits = max(q.used.Max, 0), max(q.units.Max, 0)
}

// requirementCounts returns how many ingredients of q are optional and how many are required.
func (q *groupNode) requirementCounts() (optional, required int) {
	for _, c := range q.classes {
		if c.required {
			required += len(c.members)
		} else {
			optional += len(c.members)
		}
	}
	for _, g := range q.groups {
		o, r := g.requirementCounts()
		optional, required = optional+o, required+r
	}
	return optional, required
}

// leastAmountAndChoices returns least, the smallest positive amount that any ingredient of q may have, and choices, the greatest
// number of different amounts that an ingredient of q may have.
func (q *groupNode) leastAmountAndChoices() (least, choices int) {
	least = math.MaxInt
	for _, c := range q.classes {
		least, choices = min(least, c.amounts.lo), max(choices, c.amounts.n)
	}
	for _, g := range q.groups {
		l, n := g.leastAmountAndChoices()
		least, choices = min(least, l), max(choices, n)
	}
	return least, choices
}

// leastAmountAndChoices is [groupNode.extent] for all ingredients of the plan.
func (p *plan) leastAmountAndChoices() (least, choices int) {
	least, choices = p.root.leastAmountAndChoices()
	if p.frontier != nil {
		for _, st := range p.frontier.stages {
			least, choices = min(least, st.amounts.lo), max(choices, st.amounts.n)
		}
	}
	return least, choices
}

// maxPossibleUsed returns the maximum number of ingredients that a composition can use.
func (p *plan) maxPossibleUsed() int {
	if p.frontier == nil || len(p.frontier.stages) == 0 {
		return p.root.maxUsed
	}
	return p.frontier.stages[0].maxUsedOnward
}

// logBounds returns upper bounds of log2 |X_n| for n = 0..maxN, where |X_n| is the number of compositions of n
// ingredients. |X_n| is at most the number of sets of n used ingredients times the number of ways to choose the
// amounts. For the second factor there are two bounds. One bound is the number of compositions of the total in
// which each part is at least the least amount. The other bound is the number of all choices of n−1 amounts. If
// required is false, the bounds also hold for subsets of the ingredients, which need not contain all required
// ingredients.
func (p *plan) logBounds(maxN int, required bool) []float64 {
	optional, fixed := p.root.requirementCounts()
	least, choices := p.leastAmountAndChoices()
	if p.frontier != nil {
		for _, st := range p.frontier.stages {
			if st.required {
				fixed += len(st.members)
			} else {
				optional += len(st.members)
			}
		}
	}
	if !required {
		optional, fixed = optional+fixed, 0
	}
	out := make([]float64, maxN+1)
	for n := 1; n <= maxN; n++ {
		if n < fixed || n-fixed > optional || n*least > p.total {
			continue
		}
		amounts := min(logBinomial(p.total-n*least+n-1, n-1)/math.Ln2, float64(n-1)*portable.Log2(float64(choices)))
		out[n] = logBinomial(optional, n-fixed)/math.Ln2 + amounts
	}
	return out
}

// binomials returns the binomial coefficients C(m, j) for j = 0..maxJ.
func binomials(m, maxJ int) []*big.Int {
	c := make([]*big.Int, maxJ+1)
	c[0] = big.NewInt(1)
	for j := 1; j <= maxJ; j++ {
		c[j] = new(big.Int).Mul(c[j-1], big.NewInt(int64(m-j+1)))
		c[j].Quo(c[j], big.NewInt(int64(j)))
	}
	return c
}
