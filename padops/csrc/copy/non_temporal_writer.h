// How the runs of a row become memory where source and output are too large for the caches: a task's part of the output
// from its beginning to its end, one whole cache line after the other, past the caches. A line that runs meet in is put
// together in registers: to write its parts one by one would cost more than the caches do.
#pragma once

#include "stream.h"

#if PADOPS_STREAM

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runs.h"

namespace padops {

// Whether elements that run backward are joined to the line one by one; else a line of them is turned at a time.
inline bool joined_alone(int64_t count, size_t element) {
  return element > 16 || !std::has_single_bit(element) || count * element <= kLine / 2;
}

// How often a run is joined to a line, which is what it costs beside its bytes.
inline int64_t joints(const Run& run, size_t element) {
  constexpr int64_t kTurned = 4;  // what is turned must first reach the memory
  const bool single = element <= 16 && std::has_single_bit(element);
  if (run.kind == Run::Kind::kRepeat && !single)
    return element > kLine / 2 ? run.count : run.count / static_cast<int64_t>(kLine / element) + 1;
  if (run.kind != Run::Kind::kBackward) return 1;
  return joined_alone(run.count, element) ? run.count : (run.count * element / kLine + 1) * kTurned;
}

// Takes the place of ByteWriter. Each run goes on where the one before has ended.
template <size_t kElement>
class LineWriter {
 public:
  static constexpr bool kAnyOrder = false;

  // `source` ends at `source_end`; the first run begins at `at`, which is in `output`; `pattern` is the fill, repeated
  // over kLine bytes; `element` is the bytes of a row's element.
  LineWriter(const char* source, const char* source_end, char* output, char* at, const char* pattern, size_t element,
             bool avx2)
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

  // Writes what there is of the last line.
  void finish() {
    write_part(held_);
    stream_end();
  }

  void fill([[maybe_unused]] int64_t target, int64_t count) {
    assert(goes_on_at(target));
    append_pattern(fill_, count * size());
  }

  void forward([[maybe_unused]] int64_t target, int64_t from, int64_t count) {
    assert(goes_on_at(target));
    append(source_ + from * size(), count * size());
  }

  void backward([[maybe_unused]] int64_t target, int64_t from, int64_t count) {
    assert(goes_on_at(target));
    const char* begin = source_ + from * size();
    if (joined_alone(count, size())) {
      for (int64_t i = 0; i < count; ++i) append(begin - i * size(), size());
      return;
    }
    char room[3 * kLine];
    char* const turned = room + kLine;
    for (int64_t done = 0; done < count;) {
      const int64_t part = std::min<int64_t>(count - done, kLine / size());
      for (int64_t i = 0; i < part; ++i, ++done) std::memcpy(turned + i * size(), begin - done * size(), size());
      append_near(turned, part * size());
    }
  }

  void repeat([[maybe_unused]] int64_t target, int64_t from, int64_t count) {
    assert(goes_on_at(target));
    const char* begin = source_ + from * size();
    if (kElement != 0 && reinterpret_cast<uintptr_t>(output_) % size() == 0) {
      append_pattern(repeated(begin), count * size());
    } else if (size() > kLine / 2) {
      for (int64_t i = 0; i < count; ++i) append(begin, size());
    } else {  // as many of them as a line has room for, again and again
      char room[3 * kLine];
      const int64_t together = std::min<int64_t>(count, kLine / size());
      for (int64_t i = 0; i < together; ++i) std::memcpy(room + kLine + i * size(), begin, size());
      for (; count > 0; count -= together) append_near(room + kLine, std::min(count, together) * size());
    }
  }

  // Rows have no loop of their own here.
  static bool framed(const std::vector<Run>&, const Rows&) { return false; }

 private:
  static constexpr size_t kPart = sizeof(__m128i);
  static constexpr size_t kParts = kLine / kPart;

  // A line of bytes that are kept, and one of bytes that are not.
  alignas(kLine) static constexpr auto kMasks = [] {
    std::array<char, 2 * kLine> masks{};
    for (size_t i = kLine; i < masks.size(); ++i) masks[i] = -1;
    return masks;
  }();

  size_t size() const { return kElement == 0 ? element_ : kElement; }

  bool goes_on_at(int64_t target) const { return output_ + target * size() == to_ + held_; }

  static __m128i load(const char* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }

  // An element again and again, from any multiple of its size on.
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

  // Writes the line, which is whole.
  PADOPS_INLINE void flush() {
    if (before_ == 0) [[likely]] {
      for (size_t k = 0; k < kParts; ++k) _mm_stream_si128(reinterpret_cast<__m128i*>(to_) + k, line_[k]);
    } else {
      write_part(kLine);
    }
    to_ += kLine;
  }

  // Writes the line up to byte `end`, and nothing of what belongs to others.
  PADOPS_APART void write_part(size_t end) {
    char line[kLine];
    std::memcpy(line, line_, kLine);
    std::memcpy(to_ + before_, line + before_, end - before_);
    before_ = 0;
  }

  // Bytes from anywhere in the source.
  PADOPS_INLINE void append(const char* from, size_t bytes) {
    const bool after_line = static_cast<size_t>(from - source_) >= kLine;
    if (after_line && static_cast<size_t>(source_end_ - from) >= bytes + kLine) [[likely]] {
      append_near(from, bytes);
    } else {
      append_edge(from, bytes);
    }
  }

  // Bytes that begin less than a line after the source does, or end less than a line before its end.
  PADOPS_APART void append_edge(const char* from, size_t bytes) {
    const size_t head = std::min(bytes, kLine);
    append_copy(from, head);
    const size_t tail = std::min(bytes - head, kLine);
    if (bytes > head + tail) append_near(from + head, bytes - head - tail);
    append_copy(from + bytes - tail, tail);
  }

  // At most a line of bytes, whatever lies around them.
  void append_copy(const char* from, size_t bytes) {
    char room[3 * kLine];
    std::memcpy(room + kLine, from, bytes);
    append_near(room + kLine, bytes);
  }

  // Bytes with a line before them and a line after them that can be read.
  PADOPS_INLINE void append_near(const char* from, size_t bytes) {
    for (size_t k = 0; k < kParts; ++k) join(k, load(from - held_ + k * kPart));
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

  // A pattern that begins at every multiple of kPart in memory.
  PADOPS_INLINE void append_pattern(__m128i pattern, size_t bytes) {
    for (size_t k = 0; k < kParts; ++k) join(k, pattern);
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

  // Part k of the line keeps the bytes that it holds; the others become those of `part`.
  PADOPS_INLINE void join(size_t k, __m128i part) {
    const __m128i mask = load(kMasks.data() + kLine - held_ + k * kPart);
    line_[k] = _mm_or_si128(_mm_andnot_si128(mask, line_[k]), _mm_and_si128(mask, part));
  }

  const char* source_;
  const char* source_end_;
  char* output_;
  __m128i fill_;
  size_t element_;
  bool avx2_;
  size_t before_;  // bytes of the line that belong to another task
  char* to_;       // where the line goes
  size_t held_;    // bytes of it that are known, those before it among them
  __m128i line_[kParts];
};

}  // namespace padops

#endif
