package ensemble

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A Source defines an input of a model as a function of a composition. The value of the input is
// Multiplier·n/Divisor, where n is a whole number. By default n is the weighted sum of the amounts
// of some ingredients. The exceptions are:
//   - If CountsUsed is true, n is the number of the ingredients that have a positive amount.
//   - If Presence is true, n is 1 if the weighted sum is positive, and 0 otherwise.
//   - If Constant is true, the input is Value for all compositions.
type Source struct {
	Ingredients []int32 // indices of the ingredients
	Weights     []int64 // Weights[k] is the weight of Ingredients[k]; nil if all weights are 1
	CountsUsed  bool
	Presence    bool
	Multiplier  int64   // factor of n; 0 means 1
	Divisor     float64 // divisor of n; 0 means 1

	Constant bool
	Value    float64 // value of a constant input; NaN for a missing value
}

// inputValue returns the value of the input, given n, which is the weighted sum or the count that
// [Source] defines.
func (s *Source) inputValue(n int64) float64 {
	if s.Presence {
		n = min(n, 1)
	}
	return float64(n*max(s.Multiplier, 1)) / cmp.Or(s.Divisor, 1)
}

// An inputSlot is a whole-number quantity of a composition, such as a sum of amounts, from which an
// input of the model follows. Tests of tree nodes compare it with thresholds.
type inputSlot struct {
	source    *Source
	minNumber int64 // lower bound of the quantity over all compositions
	maxNumber int64 // upper bound of the quantity over all compositions
	// rankedThresholds lists the thresholds of all tests of the slot, ascending, if the slot has
	// weights. Tests of such a slot compare ranks in this list. It is nil for a slot without
	// weights.
	rankedThresholds []int64
}

// A slotEffect says how an ingredient affects the quantity of an [inputSlot]. For a weighted sum,
// one more unit of the ingredient adds weight. For a count of used ingredients, the ingredient adds
// 1 if its amount is positive.
type slotEffect struct {
	slot   int32 // index of the slot
	weight int64
}

// A slotTest is a node of a tree that tests an [inputSlot]. It leads to the left child if the
// number of the slot (see [inputSlot.comparedNumber]) is at most threshold, and to the right child
// otherwise. Children are encoded as in [Node].
type slotTest struct {
	slot, threshold int32
	left, right     int32
}

// A Score is a model whose inputs are defined as functions of a composition. It does not change, so
// that any number of goroutines and scorers may use it.
type Score struct {
	*Model
	treeNodes  []slotTest     // nodes of all trees, tree by tree in preorder
	roots      []int32        // root of each tree, encoded as a child of a [Node]
	treeDepths []int32        // greatest number of tests on a path of each tree
	slots      []inputSlot    // the quantities of a composition that nodes test
	effects    [][]slotEffect // effects[i] lists the slots that a change of ingredient i affects
}

// maxWeightedSum is the greatest allowed absolute value of Σ weight·amount of a [Source].
const maxWeightedSum = 1 << 61

