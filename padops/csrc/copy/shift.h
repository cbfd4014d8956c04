// Copies whole bytes of bits that may begin anywhere in a byte of the source.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "copy/copy.h"

namespace padops {

inline uint64_t word_at(const uint8_t* in) {
  uint64_t word;
  std::memcpy(&word, in, sizeof(word));
  return word;
}

// Calls word(at) for every kWord bytes of `bytes`, which are kWord or more. The last word overlaps the one before it.
template <size_t kWord, class Word>
PADOPS_INLINE void each_word(size_t bytes, const Word& word) {
  size_t at = 0;
  for (; at + 2 * kWord < bytes; at += 2 * kWord) {
    word(at);
    word(at + kWord);
  }
  if (at + kWord < bytes) word(at);
  word(bytes - kWord);
}

// Writes `bytes` bytes that begin `shift` bits into `in`, 1 to 7, and reads one byte more. Each word is the word of the
// source shifted down, or-ed with the one that begins a byte further on shifted up. Where both have bits, they agree.
inline void shift_bytes(uint8_t* out, const uint8_t* in, size_t bytes, unsigned shift) {
  if constexpr (std::endian::native == std::endian::little) {
#if PADOPS_SSE2
    if (bytes >= sizeof(__m128i)) {
      const __m128i right = _mm_cvtsi32_si128(static_cast<int>(shift));
      const __m128i left = _mm_cvtsi32_si128(static_cast<int>(8 - shift));
      each_word<sizeof(__m128i)>(bytes, [&](size_t at) {
        const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at));
        const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at + 1));
        const __m128i both = _mm_or_si128(_mm_srl_epi64(low, right), _mm_sll_epi64(high, left));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + at), both);
      });
      return;
    }
#endif
    if (bytes >= sizeof(uint64_t)) {
      each_word<sizeof(uint64_t)>(bytes, [&](size_t at) {
        const uint64_t both = word_at(in + at) >> shift | word_at(in + at + 1) << (8 - shift);
        std::memcpy(out + at, &both, sizeof(both));
      });
      return;
    }
  }
  for (size_t at = 0; at < bytes; ++at) out[at] = static_cast<uint8_t>(in[at] >> shift | in[at + 1] << (8 - shift));
}

// The same for any shift, 0 to 7.
inline void move_bits(uint8_t* out, const uint8_t* in, size_t bytes, unsigned shift) {
  if (shift == 0) {
    copy_bytes<Baseline>(reinterpret_cast<char*>(out), reinterpret_cast<const char*>(in), bytes);
  } else {
    shift_bytes(out, in, bytes, shift);
  }
}

#if PADOPS_AVX2

// Writes 32 bytes: the words at `low` shifted down, or-ed with the words at `high` shifted up.
[[gnu::target("avx2")]] PADOPS_INLINE void shift_words_avx2(uint8_t* out, const uint8_t* low, const uint8_t* high,
                                                            __m128i down, __m128i up) {
  const __m256i one = _mm256_srl_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(low)), down);
  const __m256i other = _mm256_sll_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(high)), up);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_or_si256(one, other));
}

// As move_bits.
[[gnu::target("avx2")]] inline void move_bits_avx2(uint8_t* out, const uint8_t* in, size_t bytes, unsigned shift) {
  if (bytes < sizeof(__m256i)) {
    move_bits(out, in, bytes, shift);
  } else if (shift == 0) {
    each_word<sizeof(__m256i)>(bytes, [&](size_t at) __attribute__((target("avx2"))) {
      const __m256i word = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + at));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at), word);
    });
  } else {
    const __m128i right = _mm_cvtsi32_si128(static_cast<int>(shift));
    const __m128i left = _mm_cvtsi32_si128(static_cast<int>(8 - shift));
    each_word<sizeof(__m256i)>(bytes, [&](size_t at) __attribute__((target("avx2"))) {
      shift_words_avx2(out + at, in + at, in + at + 1, right, left);
    });
  }
}

#endif

}  // namespace padops
