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
    """Bounds the amount of an ingredient in recipes that use it.
    The bounds of amount apply to recipes that use the ingredient. The rule require makes every
    recipe use an ingredient.

    of: the ingredients, to each of which the bounds apply.
    batch: size of the batch to make, in the unit of the stock. Default: the total.
    max: greatest amount. Default: none.
    min: least amount. Default: none.
    step: allows the amounts min, min + step and so on; without min, multiples of step. Default:
        1.
    stock: amount of the ingredient in stock; without batch, in units of the total. Default:
        none.
    within: allows only amounts between the least and the greatest of the known recipes.
        Default: none.
    """
    return Rule("amount", given({"of": of, "batch": batch, "max": max, "min": min, "step": step,
                                 "stock": stock, "within": within}))


def block(of: Which, total: int | str, rules: Mapping[str, Any] | Sequence[Any] | None = None) -> Rule:
    """A part of the recipe with a fixed total.
    Rules within a block apply only to the block's ingredients; their percentages and means
    refer to the block.

    of: the members of the block.
    total: total of the members.
    rules: rules within the block. Default: none.
    """
    return Rule("block", given({"of": of, "total": total, "rules": rules}))


def condition(of: float | str, *, in_: Sequence[Any] | None = None, is_: float | str | None = None,
              max: float | None = None, min: float | None = None) -> Rule:
    """Restricts the values of a condition.
    Condition gives the allowed values of a condition, or under if, the values for which the
    rules apply.

    of: the condition.
    in_: the values of the condition.
    is_: the only value of the condition.
    max: the greatest number. Default: none.
    min: the least number. Default: none.
    """
    return Rule("condition", given({"of": of, "in": in_, "is": is_, "max": max, "min": min}))


def constituents(file: Any, *, decimal: str | None = None, delimiter: str | None = None,
                 encoding: float | str | None = None, sheet: float | str | None = None) -> Rule:
    """A table of what ingredients consist of: ingredient, constituent, share. Each constituent
    becomes an attribute. constituents is not allowed within other rules.
    These keys say how kir reads a table other than a table of recipes.

    file: the table.
    decimal: the decimal mark. Default: detected.
    delimiter: the separator of columns. Default: detected.
    encoding: character encoding of a text file, by its web name. Default: detected.
    sheet: the sheet of a workbook. Default: the sheet that looks suitable.
    """
    return Rule("constituents", given({"file": file, "decimal": decimal, "delimiter": delimiter,
                                       "encoding": encoding, "sheet": sheet}))


def exclude(*of: Which) -> Rule:
    """Ingredients that no recipe uses.
    """
    return Rule("exclude", of[0] if len(of) == 1 else list(of))


def group(of: Which, *, total: Sequence[Any] | None = None, used: Sequence[Any] | None = None) -> Rule:
    """Bounds the number and the total of a group's ingredients.
    Group bounds several ingredients together.

    of: the members of the group.
    total: least and greatest total of the members. Default: any.
    used: least and greatest number of used members. Default: any.
    """
    return Rule("group", given({"of": of, "total": total, "used": used}))


def if_(used: Which | None = None, then: Mapping[str, Any] | Sequence[Any] | None = None, *,
        condition: Mapping[str, Any] | None = None, unused: Which | None = None) -> Rule:
    """Rules that apply only to some recipes.
    The rules under then apply to recipes for which all other keys of if hold.

    used: holds if any of these is used.
    then: the rules that then apply.
    condition: holds if a condition has these values.
    unused: holds if none of these is used.
    """
    return Rule("if", given({"used": used, "then": then, "condition": condition, "unused": unused}))


def limit(attribute: float | str | None = None, *, max: float | str | None = None,
          min: float | str | None = None, of: Which | None = None,
          property: float | str | None = None, sure: float | str | None = None) -> Rule:
    """Bounds the mean of an attribute, or a prediction of a property.
    Limit bounds the mean Σ a_i·x_i / Σ x_i of an attribute a over the amounts x_i, or bounds a
    property's prediction.

    attribute: a numerical column of the ingredients, or a constituent.
    max: upper bound. Default: none.
    min: lower bound. Default: none.
    of: the mean covers only these ingredients. Default: all.
    property: a property of the problem, whose value, probability, or otherwise score the rule
        bounds.
    sure: least probability that a measurement is within the bounds. Without sure, the bounds
        apply to the predicted value.
    """
    return Rule("limit", given({"attribute": attribute, "max": max, "min": min, "of": of,
                                "property": property, "sure": sure}))


