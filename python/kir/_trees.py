"""Tree estimators of scikit-learn as model files that kir reads itself.

The file is LightGBM's text: trees of tests `value <= threshold` and their sums in float64, as
scikit-learn has them. What scikit-learn rounds to float32 before it compares is in the
thresholds, so that the same leaves are reached; leaves are added in the same order.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _tables

if TYPE_CHECKING:
    from ._ask import Function

_FORESTS = ("RandomForestRegressor", "RandomForestClassifier", "ExtraTreesRegressor", "ExtraTreesClassifier")
_SINGLE = ("DecisionTreeRegressor", "DecisionTreeClassifier", "ExtraTreeRegressor", "ExtraTreeClassifier")
_BOOSTED = ("GradientBoostingRegressor", "GradientBoostingClassifier")
_HISTOGRAMS = ("HistGradientBoostingRegressor", "HistGradientBoostingClassifier")

# How kir must agree with the estimator for its file to be used.
_TOLERANCE = 1e-12


@dataclass
class _Tree:
    """Arrays over nodes; feature is −1 at leaves, value is what a leaf says."""

    feature: Any
    threshold: Any
    left: Any
    right: Any
    value: Any


@dataclass
class Trees:
    """An ensemble: the sums of its trees, tree k of target k modulo targets."""

    trees: list[_Tree]
    features: int
    single: bool                   # inputs are rounded to float32 before they are compared
    targets: int = 1
    average: bool = False
    objective: str = "regression"  # the link, as LightGBM calls it
    wanted: int | None = None      # of several targets, the class whose probability is asked for
    bounds: tuple[float, float] = field(init=False)  # of what one target can be, before its link

    def __post_init__(self) -> None:
        of = [t.value[t.feature < 0] for t in self.trees]
        ends = sum(float(v.min()) for v in of), sum(float(v.max()) for v in of)
        self.bounds = (ends[0] / len(of), ends[1] / len(of)) if self.average else ends

    def text(self, whole: float | None, total: int) -> str:
        """Return the file, for inputs as `inputs(whole)` names them."""
        blocks = []
        for number, tree in enumerate(self.trees):
            inner, leaves = tree.feature >= 0, tree.feature < 0
            at = inner.cumsum() - 1
            leaf = -leaves.cumsum()  # ~k of leaf k

            def children(of: Any, inner: Any = inner, at: Any = at, leaf: Any = leaf) -> Any:
                child = of[inner]
                return at[child] * inner[child] + leaf[child] * ~inner[child]
            lines = [f"Tree={number}", f"num_leaves={int(leaves.sum())}", "num_cat=0"]
            if inner.any():
                lines += ["split_feature=" + _joined(tree.feature[inner]),
                          "threshold=" + _joined(_cuts(tree.threshold[inner], self.single, whole, total)),
                          "decision_type=" + _joined([2] * int(inner.sum())),
                          "left_child=" + _joined(children(tree.left)),
                          "right_child=" + _joined(children(tree.right))]
            lines += ["leaf_value=" + _joined(tree.value[leaves]), "is_linear=0", "shrinkage=1"]
            blocks.append("\n".join(lines) + "\n\n\n")
        head = ["tree", "version=v4", f"num_class={self.targets}", f"num_tree_per_iteration={self.targets}", "label_index=0",
                f"max_feature_idx={self.features - 1}", f"objective={self.objective}"]
        head += ["average_output"] if self.average else []
        head += ["feature_names=" + _joined([f"x{k}" for k in range(self.features)]),
                 "feature_infos=" + _joined(["none"] * self.features),
                 "tree_sizes=" + _joined([len(b) for b in blocks])]
        return "\n".join(head) + "\n\n" + "".join(blocks) + "end of trees\n"

    def values(self, rows: Any) -> Any:
        """Return what the file says of rows of float64, to compare it with the estimator."""
        numpy = _tables.module("numpy")
        rows = rows.astype(numpy.float32).astype(float) if self.single else rows
        sums = numpy.zeros((len(rows), self.targets))
        each = numpy.arange(len(rows))
        for number, tree in enumerate(self.trees):
            at = numpy.zeros(len(rows), dtype=int)
            while (tree.feature[at] >= 0).any():
                goes = tree.feature[at] >= 0
                left = rows[each, tree.feature[at] * goes] <= tree.threshold[at]
                at = numpy.where(goes, numpy.where(left, tree.left[at], tree.right[at]), at)
            sums[:, number % self.targets] += tree.value[at]
        if self.average:
            sums /= len(self.trees)
        if self.wanted is not None:
            powers = numpy.exp(sums - sums.max(axis=1, keepdims=True))
            return powers[:, self.wanted] / powers.sum(axis=1)
        if self.objective == "cross_entropy":
            return 1 / (1 + numpy.exp(-sums[:, 0]))
        return numpy.exp(sums[:, 0]) if self.objective == "poisson" else sums[:, 0]


def inputs(columns: Sequence[str], whole: float | None) -> list[dict[str, str]]:
    """Return what the file's inputs are of a recipe."""
    measure = {1: "share", 100: "percent"}.get(whole, "units") if whole else "units"  # type: ignore[call-overload]
    return [{measure: c} for c in columns]


