"""What docs/fixing.md and README.md say of ONNX Runtime's refusals: the words are its own, and the road works."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import numpy as np
import onnxruntime
import pytest
from document_blocks import ROOT
from refused_models import REFUSED, Refused

import padops

TYPES = {"tensor(float)": np.float32, "tensor(int16)": np.int16}


@pytest.fixture(params=REFUSED.values(), ids=REFUSED)
def refused(request: pytest.FixtureRequest) -> Refused:
    return request.param


def run(kind: Callable[..., onnxruntime.InferenceSession], model: bytes, dims: int) -> np.ndarray:
    """A model's output; what its input leaves open is ``dims``."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = kind(model, options, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    shape = [size if isinstance(size, int) else dims for size in given.shape]
    data = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(TYPES[given.type])
    return session.run(None, {given.name: data})[0]


def test_words(refused: Refused) -> None:
    words = ".*".join(map(re.escape, refused.says.split("…")))
    with pytest.raises(Exception, match=f"(?s){words}"):
        run(onnxruntime.InferenceSession, refused.model().SerializeToString(), refused.dims)


def test_road(refused: Refused) -> None:
    """The model as it is, converted in memory, converted, and converted without padops all give the same."""
    model = refused.model()
    content = model.SerializeToString()
    if refused.meant:
        with pytest.raises(Exception, match=rf"\[{refused.meant}\]"):
            run(padops.InferenceSession, content, refused.dims)
        return
    if not refused.as_it_is:
        with pytest.raises(Exception, match="."):
            run(partial(padops.InferenceSession, convert="never"), content, refused.dims)
    conversion = padops.convert(model, **refused.options)
    assert conversion.unconverted == ()
    converted = conversion.proto().SerializeToString()
    outputs = [run(padops.InferenceSession, given, refused.dims) for given in (content, converted)]
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
