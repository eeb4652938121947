#pragma once

// The instruction sets every vector kernel is compiled for: SSE4 as the baseline of x86, AVX2 and
// AVX-512 chosen at run time (other architectures keep Highway's own choice). More targets would
// multiply compile time without a measurable gain. Include before any Highway header.
#define HWY_WANT_SSE4 1
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#endif

// Whether the target being compiled has the loops that it needs and none that only save time: in a
// library that is to be small, and on processors without AVX2, all of them older than 2013.
#ifdef __OPTIMIZE_SIZE__
#define TENON_FEW_LOOPS 1
#else
#define TENON_FEW_LOOPS (HWY_TARGET == HWY_SSE4)
#endif
