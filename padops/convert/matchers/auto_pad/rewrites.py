"""The three rewrites of a node with ``auto_pad``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from padops.convert.matchers.auto_pad.window import Amount, SameWindow
from padops.convert.model.constants import Constants
from padops.convert.model.graphs import NodeSite, replace_in_place
from padops.convert.pads.match import Applied, Replacement
from padops.spec.dialects import DOMAIN

Choices = Sequence[Sequence[Amount]]  # of each axis
_Body = tuple[str, str, list[ir.Value | None], list[ir.Attr]]  # domain, operator, inputs and attributes of a node

# SAME rounds the number of outputs up by itself; with explicit pads, ceil_mode would round it up once more.
IMPLIED = ("auto_pad", "ceil_mode")
FORMATS = {(1, False): "NCW", (1, True): "NWC", (3, False): "NCDHW", (3, True): "NDHWC"}  # else NCHW or NHWC


def pads_of(amounts: Sequence[Amount]) -> list[int]:
    """The attribute ``pads`` with the amounts of each axis."""
    return [amount.begin for amount in amounts] + [amount.end for amount in amounts]


def explicit(site: NodeSite, constants: Constants, pads: Sequence[int]) -> Applied:
    """Writes the amounts into the node."""
    node = site.node
    for name in IMPLIED:
        node.attributes.pop(name, None)
    node.attributes.add(ir.AttrInt64s("pads", pads))
    return Applied([node])


def same_pad(site: NodeSite, constants: Constants, window: SameWindow) -> Applied:
    """Puts SamePad_1 in front of the node, which then pads nothing itself."""
    node, made = site.node, same_pad_of(window)
    padded = ir.Value(name=constants.fresh(f"{node.outputs[0].name or node.name}_padded"))
    before = ir.Node(DOMAIN, made.op_type, [node.inputs[0]], outputs=[padded], name=padded.name)
    node.prepend(before)
    node.replace_input_with(0, padded)
    for name in IMPLIED:
        node.attributes.pop(name, None)
    return Applied([node], NodeSite(before, site.path, site.scope), made)


def same_pad_of(window: SameWindow) -> Replacement:
    """The SamePad_1 in front of the node."""
    axes, last = window.axes, window.first == 1
    attributes = [
        ir.AttrString("auto_pad", window.mode),
        ir.AttrString("data_format", FORMATS.get((len(axes), last), "NHWC" if last else "NCHW")),
        ir.AttrInt64s("dilations", [axis.dilation for axis in axes]),
        ir.AttrInt64s("kernel_shape", [axis.kernel for axis in axes]),
        ir.AttrInt64s("strides", [axis.stride for axis in axes]),
    ]
    inputs = (window.node.inputs[0], window.fill)
    return Replacement("SamePad_1", inputs, {attribute.name: attribute for attribute in attributes})


def by_size(site: NodeSite, constants: Constants, window: SameWindow, choices: Choices) -> Applied:
    """Turns the node into nested Ifs on its sizes; each branch has the node with one choice of amounts.

    ``choices`` has for each axis its possible amounts, ordered by ``Amount.below``.
    """
    node = site.node
    tests = _tests(site, constants, window, choices)
    inputs = list(node.inputs)
    kept = [attribute for name, attribute in node.attributes.items() if name not in IMPLIED]

    def body(chosen: tuple[Amount, ...], i: int = 0) -> _Body:
        """The node, once every axis has its amounts; before, an If that tests the i-th amounts of the next axis."""
        if len(chosen) == len(choices):
            return node.domain, node.op_type, inputs, [*kept, ir.AttrInt64s("pads", pads_of(chosen))]
        axis, choice = len(chosen), choices[len(chosen)]
        if i == len(choice) - 1:
            return body((*chosen, choice[i]))
        branches = {"then_branch": body((*chosen, choice[i])), "else_branch": body(chosen, i + 1)}
        graphs = [ir.AttrGraph(name, _branch(site, constants, inner)) for name, inner in branches.items()]
        return "", "If", [tests[axis][i]], graphs

    replace_in_place(node, *body(()))
    return Applied([node])


def _branch(site: NodeSite, constants: Constants, body: _Body) -> ir.Graph:
    """A graph of one node with copies of the outputs of the node of ``site``."""
    domain, op_type, inputs, attributes = body
    outputs = [ir.Value(name=constants.fresh(f"{value.name}_by_size"), type=value.type) for value in site.node.outputs]
    name = constants.fresh(f"{site.node.name or site.node.outputs[0].name}_by_size")
    inner = ir.Node(domain, op_type, inputs, attributes, outputs=outputs, name=name)
    return ir.Graph([], outputs, nodes=[inner], name=constants.fresh(f"{name}_graph"))


def _tests(site: NodeSite, constants: Constants, window: SameWindow, choices: Choices) -> list[list[ir.Value]]:
    """For each axis and each of its amounts but the last, a value that tells whether the size needs them.

    Computed with the operators of opset 7: Mod, and Less of integers, are younger.
    """

    def scalar(value: int, role: str) -> ir.Value:
        return constants.add(np.array(value, np.int64), site, role)

    zero = scalar(0, "zero")
    shape = constants.insert("Shape", [site.node.inputs[0]], site, "shape")
    tests: list[list[ir.Value]] = []
    for i, (axis, choice) in enumerate(zip(window.axes, choices)):
        tests.append([])
        if len(choice) == 1:
            continue
        size = constants.insert("Gather", [shape, scalar(window.first + i, "axis")], site, "size")
        stride = scalar(axis.stride, "stride")
        # A multiple of the stride more than n - 1, so that Div rounds no negative number.
        last = constants.insert("Add", [size, scalar(axis.stride - 1, "more")], site, "last")
        steps = constants.insert("Div", [last, stride], site, "steps")
        remainder = constants.insert(
            "Sub", [last, constants.insert("Mul", [steps, stride], site, "start")], site, "remainder"
        )
        for amount in choice[:-1]:
            assert amount.below is not None, "where there is a choice"
            above = constants.insert("Div", [remainder, scalar(amount.below, "below")], site, "above")
            tests[i].append(constants.insert("Equal", [above, zero], site, "test"))
    return tests
