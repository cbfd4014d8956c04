"""What ONNX Runtime's optimizers make of a Pad, in the smallest models; padops is right on every road past them.

Each model ran on the CPU with optimisation off, basic, extended and all, on each of ``VERSIONS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import native
import numpy as np
import oldest_runtime
import onnx
import onnxruntime
import pytest
import roads
from onnx import helper, parser

import padops
from padops.runtime.ort_values import run_session

VERSIONS = ("1.24.4", "1.31.1", "1.32.0")
WRONG, REFUSED = "wrong: basic, extended, all", "refused: basic, extended, all"
STRAYS = "reads outside of the data"  # what it gives there is chance
RIGHT, TO_1_31, REFUSES = ("right",) * 3, (WRONG, WRONG, "right"), (REFUSED,) * 3


@dataclass(frozen=True)
class Row:
    """One model: the nodes of its graph, and functions of the domain ``local``.

    Attributes:
        found: What each of ``VERSIONS`` alone makes of it.
        feeds: Inputs, by name, that are not numbers below 0.
        finite: Whether its weights are; else a Pad that is padding skips what a Pad of zeros makes NaN, in padops as
            well.
    """

    name: str
    nodes: str
    tensors: str = ""
    found: tuple[str, ...] = RIGHT
    kind: str = "float"
    shape: str = "[1, 1, 4, 4]"
    more: str = ""  # inputs
    result: str = ""  # the type of the output, unless it is that of the input
    opset: int = 18
    functions: str = ""
    feeds: dict[str, np.ndarray] = field(default_factory=dict)
    finite: bool = True

    def model(self) -> onnx.ModelProto:
        imports = f'"": {self.opset}, "com.microsoft": 1' + (', "local": 1' if self.functions else "")
        signature = f"({self.kind}{self.shape} x{self.more}) => ({self.result or self.kind}[] y)"
        graph = f"g {signature} <{self.tensors}> {{ {self.nodes} }}"
        return parser.parse_model(f"<ir_version: 8, opset_import: [{imports}]> {graph} {self.functions}")

    def inputs(self) -> dict[str, np.ndarray]:
        """Whole numbers, so that every order of summing gives the same bits."""
        if "x" in self.feeds:
            return self.feeds
        x = self.model().graph.input[0].type.tensor_type
        numbers = np.random.default_rng(0).integers(1, 100, [dim.dim_value for dim in x.shape.dim])
        dtype = helper.tensor_dtype_to_np_dtype(x.elem_type)
        return {"x": (numbers if dtype == np.uint8 else -numbers).astype(dtype)} | self.feeds


P = "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}"
LAST = "int64[8] p = {0, 1, 1, 0, 0, 1, 1, 0}"  # of NHWC
INNER = "int64[8] p = {0, 1, 2, 0, 0, 3, 1, 0}"
W = f"{P}, float[1, 1, 3, 3] w = {{1, 2, 3, 4, 5, 6, 7, 8, 9}}"
BLOCKS = f"{P}, float[8, 8, 3, 3] w = {{{', '.join(str(i % 7 - 3) for i in range(576))}}}"
POOL = "MaxPool <kernel_shape = [3, 3], strides = [2, 2]>"
LAST_FROM, LAST_BACK = "Transpose <perm = [0, 2, 3, 1]>", "Transpose <perm = [0, 3, 1, 2]>"
EDGE, REFLECT = '<mode = "edge">', '<mode = "reflect">'
Q = f"{P}, float s = {{0.5}}, int8 o = {{3}}"
U = "uint8[1, 1, 3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8 o = {3}, float s = {0.5}"


def _pooled(name: str, before: str = "", tensors: str = "", found: tuple[str, ...] = TO_1_31, pool: str = POOL,
            pads: str = P, pad: str = "Pad (x, p)", **more: Any) -> Row:  # fmt: skip
    """A Pad z in front of a pooling that reads v, or z where nothing is between."""
    nodes = f"z = {pad} {before} y = {pool} ({'v' if before else 'z'})"
    return Row(name, nodes, (pads + tensors).removeprefix(", "), found, **more)


def _with_axes(name: str, pads: str, axes: str, found: Any = REFUSES, mode: str = REFLECT, after: str = "") -> Row:
    nodes = f"t = {LAST_FROM} (x) z = Pad {mode} (t, p, , axes) {after or f'y = {LAST_BACK} (z)'}"
    tensors = (f"int64[{row.count(',') + 1}] {name} = {{{row}}}" for name, row in (("p", pads), ("axes", axes)))
    return Row(name, nodes, ", ".join(tensors), found)


def _constant(mode: str, pads: str, size: int, found: tuple[str, ...] = RIGHT) -> Row:
    return Row(f"constant data, {mode} by {pads}", f'z = Pad <mode = "{mode}"> (c, p) y = Add (z, x)',
               f"float[3] c = {{1, 2, 3}}, int64[2] p = {{{pads}}}", found, shape="[n]", opset=19,
               feeds={"x": np.zeros(size, np.float32)})  # fmt: skip


ROWS = {row.name: row for row in (
    # --- MaxPool
    _pooled("MaxPool"),
    _pooled("MaxPool, a fill of 0", pad="Pad (x, p, f)", tensors=", float f = {0}"),
    _pooled("MaxPool, a fill of -0", pad="Pad (x, p, f)", tensors=", float f = {-0.0}", found=RIGHT),
    _pooled("MaxPool, a fill of 5", pad="Pad (x, p, f)", tensors=", float f = {5}", found=RIGHT),
    _pooled("MaxPool, opset 10", pad="Pad <pads = [0, 0, 1, 1, 0, 0, 1, 1]> (x)", pads="", opset=10),
    _pooled("MaxPool, opset 22", opset=22, found=("right", WRONG, "right")),
    _pooled("MaxPool of int8", kind="int8"),
    _pooled("MaxPool of uint8", kind="uint8", found=RIGHT),
    _pooled("MaxPool of uint8, a Pad as large as the kernel", kind="uint8", pool="MaxPool <kernel_shape = [1, 1]>",
            found=(REFUSED, REFUSED, "right")),
    _pooled("MaxPool, padded channels", pads="int64[8] p = {0, 1, 1, 1, 0, 0, 1, 1}", found=RIGHT),
    _pooled("MaxPool, a crop", pads="int64[8] p = {0, 0, -1, 1, 0, 0, 1, 2}", found=RIGHT),
    _pooled("MaxPool, axes", pad="Pad (x, p, , axes)", pads="int64[4] p = {1, 1, 1, 1}, int64[2] axes = {2, 3}",
            found=RIGHT),
    _pooled("MaxPool, com.microsoft::Pad", pad="com.microsoft.Pad (x, p)", found=RIGHT),
    Row("MaxPool, computed amounts", f"p = Concat <axis = 0> (h, h) z = Pad (x, p) y = {POOL} (z)",
        "int64[4] h = {0, 0, 1, 1}", TO_1_31),
    Row("MaxPool, amounts from the shape", "s = Shape (x) t = Div (s, s) u = Mul (t, h) p = Concat <axis = 0> (u, u) "
        f"z = Pad (x, p) y = {POOL} (z)", "int64[4] h = {0, 0, 1, 1}", TO_1_31),
    _pooled("two Pads and a MaxPool", "v = Pad (z, p)"),
    # --- with something between that goes away
    _pooled("MaxPool behind Identity", "v = Identity (z)"),
    _pooled("MaxPool behind Dropout", "v = Dropout (z)"),
    _pooled("MaxPool behind Cast", "v = Cast <to = 1> (z)"),
    _pooled("MaxPool behind Add of 0", "v = Add (z, n)", ", float n = {0}"),
    _pooled("MaxPool behind Mul by 1", "v = Mul (z, n)", ", float n = {1}"),
    _pooled("MaxPool behind Expand", "v = Expand (z, n)", ", int64[1] n = {1}"),
    _pooled("MaxPool behind Slice", "v = Slice (z, n, m)", ", int64[1] n = {0}, int64[1] m = {9223372036854775807}"),
    _pooled("MaxPool behind Pad of 0", "v = Pad (z, n)", ", int64[8] n = {0, 0, 0, 0, 0, 0, 0, 0}"),
    _pooled("MaxPool behind Reshape", "v = Reshape (z, n)", ", int64[4] n = {0, 0, 0, 0}", RIGHT),
    _pooled("MaxPool behind Unsqueeze and Squeeze", "u = Unsqueeze (z, n) v = Squeeze (u, n)", ", int64[1] n = {0}",
            RIGHT),
    _pooled("MaxPool behind Relu", "v = Relu (z)", found=RIGHT),
    _pooled("MaxPool behind two Transposes", f"u = {LAST_FROM} (z) v = {LAST_BACK} (u)"),
    Row("MaxPool, channels last", f"t = {LAST_FROM} (x) z = Pad (t, p) v = {LAST_BACK} (z) y = {POOL} (v)", LAST,
        TO_1_31),
    Row("MaxPool behind a branch", "z = If (n) <then_branch = t () => (float[e, f, h, i] m) { m = Pad (x, p) }, "
        f"else_branch = o () => (float[j, k, l, q] r) {{ r = Identity (x) }}> y = {POOL} (z)",
        P + ", bool n = {1}", TO_1_31),
    Row("MaxPool behind a function", f"z = local.padded (x) y = {POOL} (z)", "", TO_1_31,
        functions='<domain: "local", opset_import: ["": 18]> padded (i) => (j) '
        "{ p = Constant <value = int64[8] {0, 0, 1, 1, 0, 0, 1, 1}> () k = Identity (i) j = Pad (k, p) }"),
    # --- other poolings
    _pooled("AveragePool", pool="AveragePool <kernel_shape = [2, 2], strides = [2, 2]>", found=RIGHT),
    _pooled("AveragePool with ceil_mode", shape="[1, 1, 5, 5]",
            pool="AveragePool <kernel_shape = [2, 2], strides = [3, 3], ceil_mode = 1, count_include_pad = 1>"),
    _pooled("AveragePool that pads as well", pool="AveragePool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]>",
            found=RIGHT),
    _pooled("GlobalMaxPool", pool="GlobalMaxPool", found=RIGHT),
    # --- convolutions
    Row("Conv", "z = Pad (x, p) y = Conv (z, w)", W),
    Row("Conv, an infinite weight", "z = Pad (x, p) y = Conv (z, w)", W.replace("{1,", "{inf,"), ("wrong: all",) * 3,
        finite=False),
    Row("Conv that pads as well", "z = Pad (x, p) y = Conv <pads = [1, 2, 1, 2]> (z, w)", W),
    Row("Conv, channels last", f"t = {LAST_FROM} (x) z = Pad (t, p) v = {LAST_BACK} (z) y = Conv (v, w)",
        W.replace(P, LAST)),
    Row("ConvInteger", "z = Pad (x, p) y = ConvInteger (z, w, o)", f"{P}, {U}", kind="uint8", result="int32"),
    Row("QLinearConv", "z = Pad (x, p) y = QLinearConv (z, s, o, w, s, o, s, o)", f"{P}, {U}", kind="uint8"),
    Row("QLinearConv around a Pad", f"a1 = QLinearConv (x, s, o, w, s, o, s, o) z = Pad {EDGE} (a1, p) "
        "y = QLinearConv (z, s, o, w, s, o, s, o)", f"{P}, {U}", kind="uint8"),
    Row("QLinearConv around a Pad with axes", f"a1 = QLinearConv (x, s, o, w, s, o, s, o) z = Pad {EDGE} "
        "(a1, p, , axes) y = QLinearConv (z, s, o, w, s, o, s, o)",
        f"int64[4] p = {{1, 2, 1, 1}}, int64[2] axes = {{2, 3}}, {U}", ("refused: all",) * 3, kind="uint8"),
    Row("blocked Convs around a Pad", f"a1 = Conv (x, w) z = Pad {EDGE} (a1, p) y = Conv (z, w)", BLOCKS,
        shape="[1, 8, 6, 6]"),
    Row("blocked Conv, Pad, MaxPool, Conv", "a1 = Conv <pads = [1, 1, 1, 1]> (x, w) z = Pad (a1, p) "
        "m = MaxPool <kernel_shape = [2, 2]> (z) y = Conv (m, w)", BLOCKS, TO_1_31, shape="[1, 8, 6, 6]"),
    # --- quantized
    Row("DequantizeLinear, Pad, QuantizeLinear",
        "d1 = DequantizeLinear (x, s, o) z = Pad (d1, p) y = QuantizeLinear (z, s, o)", Q, kind="int8"),
    Row("DequantizeLinear, Pad, MaxPool, QuantizeLinear", "d1 = DequantizeLinear (x, s, o) z = Pad (d1, p) "
        f"m = {POOL} (z) y = QuantizeLinear (m, s, o)", Q, TO_1_31, "int8"),
    Row("DequantizeLinear, Pad, QuantizeLinear, DequantizeLinear, MaxPool, QuantizeLinear",
        "d1 = DequantizeLinear (x, s, o) z = Pad (d1, p) q1 = QuantizeLinear (z, s, o) "
        f"e1 = DequantizeLinear (q1, s, o) m = {POOL} (e1) y = QuantizeLinear (m, s, o)", Q, kind="int8"),
    Row("Cast, Pad, Cast", "u = Cast <to = 1> (x) z = Pad (u, p) y = Cast <to = 3> (z)", P, kind="int8"),
    # --- Transposes that are moved
    Row("Transpose, Pad, Transpose", f"t = {LAST_FROM} (x) z = Pad {REFLECT} (t, p) y = {LAST_BACK} (z)", INNER),
    Row("Transpose, Pad, Transpose, amounts at run time",
        f"t = {LAST_FROM} (x) z = Pad {REFLECT} (t, p) y = {LAST_BACK} (z)", more=", int64[8] p",
        feeds={"p": np.array([0, 1, 2, 0, 0, 3, 1, 0])}),
    _with_axes("Transpose, Pad with one axis, Transpose", "1, 2", "1"),
    _with_axes("Transpose, Pad with axes, Transpose", "1, 2, 2, 1", "1, 2"),
    _with_axes("Transpose, Pad with axes, Relu, Transpose", "1, 2, 2, 1", "1, 2",
               after=f"r = Relu (z) y = {LAST_BACK} (r)"),
    _with_axes("Transpose, Pad with all axes, Transpose", "0, 1, 2, 0, 0, 2, 1, 0", "0, 1, 2, 3", RIGHT),
    _with_axes("Transpose, Pad with all axes in another order, Transpose", "0, 1, 2, 0, 0, 2, 1, 0", "3, 2, 1, 0",
               (WRONG,) * 3, EDGE),
    Row("Transpose, Pad with axes at run time, Transpose",
        f"t = {LAST_FROM} (x) z = Pad {REFLECT} (t, p, , axes) y = {LAST_BACK} (z)", "int64[4] p = {1, 2, 3, 1}",
        REFUSES, more=", int64[2] axes", feeds={"axes": np.array([-3, 2])}),
    Row("Unsqueeze, Pad, Squeeze", f"u = Unsqueeze (x, n) z = Pad {EDGE} (u, p) y = Squeeze (z, n)",
        "int64[10] p = {0, 0, 0, 1, 2, 0, 0, 0, 1, 1}, int64[1] n = {1}"),
    # --- constants
    *(_constant(mode, "2, 2", 7) for mode in ("constant", "edge", "reflect", "wrap")),
    _constant("edge", "7, 5", 15),
    _constant("reflect", "7, 5", 15, (STRAYS, *["refused: off, basic, extended, all"] * 2)),
    _constant("wrap", "7, 5", 15, (STRAYS, "right", "right")),
    Row("a Pad of a shape", "s = Shape (x) y = Pad (s, p, f)", "int64[2] p = {1, 1}, int64 f = {7}", shape="[2, 3]",
        result="int64"),
    Row("two Pads", f"z = Pad (x, p) y = Pad {EDGE} (z, p)", P),
)}  # fmt: skip

Opener = Callable[[onnx.ModelProto, str], onnxruntime.InferenceSession]


def _stock(message: onnx.ModelProto, level: str) -> onnxruntime.InferenceSession:
    return native.session(message, roads.options(level))


def _registered(message: onnx.ModelProto, level: str) -> onnxruntime.InferenceSession:
    options = roads.options(level)
    padops.register(options)
    return native.session(message, options)


def _bits(session: onnxruntime.InferenceSession, feeds: dict[str, np.ndarray]) -> list[tuple]:
    return [native.bits(array) for array in run_session(session, feeds)]


def right(row: Row) -> list[tuple]:
    """Return the outputs with every Pad run by padops' kernel and no optimisation."""
    converted = padops.convert(row.model(), fallback=False, fold=False).proto()
    assert not any(node.op_type == "Pad" for node in converted.graph.node)
    return _bits(_registered(converted, "disable"), row.inputs())


