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

// A frontier counts compositions under weighted sums and crossing groups by dynamic programming over stages. A
// stage handles one class of ingredients. A state between two stages stands for everything that matters about the
// ingredients of earlier stages: the values of the sums that also have terms in later stages. A sum that can no
// longer be broken needs no value. Ingredients without sums come last, in a separate grid.
//
// The number of states is small if, in the order of the stages, each sum has its first and its last term close
// together (decision diagrams; the frontier method of Simpath, Knuth 2011, exercise 7.1.4–225).
type frontier struct {
	stages      []stage
	sums        []Sum // the sums to keep
	stateCounts []int // item c is the number of states after c stages

	total      int     // total units of a composition
	steps      float64 // approximate number of steps of counting modulo one prime
	impossible bool    // whether no composition keeps the sums
}

// A stage is one class of ingredients, with the terms of the class in sums, and with the transitions from each
// state before the stage to the states after the stage.
type stage struct {
	class
	terms         []Term   // one term for each sum that the class is in: the contribution of one ingredient; Term.Ingredient holds the index of the sum
	maxMembers    int      // maximum number of used ingredients of the class
	maxUsedOnward int      // maximum number of used ingredients of this stage and all later stages together
	families      []family // the states before the stage, grouped, with their transitions
	states        []state  // all states before the stage
}

// A state is one combination of values that the sums can have before a stage. The combination is stored in a
// [family], at a node of the family.
type state struct {
	familyIndex, nodeIndex int32 // index of the family in the stage, and index of the node in the family
	minUnits               int   // least number of units that the ingredients of earlier stages take
}

// A family is a set of states before a stage that agree in all sums that the stage does not change. The values of
// the sums that the stage changes are encoded in one number, the key. Each key that can occur within the stage is
// a node. One more used ingredient of the stage with a units leads from key x to key x + perUse + a·perUnit.
type family struct {
	perUse, perUnit int64      // change of the key for each used ingredient (perUse) and for each unit (perUnit)
	keys            []int64    // item x is the key of node x; keys increase
	minMembers      []int32    // item x is the least number of the stage's ingredients that lead from a state to node x
	minUnits        []int32    // item x is the least number of units that the ingredients of the stage and of earlier stages take at node x
	successor       []int32    // item x is the index of the state after the stage to which node x leads; −1 if the sums are then certain to be broken
	startNodes      [][2]int32 // one pair for each state of the family: index of the state in the stage, and index of the node of the state
}

// nodeOf returns the index of the node with the given key, or −1 if there is no such node.
func (f *family) nodeOf(key int64) int32 {
	if n, ok := slices.BinarySearch(f.keys, key); ok {
		return int32(n)
	}
	return -1
}

// settledValue is stored in a state instead of the value of a sum that can no longer be broken.
const settledValue = math.MinInt64

// A deviation is the value of one sum in a state, stored only if the value is not the idle value. The idle value
// is the value while none of the sum's ingredients is used. With many rules most sums have no used ingredient, so
// states have few deviations.
type deviation struct {
	sumIndex int32 // index of the sum
	value    int64
}

// A frontierBuilder finds the states of a [frontier], from the first stage to the last.
type frontierBuilder struct {
	frontier        *frontier        // the frontier to build
	lastStage       []int            // item s is the index of the last stage with a term in sum s
	laterSpans      []map[int]span   // item c maps the index of a sum to the least and greatest value that the stages after stage c can add to the sum
	maxCells        float64          // maximum number of table cells that all states together may need
	cellCount       float64          // number of table cells needed so far
	nodeCount       int              // number of nodes found so far
	idleValues      []int64          // item s is the value of sum s while no ingredient of the sum is used: 0, or settledValue once the sum can no longer be broken
	termIndex       []int32          // item s is the index in the current stage of the term in sum s; −1 if the stage has no such term
	stateDeviations [][]deviation    // item x lists the deviations of state x, in ascending order of sums
	states          []state          // states after the latest stage
	stateIndex      map[string]int32 // maps the encoded deviations of a state to the index of the state
	keyBuffer       []byte           // buffer for encoded deviations
	nextDeviations  []deviation      // buffer for the deviations of a new state
}

