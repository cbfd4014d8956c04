// Chooses the loops' instruction set for the processor, and whether the string instruction copies long runs. No single
// choice is fastest everywhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace padops {

// The string instruction, where it is fast, copies runs of at least this size: then its start-up cost is small.
// Measured on AMD's family 26: at 8 KB it is level with AVX2, at 64 KB 15 to 30 percent ahead.
constexpr int64_t kStringFrom = 16 * 1024;

// What CPUID reports of the processor.
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

// Chosen by measurement. The string instruction of AMD's family 26 moves whole lines without first reading the
// target's; later families probably keep that. On family 25 the instruction is up to ten times slower if source and
// target are aligned differently, as padded rows always are; so only processors known to be fast use it. AVX-512 gains
// nothing over AVX2.
constexpr CopyChoice choose_copy(const Processor& processor) {
  const bool string = processor.amd && processor.family >= 26 && processor.short_string_moves;
  return {processor.avx2, string ? kStringFrom : INT64_MAX};
}

Processor this_processor();

// The choice named by a word ("baseline", "avx2" or "string"), limited to the processor's features. Throws
// std::invalid_argument for another word.
CopyChoice named_copy(std::string_view name, const Processor& processor);

// The choice of the environment variable PADOPS_COPY, else the best for this processor.
CopyChoice copy_of_this_machine();

}  // namespace padops
