"""Whole sessions of random Pads against the reference. ``PADOPS_SESSIONS`` sets how many are drawn.

tests/long/long_sessions.py draws more of them, and larger ones.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter

import case_strategies
import index_maps
import native
import session_checks
import session_models
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from padops.spec import reference
from padops.spec.dialects import OPS, Node, make_node_plan
from padops.spec.plan import PadError

SESSIONS = int(os.environ.get("PADOPS_SESSIONS", "40"))


def check_sessions(count: int, sizes: tuple[str, ...], start: int | None = None) -> Counter[str]:
    """Draws so many sessions and checks them; always the same ones, or those that follow from a number."""
    seen: Counter[str] = Counter()
    chosen = case_strategies.drawn(count)

    @settings(chosen, derandomize=start is None)
    @given(session_models.sessions(sizes))
    def check(drawn: session_models.Drawn) -> None:
        session_checks.check(drawn, seen)

    (check if start is None else seed(start)(check))()
    return seen


def test_sessions() -> None:
    sizes = ("small", "small", "large")
    seen = check_sessions(SESSIONS, sizes)
    parts = {"sessions": SESSIONS - 1, "runs": SESSIONS, "large runs": SESSIONS // 4, "bound": SESSIONS // 10}
    parts |= {"errors": SESSIONS // 20}
    met = lambda: all(seen[part] > least for part, least in parts.items())
    case_strategies.until(session_models.sessions(sizes), lambda drawn: session_checks.check(drawn, seen), met)
    print(dict(seen))


def test_the_map_by_numpy_is_that_of_the_reference() -> None:
    """What large tensors are compared with."""
    seen: Counter[str] = Counter()
    families = (case_strategies.onnx_cases(), case_strategies.openvino_cases(), case_strategies.ngraph_cases())

    def check(case: case_strategies.Case) -> None:
        node = Node(OPS[case.op], "n", case.attributes, list(case.inputs))
        data = case.inputs[0]
        try:
            fill = reference.read_inputs(node, data.dtype)
            plan = make_node_plan(node, data.shape)
        except PadError:
            return
        seen["compared"] += 1
        wanted = reference.execute(plan, data, fill)
        assert native.bits(index_maps.execute(plan, data, fill)) == native.bits(wanted)

    case_strategies.explore(st.one_of(*families), check, 300, lambda: seen["compared"] > 100)


if __name__ == "__main__":
    print(json.dumps(check_sessions(int(sys.argv[1]), tuple(sys.argv[3].split(",")), int(sys.argv[2]))))
