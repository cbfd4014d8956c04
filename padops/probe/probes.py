"""Models that test whether a provider fails at a condition of ``padops/rules/conditions.json``.

A model belongs to the one condition that separates it from plain Pads; ``outcome.py`` skips a model if a rule of
another condition already holds for it. So the order of the rows matters: the conditions of most Pads come first. The
conditions "beyond all" and "sizes above" have no models: "beyond" and "rank above" hold for the same models.

Each is Relu, Pad, Relu, since some providers claim no single node. All data are whole numbers below 2,048, so that a
provider that computes float in float16 rounds nothing: a different bit means a wrong Pad.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from padops.runtime.provider_rules import MODES

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
    from onnx import helper, numpy_helper, parser

    given, rank = _inputs_of(case) if with_pad else {}, len(case.shape)
    dims = ", ".join(f"d{i}" for i in range(rank)) if "dims" in case.given else str(list(case.shape))[1:-1]
    of_output = case.type + (f"[{', '.join(f'o{i}' for i in range(rank))}]" if rank else "")
    unranked = "rank" in case.given
    inputs = [f"{case.type}[] x" if unranked else f"{case.type}[{dims}] x" if case.shape else f"{case.type} x"]
    for name in filter(case.given.__contains__, given):
        of_dims = "" if name == "fill" and case.scalar else f"[{given[name].size}]"
        inputs.append(f"{case.type if name == 'fill' else 'int64'}{of_dims} {name}")
    inputs += ["bool c"] if case.in_body else []
    weights = (
        f"float[{case.shape[1]},1,1,1] w = {{{', '.join(['1'] * case.shape[1])}}}" if case.behind or case.before else ""
    )
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : {case.opset}]> g ({", ".join(inputs)}) => ({of_output} y)'
        f" <{weights}> {{ {_nodes_of(case, _pad_of(case) if with_pad else 'Identity (a)', of_output)} }}"
    )
    constants = {name: array for name, array in given.items() if name not in case.given}
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants.items())
    if with_pad and case.value is not None:
        (pad,) = (node for node in model.graph.node if node.op_type == "Pad")
        pad.attribute.append(helper.make_attribute("value", case.value))
    content: bytes = model.SerializeToString()
    return content


def _inputs_of(case: Case) -> dict[str, np.ndarray]:
    """Returns the inputs of the Pad except its data, in their order."""
    if case.opset < FIRST_WITH_INPUTS:
        return {}
    found = {"pads": np.array(case.pads, np.int64)}
    if case.fill is not None:
        fill = np.array(case.fill, _dtype_of(case))
        found["fill"] = fill.reshape(()) if case.scalar else fill
    return found | ({} if case.axes is None else {"axes": np.array(case.axes, np.int64)})


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
    fed |= {name: array for name, array in _inputs_of(case).items() if name in case.given}
    return fed | ({"c": np.array(True)} if case.in_body else {})


def _dtype_of(case: Case) -> np.dtype[Any]:
    return np.dtype({"float": "float32", "double": "float64"}.get(case.type, case.type))


def expected_of(case: Case, with_pad: bool = True) -> np.ndarray:
    """Returns the output of a case by the standard; ``with_pad=False``: as for ``model_of``."""
    from padops.spec import reference
    from padops.spec.dialects import OPS, onnx_op

    data = feeds_of(case)["x"]
    data = np.concatenate([data, data]) if case.doubled else data
    attributes: dict[str, Any] = {"mode": case.mode}
    if case.opset < FIRST_WITH_INPUTS:
        attributes |= {"pads": list(case.pads)} | ({} if case.value is None else {"value": case.value})
    others = [_inputs_of(case).get(name) for name in ("pads", "fill", "axes")]
    given = [data, *others[: len(OPS[onnx_op(case.opset)].inputs) - 1]]
    made = reference.run(onnx_op(case.opset), attributes, given) if with_pad else data
    return np.concatenate([made, made]) if case.doubled else made


CONSTANT, WRAP, EXTENDING = MODES[:1], MODES[3:], MODES[1:]
IMAGE = (1, 2, 4, 5)
AROUND = (0, 0, 1, 2, 0, 0, 1, 2)
VERSIONS = {10: 2, 11: 11, 13: 13, 21: 21, 23: 23, 24: 24, 25: 25}  # of Pad, by the opset of a model
TYPES = ("float16", "double", "int32", "int64", "uint8", "bool", "int8", "int16", "uint16", "uint32", "uint64")
IN_EVERY_MODE = TYPES[:6]
LIMITED = ("below", "above", "rank below", "rank above")  # conditions with a limit
RANKS = {0: (), 1: (6,), 2: (4, 5), 3: (2, 4, 5), 5: (1, 2, 3, 4, 5), 6: (1, 1, 2, 4, 5, 2)}


@dataclass(frozen=True)
class Probe:
    """One model that tests a condition."""

    case: Case  # the model
    when: str  # the condition
    number: int = 0  # the number that the condition limits: the version of Pad, or the rank of the data


def _each(
    what: str,
    when: str,
    modes: Sequence[str] = MODES,
    pads: tuple[int, ...] = AROUND,
    shape: tuple[int, ...] = IMAGE,
    number: int = 0,
    **changes: Any,
) -> Iterator[Probe]:
    """Yields a probe of a condition for each mode; ``changes`` are further fields of its case."""
    for mode in modes:
        case = Case(f"{mode}{what}", mode, shape, pads, 19 if mode == "wrap" else 18)
        yield Probe(replace(case, **changes), when, number)


def _all() -> Iterator[Probe]:
    yield from _each(" around", "always")
    yield from _each(" of n", "always", WRAP, (0, 0, 4, 5, 0, 0, 4, 5), opset=21)
    yield from _each(" channels", "always", CONSTANT, (0, 1, 0, 0, 0, 2, 0, 0))
    yield from _each(", fill of 1", "always", CONSTANT, fill=(7,))
    for opset, version in VERSIONS.items():
        modes, when = (MODES, "above") if opset > 19 else (MODES[:3], "below")
        yield from _each(f" of version {version}", when, modes, number=version, opset=opset)
    yield from _each(" of open rank", "open rank", given=("rank",))
    for rank, shape in RANKS.items():
        # One more element before and behind each of the last two axes.
        pads = tuple(int(axis >= rank - 2) for axis in range(rank)) * 2
        when = "rank below" if rank < len(IMAGE) else "rank above"
        yield from _each(f" of rank {rank}", when, MODES if rank else MODES[:3], pads, shape, rank)
    for name in TYPES:
        modes = MODES if name in IN_EVERY_MODE else CONSTANT
        yield from _each(f" of {name}", "other types", modes, type=name, doubled=True)
    yield from _each(" of open dims", "open dims", given=("dims",))
    yield from _each(" all axes", "axes", axes=(0, 1, 2, 3))
    yield from _each(" some axes", "axes but all", pads=(1, 2, 1, 2), axes=(2, 3))
    yield from _each(" axes in another order", "axes turned", MODES, (1, 0, 0, 2, 0, 0), (2, 3, 4), axes=(2, 1, 0))
    yield from _each(" all axes and a fill", "axes and fill", CONSTANT, axes=(0, 1, 2, 3), fill=(7,))
    yield from _each(" of given amounts", "computed", given=("pads",))
    yield from _each(" of given axes", "computed", axes=(0, 1, 2, 3), given=("axes",))
    yield from _each(" crop", "crop", CONSTANT, (0, 0, -1, 2, 0, 0, 1, -2))
    yield from _each(" crop", "crop", EXTENDING, (0, 0, -1, 1, 0, 0, 1, -1))
    yield from _each(" of nothing", "empty", MODES, (0, 0, 0, 2, 0, 0, 0, 2), (1, 2, 0, 5))
    yield from _each(" to nothing", "empty", ("constant", "edge"), (0, 0, -4, 0, 0, 0, 0, 0))
    yield from _each(" beyond n - 1", "beyond", ("reflect",), (0, 0, 5, 0, 0, 0, 4, 0))
    yield from _each(" beyond n", "beyond", WRAP, (0, 0, 5, 0, 0, 0, 9, 0))
    for mode in ("reflect", "wrap"):
        yield from _each(" far beyond", "beyond", (mode,), (0, 0, 0, 0, 0, 0, 0, 16))
        yield from _each(" crop beyond", "crop beyond", (mode,), (0, 0, -2, 0, 0, 0, 3, 0))
    yield from _each(" of one", "single", MODES, (0, 0, 1, 0, 0, 0, 1, 0), (1, 2, 1, 5))
    yield from _each(" of an empty axis", "empty axis", MODES, (0, 0, 1, 0, 0, 0, 1, 0), (0, 2, 0, 5))
    yield from _each(" cut beyond", "cut beyond", CONSTANT, (0, 0, -5, 0, 0, 0, 3, 0))
    yield from _each(" cut away", "cut away", CONSTANT, (0, 0, -4, 0, 0, 0, 3, 0))
    yield from _each(" in a branch", "in a body", in_body=True)
    among: dict[str, Any] = {"axes": (2, 3), "behind": "Conv", "before": "Conv"}
    yield from _each(" some axes among Convs", "axes beside", pads=(1, 2, 1, 2), **among)
    yield from _each(" before Conv", "nodes behind", behind="Conv")
    yield from _each(" all axes, fill of 2", "fill not one", EXTENDING, axes=(0, 1, 2, 3), fill=(7, 8))
    yield from _each(", fill of 2", "bare fill not one", EXTENDING, fill=(7, 8))
    yield from _each(" fill of 0", "fill empty", EXTENDING, fill=())
    yield from _each(" given fill", "computed fill", CONSTANT, fill=(7,), given=("fill",))
    yield from _each(" given scalar fill", "computed scalar fill", CONSTANT, fill=(7,), given=("fill",), scalar=True)
    yield from _each(" negative zero", "rounded fill", CONSTANT, fill=(-0.0,), doubled=True)
    yield from _each(" fill of 25 bits", "rounded fill", CONSTANT, fill=(16777217,), doubled=True, type="int32")
    for value in ("nan", "inf"):
        yield from _each(f" value {value}", "endless value", CONSTANT, opset=10, value=float(value), doubled=True)


PROBES = tuple(_all())
