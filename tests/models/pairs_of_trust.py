# ruff: noqa: E501
"""Pairs that differ in what a verifier may believe too easily: declarations, places, imports, names, unused nodes.

Each kind has pairs of texts: a graph in onnx's notation, with functions behind it, and what its header says.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from written_models import model

Model = onnx.ModelProto
Row = tuple[str, Model, Model]


def made(text: str, opset: int = 18, imports: str = "") -> Model:
    """A model; ``imports`` are further domains with their versions."""
    if not imports:
        return model(text, opset)
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : {opset}, {imports}]>\ngraph {text}')


def declared() -> Iterator[Row]:
    """Dims of inner values that only the second model declares, wrongly: ONNX Runtime folds Shape from them."""
    for at, (name, dims) in enumerate(
        {"size": "4", "first": "4, 3", "last": "n, 7", "rank": "2, 2, 2", "zero": "0"}.items()
    ):
        rank = dims.count(",") + 1
        symbols = ", ".join("nmk"[:rank])
        text = f"(float[{symbols}] x) => (int64[d] y, float[e] z) <SAID> {{ h = Neg (x) z = Exp (h) y = Shape (h) }}"
        yield f"declared {name}", made(text.replace("<SAID>", "")), made(text.replace("SAID", f"float[{dims}] h"))
        body = "(float[n, m] x, bool c) => (int64[d] y) { y = If (c) < then_branch = t () => (int64[d] s) SAID { h = Neg (x) s = Shape (h) }, else_branch = e () => (int64[d] r) { r = Shape (x) }> }"
        said = ["3, m", "n, 5", "1, 1", "0, m", "7, 7"][at]
        yield (
            f"declared {said} in a branch",
            made(body.replace("SAID", "")),
            made(body.replace("SAID", f"<float[{said}] h>")),
        )
        grown = "(float[n] x, float[n] w) => (float[k] y) SAID { h = Relu (x) s = Shape (h) y = Expand (w, s) }"
        yield (
            f"Expand to a declared {at}",
            made(grown.replace("SAID", "")),
            made(grown.replace("SAID", f"<float[{at + 2}] h>")),
        )
    out = "(float[n, m] x) => (float[n, m] h, int64[d] y) { h = Neg (x) y = Shape (h) }"
    for dims in ("4, m", "n, 4", "2, 2", "1, m", "n, 0"):
        yield f"an output declared {dims}", made(out), made(out.replace("float[n, m] h", f"float[{dims}] h"))


FAILING = {"Gather": ("int64 i", "Gather (x, i)"), "Reshape": ("int64[1] i", "Reshape (x, i)"),
           "Div": ("int32 i", "Div (i, i)"), "Slice": ("int64[1] i", "Slice (x, i, i, i)"),
           "Squeeze": ("int64[1] i", "Squeeze (x, i)"), "Expand": ("int64[1] i", "Expand (x, i)")}  # fmt: skip


def hoisted() -> Iterator[Row]:
    """A node of a branch or a loop that the second model has in the graph around it."""
    for name, (kind, node) in FAILING.items():
        inside = f"(bool c, float[n] x, {kind}) => (float[k] y) {{ y = If (c) <then_branch = t () => (float[k] u) {{ h = {node} g = Cast <to = 1> (h) u = Neg (g) }}, else_branch = e () => (float[k] v) {{ v = Neg (x) }}> }}"
        outside = inside.replace(f"h = {node} ", "").replace("{ y = If", f"{{ h = {node} y = If")
        yield f"{name} of a branch", made(inside), made(outside)
        loop = f"(int64 m, float[n] x, {kind}) => (float[k] y) {{ y = Loop (m, , x) <body = b (int64 j, bool go, float[n] s) => (bool on, float[n] t) {{ on = Identity (go) h = {node} g = Cast <to = 1> (h) w = Shape (g) t = Neg (s) }}> }}"
        yield (
            f"{name} of a loop",
            made(loop),
            made(loop.replace(f"h = {node} ", "").replace("{ y = Loop", f"{{ h = {node} y = Loop")),
        )
    for op in ("RandomUniformLike", "RandomNormalLike", "Bernoulli"):
        loop = f"(int64 m, float[n] x) => (float[k] y) {{ y = Loop (m, , x) <body = b (int64 j, bool go, float[n] s) => (bool on, float[n] t) {{ on = Identity (go) r = {op} (x) t = Add (s, r) }}> }}"
        yield (
            f"{op} of a loop",
            made(loop),
            made(loop.replace(f"r = {op} (x) ", "").replace("{ y = Loop", f"{{ r = {op} (x) y = Loop")),
        )
        twice = (
            f"(float[n] x) => (float[k] y, float[l] z) {{ a = {op} (x) b = {op} (x) y = Add (x, a) z = Add (x, b) }}"
        )
        yield f"one {op} for two", made(twice), made(twice.replace(f"b = {op} (x) ", "").replace("(x, b)", "(x, a)"))


def imported() -> Iterator[Row]:
    """Functions that import another version than the model: runtimes read them by either."""
    nodes = {"Softmax": "Softmax (x)", "LogSoftmax": "LogSoftmax (x)", "Hardmax": "Hardmax (x)",
             "ReduceMean": "ReduceMean <axes = [0]> (x)", "Dropout": "Dropout (x)"}  # fmt: skip
    for name, node in nodes.items():
        text = '(float[2, 3, 4] x) => (float[a, b, c] y) { y = own.F (x) } <domain: "own", opset_import: ["" : VERSION]> F (x) => (y) { y = NODE }'
        text = text.replace("NODE", node)
        first, second = (made(text.replace("VERSION", str(version)), 13, '"own" : 1') for version in (13, 11))
        yield f"{name} of a function of opset 11", first, second
        inline = made(f"(float[2, 3, 4] x) => (float[a, b, c] y) {{ y = {node} }}", 13)
        yield f"{name} inlined", inline, second


def named() -> Iterator[Row]:
    """Local functions with the name of an operator of ONNX Runtime's own, or of ONNX."""
    for domain, op in (("com.microsoft", "Gelu"), ("com.microsoft", "QuickGelu"), ("com.microsoft", "FastGelu"),
                       ("com.microsoft", "Pad"), ("com.microsoft", "BiasGelu"), ("ai.onnx.ml", "Binarizer")):  # fmt: skip
        given = {"Pad": "(x, p)", "BiasGelu": "(x, x)"}.get(op, "(x)")
        text = f"(float[n] x, int64[2] p) => (float[k] y) {{ y = {domain}.{op} {given} }}"
        formal = {"Pad": "(x, p)", "BiasGelu": "(x, b)"}.get(op, "(x)")
        function = f' <domain: "{domain}", opset_import: ["" : 18]> {op} {formal} => (y) {{ y = Neg (x) }}'
        imports = f'"{domain}" : 1'
        yield f"{domain}::{op} as a function", made(text, 18, imports), made(text + function, 18, imports)
        negated = made("(float[n] x, int64[2] p) => (float[k] y) { y = Neg (x) }", 18, imports)
        yield f"{domain}::{op} inlined", negated, made(text + function, 18, imports)
    for kind in ("int32", "int64"):  # ONNX's Pad takes no rows of amounts, as TensorFlow's does
        text = "(float[2, 3] x) => (float[a, b] y) <P> { y = Pad (x, p) }"
        rows = text.replace("P>", f"{kind}[2, 2] p = {{0, 1, 2, 0}}>")
        yield f"rows of {kind}", made(rows), made(text.replace("P>", "int64[4] p = {0, 2, 1, 0}>"))


