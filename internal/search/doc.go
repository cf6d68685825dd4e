// Package search looks for the best compositions of a target, and makes a
// shortlist of different ideas of what it finds.
//
// Searching is not sampling: draws say what the target's law is, and the best of
// them is only as good as the law is sharp. [Best] walks from known and random
// compositions along lines, each scored at once, cooling as it goes, and keeps
// the best of each kind in an [Archive]. It has random streams of its own, so
// that draws are what they are without it, and what it finds follows from the
// target, the options and the seed alone.
//
// [Shortlist] chooses from the archive what scores best and differs from what
// was chosen before, with the variants of each choice and the range in which the
// model cannot tell an amount from another. [Compare] sets it beside random and
// known compositions.
package search
