"""Problems, runs and what is left behind."""

import gc
import json
import os
import pathlib
import pickle
import signal
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import warnings

from support import BOOK, ROOT, needs
import kir
from kir import _program, _tables

SMALL = {"draws_per_chain": 60, "chains": 2, "warmup": 50, "effort": 0}


def problem(**more):
    return kir.Problem(BOOK, total=100, maximize="liking", rules=[kir.within_book()], **more)


class Problems(unittest.TestCase):
    def test_check(self):
        found = problem().check()
        self.assertEqual(found["problem"]["ingredients"], 3)
        self.assertEqual(found["problem"]["rules"], ["every ingredient within the amounts of the known recipes"])

    def test_errors(self):
        with self.assertRaises(kir.Error) as caught:
            kir.Problem(BOOK, total=100, rules=[kir.exclude("Gni"), {"amont": 1}]).check()
        e = caught.exception
        self.assertEqual((e.message, e.hint, e.status), ('there is no ingredient "Gni"', 'did you mean "Gin"?', 2))
        self.assertEqual(e.errors[1]["hint"], 'did you mean "amount"?')
        self.assertEqual(e.place.partition(" ")[0], "rules[0]")  # no line of a file that the caller never saw
        self.assertIn("amont", str(e))

    def test_error_about_a_missing_argument(self):
        with self.assertRaises(kir.Error) as caught:
            kir.Problem(ingredients=["Gin", "Lime"], total=100).check()
        e = caught.exception
        self.assertEqual((e.place, e.hint), ("", 'add one, such as sparsity={"uniform": [2, 5]}'))
        self.assertNotIn("yaml", str(e))

    def test_labels_that_are_columns_of_draws(self):
        for label in ("score", "draw", "used", "recipe of mine"):
            book = [{**r, label: r["liking"]} for r in BOOK]
            p = kir.Problem(book, total=100, maximize=label)
            self.assertEqual(len(p.check()["properties"]), 1)
        self.assertEqual(list(kir.Problem(BOOK, total=100, maximize="score")["properties"]), ["score of recipes"])

    def test_files_and_tables_of_rules_and_objectives(self):
        names = ["Gin", "Rum", "Lime"]
        stock = [{"name": n, "return": k / 10} for k, n in enumerate(names)]
        with tempfile.TemporaryDirectory() as base:
            pathlib.Path(base, "cov é.csv").write_text("name,Gin,Rum,Lime\nGin,1,0,0\nRum,0,1,0\nLime,0,0,1\n")
            before = os.getcwd()
            self.addCleanup(os.chdir, before)
            os.chdir(base)
            keys = {"ingredients": stock, "total": 100, "sparsity": {"uniform": [1, 3]}}
            p = kir.Problem(**keys, objectives={"u": kir.markowitz({"attribute": "return"}, "cov é.csv", risk_aversion=1)})
            os.chdir(before)
            self.assertEqual(p.check()["properties"][0]["kind"], "markowitz")
            if _tables.module("pandas"):
                import pandas
                table = pandas.DataFrame([[1, 0, 0], [0, 1, 0], [0, 0, 1]], index=names, columns=names)
                q = kir.Problem(**keys, objectives={"u": kir.markowitz({"attribute": "return"}, table, risk_aversion=1)})
                limits = pandas.DataFrame({"attribute": ["return"], "min": [0.05], "max": [0.15]})
                q["constraints"] = [kir.limits(limits)]
                self.assertEqual(q.check()["problem"]["rules"], ["return: 0.05 to 0.15 (table.csv line 2)"])
                self.assertIn("covariance.csv", q.text())

    def test_conditions(self):
        book = [{**r, "heat": None if k == 0 else 150 + 10 * (k % 3), "oven": "fan" if k % 2 else "deck"} for k, r in enumerate(BOOK)]
        of = {"heat": {"from": 150, "to": 170, "step": 5}, "oven": ["fan", "deck"]}
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an empty condition is not an amount that is missing
            p = kir.Problem(book, total=100, maximize="liking", conditions=of)
        self.assertEqual(p.amounts() & {"heat", "oven"}, set())
        run = p.sample(**SMALL)
        best = run.shortlist
        first = best.iloc[0] if hasattr(best, "iloc") else best[0]
        self.assertIn(first["heat"], range(150, 171, 5))
        self.assertIn(first["oven"], ["fan", "deck"])
        for form in ("wide", "long", "records"):
            draws = run.draws(form)
            d = draws.iloc[0] if hasattr(draws, "iloc") else draws[0]
            d = d["conditions"] if form == "records" else d
            self.assertIn(d["heat"], range(150, 171, 5))
            self.assertIn(d["oven"], ["fan", "deck"])
        p["constraints"] = [kir.condition("oven", is_="fan")]
        self.assertEqual({d["conditions"]["oven"] for d in p.sample(**SMALL).draws("records")}, {"fan"})

    def test_values(self):
        with self.assertRaises(ValueError):
            kir.Problem(BOOK, total=100, rules=[kir.limit("cost", max=float("nan"))]).text()

    def test_names_and_paths(self):
        with tempfile.TemporaryDirectory() as base:
            place = pathlib.Path(base) / "ein Ordner für Ä's"
            p = problem(directory=place, name="Crème, « brûlée »")
            run = p.sample(place / "mein Lauf", **SMALL)
            self.assertEqual(run.summary["problem"]["name"], "Crème, « brûlée »")
            self.assertIn("Lime, fresh", {n for e in run.summary["best"] for n in e["recipe"]})

    def test_load_and_save(self):
        with tempfile.TemporaryDirectory() as base:
            source = pathlib.Path(base) / "p.yaml"
            source.write_text("# said\r\ningredients: [Gin, Rum, Lime]\r\ntotal: 1e2\r\nsparsity: {uniform: [1, 3]}\r\n", newline="")
            p = kir.Problem.load(source)
            self.assertEqual(p["ingredients"], ["Gin", "Rum", "Lime"])
            before = p.check()["compositions"]
            p["constraints"] = [kir.amount("Gin", max=10)]
            self.assertLess(p.check()["compositions"], before)
            self.assertEqual(sorted(n for n in os.listdir(base) if n != ".kir-cache"), ["p.yaml"])
            again = kir.Problem.load(p.save(pathlib.Path(base) / "q.yaml"))
            self.assertEqual(dict(again), json.loads(p.text()))
            with self.assertRaises(kir.Error):
                p.save(pathlib.Path(base) / "else" / "q.yaml")

    def test_examples_load(self):
        for path in sorted(ROOT.glob("examples/*/*.yaml")):
            if "kubernetes" not in path.name:
                with self.subTest(path.name):
                    self.assertIn("total", kir.Problem.load(path))

    def test_program_is_not_allowed_beside_functions(self):
        p = problem(objectives={"f": lambda t: [1] * len(t), "other": kir.program(["sh", "x"])})
        with self.assertRaisesRegex(kir.Error, "allow_programs"):
            p.check()


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = problem().sample(**SMALL)

    def test_summary(self):
        self.assertEqual(self.run_.summary["sampler"]["draws"], 60)
        page = self.run_._repr_html_()
        self.assertTrue(page.startswith("<iframe") and "&lt;html" in page)

    def test_records(self):
        records = self.run_.draws("records")
        self.assertEqual(len(records), 120)
        self.assertTrue(all(sum(r["recipe"].values()) == 100 for r in records))
        with self.assertRaises(ValueError):
            self.run_.draws("tall")

    @needs("pandas")
    def test_frames_are_the_records(self):
        wide, long, records = self.run_.draws(), self.run_.draws("long"), self.run_.draws("records")
        names = ["Gin", "Sirop de sucre", "Lime, fresh"]
        self.assertEqual(wide[names].to_dict("records"), [{n: r["recipe"].get(n, 0) for n in names} for r in records])
        self.assertEqual(wide["liking"].tolist(), [r["scores"]["liking"] for r in records])
        self.assertEqual(wide["log_density"].tolist(), [r["log_density"] for r in records])
        self.assertEqual(wide["chain"].tolist(), [r["chain"] for r in records])
        got = [tuple(x) for x in long.itertuples(index=False)]
        want = [(r["chain"], r["draw"], n, r["recipe"][n]) for r in records for n in names if n in r["recipe"]]
        self.assertEqual(sorted(got), sorted(want))

    @needs("numpy")
    def test_numpy_reads_the_file(self):
        import io
        import numpy
        data = _program.run(["draws", self.run_.path, "--format", "npy"]).out
        self.assertTrue((numpy.load(io.BytesIO(data)) == self.run_.array()).all())

    @needs("pyarrow", "pandas")
    def test_arrow(self):
        table = self.run_.arrow()
        self.assertEqual(table.num_rows, 120)

    @needs("arviz")
    def test_arviz(self):
        data = self.run_.to_arviz()
        self.assertEqual(dict(data.posterior.sizes), {"chain": 2, "draw": 60, "ingredient": 3})

    @needs("numpy")
    def test_arviz_is_given_each_chain(self):
        whole = _tables.module
        self.addCleanup(setattr, _tables, "module", whole)
        first = self.run_.draws("records")[60]  # of the second chain

        class Before:
            @staticmethod
            def from_dict(posterior=None, sample_stats=None, coords=None, dims=None):
                return posterior, sample_stats, coords

        class Since:
            @staticmethod
            def from_dict(data, coords=None, dims=None):
                return data["posterior"], data["sample_stats"], coords
        for arviz in (Before, Since):
            _tables.module = lambda name, arviz=arviz: arviz if name == "arviz" else whole(name)
            posterior, stats, coords = self.run_.to_arviz()
            self.assertEqual(posterior["amount"].shape, (2, 60, 3))
            self.assertEqual(dict(zip(coords["ingredient"], posterior["amount"][1, 0].tolist())),
                             {n: first["recipe"].get(n, 0) for n in coords["ingredient"]})
            self.assertEqual((stats["lp"][1, 0], stats["score_liking"][1, 0]), (first["log_density"], first["scores"]["liking"]))

    def test_arrow_is_given_the_parts(self):
        whole = _tables.module
        self.addCleanup(setattr, _tables, "module", whole)
        asked = []

        class Dataset:
            @staticmethod
            def dataset(path, format=None, partitioning=None):
                asked.append((sorted(os.listdir(path)), format, partitioning))
                return type("Whole", (), {"to_table": staticmethod(lambda: "a table")})
        _tables.module = lambda name: Dataset if name.startswith("pyarrow") else whole(name)
        self.assertEqual(self.run_.arrow(), "a table")
        self.assertEqual(asked, [(["chain=0000", "chain=0001"], "parquet", "hive")])

    def test_what_is_missing_is_said(self):
        if _tables.module("arviz"):
            self.skipTest("arviz is installed")
        with self.assertRaisesRegex(kir.Error, "arviz is not installed"):
            self.run_.to_arviz()

    def test_nothing_is_left(self):
        run = problem().sample(**SMALL)
        self.assertEqual(run.summary["problem"]["name"], "liking")  # and not that of a temporary directory
        path = run.path
        self.assertTrue(os.path.isdir(path))
        del run
        gc.collect()
        self.assertFalse(os.path.exists(path))

    def test_progress(self):
        shown = []
        problem().run("sample", "--json", "--json-progress", "-o", os.path.join(tempfile.mkdtemp(dir=os.path.dirname(self.run_.path)), "r"),
                      "--draws=60", "--warmup=5", "--effort=0", progress=shown.append)
        self.assertEqual(shown[-1]["done"], 1)


