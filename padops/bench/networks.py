"""Networks with Pads inside: usual layers, with random weights from a seed; and small models for the provider.

Each network of ``ALL`` has a twin with Pads of mode constant, in a form that every provider runs. The twin shows the
number of parts and the time that the network would have if the provider ran its Pads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from padops.conformance.model import tensor
from padops.spec.dialects import DOMAIN, VERSION
from padops.spec.dtypes import by_name

if TYPE_CHECKING:
    import onnx

_IR_VERSION = 9
Pads = Sequence[int]  # begin and end of the last dims, as ONNX has them: (top, left, bottom, right)


@dataclass(frozen=True)
class Network:
    """A network and its twin, serialized."""

    made: Callable[[], bytes]
    twin: Callable[[], bytes]
    shape: tuple[int, ...]  # of its input ``x``, of floats

    def feeds(self) -> dict[str, np.ndarray]:
        """An input, the same each time."""
        return {"x": np.random.default_rng(1).standard_normal(self.shape).astype(np.float32)}


@dataclass
class _Layers:
    """A chain of layers."""

    mode: str  # of the Pads
    axes: bool = False  # whether the Pads name their axes, or have amounts for all dims
    rank: int = 4  # of the data
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    last: str = "x"

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def add(self, op_type: str, *more: np.ndarray, inputs: Sequence[str] = (), **attributes: Any) -> str:
        """Adds a node on the last value, or on ``inputs``, and on constants; returns the name of its output."""
        from onnx import helper

        name = f"v{len(self.nodes)}"
        for i, array in enumerate(more):
            self.constants.append(tensor(f"{name}_{i}", array))
        names = [*(inputs or [self.last]), *(f"{name}_{i}" for i in range(len(more)))]
        self.nodes.append(helper.make_node(op_type, names, [name], f"{op_type}_{len(self.nodes)}", **attributes))
        self.last = name
        return name

    def pad(self, pads: Pads) -> None:
        """A Pad of the last dims."""
        count = len(pads) // 2
        if self.axes:
            axes = np.arange(self.rank - count, self.rank)
            self.add("Pad", np.array(pads, np.int64), np.float32(0), axes, mode=self.mode)
        else:
            around = [0] * (self.rank - count)
            self.add("Pad", np.array([*around, *pads[:count], *around, *pads[count:]], np.int64), mode=self.mode)

    def conv(self, given: int, made: int, *kernel: int, op_type: str = "Conv", **attributes: Any) -> None:
        """A convolution from ``given`` channels to ``made``, with weights that keep the size of the numbers."""
        channels = (given, made) if op_type == "ConvTranspose" else (made, given)
        weights = self._rng.standard_normal((*channels, *kernel)) / (given * np.prod(kernel)) ** 0.5
        self.add(op_type, weights.astype(np.float32), np.zeros(made, np.float32), **attributes)

    def norm(self, channels: int) -> None:
        """An instance normalisation, as networks of images have it."""
        self.add("InstanceNormalization", np.ones(channels, np.float32), np.zeros(channels, np.float32))

    def model(self, shape: Sequence[int | str], output: Sequence[int | str], opset: int) -> bytes:
        """The whole, serialized."""
        from onnx import TensorProto, helper

        first = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        last = helper.make_tensor_value_info(self.last, TensorProto.FLOAT, output)
        graph = helper.make_graph(self.nodes, "network", [first], [last], self.constants)
        return _serialized(graph, opset)


def generator(mode: str, is_open: bool, size: int, width: int, blocks: int) -> bytes:
    """An image-to-image generator like CycleGAN's: Pads before its convolutions.

    Its first convolution has ``width`` channels (CycleGAN's has 64); each of the residual blocks (CycleGAN: 6 or 9) has
    two convolutions. ``is_open``: batch, height and width are open; else height and width are ``size``.
    """
    net = _Layers(mode)
    net.pad((3, 3, 3, 3))
    net.conv(3, width, 7, 7)
    net.norm(width)
    net.add("Relu")
    for given in (width, 2 * width):
        net.conv(given, 2 * given, 3, 3, strides=[2, 2], pads=[1, 1, 1, 1])
        net.norm(2 * given)
        net.add("Relu")
    for _ in range(blocks):
        before = net.last
        for at in range(2):
            net.pad((1, 1, 1, 1))
            net.conv(4 * width, 4 * width, 3, 3)
            net.norm(4 * width)
            if at == 0:
                net.add("Relu")
        net.add("Add", inputs=[before, net.last])
    for given in (4 * width, 2 * width):
        up = {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}
        net.conv(given, given // 2, 3, 3, op_type="ConvTranspose", **up)
        net.norm(given // 2)
        net.add("Relu")
    net.pad((3, 3, 3, 3))
    net.conv(width, 3, 7, 7)
    net.add("Tanh")
    shape = ("n", 3, "h", "w") if is_open else (1, 3, size, size)
    return net.model(shape, shape if not is_open else ("n", 3, "h_out", "w_out"), 18)


def panorama(mode: str, size: int, width: int, blocks: int) -> bytes:
    """An encoder of panoramas, ``size`` high and twice as wide, with ``width`` channels.

    The left edge continues the right one, so the Pads of the width wrap. Each of the residual blocks has two
    convolutions.
    """
    net = _Layers(mode)
    net.pad((3, 3))
    net.conv(3, width, 7, 7, strides=[2, 2], pads=[3, 0, 3, 0])
    net.add("Relu")
    for _ in range(blocks):
        before = net.last
        for _ in range(2):
            net.pad((1, 1))
            net.conv(width, width, 3, 3, pads=[1, 0, 1, 0])
            net.add("Relu")
        net.add("Add", inputs=[before, net.last])
    return net.model((1, 3, size, 2 * size), (1, width, size // 2, size), 19)


def causal(mode: str, opset: int, axes: bool, length: int, width: int, layers: int) -> bytes:
    """Causal convolutions of sound like WaveNet's: no output may depend on later samples, so the Pads are on the left.

    Each layer looks twice as far back as the one before; ``length`` is in samples, ``width`` in channels. ``axes``:
    whether the Pads have the optional input ``axes``.
    """
    net = _Layers(mode, axes, rank=3)
    net.conv(1, width, 1)
    for layer in range(layers):
        before = net.last
        net.pad((2 ** (layer + 1), 0))
        net.conv(width, width, 3, dilations=[2**layer])
        net.add("Tanh")
        net.conv(width, width, 1)
        net.add("Add", inputs=[before, net.last])
    net.conv(width, 1, 1)
    return net.model((1, 1, length), (1, 1, length), opset)


def _generator(is_open: bool, size: int, width: int, blocks: int) -> Network:
    made, twin = (partial(generator, mode, is_open, size, width, blocks) for mode in ("reflect", "constant"))
    return Network(made, twin, (1, 3, size, size))


def _panorama(size: int, width: int, blocks: int) -> Network:
    made, twin = (partial(panorama, mode, size, width, blocks) for mode in ("wrap", "constant"))
    return Network(made, twin, (1, 3, size, 2 * size))


def _causal(opset: int, axes: bool, *numbers: int) -> Network:
    made, twin = (partial(causal, "constant", *form, *numbers) for form in ((opset, axes), (18, False)))
    return Network(made, twin, (1, 1, numbers[0]))


NETWORKS = {
    "generator, reflect": _generator(False, 128, 32, 3),
    "generator, reflect, open dims": _generator(True, 128, 32, 3),
    "panorama, wrap": _panorama(128, 32, 3),
    "causal, constant": _causal(18, False, 16000, 32, 6),
    "causal, constant with axes of opset 24": _causal(24, True, 16000, 32, 6),
}
# The same networks, small enough for an emulated graphics card.
SMALL = {
    "small generator, reflect": _generator(False, 16, 8, 1),
    "small generator, reflect, open dims": _generator(True, 16, 8, 1),
    "small panorama, wrap": _panorama(16, 8, 1),
    "small causal, constant": _causal(18, False, 256, 8, 3),
    "small causal, constant with axes of opset 24": _causal(24, True, 256, 8, 3),
}
ALL = NETWORKS | SMALL

# The models of the provider: a chain of tiny Pads, and a network of convolutions.
TINY_SHAPE = (2, 3)
_OPSET = 19
_CHANNELS, _SIZE, _LAYERS = 16, 128, 3


def tiny_pads(count: int, domain: str = "") -> bytes:
    """A chain of Pads of a few floats, which add an element on all sides and take it away again."""
    from onnx import TensorProto, helper

    op_type = "Pad_19" if domain else "Pad"
    names = ["x", *(f"v{i}" for i in range(1, count)), "y"]
    nodes = [
        helper.make_node(op_type, [names[i], "less" if i % 2 else "more"], [names[i + 1]], domain=domain)
        for i in range(count)
    ]
    constants = [tensor("more", np.ones(4, np.int64)), tensor("less", -np.ones(4, np.int64))]
    shape = [n + 2 * (count % 2) for n in TINY_SHAPE]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, TINY_SHAPE)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)]
    return _serialized(helper.make_graph(nodes, "tiny_pads", inputs, outputs, constants), _OPSET)


def convolutions(dtype: str) -> tuple[bytes, dict[str, np.ndarray]]:
    """A model and its inputs: three times a reflecting Pad, a convolution and a Relu, in ``float`` or ``float16``."""
    from onnx import helper

    element = by_name(dtype)
    rng = np.random.default_rng(0)
    shape = (1, _CHANNELS, _SIZE, _SIZE)
    constants = [tensor("pads", np.array([0, 0, 1, 1, 0, 0, 1, 1]))]
    nodes = []
    for i in range(_LAYERS):
        weights = rng.standard_normal((_CHANNELS, _CHANNELS, 3, 3)) / (3 * _CHANNELS**0.5)
        constants.append(tensor(f"w{i}", weights.astype(element.numpy)))
        nodes += [
            helper.make_node("Pad", [f"v{i}", "pads"], [f"padded{i}"], mode="reflect"),
            helper.make_node("Conv", [f"padded{i}", f"w{i}"], [f"sum{i}"]),
            helper.make_node("Relu", [f"sum{i}"], [f"v{i + 1}"]),
        ]
    first, last = (helper.make_tensor_value_info(f"v{i}", element.onnx, shape) for i in (0, _LAYERS))
    graph = helper.make_graph(nodes, "convolutions", [first], [last], constants)
    return _serialized(graph, _OPSET), {"v0": rng.standard_normal(shape).astype(element.numpy)}


def _serialized(graph: onnx.GraphProto, opset: int) -> bytes:
    from onnx import helper

    imports = [helper.make_opsetid("", opset)]
    if any(node.domain == DOMAIN for node in graph.node):
        imports.append(helper.make_opsetid(DOMAIN, VERSION))
    model = helper.make_model(graph, opset_imports=imports, ir_version=_IR_VERSION)
    serialized: bytes = model.SerializeToString()
    return serialized
