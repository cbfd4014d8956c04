"""A Pad of rank 2 in each of its forms, to stand in a row with others."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper
from small_models import pad, tensor

P = "Pad-13"  # the form of a row in which the forms do not matter


def made(form: str, names: tuple[str, str], role: str, amounts: Any, mode: str, fill: float | None) -> tuple:
    """A Pad of rank 2 in one of its forms, with the tensors that it reads."""
    begins, ends = list(amounts[:2]), list(amounts[2:])
    given = [tensor(f"{role}_fill", fill, np.float32)] if fill is not None and form != "Pad-2" else []
    fills = [f"{role}_fill"] if given else []
    inputs, output = [names[0]], names[1]
    attributes: dict[str, Any] = {"name": role, "mode": mode}
    if form == "Pad-2":
        node = pad(inputs, output, pads=list(amounts), **attributes, **({"value": fill} if fill is not None else {}))
        return node, []
    if form in ("Pad-13", "Pad_19"):
        more = {"domain": "padops"} if form == "Pad_19" else {}
        op = form if more else "Pad"
        node = helper.make_node(op, [*inputs, f"{role}_pads", *fills], [output], **attributes, **more)
        return node, [tensor(f"{role}_pads", list(amounts)), *given]
    if form == "Pad-18 with axes":
        node = pad([*inputs, f"{role}_pads", fills[0] if fills else "", f"{role}_axes"], output, **attributes)
        reordered = [begins[1], begins[0], ends[1], ends[0]]
        return node, [tensor(f"{role}_pads", reordered), tensor(f"{role}_axes", [-1, 0]), *given]
    attributes = {"name": role, "pad_mode": mode, "domain": "padops"}
    if form == "OpenVINOPad_12":
        node = helper.make_node(form, [*inputs, f"{role}_b", f"{role}_e", *fills], [output], **attributes)
        return node, [tensor(f"{role}_b", begins, np.int32), tensor(f"{role}_e", ends), *given]
    given = given or [tensor(f"{role}_fill", 0, np.float32)]
    node = helper.make_node("NGraphPad_0", [*inputs, f"{role}_fill"], [output], padding_below=begins,
                            padding_above=ends,
                            **attributes | {"pad_mode": mode.upper()})  # fmt: skip
    return node, given