class Interrupts(unittest.TestCase):
    @unittest.skipIf(os.name == "nt", "signals")
    def test_the_child_ends(self):
        with tempfile.TemporaryDirectory() as base:
            p = kir.Problem(ingredients={"count": 50}, total=1000, sparsity={"uniform": [2, 9]})
            out = pathlib.Path(base) / "run"

            def interrupt():
                while not (out / "run.json").exists():
                    time.sleep(0.02)
                time.sleep(0.1)
                os.kill(os.getpid(), signal.SIGINT)
            threading.Thread(target=interrupt).start()
            with self.assertRaises(kir.Interrupted) as caught:
                p.sample(out, draws_per_chain=100_000_000, kernel="balanced")
            self.assertEqual(caught.exception.directory, str(out))
            self.assertIn("Chains", _program.run(["status", str(out)]).out.decode())  # its lock is free, it can go on

    @unittest.skipIf(os.name == "nt", "signals")
    def test_nothing_to_resume(self):
        with tempfile.TemporaryDirectory() as base:
            p = kir.Problem(ingredients={"count": 5}, total=100, sparsity={"uniform": [2, 3]})

            with unittest.mock.patch.object(_program.queue.Queue, "get", side_effect=KeyboardInterrupt), \
                    self.assertRaises(kir.Interrupted) as caught:
                p.sample(pathlib.Path(base) / "run", draws_per_chain="nonsense")
            self.assertEqual((caught.exception.directory, str(caught.exception)), ("", "interrupted"))


