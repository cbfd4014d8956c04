"""padops without its library, on onnxruntime alone: the functions that a converted model carries, and lowered models.

Those without Pad run elsewhere too: the functions ``run_without_pad`` of other peers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import onnx_ir  # noqa: F401, without it the peer is absent

from padops.conformance.divergences import Divergence
from padops.conformance.model import feeds
from padops.conformance.peers.converted import converted_model, huge_passes, repeated_axes_pass
from padops.conformance.peers.request import Request
from padops.conformance.peers.sessions import RECORDED, REFUSALS, require_type, run_model, stock_options

PACKAGES = ("onnxruntime", "onnx-ir")

__all__ = ["KNOWN", "PACKAGES", "REFUSALS", "run_fallback", "run_lowered", "run_without_pad"]


def run_fallback(request: Request) -> np.ndarray:
    """The model of the native peer, with what ``padops convert`` adds to it."""
    return _run_here(request, target="padops")


def run_lowered(request: Request) -> np.ndarray:
    """The model of the native peer, as ``padops convert --target onnx`` leaves it."""
    return _run_here(request, target="onnx")


def run_without_pad(request: Request) -> np.ndarray:
    """The same with ``--without-pad``."""
    return _run_here(request, target="onnx", without_pad=True)


def _run_here(request: Request, **options: Any) -> np.ndarray:
    require_type(request.dtype.name)
    made = converted_model(request, **options)
    return run_model(made.SerializeToString(), feeds(request, request.inputs), stock_options())


def _both(name: str, peer: str) -> tuple[Divergence, ...]:
    """What neither of the two sees before it runs, or can do."""
    row = partial(Divergence, peer=peer, versions=RECORDED)
    return (
        row(f"{name}-4-bit", "error", "P7", "onnxruntime has no Cast of 4-bit integers yet", dtypes=("int4", "uint4"),
            expected="output", says="Could not find an implementation for Cast", versions=">=1.20.1,<1.23"),
        row(f"{name}-fill-of-rank-0", "differ", "P7",
            "of data of rank 0, which pass through, the fill is not looked at", modes=("constant",), expected="error",
            rules=("P7",), tags={"rank-0", "fill-not-one"}),
        row(f"{name}-huge", ("differ", "error"), "P10",
            "amounts beyond any memory are not refused where the output has no elements; NumPy may have no array of it",
            expected="error", rules=("P10",), tags={"huge"}),
    )  # fmt: skip


_LAST = "of an axis that is named twice, the last amounts are taken"

_row = partial(Divergence, peer="padops-lowered", versions=RECORDED)
KNOWN = (
    *_both("fallback", "padops-fallback"),
    *_both("lowered", "padops-lowered"),
    Divergence("fallback-repeated-axes", "differ", "P8", _LAST, "padops-fallback", RECORDED, expected="error",
               rules=("P8",), tags={"axes-repeated"}),
    _row("lowered-cropped-away", ("differ", "error", "crash"), "P3",
         "ONNX's Pad stays where shape or amounts are not known, and is wrong where a crop leaves nothing of an axis",
         modes=("constant",), some={"cropped-away", "overcropped"}, without={"fixed"}, versions=">=1.20.1,<1.24"),
    _row("lowered-huge-crash", "crash", "P10", "ONNX's Pad crashes on amounts beyond any memory", modes=("constant",),
         expected="error", rules=("P10",), tags={"huge"}, versions=">=1.20.1,<1.24"),
    _row("lowered-repeated-axes", "differ", "P8", _LAST + ', where the axes are not known before the model runs',
         expected="error", rules=("P8",), tags={"axes-repeated"}, without={"constant-amounts"}),
    huge_passes("padops-without-pad", RECORDED),
    repeated_axes_pass("padops-without-pad", RECORDED),
    Divergence("padops-without-pad-4-bit", "error", "P7", "onnxruntime has no Cast of 4-bit integers yet",
               "padops-without-pad", ">=1.20.1,<1.23", dtypes=("int4", "uint4"), expected="output",
               says="Could not find an implementation for Cast"),
)  # fmt: skip
