"""The kinds of files that are mutated."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import onnx_models
from .mutant import Mutant

KINDS: dict[str, Callable[[int], Iterator[Mutant]]] = {"onnx": onnx_models.mutants}
