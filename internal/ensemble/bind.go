package ensemble

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A Source states how an input of a model follows from a composition: Times·n/Over with a whole number n. n is the
// sum of the units of some ingredients, each times its weight, or with Count the number of them in use. With Presence
// n is 1 if that is positive, else 0. With Constant the input is Value.
type Source struct {
	Ingredients []int32
	Weights     []int64 // weight of each ingredient; nil for 1 each
	Count       bool
	Presence    bool
	Times       int64   // 0 counts as 1
	Over        float64 // 0 counts as 1

	Constant bool
	Value    float64 // NaN means a missing value
}

// value returns the input's value for the whole number n.
func (s *Source) value(n int64) float64 {
	if s.Presence {
		n = min(n, 1)
	}
	return float64(n*max(s.Times, 1)) / cmp.Or(s.Over, 1)
}

// A slot is a whole number, computed from the composition, that tests of tree nodes compare with thresholds.
type slot struct {
	source      *Source
	least, most int64
	ranks       []int64 // thresholds of a weighted slot, ascending; tests compare ranks among them. Nil for other slots
}

// An effect is how much one unit of an ingredient, or its use, changes a slot.
type effect struct {
	slot   int32
	weight int64
}

// A node is a test that compares a slot with a threshold. It encodes children as [Node] does.
type node struct {
	slot, threshold int32
	left, right     int32
}

// A Score is a model bound to compositions. It never changes, so any number of goroutines and scorers may use it.
type Score struct {
	*Model
	nodes   []node
	roots   []int32
	depths  []int32 // greatest number of tests on a path of each tree
	slots   []slot
	effects [][]effect // effects of each ingredient on slots
}

// maxWeighted is the greatest allowed magnitude of Σ weight·amount.
const maxWeighted = 1 << 61

// Bind returns the score of compositions of total units by a model. sources defines each of the model's inputs.
func Bind(m *Model, ingredients, total int, sources []Source) (*Score, error) {
	if len(sources) != len(m.Inputs) {
		return nil, fmt.Errorf("the model has %d inputs, and %d are given", len(m.Inputs), len(sources))
	}
	b := &binding{
		Score: &Score{Model: m, effects: make([][]effect, ingredients)},
		known: make(map[string]int32), cuts: make(map[test]cut), total: int64(total),
	}
	for k := range sources {
		if err := b.addSlot(&sources[k]); err != nil {
			return nil, fmt.Errorf("input %s: %w", m.Inputs[k], err)
		}
	}
	reduced, err := b.reduce(sources)
	if err != nil {
		return nil, err
	}
	b.rankThresholds(reduced)
	b.layOutNodes(reduced)
	return b.Score, nil
}

// A test is the condition of a node in the file: feature ≤ threshold. A cut is the condition on the slot that is
// equivalent: n ≤ at leads left or, if falling, right.
type test struct {
	feature   int32
	threshold float64
}

type cut struct {
	at      int64
	falling bool
}

type binding struct {
	*Score
	total      int64
	known      map[string]int32 // index of each slot by its definition
	inputSlots []int32          // slot of each input
	cuts       map[test]cut
}

// addSlot appends the slot of an input to inputSlots, making it if no earlier input has an equal one. A constant
// input has slot −1.
func (b *binding) addSlot(s *Source) error {
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
	made := slot{source: s}
	for k, q := range members {
		if k > 0 && q.Ingredient == members[k-1].Ingredient {
			return fmt.Errorf("ingredient %d counts twice", q.Ingredient)
		}
		if q.Weight > maxWeighted/b.total || q.Weight < -maxWeighted/b.total {
			return fmt.Errorf("a weight of %d is too large", q.Weight)
		}
		made.least, made.most = min(made.least, q.Weight*b.total), max(made.most, q.Weight*b.total)
	}
	if s.Count {
		made.most = min(int64(len(members)), b.total)
	}
	if made.most*max(s.Times, 1)/max(s.Times, 1) != made.most {
		return fmt.Errorf("a factor of %d is too large", s.Times)
	}
	key, err := binary.Append(nil, binary.LittleEndian, members)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%t %t %s", s.Count, s.Weights != nil, key)
	at, ok := b.known[name]
	if !ok {
		at = int32(len(b.slots))
		b.known[name] = at
		b.slots = append(b.slots, made)
		for _, q := range members {
			b.effects[q.Ingredient] = append(b.effects[q.Ingredient], effect{at, q.Weight})
		}
	}
	b.inputSlots = append(b.inputSlots, at)
	return nil
}

