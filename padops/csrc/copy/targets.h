// The instruction sets for which loops are compiled. Each loop has one source for all sets.
//
// A loop is an always-inline template with the instruction set as a parameter. compiled_for inlines the loop into a
// function in which the compiler may use those instructions. Registers are the compiler's vector types, so no loop
// names an instruction. On Arm these are NEON's.
#pragma once

#include <cstddef>

#include "copy/platform.h"

namespace padops {

// The instruction set of every processor of the platform.
struct Baseline {
  static constexpr size_t kRegister = 16;  // bytes
};

// x86-64 with AVX2.
struct Avx2 {
  static constexpr size_t kRegister = 32;
};

// Bytes that one load and one store move, in parts of one type.
template <size_t kBytes, class Part = char>
struct Register {
#if defined(__GNUC__)
  typedef Part type __attribute__((vector_size(kBytes)));
#else
  struct type {
    Part parts[kBytes / sizeof(Part)];
  };
#endif
};

// Calls work(args...), which must be always-inline, in a function for the instruction set. For short runs, use
// arguments, which come in registers; a lambda's captures come from memory.
template <class Work, class... Args>
PADOPS_NOINLINE void compiled_for(Baseline, const Work& work, Args... args) {
  work(args...);
}

#if PADOPS_AVX2
template <class Work, class... Args>
[[gnu::target("avx2")]] PADOPS_NOINLINE void compiled_for(Avx2, const Work& work, Args... args) {
  work(args...);
}
#endif

// Calls use(target) with the best usable instruction set.
template <class Use>
PADOPS_INLINE auto with_target([[maybe_unused]] bool avx2, const Use& use) {
#if PADOPS_AVX2
  if (avx2) return use(Avx2{});
#endif
  return use(Baseline{});
}

}  // namespace padops