// newFrontier puts the stages in order and finds the states before and after each stage. The parameter rest is
// the number of ingredients in no stage, and maxUsedOnward is the maximum number of used ingredients. newFrontier
// returns a [SizeError] if the tables of the states have more than maxCells cells.
func newFrontier(ctx context.Context, stages []stage, sums []Sum, rest, maxUsed, total int, maxCells float64) (*frontier, error) {
	spans := make([]span, len(sums))
	all := make([]termBounds, len(sums))
	for _, st := range stages {
		for _, t := range st.terms {
			all[t.Ingredient].add(st.amounts, st.required, len(st.members), t)
		}
	}
	for s := range spans {
		spans[s] = all[s].span(total, maxUsed)
	}
	orderStages(stages, spans)
	w := &frontierBuilder{frontier: &frontier{stages: stages, sums: sums, total: total}, lastStage: make([]int, len(sums)), maxCells: maxCells}
	w.laterSpans = make([]map[int]span, len(stages))
	clear(all)
	used := min(rest, maxUsed)
	for c, st := range slices.Backward(stages) {
		w.laterSpans[c] = make(map[int]span)
		for _, t := range st.terms {
			if w.lastStage[t.Ingredient] == 0 {
				w.lastStage[t.Ingredient] = c
			}
			w.laterSpans[c][t.Ingredient] = all[t.Ingredient].span(total, maxUsed)
			all[t.Ingredient].add(st.amounts, st.required, len(st.members), t)
		}
		used = min(used+len(st.members), maxUsed)
		stages[c].maxUsedOnward = used
		stages[c].maxMembers = min(len(st.members), maxUsed, total/st.amounts.lo)
		if st.required && stages[c].maxMembers < len(st.members) {
			w.frontier.impossible = true
		}
	}
	w.idleValues, w.termIndex = make([]int64, len(sums)), make([]int32, len(sums))
	for k := range w.termIndex {
		w.termIndex[k] = -1
	}
	w.stateDeviations, w.states = [][]deviation{nil}, []state{{}}
	for c := range stages {
		if w.frontier.impossible {
			break
		}
		if err := cmp.Or(browsersched.Err(ctx), w.advance(ctx, c)); err != nil {
			return nil, err
		}
	}
	w.frontier.stateCounts = append(w.frontier.stateCounts, len(w.states))
	if len(w.states) == 0 {
		w.frontier.impossible = true
	}
	return w.frontier, nil
}

