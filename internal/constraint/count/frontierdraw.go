package count

import "context"

// A stageDraw holds the data for drawing at a stage.
type stageDraw struct {
	*stage
	after  [][]series // by state after the stage: the ways to continue
	leaf   *node      // draws amounts
	shares []series   // by the number used: the ways to divide units among them
	choose []float64  // by the number used: the ways to choose them
}

// frontier makes the tables of a plan with a frontier: for each state the ways to continue from it.
// root is the tree of the ingredients without sums, nil if there are none.
func (b *treeBuilder) frontier(ctx context.Context, p *plan) (root *node, stages []stageDraw, err error) {
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

// cell returns the number of ways for k used ingredients with the given units.
func cell(rows []series, k, units int) float64 {
	if k < 0 || k >= len(rows) || units < rows[k].lo || units > rows[k].hi() {
		return 0
	}
	return rows[k].v[units-rows[k].lo]
}

// appendWeights appends for each u from shares[j].lo on the weight of j ingredients of the stage
// with u units, where k ingredients and the given units are left.
func (d *stageDraw) appendWeights(weights []float64, f *family, node int32, j, k, units int) []float64 {
	share := d.shares[j]
	for at, w := range share.v {
		u := share.lo + at
		if u > units {
			break
		}
		x := 0.0
		if w > 0 {
			if to := f.at(f.keys[node] + int64(j)*f.whole + int64(u)*f.perUnit); to >= 0 && f.next[to] >= 0 {
				x = float64(w * cell(d.after[f.next[to]], k-j, units-u))
			}
		}
		weights = append(weights, x)
	}
	return weights
}

// weightOfUsed returns the weight of j ingredients of the stage: the sum of the weights of all
// units.
func (d *stageDraw) weightOfUsed(scratch []float64, f *family, node int32, j, k, units int) (float64, []float64) {
	if d.choose[j] == 0 {
		return 0, scratch
	}
	if f.perUnit == 0 {
		to := f.at(f.keys[node] + int64(j)*f.whole)
		if to < 0 || f.next[to] < 0 || k-j >= len(d.after[f.next[to]]) {
			return 0, scratch
		}
		return float64(d.choose[j] * dotAt(d.shares[j], d.after[f.next[to]][k-j], units)), scratch
	}
	scratch = d.appendWeights(scratch[:0], f, node, j, k, units)
	sum, rest, e := 0.0, 0.0, 0.0
	for _, w := range scratch {
		sum, e = twoSum(sum, w)
		rest += e
	}
	return float64(d.choose[j] * (sum + rest)), scratch
}

// frontier draws, stage by stage, how many of its ingredients are used and then how many units they
// take, which gives the next state.
func (d *draw) frontier(n int) {
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
		state = f.next[f.at(f.keys[node]+int64(j)*f.whole+int64(u)*f.perUnit)]
		k, units = k-j, units-u
	}
	d.node(d.Sampler.root, k, units)
}
