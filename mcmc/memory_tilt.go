package mcmc

import "math/bits"

// A coreGroup describes the met states that use the same core ingredients. The core are the few
// ingredients that most met states use; see [adaptiveProposal].
type coreGroup struct {
	otherUses []int32                     // the ranked ingredients outside the core that states of the group use, listed once for each such state
	useCounts [maxRankedIngredients]int32 // useCounts[k] is the number of states of the group that use the ingredient of rank k; 0 in the core
	tilts     []amountTilt                // tilts[k] is the tilt of the ingredient of rank k, learnt from the states of the group
}

// An amountTilt says which amounts of an ingredient were met more often than expected. The range of
// amounts is divided into bins. Element b is the number of met states with an amount in bin b,
// divided by the expected number.
type amountTilt [tiltBins]float64

const (
	tiltBins          = 20  // number of bins, which divide the amounts from 1 to the total into ranges of equal width
	flatTiltWeight    = 8   // added to the met and to the expected number of states of a bin, which draws the quotient towards 1
	commonTiltWeight  = 2   // added to both numbers of a bin in a group, which draws the tilt of the group towards the tilt of all states
	groupShareDivisor = 128 // a [coreGroup] is made if at least 1/128 of the met states have the same core ingredients
	groupDrawShare    = 0.5 // share of draws of an ingredient outside the core that use only the states of the group
)

// A stateLocation says where a met state is stored in a [stateList].
type stateLocation struct {
	stateIndex int // index of the state in the list
	start      int // index at which its ingredients and amounts begin in the shared slices
}

// stateLocations returns where each met state is stored in the list of states.
func (c *adaptiveProposal) stateLocations() []stateLocation {
	all := make([]stateLocation, len(c.sizes))
	at := 0
	for s, n := range c.sizes {
		all[s] = stateLocation{s, at}
		at += int(n)
	}
	return all
}

// learnGroups makes a [coreGroup] for each set of core ingredients that enough met states use. The
// argument allStates locates all met states.
func (c *adaptiveProposal) learnGroups(t *Target, allStates []stateLocation) {
	c.groupsByCore = [1 << maxCoreIngredients]*coreGroup{}
	var states [1 << maxCoreIngredients][]stateLocation
	for _, s := range allStates {
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

// learnTilts returns the tilt of the ingredient of each rank, learnt from some of the met states.
// An element of a tilt belongs to a bin of amounts. It is the number of amounts met in the bin
// divided by the expected number, times the element in baseTilts.
//
// The tilts in baseTilts predict the expected number of each amount, given the amounts before it.
// If baseTilts is nil, uniform amounts are expected. The argument weight is added to the met and to
// the expected number.
func (c *adaptiveProposal) learnTilts(t *Target, states []stateLocation, baseTilts []amountTilt, weight float64) []amountTilt {
	met, expected := make([]amountTilt, len(c.rankedIngredients)), make([]amountTilt, len(c.rankedIngredients))
	var of [maxRankedIngredients]int32
	for _, s := range states {
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
			sum := c.amountLaw.computeWeights(tiltOfRank(baseTilts, k), c.allowedAmounts(&room, at), room.unitsLeft, int(n)-at)
			for b, w := range c.amountLaw.weights[:c.amountLaw.validBinCount] {
				expected[k][b] += w / sum
			}
			met[k][binIndexOf(int(of[k]), t.space.total)]++
			room.unitsLeft -= int(of[k])
		}
	}
	for k := range met {
		for b := range met[k] {
			met[k][b] = (met[k][b] + weight) / (expected[k][b] + weight)
			if baseTilts != nil {
				met[k][b] = float64(met[k][b] * baseTilts[k][b])
			}
		}
	}
	return met
}

// tiltOfRank returns the tilt of the ingredient of rank k, or nil if there are no tilts.
func tiltOfRank(tilts []amountTilt, k uint8) *amountTilt {
	if tilts == nil {
		return nil
	}
	return &tilts[k]
}
