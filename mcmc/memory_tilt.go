package mcmc

import "math/bits"

// A group is what the states that use the same core ingredients have in common.
type group struct {
	others []int32          // ranked ingredients outside the core, one entry for each state that uses them
	count  [orderMost]int32 // by rank: number of entries in others
	tilts  []tilt           // by rank: the tilt over the states of the group
}

// A tilt is, for each bin, how often an amount was met there relative to the expected count.
type tilt [tiltBins]float64

const (
	tiltBins         = 20  // number of equal parts of the total, the bins of a tilt
	flatTiltWeight   = 8   // added to both counts of a bin: draws a tilt towards 1
	commonTiltWeight = 2   // likewise for a group: draws a tilt towards that of all states
	groupParts       = 128 // a core has a group if at least this part of the states, 1/128, has the core
	ownShare         = 0.5 // share of draws of an ingredient outside the core that use the group
)

// A place locates a state among those that were met: its number, and the index where its
// ingredients and amounts begin.
type place struct{ state, at int }

// places returns the places of all states.
func (c *adaptiveProposal) places() []place {
	all := make([]place, len(c.sizes))
	at := 0
	for s, n := range c.sizes {
		all[s] = place{s, at}
		at += int(n)
	}
	return all
}

// learnGroups makes a group for each core that enough states have in common.
func (c *adaptiveProposal) learnGroups(t *Target, all []place) {
	c.groups = [1 << coreMost]*group{}
	var states [1 << coreMost][]place
	for _, s := range all {
		core := c.cores[s.state]
		states[core] = append(states[core], s)
	}
	for core, of := range states {
		if len(of) < max(1, len(c.cores)/groupParts) {
			continue
		}
		g := new(group)
		for _, s := range of {
			for _, i := range c.list[s.at:][:c.sizes[s.state]] {
				if k := c.rank[i]; k != unranked && int(k) >= c.core {
					g.others = append(g.others, i)
					g.count[k]++
				}
			}
		}
		g.tilts = c.tiltsOf(t, of, c.tilts, commonTiltWeight)
		c.groups[core] = g
	}
}

// tiltsOf returns tilts by rank, learnt from some states. A bin's tilt is the number of amounts met there over the
// number that other tilts, by, predict, times the tilt of by. Each prediction is given the amounts divided before.
// weight is added to both numbers. A nil by predicts uniform amounts.
func (c *adaptiveProposal) tiltsOf(t *Target, some []place, by []tilt, weight float64) []tilt {
	met, expected := make([]tilt, len(c.order)), make([]tilt, len(c.order))
	var of [orderMost]int32
	for _, s := range some {
		n := c.sizes[s.state]
		list := c.list[s.at:][:n]
		for p, i := range list {
			if k := c.rank[i]; k != unranked {
				of[k] = c.amounts[s.at+p]
			}
		}
		ranks, room := c.arrange(list, t.space.total)
		for at, i := range c.parts[:min(bits.OnesCount64(ranks), int(n)-1)] {
			k := c.rank[i]
			sum := c.bins.fill(tiltAt(by, k), c.next(&room, at), room.left, int(n)-at)
			for b, w := range c.bins.weights[:c.bins.count] {
				expected[k][b] += w / sum
			}
			met[k][binOf(int(of[k]), t.space.total)]++
			room.left -= int(of[k])
		}
	}
	for k := range met {
		for b := range met[k] {
			met[k][b] = (met[k][b] + weight) / (expected[k][b] + weight)
			if by != nil {
				met[k][b] = float64(met[k][b] * by[k][b])
			}
		}
	}
	return met
}

// tiltAt returns the tilt of a rank, nil if there are none.
func tiltAt(tilts []tilt, k uint8) *tilt {
	if tilts == nil {
		return nil
	}
	return &tilts[k]
}
