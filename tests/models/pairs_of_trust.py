# ruff: noqa: E501
"""Pairs of texts that differ in what a verifier may believe: declarations, places, imports, names, unused nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from written_models import model as made

Model = onnx.ModelProto
Row = tuple[str, Model, Model]


def rows(texts: Mapping[str, str], fills: Iterable[tuple[str, ...]] = ((),), opset: int = 18) -> Iterator[Row]:
    """The models of texts, by name, with parts ``[[first|second]]``; a fill stands for ``A``, ``B`` and ``C``."""
    for fill in fills:
        words = dict(zip("ABC", fill))
        for name, text in texts.items():
            name, text = (re.sub(r"\b[A-C]\b", lambda at, words=words: words[at[0]], part) for part in (name, text))
            first, second = (re.sub(r"\[\[(.*?)\|(.*?)\]\]", rf"\{part}", text) for part in (1, 2))
            yield name, made(first, opset), made(second, opset)


DECLARED = "(float[B] x) => (int64[d] y, float[e] z) [[|<float[A] h>]] { h = Neg (x) z = Exp (h) y = Shape (h) }"
BELIEVED = {
    "declared A in a branch": "(float[n, m] x, bool c) => (int64[d] y) { y = If (c) < then_branch = t () => (int64[d] s) [[|<float[A] h>]] { h = Neg (x) s = Shape (h) }, else_branch = e () => (int64[d] r) { r = Shape (x) }> }",
    "Expand to a declared B": "(float[n] x, float[n] w) => (float[k] y) [[|<float[B] h>]] { h = Relu (x) s = Shape (h) y = Expand (w, s) }",
    "an output declared C": "(float[n, m] x) => (float[ [[n, m|C]] ] h, int64[d] y) { h = Neg (x) y = Shape (h) }",
}
FAILS = [("Gather", "int64 i", "Gather (x, i)"), ("Reshape", "int64[1] i", "Reshape (x, i)"),
         ("Div", "int32 i", "Div (i, i)"), ("Slice", "int64[1] i", "Slice (x, i, i, i)"),
         ("Squeeze", "int64[1] i", "Squeeze (x, i)"), ("Expand", "int64[1] i", "Expand (x, i)")]  # fmt: skip
HOISTED = {
    "A of a branch": "(bool c, float[n] x, B) => (float[k] y) { [[|h = C ]]y = If (c) <then_branch = t () => (float[k] u) { [[h = C |]]g = Cast <to = 1> (h) u = Neg (g) }, else_branch = e () => (float[k] v) { v = Neg (x) }> }",
    "A of a loop": "(int64 m, float[n] x, B) => (float[k] y) { [[|h = C ]]y = Loop (m, , x) <body = b (int64 j, bool go, float[n] s) => (bool on, float[n] t) { on = Identity (go) [[h = C |]]g = Cast <to = 1> (h) w = Shape (g) t = Neg (s) }> }",
}
DRAWN = {
    "A of a loop": "(int64 m, float[n] x) => (float[k] y) { [[|r = A (x) ]]y = Loop (m, , x) <body = b (int64 j, bool go, float[n] s) => (bool on, float[n] t) { on = Identity (go) [[r = A (x) |]]t = Add (s, r) }> }",
    "one A for two": "(float[n] x) => (float[k] y, float[l] z) { a = A (x) [[b = A (x) |]]y = Add (x, a) z = Add (x, [[b|a]]) }",
}


def imported() -> Iterator[Row]:
    """Functions that import another version than the model, which runtimes read by either; a domain without an import."""
    for node in ("Softmax (x)", "LogSoftmax (x)", "ReduceMean <axes = [0]> (x)", "Dropout (x)"):
        data = "(float[2, 3, 4] x) => (float[a, b, c] y)"
        call = f'{data} {{ y = own.F (x) }} <domain: "own", opset_import: ["" : VERSION]> F (x) => (y) {{ y = {node} }}'
        first, second = (made(call.replace("VERSION", version), 13, imports='"own" : 1') for version in ("13", "11"))
        yield f"{node} of a function of opset 11", first, second
        yield f"{node} inlined", made(f"{data} {{ y = {node} }}", 13), second
    for node in ("ai.onnx.ml.Binarizer", "com.microsoft.Gelu"):
        first, second = (made(f"(float[n] x) => (float[k] y) {{ y = {node} (x) }}", 18, imports=f'"{node.rpartition(".")[0]}" : 1')
                         for _ in range(2))  # fmt: skip
        del second.opset_import[1:]
        yield f"{node} without the import of its domain", first, second


def named() -> Iterator[Row]:
    """Local functions with the name of an operator of ONNX Runtime's own, or of ONNX."""
    for name in ("com.microsoft.Gelu", "com.microsoft.Pad", "com.microsoft.BiasGelu", "ai.onnx.ml.Binarizer"):
        domain, _, op = name.rpartition(".")
        given, formal = {"Pad": ("(x, p)", "(x, p)"), "BiasGelu": ("(x, x)", "(x, b)")}.get(op, ("(x)", "(x)"))
        data, imports = "(float[n] x, int64[2] p) => (float[k] y)", f'"{domain}" : 1'
        text = f"{data} {{ y = {domain}.{op} {given} }}"
        function = f'{text} <domain: "{domain}", opset_import: ["" : 18]> {op} {formal} => (y) {{ y = Neg (x) }}'
        for way, other in (("as a function", text), ("inlined", f"{data} {{ y = Neg (x) }}")):
            yield f"{domain}::{op} {way}", made(other, imports=imports), made(function, imports=imports)


