"""Cases from the table of operators: each mode with each type and each kind of amounts; other choices are drawn.

The id of a case lists the choices, and seeds the random numbers of the case: an id always means the same case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from zlib import crc32

import numpy as np

from padops.conformance.arrays import draw_array, integers
from padops.conformance.peers.request import Request
from padops.spec.dialects import INTEGER_KINDS, OPS, VERSIONS, Op
from padops.spec.dtypes import by_name

NEWEST_OPSET = 26  # for a Pad of the newest version

# Kinds of amounts, by weight: the kinds that every operator allows come first, and occur more often.
SIGNS = {
    "begin": 4, "end": 4, "both": 6, "far": 4, "crop": 3, "mixed": 5, "mixed-far": 2,
    "zero": 1, "to-nothing": 1, "beyond": 2, "negative": 1, "huge": 1,
}  # fmt: skip
DIMS = {"plain": 10, "one": 3, "empty": 2}
RANKS = {1: 4, 2: 5, 3: 3, 4: 2, 5: 1, 6: 1, 0: 1}
FILLS = {"none": 3, "scalar": 6, "vector": 2, "matrix": 1, "two": 1}
FILL_SHAPES: dict[str, tuple[int, ...]] = {"scalar": (), "vector": (1,), "matrix": (1, 1), "two": (2,)}
AXES = {"absent": 6, "some": 3, "negative": 2, "int32": 2, "all": 1, "none": 1, "repeated": 1, "outside": 1}
PADS = {"flat": 14, "row": 2, "short": 1}
FORMS = {"dynamic": 3, "held": 2, "static": 2, "fixed": 2}  # held: constant inputs; fixed: held and static
INTEGER_TYPES = {"int64": 4, "int32": 2, "int8": 1, "int16": 1}
WIDE = ("float", "double", "int32")  # types that most peers have, for choices unrelated to types


def number(text: str) -> int:
    """Parse a number of an id; raise ValueError for an unusual spelling, such as ``01``."""
    if text != str(int(text)):
        raise ValueError(f"the number {text!r} is not in its shortest form")
    return int(text)


def generator(text: str) -> np.random.Generator:
    """Return a random generator with a text as its seed; it draws the same numbers on every machine."""
    return np.random.default_rng(crc32(text.encode()))


def draw(rng: np.random.Generator, choices: dict[Any, int]) -> Any:
    """Draw one of ``choices``, by weight."""
    weights = np.array([*choices.values()], float)
    return [*choices][int(rng.choice(len(choices), p=weights / weights.sum()))]


def draw_opset(rng: np.random.Generator, op: Op) -> int:
    """Draw an opset with this version of ONNX's Pad."""
    version = int(op.name.split("_")[1])
    return int(rng.integers(version, next((later for later in VERSIONS if later > version), NEWEST_OPSET + 1)))


