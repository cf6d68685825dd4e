// Package rule is the vocabulary of rules on compositions: what they are,
// whether a composition keeps them, how much room it leaves, whether they can
// hold together, why not, and what would free them.
//
// A composition divides a total of M units among N ingredients in whole
// numbers. A [Set] lists the rules that hold together, each a [Require],
// [Exclude], [Amount], [Group], [Need], [Limit], [Ratio] or [Near], or any of these
// behind the condition of an [If]. [Set.Conditions] writes them
// out in whole numbers, and that is the one place that judges: the sampler, the
// search for contradictions and what is said of a single composition all take
// [Conditions]. [Set.Explain] names a smallest set of rules that cannot hold
// together, the reason where it is a common one, and changes each of which was
// tried and found to leave compositions.
//
// # Whether rules can hold
//
// Rules on amounts and on groups that are disjoint or nested are counted by
// package count, a bit for a number: that decides. Groups that cross, needs and
// limits are decided by looking at every composition where there are few
// enough (see [Set.Explain]); else a search decides ingredient by ingredient
// whether it is used and gives a branch up where sums of bounds cannot be met, or
// where a linear program cannot, whose weights are checked in whole numbers: that
// proves that there is none. The search may meet one, and a walk that lessens what
// is broken looks for one: that proves that there is. What none shows is not known.
//
// # One kind of bound
//
// What is neither an amount, a group nor a need is written as a [Sum] over the used
// ingredients, with its conditions in it (see [Conditions.Sums]): all that decides,
// proves, measures or scores rules knows sums, and no rules.
//
// # Adding a rule
//
// A rule is a type with the methods of [Rule] in a file of its own: its words,
// what is wrong with it, the conditions that it comes to, its slack and its
// knobs, which are the ways to loosen it. If it comes to conditions that there
// are, nothing else has to know of it.
package rule
