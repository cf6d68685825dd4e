"""Wheels and the source archive: the same bytes, and a package that runs where it was unpacked or installed."""

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
import tarfile
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
        return wheel.build(program, HERE, "0.1.0rc1", b"licences", 1767323046, self.folder / name)

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
            rows = list(csv.reader(io.StringIO(z.read(wheel.FILE + "-0.1.0rc1.dist-info/RECORD").decode())))
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

    def test_command_of_the_package(self):
        """python -m kir is the program, whatever KIR names, and hands on its exit status."""
        with zipfile.ZipFile(self.built(self.program, "wheel")) as z:
            self.assertIn("kir = kir.__main__:main", z.read(wheel.FILE + "-0.1.0rc1.dist-info/entry_points.txt").decode())
            z.extractall(self.folder / "unpacked")
        os.chmod(next((self.folder / "unpacked" / "kir" / "bin").iterdir()), 0o755)
        env = self.environment(PYTHONPATH=str(self.folder / "unpacked"), KIR="no such program")
        for arguments in (["version"], ["check", "no such file"]):
            want = subprocess.run([self.program, *arguments], capture_output=True, text=True)
            done = subprocess.run([sys.executable, "-m", "kir", *arguments], env=env, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (want.returncode, want.stdout, want.stderr))

    def test_source(self):
        """The source archive has the package, no program, and says where the program comes from."""
        for name in ("one", "two"):
            (self.folder / name).mkdir()
        archives = [wheel.build_source("0.1.0rc1", 1767323046, self.folder / name) for name in ("one", "two")]
        self.assertEqual(archives[0].read_bytes(), archives[1].read_bytes())
        with tarfile.open(archives[0]) as tar:
            names = [n.removeprefix(wheel.FILE + "-0.1.0rc1/") for n in tar.getnames()]
            told = tar.extractfile(wheel.FILE + "-0.1.0rc1/PKG-INFO").read().decode()
            tar.extractall(self.folder / "unpacked")
        self.assertEqual(sorted(n for n in names if not n.startswith("kir/")), ["LICENSE", "PKG-INFO", "README.md", "pyproject.toml"])
        self.assertFalse([n for n in names if n.startswith("kir/bin")])
        self.assertIn("\nLicense-File: LICENSE\n", told)
        self.assertIn("go install ./cmd/kir", told)
        env = self.environment(PYTHONPATH=str(self.folder / "unpacked" / f"{wheel.FILE}-0.1.0rc1"), PATH=os.defpath)
        done = subprocess.run([sys.executable, "-m", "kir", "version"], env=env, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("put kir on the PATH", done.stderr)

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
        command = python.parent / ("kir.exe" if os.name == "nt" else "kir")
        want = subprocess.run([self.program, "version"], capture_output=True, text=True)
        done = subprocess.run([command, "version"], env=dict(env, KIR=str(command)), capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, want.stdout), done.stderr)

    def test_home(self):
        """The module path is where the source is, once it names a host."""
        module = (ROOT / "go.mod").read_text().partition("\n")[0].removeprefix("module ")
        self.assertEqual(wheel.home(), f"https://{module}" if "." in module.partition("/")[0] else None)

    def test_versions(self):
        for version, python in [("1.2.3", "1.2.3"), ("v0.1.0-rc.2", "0.1.0rc2"), ("0.0.0-pre", "0.0.0rc0"), ("1.0.0-beta.1", "1.0.0b1")]:
            self.assertEqual(wheel.python_version(version), python)
        with self.assertRaises(SystemExit):
            wheel.python_version("1.2")


if __name__ == "__main__":
    unittest.main()
