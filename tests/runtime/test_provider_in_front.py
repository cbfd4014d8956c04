"""PadopsFirstExecutionProvider alone: what it takes before which providers, as a kernel and compiled, by the bits."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from provider_sessions import CPU, EP_NAME, model, pad, providers_of_pads, recording_options

import padops
from padops.convert.analysis import Analysis
from padops.convert.model.document import read_document
from padops.convert.runtimes import find_fault
from padops.runtime.ort_values import run_session
from padops.runtime.placing import register_provider_library
from padops.runtime.provider import FIRST_NAME, runtime_minor
from padops.runtime.provider_rules import KNOWN_PROVIDERS
from padops.spec import reference
from padops.spec.dtypes import by_name

OPENVINO, WEBGPU, QNN = "OpenVINOExecutionProvider", "WebGpuExecutionProvider", "QNNExecutionProvider"
MODES = ("constant", "edge", "reflect", "wrap")
of_each_provider = pytest.mark.parametrize("row", KNOWN_PROVIDERS, ids=lambda row: row.name)


def session(content: onnx.ModelProto, *providers: tuple[str, dict[str, str]], **set_up: Any) -> Any:
    """A session with these providers, a name and options each, and with the CPU's."""
    options, devices = recording_options(), register_provider_library()
    for name, value in set_up.items():
        setattr(options, name, value)
    for name, given in (*providers, (CPU, {})):
        options.add_provider_for_devices([devices[name]], given)
    return onnxruntime.InferenceSession(content.SerializeToString(), options, enable_fallback=0)


def before(provider: str) -> tuple[str, dict[str, str]]:
    """The provider, as though another one stood between it and the CPU's."""
    return FIRST_NAME, {"before": provider}


def judged(content: onnx.ModelProto, provider: str, has_kernel: bool = True) -> tuple[Any, bool]:
    """What inspect says of the one Pad before a provider, and whether padops takes it there: the two agree."""
    (told,) = padops.inspect(content, providers=[provider, CPU]).pads
    if told.verdict == "breaks a rule":
        return told, False
    try:
        took = FIRST_NAME in providers_of_pads(session(content, before(provider)))
    except Exception as error:  # without padops' own behind, the CPU's may have no kernel
        assert "NOT_IMPLEMENTED" in str(error) and not has_kernel
        took = False
    assert took is (told.runner == FIRST_NAME), (told.verdict, told.why, onnx.printer.to_text(content))
    return told, took


OPEN: list[int] = []  # two axes, given at run time
# mode, data, amounts (None: given at run time), fill, axes
Row = tuple[str, str, list[int] | None, str, list[int] | None]
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
    held, given, kind = [], [f"{data} x"], data.partition("[")[0]
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
    return f'g ({", ".join(given)}) => ({kind}[] y) <{", ".join(held)}> {{ [p] y = Pad <mode = "{mode}"> ({names}) }}'


