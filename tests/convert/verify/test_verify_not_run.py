"""Models that cannot be run, or whose runs die: what is proved of them stays, and the answer is no error."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from command_lines import run
from written_models import model

import padops
from padops.convert import PadopsError, UndecidedError, UsageError
from padops.convert.proof import matching
from padops.convert.records import ProofRecord
from padops.convert.verify import choice, compare, part_inputs, process_copy, proving
from padops.convert.verify.process_copy import SECONDS, DiedError, ProcessCopy
from padops.convert.verify.sessions import Session

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="no process is copied")


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "DRAWS", 100)


# Of both inputs, a Pad that is written otherwise and proved. What else is done to x is the question.
LARGE = """(float[100000, 100000] x, float[2] w) => (float[a, b] y, float[c] z) {
    p = Constant<value_ints: ints = [0, 1, 0, 1]>() y = Pad(A, p)
    q = Constant<value_ints: ints = [1, 1]>() B }"""
ONE, TWO = (
    'z = Pad<mode="edge">(w, q)',
    (
        "r = Constant<value_ints: ints = [1, 0]>() s = Constant<value_ints: ints = [0, 1]>()"
        ' c = Pad<mode="edge">(w, r) z = Pad<mode="edge">(c, s)'
    ),
)
TOLD = "cannot verify: the input x: float[100000, 100000] would take 10000000000 random numbers"


def large(data: str = "x", how: str = ONE, before: str = "") -> onnx.ModelProto:
    return model(LARGE.replace("A", data).replace("B", how).replace("p = ", f"{before} p = ", 1))


OTHER = {"data": "m", "how": TWO, "before": "n = Neg(x) m = Neg(n)"}


def test_inputs_that_are_too_large_to_draw(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert padops.verify(large(), large(how=TWO)).verdict == "proved"
    assert padops.verify(large(), large(how=TWO), run=True).verdict == "proved"
    verification = padops.verify(large(), large(**OTHER))
    assert (verification.verdict, verification.outcome, verification.notes) == ("unknown", "not run", (TOLD,))
    assert verification.doubts == (TOLD,) and verification.proof is not None
    assert [(row.name, row.verdict) for row in verification.proof.regions] == [("z", "proved"), ("x", "unknown")]
    assert verification.unproved[0].endswith(
        "; it cannot be run alone: its inputs have 10000000000 elements, more than 67108864"
    )
    paths = [tmp_path / f"{number}.onnx" for number in range(2)]
    for path, made in zip(paths, (large(), large(**OTHER))):
        path.write_bytes(made.SerializeToString())
    for more in ([], ["--strict"]):
        code, out, err = run(capsys, "verify", *paths, *more)
        assert (code, out.splitlines()[0], err) == (5, "unknown: the models could not be run", "")
        assert TOLD in out
    code, out, _ = run(capsys, "verify", *paths, "--json")
    assert (code, json.loads(out)["exit"], json.loads(out)["outcome"]) == (5, 5, "not run")


def test_what_a_caller_gives_wrongly_stays_an_error() -> None:
    with pytest.raises(UsageError, match="the inputs lack 'x'"):
        padops.verify(large(), large(**OTHER), inputs={"w": np.ones(2, np.float32)})


SMALL = "(float[n] x, float[n] w) => (float[a] y, float[b] z) { A B }"
ADDED, PADDED = "y = Sin(x)", ONE.replace("z =", "q = Constant<value_ints: ints = [1, 1]>() z =")
PAIR = (
    SMALL.replace("A", ADDED).replace("B", PADDED),
    SMALL.replace("A", "n = Neg(x) m = Neg(n) y = Sin(m)").replace("B", TWO),
)


def refuse(error: BaseException) -> Callable[..., Any]:
    def raise_it(*given: object, **more: object) -> Any:
        raise error

    return raise_it


@pytest.mark.parametrize(
    "place, name, error, told",
    [
        (compare, "random_inputs", MemoryError("of 9 GB"), "there is no memory to run the models: of 9 GB"),
        (compare, "random_inputs", PadopsError("cannot verify: so it is"), "cannot verify: so it is"),
        (compare, "Session", PadopsError("cannot verify: no library"), "cannot verify: no library"),
    ],
)
def test_runs_of_whole_models_that_are_not_possible(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str, error: Exception, told: str
) -> None:
    monkeypatch.setattr(place, name, refuse(error))
    monkeypatch.setattr(proving, "run_isolated", refuse(MemoryError("of 5 GB")))
    verification = padops.verify(*map(model, PAIR))
    assert (verification.verdict, verification.outcome, verification.notes) == ("unknown", "not run", (told,))
    assert verification.proof is not None
    left, proved = sorted(verification.proof.regions, key=lambda row: row.verdict, reverse=True)
    assert proved.verdict == "proved" and left.why.endswith("; there is no memory to run it alone: of 5 GB")


def test_a_pair_that_there_is_no_memory_to_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    real = matching.decide

    def decide(terms: Any, a: int, b: int, *more: Any) -> Any:
        if terms.head(a).name == "x":
            raise MemoryError("of 7 GB")
        return real(terms, a, b, *more)

    monkeypatch.setattr(matching, "decide", decide)
    verification = padops.verify(*map(model, PAIR))
    assert verification.verdict == "tested" and verification.proof is not None
    found = {row.name: (row.verdict, row.why.partition(";")[0]) for row in verification.proof.regions}
    assert found == {"z": ("proved", ""), "x": ("tested", "there is no memory to decide it: of 7 GB")}


def test_no_part_is_drawn_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_inputs, "MOST", 1 << 10)
    text = PAIR[0].replace("float[n] x", "float[1025] x"), PAIR[1].replace("float[n] x", "float[1025] x")
    (left,) = (row for row in padops.verify(*map(model, text)).proof.regions if row.verdict != "proved")
    assert left.why.endswith("its inputs have 1025 elements, more than 1024")


# --- A runtime that dies
# --------------------------------------------------------------------------------------------------

DIVIDED = "(int32[n] x, int32[n] w) => (int32[a] y) { y = Div(x, w) }"


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread of the tests is in the way of copying this process."""
    monkeypatch.setattr(process_copy.threading, "active_count", lambda: 1)


