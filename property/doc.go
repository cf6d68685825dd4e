// Package property holds the ready-made wishes: how well a composition fits,
// as a [mcmc.Property] that scores whole lines as cheaply as its form allows.
//
// # Arithmetic
//
// A score of a line must equal, bit for bit, the scores of its points, whatever
// way the chain came there. So nothing that is kept up to date from move to move
// is a sum of floating-point numbers. Coefficients are made whole numbers, by a
// power of ten where that takes all their digits and otherwise by a power of
// two, and sums of them are exact in any order; floating point only enters in
// a last formula that point and line share. Each property says how far its
// coefficients are rounded.
//
// In the formulas x is a composition of M units over N ingredients, x_i the
// units of ingredient i, w = x/M the shares, n the number of ingredients used.
package property
