#pragma once

// The instruction sets every vector kernel is compiled for: SSE4 as the baseline of x86, AVX2 and
// AVX-512 chosen at run time (other architectures keep Highway's own choice). More targets would
// multiply compile time without a measurable gain. Include before any Highway header.
#define HWY_WANT_SSE4 1
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#endif
