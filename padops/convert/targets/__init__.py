"""What Pads become: one file for each form of the output.

A target puts a :class:`~padops.convert.sources.finding.Draft` in the place of a node. To add one, write a file with a
function ``put(draft, found, constants)`` and list it here.
"""

from __future__ import annotations

from collections.abc import Callable

from padops.convert.constants import Constants
from padops.convert.graphs import Found
from padops.convert.sources.finding import Draft
from padops.convert.targets import native

TARGETS: dict[str, Callable[[Draft, Found, Constants], None]] = {"padops": native.put}
