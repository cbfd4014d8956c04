"""Sessions of one Python kernel of onnxruntime-extensions."""

from __future__ import annotations

from functools import cache, lru_cache

import native
import onnxruntime
from onnx import helper
from parsed_models import quiet
from small_models import model, tensor

import padops
from padops.spec import pyop_node


@cache
def options() -> onnxruntime.SessionOptions:
    """For all sessions of this file; each of them only runs one small Pad at a time."""
    made = quiet(threads=1)
    padops.register(made, backend="pyop")
    return made


@lru_cache(maxsize=1024)
def session(fields: tuple[tuple[str, str], ...], types: tuple[int, ...]) -> onnxruntime.InferenceSession:
    names = [f"i{i}" for i in range(len(types))]
    slots = names + ["empty"] * (pyop_node.SLOTS - len(names))
    node = helper.make_node(pyop_node.OP_TYPE, slots, ["output"], domain=pyop_node.DOMAIN, **dict(fields))
    inputs = [(name, dtype, None) for name, dtype in zip(names, types)]
    parts = {"inputs": inputs, "outputs": [("output", types[0], None)], "tensors": [tensor("empty", [])]}
    imports = [(pyop_node.DOMAIN, pyop_node.VERSION)]
    return native.session(model([node], 18, ir_version=9, imports=imports, **parts), options())
