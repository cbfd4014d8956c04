"""``verify``: what it compares, and that it finds what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import written_models
from onnx import helper
from small_models import FLOAT, INT16, STRING, model, pad, tensor

import padops
from padops.convert import OutputComparison, PadopsError, UndecidedError, UsageError, VerificationError
from padops.convert.inputs.given import inputs_of
from padops.convert.inputs.pads import Hints, hints_of
from padops.convert.inputs.random_inputs import random_inputs
from padops.convert.rewrite import TARGETS
from padops.convert.verify import compare as verify
from padops.spec.dtypes import DTYPES

PADS = tensor("pads", [0, 1, 0, 1])


def attempt(source: Any, **options: Any) -> padops.Conversion:
    """A conversion with verification, whether that passes or not."""
    try:
        return padops.convert(source, verify=True, run=True, **options)
    except VerificationError as error:
        return error.conversion


def reflecting(kind: int = FLOAT, opset: int = 17) -> onnx.ModelProto:
    return model(
        [pad(mode="reflect")], opset, inputs=[("x", kind, [2, 3])], outputs=[("y", kind, None)], tensors=[PADS]
    )


def test_a_converted_model_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def emit(replacement: Any, found: Any, constants: Any, types: Any) -> None:
        found.node.domain, found.node.op_type = "padops", "Pad_0"
        found.scope.root.opset_imports["padops"] = 1

    monkeypatch.setitem(TARGETS, "padops", emit)
    for source in (reflecting(), reflecting(INT16)):
        with pytest.raises(VerificationError, match="the converted model fails: .*Pad_0"):
            padops.convert(source, verify=True, run=True)


def test_every_element_type_goes_in_and_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """One Pad of each type, alone in its model, compared with onnxruntime or with the reference."""
    monkeypatch.setattr(verify, "MANY", 3)
    for dtype in DTYPES:
        source = model([pad(mode="reflect")], 25, ir_version=13, inputs=[("x", dtype.onnx, [2, 3])],
                       outputs=[("y", dtype.onnx, None)], tensors=[PADS])  # fmt: skip
        verification = attempt(source).verification
        assert (dtype.name, verification.outcome) == (dtype.name, "equal")
        assert verification.inputs == (f"x: {dtype.name}[2, 3]",) * verify.TURNS


def test_sequences_are_compared() -> None:
    nodes = [pad(output="p"), helper.make_node("SequenceConstruct", ["p", "x"], ["y"])]
    source = model(nodes, 17, tensors=[PADS])
    source.graph.output[0].CopyFrom(helper.make_tensor_sequence_value_info("y", FLOAT, None))
    assert attempt(source).verification.outputs == (OutputComparison("y", True),)


def test_both_branches_are_taken() -> None:
    """A single bool alternates, and so does a number that the model compares an input with."""
    choose = """If ({0}) <then_branch = t () => (float[i, j] t{0}) {{ t{0} = Pad <mode = "edge"> (x, p) }},
        else_branch = e () => (float[k, l] e{0}) {{ e{0} = Pad <mode = "reflect"> (x, p) }}>"""
    source = written_models.model(f"""(float[2, 3] x, int64 rate, bool flag) => (float[a, b] y, float[c, d] z)
        <int64[4] p = {{0, 1, 0, 1}}, int64 sixteen = {{16000}}> {{
        c = Equal (rate, sixteen) y = {choose.format("c")} z = {choose.format("flag")} }}""")
    conversion = padops.convert(source, verify=True, run=True)
    assert conversion.verification.outcome == "equal"
    assert hints_of(conversion.proto()).special == {"rate": [16000]}
    fed = [next(random_inputs(inputs_of(source), 0, turn, Hints({"rate": [16000]}))) for turn in range(2)]
    assert [(int(f["rate"]), bool(f["flag"])) for f in fed] == [(16000, True), (9, False)]


def test_given_inputs(tmp_path: Path) -> None:
    x = np.full((2, 3), np.nan, np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    for given in ({"x": x}, tmp_path / "in.npz", str(tmp_path / "in.npz")):
        verification = padops.convert(reflecting(), verify=True, run=True, inputs=given).verification
        assert (verification.outcome, verification.inputs) == ("equal", ("x: float[2, 3]",))
    bits = np.arange(6, dtype=np.uint16).reshape(2, 3)
    assert padops.convert(reflecting(16), verify=True, run=True, inputs={"x": bits}).verification.outcome == "equal"
    text = np.array([["a", "b", "ç"], ["", "e", "f"]])
    assert padops.convert(reflecting(STRING), verify=True, run=True, inputs={"x": text}).verification.outcome == "equal"


def test_given_inputs_that_do_not_fit(unproved: None, tmp_path: Path) -> None:
    path, absent, zeros = tmp_path / "in.npz", tmp_path / "absent.npz", np.zeros((2, 3), np.float32)
    path.write_text("not one")
    for given, text in (
        ({}, "the inputs lack 'x'; the model takes x: float[2, 3]"),
        ({"x": zeros, "w": zeros}, "'w' is not an input of the model, which takes x: float[2, 3]"),
        ({"x": zeros.astype(float)}, "input 'x' is float64, expected float"),
        ({"x": zeros.astype(np.complex64)}, "input 'x' is complex64, expected float"),
        ({"x": zeros[None]}, "input 'x' has the shape [1, 2, 3]; the model takes x: float[2, 3]"),
        (absent, f"{absent} does not exist"),
        (path, f'{path} is no .npz file; numpy.savez("{path}", x=...) writes one'),
    ):
        with pytest.raises(UsageError) as caught:
            padops.convert(reflecting(), verify=True, run=True, inputs=given)
        assert str(caught.value) == text
    source = reflecting()
    source.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(UndecidedError, match="not run the original with these inputs: .*; nor the converted model: "):
        padops.convert(source, verify=True, run=True, inputs={"x": zeros[None]})


def test_a_model_that_cannot_be_fed() -> None:
    source = reflecting()
    source.graph.input.append(helper.make_tensor_sequence_value_info("s", FLOAT, None))
    with pytest.raises(PadopsError, match="input 's' is not a tensor of a type that can be fed"):
        padops.convert(source, verify=True, run=True)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import padops.runtime.session

    def missing(options: object) -> None:
        raise FileNotFoundError("libpadops.so is not here")

    monkeypatch.setattr(padops.runtime.session, "register", missing)
    with pytest.raises(PadopsError, match="cannot verify: libpadops.so is not here"):
        padops.convert(reflecting(), tmp_path / "m.onnx", verify=True, run=True)
    assert list(tmp_path.iterdir()) == []
