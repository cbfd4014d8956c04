"""The operators of the domain ``padops``, as the native library has them."""

from __future__ import annotations

from padops.convert.constants import Constants
from padops.convert.graphs import Found
from padops.convert.sources.finding import Draft
from padops.convert.targets.placing import become, values
from padops.convert.types import Types
from padops.dialects import DOMAIN, VERSION


def put(draft: Draft, found: Found, constants: Constants, types: Types) -> tuple[str, ...]:
    """Turns the node into the operator of the draft; it stays the same node, with its name, outputs and metadata."""
    inputs = values(draft, found, constants)
    while inputs and inputs[-1] is None:
        inputs.pop()
    become(found, (DOMAIN, VERSION, draft.op_type), inputs, draft.attributes.values())
    return ()