@ON_LINUX
def test_integers_that_are_divided_by_0(copied: None) -> None:
    """onnxruntime dies of it, with SIGFPE."""
    other = DIVIDED.replace("y = Div(x, w)", "m = Div(x, w) v = Neg(m) y = Neg(v)")
    verification = padops.verify(model(DIVIDED), model(other))
    assert verification.verdict == "tested" and verification.proof is not None
    (region,) = verification.proof.regions
    assert "the original refused" in region.why
    wrong = DIVIDED.replace("y = Div(x, w)", "m = Div(x, w) y = Abs(m)")
    assert padops.verify(model(DIVIDED), model(wrong)).verdict == "different"


@ON_LINUX
def test_a_run_of_whole_models_that_dies(copied: None, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Session.run

    def die(self: Session, feeds: Any, wanted: Any = None) -> Any:
        return os.kill(os.getpid(), signal.SIGFPE) if wanted is None else real(self, feeds, wanted)

    monkeypatch.setattr(Session, "run", die)
    verification = padops.verify(*map(model, PAIR))
    assert (verification.verdict, verification.outcome) == ("tested", "not run"), "its parts did run"
    assert verification.notes == ("onnxruntime has ended its process (SIGFPE)",)
    monkeypatch.setattr(Session, "__init__", lambda *given, **more: os.kill(os.getpid(), signal.SIGSEGV))
    verification = padops.verify(*map(model, PAIR))
    assert (verification.verdict, verification.outcome) == ("unknown", "not run")
    assert verification.unproved[0].endswith("does not run it alone: onnxruntime has ended its process (SIGSEGV)")


@ON_LINUX
def test_runs_of_whole_models_have_a_limit(copied: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that does not end is no answer; what was proved before stays."""
    monkeypatch.setattr(choice, "WHOLE_SECONDS", 0.2)
    monkeypatch.setattr(choice, "compare", lambda *given, **more: time.sleep(60))
    verification = padops.verify(model(PAIR[0]), model(PAIR[0]), run=True)
    assert (verification.outcome, verification.notes) == ("not run", ("onnxruntime gave no answer in 0.2 s",))
    assert verification.verdict == "proved"


@ON_LINUX
def test_questions_to_a_copy_of_the_process(copied: None) -> None:
    def answer(question: str) -> object:
        if question == "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        if question == "sleep":
            time.sleep(60)
        if question == "exit":
            os._exit(3)
        if question == "raise":
            raise PadopsError("no")
        return os.getpid()

    asked = ProcessCopy(lambda: answer)
    first = asked.ask("who", SECONDS)
    assert first == asked.ask("who", SECONDS) != os.getpid()
    with pytest.raises(PadopsError, match="^no$"):
        asked.ask("raise", SECONDS)
    assert asked.ask("who", SECONDS) == first
    for question, told in (("die", r"ended its process \(SIGSEGV\)"), ("exit", r"ended its process \(exit code 3\)")):
        with pytest.raises(DiedError, match=told):
            asked.ask(question, SECONDS)
    with pytest.raises(DiedError, match=r"gave no answer in 0\.1 s"):
        asked.ask("sleep", 0.1)
    last = asked.ask("who", SECONDS)
    assert last not in (first, os.getpid())
    asked.close()
    with pytest.raises(ProcessLookupError):
        os.kill(last, 0)
    with pytest.raises(PadopsError, match="^not today$"):
        ProcessCopy(refuse(PadopsError("not today")))


@ON_LINUX
def test_a_copy_ends_with_the_process_that_it_is_of(copied: None, tmp_path: Path) -> None:
    child = os.fork()
    if not child:
        try:
            (tmp_path / "copy").write_text(str(ProcessCopy(lambda: lambda question: os.getpid()).ask(None, SECONDS)))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    copy, end = int((tmp_path / "copy").read_text()), time.monotonic() + 20
    while _lives(copy) and time.monotonic() < end:
        time.sleep(0.01)
    assert not _lives(copy)


def _lives(process: int) -> bool:
    """Whether a process runs; one that has ended, and that nobody has waited for, does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_where_a_process_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one with other threads, which may hold a lock; and in one that may have no children."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        asked = ProcessCopy(lambda: lambda question: os.getpid())
        assert asked.ask(None, SECONDS) == os.getpid()
        asked.close()
    finally:
        done.set()
        thread.join()
    monkeypatch.setattr(process_copy.current_process(), "_config", {"daemon": True})
    assert not process_copy.can_copy()


def test_what_a_conversion_that_cannot_be_run_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(choice, "proved", lambda *given: (ProofRecord("unknown", why="nobody has tried"), []))
    with pytest.raises(UndecidedError) as caught:
        padops.convert(large(), tmp_path / "out.onnx", verify=True)
    told = "it could not be told whether the models agree: {}; without verification it is converted all the same"
    assert str(caught.value) == told.format(TOLD) and not list(tmp_path.iterdir())
