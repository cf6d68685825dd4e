package ensemble

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A Source defines an input of a model as a function of the composition. The input is Times·n/Over,
// where n is a whole number.
//
// By default, n is the sum of the units of some ingredients, each times its weight. With Count, n
// is the number of these ingredients that have a positive amount. With Presence, n is 1 if that sum
// is positive, and 0 otherwise. With Constant, the input is Value for all compositions.
type Source struct {
	Ingredients []int32 // indices of the ingredients
	Weights     []int64 // by element of Ingredients: the weight; nil if all weights are 1
	CountsUsed  bool
	Presence    bool
	Multiplier  int64   // factor of n; 0 counts as 1
	Divisor     float64 // divisor of n; 0 counts as 1

	Constant bool
	Value    float64 // NaN for a missing value
}

// inputValue returns the value of the input for the whole number n.
func (s *Source) inputValue(n int64) float64 {
	if s.Presence {
		n = min(n, 1)
	}
	return float64(n*max(s.Multiplier, 1)) / cmp.Or(s.Divisor, 1)
}

// An inputSlot is a whole number that follows from the composition and determines an input of the
// model. Tests of tree nodes compare it with thresholds.
type inputSlot struct {
	source               *Source
	minNumber, maxNumber int64   // lower and upper bound of the number over all compositions
	rankedThresholds     []int64 // for a weighted slot: its thresholds, ascending, so that tests can compare ranks; nil for other slots
}

// A slotEffect tells by how much one unit of an ingredient changes the number of a slot. For a
// count, it tells that the use of the ingredient changes the number by 1.
type slotEffect struct {
	slot   int32
	weight int64
}

// A node is a test that compares a slot with a threshold: at most the threshold leads left.
// Children are encoded as in [Node].
type node struct {
	slot, threshold int32
	left, right     int32
}

// A Score is a model whose inputs are bound to compositions. It does not change, so that any number
// of goroutines and scorers may use it.
type Score struct {
	*Model
	nodes      []node  // nodes of all trees, tree by tree in preorder
	roots      []int32 // by tree: its root, encoded as a child
	treeDepths []int32 // by tree: the greatest number of tests on a path
	slots      []inputSlot
	effects    [][]slotEffect // by ingredient: the slots that the ingredient changes
}

// maxWeightedSum is the greatest allowed magnitude of Σ weight·amount.
const maxWeightedSum = 1 << 61

// Bind returns the score of a model for compositions of total units. The parameter ingredients is
// the number of ingredients, and sources defines each input of the model.
func Bind(m *Model, ingredients, total int, sources []Source) (*Score, error) {
	if len(sources) != len(m.Inputs) {
		return nil, fmt.Errorf("the model has %d inputs, and %d are given", len(m.Inputs), len(sources))
	}
	b := &modelBinder{
		Score:       &Score{Model: m, effects: make([][]slotEffect, ingredients)},
		slotIndices: make(map[string]int32), slotConditions: make(map[featureTest]slotCondition), total: int64(total),
	}
	for k := range sources {
		if err := b.addInputSlot(&sources[k]); err != nil {
			return nil, fmt.Errorf("input %s: %w", m.Inputs[k], err)
		}
	}
	reduced, err := b.reduceNodes(sources)
	if err != nil {
		return nil, err
	}
	b.rankThresholds(reduced)
	b.layOutNodes(reduced)
	return b.Score, nil
}

// A featureTest is the test of a node as the file states it: feature ≤ threshold.
type featureTest struct {
	feature   int32
	threshold float64
}

// A slotCondition is the condition on the number n of a slot that is equivalent to a [featureTest].
// n ≤ threshold leads left or, if falling is true, right.
type slotCondition struct {
	threshold int64
	falling   bool
}

// A modelBinder is the working memory of [Bind].
type modelBinder struct {
	*Score
	total          int64                         // units of a composition
	slotIndices    map[string]int32              // index of each slot, by a text that defines the slot
	inputSlots     []int32                       // by input: the index of its slot; −1 for a constant input
	slotConditions map[featureTest]slotCondition // conditions that have been computed so far
}

