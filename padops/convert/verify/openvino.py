"""Compares an IR with the converted model. OpenVINO can crash, so the IR runs in a process of its own, on the CPU.

Runtimes round differently, but a Pad never rounds. So each Pad of the converted model runs alone on OpenVINO's data
and must return OpenVINO's bits. Outputs may differ by the caller's tolerance, or by one measured on both runtimes.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from padops.convert.errors import PadopsError
from padops.convert.inputs.given import Feeds
from padops.convert.inputs.pads import form_of, is_pad, labelled
from padops.convert.ir.reader import ELEMENT_TYPES
from padops.convert.records import PadComparison, Verification
from padops.convert.verify.bits import describe_difference
from padops.convert.verify.compare import check_outputs, close, far_outputs, noted
from padops.convert.verify.interface import RunInputs
from padops.convert.verify.rounding import Moves
from padops.convert.verify.sessions import DoesNotRun, Model, OtherProcess, fed, run_trials
from padops.deferred import import_openvino
from padops.processes import serve
from padops.spec.dtypes import by_numpy, by_onnx, dtype_of

SECONDS = 600.0  # for one run of the model, its compilation included
SAID = "each Pad returns the same bits as in OpenVINO, for the data that it has there"
MOVED = "no element differs by more than floats move in OpenVINO and in ONNX Runtime"
HERE = "for the data that it has in OpenVINO"
ENOUGH = 2  # sets of inputs on which each Pad is compared


def openvino_process(path: Path, outputs: Sequence[str]) -> OtherProcess:
    """Starts OpenVINO with an IR; ``outputs`` lists the converted model's output names in the IR's order."""
    if importlib.util.find_spec("openvino") is None:
        raise PadopsError("an IR is verified against OpenVINO, which is not installed: pip install 'padops[openvino]'")
    return OtherProcess("OpenVINO", SECONDS, ["-m", __name__, str(path), *outputs])


def compare_with_openvino(source: Path, case: RunInputs, converted: Model) -> Verification:
    with closing(openvino_process(source, [output.name for output in converted.message.graph.output])) as peer:
        try:  # inputs that the converted model accepts: OpenVINO returns results even for broken rules
            session = converted.session(optimised=True)
            taken = run_trials(session, case.turns())
        except DoesNotRun as error:
            return Verification("fails", notes=(f"ONNX Runtime says: {error}",))
        try:
            trials = run_trials(peer, [[trial.feeds] for trial in taken])
        except DoesNotRun as error:
            note = f"OpenVINO does not run the original: {error}"
            return Verification("runs", inputs=fed(trial.feeds for trial in taken), notes=(note,))
        trials = [trial.then(session) for trial in trials]
        found = check_outputs(trials)
        verification = replace(found, notes=("the original ran in OpenVINO", *found.notes))
        verification = _compare_pads(verification, converted, peer, [one.feeds for one in trials[:ENOUGH]])
        if verification.outcome != "different" or any(pad.right is False for pad in verification.pads):
            return verification
        tolerance, moves = case.asked.tolerance, None
        if tolerance is None:
            plain = converted.session(optimised=False)
            own = [replace(trial, outputs=trial.after) for trial in trials]
            moves = Moves(converted.path, converted.message, own, [plain.run(trial.feeds) for trial in trials])
            moves.add(trials, peer.run)
        return verification if far_outputs(trials, moves, tolerance) else close(verification, tolerance, MOVED)


def _answering(path: str, *names: str) -> Callable[[Any], Any]:
    """Returns a function that runs an IR on inputs, or, for inputs in a list, only the part up to the IR's Pads."""
    outputs, pads = cache(_outputs), cache(_pads)

    def answer(question: Any) -> Any:
        if isinstance(question, list):
            return pads(path)(*question)
        return dict(zip(names, outputs(path)(question), strict=True))

    return answer


def _outputs(model: Any) -> Callable[[Feeds], list[Any]]:
    """Returns a function that runs a model, in memory or in a file, and returns the model's outputs in order."""
    # Keep float32: OpenVINO would use bfloat16 on some processors.
    compiled = import_openvino().Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    # The converted model names an input after the tensor's first name, else after the layer.
    names = [_name(port) for port in compiled.inputs]

    def run(feeds: Feeds) -> list[Any]:
        request = compiled.create_infer_request()
        request.infer({i: _tensor(feeds[name]) for i, name in enumerate(names)})
        return [_array(request.get_output_tensor(i)) for i in range(len(compiled.outputs))]

    return run


