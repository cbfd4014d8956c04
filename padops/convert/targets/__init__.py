"""The forms of the output: one file for each target.

A target replaces a node by a Pad, described by a :class:`~padops.convert.pads.pad_info.PadInfo`. To add a target, write
a file with a function ``emit(pad, site, constants, types, **lowering)`` and list it here. ``emit`` turns the node of
``site`` into the Pad and returns notes for the record. It raises ``Unconvertible`` or ``Unneeded`` before it changes
anything. A target that may refuse a Pad also has ``check(pad, site, **lowering)``, which raises the same and changes
nothing. ``lowering`` has the options of the target ``"onnx"``, and is empty for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from padops.convert.targets import native, onnx, pyop

TARGETS: dict[str, Callable[..., Sequence[str] | None]] = {
    "padops": native.emit,
    "onnx": onnx.emit,
    "pyop": pyop.emit,
}
# The checks raise Unconvertible if ``emit`` would; they are called before nodes around the Pad are changed.
CHECKS: dict[str, Callable[..., None]] = {"onnx": onnx.check, "pyop": pyop.check}
