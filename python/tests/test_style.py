"""Types and style at their strictest, where mypy and ruff are installed."""

import os
import shutil
import subprocess
import sys
import unittest

from support import ROOT, installed


@unittest.skipUnless(os.environ.get("KIR_LONG"), "takes long: KIR_LONG=1")
class Style(unittest.TestCase):
    def passes(self, *command):
        done = subprocess.run(command, cwd=ROOT / "python", capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(installed("mypy"), "mypy not installed")
    def test_types(self):
        self.passes(sys.executable, "-m", "mypy", "--cache-dir", os.devnull)

    @unittest.skipUnless(shutil.which("ruff"), "ruff not installed")
    def test_ruff(self):
        self.passes("ruff", "check", "--no-cache", "kir")


if __name__ == "__main__":
    unittest.main()
