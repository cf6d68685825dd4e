// Package property provides the built-in objectives. Each objective is a [mcmc.Property], which scores
// compositions. It also scores all divisions of the joint amount of two ingredients (a line, see [mcmc.Scorer])
// as cheaply as its formula allows.
//
// # Arithmetic
//
// The score of a composition must be the same, bit for bit, whether it is computed alone or with all divisions
// of two ingredients' joint amount, and whatever changes the chain made before. Therefore no sum that is
// updated from change to change is a sum of floating-point numbers. Coefficients are scaled to whole numbers:
// by a power of ten where that keeps all their digits, otherwise by a power of two. Sums of whole numbers are
// exact in any order. Floating-point arithmetic enters only in a last formula, which is the same in both cases.
// Each property documents the rounding of its coefficients.
//
// In the formulas x is a composition of M units over N ingredients. x_i is the units of ingredient i, w = x/M
// the shares, and n the number of used ingredients.
package property
