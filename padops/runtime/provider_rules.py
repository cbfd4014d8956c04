"""Which Pads other execution providers of onnxruntime do not run right: one table, with the source of each row.

The library has the same table (``csrc/core/known_providers.cpp``) and reads it when onnxruntime asks which nodes it
takes; a test compares the two. ``convert/runtimes/beside_rules.py`` judges Pads by the table, like ``builtin_rules.py``
for onnxruntime's own Pad. ``python3 scripts/providers.py NAME`` runs the cases on a machine that has the provider.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from padops.runtime.provider import CPU, EP_NAMES

Does = Literal["leaves", "refuses", "wrong", "dies"]
When = Literal[
    "always", "axes", "axes but all", "axes turned", "axes and fill", "axes beside", "crop", "beyond", "beyond all",
    "crop beyond", "single", "cut beyond", "cut away", "open rank", "open dims", "computed", "rank above",
    "sizes above", "rank below", "above", "below", "other types", "empty", "computed fill", "computed scalar fill",
    "fill not one", "bare fill not one", "fill empty", "rounded fill", "endless value", "nodes behind", "in a body",
]  # fmt: skip

MEASURED = "measured: python3 scripts/providers.py"
NOT_RUN = "not run"
SUFFIX = "ExecutionProvider"


@dataclass(frozen=True)
class ProviderRule:
    """Pads that a provider does not run right. Of one axis, m is the number of elements that a crop leaves.

    Attributes:
        does: ``"leaves"``: the next provider is asked. ``"refuses"``: the session is not created, or fails when it
            runs. ``"wrong"``: the results are. ``"dies"``: the process ends.
        when: Which Pads. ``"always"``: all. ``"in a body"``: in a branch or body of a node.
            Axes: ``"axes"``: the input axes is given. ``"axes but all"``: it is given, and lacks an axis. ``"axes
            turned"``: it has all axes in another order, which changes the amounts. ``"axes and fill"``: axes and a fill
            are given. ``"axes beside"``: axes are given, and the graph has operators of ``types``, whose Transposes may
            move through the Pad wrongly.
            Amounts: ``"crop"``: one is negative. ``"beyond"``: one is above m - 1 in mode reflect, or above m in mode
            wrap. ``"beyond all"``: the same, with the size before the crop as m. ``"crop beyond"``: the same as
            ``"beyond"``, on a cropped axis. ``"single"``: an axis is extended of which a crop leaves one element.
            ``"cut beyond"``: a crop takes more than the axis has. ``"cut away"``: a crop takes a whole axis; the nodes
            after the Pad also matter. ``"computed"``: amounts or axes are not constant.
            Data: ``"open rank"``: the rank is not known. ``"open dims"``: a dim is not known. ``"rank above"``: the
            rank is above ``limit``. ``"sizes above"``: the same, and the sizes also matter, by no known rule. ``"rank
            below"``: the rank is known and below ``limit``. ``"other types"``: the type is not in ``types``.
            ``"empty"``: data or output have a dim that is known to be 0. ``"nodes behind"``: the nodes next to the Pad
            matter, by no known rule. ``"above"``, ``"below"``: the version of Pad is above or below ``limit``.
            Fill: ``"computed fill"``: it is not constant. ``"computed scalar fill"``: also, it has rank 0. ``"fill not
            one"``: it does not have one element. ``"bare fill not one"``: also, the Pad has no axes. ``"fill empty"``:
            it has no element. ``"rounded fill"``: a float cannot hold it: an integer of more than 24 bits, or a
            negative zero. ``"endless value"``: it is an attribute that is NaN, or infinite in the data's type.
        source: How the rule is known.
        modes: The modes that the rule holds for; empty for all.
        limit, types: See ``when``.
        before: The first onnxruntime 1.x for which the rule does not hold; 0 if it holds for all.
    """

    does: Does
    when: When
    source: str
    modes: tuple[str, ...] = ()
    limit: int = 0
    types: tuple[str, ...] = ()
    before: int = 0


@dataclass(frozen=True)
class KnownProvider:
    """One provider.

    Attributes:
        name: As ``providers=[...]`` takes it.
        version: The release that the rules were measured with; ``NOT_RUN`` if they were read in its source.
        fuses: Whether it claims nodes that another provider has, so that padops must put other nodes in their place.
        rules: The first rule that holds counts. If none holds, the provider runs the Pad right.
        moves: Element types for which it takes Slice, Concat, Expand and Tile and keeps every bit, as
            ``python3 scripts/provider_parts.py`` measures; empty if not measured.
    """

    name: str
    version: str
    fuses: bool
    rules: tuple[ProviderRule, ...]
    moves: tuple[str, ...] = ()

    @property
    def was_run(self) -> bool:
        """Whether the rules have been measured."""
        return self.version != NOT_RUN


_OPENVINO = f"{MEASURED} ort-openvino"
_WEBGPU = f"{MEASURED} ort-webgpu"  # 1.25.1 does the same
_QNN = f"{MEASURED} ort-qnn"  # 2.6.0 does the same
_ORT = "read: microsoft/onnxruntime onnxruntime/core/providers"
_CUDA = f"{_ORT}/cuda/tensor/pad.cc (0606f7d), pad_impl.cu (01392cb)"
# Names and texts in released libraries tell the first release.
_CUDA_KERNELS = f"{_CUDA}, pull request 27774; names in the libraries of onnxruntime-gpu 1.24.4, 1.25.0 and 1.31.1"
_CUDA_CHECKS = f"{_CUDA}, pull request 27652; texts in the libraries of onnxruntime-gpu 1.24.4, 1.25.0 and 1.31.1"
_KERNELS = "read: microsoft/onnxruntime docs/OperatorKernels.md (001d12d)"
_TENSORRT = "read: onnx/onnx-tensorrt onnxOpImporters.cpp, docs/operators.md (96e7811)"
_SLICE = f"{_TENSORRT}; Slice in NVIDIA's TensorRT Operator's Reference, 10.16"
_COREML = f"{_ORT}/coreml/builders/impl/pad_op_builder.cc (1650d6f)"
_COREML_TEXTS = f"{_COREML}; texts in onnxruntime 1.24.4, 1.25.1 and 1.26.0 for macOS"
_DML = f"{_ORT}/dml/DmlExecutionProvider/src/Operators/DmlOperatorPadding.cpp (0aea88d)"
_DML_TESTS = "read: microsoft/onnxruntime onnxruntime/test/providers/cpu/tensor/pad_test.cc, in pull request 26248"
_MIGRAPHX = f"{_ORT}/migraphx/migraphx_execution_provider.cc (0018ddb)"
_MIGRAPHX_PARSER = "read: ROCm/AMDMIGraphX src/onnx/parse_pad.cpp (07005d1)"
_XNNPACK = f"{_ORT}/xnnpack (1b38b58): no file of its kernels is one of Pad"

_OPENVINO_TYPES = (
    "float", "float16", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "int4", "uint4",
)  # fmt: skip
_DML_TYPES = (
    "float", "float16", "double", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip
# Operators that some providers run with channels last: onnxruntime moves Transposes through a Pad with axes, wrongly.
TURNED = (
    "AveragePool", "BatchNormalization", "Conv", "ConvInteger", "ConvTranspose", "DepthToSpace", "GlobalAveragePool",
    "GlobalLpPool", "GlobalMaxPool", "GridSample", "InstanceNormalization", "LRN", "LpPool", "MaxPool", "MaxRoiPool",
    "MaxUnpool", "QLinearConv", "Resize", "SpaceToDepth", "Upsample",
)  # fmt: skip

_TENSORRT_RULES = (
    ProviderRule("leaves", "other types", _TENSORRT, types=("float", "float16", "bfloat16", "int32", "int64")),
    ProviderRule("leaves", "fill not one", _TENSORRT),
    # TensorRT extends the uncropped data, any number of times, and then crops.
    ProviderRule("wrong", "crop", _SLICE, ("wrap",)),
    ProviderRule("wrong", "crop beyond", _SLICE, ("reflect",)),
)

KNOWN_PROVIDERS = (
    KnownProvider(
        "OpenVINOExecutionProvider",
        "onnxruntime-openvino 1.24.1",
        True,
        (
            ProviderRule("leaves", "open rank", _OPENVINO),
            ProviderRule("leaves", "rank below", _OPENVINO, limit=1),
            ProviderRule("leaves", "empty", _OPENVINO),
            ProviderRule("leaves", "other types", _OPENVINO, types=_OPENVINO_TYPES),
            ProviderRule("leaves", "computed scalar fill", _OPENVINO),
            ProviderRule("refuses", "axes but all", _OPENVINO),
            ProviderRule("refuses", "always", _OPENVINO, ("wrap",)),
            ProviderRule("refuses", "beyond all", _OPENVINO, ("reflect",)),
            ProviderRule("wrong", "crop beyond", _OPENVINO, ("reflect",)),
            ProviderRule("dies", "cut beyond", _OPENVINO),
            ProviderRule("refuses", "bare fill not one", _OPENVINO),
            ProviderRule("wrong", "computed fill", _OPENVINO, ("constant",)),
            ProviderRule("wrong", "axes and fill", _OPENVINO, ("constant",)),
            ProviderRule("wrong", "rounded fill", _OPENVINO, ("constant",)),
            ProviderRule("refuses", "endless value", _OPENVINO),
            ProviderRule("wrong", "axes turned", _OPENVINO),
        ),
        # int64 is computed in 32 bits, and so are constants of uint32.
        ("float", "float16", "int8", "int16", "int32", "uint8", "uint16", "bool"),
    ),
    KnownProvider(
        "WebGpuExecutionProvider",
        "onnxruntime-webgpu 1.27.0",
        False,
        (
            ProviderRule("refuses", "axes beside", _WEBGPU, types=TURNED),
            ProviderRule("leaves", "other types", _WEBGPU, types=("float", "float16", "int32", "uint32")),
            ProviderRule("leaves", "above", _WEBGPU, limit=23),
            ProviderRule("leaves", "below", _WEBGPU, limit=2),
            ProviderRule("refuses", "rank below", _WEBGPU, limit=1),
            ProviderRule("refuses", "fill not one", _WEBGPU, ("edge", "reflect", "wrap")),
            ProviderRule("wrong", "beyond", _WEBGPU, ("wrap",)),
            ProviderRule("wrong", "crop", _WEBGPU, ("wrap",)),
            ProviderRule("refuses", "empty", _WEBGPU, ("wrap",)),
            ProviderRule("wrong", "crop beyond", _WEBGPU, ("reflect",)),
        ),
        ("float", "float16"),
    ),
    KnownProvider(
        "QNNExecutionProvider",
        "onnxruntime-qnn 2.7.0",
        False,
        (
            ProviderRule("leaves", "in a body", _QNN),
            ProviderRule("refuses", "axes beside", _QNN, types=TURNED),
            # Like WebGPU, QNN leaves all nodes of a model below opset 7; a Pad 2 does not tell the model's opset.
            ProviderRule("leaves", "below", _QNN, limit=2),
            ProviderRule("leaves", "axes", _QNN),
            ProviderRule("leaves", "open dims", _QNN),
            ProviderRule("leaves", "computed", _QNN),
            ProviderRule("leaves", "rank above", _QNN, limit=5),
            ProviderRule("leaves", "rank above", _QNN, ("edge", "reflect"), limit=4),
            ProviderRule("leaves", "computed fill", _QNN),
            ProviderRule("leaves", "always", _QNN, ("wrap",)),
            ProviderRule("leaves", "crop", _QNN, ("reflect",)),
            ProviderRule("leaves", "beyond", _QNN, ("reflect",)),
            ProviderRule("dies", "fill empty", _QNN),
            ProviderRule("dies", "rank below", _QNN, ("reflect",), limit=1),
            ProviderRule("leaves", "rank below", _QNN, limit=1),
            ProviderRule("leaves", "other types", _QNN, types=("float", "float16", "double")),
            ProviderRule("refuses", "other types", _QNN, types=("float", "float16")),
            ProviderRule("refuses", "other types", _QNN, ("edge",), types=("float16",)),
            # A float16 Pad is wrong alone, and right between two Relus.
            ProviderRule("wrong", "nodes behind", _QNN, ("edge",)),
            ProviderRule("refuses", "empty", _QNN),
            # Not before Relu.
            ProviderRule("refuses", "cut away", _QNN, ("constant",)),
            # Before Conv, MatMul, Mul, normalizations; not before Relu, Sigmoid, Transpose.
            ProviderRule("refuses", "nodes behind", _QNN, ("reflect",)),
            # For float if an axis grows or the first dims are not 1; not for float16.
            ProviderRule("refuses", "sizes above", _QNN, limit=4),
        ),
        # int64 is computed in 32 bits, and constants of int32 in float.
        ("float", "float16", "bool"),
    ),
    KnownProvider(
        "CUDAExecutionProvider",
        NOT_RUN,
        False,
        (
            ProviderRule("leaves", "below", _CUDA, limit=2),
            ProviderRule("leaves", "other types", _KERNELS, types=("float", "double", "float16", "bool")),
            ProviderRule("leaves", "above", _CUDA_KERNELS, limit=18, before=25),
            # CUDA has no kernel for this mode, and starts none.
            ProviderRule("wrong", "always", _CUDA_KERNELS, ("wrap",), before=25),
            ProviderRule("refuses", "fill not one", _CUDA, ("edge", "reflect", "wrap")),
            ProviderRule("refuses", "empty", _CUDA, ("wrap",)),
            # CUDA reads before or after the data.
            ProviderRule("wrong", "beyond", _CUDA_CHECKS, ("reflect",), before=25),
            ProviderRule("refuses", "beyond", _CUDA_CHECKS, ("reflect",)),
        ),
    ),
    KnownProvider("TensorrtExecutionProvider", NOT_RUN, False, _TENSORRT_RULES),
    KnownProvider("NvTensorRTRTXExecutionProvider", NOT_RUN, False, _TENSORRT_RULES),
    KnownProvider(
        "CoreMLExecutionProvider",
        NOT_RUN,
        False,
        (
            ProviderRule("leaves", "below", _COREML, limit=11),
            ProviderRule("leaves", "other types", _COREML, types=("float", "float16")),
            ProviderRule("leaves", "rank below", _COREML, limit=1),
            ProviderRule("leaves", "empty", _COREML),
            ProviderRule("leaves", "computed", _COREML),
            ProviderRule("leaves", "crop", _COREML),
            ProviderRule("leaves", "always", _COREML, ("edge", "wrap")),
            ProviderRule("leaves", "always", _COREML_TEXTS, ("reflect",), before=26),
            ProviderRule("leaves", "beyond", _COREML, ("reflect",)),
        ),
    ),
    KnownProvider(
        "DmlExecutionProvider",
        NOT_RUN,
        False,
        (
            ProviderRule("leaves", "below", _KERNELS, limit=2),
            ProviderRule("leaves", "above", _KERNELS, limit=21),
            ProviderRule("leaves", "other types", _KERNELS, types=_DML_TYPES),
            ProviderRule("refuses", "always", _DML, ("wrap",)),
            ProviderRule("refuses", "empty", f"{_DML_TESTS}, what they leave out for it", ("edge",)),
            ProviderRule("wrong", "crop", f"{_DML}, as its comment says, too"),
        ),
    ),
    KnownProvider(
        "MIGraphXExecutionProvider",
        NOT_RUN,
        False,
        (
            ProviderRule("leaves", "computed", _MIGRAPHX),
            ProviderRule("leaves", "always", _MIGRAPHX, ("wrap",)),
            # MIGraphX reads the axes from the third input; they are the fourth.
            ProviderRule("refuses", "axes", _MIGRAPHX_PARSER, ("edge", "reflect")),
            # MIGraphX counts from 0 to a negative number, which it treats as unsigned.
            ProviderRule("dies", "crop", _MIGRAPHX_PARSER, ("edge",)),
            # MIGraphX makes a list with a negative number of elements.
            ProviderRule("refuses", "crop", _MIGRAPHX_PARSER, ("reflect",)),
            # MIGraphX takes the element after the only one.
            ProviderRule("wrong", "single", _MIGRAPHX_PARSER, ("reflect",)),
        ),
    ),
    KnownProvider("XnnpackExecutionProvider", NOT_RUN, False, (ProviderRule("leaves", "always", _XNNPACK),)),
)
BY_NAME = {row.name: row for row in KNOWN_PROVIDERS}
RULED = (*BY_NAME, CPU, *EP_NAMES)  # the providers of which padops knows what they do with Pads


def find_provider(name: str) -> KnownProvider | None:
    """The row of a provider, by its name in any case, with or without "ExecutionProvider"; None for an unknown name."""
    return BY_NAME.get(full_names([name])[0])


def full_names(names: Iterable[str]) -> list[str]:
    """The providers' names in onnxruntime, from short names in any case; unknown names unchanged."""
    known = {name.removesuffix(SUFFIX).lower(): name for name in RULED}
    return [known.get(name.lower().removesuffix(SUFFIX.lower()), name) for name in names]


def needing_padops(names: Iterable[str]) -> list[str]:
    """The providers among these that refuse some Pads, get them wrong or die of them."""
    return [name for name in names if name in BY_NAME and any(rule.does != "leaves" for rule in BY_NAME[name].rules)]
