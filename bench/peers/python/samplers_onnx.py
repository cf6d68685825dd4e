"""Asks ONNX Runtime for the predictions of the models that bench/models/make.py made, as its predict.js does.

    python3 samplers_onnx.py DIR
"""

import json
import pathlib
import sys

import numpy as np
import onnxruntime as ort

directory = pathlib.Path(sys.argv[1])
manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
columns = manifest["columns"]
points = {
    "raw": np.fromfile(directory / "raw.f32", np.float32).reshape(-1, columns),
    "shares": np.fromfile(directory / "shares.i32", np.int32).reshape(-1, columns) / manifest["total"],
}
options = ort.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
options.log_severity_level = 4
for model in manifest["models"]:
    if not model.get("onnx"):
        continue
    session = ort.InferenceSession(str(directory / model["file"]), options, providers=["CPUExecutionProvider"])
    x = points[model["inputs"]].astype(np.float64 if model.get("double") else np.float32)
    parts = [np.asarray(session.run([model["output"]], {"X": x[k : k + 1000]})[0], np.float32).reshape(-1, model["width"])
             for k in range(0, len(x), 1000)]
    np.concatenate(parts).tofile(directory / f"{model['name']}.out")
