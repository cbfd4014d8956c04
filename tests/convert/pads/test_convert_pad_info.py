"""What is known of a Pad before it runs: amounts that follow from constants count as those that are literal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import native
import numpy as np
import onnx
import pytest
from folding_models import fold, operators, outcomes, run
from onnx import helper
from small_models import FLOAT, INT64, info, model, pad, tensor

import padops
from padops.convert import Conversion, PadopsError

W = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32)
X = np.random.default_rng(1).standard_normal((2, 3, 7, 6)).astype(np.float32)


def concat(begins: Sequence[int], ends: Sequence[int], *others: onnx.NodeProto, **parts: Any) -> onnx.ModelProto:
    """A model whose Pads read ``Concat(begins, ends)``, as exporters write it."""
    halves = [tensor("begins", begins), tensor("ends", ends)]
    joined = helper.make_node("Concat", ["begins", "ends"], ["pads"], name="concat", axis=0)
    return model([joined, *others], tensors=[*halves, *parts.pop("tensors", [])], **parts)


def reflecting(begin: int, inputs: Sequence[tuple] = (), **parts: Any) -> onnx.ModelProto:
    node = pad(name="pad", mode="reflect")
    return concat([begin], [0], node, inputs=[("x", FLOAT, [8]), *inputs], **parts)


def in_front_of_conv(begins: Sequence[int] = (0, 0, 1, 2), inputs: Sequence[tuple] = ()) -> onnx.ModelProto:
    nodes = [pad(["x", "pads"], "p", name="pad"), helper.make_node("Conv", ["p", "w"], ["y"], name="conv")]
    return concat(begins, [0, 0, 0, 1], *nodes, inputs=[("x", FLOAT, [2, 3, 7, 6]), *inputs],
                  outputs=[("y", FLOAT, [None] * 4)], tensors=[tensor("w", W, np.float32)])  # fmt: skip


def needed(source: onnx.ModelProto) -> Conversion:
    return padops.convert(source, select="needed", fold=False)


# --- amounts that a chain of constants makes --------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["DISABLE_ALL", "ENABLE_ALL"])
@pytest.mark.parametrize("target", ["padops", "onnx", "pyop"])
def test_two_pads_of_chains_become_one(target: str, level: str) -> None:
    nodes = [
        pad(["x", "pads"], "p", name="first", mode="edge"),
        pad(["p", "pads"], "y", name="second", mode="edge"),
    ]
    source = concat([1, 0], [0, 2], *nodes, inputs=[("x", FLOAT, [None, None])])
    conversion = fold(source, target=target)
    assert outcomes(conversion)[0] == ("first", "folded", ("second",))
    assert "Concat" not in operators(conversion.proto())
    feeds = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    if target == "pyop":
        options = native.session_options()
        padops.register(options, backend="pyop")
        made = native.session(conversion.proto(), options).run(None, feeds)
    else:
        assert run(conversion.proto(), feeds, level) == run(source, feeds, level)
        return
    assert [native.bits(array) for array in made] == run(source, feeds, level)


# --- what is not known ------------------------------------------------------------------------------------------------


def test_a_half_that_the_caller_may_override_is_not_known() -> None:
    inputs = [("begins", INT64, [4])]
    conversion = fold(in_front_of_conv(inputs=inputs))
    assert conversion.records[0].notes[-1] == "not folded: Conv conv: the amounts are not known"
    source = reflecting(11, inputs=[("begins", INT64, [1])])
    (record,) = needed(source).records
    assert record.status == "not needed" and record.reason.endswith("elements to reflect")


WRONG = {
    "no step": "p = Range (zero, two, zero)",
    "steps without end": "q = Range (none, endless, ones) p = Cast <to = 7> (q)",
    "start of two": "p = Range (both, two, one)",
    "ints of a string": 'p = Constant <value_ints = "abc"> ()',
    "string of ints": "p = Constant <value_string = [1, 2]> ()",
    "shape of nothing": "p = Shape ()",
    "range of one": "p = Range (two)",
    "by zero": "p = Div (both, both)",
}


@pytest.mark.parametrize("imports", ['"": 18, ', '"": 30, ', ""], ids=["opset 18", "opset 30", "no opset"])
@pytest.mark.parametrize("chain", WRONG.values(), ids=WRONG)
def test_a_chain_that_is_wrong_is_not_known(chain: str, imports: str) -> None:
    """It is left to the runtime, or the model is refused."""
    source = onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: [{imports}"padops": 1]> g (float[4] x) => (float[n] y)
        <int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64[2] both = {{0, 1}},
         float none = {{0}}, float endless = {{1}}, float ones = {{1}}> {{ {chain} y = padops.Pad_18 (x, p) }}
    """)
    next(t for t in source.graph.initializer if t.name == "endless").float_data[:] = [np.inf]
    try:
        (record,) = padops.convert(source).records
    except PadopsError as error:
        assert "has 0 inputs" in str(error) or "has 1 input" in str(error)
    else:
        assert record.status in ("already converted", "unconverted")  # P8


# --- axes, and SAME ---------------------------------------------------------------------------------------------------


def same_pad(dims: Sequence[Any] | None, padded: Sequence[Any] | None = None) -> onnx.ModelProto:
    attributes = {"kernel_shape": [3, 3], "strides": [2, 2]}
    nodes = [
        helper.make_node("SamePad_1", ["x"], ["p"], name="pad", domain="padops", **attributes),
        helper.make_node("Conv", ["p", "w"], ["y"], name="conv", strides=[2, 2]),
    ]
    source = model(nodes, inputs=[("x", FLOAT, dims)], outputs=[("y", FLOAT, None)], imports=[("padops", 1)],
                   tensors=[tensor("w", W, np.float32)])  # fmt: skip
    if padded is not None:
        source.graph.value_info.append(info(("p", FLOAT, padded)))
    return source


def test_same_amounts_do_not_follow_from_the_padded_dims() -> None:
    """Where nothing is known of the data, what is said of the output is their rank at most."""
    source = same_pad(None, [2, 3, 9, 7])
    conversion = fold(source)
    assert outcomes(conversion) == [("pad", "already converted", ())]
    assert conversion.records[0].notes == ("not folded: Conv conv: the amounts are not known",)