WINDOW = "(float[1, 1, 8] x) => (float[1, 1, k] y) <float[1, 1, 3] w = {1, 2, 3}, int64[6] p = {0, 0, 2, 0, 0, 2}> "
BESIDE = {
    "A with B and pads": WINDOW
    + '{ [[z = Pad (x, p) y = A <C strides = [1]> (z|y = A <C auto_pad = "B", pads = [2, 2]> (x]]) }',
    "A with B, and with pads beside it": WINDOW + '{ y = A <C auto_pad = "B"[[|, pads = [2, 2] ]]> (x) }',
}


def beside() -> Iterator[Row]:
    """SAME or VALID beside pads: runtimes take one or the other."""
    kernel = "kernel_shape = [3],"
    for name, more in (("Conv", ""), ("MaxPool", kernel), ("AveragePool", f"{kernel} count_include_pad = 1,")):
        texts = BESIDE
        if name == "Conv":
            texts = {key: re.sub(r"\((z|x)(?=\||\]\]|\) )", r"(\1, w", text) for key, text in texts.items()}
        yield from rows(texts, ((name, way, more) for way in ("SAME_UPPER", "SAME_LOWER", "VALID")))


SEQUENCE = "(float[n] x) => (float[k] y) { s = SequenceConstruct (x, x) [[|t = Identity (s) ]]y = ConcatFromSequence <axis = 0> ([[s|t]]) }"


def refused() -> Iterator[Row]:
    text = "(float[n] x) => (float[k] y) { h = Neg (x) y = Abs (h) }"
    changes = {
        "opset 99": lambda second: setattr(second.opset_import[0], "version", 99),
        "version 99 of the format": lambda second: setattr(second, "ir_version", 99),
        "two nodes of one name": lambda second: [setattr(node, "name", "one") for node in second.graph.node],
    }
    for name, change in changes.items():
        second = made(text)
        change(second)
        yield name, made(text), second
    for domain in ("ai.onnx.ml", "com.microsoft"):
        yield f"version 99 of {domain}", made(text), made(text, imports=f'"{domain}" : 99')
    yield from rows({"Identity of a sequence in opset 13": SEQUENCE}, opset=13)
    branch = "(bool c, float[n] x) => (float[k] y) { h = Neg (x) y = If (c) <then_branch = t () => (float[k] u) { u = Identity (h) }, else_branch = e () => (float[k] v) { v = Abs (h) }> }"
    first, second = made(branch), made(branch)
    then = second.graph.node[1].attribute[0].g
    del then.node[:]
    then.output[0].name = "h"
    yield "a branch that returns an outer value", first, second
    for domain in ("other", "ai.onnx.ml", "padops"):
        second = made(text.replace(" }", f" u = {domain}.Unheard (x) }}"), imports=f'"{domain}" : 1')
        del second.opset_import[1:]
        yield f"the domain {domain} without an import", made(text), second


