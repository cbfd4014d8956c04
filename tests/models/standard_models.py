"""A drawn case as a model of padops, and what becomes of it without the library: fallback, lowered, Python kernels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import native
import numpy as np
import onnx
import onnxruntime
import roads
from case_strategies import Case, cases
from hypothesis import strategies as st
from small_models import graph, model

import padops
from padops.convert import Conversion
from padops.runtime import pyop
from padops.runtime.ort_values import run_session
from padops.spec import pyop_node, reference
from padops.spec.dialects import DOMAIN, OPS, Node
from padops.spec.dtypes import by_numpy
from padops.spec.plan import PadError

PREFIX = {"onnx": "Pad_", "openvino": "OpenVINOPad_", "ngraph": "NGraphPad_", "same": "SamePad_"}
FAMILIES = {family: cases(prefix) for family, prefix in PREFIX.items()}

# Every opset at which an operator that the bodies use, or a type, changes; half of the draws take the newest that the
# runtime has.
NEWEST = max(opset for opset, since in ((21, 20), (22, 21), (23, 22), (24, 23), (25, 24)) if since <= native.RUNTIME[1])
OPSETS = [opset for opset in (11, 12, 13, 14, 18, 19, 21, 24, 25) if opset <= NEWEST]

# The first opset at which standard operators move every bit of a type; 1 for all that are not named.
MOVED_FROM = {"bfloat16": 13, "float8e4m3fn": 19, "float8e4m3fnuz": 19, "float8e5m2fnuz": 19, "uint4": 21, "int4": 21,
              "float8e8m0": 24, "uint2": 25, "int2": 25}  # fmt: skip
NEVER_MOVED = ("float8e5m2", "float4e2m1")


def opsets() -> st.SearchStrategy[int]:
    return st.one_of(st.just(NEWEST), st.sampled_from(OPSETS))


def declarations() -> st.SearchStrategy[tuple[str, str]]:
    """What a model says: of the shapes of its inputs, and which of them are constants."""
    return st.tuples(st.sampled_from(["full", "ranks", "none"]), st.sampled_from(["nothing", "amounts", "all"]))


def is_moved(type_name: str, opset: int) -> bool:
    """Whether there is a fallback, and a lowered form, for an element type."""
    return type_name not in NEVER_MOVED and MOVED_FROM.get(type_name, 1) <= opset


def make(
    drawn: Sequence[Case], opset: int = NEWEST, shapes: str = "none", held: str = "nothing"
) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """A model of a node of padops for each case, and what to run it with."""
    nodes, infos, outputs, constants, feeds = [], [], [], [], {}
    for number, case in enumerate(drawn):
        names = ["" if array is None else f"i{number}_{i}" for i, array in enumerate(case.inputs)]
        nodes.append(native.node(case.op, names, f"o{number}", case.attributes, f"n{number}"))
        for i, (name, array) in enumerate(zip(names, case.inputs, strict=True)):
            if array is None:
                continue
            if held == "all" and i or held == "amounts" and OPS[case.op].inputs[i].kind != "T":
                constants.append(native.tensor(name, array))
                continue
            feeds[name] = array
            said = {"full": array.shape, "ranks": [None] * array.ndim, "none": None}[shapes]
            infos.append((name, by_numpy(array.dtype).onnx, said))
        outputs.append((f"o{number}", by_numpy(case.inputs[0].dtype).onnx, None))
    parts = graph(nodes, infos, outputs, constants)
    return model(parts, opset, imports=[(DOMAIN, 1)], ir_version=9 if opset <= 21 else 11), feeds


def expected_of(case: Case) -> tuple | PadError:
    """The bits that the reference gives, or its error."""
    try:
        return native.bits(reference.run(case.op, case.attributes, case.inputs, "n0"))
    except PadError as error:
        return error


@cache
def options(backend: str = "") -> onnxruntime.SessionOptions:
    """A session without any library, with the ``native`` one, or with the Python kernels (``pyop``)."""
    made = roads.options("all")
    if backend:
        padops.register(made, backend=backend)
    return made


def run_all(made: onnx.ModelProto, feeds: dict[str, np.ndarray], backend: str = "") -> list[tuple]:
    """The bits of every output; what is fed may be a constant by now."""
    given = {value.name: feeds[value.name] for value in made.graph.input}
    return [native.bits(array) for array in run_session(native.session(made, options(backend)), given)]


def run(made: onnx.ModelProto, feeds: dict[str, np.ndarray], backend: str = "") -> tuple | Exception:
    """The bits of the first output, or what kept a session from giving it."""
    try:
        return run_all(made, feeds, backend)[0]
    except Exception as error:
        return error


def nothing_of_padops(model: onnx.ModelProto) -> bool:
    """Whether a model has no operator, function or import of padops left."""
    text = str(onnx.ModelProto(graph=onnx.GraphProto(node=model.graph.node), functions=model.functions))
    functions = [function for function in model.functions if function.domain == DOMAIN]
    imported = any(row.domain.startswith("padops") for row in model.opset_import)
    return not functions and 'domain: "padops' not in text and not imported


def _unseen(case: Case, error: PadError, lowered: bool) -> bool:
    """Errors that standard operators do not see; docs/lowering.md lists them."""
    data, axes = case.inputs[0], case.inputs[3] if case.op.startswith("Pad_") and len(case.inputs) > 3 else None
    if data.ndim == 0:
        return error.rule in ("P7", "P8")  # P5: it passes through, whatever amounts and fill are
    if error.rule == "P8" and axes is not None:
        normal = [int(axis) % data.ndim for axis in axes]
        return len(set(normal)) < len(normal)  # of an axis that is named twice, the last amounts are taken
    return error.rule == "P7" and lowered and not _shows_fill(case)


def _shows_fill(case: Case) -> bool:
    """Whether an element of the output is fill."""
    position = padops.OPS[case.op].input_index(padops.OPS[case.op].fill)
    outputs = []
    for text in ("a", "b"):
        blank = np.full(case.inputs[0].shape, "", object)
        inputs = [blank, *case.inputs[1:position], np.array(text, object), *case.inputs[position + 1 :]]
        outputs.append(expected_of(replace(case, inputs=inputs)))
    return outputs[0] != outputs[1]


def _crops_wholly(case: Case) -> bool:
    """Whether a Pad of mode constant takes all of an axis that has elements away."""
    if case.attributes.get(padops.OPS[case.op].mode, "constant").lower() != "constant":
        return False
    node = Node(padops.OPS[case.op], "", case.attributes, case.inputs)
    shape = case.inputs[0].shape
    try:
        amounts = node.op.amounts(node, shape)
    except PadError:
        return False
    left = [size + min(one.begin, 0) + min(one.end, 0) for size, one in zip(shape, amounts)]
    return any(now <= 0 and now < before for now, before in zip(left, shape))


def check(case: Case, opset: int, declared: tuple[str, str], seen: Counter[str]) -> None:
    """One case: the library, the fallback, the lowered models and the Python kernel against the reference."""
    expected = expected_of(case)
    source, feeds = make([case], opset, *declared)
    converted = padops.convert(source, fold=False)
    type_name = by_numpy(case.inputs[0].dtype).name
    moved = is_moved(type_name, opset)
    wrong = isinstance(expected, PadError)

    by_library = run(converted.proto(), feeds, "native")
    assert (native.error_text(by_library) if wrong else by_library) == (str(expected) if wrong else expected)

    broken = converted.records[0].status == "unconverted"  # the model alone shows it
    missing = next(iter(converted.no_fallback.values()), None)
    said = missing and re.sub(r"^this file needs padops for \w+: |; --target onnx .*$", "", missing)
    assert broken or len(converted.proto().functions) == (missing is None)
    _compare("fallback", converted.records[0].reason if broken else said, converted, feeds, case, opset, seen)

    for by, asked in (("lowered", {}), ("without Pad", {"without_pad": True})):
        made = padops.convert(source, target="onnx", fold=False, **asked)
        left = made.records[0].status == "unconverted"
        assert left and made.proto().graph == source.graph or nothing_of_padops(made.proto())
        assert left or not asked or 'op_type: "Pad"' not in str(made.proto().graph)
        _compare(by, made.records[0].reason if left else None, made, feeds, case, opset, seen)

    texts = [text for array in case.inputs if array is not None and array.dtype == object for text in array.flat]
    has_nul = any("\0" in text for text in texts)  # there onnxruntime-extensions cuts a string off
    if type_name in pyop_node.TYPES and not has_nul and not broken:
        in_python = padops.convert(converted.proto(), target="pyop", fold=False).proto()
        assert not in_python.functions
        with pyop.collected() as failed:
            output = run_all(in_python, feeds, "pyop")[0]
        assert (failed[0].message if failed else output) == (str(expected) if wrong else expected)
        seen["python"] += 1
    if not wrong:
        mode = case.attributes.get(padops.OPS[case.op].mode, "constant").lower()
        seen.update(("right", case.op, mode, f"rank {case.inputs[0].ndim}", *([type_name] if moved else [])))


def _compare(by: str, refused: str | None, made: Conversion, feeds: dict[str, np.ndarray], case: Case, opset: int,
             seen: Counter[str]) -> None:  # fmt: skip
    """What one form of the model does: the bits of the reference, or nothing where that raises."""
    expected = expected_of(case)
    moved = is_moved(by_numpy(case.inputs[0].dtype).name, opset)
    if refused is not None:
        # Exactly what has no such form: the types that are listed, and what breaks a rule before it runs.
        if moved or not refused.startswith("no standard operator of opset "):
            # Of several broken rules, attributes come first; what they say of the rank counts where nothing else does.
            of_attributes = re.search(r"interior.*\[P6\]$|has \d+ values?, expected .*\[(P8|S1)\]$", refused)
            assert isinstance(expected, PadError) and (
                refused == str(expected) or of_attributes or expected.rule == "P7"
            )
        seen[f"{by} refuses"] += 1
        return
    assert moved
    if by == "lowered" and _crops_wholly(case) and native.RUNTIME < (1, 24):
        seen["lowered is not run: the built-in is wrong there, or crashes"] += 1
        return
    got = run(made.proto(), feeds)
    if native.RUNTIME < (1, 24) and case.inputs[0].ndim == 0 and "CanRemoveNodeAndMergeEdges" in str(got):
        seen["the optimizer of an old runtime refuses rank 0"] += 1
        return
    if not isinstance(expected, PadError):
        if by != "fallback" and opset < 14 and isinstance(got, Exception):
            # No operator makes an empty tensor out of an empty one before opset 14: see axes.py.
            assert 0 in expected[1] and "out of data bounds" in str(got)
            seen["lowered has no empty shapes"] += 1
            return
        assert got == expected, (by, got, expected)
        seen[f"{by} is right"] += 1
    elif isinstance(got, Exception):
        seen.update((f"{by} fails", expected.rule))
    else:
        assert _unseen(case, expected, by != "fallback"), (by, str(expected))
        seen[f"{by} does not see {expected.rule}"] += 1
