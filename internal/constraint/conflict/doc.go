// Package conflict decides whether rules can all hold, and explains why not. [Explain] names a smallest set of
// conflicting rules, the cause if a common cause is found, and changes of the rules. Each change was tried:
// after the change some composition keeps all rules.
//
// # How conflicts are decided
//
// Package count decides rules on amounts and on disjoint or nested groups, with one bit per number. The other
// rules are overlapping groups, dependences and limits. If there are few enough compositions, all compositions
// are enumerated. Otherwise a search decides, ingredient by ingredient, which ingredients are used. The search
// abandons a branch if the bounds of a sum, or a linear program, cannot be satisfied. The weights of the linear
// program are checked in whole numbers, so a search that abandons all branches is a proof that no composition
// exists. The search may also find a composition, and so may a random walk that reduces violations. If none of
// these methods succeeds, the answer is unknown.
package conflict
