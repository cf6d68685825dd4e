package mcmc

import "math/bits"

// A group is what the states that use the same core ingredients have in common.
type group struct {
	others []int32          // ingredients met that are of the order and not of the core
	count  [orderMost]int32 // by rank: how often each is among them
	tilts  []tilt           // by rank
}

// A tilt is, for each bin, how often an amount was met there relative to the expected count.
type tilt [tiltBins]float64

const (
	tiltBins         = 20  // parts of the total in each of which a tilt is constant
	flatTiltWeight   = 8   // weight of no tilt when a tilt is estimated: counts like so many states
	commonTiltWeight = 2   // weight of the tilt of all states when a group's is estimated, likewise
	groupParts       = 128 // a group has at least one in so many states
	ownShare         = 0.5 // how often an ingredient that is not of the core is drawn as in its group
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

// learnGroups makes the groups of the states.
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

// tiltsOf counts how often each amount was met in some states, and how often other tilts predict
// it, given the amounts before it. by nil stands for uniform amounts. tiltsOf returns the ratios
// times those tilts.
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
