"""Pairs that differ where a Pad became the padding of a convolution or a pooling that cannot take it, or not so."""

from __future__ import annotations

from crafted_pair import Pair, pairs

WINDOWS = """
Conv: a fill of 1 | x = ramp 1 1 3 3
  @held WEIGHTS
  ONES f = 1.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: edge | x = ramp 1 1 3 3
  @held WEIGHTS
  ONES f = 0.0 a = Pad <mode = "edge"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: begin and end | x = ramp 1 1 3 3
  @held WEIGHTS
  p = [0, 0, 1, 0, 0, 0, 0, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [0, 1, 1, 0]> (x, w)
Conv: one more | x = ramp 1 1 3 3
  @held WEIGHTS
  ZEROS y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 2]> (x, w)
Conv: a padded batch | x = ramp 1 1 3 3
  @held WEIGHTS
  p = [1, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: a crop | x = ramp 1 1 3 3
  @held WEIGHTS
  p = [0, 0, 1, -1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 0, 1, 1]> (x, w)
Conv: what it padded before | x = ramp 1 1 3 3
  @held WEIGHTS
  ONES a = Pad (x, p) y = Conv <pads = [1, 1, 1, 1]> (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: SAME_LOWER by strides, for some sizes | x = ramp 1 1 4 4
  @held WEIGHTS
  p = [0, 0, 1, 1, 0, 0, 0, 0] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv <strides = [2, 2]> (a, w)
  y = Conv <strides = [2, 2], auto_pad = "SAME_LOWER"> (x, w)
Conv: strides | x = ramp 1 1 3 3
  @held WEIGHTS
  ZEROS y = Conv <strides = [2, 2]> (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: the data of another | x = ramp 1 1 3 3
  @held WEIGHTS
  ONES a = Pad (x, p) y = Conv (a, w)
  b = Neg (x) y = Conv <pads = [1, 1, 1, 1]> (b, w)
Conv: groups | float[N,2,H,W] x => float[A,B,C,D] y | x = [[[[1]], [[2]]]]
  @held float[2,1,1,1] w = {1, 2} || float[2,2,1,1] w = {1, 1, 2, 2}
  ZEROS y = Conv <group = 2> (a, w)
  y = Conv <group = 1, pads = [1, 1, 1, 1]> (x, w)
ConvTranspose pads by a crop | x = ramp 1 1 3 3
  @held WEIGHTS
  ZEROS y = ConvTranspose (a, w)
  y = ConvTranspose <pads = [1, 1, 1, 1]> (x, w)
ConvInteger: a fill of 0, and a zero point of 3 | uint8[N,1,H,W] x => int32[A,B,C,D] y | x = ramp 1 1 2 2
  @held BYTES
  ONES a = Pad (x, p) y = ConvInteger (a, w, z)
  y = ConvInteger <pads = [1, 1, 1, 1]> (x, w, z)
ConvInteger: the zero point is gone | uint8[N,1,H,W] x => int32[A,B,C,D] y | x = ramp 1 1 2 2
  @held BYTES
  ONES a = Pad (x, p, f) y = ConvInteger (a, w, z)
  y = ConvInteger <pads = [1, 1, 1, 1]> (x, w)
ConvInteger: a zero point of the run | uint8[N,1,H,W] x, uint8 z => int32[A,B,C,D] y | x = ramp 1 1 2 2; z = 4
  @held uint8[1,1,2,2] w = {1, 2, 3, 4}, uint8 f = {3}, uint8 o = {0}
  ONES a = Pad (x, p, f) y = ConvInteger (a, w, z)
  y = ConvInteger <pads = [1, 1, 1, 1]> (x, w, z)
QLinearConv: a fill of 0, and a zero point of 3 | uint8[N,1,H,W] x => uint8[A,B,C,D] y | x = ramp 1 1 2 2
  @held BYTES, float s = {1}
  ONES a = Pad (x, p) y = QLinearConv <pads = [0, 0, 0, 0]> (a, s, z, w, s, o, s, o)
  y = QLinearConv <pads = [1, 1, 1, 1]> (x, s, z, w, s, o, s, o)
AveragePool: what is padded does not count | x = -ramp 1 1 2 2
  ZEROS y = AveragePool <kernel_shape = [2, 2]> (a)
  y = AveragePool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
AveragePool: ceil_mode | float[1,1,3,3] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  ZEROS y = AveragePool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, count_include_pad = 1> (a)
  y = AveragePool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, count_include_pad = 1, pads = [1, 1, 1, 1]>
    (x)
AveragePool: it pads, and does not count that | x = -ramp 1 1 2 2
  ONES a = Pad (x, p) y = AveragePool <kernel_shape = [2, 2], pads = [1, 0, 0, 0]> (a)
  y = AveragePool <kernel_shape = [3, 3], count_include_pad = 1, pads = [2, 1, 1, 1]> (x)
AveragePool: no elements | x = ramp 1 1 0 2
  ZEROS y = AveragePool <kernel_shape = [2, 2]> (a)
  y = AveragePool <kernel_shape = [2, 2], count_include_pad = 1, pads = [1, 1, 1, 1]> (x)
MaxPool: a fill of 0 | x = -ramp 1 1 2 2
  ZEROS y = MaxPool <kernel_shape = [2, 2]> (a)
  y = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
MaxPool: ceil_mode | x = ramp 1 1 3 3
  ONES f = -1.0 a = Pad <mode = "constant"> (x, p, f) y = MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode =
    1> (a)
  y = MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, pads = [1, 1, 1, 1]> (x)
MaxPool: int8, a fill of -127 | int8[N,1,H,W] x => int8[A,B,C,D] y | x = all -128 1 1 2 2
  @held int8 f = {-127}
  ONES a = Pad (x, p, f) y = MaxPool <kernel_shape = [2, 2]> (a)
  y = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
LpPool: a fill of 1 | x = -ramp 1 1 2 2
  ONES f = 1.0 a = Pad <mode = "constant"> (x, p, f) y = LpPool <kernel_shape = [2, 2]> (a)
  y = LpPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
GlobalAveragePool has no padding | x = -ramp 1 1 2 2
  ZEROS y = GlobalAveragePool (a)
  y = GlobalAveragePool (x)
MaxPool: indices into the padded data | float[N,1,H,W] x => float[A,B,C,D] y, int64[A,B,C,D] z | x = ramp 1 1 2 2
  ONES f = -5.0 a = Pad <mode = "constant"> (x, p, f) y, z = MaxPool <kernel_shape = [2, 2]> (a)
  y, z = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
"""


def window_pairs() -> list[Pair]:
    return pairs(WINDOWS, "float[N,1,H,W] x => float[A,B,C,D] y")
