"""A function of nGraph's as an ONNX message."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import onnx
from onnx import helper

from padops.convert.errors import PadopsError
from padops.convert.matchers import ngraph, openvino
from padops.convert.readers.limits import listing, static_dims
from padops.convert.readers.ngraph_function.fields import Dims, Fields, add_constant, is_int, read_elements, shown
from padops.plural import plural
from padops.spec.dialects import OPS, Node, make_node_plan
from padops.spec.dialects.node import INTEGER_KINDS
from padops.spec.dtypes import DType
from padops.spec.plan import PadError

IR_VERSION = 8
OPSET = 17


class Builder:
    """Makes the model; values are named like the operators that give them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fields = Fields(path)
        self._graph = onnx.GraphProto()
        self._values: dict[str, tuple[DType, Dims]] = {}
        self._made: set[str] = set()  # the values that nodes give and no output is named after
        self._taken: set[str] = set()
        self._results: dict[str, str] = {}
        self._domains = {"": OPSET}

    def build(self, function: dict[str, Any]) -> onnx.ModelProto:
        """Makes a model of a function, as the JSON has it.

        Raises:
            PadopsError: The function is not what nGraph writes, or has operators that are not read; they are listed.
        """
        name = function.get("name")
        self._graph.name = self._fields.name(name, "the name of the function") if name else "function"
        ops = self._fields.get(function, "ops", list, "the function")
        self._refuse_others(ops)
        readers: dict[str, Callable[[dict[str, Any], str], None]] = {
            "Parameter": self._add_parameter,
            "Constant": self._add_constant,
            "Pad": self._add_pad,
            "Result": self._add_result,
        }
        names = [self._fields.name(op.get("name"), f"the name of a {op['op']}") for op in ops]
        self._taken.update(names)
        for op, name in zip(ops, names):
            if name in self._values or name in self._results:
                raise self._fields.damaged(f"two operators have the name '{name}'")
            readers[op["op"]](op, name)
        self._order_inputs(self._fields.names(function, "parameters"))
        results = self._fields.names(function, "result")
        if not results:
            raise self._fields.damaged("the function has no result")
        for name in results:
            self._add_output(name)
        imports = [helper.make_opsetid(domain, version) for domain, version in self._domains.items()]
        return helper.make_model(self._graph, opset_imports=imports, ir_version=IR_VERSION, producer_name="nGraph")

    def _refuse_others(self, ops: list[Any]) -> None:
        """Refuses operators that cannot be read, with a list of them."""
        if not all(isinstance(op, dict) and isinstance(op.get("op"), str) for op in ops):
            raise self._fields.damaged("one of the ops has no op")
        others = [op for op in ops if op["op"] not in ("Parameter", "Constant", "Pad", "Result")]
        versions = [op for op in ops if op["op"] == "Pad" and op.get("op_version", 0) not in (0, 1)]
        lines = [f"{op['op']} {shown(op.get('name'))}" for op in others]
        lines += [f"Pad {shown(op.get('name'))} of version {shown(op['op_version'])}" for op in versions]
        if lines:
            raise PadopsError(
                f"{self._path}: {len(lines)} of its {plural(len(ops), 'operator')} cannot be converted; an nGraph "
                f"graph is read only if it pads, and does nothing else:{listing(lines)}"
            )

    def _fresh(self, wanted: str) -> str:
        """A name that is not used yet."""
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def _inputs(self, op: dict[str, Any], name: str) -> list[str]:
        """The values that an operator reads; they stand before it."""
        what = f"{op['op']} '{name}'"
        inputs = []
        for source in [] if op.get("inputs") is None else self._fields.get(op, "inputs", list, what):
            if isinstance(source, dict) and is_int(source.get("index")) and source["index"] == 0:
                source = source.get("node")
            if not isinstance(source, str) or source not in self._values:
                raise self._fields.damaged(f"{what} reads {shown(source)}, which no operator before it gives")
            inputs.append(source)
        return inputs

    def _add_parameter(self, op: dict[str, Any], name: str) -> None:
        what = f"Parameter '{name}'"
        self._values[name] = self._fields.element_type(op, what), self._fields.dims(op, what)
        self._graph.input.append(self._declaration(name, name))

    def _order_inputs(self, names: list[str]) -> None:
        """Gives the inputs the order of the function's parameters."""
        inputs = {value.name: value for value in self._graph.input}
        if sorted(inputs) != sorted(names):
            raise self._fields.damaged(
                f"its parameters are {shown(names)}, but its operators have {shown(sorted(inputs))}"
            )
        ordered = [inputs[name] for name in names]
        del self._graph.input[:]
        self._graph.input.extend(ordered)

    def _add_constant(self, op: dict[str, Any], name: str) -> None:
        what = f"Constant '{name}'"
        declared = op if "element_type" in op else self._fields.get(op, "value_type", dict, what)
        kind, dims = self._fields.element_type(declared, what), self._fields.dims(declared, what)
        texts = self._fields.get(op, "value", list, what)
        static = static_dims(dims)
        if static is None or len(texts) not in (1, prod(static)):
            raise self._fields.damaged(f"{what} of shape {shown(dims)} has {plural(len(texts), 'value')}")
        elements = read_elements(self._fields, texts, kind, what)
        self._made.update(add_constant(self._graph, name, kind, static, elements, self._fresh))
        self._values[name] = kind, dims

    def _add_pad(self, op: dict[str, Any], name: str) -> None:
        inputs = self._inputs(op, name)
        if not inputs:
            raise self._fields.damaged(f"Pad '{name}' has no inputs")
        kind, dims = self._values[inputs[0]]
        explicit = op.get("op_version", 0) == 1  # amounts are inputs
        if explicit:
            self._check_amounts(name, inputs[1:3], dims)
        self._check_fill(name, inputs[3 if explicit else 1 :], kind)
        if explicit:
            mode = self._fields.get({"pad_mode": "constant", **op}, "pad_mode", str, f"Pad '{name}'")
            mode = self._fields.name(mode, f"pad_mode of Pad '{name}'")
            attributes: dict[str, Any] = {"version": "opset1", "pad_mode": mode.lower()}
            domain, dims = openvino.DOMAIN, None if dims is None else [None] * len(dims)
        else:
            attributes = self._attributes(op, name, dims)
            domain, dims = ngraph.DOMAIN, self._padded(name, attributes, dims)
        node = helper.make_node("Pad", inputs, [name], name=name, domain=domain)
        for key, value in attributes.items():
            ints = onnx.AttributeProto.INTS if isinstance(value, list) else None  # of an empty list as well
            node.attribute.append(helper.make_attribute(key, value, attr_type=ints))
        self._graph.node.append(node)
        self._made.add(name)
        self._domains[domain] = 1
        self._values[name] = kind, dims

    def _check_amounts(self, name: str, inputs: list[str], dims: Dims) -> None:
        """Refuses amounts that are no integers, or not one for each axis, as far as that is known."""
        for value in inputs:
            kind, own = self._values[value]
            if kind.name not in INTEGER_KINDS["integer"]:
                raise self._fields.damaged(f"the amounts '{value}' of Pad '{name}' are {kind.name}")
            if own is not None and (len(own) != 1 or (dims is not None and own[0] not in (None, len(dims)))):
                expected = "one number for each axis" if dims is None else f"the shape [{len(dims)}]"
                raise self._fields.damaged(
                    f"the amounts '{value}' of Pad '{name}' have the shape {shown(own)}, expected {expected} [P8]"
                )

    def _check_fill(self, name: str, inputs: list[str], kind: DType) -> None:
        """Refuses a fill of another type than the data's, or of more than one element, as far as that is known."""
        for value in inputs:
            own, dims = self._values[value]
            if own != kind:
                types = f"{own.name}, the data {kind.name}"
                raise self._fields.damaged(f"the fill '{value}' of Pad '{name}' is {types}")
            if dims is not None and any(dim not in (None, 1) for dim in dims):
                raise self._fields.damaged(
                    f"the fill '{value}' of Pad '{name}' has the shape {shown(dims)}, expected one element [P7]"
                )

    def _attributes(self, op: dict[str, Any], name: str, dims: Dims) -> dict[str, Any]:
        """The attributes of a Pad of version 0 that are there."""
        what = f"Pad '{name}'"
        attributes: dict[str, Any] = {
            key: self._fields.amounts(op[key], key, what, dims) for key in ngraph.AMOUNTS if op.get(key) is not None
        }
        key = ngraph.OP.mode
        mode = op.get(key)
        if is_int(mode) and not 0 <= mode < len(ngraph.OP.modes):
            raise self._fields.damaged(
                f"{key} of {what} is {shown(mode)}, expected 0 to {len(ngraph.OP.modes) - 1} [P9]"
            )
        if mode is not None:
            attributes[key] = mode if is_int(mode) else self._fields.name(mode, f"{key} of {what}")
        return attributes

    def _padded(self, name: str, attributes: dict[str, Any], dims: Dims) -> Dims:
        """The dims of a Pad's output, as far as those of its input are known."""
        static = static_dims(dims)
        if static is None:
            return None if dims is None else [None] * len(dims)
        amounts = {key: value for key, value in attributes.items() if key in ngraph.AMOUNTS}
        try:  # the mode changes no dims
            return list(make_node_plan(Node(OPS[ngraph.OP.name], name, amounts), static).shape)
        except PadError as error:
            raise PadopsError(f"{self._path}: {error}") from None

    def _add_result(self, op: dict[str, Any], name: str) -> None:
        inputs = self._inputs(op, name)
        if len(inputs) != 1:
            raise self._fields.damaged(f"Result '{name}' has {plural(len(inputs), 'input')}, expected one")
        self._results[name] = inputs[0]

    def _add_output(self, name: str) -> None:
        """An output: a Result, or in older files any operator. Values that no node gives need a node that does."""
        source = self._results.get(name, name)
        if source not in self._values:
            raise self._fields.damaged(f"its result {shown(name)} is no operator")
        if name in self._made:
            self._made.remove(name)
        else:
            if name in self._results:
                del self._results[name]  # a second one of this name needs another
            else:
                name = self._fresh(f"{name}_result")
            self._graph.node.append(helper.make_node("Identity", [source], [name], name=name))
        self._graph.output.append(self._declaration(name, source))

    def _declaration(self, name: str, source: str) -> onnx.ValueInfoProto:
        """A declaration of the type and the dims of a value, under another name."""
        kind, dims = self._values[source]
        return helper.make_tensor_value_info(name, kind.onnx, dims)