def beside() -> Iterator[Row]:
    """SAME or VALID beside pads: runtimes take one or the other."""
    ops = {"Conv": "Conv <KEYS> (x, w)", "MaxPool": "MaxPool <kernel_shape = [3], KEYS> (x)",
           "AveragePool": "AveragePool <kernel_shape = [3], count_include_pad = 1, KEYS> (x)"}  # fmt: skip
    for name, node in ops.items():
        for way in ("SAME_UPPER", "SAME_LOWER", "VALID"):
            text = "(float[1, 1, 8] x) => (float[1, 1, k] y) <float[1, 1, 3] w = {1, 2, 3}, int64[6] p = {0, 0, 2, 0, 0, 2}> { NODES }"
            padded = text.replace(
                "NODES", "z = Pad (x, p) y = " + node.replace("KEYS", "strides = [1]").replace("(x", "(z")
            )
            folded = text.replace("NODES", "y = " + node.replace("KEYS", f'auto_pad = "{way}", pads = [2, 2]'))
            yield f"{name} with {way} and pads", made(padded), made(folded)
            plain = text.replace("NODES", "y = " + node.replace("KEYS", f'auto_pad = "{way}"'))
            yield f"{name} with {way}, and with pads beside it", made(plain), made(folded)


def refused() -> Iterator[Row]:
    """The second model does not load."""
    text = "(float[n] x) => (float[k] y) { h = Neg (x) y = Abs (h) }"
    for opset in (999, 99):
        first, second = made(text), made(text)
        second.opset_import[0].version = opset
        yield f"opset {opset}", first, second
    for domain in ("ai.onnx.ml", "com.microsoft"):
        yield f"version 99 of {domain}", made(text), made(text, 18, f'"{domain}" : 99')
    first, second = made(text), made(text)
    second.ir_version = 99
    yield "version 99 of the format", first, second
    for at in range(3):
        first, second = made(text), made(text)
        for node in second.graph.node:
            node.name = f"one{at}"
        yield f"two nodes of one name {at}", first, second
    for opset in (11, 12, 13):
        seq = "(float[n] x) => (float[k] y) { s = SequenceConstruct (x, x) NODES }"
        first = made(seq.replace("NODES", "y = ConcatFromSequence <axis = 0> (s)"), opset)
        yield (
            f"Identity of a sequence in opset {opset}",
            first,
            made(seq.replace("NODES", "t = Identity (s) y = ConcatFromSequence <axis = 0> (t)"), opset),
        )
    branch = "(bool c, float[n] x) => (float[k] y) { h = Neg (x) y = If (c) <then_branch = t () => (float[k] u) { u = THEN }, else_branch = e () => (float[k] v) { v = Abs (h) }> }"
    first = made(branch.replace("THEN", "Identity (h)"))
    second = made(branch.replace("THEN", "Identity (h)"))
    then = second.graph.node[1].attribute[0].g
    del then.node[:]
    then.output[0].name = "h"
    yield "a branch that returns an outer value", first, second
    for domain in ("other", "com.microsoft", "own", "ai.onnx.ml", "padops"):
        second = made(
            f"(float[n] x) => (float[k] y) {{ h = Neg (x) y = Abs (h) u = {domain}.Unheard (x) }}",
            18,
            f'"{domain}" : 1',
        )
        del second.opset_import[1:]
        yield f"the domain {domain} without an import", made(text), second


