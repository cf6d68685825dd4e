package count

import "context"

// A stageTables holds the tables with which a [Sampler] draws the ingredients and amounts of one stage of a
// [frontier].
type stageTables struct {
	*stage
	continuations [][]series // continuations[x][k] counts, for state x after the stage, the ways to continue with k used ingredients, by units
	leaf          *node      // tree node that draws the amounts of the stage
	shares        []series   // shares[j] counts, by units, the choices of amounts for j used ingredients
	memberChoices []float64  // memberChoices[j] is the number of choices of j ingredients of the class
}

// buildFrontier computes the tables for draws from a plan with a [frontier]. The result root is the tree of the
// ingredients without sums, or nil if there are no such ingredients. The result stages holds the tables of each
// stage.
func (b *treeBuilder) buildFrontier(ctx context.Context, p *plan) (root *node, stages []stageTables, err error) {
	rest := newGrid[pairRow, pairFactor](&compensatedArithmetic{tilt: b.tilt}, 0, p.total)
	last := []series{roundedRow(&rest.rows[0])}
	if p.root.memberCount > 0 {
		if root, rest, err = b.buildGroup(ctx, p.root, false); err != nil {
			return nil, nil, err
		}
		last = root.rows
	}
	stages = make([]stageTables, len(p.frontier.stages))
	after := [][]series{last}
	_, err = countByFrontier(ctx, rest.arith, p, rest, func(c int, before []*pairGrid) {
		st := &p.frontier.stages[c]
		d := &stages[c]
		*d = stageTables{stage: st, continuations: after, shares: b.fillShares(st.amounts, p.total, st.maxMembers), leaf: &node{class: &st.class}}
		if !st.amounts.unbounded(p.total) {
			d.leaf.shares = d.shares
		}
		for _, ways := range binomials(len(st.members), st.maxMembers) {
			x, _ := ways.Float64()
			d.memberChoices = append(d.memberChoices, x)
		}
		if st.required {
			clear(d.memberChoices)
			d.memberChoices[st.maxMembers] = 1
		}
		after = make([][]series, len(before))
		for x, g := range before {
			after[x] = roundedRows(g)
		}
	})
	return root, stages, err
}

// countAt returns the count for k used ingredients that take the given units. Item k of rows holds the counts for
// k used ingredients. The count is 0 outside the table.
func countAt(rows []series, k, units int) float64 {
	if k < 0 || k >= len(rows) || units < rows[k].lo || units > rows[k].hi() {
		return 0
	}
	return rows[k].values[units-rows[k].lo]
}

// appendWeights appends the weights with which the units of j used ingredients of the stage are drawn. The first
// weight is for shares[j].lo units, the next for one unit more, and so on. The state before the stage is the
// given node of family f. In all, k used ingredients and the given units remain for this stage and all later
// stages.
func (d *stageTables) appendWeights(weights []float64, f *family, node int32, j, k, units int) []float64 {
	share := d.shares[j]
	for at, w := range share.values {
		u := share.lo + at
		if u > units {
			break
		}
		x := 0.0
		if w > 0 {
			if to := f.nodeOf(f.keys[node] + int64(j)*f.perUse + int64(u)*f.perUnit); to >= 0 && f.successor[to] >= 0 {
				x = float64(w * countAt(d.continuations[f.successor[to]], k-j, units-u))
			}
		}
		weights = append(weights, x)
	}
	return weights
}

// weightOfUsed returns the weight with which j is drawn as the number of used ingredients of the stage: the sum
// over all units that the j ingredients can take. For the other parameters see appendWeights. weightOfUsed also
// returns the slice scratch for reuse.
func (d *stageTables) weightOfUsed(scratch []float64, f *family, node int32, j, k, units int) (float64, []float64) {
	if d.memberChoices[j] == 0 {
		return 0, scratch
	}
	if f.perUnit == 0 {
		to := f.nodeOf(f.keys[node] + int64(j)*f.perUse)
		if to < 0 || f.successor[to] < 0 || k-j >= len(d.continuations[f.successor[to]]) {
			return 0, scratch
		}
		return float64(d.memberChoices[j] * dotAt(d.shares[j], d.continuations[f.successor[to]][k-j], units)), scratch
	}
	scratch = d.appendWeights(scratch[:0], f, node, j, k, units)
	sum, rest, e := 0.0, 0.0, 0.0
	for _, w := range scratch {
		sum, e = twoSum(sum, w)
		rest += e
	}
	return float64(d.memberChoices[j] * (sum + rest)), scratch
}

// drawFrontier draws a composition of n ingredients stage by stage. For each stage the draw chooses how many
// ingredients of the stage are used, which ingredients are used, and how many units the used ingredients take.
// The choices give the next state. Last, the tree draws the ingredients without sums.
func (d *partialDraw) drawFrontier(n int) {
	k, units, state := n, d.table.plan.total, int32(0)
	for c := range d.stages {
		st := &d.stages[c]
		f, node := &st.families[st.states[state].familyIndex], st.states[state].nodeIndex
		d.usedCountWeights = d.usedCountWeights[:0]
		for j := range min(st.maxMembers, k) + 1 {
			var w float64
			w, d.weightBuffer = st.weightOfUsed(d.weightBuffer, f, node, j, k, units)
			d.usedCountWeights = append(d.usedCountWeights, w)
		}
		j, u := d.choose(d.usedCountWeights), 0
		if j > 0 {
			d.weightBuffer = st.appendWeights(d.weightBuffer[:0], f, node, j, k, units)
			u = st.shares[j].lo + d.choose(d.weightBuffer)
			d.drawLeaf(st.leaf, j, u)
		}
		state = f.successor[f.nodeOf(f.keys[node]+int64(j)*f.perUse+int64(u)*f.perUnit)]
		k, units = k-j, units-u
	}
	d.drawNode(d.Sampler.root, k, units)
}
