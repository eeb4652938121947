#pragma once

#include "aten/cpu/convolution.h"
#include "aten/cpu/product.h"

/// What oneDNN computes. Every function returns false, having done nothing, where the library is
/// absent or does not support the problem on this machine; the caller then has another way.
namespace tenon::native::onednn {

/// out = a @ b + bias for half types.
bool matrix_product(ScalarType dtype, ProductSizes sizes, MatrixBatch a, MatrixBatch b,
                    MatrixBatch out, const void* bias);

/// As in convolution.h; float, and half types where the machine has instructions for them.
bool conv_forward(const ConvGeometry& g, const TensorBase& src, const TensorBase& weight,
                  const TensorBase& bias, const TensorBase& dst);
bool conv_backward_data(const ConvGeometry& g, const TensorBase& diff_src, const TensorBase& weight,
                        const TensorBase& diff_dst);
bool conv_backward_weight(const ConvGeometry& g, const TensorBase& src,
                          const TensorBase& diff_weight, const TensorBase& diff_bias,
                          const TensorBase& diff_dst);

}  // namespace tenon::native::onednn