def limits(file: Any, *, decimal: str | None = None, delimiter: str | None = None,
           encoding: float | str | None = None, sheet: float | str | None = None) -> Rule:
    """A table with a limit in each row: attribute, min, max.
    These keys say how kir reads a table other than a table of recipes.

    file: the table.
    decimal: the decimal mark. Default: detected.
    delimiter: the separator of columns. Default: detected.
    encoding: character encoding of a text file, by its web name. Default: detected.
    sheet: the sheet of a workbook. Default: the sheet that looks suitable.
    """
    return Rule("limits", given({"file": file, "decimal": decimal, "delimiter": delimiter,
                                 "encoding": encoding, "sheet": sheet}))


def near(recipe: Mapping[str, Any] | float | str, *, changes: int | None = None,
         distance: int | str | None = None) -> Rule:
    """Bounds the difference from a recipe.
    Near bounds the difference from a recipe.

    recipe: the name of a known recipe, or the amounts of any recipe.
    changes: greatest number of ingredients added or removed; a swap counts as two. Default:
        any.
    distance: greatest total amount moved between ingredients. Default: any.
    """
    return Rule("near", given({"recipe": recipe, "changes": changes, "distance": distance}))


def needs(if_: Which, then: Which) -> Rule:
    """Recipes with one ingredient must use one of several others.
    A recipe that uses one ingredient must also use one of several others.

    if_: the ingredient that requires others.
    then: a recipe with that ingredient uses at least one of these.
    """
    return Rule("needs", given({"if": if_, "then": then}))


def never(*of: Which) -> Rule:
    """A recipe uses at most one of these ingredients.
    """
    return Rule("never", of[0] if len(of) == 1 else list(of))


def ratio(of: Which, to: Which, *, max: float | None = None, min: float | None = None) -> Rule:
    """Bounds the ratio of two totals.
    Ratio bounds the total of the ingredients under of, divided by the total of those under to.

    of: ingredients of the numerator.
    to: ingredients of the denominator.
    max: the greatest ratio. Default: none.
    min: the least ratio. Default: none.
    """
    return Rule("ratio", given({"of": of, "to": to, "max": max, "min": min}))


def require(*of: Which) -> Rule:
    """Ingredients that every recipe uses.
    """
    return Rule("require", of[0] if len(of) == 1 else list(of))


def blend(attribute: float | str, *, floor: float | None = None,
          is_: Sequence[Any] | float | str | None = None, larger: Mapping[str,
          Any] | None = None, maximize: bool | None = None, minimize: bool | None = None,
          normal: Mapping[str, Any] | None = None, range: Mapping[str, Any] | None = None,
          shape: Sequence[Any] | float | None = None, smaller: Mapping[str,
          Any] | None = None, target: Mapping[str, Any] | None = None,
          weight: float | None = None) -> Objective:
    """Scores the mean of an attribute.
    Blend needs an attribute, and one key that scores the attribute's mean. properties.md has
    the scores of maximize and minimize.

    attribute: a column of the table of ingredients, with a number for every ingredient unless
        is is given.
    floor: the least score. Default: 0.
    is_: scores the share of the ingredients that have one of these values, instead of a mean.
    larger: larger means are better: from scores 0 and to scores 1.
    maximize: larger values are better, up to the greatest value within the constraints.
    minimize: smaller values are better, down to the least value within the constraints.
    normal: the score is a bell curve around the best value.
    range: means inside score 1, means outside score 0.
    shape: exponent of the score; target may have two exponents, below and above at. Default: 1.
    smaller: smaller means are better: from scores 1 and to scores 0.
    target: one value of the mean is best.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("blend", given({"attribute": attribute, "floor": floor, "is": is_, "larger": larger,
                                     "maximize": maximize, "minimize": minimize, "normal": normal,
                                     "range": range, "shape": shape, "smaller": smaller, "target": target}), weight=weight)


def document(topics: Any, words: Any, *, weight: float | None = None) -> Objective:
    """Scores how well a mixture of topics explains words.
    Document scores the likelihood of a document whose words come from a mixture of topics.

    topics: a CSV file of probabilities with a row per topic and a column per word.
    words: count of each word in the document.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("document", given({"topics": topics, "words": words}), weight=weight)


