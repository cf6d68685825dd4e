"""kir from Python: recipes, formulations, portfolios, divided among a few of many ingredients.

    import kir
    c = kir.Campaign(book, total=1000, maximize="liking", rules=[kir.within_book()])
    batch = c.next(8)
    c.record(batch.assign(liking=[...]))
    c.progress()

The package drives the program `kir`. docs/python.md of kir describes it.
"""

from . import cluster
from ._ask import Function, function
from ._campaign import Campaign, Progress
from ._problem import Problem, Run, Tradeoff, score
from ._program import VERSION, Error, Interrupted, find
from ._values import Objective, Rule
from .rules import *  # noqa: F403
from .rules import __all__ as _kinds

__version__ = VERSION

__all__ = ["Campaign", "Error", "Function", "Interrupted", "Objective", "Problem", "Progress", "Rule", "Run", "Tradeoff",  # noqa: PLE0604
           "__version__", "cluster", "find", "function", "score", *_kinds]
