"""The rules of ``onnxifier``, watched while they work."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from padops.convert.errors import PadopsError, library_errors
from padops.convert.readers.openvino_ir.tables import REPAIRS, changes_nothing
from padops.convert.readers.openvino_ir.values import attributes_of
from padops.convert.readers.openvino_ir.weights import LARGEST

# What onnxifier, and onnx below it, raise beside what every library does.
RAISED = (RuntimeError, AssertionError, OSError, onnx.checker.ValidationError)


@dataclass
class _Log:
    """What the rules did: the layers that they refused, with the reasons, and the attributes that they read."""

    refusals: dict[str, str] = field(default_factory=dict)
    read: set[tuple[str, str]] = field(default_factory=set)


def apply_rules(
    message: onnx.ModelProto, layers: Mapping[str, onnx.NodeProto], path: Path
) -> tuple[onnx.ModelProto, dict[str, str]]:
    """Lets onnxifier convert layers.

    Returns:
        The model, and the layers that could not be converted, or not wholly, with the reasons.

    Raises:
        PadopsError: onnxifier is not installed, or the model is too large for it.
    """
    kinds = {node.op_type for node in layers.values()}
    if message.ByteSize() > LARGEST:
        raise PadopsError(f"{path} has {message.ByteSize()} bytes of layers and weights; onnxifier takes {LARGEST}")
    try:
        with _quiet():  # it uses what onnx deprecates
            from networkx import NetworkXException  # which onnxifier is made of
            from onnxifier import OnnxGraph, PassManager
            from onnxifier.domain.intel.openvino.passes.op import OP_CONVERT
    except ImportError as error:
        raise PadopsError(
            f"{path} has layers that are no Pads ({', '.join(sorted(kinds))}). They need onnxifier, which "
            f"cannot be imported ({error}): pip install 'padops[openvino]', with Python 3.11 or newer"
        ) from error
    log = _Log()
    rules = [OP_CONVERT.get_type(name) for name in sorted(OP_CONVERT)]
    with _quiet():
        watched = [_watch(rule, log) for rule in rules if rule.__name__ in kinds]
        with library_errors(f"{path}, as onnxifier takes it,", NetworkXException, *RAISED):
            message = PassManager(watched).optimize(OnnxGraph(message), strict=True).model
    return message, log.refusals or _unread(layers, log.read)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps onnxifier from writing to the terminal; whatever matters of it comes as an exception."""
    logger = logging.getLogger("O2O")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _watch(rule: type, log: _Log) -> Any:
    """A rule that gets only values which do not depend on the model's inputs, and records what it refuses and reads."""

    class Watched(rule):  # type: ignore[misc]  # onnxifier has no types
        lacking = ""  # a value that it has asked for and that is no constant

        def rewrite(self, graph: Any, nodes: list[onnx.NodeProto], *args: Any, **kwargs: Any) -> None:
            self.lacking = ""
            try:
                super().rewrite(graph, nodes, *args, **kwargs)
            except Exception as error:
                text = " ".join(str(error).split()) or type(error).__name__
                if self.lacking:
                    text += f": its input '{self.lacking}' is no constant, but computed when the model runs"
                log.refusals[nodes[0].name] = f"onnxifier: {text}"

        def get_attribute(self, node: onnx.NodeProto, name: str, default: Any = None) -> Any:
            log.read.add((node.name, name))
            return super().get_attribute(node, name, default)

        def get_value(self, node: onnx.NodeProto | str, output_name: str | None = None) -> Any:
            # onnxifier would run whatever is before the node, of any size, on random inputs where it needs inputs; and
            # where that fails, it leaves a model in the folder for temporary files.
            maker = self.graph._out_to_node.get(node) if isinstance(node, str) else node.name
            array = None if maker is None else _constant(self.graph, maker)
            if array is None:
                self.lacking = node if isinstance(node, str) else node.name
            return array

    Watched.__name__ = rule.__name__  # onnxifier finds the layers of a rule by the name of its class
    for name in ("__NAME__", "__DEPS__", "__PATCHES__"):
        setattr(Watched, name, getattr(rule, name))
    return Watched()


def _constant(graph: Any, name: str) -> np.ndarray | None:
    """What a node always gives: a Constant, or a Cast of one, as weights of half precision have it; else None."""
    node, casts = graph.nodes[name]["pb"], []
    while (node.domain, node.op_type) == ("", "Cast"):
        casts.append(helper.tensor_dtype_to_np_dtype(node.attribute[0].i))
        maker = graph._out_to_node.get(node.input[0])
        if maker is None:
            return None
        node = graph.nodes[maker]["pb"]
    if (node.domain, node.op_type) != ("", "Constant"):
        return None
    array = numpy_helper.to_array(node.attribute[0].t)
    with np.errstate(all="ignore"):
        for dtype in reversed(casts):
            array = array.astype(dtype)
    return array


def _unread(layers: Mapping[str, onnx.NodeProto], read: set[tuple[str, str]]) -> dict[str, str]:
    """Layers with an attribute that matters and that no rule has read."""
    repaired = {(kind, name, value) for kind, name, value, *_ in REPAIRS}
    return {
        layer: f"onnxifier does not read {name}='{value}'"
        for layer, node in layers.items()
        for name, value in attributes_of(node).items()
        if (layer, name) not in read
        and (node.op_type, name, value) not in repaired
        and not changes_nothing(node.op_type, name, value)
    }
