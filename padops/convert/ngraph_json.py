"""What ``ngraph::serialize`` wrote, as an ONNX model whose Pads are still nGraph's.

Read is the text form of all releases from 2017 to 2020: a list of functions, each with the names of its ``parameters``
and of its ``result``, and with its ``ops`` in an order in which each comes after its inputs. The last function is the
model. Of the operators, those are read that a model of Pads has: Parameter, Constant, Result, and

- Pad of version 0, with ``padding_below`` and ``padding_above``; with ``padding_interior`` as long as nGraph had that
  (to 2018), and with ``pad_mode`` since (the number of CONSTANT, EDGE, REFLECT, SYMMETRIC; or absent: CONSTANT),
- Pad of version 1, which is OpenVINO's Pad-1: amounts as inputs, ``pad_mode`` as a word.

A graph with other operators is refused, with a list of them: nobody maintains a converter of nGraph's. So is the form
with constants in a cpio archive, which is no text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from padops.convert.errors import PadopsError
from padops.convert.records import FileRecord
from padops.convert.sources import ngraph, openvino
from padops.dialects import OPS, Node, make_node_plan
from padops.dtypes import by_onnx
from padops.plan import PadError

IR_VERSION = 8
OPSET = 17
CPIO = (b"\x71\xc7", b"\xc7\x71", b"070707")  # how an archive begins: little-endian, big-endian, octal digits
SHOWN = 20  # operators in a message

# Element types by their names in C++.
TYPES = {
    "char": TensorProto.BOOL,
    "bfloat16": TensorProto.BFLOAT16,
    "float16": TensorProto.FLOAT16,
    "half": TensorProto.FLOAT16,
    "float": TensorProto.FLOAT,
    "double": TensorProto.DOUBLE,
    **{f"{name}_t": getattr(TensorProto, name.upper()) for name in ("int8", "int16", "int32", "int64")},
    **{f"{name}_t": getattr(TensorProto, name.upper()) for name in ("uint8", "uint16", "uint32", "uint64")},
}

Dims = list[int | None] | None


def read(path: Path) -> tuple[onnx.ModelProto, list[FileRecord]]:
    """Reads a serialized function.

    Returns:
        The model; the file.

    Raises:
        PadopsError: The file is not what nGraph writes, or has operators that are not read; they are listed.
    """
    content = path.read_bytes()
    if content.startswith(CPIO):
        raise PadopsError(f"{path} is nGraph's binary form, a cpio archive; serialize the function to text instead")
    try:
        functions = json.loads(content)
    except ValueError as error:
        raise PadopsError(f"{path} is not JSON: {error}") from None
    if not isinstance(functions, list) or not functions or not all(isinstance(f, dict) for f in functions):
        raise PadopsError(f"{path} is not what nGraph's serializer writes: expected a list of functions")
    model = _Builder(path).build(functions[-1])
    return model, [FileRecord(str(path), len(content), hashlib.sha256(content).hexdigest())]


class _Builder:
    """Makes the model; values are named like the operators that give them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._graph = onnx.GraphProto()
        self._values: dict[str, tuple[int, Dims]] = {}
        self._results: dict[str, str] = {}
        self._domains = {"": OPSET}

    def build(self, function: dict[str, Any]) -> onnx.ModelProto:
        self._graph.name = str(function.get("name", self._path.stem))
        ops = self._get(function, "ops", list, "the function")
        self._refuse_others(ops)
        readers: dict[str, Callable[[dict[str, Any], str], None]] = {
            "Parameter": self._add_parameter,
            "Constant": self._add_constant,
            "Pad": self._add_pad,
            "Result": self._add_result,
        }
        for op in ops:
            kind, name = op["op"], self._get(op, "name", str, "an operator")
            if name in self._values or name in self._results:
                raise self._damaged(f"two operators have the name '{name}'")
            readers[kind](op, name)
        self._order_inputs(self._get(function, "parameters", list, "the function"))
        for name in self._get(function, "result", list, "the function"):
            self._add_output(name)
        imports = [helper.make_opsetid(domain, version) for domain, version in self._domains.items()]
        return helper.make_model(self._graph, opset_imports=imports, ir_version=IR_VERSION, producer_name="nGraph")

    def _damaged(self, what: str) -> PadopsError:
        return PadopsError(f"{self._path} is not what nGraph's serializer writes, or is damaged: {what}")

    def _get(self, op: dict[str, Any], key: str, kind: type, what: str) -> Any:
        value = op.get(key)
        if not isinstance(value, kind):
            raise self._damaged(f"{what} has no {key}" if value is None else f"{key} of {what} is {value!r}")
        return value

    def _refuse_others(self, ops: list[Any]) -> None:
        """Lists the operators that are not read."""
        if not all(isinstance(op, dict) and isinstance(op.get("op"), str) for op in ops):
            raise self._damaged("one of the ops has no op")
        others = [op for op in ops if op["op"] not in ("Parameter", "Constant", "Pad", "Result")]
        versions = [op for op in ops if op["op"] == "Pad" and op.get("op_version", 0) not in (0, 1)]
        lines = [f"{op['op']} '{op.get('name')}'" for op in others]
        lines += [f"Pad '{op.get('name')}' of version {op['op_version']}" for op in versions]
        if lines:
            more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
            listing = "\n  ".join([*lines[:SHOWN], *more])
            raise PadopsError(
                f"{self._path}: {len(lines)} of its {len(ops)} operators cannot be converted; of nGraph's graphs, only "
                f"those of Pads alone are read:\n  {listing}"
            )

    def _type(self, op: dict[str, Any], what: str) -> int:
        """The element type; the oldest files spell it out in an object."""
        found = op.get("element_type")
        name = found.get("c_type_string") if isinstance(found, dict) else found
        if name not in TYPES:
            raise self._damaged(f"{what} has the element type {name!r}")
        return TYPES[name]

    def _dims(self, op: dict[str, Any], what: str) -> Dims:
        """A shape: null where the rank is open, with a null for each dim that is."""
        if "shape" not in op:
            raise self._damaged(f"{what} has no shape")
        shape = op["shape"]
        if shape is None:
            return None
        if not isinstance(shape, list) or not all(d is None or (_is_int(d) and d >= 0) for d in shape):
            raise self._damaged(f"{what} has the shape {shape!r}")
        return shape

    def _inputs(self, op: dict[str, Any], name: str) -> list[str]:
        """The values that an operator reads; they stand before it."""
        inputs = []
        for source in op.get("inputs") or []:
            if isinstance(source, dict) and source.get("index") == 0:
                source = source.get("node")
            if not isinstance(source, str) or source not in self._values:
                raise self._damaged(f"{op['op']} '{name}' reads {source!r}, which no operator before it gives")
            inputs.append(source)
        return inputs

    def _add_parameter(self, op: dict[str, Any], name: str) -> None:
        what = f"Parameter '{name}'"
        self._values[name] = self._type(op, what), self._dims(op, what)
        self._graph.input.append(helper.make_tensor_value_info(name, *self._values[name]))

    def _order_inputs(self, names: list[str]) -> None:
        """Gives the inputs the order of the function's parameters."""
        inputs = {value.name: value for value in self._graph.input}
        if sorted(inputs) != sorted(map(str, names)):
            raise self._damaged(f"its parameters are {names}, but its operators have {sorted(inputs)}")
        ordered = [inputs[name] for name in names]
        del self._graph.input[:]
        self._graph.input.extend(ordered)

    def _add_constant(self, op: dict[str, Any], name: str) -> None:
        what = f"Constant '{name}'"
        declared = op if "element_type" in op else self._get(op, "value_type", dict, what)
        kind, dims = self._type(declared, what), self._dims(declared, what)
        texts = self._get(op, "value", list, what)
        if dims is None or None in dims or len(texts) not in (1, prod(dims)):
            raise self._damaged(f"{what} of shape {dims} has {len(texts)} values")
        try:
            elements = np.array([_parse(str(text), kind) for text in texts], by_onnx(kind).numpy)
        except (ValueError, OverflowError) as error:
            raise self._damaged(f"{what}: {error}") from None
        raw = elements.tobytes() * (prod(dims) if len(texts) == 1 else 1)
        self._graph.initializer.append(TensorProto(name=name, data_type=kind, dims=dims, raw_data=raw))
        self._values[name] = kind, dims

    def _add_pad(self, op: dict[str, Any], name: str) -> None:
        inputs = self._inputs(op, name)
        if not inputs:
            raise self._damaged(f"Pad '{name}' has no inputs")
        kind, dims = self._values[inputs[0]]
        if op.get("op_version", 0) == 1:
            attributes = {"version": "opset1", "pad_mode": str(op.get("pad_mode", "constant")).lower()}
            domain, dims = openvino.DOMAIN, None if dims is None else [None] * len(dims)
        else:
            attributes = {key: op[key] for key in (*ngraph.AMOUNTS, ngraph.OP.mode) if op.get(key) is not None}
            domain, dims = ngraph.DOMAIN, self._padded(name, attributes, dims)
        node = helper.make_node("Pad", inputs, [name], name=name, domain=domain)
        for key, value in attributes.items():
            ints = onnx.AttributeProto.INTS if isinstance(value, list) else None  # of an empty list as well
            node.attribute.append(helper.make_attribute(key, value, attr_type=ints))
        self._graph.node.append(node)
        self._domains[domain] = 1
        self._values[name] = kind, dims

    def _padded(self, name: str, attributes: dict[str, Any], dims: Dims) -> Dims:
        """The dims of a Pad's output, as far as those of its input are known."""
        for key in ngraph.AMOUNTS:
            value = attributes.get(key, [])
            if not isinstance(value, list) or not all(map(_is_int, value)):
                raise self._damaged(f"{key} of Pad '{name}' is {value!r}")
        if dims is None or None in dims:
            return None if dims is None else [None] * len(dims)
        amounts = {key: value for key, value in attributes.items() if key in ngraph.AMOUNTS}
        try:  # the mode changes no dims
            return list(make_node_plan(Node(OPS[ngraph.OP.name], name, amounts), dims).shape)
        except PadError as error:
            raise PadopsError(f"{self._path}: {error}") from None

    def _add_result(self, op: dict[str, Any], name: str) -> None:
        inputs = self._inputs(op, name)
        if len(inputs) != 1:
            raise self._damaged(f"Result '{name}' has {len(inputs)} inputs, expected one")
        self._results[name] = inputs[0]

    def _add_output(self, name: str) -> None:
        """An output: a Result, or in older files any operator."""
        source = self._results.get(name, name)
        if source not in self._values:
            raise self._damaged(f"its result '{name}' is no operator")
        made = {output for node in self._graph.node for output in node.output}
        if name != source or name not in made or any(output.name == name for output in self._graph.output):
            name = name if name not in self._values else f"{name}_result"
            self._graph.node.append(helper.make_node("Identity", [source], [name], name=name))
        self._graph.output.append(helper.make_tensor_value_info(name, *self._values[source]))


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _parse(text: str, kind: int) -> float | int | bool:
    """One element of a constant; floats may be NAN, INFINITY or -INFINITY."""
    if kind in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16):
        return float(text)
    if kind == TensorProto.BOOL:
        return bool(int(text))
    return int(text)
