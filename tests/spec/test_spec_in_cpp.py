"""padops/spec/plan.py and the C++ agree: plans, source positions and SAME, of small numbers and of the largest.

The C++ is compiled with checks for undefined behaviour, so that a step beyond int64 ends the run.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from padops.spec.dialects import same_padding
from padops.spec.plan import LARGEST, Amounts, AxisPlan, Crop, Limit, Mode, PadError, make_plan, source_index

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [ROOT / "tests" / "cpp" / "spec_in_cpp.cpp"]
CSRC = ROOT / "padops" / "csrc"
SOURCES += [CSRC / "core" / f"{name}.cpp" for name in ("amounts", "dialects", "plan", "runs")]
FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
MODES, CROPS, LIMITS = ([*enumeration] for enumeration in (Mode, Crop, Limit))
# The order of the C++ enumerators, which are numbers in the questions.
CPP_MODES = [Mode.CONSTANT, Mode.EDGE, Mode.REFLECT, Mode.SYMMETRIC, Mode.WRAP]
PLANS, SAMES = 4_000, 1_500


def near(chance: random.Random, *values: int) -> int:
    """One of the values, or a neighbour of it."""
    return chance.choice(values) + chance.choice((-2, -1, 0, 0, 1, 2))


def amount(chance: random.Random) -> int:
    """A pad: mostly small, at times as large as they come."""
    kind = chance.randrange(10)
    if kind < 7:
        return chance.randint(-9, 12)
    if kind == 7:
        return near(chance, 0, LARGEST, -LARGEST, LARGEST // 2, -LARGEST // 2, 2**31, 2**62)
    return chance.randint(-(2**63), 2**63 - 1) >> chance.randrange(63)


def dim(chance: random.Random) -> int:
    return chance.randint(0, 7) if chance.randrange(4) else abs(amount(chance)) % 2**63


def random_plan(chance: random.Random) -> tuple[list[int], list[Amounts], Mode, Crop, Limit, bool]:
    rank = chance.choice((0, 1, 1, 1, 1, 2, 2, 3))
    mode = chance.choice(MODES)
    gaps = 2 if mode is Mode.CONSTANT else 9
    pads = [
        Amounts(amount(chance), amount(chance), 0 if chance.randrange(gaps) else amount(chance)) for _ in range(rank)
    ]
    return (
        [dim(chance) for _ in range(rank)],
        [pad if chance.randrange(3) else replace(pad, interior=abs(pad.interior)) for pad in pads],
        mode,
        chance.choice(CROPS),
        chance.choice(LIMITS),
        chance.random() < 0.3,
    )


def python_plan(given: tuple) -> int | tuple[AxisPlan, ...]:
    """The plan of padops/spec/plan.py, or the number of the rule that is broken."""
    try:
        return make_plan(*given).axes
    except PadError as error:
        return int(error.rule[1:])


@pytest.fixture(scope="module")
def program() -> Path:
    """``tests/cpp/spec_in_cpp.cpp``, compiled when it or what it includes has changed."""
    built = ROOT / "build" / "spec_in_cpp" / "spec_in_cpp"
    headers = CSRC.rglob("*.[hi]*")
    if not built.exists() or built.stat().st_mtime < max(path.stat().st_mtime for path in chain(SOURCES, headers)):
        built.parent.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CXX") or shutil.which("c++") or "g++"
        made = subprocess.run([compiler, *FLAGS, f"-I{CSRC}", *SOURCES, "-o", built], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
    return built


def ask(program: Path, questions: Sequence[str]) -> list[str]:
    """The answers of the C++, one for each question."""
    ran = subprocess.run([program], input="\n".join(questions) + "\n", capture_output=True, text=True)
    answers = [" ".join(line.split()) for line in ran.stdout.splitlines()]
    asked = questions[len(answers)] if len(answers) < len(questions) else ""
    assert ran.returncode == 0, f"{asked!r}: {ran.stderr[-2000:]}"
    return answers


def words(values: Iterable) -> str:
    return " ".join(str(int(value)) for value in values)


def compare(program: Path, expected: Sequence[tuple[str, str]]) -> None:
    answers = ask(program, [question for question, _ in expected])
    wrong = [(one, answer) for one, answer in zip(expected, answers, strict=True) if one[1] != answer]
    assert not wrong, wrong[:5]


def test_plans(program: Path) -> None:
    """P1, P3 to P6, P10: the same plan, or the same rule broken."""
    chance = random.Random(11)
    expected = []
    for _ in range(PLANS):
        given = shape, amounts, mode, crop, limit, clamp = random_plan(chance)
        made = python_plan(given)
        numbers = [CPP_MODES.index(mode), CROPS.index(crop), LIMITS.index(limit), clamp]
        numbers += chain.from_iterable((size, *astuple(pads)) for size, pads in zip(shape, amounts))
        answer = f"[P{made}]" if isinstance(made, int) else words(chain(*map(astuple, made)))
        expected.append((f"plan {words(numbers)}", answer))
    refused = {answer for _, answer in expected if answer.startswith("[")}
    assert refused == {"[P1]", "[P4]", "[P5]", "[P6]", "[P10]"}
    assert sum(not answer.startswith("[") for _, answer in expected) > PLANS / 4
    compare(program, expected)


def test_source_positions(program: Path) -> None:
    """P2: the same position, at random places and at the ends of the data and of the output."""
    chance = random.Random(12)
    expected: list[tuple[str, str]] = []
    while len(expected) < PLANS:
        _, _, mode, *_ = given = random_plan(chance)
        made = python_plan(given)
        if isinstance(made, int) or not made or not all(axis.output for axis in made):
            continue
        axis = chance.choice(made)
        last = axis.output - 1
        places = (chance.randint(0, last), near(chance, 0, last, axis.begin, axis.begin + axis.extent))
        at = min(max(chance.choice(places), 0), last)
        question = f"index {CPP_MODES.index(mode)} {words(astuple(axis))} {at}"
        expected.append((question, str(source_index(axis, mode, np.array(at)))))
    compare(program, expected)


def test_same_padding(program: Path) -> None:
    """S1: the same amounts, of kernels up to the limit and dims up to int64's end."""
    chance = random.Random(13)
    expected = []
    for _ in range(SAMES):
        size = chance.choice((dim(chance), near(chance, 2**63 - 3)))
        kernel, stride, dilation = (min(max(abs(amount(chance)), 1), LARGEST) for _ in range(3))
        question = f"same {size} {kernel} {stride} {dilation}"
        if (kernel - 1) * dilation > LARGEST:
            expected.append((question, "[P10]"))
            continue
        expected.append((question, words(same_padding(size, kernel, stride, dilation))))
    assert 0 < sum(answer == "[P10]" for _, answer in expected) < SAMES / 2
    compare(program, expected)
