"""Documents: their programs run, and print what stands below them."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, installed, needs

MARK = "\n#----\n"


def pieces(name):
    """Return the programs of a document, each with what is shown below it."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.S)


class Documents(unittest.TestCase):
    def run_all(self, shown):
        """Run programs one after another in one process, beside the trials of a spritz."""
        program = f"\nprint({MARK!r})\n".join(p for p, _ in shown)
        with tempfile.TemporaryDirectory() as base:
            (pathlib.Path(base) / "trials.csv").write_bytes((ROOT / "examples/spritz/trials.csv").read_bytes())
            done = subprocess.run([sys.executable, "-c", program], cwd=base, capture_output=True, text=True, encoding="utf-8",
                                  env=dict(os.environ, PYTHONPATH=str(ROOT / "python"), PYTHONIOENCODING="utf-8"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for printed, (piece, wanted) in zip(done.stdout.split(MARK + "\n"), shown, strict=True):
            self.assertEqual(printed.strip(), wanted.strip(), piece)

    @needs("pandas")
    def test_python(self):
        self.assertGreaterEqual(len(pieces("python.md")), 3)
        self.run_all([p for p in pieces("python.md") if "sklearn" not in p[0] or installed("sklearn")])

    @needs("pandas")
    def test_coming_from(self):
        found = pieces("coming-from.md")
        for piece, _ in found:
            compile(piece, "coming-from.md", "exec")
        ours = [p for p in found[:2] if "import pandas" in p[0] or "import kir" in p[0]]
        self.assertEqual((len(found), len(ours)), (5, 2))
        self.run_all(ours)


if __name__ == "__main__":
    unittest.main()
