// Writes elements of whole bytes past the caches if these cannot hold source and output together. The processor then
// need not fetch the lines that it overwrites.
//
// A task writes its part of the output from the beginning to the end, one whole cache line after the other. Registers
// merge a line that several runs share: writing it in pieces would cost more than bypassing the caches saves.
#pragma once

#include "copy/platform.h"

#if PADOPS_SSE2

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "copy/copy.h"
#include "copy/targets.h"
#include "copy/writer.h"

namespace padops {

// Stores a register past the caches; `target` is a multiple of its size. The intrinsics have a name for each size.
inline void stream_register(char* target, const Register<sizeof(__m128i)>::type& bytes) {
  __m128i loaded;
  std::memcpy(&loaded, &bytes, sizeof(loaded));
  _mm_stream_si128(reinterpret_cast<__m128i*>(target), loaded);
}

#if PADOPS_AVX2
[[gnu::target("avx2")]] inline void stream_register(char* target, const Register<sizeof(__m256i)>::type& bytes) {
  __m256i loaded;
  std::memcpy(&loaded, &bytes, sizeof(loaded));
  _mm256_stream_si256(reinterpret_cast<__m256i*>(target), loaded);
}
#endif

// Copies whole lines past the caches; `target` is the beginning of a line. AVX2 halves the stores, which is a tenth
// faster on AMD's family 25.
template <class Target>
PADOPS_INLINE void stream_lines(char* target, const char* source, size_t bytes) {
  constexpr size_t kPart = Target::kRegister;
  for (size_t at = 0; at < bytes; at += kLine) {
    typename Register<kPart>::type parts[kLine / kPart];
#pragma GCC unroll 4
    for (size_t k = 0; k < kLine / kPart; ++k) std::memcpy(&parts[k], source + at + k * kPart, kPart);
#pragma GCC unroll 4
    for (size_t k = 0; k < kLine / kPart; ++k) stream_register(target + at + k * kPart, parts[k]);
  }
}

// The same, called from code for any processor.
inline void stream_lines(char* target, const char* source, size_t bytes, bool avx2) {
  with_target(avx2, [=]<class Target>(Target) {
    const auto stream = [](char* to, const char* from, size_t size)
                            PADOPS_INLINE_LAMBDA { stream_lines<Target>(to, from, size); };
    compiled_for(Target{}, stream, target, source, bytes);
  });
}

// Whether a register holds a whole number of elements of this size.
constexpr bool fits_register(size_t element) { return element <= sizeof(__m128i) && std::has_single_bit(element); }

// Whether a backward run is merged element by element; else it is reversed and merged line by line.
constexpr bool merges_elements(int64_t count, size_t element) {
  return !fits_register(element) || count * element <= kLine / 2;
}

// kElement is the bytes of a row's element, or 0 if only `element` has them.
template <size_t kElement>
class NonTemporalWriter {
 public:
  // The source ends at `source_end`. The first run begins at `at`, which lies in `output`. `pattern` is the fill,
  // repeated over kLine bytes. `element` is the bytes of a row's element.
  NonTemporalWriter(const char* source, const char* source_end, char* output, char* at, const char* pattern,
                    size_t element, bool avx2)
      : source_(source),
        source_end_(source_end),
        output_(output),
        fill_(load(pattern + -reinterpret_cast<uintptr_t>(output) % kPart)),
        element_(element),
        avx2_(avx2),
        before_(reinterpret_cast<uintptr_t>(at) % kLine),
        to_(at - before_),
        held_(before_),
        line_{} {}

  // Writes the begun part of the last line, and orders its stores before this thread's next work.
  void finish() {
    write_part(held_);
    _mm_sfence();
  }

  void fill([[maybe_unused]] int64_t target, int64_t count) {
    assert(continues_at(target));
    append_pattern(fill_, count * size());
  }

  void forward([[maybe_unused]] int64_t target, int64_t from, int64_t count) {
    assert(continues_at(target));
    append(source_ + from * size(), count * size());
  }

  void backward([[maybe_unused]] int64_t target, int64_t from, int64_t count) {
    assert(continues_at(target));
    const char* begin = source_ + from * size();
    if (merges_elements(count, size())) {
      for (int64_t i = 0; i < count; ++i) append(begin - i * size(), size());
      return;
    }
    char room[3 * kLine];
    char* const reversed = room + kLine;
    for (int64_t done = 0; done < count;) {
      const int64_t part = std::min<int64_t>(count - done, kLine / size());
      for (int64_t i = 0; i < part; ++i, ++done) std::memcpy(reversed + i * size(), begin - done * size(), size());
      append_near(reversed, part * size());
    }
  }

  void repeat([[maybe_unused]] int64_t target, int64_t from, int64_t count) {
    assert(continues_at(target));
    const char* begin = source_ + from * size();
    if (kElement != 0 && reinterpret_cast<uintptr_t>(output_) % size() == 0) {
      append_pattern(repeated(begin), count * size());
    } else if (size() > kLine / 2) {
      for (int64_t i = 0; i < count; ++i) append(begin, size());
    } else {  // as many elements at a time as fit into a line
      char room[3 * kLine];
      const int64_t together = std::min<int64_t>(count, kLine / size());
      for (int64_t i = 0; i < together; ++i) std::memcpy(room + kLine + i * size(), begin, size());
      for (; count > 0; count -= together) append_near(room + kLine, std::min(count, together) * size());
    }
  }

