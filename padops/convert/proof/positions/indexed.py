"""ONNX operators that move elements by known indices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from padops.convert.proof.positions.moves import Move
from padops.convert.proof.result import Fails, Unsupported
from padops.plural import plural


def _gather(node: Move, data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    axis = node.axis(node.attribute("axis", 0), data.ndim)
    at = checked(node, indices, data.shape[axis])
    shape = (*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :])
    return np.take(data, at, axis) if at.size else np.empty(shape, data.dtype)


def checked(node: Move, indices: np.ndarray, size: int) -> np.ndarray:
    """Indices as positions along an axis of ``size`` elements.

    Raises:
        Fails: An index is outside the axis.
    """
    if indices.dtype.kind != "i":
        raise Fails(f"{node.op} with indices of {indices.dtype}")
    if indices.size and not (-size <= int(indices.min()) and int(indices.max()) < size):
        raise Fails(f"{node.op} with an index outside of {plural(size, 'element')}")
    return np.where(indices < 0, indices + size, indices).astype(np.int64)


def _gather_elements(node: Move, data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    axis = node.axis(node.attribute("axis", 0), data.ndim)
    at = checked(node, indices, data.shape[axis])
    return np.asarray(data[_along(node, data, at, axis)])


def _scatter_elements(node: Move, data: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
    """ScatterElements; each place is written at most once."""
    axis = node.axis(node.attribute("axis", 0), data.ndim)
    at = checked(node, indices, data.shape[axis])
    if updates.shape != indices.shape:
        raise Fails("ScatterElements with updates of another shape than the indices")
    return _written(node, data, _along(node, data, at, axis), updates)


def _along(node: Move, data: np.ndarray, at: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """The places that the indices of GatherElements or ScatterElements point to, one array for each axis."""
    dims = [(one, other) for index, (one, other) in enumerate(zip(at.shape, data.shape)) if index != axis]
    if at.ndim != data.ndim or any(one > other for one, other in dims):
        raise Fails(f"{node.op} with indices of shape {list(at.shape)} for data of {list(data.shape)}")
    places: list[np.ndarray] = list(np.indices(at.shape))
    places[axis] = at
    return tuple(places)


def _gather_nd(node: Move, data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """GatherND without batch dims."""
    if node.attribute("batch_dims", 0):
        raise Unsupported("GatherND with batch_dims")
    return np.asarray(data[_points(node, data, indices)])


def _scatter_nd(node: Move, data: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
    """ScatterND; each place is written at most once."""
    points = _points(node, data, indices)
    if updates.shape != (*indices.shape[:-1], *data.shape[indices.shape[-1] :]):
        raise Fails(f"ScatterND with updates of shape {list(updates.shape)}")
    return _written(node, data, points, updates)


def _points(node: Move, data: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, ...]:
    if not indices.ndim or not data.ndim or not 1 <= indices.shape[-1] <= data.ndim:
        raise Fails(f"{node.op} with indices of shape {list(indices.shape)} for data of {list(data.shape)}")
    return tuple(checked(node, indices[..., axis], data.shape[axis]) for axis in range(indices.shape[-1]))


def _written(node: Move, data: np.ndarray, places: tuple[np.ndarray, ...], updates: np.ndarray) -> np.ndarray:
    if node.attribute("reduction", b"none") != b"none":
        raise Unsupported(f"{node.op} with a reduction")
    flat = np.ravel_multi_index(places, data.shape[: len(places)]) if places[0].size else places[0]
    if np.unique(flat).size != flat.size:
        raise Unsupported(f"{node.op} that writes one place twice")
    made: np.ndarray = data.copy()
    made[places] = updates
    return made


# Called with the data, known indices of any shape and, for the Scatters, updates.
INDEXED: dict[str, Callable[..., np.ndarray]] = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
}
