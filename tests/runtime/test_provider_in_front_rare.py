"""PadopsFirstExecutionProvider before each known provider: rare Pads that the library's rules and Python's have to judge alike."""

from __future__ import annotations

import pytest
from provider_sessions import CPU, model, providers_of_pads
from test_provider_in_front import session

import padops
from padops.runtime.provider import FIRST_NAME
from padops.runtime.provider_rules import KNOWN_PROVIDERS

RARE = [  # the mode, the data, the amounts, the fill
    *((mode, "float", [], None) for mode in ("constant", "edge", "reflect", "wrap")),
    *((mode, "float[4]", [1, 1], fill) for mode in ("edge", "reflect", "wrap") for fill in ([], [7], [7, 8])),
    *((mode, "float[3, 0]", [1, 0, 1, 0], None) for mode in ("constant", "edge", "reflect", "wrap")),
    *((mode, "float[n, 0]", [1, 0, 1, 0], None) for mode in ("edge", "wrap")),
    *((mode, "float[4]", pads, None) for mode in ("constant", "edge", "wrap") for pads in ([-4, 0], [-4, 3], [-5, 3])),
    *(
        ("reflect", data, pads, None)
        for data in ("float[4]", "float[n]")
        for pads in ([-3, 1], [-2, 3], [-2, 9], [9, 0])
    ),
    *(("reflect", "float[1]", pads, None) for pads in ([1, 1], [0, 3], [0, 0])),
]


@pytest.mark.parametrize("row", KNOWN_PROVIDERS, ids=lambda row: row.name)
def test_rare_pads_that_it_takes(row) -> None:
    """The same of data without dims or elements, of odd fills and of deep crops."""
    taken = 0
    for mode, data, pads, fill in RARE:
        held = [f"int64[{len(pads)}] p = {{{', '.join(map(str, pads))}}}"]
        held += [] if fill is None else [f"float[{len(fill)}] f = {{{', '.join(map(str, fill))}}}"]
        output = data.replace("4", "a").replace("1", "a").replace("3, 0", "a, b").replace("n, 0", "a, b")
        inputs = "x, p" if fill is None else "x, p, f"
        text = f'g ({data} x) => ({output} y) <{", ".join(held)}> {{ [p] y = Pad <mode = "{mode}"> ({inputs}) }}'
        content = model(text, 19)
        (told,) = padops.inspect(content, providers=[row.name, CPU]).pads
        if told.verdict == "breaks a rule":
            continue
        took = FIRST_NAME in providers_of_pads(session(content, row.name))
        assert took is (told.runner == FIRST_NAME), (mode, data, pads, fill, told.why)
        taken += took
    for mode in ("constant", "edge", "wrap"):  # amounts that are given at run time
        content = model(f'g (float[4] x, int64[2] p) => (float[a] y) {{ [p] y = Pad <mode = "{mode}"> (x, p) }}', 19)
        (told,) = padops.inspect(content, providers=[row.name, CPU]).pads
        assert (FIRST_NAME in providers_of_pads(session(content, row.name))) is (told.runner == FIRST_NAME), mode
    assert (taken > 0) is any(rule.does != "leaves" for rule in row.rules)
