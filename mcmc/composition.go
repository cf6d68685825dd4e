package mcmc

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/rule"
)

// A Part is one ingredient that a composition uses: the index of the ingredient and its amount in
// units.
type Part = rule.Part

// A Composition divides a total of M units among N ingredients, most of which get no units. Looking
// up an amount takes constant time, and so does each step of a loop over the used ingredients.
//
// A Composition takes 4 bytes of memory for each of the N ingredients, and 4 more once it uses more
// than 64 ingredients.
//
// In a space with conditions, see [WithConditions], a Composition also holds the value of each
// condition, as an index into the values of the condition.
type Composition struct {
	total   int     // sum of the amounts
	amounts []int32 // amounts[i] is the number of units of ingredient i
	used    []int32 // the indices of the ingredients with a positive amount, in no particular order

	// positions[i] is the index of ingredient i in used; valid only for used ingredients, and only
	// if there are more than maxScannedUsed
	positions  []int32
	conditions []int32 // conditions[c] is the index of the value of condition c; nil in a space without conditions
}

// maxScannedUsed is the largest number of used ingredients for which positionOf searches the list
// of used ingredients one by one. A composition with more used ingredients keeps a table of
// positions. Small compositions have no such table, which in large spaces saves cache misses.
const maxScannedUsed = 64

// NewComposition returns a composition with the given ingredients and amounts. The first argument
// is the number of all ingredients, used or not. Each amount is at least 1. The total is the sum of
// the amounts.
func NewComposition(ingredients int, parts ...Part) (*Composition, error) {
	x := newComposition(ingredients)
	if err := x.SetParts(parts...); err != nil {
		return nil, err
	}
	return x, nil
}

// newComposition returns a composition that uses no ingredient yet.
func newComposition(ingredients int) *Composition {
	return &Composition{amounts: make([]int32, ingredients)}
}

// N returns the number of ingredients, used or not.
func (x *Composition) N() int { return len(x.amounts) }

// Total returns M, the sum of the amounts.
func (x *Composition) Total() int { return x.total }

// UsedCount returns n(x), the number of ingredients with a positive amount.
func (x *Composition) UsedCount() int { return len(x.used) }

// Amount returns x_i, the units of ingredient i.
func (x *Composition) Amount(i int) int { return int(x.amounts[i]) }

// Amounts returns a slice that holds the units of ingredient i at index i. The slice belongs to the
// composition: it changes when the composition changes, and callers must not modify it.
func (x *Composition) Amounts() []int32 { return x.amounts }

// Ingredients returns the indices of the used ingredients, in no particular order. The slice
// belongs to the composition: it changes when the composition changes, and callers must not modify
// it.
func (x *Composition) Ingredients() []int32 { return x.used }

// Parts returns the used ingredients with their amounts, sorted by ingredient.
func (x *Composition) Parts() []Part { return x.AppendParts(nil) }

// AppendParts appends the used ingredients with their amounts to dst, sorted by ingredient.
func (x *Composition) AppendParts(dst []Part) []Part {
	from := len(dst)
	for _, i := range x.Ingredients() {
		dst = append(dst, Part{Ingredient: int(i), Amount: int(x.amounts[i])})
	}
	slices.SortFunc(dst[from:], func(a, b Part) int { return a.Ingredient - b.Ingredient })
	return dst
}

// SetParts replaces the ingredients and amounts of x by the given ones. If it returns an error, x
// is unchanged.
func (x *Composition) SetParts(parts ...Part) error {
	total := 0
	for _, p := range parts {
		switch {
		case p.Ingredient < 0 || p.Ingredient >= x.N():
			return fmt.Errorf("ingredient %d is not one of 0 to %d", p.Ingredient, x.N()-1)
		case p.Amount < 1:
			return fmt.Errorf("ingredient %d has %d units, and a used ingredient has at least 1", p.Ingredient, p.Amount)
		case p.Amount > math.MaxInt32-total:
			return fmt.Errorf("the amounts sum to more than %d units", math.MaxInt32)
		}
		total += p.Amount
	}
	seen := make(map[int]bool, len(parts))
	for _, p := range parts {
		if seen[p.Ingredient] {
			return fmt.Errorf("ingredient %d stands there twice", p.Ingredient)
		}
		seen[p.Ingredient] = true
	}
	x.clear()
	for _, p := range parts {
		x.addIngredient(p.Ingredient, p.Amount)
	}
	return nil
}

// Move divides the joint amount of the ingredients i and j anew: i gets k units and j the rest.
// Move returns an error and leaves x unchanged if i equals j, or if k is not between 0 and the
// joint amount.
func (x *Composition) Move(i, j, k int) error {
	if i < 0 || i >= x.N() || j < 0 || j >= x.N() || i == j {
		return fmt.Errorf("%d and %d are not two of the ingredients 0 to %d", i, j, x.N()-1)
	}
	if s := x.Amount(i) + x.Amount(j); k < 0 || k > s {
		return fmt.Errorf("%d of the %d units of two ingredients is not a split", k, s)
	}
	x.moveUnchecked(i, j, k)
	return nil
}

