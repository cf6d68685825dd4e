"""Recipes scored and predicted, and errors in words of the call."""

import os
import pathlib
import tempfile
import unittest

from support import BOOK, needs
import kir


def problem(**more):
    return kir.Problem(BOOK, **{"total": 100, "maximize": "liking", "rules": [kir.amount("Gin", max=60)]} | more)


def cells(table, column):
    return list(table[column]) if hasattr(table, "columns") and not isinstance(table, list) else [row.get(column) for row in table]


class Score(unittest.TestCase):
    recipes = [{"recipe": "strong", "Gin": 80, "Lime, fresh": 10, "Sirop de sucre": 10},
               {"recipe": "even", "Gin": 50, "Lime, fresh": 40, "Sirop de sucre": 10}]

    def test_score(self):
        told = problem().score(self.recipes)
        self.assertEqual(cells(told, "recipe"), ["strong", "even"])
        self.assertLess(*cells(told, "score"))
        self.assertEqual(cells(told, "score liking"), cells(told, "score"))
        strong, even = cells(told, "broken")
        self.assertEqual([len(strong), len(even)], [1, 0])
        self.assertIn("Gin", strong[0])

    def test_predict(self):
        told = problem().predict(self.recipes)
        for low, value, high in zip(*(cells(told, f"{k} liking") for k in ("low", "predicted", "high")), strict=True):
            self.assertLess(low, value)
            self.assertLess(value, high)
        self.assertEqual(cells(told, "recipe"), ["strong", "even"])

    def test_a_function_is_asked(self):
        p = kir.Problem(ingredients=["Gin", "Lime"], total=10, sparsity={"uniform": [1, 2]},
                        objectives={"dry": lambda rows: [1.0] * len(rows)})
        self.assertEqual(cells(p.score([{"Gin": 5, "Lime": 5}]), "score"), [1])

    def test_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            p = problem(directory=folder)
            p.check()
            table = pathlib.Path(folder) / "table.csv"
            table.write_text("recipe,Gin,\"Lime, fresh\"\nA,50,50\n", encoding="utf-8")
            self.assertEqual(cells(kir.score(os.path.join(folder, "problem.yaml"), table), "recipe"), ["A"])


class Calls(unittest.TestCase):
    """An error in a call names the argument: no file, line or flag that the caller never wrote."""

    def told(self, ask):
        with self.assertRaises(kir.Error) as caught:
            ask()
        said = str(caught.exception)
        self.assertNotRegex(said, r"problem\.yaml|:\d+:\d+|(^| )--[a-z]|/tmp")
        return said

    def test_arguments(self):
        self.assertTrue(self.told(lambda: problem(maximize="likeing").check()).startswith('objectives["likeing"]: '))
        self.assertTrue(self.told(lambda: problem(rules=[kir.amount("Gin", max=60), kir.exclude("Gim")]).check())
                        .startswith('rules[1] {"exclude": "Gim"}: '))
        self.assertTrue(self.told(lambda: problem(total=-5).check()).startswith("total: "))
        self.assertTrue(self.told(lambda: problem(sparsty={"uniform": [2, 3]}).check()).startswith("sparsty: "))
        self.assertIn("ingredients=table", self.told(lambda: problem(rules=[kir.limit("cost", max=3)]).check()))

    def test_each_fault_has_its_place(self):
        with self.assertRaises(kir.Error) as caught:
            problem(rules=[kir.exclude("Gim"), kir.exclude("Lyme")]).check()
        self.assertEqual([e["file"][:8] for e in caught.exception.errors], ["rules[0]", "rules[1]"])

    def test_tables(self):
        self.assertTrue(self.told(lambda: problem().score([{"Gim": 50, "Lime, fresh": 50}])).startswith("the table: "))
        c = kir.Campaign(BOOK, total=100, maximize="liking")
        self.assertIn('a column "recipe"', self.told(lambda: c.record([{"Gin": 50, "Lime, fresh": 50, "liking": 3}])))
        bad = [{"recipe": n, "Gin": 50, "Lime, fresh": 50, "liking": v} for n, v in (("A", 3), ("B", "much"))]
        self.assertTrue(self.told(lambda: c.record(bad)).startswith("the table, row 1: "))
        self.assertIn('made={"Gin": ', self.told(lambda: c.record("B9-1", liking=3)))

    def test_numbers(self):
        self.assertIn("draws", self.told(lambda: problem().sample(draws_per_chain=-4)))
        c = kir.Campaign(BOOK, total=100, maximize="liking")
        self.told(lambda: c.next(-4))
        self.assertTrue(self.told(lambda: c.next(4, given={"humidity": 1})).startswith("given: "))

    def test_a_file_of_ones_own_keeps_its_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mine.yaml"
            path.write_text("ingredients: [Gin, Lime]\ntotal: 0\nsparsity: {uniform: [1, 2]}\n", encoding="utf-8")
            with self.assertRaises(kir.Error) as caught:
                kir.Problem.load(path).check()
            self.assertEqual(caught.exception.place, f"{path}:2:8")


class Shown(unittest.TestCase):
    def test_campaign(self):
        c = kir.Campaign(BOOK, total=100, maximize="liking")
        self.assertEqual(repr(c), "kir.Campaign(liking)")
        batch = c.next(2)
        c.record(batch.assign(liking=[70, 71]))
        self.assertIn("<iframe", c._repr_html_())

    def test_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(repr(kir.Campaign(BOOK, total=100, maximize="liking", dir=folder)), f"kir.Campaign(liking, dir={folder!r})")


@needs("polars")
class Polars(unittest.TestCase):
    """Who brings a table of polars gets tables of polars."""

    def test_in_and_out(self):
        import polars
        book = polars.DataFrame(BOOK)
        c = kir.Campaign(book, total=100, maximize="liking")
        batch = c.next(2)
        self.assertIsInstance(batch, polars.DataFrame)
        done = c.record(batch.with_columns(polars.Series("liking", [70, None])))
        self.assertEqual(done["new"], 1)
        p = kir.Problem(book, total=100, maximize="liking")
        self.assertEqual(p.predict(book.head(3))["recipe"].to_list(), [r["recipe"] for r in BOOK[:3]])
        run = p.sample(draws_per_chain=20, warmup=10, chains=2, effort=0)
        self.assertIsInstance(run.shortlist, polars.DataFrame)
        self.assertEqual(len(polars.from_arrow(run.arrow())), 40)
