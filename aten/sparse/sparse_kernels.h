#pragma once

#include "tenon/tensor.h"

/// Kernels of operators that exist for strided tensors too: register_kernels.cpp names them.
/// Operands are of any layout, at least one is sparse.
namespace tenon::sparse {

// sparse_add.cpp
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha);
Tensor& add_(Tensor& self, const Tensor& other, const Scalar& alpha);
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha);
Tensor& sub_(Tensor& self, const Tensor& other, const Scalar& alpha);
Tensor add_scalar(const Tensor& self, const Scalar& other, const Scalar& alpha);

// sparse_mul.cpp
Tensor mul(const Tensor& self, const Tensor& other);
Tensor& mul_(Tensor& self, const Tensor& other);
Tensor mul_scalar(const Tensor& self, const Scalar& other);
Tensor div(const Tensor& self, const Tensor& other);
Tensor div_mode(const Tensor& self, const Tensor& other, std::optional<std::string_view> mode);
Tensor floor_divide(const Tensor& self, const Tensor& other);
Tensor pow_scalar(const Tensor& self, const Scalar& exponent);
Tensor neg(const Tensor& self);

// sparse_mm.cpp
Tensor mm(const Tensor& self, const Tensor& mat2);
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha);
Tensor mv(const Tensor& self, const Tensor& vec);
Tensor bmm(const Tensor& self, const Tensor& mat2);

// sparse_reductions.cpp
Tensor sum(const Tensor& self, std::optional<ScalarType> dtype);
Tensor sum_dim(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
               std::optional<ScalarType> dtype);
Tensor vector_norm(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype);
Tensor any(const Tensor& self);
Scalar item(const Tensor& self);

// sparse_steps.cpp
Tensor& sgd_step_(Tensor& self, const Tensor& grad, const std::optional<Tensor>& momentum_buffer,
                  double lr, double momentum, double dampening, double weight_decay, bool nesterov,
                  bool maximize, bool is_first_step);
Tensor& adagrad_step_(Tensor& self, const Tensor& grad, Tensor& state_sum, int64_t step, double lr,
                      double eps, double lr_decay, double weight_decay, bool maximize);

// sparse_structure.cpp
Tensor alias(const Tensor& self);
Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format);
Tensor to_copy(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
               std::optional<Device> device, std::optional<bool> pin_memory, bool non_blocking,
               std::optional<MemoryFormat> memory_format);
Tensor zeros_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format);
Tensor new_zeros(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                 std::optional<Layout> layout, std::optional<Device> device,
                 std::optional<bool> pin_memory);
Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking);
Tensor& zero_(Tensor& self);
Tensor transposed(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor t(const Tensor& self);
Tensor permute(const Tensor& self, IntArrayRef dims);
Tensor unsqueeze(const Tensor& self, int64_t dim);
Tensor selected(const Tensor& self, int64_t dim, int64_t index);
Tensor select_backward(const Tensor& grad, IntArrayRef input_sizes, int64_t dim, int64_t index);
std::vector<Tensor> unbind(const Tensor& self, int64_t dim);
Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length);
Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
Tensor cat(TensorList tensors, int64_t dim);

}  // namespace tenon::sparse
