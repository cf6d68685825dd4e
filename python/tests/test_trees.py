"""Tree estimators of scikit-learn as model files: what kir says is what they predict."""

import gc
import json
import os
import pathlib
import tempfile
import unittest
import warnings

from support import BOOK, installed, needs
import kir
from kir import _program, _trees

NAMES = ["Gin", "Crème de, cassis", "Lime * fresh", "a  b", "e"]
SMALL = {"draws_per_chain": 40, "chains": 2, "warmup": 30, "effort": 0}


def fitted(whole, rows=80):
    """Yield names of cases, fitted estimators of every kind, and classes."""
    import numpy
    import pandas
    from sklearn import ensemble, tree
    random = numpy.random.default_rng(5)
    x = random.multinomial(100, [0.2] * 5, rows)
    y = x[:, 0] + 5 * numpy.sin(x[:, 3]) + random.normal(size=rows) + 20
    table = pandas.DataFrame(x * ((whole or 100) / 100), columns=NAMES)
    two = numpy.where(y > numpy.median(y), "good", "bad")
    three = numpy.array([3, 1, 2])[numpy.digitize(y, numpy.quantile(y, [0.3, 0.6]))]
    few, leaf = {"n_estimators": 7, "random_state": 1}, {"min_samples_leaf": 5, "max_iter": 9, "random_state": 1}
    for module, name, keys, label, class_ in [
        (ensemble, "RandomForestRegressor", few, y, None), (ensemble, "ExtraTreesRegressor", few, y, None),
        (ensemble, "RandomForestClassifier", few, three, 2), (ensemble, "ExtraTreesClassifier", few, two, "good"),
        (tree, "DecisionTreeRegressor", {}, y, None), (tree, "ExtraTreeRegressor", {"random_state": 1}, y, None),
        (tree, "DecisionTreeClassifier", {"max_depth": 2, "class_weight": "balanced"}, three, 1),
        (tree, "ExtraTreeClassifier", {"max_depth": 3, "random_state": 1}, two, "bad"),
        (ensemble, "GradientBoostingRegressor", few, y, None),
        (ensemble, "GradientBoostingRegressor", few | {"init": "zero", "loss": "huber"}, y, None),
        (ensemble, "GradientBoostingClassifier", few, two, "bad"), (ensemble, "GradientBoostingClassifier", few, three, 3),
        (ensemble, "GradientBoostingClassifier", few | {"loss": "exponential"}, two, "good"),
        (ensemble, "HistGradientBoostingRegressor", leaf, y, None),
        (ensemble, "HistGradientBoostingRegressor", leaf | {"loss": "poisson"}, y, None),
        (ensemble, "HistGradientBoostingClassifier", leaf, two, "good"),
        (ensemble, "HistGradientBoostingClassifier", leaf, three, 1),
    ]:
        yield f"{name} {keys} {class_}", getattr(module, name)(**keys).fit(table, label), class_


def trees_of(model):
    """Return the thresholds of an estimator, which may be written to."""
    if hasattr(model, "_predictors"):
        return [(p.nodes["feature_idx"], p.nodes["num_threshold"]) for stage in model._predictors for p in stage]
    inner = [model] if hasattr(model, "tree_") else list(getattr(model.estimators_, "ravel", lambda: model.estimators_)())
    return [(t.tree_.feature, t.tree_.threshold) for t in inner]


