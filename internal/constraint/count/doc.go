// Package count counts the compositions that keep a set of rules, exactly, and draws compositions uniformly.
//
// A composition divides a total of M units among N ingredients in whole numbers. For every n, [New] counts
// |X_n|, the number of compositions that keep the rules of a [Space] and use exactly n ingredients.
// [Table.Sampler] draws independently from any X_n. Rules bound the amount of an ingredient when the ingredient
// is used, restrict the amount to steps, and require or exclude the ingredient. Rules limit how many members of
// a group are used and how many units the members take together, and bound weighted sums. Package rule has the
// form in which rules are written. Package conflict explains why rules cannot hold together; package conflict
// uses [ReachableUsedCounts].
//
// # Counting
//
// Without rules a formula counts: C(N, n)·C(M−1, n−1). A similar formula counts if all ingredients have the same
// lower bound and step. All other spaces are counted by dynamic programming over the ingredients, with the state
// (used so far, units so far). In terms of generating functions, an ingredient that may have the amounts A
// contributes the factor
//
//	1 + z·Σ_{a ∈ A} y^a          (without the 1 if the ingredient is required)
//
// and |X_n| is the coefficient of z^n y^M in the product. The factors of a group are multiplied separately, and
// terms that the limits of the group forbid are removed. The result is a factor of the product, like the factor
// of an ingredient. Sums over A are sums over windows, which take one step a unit whatever the width of the
// window. So an ingredient takes n·M steps, and all ingredients take N·n·M steps. A class of m ingredients with
// the same rules is the one factor Σ_j C(m, j)·(z·Σ y^a)^j, and takes min(m, n)·n·M steps.
//
// Counts have hundreds of digits, and tables of such numbers would be slow and large. So the program counts
// modulo as many 61-bit primes as a bound on the counts requires, and the Chinese remainder theorem combines the
// results. Groups are multiplied by number-theoretic transforms along the units. The memory is the memory of a
// table of n·M words, and the result is exact.
//
// # Rules that cross
//
// Groups that cross each other, and sums, are counted by a frontier. The ingredients in these groups and sums
// form classes. The classes are put in an order in which few sums are open at a time, that is, have terms both
// before and after. The table (used, units) is kept for each state of the open sums. A state holds the value of
// each open sum, or that the sum can no longer be broken. A class of m ingredients that adds w for each
// ingredient and v for each unit to a sum changes a state s to s + j·w + u·v in C(m, j)·W_j(u) ways, where
// W_j(u) is the number of ways to divide u units among j ingredients of the class. Tables are computed from the
// last class to the first. Each table counts the ways to continue from its state. The tables begin with the
// ingredients without sums, which are counted as described above. So a draw goes from the first class to the
// last and never fails. A group that crosses no other group, and a sum that equals such a group, are counted as
// described above. Time and memory are the time and memory of one table for each state. If there are too many
// states, a [SizeError] soon says so: the search for states ends at the allowed number of cells, and at 2^20
// states.
//
// # Drawing
//
// The ingredients are the leaves of a balanced binary tree, with groups as subtrees. Each node has the table of
// the counts of its ingredients. A draw starts at the root with (n, M). At each node the draw chooses how many
// of the used ingredients, and then how many of the units, belong to the left subtree. The weights are products
// of counts on both sides. No draw is ever rejected. Building takes about N·n·M steps for each level at which
// nodes have more than n ingredients, and fewer steps below. Memory is M words for each of the at most min(n,
// ingredients) rows of each node.
//
// Tables for drawing are in floating point. The entries are sums of positive numbers that keep their rounding
// errors, so that each entry is the exact count rounded to about the last bit. Only products of two groups are
// plain sums, with bounded errors. The tests bound how far the probability of any composition can be from
// 1/|X_n|: less than a relative 1e-12 where 40 of 2,000 ingredients share 1,000 units. About 10^24 draws would
// be needed to detect such a difference.
package count
