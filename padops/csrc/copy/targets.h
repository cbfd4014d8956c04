// The instruction sets that loops are compiled for. Each loop has one source, which serves them all.
//
// A loop is an always-inline template with the instruction set as a parameter. compiled_for inlines it into a function
// that the compiler may use those instructions in. Its registers are vectors of the compiler's own, so no loop names an
// instruction. On Arm these are NEON's.
#pragma once

#include <cstddef>

#include "copy/platform.h"

namespace padops {

// What every processor of the platform has.
struct Baseline {
  static constexpr size_t kRegister = 16;  // bytes
};

// x86-64 with AVX2.
struct Avx2 {
  static constexpr size_t kRegister = 32;
};

// So many bytes as one load and one store move them, in parts of one type.
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

// Calls work(args...), which must be always-inline, in a function for the instruction set. For short runs use
// arguments: they come in registers, and what a lambda captures comes from memory.
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

// Calls use(target) with the best of the instruction sets that may be used.
template <class Use>
PADOPS_INLINE auto with_target([[maybe_unused]] bool avx2, const Use& use) {
#if PADOPS_AVX2
  if (avx2) return use(Avx2{});
#endif
  return use(Baseline{});
}

}  // namespace padops
