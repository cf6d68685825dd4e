// Package search finds the best compositions of a target and makes a shortlist of different ones.
//
// A search does not sample. Draws estimate the law of the target, and the best draw is good only if the law is
// narrow. [Best] walks from known and random compositions along lines (see [mcmc.Scorer]), each of which is scored
// at once. Its temperature falls, and it keeps the best composition of each niche in an [Archive]. It has random
// streams of its own, so it does not affect the draws. Its result depends on the target, the options and the seed
// alone.
//
// [Shortlist] chooses from the archive compositions that score best and differ from the compositions chosen before.
// It adds the variants of each chosen composition, and the ranges of amounts that the model cannot distinguish.
// [Compare] compares the shortlist with random and known compositions.
package search