// addInputSlot appends the slot of an input to inputSlots. It makes a new slot if no earlier input
// has an equal slot. A constant input has the slot −1.
func (b *modelBinder) addInputSlot(s *Source) error {
	if s.Constant {
		b.inputSlots = append(b.inputSlots, -1)
		return nil
	}
	type member struct {
		Ingredient int32
		Weight     int64
	}
	members := make([]member, len(s.Ingredients))
	for k, i := range s.Ingredients {
		if i < 0 || int(i) >= len(b.effects) {
			return fmt.Errorf("ingredient %d is none of %d", i, len(b.effects))
		}
		members[k] = member{i, 1}
		if s.Weights != nil {
			members[k].Weight = s.Weights[k]
		}
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.Ingredient, b.Ingredient) })
	made := inputSlot{source: s}
	for k, q := range members {
		if k > 0 && q.Ingredient == members[k-1].Ingredient {
			return fmt.Errorf("ingredient %d counts twice", q.Ingredient)
		}
		if q.Weight > maxWeightedSum/b.total || q.Weight < -maxWeightedSum/b.total {
			return fmt.Errorf("a weight of %d is too large", q.Weight)
		}
		made.minNumber, made.maxNumber = min(made.minNumber, q.Weight*b.total), max(made.maxNumber, q.Weight*b.total)
	}
	if s.CountsUsed {
		made.maxNumber = min(int64(len(members)), b.total)
	}
	if made.maxNumber*max(s.Multiplier, 1)/max(s.Multiplier, 1) != made.maxNumber {
		return fmt.Errorf("a factor of %d is too large", s.Multiplier)
	}
	key, err := binary.Append(nil, binary.LittleEndian, members)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%t %t %s", s.CountsUsed, s.Weights != nil, key)
	at, ok := b.slotIndices[name]
	if !ok {
		at = int32(len(b.slots))
		b.slotIndices[name] = at
		b.slots = append(b.slots, made)
		for _, q := range members {
			b.effects[q.Ingredient] = append(b.effects[q.Ingredient], slotEffect{at, q.Weight})
		}
	}
	b.inputSlots = append(b.inputSlots, at)
	return nil
}

// slotConditionOf returns the condition on slot at that is equivalent to the test of node n. The
// feature of the test is computed from the source s.
func (b *modelBinder) slotConditionOf(n *Node, s *Source, at *inputSlot) (slotCondition, error) {
	key := featureTest{n.Feature, n.Threshold}
	if c, ok := b.slotConditions[key]; ok {
		return c, nil
	}
	f := b.Features[n.Feature]
	value := func(k int64) float64 { return b.featureValue(f, s.inputValue(k)) }
	first, last := value(at.minNumber), value(at.maxNumber)
	if math.IsNaN(first+last) || math.IsInf(first+last, 0) {
		return slotCondition{}, fmt.Errorf("input %s goes from %v to %v", b.Inputs[f.Input], first, last)
	}
	c := slotCondition{falling: first > last}
	// bisection for the last whole number at which the test has the same result as at the least
	low, high := at.minNumber-1, at.maxNumber
	for low < high {
		middle := low + (high-low+1)/2
		if (value(middle) <= n.Threshold) != c.falling {
			low = middle
		} else {
			high = middle - 1
		}
	}
	c.threshold = low
	b.slotConditions[key] = c
	return c, nil
}

// A reducedNode is a node that compares the whole number of a slot with a threshold.
type reducedNode struct {
	slot        int32
	threshold   int64
	left, right int32
}

