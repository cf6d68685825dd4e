// Package rule is the vocabulary of rules on compositions.
//
// A composition divides a total of M units among N ingredients in whole
// numbers. A [Set] lists the rules that hold together, each a [Require],
// [Exclude], [Amount], [Group], [Need], [Limit], [Ratio] or [Near], or any of these
// behind the condition of an [If].
//
// mcmc.NewRuledSpace samples the compositions that keep a set, and kir.Check says of one
// that no composition keeps which rules are in conflict, and what would free them.
package rule
