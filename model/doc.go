// Package model learns random forests and Gaussian processes from compositions, and scores whole
// lines of compositions at once.
//
// A composition gives each of N ingredients an integer amount. A [Forest] is grown from rows: known
// compositions with labels, which are classes or numbers (Breiman 2001). Every tree is grown from a
// bootstrap sample of the rows. Each node of a tree takes the best split among some features drawn
// at random. The leaves keep the labels of their rows, so that a forest predicts a probability
// distribution of the label. For classes, the prediction is the mean of the class shares in the
// leaves. For numbers, it is a conditional distribution (Meinshausen 2006).
//
// A [Want] says which label is wanted: a set of classes, bounds of the number, or a direction. With
// a Want, each leaf has one fixed-point number: the share of the leaf's rows that satisfy the Want,
// or the position of their mean label in the range of the labels. The forest thus becomes a
// [Score]: the probability that a composition satisfies the Want, or how large or small its
// expected label is. Sums of fixed-point numbers are exact in any order, so that every way to
// compute a score gives the same bits.
//
// # Lines
//
// A sampler of compositions needs the scores along a line. For two ingredients i and j with the sum
// s = x_i + x_j, the line consists of all s+1 compositions that divide the sum as (k, s−k). The
// score is piecewise constant in k. A [Scorer] finds the pieces without visiting every composition.
//
// The method rests on two observations. First, a test passes if an amount is at most a threshold,
// and no threshold is negative. An amount of zero therefore passes all tests, so that only tests of
// ingredients in use can fail. Second, the set of failing tests determines the leaf. Number the
// leaves of a tree from left to right. A failing test blocks all leaves below its left child. The
// leaf of the composition is the first leaf that is not blocked (Lucchese et al. 2015,
// QuickScorer).
//
// For a tree of up to 64 leaves, a set of leaves is one machine word. A scorer counts, for each
// leaf, the ingredients that block the leaf. From these counts follow the leaves that ingredients
// other than i and j block. A pass over the thresholds of i and j then gives the leaf on every
// piece of the line. The scorer visits only the trees that test i or j. A larger tree is descended
// with the interval of k that reaches a node, and only if its current path tests i or j.
//
// # Points
//
// A composition that is drawn as a whole is scored as a single point, by the masks of the tests
// that its few ingredients fail. A tree that tests none of these ingredients ends in its first
// leaf. If the ingredients in use have more tests than the paths of the trees, the trees are walked
// one by one instead. A candidate that is rejected thus costs only one point. The first few lines
// through a candidate are scored without the counts of blocked leaves. Only after these lines does
// a scorer update the counts.
//
// # Descriptors
//
// A [Feature] can be more than an amount: the total of a group of ingredients, the presence of any
// of them, or a descriptor. A descriptor is a mean of an attribute or a log-ratio of two groups. A
// forest with descriptors can predict for ingredients that no row has. Package
// kir/internal/ensemble scores such forests, as it scores models of other programs.
//
// [GrowBest] chooses among ways to grow a forest by repeated cross-validation.
//
// # Saved forests
//
// [Forest.Write] saves a forest as JSON, and [Read] checks and loads a saved forest. docs/forest.md
// describes the format: every field, all checks, and how another program evaluates a file.
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
