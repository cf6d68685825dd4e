// Package model learns random forests and Gaussian processes from compositions, and scores whole
// lines of compositions at once.
//
// A composition gives each of N ingredients an integer amount. A [Forest] is grown from rows of
// known compositions by the standard definition (Breiman 2001). Every tree sees a bootstrap sample
// of the rows. At each node it takes the best split among a few features drawn at random. Labels
// are classes or numbers. The leaves keep the labels of their rows, so that a forest predicts a law
// of the label. For classes, this is the mean of the leaves' shares. For numbers, it is a
// conditional distribution (Meinshausen 2006).
//
// A [Want] is a set of classes, a condition on the number, or a direction. It turns each leaf into
// one fixed-point number: the share of the leaf's rows that satisfy it, or the position of their
// mean in the labels' range. It thus turns the forest into a [Score]: the probability that a
// composition satisfies the Want, or how large or small its expected number is. Sums of fixed-point
// numbers are exact in any order, so that every way to compute a score gives the same bits.
//
// # Lines
//
// A sampler of compositions needs the score along a line: for two ingredients i and j with s = x_i
// + x_j, all s+1 ways to split that sum as (k, s−k). A forest is piecewise constant in k, and a
// [Scorer] finds the pieces without visiting the points.
//
// It rests on two observations. First, all tests ask whether an amount exceeds a threshold that is
// not negative. An amount of zero passes them all, so only tests on ingredients in use can fail.
// Second, the failing tests alone determine a leaf, in any order. Number the leaves of a tree from
// left to right. A failing test blocks the leaves to its left below it, and the tree's leaf is the
// first that is not blocked (Lucchese et al. 2015, QuickScorer).
//
// Trees of up to 64 leaves keep the blocked leaves in one machine word. A scorer counts, for each
// leaf, the ingredients that block it. Taking i and j out of the count leaves the leaves that the
// others block. Running through the thresholds of i and j then gives the leaf on every piece of the
// line. The scorer visits only trees that test i or j. It descends larger trees with the interval
// of k that reaches a node, and only if their current path tests i or j.
//
// # Points
//
// A composition that is drawn as a whole is scored by the same masks, but only those of the tests
// that its few ingredients fail. The trees that test none of them end in their first leaves, whose
// sum is known. If the ingredients in use have more tests than the trees' paths, the scorer walks
// the trees one by one. So a rejected candidate costs only a point. The first few lines through
// such a composition need no counts: they use the leaves that the other ingredients block, or
// descents from the roots. Only then does a scorer take the composition over.
//
// # Descriptors
//
// A [Feature] can be more than an amount: the total of a group, whether any of it is present, or a
// descriptor. A descriptor is a mean of an attribute or a log-ratio of two groups. A forest with
// descriptors can predict for ingredients that no row has. Its trees are walked as those of
// imported models are.
//
// [GrowBest] chooses among ways to grow a forest by repeated cross-validation.
//
// # Saved forests
//
// [Forest.Write] saves a forest as JSON, which [Read] checks and loads. docs/forest.md has the
// format: every field, all checks, and how another program evaluates a file.
//
// # Sources
//
// L. Breiman (2001), Random forests, Machine Learning 45, 5–32.
//
// N. Meinshausen (2006), Quantile regression forests, Journal of Machine Learning Research 7,
// 983–999.
//
// L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone (1984), Classification and Regression
// Trees, Wadsworth.
//
// C. Lucchese, F. M. Nardini, S. Orlando, R. Perego, N. Tonellotto and R. Venturini (2015),
// QuickScorer: a fast algorithm to rank documents with additive ensembles of regression trees,
// SIGIR 2015, 73–82.
package model
