"""The samples in models/ and the real models, with what they are fed; models run as files, and compared by bits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import native
import numpy as np
import onnx
import onnxruntime as ort
from auto_pad_models import messages
from parsed_models import quiet

import padops
from padops.convert import Conversion
from padops.runtime.ort_values import run_session
from padops.spec.dialects import DOMAIN
from padops.spec.dtypes import by_onnx

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted((ROOT / "models").glob("*.onnx"))
OF_PADS = [path for path in SAMPLES if path.stem != "tokens"]  # which needs onnxruntime-extensions
Arrays = Mapping[str, np.ndarray]


def pads_in(message: object, domain: str = "") -> int:
    """How many Pad nodes a protobuf message holds, wherever they are: found by its fields, not by ONNX's structure."""
    nodes = [part for part in messages(message) if isinstance(part, onnx.NodeProto) and part.domain == domain]
    return sum(node.op_type.split("_")[0] == "Pad" for node in nodes)


def session(model: Path, *, registered: bool, threads: int = 0) -> ort.InferenceSession:
    options = quiet(threads)
    if registered:
        padops.register(options)
    return ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def run(model: Path, feeds: Arrays, *, registered: bool, threads: int = 0) -> dict[str, np.ndarray]:
    this = session(model, registered=registered, threads=threads)
    names = [output.name for output in this.get_outputs()]
    return dict(zip(names, run_session(this, feeds), strict=True))


def assert_same(actual: Arrays, expected: Arrays) -> None:
    seen, wanted = ({name: native.bits(array) for name, array in arrays.items()} for arrays in (actual, expected))
    assert seen == wanted


def convert(model: Path, folder: Path) -> tuple[Path, Conversion]:
    """Convert to a file, and see that every ONNX Pad became a padops one with a record of its own."""
    output = folder / model.name
    result = padops.convert(model, output, fallback=False)
    before, after = onnx.load(model), onnx.load(output)
    found = [record for record in result.records if "emulation" not in record.form]
    assert len(result.converted) == len(found) == pads_in(before) == pads_in(after, DOMAIN)
    assert pads_in(after) == 0
    return output, result


# --- the samples -----------------------------------------------------------------------------------------------------

GIVEN: dict[str, Arrays] = {  # inputs whose values matter; the others are random
    "pad_11": {"asked": np.array([1, -1, 2, 0])},
    "pad_18": {"run_pads": np.array([1, 0]), "run_axes": np.array([-2], np.int32)},
}


def sample_feeds(path: Path, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    given = GIVEN.get(path.stem, {})
    feeds = {}
    for value in onnx.load(path).graph.input:
        tensor = value.type.tensor_type
        shape = [dim.dim_value or 6 for dim in tensor.shape.dim]
        feeds[value.name] = given.get(value.name, native.random_array(rng, by_onnx(tensor.elem_type), shape))
    return feeds


# --- real models -----------------------------------------------------------------------------------------------------

MONO = {"input": (2, 576), "state": (2, 2, 128)}  # two stretches of sound with their context, as the package feeds them
SEQUENCE = {"input": (3, 576), "h": (1, 1, 128), "c": (1, 1, 128)}
AT_16K = {**MONO, "sr": np.array(16000)}
AT_8K = {**MONO, "input": (2, 288), "sr": np.array(8000)}
SPOKEN = [{"waveforms": (2, 16000), "waveforms_lens": np.array([16000, 9000])}]
RANGE = {"fmin": np.array(46.875, np.float32), "fmax": np.array(2093.75, np.float32)}

# Model, Pads in it, and what to run it with: a shape for random numbers, or an array as it is.
REAL: list[tuple[str, int, list[dict[str, tuple[int, ...] | np.ndarray]]]] = [
    ("basic-pitch/nmp.onnx", 24, [{"serving_default_input_2:0": (1, 43844, 1)}]),
    ("silero-vad/silero_vad.onnx", 2, [AT_16K, AT_8K]),
    ("silero-vad/silero_vad_op18_ifless.onnx", 2, [AT_16K, AT_8K]),
    ("silero-vad/silero_vad_16k_op15.onnx", 1, [AT_16K]),
    ("silero-vad/silero_vad_16k_sequence.onnx", 1, [SEQUENCE]),
    ("silero-vad/silero_vad_half.onnx", 1, [MONO]),
    ("silero-vad/silero_vad_openvino_16k.onnx", 1, [{"input": (1, 576), "state": (2, 1, 128)}]),
    ("faster-whisper/silero_vad_v6.onnx", 1, [SEQUENCE]),
    ("swift-f0/model.onnx", 5, [{"audio": (1, samples), **RANGE} for samples in (16000, 4321, 256)]),
    ("onnx-asr/gigaam_v2.onnx", 1, SPOKEN),
    ("onnx-asr/kaldi.onnx", 3, SPOKEN),
    ("onnx-asr/nemo80.onnx", 1, SPOKEN),
    ("onnx-asr/nemo128.onnx", 1, SPOKEN),
    ("onnx-asr/wespeaker.onnx", 1, SPOKEN),
    ("onnx-asr/whisper80.onnx", 2, SPOKEN),
    ("rapidocr/ch_ppocr_mobile_v2.0_cls_mobile.onnx", 0, [{"x": (1, 3, 48, 192)}]),
]


def random_feeds(runs: list[dict]) -> Iterator[Arrays]:
    rng = np.random.default_rng(0)
    for feeds in runs:
        yield {
            name: (rng.standard_normal(value) / 10).astype(np.float32) if isinstance(value, tuple) else value
            for name, value in feeds.items()
        }
