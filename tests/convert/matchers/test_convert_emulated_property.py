"""Random Slices, flips, blocks and Concats, a few of which form Pads: each conversion has the bits of its original."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable

import native
import numpy as np
import onnx
from case_strategies import explore
from emulations import MOST, Nodes, emulated
from hypothesis import strategies as st
from small_models import FLOAT, INT8, convert, tensor

from padops.spec.dtypes import by_onnx

Draw = Callable[[st.SearchStrategy], object]
FORMS = ("circular", "reflect", "symmetric", "edge", "tile", "zeros")
EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "80"))


def run_or_fail(message: onnx.ModelProto, data: np.ndarray) -> tuple | None:
    """The bits of the output, or None where ONNX Runtime refuses the model or the data."""
    try:
        return native.bits(native.run_session(native.session(message), {"x": data}))
    except Exception as error:
        assert type(error).__module__.startswith("onnxruntime"), error
        return None


def is_sound(message: onnx.ModelProto, data: np.ndarray) -> bool:
    """Return whether the inputs of every Concat fit together.

    ONNX does not allow empty inputs with other dims, and ONNX Runtime ignores them.
    """
    shown = onnx.ModelProto()
    shown.CopyFrom(message)
    joins = [node for node in message.graph.node if node.op_type == "Concat"]
    names = {name for node in joins for name in (*node.input, *node.output)}
    known = {value.name for value in (*message.graph.input, *message.graph.output, *message.graph.initializer)}
    shown.graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(names - known))
    session = native.session(shown)
    arrays = dict(zip([value.name for value in session.get_outputs()], session.run(None, {"x": data}), strict=True))
    dims = {name: list(array.shape) for name, array in ({"x": data} | arrays).items()}
    for node in joins:
        axis = node.attribute[0].i
        others = [dims[name][:axis] + dims[name][axis:][1:] for name in node.input if name in dims]
        if any(other != others[0] for other in others):
            return False
    return True


def zeros(n: Nodes, value: str, axis: int, rank: int, count: int, kind: int) -> str:
    """A block beside ``value``, whatever its dims."""
    shape = n.node("Shape", [value])
    parts = [n.constant([count]) if i == axis else n.cut(shape, 0, i, i + 1) for i in range(rank)]
    shape = n.node("Concat", parts, axis=0) if rank > 1 else parts[0]
    return n.node("ConstantOfShape", [shape], value=tensor("value", [0], by_onnx(kind).numpy))


def a_pad(draw: Draw, n: Nodes, value: str, axis: int, rank: int, kind: int, form: str) -> list[str]:
    """The parts of a Pad, of data that are long enough."""
    begin, end = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    before, after = [], []
    if form == "circular":
        before, after = [n.cut(value, axis, -begin)], [n.cut(value, axis, 0, end)]
    elif form == "reflect":
        before, after = [n.flip(n.cut(value, axis, 1, begin + 1), axis)], [n.cut(value, axis, -2, -2 - end, -1)]
    elif form == "symmetric":
        before, after = [n.flip(n.cut(value, axis, 0, begin), axis)], [n.cut(value, axis, -1, -1 - end, -1)]
    elif form == "edge":
        shapes = [[count if i == axis else 1 for i in range(rank)] for count in (begin, end)]
        first, last = n.cut(value, axis, 0, 1), n.cut(value, axis, -1)
        before, after = [n.expand(first, shapes[0])], [n.expand(last, shapes[1])]
    elif form == "tile":
        repeats = [begin if i == axis else 1 for i in range(rank)]
        before = [n.tile(n.cut(value, axis, 0, 1), repeats)]
    else:
        before, after = ([zeros(n, value, axis, rank, count, kind)] for count in (begin, end))
    return [*(before if begin else []), value, *(after if end else [])]


def a_part(draw: Draw, n: Nodes, value: str, axis: int, rank: int, kind: int) -> str:
    """Anything that may stand beside the data."""
    number = st.integers(-5, 5)
    what = draw(st.sampled_from(["data", "cut", "cut", "cut", "twice", "taken", "zeros", "tile"]))
    if what == "data":
        return value
    if what == "zeros":
        return zeros(n, value, axis, rank, draw(st.integers(0, 2)), kind)
    if what == "taken":
        return n.take(value, draw(st.lists(number, min_size=1, max_size=3)), axis)
    if what == "tile":
        return n.tile(value, [draw(st.integers(0, 3)) if i == axis else 1 for i in range(rank)])
    step = draw(st.sampled_from([1, 1, -1, 2, -2]))
    end = draw(st.one_of(number, st.sampled_from([MOST, -MOST])))
    other = draw(st.sampled_from([axis, axis, axis, axis, rank - 1]))
    part = n.cut(value, other, draw(number), end, step)
    return n.flip(part, axis) if what == "twice" else part


def a_stage(draw: Draw, n: Nodes, value: str, axis: int, rank: int, kind: int, form: str) -> str:
    """A Concat along one axis: a Pad, one with a part that is another, or anything."""
    how = draw(st.sampled_from(["pad", "pad", "pad", "changed", "anything"]))
    if how == "anything":
        parts = [a_part(draw, n, value, axis, rank, kind) for _ in range(draw(st.integers(2, 4)))]
    else:
        parts = a_pad(draw, n, value, axis, rank, kind, form)
    if how == "changed":
        i = draw(st.integers(0, len(parts) - 1))
        parts[i] = a_part(draw, n, value, axis, rank, kind)
        if draw(st.booleans()):
            parts.reverse()
    shown = axis - rank if draw(st.booleans()) else axis
    return n.join(*parts, axis=shown)


@st.composite
def models(draw: Draw) -> tuple[onnx.ModelProto, list[list[int]]]:
    """A model, and shapes for its input."""
    rank = draw(st.integers(1, 3))
    kind = draw(st.sampled_from([FLOAT, INT8]))
    sizes = [draw(st.integers(1, 6)) for _ in range(rank)]
    is_open = [draw(st.integers(0, 2)) == 0 for _ in range(rank)]
    axes = draw(st.one_of(st.just(range(rank)), st.lists(st.integers(0, rank - 1), min_size=1, max_size=3)))
    form = draw(st.sampled_from(FORMS))

    def write(n: Nodes) -> str:
        value = "x"
        for axis in axes:
            this = form if draw(st.integers(0, 3)) else draw(st.sampled_from(FORMS))
            value = a_stage(draw, n, value, axis, rank, kind, this)
        return value

    dims = [f"d{i}" if is_open[i] else size for i, size in enumerate(sizes)]
    message = emulated(write, dims, draw(st.sampled_from([12, 17, 21])), kind)
    others = [draw(st.integers(0, 6)) for _ in range(rank)] if any(is_open) else sizes
    shapes = [sizes, [other if is_open[i] else sizes[i] for i, other in enumerate(others)]]
    shapes += [[few if is_open[i] else sizes[i] for i in range(rank)] for few in (0, 1, 2)]
    return message, [list(shape) for shape in dict.fromkeys(map(tuple, shapes))]


def test_whatever_is_converted_has_the_same_bits() -> None:
    """The bits agree also for computed amounts, and for one Pad of several axes."""
    seen: Counter[str] = Counter()

    def check(case: tuple[onnx.ModelProto, list[list[int]]]) -> None:
        original, shapes = case
        conversion = convert(original, fold=True)
        seen["converted" if conversion.converted else "kept"] += 1
        seen["computed"] += any("computed" in note for record in conversion.converted for note in record.notes)
        seen["several axes"] += any(record.notes[0].count("concat") > 1 for record in conversion.converted)
        if not conversion.converted:
            assert conversion.proto() == original
            return
        kind = by_onnx(original.graph.input[0].type.tensor_type.elem_type)
        for shape in shapes:
            data = native.random_array(np.random.default_rng(1), kind, shape)
            wanted = run_or_fail(original, data)
            if wanted is not None and is_sound(original, data):
                assert run_or_fail(conversion.proto(), data) == wanted, (shape, onnx.printer.to_text(original))
                seen["compared"] += 1

    least = {
        "converted": EXAMPLES / 5,
        "kept": EXAMPLES / 5,
        "compared": EXAMPLES / 4,
        "several axes": 5,
        "computed": 2,
    }
    explore(models(), check, EXAMPLES, lambda: all(seen[kind] > count for kind, count in least.items()))
