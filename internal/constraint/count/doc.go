// Package count counts the compositions that keep a set of rules, exactly, and
// draws from them uniformly.
//
// A composition divides a total of M units among N ingredients in whole
// numbers. [New] counts |X_n|, those that keep the rules of a [Space] and use
// exactly n ingredients, for every n; [Table.Sampler] draws independently from
// any X_n. Rules bound the amounts of an ingredient when it is used, give them a
// step, require or exclude it, and limit how many members of a group are used
// and what they take together, and bound weighted sums. Package rule has rules in a
// form to write them in, and package conflict says why they cannot hold together;
// [Reachable] is what it asks.
//
// # Counting
//
// Without rules, and with lower bounds and steps that all ingredients have in
// common, a formula counts: C(N, n)·C(M−1, n−1). Everything else is dynamic
// programming over the ingredients, with the state (used so far, units so far).
// In terms of generating functions, an ingredient that may take the amounts A
// contributes the factor
//
//	1 + z·Σ_{a ∈ A} y^a          (without the 1 if it is required)
//
// and |X_n| is the coefficient of z^n y^M of the product. The factors of a group
// are multiplied apart, what its limits forbid is cut away, and the result is a
// factor like the others. Sums over A are sums over windows, which take a step
// a unit however wide they are, so that an ingredient takes n·M steps and all of
// them N·n·M. A class of m ingredients with the same rules is the one factor
// Σ_j C(m, j)·(z·Σ y^a)^j, and takes min(m, n)·n·M steps.
//
// Counts have hundreds of digits, and tables of such numbers would be slow and
// large. So the programme runs modulo as many 61-bit primes as a bound on the
// counts calls for, and the Chinese remainder theorem puts the results
// together. Groups are multiplied by number-theoretic transforms along the
// units. Memory is that of a table of n·M words, and the result is exact.
//
// # Rules that cross
//
// Groups that cross one another and sums are held together by a frontier. The
// ingredients that they hold are gathered into classes and put in an order in
// which few sums are open at a time, and the table (used, units) is kept for each
// state of the open ones: what they have come to, or that they are kept whatever
// comes. A class of m ingredients that adds w for each and v for each unit to a sum
// takes a state s to s + j·w + u·v in C(m, j)·W_j(u) ways, where W_j(u) counts how j
// of them divide u units. Tables go from the last class to the first: each has the
// ways to go on from its states, beginning with what no sum holds, which is counted
// as above. So a draw goes from the first to the last and is never stuck. A group
// that crosses nothing, and a sum that is one, costs what it did.
//
// Time and memory are those of one table for each state. Where there are too many
// a [SizeError] says so, soon: looking for them ends at the cells allowed, and at
// 2^20 states.
//
// # Drawing
//
// The ingredients are the leaves of a balanced binary tree, groups being
// subtrees. Each node has the table of its own counts. A draw starts at the
// root with (n, M), and at each node draws how many of the used ingredients,
// and then how many of the units, belong to the left; the weights are products
// of counts on both sides. Nothing is ever rejected. Building takes about
// N·n·M steps for each level at which nodes have more than n ingredients, and
// less below; memory is M words for each of the at most min(n, ingredients)
// rows of each node.
//
// Tables for drawing are in floating point. They are sums of positive numbers
// that carry along what rounding loses, so that each is the exact count rounded
// to the last bit or so; only where two groups are multiplied are plain sums
// taken, and their errors bounded. The tests bound how far that lets
// the probability of any composition be from 1/|X_n|: less than a relative 1e-12
// where 40 of 2,000 ingredients share 1,000 units. It would take some 10^24 draws
// to see that.
package count
