// Package condition writes rules out in whole numbers and says what keeps them.
//
// [FromRules] makes [Conditions] of a set of rules, and that is the one place that judges: the
// sampler, the search for contradictions and the judgement of a single composition all
// take them. [Slacks] says how much room a composition has left, and [Relaxations] how a
// rule can be loosened.
//
// # One kind of bound
//
// What is neither an amount, a group nor a need is written as a [Sum] over the used
// ingredients, with its conditions in it (see [Conditions.Sums]): all that decides,
// proves, measures or scores rules knows sums, and no rules.
//
// # Adding a rule
//
// A rule is a type in package rule, with its words and what is wrong with it. kind.go has
// the conditions that it comes to, its slacks, and the ways to loosen it. If it comes to
// conditions that there are, nothing else has to know of it.
package condition
