"""Models that cannot be run, or whose runs die: what is proved of them stays, and the answer is no error."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import numpy as np
import onnx
import pytest
from command_lines import Cli, save
from written_models import model

import padops
from padops.convert import PadopsError, PadsLeftError, UndecidedError, UsageError
from padops.convert.verify import choice, interface, sessions
from padops.convert.verify.choice import DiedError, in_copy
from padops.convert.verify.sessions import Session

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="no process is copied")
# The same Pad, in one and in two steps, beside what a proof takes; and another one
ONE = 'z = Pad<mode="edge">(w, q)'
TWO = """r = Constant<value_ints = [1, 0]>() s = Constant<value_ints = [0, 1]>()
    c = Pad<mode="edge">(w, r) z = Pad<mode="edge">(c, s)"""
OTHER = 'v = Sin(w) z = Pad<mode="edge">(v, q)'
LARGE = """(float[100000, 100000] x, float[n] w) => (float[a, b] y, float[c] z) {
    p = Constant<value_ints = [0, 1, 0, 1]>() y = Pad(x, p) q = Constant<value_ints = [1, 1]>() B }"""
SMALL = "(float[n] x, float[n] w) => (float[a] y, float[b] z) { y = Sin(x) q = Constant<value_ints = [1, 1]>() B }"
TOLD = "neither model was run: cannot verify: the input x: float[100000, 100000] would need 10000000000 random numbers"
PAIR = SMALL.replace("B", ONE), SMALL.replace("B", TWO)
UNLIKE = PAIR[0], SMALL.replace("B", OTHER)


def large(how: str = ONE) -> onnx.ModelProto:
    return model(LARGE.replace("B", how))


def answer(*pair: str) -> tuple[str, str, tuple[str, ...]]:
    """The verdict of two models, the outcome of their runs, and the notes."""
    verification = padops.verify(*map(model, pair))
    return verification.verdict, verification.outcome, verification.notes


def test_inputs_that_are_too_large_to_draw(cli: Cli, tmp_path: Path) -> None:
    assert answer(LARGE.replace("B", ONE), LARGE.replace("B", TWO)) == ("proved", "proved", (TOLD,))
    verification = padops.verify(large(), large(OTHER))
    assert (verification.verdict, verification.outcome, verification.notes) == ("unknown", "not run", (TOLD,))
    assert verification.doubts == (TOLD,) and verification.proof is not None
    paths = [save(tmp_path / f"{at}.onnx", large(how)) for at, how in enumerate((ONE, OTHER))]
    code, out, err = cli("verify", *paths)
    assert (code, out.splitlines()[0], err) == (5, "unknown: the models could not be run", "")
    code, out, _ = cli("verify", *paths, "--json")
    assert (code, json.loads(out)["exit"], json.loads(out)["outcome"]) == (5, 5, "not run")


SEQUENCE = "(seq(float[2]) s) => (float[m] y) { i = Constant<value_int = 0>() a = SequenceAt(s, i) y = Relu(a) }"


@pytest.mark.parametrize(("loads", "verdict", "outcome"), [
    ((True, True), "proved", "proved"), ((False, True), "proved", "proved"), ((True, False), "different", "fails"),
    ((False, False), "tested", "same"),
])  # fmt: skip
def test_models_that_cannot_be_fed_are_loaded(loads: tuple, verdict: str, outcome: str, monkeypatch: Any) -> None:
    create, left = sessions.Model.session, iter(loads)
    monkeypatch.setattr(choice, "in_copy", lambda run: run())

    def session(self: sessions.Model, optimised: bool) -> Session:
        if not next(left):
            raise sessions.DoesNotRun("no kernel")
        return create(self, optimised)

    monkeypatch.setattr(sessions.Model, "session", session)
    notes = ["neither model was run: input 's' is not a tensor of a supported element type"]
    for name, one in zip(("original", "converted"), loads):
        notes += [f"ONNX Runtime does not load the {name} model: no kernel"] * (not one)
    assert answer(SEQUENCE, SEQUENCE) == (verdict, outcome, tuple(notes))


@ON_LINUX
def test_a_converted_model_that_ends_the_process() -> None:
    """onnxruntime runs a Split with an unused output, and dies of the same Split without a name for it."""
    one, other = (model("(float[n] x) => (float[m] y) { a, y = Split<axis=0, num_outputs=2>(x) }") for _ in range(2))
    other.graph.node[0].output[0] = ""
    verification = padops.verify(one, other)
    assert (verification.verdict, verification.outcome) == ("different", "fails")
    assert verification.notes == ("with the converted model, onnxruntime has ended its process (SIGSEGV)",)


@ON_LINUX
@pytest.mark.parametrize(("number", "verdict"), [(signal.SIGSEGV, "different"), (signal.SIGKILL, "proved")])
def test_a_fallback_that_ends_the_process(number: int, verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the converted model's fault, unless the original has fallbacks, too, or somebody has killed the process."""
    source = model('(float[n] x) => (float[m] y) { p = Constant<value_ints = [1, 1]>() y = Pad<mode = "edge">(x, p) }')
    converted = padops.convert(source, fold=False).proto()
    opened = sessions.Model.session

    def session(self: sessions.Model, optimised: bool, library: bool = True) -> Session:
        if not library:
            os.kill(os.getpid(), number)
        return opened(self, optimised, library)

    monkeypatch.setattr(sessions.Model, "session", session)
    assert padops.verify(source, converted).verdict == verdict
    assert padops.verify(converted, converted).verdict == "proved"