def typed() -> Iterator[Row]:
    """Types that a value or an operator of the second model may not have: runtimes refuse the model."""
    text = "(float[n] x, bool b, int64 i, string s) => (float[k] y) SAID { h = Neg (x) y = Abs (h) }"
    for dtype in ("double", "int32", "bool"):
        yield f"a {dtype} declared", made(text.replace("SAID", "")), made(text.replace("SAID", f"<{dtype}[n] h>"))
    for node in ("Not (x)", "Sqrt (i)", "Neg (b)", "Abs (s)", "Sigmoid (b)"):
        yield f"unused {node}", made(text.replace("SAID", "")), made(text.replace("SAID {", f"{{ u = {node}"))
    branch = "(bool c, float[n] x) => (float[k] y) { y = If (c) <then_branch = t () => (float[k] u) { u = Neg (x) }, else_branch = e () => (TYPE[k] v) { v = Abs (x) }> }"
    yield "a branch of double", made(branch.replace("TYPE", "float")), made(branch.replace("TYPE", "double"))
    optional = "(float[n] x) => (float[k] y) { o = Optional (x) NODES }"
    ways = ("y = OptionalGetElement (o)", "p = Identity (o) y = OptionalGetElement (p)")
    yield "Identity of an optional in opset 15", *(made(optional.replace("NODES", nodes), 15) for nodes in ways)


def unused() -> Iterator[Row]:
    """A node that nothing uses, and that may fail, in the second model alone."""
    for name, (kind, node) in FAILING.items():
        text = f"(float[n] x, {kind}) => (float[k] y) {{ y = Neg (x) }}"
        yield f"unused {name}", made(text), made(text.replace("{ y", f"{{ u = {node} y"))
        branch = f"(bool c, float[n] x, {kind}) => (float[k] y) {{ y = If (c) <then_branch = t () => (float[k] u) {{ u = Neg (x) }}, else_branch = e () => (float[k] v) {{ v = Abs (x) }}> }}"
        yield f"unused {name} in a branch", made(branch), made(branch.replace("{ u = Neg", f"{{ h = {node} u = Neg"))


