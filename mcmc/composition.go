package mcmc

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/rule"
)

// A Part is one used ingredient of a composition: its number and its amount in units.
type Part = rule.Part

// A Composition divides a total of M units among N ingredients, most of which get none. Looking up
// an amount takes constant time, and so does each step of a walk over the used ingredients.
//
// It takes one 32-bit word of memory an ingredient, and a second one once more than a few are used.
//
// In a space with conditions, see [WithConditions], a Composition also holds the value of each
// condition, as an index into the values of the condition.
type Composition struct {
	total      int
	amounts    []int32 // by ingredient
	list       []int32 // the used ingredients
	slot       []int32 // by used ingredient, once more than maxScanned are used: its index in list
	conditions []int32 // by condition: the index of its value; nil in a space without conditions
}

// maxScanned is the largest number of used ingredients that find searches one by one. This saves
// large spaces the cache misses of a second table.
const maxScanned = 64

// NewComposition returns the composition over the given number of ingredients
// that has the given parts, each with an amount of at least 1. The total is
// their sum.
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

// N returns the number of ingredients there are to choose from.
func (x *Composition) N() int { return len(x.amounts) }

// Total returns M, the sum of the amounts.
func (x *Composition) Total() int { return x.total }

// Used returns n(x), the number of ingredients with a positive amount.
func (x *Composition) Used() int { return len(x.list) }

// Amount returns x_i, the units of ingredient i.
func (x *Composition) Amount(i int) int { return int(x.amounts[i]) }

// Amounts returns the units of every ingredient. The slice is the
// composition's own: it changes with it and must not be written to.
func (x *Composition) Amounts() []int32 { return x.amounts }

// Ingredients returns the used ingredients, in no particular order. The slice
// is the composition's own: it changes with it and must not be written to.
func (x *Composition) Ingredients() []int32 { return x.list }

// Parts returns the used ingredients and their amounts, by ingredient.
func (x *Composition) Parts() []Part { return x.AppendParts(nil) }

// AppendParts appends the result of [Composition.Parts] to dst.
func (x *Composition) AppendParts(dst []Part) []Part {
	from := len(dst)
	for _, i := range x.Ingredients() {
		dst = append(dst, Part{Ingredient: int(i), Amount: int(x.amounts[i])})
	}
	slices.SortFunc(dst[from:], func(a, b Part) int { return a.Ingredient - b.Ingredient })
	return dst
}

// SetParts makes x the composition with the given parts. On an error x is unchanged.
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

// Move splits the sum of x_i and x_j anew: k units to ingredient i, the rest to ingredient j. i and
// j must differ, and k must be from 0 to the sum; otherwise Move returns an error and x is
// unchanged.
func (x *Composition) Move(i, j, k int) error {
	if i < 0 || i >= x.N() || j < 0 || j >= x.N() || i == j {
		return fmt.Errorf("%d and %d are not two of the ingredients 0 to %d", i, j, x.N()-1)
	}
	if s := x.Amount(i) + x.Amount(j); k < 0 || k > s {
		return fmt.Errorf("%d of the %d units of two ingredients is not a split", k, s)
	}
	x.move(i, j, k)
	return nil
}

// SetAmount sets the amount of one ingredient, and changes the total by as much. It returns an error,
// and changes nothing, if there is no such ingredient or the amount is negative.
func (x *Composition) SetAmount(i, amount int) error {
	if i < 0 || i >= x.N() || amount < 0 || amount > math.MaxInt32-(x.total-int(x.amounts[i])) {
		return fmt.Errorf("%d units of ingredient %d are not an amount of one of %d", amount, i, x.N())
	}
	x.total += amount - int(x.amounts[i])
	x.assign(int32(i), int32(amount))
	return nil
}

// CopyFrom makes x equal to y, which has as many ingredients.
func (x *Composition) CopyFrom(y *Composition) {
	x.clear()
	for _, i := range y.Ingredients() {
		x.addIngredient(int(i), int(y.amounts[i]))
	}
	x.copyConditions(y)
}

