"""Other execution providers of onnxruntime, each with the CPU's behind it: stock, and with padops beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from padops.conformance.divergences import Divergence, in_range
from padops.conformance.known.onnxruntime import KERNEL
from padops.conformance.known.provider import KNOWN as PROVIDER
from padops.conformance.known.versions import ORT_OPENVINO, ORT_QNN, ORT_WEBGPU

_OPENVINO, _WEBGPU, _QNN = "ort-openvino", "ort-webgpu", "ort-qnn"
_VERSIONS = {_OPENVINO: ORT_OPENVINO, _WEBGPU: ORT_WEBGPU, _QNN: ORT_QNN}
_RUNTIMES = {_OPENVINO: "1.24.1", _WEBGPU: "1.27.0", _QNN: "1.32.0"}  # onnxruntime itself
_EXTENDS = ("edge", "reflect", "wrap")


# What the CPU's own Pad does that does not show behind the provider, or is among the rows below already.
_HIDDEN = {
    _OPENVINO: {
        "ort-wrap-before-19",
        "ort-empty-output",
        "ort-unused-fill",
        "ort-reflect-limit",
        "ort-int32-axes",
        "ort-repeated-axes",
        "ort-cropped-to-nothing",
        "ort-wrap-of-nothing",
        "ort-float16-nan",
        "ort-reflect-reads-beyond",
    },
    _WEBGPU: {
        "ort-rank-0",
        "ort-unused-fill",
        "ort-repeated-axes",
        "ort-wrap-before-19",
        "ort-wrap-period",
    },
    _QNN: {
        "ort-huge-empty",
        "ort-repeated-axes",
        "ort-float16-nan",
        "ort-rank-0",
        "ort-cropped-to-nothing",
        "ort-wrap-of-nothing",
        "ort-empty-output",
        "ort-wrap-before-19",
    },
}


def _of_kernel(peer: str) -> Iterator[Divergence]:
    """What the CPU's own Pad behind the provider does, and onnxruntime before it asks anybody."""
    for row in KERNEL:
        if in_range(_RUNTIMES[peer], row.versions) and row.id not in _HIDDEN[peer]:
            # QNN's cases have constant amounts, whatever the case says.
            tags = row.tags - {"constant-amounts"} if peer == _QNN else row.tags
            id = row.id.replace("ort-", f"{peer}-cpu-", 1)
            yield replace(row, id=id, peer=peer, versions=_VERSIONS[peer], tags=tags)


def _errors(peer: str, outcome: tuple[str, ...], reason: str) -> Divergence:
    return Divergence(
        f"{peer}-errors", peer, outcome, rule="P5", versions=_VERSIONS[peer], expected="error", reason=reason
    )  # fmt: skip


_STOCK = (
    Divergence(
        "ort-openvino-axes", _OPENVINO, ("error", "differ", "crash"), rule="P8", versions=ORT_OPENVINO, tags={"axes"},
        expected="output", reason="axes are refused where they are not all axes, and lose the fill where they are",
    ),
    Divergence(
        "ort-openvino-wrap", _OPENVINO, "error", rule="P2", versions=ORT_OPENVINO, modes=("wrap",), expected="output",
        reason="there is no mode wrap",
    ),
    Divergence(
        "ort-openvino-cut-away", _OPENVINO, ("crash", "error", "differ"), rule="P5", versions=ORT_OPENVINO,
        tags={"cropped-away"}, expected="output", reason="a crop that leaves nothing of an axis ends the process",
    ),
    Divergence(
        "ort-openvino-reflect-limit", _OPENVINO, ("error", "differ", "crash"), rule="P4", versions=ORT_OPENVINO,
        modes=("reflect",), tags={"reflect-beyond-left"}, expected="output",
        reason="an amount of a reflection may be n - 1 at most",
    ),
    Divergence(
        "ort-openvino-fill-not-one", _OPENVINO, "error", rule="P7", versions=ORT_OPENVINO, tags={"fill-not-one"},
        expected="output", reason="the fill is checked in modes that do not use it",
    ),
    Divergence(
        "ort-openvino-int64", _OPENVINO, "differ", rule="P7", versions=ORT_OPENVINO, dtypes=("int64",), expected="output",
        reason="int64 is computed in 32 bits",
    ),
    Divergence(
        "ort-openvino-fill", _OPENVINO, "differ", rule="P7", versions=ORT_OPENVINO, modes=("constant",), tags={"fill"},
        expected="output",
        reason="a fill goes through float, which has 24 bits of an integer and no negative zero; beside constant amounts one that "
        "is given at run time becomes 0",
    ),
    Divergence(
        "ort-openvino-value", _OPENVINO, "error", rule="P7", versions=ORT_OPENVINO, dtypes=("float", "float16"), opsets=(1, 10),
        tags={"fill"}, expected="output", reason="a value that is NaN or infinite is refused, in modes that do not use it, too",
    ),
    Divergence(
        "ort-openvino-float16-nan", _OPENVINO, "differ", rule="P7", versions=ORT_OPENVINO, dtypes=("float16",),
        expected="output", some={"nan", "fill-nan"}, reason="NaNs of float16 become quiet",
    ),
    Divergence(
        "ort-openvino-row-of-pads", _OPENVINO, "error", rule="P8", versions=ORT_OPENVINO, tags={"pads-row", "dynamic"},
        expected="output", reason="amounts of shape [1, 2r] are refused at run time, too",
    ),
    Divergence(
        "ort-openvino-computed", _OPENVINO, "error", rule="P8", versions=ORT_OPENVINO, tags={"dynamic"}, expected="output",
        some={"empty-data", "empty-output", "nothing-to-do"}, reason="amounts at run time are refused in corners",
    ),
    _errors(_OPENVINO, ("differ", "crash"), "what breaks a rule is not refused: it gives an output, or ends the process"),
    Divergence(
        "ort-webgpu-wrap", _WEBGPU, "differ", rule="P2", versions=ORT_WEBGPU, modes=("wrap",), expected="output",
        some={"beyond-left", "negative"}, reason="beyond n, and behind a crop, other elements are taken",
    ),
    Divergence(
        "ort-webgpu-reflect-crop", _WEBGPU, "differ", rule="P4", versions=ORT_WEBGPU, modes=("reflect",),
        tags={"negative", "reflect-beyond-left"}, expected="output",
        reason="beyond what a crop leaves, what the crop has taken away is reflected, too",
    ),
    Divergence(
        "ort-webgpu-rank-0", _WEBGPU, "error", rule="P5", versions=ORT_WEBGPU, tags={"rank-0"}, expected="output",
        reason="a tensor of rank 0 is refused, where there is nothing to pad",
    ),
    Divergence(
        "ort-webgpu-fill-not-one", _WEBGPU, "error", rule="P7", versions=ORT_WEBGPU, modes=_EXTENDS, tags={"fill-not-one"},
        expected="output", reason="the fill is checked in modes that do not use it",
    ),
    Divergence(
        "ort-webgpu-float16", _WEBGPU, "error", rule="P7", versions=ORT_WEBGPU, dtypes=("float16",), expected="output",
        says="does not support it", reason="the Vulkan in software that the suite runs it on has no float16",
    ),
    _errors(_WEBGPU, ("differ",), "axes that are named twice, and what a crop leaves nothing of, are not refused"),
    Divergence(
        "ort-qnn-edge", _QNN, ("error", "differ"), rule="P2", versions=ORT_QNN, modes=("edge",), dtypes=("float", "float16"),
        expected="output", reason="a session with mode edge cannot be created",
    ),
    Divergence(
        "ort-qnn-empty", _QNN, "error", rule="P5", versions=ORT_QNN, some={"empty-data", "empty-output"}, expected="output",
        reason="a session with data or an output without elements cannot be created",
    ),
    Divergence(
        "ort-qnn-rank-0", _QNN, ("crash", "error"), rule="P5", versions=ORT_QNN, tags={"rank-0"}, expected="output",
        reason="a reflection of rank 0 ends the process when onnxruntime asks the provider whether it takes it",
    ),
    Divergence(
        "ort-qnn-rank-5", _QNN, "error", rule="P1", versions=ORT_QNN, modes=("constant",), dtypes=("float",), expected="output",
        without={"rank-0"}, says="QNN", reason="constant Pads of five dims cannot be compiled",
    ),
    _errors(_QNN, ("differ", "crash", "error"), "amounts beyond any memory, and a fill of no element, end the process"),
)  # fmt: skip


