"""What a Pad is, and what ONNX Runtime does with it, as data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

Verdict = Literal["runs", "runs if", "may be wrong", "wrong", "refuses", "breaks a rule", "unknown"]
Road = Literal["session", "memory", "convert", "lower"]

RUNNING = ("runs", "runs if")  # of the verdicts
Dim = int | str | None  # a number, a name, or None for one that is not known


@dataclass(frozen=True)
class PadFacts:
    """One Pad of a model: what it is, and what ONNX Runtime does with it.

    Attributes:
        path: Where it stands; see ``PadRecord.path``.
        name: The node's name, as the model has it.
        form: What was found, such as ``"Pad-18 inputs"``; see ``PadRecord.form``.
        operator: The node's operator, with its domain where that is not ONNX's.
        opset: The version of that domain that the graph imports; None where there is none.
        mode: ``"constant"``, ``"edge"``, ``"reflect"``, ``"wrap"``, ``"symmetric"``, ``"SAME_UPPER"`` or ``"SAME_LOWER"``;
            None where a function's caller gives it.
        type: The element type of the data; None where it is not known.
        input_shape: Of the data: a number, a name or None for each dim; None where not even their number is known.
        output_shape: The same of the result.
        amounts: For each axis what is added before and after, and between any two elements where a Pad does that; negative
            where it crops. None for an axis of which it is not known, and for the whole where it is of none.
        fill: The text of the element that it fills with; ``"at run time"`` where that is an input; None where it fills with
            none.
        verdict: What ONNX Runtime does with it: ``"runs"``; ``"runs if"``, where the reason says what has to hold of the
            data; ``"may be wrong"`` and ``"wrong"``; ``"refuses"``; ``"breaks a rule"``, where it can run nowhere; or
            ``"unknown"``.
        why: The reason.
        roads: What makes it run with padops, the best first: ``"session"`` (``padops.InferenceSession``, or
            ``padops.register`` with the provider), ``"convert"`` (``padops convert``), ``"lower"`` (``padops convert
            --target onnx``). Only ``padops.inspect`` fills this in.
        runner: The execution provider that runs it in a ``padops.InferenceSession``; "" where none does, or none was asked for.
            Only ``padops.inspect`` fills this in, where it is told the providers.
    """

    path: str
    name: str
    form: str
    operator: str
    opset: int | None
    mode: str | None
    type: str | None
    input_shape: tuple[Dim, ...] | None
    output_shape: tuple[Dim, ...] | None
    amounts: tuple[tuple[int, ...] | None, ...] | None
    fill: str | None
    verdict: Verdict
    why: str
    roads: tuple[Road, ...] = ()
    runner: str = ""

    @property
    def runs(self) -> bool:
        """Whether ONNX Runtime runs it, as far as that can be said without the data."""
        return self.verdict in RUNNING

    def to_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            row.name: _plain(getattr(self, row.name)) for row in fields(self) if row.name not in ("roads", "runner")
        }

    def what(self) -> str:
        """What it is in one line: the mode, the type, the shapes, the amounts and the fill."""
        shapes = f"{shape_text(self.input_shape)} \N{RIGHTWARDS ARROW} {shape_text(self.output_shape)}"
        parts = [*([self.mode] if self.mode else []), f"{self.type or 'unknown type'} {shapes}"]
        if self.amounts is not None or self.mode is not None:
            parts.append(self._amounts_text())
        if self.fill is not None:
            parts.append(f"fill {self.fill}")
        return ", ".join(parts)

    def _amounts_text(self) -> str:
        if self.amounts is None:
            return "amounts at run time"
        parts = []
        for axis, row in enumerate(self.amounts):
            if row is None:
                parts.append(f"axis {axis}: at run time")
            elif any(row):
                parts.append(f"axis {axis}: {row[0]}, {row[1]}" + (f", interior {row[2]}" if row[2:] else ""))
        return ", ".join(parts) or "nothing added"


def _plain(value: Any) -> Any:
    """Tuples as lists."""
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def shape_text(shape: tuple[Dim, ...] | None) -> str:
    """A shape as people write it: ``[2, n, ?]``; ``[...]`` where not even the rank is known."""
    return "[...]" if shape is None else f"[{', '.join('?' if dim is None else str(dim) for dim in shape)}]"
