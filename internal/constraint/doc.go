// Package constraint converts rules to conditions on whole numbers and reports which compositions keep the
// conditions.
//
// [FromRules] makes [Conditions] from a set of rules. Only the conditions decide whether a composition keeps the
// rules: the sampler, the search for conflicts and the check of a single composition all use the conditions.
// [Slacks] reports how much room the bounds of a rule leave a composition. [Relaxations] returns the ways in
// which a rule can be loosened.
//
// # One kind of bound
//
// A condition that is neither an amount, a group nor a dependence is written as a [Sum] over the used
// ingredients (see Conditions.Sums). So the code that decides, proves, measures or scores handles sums and never
// rules.
//
// # Adding a rule
//
// Package rule has the type of a rule, its description and its validation. The file kind.go has the conditions,
// the slacks and the relaxations of each type of rule. A new type of rule whose conditions are of the existing
// kinds needs no other change.
package constraint
