"""How each library is asked to pad: one adapter for the peers, the scripts of ``repro.py`` and the benchmark.

``pairs`` are (begin, end) of every axis, ``mode`` is NumPy's word, ``fill`` is of the data's type.

The scripts show the functions as they stand here, to those who maintain the library. So each one imports what it needs,
knows nothing of padops, and takes plain values. Where it gives a call without arguments, that call alone is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import torch

Pairs = Sequence[tuple[int, int]]  # begin and end of every axis

TORCH_MODES = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}
TENSORFLOW_MODES = {"constant": "CONSTANT", "reflect": "REFLECT", "symmetric": "SYMMETRIC"}
# fmt: off
OPENVINO_ELEMENTS = {  # by ONNX's names
    "bool": "boolean", "bfloat16": "bf16", "float16": "f16", "float": "f32", "double": "f64",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float8e4m3fn": "f8e4m3", "float8e5m2": "f8e5m2", "float8e8m0": "f8e8m0", "float4e2m1": "f4e2m1",
    "int4": "i4", "uint4": "u4", "string": "string",
}
# fmt: on
# With a thread of its own the plugin reports errors that are lost with one.
OPENVINO_SETTINGS = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}


def prepare_numpy_pad(data: np.ndarray, pairs: Pairs, mode: str, fill: Any = 0) -> Callable[[], np.ndarray]:
    """``numpy.pad`` of an array by (begin, end) of every axis, as a call without arguments.

    Args:
        data: An array of rank r.
        pairs: r pairs.
        mode: NumPy's word.
        fill: One element of the data's type; read in mode constant alone.
    """
    import numpy as np

    amounts = np.array(pairs, np.int64).reshape(-1, 2)
    options: dict[str, Any] = {"constant_values": fill} if mode == "constant" else {"mode": mode}
    return lambda: np.pad(data, amounts, **options)


def prepare_torch_pad(tensor: torch.Tensor, pairs: Pairs, mode: str, fill: Any = 0) -> Callable[[], torch.Tensor]:
    """``torch.nn.functional.pad`` of a tensor by (begin, end) of every axis, as a call without arguments.

    It takes the amounts of the last axes, innermost first. The modes that extend want two axes before those.

    Args:
        tensor: A tensor of rank r.
        pairs: r pairs.
        mode: NumPy's word.
        fill: A number; read in mode constant alone.
    """
    import math

    import torch

    flat = [amount for pair in reversed(pairs) for amount in pair]
    if mode == "constant":
        return lambda: torch.nn.functional.pad(tensor, flat, value=fill)
    padded_axes = max((i + 1 for i, pair in enumerate(reversed(pairs)) if any(pair)), default=0)
    if not padded_axes:
        return lambda: tensor
    before = tensor.shape[: tensor.ndim - padded_axes]
    batch = tensor.reshape(1, math.prod(before), *tensor.shape[tensor.ndim - padded_axes :])

    def call() -> torch.Tensor:
        padded = torch.nn.functional.pad(batch, flat[: 2 * padded_axes], mode=TORCH_MODES[mode])
        return padded.reshape(*before, *padded.shape[2:])

    return call


def pad_with_jax(data: Any, triples: Sequence[tuple[int, int, int]], mode: str, fill: Any) -> np.ndarray:
    """``jax.lax.pad`` by (begin, end, interior) of every axis for constant; ``jax.numpy.pad`` for the other modes.

    Args:
        data: An array of rank r.
        triples: r triples.
        mode: NumPy's word.
        fill: One element of the data's type; None in other modes than constant.
    """
    import jax
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    with jax.ensure_compile_time_eval():
        if mode == "constant":
            return np.asarray(jax.lax.pad(jnp.asarray(data), jnp.asarray(fill), triples))
        pairs = np.array([triple[:2] for triple in triples], np.int64).reshape(-1, 2)
        return np.asarray(jnp.pad(jnp.asarray(data), pairs, mode=mode))


def prepare_tensorflow_pad(data: Any, paddings: Any, mode: str, fill: Any = None) -> Callable[[], Any]:
    """``tf.pad`` of an array, as a call without arguments; ``paddings`` go to it as they are.

    What they are matters: of an array of int64 it takes the low 32 bits, of a tensor of int64 all.

    Args:
        data: An array of rank r.
        paddings: int32 or int64 of shape [r, 2].
        mode: NumPy's word.
        fill: One element of the data's type; read in mode constant alone.
    """
    import tensorflow as tf

    tensor = tf.constant(data)
    filled = {"constant_values": tf.constant(fill)} if mode == "constant" and fill is not None else {}
    return lambda: tf.pad(tensor, paddings, mode=TENSORFLOW_MODES[mode], **filled)


def from_tensorflow(tensor: Any) -> np.ndarray:
    """The array of a tensor; TensorFlow gives strings as UTF-8."""
    import numpy as np

    array = np.asarray(tensor.numpy())
    if tensor.dtype != "string":
        return array
    texts = np.empty(array.shape, object)
    texts.reshape(-1)[:] = [text.decode() for text in np.asarray(array, object).reshape(-1).tolist()]
    return texts


def openvino_pad_model(
    tensors: Sequence[Any], mode: str, version: int, constants: Collection[int] = (), static: bool = True
) -> tuple[Any, list[Any]]:
    """OpenVINO's Pad in a model, and the tensors that the model is fed with.

    Args:
        tensors: The inputs of Pad, as OpenVINO's tensors.
        mode: The mode.
        version: 1 or 12.
        constants: Positions of the inputs that are constants.
        static: Whether the shape of the data is declared.
    """
    import openvino
    from openvino import opset1, opset12

    nodes, parameters, fed = [], [], []
    for i, tensor in enumerate(tensors):
        if i in constants:
            nodes.append(openvino.op.Constant(tensor))
            continue
        shape = list(tensor.shape) if i or static else [-1] * len(tensor.shape)
        parameters.append(opset12.parameter(openvino.PartialShape(shape), tensor.element_type))
        nodes.append(parameters[-1])
        fed.append(tensor)
    node = (opset1 if version == 1 else opset12).pad(*nodes[:3], mode, *nodes[3:])
    return openvino.Model([node], parameters, "pad"), fed


def infer_with_openvino(core: Any, model: Any, tensors: Sequence[Any]) -> Any:
    """The first output of a model on the CPU device.

    Args:
        core: An ``openvino.Core``.
        model: An ``openvino.Model``.
        tensors: Its inputs, in its order.
    """
    request = core.compile_model(model, "CPU").create_infer_request()
    request.infer(tensors)
    return request.get_output_tensor(0)


def to_openvino(array: np.ndarray, element: str) -> Any:
    """A tensor with the bits of an array; 4-bit elements lie two to a byte, the first in the low bits."""
    import numpy as np
    import openvino

    if element == "string":
        return openvino.Tensor(array.astype(str))
    tensor = openvino.Tensor(getattr(openvino.Type, element), openvino.Shape(array.shape))
    raw: np.ndarray = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if element in ("i4", "u4", "f4e2m1"):
        raw = np.append(raw & 15, np.zeros(raw.size % 2, np.uint8))
        raw = raw[::2] | raw[1::2] << 4
    if raw.size:
        tensor.data.reshape(-1).view(np.uint8)[:] = raw
    return tensor


def from_openvino(tensor: Any, element: str, dtype: np.dtype) -> np.ndarray:
    """The reverse of ``to_openvino``.

    Args:
        tensor: A tensor.
        element: OpenVINO's name of its type.
        dtype: The type of the array: what ml_dtypes has for it, object for strings.
    """
    import numpy as np

    shape = list(tensor.shape)
    if element == "string":
        return np.asarray(tensor.str_data).astype(object).reshape(shape)
    raw = np.frombuffer(tensor.data.tobytes() if tensor.byte_size else b"", np.uint8)
    if element in ("i4", "u4", "f4e2m1"):
        raw = np.stack([raw & 15, raw >> 4], 1).reshape(-1)[: np.prod(shape, dtype=int)]
    return raw.view(dtype).reshape(shape)
