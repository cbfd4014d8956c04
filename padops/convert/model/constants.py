"""New constants and nodes in a graph, under names that nothing in the model has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import NodeSite, walk


class Constants:
    """Adds constants, and nodes that work on them, to one model.

    A value of a graph hides one of the same name outside it, so a new name must be new in the whole model.
    """

    def __init__(self, model: ir.Model) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}  # the last one that a name got
        graphs = {*model.graphs(), *(function.graph for function in model.functions.values())}
        for site in walk(model):
            self._taken.add(site.node.name or "")
            self._take(*site.node.inputs, *site.node.outputs)
            graphs.add(site.scope.graph)
        for graph in graphs:
            self._take(*graph.inputs, *graph.initializers.values())

    def add(self, array: np.ndarray, site: NodeSite, role: str) -> ir.Value:
        """A constant that the node of ``site`` can read.

        It is an initializer of the node's graph; a Constant node in front of it in functions, which have none, and
        before IR version 4, where each initializer would be an input too.

        ``role`` is a part of its name.
        """
        name = self.fresh(f"{site.node.outputs[0].name or site.node.name}_{role}")
        tensor = tensor_of(array, name)
        if site.scope.model.ir_version >= 4 and not isinstance(site.scope.root, ir.Function):
            value = ir.Value(
                name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(array.shape), const_value=tensor
            )
            site.scope.graph.register_initializer(value)
            return value
        value = ir.Value(name=name)
        node = ir.Node("", "Constant", [], [ir.AttrTensor("value", tensor)], outputs=[value], name=name)
        site.node.prepend(node)
        return value

    def insert(
        self,
        op_type: str,
        inputs: Sequence[ir.Value | None],
        site: NodeSite,
        role: str,
        attributes: Sequence[ir.Attr] = (),
    ) -> ir.Value:
        """The output of a new node of the default domain, in front of the node of ``site``; named after ``role``."""
        name = self.fresh(f"{site.node.outputs[0].name or site.node.name}_{role}")
        value = ir.Value(name=name)
        site.node.prepend(ir.Node("", op_type, inputs, attributes, outputs=[value], name=name))
        return value

    def _take(self, *values: ir.Value | None) -> None:
        self._taken.update(value.name for value in values if value is not None and value.name)

    def fresh(self, wanted: str) -> str:
        """A name that nothing in the model has: ``wanted``, or that and a number."""
        name, number = wanted, self._numbers.get(wanted, 1)
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._numbers[wanted] = number
        self._taken.add(name)
        return name


def tensor_of(array: np.ndarray, name: str | None = None) -> ir.TensorProtocol:
    """An array as a tensor of the model; strings as those of ``padops.spec.dtypes``, or as bytes."""
    if array.dtype.kind == "O":
        texts = [text if isinstance(text, bytes) else text.encode() for text in array.reshape(-1)]
        return ir.StringTensor(texts, shape=ir.Shape(array.shape), name=name)
    return ir.Tensor(array, name=name)  # ir.tensor checks a dozen other types first
