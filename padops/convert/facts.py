"""The facts of a Pad: its properties, and what ONNX Runtime does with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, Literal

Verdict = Literal["runs", "runs if", "may be wrong", "wrong", "refuses", "breaks a rule", "unknown"]
Road = Literal["session", "memory", "convert", "lower"]

RUNNING = ("runs", "runs if")  # the verdicts of Pads that run
Dim = int | str | None  # a number, a name, or None if unknown


@dataclass(frozen=True)
class PadFacts:
    """One Pad of a model, and what ONNX Runtime does with it.

    Attributes:
        path: Where it stands; see ``PadRecord.path``.
        name: The node's name, as the model has it.
        form: What was found, such as ``"Pad-18 inputs"``; see ``PadRecord.form``.
        operator: The node's operator, with its domain unless it is ONNX's.
        opset: The version of this domain that the graph imports; None if it imports none.
        mode: ``"constant"``, ``"edge"``, ``"reflect"``, ``"wrap"``, ``"symmetric"``, ``"SAME_UPPER"`` or
            ``"SAME_LOWER"``; None if a function's caller gives it.
        type: The element type of the data; None if unknown.
        input_shape: The dims of the data: a number, a name or None (unknown) for each; None if the rank is unknown.
        output_shape: The dims of the result, in the same form.
        amounts: For each axis the elements added before and after, and an interior if any; a negative number crops.
            None for an axis with unknown amounts; None for all if no axis has known amounts.
        fill: The fill as text; ``"at run time"`` if it is computed; None if the mode reads no fill.
        verdict: What ONNX Runtime does with it: ``"runs"``; ``"runs if"``: on a condition on the data, which ``why``
            names; ``"may be wrong"``; ``"wrong"``; ``"refuses"``; ``"breaks a rule"``: it can run nowhere; or
            ``"unknown"``.
        why: The reason.
        roads: What makes it run with padops, the best first: ``"session"`` (``padops.InferenceSession``, or
            ``padops.register`` with the provider), ``"convert"`` (``padops convert``), ``"lower"`` (``padops convert
            --target onnx``). Only ``padops.inspect`` sets it.
        runner: The execution provider that runs it in a ``padops.InferenceSession``; "" if none does. Only
            ``padops.inspect`` with ``providers`` sets it.
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
        """Whether ONNX Runtime runs it, as far as known without the data."""
        return self.verdict in RUNNING

    def to_json(self) -> dict[str, Any]:
        """The facts as JSON values, without ``roads`` and ``runner``."""
        return {name: value for name, value in plain_fields(self).items() if name not in ("roads", "runner")}

    def what(self) -> str:
        """The Pad in one line: mode, type, shapes, amounts and fill."""
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


def plain(value: Any) -> Any:
    """Facts and records as JSON values: their own ``to_json``, else their fields; tuples as lists."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return plain_fields(value)
    return [plain(item) for item in value] if isinstance(value, (tuple, list)) else value


def plain_fields(record: Any) -> dict[str, Any]:
    """The fields of a record as JSON values."""
    return {name: plain(value) for name, value in vars(record).items()}


def shape_text(shape: tuple[Dim, ...] | None) -> str:
    """A shape as text: ``[2, n, ?]``; ``[...]`` if the rank is unknown."""
    return "[...]" if shape is None else f"[{', '.join('?' if dim is None else str(dim) for dim in shape)}]"
