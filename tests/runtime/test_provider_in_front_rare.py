"""PadopsFirstExecutionProvider before each known provider: the library and Python judge rare Pads alike."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from provider_sessions import model, pad, providers_of_pads, recording_options
from test_provider_in_front import judged, session

from padops.convert.analysis import Analysis
from padops.convert.model.document import read_document
from padops.convert.runtimes import find_fault
from padops.runtime.placing import register_provider_library
from padops.runtime.provider import EP_NAME, FIRST_NAME, runtime_minor
from padops.runtime.provider_rules import KNOWN_PROVIDERS

MODES = ("constant", "edge", "reflect", "wrap")
OPEN: list[int] = []  # two axes, given at run time
Row = tuple[
    str, str, list[int] | None, str, list[int] | None
]  # mode, data, amounts (None: given at run time), fill, axes
RARE: list[Row] = [
    *((mode, "float", [], "", None) for mode in MODES),
    *((mode, "float[4]", [1, 1], f"float[{n}] f = {{{fill}}}", None) for mode in MODES[1:]
      for n, fill in enumerate(("", "7", "7, 8"))),
    *((mode, data, [1, 0, 1, 0], "", None) for mode in MODES for data in ("float[3, 0]", "float[n, 0]", "float[0, 0]")),
    *((mode, "float[4]", pads, "", None) for mode in ("constant", "edge", "wrap")
      for pads in ([-4, 0], [-4, 3], [-5, 3])),
    *(("reflect", data, pads, "", None) for data in ("float[4]", "float[n]")
      for pads in ([-3, 1], [-2, 3], [-2, 9], [9, 0])),
    *(("reflect", "float[1]", pads, "", None) for pads in ([1, 1], [0, 3], [0, 0])),
    *((mode, f"float[{size}]", None, "", None) for mode in ("constant", "edge", "wrap") for size in (4, 0)),
]  # fmt: skip
FILLS = ("", "float[1] f = {7}", "float[2] f = {7, 8}", "float[0] f = {}", "float[n] f", "float f")
AXES = [
    (mode, "float[3, 4]", amounts, fill, axes)
    for mode, amounts, fill in product(MODES, ([1, 1, 1, 1], [1, 1, 2, 1], None), FILLS)
    for axes in ([0, 1], [1, 0], [-1, -2], [1], OPEN, None)
]


def text_of(mode: str, data: str, amounts: list[int] | None, fill: str, axes: list[int] | None) -> str:
    """A model of one Pad; of one axis the amounts are the first begin and the last end."""
    count = len(axes) if axes else data.count(",") + 1
    held, given = [], [f"{data} x"]
    if fill:
        (held if "=" in fill else given).append(fill)
    if amounts is None:
        given.append(f"int64[{2 * count}] p")
    else:
        row = [amounts[0], amounts[3]] if axes and count == 1 else amounts
        held.append(f"int64[{len(row)}] p = {{{', '.join(map(str, row))}}}")
    if axes is OPEN:
        given.append("int64[2] a")
    elif axes is not None:
        held.append(f"int64[{count}] a = {{{', '.join(map(str, axes))}}}")
    names = f"x, p, {'f' if fill else ''}, {'a' if axes is not None else ''}".rstrip(", ")
    return f'g ({", ".join(given)}) => (float[] y) <{", ".join(held)}> {{ [p] y = Pad <mode = "{mode}"> ({names}) }}'


@pytest.mark.parametrize("row", KNOWN_PROVIDERS, ids=lambda row: row.name)
def test_rare_pads_that_it_takes(row) -> None:
    """The library and Python agree on unknown dims, no elements, odd fills, deep crops, and axes in any order."""
    number = KNOWN_PROVIDERS.index(row)  # each provider has other ones of them
    drawn = [*RARE[number % 4 :: 4], *AXES[number % 30 :: 30]]
    taken = sum(judged(model(text_of(*one), 19), row.name)[1] for one in drawn)
    assert (taken > 0) is any(rule.does != "leaves" for rule in row.rules)


QNN = "QNNExecutionProvider"


@pytest.mark.parametrize(
    ("mode", "data", "pads", "fill", "ends"),
    [
        ("edge", "float[4]", [1, 1], ", float[0] f = {}", True),
        ("reflect", "float", [], "", True),
        ("edge", "float[4]", [1, 1], ", float[2] f = {7, 8}", False),
    ],
)
def test_what_a_provider_dies_of_is_compiled(
    mode: str, data: str, pads: list[int], fill: str, ends: bool, tmp_path: Path
) -> None:
    """A Pad that kills the provider is compiled before it looks; a Pad that it only refuses stays a Pad."""
    dims = "[a]" if pads else ""
    held = f"int64[{len(pads)}] p = {{{', '.join(map(str, pads))}}}{fill}"
    inputs = "x, p, f" if fill else "x, p"
    text = f'g ({data} x) => (float{dims} y) <{held}> {{ [p] y = Pad <mode = "{mode}"> ({inputs}) }}'
    options = recording_options()
    options.enable_profiling, options.profile_file_prefix = True, str(tmp_path / "profile")
    options.add_provider_for_devices([register_provider_library()[FIRST_NAME]], {"before": QNN})
    built = onnxruntime.InferenceSession(model(text).SerializeToString(), options, enable_fallback=0)
    assert providers_of_pads(built) == [FIRST_NAME]
    x = np.arange(4, dtype=np.float32) if pads else np.array(3, np.float32)
    expected = np.pad(x, [(1, 1)], mode="edge") if pads else x
    assert built.run(None, {"x": x})[0].tolist() == expected.tolist()
    told = [row.get("args", {}) for row in json.loads(Path(built.end_profiling()).read_text())]
    ran = {row["op_name"] for row in told if "op_name" in row}
    assert ran and ("Pad" not in ran) is ends, ran


def test_a_fill_of_no_element_that_is_read_is_refused() -> None:
    """padops refuses a fill without elements before QNN dies of it."""
    text = "g (int32[4] x) => (int32[a] y) <int64[2] p = {1, 1}, int32[0] f = {}> { [p] y = Pad (x, p, f) }"
    with pytest.raises(Exception, match=r"padops::Pad_18 'p': constant_value has 0 elements, expected one \[P7\]"):
        session(model(text), QNN)


@pytest.mark.parametrize(
    ("data", "pads", "taken"),
    [
        ("float[4]", [-4, 3], True),
        ("float[4]", [9, -7], True),
        ("float[4, 3]", [0, -3, 0, 1], True),
        ("float[4]", [-3, 3], False),
        ("float[4]", [9, -3], False),
        ("float[4]", [4, 0], False),
    ],
)
def test_crops_of_all_that_there_is(data: str, pads: list[int], taken: bool) -> None:
    """QNN refuses a constant Pad that shows nothing of an axis of its data, but in front of a Relu."""
    told, took = judged(pad(pads, "constant", 18, data), QNN)
    assert (told.verdict, told.runner) == (("may be wrong", FIRST_NAME) if taken else ("runs", QNN)), told.why
    assert took is ("a crop of all that there is, in front of some nodes" in told.why) is taken


BRANCHES = """g (bool c, float[4] x) => (float[a] y) <int64[2] p = {1, 1}, bool t = {1}> { r = Relu (x)
    b = If (COND) <then_branch = k () => (float[d] u) { [p] u = Pad <mode = "MODE"> (r, p) },
        else_branch = e () => (float[h] v) { v = Identity (r) }> y = Relu (b) }"""


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_a_pad_in_a_branch(mode: str) -> None:
    """QNN takes no node of a branch, so that nobody need stand before it there; the other providers do."""
    content = model(BRANCHES.replace("MODE", mode).replace("COND", "c"), 19)
    for row in KNOWN_PROVIDERS:
        told, _ = judged(content, row.name)
        assert told.runner == EP_NAME or row.name != QNN
    # onnxruntime writes out a branch whose condition is constant.
    told, took = judged(model(BRANCHES.replace("MODE", mode).replace("COND", "t"), 19), QNN)
    assert took is (mode == "edge"), told.why


MOST, LEAST = 2**63 - 1, -(2**63)
# Of ones that onnxruntime's own sums do not overflow with. The product of the fill's dims is 1, or 0, modulo 2 ** 64.
EXTREME = [
    *((f"float[{dim}]", [begin, end], "") for dim in (0, 5, MOST) for begin, end in ((LEAST, 1), (LEAST, 0))),
    *(("float[5]", pads, "") for pads in ([LEAST, MOST], [-MOST, MOST])),
    *((f"float[{MOST}]", pads, "") for pads in ([-MOST, 0], [-MOST, MOST])),
    *(
        ("float[4]", [1, 2], dims)
        for dims in ("7, 7905747460161236407", "4294967296, 4294967296", f"{MOST}, 0, {MOST}")
    ),
]


@pytest.mark.parametrize("row", KNOWN_PROVIDERS, ids=lambda row: row.name)
def test_extreme_dims_and_amounts(row) -> None:
    """The library's sums and products do not overflow, as Python's cannot: both find the same fault."""
    for mode in ("constant", "edge", "reflect", "wrap"):
        for data, pads, fill in EXTREME:
            given, used = (f", float[{fill}] f", ", f") if fill else ("", "")
            held = f"int64[2] p = {{{', '.join(map(str, pads))}}}"
            text = f'g ({data} x{given}) => (float[a] y) <{held}> {{ [p] y = Pad <mode = "{mode}"> (x, p{used}) }}'
            content = model(text, 19)
            (found,) = Analysis(read_document(content)).pads
            fault = find_fault(row, found.info, found.match.runs_as, runtime_minor())
            took = FIRST_NAME in providers_of_pads(session(content, row.name))
            assert took is (fault is not None and fault[0].does != "leaves"), (mode, data, pads, fill, fault)


@pytest.mark.parametrize("name", ["WebGpuExecutionProvider", "QNNExecutionProvider"])
@pytest.mark.parametrize("opset", [18, 24])
def test_axes_among_convolutions(name: str, opset: int) -> None:
    """padops takes a Pad with axes among convolutions, as onnxruntime changes its layout wrongly; other Pads stay."""
    for beside, inputs, taken in (
        ("Conv <group = 2> (p, w)", "r, q, , a", True),
        ("MaxPool <kernel_shape = [1, 1]> (p)", "r, q, , a", True),
        ("Relu (p)", "r, q, , a", False),
        ("Conv <group = 2> (p, w)", "r, full", False),
    ):
        text = (
            "g (float[1,2,3,4] x) => (float[1,2,d,4] y) <int64[2] q = {1, 2}, "
            "int64[8] full = {0, 0, 1, 0, 0, 0, 2, 0}, int64[1] a = {2}, float[2,1,1,1] w = {1, 1}> "
            f'{{ r = Relu (x) [pad] p = Pad <mode = "constant"> ({inputs}) y = {beside} }}'
        )
        content = model(text, opset)
        told, took = judged(content, name)
        assert took is taken and (told.verdict == "may be wrong" or not taken), (beside, inputs, told.why)
        data = np.arange(1, 25, dtype=np.float32).reshape(1, 2, 3, 4)
        expected = np.pad(data, [(0, 0), (0, 0), (1, 2), (0, 0)])
        assert session(content, name).run(None, {"x": data})[0].tolist() == expected.tolist()
