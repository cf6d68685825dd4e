// Package search finds the best compositions of a target and makes a shortlist of good compositions that
// differ.
//
// A search does not sample. Draws follow the probabilities of the target, and the best draw is good only if
// these concentrate on few compositions. [Best] starts at known and random compositions and changes the
// division of two ingredients' joint amount at each step. It scores all such divisions (a line, see
// [mcmc.Scorer]) at once. It anneals, so bad steps become rarer, and it keeps the best composition of each
// niche in an [Archive]. It has random numbers of its own, so it does not affect the draws. Its result depends
// on the target, the options and the seed alone.
//
// [Shortlist] chooses from the archive compositions that score best and differ from the compositions chosen
// before. It adds the variants of each chosen composition, and the ranges of amounts that the model cannot
// distinguish. [Compare] compares the shortlist with random and known compositions.
package search
