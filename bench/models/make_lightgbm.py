#!/usr/bin/env python3
"""Adds LightGBM's models to those of make.py, with what it predicts, in float64.

    python3 make_lightgbm.py DIR [--small]      after make.py, whose points it uses

Needs the module lightgbm, which is not in Debian. The sources that npm's package
lightgbm holds make one, of version 4.1.0.99: all of src but main, the GPU and MPI files,
with -fopenmp -DUSE_SOCKET -DMM_PREFETCH -DMM_MALLOC, linked to lib_lightgbm.so below
python-package/lightgbm/lib.
"""
import json, os, sys
import numpy as np, lightgbm as lgb

OUT, SMALL = sys.argv[1], "--small" in sys.argv
manifest = json.load(open(f"{OUT}/manifest.json"))
POINTS, N, TOTAL = manifest["points"], manifest["columns"], manifest["total"]
manifest["models"] = [m for m in manifest["models"] if not m["name"].startswith("lgb-")]
points = {"shares": np.fromfile(f"{OUT}/shares.i32", np.int32).reshape(-1, N) / TOTAL,
          "raw": np.fromfile(f"{OUT}/raw.f32", np.float32).reshape(-1, N).astype(float)}
rng = np.random.default_rng(11)


def compositions(rows):
    x = np.zeros((rows, N))
    for k in range(rows):
        of = rng.choice(N, rng.integers(2, 9), replace=False)
        cuts = np.sort(rng.choice(TOTAL - 1, len(of) - 1, replace=False)) + 1
        x[k, of] = np.diff(np.concatenate([[0], cuts, [TOTAL]]))
    return x / TOTAL


def raw(rows):
    x = rng.normal(size=(rows, N))
    x[:, :3] = rng.integers(0, [4, 12, 70], size=(rows, 3))
    x[rng.random(x.shape) < 0.1] = np.nan
    x[rng.random(x.shape) < 0.1] = 0
    return x


train = {"shares": compositions(1500), "raw": raw(1500)}
way = rng.normal(size=N)
number = {k: np.nan_to_num(v) @ way + np.sin(5 * np.nan_to_num(v)[:, 3]) for k, v in train.items()}


def classes(y, k):
    return np.searchsorted(np.quantile(y, np.arange(1, k) / k), y)


def with_lightgbm(name, objective, rounds, kind="shares", of=lambda y: y, categorical="auto", **params):
    name = "lgb-" + name
    if SMALL:
        params = dict(params, num_leaves=min(params.get("num_leaves", 31), 8))
        rounds = min(max(rounds // 20, 2), 8)
    params = dict(objective=objective, num_threads=1, deterministic=True, seed=1, verbose=-1, min_data_in_leaf=5, **params)
    b = lgb.train(params, lgb.Dataset(train[kind], of(number[kind]), categorical_feature=categorical), rounds)
    b.save_model(f"{OUT}/{name}.txt")

    def record(name, predictions, output, tolerance):
        p = np.asarray(predictions, np.float64).reshape(POINTS, -1)
        p.tofile(f"{OUT}/{name}.out")
        manifest["models"].append(dict(name=name, inputs=kind, width=p.shape[1], tolerance=tolerance, file=os.path.basename(f"{name.removesuffix('-linked')}.txt"), output=output, wide=True))

    if params.get("boosting") == "rf":  # its raw score is the sum, which nothing divides
        record(name, b.predict(points[kind]), "", 0 if objective == "regression" else 8)
        return
    record(name, b.predict(points[kind], raw_score=True), "margin", 0)
    if objective not in ("regression_l1", "huber", "fair", "quantile", "mape") and (objective != "regression" or params.get("reg_sqrt")):
        # exp is rounded by other rules: units of the last place of float64.
        record(name + "-linked", b.predict(points[kind]), "", 8)


for rounds, leaves in ((1, 15), (10, 4), (100, 31), (500, 63), (2000, 15)):
    with_lightgbm(f"number-{rounds}", "regression", rounds, num_leaves=leaves, learning_rate=0.1)
with_lightgbm("deep", "regression", 60, num_leaves=500, min_gain_to_split=0.0)
for objective in ("regression_l1", "huber", "fair", "quantile", "mape"):
    with_lightgbm(objective, objective, 60)
for objective in ("poisson", "gamma", "tweedie"):
    with_lightgbm(objective, objective, 60, of=lambda y: np.exp(y / 4))
with_lightgbm("sqrt", "regression", 60, reg_sqrt=True)
with_lightgbm("binary", "binary", 100, of=lambda y: classes(y, 2), sigmoid=0.7)
with_lightgbm("unit", "cross_entropy", 60, of=lambda y: 1 / (1 + np.exp(-y)))
with_lightgbm("unit-lambda", "cross_entropy_lambda", 60, of=lambda y: 1 / (1 + np.exp(-y)))
with_lightgbm("multiclass", "multiclass", 60, of=lambda y: classes(y, 4), num_class=4)
with_lightgbm("multiclassova", "multiclassova", 60, of=lambda y: classes(y, 3), num_class=3)
with_lightgbm("missing", "regression", 200, kind="raw")
with_lightgbm("missing-zero", "regression", 200, kind="raw", zero_as_missing=True)
with_lightgbm("missing-not", "regression", 200, kind="raw", use_missing=False)
with_lightgbm("categorical", "regression", 100, kind="raw", categorical=[0, 1, 2])
with_lightgbm("categorical-binary", "binary", 100, kind="raw", of=lambda y: classes(y, 2), categorical=[0, 1, 2], max_cat_to_onehot=1, cat_smooth=1)
with_lightgbm("forest", "regression", 50, boosting="rf", bagging_freq=1, bagging_fraction=0.6, feature_fraction=0.5)
with_lightgbm("forest-binary", "binary", 50, of=lambda y: classes(y, 2), boosting="rf", bagging_freq=1, bagging_fraction=0.6, feature_fraction=0.5)
with_lightgbm("forest-multiclass", "multiclass", 30, of=lambda y: classes(y, 3), num_class=3, boosting="rf", bagging_freq=1, bagging_fraction=0.6, feature_fraction=0.5)
for kind in ("shares", "raw"):
    with_lightgbm(f"dart-{kind}", "regression", 80, kind=kind, boosting="dart", drop_rate=0.2)
with_lightgbm("goss", "regression", 80, data_sample_strategy="goss")
with_lightgbm("extra", "binary", 80, of=lambda y: classes(y, 2), extra_trees=True, path_smooth=2.0)

json.dump(manifest, open(f"{OUT}/manifest.json", "w"), indent=1)
print(sum(m["name"].startswith("lgb-") and not m["name"].endswith("-linked") for m in manifest["models"]), "models in", OUT)
