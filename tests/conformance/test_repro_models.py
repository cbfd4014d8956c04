"""The model of a script for a bug report, and what it is fed with."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest

from padops.conformance import cases, runner
from padops.conformance.arrays import pack, random_array
from padops.conformance.divergences import KNOWN
from padops.conformance.peers import PEERS
from padops.conformance.peers.ort import from_onnxruntime, to_onnxruntime
from padops.conformance.peers.parts import value_of
from padops.conformance.peers.request import Request
from padops.conformance.repro import script
from padops.runtime.ort_values import from_ort_value, to_ort_value
from padops.spec.dtypes import by_name

# Scripts of execution providers run in tests/conformance/test_wrong_answers.py.
IMPORTERS = ["ort-builtin", "onnx-reference", "openvino-onnx", "tract", "tinygrad", "tvm", "opencv"]
SAMPLE = [case for case in cases.collect("quick") if case.op.startswith("Pad_")][::37]


@pytest.mark.parametrize("peer", IMPORTERS)
def test_a_script_runs_what_the_suite_runs(peer: str) -> None:
    """The same inputs are constants, the same shapes are declared, and the rest is fed."""
    chosen = [case for case in SAMPLE if PEERS[peer].takes(runner.Prepared.of(case).features)]
    types = value_of(PEERS[peer].file, "TYPES")
    chosen = [case for case in chosen if not types or case.dtype in types]
    assert len(chosen) > 10
    forms = set()
    for case in chosen:
        request = Request.of(PEERS[peer].prepared(case.request()))
        made = value_of(PEERS[peer].file, "arguments")(request)[0]
        text = script(case, peer)
        lines = text[text.index("model = one_node_model(") :]
        names = [row.name for row in request.row.inputs]
        shown = model_of(text)
        assert node_of(shown, names) == node_of(made, [f"input_{i}" for i in range(len(names))]), case.id
        fed = [info.name for info in shown.graph.input]
        run = lines[lines.index("def run():") : lines.index("REFUSALS = ")]
        assert all(re.search(rf"\b{name}\b", run) for name in fed), case.id
        assert not any(re.search(rf"\b{constant.name}\b", run) for constant in shown.graph.initializer), case.id
        forms.add((len(fed) > 1, bool(shown.graph.initializer)))
    fixed = PEERS[peer].form == "fixed"
    assert ((True, False) in forms) is not fixed, forms  # amounts as inputs, where the peer takes such


def model_of(text: str) -> onnx.ModelProto:
    """What a script makes, without the library that it shows."""
    tree = ast.parse(text)
    defined = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "one_node_model"]
    assigned = [
        node
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) not in ("REFUSALS", "core")
    ]
    values = [node for node in assigned if ast.unparse(node.targets[0]) != "same"]
    namespace = {"np": np, "ml_dtypes": ml_dtypes, "numpy_helper": onnx.numpy_helper}
    future = ast.parse("from __future__ import annotations").body
    exec(compile(ast.Module([*future, *defined, *values], []), "shown.py", "exec"), namespace)
    return namespace["model"]


def node_of(model: onnx.ModelProto, names: list[str]) -> tuple:
    """All that a peer sees of it: the inputs by their position, what is constant, and the shapes that are declared."""
    place = {name: i for i, name in enumerate(names)}
    inputs = {place[info.name]: str(info.type) for info in model.graph.input}
    constants = {place[one.name]: pack(onnx.numpy_helper.to_array(one)) for one in model.graph.initializer}
    (node,) = model.graph.node
    return (
        inputs, constants, [place.get(name) for name in node.input], sorted(map(str, node.attribute)), node.op_type,
        [(row.domain, row.version) for row in model.opset_import], model.ir_version, str(model.graph.output[0].type),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["bfloat16", "float8e4m3fn", "int4", "uint2", "float4e2m1", "float8e8m0"])
@pytest.mark.parametrize("shape", [(3, 5), (7,), (0, 2), ()])
def test_tensors_that_numpy_lacks_are_fed_bit_by_bit(name: str, shape: tuple[int, ...]) -> None:
    """As the suite feeds them; a case of such a type had its data as constants in a script."""
    row = by_name(name)
    array = random_array(np.random.default_rng(7), row, shape)
    value, same = to_onnxruntime(array, row.onnx, row.bits), to_ort_value(array)
    assert pack(from_ort_value(value)) == pack(array) == pack(from_onnxruntime(same, array.dtype, row.bits))
    assert (value.data_type(), value.shape()) == (same.data_type(), same.shape())


def test_a_script_of_bfloat16_feeds_its_data(tmp_path: Path) -> None:
    name = "table/Pad_13/constant/bfloat16/2/both/plain/none/absent.flat/dynamic/0"
    text = script(cases.find_case(name), "ort-builtin")
    assert "constants=[]," in text and '{"data": (16, 16), "pads": (7, 64)}' in text
    (tmp_path / "shown.py").write_text(text)
    ran = subprocess.run([sys.executable, "shown.py"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    suite = runner.run_cases([cases.find_case(name)], [runner.parse_peer("ort-builtin")], KNOWN)[0].results[0][
        "outcome"
    ]
    assert "Traceback" not in ran.stderr and (ran.returncode == 0) is (suite == "agree"), ran.stdout + ran.stderr
