// Package linprog solves linear programs by simplex methods for bounded variables. They compute in
// floating point, but what they conclude does not rest on it: weights of the rows prove the bound of an
// objective, with the rounding error added ([Program.UpperBound]), and in whole numbers that nothing
// satisfies the rows ([Whole.ProvesInfeasible]).
package linprog