// Bind returns a [Score] that evaluates the model on compositions whose amounts sum to total. The
// parameter ingredients is the number of ingredients. The element sources[k] defines input k of the
// model.
func Bind(m *Model, ingredients, total int, sources []Source) (*Score, error) {
	if len(sources) != len(m.Inputs) {
		return nil, fmt.Errorf("the model has %d inputs, and %d are given", len(m.Inputs), len(sources))
	}
	b := &modelBinder{
		Score:           &Score{Model: m, effects: make([][]slotEffect, ingredients)},
		slotIndexByText: make(map[string]int32), conditionByTest: make(map[featureTest]slotCondition), total: int64(total),
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

// A featureTest is the test of a node as the model file states it: feature ≤ threshold.
type featureTest struct {
	feature   int32 // index of the feature
	threshold float64
}

// A slotCondition is the equivalent of a [featureTest] for the whole-number quantity n of an
// [inputSlot]. If n ≤ threshold, the test leads to the left child, or to the right child if falling
// is true.
type slotCondition struct {
	threshold int64
	falling   bool // whether the feature falls as n rises
}

// A modelBinder is the working memory of [Bind].
type modelBinder struct {
	*Score
	total           int64                         // sum of the amounts of a composition
	slotIndexByText map[string]int32              // maps a text that defines a slot to the index of the slot
	slotOfInput     []int32                       // index of the slot of each input; −1 for a constant input
	conditionByTest map[featureTest]slotCondition // maps a test of the file to its condition, once the condition has been computed
}

// addInputSlot appends to slotOfInput the index of the slot of an input. It makes a new slot if no
// earlier input has an equal slot. The index of a constant input is −1.
func (b *modelBinder) addInputSlot(s *Source) error {
	if s.Constant {
		b.slotOfInput = append(b.slotOfInput, -1)
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
	at, ok := b.slotIndexByText[name]
	if !ok {
		at = int32(len(b.slots))
		b.slotIndexByText[name] = at
		b.slots = append(b.slots, made)
		for _, q := range members {
			b.effects[q.Ingredient] = append(b.effects[q.Ingredient], slotEffect{at, q.Weight})
		}
	}
	b.slotOfInput = append(b.slotOfInput, at)
	return nil
}

// slotConditionOf returns the condition on the slot that is equivalent to the test of node n. The
// source s defines the input from which the tested feature is computed.
func (b *modelBinder) slotConditionOf(n *Node, s *Source, slot *inputSlot) (slotCondition, error) {
	key := featureTest{n.Feature, n.Threshold}
	if c, ok := b.conditionByTest[key]; ok {
		return c, nil
	}
	f := b.Features[n.Feature]
	value := func(k int64) float64 { return b.featureValue(f, s.inputValue(k)) }
	first, last := value(slot.minNumber), value(slot.maxNumber)
	if math.IsNaN(first+last) || math.IsInf(first+last, 0) {
		return slotCondition{}, fmt.Errorf("input %s goes from %v to %v", b.Inputs[f.Input], first, last)
	}
	c := slotCondition{falling: first > last}
	// bisection for the last whole number at which the test has the same result as at the least
	low, high := slot.minNumber-1, slot.maxNumber
	for low < high {
		middle := low + (high-low+1)/2
		if (value(middle) <= n.Threshold) != c.falling {
			low = middle
		} else {
			high = middle - 1
		}
	}
	c.threshold = low
	b.conditionByTest[key] = c
	return c, nil
}

// A reducedNode is a test of an [inputSlot]: it leads to the left child if the slot's quantity is
// at most threshold, and to the right child otherwise.
type reducedNode struct {
	slot        int32 // index of the slot
	threshold   int64
	left, right int32
}

// reduceNodes converts the nodes of the model to reduced nodes. It omits each test that has the
// same result for all compositions, and puts the child to which the test leads in its place.
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
		s, at := &sources[f.Input], b.slotOfInput[f.Input]
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

// isWeighted reports whether the slot is a sum with weights. Tests then compare ranks among the
// thresholds, because the sum may need more than 31 bits.
func (s *inputSlot) isWeighted() bool { return s.source.Weights != nil }

// rankThresholds sets rankedThresholds of each slot with weights. The parameter reduced holds all
// tests.
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

// comparedNumber returns the number that tests compare with thresholds if the quantity of the slot
// is n. For a slot with weights, it is the number of thresholds below n. For other slots, it is n.
func (s *inputSlot) comparedNumber(n int64) int32 {
	if !s.isWeighted() {
		return int32(n)
	}
	at, _ := slices.BinarySearch(s.rankedThresholds, n)
	return int32(at)
}

// layOutNodes sets the nodes of the score. They are the reduced nodes that a root can reach, one
// tree after another, each tree in preorder. It also removes the effects on slots that no node
// tests.
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
		from := len(b.treeNodes)
		for todo = append(todo[:0], root); len(todo) > 0; {
			k := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if made[k] != unseen {
				continue
			}
			n := &reduced[k]
			made[k] = int32(len(b.treeNodes))
			tested[n.slot] = true
			b.treeNodes = append(b.treeNodes, slotTest{n.slot, b.slots[n.slot].comparedNumber(n.threshold), n.left, n.right})
			for _, c := range [...]int32{n.right, n.left} {
				if c >= 0 {
					todo = append(todo, c)
				}
			}
		}
		b.roots[t] = made[root]
		for k := from; k < len(b.treeNodes); k++ {
			n := &b.treeNodes[k]
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
