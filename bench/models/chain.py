#!/usr/bin/env python3
"""Compares a chain on an XGBoost model in kir with the same chain in Python.

    python3 chain.py [DIR]

trains a model of 500 trees of depth 6 over 50 ingredients in 1,000 units and walks
Algorithm 2 on it, in turns: here, where XGBoost predicts all splits of a line in one
call, with one thread and with as many as it likes; and in kir (TestChain), in one. It
prints nanoseconds of processor time an iteration of what has one thread, and of real
time with several, the ratio to the faster of the two, and the mean scores of the chains, which
must agree up to chance.
"""
import os, re, subprocess, sys, tempfile, time
import numpy as np, xgboost as xgb

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from algorithm2 import line_weights

N, TOTAL, LAW = 50, 1000, {n: 1.0 for n in range(2, 9)}
LOW, HIGH = -2.0, 2.0  # what scores 0 and 1
ROUNDS, HERE, THERE = 5, 200, 200_000


def train(path):
    r = np.random.default_rng(1)
    x = np.zeros((2000, N))
    for k in range(len(x)):
        of = r.choice(N, r.integers(3, 9), replace=False)
        x[k, of] = np.round(r.dirichlet(np.ones(len(of))) * TOTAL)
    y = x @ r.normal(size=N) / TOTAL + np.sin(x[:, 0] / 100) + 0.3 * r.normal(size=len(x))
    b = xgb.train(dict(max_depth=6, eta=0.05, objective="reg:squarederror"), xgb.DMatrix(x / TOTAL, y), 500)
    b.save_model(path)
    return b


class Chain:
    def __init__(self, booster):
        self.booster, self.r = booster, np.random.default_rng(2)
        self.end, self.inner = line_weights(N, TOTAL, LAW)
        self.x = np.zeros(N)
        self.x[:4] = TOTAL // 4
        self.y = 0.0

    def run(self, iterations):
        total = 0.0
        for _ in range(iterations):
            x, r = self.x, self.r
            used = np.flatnonzero(x)
            i = r.choice(used)
            j = r.integers(N - 1)
            j += j >= i
            s = int(x[i] + x[j])
            others = len(used) - 1 - (x[j] > 0)
            line = np.tile(x, (s + 1, 1))
            line[:, i] = np.arange(s + 1)
            line[:, j] = s - line[:, i]
            y = np.clip((self.booster.inplace_predict(line / TOTAL) - LOW) / (HIGH - LOW), 0, 1)
            w = y * self.inner[others]
            w[[0, s]] = y[[0, s]] * self.end[others]
            k = r.choice(s + 1, p=w / w.sum())
            n = len(used)
            if x[j] > 0 and k in (0, s) and r.random() * 2 * (n - 1) >= n:
                total += y[int(x[i])]
                continue
            x[i], x[j] = k, s - k
            total += y[k]
        return total / iterations


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    path = os.path.join(directory, "chain.json")
    chain = Chain(train(path))
    chain.run(100)
    names = ["python, one thread", "python, threads", "kir"]
    times, scores = {n: [] for n in names}, {n: [] for n in names}
    for k in range(ROUNDS):
        for name, threads, clock in ((names[0], 1, time.process_time), (names[1], os.cpu_count(), time.perf_counter)):
            chain.booster.set_param({"nthread": threads})
            start = clock()
            scores[name].append(chain.run(HERE))
            times[name].append((clock() - start) / HERE * 1e9)
        out = subprocess.run(["go", "test", "-count", "1", "-v", "-run", "TestChain", "."], check=True, capture_output=True, text=True,
                             cwd=os.path.dirname(os.path.abspath(__file__)), env=dict(os.environ, KIR_CHAIN=path, KIR_CHAIN_ITERATIONS=str(THERE), KIR_CHAIN_SEED=str(k + 1))).stdout
        found = re.search(r"iteration ([\d.]+) ns, mean score ([\d.]+)", out)
        times["kir"].append(float(found[1])), scores["kir"].append(float(found[2]))
    for name in names:
        print(f"{name:18} {np.median(times[name]):12,.0f} ns an iteration ({min(times[name]):,.0f} to {max(times[name]):,.0f}), mean score {np.mean(scores[name]):.4f}, sd of rounds {np.std(scores[name]):.4f}")
    print(f"ratio {min(np.median(times[n]) for n in names[:2]) / np.median(times['kir']):.0f}")


main()
