// How the runs of a row become memory. One writer for elements of whole bytes, one for elements of 4 or 2 bits; both
// count in elements of a row ("positions"), from the beginning of the output and of the source.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stream.h"

namespace padops {

// Goes on with what stands `period` bytes before `target`, doubling the stretch that is copied.
inline void repeat_before(char* target, size_t period, size_t bytes) {
  const char* source = target - period;
  for (size_t known = period; bytes > 0;) {
    const size_t chunk = std::min(known, bytes);
    copy_bytes(target, source, chunk);
    target += chunk;
    bytes -= chunk;
    known += chunk;
  }
}

// Elements of whole bytes. kElement is the bytes of a row's element, or 0 where only `element` tells.
template <size_t kElement>
struct ByteWriter {
  const char* source;
  char* output;
  const char* pattern;  // the fill, repeated over 64 bytes
  size_t element;       // bytes of a row's element
  bool streaming;

  size_t size() const { return kElement == 0 ? element : kElement; }

  void fill(int64_t target, int64_t count) const {
    char* to = output + target * size();
    const size_t bytes = count * size();
    if (bytes <= 64) {
      copy_short(to, pattern, bytes);
      return;
    }
#if PADOPS_STREAM
    if (streaming && bytes >= kLeastStreamed) {
      stream_fill(to, pattern, bytes);
      return;
    }
#endif
    size_t at = 0;
    for (; at + 64 <= bytes; at += 64) std::memcpy(to + at, pattern, 64);
    copy_short(to + at, pattern, bytes - at);
  }

  void forward(int64_t target, int64_t from, int64_t count) const {
    char* to = output + target * size();
    const char* begin = source + from * size();
    const size_t bytes = count * size();
    if (bytes <= 64) {
      copy_short(to, begin, bytes);
      return;
    }
#if PADOPS_STREAM
    if (streaming && bytes >= kLeastStreamed) {
      stream_copy(to, begin, bytes);
      return;
    }
#endif
    copy_bytes(to, begin, bytes);
  }

  void backward(int64_t target, int64_t from, int64_t count) const {
    char* to = output + target * size();
    const char* begin = source + from * size();
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * size(), begin - i * size(), size());
  }

  void repeat(int64_t target, int64_t from, int64_t count) const {
    char* to = output + target * size();
    std::memcpy(to, source + from * size(), size());
    if constexpr (kElement == 0) {
      repeat_before(to + size(), size(), (count - 1) * size());
    } else {
      char held[kElement];
      std::memcpy(held, to, kElement);
      for (int64_t i = 1; i < count; ++i) std::memcpy(to + i * kElement, held, kElement);
    }
  }

  // Fill with source elements in it: the first `lead` places in, then every `step`.
  void dilated(int64_t target, int64_t from, int64_t count, int64_t lead, int64_t step) const {
    fill(target, count);
    char* to = output + target * size();
    const char* begin = source + from * size();
    for (int64_t at = lead; at < count; at += step, begin += size()) std::memcpy(to + at * size(), begin, size());
  }

  void periodic(int64_t target, int64_t period, int64_t count) const {
    repeat_before(output + target * size(), period * size(), count * size());
  }
};

// Elements of 4 or 2 bits, packed without a break, the first in the lowest bits. A task's part of the output begins at a
// whole byte, so that no two tasks write to one.
template <unsigned kBits>
struct BitWriter {
  const uint8_t* source;
  uint8_t* output;
  uint8_t pattern;   // the fill, repeated over a byte
  uint64_t element;  // bits of a row's element

  void fill(int64_t target, int64_t count) const {
    uint64_t at = target * element;
    const uint64_t end = at + count * element;
    for (; at < end && at % 8 != 0; at += kBits) put(at, pattern & kMask);
    const uint64_t bytes = (end - at) / 8;
    if (bytes > 0) std::memset(output + at / 8, pattern, bytes);
    for (at += bytes * 8; at < end; at += kBits) put(at, pattern & kMask);
  }

  void forward(int64_t target, int64_t from, int64_t count) const {
    copy(target * element, source, from * element, count * element);
  }

  void backward(int64_t target, int64_t from, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) forward(target + i, from - i, 1);
  }

  void repeat(int64_t target, int64_t from, int64_t count) const {
    forward(target, from, 1);
    periodic(target + 1, 1, count - 1);
  }

  void dilated(int64_t target, int64_t from, int64_t count, int64_t lead, int64_t step) const {
    fill(target, count);
    for (int64_t at = lead; at < count; at += step) forward(target + at, from++, 1);
  }

  void periodic(int64_t target, int64_t period, int64_t count) const {
    // What is copied must be whole before it is read, so no more than a period at a time; doubling it is still right.
    for (int64_t known = period; count > 0;) {
      const int64_t chunk = std::min(known, count);
      copy(target * element, output, (target - known) * element, chunk * element);
      target += chunk;
      count -= chunk;
      known += chunk;
    }
  }

 private:
  static constexpr unsigned kMask = (1u << kBits) - 1;

  void put(uint64_t at, unsigned value) const {
    uint8_t& byte = output[at / 8];
    byte = static_cast<uint8_t>((byte & ~(kMask << at % 8)) | value << at % 8);
  }

  // `bytes` bytes that begin `shift` bits into `in`, 16 or 8 at a time; reads one byte more.
  static void shift_bytes(uint8_t* out, const uint8_t* in, uint64_t bytes, unsigned shift) {
    uint64_t at = 0;
    if constexpr (std::endian::native == std::endian::little) {
      const auto word_at = [&](uint64_t i) {
        uint64_t word;
        std::memcpy(&word, in + i, sizeof(word));
        word = word >> shift | uint64_t{in[i + 8]} << (64 - shift);
        std::memcpy(out + i, &word, sizeof(word));
      };
#if PADOPS_STREAM
      const __m128i right = _mm_cvtsi32_si128(static_cast<int>(shift));
      const __m128i left = _mm_cvtsi32_si128(static_cast<int>(64 - shift));
      for (; at + 24 <= bytes + 1; at += 16) {
        const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at));
        const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at + 8));
        const __m128i words = _mm_or_si128(_mm_srl_epi64(low, right), _mm_sll_epi64(high, left));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + at), words);
      }
#endif
      for (; at + 8 <= bytes; at += 8) word_at(at);
      if (at < bytes && bytes > 8) {
        word_at(bytes - 8);  // once more over what is there already
        return;
      }
    }
    for (; at < bytes; ++at) out[at] = static_cast<uint8_t>(in[at] >> shift | in[at + 1] << (8 - shift));
  }

  // Positions and lengths in bits.
  void copy(uint64_t to, const uint8_t* begin, uint64_t from, uint64_t length) const {
    const auto get = [&](uint64_t at) { return static_cast<unsigned>(begin[at / 8] >> at % 8) & kMask; };
    const uint64_t end = to + length;
    for (; to < end && to % 8 != 0; to += kBits, from += kBits) put(to, get(from));
    const unsigned shift = from % 8;
    const uint64_t bytes = (end - to) / 8;
    const uint8_t* in = begin + from / 8;
    uint8_t* out = output + to / 8;
    if (shift == 0) {
      copy_bytes(reinterpret_cast<char*>(out), reinterpret_cast<const char*>(in), bytes);
    } else {
      shift_bytes(out, in, bytes, shift);
    }
    to += bytes * 8;
    from += bytes * 8;
    for (; to < end; to += kBits, from += kBits) put(to, get(from));
  }
};

}  // namespace padops
