"""Prints what returns_test.go compares with: moments of a small history, a year of 12
periods, in 50 digits. The sums are those of raw fourth moments, not of centred products as
in returns.go, so that a slip in one shows in the other."""

from decimal import Decimal as D, getcontext
from fractions import Fraction as F

getcontext().prec = 50
rows = [
    "0.02 0.021 -0.01", "-0.01 -0.008 0.005", "0.03 0.026 0.02", "-0.025 -0.029 0.001",
    "0.005 0.009 -0.007", "0.012 0.010 0.015", "-0.004 -0.001 -0.022", "0.017 0.015 0.008",
]
x = [[F(v) for v in row.split()] for row in rows]
T, N = len(x), len(x[0])
each = range(N)
mean = [sum(row[i] for row in x) / T for i in each]
y = [[row[i] - mean[i] for i in each] for row in x]


def moment(i, a, j, b):
    return sum(row[i] ** a * row[j] ** b for row in y) / T


def dec(f):
    return D(f.numerator) / D(f.denominator)


s = [[moment(i, 1, j, 1) for j in each] for i in each]
root = [dec(s[i][i]).sqrt() for i in each]
r = sum(dec(s[i][j]) / root[i] / root[j] for i in each for j in each if i != j) / (N * (N - 1))
f = [[dec(s[i][i]) if i == j else r * root[i] * root[j] for j in each] for i in each]
pi = [[moment(i, 2, j, 2) - s[i][j] ** 2 for j in each] for i in each]
rho = sum(dec(pi[i][i]) for i in each)
for i in each:
    for j in each:
        if i != j:
            ii = dec(moment(i, 3, j, 1) - s[i][i] * s[i][j])
            jj = dec(moment(i, 1, j, 3) - s[j][j] * s[i][j])
            rho += r / 2 * (root[j] / root[i] * ii + root[i] / root[j] * jj)
gamma = sum((f[i][j] - dec(s[i][j])) ** 2 for i in each for j in each)
kappa = (sum(dec(pi[i][j]) for i in each for j in each) - rho) / gamma
shrink = max(D(0), min(D(1), kappa / T))
print("correlation", r)
print("intensity", shrink)
print("mean", *(dec(12 * m) for m in mean))
for i in each:
    print("row", *(12 * (shrink * f[i][j] + (1 - shrink) * dec(s[i][j])) * T / (T - 1) for j in each))
