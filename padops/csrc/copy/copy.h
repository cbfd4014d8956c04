// Copies and fills of bytes. Not libc's memcpy: from some 2 KB on it may use the processor's string instruction, which is
// ten times slower on some (measured on Zen 4) where source and target are not aligned alike, as padded rows never are.
//
// Where source and target drive each other out of the caches there are stores that bypass them: the processor then need
// not fetch the lines that it overwrites.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if !defined(PADOPS_STREAM)
#if defined(__SSE2__) || defined(_M_X64)
#define PADOPS_STREAM 1
#else
#define PADOPS_STREAM 0
#endif
#endif

// Whether there is code for AVX2 as well, for the processor to choose when the library runs.
#if !defined(PADOPS_WIDE)
#if PADOPS_STREAM && defined(__GNUC__)
#define PADOPS_WIDE 1
#else
#define PADOPS_WIDE 0
#endif
#endif

#if PADOPS_WIDE
#include <immintrin.h>
#elif PADOPS_STREAM
#include <emmintrin.h>
#endif

// Into each loop, where what is decided by a size that does not change in it is decided before it; and apart from the
// caller, so that the registers are the loop's alone.
#if defined(PADOPS_INLINE)  // not at all, where coverage is measured function by function
#define PADOPS_APART
#elif defined(_MSC_VER)
#define PADOPS_INLINE __forceinline
#define PADOPS_APART __declspec(noinline)
#else
#define PADOPS_INLINE [[gnu::always_inline]] inline
#define PADOPS_APART [[gnu::noinline]]
#endif

namespace padops {

constexpr size_t kLine = 64;  // bytes of a cache line

// Stretches below this are copied before it pays to align their target.
constexpr size_t kLeastAligned = 16 * kLine;

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

// Copies up to 64 bytes without a call; the pieces overlap, so that every size takes few stores.
PADOPS_INLINE void copy_short(char* target, const char* source, size_t bytes) {
  struct Block16 {
    uint64_t parts[2];
  };
  struct Block32 {
    uint64_t parts[4];
  };
  // Borders are short, most of them.
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

#if PADOPS_STREAM

// Copies one line.
PADOPS_INLINE void copy_line(char* target, const char* source) {
  __m128i parts[4];
  for (size_t k = 0; k < 4; ++k) parts[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source) + k);
  for (size_t k = 0; k < 4; ++k) _mm_storeu_si128(reinterpret_cast<__m128i*>(target) + k, parts[k]);
}

// Copies more than a line, `copy` one at a time. The last overlaps the one before it; in long stretches no store, which
// begins at a multiple of kStore bytes, crosses a line.
template <size_t kStore, class Copy>
PADOPS_INLINE void copy_by_lines(char* target, const char* source, size_t bytes, const Copy& copy) {
  size_t at = 0;
  if (bytes >= kLeastAligned) {
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

#if PADOPS_WIDE

// The same with half as many loads and stores: a tenth faster within the caches, and more where it is copied in short
// stretches; without a call only in functions that are for AVX2 themselves.
[[gnu::target("avx2")]] PADOPS_INLINE void copy_bytes_wide(char* target, const char* source, size_t bytes) {
  const auto copy = [](char* to, const char* from) __attribute__((target("avx2"))) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + 1, high);
  };
  copy_by_lines<sizeof(__m256i)>(target, source, bytes, copy);
}

#endif

// As memcpy.
inline void copy_bytes(char* target, const char* source, size_t bytes) {
  if (bytes <= kLine) {
    copy_short(target, source, bytes);
  } else {
    copy_bytes_long(target, source, bytes);
  }
}

#if PADOPS_WIDE

// As stream_lines, with half as many stores: a tenth faster on Zen 4.
[[gnu::target("avx2")]] inline void stream_lines_wide(char* target, const char* source, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kLine) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + at));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + at) + 1);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(target + at), low);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(target + at) + 1, high);
  }
}

#endif

// Copies whole lines past the caches; `target` is the beginning of one.
inline void stream_lines(char* target, const char* source, size_t bytes, [[maybe_unused]] bool avx2) {
#if PADOPS_WIDE
  if (avx2) return stream_lines_wide(target, source, bytes);
#endif
  for (size_t at = 0; at < bytes; at += kLine) {
    __m128i parts[4];
    for (size_t k = 0; k < 4; ++k) parts[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at) + k);
    for (size_t k = 0; k < 4; ++k) _mm_stream_si128(reinterpret_cast<__m128i*>(target + at) + k, parts[k]);
  }
}

// Orders the streamed stores before what this thread does next.
inline void stream_end() { _mm_sfence(); }

#else

inline void copy_bytes(char* target, const char* source, size_t bytes) { std::memcpy(target, source, bytes); }
inline void copy_bytes_long(char* target, const char* source, size_t bytes) { std::memcpy(target, source, bytes); }

#endif

}  // namespace padops