def of(function: Function) -> Trees | None:
    """Return the trees of an estimator, or None of what has no file that says the same."""
    numpy = _tables.module("numpy")
    if numpy is None or not type(function.function).__module__.startswith("sklearn."):
        return None
    try:
        trees = _read(function.function, function.class_, numpy)
        return trees if trees and _agree(trees, function, numpy) else None
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as e:
        warnings.warn(f"the trees of {type(function.function).__name__} could not be read ({e!r}): kir asks this process instead",
                      stacklevel=3)
        return None


def _read(model: Any, class_: Any, numpy: Any) -> Trees | None:
    name = type(model).__name__
    if name not in (*_FORESTS, *_SINGLE, *_BOOSTED, *_HISTOGRAMS) or not hasattr(model, "n_features_in_"):
        return None
    classifies = hasattr(model, "classes_")
    if classifies != (class_ is not None) or getattr(model, "n_outputs_", 1) != 1:
        return None
    wanted = list(model.classes_).index(class_) if classifies and class_ in model.classes_ else None
    if classifies and wanted is None:
        return None
    features = int(model.n_features_in_)
    if name in _FORESTS or name in _SINGLE:
        grown = model.estimators_ if name in _FORESTS else [model]
        return Trees([_of_tree(t.tree_, wanted, numpy) for t in grown], features, True, average=name in _FORESTS)
    if name in _BOOSTED:
        start = [float(v) for v in _start(model, numpy)]
        trees = [[_constant(v, numpy) for v in start]]
        for stage in model.estimators_:
            made = [_of_tree(t.tree_, None, numpy) for t in stage]
            for tree in made:
                tree.value = model.learning_rate * tree.value
            trees.append(made)
    else:
        start = [float(v) for v in numpy.ravel(model._baseline_prediction)]
        trees = [[_constant(v, numpy) for v in start]]
        for predictors in model._predictors:
            if any(p.nodes["is_categorical"].any() for p in predictors):
                return None
            trees.append([_of_nodes(p.nodes, numpy) for p in predictors])
    objective = "regression"
    if classifies and len(start) == 1:
        factor = (2.0 if model.loss == "exponential" else 1.0) * (1 if wanted else -1)
        objective, wanted = "cross_entropy", None
        for tree in (t for stage in trees for t in stage):
            tree.value = factor * tree.value
    elif classifies:
        objective = f"multiclass num_class:{len(start)}"
    elif name in _HISTOGRAMS and model.loss in ("poisson", "gamma"):
        objective = "poisson"
    return Trees([t for stage in trees for t in stage], features, name in _BOOSTED, targets=len(start), objective=objective,
                 wanted=wanted)


