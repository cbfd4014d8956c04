// Rows of elements of 4 or 2 bits that are a window between two short borders of one kind, as most are.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runs.h"
#include "shift.h"

namespace padops {

// What is left over of a row, its border, and the border of the next row meet in a register: one store writes them all,
// and the first bits of the next window with them. Between two such stores there are but whole bytes to write.
struct JoinedRows {
  const uint8_t* source;
  uint8_t* output;
  uint8_t pattern;   // the fill, repeated over a byte
  uint64_t element;  // bits of a row's element
  bool avx2;         // whether it may be used

  // Whether the borders of a row have room in the register, and the window is as long as the register.
  static bool fit(const std::vector<Run>& runs, uint64_t element) {
    return std::endian::native == std::endian::little && (runs[0].count + runs[2].count) * element <= 48 &&
           runs[1].count * element >= 64;
  }

  void write(const Run* runs, const Rows& rows) const {
    const bool filled = runs[0].kind == Run::Kind::kFilled;
#if PADOPS_WIDE
    if (avx2) return filled ? write_wide<true>(runs, rows) : write_wide<false>(runs, rows);
#endif
    return filled ? write_plain<true>(runs, rows) : write_plain<false>(runs, rows);
  }

 private:
  // How a window goes on from the bits before it, in bits from the beginning of a byte.
  struct Joint {
    unsigned to;     // where it begins in the output
    unsigned from;   // and in the source
    size_t advance;  // bytes of the output until one has nothing from before the window
    size_t skip;     // bytes of the source until there
    unsigned shift;  // and bits
    size_t bytes;    // whole bytes of the output from there on
    unsigned rest;   // and bits

    Joint(unsigned target, unsigned begin, uint64_t width) : to(target), from(begin), advance((to + 7) / 8) {
      const unsigned head = static_cast<unsigned>(advance * 8) - to;
      skip = (from + head) / 8;
      shift = (from + head) % 8;
      bytes = (width - head) / 8;
      rest = (width - head) % 8;
    }
  };

  static int64_t step_of(const Run& border) {
    return border.kind == Run::Kind::kForward ? 1 : border.kind == Run::Kind::kBackward ? -1 : 0;
  }

  // The bits of a border; `step` leads from a source position to the next. All of them are in the window of the row
  // that begins at position `from`, `last` being the last byte from which eight can be read there.
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

  // The bits that a joint leaves; `in` is where its whole bytes end.
  PADOPS_INLINE static uint64_t rest_of(const Joint& joint, const uint8_t* in) {
    if (joint.rest == 0) return 0;
    unsigned bits = in[0] >> joint.shift;
    if (joint.shift + joint.rest > 8) bits |= static_cast<unsigned>(in[1]) << (8 - joint.shift);
    return bits & ((1u << joint.rest) - 1);
  }

  template <bool kWide>
  PADOPS_INLINE static void move(uint8_t* out, const uint8_t* in, const Joint& joint) {
#if PADOPS_WIDE
    if constexpr (kWide) return move_bits_wide(out, in, joint.bytes, joint.shift);
#endif
    return move_bits(out, in, joint.bytes, joint.shift);
  }

  template <bool kFilled, bool kWide>
  PADOPS_INLINE void write_rows(const Run* runs, const Rows& rows) const {
    const JoinedRows own = *this;  // which no store to the output can change
    const Run left = runs[0];
    const Run window = runs[1];
    const Run right = runs[2];
    const int64_t step = step_of(left);
    const auto before = static_cast<unsigned>(left.count * element);
    const auto after = static_cast<unsigned>(right.count * element);
    const uint64_t begin = rows.target * element;
    uint8_t* to = output + begin / 8;
    unsigned bits = begin % 8;
    uint64_t held = bits > 0 ? *to & ((1u << bits) - 1) : 0;
    int64_t from = rows.source;
    for (int64_t i = 0; i < rows.count; ++i, from += rows.step) {
      const uint64_t at = (from + window.source) * own.element;
      const uint64_t last = (at + window.count * own.element + 7) / 8 - sizeof(held);
      const Joint joint(bits + before, at % 8, window.count * own.element);
      const uint8_t* in = own.source + at / 8;
      held |= own.border<kFilled>(left, from, step, last) << bits;
      held |= word_at(in) >> joint.from << joint.to;
      std::memcpy(to, &held, sizeof(held));
      to += joint.advance;
      in += joint.skip;
      move<kWide>(to, in, joint);
      to += joint.bytes;
      held = rest_of(joint, in + joint.bytes) | own.border<kFilled>(right, from, step, last) << joint.rest;
      bits = joint.rest + after;
    }
    for (unsigned at = 0; at < bits; at += 8) *to++ = static_cast<uint8_t>(held >> at);
  }

