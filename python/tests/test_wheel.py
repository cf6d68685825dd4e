"""Wheels: the same bytes, and a package that runs where it was unpacked or installed."""

import base64
import csv
import hashlib
import importlib.util
import io
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from support import ROOT

spec = importlib.util.spec_from_file_location("wheel", ROOT / "python" / "wheel.py")
wheel = importlib.util.module_from_spec(spec)
spec.loader.exec_module(wheel)

HERE = {"Linux": "linux", "Darwin": "darwin", "Windows": "windows"}.get(platform.system(), "") + "_" + \
    {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "")
USE = ("import kir, os; assert 'KIR' not in os.environ; assert os.path.dirname(kir.find()).endswith('bin'), kir.find(); "
       "print(kir.Problem(ingredients=['Gin', 'Rum'], total=10, sparsity={'uniform': [1, 2]}).check()['compositions'])")


class Wheels(unittest.TestCase):
    def setUp(self):
        if HERE not in wheel.TAGS:
            self.skipTest(f"no wheels for {HERE}")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        program = pathlib.Path(shutil.which(os.environ["KIR"]))
        self.program = self.folder / program.name.replace(program.stem, "kir")
        shutil.copy(program, self.program)

    def built(self, program, name):
        (self.folder / name).mkdir()
        return wheel.build(program, HERE, "0.1.0rc1", b"licences", (2026, 1, 2, 3, 4, 6), self.folder / name)

    def environment(self, **more):
        kept = {k: v for k, v in os.environ.items() if k not in ("KIR", "PYTHONPATH")}
        return dict(kept, **more)

    def test_the_same_bytes(self):
        small = self.folder / "small" / "kir"
        small.parent.mkdir()
        small.write_bytes(b"program" * 999)
        one = self.built(small, "one").read_bytes()
        os.utime(small, (1, 1))
        os.chmod(small, 0o600)
        self.assertEqual(self.built(small, "two").read_bytes(), one)

    def test_unpacked(self):
        with zipfile.ZipFile(self.built(self.program, "wheel")) as z:
            rows = list(csv.reader(io.StringIO(z.read("kir-0.1.0rc1.dist-info/RECORD").decode())))
            self.assertEqual([r[0] for r in rows], z.namelist())
            for path, digest, size in rows[:-1]:
                data = z.read(path)
                want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, int(size)), ("sha256=" + want, len(data)))
            z.extractall(self.folder / "unpacked")
        os.chmod(next((self.folder / "unpacked" / "kir" / "bin").iterdir()), 0o755)  # extractall has no modes; pip has
        done = subprocess.run([sys.executable, "-c", USE], env=self.environment(PYTHONPATH=str(self.folder / "unpacked")),
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "11"), done.stderr)

    @unittest.skipUnless(os.environ.get("KIR_LONG"), "a virtual environment takes long: KIR_LONG=1")
    def test_installed_offline(self):
        made = subprocess.run([sys.executable, "-m", "venv", str(self.folder / "venv")], capture_output=True, text=True)
        if made.returncode:
            self.skipTest(f"no virtual environment can be made: {made.stdout}{made.stderr}")
        python = self.folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        env = self.environment(PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
        subprocess.run([python, "-m", "pip", "install", "-q", str(self.built(self.program, "wheel"))], check=True, env=env)
        done = subprocess.run([python, "-c", USE], env=env, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "11"), done.stderr)

    def test_versions(self):
        for version, python in [("1.2.3", "1.2.3"), ("v0.1.0-rc.2", "0.1.0rc2"), ("0.0.0-pre", "0.0.0rc0"), ("1.0.0-beta.1", "1.0.0b1")]:
            self.assertEqual(wheel.python_version(version), python)
        with self.assertRaises(SystemExit):
            wheel.python_version("1.2")


if __name__ == "__main__":
    unittest.main()
