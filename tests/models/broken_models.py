"""Models that are none, each with the part and the numbers that its refusal names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnx
from onnx import TensorProto, helper, parser
from small_models import FLOAT, INT64, one_pad

ATTRIBUTE = "node 'p' (graph.node[0], Pad): the attribute 'mode'"
Change = Callable[[onnx.ModelProto], Any]


def text(message: str, functions: str = "") -> onnx.ModelProto:
    imports = '<ir_version: 8, opset_import: ["": 17, "local": 1]>'
    return parser.parse_model(
        f"{imports} g (float[2] x, bool c, int64[2] p) => (float[N] y) {{ {message} }} {functions}"
    )


def local(name: str, inputs: str, outputs: str, body: str) -> str:
    return f'<domain: "local", opset_import: ["": 17, "local": 1]> {name} ({inputs}) => ({outputs}) {{ {body} }}\n'


def of_tensor(dims: list[int], type: int = INT64, **parts: Any) -> onnx.ModelProto:
    """A model of one Pad, whose amounts are a tensor of these parts."""
    made = one_pad()
    made.graph.initializer[0].CopyFrom(TensorProto(name="pads", data_type=type, dims=dims, **parts))
    return made


def changed(change: Change, made: onnx.ModelProto | None = None) -> onnx.ModelProto:
    made = one_pad() if made is None else made
    change(made)
    return made


def with_attribute(**parts: Any) -> onnx.ModelProto:
    return changed(lambda made: made.graph.node[0].attribute.add(**{"name": "mode", **parts}))


PADS = "initializer 'pads' (graph.initializer[0]): "
TENSORS = [
    (of_tensor([3], int64_data=[1, 0, 2, 0]), "4 values in int64_data, int64 of dims [3] needs 3"),
    (of_tensor([4], raw_data=b"\0" * 7), "7 bytes in raw_data, int64 of dims [4] needs 32"),
    (of_tensor([4], raw_data=b""), "0 bytes in raw_data, int64 of dims [4] needs 32"),
    (of_tensor([4], FLOAT, int64_data=[1, 0, 2, 0]), "0 values in float_data, float of dims [4] needs 4"),
    (of_tensor([4], TensorProto.COMPLEX64, float_data=[1] * 4),
     "4 values in float_data, complex64 of dims [4] needs 8"),
    (of_tensor([5], TensorProto.INT4, int32_data=[1, 0]), "2 values in int32_data, int4 of dims [5] needs 3"),
    (of_tensor([2], TensorProto.STRING, raw_data=b"ab"), "0 values in string_data, string of dims [2] needs 2"),
    (of_tensor([4]), "0 values in int64_data, int64 of dims [4] needs 4"),
    (of_tensor([-4], int64_data=[1, 0, 2, 0]), "dims [-4] have the negative size -4"),
    (of_tensor([2**62, 4]), f"0 values in int64_data, int64 of dims [{2**62}, 4] needs {2**64}"),
    (of_tensor([1] * 20), f"0 values in int64_data, int64 of dims {[1] * 20} needs 1"),
    *((of_tensor([4], type), f"onnx {onnx.__version__} knows no element type {type}") for type in (0, 99)),
]  # fmt: skip

ATTRIBUTES = [
    (with_attribute(s=b"edge"), f"{ATTRIBUTE} has the type 0, which ONNX does not define"),
    (with_attribute(type=2, s=b"edge"), f"{ATTRIBUTE} is of type INT, but has a value in 's'"),
    (with_attribute(type=3, s=b"edge", i=1), f"{ATTRIBUTE} is of type STRING, but has a value in 'i'"),
    (with_attribute(type=3, ref_attr_name="m"),
     f"{ATTRIBUTE} refers to 'm' of a function, and stands in none"),
    (with_attribute(type=4), f"{ATTRIBUTE} is of type TENSOR, but has no value"),
    (with_attribute(type=5), f"{ATTRIBUTE} is of type GRAPH, but has no value"),
    (with_attribute(type=4, t=TensorProto(name="t", data_type=1, dims=[2], float_data=[1])),
     f"{ATTRIBUTE}, tensor 't': 1 value in float_data, float of dims [2] needs 2"),
    (with_attribute(name="", type=3), "node 'p' (graph.node[0], Pad): an attribute has no name"),
    (changed(lambda made: made.graph.node[0].attribute.extend([helper.make_attribute("mode", "edge")] * 2)),
     "node 'p' (graph.node[0], Pad): two attributes have the name 'mode'"),
]  # fmt: skip


LABEL = "node '' (graph.node[{}], {})".format
NAMES = [
    (text("a = Add (x, b) b = Pad (a, p) y = Neg (b)"),
     "graph has a cycle of 2 nodes, each of which reads what the next one makes: "
     f"{LABEL(0, 'Add')}, {LABEL(1, 'Pad')}"),
    (text("y = Add (x, y)"),
     f"graph has a cycle of 1 nodes, each of which reads what the next one makes: {LABEL(0, 'Add')}"),
    (text("a = Neg (b) b = Neg (d) d = Neg (e) e = Neg (f) f = Neg (g) g = Neg (h) h = Neg (a) y = Pad (x, p)"),
     "graph has a cycle of 7 nodes, each of which reads what the next one makes: "
     + ", ".join(LABEL(i, "Neg") for i in range(6)) + ", …"),
    (text("y = If (c) <then_branch = t () => (float[N] a) { a = Neg (y) }, else_branch = e () => (float[N] b) { b = "
          "Pad (x, p) }>"),
     f"graph has a cycle of 1 nodes, each of which reads what the next one makes: {LABEL(0, 'If')}"),
    (text("y = If (c) <then_branch = t () => (float[N] a) { a = Neg (d) d = Neg (x) }, "
          "else_branch = e () => (float[N] b)"
          " { b = Pad (x, p) }>"),
     "node '' (graph.node[0].then_branch.node[0], Neg) reads 'd' before node '' (graph.node[0].then_branch.node[1], "
     "Neg) makes it"),
    (text("y = local.f (x)", local("f", "x", "y", "y = Neg (a) a = Neg (x)")),
     "node '' (functions[0].node[0], Neg) reads 'a' before node '' (functions[0].node[1], Neg) makes it"),
    (text("y = Pad (x, nothing)"),
     f"{LABEL(0, 'Pad')} reads 'nothing', which is no input, no initializer and no output of a node"),
    (text("z = Pad (x, p)"),
     "the output of graph reads 'y', which is no input, no initializer and no output of a node"),
    (text("y = Neg (x) y = Pad (x, p)"), f"{LABEL(1, 'Pad')} makes 'y', and so does {LABEL(0, 'Neg')}"),
    (text("x = Neg (x) y = Pad (x, p)"), f"{LABEL(0, 'Neg')} makes 'x', which is an input or an initializer of graph"),
    (one_pad(inputs=[("x", FLOAT, [2, 3])] * 2), "graph has two inputs with the name 'x'"),
    (one_pad(inputs=[("x", FLOAT, [2, 3]), ("", FLOAT, [2, 3])]), "graph.input[1] has no name"),
    (changed(lambda made: made.graph.node[0].ClearField("op_type")),
     "node 'p' (graph.node[0], of no operator): it has no op_type"),
    (changed(lambda made: made.graph.node[0].attribute.extend([made.graph.node[0].attribute[0]]), text("y = If (c) "
     "<then_branch = t () => (float[N] a) { a = Neg (x) }, else_branch = e () => (float[N] b) { b = Abs (x) }>")),
     "node '' (graph.node[0], If): two attributes have the name 'then_branch'"),
]  # fmt: skip


def growing(count: int) -> onnx.ModelProto:
    """As many functions, each of which calls the one before twice."""
    bodies = ["y = Pad (x, p)", *(f"a = local.f{i} (x, p) y = local.f{i} (a, p)" for i in range(count - 1))]
    functions = "".join(local(f"f{i}", "x, p", "y", body) for i, body in enumerate(bodies))
    return text(f"y = local.f{count - 1} (x, p)", functions)


CALLS = [
    (text("y = local.f (x)", local("f", "x", "y", "y = local.f (x)")),
     "function 'local::f' calls function 'local::f': a function cannot call itself"),
    (text("y = Pad (x, p)", local("f", "x", "y", "y = local.g (x)") + local("g", "x", "y", "y = local.f (x)")),
     "function 'local::f' calls function 'local::g' calls function 'local::f': a function cannot call itself"),
    (text("y = Pad (x, p)", "".join(local(f"f{i}", "x", "y", f"y = local.f{(i + 1) % 8} (x)") for i in range(8))),
     "".join(f"function 'local::f{i}' calls " for i in range(6))
     + "… (of 8 functions) calls function 'local::f0': a function cannot call itself"),
    (text("y = local.f (x, p)", local("f", "x", "y", "y = Neg (x)")),
     "node '' (graph.node[0], f) has 2 inputs; function 'local::f' has at most 1"),
    (text("y, z = local.f (x)", local("f", "x", "y", "y = Neg (x)")),
     "node '' (graph.node[0], f) has 2 outputs; function 'local::f' has at most 1"),
    (growing(100),
     "the calls of functions in the model stand for more than 65536 nodes, most of them those of "
     "function 'local::f99'; padops takes up to 65536"),
]  # fmt: skip

COUNTS = [
    (text("a = Cast <to = 1> () y = Pad (a, p)"),
     f"{LABEL(0, 'Cast')} has 0 inputs; Cast of version 17 has at least 1"),
    (text("a = Neg (x, x) y = Pad (a, p)"), f"{LABEL(0, 'Neg')} has 2 inputs; Neg of version 17 has at most 1"),
    (text("a, b = Neg (x) y = Pad (a, p)"), f"{LABEL(0, 'Neg')} has 2 outputs; Neg of version 17 has at most 1"),
    (text("y = local.f (x, p)", local("f", "x, p", "y", "a = Conv (x) y = Pad (a, p)")),
     "node '' (functions[0].node[0], Conv) has 1 input; Conv of version 17 has at least 2"),
]  # fmt: skip

IMPORTS = [
    (changed(lambda made, version=version: setattr(made.opset_import[0], "version", version)),
     f"the model imports version {version} of the domain ''; versions are 1 to 2147483647") for version in (0, 2**31)
]  # fmt: skip

BROKEN = [
    *((made, PADS + said) for made, said in TENSORS),
    *ATTRIBUTES,
    *NAMES,
    *CALLS,
    *COUNTS,
    *IMPORTS,
]
