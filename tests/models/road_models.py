"""Random models of one to four Pads of ONNX, what they are fed with, and what they must give.

Opsets 1 to 25; Pads of every form between other nodes, in branches, loops and functions. The same seed and number give
the same model. ``road_scopes.py`` says what it must give; ``roads.py`` takes it along every road of padops.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import native
import numpy as np
import onnx
from onnx import AttributeProto, helper
from road_scopes import INT32, INT64, Book, Broken, Dice, Engine, Scope, Values

from padops.conformance.model import ir_version
from padops.runtime.ort_values import PLAIN
from padops.spec.dialects import OPS, onnx_op
from padops.spec.dtypes import by_name

BOOL = onnx.TensorProto.BOOL
BODY_TYPES = PLAIN | {"bfloat16"}  # of which onnxruntime has If, Loop and Scan, bfloat16 from opset 16


@dataclass
class RoadModel:
    proto: onnx.ModelProto
    feeds: Values
    expected: list[np.ndarray] | str  # its outputs, or the rule that a Pad breaks, as the reference words it
    broken: bool  # whether any Pad breaks a rule, in a branch that is not taken, perhaps
    features: tuple[str, ...]  # what is in it, in words


def draw(seed: int, number: int) -> RoadModel:
    dice = Dice(np.random.default_rng([seed, number]))
    opset = dice.pick([*range(1, 26), 11, 13, 17, 18, 18, 19, 21])
    # A type that the opset's Pad has; now and then one for which the opset is too old.
    listed = OPS["Pad_21" if opset >= 11 and dice.chance(0.04) else onnx_op(opset)].types
    fitting = [row for row in native.TYPES if row.name in listed]
    common = [row for row in fitting if row.name in ("float", "double", "float16", "string", "bool", "int32", "uint8")]
    dtype = dice.pick(common * 2 + fitting)
    share = {"float": 0.5, "double": 0.2, "float16": 0.2, "int8": 0.2}.get(dtype.name)
    whole = share is not None and dice.chance(share)
    book = Book(dice, opset, dtype, whole)
    book.features |= {f"opset {opset}", dtype.name}
    main = Scope(book)
    rank = dice.pick([0, 1, 2, 2, 3, 3, 3, 4, 4, 4, 5])
    shape = [dice.pick([1, 2, 3, 4, 5, 6, dice.number(0, 7)]) for _ in range(rank)]
    array, declared = book.array(shape), None
    if not dice.chance(0.12):
        is_known = dice.chance(0.35)
        declared = [n if is_known else dice.pick([n, n, f"dim{i}", None]) for i, n in enumerate(shape)]
    data = main.seen(book.feed(array, declared, "x"), array)
    outputs = _steps(main, data, dice.pick([1, 1, 2, 2, 3, 4]), depth=0)
    infos = []
    for name in outputs:
        known = name in main.values and dice.chance(0.5)
        dims = [None] * main.values[name].ndim if known else None
        infos.append(helper.make_tensor_value_info(name, dtype.onnx, dims))
    graph = helper.make_graph(main.nodes, "g", book.inputs, infos, book.tensors)
    imports = [helper.make_opsetid(*row) for row in (("", opset), *[("local", 1)] * bool(book.functions))]
    proto = helper.make_model(graph, opset_imports=imports, ir_version=ir_version(opset), functions=book.functions)
    try:
        expected: list[np.ndarray] | str = Engine(proto).run(None, book.feeds)
    except Broken as error:
        expected = str(error)
    broken = "broken" in book.features or isinstance(expected, str)
    return RoadModel(proto, book.feeds, expected, broken, tuple(sorted(book.features)))


def _steps(scope: Scope, data: str, pads: int, depth: int) -> list[str]:
    """So many Pads behind a value, with other nodes between; gives the last value, and perhaps some before it."""
    dice, results = scope.dice, []
    try:
        while pads > 0:
            data = _between(scope, data)
            holds = scope.book.dtype.name in BODY_TYPES and (scope.book.dtype.name in PLAIN or scope.book.opset >= 16)
            if holds and scope.kind != "function" and dice.chance(0.35 if depth == 0 else 0.15):
                inside = dice.number(1, min(pads, 2))
                data = _container(scope, data, inside, depth)
                pads -= inside
            else:
                data = _turned(scope, data) if dice.chance(0.15) else pad(scope, data)
                pads -= 1
            if depth == 0 and scope.kind == "main" and pads and dice.chance(0.2):
                results.append(data)
        data = _between(scope, data)
    except Broken:
        data = scope.nodes[-1].output[0]
    return [data, *results]


def _between(scope: Scope, data: str) -> str:
    dice, book, array = scope.dice, scope.book, scope.values[data]
    ways: list[str] = []
    if book.dtype.name in PLAIN:
        ways += ["Identity", "Transpose"] if array.ndim else ["Identity"]
    if book.whole and (book.opset >= 6 and book.dtype.name != "int8" or book.opset >= 14):
        ways += ["Relu"]
    is_image = array.ndim in (3, 4, 5) and min(array.shape) > 0 and not scope.resized
    if book.dtype.name == "float" and book.whole and is_image:
        ways += ["MaxPool"] * 3 + ["Conv"] * 3
    if not ways or not dice.chance(0.35):
        return data
    way = dice.pick(ways)
    book.features.add(way)
    if way == "Transpose":
        return scope.add("Transpose", [data], {"perm": dice.order(array.ndim)})
    if way in ("MaxPool", "Conv"):
        kernel = [dice.number(1, min(n, 3)) for n in array.shape[2:]]
        if way == "MaxPool":
            return scope.add("MaxPool", [data], {"kernel_shape": kernel})
        weight = dice.rng.integers(1, 4, (dice.number(1, 2), array.shape[1], *kernel)).astype(np.float32)
        if abs(array).max(initial=0) > 1e5:
            return data
        return scope.add("Conv", [data, scope.held(weight)])
    return scope.add(way, [data])


def _turned(scope: Scope, data: str) -> str:
    """A Pad between two Transposes, as exporters of channels-last networks write it."""
    array = scope.values[data]
    if array.ndim < 2 or scope.book.dtype.name not in PLAIN:
        return pad(scope, data)
    order = scope.dice.order(array.ndim)
    scope.book.features.add("between Transposes")
    padded = pad(scope, scope.add("Transpose", [data], {"perm": order}))
    return scope.add("Transpose", [padded], {"perm": np.argsort(order).tolist()})


def _container(scope: Scope, data: str, pads: int, depth: int) -> str:
    ways = ["Loop"] + ["function"] * 2 * (scope.book.opset >= 7)  # onnx infers no type through what is older
    ways += ["If"] * 3 * (scope.book.opset >= 11 or not scope.resized)
    way = scope.dice.pick(ways)
    scope.book.features.add(way)
    return {"If": _branches, "Loop": _loop, "function": _function}[way](scope, data, pads, depth)


def _graph(scope: Scope, outputs: list[str], inputs: list[onnx.ValueInfoProto]) -> onnx.GraphProto:
    kinds = [BOOL if name.startswith("go") else scope.book.dtype.onnx for name in outputs]
    infos = [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(outputs, kinds)]
    return helper.make_graph(scope.nodes, scope.book.name("body"), inputs, infos, scope.tensors)


def _branches(scope: Scope, data: str, pads: int, depth: int) -> str:
    """An If; of a constant condition in two of three. Before opset 11 both branches have to give one shape."""
    dice, book = scope.dice, scope.book
    chosen = np.array(dice.chance(0.5))
    condition = getattr(scope, dice.pick(["constant", "held", "fed"]))(chosen)
    branches = []
    for is_taken in (True, False):
        inner = scope.inner()
        last = data
        if is_taken or (book.opset >= 11 and dice.chance(0.7)):
            last = _steps(inner, data, pads, depth + 1)[0]
        if last == data:
            last = inner.add("Identity", [data])
        branches.append((inner, last))
    if book.opset < 11 and branches[0][1] in branches[0][0].values:
        other = scope.inner()
        branches[1] = other, other.constant(book.array(branches[0][0].values[branches[0][1]].shape))
    graphs = [_graph(inner, [last], []) for inner, last in branches][:: 1 if chosen else -1]
    return scope.add("If", [condition], {"then_branch": graphs[0], "else_branch": graphs[1]})


def _loop(scope: Scope, data: str, pads: int, depth: int) -> str:
    """A Loop whose state every turn pads; perhaps with another Pad's output of each turn."""
    dice, book = scope.dice, scope.book
    turns = dice.number(1, 2)
    inner = scope.inner(resized=True)
    state, turn, go = book.name("s"), book.name("i"), book.name("go")
    inner.values |= {state: scope.values[data], turn: np.int64(0), go: np.bool_(True)}
    rows = ((turn, onnx.TensorProto.INT64, []), (go, BOOL, []), (state, book.dtype.onnx, None))
    inputs = [helper.make_tensor_value_info(*row) for row in rows]
    last = _steps(inner, state, pads, depth + 1)[0]
    goes_on = book.name("go")
    inner.nodes.append(helper.make_node("Identity", [go], [goes_on], name=book.name("n")))
    body = _graph(inner, [goes_on, last], inputs)
    count = getattr(scope, dice.pick(["constant", "held", "fed"]))(np.array(turns, np.int64))
    return scope.add("Loop", [count, scope.constant(np.array(True)), data], {"body": body})