def expression(value: Mapping[str, Any] | float | str, *, weight: float | None = None) -> Objective:
    """Scores recipes by a formula in quotes, or by a formula with maximize or minimize; see
    properties.md.

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
    """Predicts a label by a random forest.
    Forest needs a label or a file, and one goal: want, bounds, maximize or minimize.

    label: a label of the recipes.
    add: features of recipes besides the amounts. Default: none.
    at_least: lower bound; can be combined with at_most.
    at_most: upper bound.
    between: lower and upper bound.
    features: number of features that a split tries; F is the number of all features. Default:
        √F (at least 10) for classes, all for numbers. With best splits: √F for classes, F/3 for
        numbers.
    file: forest file of kir train. Default: kir grows a forest.
    floor: the least score. Default: 0.
    leaf: least number of recipes in a leaf. Default: 1; 5 for numbers with best splits.
    maximize: larger numbers of the label are better.
    minimize: smaller numbers of the label are better.
    seed: seed of the forest. Default: 1.
    splits: thresholds that a split tries for each feature: one drawn at random (random), or all
        (best). Default: random; best if features is given.
    trees: number of trees. Default: 100; 300 with best splits to maximize or minimize.
    want: the wanted class or classes.
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
    """Predicts a label by the best model for the data.
    Learn needs a label and one goal: want, bounds, maximize or minimize. models.md describes
        the models.

    label: a label of the recipes.
    at_least: lower bound; can be combined with at_most.
    at_most: upper bound.
    between: lower and upper bound.
    failed: further label values that mark a failure. Default: failed, unstable, n/a and
        similar.
    file: model file of kir train. Default: kir learns a model.
    floor: the least score. Default: 0.
    log: kir learns the logarithm of the label, as for positive numbers that span decades.
        Default: false.
    maximize: larger numbers of the label are better.
    minimize: smaller numbers of the label are better.
    sd: column of the recipes with the standard deviation of each number of the label.
    seed: seed of the forest. Default: 1.
    trees: number of trees. Default: 100.
    want: the wanted class or classes.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("learn", given({"label": label, "at_least": at_least, "at_most": at_most,
                                     "between": between, "failed": failed, "file": file, "floor": floor,
                                     "log": log, "maximize": maximize, "minimize": minimize, "sd": sd,
                                     "seed": seed, "trees": trees, "want": want}), weight=weight)


def likeness(to: Sequence[Any] | float | str | None = None, *, by: str | None = None,
             floor: float | None = None, scale: float | None = None,
             zero: float | None = None, weight: float | None = None) -> Objective:
    """Scores closeness to known recipes.
    Likeness scores how near a recipe is to known recipes.

    to: the recipes to compare with. Default: all known recipes.
    by: overlap compares only which ingredients are used; amounts uses Aitchison's distance.
        Default: overlap.
    floor: the least score. Default: 0.
    scale: with by: amounts, the distance at which the likeness is 61 %. Default: median
        distance between nearest neighbours.
    zero: with by: amounts, number of units that replaces an amount of 0. Default: 0.5.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("likeness", given({"to": to, "by": by, "floor": floor, "scale": scale, "zero": zero}), weight=weight)