TYPED = "(float[n] x, bool b, int64 i, string s) => (float[k] y) DECLARED { UNUSEDh = Neg (x) y = Abs (h) }"
DOUBLE = "(bool c, float[n] x) => (float[k] y) { y = If (c) <then_branch = t () => (float[k] u) { u = Neg (x) }, else_branch = e () => ([[float|double]][k] v) { v = Abs (x) }> }"
OPTIONAL = "(float[n] x) => (float[k] y) { o = Optional (x) [[|p = Identity (o) ]]y = OptionalGetElement ([[o|p]]) }"
UNUSED = {
    "unused A": "(float[n] x, B) => (float[k] y) { [[|u = C ]]y = Neg (x) }",
    "unused A in a branch": "(bool c, float[n] x, B) => (float[k] y) { y = If (c) <then_branch = t () => (float[k] u) { [[|h = C ]]u = Neg (x) }, else_branch = e () => (float[k] v) { v = Abs (x) }> }",
}
SYMBOLS = {
    "A of another input 0": "(float[n] x, float[n] w) => (int64[k] y, float[a] z) { y = A ([[x|w]]) z = Neg (x) }",
    "A of another input 1": "(float[n] x, float[n] w) => (int64[k] y, float[a] z) { y = A ([[w|x]]) z = Neg (x) }",
}
OF_ONE = {
    "the dims of a pooling that rounds up": "(float[1, 1, 7, 7] x) => (int64[4] y) { p = MaxPool <kernel_shape = [2, 2], strides = [3, 3], ceil_mode = 1> (x) [[y = Shape (p)|y = Constant <value_ints = [1, 1, 3, 3]> ()]] }",
    "axis 1 for 0": "(float[n, n] x) => (float[k] y) <int64[2] p = {0, 1}, int64[1] zero = {0}> { s = Shape <start = [[0|1]], end = [[1|2]]> (x) d = Expand (zero, s) f = Flatten <axis = 0> (x) q = Slice (x, zero, s, zero) y = ReduceSum (q) }",
    "as many zeros as another input has elements": "(float[n] x, float[n] w) => (float[k] y) { s = Shape ([[x|w]]) c = ConstantOfShape (s) y = Concat <axis = 0> (x, c) }",
}
AMOUNTS = {"through int32": "i = Cast <to = 6> (p) q = Cast <to = 7> (i)",
           "clamped at 2^60": "c = Constant <value_int = 1152921504606846976> () q = Min (p, c)",
           "modulo 2^61": "c = Constant <value_int = 2305843009213693952> () q = Mod (p, c)"}  # fmt: skip
AT = "c = Constant <value_ints = [{0}]> () e = Equal (s, c) o = Cast <to = 7> (e) q = Add (s, o)"
SIZES = {
    "beyond 600": "c = Constant <value_ints = [600]> () q = Min (s, c)",
    **{f"at {size}": AT.format(size) for size in (25, 31, 57, 1000)},
    "through int8": "i = Cast <to = 3> (s) q = Cast <to = 7> (i)",
    "of 1000 and more": "c = Constant <value_ints = [1000]> () o = Div (s, c) q = Add (s, o)",
    "but for 57": "c = Constant <value_ints = [57]> () m = Mod (s, c) z = Cast <to = 9> (m) b = Not (z) o = Cast <to = 7> (b) q = Add (s, o)",
}
COMPUTED = {
    "four times 29": "a = Constant <value_ints = [29]> () b = Add (a, a) c = Add (b, b)",
    "3 times 5 times 7": "a = Constant <value_ints = [3, 5, 7]> () c = ReduceProd (a)",
    "the Size of 105 zeros": "a = Constant <value_ints = [3, 5, 7]> () b = ConstantOfShape (a) c = Size (b)",
    "the length of a constant": f"a = Constant <value_ints = [{', '.join(['1'] * 53)}]> () c = Size (a)",
}
EMPTY_ALONE = '(float[n, m] x) => (float[k, l] y) <int64[4] p = {0, -1, 0, 1}, int64[4] q = {0, 0, 0, 1}, int64[4] r = {0, -1, 0, 0}> { [[y = Pad <mode = "A"> (x, p)|h = Pad <mode = "A"> (x, q) y = Pad <mode = "A"> (h, r)]] }'


def payloads() -> Iterator[Row]:
    """NaNs of other bits in attributes and constants; other elements of a sparse constant."""
    yield "a sparse constant", _sparse(1), _sparse(2)
    first, *others = np.array([0x7FE00000, 0x7FC00001, 0xFFC00000, 0x7FA00000], np.uint32).view(np.float32)
    for at, other in enumerate(others, 1):  # the last becomes the first where Python reads it as a number
        yield f"a list with a NaN {at}", _labels(first), _labels(other)
        yield f"a tensor with a NaN {at}", _filled(first), _filled(other)
    # Floats of 16 bits in another field than floats of 32, and a field that their type does not use
    for name, more in (("halves", []), ("halves beside a NaN", [float("nan")])):
        yield name, *(_halves(bits, more) for bits in (0x3C00, 0x4000))


def _sparse(one: float) -> Model:
    model = made("(float[3] x) => (float[k] y) { c = Constant <value_int = 1> () y = Add (x, c) }")
    values, indices = numpy_helper.from_array(np.array([one], np.float32)), numpy_helper.from_array(np.array([1]))
    sparse = helper.make_sparse_tensor(values, indices, [3])
    model.graph.node[0].attribute[0].CopyFrom(helper.make_attribute("sparse_value", sparse))
    return model


