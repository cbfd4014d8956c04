"""The forms of the output: one file for each target.

A target replaces a node by a Pad, described by a :class:`~padops.convert.pads.pad_info.PadInfo`. To add a target, write
a file with a function ``emit(pad, site, constants, types)`` and list it here. ``emit`` turns the node of ``site`` into
the Pad and returns notes for the record. It raises ``Unconvertible`` or ``Unneeded`` before it has changed anything. A
target that may refuse a Pad also has ``check(pad, site)``, which raises the same and changes nothing.
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

NAMED = ("padops", "onnx", "pyop")  # the names that users may give; options select the others
STANDARD = ("onnx", "onnx-without-pad", *FOR.values())  # targets that leave nothing of padops

# The checks raise Unconvertible if ``emit`` would; they are called before nodes around the Pad are changed.
CHECKS: dict[str, Callable[[PadInfo, NodeSite], None]] = {
    "onnx": onnx.check,
    "onnx-without-pad": partial(onnx.check, without_pad=True),
    "pyop": pyop.check,
}
CHECKS |= {target: partial(onnx.check, provider=BY_NAME[name]) for name, target in FOR.items()}

# The records' names for results that are no operators of padops.
CALLED = dict.fromkeys(STANDARD, "standard ONNX")
