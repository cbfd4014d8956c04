"""What ONNX Runtime's optimizers make of a Pad, and that padops is right on every road past them.

The table of fusions.md is what is compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fusion_models
import native
import numpy as np
import oldest_runtime
import onnx
import onnxruntime
import pytest
from folding_models import LEVELS

import padops
from padops.runtime.ort_values import run_session

PAGE = Path(__file__).with_name("fusions.md")
BEGIN, END = "<!-- fusions -->\n", "<!-- /fusions -->\n"
VERSIONS = ("1.24.4", "1.31.1", "1.32.0")
SHORT = {"DISABLE_ALL": "off", "ENABLE_BASIC": "basic", "ENABLE_EXTENDED": "extended", "ENABLE_ALL": "all"}
ROWS = {row.name: row for row in fusion_models.ROWS}


def _options(level: str) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = LEVELS[level]
    return options


def _stock(message: onnx.ModelProto, level: str) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(
        message.SerializeToString(), _options(level), providers=["CPUExecutionProvider"], enable_fallback=0
    )


def _registered(message: onnx.ModelProto, level: str) -> onnxruntime.InferenceSession:
    options = _options(level)
    padops.register(options)
    return onnxruntime.InferenceSession(message.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _provided(message: onnx.ModelProto, level: str) -> onnxruntime.InferenceSession:
    return padops.InferenceSession(message.SerializeToString(), _options(level))


def _bits(session: onnxruntime.InferenceSession, feeds: dict[str, np.ndarray]) -> list[tuple]:
    return [native.bits(array) for array in run_session(session, feeds)]


def right(row: fusion_models.Row) -> list[tuple]:
    """Return the outputs with every Pad run by padops' kernel and no optimisation."""
    converted = padops.convert(row.model(), fallback=False, fold=False).proto()
    assert not any(node.op_type == "Pad" for node in converted.graph.node)
    return _bits(_registered(converted, "DISABLE_ALL"), row.inputs())


# --- ONNX Runtime alone ----------------------------------------------------------------------------------------------


def cell(row: fusion_models.Row) -> str:
    """The table's cell for the installed runtime."""
    if tuple(map(int, onnxruntime.__version__.split(".")[:2])) < row.strays_before:
        return "reads outside of the data"  # what it gives there is chance
    expected, found = right(row), dict[str, list[str]]()
    for level, name in SHORT.items():
        try:
            outcome = "right" if _bits(_stock(row.model(), level), row.inputs()) == expected else "wrong"
        except Exception:  # onnxruntime's exceptions have no common class of their own
            outcome = "refused"
        found.setdefault(outcome, []).append(name)
    return (
        "right"
        if len(found.get("right", ())) == len(SHORT)
        else "; ".join(f"{outcome}: {', '.join(names)}" for outcome, names in found.items() if outcome != "right")
    )


def _table() -> dict[str, list[str]]:
    """The cells of each row, by its name."""
    text = PAGE.read_text(encoding="utf-8")
    lines = text[text.index(BEGIN) : text.index(END)].splitlines()[3:]
    return {name: rest for name, *rest in ([cell.strip() for cell in line.strip("|").split(" | ")] for line in lines)}


def test_the_table_has_every_row() -> None:
    assert {name: cells[0] for name, cells in _table().items()} == {n: row.passes for n, row in ROWS.items()}


@pytest.mark.parametrize("name", ROWS)
def test_stock(name: str) -> None:
    if onnxruntime.__version__ not in VERSIONS:
        return  # the table is about these
    assert _table()[name][1 + VERSIONS.index(onnxruntime.__version__)] == cell(ROWS[name])


# --- padops ----------------------------------------------------------------------------------------------------------


Opener = Callable[[onnx.ModelProto, str], onnxruntime.InferenceSession]

# How the converted model is opened, and the options of the conversion.
FORMS: dict[str, tuple[Opener, dict[str, Any]]] = {
    "registered": (_registered, {"fold": False}),
    "folded": (_registered, {}),
    "fallback": (_stock, {"fold": False}),
    "needed": (_registered, {"select": "needed", "fold": False}),
    "needed, folded, fallback": (_stock, {"select": "needed"}),
    "lowered": (_stock, {"target": "onnx", "fold": False}),
    "lowered, folded": (_stock, {"target": "onnx"}),
    "without Pad": (_stock, {"target": "onnx", "without_pad": True, "fold": False}),
}


@pytest.mark.parametrize("name", ROWS)
def test_every_road(name: str) -> None:
    """The bits of the right Pad at each level; only an infinite weight is as ONNX Runtime has it where that folds."""
    row = ROWS[name]
    source, feeds, expected, wrong = row.model(), row.inputs(), right(row), []
    roads: dict[str, tuple[Opener, onnx.ModelProto]] = {}
    for form, (opener, options) in FORMS.items():
        conversion = padops.convert(source, **options)
        assert not conversion.unconverted, form
        roads[form] = opener, conversion.proto()
    roads["lowered, of padops"] = _stock, padops.lower(roads["registered"][1], fold=False).proto()
    if native.RUNTIME >= (1, 24):
        roads["as it is"] = _provided, source
    for form, (opener, message) in roads.items():
        wrong += [(form, level) for level in LEVELS if _bits(opener(message, level), feeds) != expected]
    assert not wrong or not row.finite, wrong
    assert {level for _, level in wrong} <= {"ENABLE_ALL"}


def test_nothing_is_left_of_a_pad() -> None:
    for row in ROWS.values():
        made = padops.lower(row.model(), without_pad=True, fold=False)
        left = [
            node
            for graph in (made.proto().graph, *made.proto().functions)
            for node in graph.node
            if "Pad" == node.op_type
        ]
        assert not left, row.name


def test_what_may_be_a_poolings_padding_is_needed() -> None:
    for name, needed in {
        "MaxPool": "ONNX Runtime may make this Pad the padding of MaxPool y, which computes another result",
        "MaxPool behind a branch": "ONNX Runtime may make this Pad the padding of a pooling outside of its "
        "graph, which computes another result",
        "MaxPool, channels last": "ONNX Runtime may make this Pad the padding of MaxPool y, which computes "
        "another result",
        "Transpose, Pad with axes, Transpose": "The optimizer moves a Transpose past this Pad, "
        "then pads the wrong axes",
        "MaxPool, a fill of 5": None,
        "MaxPool, padded channels": None,
        "MaxPool behind Relu": None,
        "MaxPool, com.microsoft::Pad": None,
        "GlobalMaxPool": None,
        "Conv": None,
        "Transpose, Pad, Transpose": None,
    }.items():
        (record,) = padops.convert(ROWS[name].model(), select="needed", fold=False, fallback=False).records
        assert (record.notes[-1:] or (None,))[0] == needed, name
        assert record.status == ("converted" if needed else "not needed"), name


def test_on_other_runtimes() -> None:
    """Those of the table: all of it, and the roads of other rows for each."""
    others = [version for version in VERSIONS if version != onnxruntime.__version__]
    for number, version in enumerate(others):
        roads = [f"{__file__}::test_every_road[{name}]" for name in [*ROWS][number::8]]
        passed = oldest_runtime.count_passed(*roads, f"{__file__}::test_stock", version=version)
        assert passed == len(roads) + len(ROWS)
