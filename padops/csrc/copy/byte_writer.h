// Writes elements of whole bytes within the caches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "copy/bordered_rows.h"
#include "copy/copy.h"
#include "copy/targets.h"
#include "copy/writer.h"

namespace padops {

// Repeats one element.
template <class Target, size_t kElement>
PADOPS_INLINE void repeat_element(char* target, const char* source, size_t bytes) {
  char line[kLine];
  for (size_t at = 0; at < kLine; at += kElement) std::memcpy(line + at, source, kElement);
  fill_bytes<Target>(target, line, bytes);
}

// kElement is the bytes of a row's element, or 0 if only `element` has them.
template <size_t kElement, class Target>
class ByteWriter {
 public:
  // `pattern` is the fill, repeated over kLine bytes. `element` is the bytes of a row's element. `row` describes a row
  // that is a window between borders. From `string_from` bytes on, the string instruction copies a run.
  ByteWriter(const char* source, char* output, const char* pattern, size_t element,
             const std::optional<BorderedRow>& row, size_t string_from)
      : source_(source), output_(output), pattern_(pattern), element_(element), string_from_(string_from) {
    if (row && row->window.count * element < string_from && !repeats_much(*row, element))
      bordered_ = BorderedRows::of<Target, kElement>(*row, source, output, pattern, element);
  }

  void fill(int64_t target, int64_t count) const {
    fill_bytes<Target>(output_ + target * size(), pattern_, count * size());
  }

  void forward(int64_t target, int64_t from, int64_t count) const {
    copy_bytes<Target>(output_ + target * size(), source_ + from * size(), count * size(), string_from_);
  }

  void backward(int64_t target, int64_t from, int64_t count) const {
    char* const to = output_ + target * size();
    const char* const begin = source_ + from * size();
    const size_t bytes = count * size();
    const auto step = -static_cast<ptrdiff_t>(size());
    if (bytes <= kLine) return copy_elements<kElement, true>(to, begin, bytes, size(), step);
    if constexpr (kElement == 0) return copy_elements<0, false>(to, begin, bytes, size(), step);
    const auto copy = [](char* out, const char* in, size_t all) PADOPS_INLINE_LAMBDA {
      copy_elements<kElement, false>(out, in, all, kElement, -static_cast<ptrdiff_t>(kElement));
    };
    compiled_for(Target{}, copy, to, begin, bytes);
  }

  void repeat(int64_t target, int64_t from, int64_t count) const {
    char* const to = output_ + target * size();
    const char* const begin = source_ + from * size();
    if constexpr (kElement != 0) return repeat_element<Target, kElement>(to, begin, count * kElement);
    std::memcpy(to, begin, size());
    repeat_before(to + size(), size(), (count - 1) * size());
  }

  // Writes fill, then source elements over the fill: the first at `offset`, then one every `step`.
  void dilated(int64_t target, int64_t from, int64_t count, int64_t offset, int64_t step) const {
    fill(target, count);
    char* to = output_ + target * size();
    const char* begin = source_ + from * size();
    for (int64_t at = offset; at < count; at += step, begin += size()) std::memcpy(to + at * size(), begin, size());
  }

  void periodic(int64_t target, int64_t period, int64_t count) const {
    repeat_before(output_ + target * size(), period * size(), count * size());
  }

  // If each row is a window between borders, too short for the string instruction: writes the rows and returns true.
  bool write_bordered(const Rows& rows) const {
    if (bordered_) bordered_->write(rows);
    return bordered_.has_value();
  }

 private:
  // Whether the fill of a border is so long that libc's fill is faster than a loop along the row.
  static bool repeats_much(const BorderedRow& row, size_t element) {
    return row.left.kind == Run::Kind::kRepeat && std::max(row.left.count, row.right.count) * element >= kMinSet;
  }

  size_t size() const { return kElement == 0 ? element_ : kElement; }

  // Continues with a copy of the bytes `period` before `target`. Each copy is twice as long as the last.
  void repeat_before(char* target, size_t period, size_t bytes) const {
    const char* const begin = target - period;
    for (size_t known = period; bytes > 0;) {
      const size_t chunk = std::min(known, bytes);
      copy_bytes<Target>(target, begin, chunk, string_from_);
      target += chunk;
      bytes -= chunk;
      known += chunk;
    }
  }

  const char* source_;
  char* output_;
  const char* pattern_;
  size_t element_;
  size_t string_from_;
  std::optional<BorderedRows> bordered_;
};

static_assert(AnyOrderWriter<ByteWriter<0, Baseline>>);

}  // namespace padops
