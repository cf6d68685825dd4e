package count

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strconv"

	"kir/internal/browsersched"
	"kir/internal/portable"
)

// A frontier counts compositions under sums and crossing groups by dynamic programming over stages. A stage handles
// one class of ingredients. A state between two stages holds all that matters about the ingredients before: the
// values of the sums that also have terms after. A sum that can no longer be broken needs no value. Ingredients
// without sums come last, in a grid of their own.
//
// The number of states is small if each sum begins late and ends early in the order of stages (decision diagrams; the
// frontier method of Simpath, Knuth 2011, exercise 7.1.4–225).
type frontier struct {
	stages []stage
	sums   []Sum
	width  []int // width[c] is the number of states after c stages

	total      int
	steps      float64 // approximate number of steps of counting modulo one prime
	impossible bool    // whether no composition keeps the sums
}

// A stage is one class of ingredients, with their terms in sums and the transitions from each state before the stage
// to the states after it.
type stage struct {
	class
	terms    []Term // contribution of one ingredient to each sum; Term.Ingredient holds the index of the sum
	most     int    // greatest number of the class's ingredients that can be used
	maxUsed  int    // greatest number of used ingredients of this and all later stages together
	families []family
	states   []state // all states before the stage
}

// A state is a combination of values of the sums before a stage. It is stored by its family and its node there.
type state struct {
	family, node int32
	units        int // least units that the ingredients of earlier stages take
}

// A family is a set of states that agree in all sums that the stage does not change. The sums it changes are encoded
// in one number, the key, and each key is a node. One more used ingredient with a units moves from a key to key +
// perUse + a·perUnit.
type family struct {
	perUse, perUnit int64
	keys            []int64    // key of each node, increasing
	level           []int32    // for each node: the least number of the stage's ingredients on a way to it
	units           []int32    // for each node: the least units that all ingredients up to here take
	successor       []int32    // for each node: the index of the state after the stage; −1 if the sums cannot be kept
	starts          [][2]int32 // pairs of a state's index and its node
}

func (f *family) at(key int64) int32 {
	if n, ok := slices.BinarySearch(f.keys, key); ok {
		return int32(n)
	}
	return -1
}

// settledValue stands in a state for the value of a sum that can no longer be broken.
const settledValue = math.MinInt64

// A deviation is the value of a sum that differs from its idle value, the value while none of its ingredients is
// used. States store only deviations and so stay short, because with many rules most sums have no used ingredient.
type deviation struct {
	sum   int32
	value int64
}

// A frontierBuilder finds the states of a frontier, stage by stage from the first.
type frontierBuilder struct {
	f       *frontier
	last    []int          // for each sum: the last stage with a term in it
	after   []map[int]span // for each stage: least and greatest that later stages can add to its sums
	limit   float64        // greatest number of table cells allowed for the frontier
	cells   float64
	nodes   int
	idle    []int64       // for each sum: its value while no ingredient of it is used, which is 0 or settledValue
	slot    []int32       // for each sum: index of its term in the current stage, or −1
	values  [][]deviation // deviations of each state, ordered by sum
	states  []state
	found   map[string]int32
	scratch []byte
	next    []deviation
}

// newFrontier orders the stages and finds their states. rest is the number of ingredients in no
// stage, most the greatest number of used ingredients. It returns a [SizeError] if tables over the
// states have more cells than the limit.
func newFrontier(ctx context.Context, stages []stage, sums []Sum, rest, most, total int, limit float64) (*frontier, error) {
	spans := make([]span, len(sums))
	all := make([]termBounds, len(sums))
	for _, st := range stages {
		for _, t := range st.terms {
			all[t.Ingredient].add(st.kind, st.required, len(st.members), t)
		}
	}
	for s := range spans {
		spans[s] = all[s].span(total, most)
	}
	orderClasses(stages, spans)
	w := &frontierBuilder{f: &frontier{stages: stages, sums: sums, total: total}, last: make([]int, len(sums)), limit: limit}
	w.after = make([]map[int]span, len(stages))
	clear(all)
	used := min(rest, most)
	for c, st := range slices.Backward(stages) {
		w.after[c] = make(map[int]span)
		for _, t := range st.terms {
			if w.last[t.Ingredient] == 0 {
				w.last[t.Ingredient] = c
			}
			w.after[c][t.Ingredient] = all[t.Ingredient].span(total, most)
			all[t.Ingredient].add(st.kind, st.required, len(st.members), t)
		}
		used = min(used+len(st.members), most)
		stages[c].maxUsed = used
		stages[c].most = min(len(st.members), most, total/st.kind.lo)
		if st.required && stages[c].most < len(st.members) {
			w.f.impossible = true
		}
	}
	w.idle, w.slot = make([]int64, len(sums)), make([]int32, len(sums))
	for k := range w.slot {
		w.slot[k] = -1
	}
	w.values, w.states = [][]deviation{nil}, []state{{}}
	for c := range stages {
		if w.f.impossible {
			break
		}
		if err := cmp.Or(browsersched.Err(ctx), w.advance(ctx, c)); err != nil {
			return nil, err
		}
	}
	w.f.width = append(w.f.width, len(w.states))
	if len(w.states) == 0 {
		w.f.impossible = true
	}
	return w.f, nil
}

