// Package property provides the built-in objectives. Each objective is a [mcmc.Property], which scores
// compositions. It also scores whole lines (see [mcmc.Scorer]) as cheaply as its formula allows.
//
// # Arithmetic
//
// The score of a line must equal, bit for bit, the scores of its points, whatever moves the chain made before.
// Therefore no sum that is updated from move to move is a sum of floating-point numbers. Coefficients are scaled to
// whole numbers: by a power of ten where that keeps all their digits, otherwise by a power of two. Sums of whole
// numbers are exact in any order. Floating-point arithmetic enters only in a last formula that point and line
// share. Each property documents the rounding of its coefficients.
//
// In the formulas x is a composition of M units over N ingredients. x_i is the units of ingredient i, w = x/M the
// shares, and n the number of used ingredients.
package property
