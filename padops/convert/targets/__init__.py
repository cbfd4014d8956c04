"""The forms of the output: one file for each target.

A target replaces a node by a Pad, described by a :class:`~padops.convert.pads.pad_info.PadInfo`. To add a target, write
a file with a function ``emit(pad, site, constants, types)`` and list it here. ``emit`` turns the node of ``site`` into
the Pad and returns notes for the record. It raises ``Unconvertible`` or ``Unneeded`` before it has changed anything. A
target that may refuse a Pad also has ``check(pad, site)``, which raises the same and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from padops.convert.model.constants import Constants
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.pad_info import PadInfo
from padops.convert.targets import native, onnx, pyop
from padops.runtime.provider_rules import BY_NAME

FOR = {name: f"onnx-for-{name}" for name in BY_NAME}  # the target of each execution provider
# The targets that leave nothing of padops, each with the options of ``onnx.emit`` and ``onnx.check``.
STANDARD: dict[str, dict[str, Any]] = {
    "onnx": {},
    "onnx-without-pad": {"without_pad": True},
    **{target: {"provider": BY_NAME[name]} for name, target in FOR.items()},
}
NAMED = ("padops", "onnx", "pyop")  # the names that users may give; options select the others

TARGETS: dict[str, Callable[[PadInfo, NodeSite, Constants, Types], Sequence[str] | None]] = {
    "padops": native.emit,
    "pyop": pyop.emit,
    **{target: partial(onnx.emit, **options) for target, options in STANDARD.items()},
}
# The checks raise Unconvertible if ``emit`` would; they are called before nodes around the Pad are changed.
CHECKS: dict[str, Callable[[PadInfo, NodeSite], None]] = {
    "pyop": pyop.check,
    **{target: partial(onnx.check, **options) for target, options in STANDARD.items()},
}
