"""Two models that look alike and give different results for some input: what nothing may call proved.

Each pair is written as two bodies of ONNX's text under one signature, with the input that shows the difference. The
pairs stand in tables by their kind.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import native
import numpy as np
import onnx
import onnxruntime

from padops.runtime.ort_values import run_session

Feeds = dict[str, np.ndarray]


@dataclass(frozen=True)
class Pair:
    """Two models: the first one runs on the inputs, and the second one gives something else, or fails."""

    name: str
    original: onnx.ModelProto
    converted: onnx.ModelProto
    feeds: Feeds


CONSTANT = re.compile(r'\b(\w+) = (\[[-\d, ]*\]|-?\d[\d.]*|"[^"]*")(?= |$)')
FLOATS = "float[N] x => float[M] y"
FUNCTION = '<domain: "{}", opset_import: ["": 18]>'
# Words of the tables, and the text for which they stand
SHORT = {
    r"\bIF (\w) \{ ([^{}]*) \} \{ ([^{}]*) \}": r"If (\1) <then_branch = t () => (float[A] a) { \2 }, "
    r"else_branch = e () => (float[B] b) { \3 }>",
    r"\bLOOP (\w) \{ ([^{}]*) \}": r"g = Constant <value = bool {1}> () y = Loop (\1, g, x) "
    r"<body = l (int64 i, bool o, float[A] u) => (bool w, float[B] v) { w = Identity (o) \2 }>",
    r"\bLOCAL\b": FUNCTION.format("local"),
    r"\bPAD_18\b": FUNCTION.format("padops") + ' Pad_18 <mode = "constant"> (u, p, f, a) => (v)',
    r"\bBYTES\b": "uint8[1,1,2,2] w = {1, 2, 3, 4}, uint8 z = {3}, uint8 f = {3}, uint8 o = {0}",
    r"\bZEROS\b": 'ONES f = 0.0 a = Pad <mode = "constant"> (x, p, f)',
    r"\bJOIN\b": "Concat <axis = 0>",
    r"\bONES\b": "p = [0, 0, 1, 1, 0, 0, 1, 1]",
    r"\bDIMS\b": "h = Shape <start = 0, end = 1> (x) w = Shape <start = 1> (x) z = [0] q = [0, 0, 0]",
    r"\bPADDED\b": "n = Concat <axis = 0> (q, p) y = Pad (x, n)",
    r"\bTABLE\b": f"[{', '.join('01'[at == 777] for at in range(1000))}]",
}


def pairs(table: str, usual: str = FLOATS, held: str = "") -> list[Pair]:
    """The pairs of a table, each a row ``name | signature | inputs``, rows ``@option value``, and both bodies.

    A row without a signature has the usual one, one without ``@held`` what is ``held``. An option may be
    ``first || second``. In bodies, ``p = [1, 1]`` is a Constant. Four spaces continue a row.
    """
    for short, text in SHORT.items():
        table = re.sub(short, text, table)
    found: list[Pair] = []
    for block in re.split(r"\n(?=\S)", re.sub(r"\n {4,}", " ", table.strip())):
        head, *rows = map(str.strip, block.split("\n"))
        name, *signature, inputs = (part.strip() for part in head.split(" | "))
        said = signature[0] if signature else usual
        options = {"other": [said], "opset": ["18"], "held": [held], "functions": [""]}
        options |= {row[1:].split(" ", 1)[0]: row.split(" ", 1)[1].split("||") for row in rows[:-2]}
        more = [options[key][at].strip() for key in ("opset", "held", "functions") for at in (0, -1)]
        one, other = (CONSTANT.sub(constant, row) for row in rows[-2:])
        original, converted = parsed(said, one, *more[::2]), parsed(options["other"][0], other, *more[1::2])
        feeds = {key: array(value, said, key) for key, value in (row.split(" = ") for row in inputs.split("; "))}
        found.append(Pair(name, original, converted, feeds))
    return found


def constant(found: re.Match[str]) -> str:
    name, value = found.groups()
    kind = {"[": "ints", '"': "string"}.get(value[0], "float" if "." in value else "int")
    return f"{name} = Constant <value_{kind} = {value}> ()"


def array(text: str, signature: str, name: str) -> np.ndarray:
    """An input: its elements, or ``ramp 2 3`` (from 1 on), ``-ramp 2 3`` or ``all 5 2 3`` with its dims."""
    (kind,) = re.findall(rf"(\w+)(?:\[[^\]]*\])? {name}\b", signature.split("=>")[0])
    dtype = onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.DataType.Value(kind.upper()))
    way, *dims = text.split()
    if way in ("ramp", "-ramp"):
        shape = tuple(map(int, dims))
        return (np.arange(1, 1 + np.prod(shape)) * (-1 if way[0] == "-" else 1)).astype(dtype).reshape(shape)
    if way == "all":
        return np.full(tuple(map(int, dims[1:])), json.loads(dims[0]), dtype)
    return np.array(json.loads(text), dtype)


def parsed(signature: str, nodes: str, opset: str, held: str, functions: str) -> onnx.ModelProto:
    """A model of ONNX's text. It imports the domains whose names the text has."""
    inputs, outputs = (part.strip() for part in signature.split("=>"))
    named = [f'"{domain}": 1' for domain in ("padops", "local", "com.microsoft") if f"{domain}." in nodes + functions]
    imports = ", ".join([f'"": {opset}', *named])
    head = f"<ir_version: 8, opset_import: [{imports}]>"
    values = f"<{held}>" if held else ""
    return onnx.parser.parse_model(f"{head}\ng ({inputs}) => ({outputs}) {values} {{\n{nodes}\n}}\n{functions}")


def answers(model: onnx.ModelProto, feeds: Feeds) -> list[tuple] | str:
    """The unoptimised outputs' bits, or the error's text; with the library, unless there are functions of padops."""
    fallback = any(function.domain == "padops" for function in model.functions)
    options = onnxruntime.SessionOptions() if fallback else native.session_options()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = native.session(model, options)
        given = {row.name for row in (*session.get_inputs(), *session.get_overridable_initializers())}
        outputs = run_session(session, {name: array for name, array in feeds.items() if name in given})
    except Exception as error:  # of several classes, which the binding of onnxruntime makes
        return str(error)
    return [(info.name, *native.bits(array)) for info, array in zip(session.get_outputs(), outputs)]
