"""Models that are lowered for an execution provider, and what they give."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import onnxruntime
from parsed_models import quiet
from small_models import parsed

import padops
from padops.spec import reference
from padops.spec.dialects import onnx_op

# What each of the three providers that are measured runs on its device.
MOVING = {"Slice", "Concat", "Expand", "Tile", "Where", "Less", "ReduceSum", "Reshape"}


def lowered(model: onnx.ModelProto | bytes, provider: str, **options) -> tuple[onnx.ModelProto, padops.Conversion]:
    conversion = padops.lower(model, provider=provider, fold=False, **options)
    return conversion.proto(), conversion


def written(model: onnx.ModelProto) -> Counter[str]:
    """The nodes between the two Relus."""
    return Counter(node.op_type for node in model.graph.node if node.op_type != "Relu")


def session(model: onnx.ModelProto, cls=onnxruntime.InferenceSession) -> onnxruntime.InferenceSession:
    return cls(model.SerializeToString(), quiet(), providers=["CPUExecutionProvider"])


def padded(mode: str, x: np.ndarray, pads: list[int]) -> np.ndarray:
    """What a Pad gives; symmetric as OpenVINO's operator has it.

    Raises:
        PadError: It is none.
    """
    if mode != "symmetric":
        return reference.run(onnx_op(24), {"mode": mode}, [x, np.array(pads)])
    half = len(pads) // 2
    return np.pad(x, list(zip(pads[:half], pads[half:])), mode="symmetric")


def text_model(body: str, inputs: str, opset: int, constants: str = "", *outputs: str) -> onnx.ModelProto:
    """A model whose outputs, ``y`` or those that are named, have the type of its first input and any shape."""
    kind = inputs.replace("[", " ").split()[0]
    shown = ", ".join(f"{kind}[] {y}" for y in outputs or ["y"])
    return parsed(f"({inputs}) => ({shown}) <{constants}> {{ {body} }}", opset, 10)


def model_of(mode: str, dims: str, rows: list[list[int]], opset: int = 24) -> onnx.ModelProto:
    """A model of one Pad for each list of amounts, side by side."""
    axes, name = len(rows[0]), "Pad"
    kind, node_mode = f"int64[{axes}]", mode
    if mode == "symmetric":  # TensorFlow's, whose amounts are pairs
        rows = [[number for pair in zip(row[: axes // 2], row[axes // 2 :]) for number in pair] for row in rows]
        kind, name, node_mode = f"int32[{axes // 2},2]", "tf.MirrorPad", "SYMMETRIC"
    constants = ", ".join(f"{kind} p{i} = {{{', '.join(map(str, row))}}}" for i, row in enumerate(rows))
    outputs = ["y"] if len(rows) == 1 else [f"y{i}" for i in range(len(rows))]
    nodes = " ".join(f'{y} = {name} <mode = "{node_mode}"> (x, p{i})' for i, y in enumerate(outputs))
    return text_model(nodes, f"float[{dims}] x", opset, constants, *outputs)