def symbols() -> Iterator[Row]:
    """One symbol for dims that may have two sizes: nothing holds callers to it."""
    for op in ("Shape <start = 0, end = 1>", "Size"):
        for at, (first, second) in enumerate((("x", "w"), ("w", "x"))):
            text = f"(float[n] x, float[n] w) => (int64[k] y, float[a] z) {{ y = {op} (VALUE) z = Neg (x) }}"
            yield f"{op} of another input {at}", made(text.replace("VALUE", first)), made(text.replace("VALUE", second))
    for axes in ((0, 1), (1, 0)):
        text = "(float[n, n] x) => (float[k] y) <int64[2] p = {0, 1}, int64[1] zero = {0}> { s = Shape <start = AT, end = END> (x) d = Expand (zero, s) f = Flatten <axis = 0> (x) q = Slice (x, zero, s, zero) y = ReduceSum (q) }"
        one, other = (made(text.replace("AT", str(at)).replace("END", str(at + 1))) for at in axes)
        yield f"axis {axes[1]} for {axes[0]}", one, other
    grown = "(float[n] x, float[n] w) => (float[k] y) { s = Shape (VALUE) c = ConstantOfShape (s) y = Concat <axis = 0> (x, c) }"
    yield (
        "as many zeros as another input has elements",
        made(grown.replace("VALUE", "x")),
        made(grown.replace("VALUE", "w")),
    )


def amounts() -> Iterator[Row]:
    """Amounts that are computed in a narrower type, or clamped far away."""
    padded = "(float[n] x, int64 a, int64[2] p) => (float[k] y, int64[l] q) <int64[2] five = {5, 5}> { NODES r = Min (q, five) y = Pad (x, r) }"
    ways = {
        "through int32": "i = Cast <to = 6> (p) q = Cast <to = 7> (i)",
        "clamped at 2^60": "c = Constant <value_int = 1152921504606846976> () q = Min (p, c)",
        "clamped at -2^60": "c = Constant <value_int = -1152921504606846976> () q = Max (p, c)",
        "through double": "i = Cast <to = 11> (p) q = Cast <to = 7> (i)",
        "through float": "i = Cast <to = 1> (p) q = Cast <to = 7> (i)",
        "clipped": "c = Constant <value_int = 4611686018427387904> () q = Clip (p, , c)",
        "modulo 2^61": "c = Constant <value_int = 2305843009213693952> () q = Mod (p, c)",
    }
    for name, nodes in ways.items():
        yield (
            f"amounts {name}",
            made(padded.replace("NODES", "q = Abs (p)" if "Clip" in name else "q = Identity (p)")),
            made(padded.replace("NODES", nodes)),
        )
    sized = "(float[n] x) => (float[k] y) { s = Shape (x) NODES zero = Constant <value_ints = [0]> () p = Concat <axis = 0> (zero, q) y = Pad (x, p) }"
    for name, nodes in {"beyond 600": "c = Constant <value_ints = [600]> () q = Min (s, c)",
                        **{f"at {size}": f"c = Constant <value_ints = [{size}]> () e = Equal (s, c) o = Cast <to = 7> (e) q = Add (s, o)"
                           for size in (25, 31, 40, 57, 96, 250, 1000)},
                        "through int8": "i = Cast <to = 3> (s) q = Cast <to = 7> (i)",
                        "of 1000 and more": "c = Constant <value_ints = [1000]> () o = Div (s, c) q = Add (s, o)",
                        "but for 57": "c = Constant <value_ints = [57]> () m = Mod (s, c) z = Cast <to = 9> (m) b = Not (z) o = Cast <to = 7> (b) q = Add (s, o)"}.items():  # fmt: skip
        yield f"sizes {name}", made(sized.replace("NODES", "q = Identity (s)")), made(sized.replace("NODES", nodes))


