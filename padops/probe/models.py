"""Models of one Pad that probe execution providers, with their inputs and expected outputs.

Each is Relu, Pad, Relu, since some providers claim no single node. All data are whole numbers below 2,048, so that a
provider that computes float in float16 rounds nothing: a different bit means a wrong Pad.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

FIRST_WITH_INPUTS = 11  # the first opset whose Pad has its amounts as an input


@dataclass(frozen=True)
class Case:
    """One model."""

    name: str  # its name in rows
    mode: str  # of the Pad
    shape: tuple[int, ...]  # of the data
    pads: tuple[int, ...]  # the amounts, as ONNX has them
    opset: int = 18  # of the model
    type: str = "float"  # of the data, as ONNX's text form has it
    axes: tuple[int, ...] | None = None  # the axes, if the Pad has that input
    # The parts that are not constant: ``"pads"``, ``"axes"`` and ``"fill"`` as inputs of the model, open ``"dims"``, an
    # open ``"rank"``.
    given: tuple[str, ...] = ()
    behind: str = ""  # an operator between the Pad and the second Relu; a Conv changes nothing
    before: str = ""  # the same between the first Relu and the Pad
    # The elements of the fill, if the Pad has that input; modes other than constant ignore it.
    fill: tuple[float, ...] | None = None
    scalar: bool = False  # whether the fill has rank 0
    value: float | None = None  # the fill of a Pad that has it as an attribute
    wide: bool = False  # whether integer data use all bits of their type
    doubled: bool = False  # whether Concats replace the Relus: Concats accept all types, and keep every bit
    in_body: bool = False  # whether the Pad is in a branch of an If


def model_of(case: Case, with_pad: bool = True) -> bytes:
    """Serializes the model of a case; ``with_pad=False`` replaces the Pad with an Identity."""
    from onnx import helper, parser

    dims = ", ".join(f"d{i}" for i in range(len(case.shape))) if "dims" in case.given else str(list(case.shape))[1:-1]
    out = ", ".join(f"o{i}" for i in range(len(case.shape)))
    of_output = f"{case.type}{f'[{out}]' if out else ''}"
    unranked = "rank" in case.given
    inputs = [f"{case.type}[] x" if unranked else f"{case.type}[{dims}] x" if case.shape else f"{case.type} x"]
    constants: list[str] = []
    if with_pad:
        for name, kind, values in _inputs_of(case):
            if name in case.given:
                inputs.append(f"{kind} {name}")
            else:
                constants.append(f"{kind} {name} = {{{', '.join(map(str, values))}}}")
    if case.in_body:
        inputs.append("bool c")
    if case.behind or case.before:
        constants.append(f"float[{case.shape[1]},1,1,1] w = {{{', '.join(['1'] * case.shape[1])}}}")
    declared = f" <{', '.join(constants)}>" if constants else ""
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : {case.opset}]> g ({", ".join(inputs)}) => ({of_output} y)'
        f"{declared} {{ {_nodes_of(case, _pad_of(case) if with_pad else 'Identity (a)', of_output)} }}"
    )
    if with_pad and case.value is not None:
        (pad,) = (node for node in model.graph.node if node.op_type == "Pad")
        pad.attribute.append(helper.make_attribute("value", case.value))
    content: bytes = model.SerializeToString()
    return content


def _inputs_of(case: Case) -> Iterator[tuple[str, str, tuple[float, ...]]]:
    """Yields the inputs of the Pad except its data: the name, the type with the dims, and the values of each."""
    if case.opset < FIRST_WITH_INPUTS:
        return
    yield "pads", f"int64[{len(case.pads)}]", case.pads
    if case.fill is not None:
        halves = case.type == "float16"  # onnx's text form has the bits of float16
        fill = tuple(np.array(case.fill, np.float16).view(np.uint16).tolist()) if halves else case.fill
        yield "fill", case.type if case.scalar else f"{case.type}[{len(case.fill)}]", fill
    if case.axes is not None:
        yield "axes", f"int64[{len(case.axes)}]", case.axes


def _pad_of(case: Case) -> str:
    if case.opset < FIRST_WITH_INPUTS:
        return f'Pad <mode = "{case.mode}", pads = [{", ".join(map(str, case.pads))}]> (a)'
    names = ["a", "pads", "fill" if case.fill is not None else "", "axes" if case.axes is not None else ""]
    return f'Pad <mode = "{case.mode}"> ({", ".join(names).rstrip(", ")})'


def _nodes_of(case: Case, pad: str, of_output: str) -> str:
    first, last = ("Concat <axis = 0> (x, x)", "Concat <axis = 0> ({0}, {0})") if case.doubled else (
        "Relu (x)", "Relu ({0})"
    )  # fmt: skip
    before = f"r = {first} a = Conv <group = {case.shape[1]}> (r, w)" if case.before else f"a = {first}"
    behind = f"e = Conv <group = {case.shape[1]}> (b, w) y = {last.format('e')}" if case.behind else (
        f"y = {last.format('b')}"
    )  # fmt: skip
    body = f"[pad] b = {pad}"
    if case.in_body:
        then = f"then_branch = t () => ({of_output} u) {{ [pad] u = {pad} }}"
        body = f"b = If (c) <{then}, else_branch = s () => ({of_output} v) {{ v = Identity (a) }}>"
    return f"{before} {body} {behind}"


def feeds_of(case: Case) -> dict[str, np.ndarray]:
    """Returns the inputs of a case, which count up from 1, unlike any fill; ``wide``: down from the largest integer."""
    dtype = _dtype_of(case)
    fed = {"x": np.arange(1, np.prod(case.shape) + 1).astype(dtype).reshape(case.shape)}
    if case.wide and dtype.kind in "iu":
        fed["x"] = np.iinfo(dtype).max - fed["x"]
    fed |= {name: np.array(getattr(case, name), np.int64) for name in case.given if name in ("pads", "axes")}
    if "fill" in case.given and (fill := _fill_of(case)) is not None:
        fed["fill"] = fill
    return fed | ({"c": np.array(True)} if case.in_body else {})


def _dtype_of(case: Case) -> np.dtype[Any]:
    return np.dtype({"float": "float32", "double": "float64"}.get(case.type, case.type))


def _fill_of(case: Case) -> np.ndarray | None:
    if case.fill is None:
        return None
    fill = np.array(case.fill, _dtype_of(case))
    return fill.reshape(()) if case.scalar else fill


def expected_of(case: Case, with_pad: bool = True) -> np.ndarray:
    """Returns the output of a case by the standard; ``with_pad=False``: as for ``model_of``."""
    from padops.spec import reference
    from padops.spec.dialects import onnx_op

    data = feeds_of(case)["x"]
    data = np.concatenate([data, data]) if case.doubled else data
    given: list[np.ndarray | None] = [data]
    attributes: dict[str, Any] = {"mode": case.mode}
    if case.opset < FIRST_WITH_INPUTS:
        attributes |= {"pads": list(case.pads)} | ({} if case.value is None else {"value": case.value})
    else:
        given += [np.array(case.pads, np.int64), _fill_of(case)]
        given += [] if case.axes is None else [np.array(case.axes)]
    made = reference.run(onnx_op(case.opset), attributes, given) if with_pad else data
    return np.concatenate([made, made]) if case.doubled else made
