"""Recurrent layers: LSTM, GRU and RNN."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from onnx import TensorProto, helper

from padops.convert.readers.openvino_ir.layer import Layer, Unreadable
from padops.plural import plural

# Gates of a sequence by their letters, as OpenVINO orders them and as ONNX does; ONNX adds a bias of R's rows, of which
# OpenVINO has at most that of GRU's hidden gate ("H").
GATES = {"LSTM": ("fico", "iofc"), "GRU": ("zrh", "zrh"), "RNN": ("h", "h")}
ACTIVATIONS = {"sigmoid": "Sigmoid", "tanh": "Tanh", "relu": "Relu"}
USUAL = {"LSTM": "sigmoid,tanh,tanh", "GRU": "sigmoid,tanh", "RNN": "tanh"}
DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}


def _sequence(layer: Layer, data: str, *inputs: str) -> list[str]:
    """LSTM, GRU or RNN: the batch is axis 0 in OpenVINO and axis 1 in ONNX, whose runtime has no other layout."""
    kind = layer.node.op_type.removesuffix("Sequence")
    if len(inputs) != 5 + (kind == "LSTM"):
        raise Unreadable(f"it has {plural(len(inputs) + 1, 'input')}, expected {6 + (kind == 'LSTM')}")
    *states, lengths, weights, recurrent, bias = inputs
    layer.choice("version", {"opset5": None})
    size = layer.integer("hidden_size")
    direction = layer.word("direction").lower()
    names = [name.strip().lower() for name in layer.word("activations", USUAL[kind]).split(",")]
    if reason := _sequence_refusal(layer, kind, direction, names):
        raise Unreadable(reason)
    theirs, ours = GATES[kind]
    reset = kind == "GRU" and layer.flag("linear_before_reset", "false")
    width = (len(theirs) + reset) * size
    if layer.values.static(bias) != [DIRECTIONS[direction], width]:
        raise Unreadable(f"its biases do not have the dims {DIRECTIONS[direction]}, {width}")
    rows = [theirs.index(gate) * size + i for gate in ours for i in range(size)]
    order = layer.constant(rows)
    # A column of zeros, behind those that there are, is the bias that OpenVINO does not have.
    zeros = layer.constant(np.zeros((DIRECTIONS[direction], 1)), helper.tensor_dtype_to_np_dtype(layer.type))
    none = [width] * len(rows)
    other = [*none[:-size], *range(width - size, width)] if reset else none
    biases = layer.add("Gather", layer.add("Concat", bias, zeros, axis=1), layer.constant(rows + other), axis=1)
    more = {"linear_before_reset": int(reset)} if kind == "GRU" else {}
    layer.add(
        kind,
        layer.add("Transpose", data, perm=[1, 0, 2]),
        layer.add("Gather", weights, order, axis=1),
        layer.add("Gather", recurrent, order, axis=1),
        biases,
        layer.add("Cast", lengths, to=TensorProto.INT32),
        *(layer.add("Transpose", state, perm=[1, 0, 2]) for state in states),
        count=1 + len(states),
        hidden_size=size,
        direction=direction,
        activations=[ACTIVATIONS[name] for name in names] * DIRECTIONS[direction],
        **more,
    )
    all_states, *last = layer.nodes[-1].output
    return [
        layer.add("Transpose", all_states, perm=[2, 1, 0, 3]),
        *(layer.add("Transpose", state, perm=[1, 0, 2]) for state in last),
    ]


def _sequence_refusal(layer: Layer, kind: str, direction: str, names: list[str]) -> str | None:
    """Why ONNX Runtime has no such sequence, or None."""
    if layer.type not in (TensorProto.FLOAT, TensorProto.DOUBLE):
        return "ONNX Runtime has it only for float and double"
    if direction not in DIRECTIONS:
        return f"direction='{direction}'"
    if len(names) != len(USUAL[kind].split(",")) or not ACTIVATIONS.keys() >= set(names):
        return f"activations='{layer.word('activations')}'"
    if layer.decimal("clip", "0") or layer.flag("input_forget", "false"):
        return "clip or input_forget"
    return None


SEQUENCES: Mapping[str, Callable[..., str | list[str]]] = {f"{kind}Sequence": _sequence for kind in GATES}
