#pragma once

#include <stdint.h>

// The operands of kernels that `tenonc gen --target c` writes. The generated header has the same
// text, so that it needs no other file.
#ifndef TENON_ARRAY
#define TENON_ARRAY
/// Memory as a tensor. Strides count elements and may be 0 or negative.
typedef struct tenon_array {
  void* data; /* null: the argument is absent, the result is not wanted */
  int32_t dtype;
  int32_t ndim;
  const int64_t* sizes;
  const int64_t* strides;
} tenon_array;
/// The dtypes have PyTorch's numbers.
enum {
  tenon_uint8 = 0,
  tenon_int8 = 1,
  tenon_int16 = 2,
  tenon_int32 = 3,
  tenon_int64 = 4,
  tenon_float16 = 5,
  tenon_float32 = 6,
  tenon_float64 = 7,
  tenon_complex64 = 9,
  tenon_complex128 = 10,
  tenon_bool = 11,
  tenon_bfloat16 = 15
};
#endif
