"""Random Slices, flips, blocks and Concats, a few of which form Pads: each conversion has the bits of its original."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable

import native
import numpy as np
import onnx
from case_strategies import explore
from emulations import MOST, Nodes, emulated, runner
from hypothesis import strategies as st
from small_models import FLOAT, INT8, convert, tensor

from padops.spec.dtypes import by_onnx

Draw = Callable[[st.SearchStrategy], object]
FORMS = ("circular", "reflect", "symmetric", "edge", "tile", "zeros")
EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "30"))


def is_sound(message: onnx.ModelProto, data: np.ndarray) -> bool:
    """Whether the inputs of every Concat fit: ONNX allows no empty ones with other dims; ONNX Runtime ignores them."""
    shown = onnx.ModelProto()
    shown.CopyFrom(message)
    joins = [node for node in message.graph.node if node.op_type == "Concat"]
    names = {name for node in joins for name in (*node.input, *node.output)}
    known = {value.name for value in (*message.graph.input, *message.graph.output, *message.graph.initializer)}
    shown.graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(names - known))
    session = native.session(shown)
    arrays = dict(zip([value.name for value in session.get_outputs()], session.run(None, {"x": data}), strict=True))
    dims = {name: list(array.shape) for name, array in ({"x": data} | arrays).items()}
    others = [[dims[name][: n.attribute[0].i] + dims[name][n.attribute[0].i :][1:] for name in n.input if name in dims]
              for n in joins]  # fmt: skip
    return all(row == rows[0] for rows in others for row in rows)


class Drawn:
    """Parts of a model along one axis of its data."""

    def __init__(self, draw: Draw, n: Nodes, rank: int, kind: int) -> None:
        self.draw, self.n, self.rank, self.kind = draw, n, rank, kind

    def sizes(self, axis: int, count: int) -> list[int]:
        return [count if i == axis else 1 for i in range(self.rank)]

    def zeros(self, value: str, axis: int, count: int) -> str:
        """A block beside ``value``, whatever its dims."""
        n, shape = self.n, self.n.node("Shape", [value])
        parts = [n.constant([count]) if i == axis else n.cut(shape, 0, i, i + 1) for i in range(self.rank)]
        shape = n.join(*parts, axis=0) if self.rank > 1 else parts[0]
        return n.node("ConstantOfShape", [shape], value=tensor("value", [0], by_onnx(self.kind).numpy))

    def a_pad(self, value: str, axis: int, form: str) -> list[str]:
        """The parts of a Pad, of data that are long enough."""
        n, cut = self.n, self.n.cut
        begin, end = self.draw(st.integers(0, 3)), self.draw(st.integers(0, 3))
        sides: dict[str, Callable[[], tuple[str, str]]] = {
            "circular": lambda: (cut(value, axis, -begin), cut(value, axis, 0, end)),
            "reflect": lambda: (n.flip(cut(value, axis, 1, begin + 1), axis), cut(value, axis, -2, -2 - end, -1)),
            "symmetric": lambda: (n.flip(cut(value, axis, 0, begin), axis), cut(value, axis, -1, -1 - end, -1)),
            "edge": lambda: (n.expand(cut(value, axis, 0, 1), self.sizes(axis, begin)),
                             n.expand(cut(value, axis, -1), self.sizes(axis, end))),
            "tile": lambda: (n.tile(cut(value, axis, 0, 1), self.sizes(axis, begin)), value),
            "zeros": lambda: (self.zeros(value, axis, begin), self.zeros(value, axis, end)),
        }  # fmt: skip
        before, after = sides[form]()
        return [*([before] if begin else []), value, *([after] if end and form != "tile" else [])]

    def a_part(self, value: str, axis: int) -> str:
        """Anything that may stand beside the data."""
        n, draw, number = self.n, self.draw, st.integers(-5, 5)
        what = draw(st.sampled_from(["data", "cut", "cut", "cut", "twice", "taken", "zeros", "tile"]))
        if what == "data":
            return value
        if what == "zeros":
            return self.zeros(value, axis, draw(st.integers(0, 2)))
        if what == "taken":
            return n.take(value, draw(st.lists(number, min_size=1, max_size=3)), axis)
        if what == "tile":
            return n.tile(value, self.sizes(axis, draw(st.integers(0, 3))))
        step = draw(st.sampled_from([1, 1, -1, 2, -2]))
        end = draw(st.one_of(number, st.sampled_from([MOST, -MOST])))
        other = draw(st.sampled_from([axis, axis, axis, axis, self.rank - 1]))
        part = n.cut(value, other, draw(number), end, step)
        return n.flip(part, axis) if what == "twice" else part

    def a_stage(self, value: str, axis: int, form: str) -> str:
        """A Concat along one axis: a Pad, one with a part that is another, or anything."""
        draw, how = self.draw, self.draw(st.sampled_from(["pad", "pad", "pad", "changed", "anything"]))
        if how == "anything":
            parts = [self.a_part(value, axis) for _ in range(draw(st.integers(2, 4)))]
        else:
            parts = self.a_pad(value, axis, form)
        if how == "changed":
            parts[draw(st.integers(0, len(parts) - 1))] = self.a_part(value, axis)
            if draw(st.booleans()):
                parts.reverse()
        return self.n.join(*parts, axis=axis - self.rank if draw(st.booleans()) else axis)


@st.composite
def models(draw: Draw) -> tuple[onnx.ModelProto, list[list[int]]]:
    """A model, and shapes for its input."""
    rank, kind = draw(st.integers(1, 3)), draw(st.sampled_from([FLOAT, INT8]))
    sizes = [draw(st.integers(1, 6)) for _ in range(rank)]
    is_open = [draw(st.integers(0, 2)) == 0 for _ in range(rank)]
    axes = draw(st.one_of(st.just(range(rank)), st.lists(st.integers(0, rank - 1), min_size=1, max_size=3)))
    form = draw(st.sampled_from(FORMS))

    def write(n: Nodes) -> str:
        value, drawn = "x", Drawn(draw, n, rank, kind)
        for axis in axes:
            value = drawn.a_stage(value, axis, form if draw(st.integers(0, 3)) else draw(st.sampled_from(FORMS)))
        return value

    dims = [f"d{i}" if is_open[i] else size for i, size in enumerate(sizes)]
    message = emulated(write, dims, draw(st.sampled_from([12, 17, 21])), kind)
    others = [[draw(st.integers(0, 6)) for _ in range(rank)], *([few] * rank for few in (0, 1, 2))]
    shapes = [sizes, *([row[i] if is_open[i] else sizes[i] for i in range(rank)] for row in others)]
    return message, [list(shape) for shape in dict.fromkeys(map(tuple, shapes))]


def test_whatever_is_converted_has_the_same_bits() -> None:
    seen: Counter[str] = Counter()

    def check(case: tuple[onnx.ModelProto, list[list[int]]]) -> None:
        original, shapes = case
        conversion = convert(original, fold=True)
        seen["converted" if conversion.converted else "kept"] += 1
        if not conversion.converted:
            assert conversion.proto() == original
            return
        kind = by_onnx(original.graph.input[0].type.tensor_type.elem_type)
        before, after = runner(original), runner(conversion.proto())
        for shape in shapes:
            data = native.random_array(np.random.default_rng(1), kind, shape)
            wanted = before(data)
            if wanted is not None and after(data) != wanted:
                assert not is_sound(original, data), (shape, onnx.printer.to_text(original))
            seen["compared"] += wanted is not None

    kinds = ("converted", "kept", "compared")
    explore(models(), check, EXAMPLES, lambda: all(seen[kind] > EXAMPLES / 6 for kind in kinds))
