"""The matchers, which find the nodes that pad: one file for each kind of node.

A matcher inspects one node. It returns None if the node does not pad, else a ``Match``. The ``Match`` has the
equivalent operator of the domain ``padops``, or the reason why the Pad stays. If the conversion must also change other
nodes, the ``Match`` has a function that changes them. To add a matcher, write a function in a file of its own, and list
the function in ``choose``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

import onnx_ir as ir

from padops.convert.matchers import auto_pad, emulated, frameworks, onnx_functions, onnx_pad
from padops.convert.model.graphs import LARGEST_CONSTANT, NodeSite, attribute_value
from padops.convert.model.types import Types
from padops.convert.pads.match import MICROSOFT, Match
from padops.convert.pads.window_operators import WINDOW_OPERATORS
from padops.spec.dialects import DOMAIN

# Operators with "pad" in their names that pad nothing, by domain and name; PyTorch's operators, by name alone.
NO_PADS = frozenset(((MICROSOFT, "RemovePadding"), (MICROSOFT, "RestorePadding"), *WINDOW_OPERATORS))
NO_PADS_OF_PYTORCH = ("sspaddmm", "_pack_padded_sequence", "_nested_from_padded")
TENSORFLOWS_OWN = ("PadV2", "MirrorPad")  # names that only TensorFlow has; any framework may have a Pad
KNOWN_DOMAINS = frozenset({"", "ai.onnx", DOMAIN, MICROSOFT, frameworks.DOMAIN, *frameworks.ATEN_DOMAINS})
INTS = ir.AttributeType.INTS
Matcher = Callable[[NodeSite, Types], Match | None]


def choose(
    explicit_auto_pad: bool = False, custom_domains: Collection[str] = (), emulations: bool = False
) -> tuple[Matcher, ...]:
    """Return the matchers in the order to try; the last matcher recognizes any other node with Pad in its name."""
    return (
        onnx_pad.match_converted_pad,
        partial(frameworks.match_tensorflow_pad, domains=custom_domains),
        partial(frameworks.match_ngraph_pad, domains=custom_domains),
        emulated.match_symmetric_emulation,
        onnx_pad.match_onnx_pad,
        onnx_pad.match_microsoft_pad,
        frameworks.match_openvino_pad,
        frameworks.match_pytorch_pad,
        frameworks.match_caffe2_pad,
        onnx_functions.match_attention_mask,
        onnx_functions.match_center_crop_pad,
        *((auto_pad.match_auto_pad,) if explicit_auto_pad else ()),
        *((emulated.match_emulated_pad,) if emulations else ()),
        match_unknown_pad,
    )


def match_unknown_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognise any other node with Pad in its name, but no function call: padops searches the function's body."""
    node = site.node
    if node.op_identifier() in site.scope.model.functions or (node.domain, node.op_type) in NO_PADS:
        return None
    if (found := _match_unnamed_domain(site, types)) is not None:
        return found
    names = (node.op_type, attribute_value(node, "operator", ir.AttributeType.STRING))
    called = next((name for name in names if name and "pad" in name.lower()), None)
    if called is None or frameworks.pytorch_operator(node) in NO_PADS_OF_PYTORCH:
        return None
    domain = node.domain or "ai.onnx"
    form = f"{domain}::{node.op_type}" + ("" if called == node.op_type else f" of {called}")
    return Match(form, reason=f"padops does not know {called} of the domain {domain}")


def _match_unnamed_domain(site: NodeSite, types: Types) -> Match | None:
    """Return the match of a Pad that needs only its domain named to be converted; None for any other node."""
    node = site.node
    if node.domain and node.domain in KNOWN_DOMAINS:
        return None
    domain = node.domain or "tf"  # tf2onnx may lose the domain; then any name marks the model as TensorFlow's
    named = (domain,)
    found = frameworks.match_tensorflow_pad(site, types, named) or frameworks.match_ngraph_pad(site, types, named)
    if found is None or found.stays:
        return None
    why = f"{node.op_type} is TensorFlow's"
    if node.op_type == "Pad":  # any framework may have a Pad
        looks = found.form.partition(" ")[0]
        why = f"padops does not know the domain {node.domain}, but this Pad looks like {looks}'s"
    reason = f"{why}; to convert it, name its domain: --custom-domain {domain} (in Python custom_domains=[{domain!r}])"
    return Match(f"{node.domain or 'ai.onnx'}::{node.op_type}", reason=reason, verdict=("refuses", reason))


MATCHERS = choose()


def match_pad(site: NodeSite, types: Types, asked: Sequence[Matcher]) -> Match | None:
    """Return the result of the first matcher that recognises the node; None if the node is not a Pad."""
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
        said = f"its data are of type {container}, and a Pad pads only tensors"
        return Match(match.form, reason=said, verdict=("refuses", said))
    return match


def foreign_domains(pads: Iterable[NodeSite]) -> list[str]:
    """Return the unknown domains of the nodes whose op_type only TensorFlow has, such as MirrorPad."""
    named = {site.node.domain for site in pads if site.node.op_type in TENSORFLOWS_OWN}
    return sorted(named - KNOWN_DOMAINS - {frameworks.OWN_DOMAIN})
