"""scikit-learn's Gaussian process and expected improvement, as bench/campaign has it."""

import pathlib
import sys

import protocol

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "campaign"))
import arms  # noqa: E402


def chooser(arm):
    """Return what chooses by an arm of bench/campaign."""

    def choose(q):
        width = len(q.names)
        return arms.choose({"arm": arm, "x": q.x, "y": q.y, "pool": q.pool, "n": q.n, "seed": q.seed,
                            "shares": width, "settings": [[]] * len(q.pool), "limits": []})

    return choose


if __name__ == "__main__":
    protocol.serve(["scikit-learn"], chooser("gp"))