AS_ATTRIBUTE = "g (float[4] x) => (float[a] y) { [p] y = Pad <pads = [1, 2], value = -0.0> (x) }"
GIVEN_AXES = "g (float[4, 2] x, int64[{0}] a) => (float[] y) <int64[{1}] p = {{{2}}}> "
GIVEN_AXES += '{{ [p] y = Pad <mode = "edge"> (x, p, , a) }}'
ONE = ("constant", "float[4]", [1, 2], "float[1] f = {7}", None)
ALL, NONE = (OPENVINO, WEBGPU, QNN), ()
ODD: list[tuple[tuple[str, ...], Row | str]] = [  # before which providers padops takes the Pad, and the Pad
    (NONE, ONE),
    (ALL, ("edge", "float[4]", [1, 2], "float[2] f = {7, 8}", None)),
    (ALL, ("edge", "float[4]", [1, 2], "float[0] f = {}", None)),
    ((OPENVINO, WEBGPU), ("edge", "float[4]", [1, 2], "float[2] f", None)),
    (NONE, ("constant", "float[4]", [1, 2], "float f", None)),
    ((OPENVINO,), ("constant", "float[4]", [1, 2], "float[1] f", None)),
    (NONE, ("reflect", "float[4]", [1, 2], "float[1] f", None)),
    ((OPENVINO, WEBGPU), text_of("edge", "float[4]", [1, 2], "float f0", None)
     .replace("f0", "f0, int64[n] s").replace("{ [p]", "{ f = Reshape (f0, s) [p]")),
    ((OPENVINO,), ("constant", "float[4]", [1, 2], "float f = {-0.0}", None)),
    ((QNN,), ("edge", "float[4]", [1, 2], "float f = {-0.0}", None)),
    ((OPENVINO,), AS_ATTRIBUTE),
    (NONE, ("constant", "int32[4]", [1, 2], "int32 f = {16777216}", None)),  # it has 25 bits, but only one is set
    ((OPENVINO,), ("constant", "int32[4]", [1, 2], "int32 f = {16777217}", None)),
    (NONE, ("constant", "int64[4]", [1, 2], "int64 f = {-2147483648}", None)),
    ((OPENVINO,), ("constant", "int64[4]", [1, 2], "int64 f = {4294967296}", None)),
    ((WEBGPU, QNN), ("reflect", "float", [], "", None)),
    ((WEBGPU,), "g (float x, int64[0] p) => (float y) { [p] y = Pad (x, p) }"),
    ((QNN,), ("constant", "float[1, 1, 1, 2, 2]", [0, 0, 0, 1, 1] * 2, "", None)),  # it leaves those of six dims
    (NONE, ("constant", "float[1, 1, 1, 1, 2, 2]", [0, 0, 0, 0, 1, 1] * 2, "", None)),
    (NONE, ("edge", "float[1, 1, 1, 1, 2, 2]", [0, 0, 0, 0, 1, 1] * 2, "", None)),
    ((QNN,), ("constant", "float[2, 0]", [0, 1, 0, 1], "", None)),
    (NONE, ("constant", "float[n, 4]", [0, 1, 0, 1], "", None)),
    (NONE, ("constant", "float[]", None, "", None)),
    (NONE, ("edge", "float[4, 2]", [1, 0, 0, 1], "", [0, -1])),
    ((OPENVINO,), ("edge", "float[4, 2]", [1, 0, 0, 1], "", [1, 0])),
    ((OPENVINO,), ("constant", "float[4, 2]", [1, 0, 0, 1], "float[1] f = {7}", [0, 1])),
    ((OPENVINO,), ("edge", "float[4, 2]", [1, 0, 0, 0], "", [1])),
    ((OPENVINO,), GIVEN_AXES.format(1, 2, "1, 0")),
    ((OPENVINO,), GIVEN_AXES.format("n", 4, "1, 0, 0, 1")),
    # QNN refuses a constant Pad that shows nothing of an axis of its data, but in front of a Relu.
    ((QNN,), ("constant", "float[4]", [-4, 3], "", None)),
    ((OPENVINO, QNN), ("constant", "float[4]", [9, -7], "", None)),
    ((QNN,), ("constant", "float[4, 3]", [0, -3, 0, 1], "", None)),
    (NONE, ("constant", "float[4]", [-3, 3], "", None)),
    (NONE, ("constant", "float[4]", [9, -3], "", None)),
    (NONE, ("constant", "float[4]", [4, 0], "", None)),
]  # fmt: skip


@pytest.mark.parametrize("provider", ALL)
@pytest.mark.parametrize(("takers", "row"), ODD, ids=str)
def test_fills_ranks_sizes_and_crops(takers: tuple[str, ...], row: Row | str, provider: str) -> None:
    """The library's rules, Python's rules and the measurements (docs/beside.md) agree on odd Pads."""
    content = model(row if isinstance(row, str) else text_of(*row), 10 if row == AS_ATTRIBUTE else 18)
    told, took = judged(content, provider)
    assert took is (provider in takers), told.why
    if row[3:] == ("", None) and row[0] == "constant" and provider == QNN and "float[4" in row[1]:
        assert told.verdict == ("may be wrong" if took else "runs"), told.why
        assert ("a crop of all that there is, in front of some nodes" in told.why) is took


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_values_that_are_no_numbers(value: float) -> None:
    """padops runs a Pad whose attribute is NaN or infinity; as an input of the Pad, such a fill is right."""
    for kind, number, provider, taken in (("float", value, OPENVINO, True),
                                          ("float", value, WEBGPU, False),
                                          ("float16", 65505, OPENVINO, True),
                                          ("float16", 65504, OPENVINO, False)):  # fmt: skip
        content = model(AS_ATTRIBUTE.replace("float", kind), 10)
        content.graph.node[0].attribute[1].f = number
        told, took = judged(content, provider, has_kernel=kind == "float")
        assert took is taken and (told.verdict == "refuses") is taken, (kind, number, told.why)
    content = model(text_of(*ONE))
    content.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.array([value], np.float32), "f"))
    assert providers_of_pads(session(content, before(OPENVINO))) == [CPU]