// advance computes the states after stage c from w.states, the states before it, and fills in the stage's families.
func (w *frontierBuilder) advance(ctx context.Context, c int) error {
	st := &w.f.stages[c]
	st.states = w.states
	w.f.width = append(w.f.width, len(w.states))
	active := make([]int, len(st.terms))
	for k, t := range st.terms {
		active[k], w.slot[t.Ingredient] = t.Ingredient, int32(k)
	}

	// A start is a state from which a family begins. The states of one family agree in all sums that the stage does
	// not change, and in which of the changed sums are settled.
	type start struct {
		of     int32
		values []int64 // value of each sum that the stage changes
	}
	var starts [][]start
	families := make(map[string]int)
	room := make([]int64, len(active)*len(w.values))
	for x, v := range w.values {
		one := start{of: int32(x), values: room[:len(active):len(active)]}
		room = room[len(active):]
		for k, s := range active {
			one.values[k] = w.idle[s]
		}
		w.scratch = w.scratch[:0]
		for _, d := range v {
			if k := w.slot[d.sum]; k >= 0 {
				one.values[k] = d.value
			} else {
				w.scratch = d.append(w.scratch)
			}
		}
		for _, v := range one.values {
			w.scratch = strconv.AppendBool(w.scratch, v == settledValue)
		}
		f, ok := families[string(w.scratch)]
		if !ok {
			f = len(starts)
			families[string(w.scratch)] = f
			starts = append(starts, nil)
		}
		starts[f] = append(starts[f], one)
	}
	for _, s := range active {
		if more := w.after[c][s]; more.lo >= w.f.sums[s].Min && more.hi <= w.f.sums[s].Max {
			w.idle[s] = settledValue
		}
	}
	before := w.values
	w.values, w.states, w.found = nil, nil, make(map[string]int32)
	st.families = make([]family, len(starts))
	for n, list := range starts {
		if n%(1<<12) == 0 {
			if err := browsersched.Err(ctx); err != nil {
				return err
			}
		}
		// The key has one digit for each changed sum that is not settled.
		d := digits{sums: w.f.sums, after: w.after[c], total: w.f.total, st: st}
		for k, s := range active {
			if list[0].values[k] != settledValue {
				d.add(k, s, list[0].values[k])
			}
		}
		for _, one := range list[1:] {
			d.widenTo(one.values)
		}
		if !d.assignWeights() {
			return w.tooLarge(math.MaxInt64)
		}
		f := &st.families[n]
		f.perUse, f.perUnit = d.perUse, d.perUnit
		keys := make([]int64, len(list))
		for k, one := range list {
			keys[k] = d.key(one.values)
		}
		if err := w.findNodes(st, f, &d, keys, func(k int) int { return st.states[list[k].of].units }); err != nil {
			return err
		}
		for k, one := range list {
			node := f.at(keys[k])
			f.starts = append(f.starts, [2]int32{one.of, node})
			x := &st.states[one.of]
			x.family, x.node = int32(n), node
		}
		f.successor = make([]int32, len(f.keys))
		for node, key := range f.keys {
			d.decode(key)
			f.successor[node] = w.stateAfter(c, &d, active, before[list[0].of], int(f.units[node]))
		}
	}
	for _, s := range active {
		w.slot[s] = -1
	}
	return nil
}

// append appends the deviation's encoding to a slice of bytes.
func (d deviation) append(to []byte) []byte {
	return binary.AppendVarint(binary.AppendUvarint(to, uint64(d.sum)), d.value)
}

// stateAfter returns the index of the state after stage c, adding the state if it is new. d holds the values of the
// sums that the stage changes, and before those of the other sums. It returns −1 if the sums can no longer be kept.
func (w *frontierBuilder) stateAfter(c int, d *digits, active []int, before []deviation, units int) int32 {
	w.next = w.next[:0]
	for _, v := range before {
		if w.slot[v.sum] < 0 {
			w.next = append(w.next, v)
		}
	}
	of := d.list
	for k, s := range active {
		value := int64(settledValue)
		if len(of) > 0 && of[0].active == k {
			g := of[0]
			of = of[1:]
			lo, hi := g.value+g.more.lo, g.value+g.more.hi
			if hi < g.sum.Min || lo > g.sum.Max {
				return -1
			}
			if lo < g.sum.Min || hi > g.sum.Max {
				value = g.value
			}
		}
		if w.last[s] > c && value != w.idle[s] {
			w.next = append(w.next, deviation{int32(s), value})
		}
	}
	w.scratch = w.scratch[:0]
	for _, v := range w.next {
		w.scratch = v.append(w.scratch)
	}
	x, ok := w.found[string(w.scratch)]
	if !ok {
		x = int32(len(w.states))
		w.found[string(w.scratch)] = x
		w.values = append(w.values, slices.Clone(w.next))
		w.states = append(w.states, state{units: units})
	}
	w.states[x].units = min(w.states[x].units, units)
	return x
}

