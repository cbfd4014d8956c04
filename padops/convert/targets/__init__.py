"""What Pads become: one file for each form of the output.

A target puts a Pad, as :class:`~padops.convert.pads.pad_info.PadInfo` describes it, in the place of a node. To add one,
write a file with a function ``emit(pad, site, constants, types)``: what the node of ``site`` is to be, what adds constants to
the model, and the types of that. It gives notes for the record and raises ``Unconvertible`` before it has changed anything,
or ``Unneeded``; where it may refuse a Pad, also with a ``check(pad, site)``, which changes nothing; and list them here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from padops.convert.model.constants import Constants
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.pad_info import PadInfo
from padops.convert.targets import native, onnx, pyop
from padops.runtime.provider_rules import BY_NAME

TARGETS: dict[str, Callable[[PadInfo, NodeSite, Constants, Types], Sequence[str] | None]] = {
    "padops": native.emit,
    "onnx": onnx.emit,
    "onnx-without-pad": partial(onnx.emit, without_pad=True),
    "pyop": pyop.emit,
}
FOR = {name: f"onnx-for-{name}" for name in BY_NAME}  # the target of each execution provider
TARGETS |= {target: partial(onnx.emit, provider=BY_NAME[name]) for name, target in FOR.items()}

NAMED = ("padops", "onnx", "pyop")  # what a user may ask for; the rest goes by options
STANDARD = ("onnx", "onnx-without-pad", *FOR.values())  # those that leave nothing of padops

# What raises Unconvertible where ``emit`` would: it is asked before nodes around the Pad are changed.
CHECKS: dict[str, Callable[[PadInfo, NodeSite], None]] = {
    "onnx": onnx.check,
    "onnx-without-pad": partial(onnx.check, without_pad=True),
    "pyop": pyop.check,
}
CHECKS |= {target: partial(onnx.check, provider=BY_NAME[name]) for name, target in FOR.items()}

# What the records call what they make, where that is no operator of padops.
CALLED = dict.fromkeys(STANDARD, "standard ONNX")