def test_a_row_of_amounts_is_refused_before_any_provider_is_asked() -> None:
    """onnxruntime refuses constant pads of two dims and constant axes of int32 at load, whatever provider is named."""
    for held, inputs in (("int64[1, 2] p = {1, 2}", "x, p"), ("int64[2] p = {1, 2}, int32[1] a = {0}", "x, p, , a")):
        content = model(f"g (float[4] x) => (float[a] y) <{held}> {{ [p] y = Pad ({inputs}) }}")
        for provider in ALL:
            (told,) = padops.inspect(content, providers=[provider, CPU]).pads
            assert (told.verdict, told.runner) == ("refuses", "") and provider not in told.why
        with pytest.raises(Exception, match="ShapeInferenceError"):
            session(content, before(OPENVINO))


# --- compiled Pads ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "inputs", "initializers", "given"), [
    ("wrap", "x, p", "int64[2] p = {1, 5}", {}),
    ("wrap", "x, p, f", "int64[2] p = {1, 5}, float[1] f = {7}", {}),
    ("constant", "x, p, f, a", "int64[2] p = {1, 5}, int64[1] a = {-1}", {"f": np.array([9], np.float32)}),
    ("constant", "x, p, , a", "int64[1] a = {0}", {"p": np.array([2, 3])}),
    ("edge", "x, q, , b", "", {"q": np.array([2, 3]), "b": np.array([0])}),
    ("wrap", "x, p, , a", "int64[2] p = {1, 5}, int64[1] a = {0}", {}),
])  # fmt: skip
def test_a_compiled_pad(mode: str, inputs: str, initializers: str, given: dict[str, np.ndarray]) -> None:
    """Its inputs are those that the runtime hands over, in whatever order; absent ones stay absent."""
    kinds = (f"{'float' if name == 'f' else 'int64'}[{array.size}] {name}" for name, array in given.items())
    held = f"<{initializers}>" if initializers else ""
    text = f'{{ x = Relu (r) [pad] s = Pad <mode = "{mode}"> ({inputs}) y = Relu (s) }}'
    content = model(f"g ({', '.join(['float[4] r', *kinds])}) => (float[n] y) {held} {text}", 19)
    built = session(content, before(OPENVINO))
    assert providers_of_pads(built) == [FIRST_NAME]
    data = np.array([3, 1, 4, 2], np.float32)
    arrays = {"x": data} | given | {row.name: onnx.numpy_helper.to_array(row) for row in content.graph.initializer}
    expected = reference.run("Pad_19", {"mode": mode}, [arrays.get(name) for name in inputs.split(", ")])
    for _ in range(2):
        assert built.run(None, {"r": data, **given})[0].tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["int16", "int4", "bool", "float16", "int64"])
def test_compiled_pads_of_other_types(kind: str) -> None:
    built = session(pad([5, 6], "wrap", 21, f"{kind}[3]"), before(OPENVINO))
    assert providers_of_pads(built) == [FIRST_NAME]
    data = np.array([1, 0, 1]).astype(by_name(kind).numpy)
    output = run_session(built, {"x": data})[0]
    assert output.tolist() == reference.run("Pad_21", {"mode": "wrap"}, [data, np.array([5, 6])]).tolist()


@pytest.mark.skipif(onnxruntime.__version__ == "1.24.1", reason="it gives compiled nodes of two graphs one name")
def test_compiled_pads_of_two_branches() -> None:
    branches = (f'() => (float[m] {y}) {{ {y} = Pad <mode = "wrap"> (x, {p}) }}' for y, p in (("a", "p"), ("b", "q")))
    text = "g (bool c, float[n] x) => (float[k] y) <int64[2] p = {1, 5}, int64[2] q = {4, 0}> "
    text += "{{ y = If (c) <then_branch = t {}, else_branch = e {}> }}".format(*branches)
    built = session(model(text, 19), before(OPENVINO))
    data = np.arange(3, dtype=np.float32)
    for holds, amounts in ((True, (1, 5)), (False, (4, 0))):
        assert built.run(None, {"c": np.array(holds), "x": data})[0].tolist() == np.pad(data, amounts, "wrap").tolist()


