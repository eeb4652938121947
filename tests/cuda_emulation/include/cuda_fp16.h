#pragma once

#include "cuda_runtime_api.h"

struct __half {
  unsigned short bits;
};
inline __half __ushort_as_half(unsigned short bits) { return {bits}; }
inline unsigned short __half_as_ushort(__half h) { return h.bits; }
float __half2float(__half h);
__half __float2half_rn(float x);
__half atomicAdd(__half* to, __half value);
