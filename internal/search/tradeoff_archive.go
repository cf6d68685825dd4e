package search

import (
	"slices"
	"sort"

	"kir/internal/pareto"
	"kir/mcmc"
)

// maxMembersOfTwo is the greatest number of compositions that a [paretoArchive] keeps for two losses.
// maxMembersOfMore is the greatest number for three or more losses, which take longer to compare.
const maxMembersOfTwo, maxMembersOfMore = 6000, 1200

// A paretoArchive keeps those offered compositions that are best compromises between several losses: no other
// offered composition is at least as good in every loss. Among compositions with equal losses it keeps the
// first. If there are too many, it keeps an evenly spread selection.
type paretoArchive struct {
	members        []FrontMember // for two losses, sorted so that the first loss increases and the second decreases
	maxMembers     int
	lossMagnitudes []float64 // item k is Objective.LossMagnitude of loss k
}

func newParetoArchive(objectives []Objective) *paretoArchive {
	p := &paretoArchive{maxMembers: maxMembersOfTwo}
	if len(objectives) > 2 {
		p.maxMembers = maxMembersOfMore
	}
	for _, o := range objectives {
		p.lossMagnitudes = append(p.lossMagnitudes, o.LossMagnitude)
	}
	return p
}

// isNondominated reports whether a composition with the given losses is worth keeping: no member of the archive
// is at least as good in every loss.
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

// weaklyDominates reports whether the losses a are at least as good as the losses b: none is greater.
func weaklyDominates(a, b []float64) bool {
	for d, v := range a {
		if v > b[d] {
			return false
		}
	}
	return true
}

// offer keeps a copy of a composition unless some member of the archive is at least as good in every loss. It
// reports whether the composition was kept. parts holds ingredients and amounts in any order, and conditions[c]
// is the index of the value of condition c.
func (p *paretoArchive) offer(losses []float64, parts []mcmc.Part, conditions []int32) bool {
	if !p.isNondominated(losses) {
		return false
	}
	m := FrontMember{slices.Clone(parts), slices.Clone(conditions), slices.Clone(losses)}
	sortByIngredient(m.Parts)
	if len(losses) == 2 {
		from := sort.Search(len(p.members), func(k int) bool { return p.members[k].Losses[0] >= losses[0] })
		to := from
		for to < len(p.members) && p.members[to].Losses[1] >= losses[1] {
			to++
		}
		p.members = slices.Replace(p.members, from, to, m)
	} else {
		p.members = slices.DeleteFunc(p.members, func(other FrontMember) bool { return weaklyDominates(losses, other.Losses) })
		p.members = append(p.members, m)
	}
	if len(p.members) > p.maxMembers {
		p.thin()
	}
	return true
}

// minimalIndices returns the indices of the best members, sorted by losses. Losses that differ by no more than
// rounding errors count as equal. A member is left out if another member is then at least as good in every
// loss.
func (p *paretoArchive) minimalIndices() []int {
	return pareto.NonDominated(pareto.MergeTies(lossesOf(p.members), p.lossMagnitudes))
}

// thin reduces the archive to two thirds of its greatest size. It first drops the members that
// [paretoArchive.minimalIndices] leaves out.
func (p *paretoArchive) thin() {
	if best := p.minimalIndices(); len(best) < len(p.members) {
		slices.Sort(best)
		for k, at := range best {
			p.members[k] = p.members[at]
		}
		if p.members = p.members[:len(best)]; len(best) <= 2*p.maxMembers/3 {
			return
		}
	}
	ideal, nadir := pareto.Bounds(lossesOf(p.members))
	kept := pareto.SelectSpread(pareto.ScaleLosses(lossesOf(p.members), ideal, nadir), 2*p.maxMembers/3)
	some := make([]FrontMember, len(kept))
	for k, at := range kept {
		some[k] = p.members[at]
	}
	p.members = some
}

// mergedFront returns the members whose indices [paretoArchive.minimalIndices] returns, sorted by losses.
func (p *paretoArchive) mergedFront() []FrontMember {
	var all []FrontMember
	for _, at := range p.minimalIndices() {
		all = append(all, p.members[at])
	}
	return all
}
