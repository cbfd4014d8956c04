"""Compares an IR with the converted model. OpenVINO's CPU device runs it in its own process, since OpenVINO can crash.

Runtimes round differently and treat NaN differently: OpenVINO's ReLU makes NaN 0, ONNX's keeps it. A Pad does neither.
So each Pad is also compared by itself, bit by bit with OpenVINO's Pad, on the data that the Pad has there.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from padops.convert.errors import PadopsError
from padops.convert.matchers import Matcher
from padops.convert.readers.openvino_ir.reader import ELEMENT_TYPES
from padops.convert.records import PadComparison, Verification
from padops.convert.verify import sessions
from padops.convert.verify.bits import describe_difference
from padops.convert.verify.compare import ENOUGH, RunInputs, check
from padops.convert.verify.reference import DescribedPad, described_pads, judge
from padops.convert.verify.rounding import settle, tolerance_of
from padops.convert.verify.sessions import DoesNotRun, Feeds, Session, Trial, run_trials
from padops.deferred import import_openvino
from padops.processes import Pickled, serve
from padops.spec.dtypes import by_numpy, by_onnx
from padops.spec.plan import PadError

SECONDS = 600.0  # for one run of the model, its compilation included

SAID = "each Pad gives the same bits as in OpenVINO, for the data that it has there"
NOT_FINITE = "with infinities and NaN in the inputs, the nodes around the Pads give other results in OpenVINO"


class OpenVINOProcess:
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
        self._outputs = outputs
        self._process = Pickled("OpenVINO", SECONDS, ["-m", __name__, str(path)])
        self.close = self._process.close

    def run(self, feeds: Feeds) -> dict[str, np.ndarray]:
        """The outputs of the IR.

        Raises:
            RuntimeError: OpenVINO refuses the model or the inputs, has died, or has given no answer in ``SECONDS``.
        """
        return dict(zip(self._outputs, self._process.ask(("outputs", feeds)), strict=True))

    def run_pads(self, feeds: Feeds) -> dict[str, tuple[list[np.ndarray], np.ndarray]]:
        """The inputs and the output of each Pad, by the output's name in the converted model.

        Raises:
            RuntimeError: As for ``run``.
        """
        return {name: (arrays[:-1], arrays[-1]) for name, arrays in self._process.ask(("pads", feeds))}


def compare_with_openvino(source: Path, case: RunInputs, original: Path, converted: Path) -> Verification:
    """Compares an IR in OpenVINO with the converted model in ONNX Runtime; ``original`` is not used."""
    message = onnx.load(converted, load_external_data=False)
    with closing(OpenVINOProcess(source, [output.name for output in message.graph.output])) as peer:
        return _compare(peer, converted, message, case)


def _compare(peer: OpenVINOProcess, converted: Path, message: onnx.ModelProto, case: RunInputs) -> Verification:
    try:  # inputs that the converted model takes: OpenVINO gives results even if rules are broken
        taken = run_trials(Session(converted, optimised=True), case.turns())
    except DoesNotRun as error:
        return Verification("fails", notes=(f"ONNX Runtime says: {error}",))
    try:
        trials = run_trials(sessions.OtherRuntime(peer.run), [[trial.feeds] for trial in taken])
    except DoesNotRun as error:
        note = f"OpenVINO does not run the original: {error}"
        return judge(None, converted, [trial.feeds for trial in taken], (note,))
    tolerance = tolerance_of(message, case.asked.rtol, case.asked.atol)
    verification = _check_finite(lambda some: check(converted, True, some, case.corrected, tolerance), trials)
    verification = replace(verification, notes=("the original ran in OpenVINO", *verification.notes))
    if verification.outcome in ("different", "close"):
        feeds = [trial.feeds for trial in trials]
        verification = settle(verification, (None, converted), feeds, case.asked.sources, tolerance, case.asked.doubted)
    return _compare_pads(verification, converted, peer, _telling(trials, ENOUGH), case.asked.sources)


def _answering(path: str) -> Callable[[tuple[str, Feeds]], list[Any]]:
    """The function that answers questions about an IR: outputs, or the inputs and output of each Pad."""
    prepared: dict[str, Callable[[Feeds], list[Any]]] = {}

    def answer(question: tuple[str, Feeds]) -> list[Any]:
        wanted, feeds = question
        if wanted not in prepared:
            prepared[wanted] = _outputs(path) if wanted == "outputs" else _pads(path)
        return prepared[wanted](feeds)

    return answer


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


def _check_finite(check: Callable[[Sequence[Trial]], Verification], trials: Sequence[Trial]) -> Verification:
    """Compares outputs. Inputs with infinities or NaN count only if the finite inputs differ as well.

    Returns:
        ``"close"`` if only inputs with infinities or NaN differ.
    """
    verification = check(trials)
    finite = [trial for trial in trials if all(_is_finite(array) for array in trial.feeds.values())]
    if verification.outcome != "different" or not 0 < len(finite) < len(trials):
        return verification
    again = check(finite)
    if again.outcome not in ("equal", "close"):
        return verification
    notes = (*again.notes, NOT_FINITE)
    return replace(again, outcome="close", inputs=verification.inputs, notes=notes)


def _telling(trials: Sequence[Trial], count: int) -> list[Feeds]:
    """The first inputs, and the first further inputs with infinities or NaN."""
    special = [one.feeds for one in trials[count:] if not all(_is_finite(array) for array in one.feeds.values())]
    return [*(one.feeds for one in trials[:count]), *special[:1]]


def _is_finite(array: np.ndarray) -> bool:
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def _compare_pads(
    verification: Verification, converted: Path, peer: OpenVINOProcess, feeds: Sequence[Feeds], asked: Sequence[Matcher]
) -> Verification:
    """Compares each Pad of the converted model with OpenVINO's, on OpenVINO's data: ``"different"`` if one differs."""
    described, _ = described_pads(converted, onnx.load(converted, load_external_data=False), asked)
    wrong: dict[str, str] = {}
    seen: set[str] = set()
    try:
        for one in feeds:
            there = peer.run_pads(one)
            for pad in described:
                if pad.output in there and (detail := _difference(pad, *there[pad.output])) is not None:
                    seen.add(pad.path)
                    if detail:
                        wrong.setdefault(pad.path, f"{pad.output}: for the data that it has in OpenVINO, {detail}")
    except RuntimeError as error:
        note = f"OpenVINO does not run the original with its Pads as outputs: {error}"
        return replace(verification, notes=(*verification.notes, note))
    if not seen:
        return verification
    if not wrong:
        told = SAID if len(seen) == len(described) else f"{len(seen)} of {len(described)}: {SAID}"
        at = len(verification.notes) - (verification.outcome != "equal")  # the last note goes into the error's text
        notes = (*verification.notes[:at], told, *verification.notes[at:])
        verification = replace(verification, notes=notes)
    pads = verification.pads or tuple(_untold(pad, seen) for pad in described)
    pads = tuple(
        replace(pad, exercise="exercised", equal=False, right=False, detail=wrong[pad.path])
        if pad.path in wrong
        else pad
        for pad in pads
    )
    return replace(verification, outcome="different" if wrong else verification.outcome, pads=pads)


def _untold(pad: DescribedPad, seen: Collection[str]) -> PadComparison:
    """The comparison of a Pad that the comparison of the outputs does not list."""
    if pad.path in seen:
        return PadComparison(pad.path, pad.form, "exercised", True, (pad.output,))
    return PadComparison(pad.path, pad.form, "not exercised", detail=f"OpenVINO has no Pad that gives '{pad.output}'")


def _difference(pad: DescribedPad, inputs: Sequence[np.ndarray], output: np.ndarray) -> str | None:
    """The difference of a Pad of the converted model, "" for none; None if its inputs are others."""
    if any(isinstance(given, str) for given in pad.inputs[1:]) and len(pad.inputs) != len(inputs):
        return None
    given = [inputs[i] if isinstance(one, str) else one for i, one in enumerate(pad.inputs)]
    try:
        return describe_difference(output, pad.expected(given))
    except PadError as error:
        return f"padops refuses it: {error}"


if __name__ == "__main__":
    serve(_answering(sys.argv[1]))