// Clone returns a copy.
func (x *Composition) Clone() *Composition {
	return &Composition{
		total:      x.total,
		amounts:    slices.Clone(x.amounts),
		list:       slices.Clone(x.list),
		slot:       slices.Clone(x.slot),
		conditions: slices.Clone(x.conditions),
	}
}

// Equal reports whether x and y divide the same total in the same way, under the same conditions.
func (x *Composition) Equal(y *Composition) bool {
	if x.N() != y.N() || x.total != y.total || len(x.list) != len(y.list) || !slices.Equal(x.conditions, y.conditions) {
		return false
	}
	for _, i := range x.Ingredients() {
		if x.amounts[i] != y.amounts[i] {
			return false
		}
	}
	return true
}

// String lists the parts, such as {3: 400, 7: 600}, and behind them the indices of the values of
// the conditions, such as {3: 400, 7: 600 | 2, 0}.
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

// clear sets all amounts to 0.
func (x *Composition) clear() {
	for _, i := range x.list {
		x.amounts[i] = 0
	}
	x.list, x.total = x.list[:0], 0
}

// addIngredient sets the amount of an ingredient that is not yet used.
func (x *Composition) addIngredient(i, amount int) {
	x.amounts[i] = int32(amount)
	x.total += amount
	x.appendUsed(int32(i))
}

// move is [Composition.Move] for valid splits, which it does not check.
func (x *Composition) move(i, j, k int) {
	s := x.amounts[i] + x.amounts[j]
	x.assign(int32(i), int32(k))
	x.assign(int32(j), s-int32(k))
}

// passOn gives all units of the used ingredient i, at position p of the list, to the unused
// ingredient j, if the mask is all ones. j takes i's position. If the mask is 0, nothing changes.
// The code has no branch on the mask.
func (x *Composition) passOn(p int, i, j, units, mask int32) {
	x.amounts[i], x.amounts[j] = units&^mask, units&mask
	j = i ^ (i^j)&mask
	x.list[p] = j
	if len(x.list) > maxScanned {
		x.slot[j] = int32(p)
	}
}

// assign sets an amount and updates the list. The caller updates the total.
func (x *Composition) assign(i, amount int32) {
	was := x.amounts[i]
	x.amounts[i] = amount
	switch {
	case was == 0 && amount > 0:
		x.appendUsed(i)
	case was > 0 && amount == 0:
		x.removeUsed(i)
	}
}

// appendUsed appends ingredient i to the list.
func (x *Composition) appendUsed(i int32) {
	x.list = append(x.list, i)
	if len(x.list) > maxScanned {
		x.recordSlot(i)
	}
}

// recordSlot records the position of ingredient i, the last in the list. If the list has just passed
// maxScanned, it records the positions of all the others too.
func (x *Composition) recordSlot(i int32) {
	if len(x.list) == maxScanned+1 {
		x.recordSlots()
	} else {
		x.slot[i] = int32(len(x.list) - 1)
	}
}

// recordSlots records the position of every ingredient in the list.
func (x *Composition) recordSlots() {
	if x.slot == nil {
		x.slot = make([]int32, len(x.amounts))
	}
	for p, j := range x.list {
		x.slot[j] = int32(p)
	}
}

// find returns the position in the list of the used ingredient i.
func (x *Composition) find(i int32) int {
	if len(x.list) > maxScanned {
		return int(x.slot[i])
	}
	p := 0
	for x.list[p] != i {
		p++
	}
	return p
}

// removeUsed removes ingredient i from the list. The last ingredient takes its position.
func (x *Composition) removeUsed(i int32) {
	p, last := x.find(i), x.list[len(x.list)-1]
	x.list[p] = last
	if len(x.list) > maxScanned {
		x.slot[last] = int32(p)
	}
	x.list = x.list[:len(x.list)-1]
}