  template <bool kFilled>
  PADOPS_APART void write_plain(const Run* runs, const Rows& rows) const {
    write_rows<kFilled, false>(runs, rows);
  }

#if PADOPS_WIDE

  template <bool kFilled>
  [[gnu::target("avx2")]] PADOPS_APART void write_wide(const Run* runs, const Rows& rows) const {
    const bool whole = (rows.target | rows.length | rows.step) * element % 8 == 0;  // each of them
    if (whole && runs[1].count * element >= 2 * 8 * sizeof(__m256i)) {
      write_alike<kFilled>(runs, rows);
    } else {
      write_rows<kFilled, true>(runs, rows);
    }
  }

  // Long rows that begin and end with whole bytes, on both sides: all of them are joined alike, with half as much to do.
  template <bool kFilled>
  [[gnu::target("avx2")]] PADOPS_APART void write_alike(const Run* runs, const Rows& rows) const {
    const JoinedRows own = *this;  // which no store to the output can change, nor the next
    const Run left = runs[0];
    const Run right = runs[2];
    const Rows all = rows;
    const int64_t step = step_of(left);
    const uint64_t width = runs[1].count * element;
    const uint64_t begin = (rows.source + runs[1].source) * element;
    const Joint joint(static_cast<unsigned>(left.count * element), begin % 8, width);
    const auto ended = joint.rest + static_cast<unsigned>(right.count * element);  // bits behind the whole bytes
    const int64_t down = all.step * static_cast<int64_t>(element) / 8;
    const uint64_t length = all.length * element / 8;
    const uint8_t* in = source + begin / 8;
    uint8_t* to = output + all.target * element / 8;
    int64_t from = all.source;
    uint64_t last = (begin + width + 7) / 8 - sizeof(uint64_t);
    constexpr size_t kWord = sizeof(__m256i);
    const __m128i low = _mm_cvtsi32_si128(static_cast<int>(joint.shift));
    // Without a shift the byte further on is not needed, and may not be there; 64 leaves nothing of it.
    const size_t next = joint.shift > 0 ? 1 : 0;
    const __m128i high = _mm_cvtsi32_si128(joint.shift > 0 ? static_cast<int>(8 - joint.shift) : 64);
    uint64_t held = own.border<kFilled>(left, from, step, last) | word_at(in) >> joint.from << joint.to;
    std::memcpy(to, &held, sizeof(held));
    const auto word = [&](uint8_t* out, const uint8_t* at) __attribute__((target("avx2"), always_inline)) {
      shift_word_wide(out, at, at + next, low, high);
    };
    for (int64_t i = 1;; ++i) {
      const uint8_t* const at = in + joint.skip;
      uint8_t* const out = to + joint.advance;
      size_t done = 0;
      for (; done + kWord < joint.bytes; done += kWord) word(out + done, at + done);
      word(out + joint.bytes - kWord, at + joint.bytes - kWord);  // in part once more
      uint8_t* const end = out + joint.bytes;
      held = rest_of(joint, at + joint.bytes) | own.border<kFilled>(right, from, step, last) << joint.rest;
      if (i == all.count) {
        for (unsigned bits = 0; bits < ended; bits += 8) end[bits / 8] = static_cast<uint8_t>(held >> bits);
        return;
      }
      to += length;
      in += down;
      from += all.step;
      last += down;
      held |= (own.border<kFilled>(left, from, step, last) | word_at(in) >> joint.from << joint.to) << ended;
      std::memcpy(end, &held, sizeof(held));
    }
  }

#endif
};

}  // namespace padops
