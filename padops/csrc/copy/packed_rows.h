// Writes rows of 4-bit or 2-bit elements that are a window between two short borders of one kind, as most rows are.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "copy/shift.h"
#include "copy/targets.h"
#include "copy/writer.h"

namespace padops {

// The tail of a window, the border after it, the border of the next row and the first bits of the next window meet in a
// word of 64 bits. One store writes the word; between two words there are only whole bytes.
template <class Target>
struct PackedRows {
  const uint8_t* source;
  uint8_t* output;
  uint8_t pattern;   // the fill, repeated over a byte
  uint64_t element;  // bits of a row's element

  // The most bits of both borders: after up to 7 bits of a window, they leave more than a byte for the next window.
  static constexpr uint64_t kMostBorders = 48;

  // Whether both borders of a row fit into the word, and the window fills the word and has the borders' elements.
  static bool fit(const BorderedRow& row, uint64_t element) {
    const auto lies_in_window = [&](const Run& run) {
      if (run.count == 0 || run.kind == Run::Kind::kFilled) return true;
      const int64_t first = run.source - row.window.source - (run.kind == Run::Kind::kBackward ? run.count - 1 : 0);
      return first >= 0 && first + (run.kind == Run::Kind::kRepeat ? 1 : run.count) <= row.window.count;
    };
    return std::endian::native == std::endian::little && (row.left.count + row.right.count) * element <= kMostBorders &&
           row.window.count * element >= 64 && lies_in_window(row.left) && lies_in_window(row.right);
  }

  void write(const BorderedRow& row, const Rows& rows) const {
    if (row.left.kind == Run::Kind::kFilled) {
      write_with<true>(row, rows);
    } else {
      write_with<false>(row, rows);
    }
  }

 private:
  // How a window continues the bits before it.
  struct BitSplice {
    unsigned to;     // bit of the output's byte where the window begins
    unsigned from;   // bit of the source's byte where the window begins
    size_t advance;  // bytes of the output before the first byte with only window bits
    size_t skip;     // bytes of the source before the bits of that byte
    unsigned shift;  // bits of the source before them, after those bytes
    size_t bytes;    // whole bytes of the output from that byte on
    unsigned tail;   // bits after the whole bytes

    BitSplice(unsigned target, unsigned begin, uint64_t width) : to(target), from(begin), advance((to + 7) / 8) {
      const unsigned head = static_cast<unsigned>(advance * 8) - to;
      skip = (from + head) / 8;
      shift = (from + head) % 8;
      bytes = (width - head) / 8;
      tail = (width - head) % 8;
    }
  };

  static int64_t step_of(const Run& border) {
    return border.kind == Run::Kind::kForward ? 1 : border.kind == Run::Kind::kBackward ? -1 : 0;
  }

  // The bits of a border; `step` leads from one source position to the next. All positions lie in the window of the row
  // that begins at `from`. `last` is the window's last byte from which eight bytes can be read.
  template <bool kFilled>
  PADOPS_INLINE uint64_t border(const Run& run, int64_t from, int64_t step, uint64_t last) const {
    const uint64_t mask = (uint64_t{1} << run.count * element) - 1;
    if constexpr (kFilled) return pattern * (~uint64_t{0} / 0xFF) & mask;
    const uint64_t at = (from + run.source + (step < 0 ? 1 - run.count : 0)) * element;
    const uint64_t byte = std::min(at / 8, last);
    const uint64_t word = word_at(source + byte) >> (at - byte * 8);
    if (step > 0 || run.count == 1) return word & mask;
    const uint64_t one = (uint64_t{1} << element) - 1;
    uint64_t bits = 0;
    for (int64_t i = 0; i < run.count; ++i)
      bits |= (word >> (step < 0 ? run.count - 1 - i : 0) * element & one) << i * element;
    return bits;
  }

  // The bits after the whole bytes of a window; the source of those bytes ends at `in`.
  PADOPS_INLINE static uint64_t tail_of(const BitSplice& splice, const uint8_t* in) {
    if (splice.tail == 0) return 0;
    unsigned bits = in[0] >> splice.shift;
    if (splice.shift + splice.tail > 8) bits |= static_cast<unsigned>(in[1]) << (8 - splice.shift);
    return bits & ((1u << splice.tail) - 1);
  }

  template <bool kFilled>
  void write_with(const BorderedRow& row, const Rows& rows) const {
    const bool whole_bytes = (rows.target | rows.length | rows.step) * element % 8 == 0;  // all three
    // The window must fill a register after the first bits.
    if (whole_bytes && row.window.count * element >= 2 * 8 * Target::kRegister) {
      compiled_for(Target{}, [&]() PADOPS_INLINE_LAMBDA { write_alike<kFilled>(row, rows); });
    } else {
      compiled_for(Target{}, [&]() PADOPS_INLINE_LAMBDA { write_rows<kFilled>(row, rows); });
    }
  }

