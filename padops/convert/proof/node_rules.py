"""Node errors that runtimes reject and schemas do not cover: lists and windows of a wrong rank, unknown modes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import onnx

from padops.convert.proof.facts import dims_of
from padops.convert.proof.schemas import PADOPS, type_name

# The inputs that must have one axis.
LISTS = {"ConstantOfShape": (0,), "Expand": (1,), "Pad": (1, 3), "Reshape": (1,), "Slice": (1, 2, 3, 4), "Split": (1,),
         "Squeeze": (1,), "Tile": (1,), "TopK": (1,), "Unsqueeze": (1,)}  # fmt: skip
FILL = 2  # the index of a Pad's fill input, which is one number
# Window operators, and how many values an attribute has for each spatial axis.
WINDOWS = {"AveragePool", "Conv", "ConvInteger", "ConvTranspose", "LpPool", "MaxPool", "QLinearConv"}
PER_AXIS = {"kernel_shape": 1, "strides": 1, "dilations": 1, "pads": 2}
TEXTS = {
    ("Pad", "mode"): {b"constant", b"edge", b"reflect", b"wrap"},
    ("DepthToSpace", "mode"): {b"DCR", b"CRD"},
    **{(name, "auto_pad"): {b"NOTSET", b"SAME_UPPER", b"SAME_LOWER", b"VALID"} for name in sorted(WINDOWS)},
}
COUNTED = 18  # since this version, Split takes either sizes or num_outputs
MICROSOFT, MICROSOFT_TYPES = "com.microsoft", (1, 10, 11)  # com.microsoft::Pad takes float, float16, double


def problems(node: onnx.NodeProto, domain: str, opset: int, types: Sequence[onnx.TypeProto | None]) -> Iterator[str]:
    """The errors of a node; ``types`` are those of its inputs, None if unknown."""
    op, dims = node.op_type, [None if kind is None else dims_of(kind) for kind in types]
    if domain == MICROSOFT and op == "Pad" and types and types[0] is not None:
        number = types[0].tensor_type.elem_type
        if number and number not in MICROSOFT_TYPES:
            yield f"its data are of {type_name(number)}"
    is_pad = (domain == "" and op == "Pad") or (domain == PADOPS and op.startswith("Pad_"))
    if domain not in ("", PADOPS):
        return
    for place in LISTS.get("Pad" if is_pad else op, ()) if domain == "" or is_pad else ():
        if place < len(dims) and dims[place] is not None and len(dims[place] or ()) != 1:
            yield f"its input {place} has {len(dims[place] or ())} axes, and is to be a list"
    if is_pad and len(dims) > FILL:
        sizes = dims[FILL] or ()
        if any(isinstance(size, int) for size in sizes) and prod(s for s in sizes if isinstance(s, int)) != 1:
            yield f"its fill has the dims {list(sizes)}, and is to be one number"
    if domain == "":
        yield from _attributes(node, opset, dims)


def _attributes(node: onnx.NodeProto, opset: int, dims: Sequence[Sequence[object] | None]) -> Iterator[str]:
    rows = {row.name: row for row in node.attribute}
    for name, row in rows.items():
        allowed = TEXTS.get((node.op_type, name))
        if allowed is not None and row.type == row.STRING and row.s not in allowed:
            yield f"its {name} is {row.s.decode(errors='replace')!r}"
    if node.op_type in WINDOWS and dims and dims[0] is not None:
        rank = len(dims[0]) - 2
        for name, times in PER_AXIS.items():
            if name in rows and rows[name].ints and len(rows[name].ints) != times * rank:
                yield f"its {name} are {list(rows[name].ints)}, of data with {rank} spatial axes"
    if node.op_type == "Split" and opset >= COUNTED:
        has_sizes, count = len(node.input) > 1 and bool(node.input[1]), rows.get("num_outputs")
        if has_sizes == (count is not None):
            yield f"it has {'both sizes and' if has_sizes else 'neither sizes nor'} their number"
        elif count is not None and count.i != len(node.output):
            yield f"its num_outputs is {count.i}, and it has {len(node.output)} outputs"
