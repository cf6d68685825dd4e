package mcmc

import "math/bits"

// A coreGroup describes the met states that use the same core ingredients. See [adaptiveProposal]
// for the core.
type coreGroup struct {
	otherUses []int32         // the ingredients outside the core that have a rank, once for each state that uses them
	useCounts [maxOrder]int32 // by rank: number of states of the group that use the ingredient, outside the core
	tilts     []amountTilt    // by rank: the tilt over the states of the group
}

// An amountTilt compares the amounts of an ingredient in the met states with expected amounts. For
// each bin of amounts it is the number of states with an amount in the bin divided by the expected
// number.
type amountTilt [tiltBins]float64

const (
	tiltBins          = 20  // number of bins, which are equal parts of the total
	flatTiltWeight    = 8   // added to the met and to the expected number of a bin, which draws a tilt towards 1
	commonTiltWeight  = 2   // added to both numbers of a bin in a group, which draws the tilt towards the tilt over all states
	groupShareDivisor = 128 // a core has a group if at least 1/128 of the states have the core
	groupDrawShare    = 0.5 // share of draws of an ingredient outside the core that use the states of the group only
)

// A stateLocation locates a met state: its number, and the index at which its ingredients and
// amounts begin in the shared slices of a [stateList].
type stateLocation struct{ stateIndex, start int }

// stateLocations returns the locations of all met states.
func (c *adaptiveProposal) stateLocations() []stateLocation {
	all := make([]stateLocation, len(c.sizes))
	at := 0
	for s, n := range c.sizes {
		all[s] = stateLocation{s, at}
		at += int(n)
	}
	return all
}

// learnGroups makes a group for each core that enough states have. The argument all locates all met
// states.
func (c *adaptiveProposal) learnGroups(t *Target, all []stateLocation) {
	c.groupsByCore = [1 << maxCore]*coreGroup{}
	var states [1 << maxCore][]stateLocation
	for _, s := range all {
		core := c.stateCores[s.stateIndex]
		states[core] = append(states[core], s)
	}
	for core, of := range states {
		if len(of) < max(1, len(c.stateCores)/groupShareDivisor) {
			continue
		}
		g := new(coreGroup)
		for _, s := range of {
			for _, i := range c.ingredients[s.start:][:c.sizes[s.stateIndex]] {
				if k := c.ranks[i]; k != unranked && int(k) >= c.coreSize {
					g.otherUses = append(g.otherUses, i)
					g.useCounts[k]++
				}
			}
		}
		g.tilts = c.learnTilts(t, of, c.tilts, commonTiltWeight)
		c.groupsByCore[core] = g
	}
}

// learnTilts returns, by rank of the ingredient, tilts learnt from some of the met states. The tilt
// of a bin is the number of amounts met in the bin divided by the expected number, times the tilt
// in by. The tilts in by predict the expected number of each amount, given the amounts before it.
// If by is nil, uniform amounts are expected. The argument weight is added to both numbers.
func (c *adaptiveProposal) learnTilts(t *Target, some []stateLocation, by []amountTilt, weight float64) []amountTilt {
	met, expected := make([]amountTilt, len(c.rankedIngredients)), make([]amountTilt, len(c.rankedIngredients))
	var of [maxOrder]int32
	for _, s := range some {
		n := c.sizes[s.stateIndex]
		list := c.ingredients[s.start:][:n]
		for p, i := range list {
			if k := c.ranks[i]; k != unranked {
				of[k] = c.amounts[s.start+p]
			}
		}
		ranks, room := c.orderForDivision(list, t.space.total)
		for at, i := range c.divisionOrder[:min(bits.OnesCount64(ranks), int(n)-1)] {
			k := c.ranks[i]
			sum := c.amountLaw.computeWeights(tiltOfRank(by, k), c.allowedAmounts(&room, at), room.unitsLeft, int(n)-at)
			for b, w := range c.amountLaw.weights[:c.amountLaw.usedBinCount] {
				expected[k][b] += w / sum
			}
			met[k][binOf(int(of[k]), t.space.total)]++
			room.unitsLeft -= int(of[k])
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

// tiltOfRank returns the tilt of rank k, or nil if tilts is nil.
func tiltOfRank(tilts []amountTilt, k uint8) *amountTilt {
	if tilts == nil {
		return nil
	}
	return &tilts[k]
}