// findNodes fills in the nodes of family f: the keys that result when 0 to st.most ingredients of
// the stage are added to a state of the family. keys are the keys of these states, and units(k) are
// the least units that earlier ingredients take in state k. d decides which keys can still keep the
// sums. It returns a [SizeError] if the tables get too large.
func (w *frontierBuilder) findNodes(st *stage, f *family, d *digits, keys []int64, units func(k int) int) error {
	type place struct {
		units, level int32
	}
	found := make(map[int64]place)
	now := make(map[int64]int32) // for each key: the least units with level ingredients of the stage used
	for k, key := range keys {
		if u, ok := now[key]; !ok || int32(units(k)) < u {
			now[key] = int32(units(k))
		}
	}
	type mark struct{ units, left int32 }
	for level := int32(0); ; level++ {
		for key, u := range now { // each key is handled alone, so the random order does not matter
			if was, ok := found[key]; !ok {
				found[key] = place{u, level}
			} else if u < was.units {
				found[key] = place{u, was.level}
			}
		}
		if int(level) == st.most || len(now) == 0 || f.perUse == 0 && f.perUnit == 0 {
			break
		}
		seen := make(map[int64]mark)
		cells := w.cells
		for _, key := range slices.Sorted(maps.Keys(now)) {
			at := now[key] + int32(st.kind.lo)
			key += f.perUse + int64(st.kind.lo)*f.perUnit
			for left := int32(st.kind.n); left > 0 && int(at) <= w.f.total && !d.isInfeasible(key); left-- {
				// If the earlier visit of the key had no more units and no fewer amounts to come, it reached all
				// nodes that this one would.
				was, ok := seen[key]
				switch {
				case ok && was.units <= at && was.left >= left:
					left = 0
					continue
				case ok:
					at, left = min(at, was.units), max(left, was.left)
				default:
					if cells += w.cost(st, int(at)); cells > w.limit || len(seen) > maxNodes {
						return w.tooLarge(cells)
					}
				}
				seen[key] = mark{at, left}
				if f.perUnit == 0 {
					break
				}
				key += int64(st.kind.step) * f.perUnit
				at += int32(st.kind.step)
			}
		}
		clear(now)
		for key, m := range seen {
			now[key] = m.units
		}
	}
	f.keys = make([]int64, 0, len(found))
	for key := range found {
		f.keys = append(f.keys, key)
	}
	slices.Sort(f.keys)
	for _, key := range f.keys {
		f.level = append(f.level, found[key].level)
		f.units = append(f.units, found[key].units)
		cells := w.cost(st, int(found[key].units))
		w.cells += cells
		w.f.steps += float64(cells * float64(st.most) * st.passCount(f))
	}
	if w.nodes += len(f.keys); w.cells > w.limit || w.nodes > maxNodes {
		return w.tooLarge(w.cells)
	}
	return nil
}

// cost returns the number of cells of a node's grid, if earlier ingredients take the given units. It includes the
// overhead of the rows.
func (w *frontierBuilder) cost(st *stage, units int) float64 {
	const besides = 32
	return float64(float64(w.f.total-units+1+besides) * float64(st.maxUsed+1))
}

// storedCells returns the total number of cells of the grids of all states before all stages.
func (f *frontier) storedCells() float64 {
	cells := 0.0
	for c := range f.stages {
		for _, s := range f.stages[c].states {
			cells += float64(float64(f.total-s.units+1) * float64(f.stages[c].maxUsed+1))
		}
	}
	return cells
}

// peakCells returns the greatest number of cells in memory at one time during counting. These are the grids of all
// states before and after a stage, and four grids for each node of a family.
func (f *frontier) peakCells() float64 {
	widest, after := 0.0, 0.0
	for _, st := range slices.Backward(f.stages) {
		own, most := 0.0, 0.0
		for _, s := range st.states {
			own += float64(float64(f.total-s.units+1) * float64(st.maxUsed+1))
		}
		for n := range st.families {
			nodes := 0.0
			for _, units := range st.families[n].units {
				nodes += float64(float64(f.total-int(units)+1) * float64(st.maxUsed+1))
			}
			most = max(most, nodes)
		}
		widest, after = max(widest, own+after+float64(4*most)), own
	}
	return widest
}

// passCount returns how often each cell is visited when one more ingredient is added.
func (st *stage) passCount(f *family) float64 {
	switch {
	case f.perUnit == 0:
		return 2
	case st.kind.unbounded(math.MaxInt32):
		return 4
	}
	return 4 + float64(4*portable.Log2(float64(st.kind.n)))
}

// maxNodes is the greatest number of nodes of a frontier. Finding so many takes some seconds.
const maxNodes = 1 << 20

func (w *frontierBuilder) tooLarge(cells float64) error {
	return &SizeError{cells, w.limit, "cells of tables for rules that are open together"}
}
