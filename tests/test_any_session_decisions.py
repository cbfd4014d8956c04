"""What padops.InferenceSession decides: when it looks, which Pads it converts, whose error it raises, what it logs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import onnx
import pytest
from parsed_models import AXES, FLAT, REFUSED, model, quiet, save_with_data

import padops
from padops import session as door
from padops.runtime import model_words
from padops.runtime.provider import FIRST_MINOR, runtime_minor
from padops.session import really_in

POOLED = (
    "(float[1, 1, 8, 8] x) => (float[1, 1, n, m] y) <float[1] w = {2}> "
    '{ a = MaxPool <auto_pad = "SAME_UPPER", kernel_shape = [3, 3], dilations = [2, 2]> (x)  y = Mul (a, w) }'
)
with_providers = pytest.mark.skipif(runtime_minor() < FIRST_MINOR, reason="each Pad is looked at there")


@pytest.mark.parametrize(("minor", "words", "looks"), [
    (FIRST_MINOR - 1, {b"Pad"}, True),
    (FIRST_MINOR, {b"Pad"}, False),
    (FIRST_MINOR - 1, {b"Pad", model_words.DOMAIN}, False),
    (FIRST_MINOR - 1, {b"reflect"}, False),
    (FIRST_MINOR, {b"SAME_", model_words.WRONG_SAME}, True),
    (FIRST_MINOR, {b"SAME_"}, False),
    *((minor, {*model_words.MISCOUNTED}, 21 <= minor <= 24) for minor in (20, 21, 24, 25)),
])  # fmt: skip
def test_when_it_looks(minor: int, words: set[bytes], looks: bool) -> None:
    """Before there are providers at each model with Pads that is not converted yet."""
    assert model_words.is_silent(frozenset(words), minor) is looks


@with_providers
def test_the_first_error_is_raised(caplog: pytest.LogCaptureFixture) -> None:
    text = f'{FLAT} <{AXES}> {{ z = Pad <mode = "reflect"> (x, p, , a)  y = Nonsense (z) }}'
    with pytest.raises(Exception, match=r"Op \(Pad\).*Expected:int64 Actual:int32"):
        padops.InferenceSession(model(text), quiet())
    (said,) = caplog.messages
    assert said.startswith("onnxruntime also refuses the converted model (1 Pad: 1 converted): ")
    assert "Nonsense" in said.partition("converted): ")[2]  # why it is refused then


@with_providers
def test_nothing_is_logged_of_what_does_not_matter(caplog: pytest.LogCaptureFixture, monkeypatch) -> None:
    """The converted model is refused for the same reason, padops' own nodes need padops, and there is no Pad."""
    text = f"{FLAT} <int64[4] p = {{0, 1, 0, 1}}> {{ z = Pad (x, p)  y = Nonsense (z) }}"
    converted = padops.convert(onnx.load_from_string(model(text)), fallback=False).proto().SerializeToString()
    assert b"Pad_18" in converted
    for given in (model(text), converted):
        with pytest.raises(Exception, match="Nonsense"):
            padops.InferenceSession(given, quiet())
    assert caplog.messages == []
    monkeypatch.setattr(door, "_converted_after", None)
    with pytest.raises(Exception, match="Nonsense"):
        padops.InferenceSession(model("(float x) => (float y) { y = Nonsense (x) }"), quiet())


@with_providers
def test_a_pad_that_runs_for_some_data_stays_beside_one_that_is_converted() -> None:
    text = (
        f"(float[2, 3] x, float[n] z, int64[2] q) => (float[2, 5] y, float[m] w) <{AXES}> "
        '{ y = Pad <mode = "reflect"> (x, p, , a)  w = Pad <mode = "wrap"> (z, q) }'
    )
    made = padops.InferenceSession(model(text, 19), quiet())
    assert [record.status for record in made.padops_records] == ["converted", "not needed"]


