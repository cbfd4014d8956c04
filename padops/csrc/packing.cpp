#include "packing.h"

#include <algorithm>

namespace padops {

void unpack(const unsigned char* packed, size_t count, int bits, unsigned char* elements) {
  const size_t per_byte = 8 / bits;
  const unsigned mask = (1u << bits) - 1;
  for (size_t i = 0; i < count; ++i) elements[i] = (packed[i / per_byte] >> (i % per_byte * bits)) & mask;
}

void pack(const unsigned char* elements, size_t count, int bits, unsigned char* packed) {
  const size_t per_byte = 8 / bits;
  for (size_t i = 0; i < count; i += per_byte) {
    unsigned byte = 0;
    for (size_t k = 0; k < std::min(per_byte, count - i); ++k) byte |= unsigned{elements[i + k]} << (k * bits);
    packed[i / per_byte] = static_cast<unsigned char>(byte);
  }
}

}  // namespace padops
