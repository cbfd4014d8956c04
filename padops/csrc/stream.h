// Copies and fills of bytes. For targets so large that they leave every cache before they are read again, with stores
// that bypass the caches: the processor then need not fetch the lines that it overwrites.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define PADOPS_STREAM 1
#else
#define PADOPS_STREAM 0
#endif

namespace padops {

constexpr size_t kLine = 64;  // bytes of a cache line

// Stretches below this are too short for whole lines to make up for the partial ones at their ends.
constexpr size_t kLeastStreamed = 4 * kLine;

#if PADOPS_STREAM

// As memcpy; the target's whole lines bypass the caches.
inline void stream_copy(char* target, const char* source, size_t bytes) {
  const size_t head = (kLine - reinterpret_cast<uintptr_t>(target) % kLine) % kLine;
  std::memcpy(target, source, head);
  size_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    for (size_t k = 0; k < kLine; k += sizeof(__m128i)) {
      const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at + k));
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + at + k), part);
    }
  }
  std::memcpy(target + at, source + at, bytes - at);
}

// Fills with a pattern of 16 bytes; `bytes` is a multiple of the element, which divides 16.
inline void stream_fill(char* target, const char* pattern, size_t bytes) {
  size_t at = 0;
  const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pattern));
  const size_t head = (sizeof(__m128i) - reinterpret_cast<uintptr_t>(target) % sizeof(__m128i)) % sizeof(__m128i);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(target), part);
  // From the first aligned address on, the pattern begins where the head has left it.
  char turned[sizeof(__m128i)];
  for (size_t i = 0; i < sizeof(turned); ++i) turned[i] = pattern[(i + head) % sizeof(turned)];
  const __m128i rest = _mm_loadu_si128(reinterpret_cast<const __m128i*>(turned));
  for (at = head; at + sizeof(__m128i) <= bytes; at += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + at), rest);
  std::memcpy(target + at, turned, bytes - at);
}

// Orders the streamed stores before what this thread does next.
inline void stream_end() { _mm_sfence(); }

#endif

}  // namespace padops