@with_providers
@pytest.mark.parametrize(("name", "domains"), [("Pad", ()), ("PadV2", ("mine",))])
def test_a_pad_of_anybody_is_not_taken_for_tensorflows(name: str, domains: tuple[str, ...]) -> None:
    text = (
        f"{FLAT} <{AXES}, int64[2, 2] q = {{0, 0, 0, 0}}> "
        f'{{ z = mine.{name} (x, q)  y = Pad <mode = "reflect"> (z, p, , a) }}'
    )
    assert padops.inspect(model(text, domains=("mine",))).domains == domains


@pytest.mark.parametrize("kind", [bytearray, memoryview, onnx.ModelProto.FromString])
def test_other_forms_of_a_model_in_memory(kind: Callable[[bytes], object]) -> None:
    made = padops.InferenceSession(kind(model(POOLED)), quiet())
    assert [record.status for record in made.padops_records] == ["converted"]


def test_one_word_on_what_cannot_be_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An empty file, bytes whose data lie in an unknown folder, and data that are not there are reported once."""
    (tmp_path / "empty.onnx").write_bytes(b"")
    path = save_with_data(model(REFUSED), tmp_path)
    content = path.read_bytes()
    (tmp_path / "w.bin").unlink()
    for source, why in (
        (tmp_path / "empty.onnx", "it has no graph"), (content, "w.bin cannot be read"), (path, "w.bin"),
    ):  # fmt: skip
        caplog.clear()
        with warnings.catch_warnings(), pytest.raises(Exception, match="."):
            warnings.simplefilter("error")
            padops.InferenceSession(source, quiet())
        (line,) = caplog.messages
        assert line.startswith("padops cannot convert the model: ") and why in line
    caplog.clear()
    with pytest.raises(Exception, match="absent.onnx"):
        padops.InferenceSession(tmp_path / "absent.onnx", quiet())
    assert caplog.messages == []


@with_providers
def test_what_runs_wrongly_and_cannot_be_read_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    unread = padops.PadopsError("its data file w.bin cannot be read")
    monkeypatch.setattr(padops.convert, "inspect", Mock(side_effect=unread))
    match = r"may get Pads of this model wrong, and padops cannot look: its data file w.bin cannot be read; padops runs"
    with pytest.warns(UserWarning, match=match) as caught:
        assert padops.InferenceSession(model(POOLED)).padops_records == ()
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("targets", "names"),
    [(("there/1", "there/2"), ["1", "2"]), (("there/1", "elsewhere/2"), []), ((), [])],
)
def test_names_of_data_that_are_links(targets: tuple[str, ...], names: list[str], tmp_path: Path) -> None:
    """Links to files of one real folder get the names there; otherwise nothing is changed."""
    made, here = onnx.ModelProto(), tmp_path / "here"
    for name in ("one", "two"):
        row = made.graph.initializer.add(name=name, data_location=onnx.TensorProto.EXTERNAL)
        row.external_data.add(key="location", value=f"{name}.bin")
        row.external_data.add(key="offset", value="0")
    here.mkdir()
    for name, target in zip(("one", "two"), targets):
        os.symlink(tmp_path / target, here / f"{name}.bin")
    given, folder = really_in(made, here)
    if not names:
        assert (given is made, folder) == (True, here)
        return
    assert [row.external_data[0].value for row in given.graph.initializer] == names
    assert folder == tmp_path / "there" and made.graph.initializer[0].external_data[0].value == "one.bin"


def test_a_pad_that_conversion_folds_runs() -> None:
    fold = '(uint32 x) => (uint32 y) <int64[0] p = {}, uint32 f = {7}, int32[0] a = {}> { y = Pad <mode = "reflect"> '
    (y,) = padops.InferenceSession(model(f"{fold}(x, p, f, a) }}"), quiet()).run(None, {"x": np.array(5, np.uint32)})
    assert (y.shape, y) == ((), 5)