def _of_tree(tree: Any, wanted: int | None, numpy: Any) -> _Tree:
    value = tree.value[:, 0, :]
    if wanted is None:
        value = value[:, 0]
    else:
        if tuple(int(n) for n in _tables.module("sklearn").__version__.split(".")[:2]) < (1, 3):  # until then leaves held counts
            value = value / value.sum(axis=1)[:, numpy.newaxis]
        value = value[:, wanted]
    feature = numpy.where(tree.children_left < 0, -1, tree.feature)
    return _Tree(feature, tree.threshold, tree.children_left, tree.children_right, value.astype(float))


def _of_nodes(nodes: Any, numpy: Any) -> _Tree:
    feature = numpy.where(nodes["is_leaf"].astype(bool), -1, nodes["feature_idx"].astype(int))
    return _Tree(feature, nodes["num_threshold"].astype(float), nodes["left"].astype(int), nodes["right"].astype(int),
                 nodes["value"].astype(float))


def _constant(value: float, numpy: Any) -> _Tree:
    nothing = numpy.array([-1])
    return _Tree(nothing, numpy.array([0.0]), nothing, nothing, numpy.array([value]))


def _start(model: Any, numpy: Any) -> Any:
    """Return what a boosted model begins with, which must be the same everywhere."""
    if model.init_ != "zero" and not type(model.init_).__name__.startswith("Dummy"):
        raise ValueError(f"it begins with {type(model.init_).__name__}")
    return numpy.ravel(model._raw_predict_init(numpy.zeros((1, model.n_features_in_), dtype=numpy.float32)))


def _cuts(thresholds: Any, single: bool, whole: float | None, total: int) -> Any:
    """Return for each threshold the greatest input in float64 that is at most it."""
    numpy = _tables.module("numpy")
    if whole not in (None, 1, 100):
        # The greatest number of units, by halves: an input is that of n + 1/2 units.
        low, high = numpy.full(len(thresholds), -1), numpy.full(len(thresholds), total)
        while (low < high).any():
            middle = low + (high - low + 1) // 2
            value = middle * whole / total
            value = value.astype(numpy.float32).astype(float) if single else value
            low, high = numpy.where(value <= thresholds, middle, low), numpy.where(value <= thresholds, high, middle - 1)
        return low + 0.5
    if not single:
        return thresholds
    below = thresholds.astype(numpy.float32)
    below = numpy.where(below > thresholds, numpy.nextafter(below, numpy.float32(-numpy.inf)), below)
    middle = (below.astype(float) + numpy.nextafter(below, numpy.float32(numpy.inf)).astype(float)) / 2
    return numpy.where(middle.astype(numpy.float32) <= thresholds, middle, numpy.nextafter(middle, -numpy.inf))


def _agree(trees: Trees, function: Function, numpy: Any) -> bool:
    """Say whether the trees as read are the estimator, where they are tested and elsewhere."""
    random = numpy.random.default_rng(1)
    tests = [(f, t) for tree in trees.trees for f, t in zip(tree.feature, tree.threshold, strict=True) if f >= 0]
    rows = random.uniform(0, function.whole or 1000, (64, trees.features))
    for row in rows[16:] if tests else []:
        for k in random.integers(len(tests), size=trees.features):
            row[tests[k][0]] = numpy.clip(tests[k][1], -1e30, 1e30)
    names = function.columns or [f"x{k}" for k in range(trees.features)]
    table = _tables.frame([dict(zip(names, row, strict=True)) for row in rows.tolist()], names)
    wanted = numpy.asarray(function._values(table), dtype=float)
    got = trees.values(rows)
    worst = float((abs(got - wanted) / numpy.maximum(1, abs(wanted))).max())
    if worst <= _TOLERANCE:
        return True
    warnings.warn(f"the trees of {type(function.function).__name__}, as kir would read them, are {worst:.2g} off what it "
                  "predicts: kir asks this process instead", stacklevel=4)
    return False


def _joined(values: Any) -> str:
    listed = values.tolist() if hasattr(values, "tolist") else values
    return " ".join(repr(v) if isinstance(v, float) else str(v) for v in listed)
