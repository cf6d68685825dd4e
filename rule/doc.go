// Package rule defines the kinds of rules that compositions may have to satisfy.
//
// A composition divides a total of M units among N ingredients in whole numbers. A [Set] lists rules that must
// all hold. Each rule is a [Require], [Exclude], [Amount], [Group], [Need], [Limit], [Ratio] or [Near], or an
// [If]. An If makes another rule conditional on which ingredients are used.
//
// mcmc.NewRuledSpace samples the compositions that satisfy a set of rules. If no composition satisfies a set,
// kir.Check states which rules are in conflict, and which changes would resolve the conflict.
package rule
