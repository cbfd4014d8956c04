"""Nodes with Pad in their names that no other matcher recognizes: listed, so that no Pad is overlooked."""

from __future__ import annotations

import onnx_ir as ir

from padops.convert.matchers import frameworks
from padops.convert.matchers.frameworks import match_ngraph_pad, match_tensorflow_pad
from padops.convert.matchers.pytorch import DOMAINS, operator_of
from padops.convert.model.graphs import NodeSite, attribute_value
from padops.convert.model.types import Types
from padops.convert.pads.match import MICROSOFT, Match
from padops.convert.pads.window_operators import WINDOW_OPERATORS
from padops.spec.dialects import DOMAIN

# Operators that have the letters in their names and pad nothing, by domain and name; PyTorch's, by name alone.
NO_PADS = (
    frozenset(
        ((MICROSOFT, "RemovePadding"), (MICROSOFT, "RestorePadding"))  # rows of words, taken out and put back
    )
    | WINDOW_OPERATORS.keys()
)
NO_PADS_OF_PYTORCH = frozenset(("sspaddmm", "_pack_padded_sequence", "_nested_from_padded"))
TENSORFLOWS_OWN = ("PadV2", "MirrorPad")  # names that only TensorFlow has; any framework may have a Pad
KNOWN_DOMAINS = frozenset({"", "ai.onnx", DOMAIN, MICROSOFT, frameworks.DOMAIN, *DOMAINS})


def match_unknown_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognise a Pad of any name and domain, except calls of the model's functions: their bodies are searched."""
    node = site.node
    if node.op_identifier() in site.scope.model.functions or (node.domain, node.op_type) in NO_PADS:
        return None
    if (found := _of_framework(site, types)) is not None:
        return found
    named = operator_of(node)
    operator = attribute_value(node, "operator", ir.AttributeType.STRING, "")
    called = next((text for text in (node.op_type, operator) if isinstance(text, str) and "pad" in text.lower()), None)
    if called is None or (named is not None and named in NO_PADS_OF_PYTORCH):
        return None
    domain = node.domain or "ai.onnx"
    form = f"{domain}::{node.op_type}" + ("" if called == node.op_type else f" of {called}")
    return Match(form, reason=f"padops does not know {called} of the domain {domain}")


def _of_framework(site: NodeSite, types: Types) -> Match | None:
    """Return the match of a Pad that padops would convert if the user named its domain; None if it would not."""
    node = site.node
    if node.domain and node.domain in KNOWN_DOMAINS:
        return None
    domain = node.domain or "tf"  # tf2onnx loses domains; then any name says that the model is TensorFlow's
    found = match_tensorflow_pad(site, types, (domain,)) or match_ngraph_pad(site, types, (domain,))
    if found is None or found.stays:
        return None
    if node.op_type == "Pad":  # any framework may have a Pad
        framework = found.form.partition(" ")[0]
        why = f"padops does not know the domain {node.domain}, but this Pad looks like {framework}'s"
    else:
        why = f"{node.op_type} is TensorFlow's"
    python = f"(in Python custom_domains=[{domain!r}])"
    reason = f"{why}; to convert it, name its domain: --custom-domain {domain} {python}"
    return Match(f"{node.domain or 'ai.onnx'}::{node.op_type}", reason=reason, verdict=("refuses", reason))