def sized() -> Iterator[Row]:
    """Numbers that are computed from constants or known dims, and axes that are empty alone."""
    text = "(float[n] x, float[59] w) => (float[k] y) { s = Shape (x) z = Constant <value_ints = [0]> () NODES p = Concat <axis = 0> (z, q) y = Pad (x, p) }"
    ways = {
        "13 times 11": "a = Constant <value_ints = [13]> () b = Constant <value_ints = [11]> () c = Mul (a, b)",
        "four times 29": "a = Constant <value_ints = [29]> () b = Add (a, a) c = Add (b, b)",
        "7 times 7": "a = Constant <value_ints = [7]> () c = Mul (a, a)",
        "3 times 5 times 7": "a = Constant <value_ints = [3, 5, 7]> () c = ReduceProd (a)",
        "the Size of 105 zeros": "a = Constant <value_ints = [3, 5, 7]> () b = ConstantOfShape (a) c = Size (b)",
        "a dim of an input": "c = Shape (w)",
        "the length of a constant": f"a = Constant <value_ints = [{', '.join(['1'] * 53)}]> () c = Size (a)",
    }
    ways = {f"at {name}": f"{nodes} e = Equal (s, c) q = Cast <to = 7> (e)" for name, nodes in ways.items()}
    ways["of the last of 27"] = f"t = Constant <value_ints = [{', '.join(['0'] * 26 + ['7'])}]> () q = Gather (t, s)"
    for name, nodes in ways.items():
        yield f"an amount {name}", made(text.replace("NODES", "q = Sub (s, s)")), made(text.replace("NODES", nodes))
    for mode in ("edge", "reflect"):
        whole = f'(float[n, m] x) => (float[k, l] y) <int64[4] p = {{0, -1, 0, 1}}, int64[4] q = {{0, 0, 0, 1}}, int64[4] r = {{0, -1, 0, 0}}> {{ y = Pad <mode = "{mode}"> (x, p) }}'
        parts = whole.replace("y = Pad", "h = Pad").replace("(x, p) }", f'(x, q) y = Pad <mode = "{mode}"> (h, r) }}')
        yield f"{mode} of an axis that is empty alone, in two Pads", made(whole), made(parts)


def payloads() -> Iterator[Row]:
    """NaNs of other bits in attributes and constants."""
    bits = [0x7FC00000, 0x7FC00001, 0xFFC00000, 0x7FA00000, 0x7FFFFFFF, 0x7FC12345]
    first, *others = np.array(bits, np.uint32).view(np.float32)
    for at, other in enumerate(others, 1):
        yield f"a constant NaN {at}", *(_graph(_added(one)) for one in (first, other))
        yield f"a list with a NaN {at}", *(_graph([_labels(one)]) for one in (first, other))
        yield f"a tensor with a NaN {at}", *(_graph([_filled(one)]) for one in (first, other))
    # Floats of 16 bits in another field than floats of 32, and a field that their type does not use
    halves = [TensorProto(name="v", data_type=TensorProto.FLOAT16, dims=[2], int32_data=[0x7E00, bits], float_data=more)
              for more in ([], [float("nan")]) for bits in (0x3C00, 0x4000)]  # fmt: skip
    nodes = [[helper.make_node("Constant", [], ["h"], value=half), helper.make_node("Cast", ["h"], ["y"], to=1)]
             for half in halves]  # fmt: skip
    yield "halves beside a NaN", *map(_graph, nodes[:2])
    yield "halves beside a NaN of another field", *map(_graph, nodes[2:])


def _added(one: np.float32) -> list[onnx.NodeProto]:
    value = helper.make_node("Constant", [], ["v"], value=numpy_helper.from_array(np.array([one]), "v"))
    return [value, helper.make_node("Add", ["x", "v"], ["y"])]


def _labels(one: np.float32) -> onnx.NodeProto:
    node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", keys_floats=[1.0], values_floats=[0.0])
    row = next(row for row in node.attribute if row.name == "values_floats")
    fields = onnx.AttributeProto(name=row.name, type=row.type)
    row.ParseFromString(fields.SerializeToString() + b"\x3a\x04" + one.tobytes())
    return node


def _filled(one: np.float32) -> onnx.NodeProto:
    tensor = onnx.TensorProto(name="v", data_type=TensorProto.FLOAT, dims=[1])
    tensor.MergeFromString(b"\x22\x04" + one.tobytes())  # float_data, packed
    return helper.make_node("Constant", [], ["y"], value=tensor)


def _graph(nodes: list[onnx.NodeProto]) -> Model:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [dim]) for name, dim in (("x", "n"), ("y", "k")))
    graph = helper.make_graph(nodes, "g", [x], [y])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


KINDS = (declared, hoisted, imported, named, beside, refused, typed, unused, symbols, amounts, sized, payloads)
