"""Two models that look alike and give different results for some input: what nothing may call proved.

Each pair is written as two bodies of ONNX's text under one signature, with the input that shows the difference. The
pairs stand in files by their kind; ``every_pair.py`` has them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime

from padops.runtime.ort_values import run_session

Feeds = dict[str, np.ndarray]
ONE = "p = Constant <value_ints = [1, 1]> ()\n"  # one element on each side of a vector
INT8, INT32, INT64, FLOAT16, FLOAT, DOUBLE, BOOL = 3, 6, 7, 10, 1, 11, 9


@dataclass(frozen=True)
class Pair:
    """Two models of the same inputs and outputs.

    Attributes:
        name: What is different, in words.
        original: The first model.
        converted: The second one.
        feeds: Inputs for which the first runs, and the second gives something else or fails.
    """

    name: str
    original: onnx.ModelProto
    converted: onnx.ModelProto
    feeds: Feeds


def pair(
    name: str,
    signature: str,
    first: str,
    second: str,
    *,
    opset: int | tuple[int, int] = 18,
    held: str | tuple[str, str] = "",
    functions: str | tuple[str, str] = "",
    other: str | None = None,
    **feeds: Any,
) -> Pair:
    """A pair.

    Args:
        name: What is different.
        signature: Inputs and outputs of both, as ``float[N] x => float[M] y``.
        first: The nodes of the original.
        second: The nodes of the other.
        opset: Of both, or of each.
        held: Initializers, ``int64[2] p = {1, 1}``, of both or of each.
        functions: Local functions of both, or of each.
        other: The signature of the second model, where it is another one.
        **feeds: An input for which they differ.
    """
    opsets = opset if isinstance(opset, tuple) else (opset, opset)
    tensors = held if isinstance(held, tuple) else (held, held)
    locals_ = functions if isinstance(functions, tuple) else (functions, functions)
    made = [
        parsed(text, nodes, *more)
        for text, nodes, *more in zip((signature, other or signature), (first, second), opsets, tensors, locals_)
    ]
    return Pair(name, made[0], made[1], {key: np.asarray(value) for key, value in feeds.items()})


def parsed(signature: str, nodes: str, opset: int = 18, held: str = "", functions: str = "") -> onnx.ModelProto:
    """A model of ONNX's text. It imports the domains whose names the text has."""
    inputs, outputs = (part.strip() for part in signature.split("=>"))
    named = [f'"{domain}": 1' for domain in ("padops", "local", "com.microsoft") if f"{domain}." in nodes + functions]
    imports = ", ".join([f'"": {opset}', *named])
    head = f"<ir_version: 8, opset_import: [{imports}]>"
    values = f"<{held}>" if held else ""
    return onnx.parser.parse_model(f"{head}\ng ({inputs}) => ({outputs}) {values} {{\n{nodes}\n}}\n{functions}")


def answers(model: onnx.ModelProto, feeds: Feeds) -> list[tuple] | str:
    """The bits of each output without any optimisation, or the error's text.

    With the library, unless the model has functions of padops: then these run.
    """
    fallback = any(function.domain == "padops" for function in model.functions)
    options = onnxruntime.SessionOptions() if fallback else native.session_options()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = native.session(model, options)
        given = {row.name for row in session.get_inputs()} | {
            row.name for row in session.get_overridable_initializers()
        }
        outputs = run_session(session, {name: array for name, array in feeds.items() if name in given})
    except Exception as error:  # of several classes, which the binding of onnxruntime makes
        return str(error)
    return [(info.name, *native.bits(array)) for info, array in zip(session.get_outputs(), outputs)]
