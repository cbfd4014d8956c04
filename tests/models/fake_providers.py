"""Providers that are none: what they do with a Pad is said here, by its node alone, and not by any rule of padops.

    python fake_providers.py NAME

answers the questions of ``padops/probe/running.py``, as the process of the fake NAME.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from provider_sessions import providers_of_pads, recording_options
from same_models import graphs

from padops.probe.outcome import Asked
from padops.processes import serve
from padops.runtime.placing import in_front_of, register_provider_library
from padops.runtime.provider import FIRST_NAME
from padops.runtime.provider_rules import rules_with

TYPES = {onnx.TensorProto.DOUBLE: "double", onnx.TensorProto.UINT64: "uint64", onnx.TensorProto.FLOAT: "float"}


@dataclass(frozen=True)
class Node:
    """The Pad of a model: ``sizes`` are those of its data, None where they are open."""

    mode: str
    amounts: np.ndarray | None
    sizes: tuple[int | None, ...]
    type: str
    opset: int
    has_axes: bool

    def reaches(self, most: int) -> bool:
        """Whether an amount is more than its axis has elements, less ``most``."""
        if self.amounts is None or self.has_axes or not self.sizes or None in self.sizes:
            return False
        rank = len(self.sizes)
        return any(amount > max(self.sizes[at % rank] - most, 0) for at, amount in enumerate(self.amounts))

    def crops(self) -> bool:
        return self.amounts is not None and bool((self.amounts < 0).any())


def node_of(content: bytes) -> Node | None:
    model = onnx.load_model_from_string(content)
    pad = next((node for graph in graphs(model) for node in graph.node if node.op_type == "Pad"), None)
    if pad is None:
        return None
    constants = {row.name: numpy_helper.to_array(row) for row in model.graph.initializer}
    own = {row.name: onnx.helper.get_attribute_value(row) for row in pad.attribute}
    amounts = np.array(own["pads"]) if "pads" in own else constants.get("pads")
    shape = model.graph.input[0].type.tensor_type.shape.dim
    sizes = [row.dim_value if row.HasField("dim_value") else None for row in shape]
    if any(node.op_type == "Concat" for node in model.graph.node):
        sizes[0] *= 2
    kind = TYPES.get(model.graph.input[0].type.tensor_type.elem_type, "")
    has_axes = len(pad.input) > 3 and bool(pad.input[3])
    return Node(own["mode"].decode(), amounts, tuple(sizes), kind, model.opset_import[0].version, has_axes)


def mixed(pad: Node) -> str:
    if pad.mode == "wrap":
        return "refuses"
    if pad.mode == "edge" and pad.crops():
        return "dies"
    if pad.mode == "reflect" and pad.reaches(1):
        return "wrong"
    if pad.type == "double":
        return "refuses"
    return "leaves" if pad.type == "uint64" or pad.opset >= 24 else "right"


def axes(pad: Node) -> str:
    """No input axes in any mode, and open sizes in none but constant."""
    is_wrong = None in pad.sizes and pad.mode != "constant"
    return "refuses" if pad.has_axes else "wrong" if is_wrong else "right"


FAKES = {"mixed": mixed, "axes": axes,
         "stubborn": lambda pad: "wrong" if pad.crops() and pad.mode == "constant" else "right",
         "dying": lambda pad: {"reflect": "hangs", "edge": "dies", "wrap": "wrong"}.get(pad.mode, "right")}  # fmt: skip


@cache
def is_taken(content: bytes, given: tuple[tuple[str, str], ...]) -> bool:
    """Whether padops' own library takes the Pad in front of a provider, by the options that have its rules."""
    chosen = recording_options()
    chosen.add_provider_for_devices([register_provider_library()[FIRST_NAME]], dict(given))
    try:
        session = onnxruntime.InferenceSession(content, chosen, enable_fallback=0)
    except Exception as error:  # what padops does not take here, the CPU's may refuse
        return FIRST_NAME in str(error)
    return FIRST_NAME in providers_of_pads(session)


def answer_of(fake: str, question: Mapping[str, Any]) -> dict[str, Any]:
    """What the process of ``padops/probe/running.py`` would answer of a fake."""
    if "model" not in question:
        return {"onnxruntime": "1.32.0", "plugin": "1.2.3", "devices": ["GPU of nobody"], "providers": ["Fake"]}
    pad = node_of(question["model"])
    does = "right" if pad is None else FAKES[fake](pad)
    if question["rules"] is not None:
        rules = rules_with(question["rules"])
        options = in_front_of({"Fake": ""}, rules)
        taken = is_taken(question["model"], tuple(sorted(options.items())))
        does = "right" if taken and fake != "stubborn" else does
        return {"does": does, "why": "", "is_shared": fake != "axes" or rules["Fake"].fuses}
    return {"does": does, "why": "" if does in ("right", "leaves") else "a fake", "is_shared": does == "right"}


class Fake(Asked):
    def _answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        return {"does": ""} | answer_of(self.library, question)


def main(fake: str) -> None:
    def answer(question: Mapping[str, Any]) -> dict[str, Any]:
        if fake == "dropped" and "model" in question:
            raise RuntimeError("onnxruntime has left Fake out of a session")
        told = answer_of(fake, question)
        if told.get("does") == "dies":
            os.abort()
        if told.get("does") == "hangs":
            time.sleep(600)
        return told

    serve(answer)


PROGRAM = (str(Path(__file__).resolve()),)

if __name__ == "__main__":
    main(*sys.argv[1:])
