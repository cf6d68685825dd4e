"""kir mcp, used by the client of the package mcp of PyPI."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import support  # builds the program

PACKAGE = "mcp==2.3.0"
FILES = {
    "bar.yaml": "name: A bar\ningredients: [Gin, Rum, Lime juice]\ntotal: 20\nsparsity: {uniform: [1, 3]}\n"
                "properties: {y: {expression: \"0.2 + share('Gin')\"}}\n",
    "program.yaml": "ingredients: [Gin, Rum]\ntotal: 20\nsparsity: {uniform: [1, 2]}\n"
                    f"properties: {{y: {{program: {{command: ['{sys.executable}', score.py]}}}}}}\n",
    "score.py": "import json, sys\nfor line in sys.stdin:\n    print(json.dumps([0.5 for _ in json.loads(line)]), flush=True)\n",
}
TOOLS = ["campaign", "check", "explain_conflict", "next", "read_document", "record", "sample", "score", "shortlist", "tradeoff"]


def environment() -> str:
    """Return the Python of an environment with the package, which is kept for the next time."""
    if sys.version_info < (3, 10):
        raise unittest.SkipTest(f"{PACKAGE} needs Python 3.10")
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "kir-mcp" / PACKAGE
    python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    if subprocess.run([python, "-c", "import mcp, httpx2"], capture_output=True).returncode if os.path.exists(python) else 1:
        for command in ([sys.executable, "-m", "venv", str(folder)], [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", PACKAGE]):
            try:
                subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
            except subprocess.SubprocessError as e:
                raise unittest.SkipTest(f"{PACKAGE} cannot be installed: {e} {e.stderr or ''}") from e
    return python


@unittest.skipUnless(os.environ.get("KIR_LONG"), "a virtual environment takes long: KIR_LONG=1")
class Assistant(unittest.TestCase):
    def test_client(self):
        python = environment()
        with tempfile.TemporaryDirectory() as folder:
            for name, text in FILES.items():
                pathlib.Path(folder, name).write_text(text, encoding="utf-8")
            env = dict(os.environ, XDG_CONFIG_HOME=folder + "/config")
            client = str(pathlib.Path(__file__).with_name("mcp_client.py"))
            done = subprocess.run([python, client, os.environ["KIR"], folder], capture_output=True, text=True, env=env, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
        *answers, refused, status = json.loads(done.stdout)
        for k, answer in enumerate(answers):
            with self.subTest(["standard input and output", "HTTP"][k]):
                self.assertEqual(answer["tools"], TOOLS)
                self.assertIn("kir://problems/bar.yaml", answer["resources"])
                self.assertEqual((answer["document"], answer["report"]), ("# From ", "A bar"))
                self.assertTrue(answer["wrong"])
                self.assertEqual((answer["run"], answer["best"]), (f"runs/bar-{k + 1}", 5))
                self.assertLess(answer["text"].index(" 1  score"), answer["text"].index("Next:"))
                self.assertFalse(answer["program"], answer["program_text"])
                self.assertIn("reading the tables", answer["progress"])
                self.assertTrue(answer["grows"])
        self.assertEqual((len(answers), refused, status), (2, 401, 0))


if __name__ == "__main__":
    unittest.main()
