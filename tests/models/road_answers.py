"""What a random model of ``road_models.py`` must give: its nodes by the reference of onnx, its Pads by the rules.

Each Pad is computed twice, by the reference and by the walk of ``padops.conformance.peers.independent``, which must
agree. Nothing here looks at how a model is converted, nor at onnxruntime.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import native
import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from padops.conformance.peers import independent
from padops.conformance.peers.request import Request
from padops.spec import reference
from padops.spec.dtypes import by_onnx, from_bytes
from padops.spec.plan import PadError

Values = dict[str, np.ndarray]


class Broken(Exception):
    """A Pad breaks a rule; the message is that of the reference, with the rule at its end."""


class Engine(ReferenceEvaluator):
    """Of a model, a graph or a function; raises Broken where a Pad that runs breaks a rule."""

    def __init__(self, proto: Any, **more: Any) -> None:
        super().__init__(proto, **more | {"new_ops": [Pad, Constant]})
        self.rt_inits_ = {row.name: array_of(row) for row in self.inits_}


class Constant(OpRun):
    op_domain = ""

    def _run(self, **attributes: Any) -> tuple[np.ndarray]:
        return (array_of(self.onnx_node.attribute[0].t),)


class Pad(OpRun):
    op_domain = ""

    def _run(self, *inputs: np.ndarray | None, mode: str, **attributes: Any) -> tuple[np.ndarray]:
        """Compute a Pad of the model's opset by the newest rules: ``wrap`` has never changed since it was added."""
        op, given, opset = "Pad_25", {"mode": mode}, self.run_params["opsets"][""]
        if opset < 11 and mode != "wrap":
            op, given = "Pad_1" if opset == 1 else "Pad_2", attributes | given
        elif opset < 11:  # of which the old versions do not know
            inputs = inputs[0], np.array(attributes["pads"], np.int64)
        walk = partial(independent.run_case, Request("", op, opset, given, inputs))
        try:
            found = reference.run(op, given, inputs, self.onnx_node.name)
        except PadError as error:
            try:
                walk()
            except independent.Refused:
                raise Broken(str(error)) from error
            raise AssertionError(f"the walk gives something, where the reference says: {error}") from error
        assert native.bits(walk()) == native.bits(found), "the two implementations of the rules differ"
        return (found,)


def array_of(tensor: onnx.TensorProto) -> np.ndarray:
    """What onnx itself would cut at a NUL, or give another type."""
    dtype = by_onnx(tensor.data_type)
    if dtype.name == "string":
        array = np.empty(len(tensor.string_data), object)
        array[:] = [text.decode() for text in tensor.string_data]
        return array.reshape(tuple(tensor.dims))
    if tensor.raw_data or not np.prod(tensor.dims):
        return from_bytes(tensor.raw_data, dtype, tuple(tensor.dims))
    return onnx.numpy_helper.to_array(tensor)
