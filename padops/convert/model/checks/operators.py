"""Checks the numbers of inputs and outputs of standard operators, as ONNX Runtime does."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

import onnx

from padops.convert.errors import PadopsError

DEFAULT_DOMAINS = ("", "ai.onnx")
# Exporters write Pad in forms of other versions, which the converter knows; ONNX Runtime does not count what Constant
# has.
NOT_COUNTED = ("Pad", "Constant")

Counts = tuple[tuple[int, int], tuple[int, int]]


def default_version(imports: Mapping[str, int], ir_version: int) -> int | None:
    """The version of the default domain among imports, or None where none is meant; before IR 3 models meant 1."""
    before_imports = 1 if ir_version < 3 else None
    return imports.get("", imports.get("ai.onnx", before_imports))


def check_counts(node: onnx.NodeProto, version: int | None, functions: Collection[str], label: str) -> None:
    """Refuses a node with too few or too many inputs or outputs; other domains than the default one are not known.

    Args:
        node: The node.
        version: Of the default domain.
        functions: The names of the model's functions in the default domain.
        label: What the node is and where, for the message.

    Raises:
        PadopsError: With the numbers.
    """
    known = node.domain in DEFAULT_DOMAINS and version is not None and version <= onnx.defs.onnx_opset_version()
    if not known or node.op_type in NOT_COUNTED or node.op_type in functions:
        return
    counts = _counts(node.op_type, version)
    if counts is None:
        return
    for what, names, (least, most) in zip(("inputs", "outputs"), (node.input, node.output), counts):
        if not least <= len(names) <= most:
            expected = f"at least {least}" if len(names) < least else f"at most {most}"
            raise PadopsError(f"{label} has {len(names)} {what}; {node.op_type} of version {version} has {expected}")


@lru_cache(maxsize=4096)
def _counts(op_type: str, version: int) -> Counts | None:
    """The least and the most inputs and outputs of an operator, or None where onnx does not know it."""
    try:
        schema = onnx.defs.get_schema(op_type, version, "")
    except onnx.defs.SchemaError:
        return None
    return (schema.min_input, schema.max_input), (schema.min_output, schema.max_output)
