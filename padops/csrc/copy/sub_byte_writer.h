// How the runs of a row become memory, for elements of 4 or 2 bits; see byte_writer.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "joined_rows.h"
#include "runs.h"
#include "shift.h"
#include "stream.h"

namespace padops {

// Elements of 4 or 2 bits, packed without a break, the first in the lowest bits. A task's part of the output begins at a
// whole byte, so that no two tasks write to one. Runs come in the order of the output: what follows in the same byte is
// still to be written, and need not be kept; reading it would mean waiting for memory that is only written.
struct BitWriter {
  static constexpr bool kAnyOrder = true;

  const uint8_t* source;
  uint8_t* output;
  uint8_t pattern;   // the fill, repeated over a byte
  uint64_t element;  // bits of a row's element
  bool avx2;         // whether it may be used

  void fill(int64_t target, int64_t count) const {
    const uint64_t at = target * element;
    const uint64_t length = count * element;
    const auto head = static_cast<unsigned>(std::min<uint64_t>((8 - at % 8) % 8, length));
    // The pattern repeats with an element, and each byte begins with one.
    if (head > 0) put(at, pattern, head);
    const uint64_t bytes = (length - head) / 8;
    if (bytes > 0) std::memset(output + (at + head) / 8, pattern, bytes);
    const unsigned tail = (length - head) % 8;
    if (tail > 0) put(at + length - tail, pattern, tail);
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
    for (int64_t at = lead; at < count; at += step)
      copy<Above::kKept>((target + at) * element, source, from++ * element, element);
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

  // As ByteWriter's. What a byte already has of the run before stays in a register meanwhile.
  bool framed(const std::vector<Run>& runs, const Rows& rows) const {
    if (runs.size() != 3 || runs[0].kind != runs[2].kind || runs[1].kind != Run::Kind::kForward) return false;
    if (JoinedRows::fit(runs, element)) {
      JoinedRows{source, output, pattern, element, avx2}.write(runs.data(), rows);
      return true;
    }
    switch (runs[0].kind) {  // never another: a dilated run or a periodic one is not twice in a row
      case Run::Kind::kFilled: write_framed<Run::Kind::kFilled>(runs.data(), rows); return true;
      case Run::Kind::kForward: write_framed<Run::Kind::kForward>(runs.data(), rows); return true;
      case Run::Kind::kBackward: write_framed<Run::Kind::kBackward>(runs.data(), rows); return true;
      case Run::Kind::kRepeat: write_framed<Run::Kind::kRepeat>(runs.data(), rows); return true;
      default: return false;
    }
  }

 private:
  // Where the output goes on: a byte, and the bits that it has already.
  struct End {
    uint8_t* byte;
    unsigned held;
    unsigned bits;

    // Takes `length` bits more, at most 8; `value` has no others.
    void take(unsigned value, unsigned length) {
      held |= value << bits;
      bits += length;
      if (bits < 8) return;
      *byte++ = static_cast<uint8_t>(held);
      held >>= 8;
      bits -= 8;
    }
  };

  PADOPS_INLINE void append_fill(End& end, uint64_t length) const {
    if (length >= 16) {
      const unsigned head = (8 - end.bits) % 8;
      end.take(pattern & ((1u << head) - 1), head);
      std::memset(end.byte, pattern, (length - head) / 8);
      end.byte += (length - head) / 8;
      length = (length - head) % 8;
    }
    for (; length >= 8; length -= 8) end.take(pattern, 8);
    end.take(pattern & ((1u << length) - 1), static_cast<unsigned>(length));
  }

  PADOPS_INLINE void append(End& end, uint64_t from, uint64_t length) const {
    if (length >= 16) {
      const unsigned head = (8 - end.bits) % 8;
      end.take(get(source, from, head) & ((1u << head) - 1), head);
      from += head;
      const uint64_t bytes = (length - head) / 8;
      move_bits(end.byte, source + from / 8, bytes, from % 8);
      end.byte += bytes;
      from += bytes * 8;
      length = (length - head) % 8;
    }
    for (; length > 0;) {
      const auto part = static_cast<unsigned>(std::min<uint64_t>(length, 8 - from % 8));
      end.take(source[from / 8] >> from % 8 & ((1u << part) - 1), part);
      from += part;
      length -= part;
    }
  }

  template <Run::Kind kBorder>
  PADOPS_APART void write_framed(const Run* runs, const Rows& rows) const {
    const BitWriter own = *this;  // which no store to the output can change
    const Run left = runs[0];
    const Run window = runs[1];
    const Run right = runs[2];
    const uint64_t begin = rows.target * element;
    End end{output + begin / 8, 0, static_cast<unsigned>(begin % 8)};
    if (end.bits > 0) end.held = *end.byte & ((1u << end.bits) - 1);
    const auto border = [&own, &end](const Run& run, int64_t from) {
      if constexpr (kBorder == Run::Kind::kFilled) {
        own.append_fill(end, run.count * own.element);
      } else if constexpr (kBorder == Run::Kind::kForward) {
        own.append(end, from * own.element, run.count * own.element);
      } else {
        constexpr int64_t kStep = kBorder == Run::Kind::kBackward ? -1 : 0;
        for (int64_t i = 0; i < run.count; ++i) own.append(end, (from + i * kStep) * own.element, own.element);
      }
    };
    int64_t from = rows.source;
    for (int64_t i = 0; i < rows.count; ++i, from += rows.step) {
      border(left, from + left.source);
      own.append(end, (from + window.source) * own.element, window.count * own.element);
      border(right, from + right.source);
    }
    if (end.bits > 0) *end.byte = static_cast<uint8_t>(end.held);
  }

  enum class Above { kLost, kKept };

  // Writes `length` bits, fewer than 8, that lie in one byte of the output.
  template <Above kAbove = Above::kLost>
  void put(uint64_t at, unsigned value, unsigned length) const {
    const unsigned shift = at % 8;
    const unsigned mask = ((1u << length) - 1) << shift;
    uint8_t& byte = output[at / 8];
    unsigned kept = 0;
    if constexpr (kAbove == Above::kKept) {
      kept = byte & ~mask;
    } else if (shift > 0) {
      kept = byte & ((1u << shift) - 1);
    }
    byte = static_cast<uint8_t>(kept | (value << shift & mask));
  }

  // `length` bits, fewer than 8, from `at` on, and others above them; does not read beyond the byte of the last one.
  static unsigned get(const uint8_t* begin, uint64_t at, unsigned length) {
    const unsigned shift = at % 8;
    unsigned value = begin[at / 8] >> shift;
    if (shift + length > 8) value |= static_cast<unsigned>(begin[at / 8 + 1]) << (8 - shift);
    return value;
  }

  // Positions and lengths in bits.
  template <Above kAbove = Above::kLost>
  void copy(uint64_t to, const uint8_t* begin, uint64_t from, uint64_t length) const {
    const auto head = static_cast<unsigned>(std::min<uint64_t>((8 - to % 8) % 8, length));
    if (head > 0) put<kAbove>(to, get(begin, from, head), head);
    to += head;
    from += head;
    length -= head;
    const uint64_t bytes = length / 8;
    move_bits(output + to / 8, begin + from / 8, bytes, from % 8);
    const unsigned tail = length % 8;
    if (tail > 0) put<kAbove>(to + bytes * 8, get(begin, from + bytes * 8, tail), tail);
  }
};

}  // namespace padops
