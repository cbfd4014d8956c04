"""A layer of OpenVINO, the types and constants of its model, and the ONNX nodes that replace the layer."""

from __future__ import annotations

import math
import re
from collections import ChainMap
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from padops.convert.ir.reader import ELEMENT_TYPES, static_dims
from padops.convert.matchers.frameworks import DOMAIN
from padops.spec.plan import LARGEST

SMALL = 1024  # the most bytes of a constant that may be amounts, axes or shapes
INTEGER = re.compile("[+-]?[0-9]{1,19}")
FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)
Dims = list[int | None] | None  # None for each dynamic dim, and for an unknown rank
Meaning = TypeVar("Meaning")


@dataclass(frozen=True)
class Values:
    """Types and shapes of all values, and the tensors of constant values, by name."""

    types: MutableMapping[str, int]
    dims: MutableMapping[str, Dims]
    tensors: MutableMapping[str, onnx.TensorProto]
    casts: dict[str, tuple[str, int]]  # by the output of a Convert layer: its input and its destination type

    @staticmethod
    def of(message: onnx.ModelProto) -> Values:
        """Return the values of a model that declares all values, and whose constants are initializers."""
        values = Values({}, {}, {}, {})
        for value in (*message.graph.input, *message.graph.value_info):
            kind = value.type.tensor_type
            dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
            values.types[value.name] = kind.elem_type
            values.dims[value.name] = dims if kind.HasField("shape") else None
        for tensor in message.graph.initializer:
            values.add(tensor)
        for node in message.graph.node:
            if node.domain == DOMAIN and node.op_type == "Convert" and node.input and node.output:
                to = next((row.s.decode() for row in node.attribute if row.name == "destination_type"), "")
                values.casts[node.output[0]] = node.input[0], ELEMENT_TYPES.get(to, TensorProto.UNDEFINED)
        return values

    def trial(self) -> Values:
        """Return a copy; changes of the copy do not change this object."""
        return Values(ChainMap({}, self.types), ChainMap({}, self.dims), ChainMap({}, self.tensors), self.casts)

    def add(self, tensor: onnx.TensorProto) -> None:
        self.tensors[tensor.name] = tensor
        self.types[tensor.name], self.dims[tensor.name] = tensor.data_type, list(tensor.dims)

    def array(self, name: str, most: float = SMALL) -> np.ndarray | None:
        """Return a constant of up to ``most`` bytes, also behind lossless Converts (compressed weights); else None."""
        casts = []
        while name in self.casts:
            name, type = self.casts[name]
            casts.append(type)
        if name not in self.tensors or self.size(name) > most:
            return None
        array = numpy_helper.to_array(self.tensors[name])
        for type in reversed(casts):
            if type in (TensorProto.UNDEFINED, TensorProto.STRING):
                return None
            before = array
            with np.errstate(all="ignore"):
                array = before.astype(helper.tensor_dtype_to_np_dtype(type))
                if array.astype(before.dtype).tobytes() != before.tobytes():
                    return None  # OpenVINO's devices round differently
        return array

    def size(self, name: str) -> float:
        """Return the number of bytes that the IR declares for a value; infinity for a dynamic value."""
        dims = self.static(name)
        if dims is None:
            return math.inf
        return math.prod(dims) * helper.tensor_dtype_to_np_dtype(self.types[name]).itemsize

    def static(self, name: str) -> list[int] | None:
        return static_dims(self.dims.get(name))


class Unreadable(ValueError):
    """A layer that cannot be converted; the exception's text is the reason in the list of such layers."""


