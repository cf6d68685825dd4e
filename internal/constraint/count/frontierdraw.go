package count

import "context"

// A stageDraw holds the tables with which a [Sampler] draws the ingredients and amounts of one stage.
type stageDraw struct {
	*stage
	after  [][]series // for each state after the stage: counts of the ways to continue, by ingredients used and units
	leaf   *node      // tree node that draws the stage's amounts
	shares []series   // shares[j]: counts, by units, of the choices of amounts for j used ingredients
	choose []float64  // choose[j]: number of choices of j ingredients of the class
}

// buildFrontier computes the tables for draws from a plan with a buildFrontier. root is the tree of the ingredients
// without sums, or nil if there are none. stages holds the tables of each stage.
func (b *treeBuilder) buildFrontier(ctx context.Context, p *plan) (root *node, stages []stageDraw, err error) {
	rest := newGrid[pair, real](&compensatedArithmetic{tilt: b.tilt}, 0, p.total)
	last := []series{roundedRow(&rest.rows[0])}
	if p.root.members > 0 {
		if root, rest, err = b.buildGroup(ctx, p.root, false); err != nil {
			return nil, nil, err
		}
		last = root.rows
	}
	stages = make([]stageDraw, len(p.frontier.stages))
	after := [][]series{last}
	_, err = completions(ctx, rest.arith, p, rest, func(c int, before []*pairGrid) {
		st := &p.frontier.stages[c]
		d := &stages[c]
		*d = stageDraw{stage: st, after: after, shares: b.fillShares(st.kind, p.total, st.most), leaf: &node{class: &st.class}}
		if !st.kind.unbounded(p.total) {
			d.leaf.shares = d.shares
		}
		for _, ways := range binomials(len(st.members), st.most) {
			x, _ := ways.Float64()
			d.choose = append(d.choose, x)
		}
		if st.required {
			clear(d.choose)
			d.choose[st.most] = 1
		}
		after = make([][]series, len(before))
		for x, g := range before {
			after[x] = rounded(g)
		}
	})
	return root, stages, err
}

// cell returns the count for k used ingredients that take the given units, 0 outside the table.
func cell(rows []series, k, units int) float64 {
	if k < 0 || k >= len(rows) || units < rows[k].lo || units > rows[k].hi() {
		return 0
	}
	return rows[k].v[units-rows[k].lo]
}

// appendWeights appends the weights of drawing u = shares[j].lo, ... units for j used ingredients of the stage. The
// state is at a node of family f; k ingredients and the given units remain for this and later stages.
func (d *stageDraw) appendWeights(weights []float64, f *family, node int32, j, k, units int) []float64 {
	share := d.shares[j]
	for at, w := range share.v {
		u := share.lo + at
		if u > units {
			break
		}
		x := 0.0
		if w > 0 {
			if to := f.at(f.keys[node] + int64(j)*f.perUse + int64(u)*f.perUnit); to >= 0 && f.successor[to] >= 0 {
				x = float64(w * cell(d.after[f.successor[to]], k-j, units-u))
			}
		}
		weights = append(weights, x)
	}
	return weights
}

// weightOfUsed returns the weight of drawing j used ingredients of the stage, summed over the units they can take. It
// returns scratch for reuse.
func (d *stageDraw) weightOfUsed(scratch []float64, f *family, node int32, j, k, units int) (float64, []float64) {
	if d.choose[j] == 0 {
		return 0, scratch
	}
	if f.perUnit == 0 {
		to := f.at(f.keys[node] + int64(j)*f.perUse)
		if to < 0 || f.successor[to] < 0 || k-j >= len(d.after[f.successor[to]]) {
			return 0, scratch
		}
		return float64(d.choose[j] * dotAt(d.shares[j], d.after[f.successor[to]][k-j], units)), scratch
	}
	scratch = d.appendWeights(scratch[:0], f, node, j, k, units)
	sum, rest, e := 0.0, 0.0, 0.0
	for _, w := range scratch {
		sum, e = twoSum(sum, w)
		rest += e
	}
	return float64(d.choose[j] * (sum + rest)), scratch
}

// drawFrontier draws a composition of n ingredients stage by stage: how many of the stage's ingredients are used, which,
// and how many units they take. These give the next state. The ingredients without sums follow from the tree.
func (d *draw) drawFrontier(n int) {
	k, units, state := n, d.table.plan.total, int32(0)
	for c := range d.stages {
		st := &d.stages[c]
		f, node := &st.families[st.states[state].family], st.states[state].node
		d.counts = d.counts[:0]
		for j := range min(st.most, k) + 1 {
			var w float64
			w, d.weights = st.weightOfUsed(d.weights, f, node, j, k, units)
			d.counts = append(d.counts, w)
		}
		j, u := d.choose(d.counts), 0
		if j > 0 {
			d.weights = st.appendWeights(d.weights[:0], f, node, j, k, units)
			u = st.shares[j].lo + d.choose(d.weights)
			d.leaf(st.leaf, j, u)
		}
		state = f.successor[f.at(f.keys[node]+int64(j)*f.perUse+int64(u)*f.perUnit)]
		k, units = k-j, units-u
	}
	d.node(d.Sampler.root, k, units)
}