def test_compiled_pads_of_the_first_opsets() -> None:
    """Amounts and the value are attributes."""
    text = "g (float[4] x) => (float[n] y) { [p] y = Pad <pads = [-5, 3], value = 7.5> (x) }"
    for content, value in ((pad([-5, 3], "constant", 10, "float[4]"), 0), (model(text, 10), 7.5)):
        built = session(content, before(OPENVINO))
        assert built.run(None, {"x": np.arange(4, dtype=np.float32)})[0].tolist() == [value, value]


def test_errors_of_compiled_pads() -> None:
    """Errors at creation and at run time name the node and the rule."""
    text = 'g (float[4] x, int64[2] p) => (float[n] y) { [decoder] y = Pad <mode = "wrap"> (x, p) }'
    built, x = session(model(text, 19), before(OPENVINO)), np.zeros(4, np.float32)
    with pytest.raises(Exception, match=r"padops::Pad_19 'decoder': .* \[P1\]"):
        built.run(None, {"x": x, "p": np.array([-9, 0])})
    text = "g (float[4] x) => (float[n] y) <int64[2] p = {-5, 3}, float[2] f = {1, 2}> { [p] y = Pad (x, p, f) }"
    with pytest.raises(Exception, match=r"padops::Pad_19 'p': .* has 2 elements.* \[P7\]"):
        session(model(text, 19), before(OPENVINO)).run(None, {"x": x})
    # A fill without elements, before QNN dies of it.
    text = "g (int32[4] x) => (int32[a] y) <int64[2] p = {1, 1}, int32[0] f = {}> { [p] y = Pad (x, p, f) }"
    with pytest.raises(Exception, match=r"padops::Pad_18 'p': constant_value has 0 elements, expected one \[P7\]"):
        session(model(text), before(QNN))


@pytest.mark.parametrize(("row", "ends"), [
    (("edge", "float[4]", [1, 1], "float[0] f = {}", None), True),
    (("reflect", "float", [], "", None), True),
    (("edge", "float[4]", [1, 1], "float[2] f = {7, 8}", None), False),
])  # fmt: skip
def test_what_a_provider_dies_of_is_compiled(row: Row, ends: bool, tmp_path: Path) -> None:
    """A Pad that kills the provider is compiled before it looks; a Pad that it only refuses stays a Pad."""
    profile, pads = str(tmp_path / "profile"), row[2]
    built = session(model(text_of(*row)), before(QNN), enable_profiling=True, profile_file_prefix=profile)
    assert providers_of_pads(built) == [FIRST_NAME]
    x = np.arange(4, dtype=np.float32) if pads else np.array(3, np.float32)
    expected = np.pad(x, [(1, 1)], mode="edge") if pads else x
    assert built.run(None, {"x": x})[0].tolist() == expected.tolist()
    told = [row.get("args", {}) for row in json.loads(Path(built.end_profiling()).read_text())]
    ran = {row["op_name"] for row in told if "op_name" in row}
    assert ran and ("Pad" not in ran) is ends, ran


def test_a_report(tmp_path: Path) -> None:
    """The reporting provider takes no node, and writes down what only a provider learns."""
    file, content, options = tmp_path / "report", pad([1, 1], "wrap", 19, "float[4]"), recording_options()
    options.add_session_config_entry("one.two", "three")
    devices = register_provider_library()
    options.add_provider_for_devices([devices[FIRST_NAME]], {"before": OPENVINO, "report": str(file)})
    options.add_provider_for_devices([devices[CPU]], {})
    built = onnxruntime.InferenceSession(content.SerializeToString(), options, enable_fallback=0)
    assert providers_of_pads(built) == [CPU]
    parts = file.read_bytes().decode().split("\0")
    assert parts[-3:] == ["pad", "p", ""] and ["entry", "one.two", "three"] == parts[parts.index("one.two") - 1 :][:3]
    for unwritable in (str(tmp_path), *["/dev/full"] * (sys.platform == "linux")):  # this fails only when flushed
        with pytest.raises(Exception, match=f"option report: cannot write {unwritable}"):
            session(content, (FIRST_NAME, {"report": unwritable}))