class Tradeoffs(unittest.TestCase):
    def both(self):
        stock = [{"name": "Gin", "price": 20}, {"name": "Lime, fresh", "price": 4}, {"name": "Sirop de sucre", "price": 1}]
        return problem(ingredients=stock, objectives={"price, at cost": kir.blend("price", minimize=True)})

    def test_tradeoff(self):
        found = self.both().tradeoff("price, at cost", "liking", points=5, effort=0.05)
        self.assertEqual([o["goal"] for o in found.summary["objectives"]], ["minimize", "maximize"])
        self.assertLessEqual(len(found.front), 5)
        front = found.summary["front"]
        prices = [p["values"]["price, at cost"]["value"] for p in front]
        likings = [p["values"]["liking"]["value"] for p in front]
        self.assertEqual(prices, sorted(prices))
        self.assertEqual(likings, sorted(likings))  # what costs more is liked more, or it would be beaten
        self.assertEqual(found.knees, [p for p in front if p["knee"]])
        self.assertIn("price, at cost", repr(found))

    def test_of_a_run(self):
        p = self.both()
        p["trade"] = ["price, at cost", "liking"]
        run = p.sample(**SMALL)
        found = run.tradeoff(effort=0.05)
        self.assertEqual(len(found.summary["draws"]), 120)
        with self.assertRaisesRegex(kir.Error, "has 2 to 4 objectives, and not 1"):
            run.tradeoff("liking")


