"""What other execution providers of onnxruntime do with Pads: one table, with the source of each row.

The library has the same table (``csrc/core/known_providers.cpp``), for the moment at which onnxruntime asks it which nodes it
takes; a test compares the two. ``convert/sources/beside_rules.py`` judges a Pad by it, as ``builtin_rules.py`` does for
onnxruntime's own. ``python3 scripts/providers.py NAME`` runs the cases on a machine that has the provider.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Does = Literal["leaves", "refuses", "wrong", "dies"]
When = Literal[
    "always", "axes", "crop", "beyond", "crop beyond", "cut away", "open rank", "open dims", "computed", "rank above", "above",
    "below", "other types", "nodes behind",
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
        when: Which Pads: ``"always"``; ``"axes"``, those with that input; ``"crop"``, with a negative amount; ``"beyond"``,
            with an amount beyond m - 1 in mode reflect, or m in mode wrap, where a crop leaves m elements; ``"crop beyond"``,
            the same of an axis that is cropped; ``"cut away"``, where a crop leaves nothing; ``"open rank"`` and ``"open
            dims"``, of data whose number of dims, or one of whose dims, is not known; ``"computed"``, whose amounts or axes are; ``"rank above"`` the limit; ``"above"`` and ``"below"``, of a
            version of Pad other than the limit; ``"other types"``, of none of ``types``; ``"nodes behind"``, where nodes behind the
            Pad decide, and no rule tells which.
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
        moves: Element types of which it takes Slice, Concat, Expand and Tile, as ``python3 scripts/provider_parts.py`` measures;
            empty where that was not run.
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

    @property
    def short(self) -> str:
        """Its name as a command takes it, too: ``"openvino"``."""
        return self.name.removesuffix(SUFFIX).lower()


_OPENVINO = f"{MEASURED} ort-openvino"
_WEBGPU = f"{MEASURED} ort-webgpu"
_QNN = f"{MEASURED} ort-qnn"
_ORT = "read: onnxruntime/core/providers"
_CUDA = "read: pull request 26460 of microsoft/onnxruntime"
_TENSORRT = "read: onnx/onnx-tensorrt onnxOpImporters.cpp, docs/operators.md (96e7811)"
_COREML = f"{_ORT}/coreml/builders/impl/pad_op_builder.cc (1650d6f)"
_DML = f"{_ORT}/dml/DmlExecutionProvider/src/Operators/DmlOperatorPadding.cpp (0aea88d)"
_MIGRAPHX = f"{_ORT}/migraphx/migraphx_execution_provider.cc"

_OPENVINO_TYPES = ("float", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool")

_TENSORRT_RULES = (
    ProviderRule("leaves", "other types", _TENSORRT, types=("float", "float16", "bfloat16", "int32", "int64")),
    # It extends all of the data, and crops after that.
    ProviderRule("wrong", "crop", _TENSORRT, ("wrap",)),
    ProviderRule("wrong", "crop beyond", _TENSORRT, ("reflect",)),
)

KNOWN_PROVIDERS = (
    KnownProvider(
        "OpenVINOExecutionProvider",
        "onnxruntime-openvino 1.24.1",
        True,
        (
            ProviderRule("leaves", "open rank", _OPENVINO),
            ProviderRule("leaves", "other types", _OPENVINO, types=_OPENVINO_TYPES),
            ProviderRule("refuses", "axes", _OPENVINO),
            ProviderRule("refuses", "always", _OPENVINO, ("wrap",)),
            ProviderRule("refuses", "beyond", _OPENVINO, ("reflect",)),
            ProviderRule("dies", "cut away", _OPENVINO),
        ),
        _OPENVINO_TYPES,
    ),
    KnownProvider(
        "WebGpuExecutionProvider",
        "onnxruntime-webgpu 1.27.0",
        False,
        (
            ProviderRule("leaves", "other types", _WEBGPU, types=("float", "float16", "int32", "uint32")),
            ProviderRule("leaves", "above", _WEBGPU, limit=23),
            ProviderRule("wrong", "beyond", _WEBGPU, ("wrap",)),
            ProviderRule("wrong", "crop", _WEBGPU, ("wrap",)),
            ProviderRule("wrong", "crop beyond", _WEBGPU, ("reflect",)),
        ),
        ("float", "float16"),
    ),
    KnownProvider(
        "QNNExecutionProvider",
        "onnxruntime-qnn 2.7.0",
        False,
        (
            ProviderRule("leaves", "axes", _QNN),
            ProviderRule("leaves", "open dims", _QNN),
            ProviderRule("leaves", "computed", _QNN),
            ProviderRule("leaves", "always", _QNN, ("wrap",)),
            ProviderRule("leaves", "crop", _QNN, ("reflect",)),
            ProviderRule("leaves", "beyond", _QNN, ("reflect",)),
            ProviderRule("leaves", "other types", _QNN, types=("float", "float16", "double")),
            ProviderRule("refuses", "other types", _QNN, types=("float", "float16")),
            ProviderRule("refuses", "always", _QNN, ("edge",)),
            # In front of Conv, MatMul, Mul, normalizations; not in front of Relu, Sigmoid, Transpose.
            ProviderRule("refuses", "nodes behind", _QNN, ("reflect",)),
            ProviderRule("refuses", "cut away", _QNN),
            ProviderRule("dies", "rank above", _QNN, limit=4),
        ),
        ("float", "float16", "int32", "int64", "bool"),
    ),
    KnownProvider(
        "CUDAExecutionProvider",
        NOT_RUN,
        False,
        (
            ProviderRule("leaves", "other types", _CUDA, types=("float", "double", "float16", "bool")),
            # It reads in front of the data, or behind them.
            ProviderRule("wrong", "beyond", f"{_ORT}/cuda/tensor/pad_impl.cu", ("reflect",)),
            ProviderRule("leaves", "above", f"{_CUDA}; later ones take them, with pull request 27774", limit=18),
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
            ProviderRule("leaves", "computed", _COREML),
            ProviderRule("leaves", "crop", _COREML),
            ProviderRule("leaves", "always", _COREML, ("edge", "wrap")),
            ProviderRule("leaves", "beyond", _COREML, ("reflect",)),
        ),
    ),
    KnownProvider(
        "DmlExecutionProvider",
        NOT_RUN,
        False,
        (
            ProviderRule("leaves", "below", _DML, limit=2),
            ProviderRule("refuses", "always", _DML, ("wrap",)),
            ProviderRule("wrong", "crop", _DML),
            ProviderRule("refuses", "beyond", "read: DML_PADDING1_OPERATOR_DESC, its remarks", ("reflect",)),
        ),
    ),
    KnownProvider(
        "MIGraphXExecutionProvider",
        NOT_RUN,
        False,
        (
            ProviderRule("leaves", "computed", _MIGRAPHX),
            ProviderRule("leaves", "always", _MIGRAPHX, ("wrap",)),
            # It makes a list with a negative number of elements.
            ProviderRule("wrong", "crop", "read: ROCm/AMDMIGraphX src/onnx/parse_pad.cpp", ("edge", "reflect")),
        ),
    ),
    KnownProvider(
        "XnnpackExecutionProvider",
        NOT_RUN,
        False,
        (ProviderRule("leaves", "always", f"{_ORT}/xnnpack/xnnpack_execution_provider.cc"),),
    ),
)
BY_NAME = {row.name: row for row in KNOWN_PROVIDERS}


def find_provider(name: str) -> KnownProvider | None:
    """The row of a provider, by its name in any case, with or without "ExecutionProvider"; None where there is none."""
    short = name.lower().removesuffix(SUFFIX.lower())
    return next((row for row in KNOWN_PROVIDERS if row.short == short), None)


def needing_padops(names: Iterable[str]) -> list[str]:
    """The providers among these that do something else with a Pad than run it or leave it to the next one."""
    return [name for name in names if name in BY_NAME and any(rule.does != "leaves" for rule in BY_NAME[name].rules)]
