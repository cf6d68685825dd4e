"""XGBoost, LightGBM and scikit-learn (by skl2onnx and ONNX Runtime): trains a model, and predicts points and lines.

A question has kind, ingredients, total, recipes (to train on), points, lines (of as many recipes as the total has
units, and one more) and directory. The model and what is predicted go into the directory: model.json, model.txt or
model.onnx, points.i32, predictions.f64. Setup is the time of training; the processor's that of the lines, whose
recipes were written out before.
"""

import pathlib

import numpy as np
import samplers_protocol as protocol


def recipes_of(rng, count, n, total):
    x = np.zeros((count, n), np.int32)
    for row in x:
        of = rng.choice(n, rng.integers(3, 9), replace=False)
        cuts = np.sort(rng.choice(total - 1, len(of) - 1, replace=False)) + 1
        row[of] = np.diff(np.concatenate([[0], cuts, [total]]))
    return x


def onnx_predictor(model, n, path):
    import onnxruntime
    import skl2onnx

    text = skl2onnx.to_onnx(model, np.zeros((1, n), np.float32), target_opset=17).SerializeToString()
    path.write_bytes(text)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(text, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda x: session.run(None, {name: x})[0].ravel()


def train(kind, x, y, directory, seed):
    """Return the prediction of shares, and their type."""
    n = x.shape[1]
    if kind == "xgboost":
        import xgboost

        b = xgboost.train(dict(max_depth=6, eta=0.05, nthread=1, seed=seed), xgboost.DMatrix(x, y), 500)
        b.save_model(directory / "model.json")
        return b.inplace_predict, np.float64
    if kind == "lightgbm":
        import lightgbm

        b = lightgbm.train(dict(num_leaves=31, learning_rate=0.05, num_threads=1, seed=seed, deterministic=True, verbose=-1), lightgbm.Dataset(x, y), 500)
        b.save_model(directory / "model.txt")
        return lambda of: b.predict(of, num_threads=1), np.float64
    from sklearn import ensemble

    if kind.endswith("forest"):
        model = ensemble.RandomForestRegressor(300, max_depth=12, n_jobs=1, random_state=seed)
    else:
        model = ensemble.GradientBoostingRegressor(n_estimators=500, max_depth=6, learning_rate=0.05, random_state=seed)
    model.fit(x.astype(np.float32), y)
    by_onnx = onnx_predictor(model, n, directory / "model.onnx")
    return (by_onnx, np.float32) if kind.startswith("onnx") else (model.predict, np.float32)


def work(question, clock):
    directory = pathlib.Path(question["directory"])
    n, total = question["ingredients"], question["total"]
    rng = np.random.default_rng(question["seed"])
    x = recipes_of(rng, question["recipes"], n, total)
    y = x @ rng.normal(size=n) / total + np.sin(x[:, 0] * 10 / total) + 0.3 * rng.normal(size=len(x))
    predict, number = train(question["kind"], x / total, y, directory, question["seed"])
    points = recipes_of(rng, question["points"], n, total)
    points.tofile(directory / "points.i32")
    np.asarray(predict((points / total).astype(number)), np.float64).tofile(directory / "predictions.f64")
    lines = []
    for start in recipes_of(rng, question["lines"], n, total):
        i = rng.choice(np.flatnonzero(start))
        j = (i + rng.integers(1, n)) % n
        whole = start[i] + start[j]
        line = np.tile(start, (whole + 1, 1))
        line[:, i] = np.arange(whole + 1)
        line[:, j] = whole - line[:, i]
        lines.append((line / total).astype(number))
    clock.set_up()
    for line in lines:
        predict(line)
    return {"figures": {"recipes": float(np.mean([len(line) for line in lines]))}}


PACKAGES = ["xgboost-cpu", "lightgbm", "scikit-learn", "skl2onnx", "onnxruntime"]

if __name__ == "__main__":
    protocol.answer(PACKAGES, work)