// cut returns the cut of node n's test, whose feature is computed from s.
func (b *binding) cut(n *Node, s *Source, at *slot) (cut, error) {
	key := test{n.Feature, n.Threshold}
	if c, ok := b.cuts[key]; ok {
		return c, nil
	}
	f := b.Features[n.Feature]
	value := func(k int64) float64 { return b.feature(f, s.value(k)) }
	first, last := value(at.least), value(at.most)
	if math.IsNaN(first+last) || math.IsInf(first+last, 0) {
		return cut{}, fmt.Errorf("input %s goes from %v to %v", b.Inputs[f.Input], first, last)
	}
	c := cut{falling: first > last}
	// bisection for the last whole number at which the test has the same result as at the least
	low, high := at.least-1, at.most
	for low < high {
		middle := low + (high-low+1)/2
		if (value(middle) <= n.Threshold) != c.falling {
			low = middle
		} else {
			high = middle - 1
		}
	}
	c.at = low
	b.cuts[key] = c
	return c, nil
}

// A reducedNode is a node whose threshold applies to the whole number of its slot.
type reducedNode struct {
	slot        int32
	threshold   int64
	left, right int32
}

// reduce converts the nodes of the model to reduced nodes. A test with only one possible result is replaced by the
// child that it leads to.
func (b *binding) reduce(sources []Source) ([]reducedNode, error) {
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
			v := b.feature(f, s.Value)
			if made[k] = right; v <= n.Threshold || math.IsNaN(v) && n.NaNLeft {
				made[k] = left
			}
			continue
		}
		slot := &b.slots[at]
		c, err := b.cut(n, s, slot)
		if err != nil {
			return nil, err
		}
		if c.falling {
			left, right = right, left
		}
		switch {
		case c.at < slot.least || left == right:
			made[k] = right
		case c.at >= slot.most:
			made[k] = left
		default:
			made[k] = int32(len(reduced))
			reduced = append(reduced, reducedNode{at, c.at, left, right})
		}
	}
	for _, r := range b.Model.roots {
		b.roots = append(b.roots, child(r))
	}
	return reduced, nil
}

// weighted reports whether a slot is compared by rank, because its numbers may not fit in 31 bits.
func (s *slot) weighted() bool { return s.source.Weights != nil }

// rankThresholds collects the different thresholds of each weighted slot, sorted, in its ranks.
func (b *binding) rankThresholds(reduced []reducedNode) {
	for _, n := range reduced {
		if s := &b.slots[n.slot]; s.weighted() {
			s.ranks = append(s.ranks, n.threshold)
		}
	}
	for k := range b.slots {
		s := &b.slots[k]
		slices.Sort(s.ranks)
		s.ranks = slices.Compact(s.ranks)
	}
}

// rankOf returns the number that tests compare in place of n: how many thresholds are below n. For slots without
// ranks it is n.
func (s *slot) rankOf(n int64) int32 {
	if !s.weighted() {
		return int32(n)
	}
	at, _ := slices.BinarySearch(s.ranks, n)
	return int32(at)
}

// layOutNodes stores the reachable nodes, tree by tree in preorder. It drops effects on slots that no test uses.
func (b *binding) layOutNodes(reduced []reducedNode) {
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
		b.depths = append(b.depths, 0)
		if root < 0 {
			continue
		}
		b.depths[t] = depth[root]
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
		all = slices.DeleteFunc(all, func(e effect) bool { return !tested[e.slot] })
		slices.SortFunc(all, func(a, b effect) int { return cmp.Compare(a.slot, b.slot) })
		b.effects[i] = all
	}
}
