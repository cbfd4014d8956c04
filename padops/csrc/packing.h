// 4- and 2-bit elements: a tensor packs them into bytes without a break, the first element in the lowest bits. The
// engine moves whole bytes, so they are unpacked before it and packed after it.
#pragma once

#include <cstddef>

namespace padops {

constexpr size_t packed_bytes(size_t count, int bits) { return (count * bits + 7) / 8; }

// `count` elements of `bits` bits (2 or 4) at `packed`, one byte each at `elements`.
void unpack(const unsigned char* packed, size_t count, int bits, unsigned char* elements);

// The reverse; the unused bits of the last byte are 0.
void pack(const unsigned char* elements, size_t count, int bits, unsigned char* packed);

}  // namespace padops
