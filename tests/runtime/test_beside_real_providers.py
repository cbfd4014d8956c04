"""padops beside real providers, each in its environment, and a stand-in: right bits, none dropped, no good Pad taken.

``scripts/providers.py`` runs all cases in each way, and ``tests/long/long_counts.py`` the whole suite.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import environment
import numpy as np
import onnxruntime
import peers
import provider_cases
import provider_faults
import providers
import pytest
from cpp_builds import CHECKS, ROOT, build
from document_blocks import blocks, commands
from onnx import parser
from provider_cases import OPENVINO, QNN
from provider_sessions import model
from slow import MORE
from stand_in_sessions import DATA, GIVING, PADS, in_a_process

import padops
from padops.conformance import cases

# What docs/fixing.md says that the stock sessions say, and the cases that provoke it.
SAID = {
    "Unsupported padding mode: [wrap]": ("ort-openvino", "wrap 19"),
    "length of pads_begin mismatches with rank of input": ("ort-openvino", "constant axes"),
    "REFLECT padding mode requires that 'pads_begin[D]' and 'pads_end[D]' must be not "
    "greater than 'data_shape[D] - 1'": ("ort-openvino", "reflect beyond n - 1"),
    "Scalar value can't be derived from a node with [2]": ("ort-openvino", "edge, fill of 2"),
    "Value tensor should be a 1D tensor of size 1": ("ort-webgpu", "edge, fill of 2"),
    "number of element of uniform variable must be greater than 0": ("ort-webgpu", "constant rank 0"),
    "Unexpected mode of 3": ("ort-webgpu", "wrap of nothing"),
    "indices element out of data bounds": ("ort-webgpu", "constant axes among Convs"),
    "Failed to finalize QNN graph. Error: QNN_COMMON_ERROR_MEM_ALLOC": ("ort-qnn", "edge 13"),
    "Failed to compose Qnn graph": ("ort-qnn", "constant of nothing"),
    "Pad reflect: pre-pad (25) exceeds maximum allowed (19) for axis 2": ("ort-qnn", "reflect beyond n - 1"),
}
of_each_environment = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in providers.ENVIRONMENTS]
)
# The outcomes, and whether the provider ran the Pad, that do not contradict a verdict; of others the Pad is right.
ALLOWED = {"wrong": [("wrong", True)], "refuses": [("refused", False), ("dead", False)]}
# A quarter of the cases beside a provider, another one lowered for it; ``scripts/providers.py`` runs all in each way.
CASES, LOWERED = ([*provider_cases.ALL.values()][first::4] for first in (0, 1))


@of_each_environment
def test_beside(name: str) -> None:
    """The rules say what the stock session does, and padops beside the provider is right."""
    provider = providers.provider_of(name)
    asked = [case for case in CASES if (provider, case.name) not in providers.UNHELPED]
    stock = providers.ask(name, "stock", asked)
    for way in ("name", *(["device"] if provider == QNN else [])):
        assert providers.faults(provider, stock, providers.ask(name, way, asked)) == []
    assert sum(answer["outcome"] != "right" for answer in stock.values()) >= 2
    for case in asked:
        (pad,) = padops.inspect(provider_cases.model_of(case), providers=[provider, "CPUExecutionProvider"]).pads
        outcome, own = stock[case.name]["outcome"], providers.who(stock[case.name], provider) == provider
        if not case.given and pad.verdict != "may be wrong":  # else the verdict is what may happen
            assert (outcome, own) in ALLOWED.get(pad.verdict, [("right", pad.runner == provider)]), (case.name, pad)


@of_each_environment
def test_lowered(name: str) -> None:
    """A model lowered for the provider is right in a stock session, and all its nodes run on the provider."""
    provider = providers.provider_of(name)
    asked = [case for case in LOWERED if (provider, case.name) not in providers.UNHELPED]
    answers = providers.ask(name, "lowered", asked)
    assert providers.lowered_faults(provider, answers) == []
    assert len(answers) >= 12


@pytest.mark.needs_environment("ort-qnn")
def test_lowered_of_five_dims() -> None:
    """QNN dies of them, but not of the Reshapes between which the Pad has four."""
    shape, given = (2, 3, 2, 4, 3), "int64[2] flat = {6, 24}, int64[5] deep = {2, 3, 2, 4, 3}, int64[2] out = {6, -1}"
    lines = {}
    for mode in ("constant", "edge", "reflect", "wrap"):
        for amounts in ((0, 0, 1, 1, 1), (1, 1, 1, 1, 1), (0, 1, 0, 1, 0)):
            pads = f"int64[10] p = {{{', '.join(map(str, amounts * 2))}}}"
            model = parser.parse_model(
                '<ir_version: 10, opset_import: ["" : 21]> g (float[2, 3, 2, 4, 3] x) => '
                f"(float[m, n] y) <{given}, {pads}> "
                f'{{ a = Reshape (x, flat) b = Relu (a) c = Reshape (b, deep) d = Pad <mode = "{mode}"> (c, p) '
                "e = Reshape (d, out) y = Relu (e) }"
            )
            case = provider_cases.Case(f"{mode} {amounts}", mode, shape, amounts * 2, 21)
            expected = provider_cases.expected_of(case).reshape(6, -1).tolist()
            low = padops.lower(model, provider="qnn").proto().SerializeToString()
            lines[case.name] = provider_cases.as_line(case, low, expected)
    for name, answer in providers.ask_lines("ort-qnn", "stock", lines).items():
        assert (answer["outcome"], providers.elsewhere(answer, QNN)) == ("right", {}), (name, answer)


@of_each_environment
def test_words(name: str) -> None:
    provoked = {text: case for text, (environment, case) in SAID.items() if environment == name}
    answers = providers.ask(name, "stock", [provider_cases.ALL[case] for case in provoked.values()])
    assert [text for text, case in provoked.items() if text not in answers[case]["why"]] == []


def test_the_page_has_the_words() -> None:
    text = (ROOT / "docs" / "fixing.md").read_text(encoding="utf-8")
    first, *_ = re.findall(r"\| message \| provider .*?\n\|[-|]+\n((?:\|.*\n)+)", text)
    assert [re.match(r"\| `(.*?)` *\|", row)[1] for row in first.splitlines()] == list(SAID)


# --- the suite -------------------------------------------------------------------------------------------------------


@of_each_environment
def test_a_sample_of_the_suite(name: str) -> None:
    """No contradiction, no Pad that the provider runs right, no provider that is dropped, and the right bits."""
    provider = providers.provider_of(name)
    level, step = ("default", 1) if MORE else ("quick", 40)
    ids = [case.id for case in cases.collect(level) if case.op.startswith("Pad_")][::step]
    stock = providers.ask_suite(name, "stock", ids)
    for way in ("name", *(["device"] if provider == QNN else [])):
        beside = providers.ask_suite(name, way, ids)
        assert provider_faults.faults(provider, stock, beside) == ([], [])
        assert provider_faults.unexplained(name, beside) == provider_faults.dropped(provider, beside) == []
    outcomes = Counter(answer["outcome"] for answer in stock.values())
    assert outcomes["right"] > len(ids) / 4 and outcomes["refused"] > 2, outcomes
    assert sum(providers.who(answer, provider) == provider for answer in stock.values()) > 1


def test_what_is_a_fault() -> None:
    """A Pad that padops takes for nothing, and what contradicts inspect."""
    told = {"runner": OPENVINO, "why": f"{OPENVINO} runs it", "opset": 18, "detail": "", "dtype": "float"}
    for verdict, outcome, own, own_beside, faults in (("runs", "right", True, True, (0, 0)),
                                                      ("runs", "right", True, False, (1, 0)),
                                                      ("may be wrong", "right", True, False, (0, 0)),
                                                      ("runs", "dead", False, False, (0, 1)),
                                                      ("refuses", "dead", False, False, (0, 0))):  # fmt: skip
        told |= {"verdict": verdict, "outcome": outcome, "is_empty": False, "providers": []}
        id, places = "table/Pad_13/edge/float/2/begin/plain/none/absent.flat/fixed/0", {True: OPENVINO, False: "CPU"}
        stock, beside = ({id: told | {"ran": [["Pad", places[runs], 1]]}} for runs in (own, own_beside))
        assert tuple(map(len, provider_faults.faults(OPENVINO, stock, beside))) == faults, (verdict, outcome)


# --- docs/beside.md --------------------------------------------------------------------------------------------------

PAGE = ROOT / "docs" / "beside.md"
PROGRAM = next(one.code for one in blocks(PAGE) if "WebGpuEx" in one.code and one.language == "python")
SHOWN = next(block for block in blocks(PAGE) if "panorama.py" in block.code)


@pytest.mark.needs_environment("ort-webgpu")
def test_the_panorama(tmp_path: Path) -> None:
    folder = peers.folder_of("ort-webgpu")
    vulkan = folder / "debian" / "usr" / "lib" / "chromium"
    variables = {"PYTHONPATH": str(ROOT), "LD_LIBRARY_PATH": str(vulkan),
                 "VK_ICD_FILENAMES": str(vulkan / "vk_swiftshader_icd.json"),
                 "PADOPS_LIBRARY": padops.get_library_path()}  # fmt: skip
    file = tmp_path / "panorama.py"
    file.write_text(PROGRAM)
    command = [environment.interpreter(folder), file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr
    (shown,) = (lines for command, lines in commands(SHOWN) if command.endswith("panorama.py"))
    assert done.stdout.splitlines() == shown


# --- beside a provider of a library, a stand-in, in every way to name it; and in C++, as docs/beside.md has it -------

WAYS = ("name", "device", "registered", "twice", "set_providers", "policy", "options", "untold options")
BOTH = ["Relu {}", "Relu {}"]
KNOWN = "QNNExecutionProvider"  # onnxruntime drops it where it is only named, and the rules know it
UNKNOWN = "StandInExecutionProvider"
EDGE = np.pad(DATA, [(0, 0), (1, 2)], "edge").tolist()


def tried(name: str, way: str) -> dict:
    return json.loads(in_a_process(name, way).stdout)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_lost(way: str) -> None:
    """The provider keeps its nodes and each Pad that it runs right; padops takes each Pad that it gets wrong."""
    found, pads = tried(KNOWN, way), {"edge": EDGE, "to nothing": [[], []]}
    # It is left to the provider, which is a stand-in.
    assert "the stand-in runs no Pad" in found.pop("constant")["error"]
    for name, told in found.items():
        assert told["output"] == pads.get(name, DATA.tolist()), name
        assert told["providers"][:2] == ["PadopsFirstExecutionProvider", KNOWN]
        assert told["providers"][2:] == ["PadopsExecutionProvider", "CPUExecutionProvider"]
        if way != "set_providers":
            mine = ["Pad PadopsFirstExecutionProvider"] if name in pads else []
            assert told["ran"] == [*mine, *(row.format(KNOWN) for row in BOTH)], name
            assert (told["entry"], told["one"]) == ("kept", "1" if way in GIVING else "")


def test_rules_of_the_caller(tmp_path: Path) -> None:
    """padops stands before a provider that it does not know, and takes what the file says."""
    file, rule = tmp_path / "mine.json", {"does": "wrong", "when": "always", "modes": ["edge", "constant"]}
    content = {"names": [UNKNOWN], "version": "1.0", "sources": {"default": "read: a test"}, "rules": [rule]}
    file.write_text(json.dumps(content))
    found = tried(UNKNOWN, f"rules {file}")
    for pad in ("edge", "to nothing", "constant"):
        assert found[pad]["ran"] == ["Pad PadopsFirstExecutionProvider", *(row.format(UNKNOWN) for row in BOTH)]
        assert found[pad]["rules"] == {UNKNOWN: f"{file} (1.0), for version 0.0.0 of the plugin"}
    assert found["edge"]["output"] == EDGE


@pytest.mark.parametrize(("name", "way"), [(KNOWN, "never"), (UNKNOWN, "name"), (UNKNOWN, "options")])
def test_a_provider_that_keeps_its_place(name: str, way: str) -> None:
    """By an option, or as padops does not know it: padops stands behind it, and nothing in front."""
    found = tried(name, way)
    assert all("the stand-in runs no Pad" in found[pad]["error"] for pad in PADS if pad != "no Pad")
    assert found["no Pad"]["providers"] == [name, "PadopsExecutionProvider", "CPUExecutionProvider"]
    assert found["no Pad"]["ran"] == [row.format(name) for row in BOTH]


def test_the_program_of_the_page(tmp_path: Path) -> None:
    """It is built beside the runtime of a wheel, which comes without the links to it."""
    (shown,) = (block.code for block in blocks(PAGE) if block.language == "cpp")
    assert shown.count("\n") > 5 and shown in (CHECKS / "beside.cpp").read_text(encoding="utf-8")
    libraries = Path(onnxruntime.__file__).parent / "capi"
    for name in ("libonnxruntime.so", "libonnxruntime.so.1"):
        (tmp_path / name).symlink_to(next(libraries.glob("libonnxruntime.so.*")))
    build(tmp_path, f"-DORT_LIBRARY={tmp_path / 'libonnxruntime.so'}", source=CHECKS, target="beside")
    text = "g (float[2, 3] x) => (float[2, 12] y) <int64[4] p = {0, 4, 0, 5}> "
    text += '{ a = Relu (x) b = Pad <mode = "wrap"> (a, p) y = Relu (b) }'
    (tmp_path / "model.onnx").write_bytes(model(text, 19).SerializeToString())
    command = [tmp_path / "beside", padops.get_library_path(), tmp_path / "model.onnx"]
    found = {**os.environ, "LD_LIBRARY_PATH": str(libraries)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=found)
    assert (done.returncode, done.stderr) == (0, "")
    expected = np.pad(np.arange(1, 7).reshape(2, 3), ((0, 0), (4, 5)), "wrap")
    assert [float(value) for value in done.stdout.split()] == expected.reshape(-1).tolist()
