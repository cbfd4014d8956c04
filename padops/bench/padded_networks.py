"""Networks with Pads inside: usual layers, with random weights from a seed.

Each network has a twin with Pads of mode constant, in a form that every provider runs. The twin shows the number of
parts and the time that the network would have if the provider ran its Pads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from padops.conformance.model import tensor

if TYPE_CHECKING:
    import onnx

_IR_VERSION = 9
Pads = Sequence[int]  # begin and end of the last dims, as ONNX has them: (top, left, bottom, right)


@dataclass(frozen=True)
class Network:
    """A network and its twin.

    Attributes:
        made: The serialized network.
        twin: The same network with Pads of mode constant, in a form that every provider runs.
        shape: The shape of its input ``x``, of floats.
    """

    made: Callable[[], bytes]
    twin: Callable[[], bytes]
    shape: tuple[int, ...]

    def feeds(self) -> dict[str, np.ndarray]:
        """An input, the same each time."""
        return {"x": np.random.default_rng(1).standard_normal(self.shape).astype(np.float32)}


@dataclass
class _Layers:
    """A chain of layers.

    Attributes:
        mode: The mode of the Pads.
        axes: Whether the Pads name their axes, or have amounts for all dims.
        rank: The rank of the data.
    """

    mode: str
    axes: bool = False
    rank: int = 4
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
        imports = [helper.make_opsetid("", opset)]
        serialized: bytes = helper.make_model(graph, opset_imports=imports, ir_version=_IR_VERSION).SerializeToString()
        return serialized


def generator(mode: str, is_open: bool, size: int, width: int, blocks: int) -> bytes:
    """An image-to-image generator like CycleGAN's: Pads before its convolutions.

    Args:
        is_open: Whether batch, height and width are open.
        size: Height and width.
        width: Channels of the first convolution; CycleGAN's has 64.
        blocks: Residual blocks, of two convolutions each; CycleGAN's has 6 or 9.
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
    """An encoder of panoramas: its left edge continues its right one, so the Pads of the width wrap.

    Args:
        size: Height; the panorama is twice as wide.
        width: Channels.
        blocks: Residual blocks, of two convolutions each.
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
    """Causal convolutions of sound like WaveNet's: later samples must not count, so the Pads are only on the left.

    Args:
        axes: Whether the Pads have the input axes.
        length: Samples.
        width: Channels.
        layers: Each looks twice as far back as the one before.
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
