// Package count counts the compositions that keep a set of rules, exactly, and draws from them
// uniformly.
//
// A composition divides a total of M units among N ingredients in whole numbers. [New] counts
// |X_n|, those that keep the rules of a [Space] and use exactly n ingredients, for every n.
// [Table.Sampler] draws independently from any X_n. Rules bound the amount of an ingredient when it
// is used, give it a step, require or exclude it. They limit how many members of a group are used
// and what these take together, and they bound weighted sums. Package rule has the form in which
// rules are written. Package conflict explains why rules cannot hold together; it uses [Reachable].
//
// # Counting
//
// Without rules a formula counts: C(N, n)·C(M−1, n−1). A similar one counts if all ingredients have
// the same lower bound and step. Everything else is dynamic programming over the ingredients, with
// the state (used so far, units so far). In terms of generating functions, an ingredient that may
// take the amounts A contributes the factor
//
//	1 + z·Σ_{a ∈ A} y^a          (without the 1 if it is required)
//
// and |X_n| is the coefficient of z^n y^M in the product. The factors of a group are multiplied
// separately, terms that its limits forbid are removed, and the result is a factor like the others.
// Sums over A are sums over windows, which take one step a unit whatever their width. So an
// ingredient takes n·M steps, and all of them take N·n·M. A class of m ingredients with the same
// rules is the one factor Σ_j C(m, j)·(z·Σ y^a)^j, and takes min(m, n)·n·M steps.
//
// Counts have hundreds of digits, and tables of such numbers would be slow and large. So the
// program runs modulo as many 61-bit primes as a bound on the counts requires, and the Chinese
// remainder theorem combines the results. Groups are multiplied by number-theoretic transforms
// along the units. Memory is that of a table of n·M words, and the result is exact.
//
// # Rules that cross
//
// Groups that cross each other, and sums, are counted by a frontier. Their ingredients form
// classes, in an order in which few sums are open at a time, that is, have terms both before and
// after. The table (used, units) is kept for each state of the open sums: their values, or that
// they are kept in any case. A class of m ingredients that adds w for each ingredient and v for
// each unit to a sum changes a state s to s + j·w + u·v in C(m, j)·W_j(u) ways, where W_j(u) is the
// number of ways to divide u units among j of them. Tables are computed from the last class to the
// first. Each counts the ways to continue from its states, beginning with the ingredients without
// sums, which are counted as above. So a draw goes from the first class to the last and never
// fails. A group that crosses no other, and a sum that equals such a group, are counted as above.
// Time and memory are those of one table for each state. If there are too many states, a
// [SizeError] soon says so: the search for states ends at the allowed number of cells, and at 2^20
// states.
//
// # Drawing
//
// The ingredients are the leaves of a balanced binary tree, with groups as subtrees. Each node has
// the table of its own counts. A draw starts at the root with (n, M). At each node it draws how
// many of the used ingredients, and then how many of the units, belong to the left. The weights are
// products of counts on both sides. Nothing is ever rejected. Building takes about N·n·M steps for
// each level at which nodes have more than n ingredients, and fewer below. Memory is M words for
// each of the at most min(n, ingredients) rows of each node.
//
// Tables for drawing are in floating point. They are sums of positive numbers that keep their
// rounding errors, so that each is the exact count rounded to about the last bit. Only products of
// two groups are plain sums, with bounded errors. The tests bound how far the probability of any
// composition can be from 1/|X_n|: less than a relative 1e-12 where 40 of 2,000 ingredients share
// 1,000 units. It would take about 10^24 draws to detect that.
package count
