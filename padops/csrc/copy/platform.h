// Features of the compiler and the target processor. Setting a processor macro to 0 from outside leaves its code out.
#pragma once

// Code for SSE2, which every x86-64 processor has.
#if !defined(PADOPS_SSE2)
#if defined(__SSE2__) || defined(_M_X64)
#define PADOPS_SSE2 1
#else
#define PADOPS_SSE2 0
#endif
#endif

// Also code for AVX2. It runs only if the processor has AVX2 (CopyChoice::avx2).
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
// PADOPS_INLINE_LAMBDA, after the parameters, inlines a lambda. PADOPS_NOINLINE keeps a loop in its own function, so
// that the loop has all registers, and aligns the function to a cache line: a short loop's place in a line changes its
// speed by up to a third (measured), and other code before it would move it.
#if defined(PADOPS_INLINE)  // builds for coverage and for sanitizers define it: less code, and every function by itself
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
