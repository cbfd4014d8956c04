"""The findings of ``padops inspect`` for machines: their kinds give exit codes; reports for CI have their levels."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from padops.exits import DIFFERENT, ERROR, LEFT, UNDECIDED

if TYPE_CHECKING:
    from padops.convert.inspection import Inspection
    from padops.convert.records import PadFacts

Kind = Literal["refused", "breaks-a-rule", "wrong", "unsure"]
Level = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Rule:
    """A kind of finding.

    Attributes:
        id: Its name in SARIF and JUnit; it stays the same from release to release.
        title: A few words.
        description: A sentence.
        kind: Its name for ``--check`` and ``--allow``; None for a model that cannot be read.
        level: How bad it is.
    """

    id: str
    title: str
    description: str
    kind: Kind | None
    level: Level


# By the verdict on a Pad.
RULES = {
    "wrong": Rule("pad-wrong", "wrong results", "ONNX Runtime runs the Pad, and its results are wrong.", "wrong",
                  "error"),
    "refuses": Rule("pad-refused", "Pad refused", "ONNX Runtime refuses the model because of the Pad.", "refused",
                    "error"),
    "breaks a rule": Rule("pad-breaks-a-rule", "Pad breaks a rule", "No runtime can run the Pad: it breaks a rule of "
                          "its specification.", "breaks-a-rule", "error"),
    "may be wrong": Rule("pad-may-be-wrong", "results may be wrong", "ONNX Runtime runs the Pad, and for some data its "
                         "results are wrong.", "unsure", "warning"),
    "unknown": Rule("pad-unknown", "Pad unknown", "padops cannot predict how ONNX Runtime runs this Pad.", "unsure",
                    "warning"),
}  # fmt: skip
UNREADABLE = Rule("model-unreadable", "model unreadable", "The model cannot be read.", None, "error")
# The worst first: a wrong result is worse than none.
EXIT_CODES: dict[Kind | None, int] = {
    "wrong": DIFFERENT,
    None: ERROR,
    "refused": LEFT,
    "breaks-a-rule": LEFT,
    "unsure": UNDECIDED,
}
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Inspected:
    """One model that was inspected.

    Attributes:
        name: The file, as it was named; ``"-"`` for standard input.
        result: Its inspection, or the reason why it cannot be read.
    """

    name: str
    result: Inspection | str


def nameless(name: str, error: str) -> str:
    """An error about a model, for a line that begins with the model's name: without the name at its own beginning."""
    return error.removeprefix(name).lstrip(": ") if error.startswith((f"{name} ", f"{name}: ")) else error


@dataclass(frozen=True)
class Finding:
    """A Pad that does not run right, or a model that cannot be read.

    Attributes:
        rule: The kind of finding.
        model: The file.
        place: The path of the Pad; "" if the model cannot be read.
        why: The reason.
        helps: The command that helps; "" if none does.
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
        """How bad it is: a note if it is allowed."""
        return "note" if self.allowed else self.rule.level


def findings_of(inspected: Inspected, allowed: Collection[str]) -> list[Finding]:
    """The findings of one model, in the order of its Pads; ``allowed`` are the kinds that ``--allow`` names."""
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
    """The first command that makes a Pad run: one that makes the whole model run, if there is one."""
    roads = [road for road in inspection.roads if road in pad.roads] or list(pad.roads)
    return next(iter(replace(inspection, roads=tuple(roads)).commands().values()), "")


def all_findings(told: Sequence[Inspected], allowed: Collection[str]) -> Iterator[Finding]:
    """The findings of all models."""
    for inspected in told:
        yield from findings_of(inspected, allowed)


def exit_code(told: Sequence[Inspected], allowed: Collection[str]) -> int:
    """The exit code of ``--check``: 0, or the code of the worst finding that is not allowed."""
    kinds = {finding.rule.kind for finding in all_findings(told, allowed) if not finding.allowed}
    return next((code for kind, code in EXIT_CODES.items() if kind in kinds), 0)
