// Copies of bytes within the caches. They replace memcpy, because libc chooses the processor's string instruction by
// rules of its own: on some processors it is ten times slower where source and target are aligned differently, as
// padded rows always are (measured on AMD's family 25). processor.h says where it is used here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "copy/platform.h"

namespace padops {

constexpr size_t kLine = 64;  // bytes of a cache line

// Below this, aligning the target costs more than it saves.
constexpr size_t kMinAligned = 16 * kLine;

// Copies the first and the last Part of the bytes.
template <class Part>
PADOPS_INLINE void copy_ends(char* target, const char* source, size_t bytes) {
  Part first;
  Part last;
  std::memcpy(&first, source, sizeof(Part));
  std::memcpy(&last, source + bytes - sizeof(Part), sizeof(Part));
  std::memcpy(target, &first, sizeof(Part));
  std::memcpy(target + bytes - sizeof(Part), &last, sizeof(Part));
}

// Copies up to 64 bytes without a call. The two parts overlap, so that every size takes few stores.
PADOPS_INLINE void copy_short(char* target, const char* source, size_t bytes) {
  struct Block16 {
    uint64_t parts[2];
  };
  struct Block32 {
    uint64_t parts[4];
  };
  // Most borders are short.
  if (bytes < 16) [[likely]] {
    if (bytes >= 8) {
      copy_ends<uint64_t>(target, source, bytes);
    } else if (bytes >= 4) [[likely]] {
      copy_ends<uint32_t>(target, source, bytes);
    } else if (bytes >= 2) {
      copy_ends<uint16_t>(target, source, bytes);
    } else if (bytes == 1) {
      *target = *source;
    }
  } else if (bytes >= 32) {
    copy_ends<Block32>(target, source, bytes);
  } else {
    copy_ends<Block16>(target, source, bytes);
  }
}

#if PADOPS_SSE2

// As memcpy, by the processor's string instruction.
PADOPS_INLINE void copy_bytes_string(char* target, const char* source, size_t bytes) {
#if defined(_MSC_VER)
  __movsb(reinterpret_cast<unsigned char*>(target), reinterpret_cast<const unsigned char*>(source), bytes);
#else
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
#endif
}

// Copies one line.
PADOPS_INLINE void copy_line(char* target, const char* source) {
  __m128i parts[4];
  for (size_t k = 0; k < 4; ++k) parts[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source) + k);
  for (size_t k = 0; k < 4; ++k) _mm_storeu_si128(reinterpret_cast<__m128i*>(target) + k, parts[k]);
}

// Copies more than a line with `copy`, which copies one. The last line overlaps the one before it. A long copy aligns
// its target to kStore bytes, the size of a store, so that no store crosses a cache line.
template <size_t kStore, class Copy>
PADOPS_INLINE void copy_by_lines(char* target, const char* source, size_t bytes, const Copy& copy) {
  size_t at = 0;
  if (bytes >= kMinAligned) {
    copy(target, source);
    at = kStore - reinterpret_cast<uintptr_t>(target) % kStore;
  }
  for (; at + kLine < bytes; at += kLine) copy(target + at, source + at);
  copy(target + bytes - kLine, source + bytes - kLine);
}

// As memcpy, for more than a line.
PADOPS_INLINE void copy_bytes_long(char* target, const char* source, size_t bytes) {
  copy_by_lines<sizeof(__m128i)>(target, source, bytes, [](char* to, const char* from) { copy_line(to, from); });
}

#if PADOPS_AVX2

// As copy_bytes_long, with half as many loads and stores: a tenth faster within the caches, and more for short copies.
// The compiler can inline it only into functions that are compiled for AVX2 themselves.
[[gnu::target("avx2")]] PADOPS_INLINE void copy_bytes_avx2(char* target, const char* source, size_t bytes) {
  const auto copy = [](char* to, const char* from) __attribute__((target("avx2"))) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + 1, high);
  };
  copy_by_lines<sizeof(__m256i)>(target, source, bytes, copy);
}

#endif

// As memcpy; from `string_from` bytes on by the string instruction.
inline void copy_bytes(char* target, const char* source, size_t bytes, size_t string_from = SIZE_MAX) {
  if (bytes <= kLine) {
    copy_short(target, source, bytes);
  } else if (bytes >= string_from) {
    copy_bytes_string(target, source, bytes);
  } else {
    copy_bytes_long(target, source, bytes);
  }
}

#else

inline void copy_bytes(char* target, const char* source, size_t bytes, size_t = SIZE_MAX) {
  std::memcpy(target, source, bytes);
}
inline void copy_bytes_long(char* target, const char* source, size_t bytes) { std::memcpy(target, source, bytes); }

#endif

}  // namespace padops
