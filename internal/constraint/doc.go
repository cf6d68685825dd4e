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
// rules. A sum is min ≤ Σ t_i(x_i) ≤ max, whose terms add so much for each unit and so much for being used:
//
//   - A ratio is Σ_of x_i − max·Σ_to x_i ≤ 0, and a mean over some ingredients Σ_of (a_i − max)·x_i ≤ 0.
//   - Of the r ingredients of a recipe of which u are used beside v others, r − u + v come or go. The number of
//     units that change hands is M − Σ min(x_i, r_i), which is concave along a line of two ingredients.
//   - An If changes the sum behind it. If s can exceed its max by at most r, "if i is used, s ≤ max" is
//     s + r·[i used] ≤ max + r, and "if none of J is used, s ≤ max" is s − r·Σ_J [j used] ≤ max. "If one of J is
//     used" makes a sum for each member of J. A step behind an If is a term that is 1 where the amount is not a
//     multiple of the step.
//
// # Adding a rule
//
// Package rule has the type of a rule, its description and its validation. The file kind.go has the conditions,
// the slacks and the relaxations of each type of rule. A new type of rule whose conditions are of the existing
// kinds needs no other change.
package constraint
