package mcmc

import "math/bits"

// A group is what the states that use the same of the core have of their own.
type group struct {
	others []int32          // ingredients met that are of the order and not of the core
	count  [orderMost]int32 // by rank: how often each is among them
	tilts  []tilt           // by rank
}

// A tilt is how much more often an amount was met in each bin than it would have been.
type tilt [tiltBins]float64

const (
	tiltBins    = 20  // parts of the total in each of which a tilt is constant
	tiltWeight  = 8   // of no tilt, in states, against what was met
	groupWeight = 2   // of the tilts of all, in states, against what a group met
	groupParts  = 128 // a group has at least one in so many states
	ownShare    = 0.5 // how often an ingredient that is not of the core is drawn as in its group
)

// learnGroups makes the groups of the states.
func (c *recollection) learnGroups(t *Target) {
	c.groups = [1 << coreMost]*group{}
	var states [1 << coreMost]int
	for _, core := range c.cores {
		if states[core]++; states[core] == max(1, len(c.cores)/groupParts) {
			c.groups[core] = new(group)
		}
	}
	list := c.list
	for s, core := range c.cores {
		n := c.sizes[s]
		if g := c.groups[core]; g != nil {
			for _, i := range list[:n] {
				if k := c.rank[i]; k != unranked && int(k) >= c.core {
					g.others = append(g.others, i)
					g.count[k]++
				}
			}
		}
		list = list[n:]
	}
	for core, g := range c.groups {
		if g != nil {
			g.tilts = c.tiltsOf(t, func(of uint64) bool { return of == uint64(core) }, c.tilts, groupWeight)
		}
	}
}

// tiltsOf counts how often each amount was met in the states of the wanted cores, and
// how often it would have been by other tilts, or if nil were amounts uniform, given
// those before it. It returns the ratios times those tilts.
func (c *recollection) tiltsOf(t *Target, wanted func(core uint64) bool, by []tilt, weight float64) []tilt {
	met, expected := make([]tilt, len(c.order)), make([]tilt, len(c.order))
	list, amounts := c.list, c.amounts
	var of [orderMost]int32
	for s, n := range c.sizes {
		if !wanted(c.cores[s]) {
			list, amounts = list[n:], amounts[n:]
			continue
		}
		for p, i := range list[:n] {
			if k := c.rank[i]; k != unranked {
				of[k] = amounts[p]
			}
		}
		ranks, room := c.arrange(list[:n], t.space.total)
		list, amounts = list[n:], amounts[n:]
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
