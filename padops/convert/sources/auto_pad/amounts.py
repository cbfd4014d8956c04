"""The amounts that SAME stands for on one axis, if they are known before the model runs (S1)."""

from __future__ import annotations

from dataclasses import dataclass

from padops.spec.dialects import same_padding

MAX_STRIDES = 1 << 12  # the largest stride whose sizes are tried, one for each remainder


@dataclass(frozen=True)
class Amount:
    """Elements before and after the data.

    Attributes:
        begin: Before.
        end: After.
        below: The amounts are for sizes n with ``previous.below <= (n - 1) % stride < below``; None: for any size.
    """

    begin: int
    end: int
    below: int | None = None


@dataclass(frozen=True)
class Axis:
    """One spatial axis: its size (None if unknown), and the operator's kernel, stride and dilation along it."""

    size: int | None
    kernel: int
    stride: int
    dilation: int

    @property
    def extent(self) -> int:
        """The number of elements from the first that the kernel reads to the last."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def min_total(self) -> int:
        """The sum of the amounts before S1 raises it to 0; if the size is unknown, the smallest possible sum."""
        if self.size is not None:
            return (-(-self.size // self.stride) - 1) * self.stride + self.extent - self.size
        return self.extent - self.stride

    def amounts(self, mode: str) -> list[Amount] | None:
        """Every pair of amounts that the axis may need; None if there are too many sizes to try.

        The total depends on the size n only through (n - 1) % stride. Two totals with the same begin differ by one. One
        more element at the end never makes room for another output, so the larger end serves both: sizes need different
        amounts only if their begins differ.
        """
        if self.size is not None:
            return [Amount(*self._same(self.size, mode))]
        if self.stride == 1:
            return [Amount(*self._same(1, mode))]
        if self.stride > MAX_STRIDES:
            return None
        found: dict[int, Amount] = {}  # by begin; totals fall as the remainder rises
        for remainder in range(self.stride):
            begin, end = self._same(remainder + 1, mode)
            found[begin] = Amount(begin, max(end, found[begin].end if begin in found else 0), remainder + 1)
        return list(found.values()) if len(found) > 1 else [Amount(a.begin, a.end) for a in found.values()]

    def _same(self, size: int, mode: str) -> tuple[int, int]:
        return same_padding(size, self.kernel, self.stride, self.dilation, mode)


def transposed(axis: Axis, output_padding: int, mode: str) -> Amount | None:
    """The crop with which a transposed convolution gives size * stride elements; None if it gives fewer uncropped."""
    total = axis.extent + output_padding - axis.stride
    if total < 0:
        return None
    small, large = total // 2, total - total // 2
    return Amount(large, small) if mode == "SAME_LOWER" else Amount(small, large)
