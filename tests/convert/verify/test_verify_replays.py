"""Inputs for which a part seems to differ, run on the whole models: those that end a process do not end this one."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from padops.convert.verify import part_inputs, process_copy
from padops.convert.verify.feeds import Input


def instead(monkeypatch: pytest.MonkeyPatch, what: Callable[[], object]) -> None:
    """What a run does, in the place of a model."""

    class Session:
        def __init__(self, path: Path, optimised: bool) -> None:
            pass

        def run(self, feeds: dict) -> None:
            what()

    monkeypatch.setattr(process_copy, "Session", Session)


def interrupted() -> None:
    raise KeyboardInterrupt


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize(
    ("what", "lives"),
    [
        (lambda: None, True),
        (lambda: 1 / 0, True),  # refused
        (lambda: os.kill(os.getpid(), signal.SIGFPE), False),
        (lambda: time.sleep(60), False),
        (interrupted, False),
    ],
)
def test_a_run_that_dies_or_does_not_end(
    what: Callable[[], object], lives: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    instead(monkeypatch, what)
    monkeypatch.setattr(process_copy, "SURVIVAL_SECONDS", 1)
    try:
        assert process_copy.survive([Path("a.onnx"), Path("b.onnx")], {}) is lives
    finally:
        with tmp_path.joinpath("behind").open("a") as file:
            file.write(f"{os.getpid()}\n")
    assert (tmp_path / "behind").read_text() == f"{os.getpid()}\n", "the child goes on as its parent"


def test_nothing_is_run_where_a_process_cannot_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[bool] = []
    instead(monkeypatch, lambda: ran.append(True))
    monkeypatch.delattr(os, "fork", raising=False)
    assert not process_copy.survive([Path("a.onnx")], {}) and not ran


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_an_interrupt_leaves_no_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The child of a run that does not end is gone, once whoever waits for it was interrupted."""
    instead(monkeypatch, lambda: (tmp_path.joinpath("child").write_text(str(os.getpid())), time.sleep(60)))
    wait = os.waitpid

    def interrupt(child: int, how: int) -> tuple[int, int]:
        if how == os.WNOHANG and (tmp_path / "child").exists() and (tmp_path / "child").read_text():
            raise KeyboardInterrupt
        return wait(child, how)

    monkeypatch.setattr(os, "waitpid", interrupt)
    with pytest.raises(KeyboardInterrupt):
        process_copy.survive([Path("a.onnx")], {})
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "child").read_text()), 0)


def test_inputs_of_a_whole_model_from_an_example() -> None:
    rows = [
        Input("x", "float", ("n", 3)),
        Input("k", "int64", (2,)),
        Input("u", "float", None),
        Input("v", "int8", ("n",)),
    ]

    def shapes(example: dict) -> list[tuple[int, ...]] | None:
        feeds = part_inputs.whole_inputs(rows, example)
        return None if feeds is None else [feeds[row.name].shape for row in rows]

    assert (
        shapes({"n": 5}) == shapes({"x": {"dims": [5, 3]}}) == shapes({"dims": {"v": [5]}}) == [(5, 3), (2,), (), (5,)]
    )
    assert shapes({"x": np.zeros((4, 3))}) == [(4, 3), (2,), (), (4,)]
    feeds = part_inputs.whole_inputs(rows, {"k": {"dims": [2], "values": [7, -8]}, "inner": {"dims": [9]}})
    assert feeds is not None and feeds["k"].tolist() == [7, -8] and feeds["x"].shape == (2, 3)
    assert feeds["k"].dtype == np.int64 and feeds["x"].dtype == np.float32
    about_other_values: tuple[dict, ...] = ({}, {"inner": {"dims": [9]}}, {"dims": {"inner": [9]}})
    of_other_dims = (
        {"x": {"dims": [4, 2]}},
        {"x": {"dims": [4]}},
        {"x": {"dims": [4, 3]}, "v": {"dims": [5]}},
        {"n": 1 << 30},
    )
    assert [shapes(one) for one in (*about_other_values, *of_other_dims)] == [None] * 7
