"""Operators of the domain ``padops`` in a session with only a device of padops' library, without RegisterCustomOps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import permutations

import numpy as np
import onnxruntime
import pytest
from onnx import parser
from provider_sessions import CPU, EP_NAME, recording_options

import padops
from padops.runtime.placing import register_provider_library
from padops.runtime.provider import FIRST_MINOR, FIRST_NAME, OPERATORS_NAME, runtime_minor
from padops.runtime.session import OPERATORS

pytestmark = pytest.mark.skipif(
    runtime_minor() < FIRST_MINOR, reason="onnxruntime 1.24 is the first with execution providers of libraries"
)
# One Pad of standard ONNX, which onnxruntime refuses for its type, and one operator of padops.
MODEL = parser.parse_model(
    '<ir_version: 10, opset_import: ["" : 18, "padops" : 1]> g (int16[n] x) => (int16[m] y) <int64[2] p = {1, 1}> '
    '{ z = Pad (x, p) y = padops.Pad_18 <mode = "edge"> (z, p) }'
)
ROW = np.array([1, 2, 3], np.int16)
UNKNOWN = r"padops:Pad_18\(-1\) is not a registered function/op"
Step = Callable[[onnxruntime.SessionOptions], None]


def device(name: str, **given: str) -> Step:
    """Appends a device, as every binding does."""
    return lambda options: options.add_provider_for_devices([register_provider_library()[name]], given)


def ran(*steps: Step) -> list[int]:
    """What two sessions of the same options give."""
    options = recording_options()
    for step in steps:
        step(options)
    outputs = []
    for _ in range(2):
        session = onnxruntime.InferenceSession(MODEL.SerializeToString(), options, enable_fallback=0)
        outputs.append(session.run(None, {"x": ROW})[0].tolist())
    assert outputs[0] == outputs[1]
    return outputs[0]


PADDED = [0, 0, 1, 2, 3, 0, 0]
THE_OPERATORS, THE_PADS, THE_CPU = device(OPERATORS_NAME), device(EP_NAME), device(CPU)


def by_library(options: onnxruntime.SessionOptions) -> None:
    options.register_custom_ops_library(padops.get_library_path())


def named(options: onnxruntime.SessionOptions) -> None:
    options.add_session_config_entry(OPERATORS, "Pad_18")


def test_the_device_brings_the_operators() -> None:
    """Wherever it stands among the others; those do not."""
    for steps in permutations((THE_OPERATORS, THE_PADS, THE_CPU)):
        if steps.index(THE_PADS) < steps.index(THE_CPU):
            assert ran(*steps) == PADDED
    for steps in ((THE_PADS, THE_CPU), (device(FIRST_NAME, before=CPU), THE_PADS, THE_CPU)):
        with pytest.raises(Exception, match=UNKNOWN):
            ran(*steps)


@pytest.mark.parametrize(
    "steps",
    [
        (THE_OPERATORS, by_library, THE_PADS, THE_CPU),
        (by_library, THE_OPERATORS, THE_PADS, THE_CPU),
        (THE_OPERATORS, named, by_library, THE_PADS),
        (named, by_library, THE_OPERATORS, THE_PADS),
        (THE_OPERATORS, THE_PADS, padops.register),
        (padops.register, THE_OPERATORS, THE_PADS),
    ],
)
def test_both_registrations_do_not_clash(steps: tuple[Step, ...]) -> None:
    """The runtime alone refuses a domain that is there twice: "Domain already set in registry"."""
    assert ran(*steps) == PADDED


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"operators": "Pad_18"}, f"{OPERATORS_NAME}: option operators is 'Pad_18', expected all"),
        ({"claim": "all"}, f"{OPERATORS_NAME}: there is no option claim, only operators"),
    ],
)
def test_options_that_are_wrong(given: dict[str, str], message: str) -> None:
    with pytest.raises(Exception, match=message):
        ran(device(OPERATORS_NAME, **given))


def test_the_name_alone_comes_too_late() -> None:
    """onnxruntime reads ``providers=`` after the model; padops.InferenceSession looks into the model first."""
    register_provider_library()
    with warnings.catch_warnings(), pytest.raises(Exception, match=UNKNOWN):
        warnings.simplefilter("ignore")  # before 1.25, that it takes no such name
        onnxruntime.InferenceSession(
            MODEL.SerializeToString(), recording_options(), [OPERATORS_NAME, EP_NAME, CPU], enable_fallback=0
        )
    session = padops.InferenceSession(MODEL.SerializeToString(), providers=[OPERATORS_NAME, EP_NAME, CPU])
    assert session.run(None, {"x": ROW})[0].tolist() == PADDED


def test_it_is_known_to_run_nothing() -> None:
    plain = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 18]> g (int16[n] x) => (int16[m] y) '
        "<int64[2] p = {1, 1}> { y = Pad (x, p) }"
    )
    beside = padops.inspect(plain, providers=[OPERATORS_NAME, CPU])
    assert beside.pads == padops.inspect(plain, providers=[CPU]).pads
    assert not any(OPERATORS_NAME in note for note in beside.notes)
