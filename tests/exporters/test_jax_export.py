"""``lax.pad`` exported by jax2onnx through ``padops.jax_pads()``, and run beside JAX."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import pytest
from jax import lax
from native import bits, from_ort_value, session, to_ort_value

import padops

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jax2onnx

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")


def export(function: Callable, inputs: Sequence[np.ndarray]) -> onnx.ModelProto:
    with padops.jax_pads():
        return jax2onnx.to_onnx(function, [jax.ShapeDtypeStruct(data.shape, data.dtype) for data in inputs])


def check(function: Callable, *inputs: np.ndarray) -> onnx.ModelProto:
    model = export(function, inputs)
    feeds = {value.name: to_ort_value(data) for value, data in zip(model.graph.input, inputs, strict=True)}
    found = [from_ort_value(value) for value in session(model).run_with_ort_values(None, feeds)]
    for one, other in zip(found, jax.tree_util.tree_leaves(function(*inputs)), strict=True):
        assert bits(one) == bits(np.asarray(other))
    return model


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(shape, dtype=np.float32)


def test_random_amounts():
    rng, cases = np.random.default_rng(11), []
    while len(cases) < 8:
        shape = tuple(map(int, rng.integers(1, 6, rng.integers(1, 4))))
        config = [(*map(int, rng.integers(-4, 5, 2)), int(rng.integers(0, 4))) for _ in shape]
        if all(low + (n - 1) * (interior + 1) + 1 + high >= 0 for n, (low, high, interior) in zip(shape, config)):
            cases.append((shape, config))
    for is_seen in (lambda row: row[2] > 0, lambda row: min(row[:2]) < 0):
        assert sum(any(map(is_seen, config)) for _, config in cases) > 3

    def function(*inputs):
        return tuple(lax.pad(x, jnp.float32(i), config) for i, (x, (_, config)) in enumerate(zip(inputs, cases)))

    model = check(function, *(floats(*shape) for shape, _ in cases))
    assert {node.op_type for node in model.graph.node} == {"NGraphPad_0"}


@pytest.mark.parametrize("type", ["int8", "uint16", "float16", "bfloat16", "bool"])
def test_element_types(type):
    data = np.asarray(jnp.asarray([3, 0, 1, 2], type))
    check(lambda x: lax.pad(x, jnp.asarray(1, x.dtype), [(1, -1, 2)]), data)


@jax2onnx.onnx_function
def dilated(x: jax.Array) -> jax.Array:
    return lax.pad(x, jnp.float32(3), [(1, 0, 1), (0, 2, 0)])


@pytest.mark.parametrize("function", [
    lambda x: lax.fori_loop(0, 3, lambda i, a: lax.pad(a, jnp.float32(2), [(1, -1, 0), (-1, 1, 0)]), x),
    lambda x: lax.cond(x[0, 0] > 9, lambda a: a, lambda a: lax.pad(a, jnp.float32(5), [(1, -1, 0), (0, 0, 0)]), x),
    lambda x: lax.scan(lambda c, row: (c, lax.pad(row, c, [(1, 1, 1)])), jnp.float32(0), x)[1],
    jax.vmap(lambda row: lax.pad(row, jnp.float32(1), [(0, 1, 2)])),
    jax.vmap(lambda row: lax.pad(row[0], jnp.float32(1), [])),  # rank 0 passes through (P5)
    lambda x: lax.pad(x, x[0, 0], [(1, 0, 1), (0, -2, 3)]),
    jax.grad(lambda x: (x[1::3, ::2] ** 2).sum()),
    lambda x: dilated(x) * 2,
], ids=["fori_loop", "cond", "scan", "vmap", "scalar", "computed fill", "strided slice", "function"])  # fmt: skip
def test_in_every_place(function):
    padops.register_schemas()
    model = check(function, floats(3, 4))
    assert {row.domain: row.version for row in model.opset_import}["padops"] == 1
    onnx.checker.check_model(model)


def test_jax2onnx_is_as_it_was_afterwards():
    function = lambda x: lax.pad(x, jnp.float32(0), [(1, 1, 0)])
    with pytest.raises(ZeroDivisionError), padops.jax_pads():
        raise ZeroDivisionError
    assert {node.op_type for node in jax2onnx.to_onnx(function, [(3,)]).graph.node} == {"Pad"}