def _function(scope: Scope, data: str, pads: int, depth: int) -> str:
    dice, book = scope.dice, scope.book
    again = scope.resized or dice.chance(0.4)
    inner = Scope(book, "function", main=scope.root, resized=again)
    first = book.name("f")
    inner.values[first] = scope.values[data]
    last = _steps(inner, first, pads, depth + 1)[0]
    if last == first:
        last = inner.add("Identity", [first])
    name = book.name("Function")
    imports = [helper.make_opsetid("", book.opset)]
    formals, given = [first, *inner.formals], sorted(inner.given)
    book.functions.append(helper.make_function("local", name, formals, [last], inner.nodes, imports, given))
    actual = [data, *inner.formals.values()]
    result = scope.add(name, actual, inner.given, "local")
    if again and scope.values[result].size < 1000 and dice.chance(0.5):
        return scope.add(name, [result, *actual[1:]], inner.given, "local")
    return result


# --- one Pad, right or wrong: mode, amounts, axes and fill in every form that a model can hold ------------------------

MAX_ELEMENTS = 3000  # of an output
WRONG = 0.05  # of all Pads
MOST = np.iinfo(np.int64).max


def pad(scope: Scope, data: str) -> str:
    """A Pad of a value; gives the name of its output.

    Raises:
        Broken: It breaks a rule.
    """
    dice, opset = scope.dice, scope.book.opset
    shape = scope.values[data].shape
    modes = ["constant", "constant", "constant", "reflect", "reflect", "edge", "edge"]
    mode = dice.pick(modes + ["wrap", "wrap"] * (opset >= 19))
    mode = "wrap" if 2 <= opset < 19 and dice.chance(0.02) else mode
    begins, ends, axes = _amounts(dice, shape, opset >= 18)
    wrong = dice.pick(WRONGS) if dice.chance(WRONG) else ""
    pads = begins + ends
    if wrong == "count":
        pads = pads + [1] if dice.chance(0.5) or not pads else pads[:-1]
    elif wrong == "crop" and pads:
        pads[dice.number(0, len(pads) - 1)] = -dice.number(7, 60)
    elif wrong == "axes" and axes:
        axes[dice.number(0, len(axes) - 1)] = dice.pick([axes[0], axes[-1], len(shape), -len(shape) - 1])
    attributes: dict[str, Any] = {"mode": mode}
    if scope.kind == "function" and not scope.given and dice.chance(0.3):
        scope.given["mode"] = mode
        scope.book.features.add("mode of the caller")
        attributes["mode"] = AttributeProto(name="mode", type=AttributeProto.STRING, ref_attr_name="mode")
    elif mode == "constant" and dice.chance(0.5):
        attributes = {}
    if opset < 11:
        attributes["paddings" if opset == 1 else "pads"] = pads
        if mode == "constant" and dice.chance(0.6):
            others = [] if scope.book.whole else [2.5, -0.0, 1e30, float("inf"), float("nan")]
            attributes["value"] = float(dice.pick([0, 1, -3, *others]))
        return scope.add("Pad", [data], attributes)
    array = np.array(pads, INT64)
    if dice.chance(0.02):
        scope.book.features.add("pads of two dims")
        amounts = scope.plain(array.reshape(1, -1))
    else:
        amounts = _computed(scope, array, data) if dice.chance(0.3) else scope.plain(array)
    inputs = [data, amounts, _fill(scope, mode, wrong)]
    if axes is not None:
        array = np.array(axes, dice.pick([INT64, INT64, INT64, INT32]))
        is_computed = dice.chance(0.15) and array.dtype == INT64
        inputs.append(_computed(scope, array, None) if is_computed else scope.plain(array))
    while not inputs[-1]:
        inputs.pop()
    return scope.add("Pad", inputs, attributes)


