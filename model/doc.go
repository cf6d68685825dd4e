// Package model grows random forests on compositions and scores whole lines
// of compositions at once.
//
// A composition gives each of N ingredients an integer amount. A [Forest] is
// grown from rows of known compositions by the standard definition (Breiman
// 2001): every tree sees a bootstrap sample of the rows, and at each node the
// best split among a few features drawn at random. Labels are classes or
// numbers. The leaves keep the labels of the rows that fell into them, so that
// a forest gives a law of the label: class shares, as the mean of the leaves'
// shares, or a conditional distribution of the number (Meinshausen 2006).
//
// A [Want] is a set of classes, a condition on the number, or a direction. It turns
// each leaf into one fixed-point number, the share of the leaf's rows that satisfy
// it or where their mean lies in the labels' range, and the forest into a [Score]:
// the probability that a composition is what is wanted, or how large or small its
// expected number is. Sums of fixed-point numbers are exact in any order, so that every way
// to compute a score gives the same bits.
//
// # Lines
//
// A sampler of compositions needs the score along a line: for two ingredients i
// and j with s = x_i + x_j, all s+1 ways to split that sum as (k, s−k). A forest
// is piecewise constant in k, and a [Scorer] finds the pieces without visiting
// the points. It rests on two observations. All tests ask whether an amount
// exceeds a threshold that is not negative, so that an amount of zero passes
// them all: of all the tests of a forest, only those on ingredients in use can
// fail. And a leaf is found from the failing tests alone, in any order: number
// the leaves of a tree from left to right; a failing test blocks the leaves to
// its left below it; the tree's leaf is the first that is not blocked (Lucchese
// et al. 2015, QuickScorer). Trees of up to 64 leaves keep the blocked leaves in
// one machine word. A scorer counts, for each leaf, the ingredients that block
// it; taking i and j out of the count leaves what the others block, and running
// through the thresholds of i and j then gives the leaf on every piece of the
// line. Only trees that test i or j are looked at. Larger trees are descended
// with the interval of k that reaches a node, and only if their current path
// tests i or j.
//
// # Points
//
// A composition that is drawn as a whole is scored by the same masks, of which only
// those of the tests that its few ingredients fail are looked at: the trees that test
// none of them end in their first leaves, whose sum is known. Where so many ingredients
// are in use that their tests are more than those on the trees' paths, the trees are
// walked one by one. So a candidate that is refused costs a point alone. The first few
// lines through such a composition are found without counts: from what the other
// ingredients block, or by descents from the roots. Only then does a scorer take it over.
//
// # Descriptors
//
// A [Feature] can be more than an amount: the total of a group, whether any of it is
// present, or a descriptor, which is a mean of an attribute or a log-ratio of two groups.
// A forest with descriptors knows something of ingredients that no row has. Its trees
// are walked as those of models of other programs are.
//
// [GrowBest] chooses among ways to grow a forest by repeated cross-validation.
//
// # Saved forests
//
// [Forest.Write] saves a forest as JSON, which [Read] checks and loads. docs/forest.md
// has the format: every field, what is checked, and how another program evaluates a
// file.
//
// # Sources
//
// L. Breiman (2001), Random forests, Machine Learning 45, 5–32.
//
// N. Meinshausen (2006), Quantile regression forests, Journal of Machine
// Learning Research 7, 983–999.
//
// L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone (1984), Classification and
// Regression Trees, Wadsworth.
//
// C. Lucchese, F. M. Nardini, S. Orlando, R. Perego, N. Tonellotto and
// R. Venturini (2015), QuickScorer: a fast algorithm to rank documents with
// additive ensembles of regression trees, SIGIR 2015, 73–82.
package model
