"""Pads in a row are proved equal to one Pad for all sizes, where nothing between them crops; other values never are."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import onnx
import pad_chains
import pytest
from crafted_pair import answers
from onnx import numpy_helper
from written_models import model

from padops.convert.proof import amounts
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits, Verdict

OPEN = "(float[m, n] x) => (float[a, b] y) "
MANY = 10_000


def row(mode: str, rows: list[list[int]], fills: list[float] | None = None, dims: str = "m, n") -> onnx.ModelProto:
    """Pads of a matrix, one after the other."""
    nodes, value = [], "x"
    for place, pads in enumerate(rows):
        after = "y" if place == len(rows) - 1 else f"t{place}"
        fill = "" if fills is None else f"f{place} = Constant<value_float = {fills[place]}>() "
        nodes.append(
            f"p{place} = Constant<value_ints: ints = {pads}>() {fill}"
            f'{after} = Pad<mode = "{mode}">({value}, p{place}{f", f{place}" if fill else ""})'
        )
        value = after
    return model(f"(float[{dims}] x) => (float[a, b] y) {{ {' '.join(nodes)} }}", 19)


def rules(first: onnx.ModelProto, second: onnx.ModelProto) -> list[tuple[str, str]]:
    """The rules that prove a pair, and what for; none where it is not proved."""
    found = prove(first, second, limits=Limits(region_seconds=0))  # no solver is asked
    return [(region.rule, region.holds_for) for region in found.regions] if found.verdict is Verdict.PROVED else []


@pytest.mark.parametrize("mode", ["constant", "edge"])
def test_pads_in_a_row_are_one(mode: str) -> None:
    many = row(mode, [[0, 1, 2, 3], [1, 0, 0, 0], [0, 0, 0, 4]])
    for other in (row(mode, [[1, 1, 2, 7]]), row(mode, [[1, 1, 2, 6], [0, 0, 0, 1]])):
        assert rules(many, other) == rules(other, many) == [(amounts.RULE, "all data, all dims")]


def test_a_row_of_ten_thousand_pads() -> None:
    single = pad_chains.in_a_row(1)
    single.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array([0, MANY, 0, MANY]), "pads"))
    assert rules(pad_chains.in_a_row(MANY), single) == [(amounts.RULE, "all data, all dims")]


def test_rows_end_where_a_pad_crops() -> None:
    """What stands in front of it is a row of its own."""
    many, few = ([*head, [0, -1, 0, 0], [0, 2, 0, 0]] for head in ([[1, 1, 0, 0], [1, 0, 0, 0]], [[2, 1, 0, 0]]))
    assert (amounts.RULE, "all data, all dims") in rules(row("edge", many), row("edge", few))


DIFFERENT = {
    "more in all": (row("edge", [[0, 1, 0, 0]] * 2), row("edge", [[0, 3, 0, 0]])),
    "another side": (row("edge", [[0, 1, 0, 0]] * 2), row("edge", [[0, 1, 0, 1]])),
    "a crop between": (row("edge", [[0, 1, 0, 0], [0, -2, 0, 0], [0, 1, 0, 0]]), row("edge", [[0, 0, 0, 0]])),
    "reflect": (row("reflect", [[0, 1, 0, 0]] * 2), row("reflect", [[0, 2, 0, 0]])),
    "wrap": (row("wrap", [[0, 1, 0, 0]] * 2), row("wrap", [[0, 2, 0, 0]])),
    "two fills": (row("constant", [[0, 1, 0, 0]] * 2, [1, 2]), row("constant", [[0, 2, 0, 0]], [2])),
    "-0 and 0": (row("constant", [[0, 1, 0, 0]] * 2, [-0.0, 0]), row("constant", [[0, 2, 0, 0]], [-0.0])),
    "other data": (
        row("edge", [[0, 1, 0, 0]] * 2),
        model(OPEN + '{ p = Constant<value_ints = [0, 2, 0, 0]>() t = Neg(x) y = Pad<mode = "edge">(t, p) }', 19),
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_is_not_proved(name: str) -> None:
    assert not rules(*DIFFERENT[name])


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_drawn_rows_are_what_runs_give(mode: str) -> None:
    """Each is compared with the Pad of all its amounts, of open dims: what is proved is so, at sizes of 0 as well."""
    rng, proved = np.random.default_rng(7), 0
    for _ in range(20):
        least = -1 if rng.random() < 0.3 else 0
        drawn = [rng.integers(least, 3, 4).tolist() for _ in range(int(rng.integers(2, 4)))]
        *_, whole = accumulate(np.array(drawn))
        pair = row(mode, drawn), row(mode, [whole.tolist()])
        if not any(rule == amounts.RULE for rule, _ in rules(*pair)):
            continue
        proved += 1
        for dims in ((2, 3), (1, 1), (0, 2), (0, 0)):
            data = rng.standard_normal(dims).astype(np.float32)
            one, other = (answers(made, {"x": data}) for made in pair)
            assert one == other or isinstance(one, str)
    assert proved > 5 if mode in amounts.Rows.MODES else not proved
