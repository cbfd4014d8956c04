// Which instruction set the loops use on the processor at hand, and whether the string instruction copies long runs. No
// single copy is right everywhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace padops {

// Runs this long are copied by the string instruction where it is fast at all: what it costs to start is small then.
// Measured on AMD's family 26: at 8 KB it is level with AVX2, at 64 KB 15 to 30 percent ahead.
constexpr int64_t kStringFrom = 16 * 1024;

// What the processor says of itself.
struct Processor {
  bool amd = false;
  int family = 0;
  bool avx2 = false;
  bool short_string_moves = false;  // FSRM: the string instruction is fast for short copies as well
};

struct CopyChoice {
  bool avx2 = false;                // whether AVX2 may be used
  int64_t string_from = INT64_MAX;  // bytes from which a run is copied by the string instruction

  friend bool operator==(const CopyChoice&, const CopyChoice&) = default;
};

// By measurement. AMD's family 26 moves whole lines by the string instruction without reading those of the target
// first, and a later one is unlikely to unlearn it. Family 25 does not, and is up to ten times slower where source and
// target are aligned differently, as padded rows always are; so the instruction is for processors alone that are known
// to be fast. AVX-512 gains nothing over AVX2.
constexpr CopyChoice choose_copy(const Processor& processor) {
  const bool string = processor.amd && processor.family >= 26 && processor.short_string_moves;
  return {processor.avx2, string ? kStringFrom : INT64_MAX};
}

Processor this_processor();

// The choice that a word asks for: "baseline", "avx2" or "string", as far as the processor has it. Throws
// std::invalid_argument for another word.
CopyChoice named_copy(std::string_view name, const Processor& processor);

// What the environment variable PADOPS_COPY asks for, or what suits this processor.
CopyChoice copy_of_this_machine();

}  // namespace padops
