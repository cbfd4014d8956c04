"""Runs an IR in OpenVINO's CPU device, in its own process, since OpenVINO can crash.

Requests and answers are pickled. A request has a kind and arrays by input name; an answer has outputs and an error
text.
"""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import onnx

from padops.convert.errors import PadopsError
from padops.convert.readers.openvino_ir.reader import ELEMENT_TYPES
from padops.convert.records import Verification
from padops.deferred import import_openvino
from padops.processes import LateError, Pipes, own_pipes
from padops.spec.dtypes import by_numpy, by_onnx

if TYPE_CHECKING:
    from padops.convert.verify.compare import Case


Feeds = dict[str, np.ndarray]

SECONDS = 600.0  # for one run of the model, its compilation included


class Peer:
    """The process that runs OpenVINO, until it is closed."""

    def __init__(self, path: Path, outputs: Sequence[str]) -> None:
        """Starts OpenVINO with an IR; ``outputs`` are their names in the converted model, in the IR's order.

        Raises:
            PadopsError: OpenVINO is not installed.
        """
        if importlib.util.find_spec("openvino") is None:
            raise PadopsError(
                "an IR is verified against OpenVINO, which is not installed: pip install 'padops[openvino]'"
            )
        self._outputs, self._gone = outputs, ""
        command = [sys.executable, "-m", __name__, str(path)]
        self._pipes = Pipes(
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )

    def close(self) -> None:
        """Ends the process with its children."""
        self._pipes.end()

    def run(self, feeds: Feeds) -> dict[str, np.ndarray]:
        """The outputs of the IR.

        Raises:
            RuntimeError: OpenVINO refuses the model or the inputs, has crashed, or has given no answer in ``SECONDS``.
        """
        return dict(zip(self._outputs, self._ask("outputs", feeds), strict=True))

    def run_pads(self, feeds: Feeds) -> dict[str, tuple[list[np.ndarray], np.ndarray]]:
        """The inputs and the output of each Pad, by the output's name in the converted model.

        Raises:
            RuntimeError: As for ``run``.
        """
        return {name: (arrays[:-1], arrays[-1]) for name, arrays in self._ask("pads", feeds)}

    def _ask(self, what: str, feeds: Feeds) -> list[Any]:
        def talk(requests: IO[bytes], answers: IO[bytes]) -> Any:
            pickle.dump((what, feeds), requests)
            requests.flush()
            return pickle.load(answers)

        if self._gone:
            raise RuntimeError(self._gone)
        try:
            found, refusal = self._pipes.within(SECONDS, talk)
        except LateError as error:
            self._gone = f"OpenVINO gave {error}"
            raise RuntimeError(self._gone) from None
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):  # the last if the answer is cut off
            self._gone = "OpenVINO has crashed"
            raise RuntimeError(self._gone) from None
        if refusal:
            raise RuntimeError(refusal)
        return list(found)


def compare_with_openvino(source: Path, case: Case, original: Path, converted: Path) -> Verification:
    """Compares an IR in OpenVINO with the converted model in ONNX Runtime; ``original`` is not used."""
    from padops.convert.verify.compare import compare_with

    outputs = onnx.load(converted, load_external_data=False).graph.output
    with closing(Peer(source, [output.name for output in outputs])) as peer:
        return compare_with("OpenVINO", peer.run, peer.run_pads, converted, case)


def _serve(path: str, requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answers requests until the pipe closes."""
    answering: dict[str, Callable[[Feeds], list[Any]]] = {}
    while True:
        try:
            what, feeds = pickle.load(requests)
        except EOFError:
            return
        try:
            if what not in answering:
                answering[what] = _outputs(path) if what == "outputs" else _pads(path)
            found, refusal = answering[what](feeds), ""
        except Exception as error:
            found, refusal = [], " ".join(str(error).split())
        pickle.dump((found, refusal), answers)
        answers.flush()


def _outputs(model: Any) -> Callable[[Feeds], list[Any]]:
    """A function that runs a model, given in memory or as a file, and returns its outputs in order."""
    # Single precision as written: OpenVINO would use bfloat16 on some processors.
    compiled = import_openvino().Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    # The converted model names inputs by the first of a tensor's names, else by the layer's name.
    names = [_name(port) for port in compiled.inputs]

    def run(feeds: Feeds) -> list[Any]:
        request = compiled.create_infer_request()
        request.infer({i: _tensor(feeds[name]) for i, name in enumerate(names)})
        return [_array(request.get_output_tensor(i)) for i in range(len(compiled.outputs))]

    return run


def _pads(path: str) -> Callable[[Feeds], list[Any]]:
    """A function that runs the Pads of an IR, and returns each Pad's name, inputs and output."""
    openvino = import_openvino()
    model = openvino.Core().read_model(path)
    pads = [layer for layer in model.get_ordered_ops() if layer.get_type_name() == "Pad"]
    values = [[*layer.input_values(), layer.output(0)] for layer in pads]
    results = [openvino.opset13.result(value) for row in values for value in row]
    names = [_name(layer.output(0)) for layer in pads]
    run_all = _outputs(openvino.Model(results, model.get_parameters(), "pads")) if pads else lambda feeds: []

    def run(feeds: Feeds) -> list[Any]:
        arrays = iter(run_all(feeds))
        return [(name, [next(arrays) for _ in row]) for name, row in zip(names, values, strict=True)]

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
    """The elements of an output; OpenVINO gives types that NumPy lacks as others of the same size."""
    dtype = by_onnx(ELEMENT_TYPES[tensor.element_type.get_type_name()])
    assert dtype is not None, "padops knows all of OpenVINO's types"
    array: np.ndarray = tensor.data.copy()
    return array.view(dtype.numpy) if dtype.numpy.kind == "V" else array


if __name__ == "__main__":
    _serve(sys.argv[1], *own_pipes())
