// Package randomproblem makes random problem files, says what law each of them
// asks for, and holds what kir makes of them against it: from the YAML to the
// draws in the Parquet file.
//
// [New] draws a problem: ingredients with attributes, a recipe book, a law of the
// number of ingredients, rules, wishes. It writes the files, and evaluates every
// rule and every wish by itself, from what docs/ say of them: [Problem.Enumerate]
// lists all compositions. None of that shares code with what ships; of a forest,
// which kir grows, the trees are read as data. [Check] runs the problem and
// compares.
//
// [NewLarge] draws a problem of too many compositions to list, so that kir measures
// |X_n|. Its rules are said in a second way, as machines that read the amounts one by
// one, by which the compositions are counted; [CheckLarge] holds the measured counts
// and draws against that.
//
// # What is compared
//
// Counts and refusals are arithmetic. So is every draw: it keeps the rules, and
// its log density and its scores are the ones that are written down here. The law
// of the draws is tested in two ways, each on independent samples.
//
// From the law: states are drawn from the enumerated law, and the kernel makes
// some iterations from each. Whatever its mixing, what comes out must follow the
// same law. A chain that is right and slow passes.
//
// Whole runs: package run makes many short chains, and the last draw of each is
// read from its file. Without properties a chain starts from its law, and this
// test is exact as well. Else it also asks that the chain has forgotten its start,
// and so says less: see [Row.Slow].
//
// # False alarms
//
// A p-value here is the smallest of exact binomial tail probabilities and of
// Bernstein bounds, times their number (Bonferroni): it is below a with
// probability a at most, however small a is. T of them below 1e-7 raise a false
// alarm with probability T·1e-7 at most.
package randomproblem
