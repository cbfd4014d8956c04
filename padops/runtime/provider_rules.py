"""What other execution providers of onnxruntime do with Pads: one table, with the source of each row.

The library has the same table (``csrc/core/known_providers.cpp``), for the moment at which onnxruntime asks it which nodes it
takes; a test compares the two. ``convert/runtimes/beside_rules.py`` judges a Pad by it, as ``builtin_rules.py`` does for
onnxruntime's own. ``python3 scripts/providers.py NAME`` runs the cases on a machine that has the provider.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from padops.runtime.provider import CPU, EP_NAMES

Does = Literal["leaves", "refuses", "wrong", "dies"]
When = Literal[
    "always", "axes", "axes but all", "axes turned", "axes and fill", "axes beside", "crop", "beyond", "beyond all", "crop beyond", "single",
    "cut beyond", "cut away", "open rank", "open dims", "computed", "rank above", "sizes above", "rank below", "above", "below", "other types", "empty",
    "computed fill", "computed scalar fill", "fill not one", "bare fill not one", "fill empty", "rounded fill", "endless value",
    "nodes behind", "in a body",
]  # fmt: skip

MEASURED = "measured: python3 scripts/providers.py"
NOT_RUN = "not run"
SUFFIX = "ExecutionProvider"


@dataclass(frozen=True)
class ProviderRule:
    """Pads that a provider does not run right.

    Attributes:
        does: ``"leaves"``: it does not take them, and the next provider is asked; ``"refuses"``: the session is not created,
            or fails when it runs; ``"wrong"``; ``"dies"``, with the process.
        when: Which Pads: ``"always"``; ``"axes"``, those with that input; ``"axes but all"``, the same where they are not
            all axes; ``"axes turned"``, where they are all in another order, in which the amounts are others, too; ``"axes and fill"``, those with both; ``"axes beside"``, those with axes in a graph with
            operators of ``types``, which may be turned wrongly with them; ``"crop"``, with a negative amount; ``"beyond"``,
            with an amount beyond m - 1 in mode reflect, or m in mode wrap, where a crop leaves m elements; ``"beyond all"``,
            the same of the axis as it is without its crop; ``"crop beyond"``, the same of an axis that is cropped;
            ``"single"``, which make an axis longer of which a crop leaves one element; ``"cut beyond"``, where a crop takes
            more than there is; ``"cut away"``, all of an axis, and nodes behind decide, too; ``"open rank"`` and ``"open dims"``, of data whose number of dims, or one of whose dims, is
            not known; ``"computed"``, whose amounts or axes are; ``"rank above"`` the limit, and ``"sizes above"``, the
            same where the sizes of the dims decide, too, and no rule tells which; ``"rank below"`` it, where it is known;
            ``"above"`` and ``"below"``, of a version of Pad other than the limit; ``"other types"``, of none of ``types``; ``"empty"``, of data, or with an output, that are known to have a dim of 0; ``"computed fill"`` and
            ``"computed scalar fill"``, whose fill is no constant, and has no dims; ``"fill not one"`` and ``"fill empty"``,
            whose fill has another number of elements than one, and none; ``"bare fill not one"``, those without axes alone;
            ``"rounded fill"``, whose fill a float does not keep: a whole number of more than 24 bits, or a negative zero;
            ``"endless value"``, whose value is an attribute, and no number or infinite in its type; ``"nodes behind"``,
            where nodes next to the Pad decide, and no rule tells which; ``"in a body"``, in a branch or a body of a node.
        source: How that is known.
        modes: Of the Pads; empty for any.
        limit: For ``when``.
        types: For ``when``.
        before: The first onnxruntime 1.x without it; 0 where there is none.
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
        version: What the rules are of; ``NOT_RUN`` where they have been read in its source.
        fuses: Whether it asks for nodes that another one has, so that padops must put others in their place.
        rules: The first one that holds counts. Where none does, the provider runs the Pad right.
        moves: Element types of which it takes Slice, Concat, Expand and Tile, and keeps every bit, as
            ``python3 scripts/provider_parts.py`` measures; empty where that was not run.
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
# Names and texts in what was released say from which release on.
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
# Operators whose data some providers have in another layout, channels last. onnxruntime puts Transposes around them and moves
# these through the graph; through a Pad with axes it does so wrongly.
TURNED = (
    "AveragePool", "BatchNormalization", "Conv", "ConvInteger", "ConvTranspose", "DepthToSpace", "GlobalAveragePool",
    "GlobalLpPool", "GlobalMaxPool", "GridSample", "InstanceNormalization", "LRN", "LpPool", "MaxPool", "MaxRoiPool", "MaxUnpool",
    "QLinearConv", "Resize", "SpaceToDepth", "Upsample",
)  # fmt: skip