@pytest.mark.parametrize(("place", "name", "happens", "note"), [
    (interface, "random_inputs", MemoryError("of 9 GB"), "of 9 GB"),
    (interface, "random_inputs", PadopsError("cannot verify: so it is"), "cannot verify: so it is"),
    (sessions, "Session", PadopsError("cannot verify: no library"), "cannot verify: no library"),
    pytest.param(Session, "run", lambda *given, **more: os.kill(os.getpid(), signal.SIGFPE),
                 "onnxruntime has ended its process (SIGFPE)", marks=ON_LINUX),
])  # fmt: skip
def test_runs_of_whole_models_that_are_not_possible(place: Any, name: str, happens: Any, note: str, monkeypatch: Any):
    monkeypatch.setattr(choice, "MOST_COPIES", 3)
    monkeypatch.setattr(place, name, Mock(side_effect=happens))
    verdict, outcome, notes = answer(*UNLIKE)
    assert (verdict, outcome, len(notes)) == ("unknown", "not run", 1) and notes[0].endswith(note)
    assert answer(*PAIR)[0] == "proved"


@pytest.mark.parametrize("given", [None, {"x": np.ones(2, np.float32)}])
def test_memory_is_limited_for_drawn_inputs_alone(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = list[int | None]()
    monkeypatch.setattr(choice, "in_copy", lambda run, room: rooms.append(room) or run())
    source = model("(float[n] x) => (float[m] y) { y = Neg(x) }")
    assert padops.verify(source, source, given).verdict == "proved"
    assert rooms == [None if given else choice.ROOM + choice.LOADED * source.ByteSize()]


def test_inputs_that_have_ended_the_process_are_not_run_again() -> None:
    risks, session, feeds = sessions.Risks(), Mock(), [{"x": np.ones(size)} for size in (1, 2)]
    risks.left_out.add(1)
    (trial,) = sessions.run_trials(session, [feeds], True, risks)
    assert trial.feeds is feeds[1] and session.run.call_args_list == [call(feeds[1])]


def test_a_model_that_runs_in_place_of_the_original_finds_its_data(tmp_path: Path) -> None:
    """ONNX Runtime has no Pad of int16; padops' operators run in its place."""
    source = model("""(int16[3] x) => (int16[m] y, float[3] z) {
        p = Constant<value_ints = [1, 1]>() y = Pad(x, p) z = Neg(w) }""")
    source.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(3, np.float32), "w"))
    onnx.save(source, tmp_path / "m.onnx", save_as_external_data=True, location="data", size_threshold=0)
    padops.convert(tmp_path / "m.onnx", tmp_path / "converted.onnx")
    found = padops.verify(tmp_path / "m.onnx", tmp_path / "converted.onnx", run=True)
    assert (found.verdict, found.outcome) == ("proved", "equal")