@pytest.mark.parametrize("name", ROWS)
def test_stock(name: str) -> None:
    """What the installed onnxruntime alone makes of a model."""
    row, levels = ROWS[name], dict[str, list[str]]()
    noted, expected = dict(zip(VERSIONS, row.found)).get(onnxruntime.__version__), right(row)
    for level in roads.LEVELS if noted not in (None, STRAYS) else ():
        try:
            outcome = "right" if _bits(_stock(row.model(), level), row.inputs()) == expected else "wrong"
        except Exception:  # onnxruntime's exceptions have no common class of their own
            outcome = "refused"
        levels.setdefault(outcome, []).append(level.replace("disable", "off"))
    bad = [f"{outcome}: {', '.join(names)}" for outcome, names in levels.items() if outcome != "right"]
    assert noted in (None, STRAYS, "; ".join(bad) or "right")


# How the converted model is opened, and the options of the conversion.
FORMS: dict[str, tuple[Opener, dict[str, Any]]] = {
    "registered": (_registered, {"fold": False}),
    "folded": (_registered, {}),
    "fallback": (_stock, {"fold": False}),
    "needed": (_registered, {"select": "needed", "fold": False}),
    "needed, folded, fallback": (_stock, {"select": "needed"}),
    "lowered": (_stock, {"target": "onnx", "fold": False}),
    "lowered, folded": (_stock, {"target": "onnx"}),
    "without Pad": (_stock, {"target": "onnx", "without_pad": True, "fold": False}),
}


