"""Where Pads come from: one file for each foreign form of a node.

A source looks at a node and says what it is, as a :class:`Replacement` of an operator of the domain ``padops``, or why it
cannot be one; or it says which nodes to change together, as an :class:`Rewrite`. To add a source, write a file with a
function ``find(site, types) -> Match | None`` and list it here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.sources import (
    auto_pad,
    converted,
    microsoft,
    ngraph,
    onnx_pad,
    openvino,
    symmetric_emulation,
    tensorflow,
    unknown,
)
from padops.convert.sources.match import Match
from padops.spec.dialects import DOMAIN

Source = Callable[[NodeSite, Types], Match | None]


def choose(explicit_auto_pad: bool = False, custom_domains: Collection[str] = ()) -> tuple[Source, ...]:
    """The sources, in the order in which they are asked; the last takes whatever else calls itself Pad.

    Args:
        explicit_auto_pad: Whether nodes with ``auto_pad`` count as Pads.
        custom_domains: Where the user says that nodes of other frameworks are.
    """
    return (
        converted.find,
        partial(tensorflow.find, domains=custom_domains),
        partial(ngraph.find, domains=custom_domains),
        symmetric_emulation.find,
        onnx_pad.find,
        microsoft.find,
        openvino.find,
        *((auto_pad.find,) if explicit_auto_pad else ()),
        unknown.find,
    )


SOURCES = choose()
KNOWN_DOMAINS = frozenset({"", "ai.onnx", DOMAIN, microsoft.DOMAIN, openvino.DOMAIN})


def find(site: NodeSite, types: Types, asked: Sequence[Source] = SOURCES) -> Match | None:
    """What the first source that knows the node says of it; None where it is no Pad."""
    return next((match for source in asked if (match := source(site, types)) is not None), None)
