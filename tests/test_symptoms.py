"""What docs/fixing.md and README.md say of ONNX Runtime's refusals: the words are its own, and the road works."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from document_blocks import ROOT
from onnx import parser
from parsed_models import quiet

import padops


@dataclass(frozen=True)
class Refused:
    """A model that ONNX Runtime refuses because of a Pad, the smallest of its symptom."""

    says: str  # ONNX Runtime's words, as docs/fixing.md shows them: … stands for anything
    graph: str
    opset: int = 18
    as_it_is: bool = True  # whether padops.InferenceSession runs the model without converting it
    options: dict[str, Any] = field(default_factory=dict)  # for padops.convert
    domains: tuple[str, ...] = ()
    dims: int = 3  # sizes for what the model leaves open
    meant: str = ""  # the rule that it breaks; "" where padops runs it
    fallback: bool = True  # whether the converted model runs without padops as well
    outside: bool = False  # whether the constants are in a file of their own

    def model(self, folder: Path) -> str:
        """Writes the model; returns its path."""
        opsets = ", ".join([f'"" : {self.opset}', *(f'"{domain}" : 1' for domain in self.domains)])
        made = parser.parse_model(f"<ir_version: 8, opset_import: [{opsets}]> g {self.graph}")
        for row in made.graph.initializer:
            row.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(row), row.name))  # in raw_data
        more: dict[str, Any] = {"save_as_external_data": True, "location": "data", "size_threshold": 0}
        onnx.save(made, folder / "model.onnx", **(more if self.outside else {}))
        return str(folder / "model.onnx")


FLOATS, SHORTS = "(float[2, 3] x) => (float[a, b] y)", "(int16[2, 3] x) => (int16[a, b] y)"
PADS, LONG = "<int64[4] pads = {0, 1, 0, 1}>", "<int64[4] pads = {0, 3, 0, 3}>"
EDGE = '{ y = Pad <mode = "edge"> (x, pads) }'

REFUSED: dict[str, Refused] = {
    "type": Refused("Could not find an implementation for Pad(18)", f"{SHORTS} {PADS} {EDGE}"),
    "opset 1": Refused("Could not find an implementation for Pad(1)",
                       FLOATS + '{ y = Pad <mode = "edge", paddings = [0, 1, 0, 1]> (x) }', opset=1, fallback=False),
    "type that the opset lacks": Refused("Type 'tensor(int16)' of input parameter (x) of operator (Pad)",
                                         SHORTS + '{ y = Pad <mode = "edge", pads = [0, 1, 0, 1]> (x) }', opset=10,
                                         as_it_is=False, fallback=False),
    "long reflection": Refused("Pad reflect: pre-pad (3) exceeds maximum allowed (2) for axis 1",
                               f'{FLOATS} {LONG} {{ y = Pad <mode = "reflect"> (x, pads) }}'),
    "reflection of one element": Refused(
        "Pad reflect requires axis length >= 2",
        f'(float[a, b] x) => (float[c, d] y) {PADS} {{ y = Pad <mode = "reflect"> (x, pads) }}', dims=1),
    "symmetric": Refused("Invalid 'mode' attribute value",
                         f'{FLOATS} {PADS} {{ y = Pad <mode = "symmetric"> (x, pads) }}', meant="P9"),
    "axes of int32": Refused(
        "ParseData type mismatch for tensor: axes",
        FLOATS + '<int64[2] pads = {1, 1}, int32[1] axes = {1}> { y = Pad <mode = "edge"> (x, pads, , axes) }',
        as_it_is=False),
    "axes without a shape": Refused(
        "Pads has incorrect number of values. Expected 2 * 2 values. Got 2 values",
        FLOATS + "<int64[2] pads = {1, 1}, int64[1] k = {1}, int64 one = {1}>"
        " { axes = Loop <body = b (int64 i, bool on, int64[] a) => (bool go, int64[] c) "
        "{ go = Identity (on) c = Identity (a) }>"
        ' (one, , k) y = Pad <mode = "edge"> (x, pads, , axes) }', as_it_is=False),
    "amounts in a file of their own": Refused("Cannot parse data from external tensors", f"{FLOATS} {PADS} {EDGE}",
                                              as_it_is=False, outside=True),
    "pads in a row": Refused("'pads' input must be a 1D (shape: [2 * num_axes]) tensor",
                             f"{FLOATS} <int64[1, 4] pads = {{0, 1, 0, 1}}> {EDGE}", as_it_is=False),
    "fill of another type": Refused(
        "Type parameter (T) of Optype (Pad) bound to different types",
        FLOATS + "<int64[4] pads = {0, 1, 0, 1}, double f = {2.5}> { y = Pad (x, pads, f) }", as_it_is=False),
    "amounts of int32": Refused("Type 'tensor(int32)' of input parameter (pads) of operator (Pad)",
                                f"{FLOATS} <int32[4] pads = {{0, 1, 0, 1}}> {EDGE}", as_it_is=False),
    "value as an integer": Refused("Mismatched attribute type in 'p : value'",
                                   FLOATS + "{ [p] y = Pad <pads = [0, 1, 0, 1], value: int = 3> (x) }", opset=10,
                                   as_it_is=False, fallback=False),
    "form of an older opset": Refused("Node with schema(::Pad:13) has input size 1 not in range [min=2, max=3]",
                                      FLOATS + '{ y = Pad <mode = "edge", pads = [0, 1, 0, 1]> (x) }', opset=13,
                                      as_it_is=False),
    "form of a newer opset": Refused("Node with schema(::Pad:2) has input size 2 not in range [min=1, max=1]",
                                     f"{FLOATS} {PADS} {EDGE}", opset=10, as_it_is=False, fallback=False),
    "TensorFlow": Refused("tf:MirrorPad(-1) is not a registered function/op",
                          FLOATS + '<int64[2, 2] p = {0, 0, 1, 1}> { y = tf.MirrorPad <mode = "SYMMETRIC"> (x, p) }',
                          as_it_is=False, options={"custom_domains": ["tf"]}, domains=("tf",)),
    "SAME with dilation": Refused(
        "Dilation not supported for AutoPadType::SAME_UPPER",
        "(float[1, 1, 7, 7] x) => (float[a, b, c, d] y) <float[1, 1, 3, 3] w = {1, 1, 1, 1, 1, 1, 1, 1, 1}>"
        ' { y = Conv <auto_pad = "SAME_UPPER", dilations = [2, 2]> (x, w) }',
        as_it_is=False, options={"auto_pad": "explicit"}),
    "axes between Transposes": Refused(
        "running Gather node. … indices element out of data bounds",
        "(float[2, 3, 4] x) => (float[a, b, c] y) <int64[2] pads = {1, 1}, int64[1] axes = {1}> {"
        ' t = Transpose <perm = [0, 2, 1]> (x) u = Pad <mode = "edge"> (t, pads, , axes)'
        " y = Transpose <perm = [0, 2, 1]> (u) }"),
    "rank 0": Refused("pad.cc", "(float x) => (float y) <int64[0] pads = {}> { y = Pad (x, pads) }"),
    "fill of two": Refused(
        "value_tensor->Shape().Size() == 1 was false",
        FLOATS + '<int64[4] pads = {0, 1, 0, 1}, float[2] f = {1, 2}> { y = Pad <mode = "edge"> (x, pads, f) }'),
    "no library": Refused("padops:Pad_18(-1) is not a registered function/op",
                          f'{FLOATS} {PADS} {{ y = padops.Pad_18 <mode = "edge"> (x, pads) }}', domains=("padops",)),
    "nothing to extend": Refused("Cannot use 'edge' mode to pad dimension with a value of 0",
                                 f"(float[2, b] x) => (float[c, d] y) {PADS} {EDGE}", dims=0, meant="P5"),
}  # fmt: skip

TYPES = {"tensor(float)": np.float32, "tensor(int16)": np.int16}


each = pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)


def run(kind: Callable[..., onnxruntime.InferenceSession], model: bytes | str, dims: int) -> np.ndarray:
    """A model's output; what its input leaves open is ``dims``."""
    session = kind(model, quiet(), providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    shape = [size if isinstance(size, int) else dims for size in given.shape]
    data = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(TYPES[given.type])
    return session.run(None, {given.name: data})[0]


@each
def test_words(refused: Refused, tmp_path: Path) -> None:
    words = ".*".join(map(re.escape, refused.says.split("…")))
    with pytest.raises(Exception, match=f"(?s){words}"):
        run(onnxruntime.InferenceSession, refused.model(tmp_path), refused.dims)


@each
def test_road(refused: Refused, tmp_path: Path) -> None:
    """The model as it is, converted in memory, converted, and converted without padops all give the same."""
    model = refused.model(tmp_path)
    if refused.meant:
        with pytest.raises(Exception, match=rf"\[{refused.meant}\]"):
            run(padops.InferenceSession, model, refused.dims)
        return
    if not refused.as_it_is:
        with pytest.raises(Exception, match="."):
            run(partial(padops.InferenceSession, convert="never"), model, refused.dims)
    padops.convert(model, tmp_path / "converted.onnx", **refused.options)
    converted = str(tmp_path / "converted.onnx")
    outputs = [run(padops.InferenceSession, given, refused.dims) for given in (model, converted)]
    if refused.fallback:
        outputs.append(run(onnxruntime.InferenceSession, converted, refused.dims))
    assert len({(output.dtype, output.shape, output.tobytes()) for output in outputs}) == 1


def first_column(name: str) -> list[str]:
    """What stands as code in the first cell of each row of the table of symptoms."""
    text = (ROOT / name).read_text(encoding="utf-8")
    table = re.search(r"\| ONNX Runtime says .*?\n\|[-|]+\n((?:\|.*\n)+)", text)
    assert table, f"{name} has no table of symptoms"
    return [re.match(r"\| `(.*?)` *\|", row)[1] for row in table[1].splitlines() if row.startswith("| `")]


def test_pages_have_the_words() -> None:
    """docs/fixing.md has each text that is provoked here, README.md some of them, and neither has another."""
    provoked = {refused.says for refused in REFUSED.values()}
    assert sorted(first_column("docs/fixing.md")) == sorted(provoked)
    assert set(first_column("README.md")) <= provoked and len(first_column("README.md")) >= 6
