"""Layers that move elements: reshaping, slicing, gathering and scattering."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from onnx import TensorProto

from padops.convert.readers.openvino_ir.layer import Layer, Unreadable

FIRST, LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max  # ends of a Slice, whatever the size of the axis
REDUCTIONS = {"none": "none", "sum": "add", "prod": "mul", "min": "min", "max": "max"}  # of a scatter


def _broadcast(layer: Layer, data: str, shape: str, axes: str = "") -> str:
    if layer.choice("mode", {"numpy": False, "bidirectional": False, "explicit": True}, "numpy"):
        rank = layer.values.static(shape)
        if not axes or rank is None or len(rank) != 1:
            raise Unreadable("mode='explicit' without axes, or of a target of unknown rank")
        mapped = layer.numbers(axes).reshape(-1).tolist()
        data = layer.add("Unsqueeze", data, layer.constant([i for i in range(rank[0]) if i not in mapped]))
    return layer.add("Expand", data, layer.integral(shape))


def _concat(layer: Layer, first: str, *others: str) -> str:
    return layer.add("Concat", first, *others, axis=layer.integer("axis"))


def _depth_to_space(layer: Layer, data: str) -> str:
    mode = layer.choice("mode", {"blocks_first": "DCR", "depth_first": "CRD"})
    return layer.add("DepthToSpace", data, mode=mode, blocksize=layer.integer("block_size", "1"))


def _space_to_depth(layer: Layer, data: str) -> str:
    layer.choice("mode", {"blocks_first": None})
    return layer.add("SpaceToDepth", data, blocksize=layer.integer("block_size", "1"))


def _gather(layer: Layer, data: str, indices: str, axis: str) -> str:
    return layer.add("Gather", data, layer.indices(indices), axis=layer.number(axis))


def _gather_elements(layer: Layer, data: str, indices: str) -> str:
    return layer.add("GatherElements", data, layer.indices(indices), axis=layer.integer("axis"))


def _gather_nd(layer: Layer, data: str, indices: str) -> str:
    batches = layer.integer("batch_dims", "0")
    if batches > 1 and layer.word("version") == "opset5":
        raise Unreadable("GatherND of opset5 makes one dim of all its batch dims, ONNX's does not")
    return layer.add("GatherND", data, layer.integral(indices), batch_dims=batches)


def _scatter_elements_update(layer: Layer, data: str, indices: str, updates: str, axis: str) -> str:
    reduction = layer.choice("reduction", REDUCTIONS, "none")
    given = (data, layer.indices(indices), updates)
    return layer.add("ScatterElements", *given, axis=layer.number(axis), reduction=reduction)


def _scatter_nd_update(layer: Layer, data: str, indices: str, updates: str) -> str:
    reduction = layer.choice("reduction", REDUCTIONS, "none")
    return layer.add("ScatterND", data, layer.integral(indices), updates, reduction=reduction)


def _scatter_update(layer: Layer, data: str, indices: str, updates: str, axis: str) -> str:
    """ScatterND puts slices along the first axis, so that axis is moved there, and back."""
    rank, count, at = len(layer.dims(data)), len(layer.dims(indices)), layer.number(axis)
    at += rank if at < 0 else 0
    wanted = layer.add("Unsqueeze", layer.integral(indices), layer.constant([-1]))
    if not at:
        return layer.add("ScatterND", data, wanted, updates)
    first = [at, *(i for i in range(rank) if i != at)]
    order = [*range(at, at + count), *range(at), *range(at + count, rank + count - 1)]
    moved = layer.add("Transpose", data, perm=first), layer.add("Transpose", updates, perm=order)
    given = layer.add("ScatterND", moved[0], wanted, moved[1])
    return layer.add("Transpose", given, perm=np.argsort(first).tolist())


def _reshape(layer: Layer, data: str, shape: str) -> str:
    return layer.add("Reshape", data, layer.integral(shape), allowzero=int(not layer.flag("special_zero")))


def _split(layer: Layer, data: str, axis: str) -> list[str]:
    count = layer.integer("num_splits")
    if count != len(layer.node.output):
        raise Unreadable(f"num_splits is {count}, expected {len(layer.node.output)}, as it has outputs")
    layer.add("Split", data, count=count, axis=layer.number(axis), num_outputs=count)
    return list(layer.nodes[-1].output)


def _variadic_split(layer: Layer, data: str, axis: str, lengths: str) -> list[str]:
    sizes, at, dims = layer.numbers(lengths).tolist(), layer.number(axis), layer.dims(data)
    if -1 in sizes:
        if dims[at] is None:
            raise Unreadable("a length is -1, of an axis that is dynamic")
        sizes[sizes.index(-1)] = (dims[at] or 0) - sum(sizes) - 1
    layer.add("Split", data, layer.constant(sizes), count=len(sizes), axis=at)
    return list(layer.nodes[-1].output)


def _squeeze(layer: Layer, data: str, axes: str = "") -> str:
    return layer.add("Squeeze", data, *([layer.integral(axes, 1)] if axes else []))


def _unsqueeze(layer: Layer, data: str, axes: str) -> str:
    return layer.add("Unsqueeze", data, layer.integral(axes, 1))


def _tile(layer: Layer, data: str, repeats: str) -> str:
    return layer.add("Tile", data, layer.integral(repeats))


def _transpose(layer: Layer, data: str, order: str) -> str:
    perm = layer.values.constant(order)
    if perm is None or not perm.size:
        raise Unreadable("the order of its axes is empty or not constant")
    return layer.add("Transpose", data, perm=perm.tolist())


def _shape_of(layer: Layer, data: str) -> str:
    """A constant where the shape is known."""
    type = layer.choice("output_type", {"i32": TensorProto.INT32, "i64": TensorProto.INT64}, "i64")
    dims = layer.values.static(data)
    if dims is not None:
        return layer.constant(dims, np.int64 if type == TensorProto.INT64 else np.int32)
    shape = layer.add("Shape", data)
    return shape if type == TensorProto.INT64 else layer.add("Cast", shape, to=type)


def _slice(layer: Layer, data: str, start: str, stop: str, step: str, axes: str = "") -> str:
    start, stop, step = (layer.integral(name) for name in (start, stop, step))
    return layer.add("Slice", data, start, stop, layer.integral(axes) if axes else "", step)


def _strided_slice(layer: Layer, data: str, begin: str, end: str, strides: str = "") -> str:
    """Slice, with ends in place of masks; axes of shrink_axis_mask are removed after it, new axes added last."""
    count = layer.values.static(begin)
    if count is None or len(count) != 1 or any(layer.values.static(name) != count for name in (end, strides) if name):
        raise Unreadable("the numbers of axes of begin, end and strides are not known, or differ")
    entries, shrunk, added = _axes(layer, data, count[0])
    rows = [row for row, _ in entries]
    first, last, shrink = (
        np.array([_bit(layer, f"{name}_mask", row) for row in rows], bool) for name in ("begin", "end", "shrink_axis")
    )
    steps = layer.values.constant(strides) if strides else np.ones(count)
    if steps is None and (first | last | shrink).any():
        raise Unreadable("begin_mask, end_mask or shrink_axis_mask with strides that are not constant")
    forward = np.ones(len(rows), bool) if steps is None else (steps[rows] > 0) | shrink
    starts = _chosen(layer, begin, rows, first & ~shrink, np.where(forward, 0, LAST))
    ends = _chosen(layer, end, rows, last & ~shrink, np.where(forward, LAST, FIRST))
    if shrink.any():
        behind = layer.add("Add", starts, layer.constant(1))
        behind = layer.add("Where", layer.add("Equal", starts, layer.constant(-1)), layer.constant(LAST), behind)
        ends = layer.add("Where", layer.constant(shrink, bool), behind, ends)
    by = layer.add("Cast", strides, to=TensorProto.INT64) if steps is None else ""
    by = by or layer.constant(np.where(shrink, 1, steps[rows]) if steps is not None else ())
    given = layer.add("Slice", data, starts, ends, layer.constant([axis for _, axis in entries]), by)
    given = layer.add("Squeeze", given, layer.constant(shrunk)) if shrunk else given
    return layer.add("Unsqueeze", given, layer.constant(added)) if added else given


def _bit(layer: Layer, mask: str, row: int) -> bool:
    bits = layer.integers(mask, "")
    return row < len(bits) and bits[row] != 0


def _axes(layer: Layer, data: str, count: int) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Rows of a StridedSlice's begin with their axes, the axes that it drops, and those of the output that are new."""
    names = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    marks = [next((name for name in names if _bit(layer, name, row)), "") for row in range(count)]
    dims = layer.values.dims[data]
    entries, shrunk, added = [], [], []
    axis = output = 0
    for row, mark in enumerate(marks):
        if mark == "ellipsis_mask":
            if dims is None:
                raise Unreadable("ellipsis_mask with data of unknown rank")
            passed = len(dims) - sum(other in ("", "shrink_axis_mask") for other in marks)
            axis, output = axis + passed, output + passed
        elif mark == "new_axis_mask":
            added.append(output)
            output += 1
        else:
            entries.append((row, axis))
            if mark:
                shrunk.append(axis)
            axis, output = axis + 1, output + (not mark)
    return entries, shrunk, added