 private:
  static constexpr size_t kPart = sizeof(__m128i);
  static constexpr size_t kParts = kLine / kPart;

  // A line of zeros, then a line of ones: a load from kLine - n selects all bytes of a line but the first n.
  alignas(kLine) static constexpr auto kMasks = [] {
    std::array<char, 2 * kLine> masks{};
    for (size_t i = kLine; i < masks.size(); ++i) masks[i] = -1;
    return masks;
  }();

  size_t size() const { return kElement == 0 ? element_ : kElement; }

  bool continues_at(int64_t target) const { return output_ + target * size() == to_ + held_; }

  static __m128i load(const char* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }

  // An element repeated over a register.
  static __m128i repeated(const char* element) {
    const auto read = [element](auto value) {
      std::memcpy(&value, element, sizeof(value));
      return value;
    };
    if constexpr (kElement == 1) return _mm_set1_epi8(read(char{}));
    if constexpr (kElement == 2) return _mm_set1_epi16(read(int16_t{}));
    if constexpr (kElement == 4) return _mm_set1_epi32(read(int32_t{}));
    if constexpr (kElement == 8) return _mm_set1_epi64x(read(int64_t{}));
    return load(element);
  }

  // Writes the complete line.
  PADOPS_INLINE void flush() {
    if (before_ == 0) [[likely]] {
      for (size_t k = 0; k < kParts; ++k) _mm_stream_si128(reinterpret_cast<__m128i*>(to_) + k, line_[k]);
    } else {
      write_part(kLine);
    }
    to_ += kLine;
  }

  // Writes the line up to byte `end`, but no byte of another task.
  PADOPS_NOINLINE void write_part(size_t end) {
    char line[kLine];
    std::memcpy(line, line_, kLine);
    std::memcpy(to_ + before_, line + before_, end - before_);
    before_ = 0;
  }

  // Appends bytes from anywhere in the source.
  PADOPS_INLINE void append(const char* from, size_t bytes) {
    const bool after_line = static_cast<size_t>(from - source_) >= kLine;
    if (after_line && static_cast<size_t>(source_end_ - from) >= bytes + kLine) [[likely]] {
      append_near(from, bytes);
    } else {
      append_edge(from, bytes);
    }
  }

  // Appends bytes that begin less than a line after the source's begin, or end less than a line before its end.
  PADOPS_NOINLINE void append_edge(const char* from, size_t bytes) {
    const size_t head = std::min(bytes, kLine);
    append_copy(from, head);
    const size_t tail = std::min(bytes - head, kLine);
    if (bytes > head + tail) append_near(from + head, bytes - head - tail);
    append_copy(from + bytes - tail, tail);
  }

  // Appends at most a line of bytes, and reads no others.
  void append_copy(const char* from, size_t bytes) {
    char room[3 * kLine];
    std::memcpy(room + kLine, from, bytes);
    append_near(room + kLine, bytes);
  }

  // Appends bytes that have a readable line before and after them.
  PADOPS_INLINE void append_near(const char* from, size_t bytes) {
    for (size_t k = 0; k < kParts; ++k) merge(k, load(from - held_ + k * kPart));
    const size_t room = kLine - held_;
    if (bytes < room) {
      held_ += bytes;
      return;
    }
    flush();
    from += room;
    bytes -= room;
    held_ = bytes % kLine;
    const size_t lines = bytes - held_;
    stream_lines(to_, from, lines, avx2_);
    to_ += lines;
    for (size_t k = 0; k < kParts; ++k) line_[k] = load(from + lines + k * kPart);
  }

  // Appends bytes of a pattern that repeats at every multiple of kPart in memory.
  PADOPS_INLINE void append_pattern(__m128i pattern, size_t bytes) {
    for (size_t k = 0; k < kParts; ++k) merge(k, pattern);
    const size_t room = kLine - held_;
    if (bytes < room) {
      held_ += bytes;
      return;
    }
    flush();
    for (size_t k = 0; k < kParts; ++k) line_[k] = pattern;
    for (bytes -= room; bytes >= kLine; bytes -= kLine) flush();
    held_ = bytes;
  }

  // Merges `part` into part k of the line, behind the bytes that are known.
  PADOPS_INLINE void merge(size_t k, __m128i part) {
    const __m128i mask = load(kMasks.data() + kLine - held_ + k * kPart);
    line_[k] = _mm_or_si128(_mm_andnot_si128(mask, line_[k]), _mm_and_si128(mask, part));
  }

  const char* source_;
  const char* source_end_;
  char* output_;
  __m128i fill_;
  size_t element_;
  bool avx2_;
  size_t before_;  // first bytes of the line that belong to another task
  char* to_;       // the line's place in the output
  size_t held_;    // known bytes of the line, including the other task's
  __m128i line_[kParts];
};

static_assert(Writer<NonTemporalWriter<0>> && !AnyOrderWriter<NonTemporalWriter<0>>);

}  // namespace padops

#endif