def test_a_model_that_is_too_large_for_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    source = model("(float[n] x) => (float[m] y) { y = Neg(x) }")
    monkeypatch.setattr(choice, "LARGEST_PROTO", source.ByteSize() - 1)
    with pytest.raises(PadopsError, match=f"more than {source.ByteSize() - 1} bytes in memory"):
        padops.verify(source, source)


@ON_LINUX
def test_a_copy_of_the_process() -> None:
    assert in_copy(os.getpid) != os.getpid()
    with pytest.raises(PadopsError, match="^no$"):
        in_copy(Mock(side_effect=PadopsError("no")))
    with pytest.raises(DiedError, match=r"ended its process \(SIGSEGV\)"):
        in_copy(lambda: os.kill(os.getpid(), signal.SIGSEGV))
    with pytest.raises(DiedError, match=r"ended its process \(exit code 3\)"):
        in_copy(lambda: os._exit(3))
    assert in_copy(lambda: len(bytearray(1 << 20)), room=1 << 30) == 1 << 20
    before = signal.signal(signal.SIGTERM, lambda *given: None)  # such as one that removes files
    try:
        assert in_copy(lambda: [*map(signal.getsignal, (signal.SIGINT, signal.SIGTERM))]) == [1, 0]
    finally:
        signal.signal(signal.SIGTERM, before)
    with pytest.raises(MemoryError):
        in_copy(lambda: len(bytearray(1 << 31)), room=1 << 30)


def test_where_a_process_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one with other threads at work, which may hold a lock; and in one that may have no children."""
    for daemon in (False, True):
        done = threading.Event()
        thread = threading.Thread(target=done.wait, daemon=daemon)
        thread.start()
        try:
            assert (in_copy(os.getpid) == os.getpid()) is not daemon
        finally:
            done.set()
            thread.join()
    monkeypatch.setattr(choice.current_process(), "_config", {"daemon": True})
    assert not choice.can_copy()


def test_what_a_conversion_that_cannot_be_run_says(unproved: None, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the inputs lack 'x'"):
        padops.verify(large(), large(OTHER), inputs={"w": np.ones(2, np.float32)})
    with pytest.raises(UndecidedError) as caught:
        padops.convert(large(), tmp_path / "out.onnx", verify=True)
    told = "padops could not decide whether the models agree: {}; without verification it is converted all the same"
    assert str(caught.value) == told.format(TOLD) and not list(tmp_path.iterdir())


def test_no_memory_for_some_inputs_is_no_difference(unproved: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lowered Pad may need more memory than the Pad; smaller inputs, if any, decide."""
    real, most = sessions.run_session, 100

    def run_session(session: Any, feeds: Any, *more: Any) -> Any:
        if session.get_modelmeta().graph_name == "lowered" and sum(array.size for array in feeds.values()) > most:
            raise RuntimeError("Failed to allocate memory for requested buffer of size 1387481856")
        return real(session, feeds, *more)

    monkeypatch.setattr(sessions, "run_session", run_session)
    one, other = map(model, PAIR)
    other.graph.name = "lowered"
    monkeypatch.setattr(interface, "TURNS", 3)
    verification = padops.verify(one, other)
    left = [note for note in verification.notes if note.endswith(" sets of inputs: there is no memory for them")]
    assert verification.verdict == "tested" and len(left) == 1, verification.notes
    most = -1
    verification = padops.verify(one, other)
    assert (verification.verdict, verification.outcome) == ("unknown", "not run")
    assert verification.notes[0].startswith("there is no memory to run the models: ")


