package search

import (
	"slices"
	"sort"

	"kir/internal/front"
	"kir/mcmc"
)

// mostMembers is how many compositions an archive of a front keeps of two losses, and of
// more, which take longer to compare.
const mostMembers, mostMembersOfMore = 6000, 1200

// A pareto keeps what no other composition that it was offered beats. Of two with the same
// losses it keeps what came first. Where there is no room for more it keeps what is spread
// evenly.
type pareto struct {
	members []Member // of two losses: the first rises, the second falls
	most    int
}

func newPareto(losses int) *pareto {
	p := &pareto{most: mostMembers}
	if losses > 2 {
		p.most = mostMembersOfMore
	}
	return p
}

// wants says whether nothing is at least as good in every loss.
func (p *pareto) wants(losses []float64) bool {
	if len(losses) == 2 {
		// The last with a first loss that is no greater has the least second one of these.
		at := sort.Search(len(p.members), func(k int) bool { return p.members[k].Losses[0] > losses[0] })
		return at == 0 || p.members[at-1].Losses[1] > losses[1]
	}
	for k := range p.members {
		if covered(p.members[k].Losses, losses) {
			return false
		}
	}
	return true
}

func covered(a, b []float64) bool {
	for d, v := range a {
		if v > b[d] {
			return false
		}
	}
	return true
}

// offer keeps a copy of a composition, given by its parts in any order, if it is wanted.
func (p *pareto) offer(losses []float64, parts []mcmc.Part) bool {
	if !p.wants(losses) {
		return false
	}
	m := Member{slices.Clone(parts), slices.Clone(losses)}
	sortParts(m.Parts)
	if len(losses) == 2 {
		from := sort.Search(len(p.members), func(k int) bool { return p.members[k].Losses[0] >= losses[0] })
		to := from
		for to < len(p.members) && p.members[to].Losses[1] >= losses[1] {
			to++
		}
		p.members = slices.Replace(p.members, from, to, m)
	} else {
		p.members = slices.DeleteFunc(p.members, func(other Member) bool { return covered(losses, other.Losses) })
		p.members = append(p.members, m)
	}
	if len(p.members) > p.most {
		p.thin()
	}
	return true
}

// thin keeps two thirds.
func (p *pareto) thin() {
	ideal, nadir := front.Bounds(lossesOf(p.members))
	kept := front.Spread(front.Scaled(lossesOf(p.members), ideal, nadir), 2*p.most/3)
	some := make([]Member, len(kept))
	for k, at := range kept {
		some[k] = p.members[at]
	}
	p.members = some
}

// sorted returns the members in the order of their losses.
func (p *pareto) sorted() []Member {
	all := slices.Clone(p.members)
	slices.SortStableFunc(all, func(a, b Member) int { return slices.Compare(a.Losses, b.Losses) })
	return all
}