def _beside(peer: str) -> Iterator[Divergence]:
    """What padops beside a provider lets pass, as it does before the CPU's: what else onnxruntime refuses, it converts in memory."""
    name = peer.replace("ort-", "padops-beside-")
    for row in PROVIDER:
        if row.id == "provider-wrap-before-19":
            yield replace(row, id=row.id.replace("provider-", f"{name}-", 1), peer=name, versions=_VERSIONS[peer])


def _renamed(ids: tuple[str, ...], word: str) -> Iterator[Divergence]:
    for row in _STOCK:
        if row.id in ids:
            peer = row.peer.replace("ort-", word)
            yield replace(row, id=row.id.replace(row.peer, peer, 1), peer=peer)


KNOWN = (
    *_STOCK,
    *(row for peer in _VERSIONS for row in _of_kernel(peer)),
    *(row for peer in (_OPENVINO, _WEBGPU) for row in _beside(peer)),  # of QNN, it is among the errors
    *_renamed(
        ("ort-openvino-int64", "ort-openvino-float16-nan", "ort-webgpu-float16", "ort-webgpu-errors", "ort-qnn-errors"),
        "padops-beside-",
    ),
    *(replace(row, id="padops-beside-webgpu-float16-nan", peer="padops-beside-webgpu") for row in _of_kernel(_WEBGPU)
      if row.id == "ort-webgpu-cpu-float16-nan"),
    Divergence(
        "padops-beside-openvino-errors", "padops-beside-openvino", "differ", rule="P5", versions=ORT_OPENVINO, modes=("edge",),
        tags={"cropped-away"}, expected="error", reason="what a crop leaves nothing of is extended, and not refused",
    ),
    Divergence(
        "padops-beside-openvino-row-of-pads", "padops-beside-openvino", "error", rule="P8", versions=ORT_OPENVINO,
        dtypes=("int4", "uint4"), tags={"pads-row", "constant-amounts"}, opsets=(25, 25), says="input must be a 1D",
        reason="the converted model is refused, too: nobody has a kernel for the Identity before the Pad",
    ),
    Divergence(
        "padops-beside-openvino-int32-axes", "padops-beside-openvino", "error", rule="P8", versions=ORT_OPENVINO,
        dtypes=("int4", "uint4"), tags={"axes-int32", "constant-amounts"}, says="ParseData type mismatch",
        reason="the converted model is refused, too: nobody has a kernel for the Identity before the Pad",
    ),
    Divergence(
        "padops-beside-qnn-float16-fill", "padops-beside-qnn", "error", rule="P7", versions=ORT_QNN, modes=_EXTENDS,
        dtypes=("float16",), tags={"fill-not-one"}, expected="output", says="Value tensor should be a 1D tensor of size 1",
        reason="float16 is left to onnxruntime's own Pad, unless the option float16 is native",
    ),
)  # fmt: skip