_TENSORRT_RULES = (
    ProviderRule("leaves", "other types", _TENSORRT, types=("float", "float16", "bfloat16", "int32", "int64")),
    ProviderRule("leaves", "fill not one", _TENSORRT),
    # It extends all of the data, any number of times, and crops after that.
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
            # It leaves all of a model below opset 7, as WebGPU does; of Pad 2, nothing tells the opset.
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
            # Of float16 a Pad alone is wrong, and right between two Relus.
            ProviderRule("wrong", "nodes behind", _QNN, ("edge",)),
            ProviderRule("refuses", "empty", _QNN),
            # Not in front of Relu.
            ProviderRule("refuses", "cut away", _QNN, ("constant",)),
            # In front of Conv, MatMul, Mul, normalizations; not in front of Relu, Sigmoid, Transpose.
            ProviderRule("refuses", "nodes behind", _QNN, ("reflect",)),
            # Of float where it grows, or where the first dims are not 1; not of float16.
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
            # It has no kernel of this mode, and starts none.
            ProviderRule("wrong", "always", _CUDA_KERNELS, ("wrap",), before=25),
            ProviderRule("refuses", "fill not one", _CUDA, ("edge", "reflect", "wrap")),
            ProviderRule("refuses", "empty", _CUDA, ("wrap",)),
            # It reads in front of the data, or behind them.
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
            # It takes the third input for the axes, which are the fourth.
            ProviderRule("refuses", "axes", _MIGRAPHX_PARSER, ("edge", "reflect")),
            # It counts from 0 to a negative number that is taken for one without a sign.
            ProviderRule("dies", "crop", _MIGRAPHX_PARSER, ("edge",)),
            # It makes a list with a negative number of elements.
            ProviderRule("refuses", "crop", _MIGRAPHX_PARSER, ("reflect",)),
            # It takes the element behind the only one.
            ProviderRule("wrong", "single", _MIGRAPHX_PARSER, ("reflect",)),
        ),
    ),
    KnownProvider("XnnpackExecutionProvider", NOT_RUN, False, (ProviderRule("leaves", "always", _XNNPACK),)),
)
BY_NAME = {row.name: row for row in KNOWN_PROVIDERS}


def find_provider(name: str) -> KnownProvider | None:
    """The row of a provider, by its name in any case, with or without "ExecutionProvider"; None where there is none."""
    return BY_NAME.get(full_names([name])[0])


def full_names(names: Iterable[str]) -> list[str]:
    """The same providers by the names that onnxruntime has for them, the CPU's and padops' among them; unknown names as they are."""
    known = {name.removesuffix(SUFFIX).lower(): name for name in (*BY_NAME, CPU, *EP_NAMES)}
    return [known.get(name.lower().removesuffix(SUFFIX.lower()), name) for name in names]


def needing_padops(names: Iterable[str]) -> list[str]:
    """The providers among these that do something else with a Pad than run it or leave it to the next one."""
    return [name for name in names if name in BY_NAME and any(rule.does != "leaves" for rule in BY_NAME[name].rules)]
