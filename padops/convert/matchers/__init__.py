"""The matchers of Pads: one file for each foreign form of a node.

A matcher reads a node. It returns the equivalent operator of the domain ``padops``, with all nodes to change if there
are several, or the reason why the Pad stays. To add a matcher, write a file with a function that accepts a site and the
model's types and returns a ``Match`` or None, and list the function here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

import onnx_ir as ir

from padops.convert.matchers import (
    auto_pad,
    converted,
    emulated,
    frameworks,
    onnx_functions,
    onnx_pad,
    pytorch,
    symmetric_emulation,
    unknown,
)
from padops.convert.matchers.unknown import KNOWN_DOMAINS
from padops.convert.model.graphs import LARGEST_CONSTANT, NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import Match
from padops.convert.pads.window_operators import WINDOW_OPERATORS

INTS = ir.AttributeType.INTS
Matcher = Callable[[NodeSite, Types], Match | None]


def choose(
    explicit_auto_pad: bool = False, custom_domains: Collection[str] = (), emulations: bool = False
) -> tuple[Matcher, ...]:
    """Return the matchers in the order to try; the last matcher recognizes any other node with Pad in its name."""
    return (
        converted.match_converted_pad,
        partial(frameworks.match_tensorflow_pad, domains=custom_domains),
        partial(frameworks.match_ngraph_pad, domains=custom_domains),
        symmetric_emulation.match_symmetric_emulation,
        onnx_pad.match_onnx_pad,
        onnx_pad.match_microsoft_pad,
        frameworks.match_openvino_pad,
        pytorch.match_pytorch_pad,
        frameworks.match_caffe2_pad,
        onnx_functions.match_attention_mask,
        onnx_functions.match_center_crop_pad,
        *((auto_pad.match_auto_pad,) if explicit_auto_pad else ()),
        *((emulated.match_emulated_pad,) if emulations else ()),
        unknown.match_unknown_pad,
    )


MATCHERS = choose()


def match_pad(site: NodeSite, types: Types, asked: Sequence[Matcher] = MATCHERS) -> Match | None:
    """Return the match of the first matcher that knows the node; None if the node is not a Pad."""
    match = next((match for matcher in asked if (match := matcher(site, types)) is not None), None)
    if match is None:
        return None
    count = len(site.node.outputs)
    kind = (site.node.domain, site.node.op_type)
    may_have_more = kind in WINDOW_OPERATORS or kind == ("", onnx_functions.ATTENTION)  # MaxPool also returns indices
    if count < 1 or (count > 1 and not may_have_more):
        return Match(match.form, reason=match.reason or f"it has {count} outputs, expected one")
    for name, attribute in (match.pad.attributes if match.pad else {}).items():
        if attribute.type == INTS and not attribute.is_ref() and (many := len(attribute.value)) > LARGEST_CONSTANT:
            said = f"its attribute {name} has {many} elements, and padops reads up to {LARGEST_CONSTANT}"
            return Match(match.form, reason=said)
    if site.node.inputs and (container := types.container(site.node.inputs[0])):
        reason = f"its data are of type {container}, and a Pad pads tensors alone"
        return Match(match.form, reason=reason, verdict=("refuses", reason))
    return match


def foreign_domains(pads: Iterable[NodeSite]) -> list[str]:
    """Return the domains in which an exporter left TensorFlow's Pads: nodes with names that no other framework has."""
    named = {site.node.domain for site in pads if site.node.op_type in unknown.TENSORFLOWS_OWN}
    return sorted(named - KNOWN_DOMAINS - {frameworks.OWN_DOMAIN})