// advance replaces w.states, the states before stage c, by the states after stage c. advance also fills in the
// families of stage c.
func (w *frontierBuilder) advance(ctx context.Context, c int) error {
	st := &w.frontier.stages[c]
	st.states = w.states
	w.frontier.stateCounts = append(w.frontier.stateCounts, len(w.states))
	active := make([]int, len(st.terms))
	for k, t := range st.terms {
		active[k], w.termIndex[t.Ingredient] = t.Ingredient, int32(k)
	}

	// A start is a state from which a family begins. The states of a family agree in all sums that the stage
	// does not change, and in which of the changed sums are settled.
	type start struct {
		of     int32
		values []int64 // value of each sum that the stage changes
	}
	var starts [][]start
	families := make(map[string]int)
	room := make([]int64, len(active)*len(w.stateDeviations))
	for x, v := range w.stateDeviations {
		one := start{of: int32(x), values: room[:len(active):len(active)]}
		room = room[len(active):]
		for k, s := range active {
			one.values[k] = w.idleValues[s]
		}
		w.keyBuffer = w.keyBuffer[:0]
		for _, d := range v {
			if k := w.termIndex[d.sumIndex]; k >= 0 {
				one.values[k] = d.value
			} else {
				w.keyBuffer = d.appendTo(w.keyBuffer)
			}
		}
		for _, v := range one.values {
			w.keyBuffer = strconv.AppendBool(w.keyBuffer, v == settledValue)
		}
		f, ok := families[string(w.keyBuffer)]
		if !ok {
			f = len(starts)
			families[string(w.keyBuffer)] = f
			starts = append(starts, nil)
		}
		starts[f] = append(starts[f], one)
	}
	for _, s := range active {
		if more := w.laterSpans[c][s]; more.lo >= w.frontier.sums[s].Min && more.hi <= w.frontier.sums[s].Max {
			w.idleValues[s] = settledValue
		}
	}
	before := w.stateDeviations
	w.stateDeviations, w.states, w.stateIndex = nil, nil, make(map[string]int32)
	st.families = make([]family, len(starts))
	for n, list := range starts {
		if n%(1<<12) == 0 {
			if err := browsersched.Err(ctx); err != nil {
				return err
			}
		}
		// The key has one digit for each changed sum that is not settled.
		d := keyDigits{sums: w.frontier.sums, laterSpans: w.laterSpans[c], total: w.frontier.total, stage: st}
		for k, s := range active {
			if list[0].values[k] != settledValue {
				d.addDigit(k, s, list[0].values[k])
			}
		}
		for _, one := range list[1:] {
			d.widenTo(one.values)
		}
		if !d.assignWeights() {
			return w.sizeError(math.MaxInt64)
		}
		f := &st.families[n]
		f.perUse, f.perUnit = d.perUse, d.perUnit
		keys := make([]int64, len(list))
		for k, one := range list {
			keys[k] = d.key(one.values)
		}
		if err := w.findNodes(st, f, &d, keys, func(k int) int { return st.states[list[k].of].minUnits }); err != nil {
			return err
		}
		for k, one := range list {
			node := f.nodeOf(keys[k])
			f.startNodes = append(f.startNodes, [2]int32{one.of, node})
			x := &st.states[one.of]
			x.familyIndex, x.nodeIndex = int32(n), node
		}
		f.successor = make([]int32, len(f.keys))
		for node, key := range f.keys {
			d.decode(key)
			f.successor[node] = w.stateAfter(c, &d, active, before[list[0].of], int(f.minUnits[node]))
		}
	}
	for _, s := range active {
		w.termIndex[s] = -1
	}
	return nil
}

// appendTo appends the encoding of the deviation to a slice of bytes.
func (d deviation) appendTo(to []byte) []byte {
	return binary.AppendVarint(binary.AppendUvarint(to, uint64(d.sumIndex)), d.value)
}

// stateAfter returns the index of a state after stage c, and adds the state if the state is new. The digits d
// hold the values of the sums that the stage changes, whose indices are in active; before holds the deviations of
// the other sums; units is the least number of units that earlier ingredients take. The result is −1 if the sums
// are certain to be broken.
func (w *frontierBuilder) stateAfter(c int, d *keyDigits, active []int, before []deviation, units int) int32 {
	w.nextDeviations = w.nextDeviations[:0]
	for _, v := range before {
		if w.termIndex[v.sumIndex] < 0 {
			w.nextDeviations = append(w.nextDeviations, v)
		}
	}
	of := d.digitList
	for k, s := range active {
		value := int64(settledValue)
		if len(of) > 0 && of[0].termIndex == k {
			g := of[0]
			of = of[1:]
			lo, hi := g.value+g.laterSpan.lo, g.value+g.laterSpan.hi
			if hi < g.sum.Min || lo > g.sum.Max {
				return -1
			}
			if lo < g.sum.Min || hi > g.sum.Max {
				value = g.value
			}
		}
		if w.lastStage[s] > c && value != w.idleValues[s] {
			w.nextDeviations = append(w.nextDeviations, deviation{int32(s), value})
		}
	}
	w.keyBuffer = w.keyBuffer[:0]
	for _, v := range w.nextDeviations {
		w.keyBuffer = v.appendTo(w.keyBuffer)
	}
	x, ok := w.stateIndex[string(w.keyBuffer)]
	if !ok {
		x = int32(len(w.states))
		w.stateIndex[string(w.keyBuffer)] = x
		w.stateDeviations = append(w.stateDeviations, slices.Clone(w.nextDeviations))
		w.states = append(w.states, state{minUnits: units})
	}
	w.states[x].minUnits = min(w.states[x].minUnits, units)
	return x
}

