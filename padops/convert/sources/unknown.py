"""Nodes that call themselves a Pad in a way that no other source knows: listed, so that none is passed over."""

from __future__ import annotations

from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import MICROSOFT, Match, string_attribute
from padops.convert.pads.window_operators import WINDOW_OPERATORS
from padops.convert.sources.pytorch import CALL, operator_of

# What has the letters in its name, and pads nothing: by its domain and name; of PyTorch's operators, by the name alone.
NO_PADS = (
    frozenset(
        ((MICROSOFT, "RemovePadding"), (MICROSOFT, "RestorePadding"))  # rows of words, taken out and put back
    )
    | WINDOW_OPERATORS.keys()
)
NO_PADS_OF_PYTORCH = frozenset(("sspaddmm", "_pack_padded_sequence", "_nested_from_padded"))
TENSORFLOWS_OWN = ("PadV2", "MirrorPad")  # a Pad of an unknown domain may be anybody's


def match_unknown_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognises a Pad of any name and domain, unless it calls a function of the model, whose body is looked into."""
    node = site.node
    if node.op_identifier() in site.scope.model.functions or (node.domain, node.op_type) in NO_PADS:
        return None
    named = operator_of(node)
    operator = string_attribute(node, "operator", "") if "operator" in node.attributes else ""
    called = next((text for text in (node.op_type, operator) if isinstance(text, str) and "pad" in text.lower()), None)
    if called is None or (named is not None and named in NO_PADS_OF_PYTORCH):
        return None
    domain = node.domain or "ai.onnx"
    form = f"{domain}::{node.op_type}" + ("" if called == node.op_type else f" of {called}")
    return Match(form, reason=_reason(node.op_type, called, domain))


def _reason(op_type: str, called: str, domain: str) -> str:
    if op_type in TENSORFLOWS_OWN:
        return f"{op_type} is TensorFlow's; it is converted where its domain is named: --custom-domain {domain}"
    if op_type == "Pad":
        return f"the domain {domain} is not one that padops knows"
    if op_type == CALL:
        return f"it calls PyTorch's {called}, which padops does not know"
    return f"by its name it may be a Pad, and padops does not know {called} of the domain {domain}"
