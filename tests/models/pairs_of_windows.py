"""Pairs that differ where a Pad became the padding of a convolution or a pooling that cannot take it, or not so."""

from __future__ import annotations

from crafted_pair import Pair, pairs

WINDOWS = """
Conv: a fill of 1 | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 1.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: edge | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "edge"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: reflect | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "reflect"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: begin and end | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 0, 0, 0, 0, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [0, 1, 1, 0]> (x, w)
Conv: height and width | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 0, 0, 0, 1, 0] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [0, 1, 0, 1]> (x, w)
Conv: one more | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 2]> (x, w)
Conv: a padded batch | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [1, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: the Pad is gone | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [0, 0, 0, 0]> (x, w)
Conv: a crop | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, -1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 0, 1, 1]> (x, w)
Conv: what it padded before | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 1, 0, 0, 1, 1] a = Pad (x, p) y = Conv <pads = [1, 1, 1, 1]> (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: SAME_UPPER of an even kernel | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 1, 0, 0, 0, 0] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <auto_pad = "SAME_UPPER"> (x, w)
Conv: SAME_LOWER by strides, for some sizes | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 4 4
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 1, 0, 0, 0, 0] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv <strides = [2, 2]> (a, w)
  y = Conv <strides = [2, 2], auto_pad = "SAME_LOWER"> (x, w)
Conv: strides | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv <strides = [2, 2]> (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: dilations | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv <dilations = [2, 1]> (a, w)
  y = Conv <dilations = [1, 2], pads = [1, 1, 1, 1]> (x, w)
Conv: the data of another | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 1, 0, 0, 1, 1] a = Pad (x, p) y = Conv (a, w)
  b = Neg (x) y = Conv <pads = [1, 1, 1, 1]> (b, w)
Conv: other weights | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 2 2
  @held float[1,1,2,2] w = {1, 2, 3, 4} || float[1,1,2,2] w = {1, 2, 3, 5}
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: padded channels | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 2 2
  @held float[1,2,2,2] w = {0, 0, 0, 0, 1, 2, 3, 5} || float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 1, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: groups | float[N,2,H,W] x => float[A,B,C,D] y | x = [[[[1]], [[2]]]]
  @held float[2,1,1,1] w = {1, 2} || float[2,2,1,1] w = {1, 1, 2, 2}
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv <group = 2> (a, w)
  y = Conv <group = 1, pads = [1, 1, 1, 1]> (x, w)
ConvTranspose pads by a crop | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  @held float[1,1,2,2] w = {1, 2, 3, 4}
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = ConvTranspose (a, w)
  y = ConvTranspose <pads = [1, 1, 1, 1]> (x, w)
ConvInteger: a fill of 0, and a zero point of 3 | uint8[N,1,H,W] x => int32[A,B,C,D] y | x = ramp 1 1 2 2
  @held uint8[1,1,2,2] w = {1, 2, 3, 4}, uint8 z = {3}, uint8 f = {3}, uint8 o = {0}
  p = [0, 0, 1, 1, 0, 0, 1, 1] a = Pad (x, p) y = ConvInteger (a, w, z)
  y = ConvInteger <pads = [1, 1, 1, 1]> (x, w, z)
ConvInteger: a fill of 3, and no zero point | uint8[N,1,H,W] x => int32[A,B,C,D] y | x = ramp 1 1 2 2
  @held uint8[1,1,2,2] w = {1, 2, 3, 4}, uint8 z = {3}, uint8 f = {3}, uint8 o = {0}
  p = [0, 0, 1, 1, 0, 0, 1, 1] a = Pad (x, p, f) y = ConvInteger (a, w)
  y = ConvInteger <pads = [1, 1, 1, 1]> (x, w)
ConvInteger: the zero point is gone | uint8[N,1,H,W] x => int32[A,B,C,D] y | x = ramp 1 1 2 2
  @held uint8[1,1,2,2] w = {1, 2, 3, 4}, uint8 z = {3}, uint8 f = {3}, uint8 o = {0}
  p = [0, 0, 1, 1, 0, 0, 1, 1] a = Pad (x, p, f) y = ConvInteger (a, w, z)
  y = ConvInteger <pads = [1, 1, 1, 1]> (x, w)
ConvInteger: a zero point of the run | uint8[N,1,H,W] x, uint8 z => int32[A,B,C,D] y | x = ramp 1 1 2 2; z = 4
  @held uint8[1,1,2,2] w = {1, 2, 3, 4}, uint8 f = {3}, uint8 o = {0}
  p = [0, 0, 1, 1, 0, 0, 1, 1] a = Pad (x, p, f) y = ConvInteger (a, w, z)
  y = ConvInteger <pads = [1, 1, 1, 1]> (x, w, z)
QLinearConv: a fill of 0, and a zero point of 3 | uint8[N,1,H,W] x => uint8[A,B,C,D] y | x = ramp 1 1 2 2
  @held uint8[1,1,2,2] w = {1, 2, 3, 4}, uint8 z = {3}, uint8 f = {3}, uint8 o = {0}, float s = {1}
  p = [0, 0, 1, 1, 0, 0, 1, 1] a = Pad (x, p) y = QLinearConv <pads = [0, 0, 0, 0]> (a, s, z, w, s, o, s, o)
  y = QLinearConv <pads = [1, 1, 1, 1]> (x, s, z, w, s, o, s, o)
QLinearConv: a fill of 3, and a zero point of 0 | uint8[N,1,H,W] x => uint8[A,B,C,D] y | x = ramp 1 1 2 2
  @held uint8[1,1,2,2] w = {1, 2, 3, 4}, uint8 z = {3}, uint8 f = {3}, uint8 o = {0}, float s = {1}
  p = [0, 0, 1, 1, 0, 0, 1, 1] a = Pad (x, p, f) y = QLinearConv <pads = [0, 0, 0, 0]> (a, s, o, w, s, o, s, o)
  y = QLinearConv <pads = [1, 1, 1, 1]> (x, s, o, w, s, o, s, o)
AveragePool: what is padded does not count | float[N,1,H,W] x => float[A,B,C,D] y | x = -ramp 1 1 2 2
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = AveragePool <kernel_shape = [2, 2]>
    (a)
  y = AveragePool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
AveragePool: ceil_mode | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = AveragePool <kernel_shape = [2, 2],
    strides = [2, 2], ceil_mode = 1, count_include_pad = 1> (a)
  y = AveragePool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, count_include_pad = 1, pads = [1, 1, 1, 1]>
    (x)
AveragePool: a fill of 1 | float[N,1,H,W] x => float[A,B,C,D] y | x = -ramp 1 1 2 2
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 1.0 a = Pad <mode = "constant"> (x, p, f) y = AveragePool <kernel_shape = [2, 2]>
    (a)
  y = AveragePool <kernel_shape = [2, 2], count_include_pad = 1, pads = [1, 1, 1, 1]> (x)
AveragePool: it pads, and does not count that | float[N,1,H,W] x => float[A,B,C,D] y | x = -ramp 1 1 2 2
  p = [0, 0, 1, 1, 0, 0, 1, 1] a = Pad (x, p) y = AveragePool <kernel_shape = [2, 2], pads = [1, 0, 0, 0]> (a)
  y = AveragePool <kernel_shape = [3, 3], count_include_pad = 1, pads = [2, 1, 1, 1]> (x)
AveragePool: another kernel | float[N,1,H,W] x => float[A,B,C,D] y | x = -ramp 1 1 2 2
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = AveragePool <kernel_shape = [2, 2]>
    (a)
  y = AveragePool <kernel_shape = [2, 3], count_include_pad = 1, pads = [1, 1, 1, 1]> (x)
AveragePool: no elements | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 0 2
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = AveragePool <kernel_shape = [2, 2]>
    (a)
  y = AveragePool <kernel_shape = [2, 2], count_include_pad = 1, pads = [1, 1, 1, 1]> (x)
AveragePool: edge | float[N,1,H,W] x => float[A,B,C,D] y | x = -ramp 1 1 2 2
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "edge"> (x, p, f) y = AveragePool <kernel_shape = [2, 2]> (a)
  y = AveragePool <kernel_shape = [2, 2], count_include_pad = 1, pads = [1, 1, 1, 1]> (x)
MaxPool: a fill of 0 | float[N,1,H,W] x => float[A,B,C,D] y | x = -ramp 1 1 2 2
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = MaxPool <kernel_shape = [2, 2]> (a)
  y = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
MaxPool: the lowest fill beside minus infinity | float[N,1,H,W] x => float[A,B,C,D] y | x = all -Infinity 1 1 2 2
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = -340282346638528859811704183484516925440.0 a = Pad <mode = "constant"> (x, p, f) y
    = MaxPool <kernel_shape = [2, 2]> (a)
  y = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
MaxPool: ceil_mode | float[N,1,H,W] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = -1.0 a = Pad <mode = "constant"> (x, p, f) y = MaxPool <kernel_shape = [2, 2],
    strides = [2, 2], ceil_mode = 1> (a)
  y = MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, pads = [1, 1, 1, 1]> (x)
MaxPool: int8, a fill of 0 | int8[N,1,H,W] x => int8[A,B,C,D] y | x = all -5 1 1 2 2
  @held int8 f = {0}
  p = [0, 0, 1, 1, 0, 0, 1, 1] a = Pad (x, p, f) y = MaxPool <kernel_shape = [2, 2]> (a)
  y = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
MaxPool: int8, a fill of -127 | int8[N,1,H,W] x => int8[A,B,C,D] y | x = all -128 1 1 2 2
  @held int8 f = {-127}
  p = [0, 0, 1, 1, 0, 0, 1, 1] a = Pad (x, p, f) y = MaxPool <kernel_shape = [2, 2]> (a)
  y = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
LpPool: a fill of 1 | float[N,1,H,W] x => float[A,B,C,D] y | x = -ramp 1 1 2 2
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 1.0 a = Pad <mode = "constant"> (x, p, f) y = LpPool <kernel_shape = [2, 2]> (a)
  y = LpPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
GlobalAveragePool has no padding | float[N,1,H,W] x => float[A,B,C,D] y | x = -ramp 1 1 2 2
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = GlobalAveragePool (a)
  y = GlobalAveragePool (x)
MaxPool: indices into the padded data | float[N,1,H,W] x => float[A,B,C,D] y, int64[A,B,C,D] z | x = ramp 1 1 2 2
  p = [0, 0, 1, 1, 0, 0, 1, 1] f = -5.0 a = Pad <mode = "constant"> (x, p, f) y, z = MaxPool <kernel_shape = [2, 2]>
    (a)
  y, z = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
"""


def window_pairs() -> list[Pair]:
    return pairs(WINDOWS)
