"""Which amounts SAME stands for on one axis, as far as they are known before the model runs (S1)."""

from __future__ import annotations

from dataclasses import dataclass

from padops.spec.dialects import same_padding

MAX_STRIDES = 1 << 12  # sizes of which the amounts are looked at, one for each remainder of the stride


@dataclass(frozen=True)
class Amount:
    """Elements before and after the data.

    Attributes:
        begin: Before.
        end: After.
        below: These amounts belong to an axis of n elements where (n - 1) % stride is less than this, and not less than
            the one of the amount before; None where they belong to any size.
    """

    begin: int
    end: int
    below: int | None = None


@dataclass(frozen=True)
class Axis:
    """One spatial axis: its size, None where it is not known, and what the operator does along it."""

    size: int | None
    kernel: int
    stride: int
    dilation: int

    @property
    def extent(self) -> int:
        """Elements from the first to the last that the kernel reads."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def min_total(self) -> int:
        """The total of the amounts before it is raised to 0; the smallest that it may be, where the size is not known."""
        if self.size is not None:
            return (-(-self.size // self.stride) - 1) * self.stride + self.extent - self.size
        return self.extent - self.stride

    def amounts(self, mode: str) -> list[Amount] | None:
        """Every pair of amounts that the axis may need, None where there are too many sizes to look at.

        The total depends on the size only by (n - 1) % stride. Two totals with the same begin differ by one, and one
        element more at the end never makes room for another output, so the larger end does for both; it is only where
        the window begins that sizes differ.
        """
        if self.size is not None:
            return [Amount(*self._same(self.size, mode))]
        if self.stride == 1:
            return [Amount(*self._same(1, mode))]
        if self.stride > MAX_STRIDES:
            return None
        found: dict[int, Amount] = {}  # by their begin; totals only fall while the remainder rises
        for remainder in range(self.stride):
            begin, end = self._same(remainder + 1, mode)
            found[begin] = Amount(begin, max(end, found[begin].end if begin in found else 0), remainder + 1)
        return list(found.values()) if len(found) > 1 else [Amount(a.begin, a.end) for a in found.values()]

    def _same(self, size: int, mode: str) -> tuple[int, int]:
        return same_padding(size, self.kernel, self.stride, self.dilation, mode)


def transposed(axis: Axis, output_padding: int, mode: str) -> Amount | None:
    """What a transposed convolution crops so that it gives size * stride elements; None where it gives fewer anyway.

    Args:
        axis: The axis.
        output_padding: Of the node, on this axis.
        mode: SAME_UPPER or SAME_LOWER.
    """
    total = axis.extent + output_padding - axis.stride
    if total < 0:
        return None
    small, large = total // 2, total - total // 2
    return Amount(large, small) if mode == "SAME_LOWER" else Amount(small, large)
