// Package conflict says whether rules can hold together, why not, and what would free
// them: [Explain] names a smallest set of rules that cannot hold together, the reason
// where it is a common one, and changes each of which was tried and found to leave
// compositions.
//
// # Whether rules can hold
//
// Rules on amounts and on groups that are disjoint or nested are counted by
// package count, a bit for a number: that decides. Groups that cross, needs and
// limits are decided by looking at every composition where there are few
// enough; else a search decides ingredient by ingredient
// whether it is used and gives a branch up where sums of bounds cannot be met, or
// where a linear program cannot, whose weights are checked in whole numbers: that
// proves that there is none. The search may meet one, and a walk that lessens what
// is broken looks for one: that proves that there is. What none shows is not known.
package conflict
