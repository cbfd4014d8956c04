"""Where OpenVINO breaks its specification or padops' rules; ``test_peers_openvino.py`` compares everything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from case_strategies import Case

from padops.spec.dtypes import by_numpy


@dataclass(frozen=True)
class Axes:
    """A case, axis by axis, for the conditions below."""

    mode: str
    type: str
    rows: tuple[tuple[int, int, int], ...]  # begin, size, end

    @property
    def negative(self) -> bool:
        return any(b + n + e < 0 for b, n, e in self.rows)

    @property
    def crossed(self) -> bool:
        """One side takes more than there is, and the other adds."""
        return any((b > 0 and n + e < 0) or (e > 0 and n + b < 0) for b, n, e in self.rows)

    @property
    def over(self) -> bool:
        most = {"reflect": -1, "symmetric": 0}.get(self.mode)
        return most is not None and any(max(b, e) > max(n + most, 0) for b, n, e in self.rows)

    @property
    def hollow(self) -> bool:
        """An empty axis, and a mode that extends."""
        return self.mode != "constant" and any(n == 0 for _, n, _ in self.rows)

    @property
    def odd(self) -> bool:
        """Half a byte of data."""
        return self.type == "float4e2m1" and prod(n for _, n, _ in self.rows) % 2 == 1

    @property
    def unordered(self) -> bool:
        """Nothing to make, in a layout that the device would have to change."""
        return self.type == "float4e2m1" and len(self.rows) > 3 and any(b + n + e == 0 for b, n, e in self.rows)


@dataclass(frozen=True)
class Divergence:
    """Where OpenVINO does not do what the specification or padops' rule says.

    Attributes:
        rule: The rule of padops.
        what: What OpenVINO does instead.
        where: As in ``openvino_peer.Request``.
    """

    rule: str
    what: str
    where: tuple[str, ...]
    matches: Callable[[Axes], bool]


# The first row that matches is the reason.
DIVERGENCES = (
    Divergence("P5", "rank 0: an error; garbage", ("constant", "dynamic"), lambda a: not a.rows),
    Divergence("P1", "negative dim: an error; a crash", ("constant", "dynamic", "evaluate"), lambda a: a.negative),
    Divergence("P3", "crop beyond the data: a crash", ("constant", "dynamic"), lambda a: a.crossed),
    Divergence("P4", "no error: no elements, or those of the run before", ("dynamic",), lambda a: a.over),
    Divergence("P5", "empty axis: garbage", ("dynamic", "evaluate"), lambda a: a.hollow),
    Divergence("P4", "empty axis: an error even where nothing is added", ("constant",), lambda a: a.hollow),
    Divergence(
        "T", "an empty float4e2m1 of rank 4 and more: an error in some layouts", ("constant",), lambda a: a.unordered
    ),
    Divergence("P7", "the fill is 0", ("fill input",), lambda a: a.mode == "constant"),
    Divergence("P7", "odd count of float4e2m1: the data of the run before", ("dynamic",), lambda a: a.odd),
)


def divergence(case: Case, where: str) -> Divergence | None:
    """Why there is no point in asking OpenVINO, if there is a reason."""
    rows = tuple(zip(case.inputs[1].tolist(), case.inputs[0].shape, case.inputs[2].tolist()))
    axes = Axes(case.attributes["pad_mode"], by_numpy(case.inputs[0].dtype).name, rows)
    return next((row for row in DIVERGENCES if where in row.where and row.matches(axes)), None)