def test_sessions_of_both_that_many_threads_create() -> None:
    """Each with providers, kernels and compiled Pads of its own; the sanitizers see them, too."""
    content, data = pad([1, 5], "wrap", 19, "float[4]"), np.arange(4, dtype=np.float32)

    def create(other: str) -> None:
        for _ in range(5):
            built = session(content, before(other), (EP_NAME, {}))
            assert providers_of_pads(built) == [FIRST_NAME if other else EP_NAME]
            assert built.run(None, {"x": data})[0].tolist() == np.pad(data, (1, 5), "wrap").tolist()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(create, [OPENVINO, WEBGPU, ""] * 2))


# --- Pads which the library and Python judge alike -------------------------------------------------------------------


@of_each_provider
def test_it_takes_what_inspect_says(row) -> None:
    """The library's rules and Python's, each on their own reading of a model: they name the same Pads.

    Among these are unknown dims, no elements, odd fills, deep crops, and axes in any order.
    """
    number = KNOWN_PROVIDERS.index(row)  # each provider has other ones of them
    amounts, kinds = ([1, 1], [4, 0], [-1, 1], [-1, 3], [-5, 0]), ("float[4]", "float[n]", "int32[4]")
    for opset, mode, pads, data in [*product((10, 18, 25), MODES, amounts, kinds)][number % 4 :: 4]:
        if (mode != "wrap" or opset >= 19) and (data != "int32[4]" or opset >= 11):
            judged(pad(pads, mode, opset, data), row.name, has_kernel=False)
    rare = [*RARE[number % 4 :: 4], *AXES[number % 30 :: 30]]
    taken = sum(judged(model(text_of(*one), 19), row.name)[1] for one in rare)
    assert (taken > 0) is any(rule.does != "leaves" for rule in row.rules)


BRANCHES = """g (bool c, float[4] x) => (float[a] y) <int64[2] p = {1, 1}, bool t = {1}> { r = Relu (x)
    b = If (COND) <then_branch = k () => (float[d] u) { [p] u = Pad <mode = "MODE"> (r, p) },
        else_branch = e () => (float[h] v) { v = Identity (r) }> y = Relu (b) }"""


@pytest.mark.parametrize("mode", MODES)
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
    *(("float[5]", pads, "") for pads in ([LEAST, MOST], [-MOST, MOST], [-5, 0])),
    *((f"float[{MOST}]", pads, "") for pads in ([-MOST, 0], [-MOST, MOST])),
    *(("float[4]", [1, 2], f"float[{dims}] f")
      for dims in ("7, 7905747460161236407", "4294967296, 4294967296", f"{MOST}, 0, {MOST}")),
]  # fmt: skip


@of_each_provider
def test_extreme_dims_and_amounts(row) -> None:
    """The library's sums and products do not overflow, as Python's cannot: both find the same fault."""
    for mode, (data, pads, fill) in product(MODES, EXTREME):
        content = model(text_of(mode, data, pads, fill, None), 19)
        (found,) = Analysis(read_document(content)).pads
        fault = find_fault(row, found.info, found.match.runs_as, runtime_minor())
        took = FIRST_NAME in providers_of_pads(session(content, before(row.name)))
        assert took is (fault is not None and fault[0].does != "leaves"), (mode, data, pads, fill, fault)


@pytest.mark.parametrize("name", [WEBGPU, QNN])
@pytest.mark.parametrize("opset", [18, 24])
def test_axes_among_convolutions(name: str, opset: int) -> None:
    """padops takes a Pad with axes among convolutions, as onnxruntime changes its layout wrongly; other Pads stay."""
    for beside, inputs, taken in (("Conv <group = 2> (p, w)", "r, q, , a", True),
                                  ("MaxPool <kernel_shape = [1, 1]> (p)", "r, q, , a", True),
                                  ("Relu (p)", "r, q, , a", False),
                                  ("Conv <group = 2> (p, w)", "r, full", False)):  # fmt: skip
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
        assert session(content, before(name)).run(None, {"x": data})[0].tolist() == expected.tolist()