def _pads(path: str) -> Callable[[Feeds], list[Any]]:
    """Returns a function that runs an IR up to its Pads. The function returns each Pad's name, inputs and output."""
    openvino = import_openvino()
    model = openvino.Core().read_model(path)
    pads = [layer for layer in model.get_ordered_ops() if layer.get_type_name() == "Pad"]
    values = [[*layer.input_values(), layer.output(0)] for layer in pads]
    results = [openvino.opset13.result(value) for row in values for value in row]
    names = [_name(layer.output(0)) for layer in pads]
    run_all = _outputs(openvino.Model(results, model.get_parameters(), "pads")) if pads else lambda feeds: []

    def run(feeds: Feeds) -> list[Any]:
        arrays = iter(run_all(feeds))
        return [(name, *(next(arrays) for _ in row)) for name, row in zip(names, values, strict=True)]

    return run


def _name(port: Any) -> str:
    return str(min(port.get_names(), default=port.get_node().get_friendly_name()))


def _tensor(array: np.ndarray) -> Any:
    openvino = import_openvino()
    dtype = by_numpy(array.dtype)
    assert dtype is not None, "inputs are of types that padops knows"
    if dtype.numpy.type.__module__ == "numpy":
        return openvino.Tensor(np.array(array, order="C"))  # ascontiguousarray would make scalars 1-D
    name = next(name for name, type in ELEMENT_TYPES.items() if type == dtype.onnx)
    bits = np.array(array, order="C").view(f"u{dtype.bits // 8}")
    return openvino.Tensor(bits, array.shape, getattr(openvino.Type, name))


def _array(tensor: Any) -> np.ndarray:
    """Returns the elements of an output; for types that NumPy lacks, OpenVINO returns another type of the same size."""
    dtype = by_onnx(ELEMENT_TYPES[tensor.element_type.get_type_name()])
    assert dtype is not None, "padops knows all of OpenVINO's types"
    array: np.ndarray = tensor.data.copy()
    return array.view(dtype.numpy) if dtype.numpy.kind == "V" else array


def _compare_pads(
    verification: Verification, converted: Model, peer: OtherProcess, feeds: Sequence[Feeds]
) -> Verification:
    """Runs each Pad of the converted model on its data in OpenVINO; the outcome is "different" if a Pad differs."""
    nodes = labelled("graph", converted.message.graph)  # only the outputs check a Pad that became several nodes
    pads = {node.output[0]: (path, node) for path, node in nodes if is_pad(node)}
    told: dict[str, str] = {}  # by output: how the Pad differs, or ""
    try:
        for one in feeds:
            for name, *inputs, output in peer.ask([one]):
                detail = _difference(converted, pads[name][1], inputs, output) if name in pads else None
                if detail is not None:
                    told[name] = told.get(name) or (detail and f"{name}: {HERE}, {detail}")
    except DoesNotRun as error:
        return noted(verification, f"OpenVINO does not run the original with its Pads as outputs: {error}")
    found = []
    for name, (path, node) in pads.items():
        if name in told:
            is_right = not told[name]
            found.append(PadComparison(path, form_of(node), "exercised", is_right, (name,), told[name], is_right))
        else:
            why = f"OpenVINO has no Pad that computes '{name}'"
            found.append(PadComparison(path, form_of(node), "not exercised", detail=why))
    if any(told.values()):
        return replace(verification, outcome="different", pads=tuple(found))
    said = SAID if len(told) == len(pads) else f"{len(told)} of {len(pads)}: {SAID}"
    return noted(verification, *([said] if told else []), pads=tuple(found))


def _difference(converted: Model, pad: onnx.NodeProto, inputs: Sequence[np.ndarray], output: np.ndarray) -> str | None:
    """Describes how a Pad's output differs from OpenVINO's; "" if equal; None if OpenVINO's Pad lacks an input."""
    message = converted.message
    constants = {tensor.name for tensor in message.graph.initializer}
    if any(name and name not in constants and at >= len(inputs) for at, name in enumerate(pad.input)):
        return None
    feeds = {name: inputs[at] for at, name in enumerate(pad.input) if name and name not in constants}
    graph = onnx.GraphProto(name="pad", node=[pad])
    graph.initializer.extend(row for row in message.graph.initializer if row.name in pad.input)
    for name, array in feeds.items():
        graph.input.append(onnx.helper.make_tensor_value_info(name, dtype_of(array).onnx, list(array.shape)))
    graph.output.add(name=pad.output[0])
    model = onnx.ModelProto(ir_version=message.ir_version, graph=graph)
    model.opset_import.extend(message.opset_import)
    try:
        found = replace(converted, instead=model).session(optimised=False).run(feeds)
    except DoesNotRun as error:
        return f"padops refuses it: {error}"
    return describe_difference(output, found[pad.output[0]])


if __name__ == "__main__":
    serve(_answering(*sys.argv[1:]))