class Layer:
    """A layer and the nodes that replace it; methods raise ``Unreadable`` for a missing, wrong or unknown value."""

    def __init__(self, node: onnx.NodeProto, values: Values) -> None:
        self.node, self.values = node, values
        self.type = values.types[node.input[0]] if node.input else TensorProto.UNDEFINED
        self.nodes: list[onnx.NodeProto] = []
        self._attributes = {attribute.name: attribute.s.decode() for attribute in node.attribute}
        self._read = {"version"}
        self._count = 0  # the number of new names

    def word(self, name: str, missing: str | None = None) -> str:
        """Return an attribute's text; without the attribute, return ``missing``; if ``missing`` is None, refuse."""
        self._read.add(name)
        text = self._attributes.get(name, missing)
        if text is None:
            raise Unreadable(f"it has no {name}")
        return text

    def choice(self, name: str, meanings: Mapping[str, Meaning], missing: str | None = None) -> Meaning:
        """Return the entry of ``meanings`` for an attribute's value, regardless of upper and lower case."""
        text = self.word(name, missing)
        if text.lower() not in meanings:
            raise Unreadable(f"{name}='{text}' is not {' or '.join(meanings)}")
        return meanings[text.lower()]

    def flag(self, name: str, missing: str | None = None) -> bool:
        return self.choice(name, {"true": True, "false": False, "1": True, "0": False}, missing)

    def integers(self, name: str, missing: str | None = None) -> list[int]:
        """Return the numbers of an attribute such as ``"1, 2"``."""
        text = self.word(name, missing)
        numbers = []
        for part in text.split(",") if text.strip() else []:
            number = part.strip()
            if not INTEGER.fullmatch(number) or abs(int(number)) > LARGEST:
                raise Unreadable(f"{name}='{text}' is not a list of integers")
            numbers.append(int(number))
        return numbers

    def integer(self, name: str, missing: str | None = None) -> int:
        numbers = self.integers(name, missing)
        if len(numbers) != 1:
            raise Unreadable(f"{name}='{self.word(name, missing)}' is not an integer")
        return numbers[0]

    def decimal(self, name: str, missing: str | None = None) -> float:
        text = self.word(name, missing)
        try:
            return float(text)
        except ValueError:
            raise Unreadable(f"{name}='{text}' is not a number") from None

    def element_type(self, name: str, missing: str | None = None) -> int:
        text = self.word(name, missing)
        if text not in ELEMENT_TYPES:
            raise Unreadable(f"ONNX does not have the type {text}")
        return ELEMENT_TYPES[text]

    def refuse_what_is_not_read(self, without_effect: Mapping[tuple[str, str], Collection[str]]) -> None:
        """Refuse the layer if its rule has not read an attribute that may change the result."""
        for name, value in self._attributes.items():
            kinds = ((self.node.op_type, name), ("*", name))
            allowed = next((without_effect[kind] for kind in kinds if kind in without_effect), ())
            if name not in self._read and value not in allowed and "*" not in allowed:
                raise Unreadable(f"padops does not support {name}='{value}'")

    def dims(self, name: str) -> list[int | None]:
        dims = self.values.dims[name]
        if dims is None:
            raise Unreadable(f"the rank of its input '{name}' is not known")
        return dims

    def numbers(self, name: str) -> np.ndarray:
        """Return the elements of an input that must be constant."""
        array = self.values.array(name)
        if array is None:
            raise Unreadable(f"its input '{name}' is not constant")
        return array

    def number(self, name: str) -> Any:
        """Return the only element of an input that must be constant, such as an axis."""
        array = self.numbers(name)
        if array.size != 1:
            raise Unreadable(f"its input '{name}' has {array.size} elements, expected one")
        return array.item()

    def integral(self, name: str, rank: int | None = None) -> str:
        """Return an integer input as int64; if ``rank`` (0 or 1) is given, reshape the input to this rank."""
        array = self.values.array(name)
        if array is not None:
            if array.dtype == np.int64 and rank in (None, array.ndim):
                return name
            return self.constant(array if rank is None else array.reshape([-1] * rank))
        given = self.of_type(name, TensorProto.INT64)
        if rank is None or len(self.dims(name)) == rank:
            return given
        return self.add("Reshape", given, self.constant(np.full(rank, -1)))

    def indices(self, name: str) -> str:
        """Return an input of int32 or int64; most operators of ONNX accept both."""
        return name if self.values.types[name] == TensorProto.INT32 else self.integral(name)

    def of_type(self, name: str, type: int) -> str:
        return name if self.values.types[name] == type else self.add("Cast", name, to=type)

    def add(self, op_type: str, *inputs: str, count: int = 1, **attributes: Any) -> str:
        name = self._name(op_type)
        outputs = [name, *(self._name(f"{op_type}.{i}") for i in range(1, count))]
        node = onnx.NodeProto(op_type=op_type, name=name, input=inputs, output=outputs)
        node.attribute.extend([helper.make_attribute(key, value) for key, value in attributes.items()])
        self.nodes.append(node)
        return name

    def constant(self, value: Any, type: Any = np.int64) -> str:
        with np.errstate(over="ignore"):  # a limit beyond a small type's range becomes infinity
            array = np.asarray(value).astype(type)
        return self.tensor(numpy_helper.from_array(array))

    def tensor(self, tensor: onnx.TensorProto) -> str:
        """Give a tensor a new name, and add it as a constant; return the name."""
        tensor.name = self._name("Constant")
        self.values.add(tensor)
        return tensor.name

    def like(self, value: float) -> str:
        """Add a scalar of the first input's type; return the scalar's name."""
        return self.constant(value, helper.tensor_dtype_to_np_dtype(self.type))

    def _name(self, what: str) -> str:
        """Return a new name, which is reserved from now on."""
        name = f"{self.node.name}/{what}_{self._count}"
        self._count += 1
        while name in self.values.types:
            name += "_"
        self.values.types[name] = TensorProto.UNDEFINED
        return name

    def finish(self, given: Sequence[str]) -> list[onnx.NodeProto]:
        """Give the values ``given`` the names of the layer's outputs; return the nodes."""
        names = dict(zip(given, self.node.output))
        for name in names.keys() & self.values.tensors.keys():
            tensor = self.values.tensors.pop(name)
            tensor.name = names[name]
            self.values.add(tensor)
        for node in self.nodes:
            for names_of in (node.input, node.output):
                for at, name in enumerate(names_of):
                    if name in names:
                        names_of[at] = names[name]
            if self.node.output[0] in node.output:
                node.name = self.node.name
        return self.nodes
