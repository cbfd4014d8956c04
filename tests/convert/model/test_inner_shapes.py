"""What a model declares of inner shapes decides nothing: somebody may have changed the inputs alone."""

from __future__ import annotations

from typing import Any

import native
import numpy as np
import onnx
import pytest
from onnx import helper, parser
from small_models import FLOAT, convert, info, tensor

X = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
OLD, OLD_PADDED = "float[1, 1, 4, 4]", "float[1, 1, 4, 7]"
PADS = "int64[8] pads = {0, 0, -1, 0, 0, 0, 1, 3}"
PAD = 'q = Pad <mode = "reflect"> (r, pads)'
STRAIGHT = f"n = Neg (x) r = Relu (n) {PAD} y = Abs (q)"
IN_A_BRANCH = f"b () => ({OLD_PADDED} q) <{PADS}, {OLD} r> {{ r = Relu (x) {PAD} }}"
# Values of the size that the declared one has, whose memory is free by then.
REUSED = f"a = Sin (z) b = Exp (a) c = Cos (b) s = ReduceSum <keepdims = 0> (c) r = Add (x, s) {PAD} "
REUSED += "d = Sin (q) e = Exp (d) f = Cos (e) y = Neg (f)"
# Nodes by name, each with declarations of inner values, inputs beside x, and outputs beside y.
CASES: dict[str, tuple[str, ...]] = {
    "data": (STRAIGHT, f"{OLD} r"),
    "before": (STRAIGHT, f"{OLD} n"),
    "rank": (STRAIGHT, "float[4, 4] r"),
    "behind": (STRAIGHT, f"{OLD} r, {OLD_PADDED} q"),
    "reused": (REUSED, f"{OLD_PADDED} q", f", {OLD_PADDED} z"),
    "behind an operator that onnx does not know": (f"r = com.microsoft.Gelu (x) {PAD} y = Abs (q)", f"{OLD} r"),
    "an output that the Pad reads": (f"r = Relu (x) {PAD} y = Abs (q)", "", "", f", {OLD} r"),
    "branch": (f"v = If (c) <then_branch = {IN_A_BRANCH}, else_branch = {IN_A_BRANCH}> "
               'y = Pad <mode = "edge"> (v, pads)', "", ", bool c"),
    "loop": (f"y = Loop (count, , x) <body = b (int64 i, bool go, {OLD} r) => (bool on, {OLD_PADDED} q) "
             f"{{ on = Identity (go) {PAD} }}>", "int64 count = {2}"),
    "scan": ("y = Scan <num_scan_inputs = 1, body = b (float[1, 4, 4] r) => (float[1, 4, 7] q) "
             f"<int64[6] pads = {{0, -1, 0, 0, 1, 3}}> {{ {PAD} }}> (x)", ""),
    "function": ("v = d.F (x, pads) y = Abs (v)", f"{OLD_PADDED} v"),
}  # fmt: skip
FEEDS = {"x": X, "z": X[..., :4, :7], "c": np.array(True)}
ROADS: dict[str, dict[str, Any]] = {
    "padops": {"fallback": True},
    "onnx": {"target": "onnx"},
    "without_pad": {"target": "onnx", "without_pad": True},
    "webgpu": {"target": "onnx", "provider": "webgpu"},
}


def built(nodes: str, declared: str = "", inputs: str = "", outputs: str = "", x: str = "1, 1, h, w") -> Any:
    source = parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 18, "d": 1, "com.microsoft": 1]> g (float[{x}] x{inputs}) => (float[] y'
        f'{outputs}) <{", ".join(filter(None, (PADS, declared)))}> {{ {nodes} }} <domain: "d", opset_import: '
        f'["": 18]> F (x, pads) => (q) {{ r = Relu (x) {PAD} }}'
    )  # fmt: skip
    shapes = (("r", FLOAT, [1, 1, 4, 4]), ("q", FLOAT, [1, 1, 4, 7]))
    source.functions[0].value_info.extend(map(info, shapes))  # in IR version 10, functions declare values, too
    return source


def silent(source: onnx.ModelProto) -> onnx.ModelProto:
    """The model without what it declares of inner values."""
    copy = onnx.ModelProto.FromString(source.SerializeToString())
    bodies = [copy.graph, *(row.g for one in copy.graph.node for row in one.attribute if row.HasField("g"))]
    for body in bodies:
        del body.value_info[:]
        for value in (*body.output, *(body.input if body is not copy.graph else ())):
            for dim in value.type.tensor_type.shape.dim:
                dim.Clear()
    return copy


@pytest.mark.parametrize(
    ("case", "road"), [(case, road) for case in CASES for road in ROADS if case == "data" or road in ("padops", "onnx")]
)
def test_a_shape_of_other_inputs_changes_no_result(case: str, road: str) -> None:
    source = built(*CASES[case])
    feeds = {value.name: FEEDS[value.name] for value in source.graph.input}
    stock = native.onnxruntime.SessionOptions()
    stock.log_severity_level = 4
    expected = native.session(silent(source), stock).run(None, feeds)
    made = convert(source, **ROADS[road]).proto()
    for options in (native.session_options(), stock):
        for one, other in zip(native.session(made, options).run(None, feeds), expected, strict=True):
            assert one.shape == other.shape and one.tobytes() == other.tobytes()


def test_what_is_confirmed_stays() -> None:
    """And what nothing reads of the graph's outputs: callers may rely on it. A model that stays as it is keeps all."""
    declared = "float[1, 1, 8, w] n, float[1, 1, 8, 4] r, float[1, 1, 4, 7] q"
    source = built(STRAIGHT, declared, x="1, 1, 8, w")
    source.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", FLOAT, [1, 1, 4, 7]))
    made = convert(source).proto().graph
    shapes = {row.name: [dim.dim_value or dim.dim_param or None for dim in row.type.tensor_type.shape.dim]
              for row in (*made.value_info, *made.output)}  # fmt: skip
    assert shapes == {"n": [1, 1, 8, "w"], "r": [1, 1, 8, None], "q": [1, 1, 8, None], "y": [1, 1, 4, 7]}
    source.graph.node[2].attribute[0].s = b"edge"
    source.graph.initializer[0].CopyFrom(tensor("pads", [0, 0, 1, 0, 0, 0, 1, 3]))
    assert convert(source, select="needed").proto() == source


def test_a_declared_shape_of_another_rank_is_replaced() -> None:
    made = convert(built(STRAIGHT, "float[64] r", x="1, 1, 8, 8")).proto()
    (declared,) = (row for row in made.graph.value_info if row.name == "r")
    assert [dim.dim_value for dim in declared.type.tensor_type.shape.dim] == [1, 1, 8, 8]
