"""What ``padops inspect`` finds wrong, for machines: kinds, which are exit codes, and levels, which reports for CI have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from padops.exits import DIFFERENT, ERROR, LEFT, UNDECIDED

if TYPE_CHECKING:
    from padops.convert.facts import PadFacts
    from padops.convert.inspection import Inspection

Kind = Literal["refused", "wrong", "unsure"]
Level = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Rule:
    """One thing that can be wrong.

    Attributes:
        id: What SARIF and JUnit call it; it stays the same from release to release.
        title: A few words.
        description: A sentence.
        kind: What ``--check`` calls it; None for a model that cannot be read.
        level: How bad it is.
    """

    id: str
    title: str
    description: str
    kind: Kind | None
    level: Level


# By the verdict on a Pad.
RULES = {
    "wrong": Rule("pad-wrong", "wrong results", "ONNX Runtime runs the Pad, and its results are wrong.", "wrong", "error"),
    "refuses": Rule("pad-refused", "Pad refused", "ONNX Runtime refuses the model because of the Pad.", "refused", "error"),
    "breaks a rule": Rule("pad-breaks-a-rule", "Pad breaks a rule", "No runtime can run the Pad: it breaks a rule of its "
                          "specification.", "refused", "error"),
    "may be wrong": Rule("pad-may-be-wrong", "results may be wrong", "ONNX Runtime runs the Pad, and for some data its results "
                         "are wrong.", "unsure", "warning"),
    "unknown": Rule("pad-unknown", "Pad unknown", "It is not known what ONNX Runtime does with the Pad.", "unsure", "warning"),
}  # fmt: skip
UNREADABLE = Rule("model-unreadable", "model unreadable", "The model cannot be read.", None, "error")
# The worst first: a wrong result is worse than none.
EXIT_CODES: dict[Kind | None, int] = {"wrong": DIFFERENT, None: ERROR, "refused": LEFT, "unsure": UNDECIDED}
KINDS: tuple[Kind, ...] = ("refused", "wrong", "unsure")


@dataclass(frozen=True)
class Inspected:
    """One model that was inspected.

    Attributes:
        name: The file, as it was named; ``"-"`` for standard input.
        result: What is in it, or why it cannot be read.
    """

    name: str
    result: Inspection | str


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        rule: What it is.
        model: The file.
        place: The path of the Pad; "" where the model cannot be read.
        why: The reason.
        helps: The line that helps; "" where none does.
        allowed: Whether ``--allow`` names its kind.
    """

    rule: Rule
    model: str
    place: str
    why: str
    helps: str = ""
    allowed: bool = False

    @property
    def level(self) -> Level:
        """How bad it is: a note where it is allowed."""
        return "note" if self.allowed else self.rule.level


def findings_of(inspected: Inspected, allowed: Collection[str]) -> list[Finding]:
    """What is wrong with one model, in its order.

    Args:
        inspected: The model.
        allowed: The kinds that ``--allow`` names.
    """
    if isinstance(inspected.result, str):
        return [Finding(UNREADABLE, inspected.name, "", inspected.result)]
    found = []
    for pad in inspected.result.failing:
        rule = RULES[pad.verdict]
        found.append(
            Finding(rule, inspected.name, pad.path, pad.why, _helps(inspected.result, pad), rule.kind in allowed)
        )
    return found


def _helps(inspection: Inspection, pad: PadFacts) -> str:
    """The first line that makes a Pad run: one that makes the whole model run, if there is one."""
    roads = [road for road in inspection.roads if road in pad.roads] or list(pad.roads)
    return next(iter(replace(inspection, roads=tuple(roads)).commands().values()), "")


def all_findings(told: Sequence[Inspected], allowed: Collection[str]) -> Iterator[Finding]:
    """What is wrong with each of the models.

    Args:
        told: The models.
        allowed: The kinds that ``--allow`` names.
    """
    for inspected in told:
        yield from findings_of(inspected, allowed)


def exit_code(told: Sequence[Inspected], allowed: Collection[str]) -> int:
    """What ``--check`` ends with: 0, or the code of the worst that is not allowed.

    Args:
        told: The models.
        allowed: The kinds that ``--allow`` names.
    """
    kinds = {finding.rule.kind for finding in all_findings(told, allowed) if not finding.allowed}
    return next((code for kind, code in EXIT_CODES.items() if kind in kinds), 0)