WRONGS = ("count", "crop", "axes", "axes", "fill")


def _amounts(dice: Dice, shape: tuple[int, ...], with_axes: bool) -> tuple[list[int], list[int], list[int] | None]:
    """Begins, ends and axes whose output is small; mostly right."""
    rank = len(shape)
    axes = None
    listed = list(range(rank))
    if with_axes and dice.chance(0.5):
        count = dice.pick([rank, max(rank - 1, 0), dice.number(0, rank), min(rank, 1)])
        listed = dice.order(rank)[:count]
        listed = sorted(listed) if dice.chance(0.4) else listed
        axes = [axis - rank if dice.chance(0.4) else axis for axis in listed]
    low, high = dice.pick([(0, 2), (0, 3), (0, 3), (-1, 3), (-2, 4), (-6, 9), (0, 0)])
    begins = [dice.number(low, high) for _ in listed]
    ends = [dice.number(low, high) for _ in listed]
    if dice.chance(0.3):  # pads of images: the last axes alone
        begins = [n if axis >= rank - 2 else 0 for n, axis in zip(begins, listed)]
        ends = [n if axis >= rank - 2 else 0 for n, axis in zip(ends, listed)]
    for i, axis in enumerate(listed):
        kept = shape[axis] + min(begins[i], 0) + min(ends[i], 0)
        if begins[i] + ends[i] + shape[axis] < 0 or (kept <= 0 and dice.chance(0.9)):
            begins[i] = ends[i] = dice.number(0, 1) if shape[axis] else 0
    added = lambda: dict(zip(listed, map(sum, zip(begins, ends))))
    elements = lambda: prod(n + added().get(axis, 0) for axis, n in enumerate(shape))
    while elements() > MAX_ELEMENTS and max(begins + ends, default=0) > 0:
        largest = max(range(len(listed)), key=lambda i: max(begins[i], ends[i]))
        begins[largest], ends[largest] = min(begins[largest], 0), min(ends[largest], 0)
    return begins, ends, axes


