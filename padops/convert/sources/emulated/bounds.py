"""Amounts that are bounded by the size of the data, computed when the model runs.

Slices of data that are too short give what there is: of 2 elements, the last 3 are 2. A Pad would repeat them, so it gets
amounts of at most as many::

    x -> Shape -> Concat twice -> [Add what each axis may have more or less -> Max 0 ->] Min with the amounts -> pads
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
        spared: Of each axis, how many elements less than it has an amount is at most: 1 where the edge is not repeated. None
            where an amount has no bound.
    """

    spared: Sequence[int | None]

    @property
    def nodes(self) -> int:
        """How many nodes it takes to compute the amounts."""
        return 3 + any(self._more) + (1 in self.spared)

    def write(self, data: ir.Value, amounts: np.ndarray, site: NodeSite, constants: Constants) -> ir.Value:
        """The amounts, computed in front of a node.

        Args:
            data: What is padded.
            amounts: The most that they are; begins, then ends, of every axis.
            site: The node that pads.
            constants: Of the model.
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
        """What an axis may be given more than it has elements."""
        return [LONGEST if spared is None else -spared for spared in self.spared]
