"""Where Pads come from: one file for each foreign form of a node.

A source looks at a node and says what it is, as a :class:`Draft` of an operator of the domain ``padops``, or why it
cannot be one. To add a source, write a file with a function ``find(found, types) -> Finding | None`` and list it here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from padops.convert.graphs import Found
from padops.convert.sources import converted, microsoft, onnx_pad, unknown
from padops.convert.sources.finding import Finding
from padops.convert.types import Types

# In the order in which they are asked; the last takes whatever calls itself Pad.
Source = Callable[[Found, Types], Finding | None]
SOURCES: tuple[Source, ...] = (
    converted.find,
    onnx_pad.find,
    microsoft.find,
    unknown.find,
)


def find(found: Found, types: Types, asked: Sequence[Source] = SOURCES) -> Finding | None:
    """What the first source that knows the node says of it; None where it is no Pad."""
    return next((finding for source in asked if (finding := source(found, types)) is not None), None)