@pytest.mark.parametrize("name", ROWS)
def test_every_road(name: str) -> None:
    """The bits of the right Pad at each level; only an infinite weight is as ONNX Runtime has it where that folds."""
    row = ROWS[name]
    source, feeds, expected, wrong = row.model(), row.inputs(), right(row), []
    roads_of_it: dict[str, tuple[Opener, onnx.ModelProto]] = {}
    for form, (opener, options) in FORMS.items():
        conversion = padops.convert(source, **options)
        assert not conversion.unconverted, form
        roads_of_it[form] = opener, conversion.proto()
    bare = roads_of_it["without Pad"][1]
    assert "Pad" not in {node.op_type for graph in (bare.graph, *bare.functions) for node in graph.node}
    roads_of_it["lowered, of padops"] = _stock, padops.lower(roads_of_it["registered"][1], fold=False).proto()
    if native.RUNTIME >= (1, 24):
        provided = lambda made, level: padops.InferenceSession(made.SerializeToString(), roads.options(level))
        roads_of_it["as it is"] = provided, source
    for form, (opener, message) in roads_of_it.items():
        wrong += [(form, level) for level in roads.LEVELS if _bits(opener(message, level), feeds) != expected]
    assert not wrong or not row.finite, wrong
    assert {level for _, level in wrong} <= {"all"}