// SetAmount sets the amount of ingredient i. The total of x changes by the same number of units.
// SetAmount returns an error and leaves x unchanged if there is no ingredient i, or if the amount
// is negative.
func (x *Composition) SetAmount(i, amount int) error {
	if i < 0 || i >= x.N() || amount < 0 || amount > math.MaxInt32-(x.total-int(x.amounts[i])) {
		return fmt.Errorf("%d units of ingredient %d are not an amount of one of %d", amount, i, x.N())
	}
	x.total += amount - int(x.amounts[i])
	x.setUnits(int32(i), int32(amount))
	return nil
}

// CopyFrom makes x equal to y. Both compositions must have the same number of ingredients.
func (x *Composition) CopyFrom(y *Composition) {
	x.clear()
	for _, i := range y.Ingredients() {
		x.addIngredient(int(i), int(y.amounts[i]))
	}
	x.copyConditions(y)
}

// Clone returns a copy of x.
func (x *Composition) Clone() *Composition {
	return &Composition{
		total:      x.total,
		amounts:    slices.Clone(x.amounts),
		used:       slices.Clone(x.used),
		positions:  slices.Clone(x.positions),
		conditions: slices.Clone(x.conditions),
	}
}

// Equal reports whether x and y have the same amounts and the same values of conditions.
func (x *Composition) Equal(y *Composition) bool {
	if x.N() != y.N() || x.total != y.total || len(x.used) != len(y.used) || !slices.Equal(x.conditions, y.conditions) {
		return false
	}
	for _, i := range x.Ingredients() {
		if x.amounts[i] != y.amounts[i] {
			return false
		}
	}
	return true
}

// String lists the ingredients with their amounts, as in {3: 400, 7: 600}. If x has conditions, the
// indices of their values follow, as in {3: 400, 7: 600 | 2, 0}.
func (x *Composition) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for k, p := range x.Parts() {
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d: %d", p.Ingredient, p.Amount)
	}
	for c, v := range x.conditions {
		separator := ", "
		if c == 0 {
			separator = " | "
		}
		fmt.Fprintf(&b, "%s%d", separator, v)
	}
	b.WriteByte('}')
	return b.String()
}

// clear sets all amounts and the total to 0.
func (x *Composition) clear() {
	for _, i := range x.used {
		x.amounts[i] = 0
	}
	x.used, x.total = x.used[:0], 0
}

// addIngredient gives an unused ingredient i the given amount and adds the amount to the total.
func (x *Composition) addIngredient(i, amount int) {
	x.amounts[i] = int32(amount)
	x.total += amount
	x.appendUsed(int32(i))
}

// moveUnchecked is [Composition.Move] without checks of the arguments.
func (x *Composition) moveUnchecked(i, j, k int) {
	s := x.amounts[i] + x.amounts[j]
	x.setUnits(int32(i), int32(k))
	x.setUnits(int32(j), s-int32(k))
}

// passAllUnits gives all units of the used ingredient i to the unused ingredient j if mask is −1.
// It changes nothing if mask is 0. Ingredient j takes over position p of ingredient i in the list
// of used ingredients. For speed, the code does not branch on mask.
func (x *Composition) passAllUnits(p int, i, j, units, mask int32) {
	x.amounts[i], x.amounts[j] = units&^mask, units&mask
	j = i ^ (i^j)&mask
	x.used[p] = j
	if len(x.used) > maxScannedUsed {
		x.positions[j] = int32(p)
	}
}

// setUnits sets the amount of ingredient i and updates the list of used ingredients. It does not
// update the total.
func (x *Composition) setUnits(i, amount int32) {
	was := x.amounts[i]
	x.amounts[i] = amount
	switch {
	case was == 0 && amount > 0:
		x.appendUsed(i)
	case was > 0 && amount == 0:
		x.removeUsed(i)
	}
}

// appendUsed appends ingredient i to the used ingredients.
func (x *Composition) appendUsed(i int32) {
	x.used = append(x.used, i)
	if len(x.used) > maxScannedUsed {
		x.recordPosition(i)
	}
}

// recordPosition records where ingredient i, the last one added, stands in the list of used
// ingredients. It records the positions of all used ingredients if their number has just exceeded
// maxScannedUsed.
func (x *Composition) recordPosition(i int32) {
	if len(x.used) == maxScannedUsed+1 {
		x.recordPositions()
	} else {
		x.positions[i] = int32(len(x.used) - 1)
	}
}

// recordPositions fills x.positions for every used ingredient.
func (x *Composition) recordPositions() {
	if x.positions == nil {
		x.positions = make([]int32, len(x.amounts))
	}
	for p, j := range x.used {
		x.positions[j] = int32(p)
	}
}

// positionOf returns the index of the used ingredient i in the list of used ingredients.
func (x *Composition) positionOf(i int32) int {
	if len(x.used) > maxScannedUsed {
		return int(x.positions[i])
	}
	p := 0
	for x.used[p] != i {
		p++
	}
	return p
}

// removeUsed removes ingredient i from the list of used ingredients. The last ingredient of the
// list takes the place of i.
func (x *Composition) removeUsed(i int32) {
	p, last := x.positionOf(i), x.used[len(x.used)-1]
	x.used[p] = last
	if len(x.used) > maxScannedUsed {
		x.positions[last] = int32(p)
	}
	x.used = x.used[:len(x.used)-1]
}
