#!/usr/bin/env python3
"""Makes tree ensembles of many kinds, and asks those who made them what they predict.

    python3 make.py DIR            models, inputs and manifest.json in DIR
    node predict.js DIR            ONNX Runtime's predictions of the ONNX models
    KIR_MODELS=DIR go test -C bench ./models

Needs Debian's python3-sklearn, python3-xgboost and python3-onnx, and npm's
onnxruntime-node. XGBoost's own predictions are recorded here. scikit-learn's models are
written as ONNX below, node for node as its usual exporter lays them out, which is not
in Debian; random ensembles of all modes, aggregations and post-transforms join them.
"""
import json, os, sys, warnings
import numpy as np
import onnx, xgboost as xgb
from onnx import TensorProto, helper
from sklearn import ensemble, tree

warnings.filterwarnings("ignore")
OUT, SMALL = sys.argv[1], "--small" in sys.argv
os.makedirs(OUT, exist_ok=True)
N, TOTAL, POINTS = 20, 1000, 50 if SMALL else 100_000
rng = np.random.default_rng(7)


def compositions(rows):
    x = np.zeros((rows, N), np.int32)
    for k in range(rows):
        of = rng.choice(N, rng.integers(2, 9), replace=False)
        cuts = np.sort(rng.choice(TOTAL - 1, len(of) - 1, replace=False)) + 1
        x[k, of] = np.diff(np.concatenate([[0], cuts, [TOTAL]]))
    return x


def raw(rows):
    """Numbers of either sign, the first three columns categories, one in ten missing."""
    x = rng.normal(size=(rows, N)).astype(np.float32)
    x[:, :3] = rng.integers(0, [4, 12, 70], size=(rows, 3))
    x[rng.random(x.shape) < 0.1] = np.nan
    return x


train = {"shares": compositions(1500) / TOTAL, "raw": raw(1500)}
if os.path.exists(f"{OUT}/shares.i32") and not SMALL:
    points = {"shares": np.fromfile(f"{OUT}/shares.i32", np.int32).reshape(-1, N)}
else:
    points = {"shares": compositions(POINTS)}
points["raw"] = raw(POINTS)
points["shares"].tofile(f"{OUT}/shares.i32")
points["raw"].tofile(f"{OUT}/raw.f32")
inputs = {"shares": points["shares"] / TOTAL, "raw": points["raw"]}
way = rng.normal(size=N)
number = {k: np.nan_to_num(v) @ way + np.sin(5 * np.nan_to_num(v)[:, 3]) for k, v in train.items()}
manifest = []


def record(name, kind, predictions, tolerance, **more):
    p = np.asarray(predictions, np.float32).reshape(POINTS, -1)
    p.tofile(f"{OUT}/{name}.out")
    manifest.append(dict(name=name, inputs=kind, width=p.shape[1], tolerance=tolerance, **more))


def classes(y, k):
    return np.searchsorted(np.quantile(y, np.arange(1, k) / k), y)


def with_xgboost(name, params, rounds, kind="shares", suffix="json", types=None, k=0, positive=False):
    if SMALL:
        params = dict(params, max_depth=min(params["max_depth"], 4))
    y = number[kind]
    if k:
        y = classes(y, k)
    elif positive:
        y = np.exp(y / 4)
    d = xgb.DMatrix(train[kind], y, feature_types=types, enable_categorical=types is not None)
    b = xgb.train(dict(nthread=1, seed=1, **params), d, rounds)
    b.save_model(f"{OUT}/{name}.{suffix}")
    e = xgb.DMatrix(inputs[kind], feature_types=types, enable_categorical=types is not None)
    record(name, kind, b.predict(e, output_margin=True), 0, file=f"{name}.{suffix}", output="margin")
    if params["objective"] not in ("multi:softmax", "reg:squarederror"):
        # exp in float32 is rounded by other rules than XGBoost's: 4 units of the last place.
        record(name + "-linked", kind, b.predict(e), 4, file=f"{name}.{suffix}", output="")


