"""Ifs that ONNX Runtime folds while it loads a model.

Where the condition of an If is constant, its nodes are moved out of it. Of an If or a Loop that is moved, the runtime
keeps values of the graph that it was in. Where it is moved a second time, out of an If around the first, that graph is
gone; and so it is for an If or a Loop that stands in one that is moved, and reads a value from beside that. The process
ends, or the dims of the results are wrong, or a branch is taken that is not meant (1.20 to 1.32; valgrind shows the
reads). A model's own Ifs count as well.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from padops.convert.model.graphs import inner_graphs
from padops.convert.pads.match import Unconvertible
from padops.convert.pads.surroundings import Surroundings

MOST = 1  # Ifs to be moved out of


def check_nesting(nodes: Iterable[ir.Node], around: Surroundings) -> None:
    """Refuses nodes over which ONNX Runtime would crash where they are to stand.

    Args:
        nodes: What stands for a Pad.
        around: What stands around the Pad.

    Raises:
        Unconvertible: They have an If or a Loop, and it would be moved too often.
    """
    depth = _depth(nodes)
    if around.folding and depth is not None and around.folding + depth > MOST:
        raise Unconvertible(
            "it stands inside Ifs whose conditions may be constant, and would need an If or a Loop, of which "
            "onnxruntime "
            "crashes when it folds those Ifs"
        )


def _depth(nodes: Iterable[ir.Node]) -> int | None:
    """How many Ifs, one within another, stand around an If or Loop; None where there is no If or Loop."""
    found: list[int] = []
    for node in nodes:
        depths = [_depth(graph) for _, graph in inner_graphs(node)]
        found += [0] if depths else []
        found += [depth + (node.op_type == "If") for depth in depths if depth is not None]
    return max(found, default=None)
