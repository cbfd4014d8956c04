"""padops as a Python kernel of onnxruntime-extensions."""

from __future__ import annotations

from functools import cache

import numpy as np
import onnxruntime
import onnxruntime_extensions  # noqa: F401, without it the peer is absent

from padops.conformance.model import tensor
from padops.conformance.peers.request import Refused, Request, Unsupported
from padops.conformance.peers.sessions import REFUSALS, require_type, run_model, session_options
from padops.runtime import pyop
from padops.spec import pyop_node
from padops.spec.bits import dtype_of

PACKAGES = ("onnxruntime-extensions", "onnxruntime")

__all__ = ["PACKAGES", "REFUSALS", "run_case"]


@cache
def _options() -> onnxruntime.SessionOptions:
    options = session_options()
    pyop.register(options)
    return options


def run_case(request: Request) -> np.ndarray:
    """The node that ``padops convert --target pyop`` writes; its errors are asked for afterwards.

    Raises:
        Unsupported: onnxruntime-extensions has no such tensors, or ends the strings at a NUL.
        Skipped: The fill of strings has not one element.
        Refused: A rule is broken.
    """
    from onnx import helper

    require_type(request.dtype.name)
    if reason := pyop_node.refusal(request.dtype.name):
        raise Unsupported(reason)
    if request.dtype.name == "string":
        texts = [*request.data.reshape(-1).tolist(), *(request.fill.reshape(-1).tolist())]
        if any("\0" in text for text in texts):
            raise Unsupported("strings with NUL end there")
    given = [array is not None for array in request.inputs]
    names = [f"input_{i}" for i, there in enumerate(given) if there]
    fields = pyop_node.encode(request.op, request.attributes, given, "pad")
    node = helper.make_node(
        pyop_node.OP_TYPE,
        [*names, *["empty"] * (pyop_node.SLOTS - len(names))],
        ["output"],
        domain=pyop_node.DOMAIN,
        **fields,
    )
    feeds = {f"input_{i}": array for i, array in enumerate(request.inputs) if array is not None}
    infos = [helper.make_tensor_value_info(name, dtype_of(array).onnx, None) for name, array in feeds.items()]
    output = helper.make_tensor_value_info("output", request.dtype.onnx, None)
    graph = helper.make_graph([node], "case", infos, [output], [tensor("empty", np.zeros(0, np.int64))])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid(pyop_node.DOMAIN, pyop_node.VERSION)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()
    pyop.pyop_errors(clear=True)
    result = run_model(model, feeds, _options())
    errors = pyop.pyop_errors(clear=True)
    if errors:
        raise Refused(errors[0].message)
    return result
