"""``com.microsoft::Pad``: ONNX Runtime's own tools wrote it before opset 11 made the amounts an input."""

from __future__ import annotations

from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import (
    MICROSOFT,
    Match,
    Replacement,
    RunsAs,
    Unconvertible,
    check_integers,
    settle_version,
    string_values,
)

FORM = f"{MICROSOFT}::Pad-1"
LIKE = 13  # the ONNX Pad with the same inputs: data, pads and a fill


def match_microsoft_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognises the operator; ONNX Runtime runs it as it runs ONNX Pad, wrap included."""
    node = site.node
    if node.domain != MICROSOFT or node.op_type != "Pad":
        return None
    notes: list[str] = []
    inputs = (*node.inputs, None, None, None)[:3]
    type_name = types.name(node.inputs[0] if node.inputs else None, inputs[2], *node.outputs)
    try:
        if len(node.inputs) < 2 or inputs[0] is None or inputs[1] is None:
            raise Unconvertible("its inputs data and pads are not both given")
        if len(node.inputs) > 3:
            raise Unconvertible(f"it has {len(node.inputs)} inputs, expected at most 3")
        if foreign := sorted(set(node.attributes) - {"mode"}):
            raise Unconvertible(f"its attribute {foreign[0]} is unknown")
        check_integers(site, pads=1)
        op_type = settle_version(LIKE, type_name, string_values(site, "mode", "constant"), notes)
    except Unconvertible as why:
        return Match(FORM, reason=str(why))
    replacement = Replacement(op_type, inputs, dict(node.attributes))
    return Match(FORM, replacement, RunsAs(MICROSOFT, 1), notes=tuple(notes))
