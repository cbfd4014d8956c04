"""Amounts that are bounded by the size of the data, computed at run time.

A Slice of data that are too short gives the elements there are: the last 3 of 2 elements are 2. A Pad would repeat
elements, so its amounts are bounded by the sizes::

    x -> Shape -> Concat twice -> [Add each axis's difference -> Max 0 ->] Min with the amounts -> pads
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from padops.convert.model.constants import Constants
from padops.convert.model.graphs import NodeSite
from padops.convert.sources.emulated.maps import LONGEST


@dataclass(frozen=True)
class Bounds:
    """Bounds of the amounts.

    Attributes:
        spared: Per axis: amounts <= size - spared; 1 if the edge is not repeated. None: unbounded.
    """

    spared: Sequence[int | None]

    @property
    def nodes(self) -> int:
        """The number of nodes that compute the amounts."""
        return 3 + any(self._more) + (1 in self.spared)

    def write(self, data: ir.Value, amounts: np.ndarray, site: NodeSite, constants: Constants) -> ir.Value:
        """Adds the nodes that compute the amounts, in front of the padding node of ``site``.

        ``amounts`` are the unbounded amounts of every axis, begins then ends.
        """
        dims = constants.insert("Shape", [data], site, "shape")
        most = constants.insert("Concat", [dims, dims], site, "sizes", [ir.AttrInt64("axis", 0)])
        if any(self._more):
            more = constants.add(np.array([*self._more, *self._more], np.int64), site, "more")
            most = constants.insert("Add", [most, more], site, "most")
        if 1 in self.spared:
            most = constants.insert("Max", [most, constants.add(np.zeros(1, np.int64), site, "nothing")], site, "left")
        pads = constants.insert("Min", [most, constants.add(amounts, site, "amounts")], site, "pads")
        pads.shape = ir.Shape([len(amounts)])
        return pads

    @property
    def _more(self) -> list[int]:
        """Per axis: the largest amount minus the size."""
        return [LONGEST if spared is None else -spared for spared in self.spared]
