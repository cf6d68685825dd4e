// Package linprog solves linear programs by simplex methods for bounded variables. The methods compute in
// floating point, but their conclusions are proven by weights of the rows. The weights prove a bound of the
// objective, to which the possible rounding error is added ([Program.UpperBound]). The weights also prove, in
// whole numbers, that no values satisfy the rows ([WholeProgram.ProvesInfeasible]).
package linprog
