// Copies of bytes within the caches. They replace memcpy, because libc has its own rules for the processor's string
// instruction. processor.h has padops' rules and their reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "copy/targets.h"

namespace padops {

constexpr size_t kLine = 64;  // bytes of a cache line

// Below this, aligning the target costs more than it saves.
constexpr size_t kMinAligned = 16 * kLine;

// From this many bytes on, a copy prefetches the lines of its target. For shorter copies they are mostly in a near
// cache.
constexpr size_t kMinFetched = 256 * kLine;

// The prefetch distance. Measured: 4 to 9 percent faster than libc's copy if the lines come from the last-level cache.
constexpr size_t kFetchedAhead = 32 * kLine;

// From this many bytes on, it pays to check whether a fill repeats one byte.
constexpr size_t kMinSet = 64 * kLine;

// Copies the first and the last Part of the bytes.
template <class Part>
PADOPS_INLINE void copy_ends(char* target, const char* source, size_t bytes) {
  Part first;
  Part last;
  std::memcpy(&first, source, sizeof(Part));
  std::memcpy(&last, source + bytes - sizeof(Part), sizeof(Part));
  std::memcpy(target, &first, sizeof(Part));
  std::memcpy(target + bytes - sizeof(Part), &last, sizeof(Part));
}

// Copies up to 64 bytes without a call. The two parts overlap, so that every size needs few stores.
PADOPS_INLINE void copy_short(char* target, const char* source, size_t bytes) {
  struct Block16 {
    uint64_t parts[2];
  };
  struct Block32 {
    uint64_t parts[4];
  };
  // Most borders are short.
  if (bytes < 16) [[likely]] {
    if (bytes >= 8) {
      copy_ends<uint64_t>(target, source, bytes);
    } else if (bytes >= 4) [[likely]] {
      copy_ends<uint32_t>(target, source, bytes);
    } else if (bytes >= 2) {
      copy_ends<uint16_t>(target, source, bytes);
    } else if (bytes == 1) {
      *target = *source;
    }
  } else if (bytes >= 32) {
    copy_ends<Block32>(target, source, bytes);
  } else {
    copy_ends<Block16>(target, source, bytes);
  }
}

// Keeps the compiler from storing a line's parts in reverse order. Measured: that takes up to a third longer.
PADOPS_INLINE void keep_order() {
#if defined(__GNUC__)
  asm volatile("" : : : "memory");
#endif
}

// On x86-64, a plain prefetch: not every processor has a prefetch for writing.
PADOPS_INLINE void fetch_ahead([[maybe_unused]] char* line) {
#if defined(__GNUC__)
  __builtin_prefetch(line, 1);
#endif
}

// Copies one line.
template <class Target>
PADOPS_INLINE void copy_line(char* target, const char* source) {
  constexpr size_t kPart = Target::kRegister;
  typename Register<kPart>::type parts[kLine / kPart];
#pragma GCC unroll 4
  for (size_t k = 0; k < kLine / kPart; ++k) std::memcpy(&parts[k], source + k * kPart, kPart);
#pragma GCC unroll 4
  for (size_t k = 0; k < kLine / kPart; ++k) {
    std::memcpy(target + k * kPart, &parts[k], kPart);
    keep_order();
  }
}

// As memcpy, for more than a line. The last line overlaps the line before. A long copy aligns its target to the
// register size, so that no store crosses a cache line. AVX2 is a tenth faster than the baseline within the caches, and
// more for short copies.
template <class Target>
PADOPS_INLINE void copy_long(char* target, const char* source, size_t bytes) {
  size_t at = 0;
  if (bytes >= kMinAligned) {
    copy_line<Target>(target, source);
    at = Target::kRegister - reinterpret_cast<uintptr_t>(target) % Target::kRegister;
  }
  if (bytes >= kMinFetched)
    for (; at + kLine < bytes; at += kLine) {
      fetch_ahead(target + at + kFetchedAhead);
      copy_line<Target>(target + at, source + at);
    }
  for (; at + kLine < bytes; at += kLine) copy_line<Target>(target + at, source + at);
  copy_line<Target>(target + bytes - kLine, source + bytes - kLine);
}

// As memcpy, by the processor's string instruction if it has one.
PADOPS_INLINE void copy_string(char* target, const char* source, size_t bytes) {
#if !PADOPS_SSE2
  std::memcpy(target, source, bytes);
#elif defined(_MSC_VER)
  __movsb(reinterpret_cast<unsigned char*>(target), reinterpret_cast<const unsigned char*>(source), bytes);
#else
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
#endif
}

// As memcpy. kShort: at most a line.
template <class Target, bool kShort>
PADOPS_INLINE void copy_any(char* target, const char* source, size_t bytes) {
  if (kShort || bytes <= kLine) return copy_short(target, source, bytes);
  copy_long<Target>(target, source, bytes);
}

// Repeats `line`, which has kLine bytes. kShort: at most one line.
template <class Target, bool kShort>
PADOPS_INLINE void fill_any(char* target, const char* line, size_t bytes) {
  if (kShort || bytes <= kLine) return copy_short(target, line, bytes);
  size_t at = 0;
  for (; at + kLine <= bytes; at += kLine) copy_line<Target>(target + at, line);
  copy_short(target + at, line, bytes - at);
}

// As memcpy, called from code for any processor; from `string_from` bytes on by the string instruction.
template <class Target>
PADOPS_INLINE void copy_bytes(char* target, const char* source, size_t bytes, size_t string_from = SIZE_MAX) {
  if (bytes <= kLine) {
    copy_short(target, source, bytes);
  } else if (PADOPS_SSE2 && bytes >= string_from) {
    copy_string(target, source, bytes);
  } else {
    const auto copy = [](char* to, const char* from, size_t size)
                          PADOPS_INLINE_LAMBDA { copy_long<Target>(to, from, size); };
    compiled_for(Target{}, copy, target, source, bytes);
  }
}

// As fill_any, called from code for any processor. libc does long fills of one byte: it knows which processors can fill
// lines without reading them.
template <class Target>
PADOPS_INLINE void fill_bytes(char* target, const char* line, size_t bytes) {
  if (bytes <= kLine) return copy_short(target, line, bytes);
  if (bytes >= kMinSet && std::memcmp(line, line + 1, kLine - 1) == 0) {
    std::memset(target, *line, bytes);
    return;
  }
  const auto fill = [](char* to, const char* from, size_t size)
                        PADOPS_INLINE_LAMBDA { fill_any<Target, false>(to, from, size); };
  compiled_for(Target{}, fill, target, line, bytes);
}

}  // namespace padops
