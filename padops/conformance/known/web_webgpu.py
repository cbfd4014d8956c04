"""onnxruntime-web on WebGPU, in a browser: Pads that run there, and models that padops has lowered for it.

The kernels are those of onnxruntime-webgpu in another version. Where these are wrong in the same way, the row is theirs.
"""

from __future__ import annotations

from dataclasses import replace

from padops.conformance.divergences import Divergence
from padops.conformance.known.lowered_for import KNOWN as LOWERED
from padops.conformance.known.other_providers import KNOWN as STOCK
from padops.conformance.known.versions import ONNXRUNTIME_WEB

_STOCK, _LOWERED = "onnxruntime-web-webgpu", "padops-for-web-webgpu"

# No Pad runs on the CPU here: what is left of it are checks before WebGPU is asked.
_AS_NATIVE = (
    "ort-webgpu-reflect-crop",
    "ort-webgpu-rank-0",
    "ort-webgpu-fill-not-one",
    "ort-webgpu-float16",
    "ort-webgpu-errors",
    "ort-webgpu-cpu-int32-axes",
    "ort-webgpu-cpu-row-of-pads",
    "ort-webgpu-cpu-wrap-of-nothing",
    "ort-webgpu-cpu-empty-output",
    "ort-webgpu-cpu-float16-attributes",
)
_LOWERED_AS_NATIVE = (
    "padops-for-webgpu-errors",
    "padops-for-webgpu-float16",
    "padops-for-webgpu-before-7",
    "padops-for-webgpu-cpu-float16-attributes",
)


def _same(
    rows: tuple[Divergence, ...], ids: tuple[str, ...], word: str, other: str, peer: str
) -> tuple[Divergence, ...]:
    by_id = {row.id: row for row in rows}
    return tuple(
        replace(by_id[id], id=id.replace(word, other, 1), peer=peer, versions=ONNXRUNTIME_WEB) for id in ids
    )  # fmt: skip


KNOWN = (
    Divergence(
        "web-webgpu-wrap-crop", _STOCK, "differ", rule="P2", versions=ONNXRUNTIME_WEB, modes=("wrap",), tags={"mixed"},
        expected="output", reason="behind a crop, other elements are taken",
    ),
    *_same(STOCK, _AS_NATIVE, "ort-", "web-", _STOCK),
    *_same(LOWERED, _LOWERED_AS_NATIVE, "for-", "for-web-", _LOWERED),
    Divergence(
        f"{_LOWERED}-strings", _LOWERED, "differ", rule="P7", versions=ONNXRUNTIME_WEB, dtypes=("string",), expected="output",
        reason="on its way between JavaScript and the runtime a text ends at its first character 0",
    ),
    Divergence(
        f"{_LOWERED}-expand", _LOWERED, "error", rule="P6", versions=ONNXRUNTIME_WEB, dtypes=("uint8",), tags={"interior"},
        expected="output", says='Invalid ShaderModule "Expand"',
        reason="an Expand of one uint8 of rank 0, which is the fill between elements, has no valid shader",
    ),
    Divergence(
        f"{_LOWERED}-no-concat", _LOWERED, "error", rule="P7", versions=ONNXRUNTIME_WEB, dtypes=("string",), modes=("constant",),
        expected="output", says="Unsupported input data type",
        reason="the build with WebGPU has fewer types for the processor than the other one, and no Concat of strings",
    ),
)  # fmt: skip
