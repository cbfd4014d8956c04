"""Models that are written in another way and compute the same: each of them is proved."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
import road_models
import same_models
from crafted_pair import answers
from small_models import model, pad, tensor

from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits, Verdict

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = {path.stem: onnx.load(path) for path in sorted((ROOT / "models").glob("*.onnx"))}
SEED, COUNT = 3, 40
LIMITS = Limits(goal_seconds=5, seconds=60)
# onnx writes no functions out whose imports are not those of the model.
NOT_WRITTEN = {("inlined", "nested")}


def sources() -> dict[str, onnx.ModelProto]:
    return EXAMPLES | {f"random {number}": road_models.draw(SEED, number).proto for number in range(COUNT)}


@pytest.mark.parametrize("way", same_models.WAYS)
def test_it_is_proved(way: str) -> None:
    proved, changed = 0, 0
    for name, source in sources().items():
        if (way, name) in NOT_WRITTEN:
            with pytest.raises(RuntimeError, match="incompatible opset"):
                same_models.WAYS[way](source)
            continue
        other = same_models.WAYS[way](source)
        changed += other != source
        found = prove(source, other, limits=LIMITS)
        assert found.verdict is Verdict.PROVED, (name, found.why, found.regions)
        assert found.regions == (), "they are the same graph"
        proved += 1
    assert proved >= len(EXAMPLES) + COUNT - 1 and changed > 10


def test_they_do_compute_the_same() -> None:
    """Where onnxruntime runs the model, it gives the same bits for each way to write it."""
    compared = 0
    for number in range(12):
        drawn = road_models.draw(SEED, number)
        expected = answers(drawn.proto, drawn.feeds)
        if isinstance(expected, str):
            continue
        for way, write in same_models.WAYS.items():
            assert answers(write(drawn.proto), drawn.feeds) == expected, (number, way)
            compared += 1
    assert compared > 40


def test_constants_in_a_file_of_their_own(tmp_path: Path) -> None:
    proved = 0
    for name, source in EXAMPLES.items():
        if not source.graph.initializer:
            continue
        (tmp_path / name).mkdir()
        path = same_models.external(source, tmp_path / name)
        other = onnx.load(path, load_external_data=False)
        found = prove(source, other, limits=LIMITS, folders=(None, path.parent))
        assert (found.verdict, found.regions) == (Verdict.PROVED, ()), (name, found)
        again = prove(other, source, limits=LIMITS, folders=(path.parent, None))
        assert again.verdict is Verdict.PROVED
        proved += 1
    assert proved > 5


def test_other_constants_in_a_file_of_their_own(tmp_path: Path) -> None:
    source = model([pad()], tensors=[tensor("pads", [1, 0, 2, 0])])
    path = same_models.external(source, tmp_path)
    other = onnx.load(path, load_external_data=False)
    data = bytearray((tmp_path / "data.bin").read_bytes())
    data[0] ^= 2
    (tmp_path / "data.bin").write_bytes(bytes(data))
    assert prove(source, other, limits=LIMITS, folders=(None, tmp_path)).verdict is not Verdict.PROVED


def test_what_onnxslim_writes() -> None:
    """Most of it. It takes If apart whose condition is constant, drops inputs, and relies on declared dims."""
    pytest.importorskip("onnxslim")
    proved = []
    for name, source in EXAMPLES.items():
        try:
            other = same_models.slimmed(source)
        except (AttributeError, RecursionError, ValueError):
            continue  # onnxslim gives up
        found = prove(source, other, limits=LIMITS)
        assert found.verdict is not Verdict.DIFFERENT, (name, found.regions)
        proved += [name] if found.verdict is Verdict.PROVED else []
    assert len(proved) >= 8, proved