def unheard(mode: str = "reflect", level: int = 0) -> onnx.ModelProto:
    return model(f"""(float[n, 3] x) => (float[a, b] z) <int64[4] p = {{0, 1, 0, 1}}> {{
        [pad] y = Pad <mode = "{mode}"> (x, p) z = other.Unheard <level = {level}> (y) }}""")


def test_a_model_that_no_runtime_loads_is_not_proved(tmp_path: Path) -> None:
    """Its structure is the same; no runtime says that it loads."""
    verification = padops.verify(unheard(), padops.convert(unheard(), fallback=False).proto())
    assert (verification.verdict, verification.outcome) == ("tested", "same") and verification.proof.verdict == "proved"
    assert all("Unheard" in note for note in verification.notes)
    with pytest.raises(UndecidedError):
        padops.convert(unheard(), tmp_path / "out.onnx", verify=True, strict=True)
    for other in (unheard(level=1), unheard("edge")):
        assert padops.verify(unheard(), other).verdict == "unknown"


def test_a_model_that_no_runtime_loads_is_not_written(unproved: None, cli: Cli, tmp_path: Path) -> None:
    """``-q`` still prints the reason. No release of ONNX Runtime runs a Pad of opset 1."""
    oldest = '(float[3] x) => (float[m] y) { [a] y = Pad <mode = "constant", paddings = [1, 1]> (x) }'
    source, out = save(tmp_path / "m.onnx", model(oldest, 1, 4)), tmp_path / "out.onnx"
    why = "1 of 1 Pad stays unconverted, and ONNX Runtime does not run the model as it is: graph/a (Pad-1 attributes)"
    for given in ((source,), (source, out)):
        with pytest.raises(PadsLeftError) as caught:
            padops.lower(*given)
        assert str(caught.value).startswith(why)
    code, _, err = cli("convert", source, "-o", out, "--target", "onnx", "-q")
    assert code == 3 and err.startswith(f"error: {why}")
    code, _, err = cli("convert", save(tmp_path / "u.onnx", unheard()), "-o", out, "--verify", "--run", "-q")
    assert code == 5 and "nor the converted model" in err and not out.exists()


def test_inputs_that_a_model_does_not_take(unproved: None, cli: Cli, tmp_path: Path) -> None:
    """ONNX Runtime runs the model: it was the indices that were not in the table."""
    source = model("""(int64[64] i) => (float[m] y) <float[1] table = {1}, int64[2] p = {0, 1}> {
        g = Gather (table, i) y = Pad (g, p) }""")
    path, said = save(tmp_path / "m.onnx", source), "ONNX Runtime does not run the original with these inputs: "
    code, out, _ = cli("verify", "--run", path, path)
    out = " ".join(out.split())
    assert code == 5 and out.startswith("unknown: neither model runs")
    assert said in out and "; --inputs FILE.npz sets other inputs" in out and "with i: int64[64]" in out
    verification = padops.verify(source, source, inputs={"i": np.ones(64, np.int64)}, run=True)
    assert any(note.startswith(said) and "--inputs" not in note for note in verification.notes)


@pytest.mark.parametrize("dims", ["2, 3", "n, m"])
def test_a_fallback_function_that_does_not_run_is_a_difference(dims: str) -> None:
    """With the library both give the same; in a session without it the converted model does not load."""
    pad = f'(float[{dims}] x) => (float[a, b] y) <int64[4] p = {{0, 1, 0, 1}}> {{ y = Pad <mode = "reflect"> (x, p) }}'
    source, broken = model(pad), padops.convert(model(pad)).proto()
    (function,) = broken.functions
    function.node.append(onnx.helper.make_node("Not", [function.input[0]], ["unread"]))  # there is none of floats
    verification = padops.verify(source, broken)
    assert (verification.verdict, verification.outcome) == ("different", "fails")
    assert "it does not run in a session without padops" in verification.notes[-1]
    itself = padops.verify(broken, broken, run=True)
    assert (itself.verdict, itself.outcome) == ("proved", "equal"), "without padops, the original does not run either"
