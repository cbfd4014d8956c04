// Writes elements of 4 or 2 bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "copy/packed_rows.h"
#include "copy/shift.h"
#include "copy/targets.h"
#include "copy/writer.h"

namespace padops {

// Elements are packed, the first in the lowest bits. A task's part of the output begins at a whole byte, so that no two
// tasks write to one byte. Runs come in output order. So a write keeps the lower bits of its first byte, and overwrites
// the higher bits of its last: these are not written yet, and reading them would wait for memory.
template <class Target>
struct SubByteWriter {
  const uint8_t* source;
  uint8_t* output;
  uint8_t pattern;   // the fill, repeated over a byte
  uint64_t element;  // bits of a row's element
  const std::optional<BorderedRow>& row;

  void fill(int64_t target, int64_t count) const {
    const uint64_t at = target * element;
    const uint64_t length = count * element;
    const auto head = static_cast<unsigned>(std::min<uint64_t>((8 - at % 8) % 8, length));
    // An element never crosses a byte, so the pattern can begin at any element.
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

  void dilated(int64_t target, int64_t from, int64_t count, int64_t offset, int64_t step) const {
    fill(target, count);
    for (int64_t at = offset; at < count; at += step)
      copy<HighBits::kKept>((target + at) * element, source, from++ * element, element);
  }

  void periodic(int64_t target, int64_t period, int64_t count) const {
    // A copy reads only written bits, so each copy is at most as long as all before it.
    for (int64_t known = period; count > 0;) {
      const int64_t chunk = std::min(known, count);
      copy(target * element, output, (target - known) * element, chunk * element);
      target += chunk;
      count -= chunk;
      known += chunk;
    }
  }

  // As in ByteWriter. A byte that two runs share stays in a register until it is complete.
  bool write_bordered(const Rows& rows) const {
    if (!row) return false;
    if (PackedRows<Target>::fit(*row, element)) {
      PackedRows<Target>{source, output, pattern, element}.write(*row, rows);
      return true;
    }
    for_border(row->left.kind, [&](auto kind) {
      compiled_for(Target{}, [&]() PADOPS_INLINE_LAMBDA { bordered<decltype(kind)::value>(rows); });
    });
    return true;
  }

 private:
  // The end of the written bits: an incomplete byte, and its bits so far.
  struct End {
    uint8_t* byte;
    unsigned held;
    unsigned bits;

    // Appends `length` bits, at most 8; the other bits of `value` are 0.
    void append(unsigned value, unsigned length) {
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
      end.append(pattern & ((1u << head) - 1), head);
      std::memset(end.byte, pattern, (length - head) / 8);
      end.byte += (length - head) / 8;
      length = (length - head) % 8;
    }
    for (; length >= 8; length -= 8) end.append(pattern, 8);
    end.append(pattern & ((1u << length) - 1), static_cast<unsigned>(length));
  }

  PADOPS_INLINE void append(End& end, uint64_t from, uint64_t length) const {
    if (length >= 16) {
      const unsigned head = (8 - end.bits) % 8;
      end.append(get(source, from, head) & ((1u << head) - 1), head);
      from += head;
      const uint64_t bytes = (length - head) / 8;
      move_bits<Target>(end.byte, source + from / 8, bytes, from % 8);
      end.byte += bytes;
      from += bytes * 8;
      length = (length - head) % 8;
    }
    for (; length > 0;) {
      const auto part = static_cast<unsigned>(std::min<uint64_t>(length, 8 - from % 8));
      end.append(source[from / 8] >> from % 8 & ((1u << part) - 1), part);
      from += part;
      length -= part;
    }
  }

  template <Run::Kind kBorder>
  PADOPS_INLINE void bordered(const Rows& rows) const {
    const SubByteWriter own = *this;  // copies that no store to the output can change
    const auto [left, window, right] = *row;
    const Rows all = rows;
    const uint64_t begin = all.target * element;
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
    int64_t from = all.source;
    for (int64_t i = 0; i < all.count; ++i, from += all.step) {
      border(left, from + left.source);
      own.append(end, (from + window.source) * own.element, window.count * own.element);
      border(right, from + right.source);
    }
    if (end.bits > 0) *end.byte = static_cast<uint8_t>(end.held);
  }

  // Whether a write keeps the bits above its own in a byte.
  enum class HighBits { kOverwritten, kKept };

  // Writes `length` bits, fewer than 8, that lie in one byte of the output.
  template <HighBits kHighBits = HighBits::kOverwritten>
  void put(uint64_t at, unsigned value, unsigned length) const {
    const unsigned shift = at % 8;
    const unsigned mask = ((1u << length) - 1) << shift;
    uint8_t& byte = output[at / 8];
    unsigned kept = 0;
    if constexpr (kHighBits == HighBits::kKept) {
      kept = byte & ~mask;
    } else if (shift > 0) {
      kept = byte & ((1u << shift) - 1);
    }
    byte = static_cast<uint8_t>(kept | (value << shift & mask));
  }

  // The `length` bits from bit `at` on, fewer than 8, with other bits above. Reads no byte after the last bit's.
  static unsigned get(const uint8_t* begin, uint64_t at, unsigned length) {
    const unsigned shift = at % 8;
    unsigned value = begin[at / 8] >> shift;
    if (shift + length > 8) value |= static_cast<unsigned>(begin[at / 8 + 1]) << (8 - shift);
    return value;
  }

  // Copies bits; positions and lengths are in bits.
  template <HighBits kHighBits = HighBits::kOverwritten>
  void copy(uint64_t to, const uint8_t* begin, uint64_t from, uint64_t length) const {
    const auto head = static_cast<unsigned>(std::min<uint64_t>((8 - to % 8) % 8, length));
    if (head > 0) put<kHighBits>(to, get(begin, from, head), head);
    to += head;
    from += head;
    length -= head;
    const uint64_t bytes = length / 8;
    uint8_t* const whole = output + to / 8;
    const uint8_t* const first = begin + from / 8;
    const unsigned shift = from % 8;
    if (bytes > kLine) {
      compiled_for(Target{}, [=]() PADOPS_INLINE_LAMBDA { move_bits<Target>(whole, first, bytes, shift); });
    } else {
      move_bits<Baseline>(whole, first, bytes, shift);
    }
    const unsigned tail = length % 8;
    if (tail > 0) put<kHighBits>(to + bytes * 8, get(begin, from + bytes * 8, tail), tail);
  }
};

static_assert(AnyOrderWriter<SubByteWriter<Baseline>>);

}  // namespace padops