scale = 20 if SMALL else 1
deep = 5 if SMALL else None
for n, depth in ((1, 6), (10, 3), (100, 6), (500, 6), (2000, 4)):
    with_xgboost(f"xgb-squared-{n}", dict(objective="reg:squarederror", max_depth=depth, eta=0.1), max(n // scale, 1))
with_xgboost("xgb-deep", dict(objective="reg:squarederror", max_depth=20, eta=0.3), 60 // scale, suffix="ubj")
for objective in ("binary:logistic", "binary:logitraw", "binary:hinge"):
    with_xgboost("xgb-" + objective.replace(":", "-"), dict(objective=objective, max_depth=4), 100 // scale, k=2)
for objective in ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox"):
    with_xgboost("xgb-" + objective.replace(":", "-"), dict(objective=objective, max_depth=4), 100 // scale, positive=True, suffix="ubj")
for objective in ("reg:absoluteerror", "reg:pseudohubererror"):
    with_xgboost("xgb-" + objective.replace(":", "-"), dict(objective=objective, max_depth=5), 100 // scale)
with_xgboost("xgb-softprob", dict(objective="multi:softprob", num_class=4, max_depth=4), 60 // scale, k=4)
with_xgboost("xgb-softmax", dict(objective="multi:softmax", num_class=3, max_depth=4), 60 // scale, k=3, suffix="ubj")
with_xgboost("xgb-missing", dict(objective="reg:squarederror", max_depth=6), 200 // scale, kind="raw")
with_xgboost("xgb-missing-logistic", dict(objective="binary:logistic", max_depth=6), 200 // scale, kind="raw", k=2, suffix="ubj")
categorical = ["c", "c", "c"] + ["q"] * (N - 3)
for onehot in (1, 100):
    with_xgboost(f"xgb-categorical-{onehot}", dict(objective="reg:squarederror", tree_method="approx", max_depth=6, max_cat_to_onehot=onehot), 100 // scale, kind="raw", types=categorical)
with_xgboost("xgb-forest", dict(objective="reg:squarederror", num_parallel_tree=50, subsample=0.6, colsample_bynode=0.5, eta=1, max_depth=8), 1)
for kind in ("shares", "raw"):
    with_xgboost(f"xgb-dart-{kind}", dict(booster="dart", objective="reg:squarederror", max_depth=5, rate_drop=0.2), 80 // scale, kind=kind)


def save(name, nodes, outputs, kind, double=False, initializers=(), width=N, opset=3, tolerance=0, **more):
    element = TensorProto.DOUBLE if double else TensorProto.FLOAT
    graph = helper.make_graph(nodes, "trees", [helper.make_tensor_value_info("X", element, [None, width])],
                              [helper.make_tensor_value_info(o, t, [None, w]) for o, t, w in outputs], list(initializers))
    model = helper.make_model(graph, producer_name="bench", opset_imports=[helper.make_opsetid("", 17 if opset < 5 else 17), helper.make_opsetid("ai.onnx.ml", opset)])
    model.ir_version = 8
    with open(f"{OUT}/{name}.onnx", "wb") as f:
        f.write(model.SerializeToString())
    manifest.append(dict(name=name, inputs=kind, file=name + ".onnx", output=outputs[-1][0], width=outputs[-1][2], tolerance=tolerance, double=double, onnx=True, **more))


def attributes(trees, weights, prefix):
    """The nodes of scikit-learn's trees, and of each leaf the weights that a function gives."""
    a = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    w = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
    for t, one in enumerate(trees):
        one = one.tree_
        for k in range(one.node_count):
            leaf = one.children_left[k] < 0
            a["treeids"].append(t); a["nodeids"].append(k)
            a["featureids"].append(0 if leaf else int(one.feature[k]))
            a["values"].append(0.0 if leaf else float(np.float32(one.threshold[k])))
            a["modes"].append("LEAF" if leaf else "BRANCH_LEQ")
            a["truenodeids"].append(0 if leaf else int(one.children_left[k]))
            a["falsenodeids"].append(0 if leaf else int(one.children_right[k]))
            a["missing_value_tracks_true"].append(0)
            if leaf:
                for i, v in weights(one.value[k], t):
                    w["treeids"].append(t); w["nodeids"].append(k); w["ids"].append(i); w["weights"].append(float(v))
    out = {"nodes_" + k: v for k, v in a.items()}
    out.update({prefix + "_" + k: v for k, v in w.items()})
    return out


def forest_weights(count):
    return lambda value, t: [(i, v / value[0].sum() / count) for i, v in enumerate(value[0])]


def ml(op, inputs, outputs, **a):
    return helper.make_node(op, inputs, outputs, domain="ai.onnx.ml", **a)


P, L = ("probabilities", TensorProto.FLOAT), ("label", TensorProto.INT64)
x, y = train["shares"], number["shares"]
for n, depth, k in ((1, 4, 2), (100, None, 2), (50, 8, 5), (2000, 3, 3)):
    n, depth = max(n // scale, 1), min(depth, deep) if depth and deep else depth
    n = min(n, 10) if SMALL else n
    f = ensemble.RandomForestClassifier(n, max_depth=depth or deep, random_state=1).fit(x, classes(y, k))
    save(f"rf-classes-{n}-{k}", [ml("TreeEnsembleClassifier", ["X"], ["label", "probabilities"], classlabels_int64s=list(range(k)), post_transform="NONE",
         **attributes(f.estimators_, forest_weights(n), "class"))], [(*L, 1), (*P, k)], "shares")
for n, depth in ((100, None), (300, 6)):
    n = max(n // scale, 1)
    f = ensemble.RandomForestRegressor(n, max_depth=depth or deep, random_state=1).fit(x, y)
    save(f"rf-number-{n}", [ml("TreeEnsembleRegressor", ["X"], ["variable"], n_targets=1, aggregate_function="AVERAGE", post_transform="NONE",
         **attributes(f.estimators_, lambda v, t: [(0, v[0][0])], "target"))], [("variable", TensorProto.FLOAT, 1)], "shares")
f = ensemble.ExtraTreesRegressor(max(80 // scale, 1), random_state=1, max_depth=deep or 10).fit(x, np.c_[y, y ** 2, -y])
save("extra-three", [ml("TreeEnsembleRegressor", ["X"], ["variable"], n_targets=3, aggregate_function="SUM", post_transform="NONE",
     **attributes(f.estimators_, lambda v, t: [(i, u[0] / len(f.estimators_)) for i, u in enumerate(v)], "target"))], [("variable", TensorProto.FLOAT, 3)], "shares")
f = ensemble.GradientBoostingClassifier(n_estimators=max(200 // scale, 1), max_depth=4).fit(x, classes(y, 2))
save("gb-two", [ml("TreeEnsembleClassifier", ["X"], ["label", "probabilities"], classlabels_strings=["no", "yes"], post_transform="LOGISTIC", base_values=[0.123],
     **attributes(f.estimators_[:, 0], lambda v, t: [(0, 0.1 * v[0][0])], "class"))], [("label", TensorProto.STRING, 1), (*P, 2)], "shares", tolerance=16)  # 1 − p: a unit of p is several of it
f = ensemble.GradientBoostingClassifier(n_estimators=max(40 // scale, 1), max_depth=4).fit(x, classes(y, 3))
save("gb-three", [ml("TreeEnsembleClassifier", ["X"], ["label", "probabilities"], classlabels_int64s=[0, 1, 2], post_transform="SOFTMAX", base_values=[0.1, -0.2, 0.3],
     **attributes(f.estimators_.ravel(), lambda v, t: [(t % 3, 0.1 * v[0][0])], "class"))], [(*L, 1), (*P, 3)], "shares", tolerance=4)
f = ensemble.GradientBoostingRegressor(n_estimators=max(300 // scale, 1), max_depth=5).fit(x, y)
gb = dict(n_targets=1, base_values=[float(y.mean())], **attributes(f.estimators_[:, 0], lambda v, t: [(0, 0.1 * v[0][0])], "target"))
save("gb-number", [ml("TreeEnsembleRegressor", ["X"], ["variable"], **gb)], [("variable", TensorProto.FLOAT, 1)], "shares")
save("gb-number-double", [ml("TreeEnsembleRegressor", ["X"], ["variable"], **gb)], [("variable", TensorProto.FLOAT, 1)], "shares", double=True)
scaled = dict(gb)
save("gb-scaled", [ml("Scaler", ["X"], ["S"], offset=[0.01] * N, scale=[float(v) for v in np.linspace(0.5, 2, N)]), ml("TreeEnsembleRegressor", ["S"], ["T"], **gb),
     helper.make_node("Exp", ["T"], ["variable"])], [("variable", TensorProto.FLOAT, 1)], "shares", tolerance=4)
order = helper.make_tensor("order", TensorProto.INT64, [N], list(range(N))[::-1])
half = helper.make_tensor("half", TensorProto.FLOAT, [1], [0.5])
save("gb-picked", [helper.make_node("Cast", ["X"], ["F"], to=TensorProto.FLOAT), ml("ArrayFeatureExtractor", ["F", "order"], ["S"]), helper.make_node("Concat", ["S"], ["C"], axis=1),
     ml("TreeEnsembleRegressor", ["C"], ["T"], **gb), helper.make_node("Mul", ["T", "half"], ["variable"])], [("variable", TensorProto.FLOAT, 1)], "shares", double=True, initializers=[order, half])
f = ensemble.RandomForestClassifier(max(40 // scale, 1), max_depth=6, random_state=2).fit(x, classes(y, 3))
save("rf-normalized", [ml("TreeEnsembleClassifier", ["X"], ["label", "P"], classlabels_int64s=[0, 1, 2], post_transform="NONE", **attributes(f.estimators_, forest_weights(17), "class")),
     ml("Normalizer", ["P"], ["probabilities"], norm="L1")], [(*L, 1), (*P, 3)], "shares", tolerance=1)

MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def random_trees(trees, depth, prefix, targets, modes, positive=False):
    trees, depth = (max(trees // 5, 2), depth - 1) if SMALL else (trees, depth)
    a = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    w = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
    for t in range(trees):
        count = 2 ** (depth + 1) - 1
        for k in range(count):
            leaf = k >= count // 2
            feature = int(rng.integers(0, N))
            mode = modes[rng.integers(0, len(modes))]
            v = float(rng.integers(0, 5)) if feature < 3 else float(np.float32(rng.normal()))
            for key, u in zip(a, (t, k, feature, 0.0 if leaf else v, "LEAF" if leaf else mode, 0 if leaf else 2 * k + 1, 0 if leaf else 2 * k + 2, int(rng.integers(0, 2)))):
                a[key].append(u)
            for i in targets if leaf else ():
                u = rng.random() if positive else rng.normal()
                w["treeids"].append(t); w["nodeids"].append(k); w["ids"].append(i); w["weights"].append(float(np.float32(u / trees)))
    out = {"nodes_" + k: v for k, v in a.items()}
    out.update({prefix + "_" + k: v for k, v in w.items()})
    return out


for k, modes in enumerate([[m] for m in MODES] + [MODES]):
    save(f"random-modes-{k}", [ml("TreeEnsembleRegressor", ["X"], ["variable"], n_targets=1, **random_trees(20, 4, "target", [0], modes))],
         [("variable", TensorProto.FLOAT, 1)], "raw", opset=1 if k % 2 else 3)
for aggregate in ("AVERAGE", "MIN", "MAX"):
    save(f"random-{aggregate}", [ml("TreeEnsembleRegressor", ["X"], ["variable"], n_targets=2, aggregate_function=aggregate, base_values=[0.5, -1.0], **random_trees(15, 4, "target", [0, 1], MODES))],
         [("variable", TensorProto.FLOAT, 2)], "raw")
for transform in ("SOFTMAX", "SOFTMAX_ZERO", "LOGISTIC", "PROBIT"):
    save(f"random-{transform}", [ml("TreeEnsembleClassifier", ["X"], ["label", "probabilities"], classlabels_int64s=[0, 1, 2], post_transform=transform, **random_trees(15, 4, "class", [0, 1, 2], MODES, transform == "PROBIT"))],
         [(*L, 1), (*P, 3)], "raw", tolerance=2000 if transform == "PROBIT" else 8)  # PROBIT is a difference of near numbers about 0.5
for base in (0, 1):
    for targets in ([0], [0, 1]) if base else ([0], [1], [0, 1]):
        for positive in (False, True):
            for transform in ("NONE", "LOGISTIC"):
                save(f"random-two-{base}-{''.join(map(str, targets))}-{'positive' if positive else 'mixed'}-{transform}", [ml("TreeEnsembleClassifier", ["X"], ["label", "probabilities"], classlabels_int64s=[0, 1], post_transform=transform,
                     **({"base_values": [0.25, -0.5][:base]} if base else {}), **random_trees(5, 3, "class", targets, ["BRANCH_LEQ"], positive))], [(*L, 1), (*P, 2)], "raw", tolerance=4)

json.dump(dict(points=POINTS, columns=N, total=TOTAL, models=manifest), open(f"{OUT}/manifest.json", "w"), indent=1)
print(len({m["file"] for m in manifest}), "models in", OUT)
