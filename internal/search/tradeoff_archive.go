package search

import (
	"slices"
	"sort"

	"kir/internal/pareto"
	"kir/mcmc"
)

// The most compositions that an archive of a front keeps, for two losses and for more, which take
// longer to compare.
const mostMembers, mostMembersOfMore = 6000, 1200

// A paretoArchive keeps the offered compositions that no other one beats. Of two with the same losses it
// keeps the first. If there are too many, it keeps an evenly spread part.
type paretoArchive struct {
	members []Member // of two losses: the first rises, the second falls
	most    int
	sizes   []float64 // of the losses
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
		// Among members with a first loss no greater, the last has the least second loss.
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

// offer keeps a copy of a composition, given by its parts in any order and the values of its
// conditions, if no member beats it.
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

// minimal returns the members that no other beats once ties are merged, in the order of their
// losses. Nothing is lost: the losses of a dropped member equal another's, up to rounding.
func (p *paretoArchive) minimal() []int {
	return pareto.Minimal(pareto.MergeTies(lossesOf(p.members), p.sizes))
}

// thin keeps two thirds of the members. It drops those that another beats once ties are merged.
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

// merged returns the members that no other beats once ties are merged, in the order of their
// losses.
func (p *paretoArchive) merged() []Member {
	var all []Member
	for _, at := range p.minimal() {
		all = append(all, p.members[at])
	}
	return all
}