def _chosen(layer: Layer, given: str, rows: list[int], masked: np.ndarray, ends: np.ndarray) -> str:
    """Some rows of begin or end as int64, with other numbers where they are masked."""
    array = layer.values.constant(given)
    if array is not None:
        return layer.constant(np.where(masked, ends, array.astype(np.int64)[rows]))
    rowed = layer.add("Cast", given, to=TensorProto.INT64)
    rowed = layer.add("Gather", rowed, layer.constant(rows))
    return layer.add("Where", layer.constant(masked, bool), layer.constant(ends), rowed) if masked.any() else rowed


MOVES: Mapping[str, Callable[..., str | list[str]]] = {
    "Broadcast": _broadcast, "Concat": _concat, "DepthToSpace": _depth_to_space, "Gather": _gather,
    "GatherElements": _gather_elements, "GatherND": _gather_nd, "Reshape": _reshape,
    "ScatterElementsUpdate": _scatter_elements_update, "ScatterNDUpdate": _scatter_nd_update,
    "ScatterUpdate": _scatter_update, "ShapeOf": _shape_of, "Slice": _slice, "SpaceToDepth": _space_to_depth,
    "Split": _split, "Squeeze": _squeeze, "StridedSlice": _strided_slice, "Tile": _tile, "Transpose": _transpose,
    "Unsqueeze": _unsqueeze, "VariadicSplit": _variadic_split,
}  # fmt: skip