def _labels(one: np.float32) -> Model:
    node = "ai.onnx.ml.LabelEncoder <keys_floats = [1.0], values_floats = [0.0]> (x)"
    model = made(f"(float[n] x) => (float[k] y) {{ y = {node} }}", imports='"ai.onnx.ml" : 3')
    row = next(row for row in model.graph.node[0].attribute if row.name == "values_floats")
    fields = onnx.AttributeProto(name=row.name, type=row.type)
    row.ParseFromString(fields.SerializeToString() + b"\x3a\x04" + one.tobytes())
    return model


def _filled(one: np.float32) -> Model:
    model = made("(float[n] x) => (float[k] y) { y = Constant <value = float[1] {1}> () }")
    float_data = b"\x08\x01\x10\x01\x22\x04" + one.tobytes()  # packed
    model.graph.node[0].attribute[0].t.ParseFromString(float_data)
    return model


def _halves(bits: int, more: list[float]) -> Model:
    model = made("(float[n] x) => (float[k] y) { h = Constant <value = float[1] {1}> () y = Cast <to = 1> (h) }")
    held = TensorProto(data_type=TensorProto.FLOAT16, dims=[2], int32_data=[0x7E00, bits], float_data=more)
    model.graph.node[0].attribute[0].t.CopyFrom(held)
    return model


DECLARING = TYPED.replace("UNUSED", "").replace("DECLARED", "[[|<A[n] h>]]")
UNTYPED = TYPED.replace("DECLARED ", "").replace("UNUSED", "[[|u = A ]]")
PADDED_BY = "(float[n] x, int64 a, int64[2] p) => (float[k] y, int64[l] q) <int64[2] five = {5, 5}> { [[q = Identity (p)|B]] r = Min (q, five) y = Pad (x, r) }"
PADDED_BY_SIZE = "(float[n] x, float[59] w) => (float[k] y) { s = Shape (x) z = Constant <value_ints = [0]> () [[q = C|B]] p = Concat <axis = 0> (z, q) y = Pad (x, p) }"
WAYS = [(f"at {name}", f"{way} e = Equal (s, c) q = Cast <to = 7> (e)", "Sub (s, s)") for name, way in COMPUTED.items()]
LAST = f"t = Constant <value_ints = [{', '.join(['0'] * 26 + ['7'])}]> () q = Gather (t, s)"
DIMS = [("3, m", "2", "4, m"), ("n, 5", "3", "n, 4"), ("1, 1", "4", "2, 2"),
        ("0, m", "5", "1, m"), ("7, 7", "6", "n, 0")]  # fmt: skip
TABLES: list[tuple[Any, ...]] = [
    # Dims of inner values that only the second model declares, wrongly: ONNX Runtime folds Shape from them.
    ({"declared A": DECLARED}, [("4", "n"), ("4, 3", "n, m"), ("n, 7", "n, m"), ("2, 2, 2", "n, m, k"), ("0", "n")]),
    (BELIEVED, DIMS),
    # A node of a branch or a loop that the second model has in the graph around it.
    (HOISTED, FAILS),
    (DRAWN, [("RandomUniformLike",), ("RandomNormalLike",), ("Bernoulli",)]),
    # Types that a value or an operator of the second model may not have: runtimes refuse the model.
    ({"a A declared": DECLARING}, [("double",), ("int32",), ("bool",)]),
    ({"unused A": UNTYPED}, [("Not (x)",), ("Sqrt (i)",), ("Neg (b)",), ("Abs (s)",), ("Sigmoid (b)",)]),
    ({"a branch of double": DOUBLE},),
    ({"Identity of an optional in opset 15": OPTIONAL}, [()], 15),
    # A node that nothing uses, and that may fail, in the second model alone.
    (UNUSED, FAILS),
    # One symbol for dims that may have two sizes, to which nothing holds callers; dims on which runtimes disagree.
    (SYMBOLS, [("Shape <start = 0, end = 1>",), ("Size",)]),
    (OF_ONE,),
    # Amounts that are computed in a narrower type, clamped far away, or from constants and known dims.
    ({"amounts A": PADDED_BY}, AMOUNTS.items()),
    ({"sizes A": PADDED_BY_SIZE}, [(*row, "Identity (s)") for row in SIZES.items()]),
    ({"an amount A": PADDED_BY_SIZE}, [*WAYS, ("of the last of 27", LAST, "Sub (s, s)")]),
    ({"A of an axis that is empty alone, in two Pads": EMPTY_ALONE}, [("edge",), ("reflect",)]),
]


def listed() -> Iterator[Row]:
    for table in TABLES:
        yield from rows(*table)


KINDS = (listed, imported, named, beside, refused, payloads)
