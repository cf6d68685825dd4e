"""The notebooks run, and say what is stored in them."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import notebook
from support import ROOT, installed, needs

NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.ipynb"))


class Notebooks(unittest.TestCase):
    maxDiff = None

    def holds(self, path, found):
        for (printed, values), (shown, kept) in zip(found, notebook.texts(notebook.stored(path)), strict=True):
            self.assertEqual((printed, values), (shown, kept), f"python3 python/tests/notebook.py {path.relative_to(ROOT)} writes it anew")

    @needs("pandas")
    def test_what_is_stored_is_what_they_say(self):
        self.assertEqual(len(NOTEBOOKS), 3)
        for path in NOTEBOOKS:
            with self.subTest(path.name):
                found = notebook.outputs(path)
                self.holds(path, notebook.texts(found))
                kinds = [k for made in notebook.stored(path) for o in made for k in o.get("data", {})]
                self.assertIn("text/html", kinds)
                if installed("matplotlib") and path.stem == "lotion":
                    self.assertIn("image/png", kinds)
                    self.assertIn("image/png", [k for made in found for o in made for k in o.get("data", {})])
                self.assertTrue(all(b["source"] for b in notebook.load(path)["cells"]))

    @needs("pandas", "marimo")
    def test_marimo(self):
        path = ROOT / "python" / "notebooks" / "campaign_marimo.py"
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            done = subprocess.run([sys.executable, "-m", "marimo", "export", "html", str(path), "-o", page, "--no-sandbox"], capture_output=True, text=True,
                                  timeout=300, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
            self.assertEqual(done.returncode, 0, done.stderr)
            text = pathlib.Path(page).read_text(encoding="utf-8")
        self.assertTrue("predicted liking" in text and "90 % range" in text, "the page lacks the batch or its results")

    @unittest.skipUnless(os.environ.get("KIR_JUPYTER") and installed("nbclient", "nbformat", "ipykernel", "pandas"),
                         "in Jupyter itself: KIR_JUPYTER=1, with nbclient, nbformat and ipykernel")
    def test_jupyter_says_the_same(self):
        import nbclient
        import nbformat
        for path in NOTEBOOKS:
            with self.subTest(path.name):
                read = nbformat.read(path, as_version=4)
                nbformat.validate(read)
                with unittest.mock.patch.dict(os.environ, PYTHONPATH=str(ROOT / "python")):
                    nbclient.NotebookClient(read, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
                self.holds(path, notebook.texts([c["outputs"] for c in read["cells"] if c["cell_type"] == "code"]))

    @unittest.skipUnless(os.environ.get("KIR_JUPYTER") and installed("nbclient", "nbformat", "ipykernel"),
                         "in Jupyter itself: KIR_JUPYTER=1, with nbclient, nbformat and ipykernel")
    def test_jupyter_shows_a_bar_and_the_report(self):
        import nbclient
        import nbformat
        cell = nbformat.v4.new_code_cell(
            "import kir\n"
            "kir.Problem(ingredients=['Gin', 'Rum', 'Lime'], total=50, sparsity={'uniform': [1, 3]}).sample(draws_per_chain=400000, chains=2, effort=0)")
        book = nbformat.v4.new_notebook(cells=[cell])
        bars = []

        class Client(nbclient.NotebookClient):
            def process_message(self, msg, cell, index):
                if msg["msg_type"] == "update_display_data":
                    bars.append(msg["content"]["data"]["text/html"])
                return super().process_message(msg, cell, index)
        with unittest.mock.patch.dict(os.environ, PYTHONPATH=str(ROOT / "python")):
            Client(book, timeout=300, kernel_name="python3").execute()
        self.assertTrue(any("<progress" in b for b in bars), bars)
        self.assertEqual(bars[-1], "")
        shown = [o["data"]["text/html"] for o in cell["outputs"] if o["output_type"] == "execute_result"]
        self.assertTrue(shown and shown[0].startswith("<iframe"))


if __name__ == "__main__":
    unittest.main()