// findNodes fills in the nodes of family f. The nodes are the keys that result when 0 to st.maxMembers
// ingredients of the stage are added to a state of the family. Item k of keys is the key of state k of the
// family, and units(k) is the least number of units that earlier ingredients take in that state. Keys at which
// the digits d show that a sum is certain to be broken are left out. findNodes returns a [SizeError] if the
// tables get too large.
func (w *frontierBuilder) findNodes(st *stage, f *family, d *keyDigits, keys []int64, units func(k int) int) error {
	type place struct {
		units, level int32
	}
	found := make(map[int64]place)
	now := make(map[int64]int32) // for each key: the least number of units with level used ingredients of the stage
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
		if int(level) == st.maxMembers || len(now) == 0 || f.perUse == 0 && f.perUnit == 0 {
			break
		}
		seen := make(map[int64]mark)
		cells := w.cellCount
		for _, key := range slices.Sorted(maps.Keys(now)) {
			at := now[key] + int32(st.amounts.lo)
			key += f.perUse + int64(st.amounts.lo)*f.perUnit
			for left := int32(st.amounts.n); left > 0 && int(at) <= w.frontier.total && !d.isInfeasible(key); left-- {
				// If the earlier visit of the key had no more units and no fewer amounts to come, the earlier
				// visit reached all nodes that this visit would reach.
				was, ok := seen[key]
				switch {
				case ok && was.units <= at && was.left >= left:
					left = 0
					continue
				case ok:
					at, left = min(at, was.units), max(left, was.left)
				default:
					if cells += w.nodeCells(st, int(at)); cells > w.maxCells || len(seen) > maxNodes {
						return w.sizeError(cells)
					}
				}
				seen[key] = mark{at, left}
				if f.perUnit == 0 {
					break
				}
				key += int64(st.amounts.step) * f.perUnit
				at += int32(st.amounts.step)
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
		f.minMembers = append(f.minMembers, found[key].level)
		f.minUnits = append(f.minUnits, found[key].units)
		cells := w.nodeCells(st, int(found[key].units))
		w.cellCount += cells
		w.frontier.steps += float64(cells * float64(st.maxMembers) * st.passCount(f))
	}
	if w.nodeCount += len(f.keys); w.cellCount > w.maxCells || w.nodeCount > maxNodes {
		return w.sizeError(w.cellCount)
	}
	return nil
}

// nodeCells returns the number of cells of the grid of one node, if earlier ingredients take the given units. The
// number includes an allowance for the overhead of the rows.
func (w *frontierBuilder) nodeCells(st *stage, units int) float64 {
	const besides = 32
	return float64(float64(w.frontier.total-units+1+besides) * float64(st.maxUsedOnward+1))
}

// storedCells returns the total number of cells of the grids of all states before all stages.
func (f *frontier) storedCells() float64 {
	cells := 0.0
	for c := range f.stages {
		for _, s := range f.stages[c].states {
			cells += float64(float64(f.total-s.minUnits+1) * float64(f.stages[c].maxUsedOnward+1))
		}
	}
	return cells
}

// peakCells returns the maximum number of cells in memory at one time during counting. The cells are the grids
// of all states before and after a stage, and four grids for each node of a family.
func (f *frontier) peakCells() float64 {
	widest, after := 0.0, 0.0
	for _, st := range slices.Backward(f.stages) {
		own, most := 0.0, 0.0
		for _, s := range st.states {
			own += float64(float64(f.total-s.minUnits+1) * float64(st.maxUsedOnward+1))
		}
		for n := range st.families {
			nodes := 0.0
			for _, units := range st.families[n].minUnits {
				nodes += float64(float64(f.total-int(units)+1) * float64(st.maxUsedOnward+1))
			}
			most = max(most, nodes)
		}
		widest, after = max(widest, own+after+float64(4*most)), own
	}
	return widest
}

// passCount returns how many times each cell of the grids of family f is visited when one more ingredient of the
// stage is added.
func (st *stage) passCount(f *family) float64 {
	switch {
	case f.perUnit == 0:
		return 2
	case st.amounts.unbounded(math.MaxInt32):
		return 4
	}
	return 4 + float64(4*portable.Log2(float64(st.amounts.n)))
}

// maxNodes is the maximum number of nodes of a frontier. Finding this number of nodes takes some seconds.
const maxNodes = 1 << 20

func (w *frontierBuilder) sizeError(cells float64) error {
	return &SizeError{cells, w.maxCells, "table cells for constraints that share ingredients"}
}
