// Package search finds the best compositions of a target and makes a shortlist of different ones.
//
// A search does not sample. Draws estimate the target's law, and the best draw is only as good as
// the law is narrow. [Best] walks from known and random compositions along lines, each scored at
// once. Its temperature falls, and it keeps the best composition of each niche in an [Archive]. It
// has random streams of its own, so it does not affect the draws. Its result depends on the target,
// the options and the seed alone.
//
// [Shortlist] chooses from the archive the compositions that score best and differ from those
// chosen before. It adds the variants of each choice, and the ranges of amounts that the model
// cannot distinguish. [Compare] compares it with random and known compositions.
package search