OTHER = "which computes another result"
NEEDED = {
    "MaxPool": f"ONNX Runtime may make this Pad the padding of MaxPool y, {OTHER}",
    "MaxPool behind a branch": "ONNX Runtime may make this Pad the padding of a pooling outside of its graph, " + OTHER,
    "MaxPool, channels last": f"ONNX Runtime may make this Pad the padding of MaxPool y, {OTHER}",
    "Transpose, Pad with axes, Transpose": "The optimizer moves a Transpose past this Pad, then pads the wrong axes",
    **dict.fromkeys(("MaxPool, a fill of 5", "MaxPool, padded channels", "MaxPool behind Relu", "GlobalMaxPool",
                     "MaxPool, com.microsoft::Pad", "Conv", "Transpose, Pad, Transpose")),
}  # fmt: skip


@pytest.mark.parametrize("name", NEEDED)
def test_what_may_be_a_poolings_padding_is_needed(name: str) -> None:
    (record,) = padops.convert(ROWS[name].model(), select="needed", fold=False, fallback=False).records
    assert (record.notes[-1:] or (None,))[0] == NEEDED[name]
    assert record.status == ("converted" if NEEDED[name] else "not needed")


def test_on_other_runtimes() -> None:
    """Those of the table: all of it, and the roads of other rows for each."""
    others = [version for version in VERSIONS if version != onnxruntime.__version__]
    for number, version in enumerate(others):
        some = [f"{__file__}::test_every_road[{name}]" for name in [*ROWS][number::8]]
        passed = oldest_runtime.count_passed(*some, f"{__file__}::test_stock", version=version)
        assert passed == len(some) + len(ROWS)