def markowitz(returns: Any, covariance: Any = None, *, as_: str | None = None,
              maximize: str | None = None, minimize: str | None = None,
              periods: float | None = None, risk_aversion: float | None = None,
              weight: float | None = None) -> Objective:
    """Scores return against risk.
    The score y of markowitz has log y = μᵀw − a·wᵀΣw, where w are the shares of the assets, μ
    the expected returns and Σ their covariance. properties.md shows how to derive μ and Σ from
    prices.

    returns: a table of prices or returns with a row per date and a column per ingredient. If
        covariance is given, returns is μ, as a CSV file with the columns name and return, or as
        an attribute.
    covariance: the covariance Σ, as a CSV file with a row and a column per ingredient. Default:
        covariance of the returns.
    as_: content of the table: prices, returns such as 0.01, or returns in percent such as 1.
        Default: detected.
    maximize: the objective is only the return, or the return divided by the volatility.
    minimize: the objective is only the volatility.
    periods: rows of the table per year, such as 252, 52 or 12. Default: detected.
    risk_aversion: the factor a of the variance wᵀΣw. Default: 1.5.
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
    """Predicts by a tree ensemble of another program.
    Model needs a model file and one goal: classes, bounds, maximize, minimize, or a target
        value. kir reads model files of ONNX, of XGBoost (JSON or UBJSON) and of LightGBM
        (text).

    file: the model file.
    amounts: measure of the ingredient that an input named like an ingredient expects. Default:
        share.
    at_least: lower bound.
    at_most: upper bound.
    between: lower and upper bound.
    check: a table of recipes with the model's predictions, which kir must reproduce. Default:
        none.
    class_: wanted class or classes of a classifier.
    constants: fixed values of inputs that are not amounts. An input with a list of values
        becomes a condition. Default: none.
    features: what each input of the model stands for, by the input's name or in order. Default:
        matched by name.
    floor: the least score. Default: 0.
    maximize: larger predictions are better; from and to are the predictions that score 0 and 1.
        With true, these are the model's least and greatest outputs.
    minimize: smaller predictions are better, with from and to as for maximize.
    output: name of the model's output. Default: the first.
    sd: standard deviation of the model's error, if the goal is bounds. Default: 0: hard bounds.
    target: one value of the prediction is best.
    tolerance: greatest difference allowed between a prediction of check and kir's. Default:
        0.00001.
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
    """Scores distance from known recipes.
    Novelty scores the distance of a recipe from known recipes.

    to: the recipes to compare with. Default: all known recipes.
    by: overlap compares only which ingredients are used; amounts uses Aitchison's distance.
        Default: overlap.
    floor: the least score. Default: 0.
    scale: with by: amounts, the distance at which the likeness is 61 %. Default: median
        distance between nearest neighbours.
    zero: with by: amounts, number of units that replaces an amount of 0. Default: 0.5.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("novelty", given({"to": to, "by": by, "floor": floor, "scale": scale, "zero": zero}), weight=weight)


def pairs(*, avoid: Sequence[Any] | None = None, favour: Sequence[Any] | None = None,
          lift: str | None = None, smooth: float | None = None, weight: float | None = None) -> Objective:
    """Scores pairs of ingredients.
    Pairs scores how usual a recipe's pairs of ingredients are among the known recipes. favour
    and avoid add factors for chosen pairs.

    avoid: pairs to avoid. Default: none.
    favour: pairs to prefer. Default: none.
    lift: how kir combines the lifts of pairs. Default: mean; none without recipes.
    smooth: prior weight, in recipes, that pulls lifts to 1. Default: 1.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("pairs", given({"avoid": avoid, "favour": favour, "lift": lift, "smooth": smooth}), weight=weight)


def preference(pairs: Any, *, first: int | None = None, groups: float | str | None = None,
               weight: float | None = None) -> Objective:
    """Learns from comparisons of two recipes.
    Preference learns a taste from comparisons of two recipes, such as those of kir serve.

    pairs: a CSV file with the columns pair, choice (better or worse), ingredient, amount.
    first: number of pairs that kir uses from the start of the file. Default: all.
    groups: attribute whose groups' total amounts are further features of a recipe.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("preference", given({"pairs": pairs, "first": first, "groups": groups}), weight=weight)


def process(label: float | str, *, at_least: float | None = None,
            at_most: float | None = None, between: Sequence[Any] | None = None,
            failed: Sequence[Any] | float | str | None = None, floor: float | None = None,
            log: bool | None = None, maximize: bool | None = None,
            minimize: bool | None = None, sd: float | str | None = None,
            weight: float | None = None) -> Objective:
    """Predicts a numerical label by a Gaussian process.
    Process needs a numerical label and one goal: bounds, maximize or minimize.

    label: a label of the recipes.
    at_least: lower bound; can be combined with at_most.
    at_most: upper bound.
    between: lower and upper bound.
    failed: further label values that mark a failure. Default: failed, unstable, n/a and
        similar.
    floor: the least score. Default: 0.
    log: kir learns the logarithm of the label, as for positive numbers that span decades.
        Default: false.
    maximize: larger numbers of the label are better.
    minimize: smaller numbers of the label are better.
    sd: column of the recipes with the standard deviation of each number of the label.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("process", given({"label": label, "at_least": at_least, "at_most": at_most,
                                       "between": between, "failed": failed, "floor": floor, "log": log,
                                       "maximize": maximize, "minimize": minimize, "sd": sd}), weight=weight)


def program(command: Sequence[Any] | float | str, *, batch: int | None = None,
            processes: int | None = None, timeout: float | None = None,
            weight: float | None = None) -> Objective:
    """Scores recipes by your program, which runs with your rights.
    Program names a program that reads recipes and writes scores, such as examples/scorer. The
    program runs with your rights.

    command: the program and its arguments, run without a shell.
    batch: number of recipes that a move sends to the program at once. Default: 16.
    processes: number of copies of the program that may run at the same time. Default: 1.
    timeout: time limit for scoring a batch, in seconds. Default: 60.
    weight: how much the objective counts. Default: 1.
    """
    return Objective("program", given({"command": command, "batch": batch, "processes": processes,
                                       "timeout": timeout}), weight=weight)


def within_book(of: Which = "*") -> Rule:
    """Keep to the doses that the known recipes have: amount(of, within="book")."""
    return amount(of, within="book")
