// Writes rows of whole bytes that are a window between two borders, as most rows are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "copy/copy.h"
#include "copy/targets.h"
#include "copy/writer.h"

namespace padops {

// Keeps the compiler from vectorizing a loop of few rounds: a vector loop would take longer to start.
PADOPS_INLINE void keep_loop([[maybe_unused]] size_t& counter) {
#if defined(__GNUC__)
  asm volatile("" : "+r"(counter));
#endif
}

// Copies one element of `size` bytes. kElement is that size, or 0 if it is unknown at compile time.
template <size_t kElement>
PADOPS_INLINE void copy_element(char* target, const char* source, size_t size) {
  if constexpr (kElement != 0) {
    std::memcpy(target, source, kElement);
  } else if (size <= kLine) {
    copy_short(target, source, size);
  } else {
    std::memcpy(target, source, size);
  }
}

// Writes elements one after the other, `bytes` bytes in all. `step` leads from one source element to the next: 0
// repeats one, minus an element's size goes backward. kShort: there are few elements.
template <size_t kElement, bool kShort>
PADOPS_INLINE void copy_elements(char* target, const char* source, size_t bytes, size_t size, ptrdiff_t step) {
  if constexpr (kElement == 0) {  // pixels of three channels: one move of a known size, not a choice for each element
    if (size == 3) return copy_elements<3, kShort>(target, source, bytes, 3, step);
    if (size == 6) return copy_elements<6, kShort>(target, source, bytes, 6, step);
  }
  if (kElement == 0 || kShort) {
    for (size_t at = 0; at < bytes; at += size, source += step) {
      keep_loop(at);
      copy_element<kElement>(target + at, source, size);
    }
    return;
  }
  const auto count = static_cast<ptrdiff_t>(bytes / size);
  for (ptrdiff_t i = 0; i < count; ++i) copy_element<kElement>(target + i * size, source + i * step, size);
}

// From this many bytes on, a border that repeats an element is written in words. Measured: words slow shorter borders.
constexpr size_t kMinWords = 16;

// Whether several elements fit into a word.
template <size_t kElement>
constexpr bool in_words() {
  return kElement == 1 || kElement == 2 || kElement == 4;
}

// Repeats one element over `bytes` bytes, at least kMinWords.
template <size_t kElement>
PADOPS_INLINE void repeat_words(char* target, const char* source, size_t bytes) {
  static_assert(in_words<kElement>());
  char parts[sizeof(uint64_t)];
  for (size_t at = 0; at < sizeof(parts); at += kElement) std::memcpy(parts + at, source, kElement);
  uint64_t word;
  std::memcpy(&word, parts, sizeof(word));
  for (size_t at = 0; at + sizeof(word) < bytes; at += sizeof(word)) std::memcpy(target + at, &word, sizeof(word));
  std::memcpy(target + bytes - sizeof(word), &word, sizeof(word));  // overlaps the word before
}

// The loop takes two thirds of the time of single runs, because it looks up and decides nothing. The loop is chosen
// once for all rows of a task.
class BorderedRows {
 public:
  // Runs along `row`, in elements of `element` bytes. kElement is that size, or 0 if it is unknown at compile time.
  // `pattern` is the fill, repeated over kLine bytes.
  template <class Target, size_t kElement>
  static BorderedRows of(const BorderedRow& row, const char* source, char* output, const char* pattern,
                         size_t element) {
    const auto size = static_cast<ptrdiff_t>(element);
    BorderedRows all{source, output, pattern, size};
    all.left_ = row.left.count * size;
    all.window_ = row.window.count * size;
    all.right_ = row.right.count * size;
    all.at_left_ = row.left.source * size;
    all.at_window_ = row.window.source * size;
    all.at_right_ = row.right.source * size;
    for_border(row.left.kind, [&](auto kind) {
      // A filled or copied border is counted in bytes, not elements.
      constexpr bool kBytes = kind == Run::Kind::kFilled || kind == Run::Kind::kForward;
      all.loop_ = all.choose_loop<Target, kind, kBytes ? 1 : kElement>();
    });
    return all;
  }

  // Writes rows like `row`.
  void write(const Rows& rows) const { loop_(*this, rows); }

 private:
  using Loop = void (*)(const BorderedRows& all, const Rows& rows);

  BorderedRows(const char* source, char* output, const char* pattern, ptrdiff_t element)
      : source_(source), output_(output), pattern_(pattern), element_(element) {}

  template <class Target, Run::Kind kBorder, size_t kElement>
  Loop choose_loop() const {
    const bool short_window = window_ <= kLine;
    const size_t most = kBorder == Run::Kind::kRepeat && in_words<kElement>() ? kMinWords - 1 : kLine;
    if (left_ <= most && right_ <= most)
      return short_window ? loop<Target, kBorder, kElement, true, true> : loop<Target, kBorder, kElement, true, false>;
    return short_window ? loop<Target, kBorder, kElement, false, true> : loop<Target, kBorder, kElement, false, false>;
  }

  template <class Target, Run::Kind kBorder, size_t kElement, bool kShortBorder, bool kShortWindow>
  static void loop(const BorderedRows& all, const Rows& rows) {
    compiled_for(Target{}, [&]() PADOPS_INLINE_LAMBDA {
      all.write_rows<Target, kBorder, kElement, kShortBorder, kShortWindow>(rows);
    });
  }

  template <class Target, Run::Kind kBorder, size_t kElement, bool kShort>
  PADOPS_INLINE void write_border(char* target, const char* begin, size_t bytes) const {
    const ptrdiff_t size = kElement == 0 ? element_ : static_cast<ptrdiff_t>(kElement);
    if constexpr (kBorder == Run::Kind::kFilled) fill_any<Target, kShort>(target, pattern_, bytes);
    if constexpr (kBorder == Run::Kind::kForward) copy_any<Target, kShort>(target, begin, bytes);
    if constexpr (kBorder == Run::Kind::kBackward) copy_elements<kElement, kShort>(target, begin, bytes, size, -size);
    if constexpr (kBorder == Run::Kind::kRepeat) {
      if constexpr (in_words<kElement>() && !kShort)
        if (bytes >= kMinWords) return repeat_words<kElement>(target, begin, bytes);
      copy_elements<kElement, kShort>(target, begin, bytes, size, 0);
    }
  }

  template <class Target, Run::Kind kBorder, size_t kElement, bool kShortBorder, bool kShortWindow>
  PADOPS_INLINE void write_rows(const Rows& rows) const {
    const BorderedRows own = *this;  // a copy that no store to the output can change
    const int64_t count = rows.count;
    const ptrdiff_t step = rows.step * own.element_;
    char* target = own.output_ + rows.target * own.element_;
    const char* source = own.source_ + rows.source * own.element_;
    for (int64_t i = 0; i < count; ++i, source += step) {
      own.write_border<Target, kBorder, kElement, kShortBorder>(target, source + own.at_left_, own.left_);
      target += own.left_;
      copy_any<Target, kShortWindow>(target, source + own.at_window_, own.window_);
      target += own.window_;
      own.write_border<Target, kBorder, kElement, kShortBorder>(target, source + own.at_right_, own.right_);
      target += own.right_;
    }
  }

  const char* source_;
  char* output_;
  const char* pattern_;
  ptrdiff_t element_;  // bytes of a row's element
  Loop loop_ = nullptr;
  size_t left_ = 0;  // lengths in bytes
  size_t window_ = 0;
  size_t right_ = 0;
  ptrdiff_t at_left_ = 0;  // where the window and borders begin in the source
  ptrdiff_t at_window_ = 0;
  ptrdiff_t at_right_ = 0;
};

}  // namespace padops
