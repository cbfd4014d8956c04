// Writes elements of whole bytes within the caches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "copy/copy.h"
#include "copy/writer.h"

namespace padops {

// Continues with what stands `period` bytes before `target`. The stretch that is copied doubles each time.
inline void repeat_before(char* target, size_t period, size_t bytes, size_t string_from) {
  const char* source = target - period;
  for (size_t known = period; bytes > 0;) {
    const size_t chunk = std::min(known, bytes);
    copy_bytes(target, source, chunk, string_from);
    target += chunk;
    bytes -= chunk;
    known += chunk;
  }
}

// kElement is the bytes of a row's element, or 0 where only `element` tells.
template <size_t kElement>
struct ByteWriter {
  const char* source;
  char* output;
  const char* pattern;  // the fill, repeated over kLine bytes
  size_t element;       // bytes of a row's element
  bool avx2;            // whether it may be used
  size_t string_from;   // bytes from which a run is copied by the string instruction

  size_t size() const { return kElement == 0 ? element : kElement; }

  void fill(int64_t target, int64_t count) const {
    char* to = output + target * size();
    const size_t bytes = count * size();
    if (bytes <= kLine) {
      copy_short(to, pattern, bytes);
      return;
    }
    size_t at = 0;
    for (; at + kLine <= bytes; at += kLine) std::memcpy(to + at, pattern, kLine);
    copy_short(to + at, pattern, bytes - at);
  }

  void forward(int64_t target, int64_t from, int64_t count) const {
    copy_bytes(output + target * size(), source + from * size(), count * size(), string_from);
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
      repeat_before(to + size(), size(), (count - 1) * size(), string_from);
    } else {
      char held[kElement];
      std::memcpy(held, to, kElement);
      for (int64_t i = 1; i < count; ++i) std::memcpy(to + i * kElement, held, kElement);
    }
  }

  // Writes fill, and source elements over it: the first at `offset`, then one every `step`.
  void dilated(int64_t target, int64_t from, int64_t count, int64_t offset, int64_t step) const {
    fill(target, count);
    char* to = output + target * size();
    const char* begin = source + from * size();
    for (int64_t at = offset; at < count; at += step, begin += size()) std::memcpy(to + at * size(), begin, size());
  }

  void periodic(int64_t target, int64_t period, int64_t count) const {
    repeat_before(output + target * size(), period * size(), count * size(), string_from);
  }

  // Writes whole rows and returns true if each is a window between two borders of at most a cache line. This loop takes
  // two thirds of the time that the runs of every row take one by one: nothing is looked up or decided in it. Rows for
  // the string instruction are so long that this does not matter.
  bool write_bordered(const std::vector<Run>& runs, const Rows& rows) const {
    if (!is_bordered(runs) || runs[1].count * size() >= string_from) return false;
    const auto is_short = [&](const Run& run) { return run.count * size() <= kLine; };
    if (is_short(runs[1]) || !is_short(runs[0]) || !is_short(runs[2])) return false;
    return for_border(runs[0].kind, [&](auto kind) { dispatch<kind>(runs.data(), rows); });
  }

 private:
  template <Run::Kind kBorder>
  void dispatch(const Run* runs, const Rows& rows) const {
#if PADOPS_AVX2
    if (avx2) return bordered_avx2<kBorder>(runs, rows);
#endif
    bordered_baseline<kBorder>(runs, rows);
  }

  template <Run::Kind kBorder>
  PADOPS_NOINLINE void bordered_baseline(const Run* runs, const Rows& rows) const {
    bordered<kBorder>(runs, rows, [](char* to, const char* from, size_t bytes) { copy_bytes_long(to, from, bytes); });
  }

#if PADOPS_AVX2
  template <Run::Kind kBorder>
  [[gnu::target("avx2")]] PADOPS_NOINLINE void bordered_avx2(const Run* runs, const Rows& rows) const {
    const auto copy = [](char* to, const char* from, size_t bytes)
                          __attribute__((target("avx2"))) { copy_bytes_avx2(to, from, bytes); };
    bordered<kBorder>(runs, rows, copy);
  }
#endif

  // `copy_window` copies the windows, which are longer than a line.
  template <Run::Kind kBorder, class Copy>
  PADOPS_INLINE void bordered(const Run* runs, const Rows& rows, const Copy& copy_window) const {
    const size_t unit = size();
    const char* const fill_pattern = pattern;
    const auto border = [=](char* to, const char* from, size_t bytes) {
      if constexpr (kBorder == Run::Kind::kFilled) copy_short(to, fill_pattern, bytes);
      if constexpr (kBorder == Run::Kind::kForward) copy_short(to, from, bytes);
      if constexpr (kBorder == Run::Kind::kBackward)
        for (size_t at = 0; at < bytes; at += unit) std::memcpy(to + at, from - at, kElement == 0 ? unit : kElement);
      if constexpr (kBorder == Run::Kind::kRepeat)
        for (size_t at = 0; at < bytes; at += unit) std::memcpy(to + at, from, kElement == 0 ? unit : kElement);
    };
    const size_t left = runs[0].count * unit;
    const size_t window = runs[1].count * unit;
    const size_t right = runs[2].count * unit;
    const ptrdiff_t at_left = runs[0].source * unit;
    const ptrdiff_t at_window = runs[1].source * unit;
    const ptrdiff_t at_right = runs[2].source * unit;
    const ptrdiff_t step = rows.step * static_cast<ptrdiff_t>(unit);
    char* to = output + rows.target * unit;
    const char* from = source + rows.source * unit;
    for (int64_t i = 0; i < rows.count; ++i, from += step) {
      border(to, from + at_left, left);
      to += left;
      copy_window(to, from + at_window, window);
      to += window;
      border(to, from + at_right, right);
      to += right;
    }
  }
};

static_assert(AnyOrderWriter<ByteWriter<0>>);

}  // namespace padops
