"""scikit-learn's Gaussian process and expected improvement, as bench/campaign has it."""

import pathlib
import sys

import numpy as np
import protocol

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "campaign"))
import arms  # noqa: E402


def chooser(arm):
    """Return what chooses by an arm of bench/campaign."""

    def choose(q):
        x, pool, settings = q.x, q.pool, [[]] * len(q.pool)
        if q.conditions:
            x, pool, settings = np.hstack([x, q.features]), np.hstack([pool, q.pool_features]), q.pool_settings
        return arms.choose({"arm": arm, "x": x, "y": q.y, "pool": pool, "n": q.n, "seed": q.seed,
                            "shares": len(q.names), "settings": settings, "limits": []})

    return choose


if __name__ == "__main__":
    protocol.serve(["scikit-learn"], chooser("gp"), choose_setting=chooser("gp"))