  template <bool kFilled>
  PADOPS_INLINE void write_rows(const BorderedRow& row, const Rows& rows) const {
    const PackedRows own = *this;  // copies that no store to the output can change
    const auto [left, window, right] = row;
    const Rows all = rows;
    const int64_t step = step_of(left);
    const auto before = static_cast<unsigned>(left.count * element);
    const auto after = static_cast<unsigned>(right.count * element);
    const uint64_t begin = rows.target * element;
    uint8_t* to = output + begin / 8;
    unsigned bits = begin % 8;
    uint64_t held = bits > 0 ? *to & ((1u << bits) - 1) : 0;
    int64_t from = all.source;
    for (int64_t i = 0; i < all.count; ++i, from += all.step) {
      const uint64_t at = (from + window.source) * own.element;
      const uint64_t last = (at + window.count * own.element + 7) / 8 - sizeof(held);
      const BitSplice splice(bits + before, at % 8, window.count * own.element);
      const uint8_t* in = own.source + at / 8;
      held |= own.template border<kFilled>(left, from, step, last) << bits;
      held |= word_at(in) >> splice.from << splice.to;
      std::memcpy(to, &held, sizeof(held));
      to += splice.advance;
      in += splice.skip;
      move_bits<Target>(to, in, splice.bytes, splice.shift);
      to += splice.bytes;
      held = tail_of(splice, in + splice.bytes) | own.template border<kFilled>(right, from, step, last) << splice.tail;
      bits = splice.tail + after;
    }
    for (unsigned at = 0; at < bits; at += 8) *to++ = static_cast<uint8_t>(held >> at);
  }

  // Writes long rows that begin and end at whole bytes of the output and all begin at the same bit of a source byte.
  // One BitSplice serves all rows, which halves the work between two rows.
  template <bool kFilled>
  PADOPS_INLINE void write_alike(const BorderedRow& row, const Rows& rows) const {
    const PackedRows own = *this;  // copies that no store to the output can change
    const auto [left, window, right] = row;
    const Rows all = rows;
    const int64_t step = step_of(left);
    const uint64_t width = window.count * element;
    const uint64_t begin = (rows.source + window.source) * element;
    const BitSplice splice(static_cast<unsigned>(left.count * element), begin % 8, width);
    const auto ended = splice.tail + static_cast<unsigned>(right.count * element);  // bits after the whole bytes
    const int64_t stride = all.step * static_cast<int64_t>(element) / 8;
    const uint64_t length = all.length * element / 8;
    const uint8_t* in = source + begin / 8;
    uint8_t* to = output + all.target * element / 8;
    int64_t from = all.source;
    uint64_t last = (begin + width + 7) / 8 - sizeof(uint64_t);
    constexpr size_t kWord = Target::kRegister;
    assert(splice.bytes >= kWord);
    // Without a shift, the next byte may not exist, so it is not read.
    const unsigned down = splice.shift;
    const unsigned up = down > 0 ? 8 - down : 0;
    const size_t next = down > 0 ? 1 : 0;
    uint64_t held = own.template border<kFilled>(left, from, step, last) | word_at(in) >> splice.from << splice.to;
    std::memcpy(to, &held, sizeof(held));
    const auto word = [=](uint8_t* out, const uint8_t* at)
                          PADOPS_INLINE_LAMBDA { shift_words<kWord>(out, at, at + next, down, up); };
    for (int64_t i = 1;; ++i) {
      const uint8_t* const at = in + splice.skip;
      uint8_t* const out = to + splice.advance;
      size_t done = 0;
      for (; done + kWord < splice.bytes; done += kWord) word(out + done, at + done);
      word(out + splice.bytes - kWord, at + splice.bytes - kWord);  // overlaps the word before it
      uint8_t* const end = out + splice.bytes;
      held = tail_of(splice, at + splice.bytes) | own.template border<kFilled>(right, from, step, last) << splice.tail;
      if (i == all.count) {
        for (unsigned bits = 0; bits < ended; bits += 8) end[bits / 8] = static_cast<uint8_t>(held >> bits);
        return;
      }
      to += length;
      in += stride;
      from += all.step;
      last += stride;
      held |= (own.template border<kFilled>(left, from, step, last) | word_at(in) >> splice.from << splice.to) << ended;
      std::memcpy(end, &held, sizeof(held));
    }
  }
};

}  // namespace padops
