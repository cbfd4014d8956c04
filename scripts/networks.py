"""Networks with Pads inside, for scripts/bench_providers.py: usual layers, with random weights from a seed.

Each network has a twin whose Pads have mode constant, in a form that every provider runs. The twin shows the parts and
the time of the network if the provider ran its Pads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Layers:
    """A chain of layers, whose input is ``x``.

    Args:
        mode: The mode of the Pads.
        axes: Whether the Pads list axes, or have amounts for all dims.
        rank: The rank of the data.
    """

    def __init__(self, mode: str, axes: bool = False, rank: int = 4) -> None:
        self._mode, self._axes, self._rank = mode, axes, rank
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._rng = np.random.default_rng(0)
        self.last = "x"

    def add(self, op_type: str, *constants: Any, inputs: Sequence[str] = (), **attributes: Any) -> None:
        """Adds a node on the last value, or on ``inputs``, and on constants."""
        name = f"v{len(self._nodes)}"
        self._constants += [numpy_helper.from_array(array, f"{name}_{i}") for i, array in enumerate(constants)]
        names = [*(inputs or [self.last]), *(f"{name}_{i}" for i in range(len(constants)))]
        self._nodes.append(helper.make_node(op_type, names, [name], f"{op_type}_{len(self._nodes)}", **attributes))
        self.last = name

    def pad(self, *pads: int) -> None:
        """Adds a Pad of the last dims; ``pads`` has their begins, then their ends."""
        count = len(pads) // 2
        if self._axes:
            axes = np.arange(self._rank - count, self._rank)
            self.add("Pad", np.array(pads, np.int64), np.array(0, np.float32), axes, mode=self._mode)
        else:
            around = [0] * (self._rank - count)
            self.add("Pad", np.array([*around, *pads[:count], *around, *pads[count:]], np.int64), mode=self._mode)

    def conv(self, given: int, made: int, *kernel: int, op_type: str = "Conv", **attributes: Any) -> None:
        """Adds a convolution from ``given`` channels to ``made``, with weights that keep the size of the numbers."""
        channels = (given, made) if op_type == "ConvTranspose" else (made, given)
        weights = self._rng.standard_normal((*channels, *kernel)) / (given * np.prod(kernel)) ** 0.5
        self.add(op_type, weights.astype(np.float32), np.zeros(made, np.float32), **attributes)

    def norm(self, channels: int, activation: str = "Relu") -> None:
        """Adds an instance normalisation, as in networks of images, and an activation."""
        self.add("InstanceNormalization", np.ones(channels, np.float32), np.zeros(channels, np.float32))
        if activation:
            self.add(activation)

    def model(self, shape: Sequence[int | str], output: Sequence[int | str], opset: int) -> bytes:
        """Returns the model, serialized."""
        first = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        last = helper.make_tensor_value_info(self.last, TensorProto.FLOAT, output)
        graph = helper.make_graph(self._nodes, "network", [first], [last], self._constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
        serialized: bytes = made.SerializeToString()
        return serialized


def generator(mode: str, is_open: bool, size: int, width: int, blocks: int) -> bytes:
    """Returns an image generator like CycleGAN's: Pads before convolutions, the first of which has ``width`` channels.

    Each of the residual blocks has two convolutions. ``is_open``: batch, height and width are open; else ``size``.
    """
    net = Layers(mode)
    net.pad(3, 3, 3, 3)
    net.conv(3, width, 7, 7)
    net.norm(width)
    for given in (width, 2 * width):
        net.conv(given, 2 * given, 3, 3, strides=[2, 2], pads=[1, 1, 1, 1])
        net.norm(2 * given)
    for _ in range(blocks):
        before = net.last
        for activation in ("Relu", ""):
            net.pad(1, 1, 1, 1)
            net.conv(4 * width, 4 * width, 3, 3)
            net.norm(4 * width, activation)
        net.add("Add", inputs=[before, net.last])
    for given in (4 * width, 2 * width):
        up = {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}
        net.conv(given, given // 2, 3, 3, op_type="ConvTranspose", **up)
        net.norm(given // 2)
    net.pad(3, 3, 3, 3)
    net.conv(width, 3, 7, 7)
    net.add("Tanh")
    if is_open:
        return net.model(("n", 3, "h", "w"), ("n", 3, "h_out", "w_out"), 18)
    return net.model((1, 3, size, size), (1, 3, size, size), 18)


def panorama(mode: str, size: int, width: int, blocks: int) -> bytes:
    """Returns an encoder of panoramas, ``size`` high and twice as wide: the Pads of the width wrap."""
    net = Layers(mode)
    net.pad(3, 3)
    net.conv(3, width, 7, 7, strides=[2, 2], pads=[3, 0, 3, 0])
    net.add("Relu")
    for _ in range(blocks):
        before = net.last
        for _ in range(2):
            net.pad(1, 1)
            net.conv(width, width, 3, 3, pads=[1, 0, 1, 0])
            net.add("Relu")
        net.add("Add", inputs=[before, net.last])
    return net.model((1, 3, size, 2 * size), (1, width, size // 2, size), 19)


def causal(mode: str, opset: int, axes: bool, length: int, width: int, layers: int) -> bytes:
    """Returns causal convolutions of sound like WaveNet's: each Pad is on the left, twice as long as the Pad before."""
    net = Layers(mode, axes, rank=3)
    net.conv(1, width, 1)
    for layer in range(layers):
        before = net.last
        net.pad(2 ** (layer + 1), 0)
        net.conv(width, width, 3, dilations=[2**layer])
        net.add("Tanh")
        net.conv(width, width, 1)
        net.add("Add", inputs=[before, net.last])
    net.conv(width, 1, 1)
    return net.model((1, 1, length), (1, 1, length), opset)


# By name: the functions that make the network and its twin, and the shape of the input.
Network = tuple[Callable[[], bytes], Callable[[], bytes], tuple[int, ...]]


def _networks(size: int, width: int, blocks: int, length: int, layers: int) -> dict[str, Network]:
    made: dict[str, Network] = {}
    for name, is_open in (("generator, reflect", False), ("generator, reflect, open dims", True)):
        pair = [partial(generator, mode, is_open, size, width, blocks) for mode in ("reflect", "constant")]
        made[name] = (pair[0], pair[1], (1, 3, size, size))
    pair = [partial(panorama, mode, size, width, blocks) for mode in ("wrap", "constant")]
    made["panorama, wrap"] = (pair[0], pair[1], (1, 3, size, 2 * size))
    twin = partial(causal, "constant", 18, False, length, width, layers)
    for name, opset, axes in (("causal, constant", 18, False), ("causal, constant with axes of opset 24", 24, True)):
        made[name] = (partial(causal, "constant", opset, axes, length, width, layers), twin, (1, 1, length))
    return made


NETWORKS = _networks(128, 32, 3, 16000, 6)
# The same networks, small enough for an emulated graphics card.
SMALL = {f"small {name}": network for name, network in _networks(16, 8, 1, 256, 3).items()}
