"""``select="needed"``: the rules, and onnxruntime itself as their witness."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime
import pytest
from inspected_models import specified, stock
from onnx import helper
from small_models import BOOL, DOUBLE, FLOAT, HALF, INT8, INT16, INT32, INT64, convert, model, one_pad, pad, tensor

RUNTIME = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])
NUMPY = {FLOAT: np.float32, DOUBLE: np.float64, HALF: np.float16, BOOL: np.bool_, INT8: np.int8, INT16: np.int16,
         INT32: np.int32, INT64: np.int64}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A model of one Pad; why the Pad must be converted, if it must; whether the newest onnxruntime runs it rightly."""

    label: str
    source: onnx.ModelProto
    needed: str | None
    runs: bool = False
    shape: tuple[int, ...] = (2, 3)


def typed(opset: int, kind: int, **attributes: Any) -> onnx.ModelProto:
    return model([pad(**attributes)], opset, inputs=[("x", kind, [2, 3])], outputs=[("y", kind, None)],
                 tensors=[tensor("pads", [0, 1, 0, 2])])  # fmt: skip


def amounts(*pads: int, dims: tuple[int | str, ...] = (2, 3), mode: str = "reflect", axes: Any = None,
            fill: Any = None, opset: int = 18) -> onnx.ModelProto:  # fmt: skip
    tensors = [tensor("pads", list(pads)), *(one for one in (axes, fill) if one is not None)]
    names = ["x", "pads", "fill" if fill is not None else "", "axes" if axes is not None else ""]
    return model([pad(names, mode=mode)], opset, inputs=[("x", FLOAT, dims)], outputs=[("y", FLOAT, None)],
                 tensors=tensors)  # fmt: skip


RUNS = "ONNX Runtime runs it: "
WRAPS = "ONNX Runtime reads out of bounds before 1.31 where wrap adds more in front than there is"
FILL = tensor("fill", 9, np.float32)
ROWS = [
    Row("opset 1", one_pad(1), "ONNX Runtime has no Pad of opset 1"),
    *(Row(f"opset {v}, float", one_pad(v), None, True) for v in (2, 10, 11, 13, 17, 18, 19, 21, 23, 24, 25)),
    Row("attribute form under 13", model([pad(["x"], pads=[0, 1, 0, 2])], 13),
        "ONNX Runtime refuses a node of this form"),
    Row("value beside pads", typed(13, FLOAT, value=1.0), "ONNX Runtime refuses a node of this form"),
    *(Row(f"opset 13, type {kind}", typed(13, kind), None, True) for kind in (FLOAT, DOUBLE, INT8, INT32, INT64, BOOL)),
    Row("bool at 11", typed(11, BOOL), "ONNX Runtime has no Pad of bool at opset 11"),
    Row("int16", typed(13, INT16), "ONNX Runtime has no Pad of int16 at opset 13"),
    Row("float16", typed(13, HALF), "ONNX Runtime casts float16 to float and back", True),
    Row("com.microsoft", typed(13, FLOAT, domain="com.microsoft"), None, True),
    Row("com.microsoft, double", typed(13, DOUBLE, domain="com.microsoft"),
        "ONNX Runtime has no Pad of double at opset 1"),
    Row("wrap before 19", typed(13, FLOAT, mode="wrap"), None, True),
    Row("int32 axes", amounts(1, 1, axes=tensor("axes", [1], np.int32)),
        "ONNX Runtime refuses constant axes of type int32"),
    Row("int64 axes", amounts(1, 1, axes=tensor("axes", [-1])), None, True),
    Row("rank 0", amounts(dims=(), mode="constant"), "ONNX Runtime refuses data of rank 0", shape=()),
    Row("fill of rank 2", amounts(0, 0, 0, 1, mode="constant", fill=tensor("fill", [[5]], np.float32)), None, True),
    Row("two fills that no one reads", amounts(0, 0, 0, 1, mode="edge", fill=tensor("fill", [5, 6], np.float32)),
        "ONNX Runtime refuses a fill of 2 elements, which mode edge does not even read"),
    Row("one fill that no one reads", amounts(0, 0, 0, 1, mode="edge", fill=tensor("fill", 5, np.float32)), None, True),
    Row("reflect to the limit", amounts(0, 2, 0, 2), None, True),
    Row("reflect beyond it", amounts(0, 3, 0, 2),
        "ONNX Runtime refuses to reflect more than once (axis 1: 3, 2 of 3 elements)"),
    Row("reflect beyond it, by axes", amounts(0, 3, axes=tensor("axes", [-1])),
        "ONNX Runtime refuses to reflect more than once (axis 1: 0, 3 of 3 elements)"),
    Row("reflect of what may be enough", amounts(0, 3, 0, 2, dims=(2, "n")), None, True, shape=(2, 4)),
    Row("reflect and crop", amounts(-1, 1, 0, 0, dims=(3, 3)), None, True, shape=(3, 3)),
    Row("reflect and crop one axis", amounts(-1, 0, 1, 0, dims=(4, 3)),
        "ONNX Runtime reads out of bounds before 1.25 (axis 0: reflect -1, 1)", RUNTIME >= (1, 25), shape=(4, 3)),
    Row("edge and crop to nothing", amounts(0, -1, 0, -2, mode="edge"),
        "ONNX Runtime refuses to crop axis 1 to nothing in mode edge"),
    Row("constant and crop to nothing", amounts(0, -1, 0, -2, mode="constant"), None, True),
    Row("constant of nothing", amounts(0, 1, 0, 1, dims=(2, 0), mode="constant", fill=FILL), None, True, shape=(2, 0)),
    Row("constant and crop away", amounts(0, -3, 0, 3, mode="constant", fill=FILL),
        "ONNX Runtime may be wrong before 1.24 where a crop leaves nothing (axis 1: -3, 3 of 3 elements)",
        RUNTIME >= (1, 24)),
    Row("constant and crop more", amounts(0, -4, 0, 4, mode="constant", fill=FILL),
        "ONNX Runtime may be wrong before 1.24 where a crop leaves nothing (axis 1: -4, 4 of 3 elements)",
        RUNTIME >= (1, 24)),
    Row("constant and crop what may leave some", amounts(0, -4, 0, 4, dims=(2, "n"), mode="constant", fill=FILL),
        None, True, shape=(2, 5)),
    Row("edge of any reach", amounts(0, 9, 0, 9, mode="edge"), None, True),
    Row("edge and crop", amounts(0, -2, 0, 5, mode="edge"), None, True),
    Row("wrap to the limit", amounts(0, 3, 0, 9, mode="wrap", opset=19), None, True),
    Row("wrap and crop", amounts(0, 1, 0, -2, mode="wrap", opset=19), None, True),
    Row("wrap beyond it", amounts(0, 4, 0, 0, mode="wrap", opset=19),
        f"{WRAPS} (axis 1: 4, 0 of 3 elements)", RUNTIME >= (1, 31)),
    Row("wrap beyond what is left", amounts(0, 3, 0, -1, mode="wrap", opset=19),
        f"{WRAPS} (axis 1: 3, -1 of 3 elements)", RUNTIME >= (1, 31)),
]  # fmt: skip


