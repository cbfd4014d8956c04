"""``padops.lower``: the way out of padops."""

from __future__ import annotations

import os
from typing import Any

from padops.convert.pipeline import Source, convert
from padops.convert.records import Conversion


def lower(source: Source, output: str | os.PathLike[str] | None = None, **options: Any) -> Conversion:
    """Turns every Pad of a model, of padops or foreign, into operators of standard ONNX that do the same.

    ONNX's own Pad where ONNX Runtime is right with it, else Slice, Concat and Gather: at most three nodes for each padded
    axis where shape and amounts are known, the computation of them where not. Element types that ONNX Runtime's Pad lacks
    are moved by operators that have them. The model then has no operator and no function of padops; converting it back,
    or lowering it again, changes no bit of its outputs.

    A Pad of mode constant whose amounts are not known before it runs becomes ONNX's Pad as well, which ONNX Runtime before
    1.24 gets wrong where a crop leaves nothing of an axis.

    Args:
        source: As for ``convert``.
        output: The file to write.
        **options: As for ``convert``, but for ``target``.

    Returns:
        The model, and a record of each Pad; a Pad for which there are no such operators is left, with the reason: data of
        float8e5m2 or float4e2m1, or in a function that does not say of what type they are, or a rule that is broken.

    Raises:
        PadopsError: As for ``convert``.
    """
    return convert(source, output, target="onnx", **options)
