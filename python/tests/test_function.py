"""Functions and estimators of this process as objectives."""

import socket
import traceback
import unittest

from support import BOOK, needs
import kir
from kir import _ask

SMALL = {"draws_per_chain": 40, "chains": 2, "warmup": 30, "effort": 0}


def column(table, name):
    return [float(v) for v in table[name]] if hasattr(table, "iloc") else [r[name] for r in table]


def gin(table):
    return [v / 100 for v in column(table, "Gin")]


class Functions(unittest.TestCase):
    def run_with(self, f, **more):
        return kir.Problem(BOOK, total=100, objectives={"f": f}, **more).sample(**SMALL, seed=3)

    def test_the_same_as_an_expression(self):
        ours = self.run_with(kir.function(gin)).draws("records")
        native = self.run_with(kir.expression('share("Gin")')).draws("records")
        for d in ours + native:
            self.assertAlmostEqual(d["scores"]["f"], d["recipe"].get("Gin", 0) / 100, 9)

    def test_conditions(self):
        def hot(table):
            ovens = list(table["oven"]) if hasattr(table, "iloc") else [r["oven"] for r in table]
            return [h / 200 if o == "fan" else 0.5 for h, o in zip(column(table, "heat"), ovens)]
        run = kir.Problem(ingredients=["Flour", "Water"], total=10, sparsity={"uniform": [1, 2]}, objectives={"f": hot},
                          conditions={"heat": [150, 180], "oven": ["deck", "fan"]}).sample(**SMALL, seed=3)
        draws = run.draws("records")
        self.assertEqual(len({tuple(d["conditions"].values()) for d in draws}), 4)
        for d in draws:
            c = d["conditions"]
            self.assertAlmostEqual(d["scores"]["f"], c["heat"] / 200 if c["oven"] == "fan" else 0.5, 9)

    def test_wishes(self):
        for f, value, score in [
            (kir.function(gin, larger=(0, 0.5)), 0.25, 0.5), (kir.function(gin, smaller=(0, 0.5)), 0.1, 0.8),
            (kir.function(gin, target=(0, 0.2, 1)), 0.6, 0.5), (kir.function(gin, range=(0, 0.2)), 0.3, 0),
            (kir.function(gin, range=(0, 0.2), floor=0.01), 0.3, 0.01), (kir.function(gin), 0.25, 0.25),
        ]:
            self.assertAlmostEqual(f.scores([{"Gin": 200 * value}], 200, ["Gin", "Rum"])[0] if f.wish is None
                                   else f._score(value), score if f.wish else 2 * score)
        with self.assertRaises(kir.Error):
            kir.function(gin, larger=(1, 0))
        with self.assertRaises(ValueError):
            kir.function(lambda t: [-1]).scores([{"Gin": 1}], 1, ["Gin"])
        with self.assertRaises(ValueError):
            kir.function(lambda t: [1, 2]).scores([{"Gin": 1}], 1, ["Gin"])

    def test_whole(self):
        seen = []
        kir.function(lambda t: seen.extend(column(t, "Gin")) or [1], whole=1).scores([{"Gin": 50}], 200, ["Gin"])
        self.assertEqual(seen, [0.25])

    def test_its_exception(self):
        class Mine(Exception):
            pass

        def bad(table):
            raise Mine("out of ink")
        try:  # assertRaises would drop the traceback
            self.run_with(bad)
        except Mine as e:
            self.assertEqual(traceback.extract_tb(e.__traceback__)[-1].name, "bad")
        else:
            self.fail("the exception of the function did not come back")

    def test_strangers_get_nothing(self):
        server = _ask.Server({"f": kir.function(lambda t: self.fail("a stranger was answered"))})
        import queue
        events = queue.Queue()
        server.open(events)
        self.addCleanup(server.close)
        for hello in (b'{"secret": "x"}\n', b'[]\n', b'nonsense\n'):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(server.environment()["KIR_ASK"])
                s.sendall(hello + b'[{"Gin": 1}]\n')
                s.settimeout(5)
                try:
                    self.assertEqual(s.recv(10), b"")
                except ConnectionResetError:
                    pass
        self.assertTrue(events.empty())

    def test_campaign(self):
        c = kir.Campaign(BOOK, total=100, maximize="liking", objectives={"f": kir.function(gin, floor=0.01)})
        self.assertEqual(len(c.next(2)), 2)

    @needs("sklearn", "pandas")
    def test_estimators(self):
        import pandas
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
        book = pandas.DataFrame(BOOK)
        x = book[["Gin", "Sirop de sucre", "Lime, fresh"]]
        forest = RandomForestRegressor(5, random_state=1).fit(x, book["liking"])
        draws = self.run_with(kir.function(forest, larger=(20, 90))).draws()
        want = [float(f"{min(1, max(0, (v - 20) / 70)):.9g}") for v in forest.predict(draws[x.columns].astype(float))]
        for got, score in zip(draws["f"], want, strict=True):
            self.assertAlmostEqual(got, score, 9)
        classes = RandomForestClassifier(5, random_state=1).fit(x, ["good" if v > 60 else "bad" for v in book["liking"]])
        self.run_with(kir.function(classes, class_="good", floor=0.01))
        with self.assertRaisesRegex(kir.Error, "no class"):
            self.run_with(kir.function(classes, class_="best"))


if __name__ == "__main__":
    unittest.main()
