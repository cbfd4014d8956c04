"""A session searches a model for words with functions of the library: as fast for thousands of nodes as for a few."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

from padops.runtime import model_words


def network(convolutions: int) -> bytes:
    """A model of convolutions, each with weights of its own, and none of the words that a session looks for."""
    weights = [numpy_helper.from_array(np.ones((3, 3, 3, 3), np.float32), f"w{i}") for i in range(convolutions)]
    nodes = [
        helper.make_node("Conv", [f"v{i}", f"w{i}"], [f"v{i + 1}"], pads=[1, 1, 1, 1], kernel_shape=[3, 3])
        for i in range(convolutions)
    ]
    return helper.make_model(helper.make_graph(nodes, "g", [], [], weights)).SerializeToString()


def calls_for(model: bytes | Path) -> int:
    """How many functions, of Python and of C, are called to look at a model."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    model_words.words_of(model)
    sys.setprofile(count)
    try:
        assert model_words.words_of(model) == frozenset()
    finally:
        sys.setprofile(None)
    return calls


def test_the_look_at_a_model_takes_as_many_calls_for_thousands_of_nodes_as_for_a_few(tmp_path: Path) -> None:
    few, many = network(200), network(5000)
    assert len(few) > model_words.SMALL
    assert 0 < calls_for(many) == calls_for(few) < 100
    for content in (few, many):
        (tmp_path / f"{len(content)}.onnx").write_bytes(content)
    assert calls_for(tmp_path / f"{len(many)}.onnx") == calls_for(tmp_path / f"{len(few)}.onnx")


def constants(number: int) -> bytes:
    """A model of nodes whose weights lie between their names."""
    value = numpy_helper.from_array(np.frombuffer(b"wrap" * model_words.SMALL, np.uint8), "v")
    nodes = [helper.make_node("Constant", [], [f"c{i}"], name=f"Pad {i}", value=value) for i in range(number)]
    return helper.make_model(helper.make_graph(nodes, "g", [], [])).SerializeToString()


def test_a_model_of_more_parts_than_there_is_room_for_at_first() -> None:
    content = constants(2 * model_words.FEW)
    parts = model_words.Parts(content, model_words.SMALL)
    pairs = parts.pairs()
    assert len(pairs) > 2 * model_words.FEW and sum(end - begin for begin, end in pairs) < 100 * len(pairs)
    assert pairs == sorted(pairs) and pairs[-1][1] <= len(content)
    last = f"Pad {2 * model_words.FEW - 1}".encode()
    assert parts.found([b"Pad 0", last, b"wrap", b"Pad x"]) == {b"Pad 0", last}


@pytest.mark.parametrize("content", [b"", b"\n", b"Pad", b"\xff" * 40_000, constants(1)[:-4] + b"Pad\xff"])
def test_what_is_no_model_is_searched_whole(content: bytes) -> None:
    parts = model_words.Parts(content, model_words.SMALL)
    assert parts.pairs() == [(0, len(content))]
    assert parts.found([b"Pad", b"wrap"]) == {word for word in (b"Pad", b"wrap") if word in content}


@pytest.mark.parametrize("broken", ["absent.so", "other.so"])
def test_without_the_library_the_whole_model_is_searched(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python kernel needs no library; a session that does says what is wrong with another one."""

    def path() -> str:
        if broken == "absent.so":
            raise FileNotFoundError("padops was installed without its native library")
        (tmp_path / broken).write_bytes(b"no library")
        return str(tmp_path / broken)

    monkeypatch.setattr(model_words, "get_library_path", path)
    monkeypatch.setattr(model_words, "_library", model_words._library.__wrapped__)
    assert model_words.words_of(constants(1)) == {b"Pad", b"wrap"}
    assert model_words.words_of(network(9)) == frozenset()
