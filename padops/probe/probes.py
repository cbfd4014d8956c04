"""Models that test whether a provider fails at a condition of ``padops/rules/conditions.json``.

Each model tests one condition, in which its Pad differs from a plain Pad. ``outcome.py`` makes no rule from a failing
model if an earlier rule holds for this model. So the order of ``PROBES`` matters: conditions that hold for most Pads
come first. No model tests "beyond all" or "sizes above", because such a model would also meet "beyond" or "rank above".

Each model has other nodes before and behind the Pad, because some providers do not claim a node that stands alone. All
data are whole numbers below 2,048, which float16 holds exactly. So a different bit means a wrong Pad, even if the
provider computes float in float16.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from padops.runtime.provider_rules import MODES

FIRST_WITH_INPUTS = 11  # the first opset whose Pad has its amounts as an input


@dataclass(frozen=True)
class Case:
    """One model; for ``padops probe``, also the condition that it tests."""

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
    before: str = ""  # an operator between the first Relu and the Pad
    # The elements of the fill, if the Pad has that input; modes other than constant ignore it.
    fill: tuple[float, ...] | None = None
    scalar: bool = False  # whether the fill has rank 0
    value: float | None = None  # the fill of a Pad that has it as an attribute
    wide: bool = False  # whether integer data use all bits of their type
    doubled: bool = False  # whether Concats replace the Relus: Concats accept all types, and keep every bit
    in_body: bool = False  # whether the Pad is in a branch of an If
    when: str = ""  # the condition
    number: int = 0  # the number that the condition limits: the version of Pad, or the rank of the data


def model_of(case: Case, with_pad: bool = True) -> bytes:
    """Serializes the model of a case; ``with_pad=False`` replaces the Pad with an Identity."""
    from onnx import helper, numpy_helper, parser

    given, rank = _inputs_of(case) if with_pad else {}, len(case.shape)
    dims = [f"d{i}" for i in range(rank)] if "dims" in case.given else case.shape
    inputs = [f"{case.type}[] x" if "rank" in case.given else f"{_typed(case.type, dims)} x"]
    for name in filter(case.given.__contains__, given):
        inputs.append(f"{_typed(case.type if name == 'fill' else 'int64', given[name].shape)} {name}")
    inputs += ["bool c"] if case.in_body else []
    output, weights = _typed(case.type, [f"o{i}" for i in range(rank)]), ""
    if case.behind or case.before:
        weights = f"float[{case.shape[1]},1,1,1] w = {{{', '.join(['1'] * case.shape[1])}}}"
    nodes = _nodes_of(case, _pad_of(case) if with_pad else "Identity (a)", output)
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : {case.opset}]> g ({", ".join(inputs)}) => ({output} y)'
        f" <{weights}> {{ {nodes} }}"
    )
    constants = {name: array for name, array in given.items() if name not in case.given}
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants.items())
    if with_pad and case.value is not None:
        (pad,) = (node for node in model.graph.node if node.op_type == "Pad")
        pad.attribute.append(helper.make_attribute("value", case.value))
    content: bytes = model.SerializeToString()
    return content


def _typed(type: str, dims: Sequence[object]) -> str:
    return f"{type}[{', '.join(map(str, dims))}]" if dims else type


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
        return f'Pad <mode = "{case.mode}", pads = {list(case.pads)}> (a)'
    given = _inputs_of(case)
    names = ["a", *(name if name in given else "" for name in ("pads", "fill", "axes"))]
    return f'Pad <mode = "{case.mode}"> ({", ".join(names).rstrip(", ")})'


def _nodes_of(case: Case, pad: str, output: str) -> str:
    outer = "{1} = Concat <axis = 0> ({0}, {0})" if case.doubled else "{1} = Relu ({0})"
    conv = "{1} = Conv <group = {2}> ({0}, w)"
    before, behind = [outer.format("x", "a")], [outer.format("b", "y")]
    if case.before:
        before = [outer.format("x", "r"), conv.format("r", "a", case.shape[1])]
    if case.behind:
        behind = [conv.format("b", "e", case.shape[1]), outer.format("e", "y")]
    body = f"[pad] b = {pad}"
    if case.in_body:
        then = f"then_branch = t () => ({output} u) {{ [pad] u = {pad} }}"
        body = f"b = If (c) <{then}, else_branch = s () => ({output} v) {{ v = Identity (a) }}>"
    return " ".join([*before, body, *behind])


def feeds_of(case: Case) -> dict[str, np.ndarray]:
    """Returns the inputs of a case; the data count up from 1, or, with ``wide``, down from the largest integer."""
    dtype = _dtype_of(case)
    fed = {"x": np.arange(1, np.prod(case.shape) + 1).astype(dtype).reshape(case.shape)}
    if case.wide and dtype.kind in "iu":
        fed["x"] = np.iinfo(dtype).max - fed["x"]
    fed |= {name: array for name, array in _inputs_of(case).items() if name in case.given}
    return fed | ({"c": np.array(True)} if case.in_body else {})


def _dtype_of(case: Case) -> np.dtype[Any]:
    return np.dtype({"float": "float32", "double": "float64"}.get(case.type, case.type))


def expected_of(case: Case, with_pad: bool = True) -> np.ndarray:
    """Returns the output that ONNX requires for a case, or, with ``with_pad=False``, for the model without the Pad."""
    from padops.spec import reference
    from padops.spec.dialects import OPS, onnx_op

    made = feeds_of(case)["x"]
    made = np.concatenate([made, made]) if case.doubled else made
    if with_pad:
        op, inputs = onnx_op(case.opset), _inputs_of(case)
        attributes: dict[str, Any] = {"mode": case.mode}
        if not inputs:
            attributes |= {"pads": list(case.pads)} | ({} if case.value is None else {"value": case.value})
        given = [inputs.get(name) for name in ("pads", "fill", "axes")][: len(OPS[op].inputs) - 1]
        made = reference.run(op, attributes, [made, *given])
    return np.concatenate([made, made]) if case.doubled else made


CONSTANT, WRAP, EXTENDING = MODES[:1], MODES[3:], MODES[1:]
IMAGE = (1, 2, 4, 5)
AROUND = (0, 0, 1, 2, 0, 0, 1, 2)
TYPES = ("float16", "double", "int32", "int64", "uint8", "bool", "int8", "int16", "uint16", "uint32", "uint64")
IN_EVERY_MODE = TYPES[:6]
LIMITED = ("below", "above", "rank below", "rank above")  # conditions with a limit


def _each(
    what: str,
    when: str,
    modes: Sequence[str] = MODES,
    pads: tuple[int, ...] = AROUND,
    shape: tuple[int, ...] = IMAGE,
    **others: Any,
) -> Iterator[Case]:
    """Yields a model of a condition for each mode; ``others`` are further fields of ``Case``."""
    for mode in modes:
        fields = {"opset": 19 if mode == "wrap" else 18, **others}
        yield Case(f"{mode}{what}", mode, shape, pads, when=when, **fields)


PROBES = (
    *_each(" around", "always"),
    *_each(" of n", "always", WRAP, (0, 0, 4, 5, 0, 0, 4, 5), opset=21),
    *_each(" channels", "always", CONSTANT, (0, 1, 0, 0, 0, 2, 0, 0)),
    *_each(", fill of 1", "always", CONSTANT, fill=(7,)),
    *_each(" of version 2", "below", MODES[:3], number=2, opset=10),
    *(case for n in (11, 13) for case in _each(f" of version {n}", "below", MODES[:3], number=n, opset=n)),
    *(case for n in (21, 23, 24, 25) for case in _each(f" of version {n}", "above", number=n, opset=n)),
    *_each(" of open rank", "open rank", given=("rank",)),
    # One more element before and behind each of the last two axes.
    *_each(" of rank 0", "rank below", MODES[:3], (), (), number=0),
    *_each(" of rank 1", "rank below", MODES, (1, 1), (6,), number=1),
    *_each(" of rank 2", "rank below", MODES, (1, 1, 1, 1), (4, 5), number=2),
    *_each(" of rank 3", "rank below", MODES, (0, 1, 1) * 2, (2, 4, 5), number=3),
    *_each(" of rank 5", "rank above", MODES, (0, 0, 0, 1, 1) * 2, (1, 2, 3, 4, 5), number=5),
    *_each(" of rank 6", "rank above", MODES, (0, 0, 0, 0, 1, 1) * 2, (1, 1, 2, 4, 5, 2), number=6),
    *(case for name in IN_EVERY_MODE for case in _each(f" of {name}", "other types", type=name, doubled=True)),
    *(case for name in TYPES[6:] for case in _each(f" of {name}", "other types", CONSTANT, type=name, doubled=True)),
    *_each(" of open dims", "open dims", given=("dims",)),
    *_each(" all axes", "axes", axes=(0, 1, 2, 3)),
    *_each(" some axes", "axes but all", pads=(1, 2, 1, 2), axes=(2, 3)),
    *_each(" axes in another order", "axes turned", MODES, (1, 0, 0, 2, 0, 0), (2, 3, 4), axes=(2, 1, 0)),
    *_each(" all axes and a fill", "axes and fill", CONSTANT, axes=(0, 1, 2, 3), fill=(7,)),
    *_each(" of given amounts", "computed", given=("pads",)),
    *_each(" of given axes", "computed", axes=(0, 1, 2, 3), given=("axes",)),
    *_each(" crop", "crop", CONSTANT, (0, 0, -1, 2, 0, 0, 1, -2)),
    *_each(" crop", "crop", EXTENDING, (0, 0, -1, 1, 0, 0, 1, -1)),
    *_each(" of nothing", "empty", MODES, (0, 0, 0, 2, 0, 0, 0, 2), (1, 2, 0, 5)),
    *_each(" to nothing", "empty", ("constant", "edge"), (0, 0, -4, 0, 0, 0, 0, 0)),
    *_each(" beyond n - 1", "beyond", ("reflect",), (0, 0, 5, 0, 0, 0, 4, 0)),
    *_each(" beyond n", "beyond", WRAP, (0, 0, 5, 0, 0, 0, 9, 0)),
    *_each(" far beyond", "beyond", ("reflect", "wrap"), (0, 0, 0, 0, 0, 0, 0, 16)),
    *_each(" crop beyond", "crop beyond", ("reflect", "wrap"), (0, 0, -2, 0, 0, 0, 3, 0)),
    *_each(" of one", "single", MODES, (0, 0, 1, 0, 0, 0, 1, 0), (1, 2, 1, 5)),
    *_each(" of an empty axis", "empty axis", MODES, (0, 0, 1, 0, 0, 0, 1, 0), (0, 2, 0, 5)),
    *_each(" cut beyond", "cut beyond", CONSTANT, (0, 0, -5, 0, 0, 0, 3, 0)),
    *_each(" cut away", "cut away", CONSTANT, (0, 0, -4, 0, 0, 0, 3, 0)),
    *_each(" in a branch", "in a body", in_body=True),
    *_each(" some axes among Convs", "axes beside", MODES, (1, 2) * 2, axes=(2, 3), behind="Conv", before="Conv"),
    *_each(" before Conv", "nodes behind", behind="Conv"),
    *_each(" all axes, fill of 2", "fill not one", EXTENDING, axes=(0, 1, 2, 3), fill=(7, 8)),
    *_each(", fill of 2", "bare fill not one", EXTENDING, fill=(7, 8)),
    *_each(" fill of 0", "fill empty", EXTENDING, fill=()),
    *_each(" given fill", "computed fill", CONSTANT, fill=(7,), given=("fill",)),
    *_each(" given scalar fill", "computed scalar fill", CONSTANT, fill=(7,), given=("fill",), scalar=True),
    *_each(" negative zero", "rounded fill", CONSTANT, fill=(-0.0,), doubled=True),
    *_each(" fill of 25 bits", "rounded fill", CONSTANT, fill=(16777217,), doubled=True, type="int32"),
    *_each(" value nan", "endless value", CONSTANT, opset=10, value=float("nan"), doubled=True),
    *_each(" value inf", "endless value", CONSTANT, opset=10, value=float("inf"), doubled=True),
)
