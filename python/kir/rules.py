"""Rules and objectives: a function for each that writes what a problem file would say.

Written by python/generate.py from `kir schema`: do not edit it. Names that Python keeps for
itself end in an underscore: `if_`, `is_`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._values import Objective, Rule, given

Which = str | Sequence[Any] | Mapping[str, Any]
"""Ingredients: a name, in which a star stands for any text, a list, or {attribute: value}."""

__all__ = [
    "amount", "blend", "block", "condition", "constituents", "document", "exclude",
    "expression", "forest", "group", "if_", "learn", "likeness", "limit", "limits",
    "markowitz", "model", "near", "needs", "never", "novelty", "pairs", "preference",
    "process", "program", "ratio", "require", "within_book",
]


def amount(of: Which, *, batch: float | str | None = None, max: int | str | None = None,
           min: int | str | None = None, step: int | str | None = None,
           stock: float | str | None = None, within: str | None = None) -> Rule:
    """How much, where it is used.
    Bounds hold where an ingredient is used; to have it always used, add require.

    of: each of them.
    batch: how much is made, in the unit of the stock. Default: the total.
    max: the greatest. Default: none.
    min: the least. Default: none.
    step: min, min + step and so on; without min its multiples. Default: 1.
    stock: how much there is; without a batch in units of the total. Default: none.
    within: the doses that the known recipes have. Default: none.
    """
    return Rule("amount", given({"of": of, "batch": batch, "max": max, "min": min, "step": step,
                                 "stock": stock, "within": within}))


def block(of: Which, total: int | str, rules: Mapping[str, Any] | Sequence[Any] | None = None) -> Rule:
    """A part that adds up by itself.
    Rules within a block know its ingredients alone; percentages and means are of it.

    of: the members.
    total: what they add up to.
    rules: rules within it. Default: none.
    """
    return Rule("block", given({"of": of, "total": total, "rules": rules}))


def condition(of: float | str, *, in_: Sequence[Any] | None = None, is_: float | str | None = None,
              max: float | None = None, min: float | None = None) -> Rule:
    """The values of a condition.
    Which values a condition may have; behind if, when a rule holds.

    of: the condition.
    in_: the values that it may have.
    is_: the value that it has.
    max: the greatest number. Default: none.
    min: the least number. Default: none.
    """
    return Rule("condition", given({"of": of, "in": in_, "is": is_, "max": max, "min": min}))


def constituents(file: Any, *, decimal: str | None = None, delimiter: str | None = None,
                 encoding: float | str | None = None, sheet: float | str | None = None) -> Rule:
    """What ingredients consist of, ingredient, constituent, share: each constituent becomes an
    attribute; not within other rules.
    The same for other tables.

    file: the table.
    decimal: the decimal mark. Default: found.
    delimiter: the mark between columns. Default: found.
    encoding: how a text file writes characters, by its name on the web. Default: found.
    sheet: the sheet of a workbook. Default: the one that looks like it.
    """
    return Rule("constituents", given({"file": file, "decimal": decimal, "delimiter": delimiter,
                                       "encoding": encoding, "sheet": sheet}))


def exclude(*of: Which) -> Rule:
    """Never used.
    """
    return Rule("exclude", of[0] if len(of) == 1 else list(of))


def group(of: Which, *, total: Sequence[Any] | None = None, used: Sequence[Any] | None = None) -> Rule:
    """How many of a group, and how much of it.
    Bounds on several ingredients taken together.

    of: the members.
    total: what they add up to, least and greatest. Default: any.
    used: how many of them are used, least and greatest. Default: any.
    """
    return Rule("group", given({"of": of, "total": total, "used": used}))


def if_(used: Which | None = None, then: Mapping[str, Any] | Sequence[Any] | None = None, *,
        condition: Mapping[str, Any] | None = None, unused: Which | None = None) -> Rule:
    """Rules that hold on a condition.
    Of used one that is used is enough; unused asks that none is; condition asks for values of a
    condition. Of several, all must hold.

    used: any of these is used.
    then: what holds then.
    condition: a condition has these values.
    unused: none of these is used.
    """
    return Rule("if", given({"used": used, "then": then, "condition": condition, "unused": unused}))


def limit(attribute: float | str | None = None, *, max: float | str | None = None,
          min: float | str | None = None, of: Which | None = None,
          property: float | str | None = None, sure: float | str | None = None) -> Rule:
    """A mean over the composition, or over some of it.
    Bounds on Σ a_i·x_i / Σ x_i, over all ingredients or some; or on what a property predicts.

    attribute: a column of the ingredients, of numbers, or a constituent.
    max: the greatest. Default: none.
    min: the least. Default: none.
    of: the mean over these alone. Default: all.
    property: one of the problem's properties: its value, its chance, or else its score.
    sure: the least probability with which a measurement lies within the bounds; without it the
        bounds hold for the predicted value.
    """
    return Rule("limit", given({"attribute": attribute, "max": max, "min": min, "of": of,
                                "property": property, "sure": sure}))


def limits(file: Any, *, decimal: str | None = None, delimiter: str | None = None,
           encoding: float | str | None = None, sheet: float | str | None = None) -> Rule:
    """A limit from each row of a table: attribute, min, max.
    The same for other tables.

    file: the table.
    decimal: the decimal mark. Default: found.
    delimiter: the mark between columns. Default: found.
    encoding: how a text file writes characters, by its name on the web. Default: found.
    sheet: the sheet of a workbook. Default: the one that looks like it.
    """
    return Rule("limits", given({"file": file, "decimal": decimal, "delimiter": delimiter,
                                 "encoding": encoding, "sheet": sheet}))


def near(recipe: Mapping[str, Any] | float | str, *, changes: int | None = None,
         distance: int | str | None = None) -> Rule:
    """How far from a recipe.
    How far from a recipe a composition may be.

    recipe: a known recipe, or one of your own.
    changes: how many ingredients may come or go; a swap is two. Default: any.
    distance: how much may change hands. Default: any.
    """
    return Rule("near", given({"recipe": recipe, "changes": changes, "distance": distance}))


def needs(if_: Which, then: Which) -> Rule:
    """With one ingredient comes one of others.
    The ingredients that must come along with one.

    if_: one ingredient.
    then: where it is used, at least one of these is, too.
    """
    return Rule("needs", given({"if": if_, "then": then}))


def never(*of: Which) -> Rule:
    """At most one of them.
    """
    return Rule("never", of[0] if len(of) == 1 else list(of))


def ratio(of: Which, to: Which, *, max: float | None = None, min: float | None = None) -> Rule:
    """What some take by what others do.
    Bounds on Σ x_i of some over Σ x_i of others.

    of: what stands above.
    to: what stands below.
    max: the greatest ratio. Default: none.
    min: the least ratio. Default: none.
    """
    return Rule("ratio", given({"of": of, "to": to, "max": max, "min": min}))


def require(*of: Which) -> Rule:
    """Always used.
    """
    return Rule("require", of[0] if len(of) == 1 else list(of))


def blend(attribute: float | str, *, floor: float | None = None,
          is_: Sequence[Any] | float | str | None = None, larger: Mapping[str,
          Any] | None = None, maximize: bool | None = None, minimize: bool | None = None,
          normal: Mapping[str, Any] | None = None, range: Mapping[str, Any] | None = None,
          shape: Sequence[Any] | float | None = None, smaller: Mapping[str,
          Any] | None = None, target: Mapping[str, Any] | None = None,
          weight: float | None = None) -> Objective:
    """A mean of an attribute.
    An attribute and one way in which its mean is desirable. properties.md says what maximize
    and minimize score.

    attribute: a column of the ingredients; numbers for all of them, but with is.
    floor: the least score. Default: 0.
    is_: the share of the ingredients that have one of these values, instead of a mean.
    larger: the more, the better.
    maximize: as large as the rules allow.
    minimize: as small as the rules allow.
    normal: a bell around a value.
    range: all the same within, and nothing beyond.
    shape: an exponent; for target two: below it and above. Default: 1.
    smaller: the less, the better.
    target: best at a value.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("blend", given({"attribute": attribute, "floor": floor, "is": is_, "larger": larger,
                                     "maximize": maximize, "minimize": minimize, "normal": normal,
                                     "range": range, "shape": shape, "smaller": smaller, "target": target}), weight=weight)


