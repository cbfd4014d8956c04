"""What the makers of mutants give to the runner."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One command over files of which at least one is wrong.

    Attributes:
        label: What was done to which base, such as ``tokens.onnx: dims of initializer 'pads' -> [3]``.
        files: Names and contents; they are put into a fresh folder.
        arguments: Of the command line, relative to the folder: ``("convert", "m.onnx", "-o", "out.onnx")``.
    """

    label: str
    files: dict[str, bytes]
    arguments: tuple[str, ...]
