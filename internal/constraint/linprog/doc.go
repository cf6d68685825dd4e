// Package linprog solves linear programs by simplex methods for bounded variables. The methods compute in floating
// point, but their conclusions are proven by weights of the rows. The weights prove a bound of the objective, with
// the rounding error added ([Program.UpperBound]), and in whole numbers that no values satisfy the rows
// ([Whole.ProvesInfeasible]).
package linprog
