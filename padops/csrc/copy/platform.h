// What the compiler and the processor that the library is built for offer. The two processor macros can be set to 0
// from outside: that leaves the code out.
#pragma once

// Code for SSE2, which every x86-64 processor has.
#if !defined(PADOPS_SSE2)
#if defined(__SSE2__) || defined(_M_X64)
#define PADOPS_SSE2 1
#else
#define PADOPS_SSE2 0
#endif
#endif

// Code for AVX2 as well. It runs only where the processor is found to have AVX2 (CopyChoice::avx2).
#if !defined(PADOPS_AVX2)
#if PADOPS_SSE2 && defined(__GNUC__)
#define PADOPS_AVX2 1
#else
#define PADOPS_AVX2 0
#endif
#endif

#if PADOPS_AVX2
#include <immintrin.h>
#elif PADOPS_SSE2
#include <emmintrin.h>
#endif
#if PADOPS_SSE2 && defined(_MSC_VER)
#include <intrin.h>
#endif

// PADOPS_INLINE inlines into every loop, so that the compiler moves decisions that do not change in the loop before it.
// PADOPS_INLINE_LAMBDA does that to a lambda; it stands behind the parameters. PADOPS_NOINLINE keeps a loop in a
// function of its own, so that it has all registers to itself, and begins it with a cache line: where a short loop lies
// in one changes its speed by up to a third (measured), and would change with any code in front of it.
#if defined(PADOPS_INLINE)  // the coverage build defines it: gcov needs every function by itself
#define PADOPS_INLINE_LAMBDA
#define PADOPS_NOINLINE
#elif defined(_MSC_VER)
#define PADOPS_INLINE __forceinline
#define PADOPS_INLINE_LAMBDA
#define PADOPS_NOINLINE __declspec(noinline)
#else
#define PADOPS_INLINE [[gnu::always_inline]] inline
#define PADOPS_INLINE_LAMBDA __attribute__((always_inline))
#define PADOPS_NOINLINE [[gnu::noinline, gnu::aligned(64)]]
#endif
