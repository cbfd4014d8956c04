"""Random cases, as in a property test: amounts of every kind, right and wrong, on any axis.

The id of a case contains the operator, the seed and the number of the case; these three determine the case.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from padops.conformance.arrays import draw_array, integers
from padops.conformance.cases.table import draw_opset, generator, number
from padops.conformance.peers.request import Request
from padops.spec.dialects import INTEGER_KINDS, OPS, Op

MAX_ELEMENTS = 4000  # of an output: enough for every border to meet every other border
PLAIN = ("float", "double", "int64")  # drawn as often as all other types together


def find_case(id: str) -> Request:
    """Make the random case with an id; raise KeyError or ValueError if no case has this id."""
    _, name, seed, i = id.split("/")
    number(seed), number(i)
    op, family, rng = OPS[name], name.split("_")[0], generator(id)
    maker, lowest, highest = _MAKERS[family]
    opset = draw_opset(rng, op) if family == "Pad" else 0
    plain = [name for name in PLAIN if name in op.types]
    dtype = str(rng.choice(plain if rng.random() < 0.5 else list(op.types)))
    shape = rng.integers(0, 8, int(rng.integers(lowest, highest + 1))).tolist()
    attributes, inputs = maker(rng, op, dtype, shape)
    given = [i for i, array in enumerate(inputs) if i and array is not None]
    constants = tuple(i for i in given if rng.random() < 0.5) if rng.random() < 0.5 else ()
    return Request(id, name, opset, attributes, tuple(inputs), constants, bool(rng.random() < 0.5))


def _amounts(rng: np.random.Generator, shape: list[int]) -> tuple[list[int], list[int]]:
    """Draw begins and ends; if the output would be too large, shrink amounts or shape."""
    low, high = ((-9, 20), (-3, 3), (0, 3), (0, 8))[int(rng.integers(4))]
    begins, ends = (rng.integers(low, high + 1, len(shape)).tolist() for _ in range(2))
    shrink(shape, begins, ends, MAX_ELEMENTS)
    return begins, ends


def shrink(shape: list[int], begins: list[int], ends: list[int], most: int) -> None:
    """Shrink a case in place until neither its data nor its output has more than ``most`` elements."""
    while prod(max(b + n + e, n, 1) for b, n, e in zip(begins, shape, ends)) > most:
        i = max(range(len(shape)), key=lambda i: max(begins[i] + shape[i] + ends[i], shape[i]))
        if begins[i] > 0 or ends[i] > 0:
            begins[i], ends[i] = min(begins[i], 0), min(ends[i], 0)
        else:
            shape[i] //= 2


def _fill(rng: np.random.Generator, dtype: str) -> np.ndarray | None:
    shapes: tuple[tuple[int, ...], ...] = ((), (), (), (1,), (1, 1), (2,), (0,))
    return draw_array(rng, dtype, shapes[int(rng.integers(len(shapes)))]) if rng.random() < 0.5 else None


def _mode(rng: np.random.Generator, op: Op) -> str:
    return str(rng.choice(op.modes)) if rng.random() < 0.95 else "none"


Parts = tuple[dict[str, Any], list[np.ndarray | None]]  # attributes and inputs


def _onnx(rng: np.random.Generator, op: Op, dtype: str, shape: list[int]) -> Parts:
    begins, ends = _amounts(rng, shape)
    rank, mode = len(shape), _mode(rng, op)
    attributes: dict[str, Any] = {} if mode == "constant" and rng.random() < 0.5 else {"mode": mode}
    if len(op.inputs) == 1:
        attributes[next(row.name for row in op.attributes if row.type == "ints")] = begins + ends
        if rng.random() < 0.5:
            attributes["value"] = float(np.float32(rng.normal()))
        return attributes, [draw_array(rng, dtype, shape)]
    axes = None
    if op.input_index("axes") is not None and rng.random() < 0.4:
        listed = rng.permutation(rank).tolist()[: int(rng.integers(0, rank + 1))]
        begins, ends = [begins[i] for i in listed], [ends[i] for i in listed]
        axes = integers([i - rank if rng.random() < 0.5 else i for i in listed], str(rng.choice(["int64", "int32"])))
    inputs = [draw_array(rng, dtype, shape), integers(begins + ends), _fill(rng, dtype), axes]
    return attributes, inputs[: len(op.inputs)]


def _openvino(rng: np.random.Generator, op: Op, dtype: str, shape: list[int]) -> Parts:
    amounts = []
    for values in _amounts(rng, shape):
        kinds = INTEGER_KINDS["integer"] if min(values, default=0) >= 0 else ("int8", "int16", "int32", "int64")
        amounts.append(integers(values, str(rng.choice(kinds))))
    inputs = [draw_array(rng, dtype, shape), *amounts, _fill(rng, dtype)]
    return {"pad_mode": _mode(rng, op)}, inputs


def _ngraph(rng: np.random.Generator, op: Op, dtype: str, shape: list[int]) -> Parts:
    begins, ends = _amounts(rng, shape)
    attributes: dict[str, Any] = {"pad_mode": _mode(rng, op), "padding_below": begins, "padding_above": ends}
    if attributes["pad_mode"] == "CONSTANT" and rng.random() < 0.7 or rng.random() < 0.05:
        attributes["padding_interior"] = rng.integers(0, 3, len(shape)).tolist()
    data, fill = draw_array(rng, dtype, shape), _fill(rng, dtype)
    return attributes, [data, draw_array(rng, dtype, ()) if fill is None else fill]


def _same(rng: np.random.Generator, op: Op, dtype: str, shape: list[int]) -> Parts:
    spatial = len(shape) - 2
    attributes: dict[str, Any] = {"kernel_shape": rng.integers(1, 6, spatial).tolist()}
    choices: tuple[tuple[str, Any], ...] = (
        ("strides", rng.integers(1, 6, spatial).tolist()),
        ("dilations", rng.integers(1, 6, spatial).tolist()),
        ("auto_pad", str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))),
        ("data_format", str(rng.choice(["NCHW", "NHWC", "NWC", "NDHWC"]))),
        ("mode", _mode(rng, op)),
    )
    attributes |= {name: value for name, value in choices if rng.random() < 0.5}
    return attributes, [draw_array(rng, dtype, shape), _fill(rng, dtype)]


# The maker of each family, and the lowest and the highest rank.
_MAKERS = {
    "Pad": (_onnx, 0, 6),
    "OpenVINOPad": (_openvino, 0, 6),
    "NGraphPad": (_ngraph, 0, 4),
    "SamePad": (_same, 3, 5),
}