def runs_rightly(row: Row) -> bool:
    """Return whether stock onnxruntime loads the model and gives the output that the Pad's rules give."""
    kind = NUMPY[row.source.graph.input[0].type.tensor_type.elem_type]
    feeds = {"x": np.arange(1, 1 + math.prod(row.shape)).reshape(row.shape).astype(kind)}
    row.source.graph.output[0].type.tensor_type.ClearField("shape")
    actual = stock(row.source, feeds)
    return actual is not None and native.bits(actual[0]) == native.bits(specified(row.source, feeds)[0])


@pytest.mark.parametrize("row", ROWS, ids=[row.label for row in ROWS])
def test_row(row: Row) -> None:
    (record,) = convert(row.source, select="needed").records
    if row.needed is None:
        assert (record.status, record.op_type) == ("not needed", None)
        assert record.reason.startswith(RUNS)
    else:
        assert (record.status, record.reason) == ("converted", None)
        assert record.notes[-1] == row.needed
    assert runs_rightly(row) == row.runs


def test_kept_rows_are_right() -> None:
    """A Pad that stays must be right in every runtime; test_fallback.py runs this with 1.20, which knows opset 21."""
    kept = [row for row in ROWS if row.needed is None and row.source.opset_import[0].version <= 21]
    assert [row.label for row in kept if not runs_rightly(row)] == [] and len(kept) > 20


def test_a_type_that_nobody_knows_is_converted() -> None:
    nodes = [helper.make_node("Secret", ["x"], ["s"], domain="d"), pad(["s", "pads"])]
    source = model(nodes, 13, imports=[("d", 1)], outputs=[("y", 0, None)], tensors=[tensor("pads", [0] * 4)])
    (record,) = convert(source, select="needed").records
    assert (record.status, record.notes) == ("converted", ("the type of its data is not known",))
