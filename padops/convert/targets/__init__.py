"""What Pads become: one file for each form of the output.

A target puts a :class:`~padops.convert.sources.finding.Draft` in the place of a node. To add one, write a file with a
function ``put(draft, found, constants, types)``, which gives notes for the record and raises ``Unconvertible`` before
it has changed anything, or ``Unneeded``, and list it here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from padops.convert.constants import Constants
from padops.convert.graphs import Found
from padops.convert.sources.finding import Draft
from padops.convert.targets import native, onnx, pyop
from padops.convert.types import Types

TARGETS: dict[str, Callable[[Draft, Found, Constants, Types], Sequence[str] | None]] = {
    "padops": native.put,
    "onnx": onnx.put,
    "pyop": pyop.put,
}

# What the records call what they make, where that is no operator of padops.
CALLED = {"onnx": "standard ONNX"}