def _computed(scope: Scope, array: np.ndarray, data: str | None) -> str:
    """Numbers that nodes compute, as exporters write them."""
    dice = scope.dice
    ways = ["identity", "concat", "cast", "sub", "slice"]
    ways += ["shape"] * 3 if data and scope.values[data].ndim and scope.book.dtype.name in PLAIN else []
    ways += ["turned"] * 2 if array.size and array.size % 2 == 0 else []
    way = dice.pick(ways)
    scope.book.features.add(f"computed: {way}")
    if way == "identity":
        return scope.add("Identity", [scope.plain(array)])
    if way == "concat":
        at = dice.number(0, array.size)
        return scope.add("Concat", [scope.plain(array[:at]), scope.plain(array[at:])], {"axis": 0})
    if way == "cast":
        return scope.add("Cast", [scope.plain(array.astype(INT32))], {"to": 7})
    if way == "slice":
        longer = np.concatenate([array, np.array([5], INT64)])
        one = [scope.constant(np.array([n], INT64)) for n in (0, array.size, 0, 1)]
        return scope.add("Slice", [scope.plain(longer), *one])
    if way == "shape":
        dims = scope.values[data].shape
        which = np.array([dice.number(0, len(dims) - 1) for _ in array], INT64)
        taken = scope.add("Gather", [scope.add("Shape", [data]), scope.held(which)])
        return scope.add("Sub", [taken, scope.plain(np.array(dims, INT64)[which] - array)])
    if way == "turned":  # as PyTorch's exporter turns pairs of the last axis first into begins and ends
        pairs = np.ascontiguousarray(array.reshape(2, -1).T[::-1]).reshape(-1)
        rows = scope.add("Reshape", [scope.plain(pairs), scope.held(np.array([-1, 2], INT64))])
        how = [scope.constant(np.array([n], INT64)) for n in (-1, -MOST, 0, -1)]
        turned = scope.add("Transpose", [scope.add("Slice", [rows, *how])], {"perm": [1, 0]})
        return scope.add("Reshape", [turned, scope.held(np.array([-1], INT64))])
    other = np.array([dice.number(-3, 3) for _ in array], INT64)
    return scope.add("Sub", [scope.plain(array + other), scope.held(other)])


def _fill(scope: Scope, mode: str, wrong: str) -> str:
    dice = scope.dice
    if dice.chance(0.4 if mode == "constant" else 0.85) and wrong != "fill":
        return ""
    count = dice.pick([(), (), (), (1,)])
    if wrong == "fill":
        count = (2,)
    if scope.book.dtype is by_name("float") and dice.chance(0.2) and not scope.book.whole:
        return scope.plain(np.zeros(count, np.float32))
    return scope.plain(scope.book.array(count))