// reduceNodes converts the nodes of the model to reduced nodes. It replaces a test that has only
// one possible result by the child to which the test leads.
func (b *modelBinder) reduceNodes(sources []Source) ([]reducedNode, error) {
	var reduced []reducedNode
	made := make([]int32, len(b.Model.nodes)) // for each node: the child that replaces it
	child := func(c int32) int32 {
		if c >= 0 {
			return made[c]
		}
		return c
	}
	for k := range b.Model.nodes {
		n := &b.Model.nodes[k]
		f := b.Features[n.Feature]
		left, right := child(n.Left), child(n.Right)
		s, at := &sources[f.Input], b.inputSlots[f.Input]
		if at < 0 {
			v := b.featureValue(f, s.Value)
			if made[k] = right; v <= n.Threshold || math.IsNaN(v) && n.NaNLeft {
				made[k] = left
			}
			continue
		}
		slot := &b.slots[at]
		c, err := b.slotConditionOf(n, s, slot)
		if err != nil {
			return nil, err
		}
		if c.falling {
			left, right = right, left
		}
		switch {
		case c.threshold < slot.minNumber || left == right:
			made[k] = right
		case c.threshold >= slot.maxNumber:
			made[k] = left
		default:
			made[k] = int32(len(reduced))
			reduced = append(reduced, reducedNode{at, c.threshold, left, right})
		}
	}
	for _, r := range b.Model.roots {
		b.roots = append(b.roots, child(r))
	}
	return reduced, nil
}

// isWeighted reports whether the slot has weights. Tests then compare ranks, because the number may
// need more than 31 bits.
func (s *inputSlot) isWeighted() bool { return s.source.Weights != nil }

// rankThresholds sets rankedThresholds of each weighted slot.
func (b *modelBinder) rankThresholds(reduced []reducedNode) {
	for _, n := range reduced {
		if s := &b.slots[n.slot]; s.isWeighted() {
			s.rankedThresholds = append(s.rankedThresholds, n.threshold)
		}
	}
	for k := range b.slots {
		s := &b.slots[k]
		slices.Sort(s.rankedThresholds)
		s.rankedThresholds = slices.Compact(s.rankedThresholds)
	}
}

// rankOf returns what tests compare with thresholds if the number of the slot is n. It is the
// number of thresholds below n for a weighted slot, and n for other slots.
func (s *inputSlot) rankOf(n int64) int32 {
	if !s.isWeighted() {
		return int32(n)
	}
	at, _ := slices.BinarySearch(s.rankedThresholds, n)
	return int32(at)
}

// layOutNodes sets the nodes of the score: the reachable reduced nodes, tree by tree in preorder.
// It drops the effects on slots that no test uses.
func (b *modelBinder) layOutNodes(reduced []reducedNode) {
	const unseen = -1
	made := make([]int32, len(reduced))
	for k := range made {
		made[k] = unseen
	}
	depth := make([]int32, len(reduced)) // number of tests on the longest path below each node, including the node's own
	for k, n := range reduced {          // children come before parents
		for _, c := range [...]int32{n.left, n.right} {
			if c >= 0 {
				depth[k] = max(depth[k], depth[c])
			}
		}
		depth[k]++
	}
	tested := make([]bool, len(b.slots))
	var todo []int32
	for t, root := range b.roots {
		b.treeDepths = append(b.treeDepths, 0)
		if root < 0 {
			continue
		}
		b.treeDepths[t] = depth[root]
		from := len(b.nodes)
		for todo = append(todo[:0], root); len(todo) > 0; {
			k := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if made[k] != unseen {
				continue
			}
			n := &reduced[k]
			made[k] = int32(len(b.nodes))
			tested[n.slot] = true
			b.nodes = append(b.nodes, node{n.slot, b.slots[n.slot].rankOf(n.threshold), n.left, n.right})
			for _, c := range [...]int32{n.right, n.left} {
				if c >= 0 {
					todo = append(todo, c)
				}
			}
		}
		b.roots[t] = made[root]
		for k := from; k < len(b.nodes); k++ {
			n := &b.nodes[k]
			if n.left >= 0 {
				n.left = made[n.left]
			}
			if n.right >= 0 {
				n.right = made[n.right]
			}
		}
	}
	for i, all := range b.effects {
		all = slices.DeleteFunc(all, func(e slotEffect) bool { return !tested[e.slot] })
		slices.SortFunc(all, func(a, b slotEffect) int { return cmp.Compare(a.slot, b.slot) })
		b.effects[i] = all
	}
}
