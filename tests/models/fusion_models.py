"""The smallest models in which ONNX Runtime's optimizers meet a Pad: what each of its passes might change."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import helper, parser

NUMBERS = {1: np.float32, 2: np.uint8, 3: np.int8, 9: np.bool_, 10: np.float16, 11: np.float64}


@dataclass(frozen=True)
class Row:
    """One model.

    Attributes:
        name: What it is, in the words of tests/convert/standard/fusions.md.
        passes: The pass of ONNX Runtime that might change it.
        text: Its graph.
        opset: Of the default domain.
        functions: Of the domain ``local``.
        feeds: Inputs, by name, that are not numbers below 0.
        strays_before: The first onnxruntime whose Pad does not read outside of the data here, which gives anything.
        finite: Whether its weights are; else a Pad that is padding skips what a Pad of zeros makes NaN, in padops as
            well.
    """

    name: str
    passes: str
    text: str
    opset: int = 18
    functions: str = ""
    feeds: dict[str, np.ndarray] = field(default_factory=dict)
    strays_before: tuple[int, int] = (0, 0)
    finite: bool = True

    def model(self) -> onnx.ModelProto:
        """The model."""
        imports = f'"": {self.opset}, "com.microsoft": 1' + (', "local": 1' if self.functions else "")
        return parser.parse_model(f"<ir_version: 8, opset_import: [{imports}]> {self.text} {self.functions}")

    def inputs(self) -> dict[str, np.ndarray]:
        """Whole numbers, so that every order of summing gives the same bits."""
        rng, made = np.random.default_rng(0), {}
        for value in self.model().graph.input:
            if value.name in self.feeds:
                made[value.name] = self.feeds[value.name]
                continue
            dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            numbers = rng.integers(1, 100, shape)
            made[value.name] = numbers.astype(dtype) if dtype == np.uint8 else (-numbers).astype(dtype)
        return made


def _g(body: str, tensors: str = "", kind: str = "float", shape: str = "1, 1, 4, 4", result: str = "") -> str:
    rank = shape.count(",") + 1
    dims = ", ".join("abcdefg"[:rank])
    return f"g ({kind}[{shape}] x) => ({result or kind}[{dims}] y) <{tensors}> {{ {body} }}"


P = "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}"
LAST = "int64[8] p = {0, 1, 1, 0, 0, 1, 1, 0}"  # of NHWC
W = "float[1, 1, 3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}"
POOL = "MaxPool <kernel_shape = [3, 3], strides = [2, 2]>"
MEAN = "AveragePool <kernel_shape = [2, 2], strides = [2, 2]>"
LAST_FROM, LAST_BACK = "Transpose <perm = [0, 2, 3, 1]>", "Transpose <perm = [0, 3, 1, 2]>"
Q = "float s = {0.5}, int8 o = {3}"
U = "uint8[1, 1, 3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8 o = {3}, float s = {0.5}"
FUSION, TRANSPOSE, NHWC, FOLDING = "Pad_Fusion", "TransposeOptimizer", "NhwcTransformer", "ConstantFolding"
LAYOUT, QDQ = "NchwcTransformer", "QDQ"


def _pooled(
    name: str,
    before: str = "",
    tensors: str = "",
    passes: str = FUSION,
    pool: str = POOL,
    pads: str = P,
    pad: str = "Pad (x, p)",
    kind: str = "float",
    opset: int = 18,
) -> Row:
    """A Pad z in front of a pooling that reads v, or z where nothing is between."""
    body = f"z = {pad} {before} y = {pool} ({'v' if before else 'z'})"
    return Row(name, passes, _g(body, (pads + tensors).removeprefix(", "), kind), opset)


def _with_axes(name: str, pads: str, axes: str, mode: str = "reflect", after: str = "") -> Row:
    count, amounts = axes.count(",") + 1, pads.count(",") + 1
    body = f'{{ t = {LAST_FROM} (x) z = Pad <mode = "{mode}"> (t, p, , axes) {after or f"y = {LAST_BACK} (z)"} }}'
    tensors = f"int64[{amounts}] p = {{{pads}}}, int64[{count}] axes = {{{axes}}}"
    return Row(name, TRANSPOSE, f"g (float[1, 1, 4, 4] x) => (float[a, b, c, d] y) <{tensors}> {body}")


ROWS = (
    # --- MaxPool
    _pooled("MaxPool"),
    _pooled("MaxPool, a fill of 0", pad="Pad (x, p, f)", tensors=", float f = {0}"),
    _pooled("MaxPool, a fill of -0", pad="Pad (x, p, f)", tensors=", float f = {-0.0}"),
    _pooled("MaxPool, a fill of 5", pad="Pad (x, p, f)", tensors=", float f = {5}"),
    _pooled("MaxPool, opset 10", pad="Pad <pads = [0, 0, 1, 1, 0, 0, 1, 1]> (x)", pads="", opset=10),
    _pooled("MaxPool, opset 22", opset=22),
    _pooled("MaxPool of int8", kind="int8"),
    _pooled("MaxPool of uint8", kind="uint8"),
    _pooled("MaxPool of uint8, a Pad as large as the kernel", kind="uint8", pool="MaxPool <kernel_shape = [1, 1]>"),
    _pooled("MaxPool, padded channels", pads="int64[8] p = {0, 1, 1, 1, 0, 0, 1, 1}"),
    _pooled("MaxPool, a crop", pads="int64[8] p = {0, 0, -1, 1, 0, 0, 1, 2}"),
    _pooled("MaxPool, axes", pad="Pad (x, p, , axes)", pads="int64[4] p = {1, 1, 1, 1}, int64[2] axes = {2, 3}"),
    _pooled("MaxPool, com.microsoft::Pad", pad="com.microsoft.Pad (x, p)"),
    Row("MaxPool, computed amounts", FUSION,
        _g(f"p = Concat <axis = 0> (h, h) z = Pad (x, p) y = {POOL} (z)", "int64[4] h = {0, 0, 1, 1}")),
    Row("MaxPool, amounts from the shape", FUSION,
        _g(f"s = Shape (x) t = Div (s, s) u = Mul (t, h) p = Concat <axis = 0> (u, u) z = Pad (x, p) y = {POOL} (z)",
           "int64[4] h = {0, 0, 1, 1}")),
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
    _pooled("MaxPool behind Reshape", "v = Reshape (z, n)", ", int64[4] n = {0, 0, 0, 0}"),
    _pooled("MaxPool behind Unsqueeze and Squeeze", "u = Unsqueeze (z, n) v = Squeeze (u, n)", ", int64[1] n = {0}"),
    _pooled("MaxPool behind Relu", "v = Relu (z)"),
    _pooled("MaxPool behind two Transposes", f"u = {LAST_FROM} (z) v = {LAST_BACK} (u)",
            passes=f"{TRANSPOSE}, {FUSION}"),
    Row("MaxPool, channels last", f"{TRANSPOSE}, {FUSION}",
        _g(f"t = {LAST_FROM} (x) z = Pad (t, p) v = {LAST_BACK} (z) y = {POOL} (v)", LAST)),
    Row("MaxPool behind a branch", f"{FOLDING}, {FUSION}",
        _g("z = If (n) <then_branch = t () => (float[e, f, h, i] m) { m = Pad (x, p) }, "
           f"else_branch = o () => (float[j, k, l, q] r) {{ r = Identity (x) }}> y = {POOL} (z)",
           P + ", bool n = {1}")),
    Row("MaxPool behind a function", FUSION,
        f"g (float[1, 1, 4, 4] x) => (float[a, b, c, d] y) {{ z = local.padded (x) y = {POOL} (z) }}",
        functions='<domain: "local", opset_import: ["": 18]> padded (i) => (j) '
        "{ p = Constant <value = int64[8] {0, 0, 1, 1, 0, 0, 1, 1}> () k = Identity (i) j = Pad (k, p) }"),
    # --- other poolings
    _pooled("AveragePool", pool=MEAN),
    Row("AveragePool with ceil_mode", FUSION,
        _g("z = Pad (x, p) y = AveragePool <kernel_shape = [2, 2], strides = [3, 3], ceil_mode = 1, "
           "count_include_pad = 1> (z)",
           P, shape="1, 1, 5, 5")),
    _pooled("AveragePool that pads as well", pool="AveragePool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]>"),
    _pooled("GlobalMaxPool", pool="GlobalMaxPool"),
    # --- convolutions
    Row("Conv", FUSION, _g("z = Pad (x, p) y = Conv (z, w)", f"{P}, {W}")),
    Row("Conv, an infinite weight", FUSION,
        _g("z = Pad (x, p) y = Conv (z, w)", P + ", float[1, 1, 3, 3] w = {inf, 2, 3, 4, 5, 6, 7, 8, 9}"),
        finite=False),
    Row("Conv that pads as well", FUSION, _g("z = Pad (x, p) y = Conv <pads = [1, 2, 1, 2]> (z, w)", f"{P}, {W}")),
    Row("Conv, channels last", f"{TRANSPOSE}, {FUSION}",
        _g(f"t = {LAST_FROM} (x) z = Pad (t, p) v = {LAST_BACK} (z) y = Conv (v, w)", f"{LAST}, {W}")),
    Row("ConvInteger", FUSION,
        _g("z = Pad (x, p) y = ConvInteger (z, w, o)", f"{P}, {U}", "uint8", result="int32")),
    Row("QLinearConv", NHWC, _g("z = Pad (x, p) y = QLinearConv (z, s, o, w, s, o, s, o)", f"{P}, {U}", "uint8")),
    Row("QLinearConv around a Pad", NHWC,
        _g('a1 = QLinearConv (x, s, o, w, s, o, s, o) z = Pad <mode = "edge"> (a1, p) '
           "y = QLinearConv (z, s, o, w, s, o, s, o)", f"{P}, {U}", "uint8")),
    Row("QLinearConv around a Pad with axes", NHWC,
        _g('a1 = QLinearConv (x, s, o, w, s, o, s, o) z = Pad <mode = "edge"> (a1, p, , axes) '
           "y = QLinearConv (z, s, o, w, s, o, s, o)",
           f"int64[4] p = {{1, 2, 1, 1}}, int64[2] axes = {{2, 3}}, {U}", "uint8")),
    Row("blocked Convs around a Pad", LAYOUT,
        _g('a1 = Conv (x, w) z = Pad <mode = "edge"> (a1, p) y = Conv (z, w)',
           f"{P}, float[8, 8, 3, 3] w = {{{', '.join(str(i % 7 - 3) for i in range(576))}}}", shape="1, 8, 6, 6")),
    Row("blocked Conv, Pad, MaxPool, Conv", LAYOUT,
        _g("a1 = Conv <pads = [1, 1, 1, 1]> (x, w) z = Pad (a1, p) m = MaxPool <kernel_shape = [2, 2]> (z) "
           "y = Conv (m, w)",
           f"{P}, float[8, 8, 3, 3] w = {{{', '.join(str(i % 7 - 3) for i in range(576))}}}", shape="1, 8, 6, 6")),
    # --- quantized
    Row("DequantizeLinear, Pad, QuantizeLinear", QDQ,
        _g("d1 = DequantizeLinear (x, s, o) z = Pad (d1, p) y = QuantizeLinear (z, s, o)", f"{P}, {Q}", "int8")),
    Row("DequantizeLinear, Pad, MaxPool, QuantizeLinear", f"{FUSION}, {QDQ}",
        _g(f"d1 = DequantizeLinear (x, s, o) z = Pad (d1, p) m = {POOL} (z) y = QuantizeLinear (m, s, o)", f"{P}, {Q}",
           "int8")),
    Row("DequantizeLinear, Pad, QuantizeLinear, DequantizeLinear, MaxPool, QuantizeLinear", QDQ,
        _g("d1 = DequantizeLinear (x, s, o) z = Pad (d1, p) q1 = QuantizeLinear (z, s, o) "
           "e1 = DequantizeLinear (q1, s, o) "
           f"m = {POOL} (e1) y = QuantizeLinear (m, s, o)", f"{P}, {Q}", "int8")),
    Row("Cast, Pad, Cast", "InsertCast", _g("u = Cast <to = 1> (x) z = Pad (u, p) y = Cast <to = 3> (z)", P, "int8")),
    # --- Transposes that are moved
    Row("Transpose, Pad, Transpose", TRANSPOSE,
        _g(f't = {LAST_FROM} (x) z = Pad <mode = "reflect"> (t, p) y = {LAST_BACK} (z)',
           "int64[8] p = {0, 1, 2, 0, 0, 3, 1, 0}")),
    Row("Transpose, Pad, Transpose, amounts at run time", TRANSPOSE,
        "g (float[1, 1, 4, 4] x, int64[8] p) => (float[a, b, c, d] y) "
        f'{{ t = {LAST_FROM} (x) z = Pad <mode = "reflect"> (t, p) y = {LAST_BACK} (z) }}',
        feeds={"p": np.array([0, 1, 2, 0, 0, 3, 1, 0])}),
    _with_axes("Transpose, Pad with one axis, Transpose", "1, 2", "1"),
    _with_axes("Transpose, Pad with axes, Transpose", "1, 2, 2, 1", "1, 2"),
    _with_axes("Transpose, Pad with axes, Relu, Transpose", "1, 2, 2, 1", "1, 2",
               after=f"r = Relu (z) y = {LAST_BACK} (r)"),
    _with_axes("Transpose, Pad with all axes, Transpose", "0, 1, 2, 0, 0, 2, 1, 0", "0, 1, 2, 3"),
    _with_axes("Transpose, Pad with all axes in another order, Transpose", "0, 1, 2, 0, 0, 2, 1, 0", "3, 2, 1, 0",
               "edge"),
    Row("Transpose, Pad with axes at run time, Transpose", TRANSPOSE,
        "g (float[1, 1, 4, 4] x, int64[2] axes) => (float[a, b, c, d] y) <int64[4] p = {1, 2, 3, 1}> "
        f'{{ t = {LAST_FROM} (x) z = Pad <mode = "reflect"> (t, p, , axes) y = {LAST_BACK} (z) }}',
        feeds={"axes": np.array([-3, 2])}),
    Row("Unsqueeze, Pad, Squeeze", TRANSPOSE,
        _g('u = Unsqueeze (x, n) z = Pad <mode = "edge"> (u, p) y = Squeeze (z, n)',
           "int64[10] p = {0, 0, 0, 1, 2, 0, 0, 0, 1, 1}, int64[1] n = {1}")),
    # --- constants
    *(Row(f"constant data, {mode}", FOLDING,
          "g (float[n] x) => (float[m] y) <float[3] c = {1, 2, 3}, int64[2] p = {2, 2}> "
          f'{{ z = Pad <mode = "{mode}"> (c, p) y = Add (z, x) }}', 19, feeds={"x": np.zeros(7, np.float32)})
      for mode in ("constant", "edge", "reflect", "wrap")),
    *(Row(f"constant data, {mode} beyond n", FOLDING,
          "g (float[n] x) => (float[m] y) <float[3] c = {1, 2, 3}, int64[2] p = {7, 5}> "
          f'{{ z = Pad <mode = "{mode}"> (c, p) y = Add (z, x) }}', 19, feeds={"x": np.zeros(15, np.float32)},
          strays_before=first)
      for mode, first in (("edge", (0, 0)), ("reflect", (1, 25)), ("wrap", (1, 31)))),
    Row("a Pad of a shape", FOLDING,
        "g (float[2, 3] x) => (int64[n] y) <int64[2] p = {1, 1}, int64 f = {7}> { s = Shape (x) y = Pad (s, p, f) }"),
    Row("two Pads", "none", _g('z = Pad (x, p) y = Pad <mode = "edge"> (z, p)', P)),
)  # fmt: skip
