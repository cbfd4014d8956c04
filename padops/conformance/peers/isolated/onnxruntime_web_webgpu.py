"""onnxruntime-web on WebGPU, in a headless Chromium: stock, and with models lowered for it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from padops.conformance.divergences import Divergence
from padops.conformance.peers.isolated.onnxruntime_web import PACKAGES, RECORDED
from padops.conformance.peers.isolated.ort_webgpu import KNOWN as NATIVE

__all__ = ["KNOWN", "PACKAGES"]

ENVIRONMENT = {
    "name": "onnxruntime-web-webgpu",
    "families": ("onnx",),
    "provider": "WebGpuExecutionProvider",
    "form": "declared",
    "max_cases": 1800,
    "node": {"onnxruntime-web": "1.30.0"},
    "program": "onnxruntime_web_webgpu.mjs",
    "lowered_for": {"name": "padops-for-web-webgpu", "max_cases": 1800, "lowered": True},
}

NEEDS = ("Chromium (chromium, or what CHROMIUM names)",)  # beside the packages

_STOCK, _LOWERED = "onnxruntime-web-webgpu", "padops-for-web-webgpu"

# The kernels are those of onnxruntime-webgpu in another version. Where these are wrong in the same way, the row is
# theirs. No Pad runs on the CPU here: what is left of it are checks before WebGPU is asked.
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


def _same(ids: tuple[str, ...], word: str, other: str, peer: str) -> tuple[Divergence, ...]:
    by_id = {row.id: row for row in NATIVE}
    return tuple(replace(by_id[id], id=id.replace(word, other, 1), peer=peer, versions=RECORDED) for id in ids)


_lowered = partial(Divergence, peer=_LOWERED, versions=RECORDED)
KNOWN = (
    Divergence("web-webgpu-wrap-crop", "differ", "P2", "behind a crop, other elements are taken", _STOCK, RECORDED,
               modes=("wrap",), expected="output", tags={"mixed"}),
    *_same(_AS_NATIVE, "ort-", "web-", _STOCK),
    *_same(_LOWERED_AS_NATIVE, "for-", "for-web-", _LOWERED),
    _lowered("padops-for-web-webgpu-strings", "differ", "P7",
             "on its way between JavaScript and the runtime a text ends at its first character 0", dtypes=("string",),
             expected="output"),
    _lowered("padops-for-web-webgpu-no-concat", "error", "P7",
             "the build with WebGPU has fewer types for the processor than the other one, and no Concat of strings",
             modes=("constant",), dtypes=("string",), expected="output", says="Unsupported input data type"),
)  # fmt: skip