def document(topics: Any, words: Any, *, weight: float | None = None) -> Objective:
    """A mixture of topics that explains words.
    The likelihood of a document when its words come from a mixture of topics.

    topics: a CSV file: a row a topic, a column a word, probabilities.
    words: how often the document has each word.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("document", given({"topics": topics, "words": words}), weight=weight)


def expression(value: Mapping[str, Any] | float | str, *, weight: float | None = None) -> Objective:
    """A formula in quotes, or one to be as large or as small as possible; see properties.md.

    weight: how much the objective counts. Default: 1.
    """
    return Objective("expression", value, weight=weight)


def forest(label: float | str | None = None, *, add: Mapping[str, Any] | None = None,
           at_least: float | None = None, at_most: float | None = None,
           between: Sequence[Any] | None = None, features: int | None = None,
           file: Any = None, floor: float | None = None, leaf: int | None = None,
           maximize: bool | None = None, minimize: bool | None = None,
           seed: int | None = None, splits: str | None = None, trees: int | None = None,
           want: Sequence[Any] | float | str | None = None, weight: float | None = None) -> Objective:
    """A label, by a random forest.
    A label, or a file, and one thing that is asked of it: want, bounds, or a direction.

    label: a label of the recipes.
    add: more features than the amounts. Default: none.
    at_least: a number of at least this; at_most may stand beside it.
    at_most: a number of at most this.
    between: a number from the first to the second.
    features: features tried at a split, of F. Default: √F for classes, at least 10, and all for
        numbers; with best splits √F and F/3.
    file: a forest that kir train saved. Default: grown.
    floor: the least score. Default: 0.
    leaf: recipes in the smallest leaf. Default: 1; 5 for numbers with best splits.
    maximize: as large a number as can be.
    minimize: as small a number as can be.
    seed: of the forest's random numbers. Default: 1.
    splits: whether a split tries one threshold of each feature, drawn at random, or all.
        Default: random; best if features is given.
    trees: trees. Default: 100; 300 with best splits to maximize or minimize.
    want: a class, or any of several.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("forest", given({"label": label, "add": add, "at_least": at_least, "at_most": at_most,
                                      "between": between, "features": features, "file": file,
                                      "floor": floor, "leaf": leaf, "maximize": maximize,
                                      "minimize": minimize, "seed": seed, "splits": splits, "trees": trees,
                                      "want": want}), weight=weight)


