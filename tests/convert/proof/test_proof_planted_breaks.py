"""Proofs find breaks in the converter, tests find breaks in the proofs, and every single wrong Pad is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
import test_flat_indices
import test_windows
import test_windows_of_others
from crafted_pair import parsed
from every_pair import PAIRS
from pairs_of_windows import KERNEL, WEIGHTS, padded
from planted_breaks import broken_models
from planted_source import planted
from written_models import model as written

import padops
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits, Verdict

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "models").glob("*.onnx"))
LIMITS = Limits(goal_seconds=3, region_seconds=10, seconds=60)
# The first and the last column are the same there, whatever the inputs: both are fill, or both a reflection.
WITHOUT_EFFECT = {"nested.onnx": ["grown_pad: wrap became edge"]}

IMAGE = "float[1,1,5,6] x => float[A,B,C,D] y"
W = ", w"
VECTOR, SHORTS = "float[N] x => float[M] y", "int16[N] x => int16[M] y"
REFLECT = 'p = Constant <value_ints = [2, 3]> ()\ny = Pad <mode = "reflect"> (x, p)'
CROPPED = 'p = Constant <value_ints = [-2, 3]> ()\ny = Pad <mode = "edge"> (x, p)'
FOLDING, STANDARD = "padops.convert.folding", "padops.convert.standard"
LOWERED = {"target": "onnx", "without_pad": True}


def two(first: str, second: str, mode: str = "constant") -> str:
    """Two Pads in a row."""
    given = (
        f"p = Constant <value_ints = [1, 0]> ()\nf = Constant <value_float = {first}> ()\n"
        f"g = Constant <value_float = {second}> ()\n"
    )
    return given + f'a = Pad <mode = "{mode}"> (x, p, f)\ny = Pad <mode = "{mode}"> (a, p, g)'


def model(signature: str, nodes: str, held: str = "") -> onnx.ModelProto:
    return parsed(signature, nodes, held=held)


CONV = model(IMAGE, padded("Conv", others=W, pads="[0, 0, 1, 2, 0, 0, 0, 1]"), WEIGHTS)
FILLED = model(IMAGE, padded("Conv", others=W, fill="1.0"), WEIGHTS)
CONVERTER: dict[str, tuple[str, str, str, onnx.ModelProto, dict[str, Any]]] = {
    "any fill goes into a Conv": (
        f"{FOLDING}.consumers", "if wanted is None or pad.fill is None or pad.fill != wanted:", "if False:", FILLED, {},
    ),
    "begins and ends of a Conv": (
        f"{FOLDING}.consumers", "[*(s.begin for s in spatial), *(s.end for s in spatial)]",
        "[*(s.end for s in spatial), *(s.begin for s in spatial)]", CONV, {},
    ),
    "the pads that a Conv had": (
        f"{FOLDING}.consumers", "pads = [a + b for a, b in zip(own,", "pads = [b for a, b in zip(own,",
        model(IMAGE, padded("Conv", "pads = [1, 1, 1, 1]", W), WEIGHTS), {},
    ),
    "what an AveragePool does not count": (
        f"{FOLDING}.consumers", 'ir.AttrInt64("count_include_pad", 1)', 'ir.AttrInt64("count_include_pad", 0)',
        model(IMAGE, padded("AveragePool", KERNEL)), {},
    ),
    "ceil_mode": (
        f"{FOLDING}.consumers", 'if "ceil_mode" in node.attributes and node.attributes["ceil_mode"].value:',
        "if False:",
        model(IMAGE, padded("AveragePool", KERNEL + ", strides = [2, 2], ceil_mode = 1")), {},
    ),
    "two Pads of two fills": (
        f"{FOLDING}.fold", "return first.fill is not None and first.fill == second.fill", "return True",
        model(VECTOR, two("1.0", "2.0")), {},
    ),
    "two reflections": (
        f"{FOLDING}.fold", "return apart and first.info.op.limit is second.info.op.limit", "return True",
        model(VECTOR, two("0.0", "0.0", "reflect")), {},
    ),
    "a Pad of some 0": (
        f"{FOLDING}.candidate", "all(amounts == NOTHING for amounts in self.amounts)",
        "any(amounts == NOTHING for amounts in self.amounts)",
        model("float[2,3] x => float[A,B] y",
              "p = Constant <value_ints = [0, 1, 0, 1]> ()\na = Neg (x)\nb = Pad (a, p)\ny = Neg (b)"), {},
    ),
    "positions of a period": (
        f"{STANDARD}.extension", "remains = positions % period", "remains = positions",
        model(VECTOR, REFLECT), LOWERED,
    ),
    "what is left of a crop": (
        f"{STANDARD}.extension", "window = size + front + back",
        "window = size + back",
        model(VECTOR, CROPPED), LOWERED,
    ),
    "where a crop begins": (
        f"{STANDARD}.extension", "amounts.begin - front, -front, window)",
        "amounts.begin - front, None, window)", model(VECTOR, CROPPED), LOWERED,
    ),
    "begins and ends of a fallback": (
        f"{STANDARD}.extension", "begin, end = take(pairs, 0), take(pairs, 1)",
        "begin, end = take(pairs, 1), take(pairs, 0)", model(SHORTS, REFLECT), {},
    ),
    "positions of a fallback": (
        f"{STANDARD}.extension",
        "else np.minimum(remains, period + self.mirror - remains)",
        "else remains", model(SHORTS, REFLECT), {},
    ),
    "the window of a fallback": (
        f"{STANDARD}.extension", "window = size + front + back",
        "window = size + front",
        model(SHORTS, REFLECT.replace("[2, 3]", "[3, -1]")), {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CONVERTER)
def test_a_break_in_the_converter_is_found(what: str) -> None:
    module, former, other, original, options = CONVERTER[what]
    right = padops.convert(original, **options).proto()
    with planted(module, former, other):
        wrong = padops.convert(original, **options).proto()
    assert wrong != right, "the break is in the way of this conversion"
    assert prove(original, wrong, limits=LIMITS).verdict is not Verdict.PROVED
    assert padops.convert(original, **options).proto() == right, "it has been taken back"
    assert prove(original, right, limits=LIMITS).verdict is Verdict.PROVED


def calls(test: Callable[..., None]) -> list[Callable[[], None]]:
    """A test with each of its parameters."""
    marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    if not marks:
        return [test]
    (mark,) = marks
    rows = [
        row if isinstance(row, tuple) and "," in str(mark.args[0]) or not isinstance(mark.args[0], str) else (row,)
        for row in mark.args[1]
    ]
    return [lambda row=row: test(*row) for row in rows]


def not_proved(*names: str) -> Callable[[], None]:
    """The test that pairs that differ are not proved."""

    def test() -> None:
        for name in names:
            found = prove(PAIRS[name].original, PAIRS[name].converted, limits=LIMITS)
            assert found.verdict is not Verdict.PROVED, name

    return test


PROOF = "padops.convert.proof"
NEEDS, AVERAGE = test_windows.test_what_a_convolution_needs, test_windows_of_others.test_what_an_average_needs
VERIFIER: dict[str, tuple[str, str, str, Callable[..., None]]] = {
    "other attributes of windows": (
        f"{PROOF}.windows", "if first.head != second.head or len(first.others) != len(second.others):",
        "if len(first.others) != len(second.others):", NEEDS,
    ),
    "other inputs of windows": (f"{PROOF}.windows", "not prove(one, other)):", "False):", NEEDS),
    "the data of windows": (f"{PROOF}.windows", "if not prove(first.data, second.data):", "if False:", NEEDS),
    "weights that are not finite": (f"{PROOF}.windows", "return bool(np.isfinite(array).all())", "return True", NEEDS),
    "negative pads of windows": (f"{PROOF}.windows", "if len(pads) % 2 or min(pads) < 0:", "if len(pads) % 2:", NEEDS),
    "auto_pad of windows": (f"{PROOF}.windows", "if auto_pad not in UNPADDED:", "if False:", NEEDS),
    "what an AveragePool counts": (
        f"{PROOF}.windows", 'if not terms.attribute(term, "count_include_pad", 0):', "if False:", AVERAGE,
    ),
    "the kernel of an AveragePool": (
        f"{PROOF}.windows", "any(pad >= size for pad, size in zip(pads, kernel * 2)):", "False:", AVERAGE,
    ),
    "axes of 0 elements": (f"{PROOF}.windows", "isinstance(dim, int) and dim > 0 for dim", "True for dim", AVERAGE),
    "no zero point": (
        f"{PROOF}.windows", "if at is None or at >= len(inputs) or inputs[at] == ABSENT:", "if True:",
        test_windows_of_others.test_another_fill_than_the_zero_point,
    ),
    "other attributes": (
        f"{PROOF}.matching", "return one == other or self", "return one.name == other.name or self",
        not_proved("a default that is written, and another one"),
    ),
    "types of a fill": (
        f"{PROOF}.pads", "return value is None or kind is None or value == kind", "return True",
        lambda: fill_is_refused(),
    ),
    "bits of a fill": (
        f"{PROOF}.pads", "else not any(elements.tobytes())", "else not elements.any()", not_proved("a fill of -0"),
    ),
    "Pads that no runtime takes": (
        f"{PROOF}.regions", "for spelling in second.refused - first.refused:", "for spelling in ():",
        lambda: refused_is_said(),
    ),
    "a dim of another axis": (
        f"{PROOF}.flat_graph", "which.item() not in (axis, axis - len(self.dims))", "False",
        test_flat_indices.test_what_is_left,
    ),
    "positions below 0": (
        f"{PROOF}.flat_indices", "[below, beyond, position]", "[below, position, position]",
        test_flat_indices.test_a_position_below_0_fails,
    ),
    "another fill of positions": (
        f"{PROOF}.flat_indices", "and array.item() == -1", "", test_flat_indices.test_what_is_left,
    ),
}  # fmt: skip


def fill_is_refused() -> None:
    text = (
        "(float[3] x) => (float[a] y) { p = Constant<value_ints: ints = [0, 1]>() "
        "f = Constant<value_int: int = 0>() y = P }"
    )
    pair = (written(text.replace("P", f'padops.Pad_18<mode = "edge">(x, p{fill})')) for fill in ("", ", f"))
    assert prove(*pair, limits=LIMITS).verdict is not Verdict.PROVED


def refused_is_said() -> None:
    one = PAIRS["a mode that the operator does not know, in a branch that is never taken"]
    assert "does not take" in prove(one.original, one.converted, limits=LIMITS).why


@pytest.mark.parametrize("what", VERIFIER)
def test_a_break_in_the_proofs_turns_a_test_red(what: str) -> None:
    module, former, other, test = VERIFIER[what]
    rows = calls(test)
    for call in rows:
        call()
    failed = 0
    with planted(module, former, other):
        for call in rows:
            try:
                call()
            except Exception:  # of any kind: a test that is red
                failed += 1
    assert failed > 0, f"no test sees it: {former} -> {other}"
    for call in rows:
        call()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_wrong_pad_of_an_example_is_found(path: Path) -> None:
    original = onnx.load(path)
    converted = padops.convert(path, fold=False, fallback=False).proto()
    assert prove(original, converted, limits=LIMITS).verdict is Verdict.PROVED
    breaks = list(broken_models(converted))
    proved = [what for what, broken in breaks if prove(original, broken, limits=LIMITS).verdict is Verdict.PROVED]
    assert breaks and [what for what in proved if what not in WITHOUT_EFFECT.get(path.name, [])] == []
