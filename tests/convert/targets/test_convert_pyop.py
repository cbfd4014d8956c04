"""``--target pyop``: what becomes a Python kernel, what is refused, and the way back."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import native
import numpy as np
import pyop_sessions
import pytest
from command_lines import MODELS, Cli
from onnx import helper
from small_models import STRING, one_pad, parsed

import padops
from padops.convert import PadopsError, PadsLeftError, UndecidedError, VerificationError
from padops.spec import pyop_node
from padops.spec.dtypes import DTYPES

P = "int64[4] p = {1, 0, 2, 0}"
WHOLE = ("pad_02", "pad_19", "nested", "string")  # every Pad has a type that Python has


@pytest.mark.parametrize("name", WHOLE)
def test_samples(name: str, tmp_path: Path) -> None:
    """There: bit-equal, and a second time changes nothing. Back: the same graph as without the way round."""
    there, again = tmp_path / "there.onnx", tmp_path / "again.onnx"
    first = padops.convert(MODELS / f"{name}.onnx", there, target="pyop", verify=True, run=True)
    assert (first.verification.outcome, first.verification.doubts, first.unconverted) == ("equal", (), ())
    assert all(record.notes[0] == "in Python, as padops.pyop::Pad" for record in first.records)
    second = padops.convert(there, again, target="pyop")
    assert {record.status for record in second.records} == {"already converted"}
    assert there.read_bytes() == again.read_bytes()
    why = "ONNX Runtime does not know the domain padops.pyop without padops"
    assert {(facts.verdict, facts.why) for facts in padops.inspect(there).pads} == {("refuses", why)}
    back = padops.convert(there, verify=True, run=True)
    assert (back.verification.outcome, back.verification.doubts, back.unconverted) == ("equal", (), ())
    assert back.proto().graph == padops.convert(MODELS / f"{name}.onnx").proto().graph
    assert [record.op_type for record in back.records] == [record.op_type for record in first.records]


def test_native_operators_become_kernels() -> None:
    """The type of the second is only known behind the first: onnx infers nothing through operators of padops."""
    source = parsed(f"(float[2, 3] x) => (float[] y) <{P}> {{ v = padops.Pad_13 (x, p) y = padops.Pad_13 (v, p) }}")
    result = padops.convert(source, target="pyop", verify=True, run=True, fold=False)
    assert [record.form for record in result.records] == ["padops::Pad_13"] * 2
    assert result.verification.outcome == "equal"
    assert [node.domain for node in result.proto().graph.node] == ["padops.pyop"] * 2


def test_without_the_extensions(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    """Converting needs no extensions. Verifying does, and the error says how to install them."""
    source = MODELS / "pad_18.onnx"
    expected = padops.convert(source, target="pyop").proto()
    monkeypatch.setitem(sys.modules, "onnxruntime_extensions", None)
    result = padops.convert(source, target="pyop")
    assert result.proto() == expected and pyop_node.DOMAIN in {node.domain for node in expected.graph.node}
    with pytest.raises(PadopsError, match=r'^cannot verify: .*: pip install "padops\[pyop\]"[^\n]*$'):
        padops.convert(source, target="pyop", verify=True, run=True)
    code, _, said = cli("convert", source, "--dry-run", "--verify", "--run", "--target", "pyop", "-q")
    assert code == 1 and 'pip install "padops[pyop]"' in said


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_types(dtype: padops.spec.dtypes.DType) -> None:
    """``tests/runtime/test_pyop.py`` compares the bits of each type that Python has."""
    source = one_pad(25, inputs=[("x", dtype.onnx, [2, 3])], outputs=[("y", dtype.onnx, None)])
    result = padops.convert(source, target="pyop")
    (record,) = result.records
    if dtype.name in pyop_node.TYPES:
        assert record.status == "converted"
        return
    reason = f"its data are {dtype.name}: onnxruntime-extensions aborts the process if it passes this type to Python"
    assert (record.status, record.reason, record.op_type) == ("unconverted", reason, None)
    assert result.proto() == source
    with pytest.raises(PadsLeftError, match=re.escape(f"): {reason}")):
        padops.convert(source, target="pyop", strict=True)


@pytest.mark.parametrize(("kinds", "status"), [(["float"], "converted"), (["float16"], "unconverted"),
                                               (["float", "float16"], "converted")])  # fmt: skip
def test_the_type_of_a_function_is_that_of_its_calls(kinds: list[str], status: str) -> None:
    """A Pad of several types is converted; of one that Python has not, ONNX Runtime says so."""
    inputs, outputs = (", ".join(f"{kind}{dims}_{kind}" for kind in kinds) for dims in ("[2, 3] x", "[a, b] y"))
    nodes = " ".join(f"y_{kind} = d.G (x_{kind}, p)" for kind in kinds)
    source = parsed(f"({inputs}) => ({outputs}) <{P}> {{ {nodes} }} FUNCTION G (x, p) => (y) {{ y = Pad (x, p) }}")
    assert padops.convert(source, target="pyop").records[-1].status == status
    if kinds == ["float"]:
        assert padops.convert(source, target="pyop", verify=True, run=True).verification.outcome == "equal"
    if len(kinds) > 1:
        with pytest.raises(VerificationError, match=r"the converted model fails: .*tensor\(float16\)"):
            padops.convert(source, target="pyop", verify=True, run=True)


def test_an_attribute_that_the_caller_gives_is_refused() -> None:
    source = parsed(f"""(float[2, 3] x) => (float[a, b] y) <{P}> {{ y = d.F (x, p) }}
        FUNCTION F <how: string = "edge"> (x, p) => (y) {{ y = Pad <mode: string = @how> (x, p) }}""")
    record = padops.convert(source, target="pyop").records[0]
    text = "the function's caller sets the attribute mode, which a Python kernel cannot read"
    assert (record.status, record.reason) == ("unconverted", text)


@pytest.mark.parametrize("kind", ["float", "float16"])
def test_auto_pad_of_a_type_that_python_has_not(kind: str) -> None:
    """More than one node would change, so the target is asked before any does."""
    conv = 'Conv <auto_pad = "SAME_UPPER", kernel_shape = [3], strides = [2]>'
    source = parsed(f"({kind}[1, 1, n] x, {kind}[1, 1, 3] w) => ({kind}[a, b, c] y) {{ y = {conv} (x, w) }}")
    result = padops.convert(source, target="pyop", auto_pad="explicit", verify=kind == "float", run=kind == "float")
    record = result.records[0]
    if kind == "float":
        assert result.verification.outcome == "equal"
        assert [node.op_type for node in result.proto().graph.node] == ["Pad", "Conv"]
    else:
        assert record.status == "unconverted" and record.reason.startswith("its data are float16: ")
        assert result.proto().graph.SerializeToString() == source.graph.SerializeToString()


def test_a_broken_rule_in_a_kernel_reaches_the_verification() -> None:
    """The original refuses these inputs as well, so that there is nothing to compare."""
    source = parsed("(float[2, 3] x, int64[4] pads) => (float[] y) { [p] y = Pad (x, pads) }")
    feeds = {"x": np.zeros((2, 3), np.float32), "pads": np.array([0, 0, -3, 0])}
    text = "padops::Pad_13 'p': axis 0 would have -1 elements (begin 0, size 2, interior 0, end -3) [P1]"
    with pytest.raises(UndecidedError, match=f"nor the converted model: {re.escape(text)}"):
        padops.convert(source, target="pyop", verify=True, run=True, inputs=feeds)
    assert padops.pyop_errors() == []


def test_strings_come_with_a_warning() -> None:
    source = one_pad(13, inputs=[("x", STRING, [2, 3])], outputs=[("y", STRING, None)])
    (record,) = padops.convert(source, target="pyop").records
    assert record.notes[1] == "onnxruntime-extensions ends a string at its first NUL"


def test_select_needed() -> None:
    """ONNX Runtime alone runs no operator of padops."""
    for source, status in ((one_pad(13), "not needed"), (padops.convert(one_pad(13)).proto(), "converted")):
        result = padops.convert(source, target="pyop", select="needed")
        assert [record.status for record in result.records] == [status]


def test_the_bits_of_a_fill_in_an_attribute() -> None:
    """JSON has no payloads of NaNs; the attribute of Pad-2 keeps them."""
    source = parsed("(float[1] x) => (float[] y) { y = Pad <pads = [1, 0], value = 1.0> (x) }", 10, 4)
    source.graph.node[0].attribute[1].f = np.uint32(0xFFC00123).view(np.float32)
    there = padops.convert(source, target="pyop").proto()
    (output,) = native.session(there, pyop_sessions.options()).run(None, {"x": np.zeros(1, np.float32)})
    assert output.view(np.uint32).tolist() == [0xFFC00123, 0]
    assert padops.convert(there).proto().graph == padops.convert(source).proto().graph


UNKNOWN, UNREAD = "this version of padops does not know the operator", "its attributes cannot be read: "


@pytest.mark.parametrize(("change", "reason"), [
    ({"op": "Pad_9"}, UNKNOWN), ({"given": None}, UNKNOWN),
    *(({"attributes": text}, UNREAD) for text in ("{", '{"other": 1}', '{"mode": [1]}')),
])  # fmt: skip
def test_a_kernel_that_is_no_conversion_of_ours(change: dict[str, str | None], reason: str) -> None:
    converted = padops.convert(one_pad(13), target="pyop").proto()
    node = converted.graph.node[0]
    fields = {attribute.name: attribute.s.decode() for attribute in node.attribute} | change
    del node.attribute[:]
    node.attribute.extend(helper.make_attribute(name, text) for name, text in fields.items() if text is not None)
    (record,) = padops.convert(converted).records
    assert record.status == "unconverted" and record.reason.startswith(reason)
