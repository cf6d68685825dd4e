"""kir's side of the tutorials of BoFire and BayBE, without these programs."""

import math
import sys
import unittest

from support import ROOT, needs

sys.path.insert(0, str(ROOT / "bench" / "peers" / "tutorials"))


@needs("pandas")
class Tutorials(unittest.TestCase):
    def keeps(self, module, answer, n):
        """Check that an answer has n recipes, and that all keep the tutorial's constraints."""
        rows = answer.recipes.to_dict("records")
        self.assertEqual(len(rows), n)
        self.assertEqual([module.broken(r) for r in rows], [[]] * n)

    def test_mixture(self):
        import baybe_traditional as mixture
        answer = mixture.by_kir()
        self.keeps(mixture, answer, 10)
        self.assertIn("34,319,131,106 recipes", answer.says[-1])
        much = {"Solvent1": 81, "Solvent2": 4, "Base1": 9, "Base2": 0, "PhaseAgent1": 3, "PhaseAgent2": 3.1}
        self.assertEqual(len(mixture.broken(much)), 4)

    def test_slots(self):
        import baybe_slots as slots
        answer = slots.by_kir()
        self.keeps(slots, answer, 34)
        self.assertEqual([*answer.figures.values()], ["4 of 4; 18 of 18; 12 of 12"])
        self.assertEqual(slots.broken({"water": 25, "C1": 25, "C2": 25, "C3": 25}), ["1 to 3 solvents"])
        self.assertEqual(slots.broken({"water": 90, "C1": 0, "C2": 0, "C3": 0}), ["total of 100 %", "steps of 25 %"])

    def test_design(self):
        import baybe_traditional as mixture
        import bofire_nchoosek as design
        import pandas as pd
        import tutorial
        answer = design.by_kir()
        self.keeps(design, answer, 12)
        self.assertEqual(answer.figures["different recipes"], 12)
        self.assertEqual(len(design.broken(dict.fromkeys(design.NAMES, 0) | {"x1": 0.4, "x2": 0.5, "x8": 0.05})), 4)
        two = pd.DataFrame([dict.fromkeys(design.NAMES, 0.0) | {"x4": 0.5, "x8": 0.5}] * 2)
        one = 0.5**2 + 0.5**2 + 0.25**2  # the terms of the quadratic model, x4, x8 and their product
        self.assertAlmostEqual(design.log_determinant(two), math.log((one + 1e-6) ** 2 - one**2))
        row = mixture.allowed(1)
        self.assertEqual(tutorial.gap(row, row), 0)

    def test_formulation(self):
        import bofire_formulation as formulation
        answer = formulation.by_kir(seeds=(1,), rounds=3)
        self.keeps(formulation, answer, 3)
        self.assertTrue(answer.says[-1].startswith("advice: go on"))
        self.keeps(formulation, formulation.by_kir_merged(seeds=(1,), rounds=2), 2)
        bad = dict.fromkeys(formulation.NAMES, 0) | {"x1a": 30, "x1b": 30, "x2a": -5}
        self.assertEqual(len(formulation.broken(bad)), 3)
        self.assertAlmostEqual(formulation.result(formulation.pd.DataFrame([{"x1a": 37.5, "x2c": 100 / 3}]))[0], 0)  # (3, 2)

    def test_lines_of_code(self):
        import baybe_slots as slots
        import tutorial
        self.assertEqual(tutorial.lines_of(slots.by_kir), 3)  # without its import


if __name__ == "__main__":
    unittest.main()