def cases(ops: Sequence[str], by_type: int, by_signs: int, seed: int) -> Iterator[Request]:
    """Yield cases of each operator with each of its modes, and with unknown modes.

    Each operator and mode has ``by_type`` cases of each type, and ``by_signs`` * weight / 4 cases (at least one) of
    each kind of amounts. ``SIGNS`` has the weights.
    """
    counts = {signs: max(by_signs * weight // 4, 1) for signs, weight in SIGNS.items()}
    for name in ops:
        op = OPS[name]
        for mode in op.modes:
            ids = [_choose(op, mode, dtype, None, i, seed) for dtype in op.types for i in range(by_type)]
            ids += [_choose(op, mode, None, signs, i, seed) for signs, count in counts.items() for i in range(count)]
            yield from map(find_case, dict.fromkeys(ids))
    for name in ops:
        forms = {"Pad": "absent.flat", "OpenVINOPad": "int64.int64"}.get(name.split("_")[0], "-")
        for mode in ("wrap", "symmetric", "CONSTANT", "edges", ""):
            if mode not in OPS[name].modes:
                fill = "scalar" if name.startswith("NGraphPad") else "none"  # nGraph's Pad requires a fill
                yield find_case(f"table/{name}/{mode or '-'}/float/2/both/plain/{fill}/{forms}/dynamic/0")


def _choose(op: Op, mode: str, dtype: str | None, signs: str | None, i: int, seed: int) -> str:
    """Draw the id of a case; if ``dtype`` or ``signs`` is None, draw it too."""
    rng = generator(f"{seed}/{op.name}/{mode}/{dtype}/{signs}/{i}")
    family, forms = op.name.split("_")[0], "-"
    rank = draw(rng, {3: 3, 4: 3, 5: 1} if family == "SamePad" else RANKS)
    fill = draw(rng, FILLS if op.name not in ("Pad_1", "Pad_2") else {"none": 1, "value": 1})
    if family == "NGraphPad" and fill == "none":
        fill = "scalar"
    if family == "Pad":
        axes = draw(rng, AXES) if op.input_index("axes") is not None and rank else "absent"
        forms = f"{axes}.{draw(rng, PADS) if len(op.inputs) > 1 else 'flat'}"
    elif family == "OpenVINOPad":
        forms = f"{draw(rng, INTEGER_TYPES)}.{draw(rng, INTEGER_TYPES)}"
    dtype = dtype or str(rng.choice([name for name in WIDE if name in op.types]))
    signs = signs or draw(rng, SIGNS)
    dims = draw(rng, DIMS) if rank else "plain"
    return f"table/{op.name}/{mode}/{dtype}/{rank}/{signs}/{dims}/{fill}/{forms}/{draw(rng, FORMS)}/{i}"


def find_case(id: str) -> Request:
    """Make the case with an id; raise KeyError or ValueError if no case has this id."""
    _, name, mode, dtype, rank, signs, dims, fill, forms, form, i = id.split("/")
    by_name(dtype), SIGNS[signs], DIMS[dims], FORMS[form], number(i)
    op, family, rng = OPS[name], name.split("_")[0], generator(id)
    opset = draw_opset(rng, op) if family == "Pad" else 0
    largest = 7 if family == "SamePad" else 5
    shape: list[int] = rng.integers(2, max(3, largest + 1 - number(rank) // 2), number(rank)).tolist()
    if shape and dims != "plain":
        shape[int(rng.integers(len(shape)))] = {"one": 1, "empty": 0}[dims]
    # SAME padding has no amounts: the kind of amounts only changes the draw.
    pairs = [(0, 0)] * len(shape) if family == "SamePad" else _amounts(rng, shape, signs)
    attributes, amounts, axes = _MAKERS[family](rng, op, "" if mode == "-" else mode, pairs, forms)
    inputs: list[np.ndarray | None] = [draw_array(rng, dtype, shape), *amounts]
    if len(op.inputs) > 1:
        inputs += [None if fill == "none" else draw_array(rng, dtype, FILL_SHAPES[fill]), *axes]
    elif fill == "value":
        attributes["value"] = float(rng.choice([1.5, -0.0, 3e38, 1e-45, float("nan"), float("-inf"), 0.1]))
    given = tuple(i for i, array in enumerate(inputs) if i and array is not None)
    constants = given if form in ("held", "fixed") else ()
    return Request(id, op.name, opset, attributes, tuple(inputs), constants, form in ("static", "fixed"))


def _amounts(rng: np.random.Generator, shape: Sequence[int], signs: str) -> Pairs:
    """Draw amounts of the kind ``signs`` for about half of the axes (huge: for one axis); all other amounts are 0."""
    pairs = [(0, 0)] * len(shape)
    chosen = [i for i in range(len(shape)) if rng.random() < 0.5] or ([int(rng.integers(len(shape)))] if shape else [])
    for i in chosen:
        pairs[i] = _pair(rng, shape[i], signs)
    if signs == "huge" and shape:
        pairs[chosen[0]] = [(1 << 62, 0), (1 << 60, 1), ((1 << 63) - 1, 1), (0, 1 << 59)][int(rng.integers(4))]
        pairs = [pair if i == chosen[0] else (0, 0) for i, pair in enumerate(pairs)]
    return pairs


def _pair(rng: np.random.Generator, n: int, signs: str) -> tuple[int, int]:
    def up(low: int, high: int) -> int:
        return int(rng.integers(low, max(high, low) + 1))

    near = max(n - 1, 1)
    crop = up(1, near)
    kinds: dict[str, Callable[[], tuple[int, int]]] = {
        "zero": lambda: (0, 0),
        "begin": lambda: (up(1, near), 0),
        "end": lambda: (0, up(1, near)),
        "both": lambda: (up(1, near), up(1, near)),
        "far": lambda: (up(0, 2), up(n, 3 * n + 2)),
        "crop": lambda: (-up(0, (n - 1) // 2), -up(0, (n - 1) // 2)),
        "mixed": lambda: (-crop, up(1, n - crop)),
        "mixed-far": lambda: (-crop, up(n - crop + 1, 2 * n + 2)),
        "to-nothing": lambda: (-(left := up(0, n)), left - n),
        "beyond": lambda: (-up(n + 1, n + 3), up(2, n + 5)),
        "negative": lambda: (-up(n + 1, n + 4), up(0, 1) - 1),
        "huge": lambda: (0, 0),
    }
    pair = kinds[signs]()
    if signs not in ("begin", "end", "to-nothing", "huge") and rng.random() < 0.5:
        pair = (pair[1], pair[0])
    return pair


Pairs = list[tuple[int, int]]  # begin and end of each axis
Parts = tuple[dict[str, Any], list[np.ndarray], list[np.ndarray | None]]  # attributes; inputs before, after fill


def _onnx(rng: np.random.Generator, op: Op, mode: str, pairs: Pairs, forms: str) -> Parts:
    axes_form, pads_form = forms.split(".")
    axes, pairs = (None, pairs) if axes_form == "absent" else _axes(rng, axes_form, pairs)
    pads = [b for b, _ in pairs] + [e for _, e in pairs]
    attributes: dict[str, Any] = {"mode": mode} if mode != "constant" or rng.random() < 0.5 else {}
    if len(op.inputs) == 1:
        attributes[next(row.name for row in op.attributes if row.type == "ints")] = pads
        return attributes, [], []
    amounts = integers(pads[:-1] if pads_form == "short" else pads)
    return attributes, [amounts.reshape(1, -1) if pads_form == "row" else amounts], [axes] if len(op.inputs) > 3 else []


def _axes(rng: np.random.Generator, form: str, pairs: Pairs) -> tuple[np.ndarray, Pairs]:
    """Draw the input ``axes``; return it, and the amounts in the order of ``axes``."""
    rank = len(pairs)
    order = rng.permutation(rank).tolist()
    wanted = [axis for axis in order if pairs[axis] != (0, 0)] or order[:1]
    listed = {"all": order, "none": []}.get(form, wanted)
    written = [axis - rank if form == "negative" or form == "int32" and rng.random() < 0.5 else axis for axis in listed]
    pairs = [pairs[axis] for axis in listed]
    if form in ("repeated", "outside") and listed:
        written.append(written[0] if form == "repeated" else rank)
        pairs.append((0, 1))
    return integers(written, "int32" if form == "int32" else "int64"), pairs


def _openvino(rng: np.random.Generator, op: Op, mode: str, pairs: Pairs, forms: str) -> Parts:
    amounts = []
    for kind, values in zip(forms.split("."), zip(*pairs) if pairs else ((), ())):
        fits = all(-128 <= value < 128 for value in values)
        amounts.append(integers(values, kind if fits and kind in INTEGER_KINDS["integer"] else "int64"))
    return {"pad_mode": mode}, amounts, []


def _ngraph(rng: np.random.Generator, op: Op, mode: str, pairs: Pairs, forms: str) -> Parts:
    below, above = [b for b, _ in pairs], [e for _, e in pairs]
    attributes: dict[str, Any] = {"pad_mode": mode, "padding_below": below, "padding_above": above}
    if mode == "CONSTANT" and rng.random() < 0.7 or rng.random() < 0.05:
        attributes["padding_interior"] = rng.integers(0, 4, len(pairs)).tolist()
    return attributes, [], []


def _same(rng: np.random.Generator, op: Op, mode: str, pairs: Pairs, forms: str) -> Parts:
    spatial = len(pairs) - 2
    attributes: dict[str, Any] = {"kernel_shape": rng.integers(1, 6, spatial).tolist()}
    if rng.random() < 0.6:
        attributes["strides"] = rng.integers(1, 4, spatial).tolist()
    if rng.random() < 0.5:
        attributes["dilations"] = rng.integers(1, 4, spatial).tolist()
    if rng.random() < 0.7:
        attributes["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "SAME_LOWER", "VALID"]))
    if rng.random() < 0.5:
        attributes["data_format"] = str(rng.choice(["NCHW", "NHWC"]))
    if mode != "constant" or rng.random() < 0.5:
        attributes["mode"] = mode
    return attributes, [], []


_MAKERS = {"Pad": _onnx, "OpenVINOPad": _openvino, "NGraphPad": _ngraph, "SamePad": _same}
