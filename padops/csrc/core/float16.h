// Rounds an IEEE float to float16 as NumPy does: to nearest, ties to even, and keeps the upper bits of a NaN's payload.
#pragma once

#include <bit>
#include <cstdint>

namespace padops {

constexpr uint16_t float16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) {  // a NaN keeps the upper bits of its payload, and stays a NaN even if those are 0
    const uint32_t payload = magnitude >> 13 & 0x03ff;
    return static_cast<uint16_t>(sign | 0x7c00 | (payload == 0 ? 1 : payload));
  }
  // Half the distance above the largest finite float16, 65504, rounds to infinity.
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent < -25) return sign;  // below half of the smallest denormal
  // The value as mantissa * 2^-shift units in the last place of the result.
  const uint32_t mantissa = (magnitude & 0x7fffff) | (magnitude >> 23 ? 0x800000 : 0);
  const int shift = exponent < -14 ? -exponent - 1 : 13;
  const uint32_t dropped = mantissa & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  uint32_t result = mantissa >> shift;
  if (dropped > half || (dropped == half && (result & 1))) ++result;
  // Above the denormals, the mantissa's leading bit adds one to the exponent, and its carry adds another.
  if (exponent >= -14) result += static_cast<uint32_t>(exponent + 14) << 10;
  return static_cast<uint16_t>(sign | result);
}

}  // namespace padops
