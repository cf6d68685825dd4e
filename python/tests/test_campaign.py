"""Campaigns from Python and by command line."""

import os
import pathlib
import tempfile
import unittest
import unittest.mock

from support import BOOK, needs
import kir
from kir import _program


def liking(table):
    rows = table.to_dict("records") if hasattr(table, "iloc") else table
    return [80 - abs(r.get("Gin", 0) - 50) for r in rows]


class Campaigns(unittest.TestCase):
    def test_rounds_and_the_command_line(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            c = kir.Campaign(BOOK, total=100, maximize="liking", rules=[kir.within_book()], dir=one)
            c.problem.save(pathlib.Path(other) / "problem.yaml")
            for round_ in (1, 2):
                batch = c.next(3)
                line = _program.run(["next", os.path.join(other, "problem.yaml"), "-n", "3", "--json"]).json()
                self.assertEqual([i for i in batch["id"]] if hasattr(batch, "iloc") else [r["id"] for r in batch], [e["id"] for e in line["batch"]])
                rows = batch.to_dict("records") if hasattr(batch, "iloc") else batch
                for row, e in zip(rows, line["batch"], strict=True):
                    self.assertEqual({k: v for k, v in row.items() if k in e["recipe"]}, e["recipe"])
                    self.assertEqual(row["predicted liking"], e["predicted"]["liking"]["value"])
                done = c.record(batch.assign(liking=liking(batch)))
                self.assertEqual(done["new"], 3)
                self.assertEqual(c.record(batch.assign(liking=liking(batch)))["new"], 0)
                for e, v in zip(line["batch"], liking(batch)):
                    _program.run(["record", os.path.join(other, "problem.yaml"), e["id"], f"liking={v}"])
            where = c.progress()
            self.assertEqual(where["round"], 2)
            self.assertIn(where.advice, ("go on", "stop"))
            self.assertIn("<iframe", where._repr_html_())
            self.assertEqual(kir.Campaign(dir=one).progress()["tried"], where["tried"])
            self.assertEqual(kir.Campaign(BOOK, total=100, maximize="liking", rules=[kir.within_book()], dir=one).progress()["round"], 2)
            with self.assertRaisesRegex(kir.Error, "another problem"):
                kir.Campaign(BOOK, total=200, maximize="liking", dir=one)

    def test_one_result(self):
        c = kir.Campaign(BOOK, total=100, maximize="liking")
        first = c.next(2)
        self.assertEqual(len(first), 2)
        c.record("B1-1", liking=71.5)
        c.record("B1-2", failed=True)
        self.assertEqual(c.progress()["failed"], 1)
        c.record("B1-1", liking=72, correct=True)
        c.record("house", liking=60, made={"Gin": "40%", "Sirop de sucre": "60%"})
        self.assertEqual(c.progress()["tried"], len(BOOK) + 3)
        with self.assertRaises(kir.Error):
            c.record(BOOK, liking=3)

    def test_replay(self):
        rows = [{"recipe": f"t{k}", "Flour": 12 - k % 9, "Water": 8 + k % 9 - k // 9, "Salt": k // 9, "liking": 50 - (k % 9 - 4) ** 2 + k // 9}
                for k in range(27)]
        told = kir.Problem(rows, total=20, maximize="liking").replay(batch=2, start=6, trials=12, repeat=3, seed=4)
        self.assertEqual([told[k] for k in ("recipes", "batch", "start", "trials", "seed")], [27, 2, 6, 12, 4])
        self.assertEqual(told["best"]["measured"], {"liking": 52})
        self.assertEqual([len(r["order"]) for r in told["replays"]], [12, 12, 12])
        with self.assertRaisesRegex(kir.Error, "start"):
            kir.Problem(rows, total=20, maximize="liking").replay(start=27)

    def test_conditions(self):
        book = [{"recipe": f"t{k}", "Flour": 12 - k % 4, "Water": 8 + k % 4, "heat": 150 + 10 * (k % 5), "oven": "fan" if k % 2 else "deck",
                 "liking": 5 - abs(k % 5 - 2) + (k % 2)} for k in range(20)]
        c = kir.Campaign(book, total=20, maximize="liking", campaign={"batch": 3, "alike": ["heat"]},
                         conditions={"heat": {"from": 150, "to": 190, "step": 10, "unit": "°C"}, "oven": ["deck", "fan"]})
        batch = c.next()
        rows = batch.to_dict("records") if hasattr(batch, "iloc") else batch
        self.assertEqual(len(rows), 3)
        self.assertEqual(len({row["heat"] for row in rows}), 1)
        self.assertLessEqual({row["oven"] for row in rows}, {"deck", "fan"})
        for row in rows:
            row["liking"] = 4.0
        rows[0]["heat"] = 172.5
        self.assertEqual(c.record(rows)["new"], 3)
        results = (c.directory / "problem.results.csv").read_text()
        self.assertIn(",172.5,", results)
        c.record("own", liking=5, made={"Flour": 12, "Water": 8, "heat": 170, "oven": "fan"})
        given = c.next(given={"oven": "deck"})
        self.assertEqual({row["oven"] for row in (given.to_dict("records") if hasattr(given, "iloc") else given)}, {"deck"})
        with self.assertRaisesRegex(kir.Error, "no condition"):
            c.next(given={"oben": "deck"})
        self.assertEqual(c.progress(given={"oven": "deck"})["tried"], 24)

    def test_names_are_no_flags(self):
        c = kir.Campaign(BOOK, total=100, maximize="liking")
        sent = []
        with unittest.mock.patch.object(_program, "run", side_effect=lambda args, **options: sent.append(args) or _program.Done(b"{}")):
            c.record("--allow-programs", **{"--withdraw": 1})
            kir.Problem.load("--help")
            kir.Run("--help")
            kir.Run("--help").tradeoff("--help")
        self.assertEqual(len(sent), 5)
        for args in sent:
            at = args.index("--")
            self.assertFalse({"--allow-programs", "--withdraw=1", "--help"} & set(args[:at]), args)
            self.assertGreater(len(args), at + 1)
        with self.assertRaisesRegex(kir.Error, "no recipe|name|amounts"):
            c.record("--allow-programs", liking=3)

    def test_attributes(self):
        stock = [{"name": "Gin", "cost": 20}, {"name": "Sirop de sucre", "cost": 2}, {"name": "Lime, fresh", "cost": 5}]
        c = kir.Campaign(BOOK, ingredients=stock, total=100, maximize="liking", rules=[kir.within_book(), kir.limit("cost", max=12)])
        prices = {s["name"]: s["cost"] for s in stock}
        batch = c.next(3)
        for row in batch.to_dict("records") if hasattr(batch, "iloc") else batch:
            self.assertLessEqual(sum(p * row.get(n, 0) / 100 for n, p in prices.items()), 12)

    @needs("matplotlib", "pandas")
    def test_plot(self):
        import matplotlib
        matplotlib.use("agg")
        c = kir.Campaign(BOOK, total=100, maximize="liking")
        self.assertEqual(c.progress()["name"], "liking")
        with self.assertRaisesRegex(kir.Error, "record a batch"):
            c.progress().plot()
        batch = c.next(2)
        c.record(batch.assign(liking=[70, 75]))
        axes = c.progress().plot("liking")
        self.assertEqual([t.get_text() for t in axes.get_xticklabels()], ["B1-1", "B1-2"])
        self.assertEqual(axes.get_lines()[-1].get_ydata().tolist(), [70, 75])
        with self.assertRaisesRegex(kir.Error, "for haze"):
            c.progress().plot("haze")

    @needs("pandas")
    def test_frames(self):
        import pandas
        book = pandas.DataFrame(BOOK).drop(columns="recipe")
        c = kir.Campaign(book, total=100, maximize="liking")
        batch = c.next(2)
        self.assertEqual(batch.attrs["kir"]["round"], 1)
        self.assertEqual(c.record(batch.assign(liking=[1, 2]))["new"], 2)
        book.index = [f"t{k}" for k in range(len(book))]
        self.assertEqual(kir.Problem(book, total=100).check()["problem"]["recipes"], len(book))


if __name__ == "__main__":
    unittest.main()
