"""ArviZ: the figures of draws, by coordinate. The question has file, chains, draws and n."""

import arviz
import numpy as np
import samplers_protocol as protocol


def work(question, clock):
    x = np.fromfile(question["file"]).reshape(question["chains"], question["draws"], question["n"])
    data = {"x": x}
    means = {"mean": x.mean(axis=(0, 1)), "sd": x.std(axis=(0, 1), ddof=1)}
    for name, of in (("mcse_mean", arviz.mcse(data, method="mean")), ("mcse_sd", arviz.mcse(data, method="sd")),
                     ("ess_bulk", arviz.ess(data, method="bulk")), ("ess_tail", arviz.ess(data, method="tail")),
                     ("ess_mean", arviz.ess(data, method="mean")), ("rhat", arviz.rhat(data, method="rank")),
                     ("mcse_median", arviz.mcse(data, method="median")), ("mcse_q5", arviz.mcse(data, method="quantile", prob=0.05)),
                     ("mcse_q95", arviz.mcse(data, method="quantile", prob=0.95))):
        means[name] = of["x"].values
    return {"vectors": {name: [float(v) if np.isfinite(v) else None for v in values] for name, values in means.items()}}


if __name__ == "__main__":
    protocol.answer(["arviz"], work)