def learn(label: float | str | None = None, *, at_least: float | None = None,
          at_most: float | None = None, between: Sequence[Any] | None = None,
          failed: Sequence[Any] | float | str | None = None, file: Any = None,
          floor: float | None = None, log: bool | None = None, maximize: bool | None = None,
          minimize: bool | None = None, sd: float | str | None = None,
          seed: int | None = None, trees: int | None = None,
          want: Sequence[Any] | float | str | None = None, weight: float | None = None) -> Objective:
    """A label of the recipes, by the best model that they allow.
    A label and one thing that is asked of it: want, bounds, or a direction. models.md says how
        it is learnt.

    label: a label of the recipes.
    at_least: a number of at least this; at_most may stand beside it.
    at_most: a number of at most this.
    between: a number from the first to the second.
    failed: further values of the label that say that a recipe failed. Default: failed,
        unstable, n/a and the like.
    file: a model that kir train saved. Default: learnt.
    floor: the least score. Default: 0.
    log: learn the logarithm of numbers that are all above 0, such as those that span decades.
        Default: false.
    maximize: as large a number as can be.
    minimize: as small a number as can be.
    sd: a column of the recipes with the standard deviations of the numbers.
    seed: of the forest's random numbers. Default: 1.
    trees: trees of the forest. Default: 100.
    want: a class, or any of several.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("learn", given({"label": label, "at_least": at_least, "at_most": at_most,
                                     "between": between, "failed": failed, "file": file, "floor": floor,
                                     "log": log, "maximize": maximize, "minimize": minimize, "sd": sd,
                                     "seed": seed, "trees": trees, "want": want}), weight=weight)


def likeness(to: Sequence[Any] | float | str | None = None, *, by: str | None = None,
             floor: float | None = None, scale: float | None = None,
             zero: float | None = None, weight: float | None = None) -> Objective:
    """Near to known recipes.
    How near to known recipes a composition is.

    to: which recipes. Default: all in the book.
    by: ingredients alone, or amounts (Aitchison's distance). Default: overlap.
    floor: the least score. Default: 0.
    scale: by amounts: the distance at which likeness has fallen to 61 %. Default: the median
        distance to the nearest other.
    zero: by amounts: units that stand in place of 0. Default: 0.5.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("likeness", given({"to": to, "by": by, "floor": floor, "scale": scale, "zero": zero}), weight=weight)


def markowitz(returns: Any, covariance: Any = None, *, as_: str | None = None,
              maximize: str | None = None, minimize: str | None = None,
              periods: float | None = None, risk_aversion: float | None = None,
              weight: float | None = None) -> Objective:
    """Return against risk.
    Log y = μᵀw − a·wᵀΣw of the shares w. properties.md says how μ and Σ follow from prices.

    returns: a table of prices or returns, dates down the side and a column for each ingredient;
        beside covariance μ: a CSV file with the columns name and return, or an attribute.
    covariance: Σ: a CSV file with a row and a column for each ingredient. Default: that of the
        history.
    as_: whether the table has prices, returns (0.01), or returns in percent (1). Default: as
        the numbers show.
    maximize: the return alone, or the return divided by the volatility.
    minimize: the volatility alone.
    periods: how many rows of the table a year has: 252, 52, 12. Default: as the dates show.
    risk_aversion: a. Default: 1.5.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("markowitz", given({"returns": returns, "covariance": covariance, "as": as_,
                                         "maximize": maximize, "minimize": minimize, "periods": periods,
                                         "risk_aversion": risk_aversion}), weight=weight)


def model(file: Any, *, amounts: str | None = None, at_least: float | None = None,
          at_most: float | None = None, between: Sequence[Any] | None = None,
          check: Any = None, class_: Sequence[Any] | float | str | None = None,
          constants: Mapping[str, Any] | None = None, features: Mapping[str,
          Any] | Sequence[Any] | None = None, floor: float | None = None,
          maximize: Mapping[str, Any] | bool | None = None, minimize: Mapping[str,
          Any] | bool | None = None, output: float | str | None = None,
          sd: float | None = None, target: Mapping[str, Any] | None = None,
          tolerance: float | None = None, weight: float | None = None) -> Objective:
    """A tree ensemble of another program.
    A model in ONNX, XGBoost's JSON or UBJSON, or LightGBM's text, and one thing that is asked
        of it: classes, bounds, a direction, or a value to reach.

    file: the model.
    amounts: what an input is that is called as an ingredient. Default: share.
    at_least: of a number: at least this.
    at_most: at most this.
    between: from the first to the second.
    check: a table of the model's own predictions that kir must give, too. Default: none.
    class_: of a model of classes: one, or any of several.
    constants: inputs that are no part of a composition; one with a list is a condition of its
        name. Default: none.
    features: what the model's inputs are, by name or in their order. Default: by their names.
    floor: the least score. Default: 0.
    maximize: as large as can be, from what scores 0 to what scores 1; true: all that the model
        can say.
    minimize: as small as can be.
    output: which of its outputs. Default: the first.
    sd: of bounds: how far what is lies from what the model says. Default: 0: a hard bound.
    target: best at a value.
    tolerance: how far a prediction may be off. Default: 0.00001.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("model", given({"file": file, "amounts": amounts, "at_least": at_least,
                                     "at_most": at_most, "between": between, "check": check,
                                     "class": class_, "constants": constants, "features": features,
                                     "floor": floor, "maximize": maximize, "minimize": minimize,
                                     "output": output, "sd": sd, "target": target, "tolerance": tolerance}), weight=weight)


def novelty(to: Sequence[Any] | float | str | None = None, *, by: str | None = None,
            floor: float | None = None, scale: float | None = None, zero: float | None = None,
            weight: float | None = None) -> Objective:
    """Far from known recipes.
    How far from known recipes a composition is.

    to: which recipes. Default: all in the book.
    by: ingredients alone, or amounts (Aitchison's distance). Default: overlap.
    floor: the least score. Default: 0.
    scale: by amounts: the distance at which likeness has fallen to 61 %. Default: the median
        distance to the nearest other.
    zero: by amounts: units that stand in place of 0. Default: 0.5.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("novelty", given({"to": to, "by": by, "floor": floor, "scale": scale, "zero": zero}), weight=weight)


def pairs(*, avoid: Sequence[Any] | None = None, favour: Sequence[Any] | None = None,
          lift: str | None = None, smooth: float | None = None, weight: float | None = None) -> Objective:
    """What goes together, two by two.
    How usual the pairs of a composition are in the book, and factors of your own.

    avoid: pairs that are worse. Default: none.
    favour: pairs that are better. Default: none.
    lift: how the lifts of the pairs count together. Default: mean, without recipes none.
    smooth: how many recipes' worth of doubt pull lifts to 1. Default: 1.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("pairs", given({"avoid": avoid, "favour": favour, "lift": lift, "smooth": smooth}), weight=weight)


def preference(pairs: Any, *, first: int | None = None, groups: float | str | None = None,
               weight: float | None = None) -> Objective:
    """What somebody liked better in pairs.
    Learns from pairs which recipes somebody likes better, as kir serve asks.

    pairs: a CSV file with the columns pair, choice (better or worse), ingredient and amount.
    first: how many of the pairs count, from the beginning. Default: all.
    groups: an attribute whose totals tell of taste, too.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("preference", given({"pairs": pairs, "first": first, "groups": groups}), weight=weight)


def process(label: float | str, *, at_least: float | None = None,
            at_most: float | None = None, between: Sequence[Any] | None = None,
            failed: Sequence[Any] | float | str | None = None, floor: float | None = None,
            log: bool | None = None, maximize: bool | None = None,
            minimize: bool | None = None, sd: float | str | None = None,
            weight: float | None = None) -> Objective:
    """A label that is a number, by a Gaussian process.
    A label that is a number and one thing that is asked of it: bounds, or a direction.

    label: a label of the recipes.
    at_least: a number of at least this; at_most may stand beside it.
    at_most: a number of at most this.
    between: a number from the first to the second.
    failed: further values of the label that say that a recipe failed. Default: failed,
        unstable, n/a and the like.
    floor: the least score. Default: 0.
    log: learn the logarithm of numbers that are all above 0, such as those that span decades.
        Default: false.
    maximize: as large a number as can be.
    minimize: as small a number as can be.
    sd: a column of the recipes with the standard deviations of the numbers.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("process", given({"label": label, "at_least": at_least, "at_most": at_most,
                                       "between": between, "failed": failed, "floor": floor, "log": log,
                                       "maximize": maximize, "minimize": minimize, "sd": sd}), weight=weight)


def program(command: Sequence[Any] | float | str, *, batch: int | None = None,
            processes: int | None = None, timeout: float | None = None,
            weight: float | None = None) -> Objective:
    """An answer of your program; it runs with your rights.
    A program that reads recipes and writes scores, as examples/scorer shows. It runs with your
    rights.

    command: the program and its arguments; no shell reads them.
    batch: how many whole candidates a move asks for at once. Default: 16.
    processes: how many copies may run. Default: 1.
    timeout: seconds for a batch. Default: 60.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("program", given({"command": command, "batch": batch, "processes": processes,
                                       "timeout": timeout}), weight=weight)


def within_book(of: Which = "*") -> Rule:
    """Keep to the doses that the known recipes have: amount(of, within="book")."""
    return amount(of, within="book")
