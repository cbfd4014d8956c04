"""padops.inspect about other execution providers, other rules and other releases than the installed one's."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from command_lines import Cli, save
from provider_sessions import CPU, EP_NAME, model, pad

import padops
from padops.convert import runtimes
from padops.convert.errors import UsageError
from padops.convert.records import PadFacts
from padops.runtime.provider import FIRST_NAME, runtime_minor
from padops.spec.dtypes import DTYPES

OPENVINO, WEBGPU, QNN, COREML, CUDA, DML = (
    f"{name}ExecutionProvider" for name in ("OpenVINO", "WebGpu", "QNN", "CoreML", "CUDA", "Dml")
)
MINOR = runtime_minor()
AXES = model("""g (float[2, 4] x) => (float[a, b] y) <int64[2] p = {1, 1}, int64[1] a = {1}> {
    y = Pad <mode = "edge"> (x, p, , a) }""")
FAR = pad([5, 0], "wrap", 19, "float[4]")
COMPUTED = model("g (float[4] x, int64[2] p) => (float[n] y) { y = Pad (x, p) }")
ROWS = [
    (QNN, COMPUTED, "runs", EP_NAME),
    (WEBGPU, COMPUTED, "runs", WEBGPU),
    (OPENVINO, COMPUTED, "may be wrong", FIRST_NAME),
    (OPENVINO, pad([1, 1], "edge", 18, "float[n]"), "runs", OPENVINO),
    (OPENVINO, pad([1, 1], "wrap", 19, "float[4]"), "refuses", FIRST_NAME),
    (OPENVINO, pad([3, 3], "reflect", 18, "float[4]"), "runs", OPENVINO),
    (OPENVINO, pad([4, 0], "reflect", 18, "float[4]"), "refuses", FIRST_NAME),
    (OPENVINO, pad([-1, 3], "reflect", 18, "float[4]"), "wrong", FIRST_NAME),
    (OPENVINO, pad([-4, 3], "constant", 18, "float[4]"), "runs", OPENVINO),
    (OPENVINO, pad([1, 1], "reflect", 18, "float[n]"), "may be wrong", FIRST_NAME),
    (OPENVINO, pad([-5, 2], "constant", 18, "float[4]"), "refuses", FIRST_NAME),
    (OPENVINO, AXES, "refuses", FIRST_NAME),
    (WEBGPU, AXES, "runs", WEBGPU),
    (WEBGPU, pad([4, 4], "wrap", 19, "float[4]"), "runs", WEBGPU),
    (WEBGPU, FAR, "wrong", FIRST_NAME),
    (WEBGPU, pad([-1, 2], "reflect", 18, "float[4]"), "runs", WEBGPU),
    (WEBGPU, pad([-1, 3], "reflect", 18, "float[4]"), "wrong", FIRST_NAME),
    (WEBGPU, pad([1, 1], "edge", 24, "float[4]"), "runs", EP_NAME),
    (QNN, pad([1, 1], "edge", 18, "float[4]"), "refuses", FIRST_NAME),
    (QNN, pad([1, 1], "edge", 18, "float[n]"), "runs", EP_NAME),
    (QNN, pad([1, 1], "edge", 18, "float16[4]"), "may be wrong", FIRST_NAME),
    (QNN, pad([0] * 5 + [1] * 5, "constant", 18, "float[1, 2, 3, 4, 5]"), "may be wrong", FIRST_NAME),
    (QNN, AXES, "runs", EP_NAME),
    (COREML, pad([1, 1], "edge", 18, "float[4]"), "runs", EP_NAME),
    (CUDA, pad([1, 1], "edge", 18, "int32[4]"), "runs", EP_NAME),
    (CUDA, pad([4, 0], "reflect", 18, "float[4]"), "refuses" if MINOR >= 25 else "wrong", FIRST_NAME),
    (CUDA, pad([9, 0], "wrap", 25, "float[4]"), "runs", CUDA if MINOR >= 25 else EP_NAME),
    (DML, pad([9, 0], "reflect", 18, "float[4]"), "runs", DML),
    (DML, pad([1, 0], "edge", 25, "float[4]"), "runs", EP_NAME),
    (DML, pad([-1, 0], "constant", 18, "float[4]"), "wrong", FIRST_NAME),
    ("DnnlExecutionProvider", pad([1, 1], "edge", 18, "float[4]"), "runs", EP_NAME),
    ([COREML, WEBGPU], FAR, "wrong", FIRST_NAME),
    ([QNN, OPENVINO], FAR, "refuses", FIRST_NAME),
    ([EP_NAME, OPENVINO], FAR, "runs", EP_NAME),
    ([CPU, OPENVINO], FAR, "runs", EP_NAME),
]


@pytest.mark.parametrize(("providers", "content", "verdict", "runner"), ROWS)
def test_the_verdict_and_who_runs_it(providers: Any, content: onnx.ModelProto, verdict: str, runner: str) -> None:
    """Of several, the first one that takes the Pad decides; what one leaves, the next is asked for."""
    (found,) = padops.inspect(content, providers=[providers, CPU] if isinstance(providers, str) else providers).pads
    assert (found.verdict, found.runner) == (verdict, runner), found.why
    if isinstance(providers, str) and providers != "DnnlExecutionProvider":
        assert runner == EP_NAME or providers in found.why


def test_notes() -> None:
    inspection = padops.inspect(FAR, providers=["DnnlExecutionProvider", WEBGPU])
    unknown, cost = inspection.notes
    assert unknown.startswith("padops has no rules for DnnlExecutionProvider: padops stands behind")
    costs = "where another provider runs the nodes before and behind such a Pad, they are two parts instead of one, "
    costs += "and a device's data are copied to the processor and back"
    assert cost == f"1 of 1 Pad runs on the processor, unless DnnlExecutionProvider takes them: {costs}"
    assert padops.inspect(FAR, providers=[WEBGPU]).notes == (f"1 of 1 Pad runs on the processor: {costs}",)
    assert inspection.pads[0].why.startswith("unless DnnlExecutionProvider, for which padops has no rules, runs it: ")
    with pytest.raises(padops.UsageError, match="providers is 'CPUExecutionProvider', expected names"):
        padops.inspect(pad([1, 1]), providers=CPU)
    with pytest.raises(padops.UsageError, match="^providers: onnxruntime .* knows no provider Cupid; expected one of "):
        padops.inspect(pad([1, 1]), providers=["Cupid", CPU])


VITIS = "VitisAIExecutionProvider"
REFLECT, EDGE = pad([1, 1], "reflect", 18, "float[4]"), pad([1, 1], "edge", 18, "float[4]")
CONTENT = {"names": [VITIS, CUDA], "version": "1.4", "sources": {"default": "measured: my model"},
           "rules": [{"does": "wrong", "when": "always", "modes": ["reflect"]}]}  # fmt: skip


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "rules.json").write_text(json.dumps(CONTENT), encoding="utf-8")
    return tmp_path / "rules.json"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return save(tmp_path / "model.onnx", REFLECT)


@pytest.mark.parametrize("provider", [VITIS, CUDA])
def test_a_file_of_rules(rules: Path, provider: str) -> None:
    for source, verdict, runner in ((REFLECT, "wrong", FIRST_NAME), (EDGE, "runs", provider)):
        (found,) = padops.inspect(source, providers=[provider, CPU], rules=rules).pads
        assert (found.verdict, found.runner) == (verdict, runner)


P4 = "int64[4] p = {1, 2, 3, 4}"
CONDITIONS = [  # a condition, other inputs, initializers, the Pad's inputs after the data, and the verdict of a rule
    ("fill not one", "", f"{P4}, float[2] v = {{1, 2}}", "p, v", "wrong"),
    ("fill not one", "", f"{P4}, float[1] v = {{1}}", "p, v", "runs"),
    ("fill not one", ", float[n] v", P4, "p, v", "may be wrong"),
    ("fill not one", ", float[2] v", P4, "p, v", "wrong"),
    ("bare fill not one", "", f"{P4}, float[2] v = {{1, 2}}", "p, v", "wrong"),
    ("bare fill not one", "", f"{P4}, float[2] v = {{1, 2}}, int64[2] a = {{0, 1}}", "p, v, a", "runs"),
    ("bare fill not one", "", f"{P4}, int64[2] a = {{0, 1}}", "p, , a", "runs"),
    ("fill empty", "", f"{P4}, float[2] v = {{1, 2}}", "p, v", "runs"),
    ("fill empty", ", float[0] v", P4, "p, v", "wrong"),
    ("fill empty", ", float[n] v", P4, "p, v", "may be wrong"),
    ("computed fill", "", f"{P4}, float v = {{1}}", "p, v", "runs"),
    ("computed fill", ", float[1] v", P4, "p, v", "wrong"),
    ("computed scalar fill", ", float[1] v", P4, "p, v", "runs"),
    ("computed scalar fill", ", float v", P4, "p, v", "wrong"),
    ("computed scalar fill", ", float[] v", P4, "p, v", "may be wrong"),
    ("axes but all", "", "int64[2] p = {1, 2}, int64[1] a = {1}", "p, , a", "wrong"),
    ("axes but all", "", f"{P4}, int64[2] a = {{1, -2}}", "p, , a", "runs"),
    ("axes turned", "", f"{P4}, int64[2] a = {{1, -2}}", "p, , a", "wrong"),
    ("axes turned", "", "int64[4] p = {1, 1, 1, 1}, int64[2] a = {1, 0}", "p, , a", "runs"),
    ("axes turned", "", f"{P4}, int64[2] a = {{0, 1}}", "p, , a", "runs"),
    ("axes turned", ", int64[4] p", "int64[2] a = {1, 0}", "p, , a", "wrong"),
    ("axes turned", ", int64[4] p", "int64[2] a = {0, 1}", "p, , a", "runs"),
    ("axes turned", ", int64[4] p, int64[2] a", "float z = {0}", "p, , a", "may be wrong"),
]  # fmt: skip


@pytest.mark.parametrize(("when", "inputs", "held", "read", "verdict"), CONDITIONS)
def test_a_condition(when: str, inputs: str, held: str, read: str, verdict: str, tmp_path: Path) -> None:
    content = CONTENT | {"rules": [{"does": "wrong", "when": when}]}
    (tmp_path / "rules.json").write_text(json.dumps(content), encoding="utf-8")
    pad_node = f'y = Pad <mode = "edge"> (x, {read})'  # a mode that ignores the fill
    source = model(f"g (float[2, 3] x{inputs}) => (float[c, d] y) <{held}> {{ {pad_node} }}")
    (found,) = padops.inspect(source, providers=[VITIS, CPU], rules=tmp_path / "rules.json").pads
    assert found.verdict == verdict, found.why


def test_commands(rules: Path, source: Path, cli: Cli) -> None:
    inspection = padops.inspect(REFLECT, providers=[VITIS], rules=rules)
    assert inspection.commands()["session"].endswith(f'providers=["{VITIS}"], rules="{rules}")')
    assert inspection.to_json()["rules"] == str(rules)
    lower = replace(inspection, roads=("lower",)).commands()["lower"]
    assert lower.endswith(f"--target onnx --for vitisai --rules {rules}")
    code, out, _ = cli("inspect", source, "--check", "--providers", "vitisai", "--rules", rules)
    assert code == 4 and f"{VITIS} gets it wrong (mode reflect: any)" in out
    made = source.with_name("out.onnx")
    assert cli("convert", source, made, "--target", "onnx", "--for", "VitisAI", "--rules", rules)[0] == 0
    assert [found.operator for found in padops.inspect(made).pads] == ["Concat"]


WRONG = [
    (json.dumps(CONTENT), "webgpu", f"has rules for {VITIS}, {CUDA}, but not for WebGpuExecutionProvider\n"),
    (None, "cuda", "does not exist\n"),
    ("{", "cuda", "expected JSON: "),
    (json.dumps(CONTENT | {"rules": [{"does": "no", "when": "always"}]}), "cuda", '"no" is unknown; expected one of'),
]


@pytest.mark.parametrize("options", ["inspect --providers", "convert --dry-run --target onnx --for", "run --providers"])
def test_a_wrong_file(options: str, rules: Path, source: Path, cli: Cli) -> None:
    """No file without a provider; a file of another provider, none, or a broken one."""
    command, *more, names = options.split()
    code, _, error = cli(command, source, *more, "--rules", rules)
    assert code == 2 and "--rules needs" in error
    for content, provider, said in WRONG:
        rules.unlink(missing_ok=True)
        if content is not None:
            rules.write_text(content, encoding="utf-8")
        code, _, error = cli(command, source, *more, names, provider, "--rules", rules)
        assert code == 2 and error.startswith(f"error: --rules: {rules}") and said in error


MODEL = Path(__file__).resolve().parents[2] / "models" / "pad_19.onnx"


@pytest.mark.parametrize("release", ["1.19", "1.33", "2.0", "1.22.x", "", " 1.22", 1.22])
def test_another_release_is_an_error(release: object) -> None:
    words = rf"onnxruntime is {release!r}, expected a release from 1\.20 to 1\.32"
    with pytest.raises(UsageError, match=words.replace("'", "['\"]")):
        padops.inspect(MODEL, onnxruntime=release)


def test_the_command(cli: Cli) -> None:
    code, out, _ = cli("inspect", MODEL, "--onnxruntime", "1.22", "--check", "--json")
    assert code == 5 and json.loads(out)["models"][0]["runtime"] == "onnxruntime 1.22"
    code, _, error = cli("inspect", MODEL, "--onnxruntime", "1.99")
    assert code == 2 and "--onnxruntime is '1.99', expected a release from 1.20 to 1.32" in error


def facts(release: str, size: int, begin: int, end: int, mode: str = "constant", opset: int = 19) -> PadFacts:
    return padops.inspect(pad([begin, end], mode, opset, f"float[{size}]"), onnxruntime=release).pads[0]


@pytest.mark.parametrize(("name", "since"), [(row.name, row.since) for row in DTYPES if row.since > 24])
def test_a_session_has_a_type_from_its_first_release_on(name: str, since: int) -> None:
    source = pad([1, 1], "wrap", 25, f"{name}[2]")
    roads = [padops.inspect(source, onnxruntime=f"1.{minor}").pads[0].roads for minor in (since - 1, since)]
    assert roads == [("convert", "lower"), ("session", "convert", "lower")]


@pytest.mark.parametrize(("minor", "least"), [(runtimes.WRAPS_RIGHT - 1, 6), (runtimes.WRAPS_RIGHT, 2)])
def test_sizes_from_which_on_a_wrap_is_right(minor: int, least: int) -> None:
    (found,) = padops.inspect(pad([5, -1], "wrap", 19, "float[n]"), onnxruntime=f"1.{minor}").pads
    assert (found.verdict, f"axis 0 has {least} elements or more" in found.why) == ("runs if", True), found


@pytest.mark.parametrize(("opset", "release", "later"), [
    (22, "1.20", "; 1.21 does"), (24, "1.23", "; 1.24 does"), (26, "1.24", "; 1.25 does"),
])  # fmt: skip
def test_an_opset_that_the_release_does_not_load(opset: int, release: str, later: str) -> None:
    """Nothing helps: no road leaves the opset behind."""
    found = facts(release, 4, 1, 1, opset=opset)
    why = rf"onnxruntime {release} loads no model of opset {opset}, but up to \d+{later}"
    assert (found.verdict, found.roads) == ("refuses", ()) and re.fullmatch(why, found.why)
    assert facts(release, 4, 1, 1, opset=opset - 1).verdict == "runs"


@pytest.mark.parametrize(("release", "mode", "sizes", "verdict"), [
    ("1.23", "edge", (4, -3, -1), "runs"), ("1.24", "edge", (4, -3, -1), "refuses"),
    ("1.23", "constant", (0, -1, 2), "runs"), ("1.23", "constant", (1, -1, 2), "may be wrong"),
    ("1.23", "wrap", (0, -1, 1), "refuses"), ("1.23", "reflect", (4, 1, -1), "may be wrong"),
])  # fmt: skip
def test_what_a_release_does(release: str, mode: str, sizes: tuple[int, int, int], verdict: str) -> None:
    assert facts(release, *sizes, mode).verdict == verdict
