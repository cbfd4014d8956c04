"""A drawn case as a model of padops, and what becomes of it without the library: fallback, lowered, Python kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import case_strategies
import native
import numpy as np
import onnx
import onnxruntime
from hypothesis import strategies as st
from onnx import helper

import padops
from padops import pyop, reference
from padops.dialects import DOMAIN, OPS
from padops.dtypes import by_numpy
from padops.plan import PadError

FAMILIES = {
    "onnx": case_strategies.onnx_cases(),
    "openvino": case_strategies.openvino_cases(),
    "ngraph": case_strategies.ngraph_cases(),
    "same": case_strategies.same_cases(),
}
PREFIX = {"onnx": "Pad_", "openvino": "OpenVINOPad_", "ngraph": "NGraphPad_", "same": "SamePad_"}

# Every opset at which an operator that the bodies use, or a type, changes; half of the draws take the newest that the
# runtime has.
NEWEST = max(opset for opset, since in ((21, 20), (22, 21), (23, 22), (24, 23), (25, 24)) if since <= native.RUNTIME[1])
OPSETS = [opset for opset in (11, 12, 13, 14, 18, 19, 21, 24, 25) if opset <= NEWEST]

# The first opset at which standard operators move every bit of a type; 1 for all that are not named.
MOVED_FROM = {
    "bfloat16": 13, "float8e4m3fn": 19, "float8e4m3fnuz": 19, "float8e5m2fnuz": 19, "uint4": 21, "int4": 21,
    "float8e8m0": 24, "uint2": 25, "int2": 25,
}  # fmt: skip
NEVER_MOVED = ("float8e5m2", "float4e2m1")

RULE = re.compile(r" \[([PS]\d+)\]$")


def opsets() -> st.SearchStrategy[int]:
    return st.one_of(st.just(NEWEST), st.sampled_from(OPSETS))


def declarations() -> st.SearchStrategy[tuple[str, str]]:
    """What a model says: of the shapes of its inputs, and which of them are constants."""
    return st.tuples(st.sampled_from(["full", "ranks", "none"]), st.sampled_from(["nothing", "amounts", "all"]))


def is_moved(type_name: str, opset: int) -> bool:
    """Whether there is a fallback, and a lowered form, for an element type."""
    return type_name not in NEVER_MOVED and MOVED_FROM.get(type_name, 1) <= opset


def make(
    cases: Sequence[case_strategies.Case], opset: int = NEWEST, shapes: str = "none", held: str = "nothing"
) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """A model of a node of padops for each case, and what to run it with."""
    nodes, infos, outputs, constants, feeds = [], [], [], [], {}
    for number, case in enumerate(cases):
        names = ["" if array is None else f"i{number}_{i}" for i, array in enumerate(case.inputs)]
        node = helper.make_node(case.op, names, [f"o{number}"], name=f"n{number}", domain=DOMAIN)
        node.attribute.extend(_attribute(case.op, name, value) for name, value in case.attributes.items())
        nodes.append(node)
        for i, (name, array) in enumerate(zip(names, case.inputs, strict=True)):
            if array is None:
                continue
            if held == "all" and i or held == "amounts" and OPS[case.op].inputs[i].kind != "T":
                constants.append(native.tensor(name, array))
                continue
            feeds[name] = array
            said = {"full": array.shape, "ranks": [None] * array.ndim, "none": None}[shapes]
            infos.append(helper.make_tensor_value_info(name, by_numpy(array.dtype).onnx, said))
        outputs.append(helper.make_tensor_value_info(f"o{number}", by_numpy(case.inputs[0].dtype).onnx, None))
    graph = helper.make_graph(nodes, "cases", infos, outputs, constants)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9 if opset <= 21 else 11), feeds


def _attribute(op: str, name: str, value: Any) -> onnx.AttributeProto:
    row = next((row for row in OPS[op].attributes if row.name == name), None)
    is_list = row is not None and row.type == "ints"
    return helper.make_attribute(name, value, attr_type=onnx.AttributeProto.INTS if is_list else None)


def expected_of(case: case_strategies.Case, node: str = "n0") -> tuple | PadError:
    """The bits that the reference gives, or its error."""
    try:
        return native.bits(reference.run(case.op, case.attributes, case.inputs, node))
    except PadError as error:
        return error


@cache
def stock_options() -> onnxruntime.SessionOptions:
    """A session without any library."""
    return _options()


@cache
def library_options() -> onnxruntime.SessionOptions:
    """A session with the native library."""
    made = _options()
    padops.register(made)
    return made


@cache
def python_options() -> onnxruntime.SessionOptions:
    """A session with the Python kernels."""
    made = _options()
    padops.register(made, backend="pyop")
    return made


def _options() -> onnxruntime.SessionOptions:
    made = onnxruntime.SessionOptions()
    made.log_severity_level = 4
    made.intra_op_num_threads = 1
    return made


def run(model: onnx.ModelProto, feeds: dict[str, np.ndarray], options: onnxruntime.SessionOptions) -> tuple | Exception:
    """The bits of the first output, or what kept a session from giving it."""
    try:
        return native.bits(native.run_session(native.session(model, options), feeds))
    except Exception as error:  # noqa: BLE001, onnxruntime's exceptions have no common base but this one
        return error


def run_all(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> list[tuple]:
    """The bits of every output of a session without any library."""
    built = native.session(model, stock_options())
    if all(array.dtype.isbuiltin == 1 for array in feeds.values()):
        return [native.bits(array) for array in built.run(None, feeds)]
    values = built.run_with_ort_values(None, {name: native.to_value(array) for name, array in feeds.items()})
    return [native.bits(native.from_value(value)) for value in values]


def run_python(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> tuple | str:
    """The bits of the first output of Python kernels, or the message of the call that failed."""
    with pyop.collected() as failed:
        output = run(model, feeds, python_options())
    if isinstance(output, Exception):
        raise output
    return failed[0].message if failed else output


def nothing_of_padops(model: onnx.ModelProto) -> bool:
    """Whether a model has no operator, function or import of padops left."""
    text = str(onnx.ModelProto(graph=onnx.GraphProto(node=model.graph.node), functions=model.functions))
    functions = [function for function in model.functions if function.domain == DOMAIN]
    return (
        not functions
        and 'domain: "padops' not in text
        and not any(row.domain.startswith("padops") for row in model.opset_import)
    )
