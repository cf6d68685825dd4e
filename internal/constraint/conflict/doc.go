// Package conflict decides whether rules can all hold, and explains why not. [Explain] names a smallest set
// of conflicting rules, its cause if it is a common one, and changes. Each change was tried and leaves
// compositions.
//
// # How it decides
//
// Package count decides rules on amounts and on disjoint or nested groups, with one bit per number. The
// other rules are overlapping groups, dependences and limits. If there are few enough compositions, all of
// them are enumerated. Otherwise a search decides, ingredient by ingredient, which are used. It abandons a
// branch if the bounds of a sum, or a linear program, cannot be satisfied. The linear program's weights are
// checked in whole numbers, so a search that abandons all branches is a proof that no composition exists.
// The search may also find a composition, and so may a random walk that reduces violations. If none of
// these succeeds, the answer is unknown.
package conflict
