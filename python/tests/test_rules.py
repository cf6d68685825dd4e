"""Rules and objectives against the JSON Schema."""

import inspect
import subprocess
import sys
import unittest

from support import ROOT
import kir
from kir import _program, rules


class Schema(unittest.TestCase):
    def setUp(self):
        self.schema = _program.run(["schema"]).json()

    def test_generated(self):
        done = subprocess.run([sys.executable, str(ROOT / "python" / "generate.py"), "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_kind_and_key(self):
        seen = 0
        for home in ("rule", "property"):
            for kind, value in self.schema["$defs"][home]["properties"].items():
                if kind == "weight":
                    continue
                function = getattr(kir, kind, None) or getattr(kir, kind + "_")
                keys = set(inspect.signature(function).parameters)
                self.assertIn(function.__name__, rules.__all__)
                if home == "property":
                    self.assertIn("weight", keys, kind)
                definition = self.schema["$defs"].get(value.get("$ref", "").rsplit("/", 1)[-1], {})
                for key in definition.get("properties", {}):
                    self.assertTrue({key, key + "_"} & keys, f"kir.{kind} has no {key}")
                    seen += 1
        self.assertGreater(seen, 80)

    def test_what_is_written(self):
        for made, says in [
            (kir.limit("cost", max=12), {"limit": {"attribute": "cost", "max": 12}}),
            (kir.amount("Gin", min=5, step=5), {"amount": {"of": "Gin", "min": 5, "step": 5}}),
            (kir.within_book(), {"amount": {"of": "*", "within": "book"}}),
            (kir.group({"family": "citrus"}, used=(0, 1)), {"group": {"of": {"family": "citrus"}, "used": (0, 1)}}),
            (kir.never("Milk", "Lemon"), {"never": ["Milk", "Lemon"]}),
            (kir.exclude("Egg"), {"exclude": "Egg"}),
            (kir.needs("Egg", ["Lemon"]), {"needs": {"if": "Egg", "then": ["Lemon"]}}),
            (kir.if_("Milk", kir.exclude("Lemon")), {"if": {"used": "Milk", "then": {"exclude": "Lemon"}}}),
            (kir.learn("liking", maximize=True, weight=2), {"learn": {"label": "liking", "maximize": True}, "weight": 2}),
            (kir.blend("abv", is_="high", larger={"from": 0, "to": 1}), {"blend": {"attribute": "abv", "is": "high", "larger": {"from": 0, "to": 1}}}),
            (kir.expression('exp(-share("Gin"))'), {"expression": 'exp(-share("Gin"))'}),
        ]:
            self.assertEqual(dict(made), says)

    def test_zero_is_kept(self):
        self.assertEqual(dict(kir.limit("a", min=0)), {"limit": {"attribute": "a", "min": 0}})
        self.assertEqual(kir.learn("a", maximize=True, weight=0)["weight"], 0)


if __name__ == "__main__":
    unittest.main()