@unittest.skipUnless(installed("sklearn", "pandas"), "scikit-learn or pandas not installed")
class Trees(unittest.TestCase):
    def scored(self, objectives, total, rows):
        """Return what kir says of rows of units: its scores and predictions."""
        problem = kir.Problem(ingredients=NAMES, total=total, objectives=objectives, sparsity={"uniform": [1, 5]})
        table = [{"recipe": f"r{k}"} | dict(zip(NAMES, row)) for k, row in enumerate(rows.tolist())]
        with tempfile.TemporaryDirectory() as base:
            problem.save(os.path.join(base, "p.yaml"))
            pathlib.Path(base, "t.csv").write_text(kir._tables.recipes_text(table), encoding="utf-8")
            return _program.run(["score", os.path.join(base, "p.yaml"), os.path.join(base, "t.csv"), "--json"]).json()["recipes"]

    def compare(self, cases, whole, total, rows):
        import numpy
        import pandas
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = {what: kir.function(model, class_=class_, whole=whole, larger=(-100, 1000) if class_ is None else None)
                    for what, model, class_ in cases}
        scored = self.scored(made, total, rows)
        table = pandas.DataFrame(rows * (whole or total) / total, columns=NAMES)
        for what, model, class_ in cases:
            with self.subTest(what, whole=whole):
                self.assertTrue(made[what].by_file, what)
                # The model predicts a probability of one class among several, which is the score.
                got = numpy.array([e["predicted"][what]["value"] if what in e["predicted"] else e["scores"][what] for e in scored])
                want = model.predict(table) if class_ is None else model.predict_proba(table)[:, list(model.classes_).index(class_)]
                # Sums are the same to the last bit, but where a compiler fuses; links are portable exp and SciPy's.
                self.assertLessEqual(float((abs(got - want) / numpy.maximum(1, abs(want))).max()), 1e-15 if "Boosting" in what else 0)

    def test_every_kind_on_random_rows(self):
        import numpy
        for whole, total in [(None, 100), (100, 1000)]:
            rows = numpy.random.default_rng(7).multinomial(total, [0.2] * 5, 60)
            rows[::2, 0], rows[::2, 1] = 0, rows[::2, :2].sum(axis=1)
            self.compare(list(fitted(whole)), whole, total, rows)

    def test_at_thresholds(self):
        # Thresholds become amounts that occur, the float32 beside them, and the halves between
        # two float32, where rounding goes to even.
        import numpy
        random = numpy.random.default_rng(11)
        for whole, total in [(1, 97), (100, 970), (750, 333), (None, 30)]:
            rows = random.multinomial(total, [0.2] * 5, 60)
            moved = 0
            cases = list(fitted(whole))
            for _, model, _ in cases:
                for feature, threshold in trees_of(model):
                    for k in range(len(threshold)):
                        value = int(random.choice(rows[:, max(int(feature[k]), 0)])) * (whole or total) / total
                        near = numpy.float32(value)
                        beside = numpy.nextafter(near, numpy.float32(random.choice([-numpy.inf, numpy.inf])))
                        threshold[k] = random.choice([value, float(near), float(beside), (float(near) + float(beside)) / 2,
                                                      numpy.nextafter(value, -1), numpy.nextafter(float(near), -1)])
                        moved += 1
            self.assertGreater(moved, 500)
            self.compare(cases, whole, total, rows)

    def test_a_cut_without_rounding_would_be_wrong(self):
        import numpy
        thresholds = numpy.array([0.3, 0.1, float(numpy.float32(0.1)), 1 / 3])
        values = numpy.array([0.3, 0.1, 0.1, 1 / 3])
        single = values.astype(numpy.float32) <= thresholds
        self.assertTrue((single != (values <= thresholds)).any())
        cuts = _trees._cuts(thresholds, True, None, 0)
        self.assertEqual((values <= cuts).tolist(), single.tolist())
        for cut, threshold in zip(cuts, thresholds):
            self.assertLessEqual(numpy.float32(cut), threshold)
            self.assertGreater(numpy.float32(numpy.nextafter(cut, 9)), threshold)

    def test_wishes_score_as_functions_do(self):
        import numpy
        what, model, _ = next(fitted(None))
        rows = numpy.random.default_rng(3).multinomial(100, [0.2] * 5, 30)
        for keys in [{"larger": (15, 50)}, {"smaller": (15, 50)}, {"target": (20, 40, 50)}, {"range": (30, 45)}, {"larger": (15, 50), "floor": 0.3}, {}]:
            f = kir.function(model, **keys)
            got = [e["scores"]["f"] for e in self.scored({"f": f}, 100, rows)]
            want = f.scores([dict(zip(NAMES, r)) for r in rows.tolist()], 100, None)
            factor = 1 if keys else f._model[0].bounds[1]
            for a, b in zip(got, want, strict=True):
                self.assertAlmostEqual(a * factor, b, delta=1e-8 * max(1, abs(b)))

    def test_what_has_no_file_asks_the_process(self):
        import numpy
        from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
        from sklearn.linear_model import LinearRegression
        import pandas
        x = pandas.DataFrame(numpy.random.default_rng(1).multinomial(100, [0.2] * 5, 50), columns=NAMES)
        x["e"] %= 2  # categories that are often enough to be split by
        y = x["Gin"] - 60.0 + 9 * x["e"]

        class Mine(RandomForestRegressor):
            def predict(self, x):
                return super().predict(x) ** 2
        for model, keys in [
            (LinearRegression(), {}), (Mine(3), {}), (GradientBoostingRegressor(n_estimators=3, init=LinearRegression()), {}),
            (GradientBoostingRegressor(n_estimators=3), {}),  # its value may be negative, so it is no score
            (HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5, categorical_features=[4]), {"larger": (0, 1)}),
        ]:
            with self.subTest(str(model)), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.assertFalse(kir.function(model.fit(x, y), **keys).by_file)
        self.assertFalse(kir.function(RandomForestRegressor(3).fit(x.to_numpy(), y), larger=(0, 1)).by_file)
        self.assertTrue(kir.function(RandomForestRegressor(3).fit(x.to_numpy(), y), columns=NAMES, larger=(0, 1)).by_file)
        boosted = GradientBoostingClassifier(n_estimators=3).fit(x, y.astype(int) % 3)
        self.assertTrue(kir.function(boosted, class_=1).by_file)
        self.assertFalse(kir.function(boosted, class_=1, larger=(0.2, 0.9)).by_file)

    def test_trees_that_are_not_what_they_predict_are_not_used(self):
        what, model, _ = next(fitted(None))
        model.predict = lambda table: type(model).predict(model, table) + 1e-9
        with self.assertWarnsRegex(UserWarning, "off what it predicts"):
            self.assertFalse(kir.function(model, larger=(0, 100)).by_file)

    def test_problems_hold_files(self):
        import pandas
        from sklearn.ensemble import RandomForestRegressor
        book = pandas.DataFrame(BOOK)
        x = book[["Gin", "Sirop de sucre", "Lime, fresh"]]
        forest = RandomForestRegressor(5, random_state=1).fit(x, book["liking"])
        keys = {"objectives": {"liking/1": forest, "liking 1": kir.function(forest, larger=(20, 90), weight=2)}}
        p = kir.Problem(BOOK, total=100, **keys)
        self.assertEqual(p._functions, {})
        run = p.sample(**SMALL, seed=3)
        draws = run.draws()
        want = forest.predict(draws[x.columns].astype(float))
        self.assertLess(abs(draws["liking 1"] - ((want - 20) / 70).clip(0, 1)).max(), 1e-12)
        self.assertIn("predicted liking 1", run.shortlist.columns)
        p["properties"] = p["properties"] | {"g": kir.expression('share("Gin")')}
        self.assertEqual(len(p._models), 2)
        with tempfile.TemporaryDirectory() as base:
            saved = p.save(pathlib.Path(base) / "ein Ordner" / "p.yaml")
            self.assertEqual(len(list(saved.parent.glob("*.trees.txt"))), 2)
            loaded = kir.Problem.load(saved)
            self.assertEqual(loaded.sample(**SMALL, seed=3).draws("records"), p.sample(**SMALL, seed=3).draws("records"))
            before = sorted(n for n in os.listdir(saved.parent) if n != ".kir-cache")
            loaded["properties"] = {"own": kir.function(forest, larger=(20, 90))}
            self.assertEqual(loaded.sample(**SMALL).summary["sampler"]["draws"], 40)
            self.assertEqual(sorted(n for n in os.listdir(saved.parent) if n != ".kir-cache"), before)

    def test_limits(self):
        import pandas
        from sklearn.ensemble import RandomForestClassifier
        book = pandas.DataFrame(BOOK)
        x = book[["Gin", "Sirop de sucre", "Lime, fresh"]]
        forest = RandomForestClassifier(10, random_state=1).fit(x, book["liking"] > 65)
        f = kir.function(forest, class_=True)
        p = kir.Problem(BOOK, total=100, objectives={"f": f}, rules=[kir.limit(property="f", min=0.6)])
        draws = p.sample(**SMALL, seed=3).draws()
        self.assertGreaterEqual(forest.predict_proba(draws[x.columns].astype(float))[:, 1].min(), 0.6)

    def test_a_campaign_goes_on_without_the_estimator(self):
        import pandas
        from sklearn.ensemble import ExtraTreesRegressor
        book = pandas.DataFrame(BOOK)
        forest = ExtraTreesRegressor(5, random_state=1).fit(book[["Gin", "Sirop de sucre", "Lime, fresh"]], book["liking"])
        with tempfile.TemporaryDirectory() as base:
            c = kir.Campaign(BOOK, total=100, maximize="liking", objectives={"forest": kir.function(forest, larger=(0, 100))}, dir=base)
            batch = c.next(2)
            line = _program.run(["next", os.path.join(base, "problem.yaml"), "-n", "2", "--json"]).json()
            self.assertEqual(batch.attrs["kir"]["batch"], line["batch"])
            del c, forest
            gc.collect()
            self.assertEqual(json.dumps(kir.Campaign(dir=base).next(2).attrs["kir"]["batch"]), json.dumps(line["batch"]))


class WithoutScikitLearn(unittest.TestCase):
    @needs("numpy")
    def test_a_model_with_predict(self):
        class Model:
            def predict(self, table):
                return [1.0] * len(table)
        self.assertFalse(kir.function(Model(), columns=["Gin"]).by_file)


if __name__ == "__main__":
    unittest.main()
