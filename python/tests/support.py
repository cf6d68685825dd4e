"""What the tests share: the program, built once, and a book of recipes."""

import atexit
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of scikit-learn wait for each other longer than they work

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))


def build() -> None:
    """Build the program, unless KIR names one."""
    if os.environ.get("KIR"):
        return
    if shutil.which("go") is None:
        raise unittest.SkipTest("neither KIR nor go is there: no program to test with")
    folder = tempfile.mkdtemp(prefix="kir-test-")
    atexit.register(shutil.rmtree, folder, True)
    program = os.path.join(folder, "kir.exe" if os.name == "nt" else "kir")
    subprocess.run(["go", "build", "-o", program, "./cmd/kir"], cwd=ROOT, check=True)
    os.environ["KIR"] = program


def installed(*names: str) -> bool:
    return all(importlib.util.find_spec(n) for n in names)


def needs(*names: str):
    return unittest.skipUnless(installed(*names), f"{' and '.join(names)} not installed")


# Thirty trials: liking is best with half gin and no more than a little sugar.
GINS = [(10 * g, 10 * s) for g in range(1, 8) for s in range(0, 5)][:30]
BOOK = [{"trial": f"trial {k}", "Gin": g, "Sirop de sucre": s, "Lime, fresh": 100 - g - s,
         "liking": 80 - abs(g - 50) - s / 2 + k % 3} for k, (g, s) in enumerate(GINS)]
for row in BOOK:
    row["recipe"] = row.pop("trial")

build()
