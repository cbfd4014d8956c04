"""Models of as many Pads as a test asks for, in a row or side by side, and the options that they are converted with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import onnx

OPTIONS: Mapping[str, Mapping[str, Any]] = {"default": {}, "no-fold": {"fold": False},
                                            "no-fallback": {"fallback": False}, "onnx": {"target": "onnx"},
                                            "pyop": {"target": "pyop"}, "needed": {"select": "needed"},
                                            "explicit": {"auto_pad": "explicit"}}  # fmt: skip
OWN, PADS = "of.test", "int64[4] pads = {0, 1, 0, 1}"
REFLECT = '{y} = Pad <mode = "reflect"> ({x}, pads)'  # such Pads stay
BETWEEN = REFLECT.format(x="w{i}", y="p{i}")
ROW = '<domain: "of.test", opset_import: ["": 17]> Row (x, pads) => (y)'
MODE = '<domain: "of.test", opset_import: ["": 17]> Pad{i} <mode> (x, pads) => (y) '
MODE += "{{ y = Pad <mode: string = @mode> (x, pads) }}"
RELU = "p{i} = Pad ({x}, pads) y{i} = If (condition) <then_branch = t () => (float[] t{i}) {{ t{i} = Relu (p{i}) }}, "
RELU += "else_branch = e () => (float[] e{i}) {{ e{i} = Relu (p{i}) }}>"


def _row(count: int, link: str, end: str = "y") -> str:
    """``count`` links in a row: each reads as ``{x}`` what the one before gives as ``{y}``."""
    names = ["x", *(f"{end}_{i}" for i in range(count - 1)), end]
    return "\n".join(link.format(i=i, x=names[i], y=names[i + 1]) for i in range(count))


def _model(
    nodes: str, pads: str = PADS, data: str = "float[2, 5]", inputs: str = "", functions: str = "", domain: str = OWN
) -> onnx.ModelProto:
    kind, _, dims = data.partition("[")
    padded = ", ".join("nchw"[: dims.count(",") + 1])
    return onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["": 17, "{domain}": 1]>
        g ({data} x{inputs}) => ({kind}[{padded}] y) <{pads}> {{ {nodes} }} {functions}
    """)


def _summed(count: int, link: str, inputs: str = "", pads: str = PADS) -> onnx.ModelProto:
    links = "\n".join(link.format(i=i, x="x", y=f"y{i}") for i in range(count))
    return _model(f"{links} y = Sum ({', '.join(f'y{i}' for i in range(count))})", pads, inputs=inputs)


def reflecting(count: int) -> onnx.ModelProto:
    return _model(_row(count, REFLECT))


def _in_branches(count: int) -> onnx.ModelProto:
    """Half of the Pads in a row in each branch of an If."""
    then, other = (f"{one} () => (float[] {one}) {{ {_row(count // 2, REFLECT, one)} }}" for one in ("then", "else"))
    return _model(f"y = If (condition) <then_branch = {then}, else_branch = {other}>", inputs=", bool condition")


MODELS: Mapping[str, Callable[[int], onnx.ModelProto]] = {
    "in_a_row": lambda count: _model(_row(count, "{y} = Pad ({x}, pads)")),
    "reflecting": reflecting,
    "with_amounts_of_their_own": lambda count: _model(
        _row(count, "{y} = Pad ({x}, pads_{i})"), ", ".join(PADS.replace("pads", f"pads_{i}") for i in range(count))),
    "with_relu": lambda count: _model(_row(count, "p{i} = Pad ({x}, pads) {y} = Relu (p{i})")),  # nothing folds
    "with_conv": lambda count: _model(  # every Pad folds
        _row(count, "p{i} = Pad ({x}, pads) {y} = Conv (p{i}, kernel)"),
        "int64[8] pads = {0, 0, 1, 1, 0, 0, 1, 1}, float[1, 1, 3, 3] kernel = {1, 1, 1, 1, 1, 1, 1, 1, 1}",
        "float[1, 1, 8, 8]"),
    "between_casts": lambda count: _model(  # as older exporters wrote float16
        _row(count, f"w{{i}} = Cast <to = 1> ({{x}}) {BETWEEN} {{y}} = Cast <to = 10> (p{{i}})"), data="float16[2, 5]"),
    "side_by_side": lambda count: _summed(count, REFLECT),
    "in_branches": _in_branches,
    "read_inside": lambda count: _summed(count, RELU, ", bool condition", "int64[4] pads = {0, 0, 0, 0}"),
    "in_a_function": lambda count: _model("y = of.test.Row (x, pads)", functions=f"{ROW} {{ {_row(count, REFLECT)} }}"),
    "in_functions": lambda count: _model(  # whose caller says in which mode
        _row(count, '{y} = of.test.Pad{i} <mode = "reflect"> ({x}, pads)'),
        functions="\n".join(MODE.format(i=i) for i in range(count))),
    "with_computed_amounts": lambda count: _model(
        _row(count, "a{i} = Concat <axis = 0> (zero, one) b{i} = Concat <axis = 0> (a{i}, a{i}) "
                    '{y} = Pad <mode = "reflect"> ({x}, b{i})'),
        "int64[1] zero = {0}, int64[1] one = {1}"),
    "with_amounts_at_run_time": lambda count: _model(_row(count, REFLECT), "", inputs=", int64[4] pads"),
    "of_padops": lambda count: _model(_row(count, '{y} = padops.Pad_13 <mode = "reflect"> ({x}, pads)'),
                                      domain="padops"),
}  # fmt: skip
