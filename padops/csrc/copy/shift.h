// Writes whole bytes whose bits may begin anywhere in a source byte.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "copy/copy.h"
#include "copy/targets.h"

namespace padops {

inline uint64_t word_at(const uint8_t* in) {
  uint64_t word;
  std::memcpy(&word, in, sizeof(word));
  return word;
}

// Writes kBytes bytes: the words at `low` shifted down, or-ed with the words at `high` shifted up.
template <size_t kBytes>
PADOPS_INLINE void shift_words(uint8_t* out, const uint8_t* low, const uint8_t* high, unsigned down, unsigned up) {
  typename Register<kBytes, uint64_t>::type first;
  typename Register<kBytes, uint64_t>::type second;
  std::memcpy(&first, low, kBytes);
  std::memcpy(&second, high, kBytes);
#if defined(__GNUC__)
  first = first >> down | second << up;
#else
  for (size_t k = 0; k < kBytes / sizeof(uint64_t); ++k)
    first.parts[k] = first.parts[k] >> down | second.parts[k] << up;
#endif
  std::memcpy(out, &first, kBytes);
}

// Writes `bytes` bytes that begin `shift` bits into `in`, 1 to 7, and reads one byte more if `bytes` is not 0. Each
// word is a source word shifted down, or-ed with the word one byte later shifted up; their common bits agree. It writes
// kBytes at a time, then half as many for the rest, and so on.
template <size_t kBytes>
PADOPS_INLINE void shift_bytes(uint8_t* out, const uint8_t* in, size_t bytes, unsigned shift) {
  if constexpr (std::endian::native != std::endian::little || kBytes < sizeof(uint64_t)) {
    for (size_t at = 0; at < bytes; ++at) out[at] = static_cast<uint8_t>(in[at] >> shift | in[at + 1] << (8 - shift));
  } else if (bytes < kBytes) {
    shift_bytes<kBytes / 2>(out, in, bytes, shift);
  } else {
    const auto words = [=](size_t at) PADOPS_INLINE_LAMBDA {
      shift_words<kBytes>(out + at, in + at, in + at + 1, shift, 8 - shift);
    };
    size_t at = 0;
    for (; at + 2 * kBytes < bytes; at += 2 * kBytes) {
      words(at);
      words(at + kBytes);
    }
    if (at + kBytes < bytes) words(at);
    words(bytes - kBytes);  // overlaps the words before
  }
}

// The same for any shift, 0 to 7.
template <class Target>
PADOPS_INLINE void move_bits(uint8_t* out, const uint8_t* in, size_t bytes, unsigned shift) {
  if (shift == 0) {
    copy_any<Target, false>(reinterpret_cast<char*>(out), reinterpret_cast<const char*>(in), bytes);
  } else {
    shift_bytes<Target::kRegister>(out, in, bytes, shift);
  }
}

}  // namespace padops
