package search

import (
	"slices"
	"sort"

	"kir/internal/pareto"
	"kir/mcmc"
)

// mostMembers is the greatest number of compositions that the archive of a front keeps for two losses.
// mostMembersOfMore is that for more losses, which take longer to compare.
const mostMembers, mostMembersOfMore = 6000, 1200

// A paretoArchive keeps the offered compositions that no other one beats. Of two with equal losses it keeps the
// first. If there are too many, it keeps an evenly spread selection.
type paretoArchive struct {
	members []Member // for two losses, sorted so that the first rises and the second falls
	most    int
	sizes   []float64 // Objective.Size of each loss
}

func newParetoArchive(objectives []Objective) *paretoArchive {
	p := &paretoArchive{most: mostMembers}
	if len(objectives) > 2 {
		p.most = mostMembersOfMore
	}
	for _, o := range objectives {
		p.sizes = append(p.sizes, o.Size)
	}
	return p
}

// isNondominated reports whether no member is at least as good in every loss.
func (p *paretoArchive) isNondominated(losses []float64) bool {
	if len(losses) == 2 {
		// Among the members whose first loss is no greater, the last one has the least second loss.
		at := sort.Search(len(p.members), func(k int) bool { return p.members[k].Losses[0] > losses[0] })
		return at == 0 || p.members[at-1].Losses[1] > losses[1]
	}
	for k := range p.members {
		if weaklyDominates(p.members[k].Losses, losses) {
			return false
		}
	}
	return true
}

func weaklyDominates(a, b []float64) bool {
	for d, v := range a {
		if v > b[d] {
			return false
		}
	}
	return true
}

// offer keeps a copy of a composition if no member beats it. parts may be in any order; conditions holds the index of
// each condition's value.
func (p *paretoArchive) offer(losses []float64, parts []mcmc.Part, conditions []int32) bool {
	if !p.isNondominated(losses) {
		return false
	}
	m := Member{slices.Clone(parts), slices.Clone(conditions), slices.Clone(losses)}
	sortParts(m.Parts)
	if len(losses) == 2 {
		from := sort.Search(len(p.members), func(k int) bool { return p.members[k].Losses[0] >= losses[0] })
		to := from
		for to < len(p.members) && p.members[to].Losses[1] >= losses[1] {
			to++
		}
		p.members = slices.Replace(p.members, from, to, m)
	} else {
		p.members = slices.DeleteFunc(p.members, func(other Member) bool { return weaklyDominates(losses, other.Losses) })
		p.members = append(p.members, m)
	}
	if len(p.members) > p.most {
		p.thin()
	}
	return true
}

// minimal returns the indices of the members that no other beats once ties are merged, sorted by their losses. A
// dropped member equals another in all losses, up to rounding.
func (p *paretoArchive) minimal() []int {
	return pareto.Minimal(pareto.MergeTies(lossesOf(p.members), p.sizes))
}

// thin reduces the archive to two thirds of its size. It first drops the members that another beats once ties are
// merged.
func (p *paretoArchive) thin() {
	if best := p.minimal(); len(best) < len(p.members) {
		slices.Sort(best)
		for k, at := range best {
			p.members[k] = p.members[at]
		}
		if p.members = p.members[:len(best)]; len(best) <= 2*p.most/3 {
			return
		}
	}
	ideal, nadir := pareto.Bounds(lossesOf(p.members))
	kept := pareto.SelectSpread(pareto.Scaled(lossesOf(p.members), ideal, nadir), 2*p.most/3)
	some := make([]Member, len(kept))
	for k, at := range kept {
		some[k] = p.members[at]
	}
	p.members = some
}

// merged returns the members that no other beats once ties are merged, sorted by their losses.
func (p *paretoArchive) merged() []Member {
	var all []Member
	for _, at := range p.minimal() {
		all = append(all, p.members[at])
	}
	return all
}
