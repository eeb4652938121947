#pragma once

#include "cuda_runtime_api.h"

struct __nv_bfloat16 {
  unsigned short bits;
};
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return {bits}; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.bits; }
float __bfloat162float(__nv_bfloat16 h);
__nv_bfloat16 __float2bfloat16_rn(float x);
__nv_bfloat16 atomicAdd(__nv_bfloat16* to, __nv_bfloat16 value);
