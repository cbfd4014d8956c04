// How the runs of a row become memory, for elements of whole bytes. It counts in elements of a row ("positions"), from
// the beginning of the output and of the source.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runs.h"
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
  static constexpr bool kAnyOrder = true;  // has dilated and periodic, which write twice or read what is written

  const char* source;
  char* output;
  const char* pattern;  // the fill, repeated over kLine bytes
  size_t element;       // bytes of a row's element
  bool avx2;            // whether it may be used

  size_t size() const { return kElement == 0 ? element : kElement; }

  void fill(int64_t target, int64_t count) const {
    char* to = output + target * size();
    const size_t bytes = count * size();
    if (bytes <= 64) {
      copy_short(to, pattern, bytes);
      return;
    }
    size_t at = 0;
    for (; at + 64 <= bytes; at += 64) std::memcpy(to + at, pattern, 64);
    copy_short(to + at, pattern, bytes - at);
  }

  void forward(int64_t target, int64_t from, int64_t count) const {
    copy_bytes(output + target * size(), source + from * size(), count * size());
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

  // Writes whole rows and gives true if they are a window between two short borders of one kind, as most are. A loop
  // with nothing to look up or to decide in it takes two thirds of the time of walking along the runs of every row.
  bool framed(const std::vector<Run>& runs, const Rows& rows) const {
    if (runs.size() != 3 || runs[0].kind != runs[2].kind || runs[1].kind != Run::Kind::kForward) return false;
    const auto is_short = [&](const Run& run) { return run.count * size() <= kLine; };
    if (is_short(runs[1]) || !is_short(runs[0]) || !is_short(runs[2])) return false;
    switch (runs[0].kind) {  // never another: a dilated run or a periodic one is not twice in a row
      case Run::Kind::kFilled: write_framed<Run::Kind::kFilled>(runs.data(), rows); return true;
      case Run::Kind::kForward: write_framed<Run::Kind::kForward>(runs.data(), rows); return true;
      case Run::Kind::kBackward: write_framed<Run::Kind::kBackward>(runs.data(), rows); return true;
      case Run::Kind::kRepeat: write_framed<Run::Kind::kRepeat>(runs.data(), rows); return true;
      default: return false;
    }
  }

 private:
  template <Run::Kind kBorder>
  void write_framed(const Run* runs, const Rows& rows) const {
#if PADOPS_WIDE
    if (avx2) return write_framed_wide<kBorder>(runs, rows);
#endif
    write_framed_plain<kBorder>(runs, rows);
  }

  template <Run::Kind kBorder>
  PADOPS_APART void write_framed_plain(const Run* runs, const Rows& rows) const {
    frame<kBorder>(runs, rows, [](char* to, const char* from, size_t bytes) { copy_bytes_long(to, from, bytes); });
  }

#if PADOPS_WIDE
  template <Run::Kind kBorder>
  [[gnu::target("avx2")]] PADOPS_APART void write_framed_wide(const Run* runs, const Rows& rows) const {
    const auto copy = [](char* to, const char* from, size_t bytes) __attribute__((target("avx2"))) {
      copy_bytes_wide(to, from, bytes);
    };
    frame<kBorder>(runs, rows, copy);
  }
#endif

  // `copy` is for windows.
  template <Run::Kind kBorder, class Copy>
  PADOPS_INLINE void frame(const Run* runs, const Rows& rows, const Copy& copy) const {
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
      copy(to, from + at_window, window);
      to += window;
      border(to, from + at_right, right);
      to += right;
    }
  }
};

}  // namespace padops