class Finding(unittest.TestCase):
    def test_no_program(self):
        before = os.environ["KIR"]
        self.addCleanup(os.environ.__setitem__, "KIR", before)
        os.environ["KIR"] = "/nowhere/kir"
        with self.assertRaisesRegex(kir.Error, "which KIR names"):
            kir.find()
        os.environ["KIR"] = sys.executable
        with self.assertRaisesRegex(kir.Error, "is no kir program"):
            problem().check()


class WithoutPandas(unittest.TestCase):
    """All of it on lists of dicts, also where pandas is installed."""

    def setUp(self):
        whole = _tables.module
        self.addCleanup(setattr, _tables, "module", whole)
        _tables.module = lambda name: None

    def test_draws_and_shortlist(self):
        run = problem().sample(**SMALL)
        self.assertEqual(run.shortlist, list(run.shortlist))
        self.assertEqual(sum(r["amount"] for r in run.draws("long")), 120 * 100)


class Tables(unittest.TestCase):
    """What a table may be, and what is said of one that is none."""

    def problem(self, table, **keys):
        return kir.Problem(table, total=100, maximize="liking", **keys)

    def test_missing_amounts(self):
        rows = [dict(r) for r in BOOK]
        rows[0]["Gin"], rows[3]["Gin"] = None, float("nan")
        with self.assertWarnsRegex(UserWarning, "^2 missing numbers in Gin: missing amounts are read as 0"):
            self.problem(rows)
        with self.assertRaisesRegex(kir.Error, "2 missing numbers in Gin"):
            self.problem(rows, missing="refuse")
        with self.assertRaisesRegex(kir.Error, "missing is 'drop'"):
            self.problem(BOOK, missing="drop")
        labels = [dict(r) for r in BOOK]
        labels[0]["liking"] = None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.problem(labels, missing="refuse")  # a label may be missing
            self.problem([{k: v for k, v in r.items() if v} for r in BOOK], missing="refuse")  # and an ingredient left out
        c = kir.Campaign(BOOK, total=100, maximize="liking", rules=[kir.within_book()])
        batch = c.next(2).assign(liking=[1, None])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            c.record(batch)
        with self.assertRaisesRegex(kir.Error, "missing number in Gin"):
            c.record([{"recipe": "own", "Gin": None, "Lime, fresh": 100, "liking": 3}], missing="refuse")

    @needs("pandas")
    def test_pandas_missing(self):
        import pandas
        table = pandas.DataFrame(BOOK).convert_dtypes()
        table.loc[2, "Gin"] = pandas.NA
        table.loc[4, "liking"] = pandas.NA
        with self.assertWarnsRegex(UserWarning, "^1 missing number in Gin"):
            text = self.problem(table)._tables["recipes.csv"]
        self.assertNotIn("NA", text)
        with self.assertRaisesRegex(kir.Error, "Series.*DataFrame"):
            self.problem(table["Gin"])

    @needs("numpy")
    def test_array(self):
        import numpy
        for array in (numpy.zeros((3, 3)), numpy.zeros(3)):
            with self.assertRaisesRegex(kir.Error, "NumPy array.*columns"):
                self.problem(array)

    def test_no_table(self):
        for table in (3, [1, 2], ["Gin"], {"Gin": 3}, {"Gin": [1, 2], "Rum": [1]}):
            with self.assertRaises(kir.Error, msg=repr(table)):
                self.problem(table)

    def test_function_of_one_number(self):
        for answer, said in ((0.5, "returned one float for a table of"), (["x"], "no number"), ("x", "returned one str")):
            with self.assertRaisesRegex(kir.Error, said):
                kir.function(lambda table, answer=answer: answer).scores([{"Gin": 1}], 1, ["Gin"])

    def test_pickled_run(self):
        with tempfile.TemporaryDirectory() as folder:
            problem = kir.Problem(ingredients=["Gin", "Rum"], total=10, sparsity={"uniform": [1, 2]})
            with self.assertRaisesRegex(kir.Error, "out=DIR"):
                pickle.dumps(problem.sample(draws_per_chain=20, warmup=10))
            run = pickle.loads(pickle.dumps(problem.sample(os.path.join(folder, "run"), draws_per_chain=20, warmup=10)))
            self.assertTrue(run.draws("records"))

    def test_next_has_what_is_used(self):
        c = kir.Campaign([{**r, "Never": 0} for r in BOOK], total=100, maximize="liking", rules=[kir.within_book()])
        batch = c.next(2)
        self.assertNotIn("Never", list(batch.columns))


if __name__ == "__main__":
    unittest.main()
