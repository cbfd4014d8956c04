"""PadopsFirstExecutionProvider and ``padops.inspect`` judge axes in any order, with and without a fill, alike."""

from __future__ import annotations

import itertools

import pytest
from provider_sessions import model
from test_provider_in_front import judged

from padops.runtime.provider_rules import KNOWN_PROVIDERS

OPENVINO = "OpenVINOExecutionProvider"
AXES = ([0, 1], [1, 0], [-1, -2], [1], OPEN := [], None)  # OPEN: two, given at run time
AMOUNTS = ([1, 1, 1, 1], [1, 1, 2, 1], None)  # begins, then ends; None: given at run time
FILLS = ("", "float[1] f = {7}", "float[2] f = {7, 8}", "float[0] f = {}", "float[n] f", "float f")


def text_of(mode: str, axes: list[int] | None, amounts: list[int] | None, fill: str) -> str:
    """A Pad of float[3, 4]; of one axis the amounts are the first begin and the last end."""
    count = len(axes) if axes else 2
    held, given = [], ["float[3, 4] x"]
    if fill:
        (held if "=" in fill else given).append(fill)
    if amounts is None:
        given.append(f"int64[{2 * count}] p")
    else:
        row = amounts if count == 2 else [amounts[0], amounts[3]]
        held.append(f"int64[{len(row)}] p = {{{', '.join(map(str, row))}}}")
    if axes is OPEN:
        given.append("int64[2] a")
    elif axes is not None:
        held.append(f"int64[{count}] a = {{{', '.join(map(str, axes))}}}")
    names = ["x", "p", "f" if fill else "", "a" if axes is not None else ""]
    while not names[-1]:
        names.pop()
    return (
        f"g ({', '.join(given)}) => (float[c, d] y) <{', '.join(held)}> "
        f'{{ [p] y = Pad <mode = "{mode}"> ({", ".join(names)}) }}'
    )


@pytest.mark.parametrize("row", KNOWN_PROVIDERS, ids=lambda row: row.name)
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_axes_and_fills(mode: str, row) -> None:
    """The runner that inspect names has the Pad in the session, for each list of axes, amounts and fill."""
    seen = set()
    first = KNOWN_PROVIDERS.index(row) % 15  # a part of the Pads, another one for each provider
    for axes, amounts, fill in [*itertools.product(AXES, AMOUNTS, FILLS)][first::15]:
        told, _ = judged(model(text_of(mode, axes, amounts, fill), 19), row.name)
        if told.verdict != "breaks a rule":
            seen.add((axes is None, amounts is None, fill))
    assert len(seen) >= 2


@pytest.mark.parametrize(
    ("axes", "amounts", "taken"),
    [
        ([1, 0], [1, 1, 2, 1], True),  # the begins are the same, the ends are not
        ([1, 0], [1, 2, 1, 1], True),
        ([1, 0], [1, 1, 1, 1], False),
        ([0, 1], [1, 1, 2, 1], False),
    ],
)
def test_openvino_gives_each_axis_the_amounts_of_another(axes: list[int], amounts: list[int], taken: bool) -> None:
    """Axes in another order: OpenVINO takes the amounts in the order of the dims."""
    assert judged(model(text_of("edge", axes, amounts, ""), 19), OPENVINO)[1] is taken
